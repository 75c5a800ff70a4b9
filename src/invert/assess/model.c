/* Tests of the model by replicates of the decisions (docs/method/verdict.md, 7 to 10). A right
 * model fails one of the tests in about one fit of a hundred: the reference distribution of each
 * test is simulated from the answer itself, and each of m tests fails below p = IDM_CHECK_LEVEL / m
 * (Bonferroni). validation/alarms.py measures this.
 *
 * Contents: evidence · model */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "infer/distribution.h"
#include "invert/assess/environment.h"
#include "invert/assess/extension.h"
#include "invert/assess/residual.h"
#include "invert/matching.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === evidence ================================================================================= */

/* Bayes factor of the model against uniform choice. It is estimated only if the largest likelihood
 * is near that of uniform choice, so that no draw of the prior dominates the mean. */

static const uint64_t evidence_stream = (uint64_t)9 << 32;

/* Number of draws of the prior: fewer if a plan takes long. */
static size_t draws_of(idm_matching *matching)
{
  enum { cheap = 2000, many = 400, few = 100 };
  return idm_workspace_points(idm_matching_workspace(matching)) <= cheap ? many : few;
}

idm_status idm_evidence_against_chance(const check_context *q, double uniform, double *ret_factor,
                                       idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  idm_matching *matching = NULL;
  idm_random random;
  double sum = 0;
  *ret_factor = NAN;
  if (!idm_parameters_proper(p)) return IDM_OK;
  double *y = idm_new(p->dimension, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_fit_create_matching(q->f, q->f->problem, &matching, opt_error);
  const size_t draws = status == IDM_OK ? draws_of(matching) : 0;
  idm_random_init(&random, q->posterior->seed, evidence_stream);
  for (size_t i = 0; i < draws && status == IDM_OK; i++) {
    double log_likelihood = -INFINITY;
    idm_parameters_draw(p, &random, y);
    status = idm_matching_log_likelihood(matching, y, &log_likelihood, NULL, opt_error);
    sum += isnan(log_likelihood) ? 0 : exp(log_likelihood - uniform);
  }
  if (status == IDM_OK) *ret_factor = sum / (double)draws;
  idm_matching_destroy(matching);
  free(y);
  return status;
}

/* === model ==================================================================================== */

/* The threshold of a row for one of several answers. */
static double level_of(const check_context *q, idm_check_id id)
{
  return idm_check_threshold(id) / (double)q->among;
}

/* Deviations of a rate below this are not counted against a model, at any significance. */
static const double min_share = 0.02;
/* Probability of the band of an agent under the model. */
static const double band = 0.95;

const char *idm_model_test_name(idm_model_test test)
{
  static const char *const name[IDM_TEST_COUNT] = {
      [IDM_TEST_HOMOGENEITY] = "agents_alike",
      [IDM_TEST_TRAJECTORIES] = "trajectories_alike",
      [IDM_TEST_STEPS] = "actions_by_step",
      [IDM_TEST_LENGTHS] = "ends_by_step",
      [IDM_TEST_REPETITION] = "stays_by_observation",
      [IDM_TEST_ALTERNATION] = "returns_by_observation",
      [IDM_TEST_RESPONSES] = "actions_by_observation",
      [IDM_TEST_BELIEFS] = "actions_by_belief",
      [IDM_TEST_CONDITIONS] = "actions_by_condition",
      [IDM_TEST_AGENT_BANDS] = "agents_outside",
      [IDM_TEST_CALIBRATION] = "calibration",
      [IDM_TEST_EXTENSIONS] = "extensions",
      [IDM_TEST_ENVIRONMENT] = "environment",
  };
  return (unsigned)test < IDM_TEST_COUNT ? name[test] : NULL;
}

/* --- chance --------------------------------------------------------------------------------- */

/* p of twice the gain in log-likelihood over a model without parameters, by chi-square with as many
 * degrees of freedom as free numbers: by chance a likelihood ratio exceeds e^x with a probability
 * of at most e^-x, and each fitted number adds a squared normal variate. The p of the loss against
 * the actions' own rates, which were fitted too, is computed likewise. */
static double chance_p(const check_context *q, double log_likelihood)
{
  const double gain = 2 * (log_likelihood - q->assessment->model.uniform);
  return gain > 0 ? idm_chi_square_tail(gain, (double)q->f->parameters->dimension) : 1;
}

static double rates_p(const check_context *q)
{
  const idm_model_check *m = &q->assessment->model;
  const double loss = 2 * (m->rates - m->log_likelihood);
  return loss > 0 ? idm_chi_square_tail(loss, (double)q->f->data->sizes.actions) : 1;
}

/* Record a p with the level that it is compared with. */
static void record(const check_context *q, idm_check_id id, idm_check_outcome outcome, double p,
                   double level)
{
  idm_check_record(&q->assessment->checks, id, outcome, p);
  q->assessment->checks.of[id].threshold = level;
}

/* Whether unnamed numbers (of a network) leave the gain uninterpretable: they are not degrees of
 * freedom, since their prior determines most of them, and they may overfit the log. */
static bool is_overparameterised(const check_context *q)
{
  const idm_model_check *m = &q->assessment->model;
  return q->posterior->coordinate_size && m->log_likelihood > m->uniform &&
         chance_p(q, m->log_likelihood) > level_of(q, IDM_CHECK_CHANCE);
}

static void assess_overparameterised(const check_context *q, double own, double uniform)
{
  const unsigned long long decisions = q->assessment->model.decisions;
  const size_t numbers = q->f->parameters->dimension;
  idm_check_skip(&q->assessment->checks, IDM_CHECK_CHANCE,
                 "%zu free numbers can overfit %llu decisions", numbers, decisions);
  idm_notes_add(&q->assessment->remarks,
                "unchecked: %zu free numbers can overfit %llu decisions, so that a log-loss of "
                "%.4f, where uniform choice has %.4f, is no test of the model; use `idm score RUN "
                "OTHER` with decisions that were not fitted",
                numbers, decisions, own, uniform);
}

static void assess_rates(const check_context *q, double own)
{
  const idm_model_check *m = &q->assessment->model;
  const double level = level_of(q, IDM_CHECK_RATES), p = rates_p(q);
  record(q, IDM_CHECK_RATES, p < level ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED, p, level);
  if (p < level)
    idm_notes_add(&q->assessment->misfits,
                  "worse than the actions' own rates: a log-loss of %.4f per decision at the best "
                  "draw, where the rates have %.4f",
                  own, idm_log_loss(m->rates, (double)m->decisions));
}

/* Outcome of a model that the decisions do not distinguish from chance: whether they contradict the
 * model depends on the decisions of agents drawn from the prior, some of whom are near chance too.
 * Few decisions contradict no model. */
static void assess_indistinct(const check_context *q, double factor, double own, double uniform)
{
  const idm_model_check *m = &q->assessment->model;
  const unsigned long long decisions = m->decisions;
  const double level = level_of(q, IDM_CHECK_EVIDENCE);
  const bool few = chance_p(q, 0) > level_of(q, IDM_CHECK_CHANCE);
  const bool contradicts = isnan(factor) ? !few : factor < level;
  const idm_check_outcome outcome = contradicts ? IDM_CHECK_MISFIT : IDM_CHECK_REMARK;
  char against[160] = "";
  if (!isnan(factor)) {
    record(q, IDM_CHECK_EVIDENCE, contradicts ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED, factor, level);
    idm_print(against, sizeof against,
              "; the model with its prior explains the decisions %.2g times as well as uniform "
              "choice",
              factor);
  } else {
    idm_check_skip(&q->assessment->checks, IDM_CHECK_EVIDENCE, "a prior is improper");
  }
  idm_notes *notes = idm_check_note(q->assessment, IDM_CHECK_CHANCE, outcome);
  if (contradicts)
    idm_notes_add(notes,
                  "no better than chance: a log-loss of %.4f per decision at the best draw, where "
                  "uniform choice has %.4f (%llu decisions%s)",
                  own, uniform, decisions, against);
  else
    idm_notes_add(notes,
                  "%llu decision%s too few to distinguish the model from chance%s: its log-loss is "
                  "%.4f per decision at the best draw, where uniform choice has %.4f%s. The "
                  "interval is conditional on the model, which is hardly tested",
                  decisions, decisions == 1 ? " is" : "s are",
                  few ? ", for any predictions"
                      : ", since agents of the prior can be as close to it",
                  own, uniform, against);
}

/* A log-likelihood of 0 means predictions with probability 1 that are all correct. */
static idm_status assess_chance(const check_context *q, idm_error *opt_error)
{
  const idm_model_check *m = &q->assessment->model;
  const unsigned long long decisions = m->decisions;
  if (!decisions) return IDM_OK;
  const double own = idm_log_loss(m->log_likelihood, (double)decisions);
  const double uniform = idm_log_loss(m->uniform, (double)decisions);
  const double level = level_of(q, IDM_CHECK_CHANCE), p = chance_p(q, m->log_likelihood);
  if (is_overparameterised(q)) {
    assess_overparameterised(q, own, uniform);
    return IDM_OK;
  }
  record(q, IDM_CHECK_CHANCE, IDM_CHECK_PASSED, p, level);
  if (p <= level) {
    idm_check_skip(&q->assessment->checks, IDM_CHECK_EVIDENCE, "the model is better than chance");
    assess_rates(q, own);
    return IDM_OK;
  }
  idm_check_skip(&q->assessment->checks, IDM_CHECK_RATES, "the model is no better than chance");
  double factor = NAN;
  const idm_status status = idm_evidence_against_chance(q, m->uniform, &factor, opt_error);
  if (status == IDM_OK) assess_indistinct(q, factor, own, uniform);
  return status;
}

/* --- tests ---------------------------------------------------------------------------------- */

/* Number of tests by replicates of the decisions; the last test, of the environment, uses the
 * observations. */
enum { REPLICATED = IDM_TEST_ENVIRONMENT };

/* Statistics of the log ([0]) and of replicates of its decisions. */
typedef struct model_tests {
  const check_context *q;
  environment_check environment;
  decision_residuals r;
  agents_check agents;
  trajectories_check trajectories;
  spread_check spread;
  const char *opt_difference; /* why trajectories are not tested */
  predictive predictive;
  reliability reliability;
  extensions extensions;
  size_t replicates;
  double *statistic[REPLICATED]; /* [replicates + 1] */
  double *agent;                 /* [agent][replicates + 1] */
  double *limit;                 /* [agent]: upper end of its band */
  double *shift;                 /* [dimension] */
  double *taken;                 /* [decision_point][action] */
} model_tests;

static void close_model_tests(model_tests *t)
{
  idm_agents_close(&t->agents);
  idm_trajectories_close(&t->trajectories);
  idm_spread_close(&t->spread);
  idm_predictive_close(&t->predictive);
  idm_reliability_close(&t->reliability);
  idm_extensions_close(&t->extensions);
  idm_residual_close(&t->r);
  idm_environment_close(&t->environment);
  for (size_t i = 0; i < REPLICATED; i++) free(t->statistic[i]);
  free(t->agent);
  free(t->limit);
  free(t->shift);
  free(t->taken);
}

static size_t agent_count(const model_tests *t)
{
  return t->r.strata->agents;
}

/* Number of agents with a band: 0 if there is one agent, or if the bands would use too much memory.
 */
static size_t band_count(const model_tests *t)
{
  enum { max_agents = 40000 };
  return agent_count(t) > 1 && agent_count(t) <= max_agents ? agent_count(t) : 0;
}

static idm_status open_model_tests(model_tests *t, idm_error *opt_error)
{
  /* Enough for a p of the level over IDM_TEST_COUNT. */
  t->replicates = 1499 * t->q->among;
  const size_t runs = t->replicates + 1;
  idm_status status = idm_agents_open(&t->agents, &t->r, opt_error);
  if (status == IDM_OK) status = idm_trajectories_open(&t->trajectories, &t->r, opt_error);
  if (status == IDM_OK) status = idm_spread_open(&t->spread, &t->r, opt_error);
  if (status == IDM_OK) status = idm_predictive_open(&t->predictive, &t->r, opt_error);
  if (status == IDM_OK) status = idm_reliability_open(&t->reliability, &t->r, opt_error);
  if (status == IDM_OK) status = idm_extensions_open(&t->extensions, t->q, &t->r, runs, opt_error);
  if (status != IDM_OK) return status;
  bool made = true;
  for (size_t i = 0; i < REPLICATED; i++) {
    t->statistic[i] = idm_new(runs, sizeof(double));
    made = made && t->statistic[i];
  }
  t->agent = idm_new(idm_times(band_count(t), runs), sizeof *t->agent);
  t->limit = idm_new(agent_count(t), sizeof *t->limit);
  t->shift = idm_new(t->r.dimension, sizeof *t->shift);
  t->taken = idm_new(t->r.decision_points * t->r.actions, sizeof *t->taken);
  made = made && t->agent && t->limit && t->shift && t->taken;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Compute the statistics of one run: the log, or a replicate. */
static void add_run(model_tests *t, size_t run, const double *taken)
{
  idm_residual_shift(&t->r, taken, t->shift);
  if (t->agents.agents)
    t->statistic[IDM_TEST_HOMOGENEITY][run] = idm_agents_statistic(&t->agents, taken, t->shift);
  if (t->trajectories.trajectories)
    t->statistic[IDM_TEST_TRAJECTORIES][run] =
        idm_trajectories_statistic(&t->trajectories, taken, t->shift);
  if (t->spread.effects) idm_spread_add_run(&t->spread, taken, run > 0);
  idm_predictive_count(&t->predictive, taken, t->shift);
  t->statistic[IDM_TEST_STEPS][run] = idm_predictive_sum(&t->predictive, CELLS_STEP);
  t->statistic[IDM_TEST_LENGTHS][run] = idm_predictive_sum(&t->predictive, CELLS_END);
  t->statistic[IDM_TEST_REPETITION][run] = idm_predictive_sum(&t->predictive, CELLS_STAY);
  t->statistic[IDM_TEST_ALTERNATION][run] = idm_predictive_sum(&t->predictive, CELLS_RETURN);
  t->statistic[IDM_TEST_RESPONSES][run] = idm_predictive_sum(&t->predictive, CELLS_RESPONSE);
  t->statistic[IDM_TEST_BELIEFS][run] = idm_predictive_sum(&t->predictive, CELLS_BELIEF);
  t->statistic[IDM_TEST_CONDITIONS][run] = idm_predictive_sum(&t->predictive, CELLS_VARIANT);
  t->statistic[IDM_TEST_CALIBRATION][run] = idm_reliability_gain(&t->reliability, taken, t->shift);
  idm_extensions_add_run(&t->extensions, run, taken);
  for (size_t a = 0; a < band_count(t); a++)
    t->agent[a * (t->replicates + 1) + run] = idm_predictive_agent(&t->predictive, a);
}

/* Count the agents outside their bands in each run. `work` is scratch for sorting. */
static void count_outside(model_tests *t, double *work)
{
  const size_t runs = t->replicates + 1;
  for (size_t a = 0; a < band_count(t); a++) {
    const double *own = t->agent + a * runs;
    memcpy(work, own, runs * sizeof *work);
    t->limit[a] = idm_quantile(work, runs, band);
    for (size_t i = 0; i < runs; i++) t->statistic[IDM_TEST_AGENT_BANDS][i] += own[i] > t->limit[a];
  }
}

static bool varies(const double *statistic, size_t runs)
{
  for (size_t i = 1; i < runs; i++)
    if (statistic[i] > 1e-9) return true;
  return statistic[0] > 1e-9;
}

idm_check_id idm_model_test_row(idm_model_test test)
{
  static const idm_check_id row[IDM_TEST_COUNT] = {
      [IDM_TEST_HOMOGENEITY] = IDM_CHECK_HOMOGENEITY,
      [IDM_TEST_TRAJECTORIES] = IDM_CHECK_TRAJECTORIES,
      [IDM_TEST_STEPS] = IDM_CHECK_STEPS,
      [IDM_TEST_LENGTHS] = IDM_CHECK_LENGTHS,
      [IDM_TEST_REPETITION] = IDM_CHECK_REPETITION,
      [IDM_TEST_ALTERNATION] = IDM_CHECK_ALTERNATION,
      [IDM_TEST_RESPONSES] = IDM_CHECK_RESPONSES,
      [IDM_TEST_BELIEFS] = IDM_CHECK_BELIEFS,
      [IDM_TEST_CONDITIONS] = IDM_CHECK_CONDITIONS,
      [IDM_TEST_AGENT_BANDS] = IDM_CHECK_AGENT_BANDS,
      [IDM_TEST_CALIBRATION] = IDM_CHECK_CALIBRATION,
      [IDM_TEST_EXTENSIONS] = IDM_CHECK_EXTENSIONS,
      [IDM_TEST_ENVIRONMENT] = IDM_CHECK_ENVIRONMENT,
  };
  return row[test];
}

static void find_p(const model_tests *t, idm_model_test test, idm_model_test_result *tested)
{
  const double *statistic = t->statistic[test];
  const bool by_agent = test == IDM_TEST_HOMOGENEITY || test == IDM_TEST_AGENT_BANDS;
  size_t more = 1;
  tested->evaluated = (!by_agent || agent_count(t) > 1) && varies(statistic, t->replicates + 1);
  tested->statistic = statistic[0];
  tested->expected = 0;
  for (size_t i = 1; i <= t->replicates; i++) {
    tested->expected += statistic[i] / (double)t->replicates;
    more += statistic[i] >= statistic[0] * (1 - 1e-9);
  }
  tested->p = (double)more / (double)(t->replicates + 1);
}

static bool fails(const idm_model_check *m, idm_model_test test)
{
  return m->test[test].evaluated && m->test[test].p <= m->level;
}

/* Why trajectories differ even if those of each agent are alike; NULL if there is no such reason.
 */
static const char *find_difference(const model_tests *t)
{
  if (fails(&t->q->assessment->model, IDM_TEST_HOMOGENEITY)) return "the agents differ";
  return idm_spread_record(&t->spread, t->q->assessment)
             ? "the people differ more than a prior allows"
             : NULL;
}

static void record_tests(const model_tests *t)
{
  const idm_model_check *m = &t->q->assessment->model;
  if (t->opt_difference)
    idm_check_skip(&t->q->assessment->checks, IDM_CHECK_TRAJECTORIES, "%s", t->opt_difference);
  for (size_t i = 0; i < REPLICATED; i++)
    if (m->test[i].evaluated && !(t->opt_difference && i == IDM_TEST_TRAJECTORIES))
      record(t->q, idm_model_test_row((idm_model_test)i), IDM_CHECK_PASSED, m->test[i].p, m->level);
}

static idm_status run_tests(model_tests *t, idm_error *opt_error)
{
  idm_model_check *m = &t->q->assessment->model;
  idm_random random;
  for (size_t run = 1; run <= t->replicates; run++) {
    idm_random_init(&random, t->q->posterior->seed, (uint64_t)1 << 32 | run);
    idm_residual_draw(&t->r, &random, t->taken);
    add_run(t, run, t->taken);
  }
  add_run(t, 0, t->r.taken); /* last: the sentences use its residuals */
  double *work = idm_new(t->replicates + 1, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  count_outside(t, work);
  idm_extensions_normalise(&t->extensions, t->statistic[IDM_TEST_EXTENSIONS], work);
  free(work);
  double evaluated = 0;
  for (size_t i = 0; i < REPLICATED; i++) find_p(t, (idm_model_test)i, &m->test[i]);
  m->test[IDM_TEST_ENVIRONMENT] = idm_environment_result(&t->environment);
  for (size_t i = 0; i < IDM_TEST_COUNT; i++) evaluated += m->test[i].evaluated;
  const idm_status status =
      idm_extensions_test(&t->extensions, &m->test[IDM_TEST_EXTENSIONS].p, opt_error);
  if (idm_check_time_skip(t->q, IDM_CHECK_EXTENSIONS))
    m->test[IDM_TEST_EXTENSIONS].evaluated = false;
  else if (status != IDM_OK)
    return status;
  m->level = level_of(t->q, IDM_CHECK_HOMOGENEITY) / fmax(1, evaluated);
  t->opt_difference = find_difference(t);
  record_tests(t);
  if (!t->agents.agents) return IDM_OK;
  m->between = idm_new(t->r.dimension, sizeof *m->between);
  if (!m->between) return idm_fail_memory(opt_error);
  idm_agents_between(&t->agents, m->between);
  return IDM_OK;
}

/* --- sentences ------------------------------------------------------------------------------- */

/* Print "alpha, 1/beta and 3 more". */
static void list_shared(const check_context *q, char *text, size_t size)
{
  enum { max_listed = 4 };
  const idm_posterior *p = q->posterior;
  size_t count = 0;
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < p->quantity.count; i++) {
    char name[128];
    if (!p->summarised[i] || count++ >= max_listed) continue;
    used += (size_t)idm_print(text + used, size - used, "%s%.100s", used ? ", " : "",
                              idm_quantity_label(p->quantity.name[i], name, sizeof name));
  }
  if (count > max_listed) idm_print(text + used, size - used, " and %zu more", count - max_listed);
}

/* The posterior sd of a coordinate; 0 for a point. */
static double posterior_sd(const idm_posterior *p, size_t coordinate)
{
  const size_t draws = p->chains * p->draws;
  const double *y = p->unconstrained + coordinate * draws;
  return sqrt(idm_squares_about(y, draws, idm_mean(y, draws)) / (double)draws);
}

/* Print "; from agent to agent alpha (scale log) has an sd of about 0.9, against a posterior sd of
 * 0.02": the number with the largest sd between units, in its posterior sds. */
static void describe_difference(const check_context *q, const char *unit, const double *between,
                                char *text, size_t size)
{
  const idm_parameters *p = q->f->parameters;
  const parameter *most = NULL;
  double largest_deviation = 0;
  for (size_t i = 0; i < p->items; i++) {
    const parameter *item = &p->item[i];
    if (!idm_parameter_is_scalar(item)) continue;
    const double sd = posterior_sd(q->posterior, item->first);
    const double far = between[item->first] / (sd > 0 ? sd : 1);
    if (!(far > largest_deviation)) continue;
    largest_deviation = far;
    most = item;
  }
  text[0] = '\0';
  if (!most) return;
  const double sd = posterior_sd(q->posterior, most->first);
  const int used = idm_print(
      text, size, "; from %s to %s %.100s (scale %s) has an sd of about %.2g", unit, unit,
      p->quantity.name[most->quantity], idm_scale_name(most->scale), between[most->first]);
  if (sd > 0) idm_print(text + used, size - (size_t)used, ", against a posterior sd of %.2g", sd);
}

static void assess_agents(const model_tests *t)
{
  const check_context *q = t->q;
  const idm_model_test_result *tested = &q->assessment->model.test[IDM_TEST_HOMOGENEITY];
  const size_t agents = agent_count(t);
  char shared[600];
  char difference[400] = "";
  if (agents < 2 || q->people) return;
  list_shared(q, shared, sizeof shared);
  if (!tested->evaluated) {
    idm_notes_add(&q->assessment->remarks,
                  "%zu agents share one set of numbers (%s); unchecked: whether they are alike",
                  agents, shared);
    return;
  }
  if (!fails(&q->assessment->model, IDM_TEST_HOMOGENEITY)) {
    idm_notes_add(&q->assessment->remarks,
                  "%zu agents share one set of numbers (%s), and the test does not show that they "
                  "differ: the effective number of parameters is %.3g, where %.3g is expected of "
                  "agents who are alike (p = %.2g)",
                  agents, shared, tested->statistic, tested->expected, tested->p);
    return;
  }
  describe_difference(q, "agent", q->assessment->model.between, difference, sizeof difference);
  idm_notes_add(
      idm_check_note(q->assessment, IDM_CHECK_HOMOGENEITY, IDM_CHECK_MISFIT),
      "the %zu agents are not alike enough to share one set of numbers (%s): the effective number "
      "of parameters is %.3g, where %.3g is expected of agents who are alike (p <= %.2g)%s. Errors "
      "of the pooled answer are too small, and it may describe no agent; give each agent its own "
      "numbers (idm fit --by agent, idm audit --people), or pool only agents who are alike",
      agents, shared, tested->statistic, tested->expected, tested->p, difference);
}

/* Describe the numbers that trajectories share; in a population they are those of a person. */
static void describe_sharing(const model_tests *t, char *text, size_t size)
{
  char shared[600];
  list_shared(t->q, shared, sizeof shared);
  if (t->q->people)
    idm_print(text, size, "their person's numbers");
  else
    idm_print(text, size, "one set of numbers (%s)", shared);
}

static idm_status assess_trajectories(const model_tests *t, idm_error *opt_error)
{
  const check_context *q = t->q;
  const idm_model_test_result *tested = &q->assessment->model.test[IDM_TEST_TRAJECTORIES];
  char sharing[640], difference[400] = "";
  if (!fails(&q->assessment->model, IDM_TEST_TRAJECTORIES) || t->opt_difference) return IDM_OK;
  double *between = idm_new(t->r.dimension, sizeof *between);
  if (!between) return idm_fail_memory(opt_error);
  idm_trajectories_between(&t->trajectories, between);
  if (!q->people) describe_difference(q, "trajectory", between, difference, sizeof difference);
  free(between);
  describe_sharing(t, sharing, sizeof sharing);
  idm_notes_add(
      idm_check_note(q->assessment, IDM_CHECK_TRAJECTORIES, IDM_CHECK_MISFIT),
      "the %zu trajectories are not alike enough to share %s: decisions within a trajectory are "
      "correlated by %.1f sds more than the model predicts (p <= %.2g)%s. Errors of the answer are "
      "too small, and it may describe no trajectory; fit trajectories of different kinds "
      "separately (--where, --each COLUMN), or make every trajectory an agent of its own (data: "
      "{agent: COLUMN, trajectory: COLUMN}, both the column of trajectories; idm fit --by agent)",
      t->trajectories.trajectories, sharing, tested->statistic, tested->p, difference);
  return IDM_OK;
}

/* Tests by cells, with titles for sentences. */
typedef struct summary {
  idm_model_test test;
  cell_family family;
  const char *title;
  cell_misfit worst; /* largest misfit of its cells; 0 if none exceeds min_share */
  char text[400];
} summary;

static void assess_summary(const model_tests *t, const summary *s)
{
  idm_assessment *a = t->q->assessment;
  if (!fails(&a->model, s->test)) return;
  if (s->worst.z_score >= 2)
    idm_notes_add(idm_check_note(a, idm_model_test_row(s->test), IDM_CHECK_MISFIT),
                  "%s are not what the model predicts (p <= %.2g): %s. Something is missing: free "
                  "another number, or try another planner",
                  s->title, a->model.test[s->test].p, s->text);
  else
    idm_notes_add(idm_check_note(a, idm_model_test_row(s->test), IDM_CHECK_REMARK),
                  "%s are not quite what the model predicts (p <= %.2g), but off by less than %.0f "
                  "%% of the decisions",
                  s->title, a->model.test[s->test].p, 100 * min_share);
}

static int by_size(const void *a, const void *b)
{
  const summary *x = a, *y = b;
  if (x->worst.size != y->worst.size) return x->worst.size > y->worst.size ? -1 : 1;
  return (int)x->test - (int)y->test;
}

/* Add notes, the largest misfit first. */
static void assess_summaries(const model_tests *t)
{
  const bool seen = t->r.setting->observations.count > 1; /* one observation has no information */
  summary all[] = {
      {.test = IDM_TEST_STEPS, .family = CELLS_STEP, .title = "the actions' rates by step"},
      {.test = IDM_TEST_LENGTHS, .family = CELLS_END, .title = "the trajectories' lengths"},
      {.test = IDM_TEST_REPETITION,
       .family = CELLS_STAY,
       .title = seen ? "stays after each observation" : "stays with the last action"},
      {.test = IDM_TEST_ALTERNATION,
       .family = CELLS_RETURN,
       .title = "returns to an earlier action"},
      {.test = IDM_TEST_RESPONSES,
       .family = CELLS_RESPONSE,
       .title = seen ? "the actions' rates after each observation"
                     : "the actions' rates after the first row"},
      {.test = IDM_TEST_BELIEFS, .family = CELLS_BELIEF, .title = "the actions' rates by belief"},
      {.test = IDM_TEST_CONDITIONS,
       .family = CELLS_VARIANT,
       .title = "the actions' rates by condition"}};
  enum { count = sizeof all / sizeof *all };
  for (size_t i = 0; i < count; i++)
    (void)idm_predictive_worst(&t->predictive, all[i].family, min_share, &all[i].worst, all[i].text,
                               sizeof all[i].text);
  qsort(all, count, sizeof *all, by_size);
  for (size_t i = 0; i < count; i++) assess_summary(t, &all[i]);
}

/* List the agents that are furthest outside their bands, at most five. */
static void list_outside(const model_tests *t, char *text, size_t size)
{
  enum { max_listed = 5 };
  const size_t runs = t->replicates + 1;
  size_t used = 0;
  double last = INFINITY;
  text[0] = '\0';
  for (int k = 0; k < max_listed; k++) {
    size_t most = agent_count(t);
    double ratio = 0;
    for (size_t a = 0; a < agent_count(t); a++) {
      const double own = t->agent[a * runs] / fmax(t->limit[a], 1e-9);
      if (own <= 1 || own >= last || own <= ratio) continue;
      ratio = own;
      most = a;
    }
    if (most == agent_count(t)) break;
    last = ratio;
    used += (size_t)idm_print(text + used, size - used, "%s%.60s", used ? ", " : "",
                              t->r.strata->agent_name->name[most]);
  }
}

static void assess_agent_bands(const model_tests *t)
{
  const idm_assessment *a = t->q->assessment;
  const idm_model_test_result *tested = &a->model.test[IDM_TEST_AGENT_BANDS];
  char names[400];
  if (agent_count(t) > 1 && !band_count(t))
    idm_notes_add(&t->q->assessment->remarks,
                  "unchecked: whether each of the %zu agents is within its own band",
                  agent_count(t));
  if (!tested->evaluated) return;
  list_outside(t, names, sizeof names);
  const bool out = fails(&a->model, IDM_TEST_AGENT_BANDS);
  idm_notes_add(
      idm_check_note(t->q->assessment, IDM_CHECK_AGENT_BANDS,
                     out ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED),
      "%.0f of %zu agents are outside their own 95 %% band (rates of their actions, and "
      "of taking one again after each observation), where %.1f are expected (p %s %.2g)%s%s",
      tested->statistic, agent_count(t), tested->expected, out ? "<=" : "=", tested->p,
      names[0] ? "; the furthest: " : "", names);
}

static void assess_calibration(const model_tests *t)
{
  idm_assessment *a = t->q->assessment;
  if (!fails(&a->model, IDM_TEST_CALIBRATION)) return;
  const double p = a->model.test[IDM_TEST_CALIBRATION].p;
  const reliability_bin *worst = idm_reliability_worst(&t->reliability, min_share);
  if (worst)
    idm_notes_add(idm_check_note(a, IDM_CHECK_CALIBRATION, IDM_CHECK_MISFIT),
                  "predicted probabilities are not calibrated (p <= %.2g): actions predicted with "
                  "probabilities of %.2g to %.2g (%.3f on average) were taken in a share of %.3f "
                  "(%.0f decisions)",
                  p, worst->least, worst->most, worst->expected / worst->trials,
                  idm_reliability_count(worst) / worst->trials, worst->trials);
  else
    idm_notes_add(idm_check_note(a, IDM_CHECK_CALIBRATION, IDM_CHECK_REMARK),
                  "predicted probabilities are not quite calibrated (p <= %.2g), but off by less "
                  "than %.0f %%",
                  p, 100 * min_share);
}

static idm_status assess_extensions(const model_tests *t, idm_error *opt_error)
{
  idm_assessment *a = t->q->assessment;
  char text[2400];
  const idm_status status = idm_extensions_store(&t->extensions, &a->model, opt_error);
  if (status != IDM_OK || !fails(&a->model, IDM_TEST_EXTENSIONS)) return status;
  const size_t count = idm_extensions_describe(&t->extensions, a->model.level, text, sizeof text);
  idm_notes_add(idm_check_note(a, IDM_CHECK_EXTENSIONS, IDM_CHECK_MISFIT),
                "the model lacks a number (p <= %.2g): %s%s", a->model.test[IDM_TEST_EXTENSIONS].p,
                text,
                count > 1 ? ". Begin with the first of them: the others may follow from it" : "");
  return IDM_OK;
}

/* Dynamics that were learnt from another log are not tested. */
static bool tests_dynamics(const check_context *q)
{
  return !q->learnt || q->fitted;
}

/* Run all tests at planned predictions. */
static idm_status assess_tests(model_tests *t, const idm_chance *chance, idm_error *opt_error)
{
  t->q->assessment->model = (idm_model_check){.evaluated = true,
                                              .decisions = chance->decisions,
                                              .log_likelihood = t->r.log_likelihood,
                                              .uniform = chance->uniform,
                                              .rates = chance->rates,
                                              .agents = agent_count(t)};
  const fit_context *f = t->q->f;
  idm_status status = t->q->people ? IDM_OK : assess_chance(t->q, opt_error);
  if (status == IDM_OK && tests_dynamics(t->q))
    status = idm_environment_open(&t->environment, f->problem, f->data, t->q->fitted, opt_error);
  if (status == IDM_OK) status = open_model_tests(t, opt_error);
  if (status == IDM_OK) status = run_tests(t, opt_error);
  if (status != IDM_OK) return status;
  assess_agents(t);
  status = assess_trajectories(t, opt_error);
  if (status != IDM_OK) return status;
  assess_summaries(t);
  assess_agent_bands(t);
  assess_calibration(t);
  if (!tests_dynamics(t->q))
    idm_check_skip(&t->q->assessment->checks, IDM_CHECK_ENVIRONMENT,
                   "the answer is over draws of learnt dynamics");
  else
    idm_environment_record(&t->environment, f->problem, false, t->q->assessment->model.level,
                           t->q->assessment);
  return assess_extensions(t, opt_error);
}

idm_status idm_check_chance(const check_context *q, idm_error *opt_error)
{
  model_tests t = {.q = q};
  idm_chance chance;
  idm_status status = idm_chance_measure(q->f->data, &chance, opt_error);
  if (status == IDM_OK) status = idm_residual_open(&t.r, q, opt_error);
  if (status == IDM_OK && t.r.seen) status = assess_tests(&t, &chance, opt_error);
  if (status == IDM_OK && !t.r.seen) {
    if (!q->people)
      idm_check_skip(&q->assessment->checks, IDM_CHECK_CHANCE,
                     "the best draw cannot be planned for");
    idm_notes_add(&q->assessment->remarks,
                  "unchecked: whether the model fits, since its best draw cannot be planned for");
  }
  close_model_tests(&t);
  return status;
}

idm_status idm_assess_model(const check_context *q, idm_error *opt_error)
{
  const idm_status status = idm_check_time_run(q, IDM_CHECK_INERT, idm_check_inert, opt_error);
  return status == IDM_OK ? idm_check_time_run(q, IDM_CHECK_CHANCE, idm_check_chance, opt_error)
                          : status;
}
