/* Bounded rational control on a lattice of beliefs.
 *
 * Contents: belief reward · control · backup · specification · triangle · precondition · solve ·
 * delay · evaluate · forward */
#ifndef IDM_PLAN_CONTROL_CONTROL_H
#define IDM_PLAN_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vector.h"
#include "belief/successor.h"
#include "idm/extension/planner.h"

/* === belief reward ========================================================================== */

/* Utility of a belief by action: weights times the negative entropy, sum z log z, and times the
 * largest probability, max z; plus the largest of linear pieces, max_i a_i.z
 * (docs/method/control.md, 11). It is linear in the weights, IDM_BELIEF_UTILITY. */

/* Terms with a weight, in the order of their fields. */
enum { BELIEF_REWARD_ENTROPY, BELIEF_REWARD_GUESS, BELIEF_REWARD_TERMS };

/* Utility of beliefs; the arrays are borrowed. */
typedef struct belief_reward {
  size_t states;
  size_t actions;
  const double *weight; /* [term][action] */
  size_t pieces;
  const double *piece; /* [piece][action][state] */
} belief_reward;

/* Computes the factors of the weights into term[BELIEF_REWARD_TERMS]: sum z log z, and max z. */
void idm_belief_reward_terms(size_t states, const double *z, double *term);
/* Utility of belief z with an action. */
double idm_belief_reward_at(const belief_reward *w, size_t action, const double *z);
/* Utility of the belief that is certain of a state. */
double idm_belief_reward_corner(const belief_reward *w, size_t action, size_t state);
/* derivative[state] += factor times the derivative with respect to the belief. The entropy adds
 * nothing at states with z = 0, which remain 0. */
void idm_belief_reward_gradient(const belief_reward *w, size_t action, const double *z,
                                double factor, double *derivative);

/* === control ================================================================================ */

/* Data shared by solver, forward recursion and policies, and the operations of planners on a
 * lattice. */

/* Numbers of theta that the recursion reads, copied at the start of planning. */
typedef struct control_numbers {
  double alpha; /* of the selected variant */
  double beta;
  double eta;
  double discount;    /* of the values that follow a decision */
  double delay_rate;  /* with delay discounting */
  double temperature; /* of the decision policy: alpha, or its own */
  double risk;        /* CVaR level, the share of the worst models: see control->robust */
  idm_certainty certainty;
  double certainty_award;
  double arrival;              /* award of a certain successor: see idm_control_arrival */
  belief_reward belief_reward; /* utility of beliefs, with the numbers in `belief_utility` */
  double *belief_utility;      /* numbers of the block */
  double *action_prior;        /* [action] */
  double *model_prior;         /* [model] */
} control_numbers;

/* Independent accumulators of the transposed product for two states. */
enum { CONTROL_STRANDS = 8 };

/* Vectors of control->vector that the solver needs besides those of GMRES. */
enum { CONTROL_VECTORS = 6 };

