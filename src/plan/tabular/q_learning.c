/* The planners `q-learning` and `soft-q-learning`: action values learnt from sampled transitions
 * alone (docs/method/learners.md, 2).
 *
 * Both use one update, Q <- Q + n^-omega (u + gamma V(s') - Q) at the n-th visit of (s, u), with
 * V(s) = alpha log sum_u exp(Q(s,u)/alpha): the maximum at alpha = 0. The soft V is that of the
 * entropy-regularised objective: without terminal actions it exceeds the value with a divergence
 * from the uniform policy by alpha log|U| / (1 - gamma); policies are the same.
 *
 * Transitions come from acting in the environment, or are those of a log, replayed many times:
 * samples of the empirical process, whose Q* is then the limit. An action that the log never takes
 * in a state has no data there, so that V and the policy are over the actions that it takes. */
#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "idm/extension/planner.h"
#include "plan/plan.h"
#include "plan/tabular/learner.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* Transitions if `budget` is auto. */
enum { default_budget = 100000 };
/* Minimum passes over a log in that case. */
enum { min_passes = 100 };
/* An episode that nothing ends restarts after this many steps per state, and at least min_steps, so
 * that no subset of the states is kept for ever. While all actions are drawn uniformly, the sampled
 * transitions do not depend on any parameter. */
enum { steps_per_state = 10, min_steps = 100 };

/* A sampled transition: state and action, and the next state. */
typedef struct transition {
  uint32_t pair; /* state * actions + action */
  uint32_t next; /* no_state: the episode ends */
} transition;
static const uint32_t no_state = UINT32_MAX;

typedef struct learner {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  idm_alpha_unit alpha_unit;
  size_t budget;
  bool budget_given; /* the budget is not auto */
  double step_power;
  double exploration;
  uint64_t seed;
  double discount;
  double *alpha;                 /* [variant] */
  double *uniform_policy;        /* [state][action]: uniform policy over the actions with data */
  double *uniform_entropy;       /* [state]: its entropy, the log of the number of these actions */
  double *quality;               /* [variant][state][action] */
  transition *drawn;             /* [budget] */
  double *visits;                /* [state][action] */
  double *return_sum;            /* [state][action]: sum over the samples of u + gamma V(s') */
  double *value;                 /* [state]: V of the learnt Q */
  double *policy;                /* [action]: scratch */
  idm_batch *batch;              /* of a log; NULL: the environment is sampled */
  uint32_t *order;               /* [transition of the log]: order of replay */
  size_t replays;                /* transitions replayed in total */
  learning_cache learning_cache; /* parameters that Q was learnt for */
} learner;

/* --- creation -------------------------------------------------------------------------------- */

static void destroy(void *content)
{
  learner *l = content;
  if (!l) return;
  free(l->alpha);
  free(l->uniform_policy);
  free(l->uniform_entropy);
  free(l->quality);
  free(l->drawn);
  free(l->visits);
  free(l->return_sum);
  free(l->value);
  free(l->policy);
  idm_batch_destroy(l->batch);
  free(l->order);
  idm_learning_cache_destroy(&l->learning_cache);
  free(l);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  learner *l = idm_new(1, sizeof *l);
  if (!l) return idm_fail_memory(opt_error);
  *l = (learner){.setting = setting,
                 .sizes = theta->sizes,
                 .models = theta->models,
                 .variants = idm_theta_variants(theta),
                 .alpha_unit = agent->alpha_unit,
                 .budget_given = agent->budget > 0,
                 .budget = agent->budget > 0 ? (size_t)agent->budget : default_budget,
                 .step_power = agent->step_power,
                 .exploration = agent->exploration,
                 .seed = agent->seed};
  const size_t actions = l->sizes.actions;
  const size_t pairs = idm_times(l->sizes.states, actions);
  l->alpha = idm_new(l->variants, sizeof *l->alpha);
  l->uniform_policy = idm_new(pairs, sizeof *l->uniform_policy);
  l->uniform_entropy = idm_new(l->sizes.states, sizeof *l->uniform_entropy);
  l->quality = idm_new(idm_times(l->variants, pairs), sizeof *l->quality);
  l->drawn = idm_new(l->budget, sizeof *l->drawn);
  l->visits = idm_new(pairs, sizeof *l->visits);
  l->return_sum = idm_new(pairs, sizeof *l->return_sum);
  l->value = idm_new(l->sizes.states, sizeof *l->value);
  l->policy = idm_new(actions, sizeof *l->policy);
  if (!l->alpha || !l->uniform_policy || !l->uniform_entropy || !l->quality || !l->drawn ||
      !l->visits || !l->return_sum || !l->value || !l->policy ||
      !idm_learning_cache_create(&l->learning_cache, theta)) {
    destroy(l);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < pairs; i++) l->uniform_policy[i] = 1 / (double)actions;
  for (size_t s = 0; s < l->sizes.states; s++) l->uniform_entropy[s] = log((double)actions);
  *ret_content = l;
  return IDM_OK;
}

