/* Behaviour whose internal state is a belief: recognition, hypotheses and derivatives.
 *
 * Contents: believer · belief set · recognise · hypotheses · slope · slope set */
#ifndef IDM_PLAN_BELIEVER_BELIEVER_H
#define IDM_PLAN_BELIEVER_BELIEVER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "belief/filter.h"
#include "idm/behavior.h"
#include "idm/planner.h"
#include "idm/status.h"
#include "idm/theta.h"
#include "plan/believer/environment.h"
#include "plan/choice.h"

/* === believer =============================================================================== */

/* A behaviour whose internal state is a belief, or a weighted set of beliefs where we cannot tell
 * which: how every planner over beliefs acts. */

/* All but the environment is borrowed: the planner's content gives the policies, theta the
 * candidate models. */
typedef struct belief_agent {
  const idm_planner *planner;
  void *content;
  const idm_setting *setting;
  const idm_theta *theta;
  idm_recognition recognition;
  bool differentiable; /* its policies have the derivative of the planner's adjoint */
  environment environment;
} belief_agent;

/* Their content is a believer. */
extern const idm_behavior_ops idm_belief_agent_ops;

/* === belief set ============================================================================= */

/* A weighted set of hypotheses: what an agent may believe, and beside it what the environment's
 * belief would be; with the policies at each. */

/* More than this many hypotheses at once is an error. */
enum { BELIEF_SET_MAX = 100000 };

/* Where a weight in a set came from. */
typedef struct belief_origin {
  uint32_t parent; /* hypothesis of the set before */
  uint32_t target; /* hypothesis of this set */
  uint32_t action;
  uint32_t observation;
  uint32_t model; /* whose successor it is, where recognition is sampled */
  double weight;  /* before weights were scaled to sum to 1 */
} belief_origin;

typedef struct belief_set {
  size_t states;
  size_t actions;
  size_t pairs;            /* numbers of sigma a belief: actions * models */
  bool tracks_environment; /* the environment's beliefs tell hypotheses apart too; else they are
                              unset */
  bool keeps_origins;      /* origins are kept */
  bool tracks_last;        /* last actions tell hypotheses apart too */
  size_t count;
  size_t capacity;
  double *weight;        /* [count], summing to 1 once tidied */
  double *belief;        /* [count][states]: the agent's */
  double *env_belief;    /* [count][states]: the environment's */
  int32_t *last;         /* [count]: the action before; IDM_MISSING at a start */
  size_t decided;        /* room for policies */
  double *decision;      /* [count][actions]: pi at each belief, once asked for */
  double *specification; /* [count][pairs] */
  size_t origins;
  size_t origin_capacity;
  belief_origin *origin;    /* [origins] */
  struct belief_rank *rank; /* [capacity]: scratch for merging */
  uint32_t *target;         /* [capacity]: scratch for merging */
} belief_set;

idm_status idm_belief_set_init(belief_set *set, size_t states, size_t actions, size_t pairs,
                               idm_error *opt_error);
void idm_belief_set_free(belief_set *set);
/* Forget all hypotheses and origins. */
void idm_belief_set_clear(belief_set *set);
/* Append a hypothesis (copied; opt_env_belief is required where the set is `apart`). Equal ones are
 * merged on the way where they become very many. */
idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              const double *opt_env_belief, int last, idm_error *opt_error);
/* Say where the hypothesis added last came from; its `into` and `weight` are filled in. */
idm_status idm_belief_set_trace(belief_set *set, belief_origin origin, idm_error *opt_error);
/* Make room for policies at every hypothesis. */
idm_status idm_belief_set_decide(belief_set *set, idm_error *opt_error);
/* Merge equal hypotheses (every coordinate to a relative 1e-12), into the first of each, and scale
 * the weights to sum to 1. Returns what they summed to; where that is 0 they stay. */
double idm_belief_set_normalise(belief_set *set);

/* === recognise ============================================================================== */

/* Recognition: what an action and an observation make of a belief. Inline, because simulation,
 * likelihood and derivative all spend their time here. */

