/* The derivative of td-learner's log-likelihood: values and what they are by each number go through
 * the tree of histories together.
 *
 * Numbers are few and rows are many, so that derivatives go forwards; where histories part, what
 * was reached is kept until the last of them was followed. */
#include "plan/tabular/td_slope.h"

#include <assert.h>
#include <stdint.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "idm/data.h"
#include "plan/tabular/td_lanes.h"
#include "plan/tabular/td_rule.h"

/* Where a history is: values [state][action] and behind them their derivatives, by number. */
typedef struct place {
  size_t state;
  int last;
  double *value; /* [1 + free numbers][state][action] */
} place;

/* A node at which histories part. */
typedef struct parting {
  size_t left; /* children that are still to be followed */
  place at;
} parting;

typedef struct td_slope {
  const td_learner *l;
  const idm_data *data;
  const idm_prefix_tree *tree;
  uint32_t *children; /* [node] */
  td_numbers free;    /* numbers that values are differentiated by */
  size_t width;       /* numbers of a place */
  place now;
  size_t partings; /* that there is room for */
  size_t top;
  parting *parting;
  double *log_pi; /* [action]: log q, */
  double *pi;     /* [action]: and q */
  double *by_log; /* [action]: slope by log pi */
  idm_interruption interruption;
} td_slope;

/* Sums over rows. */
typedef struct found {
  double log_likelihood;
  double temperature;
  double by[TD_BY];
  habit_slope habit;
} found;

static bool possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)content;
  (void)data;
  (void)tree;
  return true;
}

static void destroy(void *content)
{
  td_slope *g = content;
  if (!g) return;
  for (size_t i = 0; i < g->partings; i++) free(g->parting[i].at.value);
  free(g->parting);
  free(g->children);
  free(g->now.value);
  free(g->log_pi);
  free(g->pi);
  free(g->by_log);
  free(g);
}

static idm_status create(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                         void **ret_slope, idm_error *opt_error)
{
  const td_learner *l = content;
  td_slope *g = idm_new(1, sizeof *g);
  *ret_slope = NULL;
  if (!g) return idm_fail_memory(opt_error);
  g->l = l;
  g->data = data;
  g->tree = tree;
  const size_t most = idm_times(1 + TD_BY, idm_times(l->states, l->actions));
  g->children = idm_new(tree->nodes, sizeof *g->children);
  g->now.value = idm_new(most, sizeof *g->now.value);
  g->log_pi = idm_new(l->actions, sizeof *g->log_pi);
  g->pi = idm_new(l->actions, sizeof *g->pi);
  g->by_log = idm_new(l->actions, sizeof *g->by_log);
  if (!g->children || !g->now.value || !g->log_pi || !g->pi || !g->by_log) {
    destroy(g);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < tree->nodes; i++)
    if (tree->node[i].parent >= 0) g->children[tree->node[i].parent]++;
  *ret_slope = g;
  return IDM_OK;
}

static void copy(const td_slope *g, const place *from, place *to)
{
  to->state = from->state;
  to->last = from->last;
  memcpy(to->value, from->value, g->width * sizeof *to->value);
}

/* Nobody has learnt anything. */
static void begin_agent(td_slope *g)
{
  const size_t numbers = g->l->states * g->l->actions;
  memset(g->now.value, 0, g->width * sizeof *g->now.value);
  for (size_t i = 0; i < numbers; i++) g->now.value[i] = g->l->number[TD_INITIAL];
  for (size_t k = 0; k < g->free.count; k++)
    for (size_t i = 0; i < numbers && g->free.number[k] == TD_BY_INITIAL; i++)
      g->now.value[(1 + k) * numbers + i] = 1;
}

/* Go on where the node's parent is. */
static void stand(td_slope *g, const idm_prefix_node *node)
{
  if (node->parent < 0) {
    begin_agent(g);
    return;
  }
  if (g->children[node->parent] < 2) return; /* it was the last one */
  parting *p = &g->parting[g->top - 1];
  copy(g, &p->at, &g->now);
  if (--p->left == 0) g->top--;
}

/* Keep what was reached where several histories go on from it. */
static idm_status part(td_slope *g, size_t node, idm_error *opt_error)
{
  if (g->children[node] < 2) return IDM_OK;
  if (g->top == g->partings) {
    assert(g->partings < SIZE_MAX / sizeof *g->parting); /* fewer than histories */
    parting *larger = realloc(g->parting, (g->partings + 1) * sizeof *larger);
    if (!larger) return idm_fail_memory(opt_error);
    g->parting = larger;
    const size_t most = (1 + TD_BY) * g->l->states * g->l->actions;
    g->parting[g->partings] = (parting){.at.value = idm_new(most, sizeof(double))};
    if (!g->parting[g->partings++].at.value) return idm_fail_memory(opt_error);
  }
  parting *p = &g->parting[g->top++];
  p->left = g->children[node];
  copy(g, &g->now, &p->at);
  return IDM_OK;
}

