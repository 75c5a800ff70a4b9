/* Tests score tests of extensions: efficient scores, tail probabilities over replicates, likelihood
 * ratios of refits, agents whose parameters change, and learners with a lapse, a memory reset or a
 * carryover. */
#include "invert/assess/extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/changing_support.h"
#include "invert/assess/context.h"
#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"
#include "invert/assess/odd_support.h"

/* --- a planner ------------------------------------------------------------------------------ */

enum { RUNS = 1000 };
typedef struct fixture {
  assessed_fit a;
  decision_residuals r;
  extensions x;
  double *taken;
} fixture;

/* A reversal task by one agent with perseverance, fitted without it. */
static void open_fixture(fixture *f, double perseverance, uint64_t seed)
{
  static const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, perseverance);
  idm_data *data = simulate_agents(problem, &alpha, 1, 10, 100, seed);
  idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, 0);
  assessed_fit_open(&f->a, problem, data, "alpha");
  check(idm_residual_open(&f->r, &f->a.q, &support_error));
  check(idm_extensions_open(&f->x, &f->a.q, &f->r, RUNS, &support_error));
  f->taken = calloc(f->r.decision_points * f->r.actions, sizeof *f->taken);
  assert_non_null(f->taken);
}

static void close_fixture(fixture *f)
{
  free(f->taken);
  idm_extensions_close(&f->x);
  idm_residual_close(&f->r);
  assessed_fit_close(&f->a);
}

static extension *find(const extensions *x, size_t block)
{
  for (size_t k = 0; k < x->count; k++)
    if (x->item[k].kind == EXTENSION_FIXED && x->item[k].at == block) return &x->item[k];
  return NULL;
}

static extension *find_drift(const extensions *x, drift_kind drift)
{
  for (size_t k = 0; k < x->count; k++)
    if (x->item[k].kind == EXTENSION_DRIFT && x->item[k].drift == drift) return &x->item[k];
  return NULL;
}

/* Held parameters with an effect are candidates: with one model beta has none, and alpha is free.
 */
static void test_candidates(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f, 0, 1);
  assert_non_null(find(&f.x, IDM_DISCOUNT));
  assert_non_null(find(&f.x, IDM_PERSEVERANCE));
  assert_non_null(find(&f.x, IDM_PRIOR_WEIGHT));
  assert_non_null(find(&f.x, IDM_EVIDENCE_WEIGHT));
  assert_null(find(&f.x, IDM_BETA));
  assert_null(find(&f.x, IDM_ALPHA));
  assert_true(find(&f.x, IDM_LAPSE)->boundary);
  assert_false(find(&f.x, IDM_PERSEVERANCE)->boundary);
  /* Trajectories are the histories, and all are of one agent. */
  assert_non_null(find_drift(&f.x, DRIFT_ROW));
  assert_non_null(find_drift(&f.x, DRIFT_AGENT));
  assert_null(find_drift(&f.x, DRIFT_HISTORY));
  assert_null(find_drift(&f.x, DRIFT_LOG));
  close_fixture(&f);
}

/* Scores have mean 0 given each history, are uncorrelated with the score of alpha, and their
 * variance over replicates equals their information (four standard errors; scores of lapse have
 * heavy tails). */
static void test_scores(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f, 0, 1);
  for (size_t k = 0; k < f.x.count; k++) {
    const extension *e = &f.x.item[k];
    double cross = 0;
    for (size_t i = 0; i < f.r.decision_points; i++) {
      const double *p = idm_residual_probability(&f.r, &f.r.decision_point[i]);
      double mean = 0;
      for (size_t u = 0; u < f.r.actions; u++) {
        const double own = p[u] * e->score[i * f.r.actions + u];
        mean += own;
        cross += f.r.decision_point[i].decisions * own *
                 *idm_residual_score(&f.r, &f.r.decision_point[i], u);
      }
      assert_near(mean, 0, 1e-9 * sqrt(e->information));
    }
    assert_near(cross, 0, 1e-3 * sqrt(e->information * f.r.information[0]));
  }
  double square = 0;
  extension *e = find(&f.x, IDM_PERSEVERANCE);
  for (size_t run = 1; run < RUNS; run++) {
    idm_random random;
    idm_random_init(&random, 3, run);
    idm_residual_draw(&f.r, &random, f.taken);
    idm_extensions_add_run(&f.x, run, f.taken);
    square += e->sum * e->sum / (RUNS - 1);
  }
  assert_near(square / e->information, 1, 4 * sqrt(2.0 / RUNS));
  close_fixture(&f);
}

