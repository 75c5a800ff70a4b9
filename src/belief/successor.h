/* The successor operator: for each belief, action and model, the distribution of the next belief,
 * its surprise and its expected certainty (docs/method/control.md, 3 and 8).
 *
 * One sparse matrix per (tau, omega): row (u, m, z) contains p_m(x|z,u) times the interpolation
 * weights of z_m'(z,u,x). It depends on tau and omega only, so that it is built once for all values
 * of the other parameters. With a limited sensor it also depends on the capacity and on the weights
 * of the models: observations have the factor a(z,u), and the prediction has probability 1 -
 * a(z,u). */
#ifndef IDM_BELIEF_SUCCESSOR_H
#define IDM_BELIEF_SUCCESSOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/soft.h"
#include "base/vector.h"
#include "belief/belief.h"

/* Rows of one (action, model), in one of two formats.
 *
 * Sliced (any number of states): slices of IDM_LANES rows; slice i has the entries offset[i] ..
 * offset[i+1] - 1, entry j of lane l at offset[i] + j*IDM_LANES + l. Missing entries are (column 0,
 * value 0). Paired (two states, where a cell is two adjacent points): entry j of a row is at
 * row*pairs + j, refers to the points column and column + 1, and has two values. One load then
 * reads both points. */
typedef struct idm_successor_block {
  size_t pairs; /* entries per row in the paired format; 0: sliced */
  size_t rows;  /* points; 1 where every belief has the same successors; 0 for a terminal action */
  size_t slices;
  size_t *offset; /* [slices + 1] */
  uint32_t *column;
  double *value;
  double *surprise;           /* H_m(z,u): [slices * IDM_LANES] */
  double *expected_certainty; /* expected certainty of the successors: [slices * IDM_LANES]; 0 at
                                 corners */
} idm_successor_block;

typedef struct idm_successors {
  size_t actions;
  size_t models;
  size_t slices;              /* number of slices of all points */
  idm_successor_block *block; /* [action][model] */
} idm_successors;

/* Certainty of a belief in its likeliest state: a threshold on its probability, or a linear ramp of
 * a given width around it. */
typedef struct idm_certainty {
  double threshold;
  double width; /* 0: a step at the threshold */
} idm_certainty;

/* Inputs of the operator. */
typedef struct idm_successor_request {
  idm_sizes sizes;
  size_t models;
  const double *transition;          /* [model][action][s][s'] */
  const double *emission;            /* [model][action][emitter][x] */
  bool before;                       /* the emitter is the state acted in */
  const idm_sparse_rows *opt_sparse; /* replaces both where states are observed; else NULL */
  idm_update update;                 /* weights of prior and evidence in the update */
  const idm_sensor
      *opt_sensor;      /* limited sensor with the same dynamics; NULL: everything is perceived */
  const bool *terminal; /* [action] */
  const double *belief_prior; /* Dirichlet concentrations [s]; of observed states, weights; NULL: a
                                 constant 1 */
  bool merge_surprise;        /* observations with the same successor belief have one surprise */
  idm_certainty certainty;
} idm_successor_request;

/* Upper bound of the operator's memory in bytes for `points` points, exact up to merged entries;
 * INFINITY where memory runs out. */
double idm_successors_bytes(const idm_successor_request *request, size_t points, bool corners);
idm_status idm_successors_create(const idm_lattice *lattice, const idm_successor_request *request,
                                 idm_successors **ret_successors, idm_error *opt_error);
void idm_successors_destroy(idm_successors *successors);

/* Groups of observations with the same successor belief at every z: group[x] is the first
 * observation of x's group, -1 where x is impossible. Observations are in one group where their
 * emission columns are proportional; where the emitter is the state acted in, proportional between
 * states with different transitions; and where evidence has weight 0, where they are possible in
 * the same states. */
void idm_observation_groups(const idm_action_model *action_model, int *group);
/* The first observation whose posterior equals the prediction at every z; -1: there is none. */
int idm_observation_uninformative(const idm_action_model *action_model, const int *group);
/* Posterior belief of a group of observations, computed from its first possible member. Returns
 * false, with `posterior` unchanged, where none is possible. */
bool idm_group_correct(const idm_action_model *action_model, const int *group, size_t leader,
                       const double *emitter, double *posterior);
