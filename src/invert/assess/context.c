/* Context of the checks, strata of decisions, and predictions of the planner.
 *
 * Contents: context · strata · view */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/residual.h"
#include "invert/cancel.h"
#include "invert/matching.h"
#include "invert/posterior.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === context ================================================================================ */

/* Access to the draws of the answer, and whether a check can run. */

void idm_context_draw(const check_context *q, size_t i, double *y)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  for (size_t d = 0; d < q->f->parameters->dimension; d++)
    y[d] = q->posterior->unconstrained[d * count + i];
}

void idm_context_centre(const check_context *q, double *y)
{
  idm_context_draw(q, q->at ? q->at - 1 : idm_posterior_highest(q->posterior), y);
}

double idm_context_coordinate(const check_context *q, const parameter *item, size_t i)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  return idm_constrain(item->lower, item->upper,
                       q->posterior->unconstrained[item->first * count + i], NULL, NULL, NULL);
}

bool idm_context_is_assessed(const check_context *q, size_t quantity)
{
  static const char axis[] = "coefficient"; /* and coefficient_BLOCK */
  const idm_posterior *p = q->posterior;
  if (!p->summarised[quantity] || !q->people) return p->summarised[quantity];
  if (!p->series_count) return true;
  const size_t series = idm_posterior_series(p, quantity);
  return series < p->series_count &&
         strncmp(p->axis[p->series[series].axis].name, axis, sizeof axis - 1) == 0;
}

const char *idm_context_quantity_name(const check_context *q, size_t quantity, char *buffer,
                                      size_t size)
{
  const char *name = q->posterior->quantity.name[quantity];
  if (!q->people) return idm_quantity_label(name, buffer, size);
  idm_print(buffer, size, "%.120s", name);
  return buffer;
}

/* Number of draws to evaluate: fewer if a plan takes longer. */
size_t idm_context_sample(const check_context *q, size_t points)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  /* For slow plans, draws for a quadratic function of the changes suffice. */
  const size_t d = q->f->parameters->dimension, smooth = 8 * (d + 1) * (d + 2);
  const size_t expensive_sample = q->people || smooth > 200 ? 200 : smooth;
  const size_t sample_size = points > 10000  ? 12
                             : points > 2000 ? 20
                             : points > 400  ? expensive_sample
                                             : 200;
  return count < sample_size ? count : sample_size;
}

/* Draw k of `size`, spread evenly over all. */
size_t idm_context_sample_at(const check_context *q, size_t k, size_t size)
{
  return k * (q->posterior->chains * q->posterior->draws) / size;
}

bool idm_context_can_run(const check_context *q, idm_check_id id)
{
  const idm_check *row = idm_check_at(id);
  idm_checks *checks = &q->assessment->checks;
  const bool undrawn = row->draws && q->posterior->answer != IDM_POSTERIOR;
  const bool unnamed = row->named && q->posterior->coordinate_size;
  if (!idm_check_applies(checks, id)) return false;
  if (undrawn) idm_check_skip(checks, id, "needs draws of a posterior");
  if (unnamed && !undrawn) idm_check_skip(checks, id, "needs free numbers that have names");
  return !undrawn && !unnamed;
}

/* === strata ================================================================================= */

/* Strata: decisions that share one vector of free numbers (residual.h).
 *
 * Contents: periods · a plain fit · a population */

void idm_strata_close(strata *s)
{
  for (size_t c = 0; s->part && c < s->count; c++) idm_data_destroy(s->part[c]);
  for (size_t c = 0; s->tree && c < s->count; c++) idm_prefix_tree_destroy(s->tree[c]);
  free(s->part);
  free(s->tree);
  free(s->agent);
  free(s->one);
  free(s->centre);
  free(s->step);
  free(s->period_of);
  *s = (strata){0};
}

