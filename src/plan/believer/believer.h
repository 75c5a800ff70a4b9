/* Behaviour whose internal state is a belief: recognition, weighted hypotheses, and derivatives.
 *
 * Contents: belief agent · belief set · recognition · hypotheses · gradient · gradient set */
#ifndef IDM_PLAN_BELIEVER_BELIEVER_H
#define IDM_PLAN_BELIEVER_BELIEVER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "belief/belief.h"
#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "idm/extension/theta.h"
#include "idm/status.h"
#include "plan/believer/environment.h"
#include "plan/choice.h"

/* === belief agent =========================================================================== */

/* A behaviour whose internal state is a belief, or a weighted set of beliefs if the log does not
 * determine it. All planners over beliefs share it. */

/* All but the environment is borrowed: `content` gives the policies, `theta` the candidate models.
 */
typedef struct belief_agent {
  const idm_planner *planner;
  void *content;
  const idm_setting *setting;
  const idm_theta *theta;
  idm_recognition recognition;
  bool differentiable; /* the planner's adjoint gives the derivative of the policies */
  environment environment;
} belief_agent;

/* The content is a belief_agent. */
extern const idm_behavior_ops idm_belief_agent_ops;

/* === belief set ============================================================================= */

/* A weighted set of hypotheses: possible beliefs of the agent, each with the belief of the
 * environment and the policies at it. */

/* Maximum number of hypotheses in a set; more are an error. */
enum { BELIEF_SET_MAX = 100000 };

/* Origin of a weight in a set. */
typedef struct belief_origin {
  uint32_t parent; /* hypothesis of the previous set */
  uint32_t target; /* hypothesis of this set */
  uint32_t action;
  uint32_t observation;
  uint32_t model; /* model of this successor, if recognition is sampled */
  double weight;  /* before normalisation */
} belief_origin;

typedef struct belief_set {
  size_t states;
  size_t actions;
  size_t pairs;            /* entries of sigma per belief: actions * models */
  bool tracks_environment; /* hypotheses also differ by the environment's beliefs; else those are
                              unset */
  bool keeps_origins;      /* origins are recorded */
  bool tracks_last;        /* hypotheses also differ by their previous actions */
  size_t count;
  size_t capacity;
  double *weight;        /* [count], summing to 1 after normalisation */
  double *belief;        /* [count][states]: the agent's */
  double *env_belief;    /* [count][states]: the environment's */
  int32_t *last;         /* [count]: previous action; IDM_MISSING at a start */
  size_t decided;        /* hypotheses allocated in the policies */
  double *decision;      /* [count][actions]: pi at each belief, once computed */
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
/* Removes all hypotheses and origins. */
void idm_belief_set_clear(belief_set *set);
/* Appends a hypothesis (copied; opt_env_belief is required if the set has `tracks_environment`).
 * Equal hypotheses are merged if the set becomes very large. IDM_INPUT if more than BELIEF_SET_MAX
 * remain. */
idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              const double *opt_env_belief, int last, idm_error *opt_error);
/* Records the origin of the last hypothesis; its `target` and `weight` are filled in. */
idm_status idm_belief_set_trace(belief_set *set, belief_origin origin, idm_error *opt_error);
/* Allocates policies for every hypothesis. */
idm_status idm_belief_set_decide(belief_set *set, idm_error *opt_error);
/* Merges equal hypotheses (every coordinate to a relative 1e-12) into the first of each, and
 * normalises the weights. Returns their sum before normalisation; if it is 0 the weights do not
 * change. */
double idm_belief_set_normalise(belief_set *set);

/* === recognition ============================================================================ */

/* Recognition: the next belief given a belief, an action and an observation
 * (docs/method/control.md, 4). Inline, because it is the inner loop of simulation, likelihood and
 * derivative. */

/* An observation with a smaller probability counts as impossible: the quotient may overflow. */
static const double idm_zero_probability = 1e-300;

/* Value of `observation` if nothing was perceived: the belief is predicted by the transition alone.
 */
#define IDM_UNPERCEIVED SIZE_MAX

/* Arguments of a recognition: the belief, the candidate models of an action, and the observation
 * after it. */
typedef struct recognition {
  const idm_setting *setting;
  const idm_theta *theta;
  const double *z;     /* [state] */
  const double *sigma; /* [model]: sigma(m|z,u) */
  size_t action;
  size_t observation; /* or IDM_UNPERCEIVED */
} recognition;

/* Whether the specialised code for two hidden states applies, which keeps all values in registers.
 */
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

/* [emitter], with stride `observations`: probabilities of the observation. */
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

