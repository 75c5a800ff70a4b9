/* Chains of a fit on closed-form densities: choice of sampler, progress, stopping, resuming against
 * uninterrupted chains, and reruns of slowly mixing chains. */
#include "invert/matching/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/chains.h"
#include "support.h"

static idm_status evaluate(void *context, const double *x, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  *log_density = -0.5 * (x[0] * x[0] + 4 * x[1] * x[1]);
  if (opt_gradient) {
    opt_gradient[0] = -x[0];
    opt_gradient[1] = -4 * x[1];
  }
  return IDM_OK;
}

static const idm_target normal = {.dimension = 2, .gradient = true, .evaluate = evaluate};

static idm_fit_settings make_settings(void)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 50;
  settings.warmup = 30;
  settings.threads = 1;
  return settings;
}

static void test_samplers(void **state)
{
  (void)state;
  const idm_sampler *sampler;
  idm_fit_settings settings = make_settings();
  check(idm_sampling_sampler(&settings, 4, &sampler, NULL, &support_error));
  assert_string_equal(sampler->name, "metropolis");
  check(idm_sampling_sampler(&settings, 5, &sampler, NULL, &support_error));
  assert_string_equal(sampler->name, "nuts");
  strcpy(settings.sampler, "slice");
  check(idm_sampling_sampler(&settings, 5, &sampler, NULL, &support_error));
  assert_string_equal(sampler->name, "slice");
  strcpy(settings.sampler, "gibbs");
  assert_int_equal(idm_sampling_sampler(&settings, 5, &sampler, NULL, &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "the sampler 'gibbs' is not known"));
}

/* A depth is of nuts alone. */
static void test_depth(void **state)
{
  (void)state;
  const idm_sampler *sampler;
  idm_fit_settings settings = make_settings();
  idm_notes notes = {0};
  settings.depth = 3;
  check(idm_sampling_sampler(&settings, 5, &sampler, &notes, &support_error));
  assert_int_equal(notes.count, 0);
  check(idm_sampling_sampler(&settings, 4, &sampler, &notes, &support_error));
  assert_int_equal(notes.count, 1);
  assert_true(support_mentions(&notes, "--depth has no effect with the sampler 'metropolis'"));
  idm_notes_clear(&notes);
}

/* Stops at a given share of the work and keeps the checkpoint. */
typedef struct watcher {
  double until; /* share of the work */
  char *bytes;
  size_t length;
  int seen;
} watcher;

static bool progress(void *context, const idm_progress_state *work)
{
  watcher *w = context;
  char words[100];
  w->seen++;
  assert_true(idm_progress_describe(work, words, sizeof words)[0]);
  if (work->done < w->until || !work->save) return false;
  free(w->bytes);
  check(idm_progress_save(work, &w->bytes, &w->length, &support_error));
  return true;
}

static idm_chains *draw(const idm_fit_monitor *watch)
{
  const idm_fit_settings settings = make_settings();
  const idm_target target[] = {normal, normal};
  const double x[] = {1, 0.5};
  const idm_sampler *sampler;
  idm_cancel cancel;
  idm_chains *chains;
  check(idm_sampling_sampler(&settings, 2, &sampler, NULL, &support_error));
  idm_cancel_init(&cancel, watch, "looking");
  check(idm_sampling_create(&settings, sampler, 7, 2, NULL, &cancel, &chains, &support_error));
  for (size_t c = 0; c < 2; c++)
    check(idm_chains_start(chains, c, &target[c], x, NULL, NULL, &support_error));
  check(idm_sampling_run(chains, target, watch, &cancel, &support_error));
  return chains;
}

/* Chains that are stopped and resumed give the same draws. */
static void test_going_on(void **state)
{
  (void)state;
  static const idm_fit_monitor nobody = {0};
  idm_chains *whole = draw(&nobody);
  long draws = 0;
  idm_notes notes = {0};
  check(idm_sampling_common(whole, &draws, &notes, &support_error));
  assert_int_equal(draws, 50);
  assert_int_equal(notes.count, 0);
  watcher w = {.until = 0};
  idm_fit_monitor watch = {.progress = progress, .context = &w, .label = 3};
  idm_chains *part = draw(&watch);
  assert_true(w.bytes && w.seen);
  if (idm_chains_min_draws(part) < 1)
    assert_int_equal(idm_sampling_common(part, &draws, &notes, &support_error), IDM_UNTRUSTED);
  idm_chains_destroy(part);
  const idm_fit_monitor again = {
      .checkpoint = w.bytes, .checkpoint_length = w.length, .label = 3, .checkpoint_file = "c"};
  idm_chains *rest = draw(&again);
  assert_memory_equal(whole->draw, rest->draw, (size_t)2 * 50 * 2 * sizeof(double));
  idm_chains_destroy(rest);
  /* A checkpoint of another request is refused; the error names the file. */
  idm_fit_monitor other = again;
  other.label = 4;
  const idm_fit_settings settings = make_settings();
  const idm_target target[] = {normal, normal};
  const double x[] = {1, 0.5};
  idm_cancel cancel;
  idm_chains *chains;
  idm_cancel_init(&cancel, &other, "looking");
  check(idm_sampling_create(&settings, whole->settings.sampler, 7, 2, NULL, &cancel, &chains,
                            &support_error));
  for (size_t c = 0; c < 2; c++)
    check(idm_chains_start(chains, c, &target[c], x, NULL, NULL, &support_error));
  assert_int_equal(idm_sampling_run(chains, target, &other, &cancel, &support_error), IDM_INPUT);
  assert_string_equal(support_error.file, "c");
  idm_chains_destroy(chains);
  idm_chains_destroy(whole);
  free(w.bytes);
}

