/* Runs read from their folders: where they are found, what is refused, and that nothing changes. */
#include "io/run/folder.h"

#include "io/run.h"
#include "io/run/run_support.h"

static const char *in(const folder *f, const char *file)
{
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", f->path, file);
  return path;
}

/* A run of made-up draws, in the folder or in one within. */
static void put_run(const folder *f, const char *inner, uint64_t seed)
{
  static const char *const names[] = {"alpha", "log_likelihood"};
  char path[240];
  idm_problem *problem;
  idm_request request;
  idm_assessment *assessment;
  check(idm_problem_read("example:diag", &problem, NULL, &support_error));
  idm_request_default(&request);
  request.settings.seed = seed;
  idm_posterior *p = made_up(2, 5, names, 2, true);
  p->seed = seed;
  p->request = idm_request_label(problem, &request);
  check(idm_assess_draws(p, &assessment, &support_error));
  if (*inner) mkdir(in(f, inner), 0777);
  snprintf(path, sizeof path, "%s/config.yaml", in(f, inner));
  check(idm_request_write(problem, &request, path, &support_error));
  snprintf(path, sizeof path, "%s/run.nc", in(f, inner));
  check(idm_posterior_write_file(p, problem, NULL, path, &support_error));
  snprintf(path, sizeof path, "%s/summary.json", in(f, inner));
  check(idm_posterior_write_summary(p, assessment, NULL, path, &support_error));
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

static void remove_inner(const folder *f, const char *inner)
{
  folder within = {0};
  snprintf(within.path, sizeof within.path, "%.40s/%.20s", f->path, inner);
  entries(&within, 1);
  assert_int_equal(rmdir(within.path), 0);
}

/* Read all of a run: its seed, and how many notes there are. */
static uint64_t seed_of(const folder *f, size_t notes)
{
  idm_problem *problem;
  idm_request request;
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_notes said = {0};
  const size_t before = entries(f, 0);
  check(idm_run_read(f->path, &problem, &request, &posterior, &said, &support_error));
  check(idm_run_assess(f->path, posterior, &assessment, &support_error));
  assert_int_equal(said.count, notes);
  if (notes) assert_non_null(strstr(said.text[0], "idm fit --resume -o"));
  assert_int_equal(entries(f, 0), before);
  const uint64_t seed = posterior->seed;
  idm_notes_clear(&said);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
  return seed;
}

static void test_where_it_is(void **state)
{
  const folder *f = *state;
  idm_problem *problem;
  idm_request request;
  char *text;
  put_run(f, "", 1);
  assert_int_equal(seed_of(f, 0), 1);
  assert_true(idm_run_complete(f->path));
  /* Nothing needs to be written there. */
  assert_int_equal(chmod(f->path, 0555), 0);
  assert_int_equal(seed_of(f, 0), 1);
  assert_int_equal(chmod(f->path, 0755), 0);
  /* Complete in `.idm-next`, the old run counts; once it is renamed, the new one does. */
  put_run(f, ".idm-next", 2);
  assert_int_equal(seed_of(f, 1), 1);
  char next[200];
  snprintf(next, sizeof next, "%s", in(f, ".idm-next"));
  assert_int_equal(rename(next, in(f, ".idm-ready")), 0);
  assert_int_equal(seed_of(f, 1), 2);
  assert_false(idm_run_complete(f->path));
  check(idm_run_read_config(f->path, 1 << 20, &text, &support_error));
  assert_non_null(strstr(text, "seed: 2"));
  free(text);
  assert_int_equal(idm_run_read_config(f->path, 10, &text, NULL), IDM_INPUT);
  assert_null(text);
  /* What resumes repairs. */
  check(idm_run_read_unfinished(f->path, &problem, &request, NULL, &support_error));
  assert_int_equal(request.settings.seed, 2);
  idm_problem_destroy(problem);
  assert_true(idm_run_complete(f->path));
  assert_int_equal(entries(f, 0), 3);
  assert_int_equal(seed_of(f, 0), 2);
}

static void test_not_begun(void **state)
{
  const folder *f = *state;
  idm_problem *problem;
  idm_posterior *posterior;
  idm_request request;
  idm_error error = {0};
  assert_int_equal(idm_run_read(f->path, NULL, NULL, &posterior, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "idm fit PROBLEM DATA... -o"));
  error = (idm_error){0};
  assert_int_equal(idm_run_read_unfinished(f->path, &problem, &request, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "idm fit PROBLEM DATA... -o"));
  assert_null(problem);
  assert_int_equal(idm_run_read_unfinished(f->file, &problem, &request, NULL, &error), IDM_INPUT);
}

static void put_stranger(const folder *f, const char *name, int kind)
{
  remove(in(f, name));
  if (kind == 0) assert_int_equal(symlink("elsewhere", in(f, name)), 0);
  if (kind == 1) assert_int_equal(mkfifo(in(f, name), 0666), 0);
  if (kind == 2) assert_int_equal(mkdir(in(f, name), 0777), 0);
}

/* A file that is none is refused by its name, whichever of the three it is. */
static void test_strangers(void **state)
{
  const folder *f = *state;
  static const char *const names[] = {"run.nc", "config.yaml", "summary.json"};
  for (size_t i = 0; i < 3; i++)
    for (int kind = 0; kind < 3; kind++) {
      idm_posterior *posterior;
      idm_assessment *assessment = NULL;
      idm_error error = {0};
      put_run(f, "", 1);
      put_stranger(f, names[i], kind);
      idm_status status = idm_run_read(f->path, NULL, NULL, &posterior, NULL, &error);
      if (status == IDM_OK) status = idm_run_assess(f->path, posterior, &assessment, &error);
      assert_int_equal(status, IDM_INPUT);
      assert_non_null(strstr(error.message, names[i]));
      idm_posterior_destroy(posterior);
      entries(f, 1);
    }
  put_run(f, ".idm-ready", 1);
  put_stranger(f, ".idm-ready/run.nc", 0);
  idm_posterior *posterior;
  assert_int_equal(idm_run_read(f->path, NULL, NULL, &posterior, NULL, NULL), IDM_INPUT);
  remove_inner(f, ".idm-ready");
}

static void test_audits(void **state)
{
  const folder *f = *state;
  idm_problem *problem;
  idm_posterior *posterior;
  idm_audit_request *request = calloc(1, sizeof *request);
  idm_error error = {0};
  assert_non_null(request);
  put_run(f, "", 1);
  assert_int_equal(idm_audit_read_run(f->path, &problem, request, &posterior, NULL, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "is no audit"));
  assert_true(!problem && !posterior);
  free(request);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_where_it_is),
      IN_FOLDER(test_not_begun),
      IN_FOLDER(test_strangers),
      IN_FOLDER(test_audits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
