/* Heuristic search: exploration forward, backups on the way back (docs/method/control.md, 10). */
#include "plan/point/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/system.h"

typedef struct search {
  const point_problem *problem;
  const search_goal *goal;
  search_graph graph;
  uint32_t start;
  uint32_t *fallback;        /* [stage]: node of the uniform belief, which determines the plan after
                                outcomes that are impossible at a belief */
  double min_improvement;    /* smaller improvements of a bound are discarded */
  size_t steps;              /* length of the path */
  size_t path_capacity;      /* allocated length */
  size_t steps_since_newton; /* steps since the last Newton step */
  size_t newton_interval;    /* factor of the interval until the next one */
  bool gap_exceeds_rounding; /* the gap at the start exceeds rounding errors */
  bool truncated;            /* the path ended at its capacity, and not where bounds are close */
  double start_time;         /* from which seconds are counted */
  double last_check;         /* time of the last check whether to stop */
  bool stopped;              /* stop, even within a trial; the reason is in `stop` */
  idm_stop stop;
  uint32_t *path;
  uint32_t *after;     /* [outcome]: vector that follows */
  double *next_vector; /* [cell]: value that follows */
  double *vector;      /* [state] */
  size_t *pruned;      /* [stage][2]: vectors and points when the stage was last pruned */
  bool improved;       /* a bound improved in this trial */
  double gap_fraction; /* target of a trial, as a fraction of the gap at the start */
  bool target_relaxed; /* the target of the trial exceeded the gap to reach */
  double smallest_gap; /* smallest gap at the start so far */
  int stalled_trials;  /* trials since it decreased by more than rounding */
  long backups;
} search;

/* --- upper bound ----------------------------------------------------------------------------- */

/* Lowers the bound at a node to that of the action with the largest upper bound. */
static idm_status update_upper(search *s, uint32_t at, size_t action, idm_error *opt_error)
{
  search_graph *g = &s->graph;
  const double value = graph_branch(g, at, action)->upper;
  if (!(value < idm_graph_upper(g, at) - s->min_improvement)) return IDM_OK;
  s->improved = true;
  search_node *n = &g->node[at];
  n->upper = value;
  const sparse_belief b = graph_belief(g, at);
  return idm_sawtooth_lower(&g->bounds->stage[n->stage].upper, &b, value, at, &n->point, opt_error);
}

/* --- lower bound ----------------------------------------------------------------------------- */

/* Value of an action by the lower bounds of its successors. */
static double action_lower_value(search *s, uint32_t at, size_t u)
{
  search_graph *g = &s->graph;
  const branch *b = graph_branch(g, at, u);
  const sparse_belief z = graph_belief(g, at);
  double sum = 0;
  for (size_t e = b->edge; e < b->edge + b->edges; e++)
    sum += g->edge[e].p * idm_graph_lower(g, g->edge[e].node);
  return idm_graph_reward(g, &z, u) + s->problem->discount * sum;
}

/* Collects the vectors that follow the outcomes of an action, and their values by cell. */
static void collect_vectors(search *s, uint32_t from, size_t u)
{
  search_graph *g = &s->graph;
  const kernel *k = s->problem->kernel;
  const branch *b = graph_branch(g, from, u);
  const size_t first = kernel_first_cell(k, u);
  for (size_t e = b->edge; e < b->edge + b->edges; e++) {
    const size_t o = k->outcome[u] + g->edge[e].outcome;
    const uint32_t next = g->edge[e].node;
    idm_graph_lower(g, next);
    const alphas *lower = &g->bounds->stage[g->node[next].stage].lower;
    const uint32_t vector = alpha_current(lower, g->node[next].best);
    s->after[g->edge[e].outcome] = vector;
    for (size_t c = k->cell[o]; c < k->cell[o + 1]; c++)
      s->next_vector[c - first] = alpha_at(lower, vector, k->state[c]);
  }
}

/* Backup at a node: adds the vector of the plan that begins with u and continues with the best
 * vector after each outcome. */
