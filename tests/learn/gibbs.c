/* Gibbs draws of dynamics against the exact posterior: logs so small that all paths of hidden
 * states are summed, with the rows integrated out given the path (a product of
 * Dirichlet-multinomials).
 *
 * Contents: the exact posterior · draws against it · interchangeable states · several modes ·
 * checkpoints · refusals */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/textbook_support.h"
#include "support.h"

/* Zeros distinguish the states: only b can show `clear`. Both actions share the transition. */
#define CLINIC                                                                                     \
  "states: [a, b]\nactions: [look, test]\nobservations: [low, high, clear]\nstart: [0.6, 0.4]\n"   \
  "discount: 0.9\ntransition: {'*': [[0.7, 0.3], [0.4, 0.6]]}\n"                                   \
  "observation: {look: [[0.7, 0.3, 0], [0.4, 0.6, 0]],\n"                                          \
  "              test: [[0.8, 0.2, 0], [0.2, 0.3, 0.5]]}\nutility: {look: 0, test: -1}\n"

enum { MOST_NUMBERS = 40, MOST_HIDDEN = 64, MOST_SUMMED = 16 };

/* --- the exact posterior -------------------------------------------------------------------- */

/* First and second moments of every number. */
typedef struct exact {
  double weight;
  double mean[MOST_NUMBERS];
  double square[MOST_NUMBERS];
} exact;

/* Number of rows of the dynamics, in sequence; rows of the second action are tied to those of the
 * first if the file has one matrix for both (here: transitions). */
static size_t rows_of(const idm_dynamics *d)
{
  return 1 + 2 * d->sizes.actions * d->sizes.states;
}

static void row_at(const idm_dynamics *d, size_t r, size_t *first, size_t *width)
{
  const size_t k = d->sizes.states, pairs = d->sizes.actions * k, x = d->sizes.observations;
  *width = r <= pairs ? k : x;
  *first = r == 0 ? 0 : r <= pairs ? k + (r - 1) * k : k + pairs * k + (r - 1 - pairs) * x;
}

static size_t leader(const idm_dynamics *d, size_t r)
{
  return r > d->sizes.states && r <= d->sizes.actions * d->sizes.states
             ? 1 + (r - 1) % d->sizes.states
             : r;
}

/* Counts of a path of hidden states; false if it uses an impossible observation. states[] has one
 * more entry per trajectory than it has rows. */
static bool count_path(const idm_data *data, const idm_dynamics *d, bool before, const int *states,
                       double *counts, double *weight)
{
  const size_t k = d->sizes.states, emissions = (size_t)(d->emission - d->start);
  bool possible = true;
  for (size_t i = 0; i < data->trajectories; i++, states++) {
    if (data->start[i] < 0)
      counts[states[0]]++;
    else
      *weight *= data->start_belief[(size_t)data->start[i] * k + (size_t)states[0]];
    for (size_t r = data->first[i]; r < data->first[i + 1]; r++, states++) {
      const size_t u = (size_t)data->action[r];
      const size_t emitter = (size_t)(before ? states[0] : states[1]);
      counts[k + (u * k + (size_t)states[0]) * k + (size_t)states[1]]++;
      if (data->observation[r] < 0) continue;
      const size_t seen =
          emissions + (u * k + emitter) * d->sizes.observations + (size_t)data->observation[r];
      counts[seen]++;
      possible = possible && d->start[seen] > 0;
    }
  }
  return possible;
}

static void gather(const idm_dynamics *d, double *counts)
{
  for (size_t r = 0; r < rows_of(d); r++) {
    size_t first, width, lead;
    row_at(d, r, &first, &width);
    row_at(d, leader(d, r), &lead, &width);
    for (size_t j = 0; lead != first && j < width; j++) counts[lead + j] += counts[first + j];
  }
}

/* Log of the integral of Dirichlet(prior) times the likelihood of the counts over a row. */
static double log_marginal(const double *p, const double *counts, size_t width, double prior)
{
  double all = 0, concentration = 0, sum = 0;
  for (size_t j = 0; j < width; j++) {
    if (p[j] == 0) continue;
    concentration += prior;
    all += prior + counts[j];
    sum += lgamma(prior + counts[j]) - lgamma(prior);
  }
  return sum + lgamma(concentration) - lgamma(all);
}

