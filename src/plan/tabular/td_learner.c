/* The planner `td-learner`: values learnt from rewards, over all trajectories of an agent
 * (docs/method/learners.md, 1).
 *
 * Contents: td learner · td gradient */
#include "plan/tabular/learner.h"

#include <assert.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/system.h"
#include "idm/extension/data.h"
#include "idm/extension/planner.h"

/* === td learner =============================================================================== */

/* --- parameters ------------------------------------------------------------------------------ */

static const idm_block_info own[TD_OWNS] = {
    [TD_TEMPERATURE] = {.name = "inverse_temperature",
                        .summary = "how much a learnt value counts in a choice",
                        .support = IDM_NOT_NEGATIVE,
                        .default_number = 1,
                        .scales = IDM_SCALES_ALL,
                        .scale = IDM_SCALE_LOG,
                        .spread = 20,
                        .of_agent = true},
    [TD_GAIN] = {.name = "learning_rate_gain",
                 .summary = "share of an error that is learnt after a gain",
                 .support = IDM_FRACTION,
                 .default_number = 0.3,
                 .scales = IDM_SCALES_FRACTION,
                 .of_agent = true},
    [TD_LOSS] = {.name = "learning_rate_loss",
                 .summary = "share of an error that is learnt after a loss",
                 .support = IDM_FRACTION,
                 .default_number = 0.3,
                 .scales = IDM_SCALES_FRACTION,
                 .of_agent = true},
    [TD_DECAY] = {.name = "decay",
                  .summary = "share of their values that actions not taken lose at a step",
                  .support = IDM_FRACTION,
                  .scales = IDM_SCALES_FRACTION,
                  .of_agent = true},
    [TD_INITIAL] = {.name = "initial_value",
                    .summary = "initial value of every action, before learning",
                    .scales = IDM_SCALES_SIGNED,
                    .spread = 1,
                    .in_utility = true,
                    .of_agent = true},
};

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  (void)theta;
  td_learner *l = idm_new(1, sizeof *l);
  *ret_content = l;
  if (!l) return idm_fail_memory(opt_error);
  *l = (td_learner){.setting = setting,
                    .states = setting->fully_observed ? setting->states.count : 1,
                    .actions = setting->actions.count,
                    .asymmetry = agent->asymmetry,
                    .fictive = agent->fictive};
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  td_learner *l = content;
  for (size_t i = 0; i < TD_OWNS; i++) l->number[i] = idm_theta_scalar(theta, IDM_BLOCK_COUNT + i);
  l->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  l->choice_biases = idm_choice_bias_of(theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------- */

static void memory_destroy(void *content)
{
  td_memory *m = content;
  if (!m) return;
  free(m->value);
  free(m->log_pi);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const td_learner *l = content;
  td_memory *m = idm_new(1, sizeof *m);
  *ret_memory = NULL;
  if (!m) return idm_fail_memory(opt_error);
  m->value = idm_new(idm_times(l->states, l->actions), sizeof *m->value);
  m->log_pi = idm_new(l->actions, sizeof *m->log_pi);
  if (!m->value || !m->log_pi) {
    memory_destroy(m);
    return idm_fail_memory(opt_error);
  }
  *ret_memory = m;
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *memory, idm_error *opt_error)
{
  (void)opt_error;
  const td_learner *l = content;
  td_memory *m = memory;
  for (size_t i = 0; i < l->states * l->actions; i++) m->value[i] = l->number[TD_INITIAL];
  return IDM_OK;
}

/* Copies one memory into another. */
static void copy_memory(const td_learner *l, const td_memory *before, td_memory *after)
{
  if (before == after) return;
  after->state = before->state;
  after->last = before->last;
  memcpy(after->value, before->value, l->states * l->actions * sizeof *after->value);
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)variant;
  const td_learner *l = content;
  td_memory *m = after;
  copy_memory(l, before, m);
  m->last = IDM_MISSING;
  return idm_td_start(l, opt_start, &m->state, opt_error);
}

/* Computes log q over the open actions into m->log_pi; returns their number. */
static double tilt_policy(const td_learner *l, td_memory *m, const bool *opt_open)
{
  const double *q = m->value + m->state * l->actions;
  double open;
  for (size_t u = 0; u < l->actions; u++) m->log_pi[u] = l->number[TD_TEMPERATURE] * q[u];
  idm_choice_tilt_logs(l->choice_biases, l->actions, m->log_pi, opt_open, m->last, m->log_pi,
                       &open);
  return open;
}

