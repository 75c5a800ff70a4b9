/* Several td-learners in vector lanes: see the header.
 *
 * Contents: paths · making · steps · running */
#include "plan/tabular/td_lanes.h"
#include "base/level.h"
#include "base/memory.h"
#include "base/vector.h"
#include "idm/data.h"
#include "plan/tabular/td_rule.h"

enum { lanes = IDM_LANE_WIDTH, most_actions = 4 };
/* Added to the logarithm of a closed action; its product with 0 is 0, unlike that of infinity. */
static const double closed = -1e300;

/* One step of eight paths. Flags are 0 or 1. */
typedef struct lane_step {
  bool begins;      /* an agent, in some lane */
  idm_lane begin;   /* an agent begins before it */
  idm_lane count;   /* decisions like this; 0: none */
  idm_lane open;    /* actions that are open */
  idm_lane learn;   /* it is learnt from */
  idm_lane goes_on; /* another step follows that has a value */
  idm_lane reward;
  idm_lane action[most_actions]; /* whether it was taken, */
  idm_lane last[most_actions];   /* whether it was the one before, */
  idm_lane shut[most_actions];   /* and 0 or `closed` */
} lane_step;

/* Eight of the logs. */
typedef struct lane_group {
  size_t member[lanes]; /* which log is in which lane */
  size_t members;
  size_t steps;
  lane_step *step; /* [steps] */
} lane_group;

/* Numbers by lane, and sums over its steps. */
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
  size_t *place;        /* [log]: group * lanes + lane */
  td_numbers free;
  bool lapses; /* somebody does, or the derivative is needed */
} td_lanes;

/* --- paths ---------------------------------------------------------------------------------- */

/* Whether a tree is one path per agent, of rows that lanes have room for. */
static bool is_path(const td_learner *l, const idm_prefix_tree *tree)
{
  if (l->states != 1 || l->actions > most_actions || !tree->reward) return false;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->parent >= 0 && (size_t)node->parent != i - 1) return false;
    if (node->begin < 0 && node->action == IDM_MISSING && !node->missed) return false;
  }
  return true;
}

/* Rows of a tree that is a path. */
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
  const size_t among = idm_data_open(data, node->available);
  step->count[at] = among > 1 && !node->missed ? (double)node->count : 0;
  step->open[at] = (double)among;
  /* After a missed response every value decays; fictive values have no decay. */
  step->learn[at] = !node->leaf && !(node->missed && l->fictive);
  step->goes_on[at] = !node->missed && !l->setting->ends[u] && !l->setting->terminal[u] &&
                      !idm_setting_arrives(l->setting, node->observation);
  for (size_t v = 0; v < n; v++) {
    step->action[v][at] = v == u;
    step->last[v][at] = last == (int)v;
    step->shut[v][at] = open && !open[v] ? closed : 0;
  }
}

static void fill_lane(const td_learner *l, const idm_data *data, const idm_prefix_tree *tree,
                      lane_group *group, size_t at)
{
  lane_step *step = group->step;
  int last = IDM_MISSING;
  bool begins = false;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    begins = begins || node->parent < 0;
    if (node->begin >= 0) {
      last = IDM_MISSING;
      continue;
    }
    fill_step(l, data, node, last, step, at);
    step->reward[at] = tree->reward[i];
    step->begin[at] = begins;
    step->begins = step->begins || begins;
    begins = false;
    if (!node->missed) last = node->action;
    step++;
  }
}

/* --- making --------------------------------------------------------------------------------- */

static void destroy(void *content)
{
  td_lanes *t = content;
  if (!t) return;
  for (size_t g = 0; t->group && g < t->groups; g++) free(t->group[g].step);
  free(t->group);
  free(t->number);
  free(t->sum);
  free(t->place);
  free(t);
}

/* A log and its length. */
typedef struct sized {
  size_t steps;
  size_t log;
} sized;

