/* Tests figures written as SVG, PNG, PDF and CSV files: signatures and sizes of the files, themes,
 * and errors of paths that cannot be written. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/figure_support.h"

static idm_figure *small_figure(void)
{
  idm_figure *figure;
  idm_panel *panel;
  const double x[] = {0, 1}, y[] = {1, 3};
  check(idm_figure_create(figure_hostile, "", 1, &figure, &support_error));
  check(idm_figure_add(figure, "", "x", "y", &panel, &support_error));
  check(idm_panel_plot(panel, IDM_MARK_LINE, "l", 0, 2, x, y, &support_error));
  return figure;
}

/* Returns the contents of a file; the caller frees them. */
static unsigned char *read_file(const char *path, size_t *ret_length)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char *bytes = calloc(1, 1 << 20);
  *ret_length = fread(bytes, 1, (1 << 20) - 1, file);
  fclose(file);
  return bytes;
}

/* Writes a small figure to a temporary file with this ending and returns the contents of the file;
 * the caller frees them. */
static unsigned char *write_as(const char *ending, const idm_figure_options *options,
                               size_t *ret_length)
{
  idm_figure *figure = small_figure();
  char folder[SUPPORT_PATH], path[SUPPORT_PATH + 16];
  support_path(folder);
  snprintf(path, sizeof path, "%s%s", folder, ending);
  check(idm_figure_write(figure, options, path, &support_error));
  unsigned char *bytes = read_file(path, ret_length);
  remove(path);
  remove(folder);
  idm_figure_destroy(figure);
  return bytes;
}

static void formats(void **state)
{
  (void)state;
  const idm_figure_options options = {.width = IDM_FIGURE_NARROW};
  size_t length;
  unsigned char *bytes = write_as(".PNG", &options, &length);
  assert_memory_equal(bytes, "\x89PNG\r\n\x1A\n", 8);
  /* The image has twice as many pixels as the page has units. */
  assert_int_equal(bytes[18] * 256 + bytes[19], 2 * IDM_FIGURE_NARROW);
  assert_memory_equal(bytes + length - 8, "IEND", 4);
  free(bytes);
  bytes = write_as(".pdf", &options, &length);
  assert_memory_equal(bytes, "%PDF-", 5);
  free(bytes);
  bytes = write_as(".svg", &options, &length);
  figure_well_formed((const char *)bytes);
  assert_non_null(strstr((const char *)bytes, "prefers-color-scheme"));
  free(bytes);
}

/* An image has one theme: light unless the options select dark. */
static void themes(void **state)
{
  (void)state;
  idm_figure_options options = {.width = IDM_FIGURE_NARROW};
  size_t length, other;
  unsigned char *automatic = write_as(".png", &options, &length);
  options.theme = IDM_THEME_LIGHT;
  unsigned char *light = write_as(".png", &options, &other);
  assert_int_equal(length, other);
  assert_memory_equal(automatic, light, length);
  options.theme = IDM_THEME_DARK;
  unsigned char *dark = write_as(".png", &options, &other);
  assert_true(length != other || memcmp(light, dark, length) != 0);
  free(automatic);
  free(light);
  free(dark);
}

/* No file remains after a refused write. */
static void failures(void **state)
{
  (void)state;
  static const char *const paths[] = {"/no/such/folder/f.png", "/no/such/folder/f.pdf",
                                      "/no/such/folder/f.svg", "/dev/full/f.png"};
  idm_figure *figure = small_figure();
  idm_figure_options options = {.width = IDM_FIGURE_NARROW};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    idm_error error = {0};
    assert_int_equal(idm_figure_write(figure, &options, paths[i], &error), IDM_SYSTEM);
    assert_non_null(strstr(error.message, paths[i]));
  }
  assert_int_equal(idm_figure_write_csv(figure, "/no/such/folder/f.csv", NULL), IDM_SYSTEM);
  options.width = 1;
  assert_int_equal(idm_figure_write(figure, &options, "never.svg", NULL), IDM_USAGE);
  assert_int_not_equal(access("never.svg", F_OK), 0);
  idm_figure_destroy(figure);
}

/* A library does not fork its host; the program draws in a child, and gets the same image. */
static int forks;

static void count_fork(void)
{
  forks++;
}

static void processes(void **state)
{
  (void)state;
  static const char *const endings[] = {".png", ".pdf", ".svg"};
  const idm_figure_options options = {.width = IDM_FIGURE_NARROW};
  assert_int_equal(pthread_atfork(count_fork, NULL, NULL), 0);
  for (size_t i = 0; i < 3; i++) {
    idm_figure *figure = small_figure();
    char folder[SUPPORT_PATH], path[SUPPORT_PATH + 16];
    size_t length, other;
    support_path(folder);
    snprintf(path, sizeof path, "%s%s", folder, endings[i]);
    forks = 0;
    check(idm_figure_write(figure, &options, path, &support_error));
    assert_int_equal(forks, 0);
    unsigned char *here = read_file(path, &length);
    check(idm_figure_write_isolated(figure, &options, path, &support_error));
    assert_int_equal(forks, i < 2);
    unsigned char *apart = read_file(path, &other);
    assert_int_equal(length, other);
    if (i != 1) assert_memory_equal(here, apart, length); /* a PDF has the time of its creation */
    free(here);
    free(apart);
    remove(path);
    remove(folder);
    idm_figure_destroy(figure);
  }
}

static void csv(void **state)
{
  (void)state;
  idm_figure *figure = small_figure();
  char path[SUPPORT_PATH], *expected;
  size_t length;
  support_path(path);
  check(idm_figure_write_csv(figure, path, &support_error));
  check(idm_figure_csv(figure, &expected, &support_error));
  unsigned char *bytes = read_file(path, &length);
  assert_string_equal((const char *)bytes, expected);
  remove(path);
  free(bytes);
  free(expected);
  idm_figure_destroy(figure);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(formats), cmocka_unit_test(themes),
                                     cmocka_unit_test(failures), cmocka_unit_test(processes),
                                     cmocka_unit_test(csv)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
