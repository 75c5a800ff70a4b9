/* The planner `controller`: a stochastic finite-state controller, learnt by policy gradient from
 * sampled episodes. Its likelihood sums over nodes by a forward recursion.
 *
 * Contents: controller learning · controller */
#include "plan/tabular/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* === controller learning ==================================================================== */

/* Natural policy gradient from sampled episodes. In softmax coordinates the natural gradient of the
 * return is the advantage of a choice: the return after it less the mean return after all choices
 * at its place, discounted from the start of the episode. Each update adds advantages, estimated by
 * means over a batch of episodes, to the logits, in units of a temperature. An entropy bonus at
 * that temperature keeps actions probable until a memory that uses them is learnt; it decreases
 * from a fifth of the range of the utilities to nearly 0. The randomness that remains may be useful
 * or a residue of learning: every controller competes with its deterministic version, which always
 * takes the most probable choice. Of several random starts the best is kept, by rounds with fewer
 * candidates and more episodes each. */

enum {
  max_updates = 300,
  min_batch = 20,
  min_evaluation_episodes = 5,
  candidates = 2 * CONTROLLER_RESTARTS,
  rounds = 3
};
/* Shares of the budget for learning, and for selection among candidates; the rest is for
 * evaluation. */
static const double learning_share = 0.7, selection_share = 0.2;
/* Number of candidates per round, and its share of the selection budget. */
static const size_t round_candidates[rounds] = {candidates, 4, 2};
static const double round_share[rounds] = {0.3, 0.4, 0.3};
/* Discount factor of an episode's last step: in learning, and in evaluation. */
static const double learning_tail = 1e-3, evaluation_tail = 1e-6;
static const double initial_temperature = 0.2,
                    final_temperature = 0.004; /* relative to the range of the utilities */
static const double annealing_share =
    0.8;                             /* share of the updates in which the temperature decreases */
static const double step_size = 0.2; /* of an update */
static const double shrinkage_visits =
    5; /* prior weight, in visits: estimates from few visits are shrunk */
static const double min_logit =
    -12; /* relative to the largest logit, so that every choice stays possible */

/* Learning problem of a variant. */
typedef struct task {
  const double *utility; /* [action][state] */
  double discount;
  double range; /* of the utilities */
  long drawn;   /* transitions so far */
} task;

static size_t choice_count(const controller *c)
{
  return c->nodes * c->sizes.actions;
}

static size_t transition_count(const controller *c)
{
  return choice_count(c) * c->sizes.observations * c->nodes;
}

/* --- episodes ------------------------------------------------------------------------------- */

/* Steps after which the discount factor is at most `tail`. */
static size_t episode_length(double discount, double tail)
{
  if (discount <= 0) return 1;
  const double steps = discount < 1 ? ceil(log(tail) / log(discount)) : CONTROLLER_MAX_STEPS;
  return steps < CONTROLLER_MAX_STEPS ? (size_t)fmax(steps, 1) : CONTROLLER_MAX_STEPS;
}

/* The same, but so that at least `episodes` episodes fit into the budget: longer episodes are
 * truncated. */
static size_t affordable_length(double discount, double budget, double episodes)
{
  const size_t length = episode_length(discount, learning_tail);
  const double max_value = budget / episodes;
  return (double)length <= max_value ? length : (size_t)fmax(max_value, 1);
}

/* Samples an episode into c->step; returns its number of steps. */
static size_t run_episode(controller *c, task *k, const controller_table *p, size_t length,
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
    step->observation = (uint32_t)idm_draw_transition(setting, u, &state, random);
    node = idm_random_choice(
        random, p->node_transition + idm_controller_row(c, node, u, step->observation), c->nodes);
    step->next = (uint32_t)node;
    ends = idm_observation_is_terminal(setting, (int32_t)step->observation);
  }
  k->drawn += (long)t;
  return t;
}

static void clear(const controller *c, controller_table *t)
{
  memset(t->choice, 0, choice_count(c) * sizeof *t->choice);
  memset(t->node_transition, 0, transition_count(c) * sizeof *t->node_transition);
}

/* Adds the return after every choice of an episode to the sums; returns that of the episode. The
 * entropy bonus of an action is -temperature log(|U| pi(u)). */
