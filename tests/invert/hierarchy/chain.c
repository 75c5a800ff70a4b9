/* Tests a chain's log density against a separate computation, and its sweeps, without a table and
 * with a wrong one, against quadrature. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "invert/people/people_support.h"
#include "invert/people/reference_support.h"

static const double log_two_pi = 1.8378770664093454836;

/* Log density of two effects under normal(mean, Sigma), by the inverse and the determinant. */
static double log_normal(const double *x, const double *mean, const double *sd, double correlation)
{
  const double a = (x[0] - mean[0]) / sd[0], b = (x[1] - mean[1]) / sd[1];
  const double left = 1 - correlation * correlation;
  return -0.5 * (a * a + b * b - 2 * correlation * a * b) / left - log(sd[0]) - log(sd[1]) -
         0.5 * log(left) - log_two_pi;
}

static double log_prior(const idm_design *d, const double *b, const double *sd, double correlation)
{
  double sum = log(0.75 * (1 - correlation * correlation)); /* LKJ(2) in two dimensions */
  for (size_t j = 0; j < 2; j++) {
    for (size_t a = 0; a < 2; a++) {
      const double t = (b[2 * j + a] - d->coefficient_mean[j][a]) / d->coefficient_sd[j][a];
      sum -= 0.5 * t * t + log(d->coefficient_sd[j][a]) + 0.5 * log_two_pi;
    }
    const double t = sd[j] / d->sd_scale[j];
    sum += log(2) - 0.5 * t * t - log(d->sd_scale[j]) - 0.5 * log_two_pi;
  }
  return sum;
}

