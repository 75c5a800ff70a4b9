/* Writing runs: what a folder allows, and how one run takes the place of another. */
#include "io/run/folder.h"

#include "io/run/run_support.h"

static const char *join(const char *folder_path, const char *file, char path[IDM_PATH_SIZE])
{
  if (snprintf(path, IDM_PATH_SIZE, "%s/%s", folder_path, file) < 0) path[0] = '\0';
  return path;
}

static void put_text(const char *folder_path, const char *file, const char *text)
{
  char path[IDM_PATH_SIZE];
  FILE *stream = fopen(join(folder_path, file, path), "wb");
  assert_non_null(stream);
  fputs(text, stream);
  assert_int_equal(fclose(stream), 0);
}

static void put(const folder *f, const char *file)
{
  put_text(f->path, file, "");
}

static const char own_config[] = "states: 2\nfit: {idm: 0}\n";
static const char own_chain[] = "# idm_version = 0\n";

static const char *in(const folder *f, const char *file)
{
  static char path[IDM_PATH_SIZE];
  return join(f->path, file, path);
}

static idm_status begin(idm_run_writer *ret_folder, const char *path, idm_run_mode mode,
                        idm_error *error)
{
  idm_request request;
  idm_request_default(&request);
  request.stan = true;
  return idm_run_begin(ret_folder, path, mode, &request, error);
}

static void test_files_of_a_run(void **state)
{
  const folder *f = *state;
  assert_true(idm_run_is(f->path));
  assert_false(idm_run_is("no/such/folder"));
  put(f, IDM_FILE_CONFIG);
  assert_true(idm_run_has(f->path, in(f, IDM_FILE_CONFIG)));
  assert_false(idm_run_has(f->path, in(f, IDM_FILE_SUMMARY)));
}

/* --- who may write -------------------------------------------------------------------------- */

static void test_modes(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  idm_run_writer w;
  /* An empty folder is good for all; what is written directly goes unless it is kept. */
  for (int mode = 0; mode < 3; mode++) {
    check(begin(&w, f->path, (idm_run_mode)mode, &support_error));
    assert_string_equal(w.work->path, f->path);
    put(f, IDM_FILE_SUMMARY);
    idm_run_end(&w, false);
    assert_int_equal(entries(f, 0), 0);
  }
  put_text(f->path, IDM_FILE_CONFIG, own_config);
  assert_int_equal(begin(&w, f->path, IDM_RUN_NEW, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "holds a run already"));
  check(begin(&w, f->path, IDM_RUN_RESUME, &support_error));
  assert_string_equal(w.work->path, f->path);
  idm_run_end(&w, true);
  check(begin(&w, f->path, IDM_RUN_OVERWRITE, &support_error));
  assert_string_equal(w.work->path, in(f, IDM_FOLDER_NEXT));
  put_text(w.work->path, IDM_FILE_CONFIG, own_config);
  idm_run_end(&w, false);
  assert_int_equal(entries(f, 0), 1);
  /* A folder is made, and goes with what failed. */
  const char *made = in(f, "new");
  assert_int_equal(begin(&w, made, IDM_RUN_RESUME, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "there is no run"));
  check(begin(&w, made, IDM_RUN_NEW, &support_error));
  put_text(made, IDM_FILE_CONFIG, own_config);
  idm_run_end(&w, false);
  assert_int_equal(entries(f, 0), 1);
  assert_int_equal(begin(&w, "no/such/folder", IDM_RUN_NEW, &error), IDM_SYSTEM);
  assert_int_equal(begin(&w, in(f, IDM_FILE_CONFIG), IDM_RUN_NEW, &error), IDM_SYSTEM);
}

