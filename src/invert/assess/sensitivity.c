/* Sensitivity of the answer to numbers that are held (docs/method/verdict.md, 5).
 *
 * Contents: depend · sensitivity */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/parameters.h"
#include "idm/extension/planner.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/environment.h"
#include "invert/assess/residual.h"
#include "invert/cancel.h"
#include "invert/clone.h"
#include "invert/matching.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === depend ================================================================================= */

/* Sensitivity of the answer to held dynamics (environment.h).
 *
 * Contents: differences · storage · the verdict */

/* Number of draws at which slopes are computed; in a plain fit, whose slopes are smoothed, some per
 * term of a quadratic function. */
enum { min_draws = 10, max_draws = 40, draws_per_term = 5 };

/* --- differences ---------------------------------------------------------------------------- */

/* Slopes of the log-likelihood in some directions. */
typedef struct difference {
  const check_context *q;
  const environment_check *e;
  size_t size;         /* number of draws */
  size_t plans;        /* limit over all directions */
  size_t count;        /* number of directions */
  const size_t *which; /* [count] */
  response response;
  idm_status *status; /* [direction] */
  idm_error *error;
} difference;

/* Whether entries of the models are free: they are then those of the draw, independent of the
 * environment. */
static bool models_are_free(const idm_theta *theta)
{
  return theta->block[IDM_TRANSITION].role == IDM_DESCRIPTIVE ||
         theta->block[IDM_EMISSION].role == IDM_DESCRIPTIVE;
}

