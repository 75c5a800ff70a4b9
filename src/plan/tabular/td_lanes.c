/* Learning rule of `td-learner`, and several learners at once in vector lanes.
 *
 * Contents: td rule · td lanes */

#include "base/memory.h"
#include "base/vector.h"
#include "idm/extension/data.h"
#include "plan/tabular/learner.h"

/* === td rule ================================================================================ */

/* Update of td-learner by an event (docs/method/learners.md, 1). */

static idm_status refuse(const char *what, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "%s, but td-learner learns from it: expected every action and (in a fully "
                  "observed problem) every state to be recorded; exclude such agents by --where",
                  what);
}

/* A missed response: the next state is that of the log, and no error is learnt. */
static idm_status missed_update(const td_learner *l, const td_memory *m, const idm_event *event,
                                td_update *update, idm_error *opt_error)
{
  *update = (td_update){.state = m->state, .missed = true, .action = l->actions, .rate = TD_GAIN};
  if (l->states > 1 && event->observation != IDM_MISSING) update->next = (size_t)event->observation;
  if (l->states > 1 && event->observation == IDM_MISSING && !event->last)
    return refuse("a state was not recorded", opt_error);
  return IDM_OK;
}

idm_status idm_td_error(const td_learner *l, const td_memory *m, const idm_event *event,
                        td_update *update, idm_error *opt_error)
{
  if (event->missed) return missed_update(l, m, event, update, opt_error);
  if (event->action == IDM_MISSING) return refuse("an action was not recorded", opt_error);
  const size_t u = (size_t)event->action;
  const bool continues = !l->setting->ends[u] && !l->setting->terminal[u] &&
                         !idm_observation_is_terminal(l->setting, event->observation);
  const double *value = m->value;
  td_update d = {.state = m->state, .action = u, .continues = continues, .reward = event->reward};
  if (l->states > 1 && continues && event->observation == IDM_MISSING)
    return refuse("a state was not recorded", opt_error);
  if (l->states > 1 && continues) d.next = (size_t)event->observation;
  for (size_t v = 1; v < l->actions; v++)
    if (value[d.next * l->actions + v] > value[d.next * l->actions + d.best]) d.best = v;
  const double next = continues ? l->discount * value[d.next * l->actions + d.best] : 0;
  d.error = d.reward + next - value[d.state * l->actions + u];
  const bool gain = l->asymmetry == IDM_ASYMMETRY_OUTCOME ? d.reward > 0 : d.error >= 0;
  d.rate = gain ? TD_GAIN : TD_LOSS;
  *update = d;
  return IDM_OK;
}

void idm_td_learn(const td_learner *l, const td_update *d, double *value)
{
  const double rate = l->number[d->rate];
  double *q = value + d->state * l->actions;
  for (size_t v = 0; v < l->actions; v++) {
    if (v == d->action)
      q[v] += rate * d->error;
    else if (!l->fictive)
      q[v] *= 1 - l->number[TD_DECAY];
    else if (!d->missed)
      q[v] += rate * (-d->reward - q[v]);
  }
}

idm_status idm_td_start(const td_learner *l, const double *opt_start, size_t *ret_state,
                        idm_error *opt_error)
{
  const double *start = opt_start ? opt_start : l->setting->start;
  *ret_state = 0;
  if (l->states == 1) return IDM_OK;
  while (*ret_state < l->states && start[*ret_state] != 1) ++*ret_state;
  if (*ret_state < l->states) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "td-learner requires the state that a trajectory starts in, but `start` gives "
                  "only a distribution over states");
}

/* Block of each parameter. */
static const size_t block_of[TD_BY] = {[TD_BY_GAIN] = IDM_BLOCK_COUNT + TD_GAIN,
                                       [TD_BY_LOSS] = IDM_BLOCK_COUNT + TD_LOSS,
                                       [TD_BY_DECAY] = IDM_BLOCK_COUNT + TD_DECAY,
                                       [TD_BY_INITIAL] = IDM_BLOCK_COUNT + TD_INITIAL,
                                       [TD_BY_DISCOUNT] = IDM_DISCOUNT};

