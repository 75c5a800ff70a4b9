/* Tests predicates over a column of a log against expected results. */
#include "idm/extension/predicate.h"

#include <string.h>

#include "support.h"

static idm_predicate_result ask(const char *text, const char *cell)
{
  idm_predicate predicate;
  idm_error error;
  assert_int_equal(idm_predicate_parse(text, NULL, &predicate, &error), IDM_OK);
  const idm_predicate_result answer =
      idm_predicate_evaluate(&predicate, cell, cell ? strlen(cell) : 0);
  idm_predicate_clear(&predicate);
  return answer;
}

static void test_numbers(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    idm_predicate_result below, same, above;
  } cases[] = {{"AGE=75", IDM_PREDICATE_FALSE, IDM_PREDICATE_TRUE, IDM_PREDICATE_FALSE},
               {"AGE!=75", IDM_PREDICATE_TRUE, IDM_PREDICATE_FALSE, IDM_PREDICATE_TRUE},
               {"AGE<75", IDM_PREDICATE_TRUE, IDM_PREDICATE_FALSE, IDM_PREDICATE_FALSE},
               {"AGE<=75", IDM_PREDICATE_TRUE, IDM_PREDICATE_TRUE, IDM_PREDICATE_FALSE},
               {"AGE > 75", IDM_PREDICATE_FALSE, IDM_PREDICATE_FALSE, IDM_PREDICATE_TRUE},
               {"AGE >=75 ", IDM_PREDICATE_FALSE, IDM_PREDICATE_TRUE, IDM_PREDICATE_TRUE}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(ask(cases[i].text, "9.5"), cases[i].below);
    assert_int_equal(ask(cases[i].text, "75.0"), cases[i].same);
    assert_int_equal(ask(cases[i].text, " 7.6e1 "), cases[i].above);
    assert_int_equal(ask(cases[i].text, NULL), IDM_PREDICATE_MISSING);
    assert_int_equal(ask(cases[i].text, " "), IDM_PREDICATE_MISSING);
  }
  assert_int_equal(ask("AGE>75", "old"), IDM_PREDICATE_INVALID);
  assert_int_equal(ask("AGE>75", "75,5"), IDM_PREDICATE_INVALID);
  assert_int_equal(ask("AGE=75", "old"), IDM_PREDICATE_FALSE);
  assert_int_equal(ask("AGE!=75", "old"), IDM_PREDICATE_TRUE);
}

static void test_texts(void **state)
{
  (void)state;
  assert_int_equal(ask("SEX=Female", "Female"), IDM_PREDICATE_TRUE);
  assert_int_equal(ask("SEX=Female", "Femal"), IDM_PREDICATE_FALSE);
  assert_int_equal(ask("SEX!=Female", "Male"), IDM_PREDICATE_TRUE);
  assert_int_equal(ask("SEX!=Female", ""), IDM_PREDICATE_MISSING);
  assert_int_equal(ask("DATE<2006-01-01", "2005-12-31"), IDM_PREDICATE_TRUE);
  assert_int_equal(ask("DATE>=2006", "2006-01-01"),
                   IDM_PREDICATE_INVALID); /* 2006 is a number, not a date */
  assert_int_equal(ask("VISIT>m06", "m12"), IDM_PREDICATE_TRUE);
  assert_int_equal(ask("VISIT>m06", "12"), IDM_PREDICATE_FALSE);
}

/* An empty value tests whether a cell is missing. */
static void test_missing(void **state)
{
  (void)state;
  assert_int_equal(ask("APOE4=", NULL), IDM_PREDICATE_TRUE);
  assert_int_equal(ask("APOE4=", "0"), IDM_PREDICATE_FALSE);
  assert_int_equal(ask("APOE4!=", NULL), IDM_PREDICATE_FALSE);
  assert_int_equal(ask("APOE4!=", "0"), IDM_PREDICATE_TRUE);
}

static void test_names_with_operators(void **state)
{
  (void)state;
  char *names[] = {"a=b", "dose>0", "a"};
  const idm_labels columns = {3, names};
  static const struct {
    const char *text, *column, *value;
    idm_comparison comparison;
  } cases[] = {{"a=b=c", "a", "b=c", IDM_EQUAL},
               {"dose>0!=1", "dose>0", "1", IDM_UNEQUAL},
               {"dose>0 <= 2", "dose>0", "2", IDM_LESS_EQUAL},
               {"other=x", "other", "x", IDM_EQUAL},
               {"a>=!", "a", "!", IDM_GREATER_EQUAL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_predicate predicate;
    idm_error error;
    assert_int_equal(idm_predicate_parse(cases[i].text, &columns, &predicate, &error), IDM_OK);
    assert_string_equal(predicate.column, cases[i].column);
    assert_string_equal(predicate.value, cases[i].value);
    assert_int_equal(predicate.comparison, cases[i].comparison);
    idm_predicate_clear(&predicate);
  }
}

static void test_refuses(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "AGE", "=75", "  >75", "AGE<", "AGE >= ", "!"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_predicate predicate;
    idm_error error = {0};
    assert_int_equal(idm_predicate_parse(texts[i], NULL, &predicate, &error), IDM_USAGE);
    assert_non_null(strstr(error.message, "expected"));
    assert_null(predicate.column);
  }
}

static void test_text_reads_back(void **state)
{
  (void)state;
  static const char *const texts[] = {"AGE>75", "AGE >= 75", "SEX != Female", "APOE4=", "a<=-1e3"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_predicate first;
    idm_predicate second;
    idm_error error;
    char buffer[100];
    assert_int_equal(idm_predicate_parse(texts[i], NULL, &first, &error), IDM_OK);
    idm_predicate_text(&first, buffer, sizeof buffer);
    assert_int_equal(idm_predicate_parse(buffer, NULL, &second, &error), IDM_OK);
    assert_true(idm_predicate_same(&first, &second));
    idm_predicate_clear(&first);
    idm_predicate_clear(&second);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_texts),
      cmocka_unit_test(test_missing), cmocka_unit_test(test_names_with_operators),
      cmocka_unit_test(test_refuses), cmocka_unit_test(test_text_reads_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
