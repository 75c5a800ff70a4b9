/* People in summary.json and run.nc: both ways, and files that do not belong together. */
#include "io/run/folder.h"

#include <math.h>
#include <netcdf.h>
#include <string.h>

#include "base/memory.h"
#include "invert/posterior.h"
#include "io/run/run_support.h"

enum { CHAINS = 2, DRAWS = 20, ALL = CHAINS * DRAWS, COUNT = 7 };

/* A population of two with a regression; or the same people one by one, of whom ann is absent. */
static idm_posterior *made_up_people(bool population)
{
  static const char *const names[COUNT] = {"a", "b", "log_alpha_sd", "log_alpha_r2", "c", "d", "e"};
  idm_posterior *p = made_up(CHAINS, DRAWS, names, population ? COUNT : 1, true);
  idm_labels label = {0};
  for (size_t i = 0; i < p->quantity.count; i++) p->summarised[i] = true;
  idm_labels_destroy(&p->coordinate);
  if (population) {
    SUPPORT_NAMES(&label, "Intercept", "drug[T.yes]");
    check(idm_posterior_add_axis(p, "coefficient", &label, &support_error));
    check(idm_posterior_add_series(p, "log_alpha_coefficient", 0, 0, &support_error));
    idm_labels_destroy(&label);
    SUPPORT_NAMES(&label, "log_alpha,inverse_beta");
    check(idm_posterior_add_axis(p, "pair", &label, &support_error));
    check(idm_posterior_add_series(p, "correlation", 1, 4, &support_error));
    idm_labels_destroy(&label);
    SUPPORT_NAMES(&label, "ann", "b/o b");
  } else {
    SUPPORT_NAMES(&label, "b/o b");
  }
  check(idm_posterior_add_axis(p, "person", &label, &support_error));
  check(idm_posterior_add_series(p, "log_alpha", p->axes - 1, population ? 5 : 0, &support_error));
  idm_labels_destroy(&label);
  return p;
}

static idm_assessment *judged(const idm_posterior *p, bool population)
{
  idm_assessment *a;
  check(idm_assess_draws(p, &a, &support_error));
  a->people = 2;
  SUPPORT_NAMES(&a->person_name, "ann", "b/o b");
  a->person = calloc(2, sizeof *a->person);
  assert_non_null(a->person);
  for (size_t i = 0; i < 2; i++) {
    a->person[i] = (idm_person){.trajectories = 3,
                                .decisions = 10 + i,
                                .log_loss = 0.5,
                                .uniform_log_loss = 1.1,
                                .own = calloc(1, sizeof(double))};
    a->person[i].own[0] = 0.25 * (double)(i + 1);
  }
  if (!population) {
    a->person[0].absent = true;
    a->person[0].verdict = IDM_PERSON_FAILED;
    strcpy(a->person[0].reason, "there are no decisions");
  }
  return a;
}

