/* Tests failing allocations while runs of one agent and of people are made, written and read. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "allocation/heap_support.h"
#include "allocation/setup_support.h"
#include "invert/people/people_support.h"

static idm_status write_summary(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  return idm_posterior_write_summary(f->posterior, f->assessment, NULL, in_folder("out"), error);
}

/* Failures and remarks are notes, which may be lost. */
static idm_status read_summary(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_assessment *own = calloc(1, sizeof *own);
  if (!own) return idm_fail_memory(error);
  const idm_status status = idm_summary_read(log_file, f->posterior, own, error);
  idm_assessment_destroy(own);
  return status;
}

static idm_status write_request(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_request request;
  idm_request_default(&request);
  return idm_request_write(f->problem, &request, in_folder("out"), error);
}

static idm_status read_request(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_request request;
  const idm_status status = idm_request_read(argument, &problem, &request, NULL, error);
  assert_result(status, problem);
  idm_problem_destroy(problem);
  return status;
}

static void test_files_of_a_run(void **state)
{
  (void)state;
  fitted f = open_fit();
  idm_request request;
  idm_request_default(&request);
  idm_notes_add(&f.assessment->remarks, "a remark");
  json_set_alloc_funcs(
      malloc,
      free); /* the wrapped functions, so that allocations of the JSON library are intercepted */
  every_failure("write summary", write_summary, &f, succeeds);
  json_set_alloc_funcs(__real_malloc, __real_free); /* not intercepted: the JSON reader reports
                                                       failed allocations as invalid JSON */
  check(idm_posterior_write_summary(f.posterior, f.assessment, NULL, log_file, &support_error));
  every_failure("read summary", read_summary, &f, recovers);
  every_failure("write request", write_request, &f, succeeds);
  char config[96];
  snprintf(config, sizeof config, "%s.yaml", log_file);
  check(idm_request_write(f.problem, &request, config, &support_error));
  every_failure("read request", read_request, config, succeeds);
  remove(config);
  close_fit(&f);
}

/* Removes a file of a run. Returns whether it existed. */
static bool remove_of(const char *run, const char *file)
{
  char name[256];
  snprintf(name, sizeof name, "%s/%s", run, file);
  return remove(name) == 0;
}

/* Returns a short request and the folder of its run. */
static idm_request ask(char run[128])
{
  idm_request request;
  idm_request_default(&request);
  request.settings = few("");
  snprintf(run, 128, "%s", in_folder("out"));
  return request;
}

/* Writes a run into a folder of its own, reads it back and removes it. A run that failed after
 * draws were made has kept them. */
static idm_status run_fit(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  char run[128];
  const idm_request request = ask(run);
  idm_run found;
  idm_problem *problem = NULL;
  idm_posterior *posterior = NULL;
  idm_status status =
      idm_run_fit(run, IDM_RUN_NEW, f->problem, f->data, &request, NULL, NULL, &found, NULL, error);
  const bool whole = status == IDM_OK;
  if (whole) status = idm_run_read(run, &problem, NULL, &posterior, NULL, error);
  if (idm_run_is(run)) {
    assert_true(remove_of(run, "config.yaml"));
    assert_true(remove_of(run, "checkpoint") ? !whole : true);
    assert_true(remove_of(run, "run.nc") ? true : !whole);
    assert_int_equal(remove_of(run, "summary.json"), whole);
    assert_int_equal(rmdir(run), 0);
  }
  idm_run_clear(&found);
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
  return status;
}

static void test_run(void **state)
{
  (void)state;
  fitted f = open_fit();
  /* Its parts are tested above, so only every eleventh or thirteenth allocation fails. */
  fail_one_by_one("run", run_fit, &f, true, recovers, 11);
  fail_one_by_one("run", run_fit, &f, false, recovers, 13);
  close_fit(&f);
}

/* People and their population. */
typedef struct peopled {
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
} peopled;

