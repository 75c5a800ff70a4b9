/* How an agent takes up what it sees, and whether that or its models are free. Inline, because
 * recognition spends its time here. */
#ifndef IDM_PLAN_UPDATE_H
#define IDM_PLAN_UPDATE_H

#include "belief/filter.h"
#include "idm/theta.h"

static inline idm_update idm_update_of(const idm_theta *theta)
{
  const double prior = theta->block[IDM_PRIOR_WEIGHT].value[0];
  const double evidence = theta->block[IDM_EVIDENCE_WEIGHT].value[0];
  return (idm_update){prior != 1 || evidence != 1, prior, evidence};
}

/* Whether derivatives by what makes beliefs are wanted: the models' dynamics, and how they are
 * taken up. */
static inline bool idm_update_is_free(const idm_theta *theta)
{
  static const idm_block_id makes[] = {IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT,
                                       IDM_EVIDENCE_WEIGHT};
  for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
    if (theta->block[makes[i]].role == IDM_DESCRIPTIVE) return true;
  return false;
}

#endif
