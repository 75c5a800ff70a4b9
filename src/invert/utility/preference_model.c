/* Discounted returns of trajectories, the logistic model of preferences between them, and simulated
 * preferences (`docs/method/inverse.md, 6`).
 *
 * Contents: discounted sum · preference model · simulated preferences */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/planner.h"
#include "infer/program.h"
#include "invert/predict.h"
#include "invert/utility/mdp.h"
#include "invert/utility/preference_model.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === discounted sum ========================================================================= */

/* Discounted sums of a utility over trajectories. */

static idm_status check_beliefs(const idm_problem *problem, const char *caller,
                                idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (!planner->belief)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' sums utilities over beliefs, and the planner '%s' does not decide by a "
                    "belief; expected another planner, or states that are observed",
                    caller, planner->name);
  if (problem->theta->models > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' sums utilities over beliefs, and those of an agent with several models "
                    "depend on the utility itself; expected one model, or states that are observed",
                    caller);
  if (isfinite(idm_theta_scalar(problem->theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' sums utilities over beliefs, which a log does not determine for an agent "
                    "with a finite sensor_capacity; expected sensor_capacity: inf",
                    caller);
  return IDM_OK;
}

/* Beliefs of the agent's filter along the log; they depend on dynamics and start alone, so any plan
 * gives the same beliefs. */
static idm_status filter_beliefs(const idm_problem *problem, const idm_data *data,
                                 const char *caller, idm_trials **ret_trials, idm_error *opt_error)
{
  idm_workspace *workspace = NULL;
  idm_status status = check_beliefs(problem, caller, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                                  opt_error);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, opt_error);
  if (status == IDM_OK) status = idm_trials_create(workspace, data, ret_trials, opt_error);
  idm_workspace_destroy(workspace);
  return status;
}

static idm_status locate_states(const idm_problem *problem, const char *caller,
                                idm_discounted_sum *sum, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  if (problem->theta->block[IDM_UTILITY].variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' estimates one utility, and this one varies with columns of the log",
                    caller);
  if (!setting->fully_observed)
    return filter_beliefs(problem, sum->data, caller, &sum->trials, opt_error);
  sum->state = idm_new(sum->data->rows, sizeof *sum->state);
  if (!sum->state) return idm_fail_memory(opt_error);
  idm_demonstrator_states(sum->data, setting, sum->state);
  return IDM_OK;
}

idm_status idm_discounted_sum_create(const idm_problem *problem, const idm_data *data,
                                     const idm_free_utility *free_utility, const char *caller,
                                     idm_discounted_sum **ret_sum, idm_error *opt_error)
{
  *ret_sum = NULL;
  idm_discounted_sum *sum = idm_new(1, sizeof *sum);
  if (!sum) return idm_fail_memory(opt_error);
  *sum = (idm_discounted_sum){.data = data,
                              .free_utility = free_utility,
                              .states = problem->setting->states.count,
                              .discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT)};
  const idm_status status = locate_states(problem, caller, sum, opt_error);
  if (status == IDM_OK)
    *ret_sum = sum;
  else
    idm_discounted_sum_destroy(sum);
  return status;
}

void idm_discounted_sum_destroy(idm_discounted_sum *sum)
{
  if (!sum) return;
  free(sum->state);
  idm_trials_destroy(sum->trials);
  free(sum);
}

/* Name of an unrecorded item of a row that the sum depends on; NULL: none. */
static const char *missing_at(const idm_discounted_sum *sum, size_t row, bool last)
{
  if (sum->data->action[row] == IDM_MISSING) return "the action";
  if (sum->state) return sum->state[row] == IDM_MISSING ? "the state" : NULL;
  return sum->data->observation[row] == IDM_MISSING && !last ? "the observation" : NULL;
}

static void add_row(const idm_discounted_sum *sum, size_t r, double amount, double *row,
                    double *offset)
{
  const size_t entry = (size_t)sum->data->action[r] * sum->states;
  if (sum->state) {
    *offset += idm_free_utility_add(sum->free_utility, entry + (size_t)sum->state[r], amount, row);
    return;
  }
  const double *belief = sum->trials->mean + sum->trials->node[r] * sum->trials->width;
  for (size_t s = 0; s < sum->states; s++)
    if (belief[s] != 0)
      *offset += idm_free_utility_add(sum->free_utility, entry + s, amount * belief[s], row);
}