static double add_episode(controller *c, const task *k, const controller_table *p, size_t steps,
                          double temperature)
{
  double return_to_go = 0;
  for (size_t t = steps; t-- > 0;) {
    const controller_step *step = &c->step[t];
    const size_t pair = idm_controller_pair(c, step->node, step->action);
    const double weight = pow(k->discount, (double)t);
    if (!c->setting->terminal[step->action]) {
      const size_t i =
          idm_controller_row(c, step->node, step->action, step->observation) + step->next;
      c->count.node_transition[i] += weight;
      c->sum.node_transition[i] += weight * k->discount * return_to_go;
    }
    return_to_go = step->reward + k->discount * return_to_go;
    if (temperature > 0)
      return_to_go -= temperature * log(p->choice[pair] * (double)c->sizes.actions);
    c->count.choice[pair] += weight;
    c->sum.choice[pair] += weight * return_to_go;
  }
  return return_to_go;
}

/* --- updates -------------------------------------------------------------------------------- */

static void softmax_all(const controller *c, const controller_table *logit, controller_table *p)
{
  for (size_t i = 0; i < choice_count(c); i += c->sizes.actions)
    idm_softmax(logit->choice + i, c->sizes.actions, p->choice + i);
  for (size_t i = 0; i < transition_count(c); i += c->nodes)
    idm_softmax(logit->node_transition + i, c->nodes, p->node_transition + i);
}

/* Mean return over all alternatives at a place; 0 without visits. */
static double mean_of(const double *count, const double *sum, size_t alternatives)
{
  double visits = 0, total = 0;
  for (size_t i = 0; i < alternatives; i++) {
    visits += count[i];
    total += sum[i];
  }
  return visits > 0 ? total / visits : 0;
}

/* Adds advantages to the logits of a place, and bounds the logits. */
static void update(const double *count, const double *sum, size_t alternatives, double temperature,
                   double *logit)
{
  const double mean = mean_of(count, sum, alternatives);
  double max_value = -INFINITY;
  for (size_t i = 0; i < alternatives; i++) {
    if (count[i] > 0)
      logit[i] += step_size * count[i] / (count[i] + shrinkage_visits) *
                  (sum[i] / count[i] - mean) / temperature;
    max_value = fmax(max_value, logit[i]);
  }
  for (size_t i = 0; i < alternatives; i++) logit[i] = fmax(logit[i] - max_value, min_logit);
}

static void update_all(controller *c, double temperature)
{
  const size_t actions = c->sizes.actions;
  for (size_t i = 0; i < choice_count(c); i += actions)
    update(c->count.choice + i, c->sum.choice + i, actions, temperature, c->logit.choice + i);
  for (size_t i = 0; i < transition_count(c); i += c->nodes)
    update(c->count.node_transition + i, c->sum.node_transition + i, c->nodes, temperature,
           c->logit.node_transition + i);
}

/* Learns one controller from a random start, into c->probability. */
static void train_controller(controller *c, task *k, double budget, idm_random *random)
{
  const size_t length = affordable_length(k->discount, budget, min_batch);
  const size_t episodes = (size_t)fmax(budget / (double)length, min_batch);
  const size_t updates = episodes / min_batch < max_updates ? episodes / min_batch : max_updates;
  memset(c->logit.choice, 0, choice_count(c) * sizeof(double));
  for (size_t i = 0; i < transition_count(c); i++)
    c->logit.node_transition[i] = 0.5 * idm_random_normal(random);
  softmax_all(c, &c->logit, &c->probability);
  for (size_t i = 0; i < updates; i++) {
    const double annealed = fmin(1, (double)i / (annealing_share * (double)updates));
    const double temperature =
        k->range * initial_temperature * pow(final_temperature / initial_temperature, annealed);
    clear(c, &c->count);
    clear(c, &c->sum);
    for (size_t e = 0; e < episodes / updates; e++) {
      const size_t steps = run_episode(c, k, &c->probability, length, random);
      (void)add_episode(c, k, &c->probability, steps, temperature);
    }
    update_all(c, temperature);
    softmax_all(c, &c->logit, &c->probability);
  }
}

/* --- evaluation ------------------------------------------------------------------------------ */

/* Norm of the gradient of the return with respect to all logits, from the sums over episodes. */
static double gradient_norm(const controller *c, double episodes)
{
  double total = 0;
  for (size_t i = 0; i < choice_count(c); i++) {
    const size_t place = i - i % c->sizes.actions;
    const double mean = mean_of(c->count.choice + place, c->sum.choice + place, c->sizes.actions);
    total += pow(c->sum.choice[i] - c->count.choice[i] * mean, 2);
  }
  for (size_t i = 0; i < transition_count(c); i++) {
    const size_t place = i - i % c->nodes;
    const double mean =
        mean_of(c->count.node_transition + place, c->sum.node_transition + place, c->nodes);
    total += pow(c->sum.node_transition[i] - c->count.node_transition[i] * mean, 2);
  }
  return sqrt(total) / episodes;
}