/* Longer ones first, so that lanes of a group end together. */
static int compare_lengths(const void *a, const void *b)
{
  const sized *x = a, *y = b;
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
  sized *order = idm_new(count, sizeof *order);
  t->groups = (count + lanes - 1) / lanes;
  t->group = idm_new(t->groups, sizeof *t->group);
  t->number = idm_new(t->groups, sizeof *t->number);
  t->sum = idm_new(t->groups, sizeof *t->sum);
  t->place = idm_new(count, sizeof *t->place);
  idm_status status =
      order && t->group && t->number && t->sum && t->place ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    order[i] = (sized){count_steps(tree[i]), i};
  if (status == IDM_OK && count) qsort(order, count, sizeof *order, compare_lengths);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    lane_group *group = &t->group[i / lanes];
    if (!group->members) group->steps = order[i].steps;
    group->member[group->members++] = order[i].log;
    t->place[order[i].log] = i;
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
    if (!is_path(content, tree[i])) return IDM_OK;
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
  idm_lane q[most_actions];
  idm_lane by[TD_BY][most_actions]; /* by the free numbers, in their order */
} lane_values;

/* The error delta, and what it is learnt by. */
typedef struct lane_error {
  idm_lane error, gain, rate;
  idm_lane best;                  /* the largest value, */
  idm_lane is_best[most_actions]; /* and whose it is */
} lane_error;

/* What a step is the same for in all lanes: 1 where free number i is this one. */
typedef struct lane_rule {
  bool fictive, by_outcome, lapses;
  double of_gain[TD_BY], of_loss[TD_BY], of_decay[TD_BY], of_discount[TD_BY], of_initial[TD_BY];
} lane_rule;

static lane_rule rule_of(const td_lanes *t)
{
  lane_rule r = {.fictive = t->l->fictive,
                 .by_outcome = t->l->asymmetry == IDM_ASYMMETRY_OUTCOME,
                 .lapses = t->lapses};
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

/* Before a step: whoever begins has learnt nothing. */
IDM_INLINE void begin(const lane_rule *r, size_t actions, size_t count, const lane_numbers *x,
                      const lane_step *s, lane_values *now)
{
  const idm_lane_bits begins = (idm_lane_bits)(s->begin != 0);
  for (size_t v = 0; v < actions; v++) {
    now->q[v] = IDM_LANE_SELECT(begins, x->own[TD_INITIAL], now->q[v]);
    for (size_t i = 0; i < count; i++)
      now->by[i][v] = IDM_LANE_SELECT(begins, s->begin * r->of_initial[i], now->by[i][v]);
  }
}

/* (1 - lapse) q(u) + lapse / open in place of q(u): its logarithm, and the derivative by log q. */
IDM_INLINE void slip(const lane_numbers *x, const lane_step *s, const idm_lane *chance,
                     idm_lane *log_chance, idm_lane *weight, lane_sums *sum)
{
  const idm_lane zero = {0}, tiny = zero + 1e-290, one = 1 / s->open;
  const idm_lane sum_of_both = (1 - x->lapse) * *chance + x->lapse * one;
  const idm_lane p = IDM_LANE_SELECT(sum_of_both > tiny, sum_of_both, tiny);
  const idm_lane_bits lapses = (idm_lane_bits)(x->lapse != 0);
  idm_lane log_p = p;
  idm_lane_log(&log_p);
  *log_chance = IDM_LANE_SELECT(lapses, log_p, *log_chance);
  *weight = IDM_LANE_SELECT(lapses, s->count * (1 - x->lapse) * *chance / p, *weight);
  sum->lapse += s->count * (one - *chance) / p;
}

/* The choice: q(u) ~ exp(temperature Q + perseverance last). */
IDM_INLINE void choose(const lane_rule *r, size_t actions, size_t count, const lane_numbers *x,
                       const lane_step *s, const lane_values *now, lane_sums *sum)
{
  const idm_lane zero = {0}, sharp = x->own[TD_TEMPERATURE];
  idm_lane p[most_actions] = {{0}}, top, total = zero, log_chance = zero, chance = zero,
           weight = s->count;
  for (size_t v = 0; v < actions; v++)
    p[v] = sharp * now->q[v] + x->perseverance * s->last[v] + s->shut[v];
  top = p[0];
  for (size_t v = 1; v < actions; v++) top = IDM_LANE_SELECT(p[v] > top, p[v], top);
  for (size_t v = 0; v < actions; v++) {
    p[v] -= top;
    log_chance += s->action[v] * p[v];
    idm_lane_exp(&p[v]);
    total += p[v];
    chance += s->action[v] * p[v];
  }
  const idm_lane inverse = 1 / total;
  idm_lane_log(&total);
  log_chance -= total;
  chance *= inverse;
  if (r->lapses) slip(x, s, &chance, &log_chance, &weight, sum);
  sum->log_likelihood += s->count * log_chance;
  for (size_t v = 0; v < actions; v++) {
    const idm_lane by = weight * (s->action[v] - p[v] * inverse);
    sum->temperature += by * now->q[v];
    sum->perseverance += by * s->last[v];
    for (size_t i = 0; i < count; i++) sum->by[i] += by * sharp * now->by[i][v];
  }
}

/* Derivatives by number i of the free ones: see learn_slope in td_slope.c. */
IDM_INLINE void learn_slope(const lane_rule *r, size_t actions, size_t i, const lane_numbers *x,
                            const lane_step *s, const lane_error *d, lane_values *now)
{
  const idm_lane is_rate = r->of_gain[i] * d->gain + r->of_loss[i] * (1 - d->gain);
  idm_lane by_error = s->goes_on * r->of_discount[i] * d->best;
  for (size_t v = 0; v < actions; v++)
    by_error += now->by[i][v] * (s->goes_on * x->discount * d->is_best[v] - s->action[v]);
  const idm_lane taken = d->rate * by_error + is_rate * d->error;
  for (size_t v = 0; v < actions; v++) {
    const idm_lane by = now->by[i][v], a = s->action[v];
    const idm_lane other = r->fictive ? is_rate * (-s->reward - now->q[v]) - d->rate * by
                                      : -x->own[TD_DECAY] * by - r->of_decay[i] * now->q[v];
    now->by[i][v] = by + s->learn * (a * taken + (1 - a) * other);
  }
}

/* What is learnt: see idm_td_look and idm_td_learn. */
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
  d.error = s->reward + s->goes_on * x->discount * d.best - own;
  d.gain = r->by_outcome ? IDM_LANE_SELECT(s->reward > 0, zero + 1, zero)
                         : IDM_LANE_SELECT(d.error >= 0, zero + 1, zero);
  d.rate = IDM_LANE_SELECT(d.gain != 0, x->own[TD_GAIN], x->own[TD_LOSS]);
  for (size_t i = 0; i < count; i++) learn_slope(r, actions, i, x, s, &d, now);
  for (size_t v = 0; v < actions; v++) {
    const idm_lane q = now->q[v], a = s->action[v];
    const idm_lane other = r->fictive ? d.rate * (-s->reward - q) : -x->own[TD_DECAY] * q;
    now->q[v] = q + s->learn * (a * d.rate * d.error + (1 - a) * other);
  }
}