idm_status idm_discounted_sum_add(const idm_discounted_sum *sum, size_t trajectory, double sign,
                                  const char *reason, double *row, double *offset,
                                  idm_error *opt_error)
{
  const size_t first = sum->data->first[trajectory], end = sum->data->first[trajectory + 1];
  double amount = sign;
  for (size_t r = first; r < end; r++, amount *= sum->discount) {
    const bool last = r + 1 == end;
    if (sum->data->action[r] == IDM_MISSING && last) break; /* the final state */
    const char *missing = missing_at(sum, r, last);
    if (!missing) {
      add_row(sum, r, amount, row, offset);
      continue;
    }
    const idm_status status = idm_fail(opt_error, IDM_INPUT,
                                       "the trajectory %s, and %s here is not recorded: its "
                                       "discounted sum of utilities is unknown",
                                       reason, missing);
    idm_data_locate(sum->data, r, opt_error);
    return status;
  }
  return IDM_OK;
}

/* === preference model ======================================================================= */

/* Logistic model of preferences, linear in the free numbers of a utility.
 *
 * Contents: sums · the likelihood · separation · what is left open */

/* Rank tolerance: a column whose remainder is below this share of the largest is linearly
 * dependent. */
static const double tolerance = 1e-11;

/* --- sums ----------------------------------------------------------------------------------- */

/* Sets coefficients to 0 that are nonzero only by rounding: sums of the same terms in different
 * orders, every term at most 1. Returns false if all coefficients are 0. */
static bool round_row(const idm_data *data, size_t better, size_t worse, size_t n, double *row)
{
  const size_t terms =
      data->first[better + 1] - data->first[better] + data->first[worse + 1] - data->first[worse];
  bool informative = false;
  for (size_t j = 0; j < n; j++) {
    if (fabs(row[j]) <= 1e-15 * (double)terms) row[j] = 0;
    informative = informative || row[j] != 0;
  }
  return informative;
}

/* Completes the error message for a trajectory with missing entries. */
static const char reason[] = "is compared with another";

static idm_status add_differences(const idm_discounted_sum *sum, const idm_data *data,
                                  idm_preference_model *p, idm_error *opt_error)
{
  const idm_preferences *given = data->preferences;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < p->count && status == IDM_OK; i++) {
    double *row = p->difference + i * p->free;
    status =
        idm_discounted_sum_add(sum, given->better[i], 1, reason, row, &p->offset[i], opt_error);
    if (status == IDM_OK)
      status =
          idm_discounted_sum_add(sum, given->worse[i], -1, reason, row, &p->offset[i], opt_error);
    p->uninformative += !round_row(data, given->better[i], given->worse[i], p->free, row);
  }
  return status;
}

idm_status idm_preference_model_create(const idm_problem *problem, const idm_data *data,
                                       const idm_free_utility *free_utility, const char *caller,
                                       idm_preference_model **ret_model, idm_error *opt_error)
{
  *ret_model = NULL;
  const idm_preferences *given = data->preferences;
  idm_discounted_sum *sum = NULL;
  idm_preference_model *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *p = (idm_preference_model){
      .count = given->count, .free = free_utility->count, .weight = given->weight};
  p->difference = idm_new(idm_times(p->count, p->free), sizeof *p->difference);
  p->offset = idm_new(p->count, sizeof *p->offset);
  idm_status status = p->difference && p->offset ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_discounted_sum_create(problem, data, free_utility, caller, &sum, opt_error);
  if (status == IDM_OK) status = add_differences(sum, data, p, opt_error);
  idm_discounted_sum_destroy(sum);
  if (status == IDM_OK)
    *ret_model = p;
  else
    idm_preference_model_destroy(p);
  return status;
}

void idm_preference_model_destroy(idm_preference_model *preference_model)
{
  if (!preference_model) return;
  free(preference_model->difference);
  free(preference_model->offset);
  free(preference_model);
}

/* --- the likelihood ------------------------------------------------------------------------- */

