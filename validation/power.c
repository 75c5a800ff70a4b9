/* Power and false-alarm rate of the tests of the model:
 *
 *   idm_power KIND DECISIONS LOGS [SEED]   one line: how many of LOGS logs fail, by test
 *   idm_power                              the names of the kinds
 *
 * A kind consists of a problem, the blocks that the fit frees, and a deviation of the true agents:
 * none ("right-..."), a number that the fit holds at another value, or another agent. Fits are by
 * `map`: the tests use only the draw of highest density. validation/power.py runs all kinds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/log.h"
#include "invert/assess.h"
#include "invert/assess/changing_support.h"
#include "invert/assess/context.h"
#include "invert/assess/context_support.h"
#include "invert/assess/extension.h"
#include "invert/assess/odd_support.h"

static const char bandit[] =
    "states: [a_good, b_good]\n"
    "actions: [a, b]\n"
    "observations: [win, loss]\n"
    "start: uniform\n"
    "discount: 0\n"
    "transition: {'*': [[0.944, 0.056], [0.056, 0.944]]}\n"
    "observation_from: before\n"
    "observation: {a: [[0.84, 0.16], [0.15, 0.85]], b: [[0.15, 0.85], [0.84, 0.16]]}\n"
    "utility: {a: [1, -1], b: [-1, 1]}\n"
    "agent: {planner: td-learner, inverse_temperature: 3, learning_rate_gain: 0.4,\n"
    "        learning_rate_loss: 0.4}\n";
static const char reversal[] =
    "states: [a_good, b_good]\n"
    "actions: [a, b]\n"
    "observations: [win, loss]\n"
    "start: uniform\n"
    "discount: 0.5\n"
    "transition: {'*': [[0.944, 0.056], [0.056, 0.944]]}\n"
    "observation_from: before\n"
    "observation: {a: [[0.84, 0.16], [0.15, 0.85]], b: [[0.15, 0.85], [0.84, 0.16]]}\n"
    "utility: {a: [1, -1], b: [-1, 1]}\n"
    "agent: {planner: bounded-rational, alpha: 1, resolution: 40, evaluate: interpolate}\n";
static const char tiger[] =
    "states: [tiger-left, tiger-right]\n"
    "actions: [listen, open-left, open-right]\n"
    "observations: [hear-left, hear-right]\n"
    "start: uniform\n"
    "discount: 0.95\n"
    "transition: {listen: identity, '*': uniform}\n"
    "observation: {listen: [[0.85, 0.15], [0.15, 0.85]], '*': uniform}\n"
    "utility: {listen: -1, open-left: [-100, 10], open-right: [10, -100]}\n"
    "agent: {planner: bounded-rational, alpha: 3, resolution: 60, evaluate: interpolate}\n";
/* A search in which tests only increase certainty. */
#define SEARCH(award)                                                                              \
  "states: [p, q]\nactions: [test, wait]\nobservations: [x, y]\nstart: [0.5, 0.5]\n"               \
  "discount: 0.9\ntransition: {'*': [[0.9, 0.1], [0.1, 0.9]]}\n"                                   \
  "observation: {test: [[0.8, 0.2], [0.2, 0.8]], wait: [[0.5, 0.5], [0.5, 0.5]]}\n"                \
  "utility: {test: -0.3, wait: 0}\ncertainty: {above: 0.8, award: " award "}\n"                    \
  "agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}\n"
static const char search[] = SEARCH("0"), awarded[] = SEARCH("1");