/* Near the held value, half the statistic approximates the gain in log-likelihood of a refit, to a
 * fifth or half a nat. */
static void test_likelihood_ratio(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    fixture f;
    open_fixture(&f, 0.1 * (double)(seed % 3), seed);
    idm_extensions_add_run(&f.x, 0, f.r.taken);
    static const size_t block[3] = {IDM_PERSEVERANCE, IDM_EVIDENCE_WEIGHT, IDM_PRIOR_WEIGHT};
    refit without, with;
    check(idm_refit(&f.a.q, NULL, &without, &support_error));
    for (size_t k = 0; k < 3; k++) {
      const extension *e = find(&f.x, block[k]);
      const double held = f.a.problem->theta->block[block[k]].value[0];
      check(idm_refit(&f.a.q, &(fixed_override){block[k], held + 0.02}, &with, &support_error));
      const double gain = with.log_likelihood - without.log_likelihood;
      assert_near(e->statistic[0] / 2, gain, fmax(0.5, 0.2 * gain));
    }
    close_fixture(&f);
  }
}

/* p is the tail probability of the score, times the number of extensions of its kind, times the
 * number of kinds. Over replicates, the tail probability is below 1 % in about 1 % (10 are
 * expected; the lattice correction reduces them, and more than 23 have a probability below 1e-4).
 */
static void test_tail(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f, 0, 1);
  f.a.q.people = f.r.strata; /* no refits */
  double *below = calloc(f.x.count, sizeof *below), held = 0, least;
  assert_non_null(below);
  for (size_t k = 0; k < f.x.count; k++) held += f.x.item[k].kind == EXTENSION_FIXED;
  const double others = (double)f.x.count - held;
  assert_true(held > 3 && others > 2);
  for (size_t run = 1; run < RUNS; run++) {
    idm_random random;
    idm_random_init(&random, 5, run);
    idm_residual_draw(&f.r, &random, f.taken);
    idm_extensions_add_run(&f.x, 0, f.taken);
    check(idm_extensions_test(&f.x, &least, &support_error));
    for (size_t k = 0; k < f.x.count; k++) {
      const extension *e = &f.x.item[k];
      const double factor = 2 * (e->kind == EXTENSION_FIXED ? held : others);
      below[k] += e->p <= 0.01 * factor;
    }
  }
  for (size_t k = 0; k < f.x.count; k++)
    if (below[k] < 2 || below[k] > 23) fail_msg("%g of %d below 1 %%", below[k], RUNS - 1);
  free(below);
  close_fixture(&f);
}

/* --- trajectories --------------------------------------------------------------------------- */

/* One agent whose alpha changes after half of 80 trajectories. */
static void judge_switch(assessed_fit *a, double first, double second, uint64_t seed)
{
  const double alpha[2] = {first, second};
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, alpha, 2, 40, 10, seed);
  assign_one_agent(data);
  assessed_fit_open(a, problem, data, "alpha");
  check(idm_assess_model(&a->q, &support_error));
}

static const idm_score_test *extended(const assessed_fit *a, const char *name)
{
  const idm_model_check *m = &a->assessment->model;
  for (size_t i = 0; i < m->extensions; i++)
    if (strcmp(m->extension[i].name, name) == 0) return &m->extension[i];
  fail_msg("no extension is called %s", name);
  return NULL;
}

/* A parameter that changes between trajectories is reported as a drift over them. Logs of an agent
 * that does not change pass: each does with probability .99. */