/* Fewer draws than requested give a note; none at all is an error. */
static void test_common(void **state)
{
  (void)state;
  static const idm_fit_monitor nobody = {0};
  idm_chains *chains = draw(&nobody);
  idm_notes notes = {0};
  long draws = 0;
  chains->done[1] = 30 + 20;
  check(idm_sampling_common(chains, &draws, &notes, &support_error));
  assert_int_equal(draws, 20);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "stopped after 20 of 50 draws per chain"));
  chains->done[1] = 30;
  assert_int_equal(idm_sampling_common(chains, &draws, &notes, &support_error), IDM_UNTRUSTED);
  assert_non_null(strstr(support_error.message, "warm-up"));
  idm_notes_clear(&notes);
  idm_chains_destroy(chains);
}

/* Neal's funnel: the sd of the second coordinate is e^x of the first. */
static idm_status evaluate_funnel(void *context, const double *x, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_gradient;
  (void)opt_error;
  *log_density = -0.5 * (x[0] * x[0] / 4 + x[1] * x[1] * exp(-2 * x[0])) - x[0];
  return IDM_OK;
}

static const idm_target funnel = {.dimension = 2, .evaluate = evaluate_funnel};

/* Four chains of 500 draws of a target. */
static idm_chains *draw_many(const idm_target *of, const idm_fit_settings *settings)
{
  static const idm_fit_monitor nobody = {0};
  const idm_target target[] = {*of, *of, *of, *of};
  const double x[] = {0.2, 0.1};
  idm_cancel cancel;
  idm_chains *chains;
  idm_cancel_init(&cancel, &nobody, "looking");
  check(idm_sampling_create(settings, idm_sampler_find("metropolis"), 7, 2, NULL, &cancel, &chains,
                            &support_error));
  for (size_t c = 0; c < 4; c++)
    check(idm_chains_start(chains, c, &target[c], x, NULL, NULL, &support_error));
  check(idm_sampling_run(chains, target, &nobody, &cancel, &support_error));
  return chains;
}

/* Slowly mixing chains are rerun with four times the steps per draw; not so those of a normal
 * density, those with fixed steps, stopped ones, or those at the maximum number of steps. */
static void test_more(void **state)
{
  (void)state;
  idm_fit_settings settings = make_settings();
  long steps = -1;
  settings.chains = 4;
  settings.draws = 500;
  settings.warmup = 200;
  idm_chains *chains = draw_many(&normal, &settings);
  check(idm_sampling_more_steps(&settings, chains, &steps, &support_error));
  assert_int_equal(steps, 0);
  idm_chains_destroy(chains);
  chains = draw_many(&funnel, &settings);
  check(idm_sampling_more_steps(&settings, chains, &steps, &support_error));
  assert_int_equal(steps, 8);
  chains->settings.kernel.thin = 8;
  check(idm_sampling_more_steps(&settings, chains, &steps, &support_error));
  assert_int_equal(steps, 32);
  chains->settings.kernel.thin = 128;
  check(idm_sampling_more_steps(&settings, chains, &steps, &support_error));
  assert_int_equal(steps, 0);
  chains->settings.kernel.thin = 0;
  chains->done[2]--;
  check(idm_sampling_more_steps(&settings, chains, &steps, &support_error));
  assert_int_equal(steps, 0);
  chains->done[2]++;
  settings.thin = 2;
  check(idm_sampling_more_steps(&settings, chains, &steps, &support_error));
  assert_int_equal(steps, 0);
  idm_chains_destroy(chains);
}

/* Rerun chains take the given number of steps, on new random streams. A posterior can be rerun
 * below 16 times the sampler's default steps, unless it was stopped or comes from another sampler.
 */
static void test_again(void **state)
{
  (void)state;
  idm_fit_settings settings = make_settings();
  settings.chains = 4;
  settings.draws = 500;
  settings.warmup = 200;
  idm_chains *first = draw_many(&normal, &settings);
  settings.again = 8;
  idm_chains *second = draw_many(&normal, &settings);
  assert_int_equal(idm_sampling_steps(first), 2);
  assert_int_equal(idm_sampling_steps(second), 8);
  for (size_t c = 0; c < 4; c++)
    for (size_t k = 0; k < 4; k++) assert_true(first->random[c].stream != second->random[k].stream);
  settings.again = 0;
  char *name[] = {"x", "y"};
  idm_posterior p = {
      .sampler = "metropolis", .draws = 500, .steps = 2, .coordinate = {.name = name, .count = 2}};
  assert_int_equal(idm_sampling_rerun_steps(&settings, &p), 8);
  p.steps = 8;
  assert_int_equal(idm_sampling_rerun_steps(&settings, &p), 32);
  p.steps = 32;
  assert_int_equal(idm_sampling_rerun_steps(&settings, &p), 0);
  p.steps = 0;
  assert_int_equal(idm_sampling_rerun_steps(&settings, &p), 0);
  p.steps = 2;
  p.draws = 499;
  assert_int_equal(idm_sampling_rerun_steps(&settings, &p), 0);
  p.draws = 500;
  strcpy(p.sampler, "nuts");
  assert_int_equal(idm_sampling_rerun_steps(&settings, &p), 0);
  idm_chains_destroy(first);
  idm_chains_destroy(second);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samplers), cmocka_unit_test(test_depth),
      cmocka_unit_test(test_going_on), cmocka_unit_test(test_common),
      cmocka_unit_test(test_more),     cmocka_unit_test(test_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
