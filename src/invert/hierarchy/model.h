/* What all chains of a hierarchy share: the design, and the log-likelihoods of its leaves.
 *
 * A leaf is a cell of the design: trajectories that share one vector of free numbers. A source
 * gives its log-likelihood exactly, by planning, and roughly, by a table; chains move by the table
 * and accept by the exact value where the caller requires it. */
#ifndef IDM_INVERT_HIERARCHY_MODEL_H
#define IDM_INVERT_HIERARCHY_MODEL_H

#include "idm/people.h"

/* What one task evaluates leaves with. */
typedef struct leaf_lane {
  size_t chain;
  void *judge; /* of the source; NULL: it has none */
} leaf_lane;

/* Log-likelihoods of leaves. Values are a function of the leaf, the numbers and, for `exact`, at
 * most the chain: never of the thread. */
typedef struct leaf_source {
  void *context;
  /* By the table of a leaf. */
  double (*table)(const void *context, size_t leaf, const double *x);
  /* By planning; -inf where the numbers cannot be planned for. */
  idm_status (*exact)(void *context, const leaf_lane *lane, size_t leaf, const double *x,
                      double *log_likelihood, idm_error *opt_error);
  /* The same and its gradient by the numbers, where that costs little; NULL: it does not. */
  idm_status (*slope)(void *context, const leaf_lane *lane, size_t leaf, const double *x,
                      double *log_likelihood, double *gradient, idm_error *opt_error);
  /* The same of all leaves at once: x and gradient are [leaf][coordinates]. NULL: one by one. */
  idm_status (*slopes)(void *context, const leaf_lane *lane, const double *x,
                       double *log_likelihood, double *gradient, idm_error *opt_error);
  /* A judge for one task, and back; both NULL where tasks need none. */
  void *(*borrow)(void *context);
  void (*give_back)(void *context, void *judge);
  /* Replace the tables by tables over a box [coordinates]; the last ones stay where the new ones
   * would be too large or too coarse, or opt_stopped returns true. `wide`: the box is the prior's,
   * not where chains have been. *tabled: there are tables. NULL: the tables are given. */
  idm_status (*tabulate)(void *context, const double *low, const double *high, bool wide,
                         bool (*opt_stopped)(void *), void *stop_context, bool *tabled,
                         idm_error *opt_error);
  /* Where a chain starts a leaf: [coordinates]. NULL: the chain finds a mode itself. */
  const double *(*start)(const void *context, size_t leaf, size_t chain);
} leaf_source;

typedef struct hierarchy {
  const idm_design *design;
  leaf_source leaves;
  bool tabled;   /* leaves have tables */
  size_t *first; /* [people + 1]: cells of each person */
  double *gram;  /* [coefficient][coefficient]: sums over people of products of regressors */
} hierarchy;

idm_status idm_model_create(const idm_design *design, const leaf_source *leaves, bool tabled,
                            hierarchy *model, idm_error *opt_error);
void idm_model_destroy(hierarchy *model);

/* Free numbers of a cell at its person's effects: Z_c e. */
void idm_model_numbers(const idm_design *design, size_t cell, const double *e, double *x);
/* Log-likelihood of a person by the tables. */
double idm_model_rough(const hierarchy *model, size_t person, const double *e);
idm_status idm_model_exact(const hierarchy *model, const leaf_lane *lane, size_t person,
                           const double *e, double *log_likelihood, idm_error *opt_error);
/* The same of everybody, and its gradient by their effects: e and gradient are [person][effect].
 * `scratch` has room for idm_model_scratch() numbers. */
idm_status idm_model_slopes(const hierarchy *model, const leaf_lane *lane, const double *e,
                            double *log_likelihood, double *gradient, double *scratch,
                            idm_error *opt_error);
size_t idm_model_scratch(const hierarchy *model);
/* The box that holds the free numbers of everybody, wherever the prior believes them. */
void idm_model_prior_box(const hierarchy *model, double *low, double *high);

#endif
