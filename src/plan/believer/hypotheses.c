/* What an agent may have in mind, given what was recorded.
 *
 * A log with gaps is a marginal: one belief while everything is recorded, else a set, each with the
 * environment's belief beside the agent's.
 *
 * Contents: making them · deciding · recognising */
#include "plan/believer/hypotheses.h"
#include "base/log_sum.h"
#include "plan/smallest.h"

#include <math.h>

#include "base/memory.h"

/* --- making them ---------------------------------------------------------------------------- */

void idm_musing_free(musing *m)
{
  double *const owned[] = {m->planner, m->posterior,    m->mean,   m->world,
                           m->share,   m->log_decision, m->choice, m->sensor};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

idm_status idm_musing_init(const believer *b, musing *m, idm_error *opt_error)
{
  const idm_sizes n = b->theta->sizes;
  *m = (musing){.planner = idm_new(b->planner->belief->scratch(b->content), sizeof(double)),
                .posterior = idm_new(n.states, sizeof(double)),
                .mean = idm_new(n.states, sizeof(double)),
                .world = idm_new(n.states, sizeof(double)),
                .share = idm_new(b->theta->models, sizeof(double)),
                .log_decision = idm_new(n.actions, sizeof(double)),
                .choice = idm_new(n.actions, sizeof(double)),
                .sensor = idm_new(idm_sensor_scratch(n), sizeof(double))};
  if (m->planner && m->posterior && m->mean && m->world && m->share && m->log_decision &&
      m->choice && m->sensor)
    return IDM_OK;
  return idm_fail_memory(opt_error);
}

void idm_hypotheses_free(hypotheses *h)
{
  idm_belief_set_free(&h->set);
  free(h->known);
}

idm_status idm_hypotheses_init(const believer *b, hypotheses *h, idm_error *opt_error)
{
  const idm_sizes n = b->theta->sizes;
  *h = (hypotheses){.known = idm_new(n.states, sizeof(double))};
  const idm_status status =
      idm_belief_set_init(&h->set, n.states, n.actions, n.actions * b->theta->models, opt_error);
  return status == IDM_OK && !h->known ? idm_fail_memory(opt_error) : status;
}

idm_status idm_hypotheses_begin(const believer *b, musing *m, hypotheses *h, size_t variant,
                                const double *start, idm_error *opt_error)
{
  const size_t k = b->theta->sizes.states;
  h->variant = variant;
  h->steps = 0;
  h->decided = false;
  h->set.apart = false;
  idm_belief_set_clear(&h->set);
  memcpy(h->known, start, k * sizeof *start);
  if (!b->setting->fully_observed)
    return idm_belief_set_add(&h->set, 1, start, NULL, IDM_MISSING, opt_error);
  for (size_t s = 0; s < k; s++) {
    if (!(start[s] > 0)) continue;
    memset(m->mean, 0, k * sizeof *m->mean);
    m->mean[s] = 1;
    const idm_status status =
        idm_belief_set_add(&h->set, start[s], m->mean, m->mean, IDM_MISSING, opt_error);
    if (status != IDM_OK) return status;
  }
  h->set.apart = h->set.count > 1;
  return IDM_OK;
}

/* --- deciding ------------------------------------------------------------------------------- */

idm_status idm_hypotheses_plan(const believer *b, musing *m, hypotheses *h, idm_error *opt_error)
{
  belief_set *set = &h->set;
  if (set->count > set->decided) {
    const idm_status status = idm_belief_set_decide(set, opt_error);
    if (status != IDM_OK) return status;
  }
  for (size_t i = 0; i < set->count; i++)
    b->planner->belief->policy(b->content, h->variant, h->steps, set->belief + i * set->states,
                               set->decision + i * set->actions,
                               set->specification + i * set->pairs, m->planner);
  h->decided = true;
  return IDM_OK;
}

/* q of idm_habit_tilt at hypothesis i, into m->choice: by logarithms where it is too small. */
static double tilt(const believer *b, musing *m, const hypotheses *h, habit own,
                   const bool *opt_open, size_t i)
{
  const belief_set *set = &h->set;
  double open;
  if (idm_habit_tilt(own, set->actions, set->decision + i * set->actions, opt_open, set->last[i],
                     m->choice, &open))
    return open;
  b->planner->belief->log_policy(b->content, h->variant, h->steps, set->belief + i * set->states,
                                 m->choice, m->planner);
  idm_habit_tilt_logs(own, set->actions, m->choice, opt_open, set->last[i], m->choice, &open);
  for (size_t u = 0; u < set->actions; u++) m->choice[u] = exp(m->choice[u]);
  return open;
}

double idm_hypotheses_choice(const believer *b, musing *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u)
{
  const habit own = idm_habit_of(b->theta);
  const double *decision = h->set.decision + i * h->set.actions;
  if (opt_open && !opt_open[u]) return 0;
  if (!opt_open && !idm_habit_acts(own)) return decision[u];
  const double open = tilt(b, m, h, own, opt_open, i);
  return idm_habit_slip(own, m->choice[u], open);
}

/* log of idm_hypotheses_choice, where that is too small. */
static double log_choice(const believer *b, musing *m, const hypotheses *h, const bool *opt_open,
                         size_t i, size_t u)
{
  const habit own = idm_habit_of(b->theta);
  double open;
  if (opt_open && !opt_open[u]) return -INFINITY;
  b->planner->belief->log_policy(b->content, h->variant, h->steps,
                                 h->set.belief + i * h->set.states, m->log_decision, m->planner);
  idm_habit_tilt_logs(own, h->set.actions, m->log_decision, opt_open, h->set.last[i],
                      m->log_decision, &open);
  return idm_habit_log_slip(own, m->log_decision[u], open);
}

/* Whether the policy forbids them all: then nothing of theta moves the choice. */
static bool forbids(const believer *b, musing *m, const hypotheses *h, const bool *opt_open,
                    size_t i)
{
  const size_t actions = h->set.actions;
  const double *decision = h->set.decision + i * actions;
  for (size_t u = 0; u < actions; u++)
    if ((!opt_open || opt_open[u]) && decision[u] > 0) return false;
  b->planner->belief->log_policy(b->content, h->variant, h->steps,
                                 h->set.belief + i * h->set.states, m->log_decision, m->planner);
  for (size_t u = 0; u < actions; u++)
    if ((!opt_open || opt_open[u]) && m->log_decision[u] > -INFINITY) return false;
  return true;
}

void idm_hypotheses_recall(const believer *b, musing *m, const hypotheses *h, const bool *opt_open,
                           size_t i, size_t u, double slope, double *to, habit_slope *both)
{
  const habit own = idm_habit_of(b->theta);
  if (slope == 0 || forbids(b, m, h, opt_open, i)) return;
  const double open = tilt(b, m, h, own, opt_open, i);
  idm_habit_recall(own, h->set.actions, m->choice, open, h->set.last[i], u, slope, to, both);
}

double idm_hypotheses_log_act(const believer *b, musing *m, const hypotheses *h,
                              const bool *opt_open, size_t u)
{
  const belief_set *set = &h->set;
  double sum = 0;
  for (size_t i = 0; i < set->count; i++)
    sum += set->weight[i] * idm_hypotheses_choice(b, m, h, opt_open, i, u);
  if (sum > idm_smallest) return log(sum);
  idm_log_sum small = idm_log_sum_empty;
  for (size_t i = 0; i < set->count; i++)
    idm_log_sum_add(&small, log(set->weight[i]) + log_choice(b, m, h, opt_open, i, u));
  return idm_log_sum_value(small);
}

double idm_hypotheses_factor(const believer *b, musing *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double shift)
{
  if (shift == 0) return idm_hypotheses_choice(b, m, h, opt_open, i, u);
  if (shift == -INFINITY) return 1;
  return exp(log_choice(b, m, h, opt_open, i, u) - shift);
}

double idm_hypotheses_shift(const believer *b, musing *m, const hypotheses *h,
                            const idm_event *event, const bool *opt_open)
{
  const size_t actions = h->set.actions;
  double best = 0;
  for (size_t i = 0; i < h->set.count; i++)
    for (size_t u = 0; u < actions; u++)
      if (idm_environment_allows(&b->environment, event, opt_open, u))
        best = fmax(best, idm_hypotheses_choice(b, m, h, opt_open, i, u));
  if (best > 1e-100) return 0;
  best = -INFINITY;
  for (size_t i = 0; i < h->set.count; i++)
    for (size_t u = 0; u < actions; u++)
      if (idm_environment_allows(&b->environment, event, opt_open, u))
        best = fmax(best, log_choice(b, m, h, opt_open, i, u));
  return best;
}

/* --- recognising ---------------------------------------------------------------------------- */

static idm_status impossible(const believer *b, const idm_event *event, const char *whom,
                             idm_error *opt_error)
{
  const idm_setting *s = b->setting;
  return idm_fail(
      opt_error, IDM_INPUT, "observation '%s' after '%s' is impossible %s",
      event->observation == IDM_MISSING ? "anything" : s->observations.name[event->observation],
      event->action == IDM_MISSING ? "any open action" : s->actions.name[event->action], whom);
}

/* The environment does not allow the event. */
static idm_status contradicts(const believer *b, const idm_event *event, const bool *opt_open,
                              idm_error *opt_error)
{
  for (size_t u = 0; u < b->theta->sizes.actions; u++)
    if (idm_environment_allows(&b->environment, event, opt_open, u))
      return impossible(b, event, "in the environment, by which what was not recorded is weighed",
                        opt_error);
  return idm_fail(opt_error, IDM_INPUT,
                  "the action was not recorded, and after every one that was open the trajectory "
                  "would have ended");
}

idm_status idm_hypotheses_unrecognised(const believer *b, const idm_event *event,
                                       idm_error *opt_error)
{
  return impossible(b, event, "under every model of the agent that has weight there", opt_error);
}

/* A step under way. */
typedef struct branching {
  const believer *b;
  musing *m;
  const hypotheses *from;
  const idm_event *event;
  hypotheses *into;
  idm_random *opt_random;
  bool unrecognised; /* something the environment allows and no model of the agent does */
} branching;

static idm_status add(branching *g, const belief_origin *origin, double weight,
                      const double *belief, idm_error *opt_error)
{
  belief_set *set = &g->into->set;
  const int last = g->event->missed ? g->from->set.last[origin->parent] : (int)origin->action;
  const idm_status status = idm_belief_set_add(set, weight, belief, g->m->world, last, opt_error);
  return status == IDM_OK && set->traced ? idm_belief_set_trace(set, *origin, opt_error) : status;
}

/* Add the successors that were just recognised, with a weight: their mean, one drawn, or all of
 * them. */
static idm_status add_successors(branching *g, const recognition *r, belief_origin origin,
                                 double weight, idm_error *opt_error)
{
  const believer *b = g->b;
  const musing *m = g->m;
  const size_t models = b->theta->models;
  if (b->recognition == IDM_RECOGNITION_MEAN) return add(g, &origin, weight, m->mean, opt_error);
  const size_t drawn = g->opt_random ? idm_random_choice(g->opt_random, m->share, models) : models;
  double total = 0;
  for (size_t model = 0; model < models; model++) total += m->share[model];
  for (size_t model = 0; model < models; model++) {
    if (!(m->share[model] > 0) || (g->opt_random && model != drawn)) continue;
    const double p = idm_recognition_joint(r, model, m->posterior);
    for (size_t s = 0; s < g->from->set.states; s++) m->posterior[s] /= p;
    const double part = g->opt_random ? weight : weight * m->share[model] / total;
    origin.model = (uint32_t)model;
    const idm_status status = add(g, &origin, part, m->posterior, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* Hypothesis i, action u, and an observation that was perceived, or nothing. */
static idm_status perceive(branching *g, size_t i, size_t u, size_t x, double weight,
                           idm_error *opt_error)
{
  musing *m = g->m;
  if (!(weight > 0)) return IDM_OK;
  const recognition r = idm_hypotheses_recognition(g->b, &g->from->set, i, u, x);
  double allowed;
  if (!(idm_recognise(&r, m->share, m->mean, &allowed, m->posterior) > 0)) {
    g->unrecognised = true;
    return IDM_OK;
  }
  const belief_origin origin = {
      .parent = (uint32_t)i, .action = (uint32_t)u, .observation = (uint32_t)x};
  return add_successors(g, &r, origin, weight, opt_error);
}

/* The same of an observation that was made: a limited sensor passes it or not, which is drawn or
 * leaves both possible. */
static idm_status sense(branching *g, size_t i, size_t u, size_t x, double weight,
                        idm_error *opt_error)
{
  const belief_set *set = &g->from->set;
  const idm_sensor sensor = idm_sensor_of(g->b->setting, g->b->theta);
  const double passes = idm_sensor_passes(&sensor, set->belief + i * set->states, u, g->m->sensor);
  if (!(passes < 1)) return perceive(g, i, u, x, weight, opt_error);
  if (g->opt_random) {
    const bool seen = idm_random_uniform(g->opt_random) < passes;
    return perceive(g, i, u, seen ? x : IDM_UNPERCEIVED, weight, opt_error);
  }
  const idm_status status = perceive(g, i, u, x, weight * passes, opt_error);
  if (status != IDM_OK) return status;
  return perceive(g, i, u, IDM_UNPERCEIVED, weight * (1 - passes), opt_error);
}

/* Hypothesis i, action u, observation x: weighed by the environment where a set is. */
static idm_status branch(branching *g, size_t i, size_t u, size_t x, double weight,
                         idm_error *opt_error)
{
  const belief_set *set = &g->from->set;
  musing *m = g->m;
  if (g->into->set.apart) {
    const double *e = set->apart ? set->world + i * set->states : g->from->known;
    const double p = idm_environment_joint(&g->b->environment, e, u, x, m->world);
    if (!(p > idm_impossible)) return IDM_OK;
    for (size_t s = 0; s < set->states; s++) m->world[s] /= p;
    weight *= p;
  }
  return sense(g, i, u, x, weight, opt_error);
}

/* Every observation that may have been made: the one seen, or all. */
static idm_status branch_observations(branching *g, size_t i, size_t u, double weight,
                                      idm_error *opt_error)
{
  const int seen = g->event->observation;
  const size_t first = seen == IDM_MISSING ? 0 : (size_t)seen;
  const size_t end = seen == IDM_MISSING ? g->b->theta->sizes.observations : first + 1;
  idm_status status = IDM_OK;
  for (size_t x = first; x < end && status == IDM_OK; x++)
    status = branch(g, i, u, x, weight, opt_error);
  return status;
}

/* Everything that may have happened, weighed by what the agent would have done. */
static idm_status branch_all(branching *g, const bool *opt_open, consequence *result,
                             idm_error *opt_error)
{
  const belief_set *set = &g->from->set;
  const bool recorded = g->event->action != IDM_MISSING;
  const bool idle = recorded && set->count == 1; /* the one there is keeps its weight */
  result->shift = idle ? 0 : idm_hypotheses_shift(g->b, g->m, g->from, g->event, opt_open);
  for (size_t u = 0; u < set->actions; u++) {
    if (!idm_environment_allows(&g->b->environment, g->event, opt_open, u)) continue;
    if (!recorded && result->shift == -INFINITY) continue;
    for (size_t i = 0; i < set->count; i++) {
      const double factor =
          idle ? 1 : idm_hypotheses_factor(g->b, g->m, g->from, opt_open, i, u, result->shift);
      const double weight = set->weight[i] * factor;
      result->decided += weight;
      if (!(weight > 0)) continue;
      const idm_status status = branch_observations(g, i, u, weight, opt_error);
      if (status != IDM_OK) return status;
    }
  }
  return IDM_OK;
}

/* The environment's beliefs need not be followed one by one where there is only one, which is what
 * follows from the log: in an MDP, once a state was seen. */
static void forget_worlds(hypotheses *h)
{
  if (h->set.count == 1 && memcmp(h->set.world, h->known, h->set.states * sizeof *h->known) == 0)
    h->set.apart = false;
}

/* What the successors say of the event; without any, hypotheses are left empty. */
static idm_status conclude(branching *g, double seen, consequence *result, idm_error *opt_error)
{
  hypotheses *into = g->into;
  const idm_sensor sensor = idm_sensor_of(g->b->setting, g->b->theta);
  result->total = idm_belief_set_tidy(&into->set);
  if (into->set.count > BELIEF_SET_MOST)
    return idm_fail(opt_error, IDM_INPUT,
                    "what was not recorded%s leaves %zu hypotheses; at most %d are followed",
                    idm_sensor_is_limited(&sensor) ? ", or not perceived," : "", into->set.count,
                    BELIEF_SET_MOST);
  if (!(result->total > 0) && g->unrecognised)
    return idm_hypotheses_unrecognised(g->b, g->event, opt_error);
  if (!(result->total > 0)) {
    idm_belief_set_clear(&into->set);
    result->log_evidence = -INFINITY;
    return IDM_OK;
  }
  result->weighs = into->set.apart;
  if (!result->weighs) return IDM_OK;
  result->log_evidence = log(result->total) - log(seen);
  result->log_evidence += g->event->action == IDM_MISSING ? result->shift : -log(result->decided);
  forget_worlds(into);
  return IDM_OK;
}

idm_status idm_hypotheses_follow(const believer *b, musing *m, const hypotheses *from,
                                 const idm_event *event, const bool *opt_open, hypotheses *into,
                                 consequence *result, idm_random *opt_random, idm_error *opt_error)
{
  branching g = {
      .b = b, .m = m, .from = from, .event = event, .into = into, .opt_random = opt_random};
  *result = (consequence){0};
  idm_belief_set_clear(&into->set);
  idm_hypotheses_step(from, into);
  const bool recorded = event->action != IDM_MISSING && event->observation != IDM_MISSING;
  into->set.apart = from->set.apart || !recorded;
  into->set.remembers = idm_habit_remembers(b->theta);
  const double seen =
      idm_environment_follow(&b->environment, event, opt_open, from->known, into->known, m->world);
  if (!from->set.count) return IDM_OK;
  if (into->set.apart && !(seen > 0)) return contradicts(b, event, opt_open, opt_error);
  const idm_status status = branch_all(&g, opt_open, result, opt_error);
  return status == IDM_OK ? conclude(&g, seen, result, opt_error) : status;
}