static void add_moments(const double *p, const double *counts, size_t width, double prior,
                        double weight, double *mean, double *square)
{
  double all = 0;
  for (size_t j = 0; j < width; j++) all += p[j] > 0 ? prior + counts[j] : 0;
  for (size_t j = 0; j < width; j++) {
    if (p[j] == 0) continue;
    const double a = prior + counts[j];
    mean[j] += weight * a / all;
    square[j] += weight * a * (a + 1) / (all * (all + 1));
  }
}

static void add_path(const idm_data *data, const idm_dynamics *d, bool before, double prior,
                     const int *states, exact *e)
{
  double counts[MOST_NUMBERS] = {0};
  double weight = 1, height = 0;
  if (!count_path(data, d, before, states, counts, &weight)) return;
  gather(d, counts);
  for (int moments = 0; moments < 2; moments++) {
    for (size_t r = 0; r < rows_of(d); r++) {
      size_t at, width;
      row_at(d, r, &at, &width);
      if (leader(d, r) != r) continue;
      if (moments)
        add_moments(d->start + at, counts + at, width, prior, weight, e->mean + at, e->square + at);
      else
        height += log_marginal(d->start + at, counts + at, width, prior);
    }
    if (!moments) weight *= exp(height);
  }
  e->weight += weight;
}

static void normalise(exact *e, size_t numbers)
{
  for (size_t i = 0; i < numbers; i++) {
    e->mean[i] /= e->weight;
    e->square[i] /= e->weight;
  }
}

static exact integrate(const idm_data *data, const idm_dynamics *d, bool before, double prior)
{
  exact e = {0};
  int states[MOST_HIDDEN] = {0};
  const size_t hidden = data->rows + data->trajectories;
  assert_true(hidden <= MOST_SUMMED && d->numbers <= MOST_NUMBERS && d->sizes.states == 2);
  for (size_t path = 0; path < (size_t)1 << hidden; path++) {
    for (size_t i = 0; i < hidden; i++) states[i] = (int)(path >> i & 1);
    add_path(data, d, before, prior, states, &e);
  }
  normalise(&e, d->numbers);
  return e;
}

/* --- draws against it ----------------------------------------------------------------------- */

typedef struct drawn {
  idm_problem *problem;
  idm_data *data;
  idm_dynamics *truth;
  idm_modes modes; /* the truth unless set otherwise */
  idm_iohmm *learner;
  idm_learn_settings settings;
  idm_dynamics_draws draws;
} drawn;

static drawn open_drawn(const char *yaml, size_t trajectories, size_t rows, double blank)
{
  drawn t = {.problem = support_yaml(yaml)};
  check(idm_problem_dynamics(t.problem, &t.truth, &support_error));
  t.data = textbook_simulate(t.truth, t.problem->setting->emits_before, trajectories, rows, blank,
                             trajectories);
  idm_learn_settings_default(&t.settings);
  t.settings.prior = 1.5;
  t.settings.chains = 2;
  t.settings.warmup = 200;
  t.settings.draws = 20000;
  return t;
}

static void draw_holding(drawn *t, idm_learn_fixed hold)
{
  if (!t->modes.count) t->modes = (idm_modes){1, &t->truth, NULL};
  check(idm_iohmm_create(t->problem, t->data, 0, hold, &t->learner, &support_error));
  check(idm_learn_draw(t->learner, t->problem, &t->modes, &t->settings, NULL, NULL, &t->draws,
                       &support_error));
}

static void draw(drawn *t)
{
  draw_holding(t, IDM_LEARN_FIX_NOTHING);
}

static void close_drawn(drawn *t)
{
  idm_dynamics_draws_clear(&t->draws);
  idm_iohmm_destroy(t->learner);
  idm_dynamics_destroy(t->truth);
  idm_data_destroy(t->data);
  idm_problem_destroy(t->problem);
}

/* A mean of draws against its expectation, within 4.5 Monte Carlo standard errors. */
static void expect_mean(const double *x, const idm_dynamics_draws *draws, double expected,
                        const char *name)
{
  idm_diagnosis found;
  check(idm_diagnose(x, draws->chains, draws->draws, draws->draws, 1, &found, &support_error));
  if (!(fabs(found.mean - expected) < 4.5 * found.mcse_mean) || !(found.rhat < 1.01))
    fail_msg("%s: %.5f +- %.5f, expected %.5f", name, found.mean, found.mcse_mean, expected);
}

