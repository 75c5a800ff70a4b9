/* Tests draws of people and population against quadrature, their mixing with little and much data,
 * their independence of threads, and interruption and resumption.
 *
 * A comparison fails if a mean is 4.5 standard errors away, by chance with probability 7e-6. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "invert/people/people_support.h"
#include "invert/people/reference_support.h"

static const double centre[] = {-0.5, 0.3};
static const double width[] = {1, 0.5};

/* People around (0, .3) with the given sd, halved for the second parameter. */
static idm_data *draw_people(const idm_problem *problem, size_t people, double sd, size_t decisions,
                             bool both)
{
  const size_t n = both ? 2 : 1;
  double *x = idm_new(people * n, sizeof *x);
  idm_random random;
  idm_random_init(&random, 5, 1);
  for (size_t i = 0; i < people * n; i++)
    x[i] = (i % n ? 0.3 : 0) + sd * (i % n ? 0.5 : 1) * idm_random_normal(&random);
  idm_data *data = support_people(problem, people, x, decisions, 9);
  free(x);
  return data;
}

static idm_fit_settings brief(long warmup, long draws)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.warmup = warmup;
  settings.draws = draws;
  settings.threads = 1;
  return settings;
}

static idm_people *fit(const idm_problem *problem, const idm_data *data, const idm_design *design,
                       const idm_fit_settings *settings)
{
  idm_people *people;
  check(idm_people_fit(problem, data, design, settings, NULL, &people, NULL, &support_error));
  return people;
}

static idm_diagnosis diagnose(const idm_people *p, const double *series)
{
  idm_diagnosis d;
  check(idm_diagnose(series, p->chains, p->draws, p->draws, 1, &d, &support_error));
  return d;
}

/* --- the reference -------------------------------------------------------------------------- */

static void agrees(const char *what, const idm_people *p, const double *series,
                   const reference_law *law)
{
  const idm_diagnosis d = diagnose(p, series);
  const double mean = reference_mean(law), sd = reference_sd(law);
  print_message("  %s: %.4f (%.4f), exactly %.4f (%.4f); ESS %.0f\n", what, d.mean, d.sd, mean, sd,
                d.ess_bulk);
  assert_true(fabs(d.mean - mean) < 4.5 * d.mcse_mean);
  assert_true(fabs(d.sd - sd) < 4.5 * d.mcse_sd);
  const double quantile[] = {d.q05, d.q50, d.q95};
  const double level[] = {0.05, 0.5, 0.95};
  for (int k = 0; k < 3; k++) {
    const double below = reference_below(law, quantile[k]);
    const double error = sqrt(level[k] * (1 - level[k]) / d.ess_tail);
    assert_true(fabs(below - level[k]) < 4.5 * error);
  }
}

