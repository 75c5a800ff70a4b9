/* Maximum margin on beliefs: Tiger and the 1-d maze (Choi and Kim, "Inverse Reinforcement Learning
 * in Partially Observable Environments", JMLR 12, 2011) against value iteration over all reachable
 * beliefs; permuted names; observed states; refusals. */
#include "invert/utility/belief_mdp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/grid_support.h"
#include "invert/utility/hidden_support.h"

enum { ENTRIES = HIDDEN_ACTIONS * HIDDEN_STATES };

/* A demonstrator and its log. */
typedef struct show {
  hidden h;
  hidden_beliefs b;
  size_t action[HIDDEN_MOST];
  bool visited[HIDDEN_MOST];
  double truth[ENTRIES]; /* true utility, [action][state] */
  idm_problem *problem;
  idm_data *data;
} show;

static void flatten(const hidden *h, double *utility)
{
  for (size_t u = 0; u < h->actions; u++)
    memcpy(utility + u * h->states, h->utility[u], h->states * sizeof *utility);
}

/* Marks the beliefs that the policy reaches. */
static void visit(show *s, size_t i)
{
  if (s->visited[i]) return;
  s->visited[i] = true;
  for (size_t x = 0; x < s->h.observations; x++)
    if (s->b.p[i][s->action[i]][x] > 0) visit(s, s->b.next[i][s->action[i]][x]);
}

static show *show_of(hidden h, size_t trajectories)
{
  show *s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->h = h;
  flatten(&h, s->truth);
  hidden_reach(&h, &s->b);
  hidden_best(&h, &s->b, s->truth, s->action);
  visit(s, 0);
  s->problem = hidden_problem(&h, NULL, NULL, NULL);
  s->data = hidden_log(&h, &s->b, s->action, s->problem, trajectories, 20, 1);
  return s;
}

static void end_show(show *s)
{
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
  free(s);
}

static idm_fit_settings settings_of(double penalty, double epsilon, double bound)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.penalty = penalty;
  settings.epsilon = epsilon;
  settings.bound = bound;
  return settings;
}

/* The estimated utility by entry; held entries are those of the problem. */
static void utility_of(const show *s, const idm_posterior *p, double *utility)
{
  const idm_block *block = &s->problem->theta->block[IDM_UTILITY];
  for (size_t e = 0; e < s->h.actions * s->h.states; e++) {
    const int32_t k = block->coordinate ? block->coordinate[e] : (int32_t)e;
    utility[e] = k < 0 ? block->value[e] : p->value[k];
  }
}

static double range_of(const show *s, const double *utility)
{
  double low = INFINITY, high = -INFINITY;
  for (size_t e = 0; e < s->h.actions * s->h.states; e++) {
    low = fmin(low, utility[e]);
    high = fmax(high, utility[e]);
  }
  return (high - low) / (1 - s->h.discount);
}

/* Sum of margins at visited beliefs against the best other action; -inf where the demonstrator is
 * not optimal. */
static double margin_of(const show *s, const double *utility, double *least)
{
  double quality[HIDDEN_MOST][HIDDEN_ACTIONS], sum = 0;
  hidden_quality(&s->h, &s->b, utility, quality);
  *least = INFINITY;
  for (size_t i = 0; i < s->b.count; i++) {
    double margin = INFINITY;
    for (size_t u = 0; u < s->h.actions && s->visited[i]; u++)
      if (u != s->action[i]) margin = fmin(margin, quality[i][s->action[i]] - quality[i][u]);
    if (!s->visited[i]) continue;
    *least = fmin(*least, margin);
    sum += margin;
  }
  return *least < -1e-6 * range_of(s, utility) ? -INFINITY : sum;
}

/* Largest factor between the certificate, which applies at the start, and the margin at belief
 * `to`: 1 / (discounted probability of reaching it). */
static double lever(const show *s, size_t to)
{
  double v[HIDDEN_MOST] = {0};
  for (int round = 0; round < 900; round++)
    for (size_t i = 0; i < s->b.count; i++) {
      double sum = 0;
      for (size_t x = 0; x < s->h.observations; x++)
        sum += s->b.p[i][s->action[i]][x] * v[s->b.next[i][s->action[i]][x]];
      v[i] = i == to ? 1 : s->h.discount * sum;
    }
  return 1 / v[0];
}