/* Copies the transitions of a log. The uniform policy of a state is over the actions that the log
 * takes there; over all if it takes none. */
static idm_status set_batch(void *content, const idm_batch *batch, idm_error *opt_error)
{
  learner *l = content;
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  for (size_t i = 0; i < batch->count; i++)
    if (batch->state[i] >= states || batch->action[i] >= actions ||
        (batch->next[i] >= states && batch->next[i] != IDM_BATCH_END))
      return idm_fail(opt_error, IDM_USAGE, "the transitions belong to another problem");
  if (batch->reward && l->variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "utilities come from columns of the log: its rewards cannot replace them");
  if (!batch->count)
    return idm_fail(opt_error, IDM_USAGE, "there are no transitions to learn from");
  idm_batch *batch_copy = idm_batch_copy(batch);
  uint32_t *order = idm_new(batch->count, sizeof *order);
  if (!batch_copy || !order) {
    idm_batch_destroy(batch_copy);
    free(order);
    return idm_fail_memory(opt_error);
  }
  memset(l->visits, 0, states * actions * sizeof *l->visits);
  for (size_t i = 0; i < batch->count; i++)
    l->visits[batch->state[i] * actions + batch->action[i]]++;
  for (size_t s = 0; s < states; s++) {
    size_t taken = 0;
    for (size_t u = 0; u < actions; u++) taken += l->visits[s * actions + u] > 0;
    const double share = 1 / (double)(taken ? taken : actions);
    for (size_t u = 0; u < actions; u++)
      l->uniform_policy[s * actions + u] = !taken || l->visits[s * actions + u] > 0 ? share : 0;
    l->uniform_entropy[s] = -log(share);
  }
  idm_batch_destroy(l->batch);
  free(l->order);
  l->batch = batch_copy;
  l->order = order;
  l->replays = l->budget;
  if (!l->budget_given && l->replays < min_passes * batch->count)
    l->replays = min_passes * batch->count;
  idm_learning_cache_reset(&l->learning_cache);
  return IDM_OK;
}

/* --- learning ------------------------------------------------------------------------------- */

/* V of a state, given Q of all states. */
static double value_of(const learner *l, double alpha, const double *quality, size_t state)
{
  const size_t at = state * l->sizes.actions;
  return idm_soft(alpha, l->sizes.actions, l->uniform_policy + at, quality + at, NULL) +
         alpha * l->uniform_entropy[state];
}

/* An action during learning: uniform with probability `exploration`, else by the current Q. */
static size_t explore_action(const learner *l, double alpha, const double *quality, size_t state,
                             idm_random *random)
{
  const size_t actions = l->sizes.actions;
  if (idm_random_uniform(random) < l->exploration)
    return (size_t)(idm_random_uniform(random) * (double)actions);
  idm_soft(alpha, actions, l->uniform_policy + state * actions, quality + state * actions,
           l->policy);
  return idm_random_choice(random, l->policy, actions);
}