static void compare(size_t people, double sd, size_t decisions)
{
  idm_problem *problem = support_people_diag("alpha");
  idm_data *data = draw_people(problem, people, sd, decisions, false);
  idm_design *design = support_design(data, 1, 0, centre, width);
  reference exact;
  reference_make(problem, data, design, &exact);
  const idm_fit_settings settings = brief(200, 600);
  idm_people *p = fit(problem, data, design, &settings);
  agrees("mean", p, p->coefficient, &exact.mean);
  agrees("sd", p, p->sd, &exact.sd);
  agrees("a person", p, p->effect, &exact.person);
  assert_true(diagnose(p, p->sd).ess_bulk > 400);
  idm_people_destroy(p);
  reference_free(&exact);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void one_number_agrees_with_quadrature(void **state)
{
  (void)state;
  compare(8, 0.7, 30);
}

/* A funnel: people are equal, and twenty decisions have little information. */
static void equal_people_agree_with_quadrature(void **state)
{
  (void)state;
  compare(10, 0, 20);
}

/* --- two numbers ---------------------------------------------------------------------------- */

/* The chains mix, and the numbers by which the people were drawn are within 4.5 posterior sds. */
static void population_mixes(double sd, size_t decisions)
{
  const double truth[] = {0, 0.3, sd, sd / 2};
  idm_problem *problem = support_people_diag("alpha,beta");
  idm_data *data = draw_people(problem, 10, sd, decisions, true);
  idm_design *design = support_design(data, 2, 0, centre, width);
  const idm_fit_settings settings = brief(200, 500);
  idm_people *p = fit(problem, data, design, &settings);
  const size_t series = p->chains * p->draws;
  const double *const all[] = {p->coefficient, p->coefficient + series, p->sd, p->sd + series,
                               p->correlation};
  for (size_t k = 0; k < 5; k++) {
    const idm_diagnosis d = diagnose(p, all[k]);
    print_message("  %.3f (%.3f), R-hat %.3f, ESS %.0f\n", d.mean, d.sd, d.rhat, d.ess_bulk);
    assert_true(d.rhat < 1.02 && d.ess_bulk > 400);
    if (k < 4) assert_true(d.sd > 0 && fabs(d.mean - truth[k]) < 4.5 * d.sd);
  }
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void little_data_mix(void **state)
{
  (void)state;
  population_mixes(0.5, 20);
}

static void people_who_are_equal_mix(void **state)
{
  (void)state;
  population_mixes(0, 50);
}

static void many_data_mix(void **state)
{
  (void)state;
  population_mixes(0.5, 400);
}

/* Integrals over people equal those of the tabulated likelihood up to one constant, that of its
 * quadrature. A fixed population has none, with a note. */
static void people_are_integrated_over(void **state)
{
  (void)state;
  idm_problem *problem = support_people_diag("alpha");
  idm_data *data = draw_people(problem, 4, 0.5, 20, false);
  idm_design *design = support_design(data, 1, 0, centre, width);
  const idm_fit_settings settings = brief(300, 50);
  idm_people *people = fit(problem, data, design, &settings);
  const size_t all = people->chains * people->draws;
  reference_table table;
  idm_integrated *integrated;
  idm_notes notes = {0};
  reference_tabulate(problem, data, -9, 9, &table);
  check(idm_people_integrate(problem, data, design, people, &settings, NULL, 0, &integrated, &notes,
                             &support_error));
  assert_int_equal(notes.count, 0);
  double constant = 0;
  for (size_t i = 0; i < people->people; i++)
    for (size_t s = 0; s < all; s++) {
      const double expected = reference_marginal(&table, i, people->coefficient[s], people->sd[s]);
      const double found = integrated->log_likelihood[s * people->people + i];
      if (!i && !s) constant = found - expected;
      assert_near(found - expected, constant, 2e-3);
    }
  idm_integrated_destroy(integrated);
  design->fixed = true;
  check(idm_people_integrate(problem, data, design, people, &settings, NULL, 0, &integrated, &notes,
                             &support_error));
  assert_null(integrated);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "the population is fixed"));
  idm_notes_clear(&notes);
  free(table.value);
  idm_people_destroy(people);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Two conditions per person: the second effect of alpha applies in the second condition only. */
static void conditions_within_people_are_found(void **state)
{
  (void)state;
  enum { people = 10 };
  idm_problem *problem = support_people_diag("alpha");
  double x[2 * people];
  idm_random random;
  idm_random_init(&random, 8, 1);
  for (size_t i = 0; i < people; i++) {
    x[2 * i] = -0.3 + 0.3 * idm_random_normal(&random);
    x[2 * i + 1] = x[2 * i] + 1;
  }
  idm_data *data = support_people(problem, 2 * people, x, 100, 4);
  /* One coordinate with two effects; agents 2i and 2i + 1 are the cells of person i. */
  idm_design *design = support_design(data, 2, 0, (const double[]){0, 0}, (const double[]){1, 1});
  design->people = design->person.count = people;
  design->coordinates = 1;
  design->effect_coordinate[1] = 0;
  for (size_t c = 0; c < design->cells; c++) {
    design->cell_person[c] = (uint32_t)(c / 2);
    design->share[c * 2 + 1] = (double)(c % 2);
  }
  const idm_fit_settings settings = brief(200, 150);
  idm_people *p = fit(problem, data, design, &settings);
  const size_t series = p->chains * p->draws;
  const idm_diagnosis first = diagnose(p, p->coefficient);
  const idm_diagnosis second = diagnose(p, p->coefficient + series);
  print_message("  %.3f (%.3f), %.3f (%.3f)\n", first.mean, first.sd, second.mean, second.sd);
  assert_true(fabs(first.mean + 0.3) < 4 * first.sd && first.sd < 0.3 && first.rhat < 1.05);
  assert_true(fabs(second.mean - 1) < 4 * second.sd && second.sd < 0.3 && second.rhat < 1.05);
  for (size_t i = people; i < 2 * people; i++) free(design->person.name[i]);
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- the same draws ------------------------------------------------------------------------- */

typedef struct small {
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
} small;

static small make_small(void)
{
  small s = {.problem = support_people_diag("alpha,beta")};
  s.data = draw_people(s.problem, 11, 0.4, 20, true);
  s.design = support_design(s.data, 2, 0, centre, width);
  return s;
}

static void free_small(small *s)
{
  idm_design_destroy(s->design);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

static void same_draws(const idm_people *a, const idm_people *b, bool same)
{
  const size_t n = a->chains * a->draws;
  assert_int_equal(a->draws, b->draws);
  const size_t effects = n * a->effects * a->people;
  assert_int_equal(!memcmp(a->effect, b->effect, effects * sizeof *a->effect), same);
  assert_int_equal(!memcmp(a->sd, b->sd, n * a->effects * sizeof *a->sd), same);
  assert_int_equal(!memcmp(a->log_posterior, b->log_posterior, n * sizeof *a->sd), same);
}

static void threads_change_no_draw(void **state)
{
  (void)state;
  small s = make_small();
  idm_fit_settings settings = brief(40, 30);
  settings.threads = 1;
  idm_people *one = fit(s.problem, s.data, s.design, &settings);
  settings.threads = 3;
  idm_people *three = fit(s.problem, s.data, s.design, &settings);
  settings.seed++;
  idm_people *other = fit(s.problem, s.data, s.design, &settings);
  settings.seed--;
  s.design->sd_scale[0] *= 1 + 1e-15;
  idm_people *another = fit(s.problem, s.data, s.design, &settings);
  same_draws(one, three, true);
  same_draws(one, other, false);
  same_draws(one, another, false);
  idm_people_destroy(one);
  idm_people_destroy(three);
  idm_people_destroy(other);
  idm_people_destroy(another);
  free_small(&s);
}

/* --- the watch ------------------------------------------------------------------------------ */

/* A progress callback that stops once the fraction `enough` is done, and counts its calls. */
typedef struct impatient {
  double enough;
  int calls;
  double last;
} impatient;

static bool watch(void *context, const idm_progress_state *work)
{
  impatient *w = context;
  char words[80];
  w->calls++;
  assert_true(work->done >= w->last && work->done <= 1);
  assert_non_null(idm_progress_describe(work, words, sizeof words));
  w->last = work->done;
  return work->done >= w->enough;
}

static void stopped_fits_give_what_is_there(void **state)
{
  (void)state;
  small s = make_small();
  const double enough[] = {0, 0.0005, 0.002, 2};
  for (size_t k = 0; k < 4; k++) {
    impatient w = {.enough = enough[k]};
    const idm_fit_monitor watched = {.progress = watch, .context = &w};
    /* The callback is called every tenth of a second: the warm-up lasts longer, or is complete by
     * then. */
    const idm_fit_settings settings = k < 2 ? brief(100000, 100) : brief(10, k == 3 ? 20 : 100000);
    idm_people *p;
    idm_notes notes = {0};
    idm_error error = {0};
    const idm_status status =
        idm_people_fit(s.problem, s.data, s.design, &settings, &watched, &p, &notes, &error);
    if (k < 2) { /* before the first draw there is no result */
      assert_int_equal(status, IDM_UNTRUSTED);
      assert_null(p);
      continue;
    }
    check(status);
    const size_t n = p->chains * p->draws;
    assert_true(p->draws >= 1 && p->draws <= (size_t)settings.draws);
    assert_int_equal(notes.count, k < 3);
    assert_true(w.calls > 0);
    for (size_t i = 0; i < n; i++) assert_true(isfinite(p->log_posterior[i]) && p->sd[i] > 0);
    for (size_t i = 0; i < n * p->people; i++) assert_true(p->log_likelihood[i] <= 0);
    idm_notes_clear(&notes);
    idm_people_destroy(p);
  }
  free_small(&s);
}

/* A progress callback that saves a checkpoint whenever possible, and stops after `places` of them.
 */
typedef struct keeper {
  int places;
  char *bytes;
  size_t length;
} keeper;

static bool keep(void *context, const idm_progress_state *work)
{
  keeper *k = context;
  if (!work->save) return false;
  free(k->bytes);
  check(idm_progress_save(work, &k->bytes, &k->length, &support_error));
  return k->places-- <= 0;
}

static void stopped_and_gone_on_with_it_is_the_same(void **state)
{
  (void)state;
  small s = make_small();
  const idm_fit_settings settings = brief(120, 60);
  idm_people *whole, *parts = NULL;
  keeper k = {0};
  check(idm_people_fit(s.problem, s.data, s.design, &settings, NULL, &whole, NULL, &support_error));
  for (int i = 0; !parts || parts->draws < whole->draws; i++) {
    const idm_fit_monitor watched = {.progress = keep,
                                     .context = &k,
                                     .checkpoint = i ? idm_duplicate(k.bytes, k.length, 1) : NULL,
                                     .checkpoint_length = k.length,
                                     .label = 7};
    idm_error error = {0};
    idm_people_destroy(parts);
    k.places = i < 4 ? i : INT_MAX;
    const idm_status status =
        idm_people_fit(s.problem, s.data, s.design, &settings, &watched, &parts, NULL, &error);
    assert_true(status == IDM_OK || (status == IDM_UNTRUSTED && i < 4));
    free((char *)(uintptr_t)watched.checkpoint);
  }
  const size_t n = whole->chains * whole->draws;
  assert_memory_equal(whole->effect, parts->effect,
                      n * whole->people * whole->effects * sizeof(double));
  assert_memory_equal(whole->sd, parts->sd, n * whole->effects * sizeof(double));
  assert_memory_equal(whole->log_posterior, parts->log_posterior, n * sizeof(double));
  assert_memory_equal(whole->log_likelihood, parts->log_likelihood,
                      n * whole->people * sizeof(double));
  /* Checkpoints of another request, and damaged ones. */
  idm_people *none;
  idm_error error = {0};
  idm_fit_monitor other = {
      .checkpoint = k.bytes, .checkpoint_length = k.length, .checkpoint_file = "there", .label = 8};
  assert_int_equal(
      idm_people_fit(s.problem, s.data, s.design, &settings, &other, &none, NULL, &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, "another request"));
  assert_string_equal(error.file, "there");
  other.label = 7;
  k.bytes[k.length / 2] ^= 1;
  assert_int_equal(
      idm_people_fit(s.problem, s.data, s.design, &settings, &other, &none, NULL, &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, "is damaged"));
  free(k.bytes);
  idm_people_destroy(whole);
  idm_people_destroy(parts);
  free_small(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_number_agrees_with_quadrature),
      cmocka_unit_test(equal_people_agree_with_quadrature),
      cmocka_unit_test(little_data_mix),
      cmocka_unit_test(people_who_are_equal_mix),
      cmocka_unit_test(many_data_mix),
      cmocka_unit_test(people_are_integrated_over),
      cmocka_unit_test(conditions_within_people_are_found),
      cmocka_unit_test(threads_change_no_draw),
      cmocka_unit_test(stopped_fits_give_what_is_there),
      cmocka_unit_test(stopped_and_gone_on_with_it_is_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