/* Places in a theta to which derivatives with respect to one model's dynamics, prior_weight and
 * evidence_weight are added. */
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

/* Computes p(s', x | z, u) under one model into joint[state] and returns p(x|z,u). If the update is
 * distorted, joint is the updated belief times p(x|z,u). Without a perceived observation joint is
 * the predicted belief, and 1 is returned. */
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

/* Computes mean[state], the mean over sigma of the models' posteriors, without the models under
 * which x is impossible. *sigma_sum receives the sum of sigma over the other models;
 * opt_share[model] receives sigma of each, 0 for the omitted ones. `joint` is scratch, [state].
 * Returns the predictive probability sum_m sigma_m p_m(x|z,u); 0 if x is impossible under all
 * models. */
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

/* Hypotheses (w_i, z_i, e_i) about the agent's belief at a step of a trajectory, given the record:
 * a weight, the agent's belief and the environment's belief. Their choices, and their update by an
 * event (docs/method/likelihood.md, 4). */

typedef struct hypotheses {
  /* One belief if everything was recorded; empty after an event of probability 0 under the agent.
   */
  belief_set set;
  double *known; /* [state]: e°, the environment's belief given the record; that of every hypothesis
                    unless the set has `tracks_environment`. Zeros if the record is impossible */
  bool decided;  /* the policies are computed */
  size_t variant;
  int steps;
} hypotheses;

/* Scratch. */
typedef struct step_scratch {
  double *planner;      /* of the planner */
  double *posterior;    /* [state] */
  double *mean;         /* [state] */
  double *env_belief;   /* [state] */
  double *share;        /* [model]: sigma over the models under which the observation is possible */
  double *log_decision; /* [action] */
  double *choice;       /* [action] */
  double *sensor;       /* of the sensor */
} step_scratch;

/* Results of an update, apart from the successors. */
typedef struct update_result {
  double log_evidence; /* see idm_behavior_ops.observe */
  double shift;        /* logarithm of the divisor of the choice probabilities */
  double decided;      /* sum of w_i p_i(u) e^-shift, for a recorded action */
  double total;        /* sum of the successors' weights before normalisation */
  bool env_weighted;   /* the observation was weighted by the environment */
} update_result;

idm_status idm_step_scratch_init(const belief_agent *b, step_scratch *m, idm_error *opt_error);
void idm_step_scratch_free(step_scratch *m);
idm_status idm_hypotheses_init(const belief_agent *b, hypotheses *h, idm_error *opt_error);
void idm_hypotheses_free(hypotheses *h);

/* Begins a trajectory. In an MDP a start that is not certain gives one hypothesis per possible
 * state. */
idm_status idm_hypotheses_begin(const belief_agent *b, step_scratch *m, hypotheses *h,
                                size_t variant, const double *start, idm_error *opt_error);
/* Computes the policies at every hypothesis. */
idm_status idm_hypotheses_set_policies(const belief_agent *b, step_scratch *m, hypotheses *h,
                                       idm_error *opt_error);
/* Probability of action u under hypothesis i among the open actions (opt_open NULL: all), with
 * perseverance and lapse. It is uniform if the policy is 0 for every open action. */
double idm_hypotheses_choice(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u);
/* Backward pass of that choice, given the derivative with respect to its logarithm: see
 * idm_choice_backward. */
void idm_hypotheses_backward(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double derivative,
                             double *to, choice_bias_gradient *both);
/* log sum_i w_i p_i(u), with the choice probabilities p_i of idm_hypotheses_choice; exact under
 * underflow. */
double idm_hypotheses_log_act(const belief_agent *b, step_scratch *m, const hypotheses *h,
                              const bool *opt_open, size_t u);
/* Shift of an event: 0 if the largest choice probability is so large that underflow of the others
 * is negligible; else its logarithm, -inf if it is 0. */
double idm_hypotheses_shift(const belief_agent *b, step_scratch *m, const hypotheses *h,
                            const idm_event *event, const bool *opt_open);
/* Factor of the weight of hypothesis i after action u: p_i(u) e^-shift; 1 if the shift is -inf. */
double idm_hypotheses_factor(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double shift);

/* Updates hypotheses by an event. `from` must have its policies; `target` must be a different
 * object. IDM_INPUT if the event is impossible under the agent's models or in the environment. */
idm_status idm_hypotheses_update(const belief_agent *b, step_scratch *m, const hypotheses *from,
                                 const idm_event *event, const bool *opt_open, hypotheses *target,
                                 update_result *result, idm_random *opt_random,
                                 idm_error *opt_error);
