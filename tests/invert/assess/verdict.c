/* Tests the verdict sentence for combinations of failures, misfits and omitted checks, against
 * literal text. */
#include <string.h>

#include "invert/assess.h"
#include "support.h"

static void test_words(void **state)
{
  (void)state;
  char *one[] = {"x"};
  const idm_notes some = {.count = 1, .text = one};
  idm_person misfit = {.verdict = IDM_PERSON_MISFIT};
  idm_optimality optimality = {0};
  idm_checks left;
  idm_checks_begin(&left, IDM_CHECK_FIT);
  idm_check_leave_out(&left, IDM_CHECK_IMPORTANCE, 10);
  const struct {
    idm_assessment a;
    const char *words;
  } cases[] = {
      {{.answer = IDM_POSTERIOR, .trusted = true}, "the model is unchecked"},
      {{.answer = IDM_POSTERIOR, .trusted = true, .model.evaluated = true},
       "no test rejects the model"},
      {{.answer = IDM_POSTERIOR, .failures = some}, "not to be trusted yet"},
      {{.answer = IDM_POSTERIOR, .misfits = some}, "the draws are sound, but the model is not"},
      {{.answer = IDM_POSTERIOR, .failures = some, .misfits = some}, "neither the draws nor"},
      {{.answer = IDM_POSTERIOR}, "not to be trusted yet"},
      {{.answer = IDM_POINT, .trusted = true}, "a point, without a measure of its uncertainty"},
      {{.answer = IDM_POINT, .misfits = some}, "a point, of a model that does not fit"},
      {{.answer = IDM_POINT, .trusted = true, .optimality = &optimality}, "certificate is closed"},
      {{.answer = IDM_SET, .trusted = true, .optimality = &optimality}, "a set whose certificate"},
      {{.answer = IDM_POINT, .optimality = &optimality, .failures = some}, "not to be trusted yet"},
      {{.answer = IDM_POSTERIOR,
        .trusted = true,
        .fitted_separately = true,
        .people = 1,
        .person = &misfit},
       "does not fit all people"},
      {{.answer = IDM_POSTERIOR, .trusted = true, .model.evaluated = true, .checks = left},
       "unchecked: nothing fails, but checks were left out"},
      {{.answer = IDM_POINT, .trusted = true, .optimality = &optimality, .checks = left},
       "left out"},
      {{.answer = IDM_POSTERIOR, .failures = some, .checks = left}, "not to be trusted yet"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (!strstr(idm_assessment_verdict(&cases[i].a), cases[i].words))
      fail_msg("'%s' is not in '%s'", cases[i].words, idm_assessment_verdict(&cases[i].a));
  assert_string_equal(idm_assessment_section(&cases[0].a), "");
  assert_string_equal(idm_assessment_section(&cases[2].a), "see what FAILS above");
  assert_string_equal(idm_assessment_section(&cases[3].a), "see MODEL above");
  assert_string_equal(idm_assessment_section(NULL), "");
  assert_string_equal(idm_assessment_verdict(NULL), "");
}

static void verdicts_on_people_have_words_of_their_own(void **state)
{
  (void)state;
  for (int v = 0; v < IDM_PERSON_VERDICTS; v++)
    for (int w = 0; w < v; w++)
      assert_string_not_equal(idm_person_verdict_name((idm_person_verdict)v),
                              idm_person_verdict_name((idm_person_verdict)w));
  assert_null(idm_person_verdict_name(IDM_PERSON_VERDICTS));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                     cmocka_unit_test(verdicts_on_people_have_words_of_their_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