typedef struct control {
  const idm_setting *setting; /* borrowed */
  idm_agent_options agent;
  idm_sizes sizes;
  size_t models;
  size_t variants;
  control_numbers numbers;
  bool own_temperature; /* decision policy: softmax of the solved Q at its own temperature */
  bool robust;          /* CVaR over the worst models in place of their soft value */
  bool dynamics_free; /* parameters of the belief update are free: their derivatives are computed */
  bool award_free;    /* the award for certainty is free: likewise */
  bool belief_prior_free; /* the belief prior is free: likewise */
  bool has_belief_reward; /* the utility of beliefs is not 0 */

  idm_lattice *lattice;
  idm_successors *successors;
  double *transition;    /* [model][action][s][s']: of the successors */
  double *emission;      /* [model][action][emitter][x] */
  double *log_emission;  /* of `emission` */
  double *belief_prior;  /* [s] or NULL */
  double prior_constant; /* of idm_belief_prior_log */
  idm_update update;     /* belief update of the successors */
  idm_sensor sensor;     /* of the dynamics and weights in this structure */
  int *uninformative; /* [model][action]: see idm_observation_uninformative; for a limited sensor */
  int *group;         /* [model][action][x]: observations with the same successor belief */
  bool *is_three_state; /* [model][action]: three states, Bayes' rule, no two observations with the
                           same successor belief */
  bool built;           /* successors and folds belong to the dynamics in this structure */
  bool *is_reset; /* [action]: reset action: under every model its successors do not depend on the
                     belief, so K is one number */
  bool any_terminal;
  bool *absorbing; /* [state]: absorbing state; NULL unless the discount is 1 without a horizon */

  size_t padded;   /* points, rounded up to whole slices */
  int layers;      /* 1, or the horizon */
  double *utility; /* [variant][action][state] */
  double *unit;    /* [variant]: unit of alpha: 1, or the range of the utility */
  double *alpha;   /* [variant]: alpha in units of the utility */
  double *rewards; /* [variant][action][padded]: immediate utility on the lattice, without the award
                      for certainty except on a lattice of corners */
  double *reward;  /* of the variant being solved */
  double largest_reward;   /* over all variants and points */
  double largest_surprise; /* over all blocks */
  double largest;          /* bound on the terms besides V: |reward| + |award| + |eta| |surprise| */
  bool rewards_current;    /* rewards belong to the utility and the award in this structure */
  double
      *value; /* [variant][layers + 1][padded]; stationary: layer 1 is V*. Layer t has t steps left.
                 Without the award for certainty of the point itself: see idm_control_award */
  /* With delay discounting; else NULL. */
  double
      *continuation; /* [variant][layers][padded]: values that follow a decision, by steps left */
  double *delayed;   /* [layers + 1][padded]: scratch of sophisticated discounting */
  bool *solved;      /* [variant]: value contains a solution to start from */
  double *stored;    /* [slots][variant][padded]: stored solutions that plans may start from */
  size_t slots;
  double *inverse; /* [inverses][padded][padded]: transposed; see precondition, below */
  size_t inverses; /* slots that have an inverse */
  const double *preconditioner; /* of the current plan; NULL: none */
  bool preconditions; /* the last plan requested preconditioning, so its slot stores an inverse */

  /* Tables for `evaluate: interpolate`, else NULL. */
  double *quality;       /* [variant][layers][action][padded]: Q */
  double *decision;      /* [variant][layers][action][padded]: pi */
  double *specification; /* [variant][layers][action][model][padded]: sigma */

  /* Scratch of the solver. */
  double *mix;      /* [action][model][padded]: pi sigma, the weights of the derivative */
  double *constant; /* [action][model]: sigma of reset actions */
  /* Two states: the derivative with pi sigma multiplied into its values. A row contains all
   * (action, model) blocks that are not reset, side by side; an entry covers column and column + 1,
   * as in the paired format. */
  size_t folds;            /* entries per row; 0: not folded */
  uint32_t *folded_column; /* [padded][folds] */
  double *folded;          /* [padded][folds][2] */
  double *strands;         /* [CONTROL_STRANDS][padded]: scratch of the transposed product */
  /* More states: the derivative as one sparse matrix. Successors under different actions and models
   * share most of their cells, so that it has a fraction of the entries. */
  idm_successor_block merged; /* rows is 0 if it is not built */
  uint32_t *merged_index; /* for every entry of the blocks of actions that are not reset, in their
                             order, its entry in `merged` */
  double *fixed_policy;   /* [action][padded]: a decision policy that is held fixed */
  double *penalty;        /* [padded]: alpha KL of the fixed policy */
  int basis;              /* basis size of GMRES: smaller on very large lattices */
  double *vector;         /* vectors of length padded, see solve.c */
  double *lanes;          /* scratch of one slice */
  double *cvar_scratch;   /* [2][model]: scratch of one point; NULL unless robust */
} control;

/* Sizes of all models' transition and emission tables; 0 if the setting has sparse transitions
 * instead. */
static inline size_t control_transitions(const control *c)
{
  return c->setting->moves ? 0 : c->models * c->sizes.actions * c->sizes.states * c->sizes.states;
}

