/* Bounded rational control on a lattice.
 *
 * Contents: worth · control · backup · specify · plane · precondition · solve · delay ·
 * evaluate · forward */
#ifndef IDM_PLAN_CONTROL_CONTROL_H
#define IDM_PLAN_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "belief/successor.h"
#include "idm/planner.h"

/* === worth ================================================================================== */

/* The utility of a belief by action: less its entropy, as much as its likeliest state,
 * and the best of pieces, max_i a_i.z. It is linear in the weights, IDM_BELIEF_UTILITY. */

/* Terms that have a weight, in the order of their fields. */
enum { BELIEF_REWARD_ENTROPY, BELIEF_REWARD_GUESS, BELIEF_REWARD_TERMS };

/* A utility of beliefs; all is borrowed. */
typedef struct belief_reward {
  size_t states;
  size_t actions;
  const double *weight; /* [term][action] */
  size_t pieces;
  const double *piece; /* [piece][action][state] */
} belief_reward;

/* What the weights multiply: sum z log z, and max z. */
void idm_belief_reward_terms(size_t states, const double *z, double *term);
/* The utility of a belief with an action. */
double idm_belief_reward_at(const belief_reward *w, size_t action, const double *z);
/* The same where a state is certain. */
double idm_belief_reward_corner(const belief_reward *w, size_t action, size_t state);
/* slope[state] += factor times the derivative by the belief; nothing where z is 0 and stays so. */
void idm_belief_reward_gradient(const belief_reward *w, size_t action, const double *z,
                                double factor, double *derivative);

/* === control ================================================================================ */

/* Bounded rational control on a lattice: what solver, forward recursion and policy share, and the
 * operations of the planners that solve it. */

/* Numbers of theta that the recursion reads, copied in at the start of planning. */
typedef struct control_numbers {
  double alpha; /* of the variant selected */
  double beta;
  double eta;
  double discount;    /* of what follows a decision */
  double delay_rate;  /* where that counts by delay */
  double temperature; /* of the decision policy: alpha, or its own */
  double risk;        /* level of the share of the worst models, see control->robust */
  idm_certainty certainty;
  double certainty_award;
  double arrival; /* what a belief that is certain earns on arrival: see idm_control_arrival */
  belief_reward belief_reward; /* of beliefs themselves, in `belief_utility` */
  double *belief_utility;      /* the block's numbers */
  double *action_prior;        /* [action] */
  double *model_prior;         /* [model] */
} control_numbers;

/* Sums kept apart in the transposed product of two states. */
enum { CONTROL_STRANDS = 8 };

/* Vectors of control->vector that the solver needs beside those of GMRES. */
enum { CONTROL_VECTORS = 6 };