td_numbers idm_td_free_numbers(const idm_theta *theta)
{
  td_numbers found = {0};
  for (size_t k = 0; k < TD_BY; k++)
    if (theta->block[block_of[k]].role == IDM_DESCRIPTIVE) found.number[found.count++] = k;
  return found;
}

void idm_td_put_gradient(idm_theta *derivative, double temperature, const double *by,
                         choice_bias_gradient both)
{
  for (size_t k = 0; k < TD_BY; k++) derivative->block[block_of[k]].value[0] = by[k];
  derivative->block[IDM_BLOCK_COUNT + TD_TEMPERATURE].value[0] = temperature;
  derivative->block[IDM_PERSEVERANCE].value[0] = both.perseverance;
  derivative->block[IDM_LAPSE].value[0] = both.lapse;
}

/* === td lanes =============================================================================== */

/* Several td-learners in vector lanes.
 *
 * Contents: paths · creation · steps · run */

enum { lanes = IDM_LANE_WIDTH, max_actions = 4 };
/* Added to the logit of a closed action; its product with 0 is 0, unlike that of infinity. */
static const double closed_logit = -1e300;

/* One step of eight paths. Flags are 0 or 1. */
typedef struct lane_step {
  bool any_begins;    /* in some lane */
  idm_lane begin;     /* an agent begins before the step */
  idm_lane count;     /* trajectories with this decision; 0: no decision */
  idm_lane open;      /* number of open actions */
  idm_lane learn;     /* values are updated */
  idm_lane continues; /* a step with a value follows */
  idm_lane reward;
  idm_lane action[max_actions]; /* 1 for the action taken */
  idm_lane last[max_actions];   /* 1 for the previous action */
  idm_lane mask[max_actions];   /* 0 or closed_logit */
} lane_step;

/* Eight of the logs, or fewer. */
typedef struct lane_group {
  size_t member[lanes]; /* log of each lane */
  size_t members;
  size_t steps;
  lane_step *step; /* [steps] */
} lane_group;

/* Parameters by lane; below, sums over the steps. */
typedef struct lane_numbers {
  idm_lane own[TD_OWNS];
  idm_lane discount;
  idm_lane perseverance;
  idm_lane lapse;
} lane_numbers;

typedef struct lane_sums {
  idm_lane log_likelihood;
  idm_lane temperature;
  idm_lane by[TD_BY];
  idm_lane perseverance;
  idm_lane lapse;
} lane_sums;

typedef struct td_lanes {
  const td_learner *l;
  size_t groups;
  lane_group *group;
  lane_numbers *number; /* [group] */
  lane_sums *sum;       /* [group] */
  size_t *lane_index;   /* [log]: group * lanes + lane */
  td_numbers free;
  bool any_lapse; /* some lapse is not 0, or its derivative is required */
} td_lanes;

/* --- paths ---------------------------------------------------------------------------------- */

/* Whether a tree is one path per agent, with rows that the lanes support. */
static bool is_single_path(const td_learner *l, const idm_prefix_tree *tree)
{
  if (l->states != 1 || l->actions > max_actions || !tree->reward) return false;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->parent >= 0 && (size_t)node->parent != i - 1) return false;
    if (node->begin < 0 && node->action == IDM_MISSING && !node->missed) return false;
  }
  return true;
}

/* Number of rows of a path. */
static size_t count_steps(const idm_prefix_tree *tree)
{
  size_t steps = 0;
  for (size_t i = 0; i < tree->nodes; i++) steps += tree->node[i].begin < 0;
  return steps;
}