/* Updates Q by one transition. */
static void q_update(learner *l, double alpha, transition sample, double reward, double *quality)
{
  const double after = sample.next == no_state ? 0 : value_of(l, alpha, quality, sample.next);
  l->visits[sample.pair]++;
  quality[sample.pair] += pow(l->visits[sample.pair], -l->step_power) *
                          (reward + l->discount * after - quality[sample.pair]);
}

/* Number of transitions to learn from, and transition i. */
static size_t transitions(const learner *l)
{
  return l->batch ? l->batch->count : l->budget;
}

static transition transition_at(const learner *l, size_t i)
{
  const idm_batch *batch = l->batch;
  if (!batch) return l->drawn[i];
  return (transition){(uint32_t)(batch->state[i] * l->sizes.actions + batch->action[i]),
                      batch->next[i]};
}

static double reward_of(const learner *l, const double *utility, size_t i)
{
  if (l->batch && l->batch->reward) return l->batch->reward[i];
  const size_t pair = transition_at(l, i).pair;
  return utility[pair % l->sizes.actions * l->sizes.states + pair / l->sizes.actions];
}

/* Learns one variant's Q from the transitions of a log: every pass replays all of them, in a new
 * random order. */
static void learn_from_batch(learner *l, double alpha, const double *utility, double *quality)
{
  const size_t count = l->batch->count;
  idm_random random;
  idm_random_init(&random, l->seed, 0);
  for (size_t i = 0; i < count; i++) l->order[i] = (uint32_t)i;
  for (size_t n = 0; n < l->replays && count; n++) {
    const size_t at = n % count;
    const size_t from = at + (size_t)(idm_random_uniform(&random) * (double)(count - at));
    const uint32_t i = l->order[from];
    l->order[from] = l->order[at];
    l->order[at] = i;
    q_update(l, alpha, transition_at(l, i), reward_of(l, utility, i), quality);
  }
}

/* Learns one variant's Q by acting. The random stream is the same for every variant and every
 * theta. */
static void learn_online(learner *l, double alpha, const double *utility, double *quality)
{
  const idm_setting *setting = l->setting;
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  const size_t episode =
      states * steps_per_state > min_steps ? states * steps_per_state : min_steps;
  idm_random random;
  idm_random_init(&random, l->seed, 0);
  size_t state = idm_random_choice(&random, setting->start, states);
  for (size_t i = 0, steps = 1; i < l->budget; i++, steps++) {
    const size_t u = explore_action(l, alpha, quality, state, &random);
    const size_t pair = state * actions + u;
    bool ends = setting->terminal[u];
    if (!ends)
      ends = idm_observation_is_terminal(setting, idm_draw_transition(setting, u, &state, &random));
    l->drawn[i] = (transition){(uint32_t)pair, ends ? no_state : (uint32_t)state};
    q_update(l, alpha, l->drawn[i], reward_of(l, utility, i), quality);
    if (!ends && steps < episode) continue;
    state = idm_random_choice(&random, setting->start, states);
    steps = 0;
  }
}

static void learn(learner *l, double alpha, const double *utility, double *quality)
{
  const size_t pairs = l->sizes.states * l->sizes.actions;
  memset(quality, 0, pairs * sizeof *quality);
  memset(l->visits, 0, pairs * sizeof *l->visits);
  if (l->batch)
    learn_from_batch(l, alpha, utility, quality);
  else
    learn_online(l, alpha, utility, quality);
}

/* Visits of each pair, and the sum of its samples: reward plus discounted value. */
static void sum_returns(learner *l, double alpha, const double *utility, const double *quality)
{
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  memset(l->visits, 0, states * actions * sizeof *l->visits);
  memset(l->return_sum, 0, states * actions * sizeof *l->return_sum);
  for (size_t s = 0; s < states; s++) l->value[s] = value_of(l, alpha, quality, s);
  for (size_t i = 0; i < transitions(l); i++) {
    const transition sample = transition_at(l, i);
    l->visits[sample.pair]++;
    l->return_sum[sample.pair] +=
        reward_of(l, utility, i) +
        (sample.next == no_state ? 0 : l->discount * l->value[sample.next]);
  }
}