static idm_status allocate(strata *s, size_t trajectories, idm_error *opt_error)
{
  s->one = idm_new(s->count, sizeof *s->one);
  s->centre = idm_new(idm_times(s->count, s->dimension), sizeof *s->centre);
  s->step = idm_new(idm_times(s->count, s->dimension), sizeof *s->step);
  s->period_of = idm_new(trajectories, sizeof *s->period_of);
  return s->one && s->centre && s->step && s->period_of ? IDM_OK : idm_fail_memory(opt_error);
}

/* Replace a step that is below rounding error, or zero, by one relative to the number. */
static double safe_step(double step, double y)
{
  return step > 1e-10 * fabs(y) && isfinite(step) ? step : 1e-4 * fmax(1, fabs(y));
}

/* --- periods --------------------------------------------------------------------------------- */

/* Position of the i-th of n trajectories in eighths, rounded. */
static uint8_t period_index(size_t i, size_t n)
{
  return n > 1 ? (uint8_t)((2 * PERIODS * i + n - 1) / (2 * (n - 1))) : PERIODS / 2;
}

/* Compute period_of[trajectory] of trajectories in the order of the log, with agent[trajectory] <
 * agents. */
static idm_status find_periods(const uint32_t *agent, size_t agents, size_t trajectories,
                               period *period_of, idm_error *opt_error)
{
  size_t *count = idm_new(2 * agents, sizeof *count);
  if (!count) return idm_fail_memory(opt_error);
  size_t *const before = count + agents;
  for (size_t t = 0; t < trajectories; t++) count[agent[t]]++;
  for (size_t t = 0; t < trajectories; t++)
    period_of[t] = (period){.of_agent = period_index(before[agent[t]]++, count[agent[t]]),
                            .of_log = period_index(t, trajectories)};
  free(count);
  return IDM_OK;
}

/* --- a plain fit ---------------------------------------------------------------------------- */

/* Steps of finite differences: a twentieth of the posterior's sd; for a point a thousandth of its
 * mean distance from draws from the prior, or of its size. */
static idm_status find_steps(const check_context *q, const double *y, double *step,
                             idm_error *opt_error)
{
  enum { prior_draws = 32 };
  const size_t d = q->f->parameters->dimension;
  const size_t count = q->posterior->chains * q->posterior->draws;
  const bool proper = idm_parameters_proper(q->f->parameters);
  double *drawn = idm_new(d, sizeof *drawn);
  idm_random random;
  if (!drawn) return idm_fail_memory(opt_error);
  idm_random_init(&random, q->posterior->seed, 0);
  for (size_t j = 0; j < d; j++) {
    const double *x = q->posterior->unconstrained + j * count;
    step[j] = 0.05 * sqrt(idm_squares_about(x, count, y[j]) / (double)count);
  }
  for (size_t i = 0; count < 2 && proper && i < prior_draws; i++) {
    idm_parameters_draw(q->f->parameters, &random, drawn);
    for (size_t j = 0; j < d; j++) step[j] += 1e-3 * fabs(drawn[j] - y[j]) / prior_draws;
  }
  for (size_t j = 0; j < d; j++) step[j] = safe_step(step[j], y[j]);
  free(drawn);
  return IDM_OK;
}

idm_status idm_strata_whole(strata *s, const check_context *q, idm_error *opt_error)
{
  const idm_data *data = q->f->data;
  *s = (strata){.count = 1,
                .nodes = q->f->tree->nodes,
                .agents = data->agent_name.count,
                .agent_name = &data->agent_name,
                .dimension = q->f->parameters->dimension};
  idm_status status = allocate(s, data->trajectories, opt_error);
  if (status == IDM_OK)
    status = find_periods(data->agent, s->agents, data->trajectories, s->period_of, opt_error);
  if (status == IDM_OK) {
    s->one[0] = (stratum){
        .data = data, .tree = q->f->tree, .agent = data->agent, .period_of = s->period_of};
    idm_context_centre(q, s->centre);
    status = find_steps(q, s->centre, s->step, opt_error);
  }
  if (status != IDM_OK) idm_strata_close(s);
  return status;
}

/* --- a population --------------------------------------------------------------------------- */

