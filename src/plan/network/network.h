/* Networks: affine maps, a long short-term memory, policies that are a softmax of scores, and
 * value iteration networks.
 *
 * Contents: linear · lstm · softmax · recurrent · tree chunks · value iteration network · value
 * iteration sweep */
#ifndef IDM_PLAN_NETWORK_NETWORK_H
#define IDM_PLAN_NETWORK_NETWORK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"
#include "idm/extension/random.h"
#include "plan/choice.h"

/* === linear ================================================================================= */

/* Affine maps of small vectors, and their reverse-mode derivatives. */

/* Number of weights of a map, including one constant per row. */
static inline size_t idm_linear_count(size_t rows, size_t columns)
{
  return rows * (columns + 1);
}

/* Initial weights: normal with variance 1/columns; constants 0. */
static inline void idm_linear_init(size_t rows, size_t columns, idm_random *random, double *w)
{
  for (size_t i = 0; i < rows; i++) {
    w[i * (columns + 1)] = 0;
    for (size_t j = 0; j < columns; j++)
      w[i * (columns + 1) + j + 1] = idm_random_normal(random) / sqrt((double)columns);
  }
}

/* y[rows] = w x; row i of w is a constant, then the coefficients of x. */
static inline void idm_linear(size_t rows, size_t columns, const double *w, const double *x,
                              double *y)
{
  for (size_t i = 0; i < rows; i++) {
    const double *row = w + i * (columns + 1);
    y[i] = row[0];
    for (size_t j = 0; j < columns; j++) y[i] += row[j + 1] * x[j];
  }
}

/* Backward pass: adds to by_w the derivatives with respect to w, and to opt_by_x those with respect
 * to x, given by_y, those with respect to y. */
static inline void idm_linear_backward(size_t rows, size_t columns, const double *w,
                                       const double *x, const double *by_y, double *by_w,
                                       double *opt_by_x)
{
  for (size_t i = 0; i < rows; i++) {
    const double *row = w + i * (columns + 1);
    double *derivative = by_w + i * (columns + 1);
    derivative[0] += by_y[i];
    for (size_t j = 0; j < columns; j++) derivative[j + 1] += by_y[i] * x[j];
    for (size_t j = 0; opt_by_x && j < columns; j++) opt_by_x[j] += by_y[i] * row[j + 1];
  }
}

/* === lstm =================================================================================== */

/* Long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates) and two layers that
 * map it to scores of actions, for many histories at once (docs/method/learners.md, 3).
 *
 *   i, f, o = logistic, g = tanh of (constant + row of the action + row of the observation + h R)
 *   c' = f c + i g,  h' = o tanh(c')
 *   scores = constant + tanh(constant + h' first) second
 *
 * A missing input (the action before the first, an observation that was not recorded) adds no row.
 * Weights are in one array: constants of the gates, rows of actions, rows of observations, R, then
 * for each layer its constants and its matrix. Gates are i, f, g, o, `units` numbers each. */

/* Sizes, and offsets in the array of weights. */
typedef struct lstm_layout {
  size_t actions;
  size_t observations;
  size_t units;
  size_t layer;
  size_t action;      /* rows [action][4 units] */
  size_t observation; /* rows [observation][4 units] */
  size_t recurrent;   /* R [units][4 units] */
  size_t first;       /* [layer], then [units][layer] */
  size_t second;      /* [action], then [layer][action] */
  size_t count;
} lstm_layout;

lstm_layout idm_lstm_layout(size_t actions, size_t observations, size_t units, size_t layer);
/* Initial weights: normal with variance 1 over the number of inputs (R and the layers) or 1/2 (rows
 * of actions and observations); constants 0, those of forget gates 1. */
void idm_lstm_init(const lstm_layout *plan, idm_random *random, double *weights);

/* Weights, and the transposes for the reverse mode. */
typedef struct lstm {
  lstm_layout plan;
  double *weights;    /* [count] */
  double *transposed; /* of R, the first matrix and the second matrix, in this order */
} lstm;