typedef struct kind {
  const char *name;
  const char *problem; /* NULL: DIAG */
  const char *free_blocks;
  int steps;            /* largest length of a trajectory */
  double length;        /* mean length of a trajectory */
  const char *truth[4]; /* settings of the agents, in addition to the problem */
  const char *drift;    /* a number whose logarithm falls by `spread` over the trajectories of an
                           agent; NULL: none */
  bool switches;        /* it falls at once, after half of the trajectories */
  const char *differs;  /* a number whose logarithm differs between agents with sd `spread` */
  bool within;          /* it differs between trajectories of one agent */
  double spread;
  const char *other;     /* problem of the deciding agent; NULL: the same */
  size_t agents;         /* 0: one, or with `differs` one per trajectory */
  bool anew;             /* the memory of the one agent is reset between trajectories */
  bool hides;            /* the bandit of odd_support.h */
  odd_learner odd;       /* what its only learner carries over */
  changing_when changes; /* changing_support.h: when alpha is `times` as large */
  double times;          /* factor on alpha */
  size_t people; /* people who are fitted separately, one trajectory each, and whose scores are
                    pooled: the pooled score may fail; 0: one fit */
} kind;

#define RATES "inverse_temperature,learning_rate_gain,learning_rate_loss"
/* A learner on the bandit, over this number of steps. */
#define LEARNER_OF(count)                                                                          \
  .problem = bandit, .free_blocks = RATES, .steps = (count), .length = (count)
#define CHANGING(when, factor)                                                                     \
  .free_blocks = "alpha", .steps = 30, .length = 30, .changes = (when), .times = (factor)