static idm_status act(const void *content, void *memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const td_learner *l = content;
  td_memory *m = memory;
  const double open = tilt_policy(l, m, opt_available);
  for (size_t u = 0; u < l->actions; u++)
    probability[u] = opt_available && !opt_available[u]
                         ? 0
                         : idm_choice_lapse(l->choice_biases, exp(m->log_pi[u]), open);
  return IDM_OK;
}

static idm_status log_act(const void *content, void *memory, const bool *opt_available,
                          size_t action, double *log_probability, idm_error *opt_error)
{
  (void)opt_error;
  const td_learner *l = content;
  td_memory *m = memory;
  const double open = tilt_policy(l, m, opt_available);
  *log_probability = opt_available && !opt_available[action]
                         ? -INFINITY
                         : idm_choice_log_lapse(l->choice_biases, m->log_pi[action], open);
  return IDM_OK;
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random;
  const td_learner *l = content;
  td_memory *m = after;
  td_update update;
  const idm_status status = idm_td_error(l, before, event, &update, opt_error);
  if (status != IDM_OK) return status;
  copy_memory(l, before, m);
  idm_td_learn(l, &update, m->value);
  m->state = update.next;
  if (!event->missed) m->last = event->action;
  return IDM_OK;
}

/* Defined at the end of this file. */
static const idm_gradient_ops gradient_operations;

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_AGENT | IDM_SCOPE_REWARD,
                                          .accepts_no_action = true,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .log_act = log_act,
                                          .observe = observe,
                                          .derivative = &gradient_operations};

/* --- table of operations --------------------------------------------------------------------- */

const idm_planner idm_td_learner = {
    .name = "td-learner",
    .summary = "learns values from rewards, over all trajectories of an agent",
    .row = "(beyond the table)",
    .keys = (const char *const[]){"asymmetry", "fictive", NULL},
    .reads = (const idm_block_id[]){IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE, IDM_BLOCK_COUNT},
    .own = own,
    .own_count = TD_OWNS,
    .needs = IDM_NEEDS_REWARDS | IDM_NEEDS_ACTIONS,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE |
                IDM_SUPPORTS_UNDISCOUNTED,
    .create = create,
    .plan = plan,
    .destroy = free,
    .behavior = &behavior};

/* === td gradient ============================================================================ */

/* Derivative of td-learner's log-likelihood, in forward mode: values and their derivatives with
 * respect to each parameter are updated together along the tree of histories. Parameters are few
 * and rows are many, so that forward mode is efficient. Where histories branch, the state is stored
 * until the last branch is processed. */

/* State of a history: values [state][action], followed by their derivatives with respect to each
 * parameter. */
typedef struct history_values {
  size_t state;
  int last;
  double *value; /* [1 + free numbers][state][action] */
} history_values;

/* A node with several children. */
typedef struct branch_point {
  size_t left; /* children that remain to be processed */
  history_values at;
} branch_point;

typedef struct td_gradient {
  const td_learner *l;
  const idm_data *data;
  const idm_prefix_tree *tree;
  uint32_t *children; /* [node] */
  td_numbers free;    /* parameters with derivatives */
  size_t width;       /* numbers of history_values.value */
  history_values now;
  size_t branch_capacity; /* allocated branch points */
  size_t top;
  branch_point *branch_point;
  double *log_pi; /* [action]: log q */
  double *pi;     /* [action]: q */
  double *by_log; /* [action]: with respect to log pi */
  idm_interruption interruption;
} td_gradient;

/* Sums over rows. */
typedef struct gradient_sums {
  double log_likelihood;
  double temperature;
  double by[TD_BY];
  choice_bias_gradient choice_bias;
} gradient_sums;

static bool possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)content;
  (void)data;
  (void)tree;
  return true;
}

static void destroy(void *content)
{
  td_gradient *g = content;
  if (!g) return;
  for (size_t i = 0; i < g->branch_capacity; i++) free(g->branch_point[i].at.value);
  free(g->branch_point);
  free(g->children);
  free(g->now.value);
  free(g->log_pi);
  free(g->pi);
  free(g->by_log);
  free(g);
}

