/* The planners `q-learning` and `soft-q-learning`: values of states and actions learnt from sampled
 * transitions alone (TABLES, section 2).
 *
 * Both are one loop, Q <- Q + n^-omega (u + gamma V(s') - Q) at the n-th visit of (s, u), with
 * V(s) = alpha log sum_u exp(Q(s,u)/alpha): the maximum at alpha = 0. The soft V is the entropy
 * form's: without terminal actions it is larger than DESIGN's, which measures against the even
 * policy, by alpha log|U| / (1 - gamma); policies are the same. */
#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "idm/planner.h"
#include "plan/draw.h"
#include "plan/tabular/lesson.h"
#include "setting/freedom.h"

/* Transitions where `budget` is auto. */
enum { default_budget = 100000 };
/* Where nothing ends an episode, it starts anew after as many steps a state as this, and no sooner
 * than after the least: whoever never leaves a part of the states comes back from it. What is drawn
 * then depends on no parameter while all actions are drawn evenly. */
enum { steps_a_state = 10, least_steps = 100 };

/* A transition drawn: the pair it started from, and the state it led to. */
typedef struct transition {
  uint32_t pair; /* state * actions + action */
  uint32_t next; /* or nowhere */
} transition;
static const uint32_t nowhere = UINT32_MAX;

typedef struct learner {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  idm_alpha_unit alpha_unit;
  size_t budget;
  double step_power;
  double exploration;
  uint64_t seed;
  double discount;
  double *alpha;     /* [variant] */
  double *even;      /* [action]: 1/|U| */
  double evenness;   /* log|U|: the entropy of an even policy */
  double *quality;   /* [variant][state][action] */
  transition *drawn; /* [budget] */
  double *visits;    /* [state][action] */
  double *ahead;     /* [state][action]: sum over what was drawn there of V(s') */
  double *value;     /* [state]: V of what was learnt */
  double *policy;    /* [action]: scratch */
  lesson lesson;     /* what was learnt for */
} learner;

/* --- making one ----------------------------------------------------------------------------- */

static void destroy(void *content)
{
  learner *l = content;
  if (!l) return;
  free(l->alpha);
  free(l->even);
  free(l->quality);
  free(l->drawn);
  free(l->visits);
  free(l->ahead);
  free(l->value);
  free(l->policy);
  idm_lesson_destroy(&l->lesson);
  free(l);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  learner *l = idm_new(1, sizeof *l);
  if (!l) return idm_fail_memory(opt_error);
  *l = (learner){.setting = setting,
                 .sizes = theta->sizes,
                 .models = theta->models,
                 .variants = idm_theta_variants(theta),
                 .alpha_unit = agent->alpha_unit,
                 .budget = agent->budget > 0 ? (size_t)agent->budget : default_budget,
                 .step_power = agent->step_power,
                 .exploration = agent->exploration,
                 .seed = agent->seed};
  const size_t actions = l->sizes.actions;
  const size_t pairs = idm_times(l->sizes.states, actions);
  l->alpha = idm_new(l->variants, sizeof *l->alpha);
  l->even = idm_new(actions, sizeof *l->even);
  l->quality = idm_new(idm_times(l->variants, pairs), sizeof *l->quality);
  l->drawn = idm_new(l->budget, sizeof *l->drawn);
  l->visits = idm_new(pairs, sizeof *l->visits);
  l->ahead = idm_new(pairs, sizeof *l->ahead);
  l->value = idm_new(l->sizes.states, sizeof *l->value);
  l->policy = idm_new(actions, sizeof *l->policy);
  if (!l->alpha || !l->even || !l->quality || !l->drawn || !l->visits || !l->ahead || !l->value ||
      !l->policy || !idm_lesson_create(&l->lesson, theta)) {
    destroy(l);
    return idm_fail_memory(opt_error);
  }
  for (size_t u = 0; u < actions; u++) l->even[u] = 1 / (double)actions;
  l->evenness = log((double)actions);
  *ret_content = l;
  return IDM_OK;
}