/* First and second moments of every number. At 4.5 standard errors one comparison fails by chance
 * with probability 7e-6, and the 150 of this file together at about one seed in a thousand. */
static void expect_moments(drawn *t, const exact *e, size_t numbers)
{
  const size_t all = t->draws.chains * t->draws.draws;
  double *square = malloc(all * sizeof *square);
  assert_non_null(square);
  assert_int_equal(t->draws.numbers, numbers);
  for (size_t k = 0; k < t->draws.numbers; k++) {
    const double *x = t->draws.value + k * all;
    for (size_t i = 0; i < all; i++) square[i] = x[i] * x[i];
    expect_mean(x, &t->draws, e->mean[t->draws.place[k]], t->draws.name.name[k]);
    expect_mean(square, &t->draws, e->square[t->draws.place[k]], t->draws.name.name[k]);
  }
  free(square);
}

static void expect_exact(drawn *t)
{
  const exact e =
      integrate(t->data, t->truth, t->problem->setting->emits_before, t->settings.prior);
  expect_moments(t, &e, 15);
}

static void test_after(void **state)
{
  (void)state;
  drawn t = open_drawn(CLINIC, 5, 2, 0);
  draw(&t);
  expect_exact(&t);
  close_drawn(&t);
}

static void test_before(void **state)
{
  (void)state;
  drawn t = open_drawn(CLINIC "observation_from: before\n", 4, 3, 0);
  draw(&t);
  expect_exact(&t);
  close_drawn(&t);
}

/* Missing cells in the middle, and trajectories that end with missing cells. */
static void test_blanks(void **state)
{
  (void)state;
  static const size_t blank[] = {1, 3, 5, 7, 8, 11}; /* of rows 0-2, 3-5, 6-8 and 9-11 */
  for (int before = 0; before < 2; before++) {
    drawn t = open_drawn(before ? CLINIC "observation_from: before\n" : CLINIC, 4, 3, 0);
    for (size_t i = 0; i < sizeof blank / sizeof *blank; i++)
      t.data->observation[blank[i]] = IDM_MISSING;
    draw(&t);
    expect_exact(&t);
    close_drawn(&t);
  }
}

/* Trajectories with a start belief of their own do not inform the common start. */
static void test_beliefs(void **state)
{
  (void)state;
  drawn t = open_drawn(CLINIC, 5, 2, 0.1);
  t.data->start_belief = calloc(2, sizeof *t.data->start_belief);
  assert_non_null(t.data->start_belief);
  t.data->start_belief[0] = 0.1;
  t.data->start_belief[1] = 0.9;
  t.data->starts = 1;
  for (size_t i = 1; i < 4; i++) t.data->start[i] = 0;
  draw(&t);
  expect_exact(&t);
  close_drawn(&t);
}

/* --- interchangeable states ----------------------------------------------------------------- */

/* One state in which the left arm wins, and one in which the right arm does; states are permanent.
 * Over both arms the states win equally often, so only the whole table distinguishes them. */
#define BANDIT                                                                                     \
  "states: [a, b]\nactions: [left, right]\nobservations: [lost, won]\nstart: [0.5, 0.5]\n"         \
  "discount: 0.9\ntransition: {'*': identity}\n"                                                   \
  "observation: {left: [[0.25, 0.75], [0.75, 0.25]], right: [[0.75, 0.25], [0.25, 0.75]]}\n"       \
  "utility: {left: 0, right: 0}\n"
enum { WINS = 4 };

/* Places of the winning probabilities: left in a and b, then right. */
static const size_t win_place[WINS] = {11, 13, 15, 17};

/* Squared distance from the truth, with states a and b as labelled or exchanged. */
static double win_distance(const drawn *t, const double *win, bool turned)
{
  double sum = 0;
  for (size_t k = 0; k < WINS; k++)
    sum += pow(win[turned ? k ^ 1 : k] - t->truth->start[win_place[k]], 2);
  return sum;
}

/* Losses and wins of each arm in each trajectory: [action][observation]. */
typedef struct counted {
  double of[2][2];
} counted;