/* Copy the problem with dynamics shifted by `shift`, and the agent's models with them. */
static idm_status move_problem(const difference *d, size_t i, double shift, idm_problem **ret_fork,
                               idm_error *opt_error)
{
  const directions *all = &d->e->directions;
  idm_dynamics *moved = NULL;
  idm_status status = idm_problem_clone(d->q->f->problem, ret_fork, opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(all->own->sizes, &moved, opt_error);
  if (status == IDM_OK) {
    idm_direction_shift(all, i, shift, moved);
    if (idm_problem_models_derived(*ret_fork) && !models_are_free((*ret_fork)->theta)) {
      status = idm_problem_set_dynamics(*ret_fork, moved, opt_error);
    } else {
      const idm_setting *to = (*ret_fork)->setting;
      const idm_sizes n = moved->sizes;
      memcpy(to->start, moved->start, n.states * sizeof *to->start);
      memcpy(to->transition, moved->transition, n.actions * n.states * n.states * sizeof(double));
      memcpy(to->emission, moved->emission, n.actions * n.states * n.observations * sizeof(double));
      idm_direction_shift_models(all, i, shift, (*ret_fork)->theta);
    }
  }
  idm_dynamics_destroy(moved);
  return status;
}

/* Add the log-likelihood with direction j shifted to its changes. */
static idm_status add_shifted(const difference *d, size_t j, double shift, double weight,
                              idm_error *opt_error)
{
  idm_problem *moved = NULL;
  idm_status status = move_problem(d, d->which[j], shift, &moved, opt_error);
  if (status == IDM_OK) status = idm_response_add(&d->response, j, moved, weight, opt_error);
  idm_clone_destroy(moved);
  return status;
}

static void differentiate_direction(void *context, size_t j)
{
  const difference *d = context;
  double low, high;
  idm_direction_limits(&d->e->directions, d->which[j], &low, &high);
  const double step = idm_environment_error(d->e, d->which[j]);
  /* Within the standard error, and wide enough to average over kinks of an interpolated policy. */
  const double h = fmin(step, fmin(-low, high)) / 4;
  d->status[j] = add_shifted(d, j, h, 0.5 / h, &d->error[j]);
  if (d->status[j] == IDM_OK) d->status[j] = add_shifted(d, j, -h, -0.5 / h, &d->error[j]);
}

static idm_status differentiate_all(difference *d, idm_error *opt_error)
{
  const fit_context *f = d->q->f;
  d->status = idm_new(d->count, sizeof *d->status);
  d->error = idm_new(d->count, sizeof *d->error);
  idm_status status = d->status && d->error
                          ? idm_response_open(&d->response, d->q, d->size, d->count, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(f->parameters->cancel, d->count, f->settings->threads,
                                 differentiate_direction, d, opt_error);
  for (size_t j = 0; j < d->count && status == IDM_OK; j++) {
    status = d->status[j];
    if (status != IDM_OK && opt_error) *opt_error = d->error[j];
  }
  return status;
}

/* --- storage --------------------------------------------------------------------------------- */

/* Make room for more sensitivities after the existing ones. */
static idm_status allocate(idm_assessment *a, size_t more, idm_error *opt_error)
{
  idm_sensitivity *all = idm_new(a->sensitivities + more, sizeof *all);
  if (!all) return idm_fail_memory(opt_error);
  if (a->sensitivities) memcpy(all, a->sensitivity, a->sensitivities * sizeof *all);
  free(a->sensitivity);
  a->sensitivity = all;
  return IDM_OK;
}

static idm_status store_directions(const difference *d, idm_error *opt_error)
{
  idm_assessment *a = d->q->assessment;
  const idm_status status = allocate(a, d->count, opt_error);
  if (status != IDM_OK) return status;
  for (size_t j = 0; j < d->count; j++) {
    idm_sensitivity *s = &a->sensitivity[a->sensitivities];
    s->derivative = idm_new(a->quantities, sizeof *s->derivative);
    if (!s->derivative) return idm_fail_memory(opt_error);
    a->sensitivities++;
    s->dynamics = true;
    s->value = idm_direction_probability(&d->e->directions, d->which[j]);
    s->step = idm_environment_error(d->e, d->which[j]);
    idm_direction_name(&d->e->directions, d->which[j], s->name, sizeof s->name);
    const idm_status found = idm_response_shifts(&d->response, j, s->derivative, NULL, opt_error);
    if (found != IDM_OK) return found;
  }
  return IDM_OK;
}

/* Whether the probabilities of a direction are held and read by the planner. A planner that reads
 * dynamics reads the start. */
static bool is_fixed(const idm_problem *problem, direction_part part)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const bool moves = idm_planner_uses_dynamics(planner, problem->setting, IDM_TRANSITION);
  const bool shows = idm_planner_uses_dynamics(planner, problem->setting, IDM_EMISSION);
  if (part == DIRECTION_START) return moves || shows;
  const size_t id = part == DIRECTION_EMISSION ? IDM_EMISSION : IDM_TRANSITION;
  return (part == DIRECTION_EMISSION ? shows : moves) &&
         problem->theta->block[id].role != IDM_DESCRIPTIVE;
}

/* Choose directions on which the log has information, up to the limit of plans; those of whole
 * matrices are first. */
static void choose_directions(difference *d, size_t *which)
{
  const size_t most = d->plans / (2 * d->size);
  size_t left = 0;
  for (size_t i = 0; i < d->e->directions.count; i++) {
    if (isnan(d->e->p[i]) || !is_fixed(d->q->f->problem, d->e->directions.one[i].part)) continue;
    if (d->count < most)
      which[d->count++] = i;
    else
      left++;
  }
  d->which = which;
  if (left)
    idm_notes_add(&d->q->assessment->remarks,
                  "unchecked: the sensitivity to %zu probabilities of the dynamics, which would "
                  "take more than %zu plans",
                  left, d->plans);
}

static idm_status measure_directions(difference *d, idm_error *opt_error)
{
  size_t *which = idm_new(d->e->directions.count, sizeof *which);
  if (!which) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  choose_directions(d, which);
  if (d->count) status = differentiate_all(d, opt_error);
  if (d->count && status == IDM_OK) status = store_directions(d, opt_error);
  idm_response_close(&d->response);
  free(d->status);
  free(d->error);
  free(which);
  return status;
}

/* Number of draws, given that of other checks. */
static size_t count_draws(const check_context *q, size_t others)
{
  const size_t d = q->f->parameters->dimension;
  const size_t smooth = draws_per_term * (d + 1) * (d + 2) / 2;
  const size_t most = q->people || smooth > max_draws ? max_draws : smooth;
  return others < most ? others : most;
}

/* Largest number of plans over all directions: fewer for large lattices. */
static size_t count_plans(size_t points)
{
  return points > 10000 ? 120 : points > 2000 ? 200 : points > 400 ? 1200 : 2000;
}

idm_status idm_dynamics_sensitivity(const check_context *q, idm_error *opt_error)
{
  environment_check e;
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  const size_t size = idm_context_sample(q, points);
  if (size < min_draws) return IDM_OK;
  idm_status status = idm_environment_open(&e, q->f->problem, q->f->data, false, opt_error);
  difference d = {.q = q, .e = &e, .size = count_draws(q, size), .plans = count_plans(points)};
  const bool by_rows = q->f->problem->setting->moves;
  if (status == IDM_OK && e.evaluated && !by_rows) status = measure_directions(&d, opt_error);
  if (status == IDM_OK && e.evaluated && by_rows)
    idm_check_skip(&q->assessment->checks, IDM_CHECK_DEPENDS,
                   "the transition is given by rows, not as matrices");
  if (status == IDM_OK && !e.evaluated)
    idm_check_skip(&q->assessment->checks, IDM_CHECK_DEPENDS, "%s", e.skip_reason);
  idm_environment_close(&e);
  return status;
}

/* --- the verdict ---------------------------------------------------------------------------- */

static double idm_sensitivity_shift(const idm_assessment *a, size_t k, size_t quantity)
{
  const idm_sensitivity *s = &a->sensitivity[k];
  return s->derivative[quantity] * s->step / a->diagnosis[quantity].sd;
}

/* The probability of the dynamics with the largest shift of a quantity; NULL: none. */
static const idm_sensitivity *largest_shift(const check_context *q, size_t quantity, double *shift)
{
  const idm_assessment *a = q->assessment;
  const idm_sensitivity *most = NULL;
  *shift = 0;
  for (size_t k = 0; k < a->sensitivities; k++) {
    if (!a->sensitivity[k].dynamics) continue;
    const double own = idm_sensitivity_shift(a, k, quantity);
    if (!isfinite(own) || (most && fabs(own) <= fabs(*shift))) continue;
    *shift = own;
    most = &a->sensitivity[k];
  }
  return most;
}

/* Replace a sentence. A sentence lost to a failed allocation is not an error. */
static void replace(const idm_notes *notes, const char *from, const char *to)
{
  for (size_t i = 0; i < notes->count; i++) {
    if (strcmp(notes->text[i], from) != 0) continue;
    char *copy = idm_text_copy(to, strlen(to));
    if (!copy) return;
    free(notes->text[i]);
    notes->text[i] = copy;
  }
}

/* Add to the remark on the identification of a quantity. The sentence of the identification itself
 * does not depend on draws. */
static void qualify_sentence(const idm_assessment *a, size_t quantity)
{
  for (size_t i = 0; i < a->parameters; i++) {
    const idm_identification *id = &a->parameter[i];
    char amended[sizeof id->sentence + 100];
    if (id->quantity != quantity) continue;
    idm_print(amended, sizeof amended,
              "%s; this holds given the file's probabilities, as it depends on dynamics",
              id->sentence);
    replace(&a->remarks, id->sentence, amended);
  }
}

static void assess_quantity(const check_context *q, size_t quantity)
{
  idm_assessment *a = q->assessment;
  const double sd = a->diagnosis[quantity].sd;
  double shift;
  const idm_sensitivity *most = largest_shift(q, quantity, &shift);
  if (!most || !idm_check_test(&a->checks, IDM_CHECK_DEPENDS, fabs(shift))) return;
  char name[128];
  idm_context_quantity_name(q, quantity, name, sizeof name);
  qualify_sentence(a, quantity);
  idm_notes_add(&a->remarks,
                "%s depends on dynamics: raising %.100s from %.3g by the standard error that this "
                "log leaves it, %.2g, moves the posterior mean by %+.2f posterior sds. With this "
                "error alone its sd is about %.2g instead of %.2g%s",
                name, most->name, most->value, most->step, shift, sd * sqrt(1 + shift * shift), sd,
                q->people ? ""
                          : "; `idm learn --draws` and `--dynamics` draw the probabilities with "
                            "the answer");
}

/* Record the row of the table of checks: a mean that shifts by more than the threshold depends on
 * dynamics, which is added to the remark on its identification. */
static void idm_dynamics_sensitivity_assess(const check_context *q)
{
  const idm_assessment *a = q->assessment;
  for (size_t i = 0; i < a->quantities; i++)
    if (idm_context_is_assessed(q, i) && a->diagnosis[i].sd > 0) assess_quantity(q, i);
}

/* === sensitivity ============================================================================ */

/* Sensitivity to other held numbers, by gradients of the log-likelihood. */

/* Position of a held number in theta. */
typedef struct fixed_number {
  size_t block;
  size_t offset;
} fixed_number;

/* Whether number `offset` of a block is free. */
static bool is_free(const idm_block *block, size_t offset)
{
  if (block->role != IDM_DESCRIPTIVE) return false;
  return !block->coordinate || block->coordinate[offset] >= 0;
}

/* Value of a held number in one variant, on the scale on which it is varied: the inverse of a
 * multiplier. */
static double value_in(const check_context *q, const fixed_number *at, size_t variant)
{
  const idm_block *block = &q->f->problem->theta->block[at->block];
  const double value = block->value[variant * block->size + at->offset];
  return block->info->reciprocal ? 1 / value : value;
}

/* Mean absolute value over the variants of the setting; 0 if it is 0 in all. */
static double size_of(const check_context *q, const fixed_number *at)
{
  const size_t variants = q->f->problem->theta->block[at->block].variants;
  double sum = 0;
  for (size_t v = 0; v < variants; v++) sum += fabs(value_in(q, at, v));
  return sum / (double)variants;
}

/* Whether a number is the utility of a terminal state, in which no action is taken. */
static bool has_no_action(const check_context *q, size_t block, size_t i)
{
  const idm_setting *setting = q->f->problem->setting;
  return block == IDM_UTILITY && setting->terminal_state[i % setting->states.count];
}

/* List numbers that are held, read by the planner and in a sensitive block: the problem's first,
 * then the agent's. Infinite limits are excluded. */
static size_t list_fixed_numbers(const check_context *q, fixed_number *list)
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
        if (!is_free(block, i) && !has_no_action(q, b, i) &&
            isfinite(size_of(q, &(fixed_number){b, i})))
          list[count++] = (fixed_number){b, i};
    }
  return count;
}