static idm_status back_up(search *s, uint32_t at, size_t u, idm_error *opt_error)
{
  search_graph *g = &s->graph;
  const kernel *k = s->problem->kernel;
  const size_t stage = g->node[at].stage;
  const idm_status status = idm_graph_expand(g, s->fallback[stage], u, opt_error);
  if (status != IDM_OK) return status;
  /* Outcomes that the action does not have continue with an arbitrary vector. */
  memset(s->after, 0, k->max_outcomes * sizeof *s->after);
  if (graph_branch(g, at, u)->edges) {
    if (graph_branch(g, at, u)->edges < kernel_outcomes(k, u))
      collect_vectors(s, s->fallback[stage], u);
    collect_vectors(s, at, u);
  } else {
    memset(s->next_vector, 0, kernel_cells(k, u) * sizeof *s->next_vector);
  }
  for (size_t i = 0; i < k->states; i++) {
    double sum = 0;
    for (size_t e = k->entry[u * k->states + i]; e < k->entry[u * k->states + i + 1]; e++)
      sum += k->value[e] * s->next_vector[k->at[e]];
    s->vector[i] = s->problem->reward[u * k->states + i] + s->problem->discount * sum;
  }
  const sparse_belief here = graph_belief(g, at);
  idm_piecewise_reward_add(&s->problem->piecewise_reward, u, &here, s->vector);
  s->backups++;
  const idm_status kept = idm_plans_add(&g->plans, at, s->after, opt_error);
  if (kept != IDM_OK) return kept;
  return idm_alphas_add(&g->bounds->stage[stage].lower, s->vector, u, opt_error);
}

/* Raises the bound at a node by the best of its expanded actions. */
static idm_status update_lower(search *s, uint32_t at, idm_error *opt_error)
{
  const double known = idm_graph_lower(&s->graph, at);
  double best_value = known + s->min_improvement;
  size_t best = SIZE_MAX;
  for (size_t u = 0; u < s->problem->kernel->actions; u++) {
    const branch *b = graph_branch(&s->graph, at, u);
    if (!b->expanded || b->upper <= best_value) continue; /* it cannot be better */
    const double value = action_lower_value(s, at, u);
    if (value <= best_value) continue;
    best_value = value;
    best = u;
  }
  if (best == SIZE_MAX) return IDM_OK;
  s->improved = true;
  return back_up(s, at, best, opt_error);
}

/* --- trials --------------------------------------------------------------------------------- */

/* Successor with the largest weighted excess of its gap over the target; GRAPH_NONE if no gap
 * exceeds it. */
static uint32_t widest_successor(search *s, uint32_t at, size_t u, double target)
{
  search_graph *g = &s->graph;
  const branch *b = graph_branch(g, at, u);
  uint32_t best = GRAPH_NONE;
  double best_value = 0;
  for (size_t e = b->edge; e < b->edge + b->edges; e++) {
    const uint32_t next = g->edge[e].node;
    const double excess =
        g->edge[e].p * (idm_graph_upper(g, next) - idm_graph_lower(g, next) - target);
    if (excess <= best_value) continue;
    best_value = excess;
    best = next;
  }
  return best;
}

/* Bytes of beliefs, bounds and path. */
static double bytes_of(const search *s)
{
  const search_graph *g = &s->graph;
  double sum = idm_graph_bytes(g) + (double)s->path_capacity * sizeof *s->path;
  for (size_t t = 0; t < g->bounds->stages; t++)
    sum += idm_alphas_bytes(&g->bounds->stage[t].lower) +
           idm_sawtooth_bytes(&g->bounds->stage[t].upper);
  return sum;
}

/* Whether a limit on memory or time is reached, or the callback requests a stop. */
static bool must_stop(search *s)
{
  const search_goal *goal = s->goal;
  if (s->stopped) return true;
  const double now = goal->seconds > 0 || goal->opt_monitor ? idm_seconds() : 0;
  s->last_check = now;
  if (goal->bytes > 0 && bytes_of(s) > goal->bytes)
    s->stop = IDM_STOP_MEMORY;
  else if (goal->seconds > 0 && now - s->start_time >= goal->seconds)
    s->stop = IDM_STOP_SECONDS;
  else if (goal->opt_monitor &&
           goal->opt_monitor(goal->context, idm_graph_lower(&s->graph, s->start),
                             idm_graph_upper(&s->graph, s->start)))
    s->stop = IDM_STOP_INTERRUPT;
  else
    return false;
  s->stopped = true;
  return true;
}

/* must_stop within a trial, evaluated from time to time, as a path may be long and a step of a
 * large problem slow. */
static bool must_stop_at(search *s, size_t step)
{
  enum { check_interval = 1024 };
  static const double check_seconds = 0.1; /* seconds */
  const bool timed = s->goal->seconds > 0 || s->goal->opt_monitor;
  const bool check_due = step && step % check_interval == 0;
  return check_due || (timed && idm_seconds() - s->last_check > check_seconds) ? must_stop(s)
                                                                               : s->stopped;
}