/* Below this an observation cannot be seen, to all purposes: the quotient may overflow. */
static const double idm_zero_probability = 1e-300;

/* In place of an observation: nothing was perceived, and the belief is predicted by the transition
 * alone. */
#define IDM_UNPERCEIVED SIZE_MAX

/* The models of an action, and what was seen after it. */
typedef struct recognition {
  const idm_setting *setting;
  const idm_theta *theta;
  const double *z;     /* [state] */
  const double *sigma; /* [model]: sigma(m|z,u) */
  size_t action;
  size_t observation; /* or IDM_UNPERCEIVED */
} recognition;

/* Two states go by a way of their own, with everything in registers. */
static inline bool idm_recognition_is_pair(const recognition *r)
{
  return r->theta->sizes.states == 2 && !r->setting->fully_observed &&
         !idm_update_of(r->theta).distorted && r->observation != IDM_UNPERCEIVED;
}

static inline const double *idm_recognition_transition(const recognition *r, size_t model)
{
  const size_t k = r->theta->sizes.states;
  return r->theta->block[IDM_TRANSITION].value +
         (model * r->theta->sizes.actions + r->action) * k * k;
}

/* [emitter], a stride of `observations` apart: the column of what was seen. */
static inline const double *idm_recognition_emission(const recognition *r, size_t model)
{
  const idm_sizes n = r->theta->sizes;
  return r->theta->block[IDM_EMISSION].value +
         (model * n.actions + r->action) * n.states * n.observations + r->observation;
}

static inline idm_action_model idm_recognition_model(const recognition *r, size_t model)
{
  return (idm_action_model){.states = r->theta->sizes.states,
                            .observations = r->theta->sizes.observations,
                            .transition = idm_recognition_transition(r, model),
                            .emission = idm_recognition_emission(r, model) - r->observation,
                            .before = r->setting->emits_before,
                            .update = idm_update_of(r->theta)};
}

/* Where slopes by the dynamics of one model, and by how they are taken up, are added in a theta. */
static inline idm_filter_gradient idm_recognition_gradient(const recognition *r, size_t model,
                                                           idm_theta *derivative)
{
  const idm_sizes n = r->theta->sizes;
  const size_t at = model * n.actions + r->action;
  return (idm_filter_gradient){
      .transition = derivative->block[IDM_TRANSITION].value + at * n.states * n.states,
      .emission = derivative->block[IDM_EMISSION].value + at * n.states * n.observations,
      .prior = derivative->block[IDM_PRIOR_WEIGHT].value,
      .evidence = derivative->block[IDM_EVIDENCE_WEIGHT].value};
}

/* p(s', x | z, u) under one model into joint, or where the update is bent the belief after times
 * p(x|z,u), which is returned. */
static inline double idm_recognition_joint(const recognition *r, size_t model, double *joint)
{
  const idm_sizes n = r->theta->sizes;
  const size_t x = r->observation;
  if (x == IDM_UNPERCEIVED) {
    idm_filter_predict(n.states, idm_recognition_transition(r, model), r->z, joint);
    return 1;
  }
  if (!r->setting->fully_observed) {
    const idm_action_model env_belief = idm_recognition_model(r, model);
    return idm_filter_joint(&env_belief, r->z, x, joint);
  }
  double p;
  if (r->setting->moves) {
    p = idm_filter_next_probability(r->setting->moves, r->action, n.states, r->z, x);
  } else {
    const double *transition = idm_recognition_transition(r, model);
    p = 0;
    for (size_t s = 0; s < n.states; s++) p += r->z[s] * transition[s * n.states + x];
  }
  memset(joint, 0, n.states * sizeof *joint);
  joint[x] = p;
  return p;
}