void idm_strata_draw(const strata *s, size_t c, size_t i, double *y)
{
  const idm_design *d = s->design;
  const size_t all = s->people->chains * s->people->draws, person = d->cell_person[c];
  for (size_t j = 0; j < s->dimension; j++) y[j] = 0;
  for (size_t e = 0; e < d->effects; e++)
    y[d->effect_coordinate[e]] +=
        d->share[c * d->effects + e] * s->people->effect[(e * d->people + person) * all + i];
}

/* Sort trajectories by stratum, in the order of the log; first[c] is the index of the first one of
 * stratum c. */
static void sort_trajectories(const idm_design *d, size_t trajectories, uint32_t *order,
                              size_t *first)
{
  for (size_t t = 0; t < trajectories; t++) first[d->cell_of[t] + 2]++;
  for (size_t c = 0; c < d->cells; c++) first[c + 2] += first[c + 1];
  for (size_t t = 0; t < trajectories; t++) order[first[d->cell_of[t] + 1]++] = (uint32_t)t;
}

static idm_status divide_log(strata *s, const idm_problem *problem, const idm_data *data,
                             const uint32_t *order, const size_t *first, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < s->count && status == IDM_OK; c++) {
    const size_t size = first[c + 1] - first[c];
    for (size_t t = first[c]; t < first[c + 1]; t++) s->agent[t] = s->design->cell_person[c];
    status = idm_data_subset(data, order + first[c], size, &s->part[c], opt_error);
    if (status == IDM_OK) status = idm_evidence_tree(problem, s->part[c], &s->tree[c], opt_error);
    if (status != IDM_OK) break;
    s->one[c] = (stratum){.data = s->part[c],
                          .tree = s->tree[c],
                          .first = s->nodes,
                          .agent = s->agent + first[c],
                          .period_of = s->period_of + first[c]};
    s->nodes += s->tree[c]->nodes;
  }
  return status;
}

/* Compute periods by person, over all of a person's strata; order[] as above. */
static idm_status set_periods(strata *s, size_t trajectories, const uint32_t *order,
                              idm_error *opt_error)
{
  uint32_t *person = idm_new(trajectories, sizeof *person);
  period *period_of = idm_new(trajectories, sizeof *period_of);
  idm_status status = person && period_of ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t t = 0; status == IDM_OK && t < trajectories; t++)
    person[t] = s->design->cell_person[s->design->cell_of[t]];
  if (status == IDM_OK)
    status = find_periods(person, s->agents, trajectories, period_of, opt_error);
  for (size_t t = 0; status == IDM_OK && t < trajectories; t++)
    s->period_of[t] = period_of[order[t]];
  free(person);
  free(period_of);
  return status;
}

