/* People's own numbers: told from the population's, and judged together. */
#include "invert/assess/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/posterior.h"
#include "support.h"

/* Two chains of 400 draws: a population's number, then four people's, the last of whom is stuck at
 * two places. */
static idm_posterior *made_up(void)
{
  idm_posterior *p = calloc(1, sizeof *p);
  idm_labels person = {0};
  idm_random random;
  assert_non_null(p);
  idm_random_init(&random, 3, 0);
  p->answer = IDM_POSTERIOR;
  p->chains = 2;
  p->draws = 400;
  SUPPORT_NAMES(&p->quantity, "log_alpha_sd", "", "", "", "");
  p->summarised = calloc(5, sizeof *p->summarised);
  p->value = malloc(5 * 800 * sizeof *p->value);
  p->statistics = calloc(800, sizeof *p->statistics);
  assert_true(p->summarised && p->value && p->statistics);
  p->summarised[0] = true;
  for (size_t i = 0; i < 5 * 800; i++) p->value[i] = idm_random_normal(&random);
  for (size_t i = 0; i < 400; i++) p->value[4 * 800 + i] += 3;
  for (size_t i = 0; i < 800; i++) p->statistics[i].energy = NAN;
  SUPPORT_NAMES(&person, "ann", "bob", "cyd", "dan");
  check(idm_posterior_add_axis(p, "person", &person, &support_error));
  check(idm_posterior_add_series(p, "log_alpha", 0, 1, &support_error));
  idm_labels_destroy(&person);
  return p;
}

static void people_are_judged_together(void **state)
{
  (void)state;
  idm_posterior *p = made_up();
  idm_assessment *a;
  assert_false(idm_is_of_person(p, 0));
  for (size_t i = 1; i < 5; i++) assert_true(idm_is_of_person(p, i));
  assert_string_equal(p->quantity.name[4], "log_alpha[dan]");
  check(idm_assess_draws(p, &a, &support_error));
  assert_true(idm_person_is_drawn(&a->diagnosis[1], 2));
  assert_false(idm_person_is_drawn(&a->diagnosis[4], 2));
  assert_int_equal(a->failures.count, 1);
  assert_non_null(strstr(a->failures.text[0], "log alpha are not enough for 1 of 4 people, least "
                                              "for 'dan'"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(people_are_judged_together)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