static inline size_t control_emissions(const control *c)
{
  return c->setting->moves ? 0
                           : c->models * c->sizes.actions * c->sizes.states * c->sizes.observations;
}

/* Dynamics and belief update of one (action, model). */
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

/* Values with `left` steps left. */
static inline const double *control_layer(const control *c, size_t variant, int left)
{
  return c->value + ((size_t)(c->layers + 1) * variant + (size_t)left) * c->padded;
}

/* Steps left after `steps` steps; 1 for the stationary problem, whose layer 1 is V*. Past the
 * horizon the last layer remains in effect. */
static inline int control_left(const control *c, int steps)
{
  if (c->setting->horizon <= 0) return 1;
  const int left = c->setting->horizon - steps;
  return left > 1 ? left : 1;
}

/* Values that follow a decision with `left` steps left. */
static inline const double *control_follows(const control *c, size_t variant, int left)
{
  if (c->continuation)
    return c->continuation + ((size_t)c->layers * variant + (size_t)(left - 1)) * c->padded;
  return control_layer(c, variant, c->setting->horizon > 0 ? left - 1 : 1);
}

/* D(t): present value of a unit of utility t steps ahead, with delay discounting. */
static inline double control_delay(const control *c, int t)
{
  return 1 / (1 + c->numbers.delay_rate * t);
}

/* Temperature of the decision policy of a variant, selected or not. */
static inline double control_temperature(const control *c, size_t variant)
{
  return c->own_temperature ? c->numbers.temperature : c->alpha[variant];
}

/* Index of the first row of a table over the actions, for a variant and the steps left. */
static inline size_t control_row(const control *c, size_t variant, int left)
{
  return ((size_t)c->layers * variant + (size_t)(left - 1)) * c->sizes.actions * c->padded;
}

idm_status idm_control_create(const idm_setting *setting, const idm_theta *theta,
                              const idm_agent_options *agent, void **ret_content,
                              idm_error *opt_error);
/* As idm_control_create, with a decision policy that is a softmax of the solved Q at its own
 * temperature. */
idm_status idm_control_create_exploratory(const idm_setting *setting, const idm_theta *theta,
                                          const idm_agent_options *agent, void **ret_content,
                                          idm_error *opt_error);
/* As idm_control_create, with the CVaR over the worst share of the models, whose level is the
 * planner's own block. */
idm_status idm_control_create_robust(const idm_setting *setting, const idm_theta *theta,
                                     const idm_agent_options *agent, void **ret_content,
                                     idm_error *opt_error);
idm_status idm_control_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error);
/* Stores the current values in a slot, from which later plans may start. IDM_USAGE without a plan,
 * or if an earlier slot is empty. */
idm_status idm_control_store(void *content, size_t slot, idm_error *opt_error);
void idm_control_destroy(void *content);
size_t idm_control_points(const void *content);
double idm_control_bytes(const void *content, int resolution);

/* === backup ================================================================================= */

/* The operator B* on the lattice, and its derivative (docs/method/control.md, 7 and 8).
 *
 * The award for certainty is discontinuous where a belief becomes certain, and interpolation would
 * smooth it over a cell. It is the same for all actions. Values on the lattice therefore exclude
 * the award of the point itself, and K includes that of the successors, each at its own belief. */

/* Results of one application of B* at V. NULL: not computed. */
typedef struct backup_output {
  double *value;         /* [padded]: B*V */
  double *quality;       /* [action][padded]; computed together with decision */
  double *decision;      /* [action][padded]: decision policy, at control_numbers.temperature */
  double *specification; /* [action][model][padded] */
  bool mix;              /* fill control->mix and control->constant */
  double lowest;         /* min and max of B*V - V over the points */
  double highest;
  double size; /* max |B*V| */
} backup_output;

/* Sets an output to the tables of a variant and layer, if there are tables. */
void idm_control_tables(const control *c, size_t variant, int layer, backup_output *out);
/* Applies B* at v. If `fixed`, the decision policy is control->fixed_policy instead of the optimal
 * one. */