typedef struct control {
  const idm_setting *setting; /* borrowed */
  idm_agent_options agent;
  idm_sizes sizes;
  size_t models;
  size_t variants;
  control_numbers numbers;
  bool own_temperature;   /* a softmax laid over the solved Q */
  bool robust;            /* the worst share of the models in place of their soft value */
  bool dynamics_free;     /* what makes beliefs is free: derivatives by it are wanted */
  bool award_free;        /* the award for certainty is free: the same */
  bool belief_prior_free; /* the prior of beliefs is free: the same */
  bool has_belief_reward; /* beliefs are paid for themselves */

  idm_lattice *lattice;
  idm_successors *successors;
  double *transition;   /* what the successors were built from: [model][action][s][s'] */
  double *emission;     /* [model][action][emitter][x] */
  double *log_emission; /* of `emission` */
  double *belief_prior; /* [s] or NULL */
  idm_update update;    /* how beliefs take up what is seen; the same */
  idm_sensor sensor;    /* of the dynamics and weights held here */
  int *uninformative; /* [model][action]: see idm_observation_uninformative; of a limited sensor */
  int *group;         /* [model][action][x]: observations with the same successor belief */
  bool
      *is_three_state; /* [model][action]: three states by Bayes' rule, no two observations alike */
  bool built;          /* successors and folds are those of the dynamics held here */
  bool *is_reset;      /* [action]: every model forgets, so the future is one number */
  bool any_terminal;
  bool *absorbing; /* [state]: everything is over there; NULL unless the discount is 1 for ever */

  size_t padded;         /* points, rounded up to whole slices */
  int layers;            /* 1, or the horizon */
  double *utility;       /* [variant][action][state] */
  double *unit;          /* [variant]: what alpha is counted in: 1, or the range of the utility */
  double *alpha;         /* [variant]: alpha in units of the utility */
  double *rewards;       /* [variant][action][padded]: immediate utility on the lattice, without the
                            award for certainty between corners */
  double *reward;        /* that of the variant being solved */
  double largest_reward; /* over all variants and points */
  double largest_surprise; /* over all blocks */
  double largest;          /* of the terms beside V: |reward| + |eta| |surprise| */
  bool rewards_current;    /* rewards belong to the utility and the award held here */
  double *value; /* [variant][layers + 1][padded]; stationary: layer 1 is V*. Layer t has t steps
                    left. Without the award of the point itself: see idm_control_award */
  /* Where utilities count by delay, else NULL. */
  double *
      continuation; /* [variant][layers][padded]: what follows a decision with so many steps left */
  double *delayed;  /* [layers + 1][padded]: scratch of sophisticated selves */
  bool *solved;     /* [variant]: value holds a solution to start from */
  double *stored;   /* [slots][variant][padded]: solutions that plans may start from */
  size_t slots;
  double *inverse; /* [inverses][padded][padded]: see precondition, below; transposed */
  size_t inverses; /* slots that have one */
  const double *preconditioner; /* the one of the plan under way; NULL: none */
  bool preconditions;           /* the last plan was to be preconditioned, so its slot is, too */

  /* Tables for `evaluate: interpolate`, else NULL. */
  double *quality;       /* [variant][layers][action][padded]: Q */
  double *decision;      /* [variant][layers][action][padded]: pi */
  double *specification; /* [variant][layers][action][model][padded]: sigma */

  /* Scratch of the solver. */
  double *mix;      /* [action][model][padded]: pi sigma, the weights of the derivative */
  double *constant; /* [action][model]: sigma of forgetful actions */
  /* Two states: the derivative with pi sigma folded into its values, all rows of an (action, model)
   * that does not forget side by side; column and column + 1 as in the paired format. */
  size_t folds;            /* entries a row; 0: not folded */
  uint32_t *folded_column; /* [padded][folds] */
  double *folded;          /* [padded][folds][2] */
  double *strands;         /* [CONTROL_STRANDS][padded]: scratch of the transposed product */
  /* More states: the derivative as one sparse matrix. Successors under the actions and models share
   * most of their cells, so that it has a fraction of the entries. */
  idm_successor_block merged; /* rows: 0 where it is not made */
  uint32_t *merged_index;     /* for every entry of the blocks of actions that do not forget, in
                         their order, its entry there */
  double *fixed_policy;       /* [action][padded]: a decision policy held still */
  double *penalty;            /* [padded]: alpha KL of the held policy */
  int basis;                  /* basis of GMRES: smaller on very large lattices */
  double *vector;             /* vectors of length padded, see solve.c */
  double *lanes;              /* scratch of one slice */
  double *cvar_scratch;       /* [2][model]: scratch of one point, where robust */
} control;

/* Numbers of all models' transitions, and emissions; none where the setting has moves in their
 * place. */
static inline size_t control_transitions(const control *c)
{
  return c->setting->moves ? 0 : c->models * c->sizes.actions * c->sizes.states * c->sizes.states;
}

static inline size_t control_emissions(const control *c)
{
  return c->setting->moves ? 0
                           : c->models * c->sizes.actions * c->sizes.states * c->sizes.observations;
}

/* What one (action, model) is made of. */
static inline idm_action_model control_action_model(const control *c, size_t u, size_t m)
{
  const idm_sizes n = c->sizes;
  const size_t at = m * n.actions + u;
  return (idm_action_model){.states = n.states,
                            .observations = n.observations,
                            .transition = c->transition + at * n.states * n.states,
                            .emission = c->emission + at * n.states * n.observations,
                            .before = c->setting->emits_before,
                            .update = c->update};
}

