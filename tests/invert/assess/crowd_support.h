/* Fixture: a population with its draws, and the context of its checks. */
#ifndef IDM_TESTS_CROWD_SUPPORT_H
#define IDM_TESTS_CROWD_SUPPORT_H

#include "invert/assess/residual.h"
#include "support.h"

typedef struct population {
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
  idm_people *people;
  idm_posterior *posterior;
  idm_assessment *assessment; /* of the draws alone */
  idm_fit_settings settings;
  fit_context f;
  strata strata;
  check_context q;
} population;

/* Fit the agents of a log with two chains of `draws` draws. Takes ownership of problem and data. */
void population_open(population *p, idm_problem *problem, idm_data *data, const char *free_blocks,
                     long draws);
void population_close(population *p);

/* A bandit whose arms swap with a hazard of .056, and a learner from its rewards. */
idm_problem *population_bandit(void);
/* Inverse temperature and the learning rate of gains. */
#define POPULATION_RATES                                                                           \
  "{inverse_temperature: {scale: log, prior: {normal: [1, 1]}}, "                                  \
  "learning_rate_gain: {scale: logit, prior: {normal: [0, 1]}}}"
/* `people` such learners with `trajectories` blocks of 50 choices each, of which the share `lapse`
 * is random. The log inverse temperatures are normal with sd .4 around that of the problem; the
 * logits of the learning rates are normal with sd .5 around 0. */
idm_data *population_learners(const idm_problem *problem, size_t people, size_t trajectories,
                              double lapse, uint64_t seed);

#endif