void idm_control_backup(control *c, const double *v, bool fixed, backup_output *out);
/* Stores the optimal decision policy at v in control->fixed_policy. */
void idm_control_fix_policy(control *c, const double *v);
/* Multiplies the weights in control->mix into the derivative, if it has a folded or merged form.
 * Call it before a series of products. */
void idm_control_fold(control *c);
/* y = x - gamma P x with the weights in control->mix; context is the control. */
void idm_control_derivative(const void *context, const double *x, double *y);
/* y = x - gamma P' x, after the same fold. */
void idm_control_transposed(const void *context, const double *x, double *y);
/* Adds scale[lane] times the successor row of each lane of a slice to `to`. */
void idm_control_scatter(const control *c, size_t u, size_t m, size_t slice, const double *scale,
                         double *to);
/* Selects the variant that the operator applies to. */
void idm_control_select(control *c, size_t variant);
/* Immediate utility at a belief, without the award for certainty. */
double idm_control_reward(const control *c, size_t variant, const double *z, size_t action);
/* Award for certainty at a belief, which values and Q exclude; 0 on a lattice of corners, whose
 * rewards include it. */
double idm_control_award(const control *c, const double *z);
/* Award of a certain successor after a decision with `left` steps left; 0 past the horizon. It is
 * assigned to control_numbers.arrival before a backup. */
double idm_control_arrival(const control *c, int left);
/* The same for an award of 1; and the amount that this adds to every reward on a lattice of
 * corners, 0 elsewhere. */
double idm_control_arrivals(const control *c, int left);
double idm_control_corner_share(const control *c);
/* Computes K [action][model] and Q [action] at a lattice point from the values v that follow;
 * returns V. */
double idm_control_point(const control *c, const double *v, size_t point, double *k, double *q);

/* === specification ========================================================================== */

/* Specification policy: the value of an action over its models, and the weights of the models. */

/* beta log sum_m sigma~_m exp(K_m / beta); with a risk level the CVaR, the mean over the worst
 * share of the models. opt_sigma, [model], receives sigma(m|z,u). */
double idm_control_specify(const control *c, const double *k, double *opt_sigma);

/* === triangle =============================================================================== */

/* Three states: beliefs in lattice coordinates y = r (z_1 + z_2, z_2), with points numbered by y_1
 * (y_1 + 1) / 2 + y_2. Used where control->is_three_state holds. Inline and without branches, eight
 * successors at once, because it is the inner loop of lookahead. */

/* Successors of a belief: z' = (1 - one - two, one, two). Unused lanes are 0. */
typedef struct triangle_successors {
  size_t count;
  size_t observation[IDM_LANE_WIDTH];
  idm_lane p; /* of the observations */
  idm_lane one, two;
} triangle_successors;

/* V and the award of certain successors, as functions of beliefs. */
typedef struct triangle_function {
  int resolution;
  const double *v;
  double arrival;
  double threshold, width; /* of the ramp of certainty */
} triangle_function;

/* Cells of beliefs. At the upper faces of the lattice they are the last cells inside. */
typedef struct triangle_cells {
  size_t at[IDM_LANE_WIDTH];     /* index of the first point */
  size_t middle[IDM_LANE_WIDTH]; /* of the second */
  size_t last[IDM_LANE_WIDTH];   /* of the third */
  idm_lane high, low;            /* larger and smaller fractional part of the coordinates */
  idm_lane_bits second_first;    /* the second coordinate has the larger fractional part */
} triangle_cells;

IDM_INLINE triangle_function triangle_function_of(const control *c, const double *v, double arrival)
{
  return (triangle_function){.resolution = c->lattice->resolution,
                             .v = v,
                             .arrival = arrival,
                             .threshold = c->numbers.certainty.threshold,
                             .width = c->numbers.certainty.width};
}

/* The successors by the possible observations from *x on, at most one lane of them; *x is the next
 * observation. */