/* Certainty of a belief, from 0 to 1, and its derivative with respect to the probability of its
 * likeliest state. */
typedef struct idm_certainty_degree {
  double share;
  double derivative;
  size_t state;
} idm_certainty_degree;

IDM_INLINE idm_certainty_degree idm_belief_certainty(idm_certainty certainty, size_t states,
                                                     const double *z)
{
  idm_certainty_degree is = {0, 0, 0};
  for (size_t s = 1; s < states; s++)
    if (z[s] > z[is.state]) is.state = s;
  const double excess = z[is.state] - certainty.threshold;
  if (!(2 * fabs(excess) < certainty.width)) {
    is.share =
        excess > IDM_TIE; /* at the threshold the belief is not certain, whatever the rounding */
    return is;
  }
  is.derivative = 1 / certainty.width;
  is.share = 0.5 + excess * is.derivative;
  return is;
}
/* Logarithm of the normalising constant of a Dirichlet density; 0 without a prior. It is the same
 * at all beliefs. */
double idm_belief_prior_constant(size_t states, const double *opt_concentration);
/* Logarithm of the Dirichlet density with that constant at (z + 1/2r)/(1 + k/2r), which is finite
 * at corners; 0 without a prior. */
double idm_belief_prior_log(size_t states, const double *opt_concentration, double constant,
                            int resolution, const double *z);
/* derivative[state] += factor times the derivative of that with respect to the concentrations. */
void idm_belief_prior_gradient(size_t states, const double *concentration, int resolution,
                               const double *z, double factor, double *derivative);
/* The same where states are observed: logarithm of the share of a state's weight, and its
 * derivative with respect to the weights. */
double idm_state_prior_log(size_t states, const double *opt_weight, size_t state);
void idm_state_prior_gradient(size_t states, const double *weight, size_t state, double factor,
                              double *derivative);

/* Two adjacent numbers. */
typedef double idm_pair __attribute__((vector_size(16)));

IDM_INLINE idm_pair idm_load_pair(const double *at)
{
  idm_pair pair;
  memcpy(&pair, at, sizeof pair);
  return pair;
}

/* Product of one row in the paired format with v. */
IDM_INLINE double idm_successor_paired(const idm_successor_block *block, size_t pairs, size_t row,
                                       const double *v)
{
  const uint32_t *column = block->column + row * pairs;
  const double *value = block->value + 2 * row * pairs;
  idm_pair sum = {0, 0};
  for (size_t j = 0; j < pairs; j++)
    sum += idm_load_pair(value + 2 * j) * idm_load_pair(v + column[j]);
  return sum[0] + sum[1];
}

/* out[l] = sum_j value * v[column] for the lanes of one slice. */
IDM_INLINE void idm_successor_expect(const idm_successor_block *block, size_t slice,
                                     const double *restrict v, double *restrict out)
{
  const size_t first = slice * IDM_LANES;
  if (block->pairs) {
    const size_t lanes = block->rows - first < IDM_LANES ? block->rows - first : IDM_LANES;
    if (block->pairs == 2) /* a binary test: the constant lets the compiler unroll the loop */
      for (size_t l = 0; l < lanes; l++) out[l] = idm_successor_paired(block, 2, first + l, v);
    else
      for (size_t l = 0; l < lanes; l++)
        out[l] = idm_successor_paired(block, block->pairs, first + l, v);
    for (size_t l = lanes; l < IDM_LANES; l++) out[l] = 0;
    return;
  }
  double sum[IDM_LANES] = {0};
  const size_t end = block->offset[slice + 1];
  for (size_t at = block->offset[slice]; at < end; at += IDM_LANES) {
    const uint32_t *restrict column = block->column + at;
    const double *restrict value = block->value + at;
    for (int l = 0; l < IDM_LANES; l++) sum[l] += value[l] * v[column[l]];
  }
  for (int l = 0; l < IDM_LANES; l++) out[l] = sum[l];
}

/* Product of one row with v. */
double idm_successor_row(const idm_successor_block *block, size_t row, const double *v);
/* to[column] += scale * value over one row: the transposed product. */
void idm_successor_scatter(const idm_successor_block *block, size_t row, double scale, double *to);

#endif