/* The demonstrator has the value of the best policy under the estimated utility, the objective is
 * the sum of margins less the penalty, and no other utility, near or far, has a larger one. */
static void expect_best(const show *s, const idm_posterior *p, const idm_fit_settings *settings)
{
  double utility[ENTRIES], other[ENTRIES], least, size = 0;
  size_t best[HIDDEN_MOST];
  const size_t entries = s->h.actions * s->h.states;
  utility_of(s, p, utility);
  const double range = range_of(s, utility);
  assert_true(idm_optimality_certified(p->optimality) && !p->optimality->faults.count);
  assert_string_equal(p->optimality->certificate, "optimality gap");
  assert_near(hidden_best(&s->h, &s->b, utility, best) / range,
              hidden_worth(&s->h, &s->b, utility, s->action) / range, 1.5e-6);
  for (size_t e = 0; e < entries; e++) size += fabs(utility[e]);
  const double margin = margin_of(s, utility, &least);
  double out = 1e-6;
  for (size_t i = 0; i < s->b.count; i++)
    if (s->visited[i]) out += p->optimality->attained * range * lever(s, i);
  assert_true(fabs(p->optimality->objective - (margin - settings->penalty * size)) <= out);
  assert_true(least >= settings->epsilon - out);
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (int trial = 0; trial < 200; trial++) {
    size = 0;
    const double step = settings->bound * (trial % 2 ? 2 : 0.02);
    for (size_t e = 0; e < entries; e++) {
      other[e] = (trial % 2 ? 0 : utility[e]) + step * (idm_random_uniform(&random) - 0.5);
      other[e] = fmax(-settings->bound, fmin(settings->bound, other[e]));
      size += fabs(other[e]);
    }
    const double rival = margin_of(s, other, &least) - settings->penalty * size;
    if (least >= settings->epsilon) assert_true(rival <= p->optimality->objective + 1e-6);
  }
}

/* The optimal policy of the estimated utility has the demonstrator's value under the true utility.
 */
static void expect_same_behaviour(const show *s, const idm_posterior *p)
{
  double utility[ENTRIES], least;
  size_t best[HIDDEN_MOST];
  utility_of(s, p, utility);
  assert_true(margin_of(s, utility, &least) > 0 && least > 1e-3);
  hidden_best(&s->h, &s->b, utility, best);
  assert_near(hidden_worth(&s->h, &s->b, s->truth, best),
              hidden_worth(&s->h, &s->b, s->truth, s->action), 1e-12);
  assert_true(grid_says(p->optimality, "at each of them no other action is as good"));
}

static void run(show *s, const char *free, idm_fit_settings settings, bool everything)
{
  check(idm_problem_set_free(s->problem, free, &support_error));
  idm_posterior *p = support_fit("maximum-margin", s->problem, s->data, &settings);
  if (everything) expect_best(s, p, &settings);
  assert_true(idm_optimality_certified(p->optimality));
  expect_same_behaviour(s, p);
  idm_posterior_destroy(p);
}

static void test_tiger(void **state)
{
  (void)state;
  show *s = show_of(hidden_tiger(), 40);
  assert_near(hidden_worth(&s->h, &s->b, s->truth, s->action), 19.3713683749, 1e-9);
  run(s, "utility", settings_of(0, 0.01, 1), true);
  run(s, "{utility: {entries: [u1, u2]}}", settings_of(0, 0.1, 100), false);
  run(s, "{utility: {entries: {bad: [u1.s0, u2.s1]}}}", settings_of(0, 0, 100), false);
  end_show(s);
}

/* Without an epsilon the margin at a belief may be 0 in favour of others, which a note reports.
 * Listening then has such a value that listening once more is as good as opening a door. */
static void test_ties(void **state)
{
  (void)state;
  show *s = show_of(hidden_tiger(), 40);
  check(idm_problem_set_free(s->problem, "utility", &support_error));
  const idm_fit_settings settings = settings_of(0, 0, 1);
  idm_posterior *p = support_fit("maximum-margin", s->problem, s->data, &settings);
  expect_best(s, p, &settings);
  assert_true(grid_says(p->optimality, "at 2 of the 5 beliefs with decisions the margin is 0"));
  /* By symmetry, and by the equation of that tie. */
  assert_near(p->value[0], p->value[1], 1e-9);
  assert_near(p->value[2], -1, 1e-9);
  assert_near(p->value[3], 1, 1e-9);
  idm_posterior_destroy(p);
  end_show(s);
}

