/* Two questions to a handful of draws: does the lattice matter, and do the numbers held matter?
 *
 * Contents: a sample of draws · a finer lattice · sensitivity to clamped numbers */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "belief/lattice.h"
#include "invert/assess/inquiry.h"

/* --- a sample of draws ---------------------------------------------------------------------- */

/* Draws looked at: fewer where a plan is dear. */
static size_t sample_size(const inquiry *q, size_t points)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  const size_t wanted = points > 2000 ? 20 : 200;
  return count < wanted ? count : wanted;
}

/* Draw k of `size`, spread evenly over all. */
static size_t sample_at(const inquiry *q, size_t k, size_t size)
{
  return k * (q->posterior->chains * q->posterior->draws) / size;
}

/* --- a finer lattice ------------------------------------------------------------------------ */

/* Points of a lattice beyond which a comparison costs more than it tells. */
enum { most_points = 300000 };

/* Shifts of the posterior means when each draw is weighted by exp(change). */
static void weigh(const inquiry *q, const double *change, size_t size)
{
  idm_assessment *a = q->assessment;
  const size_t count = q->posterior->chains * q->posterior->draws;
  double most = -INFINITY;
  for (size_t k = 0; k < size; k++) most = fmax(most, change[k]);
  for (size_t i = 0; i < a->quantities; i++) {
    double total = 0;
    double weighted = 0;
    double plain = 0;
    for (size_t k = 0; k < size; k++) {
      const double value = q->posterior->value[i * count + sample_at(q, k, size)];
      const double weight = exp(change[k] - most);
      total += weight;
      weighted += weight * value;
      plain += value / (double)size;
    }
    const double shift = (weighted / total - plain) / a->diagnosis[i].sd;
    a->finer_shift[i] = isfinite(shift) ? shift : 0;
  }
}

static idm_status compare(const inquiry *q, idm_matching *finer, size_t size, double *change,
                          idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  double *y = idm_new(d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < size && status == IDM_OK; k++) {
    double coarse = 0;
    double fine = 0;
    idm_inquiry_draw(q, sample_at(q, k, size), y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &coarse, NULL, opt_error);
    if (status == IDM_OK) status = idm_matching_log_likelihood(finer, y, &fine, NULL, opt_error);
    change[k] = isfinite(fine) && isfinite(coarse) ? fine - coarse : 0;
    q->assessment->finer_change = fmax(q->assessment->finer_change, fabs(change[k]));
  }
  free(y);
  return status;
}

idm_status idm_assess_lattice(const inquiry *q, idm_error *opt_error)
{
  const idm_problem *problem = q->f->problem;
  const size_t states = problem->setting->states.count;
  idm_problem doubled = *problem;
  const int resolution =
      problem->agent.resolution ? problem->agent.resolution : idm_lattice_default(states);
  if (!idm_workspace_points(idm_matching_workspace(q->f->matching[0])) ||
      problem->setting->fully_observed || idm_lattice_count(states, 2 * resolution) > most_points)
    return IDM_OK;
  doubled.agent.resolution = 2 * resolution;
  idm_matching *finer = NULL;
  const size_t size = sample_size(q, idm_lattice_count(states, resolution));
  double *change = idm_new(size, sizeof *change);
  q->assessment->finer_shift = idm_new(q->assessment->quantities, sizeof(double));
  idm_status status = change && q->assessment->finer_shift ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_matching_create(&doubled, q->f->data, q->f->tree, q->f->parameters, &finer, opt_error);
  if (status == IDM_OK) {
    idm_matching_wander(finer);
    status = compare(q, finer, size, change, opt_error);
  }
  if (status == IDM_OK) {
    q->assessment->resolution = resolution;
    q->assessment->finer = 2 * resolution;
    weigh(q, change, size);
  }
  idm_matching_destroy(finer);
  free(change);
  return status;
}

/* --- sensitivity to clamped numbers --------------------------------------------------------- */

/* A number that was held: where it is in theta. */
typedef struct clamped {
  idm_block_id block;
  size_t offset;
} clamped;

/* Whether number `offset` of a block is free. */
static bool is_free(const idm_theta *theta, idm_block_id id, size_t offset)
{
  const idm_block *block = &theta->block[id];
  if (block->role != IDM_DESCRIPTIVE) return false;
  return !block->coordinate || block->coordinate[offset] >= 0;
}

/* Utilities, the discount, the models' weights and the multipliers that are held and read. */
static size_t list_clamped(const inquiry *q, clamped *list)
{
  static const idm_block_id blocks[] = {IDM_UTILITY, IDM_DISCOUNT, IDM_MODEL_PRIOR,
                                        IDM_ALPHA,   IDM_BETA,     IDM_ETA};
  const idm_theta *theta = q->f->problem->theta;
  const idm_planner *planner = idm_planner_find(q->f->problem->agent.planner);
  size_t count = 0;
  for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
    const idm_block *block = &theta->block[blocks[b]];
    if (!(planner->reads & (1u << blocks[b]))) continue;
    if (blocks[b] == IDM_MODEL_PRIOR && block->size < 2) continue;
    for (size_t i = 0; i < block->size; i++)
      if (!is_free(theta, blocks[b], i)) list[count++] = (clamped){blocks[b], i};
  }
  return count;
}