/* A folder of anything else is left as it is, for any request. */
static void test_strangers(void **state)
{
  const folder *f = *state;
  static const struct {
    const char *file;
    const char *text;
  } cases[] = {{"notes.txt", "mine"},
               {IDM_FILE_CONFIG, "mine"},
               {IDM_FILE_CONFIG, "states: 2\n"},
               {IDM_FILE_CONFIG, "fit: 3\n"},
               {IDM_FILE_CONFIG, "- a\n"},
               {IDM_FILE_CONFIG, ""},
               {IDM_FILE_POSTERIOR, "mine"},
               {IDM_FILE_CHECKPOINT, "mine"},
               {"chain-1.csv", "mine"},
               {IDM_FILE_REPLICATIONS, ""}};
  idm_error error = {0};
  idm_run_writer w;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int mode = 0; mode < 3; mode += 2) {
      put_text(f->path, cases[i].file, cases[i].text);
      if (begin(&w, f->path, (idm_run_mode)mode, &error) != IDM_USAGE)
        fail_msg("'%s' in %s is taken for a run", cases[i].text, cases[i].file);
      assert_int_equal(entries(f, 1), 1);
    }
  /* In a run too: the names of chains may be others'. */
  put_text(f->path, IDM_FILE_CONFIG, own_config);
  put_text(f->path, "chain-3.csv", "mine");
  assert_int_equal(begin(&w, f->path, IDM_RUN_OVERWRITE, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "chain-3.csv"));
  assert_int_equal(mkdir(in(f, IDM_FILE_POSTERIOR), 0777), 0);
  assert_int_equal(begin(&w, f->path, IDM_RUN_OVERWRITE, &error), IDM_INPUT);
  assert_int_equal(entries(f, 0), 3);
}

/* Inputs by any path, and what nobody may write to. */
static void test_outputs(void **state)
{
  const folder *f = *state;
  idm_request request;
  idm_error error = {0};
  idm_run_writer w;
  idm_request_default(&request);
  put_text(f->path, IDM_FILE_CONFIG, own_config);
  assert_int_equal(symlink(IDM_FILE_CONFIG, in(f, "link")), 0);
  snprintf(request.data, sizeof request.data, "%s/../%s/link", f->path, strrchr(f->path, '/') + 1);
  assert_int_equal(idm_run_begin(&w, f->path, IDM_RUN_OVERWRITE, &request, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "cannot be written at the same time"));
  request.data[0] = '\0';
  assert_int_equal(chmod(in(f, IDM_FILE_CONFIG), 0444), 0);
  assert_int_equal(idm_run_begin(&w, f->path, IDM_RUN_OVERWRITE, &request, &error), IDM_SYSTEM);
  assert_non_null(strstr(error.message, "read-only"));
  assert_int_equal(chmod(in(f, IDM_FILE_CONFIG), 0644), 0);
  assert_int_equal(chmod(f->path, 0555), 0);
  assert_int_equal(idm_run_begin(&w, f->path, IDM_RUN_OVERWRITE, &request, &error), IDM_SYSTEM);
  assert_int_equal(chmod(f->path, 0755), 0);
  assert_int_equal(entries(f, 0), 2);
}

/* --- taking a place ------------------------------------------------------------------------- */

static void check_text(const char *path, const char *expected)
{
  char *text;
  size_t length;
  check(idm_file_read(path, 1 << 20, &text, &length, &support_error));
  assert_string_equal(text, expected);
  free(text);
}

static const char *const results[] = {IDM_FILE_POSTERIOR, IDM_FILE_CONFIG, IDM_FILE_SUMMARY};

/* An old run of two chains and a checkpoint, and beside it a new one of one chain. */
static void put_both(const folder *f, const char *new_name)
{
  char path[IDM_PATH_SIZE];
  put_text(f->path, "notes.txt", "mine");
  put_text(f->path, IDM_FILE_CHECKPOINT, "old");
  put_text(f->path, "chain-1.csv", own_chain);
  put_text(f->path, "chain-2.csv", own_chain);
  put_text(f->path, "chain-7.csv", "mine");
  for (size_t i = 0; i < 3; i++) put_text(f->path, results[i], i == 1 ? own_config : "old");
  join(f->path, new_name, path);
  assert_int_equal(mkdir(path, 0777), 0);
  put_text(path, "chain-1.csv", "# idm_version = new\n");
  for (size_t i = 0; i < 3; i++) put_text(path, results[i], "new");
}

static void check_new(const folder *f)
{
  idm_run_files files;
  check(idm_run_files_open(&files, f->path, &support_error));
  for (size_t i = 0; i < 3; i++) {
    char path[IDM_PATH_SIZE];
    check_text(idm_run_files_location(&files, results[i], path).path, "new");
  }
  idm_run_files_close(&files);
}

