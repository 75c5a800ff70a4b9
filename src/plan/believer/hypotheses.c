/* Weighted sets of hypotheses about the belief of an agent.
 *
 * Contents: belief set · hypotheses */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "plan/believer/believer.h"
#include "plan/choice.h"

/* === belief set ============================================================================= */

/* Weighted sets of hypotheses. */

/* Relative tolerance, per coordinate, at which beliefs count as equal. A filter adds and multiplies
 * and never subtracts, so that small coordinates keep their relative precision. */
static const double belief_tolerance = 1e-12;

/* Number of hypotheses beyond which equal ones are merged during insertion. */
enum { MERGE_THRESHOLD = 4 * BELIEF_SET_MAX };

/* Sort key, which is nearly the same for equal hypotheses. */
typedef struct belief_rank {
  double key;
  uint32_t index;
} belief_rank;

/* Reallocates the array that *array points to. Returns false, with the old array valid, if memory
 * runs out. */
static bool grow(void *array, size_t capacity, size_t width)
{
  void *held;
  memcpy(&held, array, sizeof held);
  void *larger = realloc(held, capacity && width ? capacity * width : 1);
  if (larger) memcpy(array, &larger, sizeof larger);
  /* cppcheck-suppress memleak */
  return larger != NULL;
}

static idm_status reserve(belief_set *set, size_t capacity, idm_error *opt_error)
{
  const size_t row = set->states * sizeof(double);
  if (capacity <= set->capacity) return IDM_OK;
  if (!grow(&set->weight, capacity, sizeof(double)) || !grow(&set->belief, capacity, row) ||
      !grow(&set->env_belief, capacity, row) || !grow(&set->last, capacity, sizeof *set->last) ||
      !grow(&set->rank, capacity, sizeof *set->rank) ||
      !grow(&set->target, capacity, sizeof *set->target))
    return idm_fail_memory(opt_error);
  set->capacity = capacity;
  return IDM_OK;
}

idm_status idm_belief_set_init(belief_set *set, size_t states, size_t actions, size_t pairs,
                               idm_error *opt_error)
{
  *set = (belief_set){.states = states, .actions = actions, .pairs = pairs};
  const idm_status status = reserve(set, 1, opt_error);
  if (status != IDM_OK) return status;
  set->count = 1;
  const idm_status policy_capacity = idm_belief_set_decide(set, opt_error);
  set->count = 0;
  return policy_capacity;
}

void idm_belief_set_free(belief_set *set)
{
  free(set->weight);
  free(set->belief);
  free(set->env_belief);
  free(set->last);
  free(set->decision);
  free(set->specification);
  free(set->origin);
  free(set->rank);
  free(set->target);
}

void idm_belief_set_clear(belief_set *set)
{
  set->count = 0;
  set->origins = 0;
}

idm_status idm_belief_set_decide(belief_set *set, idm_error *opt_error)
{
  if (set->count <= set->decided) return IDM_OK;
  const size_t policy_capacity = set->count > 2 * set->decided ? set->count : 2 * set->decided;
  if (!grow(&set->decision, policy_capacity, set->actions * sizeof(double)) ||
      !grow(&set->specification, policy_capacity, set->pairs * sizeof(double)))
    return idm_fail_memory(opt_error);
  set->decided = policy_capacity;
  return IDM_OK;
}

/* --- merging -------------------------------------------------------------------------------- */

/* Linear combination of the coordinates with unrelated coefficients below 1, so that different
 * hypotheses almost always have different keys. Comparison of the coordinates themselves, up to a
 * tolerance, would not be an order. */
static double key(const belief_set *set, size_t index)
{
  const double *z = set->belief + index * set->states;
  const double *e = set->env_belief + index * set->states;
  double sum = set->tracks_last ? 0.5 * set->last[index] : 0;
  double coefficient = 0;
  for (size_t s = 0; s < set->states; s++) {
    coefficient += 0.6180339887498949; /* fractional parts of multiples of the golden ratio */
    coefficient -= coefficient >= 1;
    sum += coefficient * (set->tracks_environment ? z[s] + 0.7548776662466927 * e[s] : z[s]);
  }
  return sum;
}

