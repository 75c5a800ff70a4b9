/* What an agent may have in mind at a step of a trajectory, given what was recorded: hypotheses
 * (w_i, z_i, e_i), how they decide and what an event makes of them. */
#ifndef IDM_PLAN_BELIEVER_HYPOTHESES_H
#define IDM_PLAN_BELIEVER_HYPOTHESES_H

#include "plan/believer/belief_set.h"
#include "plan/believer/believer.h"
#include "plan/believer/recognise.h"
#include "plan/habit.h"

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
typedef struct musing {
  double *planner;      /* the planner's */
  double *posterior;    /* [state] */
  double *mean;         /* [state] */
  double *world;        /* [state] */
  double *share;        /* [model]: sigma over the models that allow what was seen */
  double *log_decision; /* [action] */
  double *choice;       /* [action] */
  double *sensor;       /* the sensor's */
} musing;

/* What an event did to hypotheses, beside their successors. */
typedef struct consequence {
  double log_evidence; /* see idm_behavior_ops.observe */
  double shift;        /* logarithm of what probabilities of actions were divided by */
  double decided;      /* sum of w_i p_i(u) e^-shift; of a recorded action */
  double total;        /* what the successors' weights summed to */
  bool weighs;         /* what was seen was weighed by the environment */
} consequence;

idm_status idm_musing_init(const believer *b, musing *m, idm_error *opt_error);
void idm_musing_free(musing *m);
idm_status idm_hypotheses_init(const believer *b, hypotheses *h, idm_error *opt_error);
void idm_hypotheses_free(hypotheses *h);

/* A trajectory begins. In an MDP a start that is no corner is a state that we do not know. */
idm_status idm_hypotheses_begin(const believer *b, musing *m, hypotheses *h, size_t variant,
                                const double *start, idm_error *opt_error);
/* Policies at every hypothesis. */
idm_status idm_hypotheses_plan(const believer *b, musing *m, hypotheses *h, idm_error *opt_error);
/* The probability of u by hypothesis i over the open actions (NULL: all are), habit and slips
 * included. Where the policy forbids them all, they are shared equally. */
double idm_hypotheses_choice(const believer *b, musing *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u);
/* Take back a slope by log of that choice: see idm_habit_recall. */
void idm_hypotheses_recall(const believer *b, musing *m, const hypotheses *h, const bool *opt_open,
                           size_t i, size_t u, double slope, double *to, habit_slope *both);
/* log sum_i w_i pi(u|z_i). */
double idm_hypotheses_log_act(const believer *b, musing *m, const hypotheses *h,
                              const bool *opt_open, size_t u);
/* The shift of an event: 0 where the likeliest action has a probability beside which all that is
 * lost to underflow is nothing; else its logarithm, -inf where it is 0. */
double idm_hypotheses_shift(const believer *b, musing *m, const hypotheses *h,
                            const idm_event *event, const bool *opt_open);
/* The factor by which an action weighs hypothesis i: pi(u|z_i) e^-shift. */
double idm_hypotheses_factor(const believer *b, musing *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double shift);

/* What an event makes of them. `from` must have decided; `into` is another. What the agent's models
 * or the environment hold impossible is IDM_INPUT. */
idm_status idm_hypotheses_follow(const believer *b, musing *m, const hypotheses *from,
                                 const idm_event *event, const bool *opt_open, hypotheses *into,
                                 consequence *result, idm_random *opt_random, idm_error *opt_error);
/* No model of the agent allows what was seen: the error. */
idm_status idm_hypotheses_unrecognised(const believer *b, const idm_event *event,
                                       idm_error *opt_error);

/* --- the common case, inline: likelihoods spend their time here ------------------------------ */

/* Policies at every hypothesis, unless they are there. */
static inline idm_status idm_hypotheses_decide(const believer *b, musing *m, hypotheses *h,
                                               idm_error *opt_error)
{
  return h->decided ? IDM_OK : idm_hypotheses_plan(b, m, h, opt_error);
}

static inline recognition idm_hypotheses_recognition(const believer *b, const belief_set *set,
                                                     size_t i, size_t u, size_t x)
{
  return (recognition){.setting = b->setting,
                       .theta = b->theta,
                       .z = set->belief + i * set->states,
                       .sigma = set->specification + i * set->pairs + u * b->theta->models,
                       .action = u,
                       .observation = x};
}

static inline void idm_hypotheses_step(const hypotheses *from, hypotheses *into)
{
  into->variant = from->variant;
  into->steps = from->steps + 1;
  into->decided = false;
}

/* Whether everything was recorded and one belief is possible: what a limited sensor passes is not.
 */
static inline bool idm_hypotheses_is_one(const believer *b, const hypotheses *h,
                                         const idm_event *event)
{
  const idm_sensor sensor = idm_sensor_of(b->setting, b->theta);
  if (idm_sensor_is_limited(&sensor)) return false;
  return event->action != IDM_MISSING && event->observation != IDM_MISSING && h->set.count == 1 &&
         !h->set.apart && b->recognition == IDM_RECOGNITION_MEAN;
}

/* What an event makes of that belief; `into` may be `from`. */
static inline idm_status idm_hypotheses_follow_one(const believer *b, musing *m,
                                                   const hypotheses *from, const idm_event *event,
                                                   hypotheses *into, idm_error *opt_error)
{
  const size_t k = from->set.states;
  const recognition r = idm_hypotheses_recognition(b, &from->set, 0, (size_t)event->action,
                                                   (size_t)event->observation);
  double allowed;
  if (!(idm_recognise(&r, m->share, m->mean, &allowed, m->posterior) > 0))
    return idm_hypotheses_unrecognised(b, event, opt_error);
  if (!event->whole) {
    idm_environment_follow(&b->environment, event, NULL, from->known, m->world, m->posterior);
    memcpy(into->known, m->world, k * sizeof *m->world);
  }
  into->set.count = 1;
  into->set.apart = false;
  into->set.weight[0] = 1;
  into->set.last[0] = event->missed ? from->set.last[0] : event->action;
  for (size_t s = 0; s < k; s++) into->set.belief[s] = m->mean[s];
  idm_hypotheses_step(from, into);
  return IDM_OK;
}

#endif