static idm_status create_gradient(const void *content, const idm_data *data,
                                  const idm_prefix_tree *tree, void **ret_gradient,
                                  idm_error *opt_error)
{
  const td_learner *l = content;
  td_gradient *g = idm_new(1, sizeof *g);
  *ret_gradient = NULL;
  if (!g) return idm_fail_memory(opt_error);
  g->l = l;
  g->data = data;
  g->tree = tree;
  const size_t value_count = idm_times(1 + TD_BY, idm_times(l->states, l->actions));
  g->children = idm_new(tree->nodes, sizeof *g->children);
  g->now.value = idm_new(value_count, sizeof *g->now.value);
  g->log_pi = idm_new(l->actions, sizeof *g->log_pi);
  g->pi = idm_new(l->actions, sizeof *g->pi);
  g->by_log = idm_new(l->actions, sizeof *g->by_log);
  if (!g->children || !g->now.value || !g->log_pi || !g->pi || !g->by_log) {
    destroy(g);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < tree->nodes; i++)
    if (tree->node[i].parent >= 0) g->children[tree->node[i].parent]++;
  *ret_gradient = g;
  return IDM_OK;
}

static void copy(const td_gradient *g, const history_values *from, history_values *to)
{
  to->state = from->state;
  to->last = from->last;
  memcpy(to->value, from->value, g->width * sizeof *to->value);
}

/* Initial state of an agent that has learnt nothing. */
static void begin_gradient(td_gradient *g)
{
  const size_t numbers = g->l->states * g->l->actions;
  memset(g->now.value, 0, g->width * sizeof *g->now.value);
  for (size_t i = 0; i < numbers; i++) g->now.value[i] = g->l->number[TD_INITIAL];
  for (size_t k = 0; k < g->free.count; k++)
    for (size_t i = 0; i < numbers && g->free.number[k] == TD_BY_INITIAL; i++)
      g->now.value[(1 + k) * numbers + i] = 1;
}

/* Restores the state at the node's parent. */
static void restore_parent(td_gradient *g, const idm_prefix_node *node)
{
  if (node->parent < 0) {
    begin_gradient(g);
    return;
  }
  if (g->children[node->parent] < 2) return; /* an only child: the state is current */
  branch_point *p = &g->branch_point[g->top - 1];
  copy(g, &p->at, &g->now);
  if (--p->left == 0) g->top--;
}

/* Stores the state if the node has several children. */
static idm_status push_branch(td_gradient *g, size_t node, idm_error *opt_error)
{
  if (g->children[node] < 2) return IDM_OK;
  if (g->top == g->branch_capacity) {
    assert(g->branch_capacity < SIZE_MAX / sizeof *g->branch_point); /* fewer than histories */
    branch_point *larger = realloc(g->branch_point, (g->branch_capacity + 1) * sizeof *larger);
    if (!larger) return idm_fail_memory(opt_error);
    g->branch_point = larger;
    const size_t value_count = (1 + TD_BY) * g->l->states * g->l->actions;
    g->branch_point[g->branch_capacity] =
        (branch_point){.at.value = idm_new(value_count, sizeof(double))};
    if (!g->branch_point[g->branch_capacity++].at.value) return idm_fail_memory(opt_error);
  }
  branch_point *p = &g->branch_point[g->top++];
  p->left = g->children[node];
  copy(g, &g->now, &p->at);
  return IDM_OK;
}

/* Choice of a row, with weight `count`. */
static void choose(td_gradient *g, const idm_prefix_node *node, gradient_sums *sum)
{
  const td_learner *l = g->l;
  const size_t n = l->actions, numbers = l->states * n, u = (size_t)node->action;
  const bool *open = node->available ? g->data->available_set + node->available * n : NULL;
  const double count = (double)node->count, inverse_temperature = l->number[TD_TEMPERATURE];
  const double *q = g->now.value + g->now.state * n;
  double available_count;
  if (node->missed || node->action == IDM_MISSING ||
      idm_data_available_count(g->data, node->available) < 2)
    return;
  for (size_t v = 0; v < n; v++) g->log_pi[v] = inverse_temperature * q[v];
  idm_choice_tilt_both(l->choice_biases, n, g->log_pi, open, g->now.last, g->pi, g->log_pi,
                       &available_count);
  sum->log_likelihood +=
      count * idm_choice_log_lapse(l->choice_biases, g->log_pi[u], available_count);
  memset(g->by_log, 0, n * sizeof *g->by_log);
  idm_choice_backward(l->choice_biases, n, g->pi, available_count, g->now.last, u, count, g->by_log,
                      &sum->choice_bias);
  for (size_t v = 0; v < n; v++) sum->temperature += g->by_log[v] * q[v];
  for (size_t k = 0; k < g->free.count; k++)
    for (size_t v = 0; v < n; v++)
      sum->by[g->free.number[k]] += g->by_log[v] * inverse_temperature * q[(1 + k) * numbers + v];
}