/* The choice of a row, `count` times. */
static void choose(td_slope *g, const idm_prefix_node *node, found *sum)
{
  const td_learner *l = g->l;
  const size_t n = l->actions, numbers = l->states * n, u = (size_t)node->action;
  const bool *open = node->available ? g->data->available_set + node->available * n : NULL;
  const double count = (double)node->count, sharpness = l->number[TD_TEMPERATURE];
  const double *q = g->now.value + g->now.state * n;
  double among;
  if (node->missed || node->action == IDM_MISSING || idm_data_open(g->data, node->available) < 2)
    return;
  for (size_t v = 0; v < n; v++) g->log_pi[v] = sharpness * q[v];
  idm_habit_tilt_both(l->habits, n, g->log_pi, open, g->now.last, g->pi, g->log_pi, &among);
  sum->log_likelihood += count * idm_habit_log_slip(l->habits, g->log_pi[u], among);
  memset(g->by_log, 0, n * sizeof *g->by_log);
  idm_habit_recall(l->habits, n, g->pi, among, g->now.last, u, count, g->by_log, &sum->habit);
  for (size_t v = 0; v < n; v++) sum->temperature += g->by_log[v] * q[v];
  for (size_t k = 0; k < g->free.count; k++)
    for (size_t v = 0; v < n; v++)
      sum->by[g->free.number[k]] += g->by_log[v] * sharpness * q[(1 + k) * numbers + v];
}

/* Derivatives of values after an event, by number k. */
static void learn_slope(const td_learner *l, const td_update *d, const double *value, size_t k,
                        double *by)
{
  const size_t n = l->actions;
  const double rate = l->number[d->rate];
  const bool is_rate = k == (d->rate == TD_GAIN ? TD_BY_GAIN : TD_BY_LOSS);
  const double *q = value + d->state * n, *next = value + d->next * n + d->best;
  double *dq = by + d->state * n;
  double error = d->missed ? 0 : -dq[d->action];
  if (d->goes_on)
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

static idm_status learn(td_slope *g, size_t node, idm_error *opt_error)
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
  const idm_status status = idm_td_look(l, &memory, &event, &update, opt_error);
  if (status != IDM_OK) {
    idm_data_locate(g->data, row->first_row, opt_error);
    return status;
  }
  const size_t numbers = l->states * l->actions;
  for (size_t k = 0; k < g->free.count; k++)
    learn_slope(l, &update, g->now.value, g->free.number[k], g->now.value + (1 + k) * numbers);
  idm_td_learn(l, &update, g->now.value);
  g->now.state = update.next;
  if (!row->missed) g->now.last = row->action;
  return IDM_OK;
}

static idm_status follow(td_slope *g, size_t i, found *sum, idm_error *opt_error)
{
  const idm_prefix_node *node = &g->tree->node[i];
  idm_status status = IDM_OK;
  stand(g, node);
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
  return status == IDM_OK ? part(g, i, opt_error) : status;
}

static idm_status run(void *content, double *log_likelihood, idm_theta *theta_slope,
                      idm_error *opt_error)
{
  td_slope *g = content;
  found sum = {0};
  idm_status status = IDM_OK;
  idm_theta_clear(theta_slope);
  g->free = idm_td_free_numbers(theta_slope);
  g->width = (1 + g->free.count) * g->l->states * g->l->actions;
  g->top = 0;
  for (size_t i = 0; i < g->tree->nodes && status == IDM_OK; i++) {
    status = idm_interruption_check(&g->interruption, i, opt_error);
    if (status == IDM_OK) status = follow(g, i, &sum, opt_error);
  }
  if (status != IDM_OK) return status;
  *log_likelihood = sum.log_likelihood;
  if (sum.log_likelihood == -INFINITY) return IDM_OK;
  idm_td_put_slope(theta_slope, sum.temperature, sum.by, sum.habit);
  return IDM_OK;
}

static void interrupt(void *content, idm_interrupt opt_interrupt, void *context)
{
  ((td_slope *)content)->interruption = (idm_interruption){opt_interrupt, context};
}

const idm_slope_ops idm_td_slope = {.possible = possible,
                                    .create = create,
                                    .destroy = destroy,
                                    .run = run,
                                    .interrupt = interrupt,
                                    .lanes = &idm_td_lanes};
