/* Bounded rational control on a lattice: what solver, forward recursion and policy share, and the
 * operations of the planners that solve it. */
#ifndef IDM_PLAN_CONTROL_H
#define IDM_PLAN_CONTROL_H

#include "belief/successor.h"
#include "idm/planner.h"
#include "plan/control/worth.h"

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
  worth worth;    /* of beliefs themselves, in `belief_utility` */
  double *belief_utility; /* the block's numbers */
  double *action_prior;   /* [action] */
  double *model_prior;    /* [model] */
} control_numbers;

/* Sums kept apart in the transposed product of two states. */
enum { CONTROL_STRANDS = 8 };

/* Vectors of control->vector that the solver needs beside those of GMRES. */
enum { CONTROL_VECTORS = 6 };

typedef struct control {
  const idm_setting *setting; /* borrowed */
  idm_agent agent;
  idm_sizes sizes;
  size_t models;
  size_t variants;
  control_numbers numbers;
  bool own_temperature; /* a softmax laid over the solved Q */
  bool robust;          /* the worst share of the models in place of their soft value */
  bool learns;          /* what makes beliefs is free: derivatives by it are wanted */
  bool awards;          /* the award for certainty is free: the same */
  bool primes;          /* the prior of beliefs is free: the same */
  bool worthy;          /* beliefs are paid for themselves */

  idm_lattice *lattice;
  idm_successors *successors;
  double *transition;   /* what the successors were built from: [model][action][s][s'] */
  double *emission;     /* [model][action][emitter][x] */
  double *log_emission; /* of `emission` */
  double *belief_prior; /* [s] or NULL */
  idm_update update;    /* how beliefs take up what is seen; the same */
  idm_sensor sensor;    /* of the dynamics and weights held here */
  int *idle;            /* [model][action]: see idm_observation_idle; of a limited sensor */
  int *group;           /* [model][action][x]: observations with the same successor belief */
  bool *plane;     /* [model][action]: three states by Bayes' rule, no two observations alike */
  bool built;      /* successors and folds are those of the dynamics held here */
  bool *forgetful; /* [action]: every model forgets, so the future is one number */
  bool any_terminal;
  bool *ended; /* [state]: everything is over there; NULL unless the discount is 1 for ever */

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
  bool rewarded;           /* rewards belong to the utility and the award held here */
  double *value; /* [variant][layers + 1][padded]; stationary: layer 1 is V*. Layer t has t steps
                    left. Without the award of the point itself: see idm_control_award */
  /* Where utilities count by delay, else NULL. */
  double *follow;  /* [variant][layers][padded]: what follows a decision with so many steps left */
  double *delayed; /* [layers + 1][padded]: scratch of sophisticated selves */
  bool *solved;    /* [variant]: value holds a solution to start from */
  double *kept;    /* [slots][variant][padded]: solutions that plans may start from */
  size_t slots;
  double *inverse;              /* [inverses][padded][padded]: see precondition.h; transposed */
  size_t inverses;              /* slots that have one */
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
  idm_successor_block joined; /* rows: 0 where it is not made */
  uint32_t *join;             /* for every entry of the blocks of actions that do not forget, in
                                 their order, its entry there */
  double *held;               /* [action][padded]: a decision policy held still */
  double *penalty;            /* [padded]: alpha KL of the held policy */
  int basis;                  /* basis of GMRES: smaller on very large lattices */
  double *vector;             /* vectors of length padded, see solve.c */
  double *lanes;              /* scratch of one slice */
  double *risky;              /* [2][model]: scratch of one point, where robust */
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
static inline idm_world control_world(const control *c, size_t u, size_t m)
{
  const idm_sizes n = c->sizes;
  const size_t at = m * n.actions + u;
  return (idm_world){.states = n.states,
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
  if (c->follow) return c->follow + ((size_t)c->layers * variant + (size_t)(left - 1)) * c->padded;
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
                              const idm_agent *agent, void **ret_content, idm_error *opt_error);
/* The same with a decision policy of its own temperature, laid over the solved Q. */
idm_status idm_control_create_exploratory(const idm_setting *setting, const idm_theta *theta,
                                          const idm_agent *agent, void **ret_content,
                                          idm_error *opt_error);
/* The same against the worst share of the models, whose level is the planner's own block. */
idm_status idm_control_create_robust(const idm_setting *setting, const idm_theta *theta,
                                     const idm_agent *agent, void **ret_content,
                                     idm_error *opt_error);
idm_status idm_control_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error);
/* Keep the values now held in a slot for later plans to start from. */
idm_status idm_control_keep(void *content, size_t slot, idm_error *opt_error);
void idm_control_destroy(void *content);
size_t idm_control_points(const void *content);
double idm_control_bytes(const void *content, int resolution);

#endif
