/* Networks: linear maps, a memory, and a softmax of scores.
 *
 * Contents: linear · lstm · softmax · recurrent · swath */
#ifndef IDM_PLAN_NETWORK_NETWORK_H
#define IDM_PLAN_NETWORK_NETWORK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/behavior.h"
#include "idm/planner.h"
#include "idm/prefix.h"
#include "idm/random.h"
#include "plan/choice.h"

/* === linear ================================================================================= */

/* Linear maps of small vectors, and their derivatives in reverse. */

/* Numbers of a map, a constant a row included. */
static inline size_t idm_linear_count(size_t rows, size_t columns)
{
  return rows * (columns + 1);
}

/* What it starts from: normal with a variance of 1/columns, constants 0. */
static inline void idm_linear_init(size_t rows, size_t columns, idm_random *random, double *w)
{
  for (size_t i = 0; i < rows; i++) {
    w[i * (columns + 1)] = 0;
    for (size_t j = 0; j < columns; j++)
      w[i * (columns + 1) + j + 1] = idm_random_normal(random) / sqrt((double)columns);
  }
}

/* y[rows] = w x, row i of w a constant and then x's numbers. */
static inline void idm_linear(size_t rows, size_t columns, const double *w, const double *x,
                              double *y)
{
  for (size_t i = 0; i < rows; i++) {
    const double *row = w + i * (columns + 1);
    y[i] = row[0];
    for (size_t j = 0; j < columns; j++) y[i] += row[j + 1] * x[j];
  }
}

/* What `by_y` is by w, added to by_w, and by x, added to opt_by_x. */
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

/* A long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates) and a layer that
 * chooses by it, for many histories at once.
 *
 *   i, f, o = logistic, g = tanh of (constant + row of the action + row of the observation + h R)
 *   c' = f c + i g,  h' = o tanh(c')
 *   scores = constant + tanh(constant + h' first) second
 *
 * What is not there (the action before the first, an observation that was not recorded) has no row.
 * Weights stand in one array: constants of the gates, rows of actions, rows of observations, R,
 * then for each layer its constants and its matrix. Gates are i, f, g, o, `units` numbers each. */

/* How large everything is, and where in the array it stands. */
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
/* What weights start from: normal with a variance of 1 over the number of inputs (rows of R and of
 * layers; those of actions and observations 1/2), constants 0, those of forget gates 1. */
void idm_lstm_init(const lstm_layout *plan, idm_random *random, double *weights);

/* Weights, and the transposes that reverse mode multiplies by. */
typedef struct lstm {
  lstm_layout plan;
  double *weights;    /* [count] */
  double *transposed; /* of R, of the first matrix, of the second: in this order */
} lstm;

/* The transposes of the weights now held. */
void idm_lstm_transpose(lstm *l);

/* What a step read: -1 for what is not there. */
typedef struct lstm_input {
  int32_t action;
  int32_t observation;
} lstm_input;

/* One step of n memories h, c [n][units]; gates [n][4 units] are kept for the way back. */
void idm_lstm_step(const lstm *l, size_t n, const lstm_input *input, const double *h,
                   const double *c, double *gates, double *next_c, double *next_h);
/* Scores [n][actions] of n memories; the layer's units [n][layer] are kept for the way back. */
void idm_lstm_score(const lstm *l, size_t n, const double *h, double *layer, double *score);

/* Slopes back from scores: added to those of the weights, and to by_h [n][units]. by_layer
 * [n][layer] is scratch. */
void idm_lstm_score_backward(const lstm *l, size_t n, const double *h, const double *layer,
                             const double *by_score, double *by_layer, double *by_weights,
                             double *by_h);
/* Slopes back from a step: by_h and by_c are those after it; those before it take the place of what
 * by_h_before, by_c_before [n][units] held; those of the weights are added to. Gates are used up.
 */
void idm_lstm_step_backward(const lstm *l, size_t n, const lstm_input *input, const double *h,
                            const double *c, const double *next_c, double *gates,
                            const double *by_h, const double *by_c, double *by_weights,
                            double *by_h_before, double *by_c_before);

/* === softmax ================================================================================ */

/* Policies that are a softmax of scores of the belief, whatever the scores are: what planners that
 * plan nothing have in common. */

typedef struct softmax softmax;

/* What a planner scores actions by. */
typedef struct softmax_scores {
  const size_t *block; /* blocks of theta that hold its numbers, [blocks] */
  size_t blocks;
  bool prior; /* pi ~ pi~ exp(score), else pi ~ exp(score) */
  /* score[action] at belief z; what it leaves in hidden[softmax.hidden], `recall` finds there. */
  void (*score)(const softmax *s, const double *z, double *hidden, double *score);
  /* The same in reverse: adds what `by_score` is by every number to `by_number`, and by z to
   * opt_by_belief; what is hidden is used up. */
  void (*backward)(const softmax *s, const double *z, double *hidden, const double *by_score,
                   double *by_number, double *opt_by_belief);
} softmax_scores;

struct softmax {
  const softmax_scores *scores;
  idm_sizes sizes;
  size_t models;
  size_t count;       /* numbers, over all blocks */
  size_t hidden;      /* numbers between belief and scores */
  size_t width;       /* of the planner's own choosing */
  double temperature; /* 1; 0: the best action is taken */
  double *number;     /* [count], block after block */
  double *action_prior;
  double *model_prior;
};

/* A content of that planner, its temperature 1. */
idm_status idm_softmax_create(const softmax_scores *scores, const idm_theta *theta, size_t hidden,
                              size_t width, void **ret_content, idm_error *opt_error);
/* Operations of a planner whose content that is. */
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

/* What is read where a trajectory begins: the state, where it is observed and known. */
static inline lstm_input idm_recurrent_begin(const recurrent *r, const double *opt_start)
{
  const double *start = opt_start ? opt_start : r->setting->start;
  const size_t states = r->setting->states.count;
  size_t s = 0;
  while (s < states && start[s] != 1) s++;
  const bool known = r->setting->fully_observed && s < states;
  return (lstm_input){-1, known ? (int32_t)s : -1};
}

/* The content is a recurrent. */
extern const idm_gradient_ops idm_recurrent_gradient;

/* === swath ================================================================================== */

/* A tree of histories cut into swaths, each laid out by depth: what a network with a memory goes
 * over at once, level by level, so that memory follows the swath and not the tree.
 *
 * A swath is a stretch of the tree's nodes with all that lies above them. Its places are the nodes
 * that others follow: one memory each. */

typedef struct chunk_node {
  uint32_t node;
  uint32_t before; /* place that it follows; its own at a beginning */
} chunk_node;

/* A choice. */
typedef struct chunk_row {
  uint32_t node;
  uint32_t place; /* at which it is made */
} chunk_row;

typedef struct tree_chunk {
  size_t node_count;
  chunk_node *place; /* [places], by depth */
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

/* Swaths of about `most` places, or of twice the depth of the tree where that is more: what lies
 * above a stretch is gone over once a swath. */
idm_status idm_tree_chunks_create(const idm_prefix_tree *tree, size_t max_chunk_nodes,
                                  tree_chunks **ret_chunks, idm_error *opt_error);
void idm_tree_chunks_destroy(tree_chunks *s);

#endif
