/* Tests the run folder of an audit: its files read back against the audit in memory, reruns from
 * config.yaml, and refused requests. */
#include <math.h>
#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "invert/audit/audit_support.h"
#include "io/json.h"
#include "io/run/run_support.h"

typedef struct host {
  idm_problem *problem;
  idm_data *data;
  idm_audit_request request;
  char log[128];
  char run[128];
} host;

static host open_host(const folder *f)
{
  host h = {.problem = audit_problem(1.5)};
  h.data = audit_data(h.problem, (const double[]){0.5, 1}, 2, 20);
  snprintf(h.log, sizeof h.log, "%s/log.csv", f->path);
  snprintf(h.run, sizeof h.run, "%s/run", f->path);
  check(idm_data_write_csv(h.data, h.problem, h.log, &support_error));
  idm_audit_request_default(&h.request);
  h.request.request.settings.chains = 2;
  h.request.request.settings.draws = 20;
  h.request.request.settings.warmup = 5;
  strcpy(h.request.by, "site");
  check(idm_request_set_inputs(&h.request.request, "example:diag", h.log, &support_error));
  return h;
}

static void close_host(host *h)
{
  static const char *const files[] = {"run.nc", "summary.json", "config.yaml"};
  char path[200];
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", h->run, files[i]);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/.idm-lock", h->run);
  unlink(path);
  rmdir(h->run);
  idm_data_destroy(h->data);
  idm_problem_destroy(h->problem);
}

static idm_status run_audit(const host *h, idm_run_mode mode, idm_audit **ret_audit,
                            idm_error *error)
{
  return idm_run_audit(h->run, mode, h->problem, h->data, &h->request, NULL, NULL, ret_audit, NULL,
                       error);
}

/* Returns the number in summary.json at a path of `count` keys. */
static double number_in(const char *file, const char *const *key, size_t count)
{
  char *text;
  size_t length;
  json_t *object;
  double value = NAN;
  check(idm_file_read(file, 1 << 20, &text, &length, &support_error));
  check(idm_json_load(text, length, file, &object, &support_error));
  const json_t *at = object;
  for (size_t i = 0; i < count; i++) at = json_object_get(at, key[i]);
  assert_true(idm_json_read_number(at, &value));
  json_decref(object);
  free(text);
  return value;
}

/* Returns whether the run records that the model was evaluated. */
static bool evaluated(const host *h)
{
  idm_posterior *posterior;
  idm_assessment *assessment;
  check(idm_run_read(h->run, NULL, NULL, &posterior, NULL, &support_error));
  check(idm_run_assess(h->run, posterior, &assessment, &support_error));
  const bool is = assessment->model.evaluated;
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return is;
}

/* Also with agents nested within groups. */
static void the_model_is_examined(void **state)
{
  host h = open_host(*state);
  idm_audit *audit;
  check(run_audit(&h, IDM_RUN_NEW, &audit, &support_error));
  idm_audit_destroy(audit);
  assert_true(evaluated(&h));
  h.request.people = true;
  check(run_audit(&h, IDM_RUN_OVERWRITE, &audit, &support_error));
  idm_audit_destroy(audit);
  assert_true(evaluated(&h));
  close_host(&h);
}

static void an_audit_leaves_a_folder_that_makes_it_again(void **state)
{
  host h = open_host(*state);
  idm_audit *audit;
  idm_problem *problem;
  idm_audit_request request;
  char path[200];
  check(run_audit(&h, IDM_RUN_NEW, &audit, &support_error));
  snprintf(path, sizeof path, "%s/summary.json", h.run);
  assert_near(number_in(path, (const char *const[]){"groups", "a", "log_alpha", "mean"}, 4),
              audit->group[0].number[0].diagnosis.mean, 0);
  char *text;
  size_t length;
  check(idm_file_read(path, 1 << 20, &text, &length, &support_error));
  assert_non_null(strstr(text, "\"depends_on_dynamics\": "));
  free(text);
  snprintf(path, sizeof path, "%s/config.yaml", h.run);
  check(idm_audit_request_read(path, &problem, &request, NULL, &support_error));
  assert_string_equal(request.by, "site");
  assert_int_equal(request.request.settings.draws, 20);
  assert_true(idm_audit_request_label(problem, &request) == audit->request);
  assert_true(idm_audit_is(h.run));
  idm_problem_destroy(problem);
  /* The draws are assessed like those of any run, with the group results of the summary. */
  idm_posterior *posterior;
  idm_assessment *assessment;
  check(idm_run_read(h.run, NULL, NULL, &posterior, NULL, &support_error));
  check(idm_run_assess(h.run, posterior, &assessment, &support_error));
  assert_string_equal(posterior->quantity.name[0], "log_alpha[a]");
  assert_near(assessment->diagnosis[0].mean, audit->group[0].number[0].diagnosis.mean, 1e-12);
  assert_false(assessment->trusted); /* 40 draws are too few */
  assert_true(assessment->failures.count > 0);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_audit_destroy(audit);
  /* An audit has no problem to plan with, and it is overwritten only on request. */
  idm_error error = {0};
  assert_int_equal(idm_run_read(h.run, &problem, NULL, NULL, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "is an audit"));
  assert_int_equal(run_audit(&h, IDM_RUN_NEW, &audit, &error), IDM_USAGE);
  assert_null(audit);
  check(run_audit(&h, IDM_RUN_OVERWRITE, &audit, &support_error));
  idm_audit_destroy(audit);
  /* An interrupted audit restarts: it has no checkpoint. */
  snprintf(path, sizeof path, "%s/run.nc", h.run);
  assert_int_equal(unlink(path), 0);
  idm_posterior *gone = NULL;
  assert_int_equal(idm_run_read(h.run, NULL, NULL, &gone, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "restart it with --overwrite"));
  close_host(&h);
}

