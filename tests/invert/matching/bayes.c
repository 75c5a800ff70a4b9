/* The inverse planner `bayes`: resumed chains against uninterrupted ones bit by bit, samplers
 * against each other, and recovery of the true parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "support.h"

/* --- fixtures ------------------------------------------------------------------------------- */

static idm_problem *make_problem(int resolution)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = resolution;
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}, eta: }", &support_error));
  return problem;
}

static idm_data *make_data(const idm_problem *problem, size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .seed = 1};
  return support_simulate(problem, simulation);
}

static idm_fit_settings make_settings(const char *sampler, long draws, long thin)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  snprintf(settings.sampler, sizeof settings.sampler, "%s", sampler);
  settings.chains = 2;
  settings.draws = draws;
  settings.warmup = 30;
  settings.thin = thin;
  settings.threads = 2;
  settings.keep = IDM_KEEP_NOTHING;
  return settings;
}

/* Stops at a given share of the work and saves a checkpoint. */
typedef struct stopper {
  double after;
  bool stopped;
  char *bytes;
  size_t length;
  char words[96];
} stopper;

static bool stop(void *context, const idm_progress_state *work)
{
  stopper *s = context;
  assert_true(work->done >= 0 && work->done <= 1);
  if (work->done < s->after) return false;
  if (s->stopped) return true;
  s->stopped = true;
  idm_progress_describe(work, s->words, sizeof s->words);
  check(idm_progress_save(work, &s->bytes, &s->length, &support_error));
  return true;
}

static void same_draws(const idm_posterior *a, const idm_posterior *b)
{
  const size_t all = a->chains * a->draws;
  assert_int_equal(a->draws, b->draws);
  assert_memory_equal(a->unconstrained, b->unconstrained,
                      a->coordinate.count * all * sizeof(double));
  assert_memory_equal(a->value, b->value, a->quantity.count * all * sizeof(double));
  for (size_t i = 0; i < all; i++) {
    assert_true(a->statistics[i].log_density == b->statistics[i].log_density);
    assert_int_equal(a->statistics[i].evaluations, b->statistics[i].evaluations);
  }
}

/* --- stopping ------------------------------------------------------------------------------- */

/* A fit that is stopped and resumed gives the draws of an uninterrupted fit, wherever it stops. */
static void check_checkpoint(const idm_problem *problem, const idm_data *data, const char *sampler,
                             double after)
{
  const idm_inverse *bayes = idm_inverse_find("bayes");
  const idm_fit_settings settings = make_settings(sampler, 40, 0);
  idm_posterior *whole, *part = NULL, *rest;
  check(idm_inverse_fit(bayes, problem, data, &settings, NULL, &whole, NULL, &support_error));
  assert_string_equal(whole->sampler, sampler);
  stopper s = {.after = after};
  const idm_fit_monitor watch = {.progress = stop, .context = &s, .label = 17};
  const idm_status status =
      idm_inverse_fit(bayes, problem, data, &settings, &watch, &part, NULL, NULL);
  /* Stopped during warm-up, a fit returns no draws. */
  assert_int_equal(status, part ? IDM_OK : IDM_UNTRUSTED);
  assert_true(s.stopped);
  const idm_fit_monitor again = {.checkpoint = s.bytes, .checkpoint_length = s.length, .label = 17};
  check(idm_inverse_fit(bayes, problem, data, &settings, &again, &rest, NULL, &support_error));
  same_draws(whole, rest);
  idm_posterior_destroy(rest);
  /* A checkpoint of another request is refused. */
  const idm_fit_monitor other = {.checkpoint = s.bytes,
                                 .checkpoint_length = s.length,
                                 .checkpoint_file = "folder/checkpoint",
                                 .label = 18};
  idm_error error = {0};
  assert_int_equal(idm_inverse_fit(bayes, problem, data, &settings, &other, &rest, NULL, NULL),
                   IDM_INPUT);
  assert_int_equal(idm_inverse_fit(bayes, problem, data, &settings, &other, &rest, NULL, &error),
                   IDM_INPUT);
  assert_null(rest);
  assert_string_equal(error.file, "folder/checkpoint");
  idm_posterior_destroy(whole);
  idm_posterior_destroy(part);
  free(s.bytes);
}