/* Residual and coverage of a learnt Q over its transitions. */
static idm_learning_report assess_quality(learner *l, double alpha, const double *utility,
                                          const double *quality)
{
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  idm_learning_report learnt_report = {.transitions = (long)(l->batch ? l->replays : l->budget),
                                       .log_transitions = l->batch ? l->batch->count : 0,
                                       .value = NAN,
                                       .standard_error = NAN,
                                       .derivative = NAN};
  double total = 0, pairs = 0;
  sum_returns(l, alpha, utility, quality);
  for (size_t s = 0; s < states; s++) {
    bool seen = false;
    for (size_t pair = s * actions; pair < (s + 1) * actions; pair++) {
      if (!(l->visits[pair] > 0)) continue;
      total += fabs(l->return_sum[pair] / l->visits[pair] - quality[pair]);
      pairs++;
      seen = true;
    }
    learnt_report.unvisited += !seen && !l->setting->terminal_state[s];
  }
  learnt_report.residual = total / pairs;
  return learnt_report;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  learner *l = content;
  if (!l->batch && !idm_setting_has_dynamics(l->setting))
    return idm_fail(opt_error, IDM_INPUT,
                    "the dynamics of the environment are not given, but learning by acting in it "
                    "requires them; give the transitions of a log (--batch), or its dynamics");
  idm_learning_report *all = &l->learning_cache.learnt_report;
  const size_t pairs = l->sizes.states * l->sizes.actions;
  const bool is_new = idm_learning_cache_update(&l->learning_cache, theta);
  l->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  for (size_t v = 0; is_new && v < l->variants; v++) {
    const double unit = l->alpha_unit == IDM_ALPHA_RANGE ? idm_variant_utility_range(theta, v) : 1;
    const double *utility = idm_theta_values(theta, IDM_UTILITY, v);
    l->alpha[v] = idm_theta_scalar(theta, IDM_ALPHA) * unit;
    learn(l, l->alpha[v], utility, l->quality + v * pairs);
    const idm_learning_report one = assess_quality(l, l->alpha[v], utility, l->quality + v * pairs);
    const long drawn = (v ? all->transitions : 0) + one.transitions;
    if (v == 0 || one.residual > all->residual) *all = one;
    all->transitions = drawn;
  }
  *report = idm_learning_cache_report(&l->learning_cache);
  return IDM_OK;
}

/* --- policies ------------------------------------------------------------------------------- */

static size_t scratch(const void *content)
{
  return 2 * ((const learner *)content)->sizes.actions;
}

/* Uniform policy at a belief: that of the state if it is certain, else the mean over states. */
static const double *uniform_at(const learner *l, const double *z, double *mixed)
{
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  for (size_t s = 0; s < states; s++)
    if (z[s] == 1) return l->uniform_policy + s * actions;
  for (size_t u = 0; u < actions; u++) mixed[u] = 0;
  for (size_t s = 0; s < states; s++)
    for (size_t u = 0; u < actions; u++) mixed[u] += z[s] * l->uniform_policy[s * actions + u];
  return mixed;
}