static bool equal_rows(const double *x, const double *y, size_t count)
{
  for (size_t s = 0; s < count; s++)
    if (fabs(x[s] - y[s]) > belief_tolerance * fmax(x[s], y[s])) return false;
  return true;
}

static bool equal(const belief_set *set, size_t a, size_t b)
{
  const size_t k = set->states;
  return equal_rows(set->belief + a * k, set->belief + b * k, k) &&
         (!set->tracks_environment ||
          equal_rows(set->env_belief + a * k, set->env_belief + b * k, k)) &&
         (!set->tracks_last || set->last[a] == set->last[b]);
}

static bool rank_less(belief_rank a, belief_rank b)
{
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* Heap sort in place, because sorting must not allocate memory. */
static void sift(belief_rank *rank, size_t root, size_t count)
{
  const belief_rank moved = rank[root];
  size_t child = 2 * root + 1;
  for (; child < count; child = 2 * root + 1) {
    if (child + 1 < count && rank_less(rank[child], rank[child + 1])) child++;
    if (!rank_less(moved, rank[child])) break;
    rank[root] = rank[child];
    root = child;
  }
  rank[root] = moved;
}

static void sort(belief_set *set)
{
  belief_rank *rank = set->rank;
  for (size_t i = 0; i < set->count; i++) rank[i] = (belief_rank){key(set, i), (uint32_t)i};
  for (size_t i = set->count / 2; i-- > 0;) sift(rank, i, set->count);
  for (size_t end = set->count; end-- > 1;) {
    const belief_rank largest = rank[0];
    rank[0] = rank[end];
    rank[end] = largest;
    sift(rank, 0, end);
  }
}

/* Sets target[i], the hypothesis equal to i that receives its weight; mostly i itself. */
static void find_duplicates(belief_set *set)
{
  const double window = 2 * belief_tolerance;
  const belief_rank *rank = set->rank;
  sort(set);
  for (size_t i = 0; i < set->count; i++) set->target[i] = UINT32_MAX;
  for (size_t i = 0; i < set->count; i++) {
    const uint32_t first = rank[i].index;
    if (set->target[first] != UINT32_MAX) continue;
    set->target[first] = first;
    for (size_t j = i + 1; j < set->count && rank[j].key - rank[i].key <= window; j++) {
      const uint32_t other = rank[j].index;
      if (set->target[other] == UINT32_MAX && equal(set, first, other)) set->target[other] = first;
    }
  }
}

/* Merges equal hypotheses and keeps the order of the others; `target` maps old indices to new ones.
 */
static void merge(belief_set *set)
{
  const size_t k = set->states;
  size_t merged_count = 0;
  if (set->count < 2) return;
  find_duplicates(set);
  for (size_t i = 0; i < set->count; i++)
    if (set->target[i] != i) set->weight[set->target[i]] += set->weight[i];
  /* A representative may come after hypotheses that merge into it: assign new indices first, then
   * map the others. */
  for (size_t i = 0; i < set->count; i++) {
    if (set->target[i] != i) continue;
    set->weight[merged_count] = set->weight[i];
    set->last[merged_count] = set->last[i];
    memmove(set->belief + merged_count * k, set->belief + i * k, k * sizeof *set->belief);
    if (set->tracks_environment)
      memmove(set->env_belief + merged_count * k, set->env_belief + i * k,
              k * sizeof *set->env_belief);
    set->rank[i].index = (uint32_t)merged_count++;
  }
  for (size_t i = 0; i < set->count; i++) set->target[i] = set->rank[set->target[i]].index;
  for (size_t i = 0; i < set->origins; i++)
    set->origin[i].target = set->target[set->origin[i].target];
  set->count = merged_count;
}

double idm_belief_set_normalise(belief_set *set)
{
  double total = 0;
  merge(set);
  for (size_t i = 0; i < set->count; i++) total += set->weight[i];
  for (size_t i = 0; total > 0 && i < set->count; i++) set->weight[i] /= total;
  return total;
}

/* --- adding --------------------------------------------------------------------------------- */

idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              const double *opt_env_belief, int last, idm_error *opt_error)
{
  const size_t k = set->states;
  if (set->count >= MERGE_THRESHOLD) {
    merge(set);
    if (set->count > BELIEF_SET_MAX)
      return idm_fail(opt_error, IDM_INPUT,
                      "missing cells of the log leave more than %d hypotheses", BELIEF_SET_MAX);
  }
  if (set->count == set->capacity) {
    const idm_status status = reserve(set, 2 * set->capacity, opt_error);
    if (status != IDM_OK) return status;
  }
  set->weight[set->count] = weight;
  set->last[set->count] = last;
  memcpy(set->belief + set->count * k, belief, k * sizeof *belief);
  if (opt_env_belief)
    memcpy(set->env_belief + set->count * k, opt_env_belief, k * sizeof *opt_env_belief);
  set->count++;
  return IDM_OK;
}