/* Unit of a number that is 0: the range of all utilities, its inverse, or 1. */
static double unit_of(const idm_problem *problem, size_t id)
{
  const idm_block_info *info = problem->theta->block[id].info;
  const double range = idm_problem_prior_range(problem, id);
  if (!info->in_utility || !(range > 0)) return 1;
  return info->reciprocal ? 1 / range : range;
}

static void describe_fixed_number(const check_context *q, const fixed_number *at,
                                  idm_sensitivity *s)
{
  const idm_problem *problem = q->f->problem;
  const idm_block *block = &problem->theta->block[at->block];
  const idm_block_info *info = block->info;
  char entry[2100];
  idm_block_entry_name(info, problem->setting, problem->theta->models, at->offset, entry,
                       sizeof entry);
  idm_print(s->name, sizeof s->name, entry[0] ? "%s%s[%s]" : "%s%s",
            info->reciprocal ? "inverse_" : "", info->name, entry);
  for (size_t v = 0; v < block->variants; v++)
    s->value += value_in(q, at, v) / (double)block->variants;
  const double size = size_of(q, at);
  s->step = 0.01 * (size > 0 ? size : unit_of(problem, at->block));
}

/* d log-likelihood / d number. A number that differs between the variants of the setting changes in
 * all of them, in proportion to its size there; if a probability increases, all others decrease in
 * proportion. */
