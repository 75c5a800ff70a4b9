/* Tests the parser of formulas: terms and their order, blocks, levels, error positions and limits.
 */
#include "invert/people/people.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Terms as text: "drug group drug:group". */
static const char *terms_of(const idm_formula *f, char *buffer, size_t size)
{
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t t = 0; t < f->terms; t++) {
    const char *before = t ? " " : "";
    for (size_t i = 0; i < f->factors; i++) {
      if (!(f->term[t] >> i & 1)) continue;
      used += (size_t)snprintf(buffer + used, size - used, "%s%s", before, f->factor[i].column);
      before = ":";
    }
  }
  return buffer;
}

static void terms_are_those_of_wilkinson(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"alpha ~ 1", ""},
      {"alpha~drug", "drug"},
      {"alpha ~ drug * group + age", "drug group age drug:group"},
      {"alpha ~ drug + group + drug:group + drug", "drug group drug:group"},
      {"alpha ~ a:b + a", "a a:b"},
      {"alpha ~ a * b * c", "a b c a:b a:c b:c a:b:c"},
      {"alpha ~ a * b:c", "a b:c a:b:c"},
      {"alpha ~ a:a", "a"},
      {"alpha ~ 1 + `body mass` * C(site, ref='north east')", "body mass site body mass:site"},
      {"alpha ~ C ( dose ) + C", "dose C"},
      {"alpha ~ \xc3\xa2ge.in_years", "\xc3\xa2ge.in_years"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_formula *f;
    char found[200];
    check(idm_formula_parse(cases[i][0], &f, &support_error));
    assert_string_equal(terms_of(f, found, sizeof found), cases[i][1]);
    idm_formula_destroy(f);
  }
}

static void blocks_and_levels_are_kept(void **state)
{
  (void)state;
  idm_formula *f;
  check(idm_formula_parse("alpha, beta ~ C(drug, ref=placebo) + drug:age", &f, &support_error));
  assert_int_equal(f->block.count, 2);
  assert_string_equal(f->block.name[1], "beta");
  assert_int_equal(f->block_position[1], 8);
  assert_int_equal(f->factors, 2);
  assert_true(f->factor[0].category);
  assert_string_equal(f->factor[0].opt_reference, "placebo");
  assert_int_equal(f->factor[0].position, 15);
  assert_false(f->factor[1].category);
  idm_formula_destroy(f);
}

static void what_is_no_formula_is_refused_at_its_place(void **state)
{
  (void)state;
  static const char *const cases[][3] = {
      {"", "found the end at character 1", "the name of a free block"},
      {"alpha", "found the end at character 6", "',' or '~'"},
      {"alpha, ~ age", "found '~' at character 8", "the name of a free block"},
      {"alpha ~", "found the end at character 8", "a column, C(column) or 1"},
      {"alpha ~ drug +", "found the end at character 15", "a column, C(column) or 1"},
      {"alpha ~ drug ** age", "found '*' at character 15", "a column, C(column) or 1"},
      {"alpha ~ drug age", "found 'age' at character 14", "'+', '*', ':' or the end"},
      {"alpha ~ (a + b) * c", "found '(' at character 9", "a column, C(column) or 1"},
      {"alpha ~ a - b", "found '-' at character 11", "'+', '*', ':' or the end"},
      {"alpha ~ 0 + a", "found '0' at character 9", "the intercept cannot be left out"},
      {"alpha ~ -1", "found '-1' at character 9", "the intercept cannot be left out"},
      {"alpha ~ C(drug", "found the end at character 15", "')' or ', ref=LEVEL'"},
      {"alpha ~ C(drug, base=a)", "found 'base' at character 17", "ref=LEVEL"},
      {"alpha ~ C(drug, ref=)", "found ')' at character 21", "a level of the column"},
      {"alpha ~ C(drug, ref=a, b)", "found ',' at character 22", "')'"},
      {"alpha ~ `drug", "found '`drug' at character 9", "between two quotes"},
      {"alpha, alpha ~ a", "names 'alpha' twice", "expected it once"},
      {"alpha ~ C(a, ref=x) + C(a, ref=y)", "two references, 'x' and 'y'", "expected one"},
      {"alpha ~ a ~ b", "found '~' at character 11", "'+', '*', ':' or the end"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_formula *f;
    idm_error error = {0};
    assert_int_equal(idm_formula_parse(cases[i][0], &f, &error), IDM_USAGE);
    assert_null(f);
    if (!strstr(error.message, cases[i][1]) || !strstr(error.message, cases[i][2]))
      fail_msg("'%s': %s", cases[i][0], error.message);
  }
}

static void there_is_a_limit_to_what_is_read(void **state)
{
  (void)state;
  char text[1200] = "alpha ~ a0";
  idm_formula *f;
  idm_error error = {0};
  for (int i = 1; i < 9; i++) sprintf(text + strlen(text), " * a%d", i);
  assert_int_equal(idm_formula_parse(text, &f, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "more than 199 terms"));
  strcpy(text, "alpha ~ a0");
  for (int i = 1; i < 40; i++) sprintf(text + strlen(text), " + a%d", i);
  assert_int_equal(idm_formula_parse(text, &f, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "more than 32 columns"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_are_those_of_wilkinson),
      cmocka_unit_test(blocks_and_levels_are_kept),
      cmocka_unit_test(what_is_no_formula_is_refused_at_its_place),
      cmocka_unit_test(there_is_a_limit_to_what_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
