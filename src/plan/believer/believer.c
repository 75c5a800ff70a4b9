/* Behaviours of agents that hold beliefs: decide by the planner's policy, recognise by its models.
 *
 * Contents: its memory · deciding · recognising · the table of operations */
#include "plan/believer/believer.h"

#include <math.h>

#include "base/memory.h"
#include "plan/believer/belief_set.h"
#include "plan/believer/recognise.h"
#include "plan/believer/slope.h"

/* --- its memory ----------------------------------------------------------------------------- */

typedef struct memory {
  belief_set now;
  belief_set later; /* the set under construction */
  bool decided;     /* now holds policies */
  bool all_open;    /* every action is available */
  bool *open;       /* [action] */
  size_t variant;
  int steps;
  double *scratch;      /* the planner's */
  double *posterior;    /* [state] */
  double *mean;         /* [state] */
  double *log_decision; /* [action] */
  double *share;        /* [model]: sigma over the models that allow what was seen */
} memory;

static void memory_destroy(void *content)
{
  memory *m = content;
  if (!m) return;
  idm_belief_set_free(&m->now);
  idm_belief_set_free(&m->later);
  free(m->open);
  free(m->scratch);
  free(m->posterior);
  free(m->mean);
  free(m->share);
  free(m->log_decision);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const believer *b = content;
  const idm_sizes n = b->theta->sizes;
  const size_t models = b->theta->models;
  *ret_memory = NULL;
  memory *m = idm_new(1, sizeof *m);
  if (!m) return idm_fail_memory(opt_error);
  idm_status status =
      idm_belief_set_init(&m->now, n.states, n.actions, n.actions * models, opt_error);
  if (status == IDM_OK)
    status = idm_belief_set_init(&m->later, n.states, n.actions, n.actions * models, opt_error);
  m->open = idm_new(n.actions, sizeof *m->open);
  m->scratch = idm_new(b->planner->belief->scratch(b->content), sizeof *m->scratch);
  m->posterior = idm_new(n.states, sizeof *m->posterior);
  m->mean = idm_new(n.states, sizeof *m->mean);
  m->share = idm_new(models, sizeof *m->share);
  m->log_decision = idm_new(n.actions, sizeof *m->log_decision);
  if (status == IDM_OK &&
      !(m->open && m->scratch && m->posterior && m->mean && m->share && m->log_decision))
    status = idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    memory_destroy(m);
    return status;
  }
  *ret_memory = m;
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *content_memory, idm_error *opt_error)
{
  (void)content;
  (void)opt_error;
  memory *m = content_memory;
  m->now.count = 0;
  m->decided = false;
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)before; /* a belief is of one trajectory */
  const believer *b = content;
  memory *m = after;
  const size_t k = b->theta->sizes.states;
  const double *start = opt_start ? opt_start : b->setting->start;
  if (variant >= idm_theta_variants(b->theta))
    return idm_fail(opt_error, IDM_USAGE,
                    "variant %zu was not planned for: bind the utilities before making a workspace",
                    variant);
  m->variant = variant;
  m->steps = 0;
  m->decided = false;
  m->now.count = 0;
  if (!b->setting->fully_observed) return idm_belief_set_add(&m->now, 1, start, opt_error);
  for (size_t s = 0; s < k; s++) {
    if (!(start[s] > 0)) continue;
    memset(m->mean, 0, k * sizeof *m->mean);
    m->mean[s] = 1;
    const idm_status status = idm_belief_set_add(&m->now, start[s], m->mean, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* --- deciding ------------------------------------------------------------------------------- */

static void decide(const believer *b, memory *m)
{
  if (m->decided) return;
  belief_set *set = &m->now;
  for (size_t i = 0; i < set->count; i++)
    b->planner->belief->policy(b->content, m->variant, m->steps, set->belief + i * set->states,
                               set->decision + i * set->actions,
                               set->specification + i * set->pairs, m->scratch);
  m->decided = true;
}

static void open_actions(const believer *b, memory *m, const bool *opt_available)
{
  m->all_open = true;
  for (size_t u = 0; opt_available && u < b->theta->sizes.actions; u++) {
    m->open[u] = opt_available[u];
    m->all_open = m->all_open && m->open[u];
  }
}

static bool is_open(const memory *m, size_t u)
{
  return m->all_open || m->open[u];
}

static double log_choice(const believer *b, memory *m, size_t i, size_t u);

/* Below this a probability has lost digits and its logarithm is asked of the planner. */
static const double smallest = 1e-290;

/* pi(u|z_i) over the open actions. Where the policy gives all that is open (next to) nothing, the
 * logarithms decide; where it forbids them outright, they are shared equally. */
static double choice(const believer *b, memory *m, size_t i, size_t u)
{
  const double *decision = m->now.decision + i * m->now.actions;
  if (m->all_open) return decision[u];
  if (!m->open[u]) return 0;
  double total = 0;
  for (size_t v = 0; v < m->now.actions; v++) total += m->open[v] ? decision[v] : 0;
  return total > smallest ? decision[u] / total : exp(log_choice(b, m, i, u));
}

static double log_choice(const believer *b, memory *m, size_t i, size_t u)
{
  if (!is_open(m, u)) return -INFINITY;
  const size_t actions = m->now.actions;
  double *log_pi = m->log_decision;
  b->planner->belief->log_policy(b->content, m->variant, m->steps,
                                 m->now.belief + i * m->now.states, log_pi, m->scratch);
  double most = -INFINITY;
  double open = 0;
  for (size_t v = 0; v < actions; v++) {
    if (is_open(m, v) && log_pi[v] > most) most = log_pi[v];
    open += is_open(m, v);
  }
  if (most == -INFINITY) return -log(open > 1 ? open : 1);
  double sum = 0;
  for (size_t v = 0; v < actions; v++) sum += is_open(m, v) ? exp(log_pi[v] - most) : 0;
  return log_pi[u] - most - log(sum > 1 ? sum : 1);
}

static idm_status act(const void *content, void *content_memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const believer *b = content;
  memory *m = content_memory;
  decide(b, m);
  open_actions(b, m, opt_available);
  if (m->all_open && m->now.count == 1) {
    for (size_t u = 0; u < m->now.actions; u++) probability[u] = m->now.decision[u];
    return IDM_OK;
  }
  for (size_t u = 0; u < b->theta->sizes.actions; u++) {
    probability[u] = 0;
    for (size_t i = 0; i < m->now.count; i++)
      probability[u] += m->now.weight[i] * choice(b, m, i, u);
  }
  return IDM_OK;
}

static idm_status log_act(const void *content, void *content_memory, const bool *opt_available,
                          size_t action, double *log_probability, idm_error *opt_error)
{
  (void)opt_error;
  const believer *b = content;
  memory *m = content_memory;
  decide(b, m);
  open_actions(b, m, opt_available);
  double sum = 0;
  for (size_t i = 0; i < m->now.count; i++) sum += m->now.weight[i] * choice(b, m, i, action);
  if (sum > smallest) {
    *log_probability = log(sum);
    return IDM_OK;
  }
  double most = -INFINITY;
  for (size_t i = 0; i < m->now.count; i++) most = fmax(most, log_choice(b, m, i, action));
  sum = 0;
  for (size_t i = 0; most > -INFINITY && i < m->now.count; i++)
    sum += m->now.weight[i] * exp(log_choice(b, m, i, action) - most);
  *log_probability = sum > 0 ? most + log(sum) : -INFINITY;
  return IDM_OK;
}

/* --- recognising ---------------------------------------------------------------------------- */

static recognition recognition_of(const believer *b, const memory *m, size_t i, size_t u, size_t x)
{
  return (recognition){.setting = b->setting,
                       .theta = b->theta,
                       .z = m->now.belief + i * m->now.states,
                       .sigma = m->now.specification + i * m->now.pairs + u * b->theta->models,
                       .action = u,
                       .observation = x};
}

/* What (u, x) makes of belief i: the mean successor into m->mean, sigma over the models that allow
 * x into m->share. Returns the predictive probability of x. */
static double recognise(const believer *b, memory *m, size_t i, size_t u, size_t x)
{
  const recognition r = recognition_of(b, m, i, u, x);
  double allowed;
  return idm_recognise(&r, m->share, m->mean, &allowed, m->posterior);
}

/* Add the successors that were just recognised, with a weight: their mean, one drawn, or all of
 * them. */
static idm_status add_successors(const believer *b, memory *m, size_t i, size_t u, size_t x,
                                 double weight, idm_random *opt_random, idm_error *opt_error)
{
  const size_t models = b->theta->models;
  if (b->recognition == IDM_RECOGNITION_MEAN)
    return idm_belief_set_add(&m->later, weight, m->mean, opt_error);
  const size_t drawn = opt_random ? idm_random_choice(opt_random, m->share, models) : models;
  double total = 0;
  for (size_t model = 0; model < models; model++) total += m->share[model];
  for (size_t model = 0; model < models; model++) {
    if (!(m->share[model] > 0) || (opt_random && model != drawn)) continue;
    const recognition r = recognition_of(b, m, i, u, x);
    const double p = idm_recognition_joint(&r, model, m->posterior);
    for (size_t s = 0; s < m->now.states; s++) m->posterior[s] /= p;
    const double part = opt_random ? weight : weight * m->share[model] / total;
    const idm_status status = idm_belief_set_add(&m->later, part, m->posterior, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* Every observation that belief i, action u allows: the one seen, or all that may have been. */
static idm_status branch_observations(const believer *b, memory *m, size_t i, size_t u,
                                      int observation, double weight, idm_random *opt_random,
                                      idm_error *opt_error)
{
  const size_t first = observation == IDM_MISSING ? 0 : (size_t)observation;
  const size_t end = observation == IDM_MISSING ? b->theta->sizes.observations : first + 1;
  for (size_t x = first; x < end; x++) {
    const double predictive = recognise(b, m, i, u, x);
    if (!(predictive > 0)) continue;
    const double part = observation == IDM_MISSING ? weight * predictive : weight;
    const idm_status status = add_successors(b, m, i, u, x, part, opt_random, opt_error);
    if (status != IDM_OK) return status;
  }
  if (m->later.count > 4 * (size_t)BELIEF_SET_MOST)
    return idm_fail(opt_error, IDM_INPUT,
                    "what was not recorded leaves more than %d possible beliefs", BELIEF_SET_MOST);
  return IDM_OK;
}

static idm_status branch_action(const believer *b, memory *m, size_t u, int observation,
                                idm_random *opt_random, idm_error *opt_error)
{
  const bool one = m->now.count == 1;
  /* w_i pi(u|z_i), by logarithms relative to the belief most given to u; where no belief in the set
   * would have chosen u, the weights stay. */
  double best = -INFINITY;
  for (size_t i = 0; !one && i < m->now.count; i++) best = fmax(best, log_choice(b, m, i, u));
  for (size_t i = 0; i < m->now.count; i++) {
    double weight = m->now.weight[i];
    if (!one && best > -INFINITY) weight *= exp(log_choice(b, m, i, u) - best);
    if (!(weight > 0)) continue;
    const idm_status status =
        branch_observations(b, m, i, u, observation, weight, opt_random, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* An action that was not recorded: all that were open, except those that would have ended the
 * trajectory. */
static idm_status branch_actions(const believer *b, memory *m, int observation,
                                 idm_random *opt_random, idm_error *opt_error)
{
  for (size_t i = 0; i < m->now.count; i++)
    for (size_t u = 0; u < b->theta->sizes.actions; u++) {
      if (b->setting->ends[u]) continue;
      const double weight = m->now.weight[i] * choice(b, m, i, u);
      if (!(weight > 0)) continue;
      const idm_status status =
          branch_observations(b, m, i, u, observation, weight, opt_random, opt_error);
      if (status != IDM_OK) return status;
    }
  return IDM_OK;
}

static idm_status impossible(const believer *b, int action, int observation, idm_error *opt_error)
{
  const idm_setting *s = b->setting;
  const char *seen = observation == IDM_MISSING ? "anything" : s->observations.name[observation];
  const char *done = action == IDM_MISSING ? "any open action" : s->actions.name[action];
  return idm_fail(opt_error, IDM_INPUT,
                  "observation '%s' after '%s' is impossible under every model of the agent", seen,
                  done);
}

static void step(const memory *before, memory *after)
{
  after->variant = before->variant;
  after->steps = before->steps + 1;
  after->decided = false;
}

/* The common case: one belief, one successor. */
static idm_status observe_one(const believer *b, memory *before, memory *after, int action,
                              int observation, idm_error *opt_error)
{
  if (!(recognise(b, before, 0, (size_t)action, (size_t)observation) > 0))
    return impossible(b, action, observation, opt_error);
  after->now.count = 1;
  after->now.weight[0] = 1;
  for (size_t s = 0; s < after->now.states; s++) after->now.belief[s] = before->mean[s];
  step(before, after);
  return IDM_OK;
}

static idm_status observe(const void *content, void *content_before, void *content_after,
                          int action, int observation, double reward, idm_random *opt_random,
                          idm_error *opt_error)
{
  (void)reward;
  const believer *b = content;
  memory *before = content_before;
  memory *after = content_after;
  decide(b, before);
  const bool known = action != IDM_MISSING && observation != IDM_MISSING;
  if (known && before->now.count == 1 && b->recognition == IDM_RECOGNITION_MEAN)
    return observe_one(b, before, after, action, observation, opt_error);
  before->later.count = 0;
  const idm_status status =
      action == IDM_MISSING
          ? branch_actions(b, before, observation, opt_random, opt_error)
          : branch_action(b, before, (size_t)action, observation, opt_random, opt_error);
  if (status != IDM_OK) return status;
  if (before->later.count == 0 || !idm_belief_set_tidy(&before->later))
    return impossible(b, action, observation, opt_error);
  if (before->later.count > BELIEF_SET_MOST)
    return idm_fail(opt_error, IDM_INPUT,
                    "what was not recorded leaves %zu possible beliefs; at most %d are followed",
                    before->later.count, BELIEF_SET_MOST);
  const belief_set swapped = after->now;
  after->now = before->later;
  before->later = swapped;
  step(before, after);
  return IDM_OK;
}

static void mean_belief(const void *content, const void *content_memory, double *z)
{
  (void)content;
  const memory *m = content_memory;
  const size_t k = m->now.states;
  memset(z, 0, k * sizeof *z);
  for (size_t i = 0; i < m->now.count; i++)
    for (size_t s = 0; s < k; s++) z[s] += m->now.weight[i] * m->now.belief[i * k + s];
}

/* --- the table of operations ---------------------------------------------------------------- */

const idm_behavior_ops idm_believer_ops = {
    .scope = IDM_SCOPE_TRAJECTORY,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
    .begin_agent = begin_agent,
    .begin_trajectory = begin_trajectory,
    .act = act,
    .log_act = log_act,
    .observe = observe,
    .belief = mean_belief,
    .slope = &idm_believer_slope,
};