static void the_summary_says_it_by_name(void **state)
{
  (void)state;
  idm_posterior *p = made_up_people(true);
  idm_assessment *a = judged(p, true);
  json_t *object = json_object();
  idm_people_put(&object, p, a);
  const json_t *effect = json_object_get(json_object_get(object, "population"), "log_alpha");
  const json_t *drug = json_object_get(json_object_get(effect, "coefficient"), "drug[T.yes]");
  size_t above = 0;
  for (size_t i = 0; i < ALL; i++) above += p->value[ALL + i] > 0;
  assert_near(json_number_value(json_object_get(drug, "positive")), (double)above / ALL, 1e-15);
  assert_near(json_number_value(json_object_get(drug, "mean")), a->diagnosis[1].mean, 1e-15);
  assert_near(json_number_value(json_object_get(json_object_get(effect, "sd"), "q50")),
              a->diagnosis[2].q50, 1e-15);
  assert_near(json_number_value(json_object_get(json_object_get(effect, "r2"), "q5")),
              a->diagnosis[3].q05, 1e-15);
  const json_t *bob = json_object_get(json_object_get(object, "people"), "b/o b");
  assert_near(json_number_value(json_object_get(json_object_get(bob, "log_alpha"), "shrinkage")),
              0.5, 1e-15);
  assert_int_equal(json_integer_value(json_object_get(bob, "decisions")), 11);
  json_decref(object);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

static void what_was_said_is_read_back(void **state)
{
  (void)state;
  for (int population = 0; population < 2; population++) {
    idm_posterior *p = made_up_people(population);
    idm_assessment *a = judged(p, population);
    idm_assessment *b;
    json_t *object = json_object();
    idm_people_put(&object, p, a);
    check(idm_assess_draws(p, &b, &support_error));
    check(idm_people_read(object, p, b, &support_error));
    assert_int_equal(b->people, 2);
    assert_int_equal(b->fitted_separately, !population);
    for (size_t i = 0; i < 2; i++) {
      const idm_person *x = &a->person[i];
      const idm_person *y = &b->person[i];
      assert_string_equal(b->person_name.name[i], a->person_name.name[i]);
      assert_int_equal(x->absent, y->absent);
      assert_int_equal(x->decisions, y->decisions);
      assert_int_equal(x->verdict, y->verdict);
      assert_string_equal(x->reason, y->reason);
      if (!x->absent) assert_near(x->own[0], y->own[0], 1e-15);
    }
    /* Of other people. */
    idm_assessment_destroy(b);
    check(idm_assess_draws(p, &b, &support_error));
    json_object_del(json_object_get(object, "people"), "b/o b");
    idm_error error = {0};
    assert_int_equal(idm_people_read(object, p, b, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "and run.nc have different people"));
    json_decref(object);
    idm_assessment_destroy(a);
    idm_assessment_destroy(b);
    idm_posterior_destroy(p);
  }
}

static void check_series(const idm_posterior *a, const idm_posterior *b)
{
  assert_int_equal(a->quantity.count, b->quantity.count);
  assert_true(idm_labels_same(&a->quantity, &b->quantity));
  assert_memory_equal(a->value, b->value, a->quantity.count * ALL * sizeof *a->value);
  assert_int_equal(a->series_count, b->series_count);
  for (size_t i = 0; i < a->series_count; i++) {
    const idm_series_axis *x = &a->axis[a->series[i].axis];
    const idm_series_axis *y = &b->axis[b->series[i].axis];
    assert_string_equal(a->series[i].name, b->series[i].name);
    assert_int_equal(a->series[i].first, b->series[i].first);
    assert_string_equal(x->name, y->name);
    assert_true(idm_labels_same(&x->label, &y->label));
  }
}

/* (chain, draw, person), as ArviZ reads it: checked with netCDF itself. */
static void the_file_has_named_dimensions(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_posterior *p = made_up_people(true);
  idm_posterior *back;
  char path[SUPPORT_PATH];
  support_path(path);
  check(idm_posterior_write_file(p, problem, NULL, path, &support_error));
  check(idm_posterior_read_file(path, &back, &support_error));
  check_series(p, back);
  int file, group, variable, rank, dimension[3];
  char name[NC_MAX_NAME + 1];
  static const char *const dimensions[] = {"chain", "draw", "person"};
  double value[ALL * 2];
  assert_int_equal(nc_open(path, NC_NOWRITE, &file), NC_NOERR);
  assert_int_equal(nc_inq_grp_ncid(file, "posterior", &group), NC_NOERR);
  assert_int_equal(nc_inq_varid(group, "log_alpha", &variable), NC_NOERR);
  assert_int_equal(nc_inq_varndims(group, variable, &rank), NC_NOERR);
  assert_int_equal(rank, 3);
  assert_int_equal(nc_inq_vardimid(group, variable, dimension), NC_NOERR);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(nc_inq_dimname(group, dimension[i], name), NC_NOERR);
    assert_string_equal(name, dimensions[i]);
  }
  assert_int_equal(nc_get_var_double(group, variable, value), NC_NOERR);
  for (size_t i = 0; i < ALL; i++)
    for (size_t k = 0; k < 2; k++) assert_near(value[i * 2 + k], p->value[(5 + k) * ALL + i], 0);
  assert_int_equal(nc_inq_grp_ncid(file, "unconstrained_posterior", &group), NC_ENOGRP);
  nc_close(file);
  remove(path);
  idm_posterior_destroy(back);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_summary_says_it_by_name),
      cmocka_unit_test(what_was_said_is_read_back),
      cmocka_unit_test(the_file_has_named_dimensions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
