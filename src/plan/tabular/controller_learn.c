/* How a controller is learnt: natural policy gradient from episodes alone.
 *
 * In softmax coordinates the natural gradient of the return is the advantage of a choice: what
 * followed it less what followed all choices made in its place, discounted from the start of the
 * episode. Each step adds advantages, estimated by means over a batch of episodes, to the logits,
 * in units of a temperature. An entropy bonus at that temperature keeps actions alive until
 * memories that make use of them have come about; it falls from a fifth of the utilities' range to
 * nearly none. What chance is left in the end is of the learning, or of use: a controller competes
 * with itself made firm, which always takes its likeliest choice. Of several that start at random
 * the best is kept, by rounds in which fewer are looked at for longer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log_sum.h"
#include "base/moments.h"
#include "plan/draw.h"
#include "plan/tabular/controller.h"
#include "setting/freedom.h"

enum {
  most_updates = 300,
  least_batch = 20,
  least_judged = 5,
  candidates = 2 * CONTROLLER_STARTS,
  rounds = 3
};
/* Shares of the budget: to learn, and to choose among candidates; the rest is left to judge. */
static const double learning_share = 0.7, choosing_share = 0.2;
/* Candidates of each round, and its share of what choosing may cost. */
static const size_t field[rounds] = {candidates, 4, 2};
static const double round_share[rounds] = {0.3, 0.4, 0.3};
/* What discounting leaves of an episode's last step: while learning, and in a judgement. */
static const double learning_tail = 1e-3, judging_tail = 1e-6;
static const double hot = 0.2, cold = 0.004; /* temperatures, of the utilities' range */
static const double settled = 0.8;           /* share of the updates in which it falls */
static const double rate = 0.2;              /* of an update */
static const double doubt = 5;   /* visits that an estimate is held against: few say little */
static const double least = -12; /* logits below the best, so that nothing is impossible */

/* What a variant asks for. */
typedef struct task {
  const double *utility; /* [action][state] */
  double discount;
  double range; /* of the utilities */
  long drawn;   /* transitions so far */
} task;

static size_t choices(const controller *c)
{
  return c->nodes * c->sizes.actions;
}

static size_t passes(const controller *c)
{
  return choices(c) * c->sizes.observations * c->nodes;
}

/* --- episodes ------------------------------------------------------------------------------- */

/* Steps after which no more than `tail` is left of a utility. */
static size_t episode_length(double discount, double tail)
{
  if (discount <= 0) return 1;
  const double steps = discount < 1 ? ceil(log(tail) / log(discount)) : CONTROLLER_STEPS;
  return steps < CONTROLLER_STEPS ? (size_t)fmax(steps, 1) : CONTROLLER_STEPS;
}

/* The same for that many episodes at least within a budget: where they do not fit, they are cut. */
static size_t affordable_length(double discount, double budget, double episodes)
{
  const size_t length = episode_length(discount, learning_tail);
  const double most = budget / episodes;
  return (double)length <= most ? length : (size_t)fmax(most, 1);
}

/* Live through an episode; returns its steps. */
static size_t live(controller *c, task *k, const controller_table *p, size_t length,
                   idm_random *random)
{
  const idm_setting *setting = c->setting;
  size_t state = idm_random_choice(random, setting->start, c->sizes.states), node = 0, t = 0;
  for (bool ends = false; t < length && !ends; t++) {
    const size_t u =
        idm_random_choice(random, p->choice + idm_controller_pair(c, node, 0), c->sizes.actions);
    controller_step *step = &c->step[t];
    *step = (controller_step){.node = (uint32_t)node,
                              .action = (uint32_t)u,
                              .reward = k->utility[u * c->sizes.states + state]};
    ends = setting->terminal[u];
    if (ends) continue;
    step->observation = (uint32_t)idm_draw_move(setting, u, &state, random);
    node = idm_random_choice(random, p->pass + idm_controller_row(c, node, u, step->observation),
                             c->nodes);
    step->next = (uint32_t)node;
    ends = idm_setting_arrives(setting, (int32_t)step->observation);
  }
  k->drawn += (long)t;
  return t;
}

static void clear(const controller *c, controller_table *t)
{
  memset(t->choice, 0, choices(c) * sizeof *t->choice);
  memset(t->pass, 0, passes(c) * sizeof *t->pass);
}

/* Add what followed every choice of an episode to sums; returns what followed its start. The bonus
 * of an action is -temperature log(|U| pi(u)). */