/* Layer with the values of `left` steps left. */
static inline const double *control_layer(const control *c, size_t variant, int left)
{
  return c->value + ((size_t)(c->layers + 1) * variant + (size_t)left) * c->padded;
}

/* Steps left when `steps` were taken; 1 for the stationary problem, whose layer 1 is V*. Past the
 * horizon nothing is left to plan for, and the last layer stays in force. */
static inline int control_left(const control *c, int steps)
{
  if (c->setting->horizon <= 0) return 1;
  const int left = c->setting->horizon - steps;
  return left > 1 ? left : 1;
}

/* The values that follow a decision with `left` steps left. */
static inline const double *control_follows(const control *c, size_t variant, int left)
{
  if (c->continuation)
    return c->continuation + ((size_t)c->layers * variant + (size_t)(left - 1)) * c->padded;
  return control_layer(c, variant, c->setting->horizon > 0 ? left - 1 : 1);
}

/* D(t): what a unit of utility t steps ahead counts now, where that counts by delay. */
static inline double control_delay(const control *c, int t)
{
  return 1 / (1 + c->numbers.delay_rate * t);
}

/* Temperature of the decision policy of a variant, whichever is selected. */
static inline double control_temperature(const control *c, size_t variant)
{
  return c->own_temperature ? c->numbers.temperature : c->alpha[variant];
}

/* First row of a table of the actions for a variant and the steps left. */
static inline size_t control_row(const control *c, size_t variant, int left)
{
  return ((size_t)c->layers * variant + (size_t)(left - 1)) * c->sizes.actions * c->padded;
}

idm_status idm_control_create(const idm_setting *setting, const idm_theta *theta,
                              const idm_agent_options *agent, void **ret_content,
                              idm_error *opt_error);
/* The same with a decision policy of its own temperature, laid over the solved Q. */
idm_status idm_control_create_exploratory(const idm_setting *setting, const idm_theta *theta,
                                          const idm_agent_options *agent, void **ret_content,
                                          idm_error *opt_error);
/* The same against the worst share of the models, whose level is the planner's own block. */
idm_status idm_control_create_robust(const idm_setting *setting, const idm_theta *theta,
                                     const idm_agent_options *agent, void **ret_content,
                                     idm_error *opt_error);
idm_status idm_control_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error);
/* Keep the values now held in a slot for later plans to start from. */
idm_status idm_control_store(void *content, size_t slot, idm_error *opt_error);
void idm_control_destroy(void *content);
size_t idm_control_points(const void *content);
double idm_control_bytes(const void *content, int resolution);

/* === backup ================================================================================= */

/* The operator B* on the lattice, and its derivative.
 *
 * The award for certainty jumps where a belief becomes certain, and a lattice would blur that by a
 * cell. All actions earn it alike, so values on the lattice leave out that of the point itself, and
 * K has that of the successors, each at its own belief. */

/* What one application of B* at V leaves behind. NULL: not wanted. */
typedef struct backup_output {
  double *value;         /* [padded]: B*V */
  double *quality;       /* [action][padded]; goes with decision */
  double *decision;      /* [action][padded]: the policy shown, at control_numbers.temperature */
  double *specification; /* [action][model][padded] */
  bool mix;              /* fill control->mix and control->constant */
  double lowest;         /* min and max of B*V - V over the points */
  double highest;
  double size; /* max |B*V| */
} backup_output;

/* Point an output at the tables of a variant and layer, where there are any. */
void idm_control_tables(const control *c, size_t variant, int layer, backup_output *out);
/* Apply B* at v; with `hold` the decision policy is control->held instead of the optimal one. */
void idm_control_backup(control *c, const double *v, bool fixed, backup_output *out);
/* Hold the optimal decision policy at v. */
void idm_control_fix_policy(control *c, const double *v);
/* Fold the weights in control->mix into the derivative, where it has that form. Call before a
 * series of products. */
