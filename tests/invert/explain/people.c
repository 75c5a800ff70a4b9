/* Tests explanations of people with separate parameters: each person's rows are explained by their
 * own draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/posterior.h"
#include "support.h"

enum { DRAWS = 2 };
static const double log_alpha[2][DRAWS] = {{0, 1}, {-1, 2}}; /* of q, then of p */

static idm_posterior *make_posterior(const char *name)
{
  idm_posterior *p = calloc(1, sizeof *p);
  idm_labels who = {0};
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = 1;
  p->draws = DRAWS;
  p->value = malloc(sizeof log_alpha);
  memcpy(p->value, log_alpha, sizeof log_alpha);
  check(idm_labels_create(&p->quantity, 2, &support_error));
  p->summarised = calloc(2, sizeof *p->summarised);
  p->statistics = calloc(DRAWS, sizeof *p->statistics);
  SUPPORT_NAMES(&who, "q", "p");
  check(idm_posterior_add_axis(p, "person", &who, &support_error));
  check(idm_posterior_add_series(p, name, 0, 0, &support_error));
  idm_labels_destroy(&who);
  return p;
}

static idm_problem *make_problem(void)
{
  idm_problem *problem = support_diag(1, INFINITY, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  return problem;
}

static const char log_of_three[] = "agent,trajectory,action,observation\n"
                                   "p,1,monitor,positive\np,1,declare_diseased,\n"
                                   "q,2,monitor,positive\nq,2,monitor,negative\nq,2,monitor,\n"
                                   "r,3,monitor,positive\np,4,monitor,negative\n";

static void everybody_by_their_own_draws(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_posterior *posterior = make_posterior("log_alpha");
  idm_data *data = support_data(problem, log_of_three);
  idm_explanation *e;
  idm_notes notes = {0};
  check(idm_explain_log(problem, posterior, data, NULL, &e, &notes, &support_error));
  assert_int_equal(notes.count, 1); /* r is no person of the posterior */
  static const int person_of[] = {1, 0, -1};
  for (size_t t = 0; t < data->trajectories; t++) {
    const int person = person_of[data->agent[t]];
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      double sum = 0;
      for (int d = 0; d < DRAWS && person >= 0; d++) {
        idm_explanation *one;
        idm_theta_set_scalar(problem->theta, IDM_ALPHA, exp(log_alpha[person][d]));
        check(idm_explain_log(problem, NULL, data, NULL, &one, NULL, &support_error));
        sum +=
            idm_explanation_interval(one, row, IDM_EXPLAIN_PROBABILITY, (size_t)data->action[row])
                .mean;
        assert_near(idm_explanation_interval(one, row, IDM_EXPLAIN_REGRET, 0).mean,
                    idm_explanation_interval(e, row, IDM_EXPLAIN_REGRET, 0).mean, 1e-9);
        idm_explanation_destroy(one);
      }
      const double found =
          idm_explanation_interval(e, row, IDM_EXPLAIN_PROBABILITY, (size_t)data->action[row]).mean;
      if (person < 0)
        assert_true(isnan(found));
      else
        assert_near(found, sum / DRAWS, 1e-7);
    }
  }
  assert_near(e->person[0].noise.mean, (exp(-1) + exp(2)) / 2 / 46, 1e-9);
  assert_near(e->person[1].noise.mean, (exp(0) + exp(1)) / 2 / 46, 1e-9);
  assert_true(isnan(e->person[2].noise.mean));
  assert_int_equal(e->person[1].updates, 2);
  idm_notes_clear(&notes);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
}

/* Effects that vary within people, and logs without any of the people, are rejected. */
static void others_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_data *data = support_data(problem, log_of_three);
  idm_posterior *posterior = make_posterior("log_alpha");
  idm_explanation *e;
  check(idm_posterior_add_series(posterior, "log_alpha:day[T.2]", 0, 0, &support_error));
  assert_int_equal(idm_explain_log(problem, posterior, data, NULL, &e, NULL, &support_error),
                   IDM_INPUT);
  assert_null(e);
  idm_data_destroy(data);
  idm_posterior_destroy(posterior);
  posterior = make_posterior("log_alpha");
  data = support_data(problem, "agent,action,observation\nx,monitor,positive\n");
  assert_int_equal(idm_explain_log(problem, posterior, data, NULL, &e, NULL, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "none of the agents"));
  assert_null(e);
  idm_data_destroy(data);
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everybody_by_their_own_draws),
      cmocka_unit_test(others_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
