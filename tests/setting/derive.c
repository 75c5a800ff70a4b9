/* Tests derived columns and rules: names, texts, and equality. */
#include "idm/extension/derive.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void test_names(void **state)
{
  (void)state;
  assert_string_equal(idm_derivation_name(IDM_DERIVE_INTERVALS), "cut");
  assert_string_equal(idm_derivation_name(IDM_DERIVE_RECODE), "recode");
  assert_string_equal(idm_derivation_name(IDM_DERIVE_PRODUCT), "product");
  assert_string_equal(idm_derivation_name(IDM_DERIVE_NEXT), "next");
  assert_null(idm_derivation_name((idm_derivation)(IDM_DERIVE_NEXT + 1)));
  assert_null(idm_rule_kind_name((idm_rule_kind)(IDM_RULE_MIN_ROWS + 1)));
  /* Rules on rows come first, then duplicates, then rules on whole trajectories. */
  int before = 0;
  for (int kind = 0; kind <= IDM_RULE_MIN_ROWS; kind++) {
    const int stage = idm_rule_stage((idm_rule_kind)kind);
    assert_non_null(idm_rule_kind_name((idm_rule_kind)kind));
    assert_true(stage >= before && stage <= 2);
    before = stage;
  }
  assert_int_equal(idm_rule_stage(IDM_RULE_DROP), 0);
  assert_int_equal(idm_rule_stage(IDM_RULE_DUPLICATES), 1);
  assert_int_equal(idm_rule_stage(IDM_RULE_TRUNCATE), 2);
}

/* Checks the text of a rule in a large buffer and in every shorter one. */
static void expect_text(const idm_rule *rule, const char *text)
{
  char buffer[100];
  assert_ptr_equal(idm_rule_text(rule, buffer, sizeof buffer), buffer);
  assert_string_equal(buffer, text);
  for (size_t size = 1; size <= strlen(text); size++) {
    memset(buffer, '#', sizeof buffer);
    idm_rule_text(rule, buffer, size);
    assert_true(strlen(buffer) < size);
    for (size_t i = size; i < sizeof buffer; i++) assert_true(buffer[i] == '#');
    assert_memory_equal(buffer, text, strlen(buffer));
  }
}

static idm_predicate predicate_of(const char *text)
{
  idm_predicate predicate;
  check(idm_predicate_parse(text, NULL, &predicate, &support_error));
  return predicate;
}

static void test_texts(void **state)
{
  (void)state;
  char visit[] = "visit";
  idm_rule ends = {.kind = IDM_RULE_ENDS, .column = visit};
  idm_rule keep = {.kind = IDM_RULE_KEEP, .predicate = predicate_of("age>=65")};
  SUPPORT_NAMES(&ends.in, "home", "dead");
  expect_text(&(idm_rule){.kind = IDM_RULE_REQUIRE, .column = visit}, "require visit");
  expect_text(&keep, "keep age>=65");
  expect_text(&(idm_rule){.kind = IDM_RULE_DUPLICATES, .last = true}, "duplicates last");
  expect_text(&(idm_rule){.kind = IDM_RULE_DUPLICATES}, "duplicates first");
  expect_text(&(idm_rule){.kind = IDM_RULE_TRUNCATE, .column = visit, .every = 0.5},
              "truncate visit every 0.5");
  expect_text(&ends, "ends visit in home, dead");
  expect_text(&(idm_rule){.kind = IDM_RULE_MIN_ROWS, .least = 3}, "least 3");
  expect_text(&(idm_rule){.kind = (idm_rule_kind)(IDM_RULE_MIN_ROWS + 1)}, "");
  expect_text(NULL, "");
  idm_labels_destroy(&ends.in);
  idm_predicate_clear(&keep.predicate);
}

/* --- equality ------------------------------------------------------------------------------- */