void idm_control_fold(control *c);
/* y = x - gamma P x with the weights in control->mix; context is the control. */
void idm_control_derivative(const void *context, const double *x, double *y);
/* y = x - gamma P' x, after the same fold. */
void idm_control_transposed(const void *context, const double *x, double *y);
/* to += scale[lane] times the successor row of each lane of a slice. */
void idm_control_scatter(const control *c, size_t u, size_t m, size_t slice, const double *scale,
                         double *to);
/* Compute the immediate utility of a variant on the lattice. */
void idm_control_rewards(control *c, size_t variant);
/* Make a variant the one that the operator works on. */
void idm_control_select(control *c, size_t variant);
/* Immediate utility at a belief, without the award for certainty. */
double idm_control_reward(const control *c, size_t variant, const double *z, size_t action);
/* The award for certainty at a belief, which values and Q leave out; 0 at corners, whose rewards
 * have it. */
double idm_control_award(const control *c, const double *z);
/* What a certain belief earns where a decision with `left` steps left leads to it: 0 past the
 * horizon. It goes into control_numbers.arrival before a backup. */
double idm_control_arrival(const control *c, int left);
/* The same of an award of 1, and what that adds to every reward at corners: 0 elsewhere. */
double idm_control_arrivals(const control *c, int left);
double idm_control_corner_share(const control *c);
/* At lattice point i, from next values v: K [action][model], Q [action]; returns V. */
double idm_control_point(const control *c, const double *v, size_t point, double *k, double *q);

/* === specify ================================================================================ */

/* The specification policy: what the models of an action come to, and how they are weighed. */

/* beta log sum_m sigma~_m exp(K_m / beta), or with a risk level the mean of the worst share of the
 * models. opt_sigma, [model], receives sigma(m|z,u). */
double idm_control_specify(const control *c, const double *k, double *opt_sigma);
/* KL(sigma || sigma~), nats. */
double idm_control_specification(const control *c, const double *k, double *sigma);

/* === plane ================================================================================== */

/* Beliefs over three states in coordinates of the lattice, y = r (z_1 + z_2, z_2), whose points are
 * numbered by y_1 (y_1 + 1) / 2 + y_2. For worlds where control->plane holds: loops over lookaheads
 * spend their time here. */

/* The cell of a belief. At the far faces it is the one below. */
typedef struct triangle_cell {
  size_t at;         /* its first point */
  size_t middle;     /* steps from there to the second, */
  size_t last;       /* and to the third */
  double high, low;  /* parts of the coordinates in the order of the steps */
  bool second_first; /* the second coordinate steps up first */
} triangle_cell;

IDM_INLINE triangle_cell triangle_locate(int resolution, double one, double two)
{
  const double r = resolution;
  const uint32_t max_value = (uint32_t)resolution - 1;
  const double both = r * (two + one), far = r * two;
  const double first = both < r ? both : r, second = far < r ? far : r;
  const uint32_t floor_first = (uint32_t)first < max_value ? (uint32_t)first : max_value;
  const uint32_t floor_second = (uint32_t)second < max_value ? (uint32_t)second : max_value;
  const double a = first - floor_first, b = second - floor_second;
  const size_t up = (size_t)floor_first + 1; /* a step in y_1; one in y_2 is 1 */
  return (triangle_cell){.at = (size_t)floor_first * (floor_first + 1) / 2 + floor_second,
                         .middle = a < b ? 1 : up,
                         .last = up + 1,
                         .high = a < b ? b : a,
                         .low = a < b ? a : b,
                         .second_first = a < b};
}

IDM_INLINE double triangle_value(const triangle_cell *cell, const double *v)
{
  v += cell->at;
  return (1 - cell->high) * v[0] + (cell->high - cell->low) * v[cell->middle] +
         cell->low * v[cell->last];
}