/* Return, its standard error and the gradient norm, from episodes that were not used for learning.
 * Episodes are not truncated, which would bias the return: if the budget allows too few of them,
 * all three are NaN. */
static void evaluate_controller(controller *c, task *k, const controller_table *p, double budget,
                                idm_random *random, idm_learning_report *learnt_report)
{
  const size_t length = episode_length(k->discount, evaluation_tail);
  const size_t episodes = (size_t)(budget / (double)length);
  idm_welford values = {0};
  learnt_report->value = learnt_report->standard_error = learnt_report->derivative = NAN;
  if (episodes < min_evaluation_episodes) return;
  clear(c, &c->count);
  clear(c, &c->sum);
  for (size_t e = 0; e < episodes; e++) {
    const size_t steps = run_episode(c, k, p, length, random);
    idm_welford_add(&values, add_episode(c, k, p, steps, 0));
  }
  learnt_report->value = values.mean;
  learnt_report->standard_error = sqrt(idm_welford_variance(&values) / (double)episodes);
  learnt_report->derivative = gradient_norm(c, (double)episodes);
}

static void copy_table(const controller *c, const controller_table *from, controller_table *to)
{
  memcpy(to->choice, from->choice, choice_count(c) * sizeof *to->choice);
  memcpy(to->node_transition, from->node_transition,
         transition_count(c) * sizeof *to->node_transition);
}

/* --- selection ------------------------------------------------------------------------------- */

/* A start, stochastic or deterministic, and its mean return over the episodes of its evaluation. */
typedef struct candidate {
  size_t start;
  bool deterministic;
  double episodes;
  double mean;
} candidate;

/* Most probable choice, the first one of ties; the others get the smallest probability of learning.
 */
static void make_deterministic(double *p, size_t count)
{
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (p[i] > p[best]) best = i;
  const double total = 1 + (double)(count - 1) * exp(min_logit);
  for (size_t i = 0; i < count; i++) p[i] = (i == best ? 1 : exp(min_logit)) / total;
}

/* The probabilities of a candidate. */
static void candidate_policy(const controller *c, const candidate *candidate_list,
                             controller_table *p)
{
  copy_table(c, &c->start[candidate_list->start], p);
  if (!candidate_list->deterministic) return;
  for (size_t i = 0; i < choice_count(c); i += c->sizes.actions)
    make_deterministic(p->choice + i, c->sizes.actions);
  for (size_t i = 0; i < transition_count(c); i += c->nodes)
    make_deterministic(p->node_transition + i, c->nodes);
}

/* Evaluates a candidate in further episodes. */
static void evaluate_candidate(controller *c, task *k, double budget, idm_random *random,
                               candidate *candidate_list)
{
  const size_t length = affordable_length(k->discount, budget, 1);
  const size_t episodes = (size_t)fmax(budget / (double)length, 1);
  candidate_policy(c, candidate_list, &c->probability);
  for (size_t e = 0; e < episodes; e++) {
    const size_t steps = run_episode(c, k, &c->probability, length, random);
    double return_to_go = 0;
    for (size_t t = steps; t-- > 0;) return_to_go = c->step[t].reward + k->discount * return_to_go;
    candidate_list->mean += (return_to_go - candidate_list->mean) / ++candidate_list->episodes;
  }
}

static int by_mean(const void *a, const void *b)
{
  const candidate *x = a, *y = b;
  if (x->mean != y->mean) return x->mean < y->mean ? 1 : -1;
  return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                              : x->deterministic - y->deterministic;
}

/* Best candidate over all starts, with fewer candidates in every round. */
static candidate select_controller(controller *c, task *k, double budget, idm_random *random)
{
  candidate candidate_list[candidates];
  for (size_t i = 0; i < candidates; i++)
    candidate_list[i] = (candidate){.start = i / 2, .deterministic = i % 2};
  for (size_t r = 0; r < rounds; r++) {
    for (size_t i = 0; i < round_candidates[r]; i++)
      evaluate_candidate(c, k, round_share[r] * budget / (double)round_candidates[r], random,
                         &candidate_list[i]);
    qsort(candidate_list, round_candidates[r], sizeof *candidate_list, by_mean);
  }
  return candidate_list[0];
}