static void count_wins(const idm_data *data, counted *counts)
{
  for (size_t i = 0; i < data->trajectories; i++)
    for (size_t r = data->first[i]; r < data->first[i + 1]; r++)
      counts[i].of[data->action[r]][data->observation[r]]++;
}

static double bandit_density(const drawn *t, const counted *counts, const double *win)
{
  double sum = 0, log_lost[WINS], log_won[WINS];
  for (size_t k = 0; k < WINS; k++) {
    log_lost[k] = log(1 - win[k]);
    log_won[k] = log(win[k]);
    sum += (t->settings.prior - 1) * (log_lost[k] + log_won[k]);
  }
  for (size_t i = 0; i < t->data->trajectories; i++) {
    double of[2] = {0, 0};
    for (size_t k = 0; k < WINS; k++)
      of[k % 2] += counts[i].of[k / 2][0] * log_lost[k] + counts[i].of[k / 2][1] * log_won[k];
    sum += log(exp(of[0]) + exp(of[1]));
  }
  return sum;
}

/* Moments over the half of the posterior with labels nearest to the truth, by the midpoint rule:
 * with 40 points instead of 32, means change by less than 2e-4. */
static exact integrate_bandit(const drawn *t)
{
  enum { POINTS = 32, TRAJECTORIES = 7 };
  exact e = {0};
  counted counts[TRAJECTORIES] = {0};
  assert_int_equal(t->data->trajectories, TRAJECTORIES);
  count_wins(t->data, counts);
  for (size_t at = 0; at < POINTS * POINTS * POINTS * POINTS; at++) {
    double win[WINS];
    for (size_t k = 0, rest = at; k < WINS; k++, rest /= POINTS)
      win[k] = ((double)(rest % POINTS) + 0.5) / POINTS;
    const double nearer = win_distance(t, win, true) - win_distance(t, win, false);
    if (nearer < -1e-12) continue;
    /* Equidistant points count half for each labelling. */
    const double weight = (nearer > 1e-12 ? 1 : 0.5) * exp(bandit_density(t, counts, win) + 30);
    e.weight += weight;
    for (size_t k = 0; k < WINS; k++) {
      e.mean[win_place[k]] += weight * win[k];
      e.square[win_place[k]] += weight * win[k] * win[k];
    }
  }
  for (size_t k = 0; k < WINS; k++) {
    const double mean = e.mean[win_place[k]] /= e.weight;
    const double square = e.square[win_place[k]] /= e.weight;
    e.mean[win_place[k] - 1] = 1 - mean;
    e.square[win_place[k] - 1] = 1 - 2 * mean + square;
  }
  return e;
}

/* Draws have the moments of the posterior with labels nearest to the mode. */
static void test_bandit(void **state)
{
  (void)state;
  drawn t = open_drawn(BANDIT, 7, 5, 0);
  draw_holding(&t, IDM_LEARN_FIX_START);
  const exact e = integrate_bandit(&t);
  expect_moments(&t, &e, 2 * WINS);
  const size_t all = t.draws.chains * t.draws.draws;
  for (size_t i = 0; i < all; i++) {
    double win[WINS] = {0};
    for (size_t k = 0; k < t.draws.numbers; k++)
      for (size_t w = 0; w < WINS; w++)
        if (t.draws.place[k] == win_place[w]) win[w] = t.draws.value[k * all + i];
    assert_true(win_distance(&t, win, false) <= win_distance(&t, win, true) + 1e-8);
  }
  close_drawn(&t);
}

/* --- several modes -------------------------------------------------------------------------- */

/* States alternate, so the first state of a trajectory determines all others. Only b can show
 * `clear`, which never occurs: in one mode a shows low and b high, in the other a high and b low,
 * and a sweep would have to change all trajectories at once to move between them. */
#define TURNS                                                                                      \
  "states: [a, b]\nactions: [look]\nobservations: [low, high, clear]\nstart: [0.5, 0.5]\n"         \
  "discount: 0.9\ntransition: {look: [[0, 1], [1, 0]]}\n"                                          \
  "observation: {look: [[0.7, 0.3, 0], [0.3, 0.5, 0.2]]}\nutility: {look: 0}\n"

/* Three of five rows of a trajectory are in the state other than its first, so the modes differ in
 * the number of visits to b, the only state with three possible observations. */
