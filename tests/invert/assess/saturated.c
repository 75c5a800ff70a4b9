/* Tests the comparison of a policy with the frequencies of the log: correct policies pass, and
 * policies that underfit do not. */
#include <math.h>
#include <string.h>

#include "idm/extension/random.h"
#include "invert/assess/context.h"
#include "support.h"

enum { STATES = 5, ACTIONS = 3, ENTRIES = STATES * ACTIONS };
static const double visits[STATES] = {40, 3, 12, 1, 90};

typedef struct judged {
  double count[ENTRIES];
  double policy[ENTRIES];
  idm_optimality optimality;
  idm_assessment assessment;
  idm_posterior posterior;
  check_context q;
} judged;

static void open_judged(judged *j)
{
  *j = (judged){.posterior = {.answer = IDM_POINT, .seed = 3}};
  for (size_t i = 0; i < ENTRIES; i++)
    j->policy[i] = (double[]){0.7, 0.2, 0.1}[(i + i / ACTIONS) % ACTIONS];
  j->optimality = (idm_optimality){
      .state.count = STATES, .action.count = ACTIONS, .policy = j->policy, .count = j->count};
  j->assessment.optimality = &j->optimality;
  idm_checks_begin(&j->assessment.checks, IDM_CHECK_PROGRAM);
  j->q = (check_context){.posterior = &j->posterior, .assessment = &j->assessment, .among = 1};
}

static void simulate(judged *j, const double *policy, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  memset(j->count, 0, sizeof j->count);
  for (size_t s = 0; s < STATES; s++)
    for (double k = 0; k < visits[s]; k++)
      j->count[s * ACTIONS + idm_random_choice(&random, policy + s * ACTIONS, ACTIONS)]++;
}

static idm_check_outcome outcome_of(judged *j)
{
  check(idm_check_saturated(&j->q, &support_error));
  const idm_check_outcome outcome = j->assessment.checks.of[IDM_CHECK_SATURATED].outcome;
  assert_int_equal(j->assessment.misfits.count, outcome == IDM_CHECK_MISFIT);
  idm_notes_clear(&j->assessment.misfits);
  return outcome;
}

/* At a level of 1 %, more than 8 of 200 alarms have a probability of 2e-4; the seeds are fixed. */
static void right_policies_pass(void **state)
{
  (void)state;
  size_t alarms = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    judged j;
    open_judged(&j);
    simulate(&j, j.policy, seed);
    alarms += outcome_of(&j) == IDM_CHECK_MISFIT;
  }
  assert_in_range(alarms, 0, 8);
}

/* Policies three quarters of the way to uniform choice, as under a penalty on utilities. */
static void underfits_are_misfits(void **state)
{
  (void)state;
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    judged j;
    open_judged(&j);
    simulate(&j, j.policy, seed);
    for (size_t i = 0; i < ENTRIES; i++) j.policy[i] = 0.25 * j.policy[i] + 0.75 / ACTIONS;
    found += outcome_of(&j) == IDM_CHECK_MISFIT;
  }
  assert_in_range(found, 19, 20);
}

static void answers_without_counts_are_not_compared(void **state)
{
  (void)state;
  judged j;
  open_judged(&j);
  j.optimality.count = NULL;
  assert_int_equal(outcome_of(&j), IDM_CHECK_NOT_RUN);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(right_policies_pass),
                                     cmocka_unit_test(underfits_are_misfits),
                                     cmocka_unit_test(answers_without_counts_are_not_compared)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