static void check_settled(const folder *f)
{
  for (size_t i = 0; i < 3; i++) check_text(in(f, results[i]), "new");
  check_text(in(f, "chain-1.csv"), "# idm_version = new\n");
  check_text(in(f, "chain-7.csv"), "mine");
  assert_int_equal(entries(f, 1), 6);
}

/* What --resume would continue: the folder of that name within, or the run. */
static void check_unfinished(const folder *f, const char *opt_inner)
{
  idm_run_files files;
  check(idm_run_files_open(&files, f->path, &support_error));
  assert_string_equal(idm_run_files_unfinished(&files)->path,
                      opt_inner ? in(f, opt_inner) : f->path);
  idm_run_files_close(&files);
}

/* Killed after any number of steps, the new run is whole, and the next to look moves what is left.
 */
static void test_every_step(void **state)
{
  const folder *f = *state;
  for (size_t steps = 0; steps <= 5; steps++) {
    char ready[IDM_PATH_SIZE], from[IDM_PATH_SIZE];
    put_both(f, IDM_FOLDER_READY);
    snprintf(ready, sizeof ready, "%s", in(f, IDM_FOLDER_READY));
    if (steps > 0) assert_int_equal(rename(join(ready, results[0], from), in(f, results[0])), 0);
    if (steps > 1) {
      assert_int_equal(remove(in(f, IDM_FILE_CHECKPOINT)), 0);
      assert_int_equal(remove(in(f, "chain-1.csv")), 0);
      assert_int_equal(remove(in(f, "chain-2.csv")), 0);
    }
    for (size_t i = 1; i < 3; i++)
      if (steps > i + 1)
        assert_int_equal(rename(join(ready, results[i], from), in(f, results[i])), 0);
    if (steps > 4)
      assert_int_equal(rename(join(ready, "chain-1.csv", from), in(f, "chain-1.csv")), 0);
    check_new(f);
    check(idm_run_finish_move(f->path, &support_error));
    check_settled(f);
  }
}

/* Whole, but killed before it had its name: it takes its place. With a checkpoint it is not whole.
 */
static void test_before_the_first_step(void **state)
{
  const folder *f = *state;
  char path[IDM_PATH_SIZE];
  put_both(f, IDM_FOLDER_NEXT);
  put_text(in(f, IDM_FOLDER_NEXT), IDM_FILE_CHECKPOINT, "new");
  check(idm_run_finish_move(f->path, &support_error));
  check_text(in(f, IDM_FILE_POSTERIOR), "old");
  check_unfinished(f, IDM_FOLDER_NEXT);
  assert_false(idm_run_complete(f->path));
  snprintf(path, sizeof path, "%s/%s/%s", f->path, IDM_FOLDER_NEXT, IDM_FILE_CHECKPOINT);
  assert_int_equal(remove(path), 0);
  /* Looking changes nothing: it is not complete until it is moved. */
  assert_false(idm_run_complete(f->path));
  check_text(in(f, IDM_FILE_POSTERIOR), "old");
  check(idm_run_finish_move(f->path, &support_error));
  assert_true(idm_run_complete(f->path));
  check_unfinished(f, NULL);
  check_settled(f);
}

/* Where a file cannot be replaced the old run stays. */
static void test_no_place(void **state)
{
  const folder *f = *state;
  idm_run_writer w;
  idm_error error = {0};
  put_text(f->path, IDM_FILE_CONFIG, own_config);
  check(begin(&w, f->path, IDM_RUN_OVERWRITE, &support_error));
  for (size_t i = 0; i < 3; i++) put_text(w.work->path, results[i], "new");
  assert_int_equal(mkdir(in(f, IDM_FILE_POSTERIOR), 0777), 0);
  assert_int_equal(idm_run_commit(&w, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "run.nc"));
  check_text(in(f, IDM_FILE_CONFIG), own_config);
  assert_int_equal(rmdir(in(f, IDM_FILE_POSTERIOR)), 0);
  check(idm_run_commit(&w, &support_error));
  idm_run_end(&w, true);
  check_new(f);
  assert_int_equal(entries(f, 0), 3);
}

/* --- strangers ------------------------------------------------------------------------------ */