static drawn open_turns(void)
{
  enum { trajectories = 8, rows = 5 };
  drawn t = open_drawn(TURNS, trajectories, rows, 0);
  for (size_t r = 0; r < t.data->rows; r++) {
    const bool rare = r % 9 == 4;
    t.data->observation[r] = (r % rows + rare) % 2 ? 0 : 1;
  }
  return t;
}

/* Sum over the first states of all trajectories; *share is the posterior probability of a majority
 * in a. */
static exact integrate_turns(const drawn *t, double *share)
{
  exact e = {0};
  int states[MOST_HIDDEN];
  const idm_data *data = t->data;
  *share = 0;
  assert_true(data->rows + data->trajectories <= MOST_HIDDEN);
  for (size_t starts = 0; starts < (size_t)1 << data->trajectories; starts++) {
    const double before = e.weight;
    size_t at = 0, in_a = 0;
    for (size_t i = 0; i < data->trajectories; i++) {
      int state = (int)(starts >> i & 1);
      in_a += !state;
      for (size_t r = data->first[i]; r <= data->first[i + 1]; r++, state = !state)
        states[at++] = state;
    }
    add_path(data, t->truth, false, t->settings.prior, states, &e);
    if (2 * in_a > data->trajectories) *share += e.weight - before;
  }
  *share /= e.weight;
  normalise(&e, t->truth->numbers);
  return e;
}

static void search_turns(drawn *t, idm_learn_result *learnt)
{
  idm_iohmm *learner;
  t->settings.starts = 10;
  t->settings.start =
      IDM_LEARN_FROM_RANDOM; /* unlabelled states: modes occur with both labellings */
  check(idm_iohmm_create(t->problem, t->data, 0, IDM_LEARN_FIX_NOTHING, &learner, &support_error));
  check(idm_learn(learner, t->problem, &t->settings, NULL, NULL, learnt, &support_error));
  idm_iohmm_destroy(learner);
  assert_true(learnt->modes.count >= 2);
  assert_true(learnt->dynamics == learnt->modes.mode[0]);
}

/* Draws have the moments of the posterior over both modes. Chains given one mode stay in it. */
static void test_two_modes(void **state)
{
  (void)state;
  idm_learn_result learnt;
  double share;
  drawn t = open_turns();
  const exact e = integrate_turns(&t, &share);
  search_turns(&t, &learnt);
  t.modes = learnt.modes;
  draw(&t);
  expect_moments(&t, &e, 7);
  print_message("  share of a majority in a: exactly %.4f; of the draws %.4f and %.4f, %zu moves\n",
                share, t.draws.share[0], t.draws.share[1], t.draws.moves);
  assert_true(share > 0.2 && share < 0.8);
  assert_true(t.draws.moves > 1000);
  const size_t low = 2; /* observation[look,a,low] */
  assert_string_equal(t.draws.name.name[low], "observation[look,a,low]");
  const double expected = e.mean[t.draws.place[low]];
  idm_dynamics_draws_clear(&t.draws);
  t.modes.count = 1;
  check(idm_learn_draw(t.learner, t.problem, &t.modes, &t.settings, NULL, NULL, &t.draws,
                       &support_error));
  idm_diagnosis alone;
  check(idm_diagnose(t.draws.value + low * t.draws.chains * t.draws.draws, t.draws.chains,
                     t.draws.draws, t.draws.draws, 1, &alone, &support_error));
  assert_true(fabs(alone.mean - expected) > 0.1);
  assert_int_equal(t.draws.moves, 0);
  assert_near(t.draws.share[0], 1, 1e-9);
  idm_learn_result_clear(&learnt);
  close_drawn(&t);
}

/* --- checkpoints ---------------------------------------------------------------------------- */