static double derivative_of(const check_context *q, const idm_theta *derivative,
                            const fixed_number *at)
{
  const idm_block *block = &derivative->block[at->block];
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

/* Compute the slopes of the log-likelihood at each point. */
static idm_status evaluate_derivatives(const response *r, const fixed_number *list,
                                       idm_error *opt_error)
{
  const check_context *q = r->q;
  const size_t d = q->f->parameters->dimension;
  double *y = idm_new(2 * d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < r->points && status == IDM_OK; k++) {
    double total;
    idm_response_point(r, k, y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &total, y + d, opt_error);
    for (size_t i = 0; i < r->count && status == IDM_OK; i++)
      idm_response_row(r, i, 0)[k] =
          derivative_of(q, idm_matching_theta_grad(q->f->matching[0]), &list[i]);
  }
  free(y);
  return status;
}

/* Compute the slopes of one stratum at point k, after planning there. */
static idm_status evaluate_stratum(const response *r, const fixed_number *list, size_t c, size_t k,
                                   idm_theta *derivative, idm_error *opt_error)
{
  const check_context *q = r->q;
  const stratum *one = &q->people->one[c];
  idm_gradient *gradient = NULL;
  double value;
  idm_status status = idm_gradient_create(
      one->data, one->tree, idm_matching_workspace(q->f->matching[0]), &gradient, opt_error);
  if (status == IDM_OK) status = idm_gradient_run(gradient, &value, derivative, opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++)
    idm_response_row(r, i, c)[k] = isfinite(value) ? derivative_of(q, derivative, &list[i]) : NAN;
  idm_gradient_destroy(gradient);
  return status;
}

/* The same by stratum: one plan per point, and one gradient per stratum and point. */
static idm_status evaluate_by_stratum(const response *r, const fixed_number *list,
                                      idm_error *opt_error)
{
  const check_context *q = r->q;
  idm_theta *derivative = NULL;
  double *y = idm_new(q->f->parameters->dimension, sizeof *y);
  idm_status status =
      y ? idm_theta_copy(q->f->problem->theta, &derivative, opt_error) : idm_fail_memory(opt_error);
  for (size_t k = 0; k < r->points && status == IDM_OK; k++) {
    double total;
    idm_response_point(r, k, y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &total, NULL, opt_error);
    for (size_t row = 0; row < r->count * r->strata; row++) r->table[row * r->points + k] = NAN;
    for (size_t c = 0; isfinite(total) && c < r->strata && status == IDM_OK; c++)
      status = evaluate_stratum(r, list, c, k, derivative, opt_error);
  }
  idm_theta_destroy(derivative);
  free(y);
  return status;
}

/* Store d posterior mean / d number, the covariance of the quantity with the slope. */
static idm_status sensitivity_store(const response *r, const fixed_number *list,
                                    idm_error *opt_error)
{
  idm_assessment *a = r->q->assessment;
  a->sensitivity = idm_new(r->count, sizeof *a->sensitivity);
  if (!a->sensitivity) return idm_fail_memory(opt_error);
  a->sensitivities = r->count;
  for (size_t i = 0; i < r->count; i++) {
    idm_sensitivity *s = &a->sensitivity[i];
    s->derivative = idm_new(a->quantities, sizeof *s->derivative);
    if (!s->derivative) return idm_fail_memory(opt_error);
    describe_fixed_number(r->q, &list[i], s);
    const idm_status status = idm_response_shifts(r, i, s->derivative, NULL, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* Number of points for slopes. In a population each requires one gradient per stratum. */
static size_t sample_of(const check_context *q)
{
  enum { min_points = 20, max_points = 60, gradients = 6000 };
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  const size_t size = idm_context_sample(q, points);
  if (!q->people) return size;
  const size_t most = gradients / q->people->count;
  const size_t own = most < min_points ? min_points : most < max_points ? most : max_points;
  return size < own ? size : own;
}

/* Whether the log-likelihood has derivatives by held numbers. */
static bool has_derivatives(const check_context *q)
{
  const fit_context *f = q->f;
  return q->people ? idm_gradient_possible(f->data, f->tree, idm_matching_workspace(f->matching[0]))
                   : idm_matching_theta_grad(f->matching[0]) != NULL;
}

static idm_status sensitivity_measure(const check_context *q, idm_error *opt_error)
{
  const idm_theta *theta = q->f->problem->theta;
  const size_t size = sample_of(q);
  response r = {0};
  if (!has_derivatives(q) || size < 10) return IDM_OK;
  size_t most = 0;
  for (size_t i = 0; i < theta->blocks; i++) most += theta->block[i].size;
  fixed_number *list = idm_new(most, sizeof *list);
  if (!list) return idm_fail_memory(opt_error);
  const size_t count = list_fixed_numbers(q, list);
  idm_status status = idm_response_open(&r, q, size, count, opt_error);
  if (status == IDM_OK)
    status = q->people ? evaluate_by_stratum(&r, list, opt_error)
                       : evaluate_derivatives(&r, list, opt_error);
  if (status == IDM_OK) status = sensitivity_store(&r, list, opt_error);
  idm_response_close(&r);
  free(list);
  return status;
}

static void record(const check_context *q)
{
  idm_assessment *a = q->assessment;
  for (size_t i = 0; i < a->quantities; i++)
    for (size_t k = 0; k < a->sensitivities; k++)
      if (idm_context_is_assessed(q, i) && a->diagnosis[i].sd > 0)
        idm_check_test(&a->checks, IDM_CHECK_SENSITIVITY, fabs(idm_sensitivity_shift(a, k, i)));
}

/* Find the held numbers with the largest shifts of a quantity, in descending order; returns their
 * number. */
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

/* Add one remark per quantity: its shift for a change of each held number by its step, in posterior
 * sds. */
static void describe_quantity(const check_context *q, size_t quantity)
{
  enum { max_listed = 10 };
  const idm_assessment *a = q->assessment;
  char text[2000], name[128];
  size_t largest[max_listed];
  const size_t count = find_largest(a, quantity, largest, max_listed);
  int length = idm_print(text, sizeof text,
                         "sensitivity of %s, in posterior sds when a number that was held is "
                         "raised by 1 %%, or by the step in brackets (of a probability the "
                         "standard error that this log leaves it):",
                         idm_context_quantity_name(q, quantity, name, sizeof name));
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

static void describe(const check_context *q)
{
  const idm_assessment *a = q->assessment;
  for (size_t i = 0; a->sensitivities && i < a->quantities; i++)
    if (idm_context_is_assessed(q, i) && a->diagnosis[i].sd > 0) describe_quantity(q, i);
}

idm_status idm_check_sensitivity(const check_context *q, idm_error *opt_error)
{
  idm_status status = sensitivity_measure(q, opt_error);
  if (status == IDM_OK && !q->learnt) status = idm_dynamics_sensitivity(q, opt_error);
  if (status != IDM_OK) return status;
  record(q);
  describe(q);
  if (q->learnt)
    idm_check_skip(&q->assessment->checks, IDM_CHECK_DEPENDS,
                   "the answer is over draws of learnt dynamics");
  else
    idm_dynamics_sensitivity_assess(q);
  return IDM_OK;
}
