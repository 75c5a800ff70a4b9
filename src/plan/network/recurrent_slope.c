/* The log-likelihood of `recurrent` and its derivative, in reverse over the tree of histories.
 *
 * Memories of the same depth go through the network together: one product of matrices in place of
 * many. Histories that several trajectories share are read once. */
#include "base/interrupt.h"
#include "base/memory.h"
#include "plan/network/recurrent.h"
#include "plan/network/swath.h"

/* Bytes that a swath may take, and memories that go through a product at once: what is between two
 * products stays in the cache. */
enum { swath_bytes = 64 << 20, slice = 128 };

typedef struct slope {
  const recurrent *r;
  const idm_data *data;
  const idm_prefix_tree *tree;
  swaths *swaths;
  lstm_input *input; /* [place of the widest swath], as are all below */
  double *h;         /* [place][units] */
  double *c;
  double *gates; /* [place][4 units] */
  double *layer; /* [place][layer] */
  double *score; /* [place][action] */
  double *by_score;
  double *by_h;
  double *by_c;
  double *before;     /* [4][slice][units]: h and c before a step, and slopes by them */
  double *by_layer;   /* [slice][layer] */
  double *by_weights; /* [count] */
  double *log_pi;     /* [action] */
  double *by_log;     /* [action] */
  habit_slope habit;
  double log_likelihood;
  idm_interruption interruption;
} slope;

/* --- making one ----------------------------------------------------------------------------- */

static bool possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)content;
  (void)data;
  for (size_t i = 0; i < tree->nodes; i++)
    if (tree->node[i].begin < 0 && !tree->node[i].leaf &&
        (tree->node[i].action == IDM_MISSING || tree->node[i].observation == IDM_MISSING))
      return false;
  return true;
}

static void destroy(void *content)
{
  slope *g = content;
  if (!g) return;
  idm_swaths_destroy(g->swaths);
  void *const owned[] = {g->input,    g->h,          g->c,      g->gates, g->layer,
                         g->score,    g->by_score,   g->by_h,   g->by_c,  g->before,
                         g->by_layer, g->by_weights, g->log_pi, g->by_log};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(g);
}

/* Numbers that a place takes. */
static size_t width_of(const lstm_plan *p)
{
  return 8 * p->units + p->layer + 2 * p->actions;
}

static idm_status create(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                         void **ret_slope, idm_error *opt_error)
{
  const recurrent *r = content;
  const lstm_plan *p = &r->net.plan;
  *ret_slope = NULL;
  slope *g = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  *g = (slope){.r = r, .data = data, .tree = tree};
  const idm_status status =
      idm_swaths_create(tree, swath_bytes / (width_of(p) * sizeof(double)), &g->swaths, opt_error);
  if (status != IDM_OK) {
    destroy(g);
    return status;
  }
  const size_t places = g->swaths->widest;
  const struct {
    double **array;
    size_t count;
  } parts[] = {{&g->h, places * p->units},
               {&g->c, places * p->units},
               {&g->gates, places * 4 * p->units},
               {&g->layer, places * p->layer},
               {&g->score, places * p->actions},
               {&g->by_score, places * p->actions},
               {&g->by_h, places * p->units},
               {&g->by_c, places * p->units},
               {&g->before, (size_t)4 * slice * p->units},
               {&g->by_layer, slice * p->layer},
               {&g->by_weights, p->count},
               {&g->log_pi, p->actions},
               {&g->by_log, p->actions}};
  g->input = idm_new(places, sizeof *g->input);
  bool whole = g->input;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    *parts[i].array = idm_new(parts[i].count, sizeof(double));
    whole = whole && *parts[i].array;
  }
  if (!whole) {
    destroy(g);
    return idm_fail_memory(opt_error);
  }
  *ret_slope = g;
  return IDM_OK;
}

/* --- forwards ------------------------------------------------------------------------------- */

static lstm_input input_of(const slope *g, const idm_prefix_node *node)
{
  if (node->begin < 0) return (lstm_input){node->action, node->observation};
  const int32_t start = g->tree->begin_start[node->begin];
  return idm_recurrent_begin(
      g->r, start < 0 ? NULL : g->data->start_belief + (size_t)start * g->data->sizes.states);
}

/* Parts of `before`. */
static double *part(const slope *g, size_t k)
{
  return g->before + k * slice * g->r->net.plan.units;
}

/* h and c before the step to each of n places. */
static void fetch(const slope *g, const swath *s, size_t first, size_t n)
{
  const size_t units = g->r->net.plan.units;
  for (size_t i = 0; i < n; i++) {
    const size_t before = s->place[first + i].before;
    double *h = part(g, 0) + i * units, *c = part(g, 1) + i * units;
    if (before == first + i) {
      memset(h, 0, units * sizeof *h);
      memset(c, 0, units * sizeof *c);
      continue;
    }
    memcpy(h, g->h + before * units, units * sizeof *h);
    memcpy(c, g->c + before * units, units * sizeof *c);
  }
}

static void go_to(slope *g, const swath *s, size_t first, size_t n)
{
  const lstm_plan *p = &g->r->net.plan;
  for (size_t i = first; i < first + n; i++)
    g->input[i] = input_of(g, &g->tree->node[s->place[i].node]);
  fetch(g, s, first, n);
  idm_lstm_step(&g->r->net, n, g->input + first, part(g, 0), part(g, 1),
                g->gates + first * 4 * p->units, g->c + first * p->units, g->h + first * p->units);
  idm_lstm_score(&g->r->net, n, g->h + first * p->units, g->layer + first * p->layer,
                 g->score + first * p->actions);
}

