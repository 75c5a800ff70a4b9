/* Tests the printed results of a run against expected texts: the table, the lines of the verdict
 * and the verdict itself. */
#include "cli/answer_support.h"
#include "cli/cli.h"
#include "cli/common.h"

static const char *const names[] = {"alpha", "eta"};

/* --- the table ------------------------------------------------------------------------------ */

#define HEADING                                                                                    \
  "                   mean         sd       mcse         5%        50%        95%  ess_bulk  "     \
  "ess_tail  r_hat contr.\n"
#define NUMBERS "        0.5       0.01          1          2          4       400       300  1.001"

/* The contraction relative to the prior is printed for parameters that were examined and where it
 * is meaningful. */
static void test_table(void **state)
{
  (void)state;
  answer a = answer_open((const char *const[]){"alpha", "eta", "beta"}, 3);
  printed p;
  a.posterior->summarised[2] = false;
  a.assessment->parameters = 2;
  a.assessment->parameter = calloc(2, sizeof *a.assessment->parameter);
  a.assessment->parameter[0].quantity = 0;
  a.assessment->parameter[0].contraction = 0.937;
  a.assessment->parameter[1].quantity = 1;
  a.assessment->parameter[1].contraction = -1e9;
  printed_open(&p);
  cli_print_posterior(NULL, p.out, a.posterior, a.assessment);
  printed_expect(&p, HEADING "alpha               2.5" NUMBERS "   0.94\n"
                             "eta                12.5" NUMBERS "      -\n");
  answer_close(&a);
}

static void test_point(void **state)
{
  (void)state;
  answer a = answer_open(names, 2);
  printed p;
  a.posterior->answer = IDM_POINT;
  printed_open(&p);
  cli_print_posterior(NULL, p.out, a.posterior, a.assessment);
  printed_expect(&p, "                    value\n"
                     "alpha                   1\n"
                     "eta                    11\n");
  answer_close(&a);
}

/* --- the verdict ---------------------------------------------------------------------------- */

typedef struct verdict_case {
  idm_estimate_kind answer;
  bool trusted, apart, evaluated, fails, misfits;
  idm_person_verdict person; /* of a person fitted separately */
  const char *words;
} verdict_case;

static void test_verdicts(void **state)
{
  (void)state;
  static const verdict_case cases[] = {
      {IDM_POSTERIOR, true, false, true, false, false, IDM_PERSON_IDENTIFIED,
       "the draws can be trusted, and no test rejects the model"},
      {IDM_POSTERIOR, true, false, false, false, false, IDM_PERSON_IDENTIFIED,
       "the draws can be trusted; the model is unchecked"},
      {IDM_POSTERIOR, true, true, false, false, false, IDM_PERSON_IDENTIFIED,
       "the draws can be trusted, and no test rejects the model"},
      {IDM_POSTERIOR, true, true, false, false, false, IDM_PERSON_MISFIT,
       "the draws can be trusted; the model does not fit all people, but misfits are no more "
       "frequent than by chance"},
      {IDM_POSTERIOR, true, true, false, false, false, IDM_PERSON_CHANCE,
       "the draws can be trusted; the model does not fit all people, but misfits are no more "
       "frequent than by chance"},
      {IDM_POSTERIOR, false, false, true, true, false, IDM_PERSON_IDENTIFIED,
       "not to be trusted yet; see what FAILS above"},
      {IDM_POSTERIOR, false, false, true, false, true, IDM_PERSON_IDENTIFIED,
       "not to be trusted yet: the draws are sound, but the model is not; see MODEL above"},
      {IDM_POSTERIOR, false, false, true, true, true, IDM_PERSON_IDENTIFIED,
       "not to be trusted yet: neither the draws nor the model; see what FAILS and MODEL above"},
      {IDM_POINT, true, false, true, false, false, IDM_PERSON_IDENTIFIED,
       "a point, without a measure of its uncertainty"},
      {IDM_POINT, false, false, true, false, true, IDM_PERSON_IDENTIFIED,
       "not to be trusted yet: a point, of a model that does not fit; see MODEL above"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const verdict_case *c = &cases[i];
    answer a = answer_open(names, 2);
    char expected[400];
    printed p;
    a.assessment->answer = c->answer;
    a.assessment->trusted = c->trusted;
    a.assessment->fitted_separately = c->apart;
    a.assessment->model.evaluated = c->evaluated;
    if (c->fails) idm_notes_add(&a.assessment->failures, "one chain alone");
    if (c->misfits) idm_notes_add(&a.assessment->misfits, "agents differ");
    if (c->apart) {
      a.assessment->people = 1;
      a.assessment->person = calloc(1, sizeof *a.assessment->person);
      a.assessment->person->verdict = c->person;
    }
    printed_open(&p);
    cli_print_verdict(p.out, a.assessment);
    snprintf(expected, sizeof expected, "%s%sverdict: %s\n",
             c->fails ? "FAILS: one chain alone.\n" : "",
             c->misfits ? "MODEL: agents differ.\n" : "", c->words);
    printed_expect(&p, expected);
    answer_close(&a);
  }
}

/* A sentence is wrapped to lines of at most 118 characters; each line is filled, and no word is
 * lost or broken. */
static void test_wrapped(void **state)
{
  (void)state;
  answer a = answer_open(names, 2);
  char sentence[600] = "";
  char seen[700] = "";
  printed p;
  size_t lines = 0, before = 0;
  for (int i = 0; i < 61; i++) {
    char word[16];
    snprintf(word, sizeof word, "%sw%.*s%d", i ? " " : "", i % 7, "xxxxxx", i);
    strcat(sentence, word);
  }
  idm_notes_add(&a.assessment->remarks, "%s", sentence);
  a.assessment->trusted = true;
  printed_open(&p);
  cli_print_verdict(p.out, a.assessment);
  char *text = printed_close(&p);
  for (char *line = strtok(text, "\n"); line && strncmp(line, "verdict", 7) != 0;
       line = strtok(NULL, "\n"), lines++) {
    assert_memory_equal(line, lines ? "  " : "- ", 2);
    assert_true(strlen(line) <= 118 && line[2] != ' ');
    assert_true(!lines || before + 1 + strcspn(line + 2, " ") > 118);
    before = strlen(line);
    if (lines) strcat(seen, " ");
    strcat(seen, line + 2);
  }
  assert_true(lines >= 3);
  strcat(sentence, ".");
  assert_string_equal(seen, sentence);
  free(text);
  answer_close(&a);
}

/* --- runs ----------------------------------------------------------------------------------- */

static idm_status print_none(cli_call *call, const idm_posterior *posterior,
                             const idm_assessment *assessment)
{
  (void)call;
  (void)posterior;
  (void)assessment;
  fail_msg("nothing can be printed of a run that is not there");
  return IDM_OK;
}

static void test_runs(void **state)
{
  (void)state;
  static const cli_option options[] = {CLI_JSON_OPTION, CLI_END};
  static const cli_command command = {.name = "summary", .max_arguments = 3, .options = options};
  cli_call call;
  int untrusted = -1;
  check(cli_parse(&call, &command, 1, (char *[]){"no/such/run"}));
  assert_int_equal(cli_each_run(&call, print_none, &untrusted), IDM_INPUT);
  assert_non_null(strstr(call.error.message, "no/such/run"));
  assert_int_equal(untrusted, 0);
  cli_call_free(&call);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_point),
                                     cmocka_unit_test(test_verdicts),
                                     cmocka_unit_test(test_wrapped), cmocka_unit_test(test_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