/* A division of age at 65 and 80 with every field of a derived column set. */
static idm_derived cut_of_age(void)
{
  idm_derived d = {.kind = IDM_DERIVE_INTERVALS, .cuts = 2, .closed_left = true};
  d.name = strdup("old");
  d.missing = strdup("unknown");
  d.other = strdup("rest");
  d.at = malloc(2 * sizeof *d.at);
  d.deviation = malloc(2 * sizeof *d.deviation);
  assert_true(d.name && d.missing && d.other && d.at && d.deviation);
  d.at[0] = 65;
  d.at[1] = 80;
  d.deviation[0] = -1;
  d.deviation[1] = 1;
  SUPPORT_NAMES(&d.source, "age");
  SUPPORT_NAMES(&d.text, "x");
  SUPPORT_NAMES(&d.label, "young", "old", "oldest");
  return d;
}

static void change_derived(idm_derived *d, int what)
{
  switch (what) {
  case 0:
    d->kind = IDM_DERIVE_NEXT;
    break;
  case 1:
    d->cuts = 1;
    break;
  case 2:
    d->closed_left = false;
    break;
  case 3:
    d->name[0] = 'b';
    break;
  case 4:
    d->missing[0] = 'b';
    break;
  case 5:
    d->other[0] = 'b';
    break;
  case 6:
    d->source.name[0][0] = 'b';
    break;
  case 7:
    d->text.name[0][0] = 'b';
    break;
  case 8:
    d->label.name[2][0] = 'b';
    break;
  case 9:
    d->at[1] = 81;
    break;
  case 10:
    d->deviation[1] = 2;
    break;
  case 11:
    free(d->at), d->at = NULL;
    break;
  default:
    free(d->missing), d->missing = NULL;
    break;
  }
}

static void test_same_derived(void **state)
{
  (void)state;
  idm_derived a = cut_of_age(), b = cut_of_age();
  assert_true(idm_derived_same(&a, &b));
  assert_false(idm_derived_same(&a, NULL));
  idm_derived_clear(&b);
  assert_null(b.name);
  idm_derived_clear(&b); /* clearing twice is safe */
  for (int what = 0; what <= 12; what++) {
    b = cut_of_age();
    change_derived(&b, what);
    if (idm_derived_same(&a, &b) || idm_derived_same(&b, &a)) fail_msg("change %d", what);
    idm_derived_clear(&b);
  }
  idm_derived_clear(&a);
}

static void test_same_rules(void **state)
{
  (void)state;
  char age[] = "age", sex[] = "sex";
  idm_rule rules[] = {{.kind = IDM_RULE_REQUIRE, .column = age},
                      {.kind = IDM_RULE_REQUIRE, .column = sex},
                      {.kind = IDM_RULE_KEEP, .predicate = predicate_of("age>=65")},
                      {.kind = IDM_RULE_KEEP, .predicate = predicate_of("age>65")},
                      {.kind = IDM_RULE_DROP, .predicate = predicate_of("age>65")},
                      {.kind = IDM_RULE_DUPLICATES},
                      {.kind = IDM_RULE_DUPLICATES, .last = true},
                      {.kind = IDM_RULE_TRUNCATE, .column = age, .every = 1},
                      {.kind = IDM_RULE_TRUNCATE, .column = age, .every = 2},
                      {.kind = IDM_RULE_ENDS, .column = age},
                      {.kind = IDM_RULE_ENDS, .column = age},
                      {.kind = IDM_RULE_MIN_ROWS, .least = 2},
                      {.kind = IDM_RULE_MIN_ROWS, .least = 3}};
  const size_t count = sizeof rules / sizeof *rules;
  SUPPORT_NAMES(&rules[9].in, "home");
  SUPPORT_NAMES(&rules[10].in, "away");
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++)
      assert_int_equal(idm_rule_same(&rules[i], &rules[j]), i == j);
  assert_false(idm_rule_same(&rules[0], NULL));
  for (size_t i = 0; i < count; i++) {
    rules[i].column = NULL; /* the column is not owned by the rule here */
    idm_rule_clear(&rules[i]);
    assert_int_equal(rules[i].in.count, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_same_derived),
                                     cmocka_unit_test(test_same_rules)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