/* For every draw of a fit: likelihoods from a new plan for each person, densities by formula. */
static void log_posterior_is_plain(void **state)
{
  (void)state;
  enum { people = 5, draws = 4 };
  idm_problem *problem = support_people_diag("alpha,beta");
  const double x[2 * people] = {0, 0.3, -1, 0.5, 0.5, -0.2, -0.3, 0, 0.2, 0.2};
  idm_data *data = support_people(problem, people, x, 15, 3);
  idm_design *design = support_design(data, 2, 1, (const double[]){0, 0}, (const double[]){1, 1});
  for (size_t i = 0; i < people; i++)
    design->regressor[0][2 * i + 1] = design->regressor[1][2 * i + 1] = (double)i - 2;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = draws;
  settings.warmup = 20;
  idm_people *p;
  idm_parameters *parameters;
  check(idm_people_fit(problem, data, design, &settings, NULL, &p, NULL, &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  const size_t n = p->chains * p->draws;
  for (size_t s = 0; s < n; s++) {
    double b[4], sd[2], agents[people];
    for (size_t a = 0; a < 4; a++) b[a] = p->coefficient[a * n + s];
    for (size_t j = 0; j < 2; j++) sd[j] = p->sd[j * n + s];
    double sum = log_prior(design, b, sd, p->correlation[s]);
    for (size_t i = 0; i < people; i++) {
      const double w = (double)i - 2, mean[] = {b[0] + w * b[1], b[2] + w * b[3]};
      const double e[] = {p->effect[i * n + s], p->effect[(people + i) * n + s]};
      idm_parameters_set(parameters, e, problem->theta);
      idm_workspace *workspace = support_plan(problem, NULL);
      support_scored scored = support_open_score(workspace, data);
      idm_scorer_agents(scored.scorer, agents);
      assert_near(p->log_likelihood[i * n + s], agents[i], 1e-6);
      sum += agents[i] + log_normal(e, mean, sd, p->correlation[s]);
      support_close_score(&scored);
      idm_workspace_destroy(workspace);
    }
    assert_near(p->log_posterior[s], sum, 1e-6);
  }
  idm_parameters_destroy(parameters);
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Checks that draws have the mean and sd of the reference, within 4.5 standard errors. */
static void agrees(const double *x, size_t draws, const reference_law *law)
{
  idm_diagnosis d;
  check(idm_diagnose(x, 1, draws, draws, 1, &d, &support_error));
  print_message("  %.4f (%.4f), exactly %.4f (%.4f); ESS %.0f\n", d.mean, d.sd, reference_mean(law),
                reference_sd(law), d.ess_bulk);
  assert_true(fabs(d.mean - reference_mean(law)) < 4.5 * d.mcse_mean);
  assert_true(fabs(d.sd - reference_sd(law)) < 4.5 * d.mcse_sd);
}

enum { PEOPLE = 5 };
static const double truth[PEOPLE] = {0, -0.8, 0.5, -0.3, 0.2};

/* A wrong table: linear interpolation of the likelihood at few points from -6 to 4, plus a sine. */
enum { POINTS = 26 };
static double table[PEOPLE][POINTS];
static double point(size_t i)
{
  return -6 + 10.0 * (double)i / (POINTS - 1);
}

static void tabulate(const hierarchy *model, const leaf_worker *worker)
{
  for (size_t i = 0; i < PEOPLE; i++)
    for (size_t k = 0; k < POINTS; k++)
      check(idm_hierarchy_exact(model, worker, i, (const double[]){point(k)}, &table[i][k],
                                &support_error));
}

static double wrong_table(const void *context, size_t leaf, const double *x)
{
  (void)context;
  const double at = fmin(fmax((x[0] + 6) / 10 * (POINTS - 1), 0), POINTS - 1.001);
  const size_t k = (size_t)at;
  const double share = at - (double)k;
  return (1 - share) * table[leaf][k] + share * table[leaf][k + 1] + 0.4 * sin(3 * x[0]);
}

static void sweep(hierarchy_chain *chain, const leaf_worker *worker)
{
  if (chain->model->has_tables) {
    check(idm_chain_delayed_sweep(chain, worker, &support_error));
  } else {
    check(idm_chain_update_people(chain, worker, 0, PEOPLE, &support_error));
    idm_chain_propose(chain);
    check(idm_chain_evaluate_exact(chain, worker, 0, PEOPLE, &support_error));
    idm_chain_accept_reject(chain);
  }
  idm_chain_accumulate(chain);
}

static void agree_with_quadrature(bool has_tables, size_t draws)
{
  enum { warmup = 300 };
  idm_problem *problem = support_people_diag("alpha");
  idm_data *data = support_people(problem, PEOPLE, truth, 20, 3);
  idm_design *design = support_design(data, 1, 0, (const double[]){0}, (const double[]){1});
  reference exact;
  reference_make(problem, data, design, &exact);
  idm_parameters *parameters;
  shared_leaves shared = {.threads = 1};
  hierarchy model;
  hierarchy_chain chain;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_cells_create(problem, data, design, parameters, 1, &shared.cells, &support_error));
  leaf_source leaves = idm_shared_source(&shared);
  leaves.table = wrong_table;
  check(idm_hierarchy_create(design, &leaves, false, &model, &support_error));
  check(idm_cells_anchor(shared.cells, (const double[]){-2}, (const double[]){2}, &support_error));
  check(idm_chain_create(&model, 7, 0, &chain, &support_error));
  const leaf_worker worker = {0, idm_cells_acquire(shared.cells)};
  check(idm_chain_find_modes(&chain, &worker, 0, PEOPLE, &support_error));
  check(idm_chain_disperse(&chain, &worker, 0, PEOPLE, &support_error));
  idm_chain_adapt_steps(&chain);
  if (has_tables) tabulate(&model, &worker);
  model.has_tables = has_tables;
  check(idm_chain_evaluate(&chain, &worker, 0, PEOPLE, &support_error));
  double *kept = idm_new(3 * draws, sizeof *kept);
  for (size_t t = 0; t < warmup + draws; t++) {
    chain.adapting = t < warmup;
    sweep(&chain, &worker);
    if (t < warmup) continue;
    kept[t - warmup] = chain.current.population.b[0];
    kept[draws + t - warmup] = fabs(chain.current.population.root[0]);
    kept[2 * draws + t - warmup] = chain.current.e[0];
  }
  print_message("  accepted %ld of %ld\n", chain.kept, chain.proposed);
  assert_true(chain.kept > chain.proposed / 10);
  agrees(kept, draws, &exact.mean);
  agrees(kept + draws, draws, &exact.sd);
  agrees(kept + 2 * draws, draws, &exact.person);
  free(kept);
  idm_cells_release(shared.cells, worker.evaluator);
  idm_chain_destroy(&chain);
  idm_hierarchy_destroy(&model);
  idm_shared_destroy(&shared);
  idm_parameters_destroy(parameters);
  reference_free(&exact);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void chains_without_a_table_agree_with_quadrature(void **state)
{
  (void)state;
  agree_with_quadrature(false, 3000);
}

static void chains_by_a_wrong_table_agree_with_quadrature(void **state)
{
  (void)state;
  agree_with_quadrature(true, 20000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(log_posterior_is_plain),
      cmocka_unit_test(chains_without_a_table_agree_with_quadrature),
      cmocka_unit_test(chains_by_a_wrong_table_agree_with_quadrature)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