/* Learns a variant from sampled episodes; its statistics go into learnt_report. */
static void idm_controller_learn(controller *c, const idm_theta *theta, size_t variant,
                                 idm_learning_report *learnt_report)
{
  const double range = idm_variant_utility_range(theta, variant);
  const double budget = (double)c->budget;
  task k = {.utility = idm_theta_values(theta, IDM_UTILITY, variant),
            .discount = idm_theta_scalar(theta, IDM_DISCOUNT),
            .range = range > 0 ? range : 1};
  idm_random random;
  for (uint64_t r = 0; r < CONTROLLER_RESTARTS; r++) {
    idm_random_init(&random, c->seed, r);
    train_controller(c, &k, learning_share * budget / CONTROLLER_RESTARTS, &random);
    copy_table(c, &c->probability, &c->start[r]);
  }
  idm_random_init(&random, c->seed, CONTROLLER_RESTARTS);
  const candidate best = select_controller(c, &k, selection_share * budget, &random);
  candidate_policy(c, &best, &c->learnt[variant]);
  /* New episodes for the selected one, because the selection favours overestimates. */
  evaluate_controller(c, &k, &c->learnt[variant], (1 - learning_share - selection_share) * budget,
                      &random, learnt_report);
  learnt_report->transitions = k.drawn;
  learnt_report->residual = NAN;
}

/* === controller =============================================================================== */

/* Transitions if `budget` is auto. */
enum { default_budget = 30000000 };

/* --- creation -------------------------------------------------------------------------------- */

static void table_free(controller_table *t)
{
  free(t->choice);
  free(t->node_transition);
}

static bool table_make(const controller *c, controller_table *t)
{
  const size_t pairs = idm_times(c->nodes, c->sizes.actions);
  t->choice = idm_new(pairs, sizeof *t->choice);
  t->node_transition = idm_new(idm_times(pairs, idm_times(c->sizes.observations, c->nodes)),
                               sizeof *t->node_transition);
  return t->choice && t->node_transition;
}

static void destroy(void *content)
{
  controller *c = content;
  if (!c) return;
  for (size_t v = 0; c->learnt && v < c->variants; v++) table_free(&c->learnt[v]);
  free(c->learnt);
  table_free(&c->logit);
  table_free(&c->probability);
  for (size_t r = 0; r < CONTROLLER_RESTARTS; r++) table_free(&c->start[r]);
  table_free(&c->count);
  table_free(&c->sum);
  free(c->step);
  idm_learning_cache_destroy(&c->learning_cache);
  free(c);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  controller *c = idm_new(1, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  *c = (controller){.setting = setting,
                    .sizes = theta->sizes,
                    .nodes = (size_t)agent->nodes,
                    .variants = idm_theta_variants(theta),
                    .budget = agent->budget > 0 ? (size_t)agent->budget : default_budget,
                    .seed = agent->seed};
  c->learnt = idm_new(c->variants, sizeof *c->learnt);
  c->step = idm_new(CONTROLLER_MAX_STEPS, sizeof *c->step);
  bool made = c->learnt && c->step && table_make(c, &c->logit) && table_make(c, &c->probability) &&
              table_make(c, &c->count) && table_make(c, &c->sum) &&
              idm_learning_cache_create(&c->learning_cache, theta);
  for (size_t v = 0; made && v < c->variants; v++) made = table_make(c, &c->learnt[v]);
  for (size_t r = 0; made && r < CONTROLLER_RESTARTS; r++) made = table_make(c, &c->start[r]);
  if (!made) {
    destroy(c);
    return idm_fail_memory(opt_error);
  }
  *ret_content = c;
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  controller *c = content;
  idm_learning_report *all = &c->learning_cache.learnt_report;
  const bool is_new = idm_learning_cache_update(&c->learning_cache, theta);
  c->choice_biases = idm_choice_bias_of(theta);
  for (size_t v = 0; is_new && v < c->variants; v++) {
    idm_learning_report one = {0};
    idm_controller_learn(c, theta, v, &one);
    const long drawn = (v ? all->transitions : 0) + one.transitions;
    if (v == 0 || one.value < all->value) *all = one;
    all->transitions = drawn;
  }
  *report = idm_learning_cache_report(&c->learning_cache);
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------- */

typedef struct memory {
  size_t variant;
  int last;       /* previous action; IDM_MISSING at the start */
  double *weight; /* [node]: probability of the node given the history */
  double *next;   /* [node]: scratch */
  double *choice; /* [node][action]: probabilities at the last choice */
  double *log_pi; /* [action]: scratch */
} memory;

static void memory_destroy(void *content)
{
  memory *m = content;
  if (!m) return;
  free(m->weight);
  free(m->next);
  free(m->choice);
  free(m->log_pi);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const controller *c = content;
  memory *m = idm_new(1, sizeof *m);
  *ret_memory = NULL;
  if (!m) return idm_fail_memory(opt_error);
  m->weight = idm_new(c->nodes, sizeof *m->weight);
  m->next = idm_new(c->nodes, sizeof *m->next);
  m->choice = idm_new(idm_times(c->nodes, c->sizes.actions), sizeof *m->choice);
  m->log_pi = idm_new(c->sizes.actions, sizeof *m->log_pi);
  if (!m->weight || !m->next || !m->choice || !m->log_pi) {
    memory_destroy(m);
    return idm_fail_memory(opt_error);
  }
  *ret_memory = m;
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *content_memory, idm_error *opt_error)
{
  (void)content;
  (void)content_memory; /* memory lasts for one trajectory */
  (void)opt_error;
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)before;
  (void)opt_start; /* the start is known through observations alone */
  const controller *c = content;
  memory *m = after;
  if (variant >= c->variants)
    return idm_fail(opt_error, IDM_USAGE,
                    "variant %zu was not planned for: bind the utilities before making a workspace",
                    variant);
  m->variant = variant;
  m->last = IDM_MISSING;
  for (size_t n = 0; n < c->nodes; n++) m->weight[n] = n == 0;
  return IDM_OK;
}

/* Perseverance and lapse apply to the choice in each node. */
static void tilt_choices(const controller *c, memory *m, const bool *opt_open)
{
  const size_t actions = c->sizes.actions;
  for (size_t n = 0; n < c->nodes; n++) {
    const double *pi = c->learnt[m->variant].choice + n * actions;
    double open;
    for (size_t u = 0; u < actions; u++) m->log_pi[u] = log(pi[u]);
    idm_choice_tilt_logs(c->choice_biases, actions, m->log_pi, opt_open, m->last, m->log_pi, &open);
    for (size_t u = 0; u < actions; u++)
      m->choice[n * actions + u] =
          opt_open && !opt_open[u] ? 0
                                   : idm_choice_lapse(c->choice_biases, exp(m->log_pi[u]), open);
  }
}

static idm_status act(const void *content, void *content_memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const controller *c = content;
  memory *m = content_memory;
  tilt_choices(c, m, opt_available);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    probability[u] = 0;
    for (size_t n = 0; n < c->nodes; n++)
      probability[u] += m->weight[n] * m->choice[n * c->sizes.actions + u];
  }
  return IDM_OK;
}