static inline double idm_recognise_pair(const recognition *r, double *opt_share, double *mean,
                                        double *sigma_sum)
{
  const idm_sizes n = r->theta->sizes;
  const double *transition = idm_recognition_transition(r, 0);
  const double *emission = idm_recognition_emission(r, 0);
  const double z0 = r->z[0];
  const double z1 = r->z[1];
  double predictive = 0, total = 0, first = 0, second = 0;
  for (size_t m = 0; m < r->theta->models; m++) {
    const idm_pair_matrix pair =
        idm_pair_matrix_of(transition, emission, n.observations, r->setting->emits_before);
    const double a = z0 * pair.from[0][0] + z1 * pair.from[1][0];
    const double c = z0 * pair.from[0][1] + z1 * pair.from[1][1];
    const double p = a + c;
    const double share = p > idm_zero_probability ? r->sigma[m] : 0;
    const double weight = p > idm_zero_probability ? share / p : 0;
    if (opt_share) opt_share[m] = share;
    predictive += share * p;
    total += share;
    first += weight * a;
    second += weight * c;
    transition += 4 * n.actions;
    emission += 2 * n.actions * n.observations;
  }
  const double scale = total > 0 ? 1 / total : 0;
  mean[0] = first * scale;
  mean[1] = second * scale;
  *sigma_sum = total;
  return total > 0 ? predictive : 0;
}

/* The mean over sigma of the models' successors, those left out under which x cannot be seen. What
 * sigma leaves to the others goes into `allowed` and, model by model, opt_share. `joint` is
 * scratch, [state]. Returns the predictive probability sum_m sigma_m p_m(x|z,u); 0 where no model
 * allows x. */
static inline double idm_recognise(const recognition *r, double *opt_share, double *mean,
                                   double *sigma_sum, double *joint)
{
  if (idm_recognition_is_pair(r)) return idm_recognise_pair(r, opt_share, mean, sigma_sum);
  const size_t k = r->theta->sizes.states;
  double predictive = 0;
  double total = 0;
  for (size_t s = 0; s < k; s++) mean[s] = 0;
  for (size_t m = 0; m < r->theta->models; m++) {
    const double sigma = r->sigma[m];
    const double p = sigma > 0 ? idm_recognition_joint(r, m, joint) : 0;
    if (opt_share) opt_share[m] = p > idm_zero_probability ? sigma : 0;
    if (!(p > idm_zero_probability)) continue;
    predictive += sigma * p;
    total += sigma;
    for (size_t s = 0; s < k; s++) mean[s] += sigma * (joint[s] / p);
  }
  const double scale = total > 0 ? 1 / total : 0;
  for (size_t s = 0; s < k; s++) mean[s] *= scale;
  *sigma_sum = total;
  return predictive;
}

/* === hypotheses ============================================================================= */

/* What an agent may have in mind at a step of a trajectory, given what was recorded: hypotheses
 * (w_i, z_i, e_i), how they decide and what an event makes of them. */

typedef struct hypotheses {
  /* Nothing but one belief where everything was recorded; nothing at all after something that the
   * agent never does. */
  belief_set set;
  double *known; /* [state]: e°, the environment's belief by what was recorded; where the set is not
                    `apart`, every hypothesis's. Zeros where that is impossible */
  bool decided;  /* policies are there */
  size_t variant;
  int steps;
} hypotheses;

/* Scratch. */
typedef struct step_scratch {
  double *planner;      /* the planner's */
  double *posterior;    /* [state] */
  double *mean;         /* [state] */
  double *env_belief;   /* [state] */
  double *share;        /* [model]: sigma over the models that allow what was seen */
  double *log_decision; /* [action] */
  double *choice;       /* [action] */
  double *sensor;       /* the sensor's */
} step_scratch;

/* What an event did to hypotheses, beside their successors. */
typedef struct update_result {
  double log_evidence; /* see idm_behavior_ops.observe */
  double shift;        /* logarithm of what probabilities of actions were divided by */
  double decided;      /* sum of w_i p_i(u) e^-shift; of a recorded action */
  double total;        /* what the successors' weights summed to */
  bool env_weighted;   /* what was seen was weighed by the environment */
} update_result;

idm_status idm_step_scratch_init(const belief_agent *b, step_scratch *m, idm_error *opt_error);
void idm_step_scratch_free(step_scratch *m);
idm_status idm_hypotheses_init(const belief_agent *b, hypotheses *h, idm_error *opt_error);
void idm_hypotheses_free(hypotheses *h);

