/* Dynamics of an agent as one sparse kernel: p(s', o | s, u), where an outcome o is an observation
 * under one of its models, weighted by how far it trusts that model. With beta = inf this is all
 * that planning needs, whatever the models, and whenever the observation is emitted. */
#ifndef IDM_PLAN_POINT_KERNEL_H
#define IDM_PLAN_POINT_KERNEL_H

#include <stdint.h>

#include "idm/theta.h"

/* Pairs (outcome, s') that an action can lead to are its cells, outcome by outcome. */
typedef struct kernel {
  size_t states;
  size_t actions;
  size_t *outcome;     /* [action + 1]: first outcome; those that cannot happen are left out */
  size_t *cell;        /* [outcome + 1]: first cell */
  uint32_t *state;     /* [cell]: s' */
  size_t *entry;       /* [action][state], and one more: first entry of the row of (u, s) */
  uint32_t *at;        /* [entry]: cell, counted from the first of its action */
  double *value;       /* [entry]: p(s', o | s, u) */
  size_t max_cells;    /* most cells of an action */
  size_t max_outcomes; /* most outcomes of an action */
} kernel;

/* Build it for a problem that is not fully observed; of a terminal action, after which nothing
 * comes, the rows are empty. */
idm_status idm_kernel_create(const idm_setting *setting, const idm_theta *theta,
                             kernel **ret_kernel, idm_error *opt_error);
void idm_kernel_destroy(kernel *k);
/* Most cells that any kernel of a problem of this form can have an action. */
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