static void what_cannot_be_audited_leaves_nothing(void **state)
{
  host h = open_host(*state);
  idm_audit *audit;
  idm_error error = {0};
  struct stat info;
  strcpy(h.request.by, "nothing");
  assert_int_equal(run_audit(&h, IDM_RUN_NEW, &audit, &error), IDM_INPUT);
  assert_int_not_equal(stat(h.run, &info), 0);
  strcpy(h.request.by, "site");
  assert_int_equal(run_audit(&h, IDM_RUN_RESUME, &audit, &error), IDM_USAGE);
  strcpy(h.request.group, "sex=f");
  assert_int_equal(run_audit(&h, IDM_RUN_NEW, &audit, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "--by and --group exclude each other"));
  close_host(&h);
}

/* Reads run.nc through the NetCDF library, independently of the reader of runs. */
static void arrays_are_by_chain_draw_and_group(void **state)
{
  host h = open_host(*state);
  idm_audit *audit;
  char path[200];
  int file, group, variable, dimension[NC_MAX_VAR_DIMS], rank;
  double value[2 * 20 * 3];
  char *name = NULL;
  const size_t last = 2;
  check(run_audit(&h, IDM_RUN_NEW, &audit, &support_error));
  snprintf(path, sizeof path, "%s/run.nc", h.run);
  assert_int_equal(nc_open(path, NC_NOWRITE, &file), NC_NOERR);
  assert_int_equal(nc_inq_ncid(file, "posterior", &group), NC_NOERR);
  assert_int_equal(nc_inq_varid(group, "log_alpha", &variable), NC_NOERR);
  assert_int_equal(nc_inq_var(group, variable, NULL, NULL, &rank, dimension, NULL), NC_NOERR);
  assert_int_equal(rank, 3);
  assert_int_equal(nc_get_var_double(group, variable, value), NC_NOERR);
  for (size_t i = 0; i < 40; i++)
    for (size_t g = 0; g < 3; g++)
      assert_near(value[i * 3 + g], audit->group[g].number[0].draw[i], 0);
  assert_int_equal(nc_inq_varid(group, "group", &variable), NC_NOERR);
  assert_int_equal(nc_get_var1_string(group, variable, &last, &name), NC_NOERR);
  assert_string_equal(name, "all");
  nc_free_string(1, &name);
  static const char *const others[] = {"log_alpha_contrast", "log_alpha_mean", "log_alpha_sd"};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(nc_inq_varid(group, others[i], &variable), NC_NOERR);
  /* Statistics that the blocks do not have are not written. */
  assert_int_equal(nc_inq_ncid(file, "sample_stats", &group), NC_NOERR);
  assert_int_equal(nc_inq_varid(group, "lp", &variable), NC_ENOTVAR);
  assert_int_equal(nc_inq_varid(group, "acceptance_rate", &variable), NC_ENOTVAR);
  assert_int_equal(nc_inq_varid(group, "n_steps", &variable), NC_ENOTVAR);
  assert_int_equal(nc_inq_varid(group, "diverging", &variable), NC_NOERR);
  nc_close(file);
  idm_audit_destroy(audit);
  close_host(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_audit_leaves_a_folder_that_makes_it_again, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(the_model_is_examined, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_cannot_be_audited_leaves_nothing, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(arrays_are_by_chain_draw_and_group, make_folder,
                                      remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
