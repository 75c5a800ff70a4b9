/* A made-up posterior for tests of runs. */
#ifndef IDM_TESTS_TEST_RUN_H
#define IDM_TESTS_TEST_RUN_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/folder_support.h"
#include "support.h"

static inline double *random_numbers(idm_random *random, size_t count)
{
  double *x = malloc((count ? count : 1) * sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < count; i++) x[i] = 4 * idm_random_uniform(random) - 2;
  return x;
}

/* Chains of uniform numbers for the names given. As NUTS leaves them, or with `plain` as a random
 * walk does: no step size, tree or energy. */
static inline idm_posterior *made_up(size_t chains, size_t draws, const char *const *name,
                                     size_t names, bool plain)
{
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  idm_random random;
  idm_random_init(&random, 7, 0);
  *p = (idm_posterior){.answer = IDM_POSTERIOR,
                       .inverse = "bayes",
                       .seed = UINT64_MAX - 4,
                       .request = UINT64_C(0x0fedcba987654321)};
  strcpy(p->sampler, plain ? "metropolis" : "nuts");
  p->warmup = 500;
  p->chains = chains;
  p->draws = draws;
  support_names(&p->quantity, name, names);
  support_names(&p->coordinate, name, names);
  p->summarised = calloc(names, sizeof *p->summarised);
  p->statistics = calloc(chains * draws, sizeof *p->statistics);
  assert_non_null(p->summarised);
  assert_non_null(p->statistics);
  for (size_t i = 0; i < names; i++) p->summarised[i] = i % 2 == 0;
  p->value = random_numbers(&random, names * chains * draws);
  p->unconstrained = random_numbers(&random, names * chains * draws);
  for (size_t i = 0; i < chains * draws; i++)
    p->statistics[i] = (idm_statistics){.log_density = -10 * idm_random_uniform(&random),
                                        .acceptance = idm_random_uniform(&random),
                                        .step_size = plain ? NAN : idm_random_uniform(&random),
                                        .energy = plain || i == 1 ? NAN : (double)i + 0.5,
                                        .tree_depth = plain ? -1 : (int)(i % 5),
                                        .evaluations = (long)(3 * i + 1),
                                        .diverging = i % 3 == 2};
  return p;
}

static inline void add_log_likelihood(idm_posterior *p, const char *const *unit, size_t units,
                                      bool by_decision)
{
  idm_random random;
  idm_random_init(&random, 8, 0);
  support_names(&p->unit, unit, units);
  p->by_decision = by_decision;
  p->log_likelihood = random_numbers(&random, p->chains * p->draws * units);
}

static inline void add_prior(idm_posterior *p, size_t draws)
{
  idm_random random;
  idm_random_init(&random, 9, 0);
  p->prior_draws = draws;
  p->prior = random_numbers(&random, p->quantity.count * draws);
}

#endif