static void fill_step(const td_learner *l, const idm_data *data, const idm_prefix_node *node,
                      int last, lane_step *step, size_t at)
{
  const size_t n = l->actions, u = node->missed ? n : (size_t)node->action;
  const bool *open = node->available ? data->available_set + node->available * n : NULL;
  const size_t available_count = idm_data_available_count(data, node->available);
  step->count[at] = available_count > 1 && !node->missed ? (double)node->count : 0;
  step->open[at] = (double)available_count;
  /* After a missed response all values decay; with fictive updates there is no decay. */
  step->learn[at] = !node->leaf && !(node->missed && l->fictive);
  step->continues[at] = !node->missed && !l->setting->ends[u] && !l->setting->terminal[u] &&
                        !idm_observation_is_terminal(l->setting, node->observation);
  for (size_t v = 0; v < n; v++) {
    step->action[v][at] = v == u;
    step->last[v][at] = last == (int)v;
    step->mask[v][at] = open && !open[v] ? closed_logit : 0;
  }
}

static void fill_lane(const td_learner *l, const idm_data *data, const idm_prefix_tree *tree,
                      lane_group *group, size_t at)
{
  lane_step *step = group->step;
  int last = IDM_MISSING;
  bool any_begins = false;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    any_begins = any_begins || node->parent < 0;
    if (node->begin >= 0) {
      last = IDM_MISSING;
      continue;
    }
    fill_step(l, data, node, last, step, at);
    step->reward[at] = tree->reward[i];
    step->begin[at] = any_begins;
    step->any_begins = step->any_begins || any_begins;
    any_begins = false;
    if (!node->missed) last = node->action;
    step++;
  }
}

/* --- creation -------------------------------------------------------------------------------- */

static void destroy(void *content)
{
  td_lanes *t = content;
  if (!t) return;
  for (size_t g = 0; t->group && g < t->groups; g++) free(t->group[g].step);
  free(t->group);
  free(t->number);
  free(t->sum);
  free(t->lane_index);
  free(t);
}

/* A log and its length. */
typedef struct log_length {
  size_t steps;
  size_t log;
} log_length;

/* Longer logs first, so that the lanes of a group have similar lengths. */
static int compare_lengths(const void *a, const void *b)
{
  const log_length *x = a, *y = b;
  if (x->steps != y->steps) return x->steps < y->steps ? 1 : -1;
  return (x->log > y->log) - (x->log < y->log);
}

static idm_status fill_group(td_lanes *t, size_t g, const idm_data *const *data,
                             const idm_prefix_tree *const *tree, idm_error *opt_error)
{
  lane_group *group = &t->group[g];
  group->step = idm_new(group->steps ? group->steps : 1, sizeof *group->step);
  if (!group->step) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < group->steps; s++)
    for (size_t k = 0; k < lanes; k++) group->step[s].open[k] = 1;
  for (size_t k = 0; k < group->members; k++)
    fill_lane(t->l, data[group->member[k]], tree[group->member[k]], group, k);
  return IDM_OK;
}

static idm_status make(td_lanes *t, const idm_data *const *data, const idm_prefix_tree *const *tree,
                       size_t count, idm_error *opt_error)
{
  log_length *order = idm_new(count, sizeof *order);
  t->groups = (count + lanes - 1) / lanes;
  t->group = idm_new(t->groups, sizeof *t->group);
  t->number = idm_new(t->groups, sizeof *t->number);
  t->sum = idm_new(t->groups, sizeof *t->sum);
  t->lane_index = idm_new(count, sizeof *t->lane_index);
  idm_status status = order && t->group && t->number && t->sum && t->lane_index
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    order[i] = (log_length){count_steps(tree[i]), i};
  if (status == IDM_OK && count) qsort(order, count, sizeof *order, compare_lengths);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    lane_group *group = &t->group[i / lanes];
    if (!group->members) group->steps = order[i].steps;
    group->member[group->members++] = order[i].log;
    t->lane_index[order[i].log] = i;
  }
  for (size_t g = 0; g < t->groups && status == IDM_OK; g++)
    status = fill_group(t, g, data, tree, opt_error);
  free(order);
  return status;
}