IDM_INLINE void triangle_collect(const idm_action_model *w, const double *emitter, size_t *x,
                                 triangle_successors *to)
{
  const size_t n = w->observations;
  const double *low = w->emission, *middle = low + n, *high = middle + n;
  const idm_lane zero = {0};
  to->count = 0;
  to->p = to->one = to->two = zero;
  for (; *x < n && to->count < IDM_LANE_WIDTH; ++*x) {
    const double one = emitter[1] * middle[*x], two = emitter[2] * high[*x];
    const double p = emitter[0] * low[*x] + one + two;
    if (!(p > 0)) continue;
    to->observation[to->count] = *x;
    to->p[to->count] = p;
    to->one[to->count] = one / p;
    to->two[to->count++] = two / p;
  }
}

IDM_INLINE void triangle_locate(int resolution, const idm_lane *one, const idm_lane *two,
                                triangle_cells *cells)
{
  const idm_lane zero = {0}, r = zero + (double)resolution;
  const idm_lane_bits max_floor = (idm_lane_bits){0} + (resolution - 1);
  const idm_lane both = r * (*two + *one), far = r * *two;
  const idm_lane first = IDM_LANE_SELECT(both < r, both, r);
  const idm_lane second = IDM_LANE_SELECT(far < r, far, r);
  idm_lane_bits row = __builtin_convertvector(first, idm_lane_bits);
  idm_lane_bits column = __builtin_convertvector(second, idm_lane_bits);
  row = (row & (row < max_floor)) | (max_floor & ~(row < max_floor));
  column = (column & (column < max_floor)) | (max_floor & ~(column < max_floor));
  const idm_lane a = first - __builtin_convertvector(row, idm_lane);
  const idm_lane b = second - __builtin_convertvector(column, idm_lane);
  cells->second_first = (idm_lane_bits)(a < b);
  cells->high = IDM_LANE_SELECT(cells->second_first, b, a);
  cells->low = IDM_LANE_SELECT(cells->second_first, a, b);
  for (size_t l = 0; l < IDM_LANE_WIDTH; l++) {
    const size_t up = (size_t)row[l] + 1; /* offset of a step in y_1; one in y_2 is 1 */
    cells->at[l] = (size_t)row[l] * up / 2 + (size_t)column[l];
    cells->middle[l] = cells->at[l] + (cells->second_first[l] ? 1 : up);
    cells->last[l] = cells->at[l] + up + 1;
  }
}

/* Degrees of certainty of beliefs, as idm_belief_certainty. `top` and `state` receive the largest
 * probability and masks of its state. */
IDM_INLINE void triangle_certainty(const triangle_function *f, const triangle_successors *z,
                                   idm_lane *share, idm_lane *derivative, idm_lane *top,
                                   idm_lane_bits *state)
{
  const idm_lane zero = {0}, unit = zero + 1, rest = 1 - z->one - z->two;
  const double slope = f->width > 0 ? 1 / f->width : 0;
  const idm_lane_bits is_one = (idm_lane_bits)(z->one > rest);
  const idm_lane larger = IDM_LANE_SELECT(is_one, z->one, rest);
  state[2] = (idm_lane_bits)(z->two > larger);
  state[1] = is_one & ~state[2];
  state[0] = ~(is_one | state[2]);
  *top = IDM_LANE_SELECT(state[2], z->two, larger);
  const idm_lane excess = *top - f->threshold;
  const idm_lane_bits inside =
      (idm_lane_bits)(2 * excess < f->width) & (idm_lane_bits)(-2 * excess < f->width);
  const idm_lane outside = IDM_LANE_SELECT(excess > IDM_TIE, unit, zero);
  *share = IDM_LANE_SELECT(inside, 0.5 + excess * slope, outside);
  *derivative = IDM_LANE_SELECT(inside, zero + slope, zero);
}

/* V plus the award at the successors; opt_slope[state] receives the derivatives of p times it with
 * respect to the joint. */