/* Centres at the last draw; steps of a twentieth of the sd of each number. */
static idm_status set_centres(strata *s, idm_error *opt_error)
{
  const size_t all = s->people->chains * s->people->draws, d = s->dimension;
  idm_welford *moments = idm_new(d, sizeof *moments);
  double *y = idm_new(d, sizeof *y);
  const bool made = moments && y;
  for (size_t c = 0; made && c < s->count; c++) {
    memset(moments, 0, d * sizeof *moments);
    for (size_t i = 0; i < all; i++) {
      idm_strata_draw(s, c, i, y);
      for (size_t j = 0; j < d; j++) idm_welford_add(&moments[j], y[j]);
    }
    memcpy(s->centre + c * d, y, d * sizeof *y);
    for (size_t j = 0; j < d; j++)
      s->step[c * d + j] = safe_step(0.05 * sqrt(idm_welford_variance(&moments[j])), y[j]);
  }
  free(moments);
  free(y);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_strata_divide(strata *s, const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             idm_error *opt_error)
{
  *s = (strata){.count = design->cells,
                .agents = design->people,
                .agent_name = &design->person,
                .dimension = design->coordinates,
                .design = design,
                .people = people};
  uint32_t *order = idm_new(data->trajectories, sizeof *order);
  size_t *first = idm_new(design->cells + 2, sizeof *first);
  s->part = idm_new(s->count, sizeof *s->part);
  s->tree = idm_new(s->count, sizeof *s->tree);
  s->agent = idm_new(data->trajectories, sizeof *s->agent);
  const bool made = order && first && s->part && s->tree && s->agent;
  idm_status status =
      made ? allocate(s, data->trajectories, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    sort_trajectories(design, data->trajectories, order, first);
    status = set_periods(s, data->trajectories, order, opt_error);
  }
  if (status == IDM_OK) status = divide_log(s, problem, data, order, first, opt_error);
  if (status == IDM_OK) status = set_centres(s, opt_error);
  free(order);
  free(first);
  if (status != IDM_OK) idm_strata_close(s);
  return status;
}

/* === view =================================================================================== */

/* Action probabilities of the planner after every history of a log at given numbers (residual.h).
 */

static void store_probabilities(void *context, size_t node, const void *memory,
                                const double *probability)
{
  (void)memory;
  const history_predictor *v = context;
  memcpy(v->probability + node * v->actions, probability, v->actions * sizeof *probability);
}

idm_status idm_predictor_open(history_predictor *v, const fit_context *f, const strata *s,
                              idm_error *opt_error)
{
  *v = (history_predictor){.parameters = f->parameters,
                           .strata = s,
                           .workspace = idm_matching_workspace(f->matching[0]),
                           .actions = f->data->sizes.actions};
  v->scorer = idm_new(s->count, sizeof *v->scorer);
  idm_status status = v->scorer ? idm_theta_copy(f->problem->theta, &v->theta, opt_error)
                                : idm_fail_memory(opt_error);
  for (size_t c = 0; c < s->count && status == IDM_OK; c++) {
    const stratum *one = &s->one[c];
    status = idm_scorer_create(one->data, one->tree, &v->scorer[c], opt_error);
    if (status == IDM_OK) idm_scorer_set_visitor(v->scorer[c], store_probabilities, v);
  }
  return status;
}

void idm_predictor_close(history_predictor *v)
{
  for (size_t c = 0; v->scorer && c < v->strata->count; c++) idm_scorer_destroy(v->scorer[c]);
  free(v->scorer);
  idm_theta_destroy(v->theta);
  *v = (history_predictor){0};
}

/* Write a held number, the first of its block, in every variant; the other numbers of its field
 * change by the same amount. */
static void set_fixed(idm_theta *theta, size_t block, double value)
{
  idm_block *b = &theta->block[block];
  const idm_field *field = idm_block_field(b->info, theta->sizes, 0);
  const double moved = value - b->value[0];
  for (size_t i = 1; field && idm_block_field(b->info, theta->sizes, i) == field; i++)
    b->value[i] += moved;
  for (size_t v = 0; v < b->variants; v++) b->value[v * b->size] = value;
}

static idm_status predict_stratum(history_predictor *v, size_t c, const double *y,
                                  double *probability, idm_error *opt_error)
{
  idm_score score;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_START_COLD;
  v->probability = probability + v->strata->one[c].first * v->actions;
  idm_parameters_set(v->parameters, y + c * v->strata->dimension, v->theta);
  const idm_status status =
      idm_cancel_plan(v->parameters->cancel, v->theta, &solver, v->workspace, opt_error);
  if (status != IDM_OK) return status;
  return idm_scorer_run(v->scorer[c], idm_workspace_behavior(v->workspace), &score, opt_error);
}

idm_status idm_predictor_at(history_predictor *v, const double *y,
                            const fixed_override *opt_override, double *probability, bool *seen,
                            idm_error *opt_error)
{
  const double before = opt_override ? v->theta->block[opt_override->block].value[0] : 0;
  idm_status status = IDM_OK;
  if (opt_override) set_fixed(v->theta, opt_override->block, opt_override->value);
  for (size_t c = 0; c < v->strata->count && status == IDM_OK; c++)
    status = predict_stratum(v, c, y, probability, opt_error);
  if (opt_override) set_fixed(v->theta, opt_override->block, before);
  *seen = status == IDM_OK;
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}