static void test_checkpoints(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(15);
  idm_data *data = make_data(problem, 40);
  for (size_t i = 0; idm_sampler_at(i); i++) {
    check_checkpoint(problem, data, idm_sampler_at(i)->name, 1.0 / 70);
    check_checkpoint(problem, data, idm_sampler_at(i)->name, 31.0 / 70);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A long run stopped before its last draw returns fewer draws, with a note; the draws themselves
 * are unchanged. */
static void test_stopping_early(void **state)
{
  (void)state;
  const idm_inverse *bayes = idm_inverse_find("bayes");
  idm_problem *problem = make_problem(30);
  idm_data *data = make_data(problem, 100);
  idm_fit_settings settings = make_settings("metropolis", 100000, 100);
  settings.warmup = 2;
  idm_posterior *part, *whole;
  idm_notes notes = {0};
  stopper s = {.after = 1e-3};
  const idm_fit_monitor watch = {.progress = stop, .context = &s};
  check(idm_inverse_fit(bayes, problem, data, &settings, &watch, &part, &notes, &support_error));
  assert_true(part->draws >= 2 && part->draws < 100000);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(s.words, "acceptance "));
  char words[80];
  snprintf(words, sizeof words, "stopped after %zu of 100000 draws", part->draws);
  assert_non_null(strstr(notes.text[0], words));
  stopper again = {.after = 1e-3};
  const idm_fit_monitor second = {.progress = stop, .context = &again};
  check(idm_inverse_fit(bayes, problem, data, &settings, &second, &whole, NULL, &support_error));
  for (size_t c = 0; c < 2; c++)
    for (size_t i = 0; i < whole->draws && i < part->draws; i++)
      assert_true(whole->value[c * whole->draws + i] == part->value[c * part->draws + i]);
  idm_notes_clear(&notes);
  free(s.bytes);
  free(again.bytes);
  idm_posterior_destroy(part);
  idm_posterior_destroy(whole);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- samplers ------------------------------------------------------------------------------- */

static void test_choice_of_sampler(void **state)
{
  (void)state;
  const idm_inverse *bayes = idm_inverse_find("bayes");
  idm_problem *problem = make_problem(10);
  idm_data *data = make_data(problem, 20);
  idm_fit_settings settings = make_settings("", 10, 0);
  idm_posterior *posterior;
  idm_error error = {0};
  check(idm_inverse_fit(bayes, problem, data, &settings, NULL, &posterior, NULL, &support_error));
  assert_string_equal(posterior->sampler, "metropolis");
  idm_posterior_destroy(posterior);
  const struct {
    const char *free_blocks, *sampler;
  } cases[] = {
      {"alpha, beta, eta, discount", "metropolis"},
      {"{alpha: , beta: , eta: , discount: , utility: {entries: {wait: monitor}}}", "nuts"},
  };
  for (size_t i = 0; i < 2; i++) {
    check(idm_problem_set_free(problem, cases[i].free_blocks, &support_error));
    check(idm_inverse_fit(bayes, problem, data, &settings, NULL, &posterior, NULL, &support_error));
    assert_string_equal(posterior->sampler, cases[i].sampler);
    idm_posterior_destroy(posterior);
  }
  snprintf(settings.sampler, sizeof settings.sampler, "gibbs");
  assert_int_equal(idm_inverse_fit(bayes, problem, data, &settings, NULL, &posterior, NULL, &error),
                   IDM_USAGE);
  assert_non_null(strstr(error.message, "'gibbs' is not known"));
  assert_null(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Samplers agree in mean and sd within 4 Monte Carlo errors: 2 x 2 x 2 checks at 6e-5 each. */
static void test_samplers_agree(void **state)
{
  (void)state;
  const idm_inverse *bayes = idm_inverse_find("bayes");
  const char *const samplers[] = {"metropolis", "nuts", "slice"};
  idm_problem *problem = make_problem(10);
  problem->agent.evaluate = IDM_LOOKAHEAD; /* smooth, so that no sampler meets kinks */
  idm_data *data = make_data(problem, 30);
  idm_diagnosis first[2];
  for (size_t i = 0; i < 3; i++) {
    idm_fit_settings settings = make_settings(samplers[i], 300, 0);
    settings.warmup = 200;
    idm_posterior *p;
    check(idm_inverse_fit(bayes, problem, data, &settings, NULL, &p, NULL, &support_error));
    for (size_t k = 0; k < 2; k++) {
      idm_diagnosis d;
      check(idm_diagnose(p->unconstrained + k * 600, 2, 300, 300, 1, &d, &support_error));
      if (i == 0) first[k] = d;
      const double mean_error = hypot(d.mcse_mean, first[k].mcse_mean);
      const double sd_error = hypot(d.mcse_sd, first[k].mcse_sd);
      assert_true(fabs(d.mean - first[k].mean) < 4 * mean_error);
      assert_true(fabs(d.sd - first[k].sd) < 4 * sd_error);
    }
    idm_posterior_destroy(p);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Acceptance test: 1,000 patients of the optimistic agent, alpha fixed, 4 chains of 1,000 draws. */
static void test_optimistic_agent(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(99);
  idm_data *data = make_data(problem, 1000);
  idm_fit_settings settings = make_settings("", 1000, 2);
  settings.chains = 4;
  settings.warmup = 300;
  idm_posterior *p;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  const double truth[3] = {1.25, 0.8, 0.3};
  for (size_t k = 1; k < 3; k++) {
    idm_diagnosis d;
    check(idm_diagnose(p->value + k * 4000, 4, 1000, 1000, 1, &d, &support_error));
    assert_true(d.rhat <= idm_check_threshold(IDM_CHECK_RHAT));
    assert_true(d.ess_bulk > 1000 && d.ess_tail > 1000);
    assert_true(fabs(d.mean - truth[k]) < 4 * d.sd);
  }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- passes --------------------------------------------------------------------------------- */

/* Stops during the second pass, which is detected by a drop of the share done. */
typedef struct second {
  stopper stop;
  double before;
  bool begun;
} second;

static bool stop_second(void *context, const idm_progress_state *work)
{
  second *s = context;
  /* Work before the chains has no checkpoint. */
  if (!work->save) return false;
  s->begun = s->begun || work->done < s->before - 0.5;
  s->before = work->done;
  return s->begun && stop(&s->stop, work);
}

/* Lapse and alpha are nearly confounded in 500 choices: chains with two steps per draw mix slowly
 * and are rerun until they pass. Stopped in the second pass and resumed, they give the same draws.
 */
static void test_passes(void **state)
{
  (void)state;
  static const double alpha = 0.15;
  idm_problem *problem = make_reversal(alpha);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.2);
  idm_data *data = simulate_agents(problem, &alpha, 1, 10, 50, 2);
  check(idm_problem_set_free(problem, "alpha,lapse", &support_error));
  idm_fit_settings settings = make_settings("", 1000, 0);
  settings.chains = 4;
  settings.warmup = 300;
  settings.threads = 1;
  idm_posterior *p, *q;
  idm_notes notes = {0};
  const idm_inverse *bayes = idm_inverse_find("bayes");
  check(idm_inverse_fit(bayes, problem, data, &settings, NULL, &p, &notes, &support_error));
  assert_true(support_mentions(&notes, "the chains were run again with"));
  for (size_t k = 0; k < 2; k++) {
    idm_diagnosis d;
    check(idm_diagnose(p->value + k * 4000, 4, 1000, 1000, 1, &d, &support_error));
    assert_true(d.rhat <= idm_check_threshold(IDM_CHECK_RHAT));
    assert_true(fmin(d.ess_bulk, d.ess_tail) >= idm_check_threshold(IDM_CHECK_EFFECTIVE));
  }
  second s = {.stop = {.after = 0.3}};
  const idm_fit_monitor watch = {.progress = stop_second, .context = &s, .label = 3};
  (void)idm_inverse_fit(bayes, problem, data, &settings, &watch, &q, NULL, &support_error);
  assert_true(s.stop.stopped);
  idm_posterior_destroy(q);
  const idm_fit_monitor again = {
      .checkpoint = s.stop.bytes, .checkpoint_length = s.stop.length, .label = 3};
  check(idm_inverse_fit(bayes, problem, data, &settings, &again, &q, NULL, &support_error));
  same_draws(p, q);
  free(s.stop.bytes);
  idm_notes_clear(&notes);
  idm_posterior_destroy(q);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoints),       cmocka_unit_test(test_stopping_early),
      cmocka_unit_test(test_choice_of_sampler), cmocka_unit_test(test_samplers_agree),
      cmocka_unit_test(test_optimistic_agent),  cmocka_unit_test(test_passes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