static const kind kinds[] = {
    {.name = "right-learner", .problem = bandit, .free_blocks = RATES, .steps = 50, .length = 50},
    {.name = "right-reversal",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 50,
     .length = 50},
    {.name = "right-diag",
     .free_blocks = "alpha,beta",
     .steps = 50,
     .length = 4,
     .truth = {"beta=1.25"}},
    {.name = "right-tiger", .problem = tiger, .free_blocks = "alpha", .steps = 40, .length = 40},
    {.name = "right-awarded",
     .problem = awarded,
     .free_blocks = "alpha",
     .steps = 25,
     .length = 25},
    {.name = "right-three", CHANGING(changing_parity, 1)},
    {.name = "three-middle", CHANGING(changing_middle, 4)},
    {.name = "three-parity", CHANGING(changing_parity, 4)},
    {.name = "search-of-awarded",
     .problem = search,
     .free_blocks = "alpha",
     .steps = 25,
     .length = 25,
     .other = awarded},
    {.name = "right-episodes", .problem = bandit, .free_blocks = RATES, .steps = 10, .length = 10},
    {.name = "right-learners",
     .problem = bandit,
     .free_blocks = RATES,
     .steps = 10,
     .length = 10,
     .agents = 5},
    {.name = "right-reversals",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 10,
     .length = 10,
     .agents = 5},
    {.name = "right-clinics",
     .free_blocks = "alpha,beta",
     .steps = 50,
     .length = 4,
     .truth = {"alpha=0.5", "beta=1.25"},
     .agents = 5},
    {.name = "right-rewards", .hides = true, .free_blocks = RATES, .steps = 50, .length = 50},
    {.name = "right-perseverance",
     .hides = true,
     .free_blocks = RATES ",perseverance",
     .steps = 50,
     .length = 50},
    {.name = "right-each-learner",
     .problem = bandit,
     .free_blocks = RATES,
     .differs = "inverse_temperature",
     .spread = 0.4,
     .people = 10},
    {.name = "right-each-planner",
     .problem = reversal,
     .free_blocks = "alpha",
     .differs = "alpha",
     .spread = 0.4,
     .people = 10},
    {.name = "each-learner-lapse",
     .problem = bandit,
     .free_blocks = RATES,
     .truth = {"inverse_temperature=8", "lapse=0.3"},
     .differs = "inverse_temperature",
     .spread = 0.4,
     .people = 10},
    {.name = "each-planner-lapse",
     .problem = reversal,
     .free_blocks = "alpha",
     .truth = {"alpha=0.3", "lapse=0.2"},
     .differs = "alpha",
     .spread = 0.4,
     .people = 10},
    {.name = "learner-loss-lapse",
     .hides = true,
     .free_blocks = RATES,
     .steps = 50,
     .length = 50,
     .odd = {.lapse = 0.5}},
    {.name = "learner-late",
     .hides = true,
     .free_blocks = RATES,
     .steps = 50,
     .length = 50,
     .odd = {.late = true}},
    {.name = "learner-credit",
     .hides = true,
     .free_blocks = RATES,
     .steps = 50,
     .length = 50,
     .odd = {.credit = 0.5}},
    {.name = "learner-habit",
     .hides = true,
     .free_blocks = RATES ",perseverance",
     .steps = 50,
     .length = 50,
     .odd = {.habit = 2}},
    {.name = "learner-lapse",
     .problem = bandit,
     .free_blocks = RATES,
     .steps = 50,
     .length = 50,
     .truth = {"inverse_temperature=8", "lapse=0.3"}},
    {.name = "learner-perseverance",
     .problem = bandit,
     .free_blocks = RATES,
     .steps = 50,
     .length = 50,
     .truth = {"perseverance=0.7"}},
    {.name = "learner-decay",
     .problem = bandit,
     .free_blocks = RATES,
     .steps = 50,
     .length = 50,
     .truth = {"decay=0.2"}},
    {.name = "learner-drift",
     .problem = bandit,
     .free_blocks = RATES,
     .steps = 10,
     .length = 10,
     .truth = {"inverse_temperature=6"},
     .drift = "inverse_temperature",
     .spread = 1.5},
    {.name = "learner-switch",
     .problem = bandit,
     .free_blocks = RATES,
     .steps = 10,
     .length = 10,
     .truth = {"inverse_temperature=6"},
     .drift = "inverse_temperature",
     .switches = true,
     .spread = 1.5},
    {.name = "learner-anew", LEARNER_OF(10), .anew = true},
    {.name = "learner-anew-long", LEARNER_OF(50), .anew = true},
    {.name = "learners-differ", LEARNER_OF(50), .differs = "inverse_temperature", .spread = 0.7},
    {.name = "learner-sessions",
     LEARNER_OF(50),
     .differs = "inverse_temperature",
     .within = true,
     .spread = 0.7},
    {.name = "learner-of-planner", LEARNER_OF(50), .other = reversal},
    {.name = "reversal-lapse",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 50,
     .length = 50,
     .truth = {"alpha=0.3", "lapse=0.2"}},
    {.name = "reversal-perseverance",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 50,
     .length = 50,
     .truth = {"perseverance=0.7"}},
    {.name = "reversal-evidence",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 50,
     .length = 50,
     .truth = {"evidence_weight=0.5"}},
    {.name = "planner-of-learner",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 50,
     .length = 50,
     .other = bandit},
    {.name = "reversal-switch",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 10,
     .length = 10,
     .drift = "alpha",
     .switches = true,
     .spread = 1},
    {.name = "reversal-sessions",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 50,
     .length = 50,
     .differs = "alpha",
     .within = true,
     .spread = 0.7},
    {.name = "reversals-switch",
     .problem = reversal,
     .free_blocks = "alpha",
     .steps = 10,
     .length = 10,
     .drift = "alpha",
     .switches = true,
     .spread = 1,
     .agents = 5},
    {.name = "diag-switch",
     .free_blocks = "alpha,beta",
     .steps = 50,
     .length = 4,
     .truth = {"beta=1.25"},
     .drift = "alpha",
     .switches = true,
     .spread = 1},
    {.name = "diag-sessions",
     .free_blocks = "alpha",
     .steps = 50,
     .length = 4,
     .differs = "alpha",
     .within = true,
     .spread = 0.7},
    {.name = "diag-prior",
     .free_blocks = "alpha",
     .steps = 50,
     .length = 4,
     .truth = {"prior_weight=0.5"}},
    {.name = "diag-evidence",
     .free_blocks = "alpha",
     .steps = 50,
     .length = 4,
     .truth = {"evidence_weight=0.6"}},
    {.name = "diag-optimism",
     .free_blocks = "alpha",
     .steps = 50,
     .length = 4,
     .truth = {"beta=0.8"}},
    {.name = "diag-lapse",
     .free_blocks = "alpha",
     .steps = 50,
     .length = 4,
     .truth = {"lapse=0.1"}},
    {.name = "tiger-discount",
     .problem = tiger,
     .free_blocks = "alpha",
     .steps = 40,
     .length = 40,
     .truth = {"discount=0.6"}},
    {.name = "tiger-lapse",
     .problem = tiger,
     .free_blocks = "alpha",
     .steps = 40,
     .length = 40,
     .truth = {"lapse=0.05"}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static idm_problem *make(const kind *k, const char *text)
{
  idm_problem *problem;
  if (k->hides) return odd_bandit();
  if (k->changes) return changing_problem();
  if (text) {
    check(idm_problem_parse_yaml(text, strlen(text), "kind.yaml", &problem, NULL, &support_error));
    return problem;
  }
  problem = support_diag(1, INFINITY, 0);
  problem->agent.resolution = 40;
  return problem;
}

/* --- logs ----------------------------------------------------------------------------------- */

typedef struct cast {
  const kind *k;
  idm_theta *theta;
  idm_workspace *workspace;
  size_t moving; /* block that drifts or differs */
  double centre;
  size_t trajectories;
  uint64_t seed;
} cast;

static idm_status before(void *context, size_t trajectory, size_t agent, idm_error *opt_error)
{
  const cast *c = context;
  const size_t own = c->trajectories / (c->k->agents ? c->k->agents : 1);
  const double late = (double)(trajectory % own) / (double)(own - 1) - 0.5;
  double moved = 0;
  if (c->k->drift) moved = -c->k->spread * (c->k->switches ? copysign(0.5, late) : late);
  if (c->k->differs) {
    idm_random random;
    idm_random_init(&random, c->seed, ((uint64_t)1 << 40) + (c->k->within ? trajectory : agent));
    moved = c->k->spread * idm_random_normal(&random);
  }
  if (moved != 0) idm_theta_set_scalar(c->theta, c->moving, c->centre * exp(moved));
  return idm_plan(c->theta, NULL, c->workspace, NULL, opt_error);
}

static size_t find_block(const idm_theta *theta, const char *name)
{
  for (size_t b = 0; name && b < theta->blocks; b++)
    if (strcmp(theta->block[b].info->name, name) == 0) return b;
  return 0;
}

static idm_data *simulate(const kind *k, size_t decisions, uint64_t seed)
{
  idm_problem *truth = make(k, k->other ? k->other : k->problem);
  for (size_t i = 0; i < 4 && k->truth[i]; i++)
    check(idm_problem_set(truth, k->truth[i], &support_error));
  if (k->hides || k->changes) {
    const size_t trajectories = (size_t)lround((double)decisions / k->length);
    idm_data *data =
        k->hides ? odd_simulate(truth, &k->odd, trajectories, k->steps, seed)
                 : changing_simulate(truth, k->times, k->changes, trajectories, k->steps, seed);
    idm_problem_destroy(truth);
    return data;
  }
  cast c = {.k = k, .seed = seed, .trajectories = (size_t)lround((double)decisions / k->length)};
  check(idm_theta_copy(truth->theta, &c.theta, &support_error));
  check(idm_workspace_create(truth->setting, truth->theta, &truth->agent, &c.workspace,
                             &support_error));
  c.moving = find_block(c.theta, k->drift ? k->drift : k->differs);
  c.centre = c.theta->block[c.moving].value[0];
  const bool own = (k->differs && !k->within) || k->anew;
  idm_simulation simulation = {.trajectories = c.trajectories,
                               .steps = k->steps,
                               .seed = seed,
                               .agents = own ? c.trajectories : k->agents,
                               .opt_before = before,
                               .opt_reward_theta = truth->theta,
                               .context = &c};
  idm_data *data;
  check(idm_simulate(truth->setting, idm_workspace_behavior(c.workspace), &simulation, &data,
                     &support_error));
  if (k->anew) assign_one_agent(data);
  idm_workspace_destroy(c.workspace);
  idm_theta_destroy(c.theta);
  idm_problem_destroy(truth);
  return data;
}

/* --- verdicts ------------------------------------------------------------------------------- */

static void judge(const kind *k, size_t decisions, uint64_t seed, size_t *failed)
{
  assessed_fit a;
  assessed_fit_open(&a, make(k, k->problem), simulate(k, decisions, seed), k->free_blocks);
  check(idm_assess_model(&a.q, &support_error));
  const idm_model_check *m = &a.assessment->model;
  for (size_t i = 0; i < IDM_TEST_COUNT; i++)
    failed[i] +=
        a.assessment->checks.of[idm_model_test_row((idm_model_test)i)].outcome == IDM_CHECK_MISFIT;
  failed[IDM_TEST_COUNT] += a.assessment->misfits.count > 0;
  fprintf(stderr, "%s %zu seed %llu, %llu decisions:", k->name, decisions, (unsigned long long)seed,
          (unsigned long long)m->decisions);
  for (size_t i = 0; i < IDM_TEST_COUNT; i++)
    if (m->test[i].evaluated)
      fprintf(stderr, " %s %.3g", idm_model_test_name((idm_model_test)i), m->test[i].p);
  fprintf(stderr, "\n");
  for (size_t i = 0; i < a.assessment->misfits.count; i++)
    fprintf(stderr, "    %s\n", a.assessment->misfits.text[i]);
  assessed_fit_close(&a);
}

/* The scores of one person, at a draw of a short chain. */
static void add_person(const kind *k, const idm_data *data, uint32_t person, uint64_t seed,
                       pool *all)
{
  idm_problem *problem = make(k, k->problem);
  idm_data *part;
  idm_posterior *posterior;
  idm_fit_settings settings;
  pool own;
  check(idm_problem_set_free(problem, k->free_blocks, &support_error));
  check(idm_data_subset(data, &person, 1, &part, &support_error));
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 1;
  settings.warmup = 300;
  settings.draws = 50;
  settings.seed = seed;
  settings.prior_draws = 0;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, part, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_pool_open(&own, problem, part, posterior, NULL, &support_error));
  check(idm_pool_add(all, &own, &support_error));
  idm_pool_close(&own);
  idm_posterior_destroy(posterior);
  idm_data_destroy(part);
  idm_problem_destroy(problem);
}

static void judge_people(const kind *k, size_t decisions, uint64_t seed, size_t *failed)
{
  kind own = *k;
  own.steps = (int)(decisions / k->people);
  own.length = own.steps;
  idm_data *data = simulate(&own, decisions, seed);
  pool all = {0};
  for (uint32_t i = 0; i < data->trajectories; i++) add_person(k, data, i, seed, &all);
  const double p = idm_pool_min_p(&all);
  const bool fails = p <= idm_check_threshold(IDM_CHECK_PERSON_EXTENSIONS);
  failed[IDM_TEST_EXTENSIONS] += fails;
  failed[IDM_TEST_COUNT] += fails;
  fprintf(stderr, "%s %zu seed %llu: extensions %.3g\n", k->name, decisions,
          (unsigned long long)seed, p);
  idm_pool_close(&all);
  idm_data_destroy(data);
}

int main(int count, char **argument)
{
  const kind *k = NULL;
  for (size_t i = 0; i < KINDS; i++) {
    if (count < 2) printf("%s\n", kinds[i].name);
    if (count > 3 && strcmp(argument[1], kinds[i].name) == 0) k = &kinds[i];
  }
  if (!k) return count >= 2;
  const size_t decisions = strtoull(argument[2], NULL, 10), logs = strtoull(argument[3], NULL, 10);
  const uint64_t first = count > 4 ? strtoull(argument[4], NULL, 10) : 1;
  size_t failed[IDM_TEST_COUNT + 1] = {0};
  for (size_t i = 0; i < logs; i++)
    (k->people ? judge_people : judge)(k, decisions, first + i, failed);
  printf("%s %zu: %zu of %zu fail;", k->name, decisions, failed[IDM_TEST_COUNT], logs);
  for (size_t i = 0; i < IDM_TEST_COUNT; i++)
    printf(" %s %zu", idm_model_test_name((idm_model_test)i), failed[i]);
  printf("\n");
  return 0;
}
