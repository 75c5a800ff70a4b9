/* Cells that choose: labels before codes, numbers where they are requested, codes by column. */
#include "io/log/log.h"

#include <string.h>

#include "support.h"

static int32_t find(const idm_label_codes *code, const char *text)
{
  return idm_label_codes_find(code, text, strlen(text), "|");
}

static idm_labels labels_of(const char *const *name, size_t count)
{
  idm_labels labels = {0};
  support_names(&labels, name, count);
  return labels;
}
#define LABELS(...)                                                                                \
  labels_of((const char *const[]){__VA_ARGS__},                                                    \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void test_labels_beat_codes(void **state)
{
  (void)state;
  idm_labels labels = LABELS("1", "0", "2");
  idm_code code = {
      .index = true, .text = LABELS("a", "1", "2"), .target_label = LABELS("2", "2", "1")};
  const idm_codes codes = {.count = 1, .code = &code};
  idm_label_decoder choice = {0};
  check(idm_label_decoder_create(&choice, &labels, &codes, 1, &support_error));
  assert_int_equal(choice.parts, 0);
  assert_int_equal(find(&choice.whole, "1"), 0); /* the label, not its code, nor its number */
  assert_int_equal(find(&choice.whole, "0"), 1);
  assert_int_equal(find(&choice.whole, "2"), 2);
  assert_int_equal(find(&choice.whole, "a"), 2); /* the code */
  assert_int_equal(find(&choice.whole, "3"), -1);
  assert_int_equal(find(&choice.whole, "b"), -1);
  assert_int_equal(find(&choice.whole, ""), -1);
  idm_label_decoder_clear(&choice);
  idm_labels_destroy(&labels);
  idm_labels_destroy(&code.text);
  idm_labels_destroy(&code.target_label);
}

/* Numbers stand for labels only where that is said, and for labels that no cell can hold. */
static void test_numbers(void **state)
{
  (void)state;
  idm_labels labels = LABELS("win", " loss", "a|b");
  const idm_codes none = {0};
  idm_label_decoder choice = {0};
  check(idm_label_decoder_create(&choice, &labels, &none, 1, &support_error));
  assert_int_equal(find(&choice.whole, "0"), -1);
  assert_int_equal(find(&choice.whole, "1"), 1); /* blanks would be cut off */
  assert_int_equal(find(&choice.whole, "2"), 2); /* holds what joins labels */
  assert_int_equal(find(&choice.whole, "01"), 1);
  assert_int_equal(find(&choice.whole, "+1"), -1);
  assert_int_equal(find(&choice.whole, "1.0"), -1);
  assert_int_equal(find(&choice.whole, "4294967297"), -1); /* 1 + 2^32 is not 1 */
  idm_label_decoder_clear(&choice);
  idm_labels_destroy(&labels);
}

static void test_indices(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    bool is;
    uint32_t value;
  } cases[] = {
      {"0", true, 0},
      {"999999999", true, 999999999},
      {"000000000007", true, 7},
      {"18446744073709551617", true, UINT32_MAX},
      {"", false, UINT32_MAX},
      {"-1", false, UINT32_MAX},
      {"1 ", false, UINT32_MAX},
      {"\xd9\xa1", false, UINT32_MAX}, /* an Arabic 1 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t value;
    assert_int_equal(idm_cell_is_index(cases[i].text, strlen(cases[i].text), &value), cases[i].is);
    assert_int_equal(value, cases[i].value);
  }
}

/* Labels joined from two columns, each with a code of its own. */
static void test_columns(void **state)
{
  (void)state;
  idm_labels labels = LABELS("low/no", "low/yes", "high/no", "high/yes");
  idm_code code[2] = {{.index = true},
                      {.text = LABELS("N", "Y"), .target_label = LABELS("no", "yes")}};
  const idm_codes codes = {.count = 2, .code = code};
  idm_label_decoder choice = {0};
  check(idm_label_decoder_create(&choice, &labels, &codes, 2, &support_error));
  assert_int_equal(choice.parts, 2);
  assert_int_equal(find(&choice.part[0], "high"), 1);
  assert_int_equal(find(&choice.part[0], "1"), 1);
  assert_int_equal(find(&choice.part[1], "Y"), 1);
  assert_int_equal(find(&choice.part[1], "1"), -1);
  assert_int_equal(find(&choice.whole, "high/no"), 2);
  idm_label_decoder_clear(&choice);
  assert_int_equal(choice.parts, 0);
  idm_error error = {0};
  assert_int_equal(idm_label_decoder_create(&choice, &labels, &codes, 3, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "2 codes for 3 columns"));
  idm_label_decoder_clear(&choice);
  idm_labels_destroy(&labels);
  idm_labels_destroy(&code[1].text);
  idm_labels_destroy(&code[1].target_label);
}

static void test_refused(void **state)
{
  (void)state;
  idm_labels labels = LABELS("win", "loss"), twice = LABELS("win", "win");
  idm_code code = {.text = LABELS("W"), .target_label = LABELS("wins")};
  const idm_codes codes = {.count = 1, .code = &code}, none = {0};
  idm_label_decoder choice = {0};
  idm_error error = {0};
  assert_int_equal(idm_label_decoder_create(&choice, &labels, &codes, 1, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "the code 'W' maps to 'wins', which is not a label"));
  idm_label_decoder_clear(&choice);
  assert_int_equal(idm_label_decoder_create(&choice, &twice, &none, 1, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "'win' is named twice"));
  idm_label_decoder_clear(&choice);
  idm_labels_destroy(&labels);
  idm_labels_destroy(&twice);
  idm_labels_destroy(&code.text);
  idm_labels_destroy(&code.target_label);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_labels_beat_codes), cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_indices),           cmocka_unit_test(test_columns),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