static idm_status create(const void *content, const idm_data *const *data,
                         const idm_prefix_tree *const *tree, size_t count, void **ret_lanes,
                         idm_error *opt_error)
{
  *ret_lanes = NULL;
  for (size_t i = 0; i < count; i++)
    if (!is_single_path(content, tree[i])) return IDM_OK;
  td_lanes *t = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->l = content;
  const idm_status status = make(t, data, tree, count, opt_error);
  if (status == IDM_OK)
    *ret_lanes = t;
  else
    destroy(t);
  return status;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Values of each action and their derivatives. */
typedef struct lane_values {
  idm_lane q[max_actions];
  idm_lane by[TD_BY][max_actions]; /* with respect to the free parameters, in their order */
} lane_values;

/* Prediction error delta, whether it is a gain, and its learning rate. */
typedef struct lane_error {
  idm_lane error, gain, rate;
  idm_lane best;                 /* largest value */
  idm_lane is_best[max_actions]; /* 1 for the action that has it */
} lane_error;

/* Properties of the rule that are common to all lanes; of_X[i] is 1 if free parameter i is X. */
typedef struct lane_rule {
  bool fictive, by_outcome, any_lapse;
  double of_gain[TD_BY], of_loss[TD_BY], of_decay[TD_BY], of_discount[TD_BY], of_initial[TD_BY];
} lane_rule;

static lane_rule rule_of(const td_lanes *t)
{
  lane_rule r = {.fictive = t->l->fictive,
                 .by_outcome = t->l->asymmetry == IDM_ASYMMETRY_OUTCOME,
                 .any_lapse = t->any_lapse};
  for (size_t i = 0; i < t->free.count; i++) {
    const size_t number = t->free.number[i];
    r.of_gain[i] = number == TD_BY_GAIN;
    r.of_loss[i] = number == TD_BY_LOSS;
    r.of_decay[i] = number == TD_BY_DECAY;
    r.of_discount[i] = number == TD_BY_DISCOUNT;
    r.of_initial[i] = number == TD_BY_INITIAL;
  }
  return r;
}

/* Initialises the values in lanes where an agent begins. */
IDM_INLINE void begin(const lane_rule *r, size_t actions, size_t count, const lane_numbers *x,
                      const lane_step *s, lane_values *now)
{
  const idm_lane_bits any_begins = (idm_lane_bits)(s->begin != 0);
  for (size_t v = 0; v < actions; v++) {
    now->q[v] = IDM_LANE_SELECT(any_begins, x->own[TD_INITIAL], now->q[v]);
    for (size_t i = 0; i < count; i++)
      now->by[i][v] = IDM_LANE_SELECT(any_begins, s->begin * r->of_initial[i], now->by[i][v]);
  }
}

/* Replaces q(u) by (1 - lapse) q(u) + lapse / open, and updates its logarithm and the derivative
 * with respect to log q. */
IDM_INLINE void apply_lapse(const lane_numbers *x, const lane_step *s,
                            const idm_lane *choice_probability, idm_lane *log_choice,
                            idm_lane *weight, lane_sums *sum)
{
  const idm_lane zero = {0}, tiny = zero + 1e-290, one = 1 / s->open;
  const idm_lane sum_of_both = (1 - x->lapse) * *choice_probability + x->lapse * one;
  const idm_lane p = IDM_LANE_SELECT(sum_of_both > tiny, sum_of_both, tiny);
  const idm_lane_bits any_lapse = (idm_lane_bits)(x->lapse != 0);
  idm_lane log_p = p;
  idm_lane_log(&log_p);
  *log_choice = IDM_LANE_SELECT(any_lapse, log_p, *log_choice);
  *weight =
      IDM_LANE_SELECT(any_lapse, s->count * (1 - x->lapse) * *choice_probability / p, *weight);
  sum->lapse += s->count * (one - *choice_probability) / p;
}

/* Choice: q(u) ~ exp(temperature Q + perseverance last). */
IDM_INLINE void choose(const lane_rule *r, size_t actions, size_t count, const lane_numbers *x,
                       const lane_step *s, const lane_values *now, lane_sums *sum)
{
  const idm_lane zero = {0}, inverse_temperature = x->own[TD_TEMPERATURE];
  idm_lane p[max_actions] = {{0}}, top, total = zero, log_choice = zero, choice_probability = zero,
           weight = s->count;
  for (size_t v = 0; v < actions; v++)
    p[v] = inverse_temperature * now->q[v] + x->perseverance * s->last[v] + s->mask[v];
  top = p[0];
  for (size_t v = 1; v < actions; v++) top = IDM_LANE_SELECT(p[v] > top, p[v], top);
  for (size_t v = 0; v < actions; v++) {
    p[v] -= top;
    log_choice += s->action[v] * p[v];
    idm_lane_exp(&p[v]);
    total += p[v];
    choice_probability += s->action[v] * p[v];
  }
  const idm_lane inverse = 1 / total;
  idm_lane_log(&total);
  log_choice -= total;
  choice_probability *= inverse;
  if (r->any_lapse) apply_lapse(x, s, &choice_probability, &log_choice, &weight, sum);
  sum->log_likelihood += s->count * log_choice;
  for (size_t v = 0; v < actions; v++) {
    const idm_lane by = weight * (s->action[v] - p[v] * inverse);
    sum->temperature += by * now->q[v];
    sum->perseverance += by * s->last[v];
    for (size_t i = 0; i < count; i++) sum->by[i] += by * inverse_temperature * now->by[i][v];
  }
}

/* Derivatives with respect to free parameter i: see learn_gradient in td_learner.c. */
IDM_INLINE void learn_gradient(const lane_rule *r, size_t actions, size_t i, const lane_numbers *x,
                               const lane_step *s, const lane_error *d, lane_values *now)
{
  const idm_lane is_rate = r->of_gain[i] * d->gain + r->of_loss[i] * (1 - d->gain);
  idm_lane by_error = s->continues * r->of_discount[i] * d->best;
  for (size_t v = 0; v < actions; v++)
    by_error += now->by[i][v] * (s->continues * x->discount * d->is_best[v] - s->action[v]);
  const idm_lane taken = d->rate * by_error + is_rate * d->error;
  for (size_t v = 0; v < actions; v++) {
    const idm_lane by = now->by[i][v], a = s->action[v];
    const idm_lane other = r->fictive ? is_rate * (-s->reward - now->q[v]) - d->rate * by
                                      : -x->own[TD_DECAY] * by - r->of_decay[i] * now->q[v];
    now->by[i][v] = by + s->learn * (a * taken + (1 - a) * other);
  }
}

/* Update of values and derivatives: see idm_td_error and idm_td_learn. */
IDM_INLINE void learn(const lane_rule *r, size_t actions, size_t count, const lane_numbers *x,
                      const lane_step *s, lane_values *now)
{
  const idm_lane zero = {0};
  lane_error d = {.best = now->q[0]};
  idm_lane first = zero + 1, own = zero;
  for (size_t v = 1; v < actions; v++)
    d.best = IDM_LANE_SELECT(now->q[v] > d.best, now->q[v], d.best);
  for (size_t v = 0; v < actions; v++) {
    d.is_best[v] = IDM_LANE_SELECT(now->q[v] == d.best, first, zero);
    first -= d.is_best[v];
    own += s->action[v] * now->q[v];
  }
  d.error = s->reward + s->continues * x->discount * d.best - own;
  d.gain = r->by_outcome ? IDM_LANE_SELECT(s->reward > 0, zero + 1, zero)
                         : IDM_LANE_SELECT(d.error >= 0, zero + 1, zero);
  d.rate = IDM_LANE_SELECT(d.gain != 0, x->own[TD_GAIN], x->own[TD_LOSS]);
  for (size_t i = 0; i < count; i++) learn_gradient(r, actions, i, x, s, &d, now);
  for (size_t v = 0; v < actions; v++) {
    const idm_lane q = now->q[v], a = s->action[v];
    const idm_lane other = r->fictive ? d.rate * (-s->reward - q) : -x->own[TD_DECAY] * q;
    now->q[v] = q + s->learn * (a * d.rate * d.error + (1 - a) * other);
  }
}

/* With constant `actions` and `count`, compilers unroll the loops over them. */
IDM_INLINE void follow(const lane_rule *r, size_t actions, size_t count, const lane_group *group,
                       const lane_numbers *x, lane_sums *to)
{
  lane_values now = {0};
  lane_sums sum = {0};
  for (size_t i = 0; i < group->steps; i++) {
    const lane_step *s = &group->step[i];
    if (s->any_begins) begin(r, actions, count, x, s, &now);
    choose(r, actions, count, x, s, &now, &sum);
    learn(r, actions, count, x, s, &now);
  }
  *to = sum;
}

IDM_KERNEL(static, follow_group,
           (const lane_rule *r, size_t actions, size_t count, const lane_group *group,
            const lane_numbers *x, lane_sums *sum),
           (r, actions, count, group, x, sum))
{
  if (actions == 2 && count == 1)
    follow(r, 2, 1, group, x, sum);
  else if (actions == 2 && count == 2)
    follow(r, 2, 2, group, x, sum);
  else if (actions == 2 && count == 3)
    follow(r, 2, 3, group, x, sum);
  else if (actions == 3 && count == 2)
    follow(r, 3, 2, group, x, sum);
  else if (actions == 4 && count == 2)
    follow(r, 4, 2, group, x, sum);
  else
    follow(r, actions, count, group, x, sum);
}

/* --- run ------------------------------------------------------------------------------------- */

static void set(void *content, size_t i, const idm_theta *theta)
{
  td_lanes *t = content;
  const size_t k = t->lane_index[i] % lanes;
  lane_numbers *x = &t->number[t->lane_index[i] / lanes];
  const choice_bias h = idm_choice_bias_of(theta);
  for (size_t own = 0; own < TD_OWNS; own++)
    x->own[own][k] = idm_theta_scalar(theta, IDM_BLOCK_COUNT + own);
  x->discount[k] = idm_theta_scalar(theta, IDM_DISCOUNT);
  x->perseverance[k] = h.perseverance;
  x->lapse[k] = h.lapse;
  t->free = idm_td_free_numbers(theta);
  t->any_lapse = t->any_lapse || h.lapse != 0 || theta->block[IDM_LAPSE].role == IDM_DESCRIPTIVE;
}

static void run(void *content, double *log_likelihood)
{
  td_lanes *t = content;
  const lane_rule rule = rule_of(t);
  for (size_t g = 0; g < t->groups; g++) {
    const lane_group *group = &t->group[g];
    follow_group(&rule, t->l->actions, t->free.count, group, &t->number[g], &t->sum[g]);
    for (size_t k = 0; k < group->members; k++)
      log_likelihood[group->member[k]] = t->sum[g].log_likelihood[k];
  }
}

static void get(const void *content, size_t i, idm_theta *derivative)
{
  const td_lanes *t = content;
  const size_t k = t->lane_index[i] % lanes;
  const lane_sums *sum = &t->sum[t->lane_index[i] / lanes];
  double by[TD_BY] = {0};
  for (size_t n = 0; n < t->free.count; n++) by[t->free.number[n]] = sum->by[n][k];
  idm_td_put_gradient(derivative, sum->temperature[k], by,
                      (choice_bias_gradient){sum->perseverance[k], sum->lapse[k]});
}

const idm_lane_ops idm_td_lanes = {
    .create = create, .destroy = destroy, .set = set, .run = run, .get = get};