static double add_episode(controller *c, const task *k, const controller_table *p, size_t steps,
                          double temperature)
{
  double ahead = 0;
  for (size_t t = steps; t-- > 0;) {
    const controller_step *step = &c->step[t];
    const size_t pair = idm_controller_pair(c, step->node, step->action);
    const double weight = pow(k->discount, (double)t);
    if (!c->setting->terminal[step->action]) {
      const size_t i =
          idm_controller_row(c, step->node, step->action, step->observation) + step->next;
      c->count.pass[i] += weight;
      c->sum.pass[i] += weight * k->discount * ahead;
    }
    ahead = step->reward + k->discount * ahead;
    if (temperature > 0) ahead -= temperature * log(p->choice[pair] * (double)c->sizes.actions);
    c->count.choice[pair] += weight;
    c->sum.choice[pair] += weight * ahead;
  }
  return ahead;
}

/* --- updates -------------------------------------------------------------------------------- */

static void soften_all(const controller *c, const controller_table *logit, controller_table *p)
{
  for (size_t i = 0; i < choices(c); i += c->sizes.actions)
    idm_softmax(logit->choice + i, c->sizes.actions, p->choice + i);
  for (size_t i = 0; i < passes(c); i += c->nodes)
    idm_softmax(logit->pass + i, c->nodes, p->pass + i);
}

/* The mean of what followed over all alternatives of a place; 0 where nobody came. */
static double mean_of(const double *count, const double *sum, size_t alternatives)
{
  double visits = 0, total = 0;
  for (size_t i = 0; i < alternatives; i++) {
    visits += count[i];
    total += sum[i];
  }
  return visits > 0 ? total / visits : 0;
}

/* Add advantages to the logits of a place, and keep them within bounds. */
static void update(const double *count, const double *sum, size_t alternatives, double temperature,
                   double *logit)
{
  const double mean = mean_of(count, sum, alternatives);
  double most = -INFINITY;
  for (size_t i = 0; i < alternatives; i++) {
    if (count[i] > 0)
      logit[i] += rate * count[i] / (count[i] + doubt) * (sum[i] / count[i] - mean) / temperature;
    most = fmax(most, logit[i]);
  }
  for (size_t i = 0; i < alternatives; i++) logit[i] = fmax(logit[i] - most, least);
}

static void update_all(controller *c, double temperature)
{
  const size_t actions = c->sizes.actions;
  for (size_t i = 0; i < choices(c); i += actions)
    update(c->count.choice + i, c->sum.choice + i, actions, temperature, c->logit.choice + i);
  for (size_t i = 0; i < passes(c); i += c->nodes)
    update(c->count.pass + i, c->sum.pass + i, c->nodes, temperature, c->logit.pass + i);
}

/* Learn one controller from a start of its own, into c->probability. */
static void climb(controller *c, task *k, double budget, idm_random *random)
{
  const size_t length = affordable_length(k->discount, budget, least_batch);
  const size_t episodes = (size_t)fmax(budget / (double)length, least_batch);
  const size_t updates =
      episodes / least_batch < most_updates ? episodes / least_batch : most_updates;
  memset(c->logit.choice, 0, choices(c) * sizeof(double));
  for (size_t i = 0; i < passes(c); i++) c->logit.pass[i] = 0.5 * idm_random_normal(random);
  soften_all(c, &c->logit, &c->probability);
  for (size_t i = 0; i < updates; i++) {
    const double fallen = fmin(1, (double)i / (settled * (double)updates));
    const double temperature = k->range * hot * pow(cold / hot, fallen);
    clear(c, &c->count);
    clear(c, &c->sum);
    for (size_t e = 0; e < episodes / updates; e++) {
      const size_t steps = live(c, k, &c->probability, length, random);
      (void)add_episode(c, k, &c->probability, steps, temperature);
    }
    update_all(c, temperature);
    soften_all(c, &c->logit, &c->probability);
  }
}

/* --- what is known of one ------------------------------------------------------------------- */

/* The length of the gradient of the return with respect to all logits, by the sums of episodes. */
static double slope_of(const controller *c, double episodes)
{
  double total = 0;
  for (size_t i = 0; i < choices(c); i++) {
    const size_t place = i - i % c->sizes.actions;
    const double mean = mean_of(c->count.choice + place, c->sum.choice + place, c->sizes.actions);
    total += pow(c->sum.choice[i] - c->count.choice[i] * mean, 2);
  }
  for (size_t i = 0; i < passes(c); i++) {
    const size_t place = i - i % c->nodes;
    const double mean = mean_of(c->count.pass + place, c->sum.pass + place, c->nodes);
    total += pow(c->sum.pass[i] - c->count.pass[i] * mean, 2);
  }
  return sqrt(total) / episodes;
}

/* Return, its standard error and the gradient, from episodes that nothing was learnt from. They are
 * whole, or a return would be one of a shorter life: where the budget holds too few, nothing is
 * known. */
