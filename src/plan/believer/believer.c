/* Behaviour of agents that hold beliefs: choices by the planner's policy, recognition by its
 * models. */
#include "plan/believer/believer.h"

#include <math.h>

#include "base/memory.h"

typedef struct memory {
  hypotheses current;
  hypotheses updated; /* under construction */
  bool all_open;      /* every action is available */
  bool *open;         /* [action] */
  step_scratch scratch;
} memory;

static void memory_destroy(void *content)
{
  memory *m = content;
  if (!m) return;
  idm_hypotheses_free(&m->current);
  idm_hypotheses_free(&m->updated);
  idm_step_scratch_free(&m->scratch);
  free(m->open);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const belief_agent *b = content;
  *ret_memory = NULL;
  memory *m = idm_new(1, sizeof *m);
  if (!m) return idm_fail_memory(opt_error);
  m->open = idm_new(b->theta->sizes.actions, sizeof *m->open);
  idm_status status = m->open ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_hypotheses_init(b, &m->current, opt_error);
  if (status == IDM_OK) status = idm_hypotheses_init(b, &m->updated, opt_error);
  if (status == IDM_OK) status = idm_step_scratch_init(b, &m->scratch, opt_error);
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
  m->current.set.count = 0;
  m->current.decided = false;
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)before; /* a belief lasts for one trajectory */
  const belief_agent *b = content;
  memory *m = after;
  if (variant >= idm_theta_variants(b->theta))
    return idm_fail(opt_error, IDM_USAGE,
                    "variant %zu was not planned for: bind the utilities before making a workspace",
                    variant);
  m->all_open = true;
  return idm_hypotheses_begin(b, &m->scratch, &m->current, variant,
                              opt_start ? opt_start : b->setting->start, opt_error);
}

/* --- choice ---------------------------------------------------------------------------------- */

static void open_actions(const belief_agent *b, memory *m, const bool *opt_available)
{
  m->all_open = true;
  for (size_t u = 0; opt_available && u < b->theta->sizes.actions; u++) {
    m->open[u] = opt_available[u];
    m->all_open = m->all_open && m->open[u];
  }
}

static const bool *open_of(const memory *m)
{
  return m->all_open ? NULL : m->open;
}

/* After an event of probability 0 under the agent, choices are uniform. */
static void act_uniformly(const memory *m, double *probability)
{
  const size_t actions = m->current.set.actions;
  double open = 0;
  for (size_t u = 0; u < actions; u++) open += m->all_open || m->open[u];
  for (size_t u = 0; u < actions; u++) probability[u] = m->all_open || m->open[u] ? 1 / open : 0;
}

static idm_status act(const void *content, void *content_memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  const belief_agent *b = content;
  memory *m = content_memory;
  const belief_set *set = &m->current.set;
  const idm_status status = idm_hypotheses_decide(b, &m->scratch, &m->current, opt_error);
  if (status != IDM_OK) return status;
  open_actions(b, m, opt_available);
  if (!set->count) {
    act_uniformly(m, probability);
    return IDM_OK;
  }
  if (m->all_open && set->count == 1 && !idm_choice_bias_active(idm_choice_bias_of(b->theta))) {
    for (size_t u = 0; u < set->actions; u++) probability[u] = set->decision[u];
    return IDM_OK;
  }
  for (size_t u = 0; u < set->actions; u++) {
    probability[u] = 0;
    for (size_t i = 0; i < set->count; i++)
      probability[u] +=
          set->weight[i] * idm_hypotheses_choice(b, &m->scratch, &m->current, open_of(m), i, u);
  }
  return IDM_OK;
}

static idm_status log_act(const void *content, void *content_memory, const bool *opt_available,
                          size_t action, double *log_probability, idm_error *opt_error)
{
  const belief_agent *b = content;
  memory *m = content_memory;
  const idm_status status = idm_hypotheses_decide(b, &m->scratch, &m->current, opt_error);
  if (status != IDM_OK) return status;
  open_actions(b, m, opt_available);
  if (m->current.set.count) {
    *log_probability = idm_hypotheses_log_act(b, &m->scratch, &m->current, open_of(m), action);
    return IDM_OK;
  }
  act_uniformly(m, m->scratch.log_decision);
  *log_probability = log(m->scratch.log_decision[action]);
  return IDM_OK;
}

/* --- recognition ----------------------------------------------------------------------------- */

static idm_status observe(const void *content, void *content_before, void *content_after,
                          const idm_event *event, double *opt_log_evidence, idm_random *opt_random,
                          idm_error *opt_error)
{
  const belief_agent *b = content;
  memory *before = content_before;
  memory *after = content_after;
  if (event->missed && event->action == IDM_MISSING)
    return idm_fail(opt_error, IDM_INPUT,
                    "a missed response without an action; the update of a belief requires one");
  idm_status status = idm_hypotheses_decide(b, &before->scratch, &before->current, opt_error);
  if (status != IDM_OK) return status;
  if (idm_hypotheses_is_single(b, &before->current, event))
    return idm_hypotheses_update_single(b, &before->scratch, &before->current, event,
                                        &after->current, opt_error);
  update_result result;
  status = idm_hypotheses_update(b, &before->scratch, &before->current, event, open_of(before),
                                 &before->updated, &result, opt_random, opt_error);
  if (status != IDM_OK) return status;
  if (opt_log_evidence) *opt_log_evidence = result.log_evidence;
  const hypotheses swapped = after->current;
  after->current = before->updated;
  before->updated = swapped;
  return IDM_OK;
}

static bool may_have_evidence(const void *content, const void *content_memory)
{
  (void)content;
  const memory *m = content_memory;
  return m->current.set.tracks_environment;
}

static void mean_belief(const void *content, const void *content_memory, double *z)
{
  (void)content;
  const memory *m = content_memory;
  const belief_set *set = &m->current.set;
  const size_t k = set->states;
  memset(z, 0, k * sizeof *z);
  for (size_t i = 0; i < set->count; i++)
    for (size_t s = 0; s < k; s++) z[s] += set->weight[i] * set->belief[i * k + s];
}

static bool hypothesis(const void *content, const void *content_memory, size_t index,
                       idm_hypothesis *one)
{
  (void)content;
  const memory *m = content_memory;
  const belief_set *set = &m->current.set;
  if (index >= set->count) return false;
  *one = (idm_hypothesis){
      .weight = set->weight[index],
      .z = set->belief + index * set->states,
      .opt_env_belief = set->tracks_environment ? set->env_belief + index * set->states : NULL,
      .variant = m->current.variant,
      .steps = m->current.steps};
  return true;
}

/* --- table of operations --------------------------------------------------------------------- */

const idm_behavior_ops idm_belief_agent_ops = {
    .scope = IDM_SCOPE_TRAJECTORY,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
    .begin_agent = begin_agent,
    .begin_trajectory = begin_trajectory,
    .act = act,
    .log_act = log_act,
    .observe = observe,
    .may_have_evidence = may_have_evidence,
    .belief = mean_belief,
    .hypothesis = hypothesis,
    .derivative = &idm_belief_agent_gradient,
};