static void test_switch(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    assessed_fit a;
    judge_switch(&a, 0.5, 0.15, seed);
    assert_int_equal(a.assessment->checks.of[IDM_CHECK_EXTENSIONS].outcome, IDM_CHECK_MISFIT);
    assert_true(support_mentions(&a.assessment->misfits,
                                 "between the first and the last trajectory of an agent would "
                                 "gain about"));
    assert_true(support_mentions(&a.assessment->misfits,
                                 "fit early and late trajectories apart (--where, or --each "
                                 "COLUMN)"));
    const idm_score_test *e = extended(&a, "drift of alpha over an agent's trajectories");
    assert_true(e->value < -0.5 && e->value > -3 && e->gain > 5 && e->held == 0);
    assert_true(e->p < 1e-3);
    assert_true(extended(&a, "drift of alpha within trajectories")->p > 0.01);
    assessed_fit_close(&a);
    judge_switch(&a, 0.3, 0.3, seed);
    assert_int_equal(a.assessment->misfits.count, 0);
    assert_true(extended(&a, "drift of alpha over an agent's trajectories")->p > 0.01);
    assessed_fit_close(&a);
  }
}

/* Alpha is larger in the middle of trajectories, or at every second row, and equal at both ends.
 * Logs with a constant alpha pass: each does with probability .99. */
static void test_there_and_back(void **state)
{
  (void)state;
  static const struct {
    changing_when period_of;
    const char *name, *words;
    double sign;
  } cases[] = {{changing_middle, "drift of alpha within trajectories and back",
                "between the middle and both ends of a trajectory would gain about", -1},
               {changing_parity, "drift of alpha by odd and even rows",
                "between odd and even rows of a trajectory would gain about", 1}};
  for (size_t i = 0; i < 2; i++)
    for (uint64_t seed = 1; seed <= 3; seed++)
      for (int factor = 4; factor >= 1; factor -= 3) {
        assessed_fit a;
        idm_problem *problem = changing_problem();
        assessed_fit_open(&a, problem,
                          changing_simulate(problem, factor, cases[i].period_of, 17, 30, seed),
                          "alpha");
        check(idm_assess_model(&a.q, &support_error));
        const idm_score_test *e = extended(&a, cases[i].name);
        const bool found = support_mentions(&a.assessment->misfits, cases[i].words);
        assert_int_equal(found, factor > 1);
        if (found)
          assert_true(e->p < 1e-3 && cases[i].sign * e->value > 0.5 && e->gain > 5);
        else
          assert_int_equal(a.assessment->misfits.count, 0);
        assert_true(extended(&a, "drift of alpha within trajectories")->p > 0.01);
        assessed_fit_close(&a);
      }
}

/* --- learners ------------------------------------------------------------------------------- */

/* A log of a learner with equal learning rates and the change `truth`, fitted with `free_blocks`.
 */
static void judge_learner(assessed_fit *a, const char *truth, const char *free_blocks,
                          size_t trajectories, uint64_t seed)
{
  static const char *const learner[] = {"inverse_temperature=8", "learning_rate_gain=0.4",
                                        "learning_rate_loss=0.4"};
  idm_problem *problem = population_bandit();
  for (size_t i = 0; i < 3; i++) check(idm_problem_set(problem, learner[i], &support_error));
  check(idm_problem_set(problem, truth, &support_error));
  idm_data *data = simulate_learners(problem, 1, trajectories, 50, seed);
  check(idm_problem_set(problem, "lapse=0", &support_error));
  assessed_fit_open(a, problem, data, free_blocks);
  check(idm_assess_model(&a->q, &support_error));
}

#define RATES "inverse_temperature,learning_rate_gain,learning_rate_loss"

/* A lapse rate of .3, fitted without: the verdict gives the parameter, its value and the option. */
static void test_slips(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    assessed_fit a;
    judge_learner(&a, "lapse=0.3", RATES, 40, seed);
    const idm_model_check *m = &a.assessment->model;
    assert_int_equal(a.assessment->checks.of[IDM_CHECK_EXTENSIONS].outcome, IDM_CHECK_MISFIT);
    assert_true(support_mentions(&a.assessment->misfits, "the model lacks a number"));
    assert_true(support_mentions(&a.assessment->misfits, "): lapse at about 0."));
    assert_true(support_mentions(&a.assessment->misfits, "--free lapse," RATES));
    for (size_t i = 0; i < m->extensions; i++)
      if (strcmp(m->extension[i].name, "lapse") == 0) {
        assert_near(m->extension[i].value, 0.3, 0.12);
        assert_true(m->extension[i].gain > 10 && m->extension[i].held == 0);
      }
    assessed_fit_close(&a);
  }
}