static idm_status fit_people(const void *argument, idm_error *error)
{
  const peopled *p = argument;
  const idm_fit_settings settings = few("");
  idm_people *people = GARBAGE;
  const idm_status status =
      idm_people_fit(p->problem, p->data, p->design, &settings, NULL, &people, NULL, error);
  assert_result(status, people);
  idm_people_destroy(people);
  return status;
}

static void test_people(void **state)
{
  (void)state;
  peopled p = {.problem = support_diag(0.5, 1.25, 0.001)};
  support_assign(p.problem, "resolution=9");
  check(idm_problem_set_free(p.problem, "alpha", &support_error));
  p.data = support_data(p.problem, "agent,trajectory,action,observation\n"
                                   "a,1,monitor,positive\na,1,declare_diseased,\n"
                                   "b,2,monitor,negative\nb,2,declare_healthy,\n");
  p.design = support_design(p.data, 1, 0, (const double[]){0}, (const double[]){1});
  every_failure("people", fit_people, &p, succeeds);
  idm_design_destroy(p.design);
  idm_data_destroy(p.data);
  idm_problem_destroy(p.problem);
}

static const char people_log[] = "agent,trajectory,action,observation,drug,dose\n"
                                 "ann,1,declare_healthy,,no,low\n"
                                 "ann,2,declare_diseased,,no,high\n"
                                 "bob,3,declare_healthy,,yes,low\n"
                                 "cyd,4,declare_healthy,,yes,low\n"
                                 "dan,5,declare_healthy,,no,high\n";

static idm_data *people_data(const idm_problem *problem)
{
  const char *const keep[] = {"drug", "dose"};
  const idm_csv_options options = {.keep = keep, .keep_count = 2};
  idm_data *data = NULL;
  check(idm_data_parse_csv(people_log, strlen(people_log), "d.csv", problem, &options, &data, NULL,
                           &support_error));
  return data;
}

static idm_status design(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  const char *const model[] = {"eta ~ C(drug, ref=yes) + dose"};
  const idm_design_request request = {"agent", model, 1};
  idm_labels columns = {0};
  idm_design *made = NULL;
  idm_status status = idm_design_columns(f->problem, &request, &columns, error);
  if (status == IDM_OK) {
    made = GARBAGE;
    status = idm_design_create(f->problem, f->data, &request, &made, NULL, error);
    assert_result(status, made);
  }
  idm_labels_destroy(&columns);
  idm_design_destroy(made);
  return status;
}

/* Writes a run of people by one column or another, reads it back and removes it. */
static idm_status run_people(const fitted *f, const char *by, const char *each, idm_error *error)
{
  char run[128];
  idm_request request = ask(run);
  idm_run found;
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  snprintf(request.by, sizeof request.by, "%s", by);
  snprintf(request.each, sizeof request.each, "%s", each);
  idm_status status =
      idm_run_fit(run, IDM_RUN_NEW, f->problem, f->data, &request, NULL, NULL, &found, NULL, error);
  if (status == IDM_OK) status = idm_run_read(run, NULL, NULL, &posterior, NULL, error);
  if (status == IDM_OK) status = idm_run_assess(run, posterior, &assessment, error);
  if (idm_run_is(run)) {
    (void)remove_of(run, "config.yaml");
    (void)remove_of(run, "run.nc");
    (void)remove_of(run, "summary.json");
    (void)remove_of(run, "checkpoint");
    assert_int_equal(rmdir(run), 0);
  }
  idm_run_clear(&found);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status run_population(const void *argument, idm_error *error)
{
  return run_people(argument, "agent", "", error);
}

static idm_status run_each(const void *argument, idm_error *error)
{
  return run_people(argument, "", "agent", error);
}

static void test_runs_of_people(void **state)
{
  (void)state;
  fitted f = open_fit();
  idm_data_destroy(f.data);
  f.data = people_data(f.problem);
  every_failure("a design", design, &f, recovers);
  fail_one_by_one("a population", run_population, &f, true, recovers, 61);
  fail_one_by_one("people one by one", run_each, &f, true, recovers, 997);
  close_fit(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_files_of_a_run),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_people),
      cmocka_unit_test(test_runs_of_people),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