/* How certain a belief is; nothing where that earns nothing. */
IDM_INLINE idm_certainty_degree triangle_certainty(const control *c, double arrival, double one,
                                                   double two)
{
  const double z[3] = {1 - one - two, one, two};
  if (arrival == 0) return (idm_certainty_degree){0, 0, 0};
  return idm_belief_certainty(c->numbers.certainty, 3, z);
}

/* V and the award at a belief z' = joint / p, and the derivative of p times that by the joint,
 * [state], where V is linear on the cell. */
IDM_INLINE double triangle_gradient(const control *c, const triangle_cell *cell, const double *v,
                                    double one, double two, double *derivative)
{
  const int resolution = c->lattice->resolution;
  const double arrival = c->numbers.arrival;
  const idm_certainty_degree expected_certainty = triangle_certainty(c, arrival, one, two);
  const double z[3] = {1 - one - two, one, two};
  const double value = triangle_value(cell, v) + arrival * expected_certainty.share;
  const double by_certainty = arrival * expected_certainty.derivative;
  v += cell->at;
  const double up = resolution * (v[cell->middle] - v[0]);
  const double on = resolution * (v[cell->last] - v[cell->middle]);
  const double by_first = cell->second_first ? on : up, by_both = up + on;
  const double level =
      value - by_first * one - by_both * two - by_certainty * z[expected_certainty.state];
  derivative[0] = level;
  derivative[1] = level + by_first;
  derivative[2] = level + by_both;
  derivative[expected_certainty.state] += by_certainty;
  return value;
}

/* === precondition =========================================================================== */

/* A preconditioner of Newton's linear solves: the inverse of the derivative at a solution kept. */

/* Store the inverse of I - gamma P, with the weights in control->mix, for a slot that is kept. Does
 * nothing on lattices of more points than a dense inverse pays for. */
idm_status idm_control_precondition(control *c, size_t slot, idm_error *opt_error);
/* Choose the preconditioner of a plan: that of the slot with the largest weight among
 * those that have one; none where the
 * solver does not request one or the slot has none. */
void idm_control_choose_preconditioner(control *c, const idm_solver *solver);
/* y = M x for the preconditioner M chosen. */
void idm_control_apply_inverse(const control *c, const double *x, double *y);
/* y = (I - gamma P) M x; context is the control. */
void idm_control_preconditioned(const void *context, const double *x, double *y);
/* The same of the transposes: y = M' x, and y = (I - gamma P') M' x. */
void idm_control_apply_transposed(const control *c, const double *x, double *y);
void idm_control_transposed_preconditioned(const void *context, const double *x, double *y);

/* === solve ================================================================================== */

/* Solving V = B*V with a certified bound. */

idm_status idm_control_solve(control *c, const idm_solver *solver, idm_plan_report *report,
                             idm_error *opt_error);

/* === delay ================================================================================== */

/* Backward induction where what comes later counts by its delay, 1/(1 + kappa t), which no discount
 * a step can do: selves at different times disagree. */

/* By what the values that follow a decision are multiplied in it: see control->follow. */
double idm_control_delay_step(const control *c);
/* All layers of a variant; returns the largest value. */
double idm_control_solve_delayed(control *c, size_t variant, idm_plan_report *report);

/* === evaluate =============================================================================== */

/* Values and policies at any belief, from the values on the lattice. */

void idm_control_policy(const void *content, size_t variant, int steps, const double *z,
                        double *decision, double *opt_specification, double *scratch);
void idm_control_log_policy(const void *content, size_t variant, int steps, const double *z,
                            double *log_decision, double *scratch);
double idm_control_value(const void *content, size_t variant, int steps, const double *z,
                         double *scratch);
/* Q; between the points of tables interpolated, as the policies are. */
void idm_control_quality(const void *content, size_t variant, int steps, const double *z,
                         double *quality, double *scratch);
size_t idm_control_scratch(const void *content);

/* === forward ================================================================================ */

/* The forward recursion: occupancy, return and complexities. */

idm_status idm_control_forward(void *content, size_t variant, idm_forward *forward,
                               double *opt_occupancy, idm_error *opt_error);

#endif