/* Computes the transposes of the current weights. */
void idm_lstm_transpose(lstm *l);

/* Inputs of a step; -1: missing. */
typedef struct lstm_input {
  int32_t action;
  int32_t observation;
} lstm_input;

/* One step of n memories h, c [n][units]; gates [n][4 units] are kept for the backward pass. */
void idm_lstm_step(const lstm *l, size_t n, const lstm_input *input, const double *h,
                   const double *c, double *gates, double *next_c, double *next_h);
/* Scores [n][actions] of n memories; the layer's units [n][layer] are kept for the backward pass.
 */
void idm_lstm_score(const lstm *l, size_t n, const double *h, double *layer, double *score);

/* Backward pass of scores: adds derivatives with respect to the weights, and with respect to h to
 * by_h [n][units]. by_layer [n][layer] is scratch. */
void idm_lstm_score_backward(const lstm *l, size_t n, const double *h, const double *layer,
                             const double *by_score, double *by_layer, double *by_weights,
                             double *by_h);
/* Backward pass of a step. by_h and by_c are the derivatives with respect to h and c after it;
 * by_h_before and by_c_before [n][units] receive those before it. Derivatives with respect to the
 * weights are added. `gates` is overwritten. */
void idm_lstm_step_backward(const lstm *l, size_t n, const lstm_input *input, const double *h,
                            const double *c, const double *next_c, double *gates,
                            const double *by_h, const double *by_c, double *by_weights,
                            double *by_h_before, double *by_c_before);

/* === softmax ================================================================================ */

/* Policies that are a softmax of scores of the belief, for any scores: shared by planners that do
 * not plan. */

typedef struct softmax softmax;

/* Scores of the actions of a planner. */
typedef struct softmax_scores {
  const size_t *block; /* [blocks]: blocks of theta that contain its numbers */
  size_t blocks;
  bool prior; /* pi ~ pi~ exp(score), else pi ~ exp(score) */
  /* Computes score[action] at belief z; leaves intermediate values in hidden[softmax.hidden] for
   * `backward`. */
  void (*score)(const softmax *s, const double *z, double *hidden, double *score);
  /* Backward pass, given the derivatives with respect to the scores: adds those with respect to
   * every number to by_number, and with respect to z to opt_by_belief. `hidden` is overwritten. */
  void (*backward)(const softmax *s, const double *z, double *hidden, const double *by_score,
                   double *by_number, double *opt_by_belief);
} softmax_scores;

struct softmax {
  const softmax_scores *scores;
  idm_sizes sizes;
  size_t models;
  size_t count;       /* numbers of all blocks */
  size_t hidden;      /* intermediate values between belief and scores */
  size_t width;       /* of a hidden layer, if the planner has one */
  double temperature; /* 1; 0: the action with the largest score is taken */
  double *number;     /* [count], block after block */
  double *action_prior;
  double *model_prior;
};

/* Creates a content with these scores, at temperature 1. */
idm_status idm_softmax_create(const softmax_scores *scores, const idm_theta *theta, size_t hidden,
                              size_t width, void **ret_content, idm_error *opt_error);
/* Operations of a planner with this content. */
idm_status idm_softmax_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error);
void idm_softmax_destroy(void *content);
extern const idm_belief_ops idm_softmax_belief;

/* === recurrent ============================================================================== */

/* The planner `recurrent`: a network with a memory of the trajectory. */

typedef struct recurrent {
  const idm_setting *setting; /* borrowed */
  lstm net;
  choice_bias choice_biases;
} recurrent;

/* Input at the start of a trajectory: the state, if it is observed and known. */
static inline lstm_input idm_recurrent_begin(const recurrent *r, const double *opt_start)
{
  const double *start = opt_start ? opt_start : r->setting->start;
  const size_t states = r->setting->states.count;
  size_t s = 0;
  while (s < states && start[s] != 1) s++;
  const bool known = r->setting->fully_observed && s < states;
  return (lstm_input){-1, known ? (int32_t)s : -1};
}