/* The same logs with lapse free, and a learner without lapses, pass. */
static void test_no_slips(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    assessed_fit a;
    judge_learner(&a, "lapse=0.3", "lapse," RATES, 40, seed);
    assert_int_equal(a.assessment->checks.of[IDM_CHECK_EXTENSIONS].outcome, IDM_CHECK_PASSED);
    assert_int_equal(a.assessment->checks.of[IDM_CHECK_CALIBRATION].outcome, IDM_CHECK_PASSED);
    assessed_fit_close(&a);
    judge_learner(&a, "inverse_temperature=3", RATES, 10, seed);
    assert_int_equal(a.assessment->misfits.count, 0);
    assessed_fit_close(&a);
  }
}

/* Learners with one trajectory each, labelled as one agent, have a memory reset in every
 * trajectory. An agent whose memory persists passes, and for learners with one trajectory each the
 * extension is not a candidate. */
static void test_anew(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (int forgets = 0; forgets < 2; forgets++) {
      assessed_fit a;
      idm_problem *problem = population_bandit();
      idm_data *data = simulate_learners(problem, forgets ? 12 : 1, forgets ? 1 : 12, 40, seed);
      assign_one_agent(data);
      assessed_fit_open(&a, problem, data, RATES);
      check(idm_assess_model(&a.q, &support_error));
      assert_int_equal(support_mentions(&a.assessment->misfits,
                                        "a memory that is reset in every trajectory would gain "
                                        "about"),
                       forgets);
      assert_true(extended(&a, "memory of single trajectories")->p > 0.002 || forgets);
      if (!forgets) assert_int_equal(a.assessment->misfits.count, 0);
      assessed_fit_close(&a);
    }
  assessed_fit alone;
  idm_problem *problem = population_bandit();
  idm_data *data = simulate_learners(problem, 3, 1, 40, 1);
  assessed_fit_open(&alone, problem, data, RATES);
  check(idm_assess_model(&alone.q, &support_error));
  for (size_t i = 0; i < alone.assessment->model.extensions; i++)
    assert_null(strstr(alone.assessment->model.extension[i].name, "memory"));
  assessed_fit_close(&alone);
}

/* A log of a learner with a carryover, fitted with `free_blocks`. */
static void judge_odd(assessed_fit *a, const odd_learner *odd, const char *free_blocks,
                      uint64_t seed)
{
  idm_problem *problem = odd_bandit();
  idm_data *data = odd_simulate(problem, odd, 40, 50, seed);
  assessed_fit_open(a, problem, data, free_blocks);
  check(idm_assess_model(&a->q, &support_error));
}

/* Lapses after a loss, delayed learning, credit to the action before, and habits are detected and
 * named. Learners without them pass: each does with probability .99. */
static void test_odd(void **state)
{
  (void)state;
  static const struct {
    odd_learner odd;
    const char *free_blocks, *name, *words;
  } of[] = {
      {{.lapse = 0.5},
       RATES,
       "inverse_temperature after a reward above 0",
       "between choices after other rewards and after those above 0 would gain about"},
      {{.late = true}, RATES, "last action, by its reward", "(last action, by its reward)"},
      {{.credit = 0.5},
       RATES,
       "actions, by the reward of the row after",
       "(actions, by the reward of the row after)"},
      {{.habit = 2},
       RATES ",perseverance",
       "actions of the last rows",
       "(actions of the last rows)"},
      {{.late = false}, RATES, NULL, NULL},
      {{.late = false}, RATES ",perseverance", NULL, NULL},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      assessed_fit a;
      judge_odd(&a, &of[i].odd, of[i].free_blocks, seed);
      const idm_check_outcome outcome = a.assessment->checks.of[IDM_CHECK_EXTENSIONS].outcome;
      if (of[i].name) {
        assert_int_equal(outcome, IDM_CHECK_MISFIT);
        assert_true(extended(&a, of[i].name)->p < 1e-3);
        assert_true(support_mentions(&a.assessment->misfits, of[i].words));
      } else {
        assert_int_equal(a.assessment->misfits.count, 0);
      }
      assessed_fit_close(&a);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_candidates),
      cmocka_unit_test(test_scores),
      cmocka_unit_test(test_likelihood_ratio),
      cmocka_unit_test(test_slips),
      cmocka_unit_test(test_no_slips),
      cmocka_unit_test(test_tail),
      cmocka_unit_test(test_switch),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_anew),
      cmocka_unit_test(test_odd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