static double odds_of(const idm_preference_model *p, size_t i, const double *x)
{
  double odds = p->offset[i];
  for (size_t j = 0; j < p->free; j++) odds += p->difference[i * p->free + j] * x[j];
  return odds;
}

double idm_preference_model_residual(const idm_preference_model *p, size_t i, const double *x)
{
  const double odds = odds_of(p, i, x);
  const double small = exp(-fabs(odds)); /* cannot overflow */
  return (odds > 0 ? small : 1) / (1 + small);
}

/* precision += curvature d d' (lower triangle). */
static void add_curvature(double curvature, const double *d, size_t n, double *precision)
{
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; d[j] != 0 && k <= j; k++) precision[j * n + k] += curvature * d[j] * d[k];
}

void idm_preference_model_bound(const idm_preference_model *p, const double *x, double *precision)
{
  memset(precision, 0, p->free * p->free * sizeof *precision);
  for (size_t i = 0; i < p->count; i++) {
    const double size = fabs(odds_of(p, i, x));
    const double curvature = size > 1e-6 ? tanh(size / 2) / (2 * size) : 0.25;
    add_curvature(p->weight[i] * curvature, p->difference + i * p->free, p->free, precision);
  }
}

double idm_preference_model_log_likelihood(const idm_preference_model *p, const double *x,
                                           double *opt_gradient, double *opt_precision)
{
  const size_t n = p->free;
  double sum = 0;
  if (opt_gradient) memset(opt_gradient, 0, n * sizeof *opt_gradient);
  if (opt_precision) memset(opt_precision, 0, n * n * sizeof *opt_precision);
  for (size_t i = 0; i < p->count; i++) {
    const double *d = p->difference + i * n;
    const double odds = odds_of(p, i, x);
    const double small = exp(-fabs(odds)); /* cannot overflow */
    const double residual_probability = (odds > 0 ? small : 1) / (1 + small);
    const double curvature = p->weight[i] * small / ((1 + small) * (1 + small));
    sum += p->weight[i] * (fmin(odds, 0) - log1p(small));
    for (size_t j = 0; opt_gradient && j < n; j++)
      opt_gradient[j] += p->weight[i] * residual_probability * d[j];
    if (opt_precision) add_curvature(curvature, d, n, opt_precision);
  }
  return sum;
}

/* --- separation ----------------------------------------------------------------------------- */

/* Linear program for directions v in a box that disagree with no preference, difference_i v >= 0,
 * and maximise the agreement with preferences that are not yet separated. */
typedef struct separation {
  const idm_preference_model *preference_model;
  idm_program *program;
  double *unit;    /* [count][free]: differences in units of their largest entry */
  double *cost;    /* [free] */
  bool *separated; /* [count] */
} separation;

static void free_separation(separation *s)
{
  idm_program_destroy(s->program);
  free(s->unit);
  free(s->cost);
  free(s->separated);
}

static idm_status add_condition(const separation *s, size_t i, idm_error *opt_error)
{
  const size_t n = s->preference_model->free;
  const double *d = s->preference_model->difference + i * n;
  double *unit = s->unit + i * n;
  double largest = 0;
  for (size_t j = 0; j < n; j++) largest = fmax(largest, fabs(d[j]));
  if (!(largest > 0)) return IDM_OK;
  idm_status status = IDM_OK;
  for (size_t j = 0; j < n && status == IDM_OK; j++) {
    unit[j] = d[j] / largest;
    if (unit[j] != 0) status = idm_program_add_entry(s->program, j, unit[j], opt_error);
  }
  return status == IDM_OK ? idm_program_add_row(s->program, 0, INFINITY, opt_error) : status;
}

static idm_status open_separation(const idm_preference_model *p, separation *s,
                                  idm_error *opt_error)
{
  *s = (separation){.preference_model = p};
  s->unit = idm_new(idm_times(p->count, p->free), sizeof *s->unit);
  s->cost = idm_new(p->free, sizeof *s->cost);
  s->separated = idm_new(p->count, sizeof *s->separated);
  if (!s->unit || !s->cost || !s->separated) return idm_fail_memory(opt_error);
  idm_status status = idm_program_create(p->free, &s->program, opt_error);
  for (size_t j = 0; j < p->free && status == IDM_OK; j++)
    idm_program_set_bounds(s->program, j, -1, 1);
  for (size_t i = 0; i < p->count && status == IDM_OK; i++) status = add_condition(s, i, opt_error);
  return status;
}

