/* Tests Hamiltonian updates: gradients against finite differences, and draws against those of the
 * Metropolis updates of a chain. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/chains.h"
#include "invert/hierarchy/table_support.h"

static const leaf_worker worker = {0};

static void open_chain(hierarchy *model, hierarchy_chain *chain, uint64_t seed)
{
  table_open_slopes(model);
  check(idm_chain_create(model, seed, 0, chain, &support_error));
  assert_non_null(chain->hmc);
  check(idm_chain_find_modes(chain, &worker, 0, TABLE_PEOPLE, &support_error));
  check(idm_chain_disperse(chain, &worker, 0, TABLE_PEOPLE, &support_error));
  idm_chain_adapt_steps(chain);
  check(idm_chain_evaluate(chain, &worker, 0, TABLE_PEOPLE, &support_error));
}

static void close_chain(hierarchy *model, hierarchy_chain *chain)
{
  idm_chain_destroy(chain);
  idm_hierarchy_destroy(model);
}

/* The position equals the current state of the chain; there and elsewhere every derivative equals a
 * central difference. */
static void slopes_are_differences(void **state)
{
  (void)state;
  static const double step = 1e-5;
  hierarchy model;
  hierarchy_chain chain;
  open_chain(&model, &chain, 3);
  hierarchy_hmc *m = chain.hmc;
  double *gradient = malloc(m->dimension * sizeof *gradient);
  assert_non_null(gradient);
  for (int k = 0; k < 3; k++) {
    double value, side[2];
    idm_hmc_set_position(&chain);
    check(idm_hmc_evaluate(&chain, &worker, &chain.proposal, &value, &support_error));
    for (size_t i = 0; k == 0 && i < TABLE_PEOPLE * TABLE_EFFECTS; i++)
      assert_near(chain.proposal.e[i], chain.current.e[i], 1e-12);
    for (size_t i = 0; i < m->dimension; i++) m->position[i] += k * (0.3 - 0.1 * (double)(i % 7));
    check(idm_hmc_evaluate(&chain, &worker, &chain.proposal, &value, &support_error));
    memcpy(gradient, m->gradient, m->dimension * sizeof *gradient);
    for (size_t i = 0; i < m->dimension; i++) {
      for (int way = 0; way < 2; way++) {
        const double before = m->position[i];
        m->position[i] += way ? step : -step;
        check(idm_hmc_evaluate(&chain, &worker, &chain.proposal, &side[way], &support_error));
        m->position[i] = before;
      }
      assert_near(gradient[i], (side[1] - side[0]) / (2 * step), 1e-6 * (1 + fabs(gradient[i])));
    }
  }
  free(gradient);
  close_chain(&model, &chain);
}

enum { SWEEPS = 24000, KEPT = 9 };

/* Coefficients, sds, a correlation and an effect after every sweep of one kind of update. */
static void run(hierarchy_chain *c, bool hmc, double *kept)
{
  for (int t = 0; t < SWEEPS / 10 + SWEEPS; t++) {
    c->adapting = t < SWEEPS / 10;
    if (hmc) {
      check(idm_hmc_update(c, &worker, &support_error));
    } else {
      check(idm_chain_update_people(c, &worker, 0, TABLE_PEOPLE, &support_error));
      idm_chain_propose(c);
      check(idm_chain_evaluate_exact(c, &worker, 0, TABLE_PEOPLE, &support_error));
      idm_chain_accept_reject(c);
    }
    idm_chain_accumulate(c);
    if (c->adapting) continue;
    const population *p = &c->current.population;
    double correlation[3];
    idm_population_correlations(p, correlation);
    const double current[KEPT] = {p->b[0],          p->b[1],          p->b[2],
                                  p->b[3],          fabs(p->root[0]), fabs(p->root[1]),
                                  fabs(p->root[2]), correlation[1],   c->current.e[4]};
    for (size_t k = 0; k < KEPT; k++) kept[k * SWEEPS + (size_t)(t - SWEEPS / 10)] = current[k];
  }
}

/* Nine means and nine sds are within 4.5 standard errors: a false alarm has probability 1/8,000. */
static void moves_leave_the_posterior_alone(void **state)
{
  (void)state;
  hierarchy model[2];
  hierarchy_chain chain[2];
  double *kept[2];
  for (int k = 0; k < 2; k++) {
    kept[k] = malloc(KEPT * SWEEPS * sizeof **kept);
    assert_non_null(kept[k]);
    open_chain(&model[k], &chain[k], 7);
    run(&chain[k], k == 0, kept[k]);
  }
  assert_true((double)chain[0].kept > 0.6 * (double)chain[0].proposed);
  for (size_t i = 0; i < KEPT; i++) {
    idm_diagnosis d[2];
    for (int k = 0; k < 2; k++)
      check(idm_diagnose(kept[k] + i * SWEEPS, 1, SWEEPS, SWEEPS, 1, &d[k], &support_error));
    print_message("  %.3f (%.3f) and %.3f (%.3f); ESS %.0f and %.0f\n", d[0].mean, d[0].sd,
                  d[1].mean, d[1].sd, d[0].ess_bulk, d[1].ess_bulk);
    assert_true(fabs(d[0].mean - d[1].mean) < 4.5 * hypot(d[0].mcse_mean, d[1].mcse_mean));
    assert_true(fabs(d[0].sd - d[1].sd) < 4.5 * hypot(d[0].mcse_sd, d[1].mcse_sd));
  }
  for (int k = 0; k < 2; k++) {
    free(kept[k]);
    close_chain(&model[k], &chain[k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_are_differences),
                                     cmocka_unit_test(moves_leave_the_posterior_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
