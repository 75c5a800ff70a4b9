/* Tests designs that are rejected, each with a message on the invalid part. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <string.h>

#include "invert/people/people_support.h"
#include "plan/learner_support.h"

static const char csv[] =
    "agent,trajectory,action,observation\n"
    "ann,1,declare_healthy,\nann,2,declare_diseased,\nbob,3,declare_healthy,\n";

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_design *design; /* tests change it and restore it */
} fixture;

static int set_up(void **state)
{
  static fixture f;
  f = (fixture){.problem = support_diag(0.5, 2, 0)};
  f.data = support_data(f.problem, csv);
  f.design = support_design(f.data, 2, 1, (const double[]){0, 0}, (const double[]){1, 1});
  *state = &f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  idm_design_destroy(f->design);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
  return 0;
}

static void refused(const fixture *f, idm_status wanted, const char *words)
{
  idm_error error = {0};
  const idm_status status = idm_design_check(f->design, f->problem, f->data, 2, &error);
  assert_string_equal(idm_status_name(status), idm_status_name(wanted));
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void whole_designs_pass(void **state)
{
  const fixture *f = *state;
  check(idm_design_check(f->design, f->problem, f->data, 2, &support_error));
}

static void missing_parts_are_named(void **state)
{
  fixture *f = *state;
  const idm_design whole = *f->design;
  f->design->share = NULL;
  refused(f, IDM_USAGE, "parts missing");
  *f->design = whole;
  f->design->people = 0;
  refused(f, IDM_USAGE, "parts missing");
  *f->design = whole;
  double *kept = f->design->regressor[1];
  f->design->regressor[1] = NULL;
  refused(f, IDM_USAGE, "parts missing");
  f->design->regressor[1] = kept;
}

static void other_problems_are_refused(void **state)
{
  fixture *f = *state;
  idm_error error = {0};
  assert_int_equal(idm_design_check(f->design, f->problem, f->data, 3, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "has 2 free numbers; the problem has 3"));
  f->design->effect_coordinate[1] = 0;
  refused(f, IDM_INPUT, "no effect");
  f->design->effect_coordinate[1] = 7;
  refused(f, IDM_INPUT, "order of free numbers");
  f->design->effect_coordinate[1] = 1;
}

static void cells_that_do_not_fit_are_refused(void **state)
{
  fixture *f = *state;
  f->design->cell_of[1] = 9;
  refused(f, IDM_INPUT, "trajectory 2 is in cell 9; the design has 2");
  f->design->cell_of[1] = 0;
  f->design->cell_of[2] = 0;
  refused(f, IDM_INPUT, "a cell of person 'person2' has no trajectory");
  f->design->cell_of[2] = 1;
  f->design->cell_person[0] = 1;
  refused(f, IDM_INPUT, "cells must be in the order of people");
  f->design->cell_person[0] = 0;
  f->design->cell_person[1] = 0;
  refused(f, IDM_INPUT, "person 'person2' of the design has no trajectory");
  f->design->cell_person[1] = 1;
}

static void numbers_that_are_none_are_refused(void **state)
{
  fixture *f = *state;
  const struct {
    double *number;
    const char *words;
  } spoil[] = {{&f->design->share[1], "a share of an effect"},
               {&f->design->regressor[1][2], "a regressor of 'effect2'"},
               {&f->design->coefficient_mean[0][1], "coefficient 2 of 'effect1'"},
               {&f->design->coefficient_sd[0][0], "coefficient 1 of 'effect1'"},
               {&f->design->sd_scale[1], "the sd of 'effect2'"},
               {&f->design->correlation, "LKJ prior of shape"}};
  for (size_t i = 0; i < sizeof spoil / sizeof spoil[0]; i++) {
    const double kept = *spoil[i].number;
    *spoil[i].number = NAN;
    refused(f, IDM_INPUT, spoil[i].words);
    *spoil[i].number = INFINITY;
    refused(f, IDM_INPUT, spoil[i].words);
    *spoil[i].number = kept;
  }
  f->design->sd_scale[0] = 0;
  refused(f, IDM_INPUT, "expected a positive one");
  f->design->sd_scale[0] = 1;
}

static void pooled_coefficients_are_checked(void **state)
{
  fixture *f = *state;
  double scale[] = {1, 1};
  f->design->pooled = 1;
  refused(f, IDM_USAGE, "parts missing");
  f->design->spread_scale = scale;
  check(idm_design_check(f->design, f->problem, f->data, 2, &support_error));
  f->design->pooled = 3;
  refused(f, IDM_USAGE, "parts missing");
  f->design->pooled = 1;
  scale[1] = 0;
  refused(f, IDM_INPUT, "the spread of the pooled coefficients of 'effect2'");
  scale[1] = 1;
  f->design->coefficient_mean[1][1] = 0.5;
  refused(f, IDM_INPUT, "coefficient 2 of 'effect2' is pooled and has a prior mean of 0.5");
  f->design->coefficient_mean[1][1] = 0;
  f->design->spread_scale = NULL;
  f->design->pooled = 0;
}

/* The trajectories of an agent whose memory persists must be in one cell; those of a memoryless
 * agent need not. */
static void learners_stay_in_one_cell(void **state)
{
  fixture *f = *state;
  idm_problem *learner = support_reversal(&idm_learner);
  idm_error error = {0};
  f->design->cell_of[1] = 1;
  check(idm_design_check(f->design, f->problem, f->data, 2, &support_error));
  assert_int_equal(idm_design_check(f->design, learner, f->data, 2, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "those of 'ann' are in several cells"));
  f->design->cell_of[1] = 0;
  check(idm_design_check(f->design, learner, f->data, 2, &support_error));
  idm_problem_destroy(learner);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_designs_pass),
                                     cmocka_unit_test(missing_parts_are_named),
                                     cmocka_unit_test(other_problems_are_refused),
                                     cmocka_unit_test(cells_that_do_not_fit_are_refused),
                                     cmocka_unit_test(numbers_that_are_none_are_refused),
                                     cmocka_unit_test(pooled_coefficients_are_checked),
                                     cmocka_unit_test(learners_stay_in_one_cell)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