static idm_status refuse(const char *what, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "%s, but the node of a controller depends on it: expected every action and "
                  "observation to be recorded; exclude such trajectories by --where",
                  what);
}

/* One step of the forward recursion over nodes. */
static void update_nodes(const controller *c, const memory *m, size_t u, size_t x, double *weight)
{
  const double *node_transition = c->learnt[m->variant].node_transition;
  double total = 0;
  memset(weight, 0, c->nodes * sizeof *weight);
  for (size_t n = 0; n < c->nodes; n++) {
    const double share = m->weight[n] * m->choice[n * c->sizes.actions + u];
    const double *next = node_transition + idm_controller_row(c, n, u, x);
    for (size_t i = 0; i < c->nodes; i++) weight[i] += share * next[i];
    total += share;
  }
  /* After an event of probability 0 under the controller, all nodes are equally probable. */
  for (size_t i = 0; i < c->nodes; i++)
    weight[i] = total > 0 ? weight[i] / total : 1 / (double)c->nodes;
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random; /* the distribution over nodes is kept, not a drawn node: later choices have the
                       same law */
  const controller *c = content;
  const memory *from = before;
  memory *to = after;
  if (event->action == IDM_MISSING) return refuse("an action was not recorded", opt_error);
  if (event->observation == IDM_MISSING && !event->last)
    return refuse("an observation was not recorded", opt_error);
  if (event->observation != IDM_MISSING) {
    update_nodes(c, from, (size_t)event->action, (size_t)event->observation, to->next);
    double *const swapped = to->weight;
    to->weight = to->next;
    to->next = swapped;
  }
  to->variant = from->variant;
  to->last = event->missed ? from->last : event->action;
  return IDM_OK;
}

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_TRAJECTORY,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .observe = observe};

/* --- table of operations --------------------------------------------------------------------- */

const idm_planner idm_controller = {
    .name = "controller",
    .summary = "a finite-state controller, learnt by policy gradient from sampled episodes",
    .row = "Model-free POMDP learner",
    .keys = (const char *const[]){"seed", "budget", "nodes", NULL},
    .reads = (const idm_block_id[]){IDM_UTILITY, IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE,
                                    IDM_BLOCK_COUNT},
    .transitions = default_budget,
    .needs = IDM_NEEDS_SAMPLER | IDM_NEEDS_RANDOM | IDM_NEEDS_ACTIONS,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_SPARSE,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .behavior = &behavior};