/* === tree chunks ============================================================================ */

/* A tree of histories split into chunks, each ordered by depth. A network with a memory processes a
 * chunk level by level, so that memory is proportional to the chunk and not to the tree.
 *
 * A chunk is a range of the tree's nodes with all their ancestors. Its places are the nodes that
 * others follow, with one memory each. */

typedef struct chunk_node {
  uint32_t node;
  uint32_t before; /* place of its parent; its own at a beginning */
} chunk_node;

/* A choice. */
typedef struct chunk_row {
  uint32_t node;
  uint32_t place; /* place whose memory it depends on */
} chunk_row;

typedef struct tree_chunk {
  size_t node_count;
  chunk_node *place; /* [node_count], by depth */
  size_t levels;
  uint32_t *level; /* [levels + 1]: places of level i are level[i] .. level[i + 1] - 1 */
  size_t rows;
  chunk_row *row; /* [rows] */
} tree_chunk;

typedef struct tree_chunks {
  size_t count;
  size_t max_nodes; /* places of the largest */
  tree_chunk *tree_chunk;
} tree_chunks;

/* Splits a tree into chunks of about `max_chunk_nodes` places, or of twice the depth of the tree if
 * that is more: the ancestors of a range are processed once per chunk. */
idm_status idm_tree_chunks_create(const idm_prefix_tree *tree, size_t max_chunk_nodes,
                                  tree_chunks **ret_chunks, idm_error *opt_error);
void idm_tree_chunks_destroy(tree_chunks *s);

/* === value iteration network ================================================================ */

/* The planner `value-iteration-network`: a fixed number of sweeps of soft value iteration, each
 * with its own weights (docs/method/learners.md, 3).
 *
 *   V_0 = 0;  Q_k = a_k u + b_k gamma P V_(k-1);
 *   V_k = c_k alpha log sum pi~ exp(Q_k / (c_k alpha))
 *
 * for k = 1 .. sweeps, with P the mean of the models' transitions. The policy is pi ~ pi~ exp(Q /
 * (c alpha)), with Q and c of the last sweep; at a belief, with the mean of Q. With a = b = c = 1
 * this is planning over `sweeps` steps. */

/* Weights of a sweep, in the order of its block. */
enum { SWEEP_UTILITY, SWEEP_FUTURE, SWEEP_TEMPERATURE, SWEEP_WEIGHTS };

typedef struct value_iteration {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  size_t sweeps;
  bool free_dynamics; /* derivatives with respect to the dynamics are required */
  double discount;
  double alpha;
  double *weight;       /* [sweep][SWEEP_WEIGHTS] */
  double *utility;      /* [variant][action][state] */
  double *action_prior; /* [action] */
  double *model_prior;  /* [model] */
  double *dynamics; /* [model][action][state][next]: of the models; NULL if the setting has sparse
                       transitions */
  const idm_sparse_rows *moves; /* P: that of the setting, or `mean` */
  idm_sparse_rows *mean;        /* mean of the models' transitions, or NULL */
  double *value;                /* [variant][sweeps + 1][state] */
  double *quality;              /* [variant][state][action]: of the last sweep */
} value_iteration;

/* Temperature of a sweep, counted from 0. */
static inline double idm_sweep_temperature(const value_iteration *v, size_t sweep)
{
  return v->weight[sweep * SWEEP_WEIGHTS + SWEEP_TEMPERATURE] * v->alpha;
}

/* === value iteration sweep ================================================================== */

/* One sweep of value iteration. */

/* Q of a sweep at a state, [action], given V of the previous one; opt_future, [action]: P V alone.
 */
void idm_sweep_quality(const value_iteration *v, size_t variant, size_t sweep, size_t state,
                       double *quality, double *opt_future);

#endif