static void name_clamped(const inquiry *q, const clamped *at, idm_sensitivity *s)
{
  const idm_setting *setting = q->f->problem->setting;
  const double value = q->f->problem->theta->block[at->block].value[at->offset];
  const size_t states = setting->states.count;
  s->value = value;
  if (at->block == IDM_UTILITY)
    snprintf(s->name, sizeof s->name, "utility[%.60s,%.60s]",
             setting->actions.name[at->offset / states], setting->states.name[at->offset % states]);
  else if (at->block == IDM_MODEL_PRIOR)
    snprintf(s->name, sizeof s->name, "model_prior[%zu]", at->offset + 1);
  else if (at->block == IDM_ALPHA || at->block == IDM_BETA) {
    snprintf(s->name, sizeof s->name, "inverse_%s", idm_block_name(at->block));
    s->value = 1 / value;
  } else
    snprintf(s->name, sizeof s->name, "%s", idm_block_name(at->block));
}

/* d log-likelihood / d number. A model's weight grows at the expense of all others in proportion.
 */
static double slope_of(const inquiry *q, const idm_theta *slope, const clamped *at)
{
  const idm_block *block = &slope->block[at->block];
  double sum = 0;
  for (size_t v = 0; v < block->variants; v++) sum += block->value[v * block->size + at->offset];
  if (at->block != IDM_MODEL_PRIOR) return sum;
  const double *weight = q->f->problem->theta->block[IDM_MODEL_PRIOR].value;
  for (size_t i = 0; i < block->size; i++) sum -= weight[i] * block->value[i];
  return sum / (1 - weight[at->offset]);
}

/* The slopes of the log-likelihood at each draw of the sample: table[draw][number]. */
static idm_status gather_slopes(const inquiry *q, const clamped *list, size_t count, size_t size,
                                double *table, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  double *y = idm_new(2 * d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < size && status == IDM_OK; k++) {
    double total;
    idm_inquiry_draw(q, sample_at(q, k, size), y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &total, y + d, opt_error);
    for (size_t i = 0; i < count && status == IDM_OK; i++)
      table[k * count + i] = slope_of(q, idm_matching_slope(q->f->matching[0]), &list[i]);
  }
  free(y);
  return status;
}

/* d posterior mean / d number = covariance of the quantity with the slope (DESIGN, section 4). */
static double covariance(const inquiry *q, size_t quantity, const double *table, size_t count,
                         size_t size, size_t number)
{
  const double *value = q->posterior->value + quantity * q->posterior->chains * q->posterior->draws;
  double mean = 0;
  double slope = 0;
  for (size_t k = 0; k < size; k++) {
    mean += value[sample_at(q, k, size)] / (double)size;
    slope += table[k * count + number] / (double)size;
  }
  double sum = 0;
  for (size_t k = 0; k < size; k++)
    sum += (value[sample_at(q, k, size)] - mean) * (table[k * count + number] - slope);
  return sum / (double)(size - 1);
}

static idm_status store(const inquiry *q, const clamped *list, size_t count, size_t size,
                        const double *table, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  a->sensitivity = idm_new(count, sizeof *a->sensitivity);
  if (!a->sensitivity) return idm_fail_memory(opt_error);
  a->sensitivities = count;
  for (size_t i = 0; i < count; i++) {
    idm_sensitivity *s = &a->sensitivity[i];
    s->slope = idm_new(a->quantities, sizeof *s->slope);
    if (!s->slope) return idm_fail_memory(opt_error);
    name_clamped(q, &list[i], s);
    for (size_t j = 0; j < a->quantities; j++)
      s->slope[j] = covariance(q, j, table, count, size, i);
  }
  return IDM_OK;
}

idm_status idm_assess_sensitivity(const inquiry *q, idm_error *opt_error)
{
  const idm_theta *theta = q->f->problem->theta;
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  const size_t size = sample_size(q, points);
  if (!idm_matching_slope(q->f->matching[0]) || size < 10) return IDM_OK;
  size_t most = 0;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) most += theta->block[i].size;
  clamped *list = idm_new(most, sizeof *list);
  if (!list) return idm_fail_memory(opt_error);
  const size_t count = list_clamped(q, list);
  double *table = idm_new(idm_times(size, count), sizeof *table);
  idm_status status = table ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = gather_slopes(q, list, count, size, table, opt_error);
  if (status == IDM_OK) status = store(q, list, count, size, table, opt_error);
  free(table);
  free(list);
  return status;
}