/* A trajectory begins. In an MDP a start that is no corner is a state that we do not know. */
idm_status idm_hypotheses_begin(const belief_agent *b, step_scratch *m, hypotheses *h,
                                size_t variant, const double *start, idm_error *opt_error);
/* Policies at every hypothesis. */
idm_status idm_hypotheses_set_policies(const belief_agent *b, step_scratch *m, hypotheses *h,
                                       idm_error *opt_error);
/* The probability of u by hypothesis i over the open actions (NULL: all are), habit and slips
 * included. Where the policy forbids them all, they are shared equally. */
double idm_hypotheses_choice(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u);
/* Take back a slope by log of that choice: see idm_choice_backward. */
void idm_hypotheses_backward(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double derivative,
                             double *to, choice_bias_gradient *both);
/* log sum_i w_i pi(u|z_i). */
double idm_hypotheses_log_act(const belief_agent *b, step_scratch *m, const hypotheses *h,
                              const bool *opt_open, size_t u);
/* The shift of an event: 0 where the likeliest action has a probability beside which all that is
 * lost to underflow is nothing; else its logarithm, -inf where it is 0. */
double idm_hypotheses_shift(const belief_agent *b, step_scratch *m, const hypotheses *h,
                            const idm_event *event, const bool *opt_open);
/* The factor by which an action weighs hypothesis i: pi(u|z_i) e^-shift. */
double idm_hypotheses_factor(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double shift);

/* What an event makes of them. `from` must have decided; `into` is another. What the agent's models
 * or the environment hold impossible is IDM_INPUT. */
idm_status idm_hypotheses_update(const belief_agent *b, step_scratch *m, const hypotheses *from,
                                 const idm_event *event, const bool *opt_open, hypotheses *target,
                                 update_result *result, idm_random *opt_random,
                                 idm_error *opt_error);
/* No model of the agent allows what was seen: the error. */
idm_status idm_hypotheses_unrecognised(const belief_agent *b, const idm_event *event,
                                       idm_error *opt_error);

/* --- the common case, inline: likelihoods spend their time here ------------------------------ */

/* Policies at every hypothesis, unless they are there. */
static inline idm_status idm_hypotheses_decide(const belief_agent *b, step_scratch *m,
                                               hypotheses *h, idm_error *opt_error)
{
  return h->decided ? IDM_OK : idm_hypotheses_set_policies(b, m, h, opt_error);
}

static inline recognition idm_hypotheses_recognition(const belief_agent *b, const belief_set *set,
                                                     size_t i, size_t u, size_t x)
{
  return (recognition){.setting = b->setting,
                       .theta = b->theta,
                       .z = set->belief + i * set->states,
                       .sigma = set->specification + i * set->pairs + u * b->theta->models,
                       .action = u,
                       .observation = x};
}

static inline void idm_hypotheses_step(const hypotheses *from, hypotheses *target)
{
  target->variant = from->variant;
  target->steps = from->steps + 1;
  target->decided = false;
}

/* Whether everything was recorded and one belief is possible: what a limited sensor passes is not.
 */
static inline bool idm_hypotheses_is_single(const belief_agent *b, const hypotheses *h,
                                            const idm_event *event)
{
  const idm_sensor sensor = idm_sensor_of(b->setting, b->theta);
  if (idm_sensor_is_limited(&sensor)) return false;
  return event->action != IDM_MISSING && event->observation != IDM_MISSING && h->set.count == 1 &&
         !h->set.tracks_environment && b->recognition == IDM_RECOGNITION_MEAN;
}