/* Sets and returns the error that no model of the agent allows the observation. */
idm_status idm_hypotheses_unrecognised(const belief_agent *b, const idm_event *event,
                                       idm_error *opt_error);

/* --- inline fast path: one belief, everything recorded --------------------------------------- */

/* Computes the policies at every hypothesis unless they are present. */
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

/* Whether everything was recorded and one belief is possible. What a limited sensor passes is not
 * recorded. */
static inline bool idm_hypotheses_is_single(const belief_agent *b, const hypotheses *h,
                                            const idm_event *event)
{
  const idm_sensor sensor = idm_sensor_of(b->setting, b->theta);
  if (idm_sensor_is_limited(&sensor)) return false;
  return event->action != IDM_MISSING && event->observation != IDM_MISSING && h->set.count == 1 &&
         !h->set.tracks_environment && b->recognition == IDM_RECOGNITION_MEAN;
}

/* Updates that belief by an event; `target` may be `from`. */
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

/* === gradient =============================================================================== */

/* Reverse-mode derivative of the log-likelihood of a belief agent, over the tree of histories and
 * through the planner's fixed point (docs/method/likelihood.md, 7). */

/* The content is a belief_agent. Available if the planner's policies have an adjoint. */
extern const idm_gradient_ops idm_belief_agent_gradient;
/* After a run of such a gradient: derivative with respect to the start belief of the setting,
 * [state], up to a constant common to all states. Returns false if states are observed, or if
 * missing cells leave several hypotheses possible. */
bool idm_belief_agent_by_start(const void *derivative, double *by_start);

/* Computes the derivatives with respect to theta from the points that the adjoint received and from
 * *sigma_gradient, the derivatives with respect to perseverance (used if tracks_last) and lapse.
 * IDM_NUMERICAL if one is not finite. */
idm_status idm_belief_agent_finish(const belief_agent *b, void *adjoint,
                                   const choice_bias_gradient *sigma_gradient, bool tracks_last,
                                   idm_theta *theta_gradient, idm_error *opt_error);

/* === gradient set =========================================================================== */

/* Derivative of the log-likelihood where several hypotheses are possible: subtrees of the tree of
 * histories, traversed depth first, with the hypotheses of one branch in memory at a time. */

/* A row of the tree. */
typedef struct gradient_row {
  uint32_t before; /* slot of the belief at the decision, see slope.c; none if there are several */
  uint32_t after;  /* slot of the updated belief; none for a leaf, and if there are several */
  uint32_t depth;
  uint32_t first_row; /* for error messages */
  int32_t action;
  int32_t observation;
  bool missed; /* see idm_event */
  bool leaf;
  bool last;        /* see idm_event */
  const bool *open; /* [action]; NULL: all */
  double count;     /* trajectories through this row */
  double decided;   /* the same; 0 without a decision: forced, or not recorded */
} gradient_row;

/* Root of a subtree: one known belief, to whose derivatives those of the subtree are added, or an
 * uncertain start. */
typedef struct gradient_base {
  size_t variant;
  int steps;
  uint32_t depth;
  choice_bias_gradient
      *choice_bias;        /* derivatives with respect to perseverance and lapse are added here */
  idm_theta *opt_dynamics; /* those with respect to the parameters of the belief update are added
                              here; NULL: not required */
  const double *opt_start; /* [state]: an uncertain start; then the fields below are unset */
  int last;                /* previous action; IDM_MISSING at a start */
  const double *belief;    /* [state] */
  const double *known;     /* [state]: the environment's */
  const double *decision;  /* [action] */
  const double *specification; /* [action][model] */
  double *belief_gradient;
  double *log_decision_gradient;
  double *specification_gradient;
} gradient_base;

typedef struct gradient_set gradient_set;
/* Borrows the belief agent and the adjoint of its planner. */
idm_status idm_gradient_set_create(const belief_agent *b, void *adjoint,
                                   gradient_set **ret_gradient, idm_error *opt_error);
void idm_gradient_set_destroy(gradient_set *derivative);
/* Adds the log-likelihood of consecutive rows of the tree, below a base, to *log_likelihood. Call
 * it after the adjoint's `begin`; adjoint points are added during the run. If the result is -inf
 * the derivatives are invalid. `checked`: final observations were checked to be possible before.
 * After an error *at is the index of its row. */
idm_status idm_gradient_set_run(gradient_set *derivative, const gradient_base *base,
                                const gradient_row *row, size_t rows, bool checked,
                                double *log_likelihood, size_t *at, idm_error *opt_error);

#endif