/* Links within are refused by name before anything is changed, wherever they lead. */
static void test_links(void **state)
{
  const folder *f = *state;
  static const char *const names[] = {IDM_FILE_CONFIG,       IDM_FILE_POSTERIOR, IDM_FILE_SUMMARY,
                                      IDM_FILE_CHECKPOINT,   "chain-2.csv",      IDM_FILE_REPORT,
                                      IDM_FILE_REPLICATIONS, IDM_FILE_LOCK,      IDM_FOLDER_NEXT,
                                      IDM_FOLDER_READY};
  idm_run_writer w;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int mode = 0; mode < 3; mode++) {
      idm_error error = {0};
      put_text(f->path, "target", "precious");
      assert_int_equal(symlink("target", in(f, names[i])), 0);
      assert_int_equal(begin(&w, f->path, (idm_run_mode)mode, &error), IDM_INPUT);
      assert_non_null(strstr(error.message, names[i]));
      assert_non_null(strstr(error.message, "a symbolic link"));
      check_text(in(f, "target"), "precious");
      assert_int_equal(entries(f, 1), 2);
    }
}

/* The checks of a beginning, without one. */
static void test_check(void **state)
{
  const folder *f = *state;
  idm_request request;
  idm_error error = {0};
  idm_request_default(&request);
  check(idm_run_check(in(f, "new"), IDM_RUN_NEW, &request, &support_error));
  check(idm_run_check(f->path, IDM_RUN_NEW, &request, &support_error));
  assert_int_equal(entries(f, 0), 0);
  put_text(f->path, IDM_FILE_CONFIG, own_config);
  assert_int_equal(idm_run_check(f->path, IDM_RUN_NEW, &request, &error), IDM_USAGE);
  check(idm_run_check(f->path, IDM_RUN_OVERWRITE, &request, &support_error));
  check(idm_run_check(f->path, IDM_RUN_RESUME, &request, &support_error));
  assert_int_equal(mkfifo(in(f, IDM_FILE_SUMMARY), 0666), 0);
  assert_int_equal(idm_run_check(f->path, IDM_RUN_OVERWRITE, &request, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "a pipe"));
}

/* --- what is left --------------------------------------------------------------------------- */

static void test_leaving(void **state)
{
  const folder *f = *state;
  idm_run_writer w;
  check(begin(&w, f->path, IDM_RUN_NEW, &support_error));
  put_text(f->path, IDM_FILE_CONFIG, own_config);
  put_text(f->path, "chain-1.csv", own_chain);
  put(f, IDM_FILE_POSTERIOR);
  put(f, IDM_FILE_CHECKPOINT);
  /* There is something to go on with. */
  idm_run_end(&w, false);
  assert_int_equal(entries(f, 0), 4);
  assert_int_equal(remove(in(f, IDM_FILE_CHECKPOINT)), 0);
  /* What is not of a run stays. */
  put(f, "notes.txt");
  put_text(f->path, "chain-9.csv", "mine");
  put_text(f->path, "chain-x.csv", own_chain);
  check(begin(&w, f->path, IDM_RUN_RESUME, &support_error));
  idm_run_end(&w, false);
  assert_int_equal(entries(f, 0), 3);
  /* Files that somebody was writing who is no more are swept, others' are not. */
  entries(f, 1);
  put(f, "run.nc.999999-0.tmp");
  put(f, "chain-12.csv.1-17.tmp");
  check(begin(&w, f->path, IDM_RUN_NEW, &support_error));
  idm_run_end(&w, true);
  assert_int_equal(entries(f, 0), 0);
  put(f, "notes.tmp");
  idm_error error = {0};
  assert_int_equal(begin(&w, f->path, IDM_RUN_NEW, &error), IDM_USAGE);
  assert_int_equal(entries(f, 0), 1);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_files_of_a_run), IN_FOLDER(test_modes),
      IN_FOLDER(test_strangers),      IN_FOLDER(test_outputs),
      IN_FOLDER(test_every_step),     IN_FOLDER(test_before_the_first_step),
      IN_FOLDER(test_no_place),       IN_FOLDER(test_links),
      IN_FOLDER(test_check),          IN_FOLDER(test_leaving),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