/* With constants for `actions` and `count` compilers unroll the loops over them. */
IDM_INLINE void follow(const lane_rule *r, size_t actions, size_t count, const lane_group *group,
                       const lane_numbers *x, lane_sums *to)
{
  lane_values now = {0};
  lane_sums sum = {0};
  for (size_t i = 0; i < group->steps; i++) {
    const lane_step *s = &group->step[i];
    if (s->begins) begin(r, actions, count, x, s, &now);
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

/* --- running -------------------------------------------------------------------------------- */

static void set(void *content, size_t i, const idm_theta *theta)
{
  td_lanes *t = content;
  const size_t k = t->place[i] % lanes;
  lane_numbers *x = &t->number[t->place[i] / lanes];
  const habit h = idm_habit_of(theta);
  for (size_t own = 0; own < TD_OWNS; own++)
    x->own[own][k] = idm_theta_scalar(theta, IDM_BLOCK_COUNT + own);
  x->discount[k] = idm_theta_scalar(theta, IDM_DISCOUNT);
  x->perseverance[k] = h.perseverance;
  x->lapse[k] = h.lapse;
  t->free = idm_td_free_numbers(theta);
  t->lapses = t->lapses || h.lapse != 0 || theta->block[IDM_LAPSE].role == IDM_DESCRIPTIVE;
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

static void get(const void *content, size_t i, idm_theta *slope)
{
  const td_lanes *t = content;
  const size_t k = t->place[i] % lanes;
  const lane_sums *sum = &t->sum[t->place[i] / lanes];
  double by[TD_BY] = {0};
  for (size_t n = 0; n < t->free.count; n++) by[t->free.number[n]] = sum->by[n][k];
  idm_td_put_slope(slope, sum->temperature[k], by,
                   (habit_slope){sum->perseverance[k], sum->lapse[k]});
}

const idm_lane_ops idm_td_lanes = {
    .create = create, .destroy = destroy, .set = set, .run = run, .get = get};