/* What an event makes of that belief; `into` may be `from`. */
static inline idm_status idm_hypotheses_update_single(const belief_agent *b, step_scratch *m,
                                                      const hypotheses *from,
                                                      const idm_event *event, hypotheses *target,
                                                      idm_error *opt_error)
{
  const size_t k = from->set.states;
  const recognition r = idm_hypotheses_recognition(b, &from->set, 0, (size_t)event->action,
                                                   (size_t)event->observation);
  double sigma_sum;
  if (!(idm_recognise(&r, m->share, m->mean, &sigma_sum, m->posterior) > 0))
    return idm_hypotheses_unrecognised(b, event, opt_error);
  if (!event->all_recorded) {
    idm_environment_update(&b->environment, event, NULL, from->known, m->env_belief, m->posterior);
    memcpy(target->known, m->env_belief, k * sizeof *m->env_belief);
  }
  target->set.count = 1;
  target->set.tracks_environment = false;
  target->set.weight[0] = 1;
  target->set.last[0] = event->missed ? from->set.last[0] : event->action;
  for (size_t s = 0; s < k; s++) target->set.belief[s] = m->mean[s];
  idm_hypotheses_step(from, target);
  return IDM_OK;
}

/* === slope ================================================================================== */

/* The derivative of a believer's log-likelihood, in reverse over the prefix tree and through its
 * planner's fixed point. */

/* Their content is a believer. It can be had where the planner's policies have an adjoint. */
extern const idm_gradient_ops idm_belief_agent_gradient;
/* After a run of such a slope: the derivative by the start of the setting, [state], up to a number
 * common to all states. False where rows that were not recorded leave it open. */
bool idm_belief_agent_by_start(const void *derivative, double *by_start);

/* What the points that an adjoint received are by theta, and what was asked of habits (of
 * perseverance where choices remember the action before). IDM_NUMERICAL where it is not finite. */
idm_status idm_belief_agent_finish(const belief_agent *b, void *adjoint,
                                   const choice_bias_gradient *sigma_gradient, bool tracks_last,
                                   idm_theta *theta_gradient, idm_error *opt_error);

/* === slope set ============================================================================== */

/* The derivative of the log-likelihood where several hypotheses are possible: subtrees of the
 * prefix tree, gone through depth first, with the hypotheses of one branch in memory at a time. */

/* A row of the tree. */
typedef struct gradient_row {
  uint32_t before; /* slot of the belief decided at, see slope.c; none where there are several */
  uint32_t after;  /* slot of the belief made; none for a leaf, and where there are several */
  uint32_t depth;
  uint32_t first_row; /* for messages */
  int32_t action;
  int32_t observation;
  bool missed; /* see idm_event */
  bool leaf;
  bool last;        /* see idm_event */
  const bool *open; /* [action]; NULL: all */
  double count;     /* trajectories through this row */
  double decided;   /* the same; 0 where nothing was decided: forced, or not recorded */
} gradient_row;

/* Where a subtree hangs: at one known belief, whose slopes are added to, or at a start that is one
 * of several. */
typedef struct gradient_base {
  size_t variant;
  int steps;
  uint32_t depth;
  choice_bias_gradient *choice_bias; /* what is asked of habits is added here */
  idm_theta *opt_dynamics;           /* and of what makes beliefs here; NULL: not wanted */
  const double *opt_start;           /* [state]: several; then nothing below is given */
  int last;                          /* the action before; IDM_MISSING at a start */
  const double *belief;              /* [state] */
  const double *known;               /* [state]: the environment's */
  const double *decision;            /* [action] */
  const double *specification;       /* [action][model] */
  double *belief_gradient;
  double *log_decision_gradient;
  double *specification_gradient;
} gradient_base;

typedef struct gradient_set gradient_set;
/* The believer and the adjoint of its planner are borrowed. */
idm_status idm_gradient_set_create(const belief_agent *b, void *adjoint,
                                   gradient_set **ret_gradient, idm_error *opt_error);
void idm_gradient_set_destroy(gradient_set *derivative);
/* Adds the log-likelihood of rows that follow each other in the tree, below a base. After adjoint
 * `begin`: points are asked for on the way. Where it comes to -inf slopes are of no use. `checked`:
 * last observations were found possible before. An error names its row by *at. */
idm_status idm_gradient_set_run(gradient_set *derivative, const gradient_base *base,
                                const gradient_row *row, size_t rows, bool checked,
                                double *log_likelihood, size_t *at, idm_error *opt_error);

#endif
