/* Studies of people and their population, one replication per call, printed as lines of numbers:
 *
 *   idm_people sbc SEED
 *     ranks of the true values among 99 draws, the largest R-hat and the smallest ESS
 *   idm_people learners SEED
 *     the same for learners from rewards with four free numbers
 *   idm_people alarms-learners SEED, idm_people alarms-planners SEED
 *     misfits of a correct model, and the p-value of each test
 *   idm_people slips-learners SEED, idm_people slips-planners SEED
 *     the same for a model without the slips of these people
 *   idm_people audit SEED
 *     the same as sbc for an audit of groups
 *   idm_people nested SEED
 *     the same for an audit of agents within groups
 *   idm_people regression SEED
 *     whether 90 % intervals contain the two slopes
 *   idm_people density SEED
 *     a log and some draws with their densities, as JSON
 *   idm_people speed PEOPLE DECISIONS FREE [SD [WARMUP DRAWS]]
 *     seconds, largest R-hat, smallest ESS of the population
 *
 * DIAG with two free numbers, except for learners. The thresholds are in validation/people.py and
 * people_density.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/system.h"
#include "invert/people/people.h"
#include "invert/people/people_support.h"

enum { numbers = 2 };
/* Intercepts ~ normal(mean, width), slopes and sds at half the width. */
static const double mean[numbers] = {-0.3, 0.3};
static const double width[numbers] = {0.6, 0.4};

/* Behaviour and parameters of people use different random streams. */
static const uint64_t behaviour = 1000000;

static idm_problem *diag(const char *freed, int resolution)
{
  idm_problem *problem = support_diag(0.5, 2, 0);
  check(idm_problem_set_free(problem, freed, &support_error));
  problem->agent.resolution = resolution;
  return problem;
}

static idm_people *fit(const idm_problem *problem, const idm_data *data, const idm_design *design,
                       long warmup, long draws, int threads, size_t chains)
{
  idm_fit_settings settings;
  idm_people *people;
  idm_fit_settings_default(&settings);
  settings.chains = chains;
  settings.warmup = warmup;
  settings.draws = draws;
  settings.threads = threads;
  check(idm_people_fit(problem, data, design, &settings, NULL, &people, NULL, &support_error));
  return people;
}

/* Series with the same number of draws. */
typedef struct chain_draws {
  const double *draw;
  size_t chains, draws;
} chain_draws;

static void diagnose(const chain_draws *s, double *worst, double *least_ess)
{
  idm_diagnosis d;
  check(idm_diagnose(s->draw, s->chains, s->draws, s->draws, 1, &d, &support_error));
  *worst = fmax(*worst, d.rhat);
  *least_ess = fmin(*least_ess, fmin(d.ess_bulk, d.ess_tail));
}

static double worst_rhat(const idm_people *p, double *least_ess)
{
  const size_t n = p->chains * p->draws;
  const struct {
    const double *first;
    size_t count;
  } all[] = {{p->coefficient, p->coefficient_first[p->effects]},
             {p->sd, p->effects},
             {p->correlation, p->effects * (p->effects - 1) / 2}};
  double worst = 0;
  *least_ess = INFINITY;
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < all[k].count; i++)
      diagnose(&(chain_draws){all[k].first + i * n, p->chains, p->draws}, &worst, least_ess);
  return worst;
}

/* --- calibration ---------------------------------------------------------------------------- */

/* A correlation under LKJ(2) of two: (1 + c) / 2 ~ beta(2, 2). */
static double draw_correlation(idm_random *random)
{
  const double a = idm_random_gamma(random, 2), b = idm_random_gamma(random, 2);
  return 2 * a / (a + b) - 1;
}

/* Number of draws below the true value among 99, spread evenly over all chains. */
static size_t rank_of(const double *series, size_t count, double truth)
{
  size_t rank = 0;
  for (size_t k = 0; k < 99; k++) rank += series[(k * 2 + 1) * count / 198] < truth;
  return rank;
}

/* Print the rank of a true value among the draws of one quantity. */
static void print_rank(const double *draw, size_t count, double truth)
{
  printf("%zu ", rank_of(draw, count, truth));
}

/* A population drawn from its prior. */
typedef struct population {
  double intercept[numbers], slope[numbers], sd[numbers], correlation;
} population;

