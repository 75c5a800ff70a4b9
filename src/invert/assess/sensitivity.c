/* Do the numbers that were held matter? */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/number.h"
#include "idm/matching.h"
#include "idm/parameters.h"
#include "invert/assess/checks.h"
#include "invert/assess/depend.h"
#include "invert/assess/response.h"
#include "invert/assess/strata.h"
#include "setting/freedom.h"

/* A number that was held: where it is in theta. */
typedef struct clamped {
  size_t block;
  size_t offset;
} clamped;

/* Whether number `offset` of a block is free. */
static bool is_free(const idm_block *block, size_t offset)
{
  if (block->role != IDM_DESCRIPTIVE) return false;
  return !block->coordinate || block->coordinate[offset] >= 0;
}

/* A held number in one variant, as it is varied: the inverse of a multiplier. */
static double value_in(const inquiry *q, const clamped *at, size_t variant)
{
  const idm_block *block = &q->f->problem->theta->block[at->block];
  const double value = block->value[variant * block->size + at->offset];
  return block->info->reciprocal ? 1 / value : value;
}

/* How large it is over the variants of the setting; 0 where it is 0 in all. */
static double size_of(const inquiry *q, const clamped *at)
{
  const size_t variants = q->f->problem->theta->block[at->block].variants;
  double sum = 0;
  for (size_t v = 0; v < variants; v++) sum += fabs(value_in(q, at, v));
  return sum / (double)variants;
}

/* The utility of a terminal state, where nothing is done. */
static bool is_idle(const inquiry *q, size_t block, size_t i)
{
  const idm_setting *setting = q->f->problem->setting;
  return block == IDM_UTILITY && setting->terminal_state[i % setting->states.count];
}

/* Numbers that are held, read and of a sensitive block: the problem's first, then the agent's. A
 * limit that is infinite cannot be moved. */
static size_t list_clamped(const inquiry *q, clamped *list)
{
  const idm_theta *theta = q->f->problem->theta;
  const idm_planner *planner = idm_agent_planner(&q->f->problem->agent);
  size_t count = 0;
  for (int agent = 0; agent < 2; agent++)
    for (size_t b = 0; b < theta->blocks; b++) {
      const idm_block *block = &theta->block[b];
      const bool alone = block->info->support == IDM_DISTRIBUTION && block->size < 2;
      if (!block->info->sensitive || block->info->of_agent != agent || alone) continue;
      for (size_t i = 0; i < block->size && idm_planner_reads(planner, b); i++)
        if (!is_free(block, i) && !is_idle(q, b, i) && isfinite(size_of(q, &(clamped){b, i})))
          list[count++] = (clamped){b, i};
    }
  return count;
}

/* What a number that is 0 is measured by: the range of all utilities, its inverse, or a unit. */
static double unit_of(const idm_problem *problem, size_t id)
{
  const idm_block_info *info = problem->theta->block[id].info;
  const double range = idm_problem_range(problem, id);
  if (!info->in_utility || !(range > 0)) return 1;
  return info->reciprocal ? 1 / range : range;
}

static void describe_clamped(const inquiry *q, const clamped *at, idm_sensitivity *s)
{
  const idm_problem *problem = q->f->problem;
  const idm_block *block = &problem->theta->block[at->block];
  const idm_block_info *info = block->info;
  char entry[2100];
  idm_block_entry(info, problem->setting, problem->theta->models, at->offset, entry, sizeof entry);
  idm_print(s->name, sizeof s->name, entry[0] ? "%s%s[%s]" : "%s%s",
            info->reciprocal ? "inverse_" : "", info->name, entry);
  for (size_t v = 0; v < block->variants; v++)
    s->value += value_in(q, at, v) / (double)block->variants;
  const double size = size_of(q, at);
  s->step = 0.01 * (size > 0 ? size : unit_of(problem, at->block));
}

/* d log-likelihood / d number. A number that differs between the variants of the setting is moved
 * in all of them, in each in proportion to its size there; a probability grows at the expense of
 * all others in proportion. */