static void test_maze(void **state)
{
  (void)state;
  show *s = show_of(hidden_maze(), 40);
  assert_near(hidden_worth(&s->h, &s->b, s->truth, s->action), 1.3609195402, 1e-9);
  run(s, "utility", settings_of(0.5, 0, 1), true);
  run(s, "utility", settings_of(0, 0.2, 1), true);
  run(s, "{utility: {entries: {inside: [u0.s2, u1.s1], goal: [u1.s3]}}}", settings_of(0, 0.1, 1),
      false);
  end_show(s);
}

/* A demonstrator who never leaves shows a single plan, to stay. The utilities outside are at their
 * bounds only if all plans that return or loop are constraints. */
static void test_plans_never_shown(void **state)
{
  (void)state;
  show *s = show_of(hidden_home(), 3);
  run(s, "utility", settings_of(0, 0, 1), true);
  run(s, "utility", settings_of(0.1, 0, 1), true);
  end_show(s);
}

/* Demonstrators with random utilities. */
static void test_any_demonstrator(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    hidden h = seed % 2 ? hidden_maze() : hidden_tiger();
    idm_random random;
    idm_random_init(&random, seed, 0);
    for (size_t u = 0; u < h.actions; u++)
      for (size_t k = 0; k < h.states; k++) h.utility[u][k] = 2 * idm_random_uniform(&random) - 1;
    show *s = show_of(h, 60);
    check(idm_problem_set_free(s->problem, "utility", &support_error));
    const idm_fit_settings settings = settings_of(0, 0, 1);
    idm_posterior *p = support_fit("maximum-margin", s->problem, s->data, &settings);
    expect_best(s, p, &settings);
    assert_true(p->optimality->objective > 0.01);
    idm_posterior_destroy(p);
    end_show(s);
  }
}

/* With states, actions and observations in another order the utilities are the same by name. */
static void test_any_order(void **state)
{
  (void)state;
  const size_t place[] = {2, 0, 3, 1}, turn[] = {1, 0}, sign[] = {1, 0};
  for (int margin = IDM_MARGIN_STATE; margin <= IDM_MARGIN_RETURN; margin++) {
    show *s = show_of(hidden_maze(), 40);
    idm_problem *other = hidden_problem(&s->h, place, turn, sign);
    idm_data *data = hidden_log(&s->h, &s->b, s->action, other, 40, 20, 1);
    const char *freed = "{utility: {entries: [u0, u1.s1, u1.s0, u1.s3]}}";
    check(idm_problem_set_free(s->problem, freed, &support_error));
    check(idm_problem_set_free(other, freed, &support_error));
    idm_fit_settings settings = settings_of(0, 0, 2);
    settings.margin = (idm_margin)margin;
    idm_posterior *a = support_fit("maximum-margin", s->problem, s->data, &settings);
    idm_posterior *b = support_fit("maximum-margin", other, data, &settings);
    assert_true(idm_optimality_certified(a->optimality) && idm_optimality_certified(b->optimality));
    assert_near(a->optimality->objective, b->optimality->objective, 1e-6);
    assert_int_equal(a->optimality->open, b->optimality->open);
    assert_int_equal(a->quantity.count, b->quantity.count);
    for (size_t k = 0; k < a->quantity.count; k++) {
      const char *name = a->quantity.name[k];
      const long at = idm_labels_find(&b->quantity, name, strlen(name));
      assert_true(at >= 0);
      assert_near(a->value[k], b->value[at], 1e-5);
    }
    idm_posterior_destroy(a);
    idm_posterior_destroy(b);
    idm_data_destroy(data);
    idm_problem_destroy(other);
    end_show(s);
  }
}