/* Derivatives of the values after an event, with respect to parameter k. */
static void learn_gradient(const td_learner *l, const td_update *d, const double *value, size_t k,
                           double *by)
{
  const size_t n = l->actions;
  const double rate = l->number[d->rate];
  const bool is_rate = k == (d->rate == TD_GAIN ? TD_BY_GAIN : TD_BY_LOSS);
  const double *q = value + d->state * n, *next = value + d->next * n + d->best;
  double *dq = by + d->state * n;
  double error = d->missed ? 0 : -dq[d->action];
  if (d->continues)
    error += l->discount * by[d->next * n + d->best] + (k == TD_BY_DISCOUNT ? *next : 0);
  for (size_t v = 0; v < n; v++) {
    if (v == d->action) continue;
    if (!l->fictive)
      dq[v] = (1 - l->number[TD_DECAY]) * dq[v] - (k == TD_BY_DECAY ? q[v] : 0);
    else if (!d->missed)
      dq[v] += -rate * dq[v] + (is_rate ? -d->reward - q[v] : 0);
  }
  if (!d->missed) dq[d->action] += rate * error + (is_rate ? d->error : 0);
}

static idm_status learn(td_gradient *g, size_t node, idm_error *opt_error)
{
  const td_learner *l = g->l;
  const idm_prefix_node *row = &g->tree->node[node];
  const idm_event event = {.action = row->action,
                           .observation = row->observation,
                           .missed = row->missed,
                           .reward = g->tree->reward[node],
                           .last = row->last};
  const td_memory memory = {.state = g->now.state, .last = g->now.last, .value = g->now.value};
  td_update update;
  const idm_status status = idm_td_error(l, &memory, &event, &update, opt_error);
  if (status != IDM_OK) {
    idm_data_locate(g->data, row->first_row, opt_error);
    return status;
  }
  const size_t numbers = l->states * l->actions;
  for (size_t k = 0; k < g->free.count; k++)
    learn_gradient(l, &update, g->now.value, g->free.number[k], g->now.value + (1 + k) * numbers);
  idm_td_learn(l, &update, g->now.value);
  g->now.state = update.next;
  if (!row->missed) g->now.last = row->action;
  return IDM_OK;
}

static idm_status follow(td_gradient *g, size_t i, gradient_sums *sum, idm_error *opt_error)
{
  const idm_prefix_node *node = &g->tree->node[i];
  idm_status status = IDM_OK;
  restore_parent(g, node);
  if (node->begin >= 0) {
    const int32_t start = g->tree->begin_start[node->begin];
    g->now.last = IDM_MISSING;
    status = idm_td_start(
        g->l, start < 0 ? NULL : g->data->start_belief + (size_t)start * g->data->sizes.states,
        &g->now.state, opt_error);
  } else {
    choose(g, node, sum);
    if (!node->leaf) status = learn(g, i, opt_error);
  }
  return status == IDM_OK ? push_branch(g, i, opt_error) : status;
}

static idm_status run(void *content, double *log_likelihood, idm_theta *theta_gradient,
                      idm_error *opt_error)
{
  td_gradient *g = content;
  gradient_sums sum = {0};
  idm_status status = IDM_OK;
  idm_theta_clear(theta_gradient);
  g->free = idm_td_free_numbers(theta_gradient);
  g->width = (1 + g->free.count) * g->l->states * g->l->actions;
  g->top = 0;
  for (size_t i = 0; i < g->tree->nodes && status == IDM_OK; i++) {
    status = idm_interruption_check(&g->interruption, i, opt_error);
    if (status == IDM_OK) status = follow(g, i, &sum, opt_error);
  }
  if (status != IDM_OK) return status;
  *log_likelihood = sum.log_likelihood;
  if (sum.log_likelihood == -INFINITY) return IDM_OK;
  idm_td_put_gradient(theta_gradient, sum.temperature, sum.by, sum.choice_bias);
  return IDM_OK;
}

static void interrupt(void *content, idm_interrupt opt_interrupt, void *context)
{
  ((td_gradient *)content)->interruption = (idm_interruption){opt_interrupt, context};
}

static const idm_gradient_ops gradient_operations = {.possible = possible,
                                                     .create = create_gradient,
                                                     .destroy = destroy,
                                                     .run = run,
                                                     .interrupt = interrupt,
                                                     .lanes = &idm_td_lanes};