/* The same for the computations after a trial. */
static bool must_stop_now(void *context)
{
  return must_stop_at(context, 0);
}

/* Initial fraction of the gap that a trial aims at. A trial that aims at the final gap takes a path
 * of ln(gap now / gap) / (1 - discount) steps while its bounds are still those of the corners. One
 * that aims at a fraction of the current gap is short. If such a trial improves nothing, the
 * fraction is reduced. */
static const double initial_fraction = 0.8;

/* Follows a path from the start as long as the gap exceeds the target at that depth. */
static idm_status forward_trial(search *s, idm_error *opt_error)
{
  const double width = idm_graph_upper(&s->graph, s->start) - idm_graph_lower(&s->graph, s->start);
  s->target_relaxed = s->gap_fraction * width > s->goal->gap;
  double target = s->target_relaxed ? s->gap_fraction * width : s->goal->gap;
  uint32_t at = s->start;
  s->steps = 0;
  while (at != GRAPH_NONE && s->steps < s->path_capacity && !must_stop_at(s, s->steps)) {
    size_t u;
    const idm_status status = idm_graph_choose(&s->graph, at, &u, opt_error);
    if (status != IDM_OK) return status;
    s->path[s->steps++] = at;
    s->steps_since_newton++;
    target /= s->problem->discount > 0 ? s->problem->discount : 1;
    at = widest_successor(s, at, u, target);
  }
  s->truncated = at != GRAPH_NONE && s->problem->horizon <= 0;
  return IDM_OK;
}

/* Whether the path cycles through beliefs whose gaps are closed: it was truncated and improved
 * nothing, or for some trials nothing at the start. Only a longer path reaches a depth at which the
 * target exceeds these gaps, and other successors are selected. */
static bool path_cycles(const search *s)
{
  enum { check_interval = 8 };
  return s->truncated &&
         (!s->improved ||
          (s->gap_exceeds_rounding && s->stalled_trials % check_interval == check_interval - 1));
}

static void adapt_fraction(search *s)
{
  static const double min_fraction = 1e-2; /* below: trials aim at the final gap */
  if (s->improved)
    s->gap_fraction = fmin(2 * s->gap_fraction + min_fraction, initial_fraction);
  else
    s->gap_fraction = s->gap_fraction > min_fraction ? s->gap_fraction / 8 : 0;
}

static idm_status grow_path(search *s, idm_error *opt_error)
{
  const size_t bytes = idm_times(2 * s->path_capacity, sizeof *s->path);
  uint32_t *path = bytes ? realloc(s->path, bytes) : NULL;
  if (!path) return idm_fail_memory(opt_error);
  s->path = path;
  s->path_capacity *= 2;
  return IDM_OK;
}

/* Whether vectors take much memory, and are 1.5 times as many as when they were last dropped. */
static bool exceeds_memory(const alphas *lower, size_t left)
{
  static const double memory_limit = 0x1p25; /* 32 MiB */
  const size_t count = lower->count - lower->dominated;
  return (double)count * (double)(lower->states * sizeof *lower->value) > memory_limit &&
         count > left + left / 2;
}

static idm_status prune(search *s, size_t stage, idm_error *opt_error)
{
  search_graph *g = &s->graph;
  const bounds_pair *now = &g->bounds->stage[stage];
  size_t *pruned = s->pruned + 2 * stage;
  if (now->upper.count > pruned[1] + pruned[1] / 4 + 64) {
    idm_graph_prune_upper(g, stage);
    pruned[1] = now->upper.count;
  }
  if (exceeds_memory(&now->lower, pruned[0])) {
    const idm_status status = idm_graph_drop_lower(g, stage, opt_error);
    pruned[0] = now->lower.count;
    return status;
  }
  if (now->lower.dominated <= now->lower.count / 16 + 16) return IDM_OK;
  return idm_graph_prune_lower(g, stage, opt_error);
}

static idm_status backup_trial(search *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  while (s->steps && status == IDM_OK && !must_stop_at(s, s->steps)) {
    const uint32_t at = s->path[--s->steps];
    size_t u = 0;
    status = idm_graph_choose(&s->graph, at, &u, opt_error);
    if (status == IDM_OK) status = update_upper(s, at, u, opt_error);
    if (status == IDM_OK) status = update_lower(s, at, opt_error);
    if (status == IDM_OK) status = prune(s, s->graph.node[at].stage, opt_error);
  }
  return status;
}

/* --- search ---------------------------------------------------------------------------------- */