/* The last response before a row: missed ones keep the one before. */
static int last_response(const slope *g, const swath_row *row)
{
  const idm_prefix_node *at = &g->tree->node[g->tree->node[row->node].parent];
  if (!at->missed) return g->input[row->place].action;
  while (at->missed) at = &g->tree->node[at->parent];
  return at->action; /* IDM_MISSING where the trajectory begins */
}

/* A choice, `count` times: its log-probability, and slopes by the scores. */
static void choose(slope *g, const swath_row *row)
{
  const size_t n = g->r->net.plan.actions;
  const idm_prefix_node *node = &g->tree->node[row->node];
  const bool *open = node->available ? g->data->available_set + node->available * n : NULL;
  const int last = last_response(g, row);
  const double count = (double)node->count;
  const size_t u = (size_t)node->action;
  double among;
  if (node->action == IDM_MISSING || idm_data_open(g->data, node->available) < 2) return;
  idm_habit_tilt_logs(g->r->habits, n, g->score + row->place * n, open, last, g->log_pi, &among);
  g->log_likelihood += count * idm_habit_log_slip(g->r->habits, g->log_pi[u], among);
  for (size_t v = 0; v < n; v++) g->log_pi[v] = exp(g->log_pi[v]);
  idm_habit_recall(g->r->habits, n, g->log_pi, among, last, u, count, g->by_score + row->place * n,
                   &g->habit);
}

/* --- backwards ------------------------------------------------------------------------------ */

static void come_from(slope *g, const swath *s, size_t first, size_t n)
{
  const lstm_plan *p = &g->r->net.plan;
  const size_t units = p->units;
  double *by_h = part(g, 2), *by_c = part(g, 3);
  idm_lstm_score_recall(&g->r->net, n, g->h + first * units, g->layer + first * p->layer,
                        g->by_score + first * p->actions, g->by_layer, g->by_weights,
                        g->by_h + first * units);
  fetch(g, s, first, n);
  idm_lstm_step_recall(&g->r->net, n, g->input + first, part(g, 0), part(g, 1),
                       g->c + first * units, g->gates + first * 4 * units, g->by_h + first * units,
                       g->by_c + first * units, g->by_weights, by_h, by_c);
  for (size_t i = 0; i < n; i++) {
    const size_t before = s->place[first + i].before;
    if (before == first + i) continue;
    for (size_t k = 0; k < units; k++) {
      g->by_h[before * units + k] += by_h[i * units + k];
      g->by_c[before * units + k] += by_c[i * units + k];
    }
  }
}

/* --- both ----------------------------------------------------------------------------------- */

/* Slices of one level after the other, from the beginning or from the end. */
static idm_status sweep(slope *g, const swath *s, bool back, idm_error *opt_error)
{
  for (size_t k = 0; k < s->levels; k++) {
    const size_t d = back ? s->levels - 1 - k : k;
    for (size_t first = s->level[d]; first < s->level[d + 1]; first += slice) {
      const size_t left = s->level[d + 1] - first;
      const idm_status status = idm_interruption_check(&g->interruption, 0, opt_error);
      if (status != IDM_OK) return status;
      (back ? come_from : go_to)(g, s, first, left < slice ? left : slice);
    }
  }
  return IDM_OK;
}

static idm_status run_swath(slope *g, const swath *s, idm_error *opt_error)
{
  const lstm_plan *p = &g->r->net.plan;
  memset(g->by_score, 0, s->places * p->actions * sizeof *g->by_score);
  memset(g->by_h, 0, s->places * p->units * sizeof *g->by_h);
  memset(g->by_c, 0, s->places * p->units * sizeof *g->by_c);
  const idm_status status = sweep(g, s, false, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < s->rows; i++) choose(g, &s->row[i]);
  return sweep(g, s, true, opt_error);
}

static idm_status check_finite(const slope *g, idm_error *opt_error)
{
  bool finite = isfinite(g->log_likelihood);
  for (size_t i = 0; i < g->r->net.plan.count && finite; i++) finite = isfinite(g->by_weights[i]);
  if (finite) return IDM_OK;
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the log-likelihood of the network, or its derivative, is no finite number: its "
                  "weights are too large; give them a narrower prior or another seed");
}

static idm_status run(void *content, double *log_likelihood, idm_theta *theta_slope,
                      idm_error *opt_error)
{
  slope *g = content;
  const size_t count = g->r->net.plan.count;
  idm_theta_clear(theta_slope);
  memset(g->by_weights, 0, count * sizeof *g->by_weights);
  g->habit = (habit_slope){0};
  g->log_likelihood = 0;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < g->swaths->count && status == IDM_OK; i++)
    status = run_swath(g, &g->swaths->swath[i], opt_error);
  if (status != IDM_OK) return status;
  *log_likelihood = g->log_likelihood;
  if (g->log_likelihood == -INFINITY) return IDM_OK;
  status = check_finite(g, opt_error);
  if (status != IDM_OK) return status;
  memcpy(theta_slope->block[IDM_BLOCK_COUNT].value, g->by_weights, count * sizeof *g->by_weights);
  theta_slope->block[IDM_PERSEVERANCE].value[0] = g->habit.perseverance;
  theta_slope->block[IDM_LAPSE].value[0] = g->habit.lapse;
  return IDM_OK;
}

static void interrupt(void *content, idm_interrupt opt_interrupt, void *context)
{
  ((slope *)content)->interruption = (idm_interruption){opt_interrupt, context};
}

const idm_slope_ops idm_recurrent_slope = {
    .possible = possible, .create = create, .destroy = destroy, .run = run, .interrupt = interrupt};
