/* A problem with one learnt probability and one free parameter, and its joint posterior on a grid.
 */
#include "invert/joint/joint_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/log.h"
#include "invert/matching.h"
#include "learn/textbook_support.h"

static const char yaml[] =
    "states: [healthy, diseased]\n"
    "actions: [declare_healthy, declare_diseased, monitor]\n"
    "observations: [negative, positive]\nstart: [0.5, 0.5]\ndiscount: 0.95\n"
    "ends: [declare_healthy, declare_diseased]\n"
    "transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}\n"
    "observation: {'*': [[0.4, 0.6], [0, 1]]}\n"
    "utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}\n"
    "agent: {planner: bounded-rational, alpha: 4, beta: inf, eta: 0, resolution: 30}\n"
    "free: {alpha: {scale: log, prior: {normal: [0, 1]}}}\n";

joint_scene joint_open(size_t trajectories)
{
  joint_scene s = {.problem = support_yaml(yaml)};
  idm_learn_result learnt = {0};
  s.data = support_simulate(s.problem,
                            (idm_simulation){.trajectories = trajectories, .seed = 7, .steps = 8});
  idm_learn_settings_default(&s.settings);
  s.settings.hold = IDM_LEARN_FIX_START;
  s.settings.draws = 300;
  s.settings.warmup = 50;
  s.settings.chains = 2;
  check(idm_iohmm_create(s.problem, s.data, 0, s.settings.hold, &s.learner, &support_error));
  check(idm_learn(s.learner, s.problem, &s.settings, NULL, NULL, &learnt, &support_error));
  check(idm_learn_draw(s.learner, s.problem, &learnt.modes, &s.settings, NULL, NULL, &s.draws,
                       &support_error));
  check(idm_problem_set_dynamics(s.problem, learnt.dynamics, &support_error));
  idm_learn_result_clear(&learnt);
  assert_int_equal(s.draws.numbers, 2);
  return s;
}

double joint_prior(const void *context, const double *w)
{
  (void)context;
  return -0.5 * w[0] * w[0];
}

void joint_same(const void *context, size_t cell, const double *w, double *x)
{
  (void)context;
  (void)cell;
  x[0] = w[0];
}

void joint_close(joint_scene *s)
{
  idm_dynamics_draws_clear(&s->draws);
  idm_iohmm_destroy(s->learner);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

idm_data *joint_other_log(const joint_scene *s)
{
  return support_simulate(s->problem, (idm_simulation){.trajectories = 30, .seed = 8, .steps = 8});
}

/* --- the grid ------------------------------------------------------------------------------- */

/* Set the probability p of a negative test in the healthy state. The caller owns *ret_dynamics. */
static void move(idm_problem *problem, double p, idm_dynamics **ret_dynamics)
{
  check(idm_problem_dynamics(problem, ret_dynamics, &support_error));
  for (size_t u = 0; u < 3; u++) {
    (*ret_dynamics)->emission[4 * u] = p;
    (*ret_dynamics)->emission[4 * u + 1] = 1 - p;
  }
  check(idm_problem_set_dynamics(problem, *ret_dynamics, &support_error));
}

static void score_column(const idm_problem *problem, const idm_data *data, const double *alpha,
                         double *decided)
{
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_matching *matching;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_matching_create(problem, data, tree, parameters, &matching, &support_error));
  for (size_t k = 0; k < JOINT_ALPHAS; k++)
    check(idm_matching_log_likelihood(matching, &alpha[k], &decided[k], NULL, &support_error));
  idm_matching_destroy(matching);
  idm_prefix_tree_destroy(tree);
  idm_parameters_destroy(parameters);
}

static idm_data *part_of(const idm_data *data, const bool *opt_member)
{
  uint32_t *from = malloc(data->trajectories * sizeof *from);
  size_t count = 0;
  idm_data *part;
  assert_non_null(from);
  for (size_t t = 0; t < data->trajectories; t++)
    if (!opt_member || opt_member[t]) from[count++] = (uint32_t)t;
  check(idm_data_subset(data, from, count, &part, &support_error));
  free(from);
  return part;
}

void joint_tabulate(const joint_scene *s, const bool *opt_member, joint_grid *grid)
{
  idm_problem *problem = support_yaml(yaml);
  idm_data *part = part_of(s->data, opt_member);
  for (size_t k = 0; k < JOINT_ALPHAS; k++)
    grid->alpha[k] = -1 + 4.0 * (double)k / (JOINT_ALPHAS - 1);
  for (size_t i = 0; i < JOINT_RATIOS; i++) {
    idm_dynamics *d;
    grid->ratio[i] = -2 + 3.0 * (double)i / (JOINT_RATIOS - 1);
    const double p = 1 / (1 + exp(-grid->ratio[i]));
    move(problem, p, &d);
    grid->observed[i] =
        textbook_expect(s->data, d, false, NULL) + s->settings.prior * (log(p) + log1p(-p));
    score_column(problem, part, grid->alpha, grid->decided[i]);
    idm_dynamics_destroy(d);
  }
  idm_data_destroy(part);
  idm_problem_destroy(problem);
}

/* --- moments -------------------------------------------------------------------------------- */

void joint_add(joint_moments *m, double weight, double x)
{
  m->weight += weight;
  m->first += weight * x;
  m->second += weight * x * x;
}

double joint_mean(const joint_moments *m)
{
  return m->first / m->weight;
}

double joint_sd(const joint_moments *m)
{
  return sqrt(m->second / m->weight - joint_mean(m) * joint_mean(m));
}

void joint_compare(const double *draw, size_t chains, size_t draws, const joint_moments *expected)
{
  idm_diagnosis d;
  check(idm_diagnose(draw, chains, draws, draws, 1, &d, &support_error));
  print_message("  mean %.4f (quadrature %.4f), sd %.4f (%.4f), R-hat %.3f, ESS %.0f\n", d.mean,
                joint_mean(expected), d.sd, joint_sd(expected), d.rhat, d.ess_bulk);
  assert_true(d.mcse_mean < 0.1 * joint_sd(expected));
  assert_true(fabs(d.mean - joint_mean(expected)) < 5 * d.mcse_mean);
  assert_true(fabs(d.sd - joint_sd(expected)) < 5 * d.mcse_sd);
}