/* With observations that reveal the state, the estimate on beliefs is that on states. */
static void test_observed(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    hidden h = {.states = 3, .actions = 2, .observations = 3, .discount = 0.8, .start = {1, 0, 0}};
    idm_random random;
    idm_random_init(&random, seed, 0);
    for (size_t u = 0; u < 2; u++)
      for (size_t k = 0; k < 3; k++) {
        support_distribution(&random, h.transition[u][k], 3);
        h.emission[u][k][k] = 1;
        h.utility[u][k] = 2 * idm_random_uniform(&random) - 1;
      }
    show *s = show_of(h, 20);
    assert_int_equal(s->b.count, 3);
    size_t action[3];
    for (size_t i = 0; i < 3; i++)
      for (size_t k = 0; k < 3; k++)
        if (s->b.z[i][k] > 0.5) action[k] = s->action[i];
    idm_problem *observed = hidden_observed(&h);
    idm_data *data = grid_log(observed, action);
    check(idm_problem_set_free(s->problem, "utility", &support_error));
    check(idm_problem_set_free(observed, "utility", &support_error));
    const idm_fit_settings settings = settings_of(seed % 2 ? 0 : 0.1, 0, 1);
    idm_posterior *a = support_fit("maximum-margin", s->problem, s->data, &settings);
    idm_posterior *b = support_fit("maximum-margin", observed, data, &settings);
    assert_true(idm_optimality_certified(a->optimality) && idm_optimality_certified(b->optimality));
    assert_near(a->optimality->objective, b->optimality->objective, 1e-8);
    for (size_t e = 0; e < 6; e++) assert_near(a->value[e], b->value[e], 1e-6);
    assert_int_equal(a->optimality->open, b->optimality->open);
    idm_posterior_destroy(a);
    idm_posterior_destroy(b);
    idm_data_destroy(data);
    idm_problem_destroy(observed);
    end_show(s);
  }
}

/* Value of the best policy less that of the demonstrator. */
static double lag(const show *s, const double *utility)
{
  size_t best[HIDDEN_MOST];
  return hidden_best(&s->h, &s->b, utility, best) - hidden_worth(&s->h, &s->b, utility, s->action);
}

/* A demonstrator with a constant action, which is not optimal under any utility of the box: the
 * objective is the loss of value at the estimated utility, and no other utility, near or far, has a
 * smaller one. */
static void play(size_t always, const char *freed, const char *words)
{
  enum { BOUND = 8 };
  show *s = show_of(hidden_tiger(), 1);
  for (size_t i = 0; i < s->b.count; i++) s->action[i] = always;
  idm_data *data = hidden_log(&s->h, &s->b, s->action, s->problem, 5, 20, 1);
  check(idm_problem_set_free(s->problem, freed, &support_error));
  idm_fit_settings settings = settings_of(0, 0, BOUND);
  settings.margin = IDM_MARGIN_RETURN;
  idm_posterior *p = support_fit("maximum-margin", s->problem, data, &settings);
  const idm_block *block = &s->problem->theta->block[IDM_UTILITY];
  double utility[ENTRIES];
  idm_random random;
  idm_random_init(&random, 2, 0);
  utility_of(s, p, utility);
  assert_true(idm_optimality_certified(p->optimality));
  assert_near(p->optimality->objective, lag(s, utility), 1e-6 * range_of(s, utility));
  assert_true(grid_says(p->optimality, words));
  for (int trial = 0; trial < 300; trial++) {
    double other[ENTRIES];
    memcpy(other, utility, sizeof other);
    for (size_t e = 0; e < 6; e++) {
      const double step = 2 * idm_random_uniform(&random) - 1;
      const double x = trial % 2 ? BOUND * step : utility[e] + 0.1 * step;
      if (block->coordinate[e] >= 0) other[e] = fmax(-BOUND, fmin(BOUND, x));
    }
    assert_true(lag(s, other) >= p->optimality->objective - 1e-6 * range_of(s, other));
  }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  end_show(s);
}

static void test_return(void **state)
{
  (void)state;
  play(1, "{utility: {entries: [u2, u0.s0]}}", "some policy is better than the demonstrator");
  play(0, "{utility: {entries: [u1.s0, u2.s1]}}", "some policy is better than the demonstrator");
  /* With doors free of penalties, opening at once is optimal. */
  play(1, "{utility: {entries: [u1.s0, u2.s1]}}", "no policy is better than the demonstrator");
}