static idm_status search_init(search *s, idm_error *opt_error)
{
  const size_t states = s->problem->kernel->states;
  const size_t stages = s->graph.bounds->stages;
  s->path_capacity = s->problem->horizon > 0 ? stages : 2000;
  s->fallback = idm_new(stages, sizeof *s->fallback);
  s->path = idm_new(s->path_capacity, sizeof *s->path);
  s->after = idm_new(s->problem->kernel->max_outcomes, sizeof *s->after);
  s->next_vector = idm_new(s->problem->kernel->max_cells, sizeof *s->next_vector);
  s->vector = idm_new(states, sizeof *s->vector);
  s->pruned = idm_new(2 * stages, sizeof *s->pruned);
  if (!s->fallback || !s->path || !s->after || !s->next_vector || !s->vector || !s->pruned)
    return idm_fail_memory(opt_error);
  idm_status status = idm_graph_add(&s->graph, stages - 1, s->problem->start, &s->start, opt_error);
  for (size_t i = 0; i < states; i++) s->vector[i] = 1 / (double)states;
  for (size_t t = 0; t < stages && status == IDM_OK; t++)
    status = idm_graph_add(&s->graph, t, s->vector, &s->fallback[t], opt_error);
  return status;
}

/* Plans of the initial vectors, each of which repeats an action: it is followed by itself. */
static idm_status begin_plans(search *s, idm_error *opt_error)
{
  search_graph *g = &s->graph;
  idm_status status = IDM_OK;
  if (s->problem->horizon > 0 || s->problem->opt_policy) return IDM_OK;
  g->plans.width = s->problem->kernel->max_outcomes;
  for (size_t i = 0; i < g->bounds->stage[0].lower.count && status == IDM_OK; i++) {
    for (size_t o = 0; o < g->plans.width; o++) s->after[o] = (uint32_t)i;
    status = idm_plans_add(&g->plans, s->fallback[0], s->after, opt_error);
  }
  return status;
}

/* Whether the systems of Newton's method are small enough to be stored. */
static bool is_small(const search *s)
{
  enum { max_entries = 1 << 21 };
  const kernel *k = s->problem->kernel;
  const bounds_pair *now = &s->graph.bounds->stage[0];
  const double below = (double)now->lower.count * (double)k->entry[k->actions * k->states];
  const double above =
      (double)now->upper.count * (double)k->outcome[k->actions] * (double)(k->states + 1);
  return below + above < max_entries;
}

/* Newton's method, as often as it takes no more work than the trials, and less often after each
 * step that closed little of the gap. */
static idm_status newton_step(search *s, idm_error *opt_error)
{
  enum { longest_interval = 4 };
  static const double min_closed_share = 0.25;
  search_graph *g = &s->graph;
  const bounds_pair *now = &g->bounds->stage[0];
  const size_t work = now->lower.count - now->lower.dominated + now->upper.count;
  if (!g->plans.width || s->steps_since_newton < s->newton_interval * work || !is_small(s))
    return IDM_OK;
  const double gap = idm_graph_upper(g, s->start) - idm_graph_lower(g, s->start);
  idm_status status = idm_newton_lower(g, opt_error);
  if (status == IDM_OK) status = idm_newton_upper(g, s->min_improvement, opt_error);
  const double left = idm_graph_upper(g, s->start) - idm_graph_lower(g, s->start);
  if (left <= (1 - min_closed_share) * gap)
    s->newton_interval = 1;
  else if (s->newton_interval < longest_interval)
    s->newton_interval *= 2;
  s->steps_since_newton = 0;
  return status;
}

static void report(search *s, search_result *result)
{
  result->lower = idm_graph_lower(&s->graph, s->start);
  result->upper = idm_graph_upper(&s->graph, s->start);
  result->backups = s->backups;
}

/* Whether trials only change rounding errors: the gap at the start has not decreased for long, and
 * no improvement of relevant size is left. */
static bool has_stalled(search *s, const search_result *result)
{
  enum { newton_interval = 200 };
  static const double rounding_factor =
      1e6; /* a larger gap is not due to rounding, however long it does not change */
  /* Rounding errors accumulate as utilities do. */
  const double rounding = s->problem->horizon > 0 ? 0 : DBL_EPSILON / (1 - s->problem->discount);
  const double floor = fmax(1e-14, rounding) * fmax(fabs(result->lower), fabs(result->upper));
  const double gap = result->upper - result->lower;
  s->stalled_trials = gap < s->smallest_gap - floor ? 0 : s->stalled_trials + 1;
  s->smallest_gap = fmin(s->smallest_gap, gap);
  const bool is_exhausted = !s->improved && !s->truncated &&
                            !s->target_relaxed; /* else a longer path may still improve a bound */
  s->gap_exceeds_rounding = gap > rounding_factor * floor;
  return s->min_improvement <= floor &&
         (is_exhausted || gap <= floor ||
          (s->stalled_trials > newton_interval && !s->gap_exceeds_rounding));
}