/* --- learning ------------------------------------------------------------------------------- */

/* V of the qualities in one place. */
static double value_of(const learner *l, double alpha, const double *quality)
{
  return idm_soft(alpha, l->sizes.actions, l->even, quality, NULL) + alpha * l->evenness;
}

/* An action while learning: evenly, or by what was learnt so far. */
static size_t explore(const learner *l, double alpha, const double *quality, idm_random *random)
{
  const size_t actions = l->sizes.actions;
  if (idm_random_uniform(random) < l->exploration)
    return (size_t)(idm_random_uniform(random) * (double)actions);
  idm_soft(alpha, actions, l->even, quality, l->policy);
  return idm_random_choice(random, l->policy, actions);
}

/* Learn one variant's Q. The stream is the same for every variant and every theta. */
static void learn(learner *l, double alpha, const double *utility, double *quality)
{
  const idm_setting *setting = l->setting;
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  const size_t episode =
      states * steps_a_state > least_steps ? states * steps_a_state : least_steps;
  idm_random random;
  idm_random_init(&random, l->seed, 0);
  memset(quality, 0, states * actions * sizeof *quality);
  memset(l->visits, 0, states * actions * sizeof *l->visits);
  size_t state = idm_random_choice(&random, setting->start, states);
  for (size_t i = 0, steps = 1; i < l->budget; i++, steps++) {
    const size_t u = explore(l, alpha, quality + state * actions, &random);
    const size_t pair = state * actions + u;
    const bool ends = setting->terminal[u];
    const double reward = utility[u * states + state];
    if (!ends) idm_draw_move(setting, u, &state, &random);
    const double next = ends ? 0 : value_of(l, alpha, quality + state * actions);
    l->drawn[i] = (transition){(uint32_t)pair, ends ? nowhere : (uint32_t)state};
    l->visits[pair]++;
    quality[pair] +=
        pow(l->visits[pair], -l->step_power) * (reward + l->discount * next - quality[pair]);
    if (!ends && steps < episode) continue;
    state = idm_random_choice(&random, setting->start, states);
    steps = 0;
  }
}

/* What the transitions drawn say of a Q that was learnt from them. */
static idm_experience look_back(learner *l, double alpha, const double *utility,
                                const double *quality)
{
  const size_t states = l->sizes.states, actions = l->sizes.actions;
  idm_experience found = {
      .transitions = (long)l->budget, .value = NAN, .standard_error = NAN, .slope = NAN};
  double total = 0, pairs = 0;
  memset(l->ahead, 0, states * actions * sizeof *l->ahead);
  for (size_t s = 0; s < states; s++) l->value[s] = value_of(l, alpha, quality + s * actions);
  for (size_t i = 0; i < l->budget; i++)
    if (l->drawn[i].next != nowhere) l->ahead[l->drawn[i].pair] += l->value[l->drawn[i].next];
  for (size_t s = 0; s < states; s++) {
    bool seen = false;
    for (size_t u = 0; u < actions; u++) {
      const size_t pair = s * actions + u;
      if (!(l->visits[pair] > 0)) continue;
      total += fabs(utility[u * states + s] + l->discount * l->ahead[pair] / l->visits[pair] -
                    quality[pair]);
      pairs++;
      seen = true;
    }
    found.unseen += !seen;
  }
  found.residual = total / pairs;
  return found;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  learner *l = content;
  idm_experience *all = &l->lesson.found;
  const size_t pairs = l->sizes.states * l->sizes.actions;
  const bool is_new = idm_lesson_is_new(&l->lesson, theta);
  l->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  for (size_t v = 0; is_new && v < l->variants; v++) {
    const double unit = l->alpha_unit == IDM_ALPHA_RANGE ? idm_theta_range_of(theta, v) : 1;
    const double *utility = idm_theta_values(theta, IDM_UTILITY, v);
    l->alpha[v] = idm_theta_scalar(theta, IDM_ALPHA) * unit;
    learn(l, l->alpha[v], utility, l->quality + v * pairs);
    const idm_experience one = look_back(l, l->alpha[v], utility, l->quality + v * pairs);
    const long drawn = (v ? all->transitions : 0) + one.transitions;
    if (v == 0 || one.residual > all->residual) *all = one;
    all->transitions = drawn;
  }
  *report = idm_lesson_report(&l->lesson);
  return IDM_OK;
}

