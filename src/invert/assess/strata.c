/* Strata: decisions that share one vector of free numbers. See the header.
 *
 * Contents: moments · a plain fit · a population */
#include "invert/assess/strata.h"

#include <math.h>

#include "base/memory.h"
#include "base/moments.h"
#include "data/part.h"
#include "idm/behavior.h"

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
  free(s->when);
  *s = (strata){0};
}

static idm_status make_room(strata *s, size_t trajectories, idm_error *opt_error)
{
  s->one = idm_new(s->count, sizeof *s->one);
  s->centre = idm_new(idm_times(s->count, s->dimension), sizeof *s->centre);
  s->step = idm_new(idm_times(s->count, s->dimension), sizeof *s->step);
  s->when = idm_new(trajectories, sizeof *s->when);
  return s->one && s->centre && s->step && s->when ? IDM_OK : idm_fail_memory(opt_error);
}

/* A step that is lost in rounding, or is none, is replaced by one relative to the number. */
static double mend_step(double step, double y)
{
  return step > 1e-10 * fabs(y) && isfinite(step) ? step : 1e-4 * fmax(1, fabs(y));
}

/* --- moments -------------------------------------------------------------------------------- */

/* How far the i-th of n trajectories is, rounded. */
static uint8_t eighths(size_t i, size_t n)
{
  return n > 1 ? (uint8_t)((2 * MOMENTS * i + n - 1) / (2 * (n - 1))) : MOMENTS / 2;
}

/* when[trajectory] of trajectories in the order of the log, by agent[trajectory] < agents. */
static idm_status find_moments(const uint32_t *agent, size_t agents, size_t trajectories,
                               moment *when, idm_error *opt_error)
{
  size_t *count = idm_new(2 * agents, sizeof *count);
  if (!count) return idm_fail_memory(opt_error);
  size_t *const before = count + agents;
  for (size_t t = 0; t < trajectories; t++) count[agent[t]]++;
  for (size_t t = 0; t < trajectories; t++)
    when[t] = (moment){.of_agent = eighths(before[agent[t]]++, count[agent[t]]),
                       .of_log = eighths(t, trajectories)};
  free(count);
  return IDM_OK;
}

/* --- a plain fit ---------------------------------------------------------------------------- */

/* Steps of differences: a twentieth of the posterior's sd, or for a point a thousandth of how far
 * draws from the prior are from it, or of what there is. */
static idm_status find_steps(const inquiry *q, const double *y, double *step, idm_error *opt_error)
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
  for (size_t j = 0; j < d; j++) step[j] = mend_step(step[j], y[j]);
  free(drawn);
  return IDM_OK;
}

idm_status idm_strata_whole(strata *s, const inquiry *q, idm_error *opt_error)
{
  const idm_data *data = q->f->data;
  *s = (strata){.count = 1,
                .nodes = q->f->tree->nodes,
                .agents = data->agent_name.count,
                .agent_name = &data->agent_name,
                .dimension = q->f->parameters->dimension};
  idm_status status = make_room(s, data->trajectories, opt_error);
  if (status == IDM_OK)
    status = find_moments(data->agent, s->agents, data->trajectories, s->when, opt_error);
  if (status == IDM_OK) {
    s->one[0] = (stratum){.data = data, .tree = q->f->tree, .agent = data->agent, .when = s->when};
    idm_inquiry_centre(q, s->centre);
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

/* Trajectories by stratum, in the order of the log, and where those of each begin. */
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
    status = idm_data_part(data, order + first[c], size, &s->part[c], opt_error);
    if (status == IDM_OK) status = idm_evidence_tree(problem, s->part[c], &s->tree[c], opt_error);
    if (status != IDM_OK) break;
    s->one[c] = (stratum){.data = s->part[c],
                          .tree = s->tree[c],
                          .first = s->nodes,
                          .agent = s->agent + first[c],
                          .when = s->when + first[c]};
    s->nodes += s->tree[c]->nodes;
  }
  return status;
}

/* Moments by person, over all of a person's strata; order[] as above. */
static idm_status place_moments(strata *s, size_t trajectories, const uint32_t *order,
                                idm_error *opt_error)
{
  uint32_t *person = idm_new(trajectories, sizeof *person);
  moment *when = idm_new(trajectories, sizeof *when);
  idm_status status = person && when ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t t = 0; status == IDM_OK && t < trajectories; t++)
    person[t] = s->design->cell_person[s->design->cell_of[t]];
  if (status == IDM_OK) status = find_moments(person, s->agents, trajectories, when, opt_error);
  for (size_t t = 0; status == IDM_OK && t < trajectories; t++) s->when[t] = when[order[t]];
  free(person);
  free(when);
  return status;
}

/* The last draw, and a twentieth of the sd of each number. */
static idm_status place_strata(strata *s, idm_error *opt_error)
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
      s->step[c * d + j] = mend_step(0.05 * sqrt(idm_welford_variance(&moments[j])), y[j]);
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
      made ? make_room(s, data->trajectories, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    sort_trajectories(design, data->trajectories, order, first);
    status = place_moments(s, data->trajectories, order, opt_error);
  }
  if (status == IDM_OK) status = divide_log(s, problem, data, order, first, opt_error);
  if (status == IDM_OK) status = place_strata(s, opt_error);
  free(order);
  free(first);
  if (status != IDM_OK) idm_strata_close(s);
  return status;
}
