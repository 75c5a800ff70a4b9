/* Tests least squares of belief updates: recovery of known coefficients, and updates that do not
 * identify them. */
#include <math.h>
#include <string.h>

#include "invert/explain/explain.h"
#include "support.h"

/* An environment of two static states and a test that is right with probability .7. */
typedef struct fixture {
  idm_problem *problem;
  environment env;
} fixture;

static fixture open_world(void)
{
  fixture f = {.problem = support_diag(1, INFINITY, 0)};
  check(idm_environment_create(f.problem->setting, f.problem->theta, &f.env, &support_error));
  return f;
}

static void close_world(fixture *f)
{
  idm_environment_destroy(&f->env);
  idm_problem_destroy(f->problem);
}

static double logit(double p)
{
  return log(p / (1 - p));
}

/* Known coefficients are recovered, and updates from a certain belief have no weight. */
static void known_coefficients_come_back(void **state)
{
  (void)state;
  fixture f = open_world();
  const double p = 0.6, e = 1.7, lr = log(0.7 / 0.3);
  static const double from[] = {0.2, 0.5, 0.9};
  reaction_sums sums = {0};
  double scratch[8];
  for (size_t i = 0; i < 3; i++)
    for (size_t x = 0; x < 2; x++) {
      const double z[] = {from[i], 1 - from[i]};
      const double odds = p * logit(z[0]) + e * (x ? -lr : lr);
      const double updated_belief[] = {1 / (1 + exp(-odds)), 1 / (1 + exp(odds))};
      idm_reaction_update(&f.env, z, 2, x, updated_belief, 0.5, scratch, &sums);
      const double certain[] = {1, 0};
      idm_reaction_update(&f.env, certain, 2, x, certain, 1, scratch, &sums);
    }
  double base_rate, evidence;
  idm_reaction_coefficients(&sums, &base_rate, &evidence);
  assert_near(base_rate, p, 1e-12);
  assert_near(evidence, e, 1e-12);
  assert_near(sums.updates, 3, 1e-12);
  close_world(&f);
}

/* After every declaration the state is drawn anew: the belief predicted by the environment is the
 * base rate. */
static void the_prediction_is_the_base_rate(void **state)
{
  (void)state;
  fixture f = open_world();
  reaction_sums sums = {0};
  double scratch[8];
  const double z[] = {0.9, 0.1}, updated_belief[] = {0.7, 0.3};
  idm_reaction_update(&f.env, z, 0, 0, updated_belief, 1, scratch, &sums);
  assert_near(sums.prior_prior, 0, 1e-20);
  double base_rate, evidence;
  idm_reaction_coefficients(&sums, &base_rate, &evidence);
  assert_near(evidence, 1, 1e-12);
  assert_true(isnan(base_rate));
  close_world(&f);
}

static void what_cannot_be_told_is_none(void **state)
{
  (void)state;
  double p, e;
  idm_reaction_coefficients(&(reaction_sums){0}, &p, &e);
  assert_true(isnan(p) && isnan(e));
  idm_reaction_coefficients(&(reaction_sums){1, 2, 4, 1, 2, 1, {{0, 0, 0}}}, &p,
                            &e); /* collinear */
  assert_true(isnan(p) && isnan(e));
  idm_reaction_coefficients(&(reaction_sums){2, 0, 0, 3, 0, 1, {{0, 0, 0}}}, &p, &e);
  assert_near(p, 1.5, 1e-12);
  assert_true(isnan(e));
}

/* An update at a node counts for every person who passes it, once per pass. */
static void nodes_belong_to_people(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_data *data = support_data(problem, "agent,trajectory,action,observation\n"
                                         "a,1,monitor,positive\na,1,monitor,\n"
                                         "b,2,monitor,positive\nb,2,declare_healthy,\n"
                                         "a,3,monitor,positive\na,3,monitor,\n");
  idm_prefix_tree *tree;
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  reaction r;
  check(idm_reaction_open(&r, data, tree, 3, &support_error));
  assert_int_equal(r.draws, 3);
  size_t first = tree->last[0];
  while (tree->node[tree->node[first].parent].begin < 0) first = (size_t)tree->node[first].parent;
  idm_reaction_add(&r, first, 2, &(reaction_sums){1, 0, 1, 2, 3, 1, {{4, 5, 1}, {0, 0, 0}}});
  assert_near(r.sums[0 * 3 + 2].prior_after, 4, 0); /* two passes */
  assert_near(r.sums[1 * 3 + 2].prior_after, 2, 0);
  assert_near(r.sums[0 * 3 + 2].side[REACTION_CONFIRMING].observed, 8, 0);
  assert_near(r.sums[1 * 3 + 2].side[REACTION_CONFIRMING].bayes, 5, 0);
  assert_near(r.sums[1 * 3 + 2].side[REACTION_DISCONFIRMING].updates, 0, 0);
  assert_near(r.sums[0 * 3 + 1].updates, 0, 0);
  idm_reaction_close(&r);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_coefficients_come_back),
      cmocka_unit_test(the_prediction_is_the_base_rate),
      cmocka_unit_test(what_cannot_be_told_is_none),
      cmocka_unit_test(nodes_belong_to_people),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