/* --- policies ------------------------------------------------------------------------------- */

static size_t scratch(const void *content)
{
  return ((const learner *)content)->sizes.actions;
}

/* Q(z,u): who cannot tell states apart for once takes the mean. */
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
  idm_soft(l->alpha[variant], l->sizes.actions, l->even, quality, decision);
  /* Every model is the environment. */
  for (size_t i = 0; opt_specification && i < l->sizes.actions * l->models; i++)
    opt_specification[i] = i % l->models == 0;
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *quality)
{
  const learner *l = content;
  quality_at(content, variant, steps, z, quality, NULL);
  idm_soft_logs(l->alpha[variant], l->sizes.actions, l->even, quality, log_decision);
}

static double value(const void *content, size_t variant, int steps, const double *z,
                    double *quality)
{
  const learner *l = content;
  quality_at(content, variant, steps, z, quality, NULL);
  return value_of(l, l->alpha[variant], quality);
}

/* --- the tables ----------------------------------------------------------------------------- */

static const idm_belief_ops belief = {.scratch = scratch,
                                      .policy = policy,
                                      .log_policy = log_policy,
                                      .value = value,
                                      .quality = quality_at};

static const idm_block_id reads[] = {
    IDM_UTILITY,    IDM_DISCOUNT, IDM_ALPHA,        IDM_ACTION_PRIOR,    IDM_MODEL_PRIOR,
    IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT, IDM_EVIDENCE_WEIGHT, IDM_BLOCK_COUNT};

/* Planning reads no dynamics; which state follows is seen, and what may follow is as it happens. */
#define SAMPLED(its_alpha)                                                                         \
  .reads = reads,                                                                                  \
  .clamp = (const idm_clamp[]){its_alpha,                                                          \
                               {IDM_ACTION_PRIOR, IDM_CLAMP_UNIFORM, 0},                           \
                               {IDM_MODEL_PRIOR, IDM_CLAMP_UNIFORM, 0},                            \
                               {IDM_TRANSITION, IDM_CLAMP_ENVIRONMENT, 0},                         \
                               {IDM_EMISSION, IDM_CLAMP_ENVIRONMENT, 0},                           \
                               {IDM_PRIOR_WEIGHT, IDM_CLAMP_IDLE, 0},                              \
                               {IDM_EVIDENCE_WEIGHT, IDM_CLAMP_IDLE, 0}},                          \
  .clamps = 7, .needs = IDM_NEEDS_SAMPLER | IDM_NEEDS_RANDOM | IDM_NEEDS_STATES,                   \
  .gives = IDM_GIVES_STATIONARY | IDM_GIVES_MOVES, .create = create, .plan = plan,                 \
  .destroy = destroy, .belief = &belief
#define ALPHA(kind)                                                                                \
  {                                                                                                \
    IDM_ALPHA, IDM_CLAMP_##kind, 0                                                                 \
  }

const idm_planner idm_q_learning = {
    .name = "q-learning",
    .summary = "the best action by values learnt from sampled transitions",
    .row = "Model-free MDP learner",
    .keys = (const char *const[]){"seed", "budget", "step_power", "exploration", NULL},
    SAMPLED(ALPHA(VALUE)),
};

const idm_planner idm_soft_q_learning = {
    .name = "soft-q-learning",
    .summary = "the same with the soft maximum, any alpha > 0",
    .row = "Max-entropy MDP learner",
    .keys =
        (const char *const[]){"alpha_unit", "seed", "budget", "step_power", "exploration", NULL},
    SAMPLED(ALPHA(POSITIVE)),
};