IDM_INLINE void triangle_evaluate(const triangle_function *f, const triangle_successors *z,
                                  const triangle_cells *cells, idm_lane *value, idm_lane *opt_slope)
{
  idm_lane corner = {0}, middle = {0}, last = {0}, share, derivative, top;
  idm_lane_bits state[3];
  for (size_t l = 0; l < IDM_LANE_WIDTH; l++) {
    corner[l] = f->v[cells->at[l]];
    middle[l] = f->v[cells->middle[l]];
    last[l] = f->v[cells->last[l]];
  }
  triangle_certainty(f, z, &share, &derivative, &top, state);
  *value = (1 - cells->high) * corner + (cells->high - cells->low) * middle + cells->low * last;
  if (f->arrival != 0) *value += f->arrival * share;
  if (!opt_slope) return;
  const idm_lane up = f->resolution * (middle - corner), on = f->resolution * (last - middle);
  const idm_lane by_first = IDM_LANE_SELECT(cells->second_first, on, up), by_both = up + on;
  const idm_lane by_top = f->arrival * derivative, zero = {0};
  const idm_lane level = *value - by_first * z->one - by_both * z->two - by_top * top;
  opt_slope[0] = level + IDM_LANE_SELECT(state[0], by_top, zero);
  opt_slope[1] = level + by_first + IDM_LANE_SELECT(state[1], by_top, zero);
  opt_slope[2] = level + by_both + IDM_LANE_SELECT(state[2], by_top, zero);
}

/* === precondition =========================================================================== */

/* Preconditioner of Newton's linear solves: the inverse of the derivative at a stored solution. */

/* Stores the inverse of I - gamma P, with the weights in control->mix, for a stored slot. Does
 * nothing on lattices with so many points that a dense inverse is not faster. */
idm_status idm_control_precondition(control *c, size_t slot, idm_error *opt_error);
/* Chooses the preconditioner of a plan: among the slots that have one, that of the slot with the
 * largest weight. None if the solver does not request one, or no slot has one. */
void idm_control_choose_preconditioner(control *c, const idm_solver *solver);
/* y = M x for the chosen preconditioner M. */
void idm_control_apply_inverse(const control *c, const double *x, double *y);
/* y = (I - gamma P) M x; context is the control. */
void idm_control_preconditioned(const void *context, const double *x, double *y);
/* Transposed products: y = M' x, and y = (I - gamma P') M' x. */
void idm_control_apply_transposed(const control *c, const double *x, double *y);
void idm_control_transposed_preconditioned(const void *context, const double *x, double *y);

/* === solve ================================================================================== */

/* Solution of V = B*V with a certified bound (docs/method/control.md, 8). */

idm_status idm_control_solve(control *c, const idm_solver *solver, idm_plan_report *report,
                             idm_error *opt_error);

/* === delay ================================================================================== */

/* Backward induction with delay discounting, 1/(1 + kappa t). It is not equivalent to a constant
 * discount per step: preferences are time-inconsistent. */

/* Discount factor of control->continuation in a decision. */
double idm_control_delay_step(const control *c);
/* Solves all layers of a variant; returns the largest |value|. */
double idm_control_solve_delayed(control *c, size_t variant, idm_plan_report *report);

/* === evaluate =============================================================================== */

/* Values and policies at any belief, from the values on the lattice. */

void idm_control_policy(const void *content, size_t variant, int steps, const double *z,
                        double *decision, double *opt_specification, double *scratch);
void idm_control_log_policy(const void *content, size_t variant, int steps, const double *z,
                            double *log_decision, double *scratch);
double idm_control_value(const void *content, size_t variant, int steps, const double *z,
                         double *scratch);
/* Q at a belief; interpolated from tables if the policies are. */
void idm_control_quality(const void *content, size_t variant, int steps, const double *z,
                         double *quality, double *scratch);
size_t idm_control_scratch(const void *content);

/* === forward ================================================================================ */

/* Forward recursion: occupancy, return and complexities (docs/method/control.md, 9). */

idm_status idm_control_forward(void *content, size_t variant, idm_forward *forward,
                               double *opt_occupancy, idm_error *opt_error);

#endif