/* With all entries free the objective is 0 at the utility 0, which a note reports. */
static void test_return_of_everything(void **state)
{
  (void)state;
  show *s = show_of(hidden_tiger(), 40);
  check(idm_problem_set_free(s->problem, "utility", &support_error));
  idm_fit_settings settings = settings_of(0, 0, 1);
  settings.margin = IDM_MARGIN_RETURN;
  idm_posterior *p = support_fit("maximum-margin", s->problem, s->data, &settings);
  assert_near(p->optimality->objective, 0, 1e-12);
  for (size_t e = 0; e < 6; e++) assert_true(p->value[e] == 0);
  assert_true(grid_says(p->optimality, "nor is any worse: hold some entries"));
  idm_posterior_destroy(p);
  end_show(s);
}

/* A truncated log: its policy after the last decision is a guess, and no utility makes it optimal.
 * The estimate fails and reports the share of guessed decisions. */
static void test_log_that_breaks_off(void **state)
{
  (void)state;
  show *s = show_of(hidden_tiger(), 1);
  idm_data *data =
      support_data(s->problem, "trajectory,action,observation\n1,u0,x0\n1,u0,x0\n1,u2,x0\n");
  const idm_fit_settings settings = settings_of(0, 0, 1);
  idm_posterior *p;
  idm_notes notes = {0};
  check(idm_problem_set_free(s->problem, "utility", &support_error));
  check(idm_inverse_fit(idm_inverse_find("maximum-margin"), s->problem, data, &settings, NULL, &p,
                        &notes, &support_error));
  for (size_t e = 0; e < 6; e++) assert_true(p->value[e] == 0);
  assert_true(grid_says(p->optimality, "the margin is 0"));
  /* Half of the episodes leave the log at once; of the rest those return that next observe the
   * other side, and those that open the door. */
  const double g = 0.95, back = 0.5 * g * g * (0.255 + g * 0.745);
  char words[40];
  snprintf(words, sizeof words, "%.3g %% of the demonstrator's", 100 * 0.5 * g / (1 - back));
  assert_true(support_mentions(&p->optimality->faults, words));
  idm_notes_clear(&notes);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  end_show(s);
}

static void expect(const show *s, const idm_data *data, const idm_fit_settings *settings,
                   idm_status status, const char *words)
{
  idm_posterior *posterior;
  idm_error error = {0};
  assert_int_equal(idm_inverse_fit(idm_inverse_find("maximum-margin"), s->problem, data, settings,
                                   NULL, &posterior, NULL, &error),
                   status);
  assert_null(posterior);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}

static void test_refusals(void **state)
{
  (void)state;
  show *s = show_of(hidden_tiger(), 40);
  idm_data *two =
      support_data(s->problem, "trajectory,action,observation\n1,u0,x0\n1,u0,x1\n2,u1,x0\n");
  check(idm_problem_set_free(s->problem, "utility", &support_error));
  idm_fit_settings settings = settings_of(0, 0, 1);
  expect(s, two, &settings, IDM_INPUT, "needs one action per belief, and the log has more at 1");
  settings.bound = INFINITY;
  expect(s, s->data, &settings, IDM_INPUT, "expected a finite --bound");
  settings = settings_of(0, 5, 1);
  expect(s, s->data, &settings, IDM_INPUT, "no utility within the box");
  settings = settings_of(0, 0, 1);
  settings.occupancy = IDM_OCCUPANCY_EMPIRICAL;
  expect(s, s->data, &settings, IDM_USAGE, "--occupancy empirical");
  settings = settings_of(0, 0.1, 1);
  settings.margin = IDM_MARGIN_RETURN;
  expect(s, s->data, &settings, IDM_USAGE, "--epsilon applies to --margin state");
  s->problem->setting->horizon = 7;
  settings = settings_of(0, 0, 1);
  expect(s, s->data, &settings, IDM_INPUT, "expected no `horizon`");
  idm_data_destroy(two);
  end_show(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tiger),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_maze),
      cmocka_unit_test(test_any_demonstrator),
      cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_observed),
      cmocka_unit_test(test_return),
      cmocka_unit_test(test_return_of_everything),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_plans_never_shown),
      cmocka_unit_test(test_log_that_breaks_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
