/* Opened folders: places, names, kinds, moving and removing. */
#include "io/run/folder.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "io/file.h"
#include "io/run/run_support.h"

static const char *in(const folder *f, const char *file)
{
  static char path[100];
  snprintf(path, sizeof path, "%s/%s", f->path, file);
  return path;
}

static idm_folder opened(const folder *f)
{
  idm_folder o;
  check(idm_folder_open(&o, f->path, &support_error));
  return o;
}

static void test_opening(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  idm_folder o, inner;
  bool made;
  assert_true(idm_folder_is(f->path));
  assert_false(idm_folder_is(f->file));
  assert_int_equal(idm_folder_open(&o, f->file, &error), IDM_INPUT);
  idm_folder_close(&o);
  check(idm_folder_make(f->path, &made, &support_error));
  assert_false(made);
  check(idm_folder_make(in(f, "inner"), &made, &support_error));
  assert_true(made);
  assert_int_equal(idm_folder_make("no/such/folder", &made, &error), IDM_SYSTEM);
  /* The path of a folder may lead through links, those in it may not. */
  assert_int_equal(symlink("inner", in(f, "link")), 0);
  check(idm_folder_open(&o, in(f, "link"), &support_error));
  idm_folder_close(&o);
  o = opened(f);
  check(idm_folder_open_inner(&o, "inner", &inner, &support_error));
  assert_string_equal(inner.path, in(f, "inner"));
  idm_folder_close(&inner);
  check(idm_folder_open_inner(&o, "none", &inner, &support_error));
  assert_int_equal(inner.descriptor, -1);
  assert_false(idm_folder_has(&inner, "x"));
  assert_int_equal(idm_folder_open_inner(&o, "link", &inner, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "link' is a symbolic link"));
  assert_int_equal(inner.descriptor, -1);
  idm_folder_close(&o);
}

static void test_names(void **state)
{
  const folder *f = *state;
  char path[IDM_PATH_SIZE], name[IDM_CHAIN_NAME], content[256];
  idm_folder o = opened(f);
  const idm_location place = idm_folder_location(&o, "out.txt", path);
  assert_string_equal(place.path, f->file);
  assert_false(idm_folder_has(&o, "out.txt"));
  spill(f->file, "", 0);
  assert_true(idm_folder_has(&o, "out.txt"));
  assert_string_equal(idm_chain_name(0, name), "chain-1.csv");
  assert_true(idm_chain_name_is("chain-12.csv"));
  assert_false(idm_chain_name_is("chain-01.csv") || idm_chain_name_is("chain-x.csv") ||
               idm_chain_name_is("chain-1.csv.gz"));
  idm_folder_first_name(&o, content);
  assert_string_equal(content, "out.txt");
  /* Hidden names and temporary ones are none; dead files go. */
  idm_folder_remove(&o, "out.txt");
  spill(in(f, ".hidden"), "", 0);
  spill(in(f, "run.nc.1-0.tmp"), "", 0);
  idm_folder_first_name(&o, content);
  assert_string_equal(content, "");
  assert_false(idm_folder_has(&o, "run.nc.1-0.tmp"));
  assert_false(idm_folder_remove_stale(&o, "notes.tmp"));
  idm_folder_close(&o);
}

static void put(const folder *f, const char *name, int kind)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = in(f, name);
  if (kind == 0) assert_int_equal(symlink("/etc/passwd", path), 0);
  if (kind == 1) assert_int_equal(symlink("nowhere", path), 0);
  if (kind == 2) assert_int_equal(mkfifo(path, 0666), 0);
  if (kind != 3) return;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_true(server >= 0);
  assert_int_equal(bind(server, (const struct sockaddr *)&address, sizeof address), 0);
  close(server);
}

static void test_kinds(void **state)
{
  const folder *f = *state;
  static const char *const names[] = {IDM_FILE_CONFIG, "chain-3.csv", IDM_FILE_LOCK,
                                      IDM_FOLDER_NEXT, IDM_FOLDER_READY};
  static const char *const words[] = {"a symbolic link", "a symbolic link", "a pipe", "a socket"};
  idm_folder o = opened(f);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int kind = 0; kind < 4; kind++) {
      idm_error error = {0};
      put(f, names[i], kind);
      assert_int_equal(idm_folder_check(&o, &error), IDM_INPUT);
      assert_non_null(strstr(error.message, names[i]));
      assert_non_null(strstr(error.message, words[kind]));
      entries(f, 1);
    }
  /* Other names are not looked at, and these kinds are right. */
  put(f, "notes", 0);
  spill(in(f, IDM_FILE_CONFIG), "", 0);
  assert_int_equal(mkdir(in(f, IDM_FOLDER_NEXT), 0777), 0);
  check(idm_folder_check(&o, &support_error));
  idm_folder_close(&o);
}

static void test_moving(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  idm_folder o = opened(f), inner;
  assert_int_equal(mkdir(in(f, "inner"), 0777), 0);
  check(idm_folder_open_inner(&o, "inner", &inner, &support_error));
  spill(in(f, "inner/a"), "new", 3);
  spill(in(f, "a"), "old", 3);
  check(idm_folder_move(&inner, "a", &o, &support_error));
  check(idm_folder_move(&inner, "a", &o, &support_error)); /* nothing is left to move */
  char *text;
  size_t length;
  check(idm_file_read(in(f, "a"), 100, &text, &length, &support_error));
  assert_string_equal(text, "new");
  free(text);
  /* What is in the way is not replaced. */
  spill(in(f, "inner/b"), "new", 3);
  assert_int_equal(symlink("a", in(f, "b")), 0);
  assert_int_equal(idm_folder_move(&inner, "b", &o, &error), IDM_INPUT);
  idm_folder_remove_inner(&o, "inner"); /* not empty */
  assert_true(idm_folder_has(&o, "inner"));
  idm_folder_remove(&inner, "b");
  idm_folder_remove(&o, "inner"); /* no file */
  assert_true(idm_folder_has(&o, "inner"));
  idm_folder_remove_inner(&o, "inner");
  assert_false(idm_folder_has(&o, "inner"));
  idm_folder_close(&inner);
  idm_folder_close(&o);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_opening),
      IN_FOLDER(test_names),
      IN_FOLDER(test_kinds),
      IN_FOLDER(test_moving),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