/* Solves the program once; *ret_new is the number of newly separated preferences. */
static idm_status find_separated(const separation *s, idm_interrupt opt_interrupt, void *context,
                                 size_t *ret_new, idm_error *opt_error)
{
  /* Smaller agreements are attributed to rounding of the solver. */
  static const double min_agreement = 1e-6;
  const size_t n = s->preference_model->free;
  idm_program_solution found;
  *ret_new = 0;
  memset(s->cost, 0, n * sizeof *s->cost);
  for (size_t i = 0; i < s->preference_model->count; i++)
    for (size_t j = 0; !s->separated[i] && j < n; j++) s->cost[j] -= s->unit[i * n + j];
  for (size_t j = 0; j < n; j++) idm_program_set_cost(s->program, j, s->cost[j]);
  const idm_status status =
      idm_program_solve(s->program, opt_interrupt, context, &found, opt_error);
  if (status != IDM_OK) return status;
  if (found.end != IDM_PROGRAM_SOLVED)
    return opt_interrupt && opt_interrupt(context)
               ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted")
               : idm_fail(
                     opt_error, IDM_NUMERICAL,
                     "whether some utility agrees with all preferences could not be determined");
  for (size_t i = 0; i < s->preference_model->count; i++) {
    double agreement = 0;
    for (size_t j = 0; j < n; j++) agreement += s->unit[i * n + j] * found.x[j];
    if (s->separated[i] || !(agreement > min_agreement)) continue;
    s->separated[i] = true;
    ++*ret_new;
  }
  return IDM_OK;
}

/* Repeats the program until no preference is newly separated. The sum of directions that disagree
 * with none agrees with every preference that one of them agrees with, so the count belongs to a
 * single direction. */
idm_status idm_preference_model_separated(const idm_preference_model *p,
                                          idm_interrupt opt_interrupt, void *context,
                                          size_t *ret_count, idm_error *opt_error)
{
  separation s;
  *ret_count = 0;
  if (p->uninformative == p->count) return IDM_OK;
  idm_status status = open_separation(p, &s, opt_error);
  for (size_t more = 1; more && status == IDM_OK;) {
    status = find_separated(&s, opt_interrupt, context, &more, opt_error);
    *ret_count += more;
  }
  free_separation(&s);
  return status;
}

/* --- what is left open ---------------------------------------------------------------------- */

idm_status idm_preference_model_nullspace(const idm_preference_model *p, double *opt_x,
                                          idm_optimality *optimality, idm_error *opt_error)
{
  size_t rank = 0;
  double *a = idm_duplicate(p->difference, idm_times(p->count, p->free), sizeof *a);
  double *b = idm_new(p->count, sizeof *b);
  double *x = idm_new(p->free, sizeof *x);
  for (size_t i = 0; b && opt_x && i < p->count; i++)
    for (size_t j = 0; j < p->free; j++) b[i] += p->difference[i * p->free + j] * opt_x[j];
  const bool done = a && b && x && idm_least_squares(p->count, p->free, a, b, tolerance, x, &rank);
  if (done && opt_x) memcpy(opt_x, x, p->free * sizeof *x);
  const idm_status status =
      done ? idm_nullspace_design(rank, a, optimality, opt_error) : idm_fail_memory(opt_error);
  free(a);
  free(b);
  free(x);
  return status;
}

void idm_preference_model_note(const idm_preference_model *p, size_t separated,
                               idm_optimality *optimality)
{
  optimality->compared = true;
  if (separated)
    idm_notes_add(&optimality->words,
                  "separable: some utility agrees with %s of the %zu preferences%s, and the more "
                  "the larger it is; its size here is determined by the prior",
                  separated == p->count ? "each" : "some", p->count,
                  separated == p->count ? "" : " and disagrees with none");
  if (p->uninformative)
    idm_notes_add(&optimality->words,
                  "%zu of %zu preferences are between trajectories that differ in no free number, "
                  "and are uninformative",
                  p->uninformative, p->count);
}