/* Whether to stop before another trial; the reason goes into `result`. */
static bool done(search *s, search_result *result)
{
  report(s, result);
  result->stop = IDM_STOP_BOUND;
  if (result->upper - result->lower <= s->goal->gap) return true;
  result->stop = IDM_STOP_ROUNDING;
  if (has_stalled(s, result)) return true;
  /* If no bound improves by this amount, accept smaller improvements: near a discount of 1 they
   * accumulate. */
  if (!s->improved && !s->target_relaxed) s->min_improvement /= 16;
  result->stop = IDM_STOP_LIMIT;
  if (s->goal->backups > 0 && s->backups >= s->goal->backups) return true;
  const bool stopped = must_stop(s);
  result->stop = s->stop;
  return stopped;
}

static void search_clear(search *s)
{
  idm_graph_free(&s->graph);
  free(s->fallback);
  free(s->path);
  free(s->after);
  free(s->next_vector);
  free(s->vector);
  free(s->pruned);
}

/* Relative rounding error of a bound: that of one backup, a sum over the longest row, times the
 * number of backups that the discount accumulates. */
static double rounding_of(const point_problem *problem)
{
  static const double min_improvement = 1e-9;
  const kernel *k = problem->kernel;
  size_t longest_interval = 0;
  for (size_t i = 0; i < k->actions * k->states; i++)
    if (k->entry[i + 1] - k->entry[i] > longest_interval)
      longest_interval = k->entry[i + 1] - k->entry[i];
  if (problem->horizon > 0) return min_improvement;
  return fmax(min_improvement,
              (double)(longest_interval + 2) * DBL_EPSILON / (1 - problem->discount));
}

/* Bounds that have converged may cross by the rounding errors of both; IDM_NUMERICAL if they cross
 * by more. The interval between them is reported. */
static idm_status check(const point_problem *problem, search_result *result, idm_error *opt_error)
{
  const double lower = result->lower, upper = result->upper;
  const double rounding = 2 * rounding_of(problem) * fmax(1, fmax(fabs(lower), fabs(upper)));
  if (upper < lower - rounding)
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "the lower bound on the value, %.17g, is above the upper one, %.17g", lower,
                    upper);
  result->lower = fmin(lower, upper);
  result->upper = fmax(lower, upper);
  return IDM_OK;
}

idm_status idm_search(const point_problem *problem, const search_goal *goal, bounds *b,
                      search_result *result, idm_error *opt_error)
{
  point_problem own = *problem;
  search s = {.problem = &own,
              .goal = goal,
              .start_time = goal->start_time > 0 ? goal->start_time : idm_seconds(),
              .last_check = idm_seconds(),
              .min_improvement = 1e-3 * goal->gap,
              .improved = true,
              .gap_fraction = initial_fraction,
              .newton_interval = 1,
              .smallest_gap = INFINITY};
  own.opt_stop = must_stop_now;
  own.stop_context = &s;
  *result = (search_result){0};
  idm_status status = idm_graph_create(&own, b, &s.graph, opt_error);
  if (status == IDM_OK) status = search_init(&s, opt_error);
  if (status == IDM_OK) status = begin_plans(&s, opt_error);
  while (status == IDM_OK && !done(&s, result)) {
    s.improved = false;
    status = forward_trial(&s, opt_error);
    if (status == IDM_OK) status = backup_trial(&s, opt_error);
    if (status == IDM_OK) status = newton_step(&s, opt_error);
    adapt_fraction(&s);
    if (status == IDM_OK && path_cycles(&s)) status = grow_path(&s, opt_error);
    result->trials++;
  }
  for (size_t t = 0; t < b->stages && status == IDM_OK; t++) {
    /* Superfluous points are harmless, and finding them takes time. */
    if (!s.stopped) idm_graph_prune_upper(&s.graph, t);
    status = idm_graph_prune_lower(&s.graph, t, opt_error);
  }
  search_clear(&s);
  return status == IDM_OK && !problem->opt_policy ? check(problem, result, opt_error) : status;
}
