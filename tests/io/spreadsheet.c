/* Tests the escaping of CSV cells that a spreadsheet would execute as formulas against expected
 * texts. */
#include "io/log_file.h"

#include "io/file.h"
#include "io/folder_support.h"

static void expect(const folder *f, const char *from, const char *to)
{
  char safe[128], *text;
  size_t length;
  snprintf(safe, sizeof safe, "%s/safe.csv", f->path);
  spill(f->file, from, strlen(from));
  check(idm_csv_escape_formulas(f->file, safe, &support_error));
  check(idm_file_read(safe, 1 << 20, &text, &length, &support_error));
  assert_string_equal(text, to);
  free(text);
}

static void test_cells(void **state)
{
  const folder *f = *state;
  static const char *const cases[][2] = {
      {"", ""},
      {"a,b\n1,x\n", "a,b\n1,x\n"},
      {"=1+1", "\"'=1+1\""},
      {"a,=cmd()\n+x;-y\t@z\r\n", "a,\"'=cmd()\"\n\"'+x\";\"'-y\"\t\"'@z\"\r\n"},
      {"\"=a,b\",\"x\"\"=\"", "\"'=a,b\",\"x\"\"=\""},
      {"\"=HYPERLINK(\"\"u\"\",1)\"\n", "\"'=HYPERLINK(\"\"u\"\",1)\"\n"},
      {"  =1, -2\n", "\"'  =1\", -2\n"},
      {"\"\tx\",\"\n=\",\"-\"", "\"'\tx\",\"'\n=\",\"'-\""},
      /* Numbers are not escaped. */
      {"-1.5,+3,-1e-9,-inf,-.5,0\n", "-1.5,+3,-1e-9,-inf,-.5,0\n"},
      {"-1.5x,--1,+\n", "\"'-1.5x\",\"'--1\",\"'+\"\n"},
      {"'=x,a=b,1-2\n", "'=x,a=b,1-2\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(f, cases[i][0], cases[i][1]);
}

static void test_failures(void **state)
{
  const folder *f = *state;
  assert_int_equal(idm_csv_escape_formulas("no/such.csv", f->file, NULL), IDM_INPUT);
  spill(f->file, "a", 1);
  assert_int_equal(idm_csv_escape_formulas(f->file, "no/such/folder.csv", NULL), IDM_SYSTEM);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {IN_FOLDER(test_cells), IN_FOLDER(test_failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