static double slope_of(const inquiry *q, const idm_theta *slope, const clamped *at)
{
  const idm_block *block = &slope->block[at->block];
  const double size = size_of(q, at);
  double sum = 0;
  for (size_t v = 0; v < block->variants; v++) {
    const double share = size > 0 ? fabs(value_in(q, at, v)) / size : 1;
    sum += share * block->value[v * block->size + at->offset];
  }
  if (block->info->support != IDM_DISTRIBUTION) return sum;
  const double *weight = q->f->problem->theta->block[at->block].value;
  for (size_t i = 0; i < block->size; i++) sum -= weight[i] * block->value[i];
  return sum / (1 - weight[at->offset]);
}

/* The slopes of the log-likelihood at each point. */
static idm_status gather_slopes(const response *r, const clamped *list, idm_error *opt_error)
{
  const inquiry *q = r->q;
  const size_t d = q->f->parameters->dimension;
  double *y = idm_new(2 * d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < r->points && status == IDM_OK; k++) {
    double total;
    idm_response_point(r, k, y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &total, y + d, opt_error);
    for (size_t i = 0; i < r->count && status == IDM_OK; i++)
      idm_response_row(r, i, 0)[k] = slope_of(q, idm_matching_slope(q->f->matching[0]), &list[i]);
  }
  free(y);
  return status;
}

/* The slopes of one stratum at point k, which has been planned for. */
static idm_status take_stratum(const response *r, const clamped *list, size_t c, size_t k,
                               idm_theta *slope, idm_error *opt_error)
{
  const inquiry *q = r->q;
  const stratum *one = &q->people->one[c];
  idm_gradient *gradient = NULL;
  double value;
  idm_status status = idm_gradient_create(
      one->data, one->tree, idm_matching_workspace(q->f->matching[0]), &gradient, opt_error);
  if (status == IDM_OK) status = idm_gradient_run(gradient, &value, slope, opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++)
    idm_response_row(r, i, c)[k] = isfinite(value) ? slope_of(q, slope, &list[i]) : NAN;
  idm_gradient_destroy(gradient);
  return status;
}

/* The same by stratum: one plan per point, and one gradient per stratum. */
static idm_status gather_strata(const response *r, const clamped *list, idm_error *opt_error)
{
  const inquiry *q = r->q;
  idm_theta *slope = NULL;
  double *y = idm_new(q->f->parameters->dimension, sizeof *y);
  idm_status status =
      y ? idm_theta_copy(q->f->problem->theta, &slope, opt_error) : idm_fail_memory(opt_error);
  for (size_t k = 0; k < r->points && status == IDM_OK; k++) {
    double total;
    idm_response_point(r, k, y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &total, NULL, opt_error);
    for (size_t row = 0; row < r->count * r->strata; row++) r->table[row * r->points + k] = NAN;
    for (size_t c = 0; isfinite(total) && c < r->strata && status == IDM_OK; c++)
      status = take_stratum(r, list, c, k, slope, opt_error);
  }
  idm_theta_destroy(slope);
  free(y);
  return status;
}

/* d posterior mean / d number is the covariance of the quantity with the slope.
 */
