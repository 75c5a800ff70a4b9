/* Tests printed tables of people: the population first, then each person, against expected texts.
 */
#include "cli/answer_support.h"
#include "cli/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two people and one who could not be fitted, after the mean and the sd of the population. */
static answer open_people(void)
{
  answer a = answer_open(
      (const char *const[]){"mean(alpha)", "sd(alpha)", "alpha[ann]", "alpha[zo\xc3\xab]"}, 4);
  static const char *const who[] = {"ann", "bo", "zo\xc3\xab"}, *const fitted[] = {"ann",
                                                                                   "zo\xc3\xab"};
  idm_posterior *p = a.posterior;
  idm_assessment *s = a.assessment;
  p->axes = 1;
  p->axis = calloc(1, sizeof *p->axis);
  p->axis[0].name = strdup("person");
  support_names(&p->axis[0].label, fitted, 2);
  p->series_count = 1;
  p->series = calloc(1, sizeof *p->series);
  p->series[0] = (idm_series){.name = strdup("alpha"), .first = 2, .axis = 0};
  s->people = 3;
  support_names(&s->person_name, who, 3);
  s->person = calloc(3, sizeof *s->person);
  for (size_t i = 0; i < 3; i++) {
    s->person[i].decisions = 10 * (i + 1);
    s->person[i].log_loss = 0.25;
    s->person[i].uniform_log_loss = 1.0986;
    s->person[i].own = calloc(1, sizeof(double));
    s->person[i].verdict = i == 1 ? IDM_PERSON_FAILED : IDM_PERSON_IDENTIFIED;
  }
  s->person[0].own[0] = 0.875;
  s->person[2].own[0] = NAN;
  s->person[1].absent = true;
  return a;
}

#define POPULATION                                                                                 \
  "                   mean         sd       mcse         5%        50%        95%  ess_bulk  "     \
  "ess_tail  r_hat  P(>0)\n"                                                                       \
  "mean(alpha)         2.5        0.5       0.01          1          2          4       400      " \
  " "                                                                                              \
  "300  1.001       \n"                                                                            \
  "sd(alpha)          12.5        0.5       0.01          1          2          4       400      " \
  " "                                                                                              \
  "300  1.001       \n\n"
#define PEOPLE                                                                                     \
  "                              alpha   own  r_hat decisions log-loss   chance  verdict\n"
#define ANN                                                                                        \
  "ann        22.5 [       1,       4]  0.88  1.001        10   0.2500   1.0986  identified\n"
#define BO "bo            -                   -     -      -        20   0.2500   1.0986  failed\n"
#define ZOE                                                                                        \
  "zo\xc3\xab        32.5 [       1,       4]     -  1.001        30   0.2500   1.0986  "          \
  "identified\n"

static void test_everybody(void **state)
{
  (void)state;
  answer a = open_people();
  printed p;
  printed_open(&p);
  cli_print_people(p.out, a.posterior, a.assessment, SIZE_MAX);
  printed_expect(&p, POPULATION PEOPLE ANN BO ZOE);
  /* The table of a run with people is the same. */
  printed_open(&p);
  cli_print_posterior(NULL, p.out, a.posterior, a.assessment);
  printed_expect(&p, POPULATION PEOPLE ANN BO ZOE);
  answer_close(&a);
}

static void test_most(void **state)
{
  (void)state;
  answer a = open_people();
  printed p;
  printed_open(&p);
  cli_print_people(p.out, a.posterior, a.assessment, 1);
  printed_expect(&p, POPULATION PEOPLE ANN);
  answer_close(&a);
}

/* Point estimates have neither an interval nor R-hat. */
static void test_points(void **state)
{
  (void)state;
  static const char ann[] =
      "ann        22.5                   -     -      -        10   0.2500   1.0986  point\n";
  answer a = open_people();
  a.posterior->answer = IDM_POINT;
  a.assessment->person[0].verdict = IDM_PERSON_POINT;
  printed p;
  printed_open(&p);
  cli_print_people(p.out, a.posterior, a.assessment, 1);
  char *text = printed_close(&p);
  if (!strstr(text, ann)) fail_msg("'%s' is not in\n%s", ann, text);
  free(text);
  answer_close(&a);
}

/* Population quantities along their own axis, such as effects of covariates, can have either sign:
 * the table contains P(>0). */
static void test_sign(void **state)
{
  (void)state;
  answer a = open_people();
  idm_posterior *post = a.posterior;
  post->axis = realloc(post->axis, 2 * sizeof *post->axis);
  post->axis[1] = (idm_series_axis){.name = strdup("term")};
  support_names(&post->axis[1].label, (const char *const[]){"age"}, 1);
  post->axes = 2;
  post->series = realloc(post->series, 2 * sizeof *post->series);
  post->series[1] = (idm_series){.name = strdup("mean"), .first = 0, .axis = 1};
  post->series_count = 2;
  post->value[0] = post->value[1] = post->value[2] = -1;
  printed p;
  printed_open(&p);
  cli_print_people(p.out, post, a.assessment, 0);
  char *text = printed_close(&p);
  assert_non_null(strstr(text, "300  1.001  0.250\nsd(alpha)"));
  free(text);
  answer_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_everybody), cmocka_unit_test(test_most),
                                     cmocka_unit_test(test_points), cmocka_unit_test(test_sign)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