idm_status idm_belief_set_trace(belief_set *set, belief_origin origin, idm_error *opt_error)
{
  if (set->origins == set->origin_capacity) {
    const size_t capacity = set->origin_capacity ? 2 * set->origin_capacity : 16;
    if (!grow(&set->origin, capacity, sizeof *set->origin)) return idm_fail_memory(opt_error);
    set->origin_capacity = capacity;
  }
  origin.target = (uint32_t)set->count - 1;
  origin.weight = set->weight[set->count - 1];
  set->origin[set->origins++] = origin;
  return IDM_OK;
}

/* === hypotheses ============================================================================= */

/* Hypotheses about the agent's belief, given the record (docs/method/likelihood.md, 4).
 *
 * The likelihood of a log with missing cells is a marginal: one belief while everything is
 * recorded, else a set of hypotheses, each with the environment's belief and the agent's.
 *
 * Contents: initialisation · choice · recognition */

/* --- initialisation -------------------------------------------------------------------------- */

void idm_step_scratch_free(step_scratch *m)
{
  double *const owned[] = {m->planner, m->posterior,    m->mean,   m->env_belief,
                           m->share,   m->log_decision, m->choice, m->sensor};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

idm_status idm_step_scratch_init(const belief_agent *b, step_scratch *m, idm_error *opt_error)
{
  const idm_sizes n = b->theta->sizes;
  *m = (step_scratch){.planner = idm_new(b->planner->belief->scratch(b->content), sizeof(double)),
                      .posterior = idm_new(n.states, sizeof(double)),
                      .mean = idm_new(n.states, sizeof(double)),
                      .env_belief = idm_new(n.states, sizeof(double)),
                      .share = idm_new(b->theta->models, sizeof(double)),
                      .log_decision = idm_new(n.actions, sizeof(double)),
                      .choice = idm_new(n.actions, sizeof(double)),
                      .sensor = idm_new(idm_sensor_scratch(n), sizeof(double))};
  if (m->planner && m->posterior && m->mean && m->env_belief && m->share && m->log_decision &&
      m->choice && m->sensor)
    return IDM_OK;
  return idm_fail_memory(opt_error);
}

void idm_hypotheses_free(hypotheses *h)
{
  idm_belief_set_free(&h->set);
  free(h->known);
}

idm_status idm_hypotheses_init(const belief_agent *b, hypotheses *h, idm_error *opt_error)
{
  const idm_sizes n = b->theta->sizes;
  *h = (hypotheses){.known = idm_new(n.states, sizeof(double))};
  const idm_status status =
      idm_belief_set_init(&h->set, n.states, n.actions, n.actions * b->theta->models, opt_error);
  return status == IDM_OK && !h->known ? idm_fail_memory(opt_error) : status;
}

idm_status idm_hypotheses_begin(const belief_agent *b, step_scratch *m, hypotheses *h,
                                size_t variant, const double *start, idm_error *opt_error)
{
  const size_t k = b->theta->sizes.states;
  h->variant = variant;
  h->steps = 0;
  h->decided = false;
  h->set.tracks_environment = false;
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
  h->set.tracks_environment = h->set.count > 1;
  return IDM_OK;
}

/* --- choice ---------------------------------------------------------------------------------- */

idm_status idm_hypotheses_set_policies(const belief_agent *b, step_scratch *m, hypotheses *h,
                                       idm_error *opt_error)
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

/* Computes q of idm_choice_tilt at hypothesis i into m->choice, by logarithms under underflow.
 * Returns the number of open actions. */
static double tilt_policy(const belief_agent *b, step_scratch *m, const hypotheses *h,
                          choice_bias own, const bool *opt_open, size_t i)
{
  const belief_set *set = &h->set;
  double open;
  if (idm_choice_tilt(own, set->actions, set->decision + i * set->actions, opt_open, set->last[i],
                      m->choice, &open))
    return open;
  b->planner->belief->log_policy(b->content, h->variant, h->steps, set->belief + i * set->states,
                                 m->choice, m->planner);
  idm_choice_tilt_logs(own, set->actions, m->choice, opt_open, set->last[i], m->choice, &open);
  for (size_t u = 0; u < set->actions; u++) m->choice[u] = exp(m->choice[u]);
  return open;
}

double idm_hypotheses_choice(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u)
{
  const choice_bias own = idm_choice_bias_of(b->theta);
  const double *decision = h->set.decision + i * h->set.actions;
  if (opt_open && !opt_open[u]) return 0;
  if (!opt_open && !idm_choice_bias_active(own)) return decision[u];
  const double open = tilt_policy(b, m, h, own, opt_open, i);
  return idm_choice_lapse(own, m->choice[u], open);
}

/* log of idm_hypotheses_choice, for probabilities that underflow. */
static double log_choice(const belief_agent *b, step_scratch *m, const hypotheses *h,
                         const bool *opt_open, size_t i, size_t u)
{
  const choice_bias own = idm_choice_bias_of(b->theta);
  double open;
  if (opt_open && !opt_open[u]) return -INFINITY;
  b->planner->belief->log_policy(b->content, h->variant, h->steps,
                                 h->set.belief + i * h->set.states, m->log_decision, m->planner);
  idm_choice_tilt_logs(own, h->set.actions, m->log_decision, opt_open, h->set.last[i],
                       m->log_decision, &open);
  return idm_choice_log_lapse(own, m->log_decision[u], open);
}

/* Whether the policy is 0 for every open action: the choice then does not depend on theta. */
static bool has_no_support(const belief_agent *b, step_scratch *m, const hypotheses *h,
                           const bool *opt_open, size_t i)
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

void idm_hypotheses_backward(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double derivative,
                             double *to, choice_bias_gradient *both)
{
  const choice_bias own = idm_choice_bias_of(b->theta);
  if (derivative == 0 || has_no_support(b, m, h, opt_open, i)) return;
  const double open = tilt_policy(b, m, h, own, opt_open, i);
  idm_choice_backward(own, h->set.actions, m->choice, open, h->set.last[i], u, derivative, to,
                      both);
}

double idm_hypotheses_log_act(const belief_agent *b, step_scratch *m, const hypotheses *h,
                              const bool *opt_open, size_t u)
{
  const belief_set *set = &h->set;
  double sum = 0;
  for (size_t i = 0; i < set->count; i++)
    sum += set->weight[i] * idm_hypotheses_choice(b, m, h, opt_open, i, u);
  if (sum > idm_min_probability) return log(sum);
  idm_log_sum small = idm_log_sum_empty;
  for (size_t i = 0; i < set->count; i++)
    idm_log_sum_add(&small, log(set->weight[i]) + log_choice(b, m, h, opt_open, i, u));
  return idm_log_sum_value(small);
}

double idm_hypotheses_factor(const belief_agent *b, step_scratch *m, const hypotheses *h,
                             const bool *opt_open, size_t i, size_t u, double shift)
{
  if (shift == 0) return idm_hypotheses_choice(b, m, h, opt_open, i, u);
  if (shift == -INFINITY) return 1;
  return exp(log_choice(b, m, h, opt_open, i, u) - shift);
}

double idm_hypotheses_shift(const belief_agent *b, step_scratch *m, const hypotheses *h,
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

/* --- recognition ----------------------------------------------------------------------------- */

static idm_status impossible(const belief_agent *b, const idm_event *event, const char *by_whom,
                             idm_error *opt_error)
{
  const idm_setting *s = b->setting;
  return idm_fail(
      opt_error, IDM_INPUT, "observation '%s' after '%s' is impossible %s",
      event->observation == IDM_MISSING ? "anything" : s->observations.name[event->observation],
      event->action == IDM_MISSING ? "any open action" : s->actions.name[event->action], by_whom);
}

/* Sets and returns the error that the environment does not allow the event. */
static idm_status fail_impossible(const belief_agent *b, const idm_event *event,
                                  const bool *opt_open, idm_error *opt_error)
{
  for (size_t u = 0; u < b->theta->sizes.actions; u++)
    if (idm_environment_allows(&b->environment, event, opt_open, u))
      return impossible(b, event, "in the environment, whose dynamics weight missing cells",
                        opt_error);
  return idm_fail(
      opt_error, IDM_INPUT,
      "the action was not recorded, but every open action would have ended the trajectory");
}

idm_status idm_hypotheses_unrecognised(const belief_agent *b, const idm_event *event,
                                       idm_error *opt_error)
{
  return impossible(b, event, "under every model of the agent with positive weight there",
                    opt_error);
}

/* An update in progress. */
typedef struct expansion {
  const belief_agent *b;
  step_scratch *m;
  const hypotheses *from;
  const idm_event *event;
  hypotheses *target;
  idm_random *opt_random;
  bool unrecognised; /* an event that the environment allows is impossible under all models of the
                        agent */
} expansion;

static idm_status add(expansion *g, const belief_origin *origin, double weight,
                      const double *belief, idm_error *opt_error)
{
  belief_set *set = &g->target->set;
  const int last = g->event->missed ? g->from->set.last[origin->parent] : (int)origin->action;
  const idm_status status =
      idm_belief_set_add(set, weight, belief, g->m->env_belief, last, opt_error);
  return status == IDM_OK && set->keeps_origins ? idm_belief_set_trace(set, *origin, opt_error)
                                                : status;
}

/* Adds the successors of the last recognition with a weight: their mean, a drawn one, or all of
 * them. */
static idm_status add_successors(expansion *g, const recognition *r, belief_origin origin,
                                 double weight, idm_error *opt_error)
{
  const belief_agent *b = g->b;
  const step_scratch *m = g->m;
  const size_t models = b->theta->models;
  if (b->recognition == IDM_RECOGNITION_MEAN) return add(g, &origin, weight, m->mean, opt_error);
  const size_t drawn_model =
      g->opt_random ? idm_random_choice(g->opt_random, m->share, models) : models;
  double total = 0;
  for (size_t model = 0; model < models; model++) total += m->share[model];
  for (size_t model = 0; model < models; model++) {
    if (!(m->share[model] > 0) || (g->opt_random && model != drawn_model)) continue;
    const double p = idm_recognition_joint(r, model, m->posterior);
    for (size_t s = 0; s < g->from->set.states; s++) m->posterior[s] /= p;
    const double part = g->opt_random ? weight : weight * m->share[model] / total;
    origin.model = (uint32_t)model;
    const idm_status status = add(g, &origin, part, m->posterior, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* Adds the successors of hypothesis i after action u and a perceived observation, or
 * IDM_UNPERCEIVED. */
static idm_status add_perception(expansion *g, size_t i, size_t u, size_t x, double weight,
                                 idm_error *opt_error)
{
  step_scratch *m = g->m;
  if (!(weight > 0)) return IDM_OK;
  const recognition r = idm_hypotheses_recognition(g->b, &g->from->set, i, u, x);
  double sigma_sum;
  if (!(idm_recognise(&r, m->share, m->mean, &sigma_sum, m->posterior) > 0)) {
    g->unrecognised = true;
    return IDM_OK;
  }
  const belief_origin origin = {
      .parent = (uint32_t)i, .action = (uint32_t)u, .observation = (uint32_t)x};
  return add_successors(g, &r, origin, weight, opt_error);
}

/* Adds the successors of hypothesis i after action u and observation x. A limited sensor passes the
 * observation or not: drawn if opt_random is given, else both cases are added. */
static idm_status expand_perceptions(expansion *g, size_t i, size_t u, size_t x, double weight,
                                     idm_error *opt_error)
{
  const belief_set *set = &g->from->set;
  const idm_sensor sensor = idm_sensor_of(g->b->setting, g->b->theta);
  const double pass_probability =
      idm_sensor_passes(&sensor, set->belief + i * set->states, u, g->m->sensor);
  if (!(pass_probability < 1)) return add_perception(g, i, u, x, weight, opt_error);
  if (g->opt_random) {
    const bool seen = idm_random_uniform(g->opt_random) < pass_probability;
    return add_perception(g, i, u, seen ? x : IDM_UNPERCEIVED, weight, opt_error);
  }
  const idm_status status = add_perception(g, i, u, x, weight * pass_probability, opt_error);
  if (status != IDM_OK) return status;
  return add_perception(g, i, u, IDM_UNPERCEIVED, weight * (1 - pass_probability), opt_error);
}

/* Adds hypothesis i, action u, observation x, weighted by the environment if the set tracks it. */
static idm_status expand_observation(expansion *g, size_t i, size_t u, size_t x, double weight,
                                     idm_error *opt_error)
{
  const belief_set *set = &g->from->set;
  step_scratch *m = g->m;
  if (g->target->set.tracks_environment) {
    const double *e = set->tracks_environment ? set->env_belief + i * set->states : g->from->known;
    const double p = idm_environment_joint(&g->b->environment, e, u, x, m->env_belief);
    if (!(p > idm_zero_probability)) return IDM_OK;
    for (size_t s = 0; s < set->states; s++) m->env_belief[s] /= p;
    weight *= p;
  }
  return expand_perceptions(g, i, u, x, weight, opt_error);
}

/* Adds every possible observation: the recorded one, or all if none was recorded. */
static idm_status expand_observations(expansion *g, size_t i, size_t u, double weight,
                                      idm_error *opt_error)
{
  const int seen = g->event->observation;
  const size_t first = seen == IDM_MISSING ? 0 : (size_t)seen;
  const size_t end = seen == IDM_MISSING ? g->b->theta->sizes.observations : first + 1;
  idm_status status = IDM_OK;
  for (size_t x = first; x < end && status == IDM_OK; x++)
    status = expand_observation(g, i, u, x, weight, opt_error);
  return status;
}

/* Adds every action and observation compatible with the event, weighted by the agent's choice
 * probabilities. */
static idm_status expand_all(expansion *g, const bool *opt_open, update_result *result,
                             idm_error *opt_error)
{
  const belief_set *set = &g->from->set;
  const bool recorded = g->event->action != IDM_MISSING;
  const bool weight_kept = recorded && set->count == 1; /* a single hypothesis keeps its weight */
  result->shift = weight_kept ? 0 : idm_hypotheses_shift(g->b, g->m, g->from, g->event, opt_open);
  for (size_t u = 0; u < set->actions; u++) {
    if (!idm_environment_allows(&g->b->environment, g->event, opt_open, u)) continue;
    if (!recorded && result->shift == -INFINITY) continue;
    for (size_t i = 0; i < set->count; i++) {
      const double factor =
          weight_kept ? 1
                      : idm_hypotheses_factor(g->b, g->m, g->from, opt_open, i, u, result->shift);
      const double weight = set->weight[i] * factor;
      result->decided += weight;
      if (!(weight > 0)) continue;
      const idm_status status = expand_observations(g, i, u, weight, opt_error);
      if (status != IDM_OK) return status;
    }
  }
  return IDM_OK;
}

/* Stops tracking the environment's beliefs if one hypothesis is left whose belief is the one
 * implied by the record: in an MDP, once a state was observed. */
static void drop_env_beliefs(hypotheses *h)
{
  if (h->set.count == 1 &&
      memcmp(h->set.env_belief, h->known, h->set.states * sizeof *h->known) == 0)
    h->set.tracks_environment = false;
}

/* Normalises the successors and computes the evidence of the event; without successors the set is
 * empty. */
static idm_status normalise_successors(expansion *g, double seen, update_result *result,
                                       idm_error *opt_error)
{
  hypotheses *target = g->target;
  const idm_sensor sensor = idm_sensor_of(g->b->setting, g->b->theta);
  result->total = idm_belief_set_normalise(&target->set);
  if (target->set.count > BELIEF_SET_MAX)
    return idm_fail(opt_error, IDM_INPUT,
                    "missing cells of the log%s leave %zu hypotheses; at most %d are supported",
                    idm_sensor_is_limited(&sensor) ? " or observations not perceived" : "",
                    target->set.count, BELIEF_SET_MAX);
  if (!(result->total > 0) && g->unrecognised)
    return idm_hypotheses_unrecognised(g->b, g->event, opt_error);
  if (!(result->total > 0)) {
    idm_belief_set_clear(&target->set);
    result->log_evidence = -INFINITY;
    return IDM_OK;
  }
  result->env_weighted = target->set.tracks_environment;
  if (!result->env_weighted) return IDM_OK;
  result->log_evidence = log(result->total) - log(seen);
  result->log_evidence += g->event->action == IDM_MISSING ? result->shift : -log(result->decided);
  drop_env_beliefs(target);
  return IDM_OK;
}

idm_status idm_hypotheses_update(const belief_agent *b, step_scratch *m, const hypotheses *from,
                                 const idm_event *event, const bool *opt_open, hypotheses *target,
                                 update_result *result, idm_random *opt_random,
                                 idm_error *opt_error)
{
  expansion g = {
      .b = b, .m = m, .from = from, .event = event, .target = target, .opt_random = opt_random};
  *result = (update_result){0};
  idm_belief_set_clear(&target->set);
  idm_hypotheses_step(from, target);
  const bool recorded = event->action != IDM_MISSING && event->observation != IDM_MISSING;
  target->set.tracks_environment = from->set.tracks_environment || !recorded;
  target->set.tracks_last = idm_choice_bias_uses_last(b->theta);
  const double seen = idm_environment_update(&b->environment, event, opt_open, from->known,
                                             target->known, m->env_belief);
  if (!from->set.count) return IDM_OK;
  if (target->set.tracks_environment && !(seen > 0))
    return fail_impossible(b, event, opt_open, opt_error);
  const idm_status status = expand_all(&g, opt_open, result, opt_error);
  return status == IDM_OK ? normalise_successors(&g, seen, result, opt_error) : status;
}