/* Stopped at several times and resumed: the draws equal those of an uninterrupted run. */
static void expect_same_resumed(drawn *t)
{
  static const double when[] = {0, 0.02, 0.4, 0.9};
  enum { times = sizeof when / sizeof *when };
  idm_dynamics_draws draws = {0};
  char *bytes = NULL;
  size_t length = 0;
  for (size_t k = 0; k <= times; k++) {
    support_stopping s = {.at = k < times ? when[k] : 2};
    const idm_fit_monitor watch = {.progress = support_stop,
                                   .context = &s,
                                   .checkpoint = bytes,
                                   .checkpoint_length = length,
                                   .label = 4};
    t->settings.threads = k % 2 ? 2 : 1;
    idm_dynamics_draws_clear(&draws);
    const idm_status status = idm_learn_draw_monitored(
        t->learner, t->problem, &t->modes, &t->settings, &watch, &draws, &support_error);
    assert_true(status == IDM_OK || (k < times && status == IDM_UNTRUSTED && s.bytes));
    if (!s.bytes) continue;
    free(bytes);
    bytes = s.bytes;
    length = s.length;
  }
  const size_t all = draws.chains * draws.draws;
  assert_int_equal(draws.numbers, t->draws.numbers);
  assert_memory_equal(draws.value, t->draws.value, draws.numbers * all * sizeof(double));
  assert_memory_equal(draws.log_likelihood, t->draws.log_likelihood, all * sizeof(double));
  assert_int_equal(draws.moves, t->draws.moves);
  idm_dynamics_draws_clear(&draws);
  const idm_fit_monitor other = {.checkpoint = bytes, .checkpoint_length = length, .label = 5};
  assert_int_equal(idm_learn_draw_monitored(t->learner, t->problem, &t->modes, &t->settings, &other,
                                            &draws, &support_error),
                   IDM_INPUT);
  const idm_fit_monitor cut = {.checkpoint = bytes, .checkpoint_length = length - 5, .label = 4};
  assert_int_equal(idm_learn_draw_monitored(t->learner, t->problem, &t->modes, &t->settings, &cut,
                                            &draws, &support_error),
                   IDM_INPUT);
  free(bytes);
}

static void test_checkpoints(void **state)
{
  (void)state;
  drawn t = open_drawn(CLINIC, 30, 4, 0);
  t.settings.draws = 4000;
  draw(&t);
  expect_same_resumed(&t);
  close_drawn(&t);
}

static void test_checkpoints_of_two_modes(void **state)
{
  (void)state;
  idm_learn_result learnt;
  drawn t = open_turns();
  search_turns(&t, &learnt);
  t.modes = learnt.modes;
  draw(&t);
  expect_same_resumed(&t);
  idm_learn_result_clear(&learnt);
  close_drawn(&t);
}

/* --- refusals ------------------------------------------------------------------------------- */

static bool stop_at_once(void *context, double done)
{
  (void)done;
  *(int *)context += 1;
  return true;
}

static void expect_refusal(drawn *t, idm_dynamics *around, idm_status status, const char *words)
{
  idm_error error = {0};
  idm_dynamics_draws draws;
  int calls = 0;
  const idm_modes modes = {1, &around, NULL};
  assert_int_equal(idm_learn_draw(t->learner, t->problem, &modes, &t->settings, stop_at_once,
                                  &calls, &draws, &error),
                   status);
  assert_non_null(strstr(error.message, words));
  assert_null(draws.value);
  assert_int_equal(draws.numbers, 0);
  assert_int_equal(calls > 0, status == IDM_UNTRUSTED);
}

static void test_refusals(void **state)
{
  (void)state;
  drawn t = open_drawn(CLINIC, 3, 2, 0);
  t.settings.draws = 5;
  draw(&t);
  t.settings.draws = 250000;
  expect_refusal(&t, t.truth, IDM_UNTRUSTED, "interrupted");
  t.settings.draws = 0;
  expect_refusal(&t, t.truth, IDM_USAGE, "expected at least 1");
  t.settings.draws = 5;
  idm_dynamics *other;
  check(idm_dynamics_create((idm_sizes){3, 2, 3}, &other, &support_error));
  expect_refusal(&t, other, IDM_USAGE, "of another problem");
  idm_dynamics_destroy(other);
  t.settings.prior = 0.5;
  expect_refusal(&t, t.truth, IDM_USAGE, "prior");
  close_drawn(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_after),
                                     cmocka_unit_test(test_before),
                                     cmocka_unit_test(test_blanks),
                                     cmocka_unit_test(test_beliefs),
                                     cmocka_unit_test(test_bandit),
                                     cmocka_unit_test(test_two_modes),
                                     cmocka_unit_test(test_checkpoints_of_two_modes),
                                     cmocka_unit_test(test_checkpoints),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