static void judge(controller *c, task *k, const controller_table *p, double budget,
                  idm_random *random, idm_experience *found)
{
  const size_t length = episode_length(k->discount, judging_tail);
  const size_t episodes = (size_t)(budget / (double)length);
  idm_welford values = {0};
  found->value = found->standard_error = found->slope = NAN;
  if (episodes < least_judged) return;
  clear(c, &c->count);
  clear(c, &c->sum);
  for (size_t e = 0; e < episodes; e++) {
    const size_t steps = live(c, k, p, length, random);
    idm_welford_add(&values, add_episode(c, k, p, steps, 0));
  }
  found->value = values.mean;
  found->standard_error = sqrt(idm_welford_variance(&values) / (double)episodes);
  found->slope = slope_of(c, (double)episodes);
}

static void keep(const controller *c, const controller_table *from, controller_table *to)
{
  memcpy(to->choice, from->choice, choices(c) * sizeof *to->choice);
  memcpy(to->pass, from->pass, passes(c) * sizeof *to->pass);
}

/* --- the best of several -------------------------------------------------------------------- */

/* A start, as it is or made firm, and its mean return in the episodes that it was looked at in. */
typedef struct candidate {
  size_t start;
  bool firm;
  double episodes;
  double mean;
} candidate;

/* Always the likeliest choice, the first of equals; the others as nearly never as learning has it.
 */
static void make_firm(double *p, size_t count)
{
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (p[i] > p[best]) best = i;
  const double total = 1 + (double)(count - 1) * exp(least);
  for (size_t i = 0; i < count; i++) p[i] = (i == best ? 1 : exp(least)) / total;
}

/* The probabilities of a candidate. */
static void take(const controller *c, const candidate *who, controller_table *p)
{
  keep(c, &c->start[who->start], p);
  if (!who->firm) return;
  for (size_t i = 0; i < choices(c); i += c->sizes.actions)
    make_firm(p->choice + i, c->sizes.actions);
  for (size_t i = 0; i < passes(c); i += c->nodes) make_firm(p->pass + i, c->nodes);
}

/* Look at a candidate for longer. */
static void watch(controller *c, task *k, double budget, idm_random *random, candidate *who)
{
  const size_t length = affordable_length(k->discount, budget, 1);
  const size_t episodes = (size_t)fmax(budget / (double)length, 1);
  take(c, who, &c->probability);
  for (size_t e = 0; e < episodes; e++) {
    const size_t steps = live(c, k, &c->probability, length, random);
    double ahead = 0;
    for (size_t t = steps; t-- > 0;) ahead = c->step[t].reward + k->discount * ahead;
    who->mean += (ahead - who->mean) / ++who->episodes;
  }
}

static int by_mean(const void *a, const void *b)
{
  const candidate *x = a, *y = b;
  if (x->mean != y->mean) return x->mean < y->mean ? 1 : -1;
  return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : x->firm - y->firm;
}

/* The best of all starts, by fewer candidates in every round. */
static candidate choose(controller *c, task *k, double budget, idm_random *random)
{
  candidate who[candidates];
  for (size_t i = 0; i < candidates; i++) who[i] = (candidate){.start = i / 2, .firm = i % 2};
  for (size_t r = 0; r < rounds; r++) {
    for (size_t i = 0; i < field[r]; i++)
      watch(c, k, round_share[r] * budget / (double)field[r], random, &who[i]);
    qsort(who, field[r], sizeof *who, by_mean);
  }
  return who[0];
}

void idm_controller_learn(controller *c, const idm_theta *theta, size_t variant,
                          idm_experience *found)
{
  const double range = idm_theta_range_of(theta, variant);
  const double budget = (double)c->budget;
  task k = {.utility = idm_theta_values(theta, IDM_UTILITY, variant),
            .discount = idm_theta_scalar(theta, IDM_DISCOUNT),
            .range = range > 0 ? range : 1};
  idm_random random;
  for (uint64_t r = 0; r < CONTROLLER_STARTS; r++) {
    idm_random_init(&random, c->seed, r);
    climb(c, &k, learning_share * budget / CONTROLLER_STARTS, &random);
    keep(c, &c->probability, &c->start[r]);
  }
  idm_random_init(&random, c->seed, CONTROLLER_STARTS);
  const candidate best = choose(c, &k, choosing_share * budget, &random);
  take(c, &best, &c->learnt[variant]);
  /* The one chosen is judged anew: the best of several is chosen for luck too. */
  judge(c, &k, &c->learnt[variant], (1 - learning_share - choosing_share) * budget, &random, found);
  found->transitions = k.drawn;
  found->residual = NAN;
}
