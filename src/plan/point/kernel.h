/* Dynamics of an agent as one sparse kernel p(s', o | s, u). An outcome o is an observation under
 * one of the agent's models, weighted by the prior of that model. With beta = inf the kernel is
 * sufficient for planning, for any number of models, and for observations emitted before or after
 * the transition. */
#ifndef IDM_PLAN_POINT_KERNEL_H
#define IDM_PLAN_POINT_KERNEL_H

#include <stdint.h>

#include "idm/extension/theta.h"

/* A cell is a pair (outcome, s') that an action can lead to; cells are ordered by outcome. */
typedef struct kernel {
  size_t states;
  size_t actions;
  size_t *outcome;     /* [action + 1]: first outcome; impossible ones are omitted */
  size_t *cell;        /* [outcome + 1]: first cell */
  uint32_t *state;     /* [cell]: s' */
  size_t *entry;       /* [action * states + 1]: first entry of the row of (u, s) */
  uint32_t *at;        /* [entry]: cell, relative to the first of its action */
  double *value;       /* [entry]: p(s', o | s, u) */
  size_t max_cells;    /* maximum cells of an action */
  size_t max_outcomes; /* maximum outcomes of an action */
} kernel;

/* Creates the kernel of a problem that is not fully observed. The rows of a terminal action, which
 * has no successors, are empty. */
idm_status idm_kernel_create(const idm_setting *setting, const idm_theta *theta,
                             kernel **ret_kernel, idm_error *opt_error);
void idm_kernel_destroy(kernel *k);
/* Maximum cells of an action, over all kernels of a problem of this form. */
size_t idm_kernel_max_cells(const idm_theta *theta);

static inline size_t kernel_outcomes(const kernel *k, size_t action)
{
  return k->outcome[action + 1] - k->outcome[action];
}

static inline size_t kernel_first_cell(const kernel *k, size_t action)
{
  return k->cell[k->outcome[action]];
}

static inline size_t kernel_cells(const kernel *k, size_t action)
{
  return k->cell[k->outcome[action + 1]] - kernel_first_cell(k, action);
}

#endif