/* === simulated preferences ================================================================== */

/* Simulation of preferences at a known utility. */

/* Logistic model of the data's preferences, and values of its free numbers. */
typedef struct simulation {
  idm_free_utility *free_utility;
  idm_preference_model *preference_model;
  double *x; /* [free] */
} simulation;

static void close_simulation(simulation *s)
{
  idm_preference_model_destroy(s->preference_model);
  idm_free_utility_destroy(s->free_utility);
  free(s->x);
}

static idm_status open_simulation(const idm_problem *problem, const idm_data *data,
                                  const char *caller, simulation *s, idm_error *opt_error)
{
  idm_status status = idm_free_utility_create(problem, &s->free_utility, opt_error);
  if (status == IDM_OK)
    status = idm_preference_model_create(problem, data, s->free_utility, caller,
                                         &s->preference_model, opt_error);
  if (status != IDM_OK) return status;
  s->x = idm_new(s->free_utility->count, sizeof *s->x);
  return s->x ? IDM_OK : idm_fail_memory(opt_error);
}

static void read_numbers(const idm_theta *theta, simulation *s)
{
  const idm_block *utility = &theta->block[IDM_UTILITY];
  for (size_t k = 0; k < s->free_utility->count && utility->features; k++)
    s->x[k] = utility->features->weight[idm_features_index(utility->features, k)];
  for (size_t e = 0; e < s->free_utility->entries; e++)
    if (s->free_utility->number[e] >= 0) s->x[s->free_utility->number[e]] = utility->value[e];
}

/* Draws pairs of different trajectories, initially with the second as the preferred one. */
static void draw_pairs(idm_preferences *p, size_t trajectories, idm_random *random)
{
  for (size_t i = 0; i < p->count; i++) {
    const size_t a = (size_t)(idm_random_uniform(random) * (double)trajectories);
    const size_t b = (size_t)(idm_random_uniform(random) * (double)(trajectories - 1));
    p->worse[i] = (uint32_t)a;
    p->better[i] = (uint32_t)(b + (b >= a));
  }
}

/* Swaps the pairs for which the other preference is drawn. */
static void orient_pairs(const simulation *s, idm_preferences *p, idm_random *random)
{
  for (size_t i = 0; i < p->count; i++) {
    double odds = s->preference_model->offset[i];
    for (size_t j = 0; j < s->preference_model->free; j++)
      odds += s->preference_model->difference[i * s->preference_model->free + j] * s->x[j];
    if (idm_random_uniform(random) < 1 / (1 + exp(-odds))) continue;
    const uint32_t worse = p->worse[i];
    p->worse[i] = p->better[i];
    p->better[i] = worse;
  }
}

idm_status idm_preferences_simulate(const idm_problem *problem, const idm_theta *theta,
                                    size_t pairs, const char *caller, idm_random *random,
                                    idm_data *data, idm_error *opt_error)
{
  if (data->trajectories < 2)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs preferences between trajectories, and there is one; expected two "
                    "or more",
                    caller);
  simulation s = {0};
  idm_preferences_destroy(data->preferences);
  idm_status status = idm_preferences_create(pairs, &data->preferences, opt_error);
  if (status == IDM_OK) {
    draw_pairs(data->preferences, data->trajectories, random);
    status = open_simulation(problem, data, caller, &s, opt_error);
  }
  if (status == IDM_OK) {
    read_numbers(theta, &s);
    orient_pairs(&s, data->preferences, random);
  }
  close_simulation(&s);
  return status;
}

idm_status idm_preferences_log_likelihood(const idm_problem *problem, const idm_data *data,
                                          const idm_theta *theta, const char *caller,
                                          double *log_likelihood, idm_error *opt_error)
{
  simulation s = {0};
  const idm_status status = open_simulation(problem, data, caller, &s, opt_error);
  if (status == IDM_OK) {
    read_numbers(theta, &s);
    *log_likelihood = idm_preference_model_log_likelihood(s.preference_model, s.x, NULL, NULL);
  }
  close_simulation(&s);
  return status;
}