static population draw_population(idm_random *random)
{
  population p;
  for (size_t j = 0; j < numbers; j++) {
    p.intercept[j] = mean[j] + width[j] * idm_random_normal(random);
    p.slope[j] = width[j] / 2 * idm_random_normal(random);
    p.sd[j] = fabs(width[j] / 2 * idm_random_normal(random));
  }
  p.correlation = draw_correlation(random);
  return p;
}

/* Draw normal numbers with this centre, these sds and this correlation. */
static void draw_around(const double *centre, const double *sd, double correlation,
                        idm_random *random, double *x)
{
  const double z0 = idm_random_normal(random), z1 = idm_random_normal(random);
  x[0] = centre[0] + sd[0] * z0;
  x[1] = centre[1] + sd[1] * (correlation * z0 + sqrt(1 - correlation * correlation) * z1);
}

static void calibrate(uint64_t seed)
{
  enum { people = 20, decisions = 30 };
  idm_problem *problem = diag("alpha,beta", 30);
  idm_random random;
  idm_random_init(&random, seed, 0);
  const population truth = draw_population(&random);
  double x[people * numbers], regressor[people];
  for (size_t i = 0; i < people; i++) {
    double centre[numbers];
    regressor[i] = ((double)i - (people - 1) / 2.) / (people / 3.);
    for (size_t j = 0; j < numbers; j++)
      centre[j] = truth.intercept[j] + truth.slope[j] * regressor[i];
    draw_around(centre, truth.sd, truth.correlation, &random, x + numbers * i);
  }
  idm_data *data = support_people(problem, people, x, decisions, seed + behaviour);
  idm_design *design = support_design(data, numbers, 1, mean, width);
  for (size_t i = 0; i < numbers * people; i++)
    design->regressor[i / people][2 * (i % people) + 1] = regressor[i % people];
  idm_people *p = fit(problem, data, design, 250, 400, 1, 3);
  const size_t n = p->chains * p->draws;
  for (size_t j = 0; j < numbers; j++) {
    print_rank(p->coefficient + 2 * j * n, n, truth.intercept[j]);
    print_rank(p->coefficient + (2 * j + 1) * n, n, truth.slope[j]);
    print_rank(p->sd + j * n, n, truth.sd[j]);
    print_rank(p->effect + j * people * n, n, x[j]);
  }
  print_rank(p->correlation, n, truth.correlation);
  double ess;
  const double rhat = worst_rhat(p, &ess);
  printf("%.4f %.0f\n", rhat, ess);
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- calibration of learners --------------------------------------------------------------- */

enum { learnt = 4 };

/* A two-armed bandit whose arms are exchanged with a hazard of .1; the arm that pays has utility 1,
 * the other -1. */
static idm_problem *bandit(void)
{
  static const char text[] = "states: [left_pays, right_pays]\n"
                             "actions: [left, right]\n"
                             "observations: [nothing]\n"
                             "start: uniform\n"
                             "discount: 0\n"
                             "transition: {'*': [[0.9, 0.1], [0.1, 0.9]]}\n"
                             "observation: uniform\n"
                             "utility: {left: [1, -1], right: [-1, 1]}\n"
                             "agent: {planner: td-learner}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "bandit.yaml", &problem, NULL, &support_error));
  check(idm_problem_set_free(problem,
                             "{inverse_temperature: {scale: log, prior: {normal: [1, 0.6]}},"
                             " learning_rate_gain: {scale: logit, prior: {normal: [-0.4, 0.8]}},"
                             " learning_rate_loss: {scale: logit, prior: {normal: [-0.4, 0.8]}},"
                             " perseverance: {scale: identity, prior: {normal: [0.2, 0.5]}}}",
                             &support_error));
  return problem;
}

/* Draw the Cholesky factor of a correlation matrix from LKJ(2), by canonical partial correlations
 * (Lewandowski, Kurowicka and Joe 2009). */
static void draw_correlations(idm_random *random, double factor[learnt][learnt])
{
  for (size_t i = 0; i < learnt; i++) {
    double left = 1;
    for (size_t j = 0; j < i; j++) {
      const double shape = 2 + 0.5 * (double)(learnt - 2 - j);
      const double a = idm_random_gamma(random, shape), b = idm_random_gamma(random, shape);
      factor[i][j] = (2 * a / (a + b) - 1) * sqrt(left);
      left -= factor[i][j] * factor[i][j];
    }
    factor[i][i] = sqrt(left);
  }
}

static double correlation_of(double factor[learnt][learnt], size_t i, size_t j)
{
  double sum = 0;
  for (size_t k = 0; k <= j; k++) sum += factor[i][k] * factor[j][k];
  return sum;
}

/* Learners drawn from the prior of their population. */
enum { learners = 10, choices = 50 };
typedef struct cohort {
  double intercept[learnt], sd[learnt], factor[learnt][learnt], x[learners * learnt];
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
} cohort;

static cohort *open_cohort(uint64_t seed)
{
  /* In the order of the blocks of theta: perseverance belongs to every planner, the others to the
   * learner. */
  static const double centre[learnt] = {0.2, 1, -0.4, -0.4};
  static const double scale[learnt] = {0.5, 0.6, 0.8, 0.8};
  cohort *s = idm_new(1, sizeof *s);
  idm_random random;
  assert_non_null(s);
  idm_random_init(&random, seed, 3);
  for (size_t j = 0; j < learnt; j++) {
    s->intercept[j] = centre[j] + scale[j] * idm_random_normal(&random);
    s->sd[j] = fabs(scale[j] / 2 * idm_random_normal(&random));
  }
  draw_correlations(&random, s->factor);
  for (size_t i = 0; i < learners; i++) {
    double z[learnt];
    for (size_t j = 0; j < learnt; j++) {
      double sum = 0;
      z[j] = idm_random_normal(&random);
      for (size_t k = 0; k <= j; k++) sum += s->factor[j][k] * z[k];
      s->x[i * learnt + j] = s->intercept[j] + s->sd[j] * sum;
    }
  }
  s->problem = bandit();
  s->data = support_people(s->problem, learners, s->x, choices, seed + behaviour);
  s->design = support_design(s->data, learnt, 0, centre, scale);
  return s;
}

static void close_cohort(cohort *s)
{
  idm_design_destroy(s->design);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
  free(s);
}

static void calibrate_learners(uint64_t seed)
{
  cohort *s = open_cohort(seed);
  idm_people *p = fit(s->problem, s->data, s->design, 250, 400, 1, 3);
  const size_t n = p->chains * p->draws;
  for (size_t j = 0; j < learnt; j++) {
    print_rank(p->coefficient + j * n, n, s->intercept[j]);
    print_rank(p->sd + j * n, n, s->sd[j]);
    print_rank(p->effect + j * learners * n, n, s->x[j]);
  }
  for (size_t i = 1; i < learnt; i++)
    for (size_t j = 0; j < i; j++)
      print_rank(p->correlation + (i * (i - 1) / 2 + j) * n, n, correlation_of(s->factor, i, j));
  double ess;
  const double rhat = worst_rhat(p, &ess);
  printf("%.4f %.0f\n", rhat, ess);
  idm_people_destroy(p);
  close_cohort(s);
}

/* --- false alarms --------------------------------------------------------------------------- */

/* Print the misfits of a correct model, and the p-value of every test (NaN if it did not run). */
static void print_tests(const idm_problem *problem, const idm_data *data, const idm_design *design)
{
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_assessment *a;
  idm_projection projection;
  idm_fit_settings_default(&settings);
  idm_people *p = fit(problem, data, design, 300, 400, 1, 3);
  check(idm_people_posterior(problem, design, p, &settings, &posterior, &support_error));
  check(idm_people_assess(problem, data, design, p, posterior, 1, 0, &a, &projection,
                          &support_error));
  printf("%zu", a->misfits.count);
  for (size_t i = 0; i < IDM_TEST_COUNT; i++)
    printf(" %.4f", a->model.test[i].evaluated ? a->model.test[i].p : NAN);
  printf("\n");
  for (size_t i = 0; i < a->misfits.count; i++) fprintf(stderr, "%s\n", a->misfits.text[i]);
  idm_assessment_destroy(a);
  idm_posterior_destroy(posterior);
  idm_people_destroy(p);
}

static void test_learners(uint64_t seed)
{
  cohort *s = open_cohort(seed);
  print_tests(s->problem, s->data, s->design);
  close_cohort(s);
}

/* Planners drawn from the prior of their population: 20 with 30 decisions each. */
static void test_planners(uint64_t seed)
{
  enum { people = 20, decisions = 30 };
  idm_problem *problem = diag("alpha,beta", 30);
  idm_random random;
  idm_random_init(&random, seed, 4);
  const population truth = draw_population(&random);
  double x[people * numbers];
  for (size_t i = 0; i < people; i++)
    draw_around(truth.intercept, truth.sd, truth.correlation, &random, x + numbers * i);
  idm_data *data = support_people(problem, people, x, decisions, seed + behaviour);
  idm_design *design = support_design(data, numbers, 0, mean, width);
  print_tests(problem, data, design);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- power ---------------------------------------------------------------------------------- */

/* People around a centre; a share of their choices are slips, which the model holds at 0. */
static void test_slips(idm_problem *problem, size_t coordinates, const double *centre,
                       const double *prior, size_t decisions, double lapse, uint64_t seed)
{
  enum { people = 20 };
  double x[people * learnt];
  idm_random random;
  idm_random_init(&random, seed, 5);
  for (size_t i = 0; i < people * coordinates; i++)
    x[i] = centre[i % coordinates] + 0.3 * idm_random_normal(&random);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, lapse);
  idm_data *data = support_people(problem, people, x, decisions, seed + behaviour);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0);
  idm_design *design = support_design(data, coordinates, 0, centre, prior);
  print_tests(problem, data, design);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* 20 learners with 100 choices each, inverse temperatures around 8, and 30 % slips. */
static void test_slips_of_learners(uint64_t seed)
{
  static const double centre[learnt] = {0, 2.08, -0.4, -0.4};
  static const double prior[learnt] = {0.5, 0.6, 0.8, 0.8};
  test_slips(bandit(), learnt, centre, prior, 100, 0.3, seed);
}

/* 20 planners with 30 decisions each, and 10 % slips. */
static void test_slips_of_planners(uint64_t seed)
{
  test_slips(diag("alpha,beta", 30), numbers, mean, width, 30, 0.1, seed);
}

/* --- calibration of audits ------------------------------------------------------------------ */

/* Groups by agent: the first `each` agents are in the first group, and so on. */
static idm_groups *group_agents(const idm_data *data, size_t groups, size_t each)
{
  char name[8];
  idm_groups *g = idm_new(1, sizeof *g);
  assert_non_null(g);
  *g = (idm_groups){.partition = true, .trajectories = data->trajectories};
  g->member = idm_new(groups * data->trajectories, sizeof *g->member);
  g->missing = idm_new(groups, sizeof *g->missing);
  assert_true(g->member && g->missing);
  check(idm_labels_create(&g->name, groups, &support_error));
  for (size_t i = 0; i < groups; i++) {
    const int length = snprintf(name, sizeof name, "g%zu", i);
    check(idm_labels_set(&g->name, i, name, (size_t)length, &support_error));
    for (size_t t = 0; t < data->trajectories; t++)
      g->member[i * data->trajectories + t] = data->agent[t] / each == i;
  }
  return g;
}

/* Groups around a population; agents around their group (`each` > 1) or with its numbers. */
static void calibrate_audit(uint64_t seed, size_t each, size_t decisions)
{
  enum { groups = 4, most = 8 };
  char freed[160];
  snprintf(
      freed, sizeof freed,
      "{alpha: {scale: log, prior: {normal: [%g, %g]}}, beta: {scale: inverse, prior: {normal: "
      "[%g, %g]}}}",
      mean[0], width[0], mean[1], width[1]);
  idm_problem *problem = diag(freed, 30);
  idm_random random;
  idm_random_init(&random, seed, 2);
  const population between = draw_population(&random), within = draw_population(&random);
  double group[groups * numbers], x[groups * most * numbers];
  for (size_t i = 0; i < groups; i++) {
    draw_around(between.intercept, between.sd, 0, &random, group + numbers * i);
    for (size_t k = 0; k < each; k++)
      draw_around(group + numbers * i,
                  (double[]){each > 1 ? within.sd[0] : 0, each > 1 ? within.sd[1] : 0},
                  within.correlation, &random, x + numbers * (each * i + k));
  }
  idm_data *data = support_people(problem, groups * each, x, decisions, seed + behaviour);
  idm_groups *parts = group_agents(data, groups, each);
  idm_audit_settings settings;
  idm_audit_settings_default(&settings);
  settings.people = each > 1;
  settings.fit.chains = 3;
  settings.fit.warmup = 250;
  settings.fit.draws = 400;
  settings.fit.threads = 1;
  settings.fit.seed = seed;
  idm_audit *a;
  check(idm_audit_run(problem, data, parts, &settings, NULL, NULL, &a, &support_error));
  const size_t n = a->chains * a->draws;
  double worst = 0, ess = INFINITY;
  for (size_t j = 0; j < numbers; j++) {
    const struct {
      const idm_audit_quantity *number;
      double truth;
    } all[] = {{&a->mean[j], between.intercept[j]},
               {&a->sd[j], between.sd[j]},
               {&a->group[0].number[j], group[j]},
               {&a->contrast[0].number[j], group[numbers + j] - group[j]},
               {each > 1 ? &a->within[j] : NULL, within.sd[j]}};
    assert_string_equal(a->contrast[0].group, "g1");
    assert_string_equal(a->contrast[0].against, "g0");
    for (size_t k = 0; k < sizeof all / sizeof *all && all[k].number; k++) {
      print_rank(all[k].number->draw, n, all[k].truth);
      diagnose(&(chain_draws){all[k].number->draw, a->chains, a->draws}, &worst, &ess);
    }
  }
  printf("%.4f %.0f\n", worst, ess);
  idm_audit_destroy(a);
  idm_groups_destroy(parts);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- regression ----------------------------------------------------------------------------- */

/* A regression with a known difference between two groups of equal size. */
static void regress(uint64_t seed)
{
  enum { people = 40, decisions = 50 };
  static const double slope[numbers] = {0.5, -0.25};
  idm_problem *problem = diag("alpha,beta", 30);
  idm_random random;
  idm_random_init(&random, seed, 1);
  double x[people * numbers];
  for (size_t i = 0; i < people * numbers; i++) {
    const size_t j = i % numbers;
    const double group = i / numbers % 2 ? 0.5 : -0.5;
    x[i] = mean[j] + slope[j] * group + width[j] / 2 * idm_random_normal(&random);
  }
  idm_data *data = support_people(problem, people, x, decisions, seed + behaviour);
  idm_design *design = support_design(data, numbers, 1, mean, width);
  for (size_t j = 0; j < numbers; j++)
    for (size_t i = 0; i < people; i++) design->regressor[j][2 * i + 1] = i % 2 ? 0.5 : -0.5;
  idm_people *p = fit(problem, data, design, 250, 350, 1, 3);
  const size_t n = p->chains * p->draws;
  double ess;
  const double rhat = worst_rhat(p, &ess);
  for (size_t j = 0; j < numbers; j++) {
    idm_diagnosis d;
    check(idm_diagnose(p->coefficient + (2 * j + 1) * n, p->chains, p->draws, p->draws, 1, &d,
                       &support_error));
    printf("%d %.3f %.3f ", d.q05 < slope[j] && slope[j] < d.q95, d.mean, d.sd);
  }
  printf("%.4f %.0f\n", rhat, ess);
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- density -------------------------------------------------------------------------------- */

static void print_series(const char *name, const double *x, size_t rows, size_t n)
{
  printf(", \"%s\": [", name);
  for (size_t i = 0; i < rows * n; i++) printf("%s%.17g", i ? ", " : "", x[i]);
  printf("]");
}

static void print_density(uint64_t seed)
{
  enum { people = 4, decisions = 10, resolution = 20 };
  idm_problem *problem = diag("alpha,beta", resolution);
  const double x[people * numbers] = {0, 0.3, -0.6, 0.5, 0.4, -0.2, -0.3, 0};
  idm_data *data = support_people(problem, people, x, decisions, seed + behaviour);
  idm_design *design = support_design(data, numbers, 1, mean, width);
  for (size_t j = 0; j < numbers; j++)
    for (size_t i = 0; i < people; i++) design->regressor[j][2 * i + 1] = (double)i - 1.5;
  idm_people *p = fit(problem, data, design, 100, 3, 1, 1);
  printf("{\"resolution\": %d, \"people\": %d, \"draws\": %zu, \"rows\": [", resolution, people,
         p->draws);
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++)
      printf("%s[%lu, %zu, %d, %d]", row ? ", " : "", (unsigned long)data->agent[t], t,
             data->action[row], data->observation[row]);
  printf("]");
  print_series("mean", mean, numbers, 1);
  print_series("width", width, numbers, 1);
  print_series("effect", p->effect, numbers * people, p->draws);
  print_series("coefficient", p->coefficient, 2 * numbers, p->draws);
  print_series("sd", p->sd, numbers, p->draws);
  print_series("correlation", p->correlation, 1, p->draws);
  print_series("log_likelihood", p->log_likelihood, people, p->draws);
  print_series("log_posterior", p->log_posterior, 1, p->draws);
  printf("}\n");
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- speed ---------------------------------------------------------------------------------- */

static void time_fit(size_t people, size_t decisions, const char *freed, double spread, long warmup,
                     long draws)
{
  idm_problem *problem = diag(freed, 99);
  const bool alpha = strncmp(freed, "alpha", 5) == 0;
  const double centre[] = {alpha ? 0 : 0.3, alpha ? 0.3 : 2};
  const double prior_mean[] = {0, 0}, prior_sd[] = {alpha ? 2 : 1, alpha ? 1 : 5};
  double *x = idm_new(people * numbers, sizeof *x);
  idm_random random;
  idm_random_init(&random, 1, 77);
  for (size_t i = 0; x && i < people * numbers; i++)
    x[i] = centre[i % 2] + spread * prior_sd[i % 2] * idm_random_normal(&random);
  idm_data *data = support_people(problem, people, x, decisions, 11);
  idm_design *design = support_design(data, numbers, 0, prior_mean, prior_sd);
  const double begun = idm_seconds();
  const clock_t worked = clock();
  idm_people *p = fit(problem, data, design, warmup, draws, 2, 4);
  const double seconds = idm_seconds() - begun;
  double ess;
  const double rhat = worst_rhat(p, &ess);
  printf("%.1f %.1f %.4f %.0f\n", seconds, (double)(clock() - worked) / CLOCKS_PER_SEC, rhat, ess);
  free(x);
  idm_people_destroy(p);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(int count, char **word)
{
  const uint64_t seed = count > 2 ? strtoull(word[2], NULL, 10) : 1;
  if (count == 3 && strcmp(word[1], "sbc") == 0)
    calibrate(seed);
  else if (count == 3 && strcmp(word[1], "learners") == 0)
    calibrate_learners(seed);
  else if (count == 3 && strcmp(word[1], "alarms-learners") == 0)
    test_learners(seed);
  else if (count == 3 && strcmp(word[1], "alarms-planners") == 0)
    test_planners(seed);
  else if (count == 3 && strcmp(word[1], "slips-learners") == 0)
    test_slips_of_learners(seed);
  else if (count == 3 && strcmp(word[1], "slips-planners") == 0)
    test_slips_of_planners(seed);
  else if (count == 3 && strcmp(word[1], "audit") == 0)
    calibrate_audit(seed, 1, 60);
  else if (count == 3 && strcmp(word[1], "nested") == 0)
    calibrate_audit(seed, 6, 20);
  else if (count == 3 && strcmp(word[1], "regression") == 0)
    regress(seed);
  else if (count == 3 && strcmp(word[1], "density") == 0)
    print_density(seed);
  else if (count >= 5 && strcmp(word[1], "speed") == 0)
    time_fit((size_t)seed, strtoull(word[3], NULL, 10), word[4],
             count > 5 ? strtod(word[5], NULL) : 0.3, count > 6 ? strtol(word[6], NULL, 10) : 1000,
             count > 7 ? strtol(word[7], NULL, 10) : 1000);
  else
    return fprintf(stderr,
                   "usage: idm_people sbc|learners|alarms-learners|alarms-planners|slips-learners|"
                   "slips-planners|audit|nested|regression|density SEED, or speed ...\n"),
           2;
  return 0;
}