/* Q(z,u): the mean over states. */
static void quality_at(const void *content, size_t variant, int steps, const double *z,
                       double *quality, double *unused)
{
  (void)steps;
  (void)unused;
  const learner *l = content;
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  const double *learnt = l->quality + variant * states * actions;
  for (size_t u = 0; u < actions; u++) quality[u] = 0;
  for (size_t s = 0; s < states; s++)
    for (size_t u = 0; z[s] != 0 && u < actions; u++) quality[u] += z[s] * learnt[s * actions + u];
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *quality)
{
  const learner *l = content;
  quality_at(content, variant, steps, z, quality, NULL);
  const double *uniform_policy = uniform_at(l, z, quality + l->sizes.actions);
  idm_soft(l->alpha[variant], l->sizes.actions, uniform_policy, quality, decision);
  /* All models are the environment: the first has weight 1. */
  for (size_t i = 0; opt_specification && i < l->sizes.actions * l->models; i++)
    opt_specification[i] = i % l->models == 0;
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *quality)
{
  const learner *l = content;
  quality_at(content, variant, steps, z, quality, NULL);
  const double *uniform_policy = uniform_at(l, z, quality + l->sizes.actions);
  idm_soft_logs(l->alpha[variant], l->sizes.actions, uniform_policy, quality, log_decision);
}

static double value(const void *content, size_t variant, int steps, const double *z,
                    double *quality)
{
  const learner *l = content;
  quality_at(content, variant, steps, z, quality, NULL);
  const double *uniform_policy = uniform_at(l, z, quality + l->sizes.actions);
  double uniform_entropy = 0;
  for (size_t s = 0; s < l->sizes.states; s++) uniform_entropy += z[s] * l->uniform_entropy[s];
  const double alpha = l->alpha[variant];
  return idm_soft(alpha, l->sizes.actions, uniform_policy, quality, NULL) + alpha * uniform_entropy;
}

/* --- tables of operations -------------------------------------------------------------------- */

static const idm_belief_ops belief = {.scratch = scratch,
                                      .policy = policy,
                                      .log_policy = log_policy,
                                      .value = value,
                                      .quality = quality_at};

static const idm_block_id reads[] = {
    IDM_UTILITY,    IDM_DISCOUNT, IDM_ALPHA,        IDM_ACTION_PRIOR,    IDM_MODEL_PRIOR,
    IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT, IDM_EVIDENCE_WEIGHT, IDM_BLOCK_COUNT};

/* Planning reads no dynamics: states are observed, and transitions are sampled. */
#define SAMPLED(its_alpha)                                                                         \
  .reads = reads,                                                                                  \
  .clamp = (const idm_clamp[]){its_alpha,                                                          \
                               {IDM_ACTION_PRIOR, IDM_CLAMP_UNIFORM, 0},                           \
                               {IDM_MODEL_PRIOR, IDM_CLAMP_UNIFORM, 0},                            \
                               {IDM_TRANSITION, IDM_CLAMP_ENVIRONMENT, 0},                         \
                               {IDM_EMISSION, IDM_CLAMP_ENVIRONMENT, 0},                           \
                               {IDM_PRIOR_WEIGHT, IDM_CLAMP_IRRELEVANT, 0},                        \
                               {IDM_EVIDENCE_WEIGHT, IDM_CLAMP_IRRELEVANT, 0}},                    \
  .clamps = 7, .needs = IDM_NEEDS_SAMPLER | IDM_NEEDS_BATCH | IDM_NEEDS_RANDOM | IDM_NEEDS_STATES, \
  .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_SPARSE, .create = create, .plan = plan,       \
  .destroy = destroy, .set_batch = set_batch, .belief = &belief
#define ALPHA(kind)                                                                                \
  {                                                                                                \
    IDM_ALPHA, IDM_CLAMP_##kind, 0                                                                 \
  }

const idm_planner idm_q_learning = {
    .name = "q-learning",
    .summary =
        "the greedy policy of values learnt from sampled transitions, or from those of a log",
    .row = "Model-free MDP learner",
    .keys = (const char *const[]){"seed", "budget", "step_power", "exploration", NULL},
    SAMPLED(ALPHA(VALUE)),
};

const idm_planner idm_soft_q_learning = {
    .name = "soft-q-learning",
    .summary = "q-learning with the soft maximum, any alpha > 0",
    .row = "Max-entropy MDP learner",
    .keys =
        (const char *const[]){"alpha_unit", "seed", "budget", "step_power", "exploration", NULL},
    SAMPLED(ALPHA(POSITIVE)),
};