static idm_status store(const response *r, const clamped *list, idm_error *opt_error)
{
  idm_assessment *a = r->q->assessment;
  a->sensitivity = idm_new(r->count, sizeof *a->sensitivity);
  if (!a->sensitivity) return idm_fail_memory(opt_error);
  a->sensitivities = r->count;
  for (size_t i = 0; i < r->count; i++) {
    idm_sensitivity *s = &a->sensitivity[i];
    s->slope = idm_new(a->quantities, sizeof *s->slope);
    if (!s->slope) return idm_fail_memory(opt_error);
    describe_clamped(r->q, &list[i], s);
    const idm_status status = idm_response_find(r, i, s->slope, NULL, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* Points to take slopes at. Those of a population take one gradient per stratum each. */
static size_t sample_of(const inquiry *q)
{
  enum { least_points = 20, most_points = 60, gradients = 6000 };
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  const size_t size = idm_inquiry_sample(q, points);
  if (!q->people) return size;
  const size_t most = gradients / q->people->count;
  const size_t own = most < least_points ? least_points : most < most_points ? most : most_points;
  return size < own ? size : own;
}

/* Whether the log-likelihood has a derivative by held numbers. */
static bool has_slopes(const inquiry *q)
{
  const fit *f = q->f;
  return q->people ? idm_gradient_possible(f->data, f->tree, idm_matching_workspace(f->matching[0]))
                   : idm_matching_slope(f->matching[0]) != NULL;
}

static idm_status measure(const inquiry *q, idm_error *opt_error)
{
  const idm_theta *theta = q->f->problem->theta;
  const size_t size = sample_of(q);
  response r = {0};
  if (!has_slopes(q) || size < 10) return IDM_OK;
  size_t most = 0;
  for (size_t i = 0; i < theta->blocks; i++) most += theta->block[i].size;
  clamped *list = idm_new(most, sizeof *list);
  if (!list) return idm_fail_memory(opt_error);
  const size_t count = list_clamped(q, list);
  idm_status status = idm_response_open(&r, q, size, count, opt_error);
  if (status == IDM_OK)
    status = q->people ? gather_strata(&r, list, opt_error) : gather_slopes(&r, list, opt_error);
  if (status == IDM_OK) status = store(&r, list, opt_error);
  idm_response_close(&r);
  free(list);
  return status;
}

static void record(const inquiry *q)
{
  idm_assessment *a = q->assessment;
  for (size_t i = 0; i < a->quantities; i++)
    for (size_t k = 0; k < a->sensitivities; k++)
      if (idm_inquiry_is_judged(q, i) && a->diagnosis[i].sd > 0)
        idm_check_test(&a->checks, IDM_CHECK_SENSITIVITY, fabs(idm_sensitivity_shift(a, k, i)));
}

/* The numbers that move a quantity most, in descending order; returns how many. */
static size_t find_largest(const idm_assessment *a, size_t quantity, size_t *largest, size_t most)
{
  size_t count = 0;
  for (size_t k = 0; k < a->sensitivities; k++) {
    const double own = fabs(idm_sensitivity_shift(a, k, quantity));
    size_t at = count;
    if (!isfinite(own)) continue;
    while (at > 0 && own > fabs(idm_sensitivity_shift(a, largest[at - 1], quantity))) at--;
    if (at == most) continue;
    if (count < most) count++;
    for (size_t i = count - 1; i > at; i--) largest[i] = largest[i - 1];
    largest[at] = k;
  }
  return count;
}

/* One line per quantity: what a change of each held number by its step would do, in posterior sds.
 */
static void describe_quantity(const inquiry *q, size_t quantity)
{
  enum { shown = 10 };
  const idm_assessment *a = q->assessment;
  char text[2000], name[128];
  size_t largest[shown];
  const size_t count = find_largest(a, quantity, largest, shown);
  int length = idm_print(text, sizeof text,
                         "sensitivity of %s, in posterior sds when a number that was held is "
                         "raised by 1 %%, or by the step in brackets (of a probability the "
                         "standard error that this log leaves it):",
                         idm_inquiry_name(q, quantity, name, sizeof name));
  for (size_t k = 0; k < count; k++) {
    const idm_sensitivity *s = &a->sensitivity[largest[k]];
    char step[40] = "";
    if (s->value == 0 || s->dynamics) idm_print(step, sizeof step, " (%.3g)", s->step);
    length +=
        idm_print(text + length, sizeof text - (size_t)length, "%s %.80s%s %+.2f", k ? "," : "",
                  s->name, step, idm_sensitivity_shift(a, largest[k], quantity));
  }
  if (a->sensitivities > count)
    idm_print(text + length, sizeof text - (size_t)length, ", and %zu smaller in summary.json",
              a->sensitivities - count);
  idm_notes_add(&q->assessment->remarks, "%s", text);
}

static void describe(const inquiry *q)
{
  const idm_assessment *a = q->assessment;
  for (size_t i = 0; a->sensitivities && i < a->quantities; i++)
    if (idm_inquiry_is_judged(q, i) && a->diagnosis[i].sd > 0) describe_quantity(q, i);
}

idm_status idm_check_sensitivity(const inquiry *q, idm_error *opt_error)
{
  idm_status status = measure(q, opt_error);
  if (status == IDM_OK && !q->learnt) status = idm_depend_measure(q, opt_error);
  if (status != IDM_OK) return status;
  record(q);
  describe(q);
  if (q->learnt)
    idm_check_skip(&q->assessment->checks, IDM_CHECK_DEPENDS,
                   "the answer is over draws of learnt dynamics");
  else
    idm_depend_judge(q);
  return IDM_OK;
}
