/* Sensitivity of the answer to the dynamics that were held: see the header.
 *
 * Contents: differences · storing · the verdict */
#include "invert/assess/depend.h"

#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "idm/matching.h"
#include "idm/planner.h"
#include "invert/assess/environment.h"
#include "invert/assess/response.h"
#include "invert/check.h"
#include "invert/fork.h"
#include "invert/matching/halt.h"

/* Draws that slopes are taken at; of a plain fit, whose slopes are smoothed, some for each term of
 * a quadratic function. */
enum { least_draws = 10, most_draws = 40, draws_per_term = 5 };

/* --- differences ---------------------------------------------------------------------------- */

/* Slopes of the log-likelihood in some directions. */
typedef struct difference {
  const inquiry *q;
  const environment_check *e;
  size_t size;         /* draws */
  size_t plans;        /* at most, over all directions */
  size_t count;        /* directions */
  const size_t *which; /* [count] */
  response response;
  idm_status *status; /* [direction] */
  idm_error *error;
} difference;

/* Models whose entries are free are those of the draw, whatever the environment is. */
static bool models_are_free(const idm_theta *theta)
{
  return theta->block[IDM_TRANSITION].role == IDM_DESCRIPTIVE ||
         theta->block[IDM_EMISSION].role == IDM_DESCRIPTIVE;
}

/* A problem whose dynamics are off by `shift`, with the agent's models. */
static idm_status move_problem(const difference *d, size_t i, double shift, idm_problem **ret_fork,
                               idm_error *opt_error)
{
  const directions *all = &d->e->directions;
  idm_dynamics *moved = NULL;
  idm_status status = idm_problem_fork(d->q->f->problem, ret_fork, opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(all->own->sizes, &moved, opt_error);
  if (status == IDM_OK) {
    idm_direction_move(all, i, shift, moved);
    if (idm_problem_models_follow(*ret_fork) && !models_are_free((*ret_fork)->theta)) {
      status = idm_problem_put_dynamics(*ret_fork, moved, opt_error);
    } else {
      const idm_setting *to = (*ret_fork)->setting;
      const idm_sizes n = moved->sizes;
      memcpy(to->start, moved->start, n.states * sizeof *to->start);
      memcpy(to->transition, moved->transition, n.actions * n.states * n.states * sizeof(double));
      memcpy(to->emission, moved->emission, n.actions * n.states * n.observations * sizeof(double));
      idm_direction_move_models(all, i, shift, (*ret_fork)->theta);
    }
  }
  idm_dynamics_destroy(moved);
  return status;
}

/* Add the log-likelihood with direction j moved to its changes. */
static idm_status add_side(const difference *d, size_t j, double shift, double weight,
                           idm_error *opt_error)
{
  idm_problem *moved = NULL;
  idm_status status = move_problem(d, d->which[j], shift, &moved, opt_error);
  if (status == IDM_OK) status = idm_response_add(&d->response, j, moved, weight, opt_error);
  idm_fork_destroy(moved);
  return status;
}

static void take_direction(void *context, size_t j)
{
  const difference *d = context;
  double low, high;
  idm_direction_limits(&d->e->directions, d->which[j], &low, &high);
  const double step = idm_environment_error(d->e, d->which[j]);
  /* Within the plausible error, and wide enough to pass over the bends of an interpolated policy.
   */
  const double h = fmin(step, fmin(-low, high)) / 4;
  d->status[j] = add_side(d, j, h, 0.5 / h, &d->error[j]);
  if (d->status[j] == IDM_OK) d->status[j] = add_side(d, j, -h, -0.5 / h, &d->error[j]);
}

static idm_status take_differences(difference *d, idm_error *opt_error)
{
  const fit *f = d->q->f;
  d->status = idm_new(d->count, sizeof *d->status);
  d->error = idm_new(d->count, sizeof *d->error);
  idm_status status = d->status && d->error
                          ? idm_response_open(&d->response, d->q, d->size, d->count, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_halt_parallel(f->parameters->halt, d->count, f->settings->threads, take_direction,
                               d, opt_error);
  for (size_t j = 0; j < d->count && status == IDM_OK; j++) {
    status = d->status[j];
    if (status != IDM_OK && opt_error) *opt_error = d->error[j];
  }
  return status;
}

/* --- storing -------------------------------------------------------------------------------- */

/* Room for more sensitivities behind those that are there. */
static idm_status make_room(idm_assessment *a, size_t more, idm_error *opt_error)
{
  idm_sensitivity *all = idm_new(a->sensitivities + more, sizeof *all);
  if (!all) return idm_fail_memory(opt_error);
  if (a->sensitivities) memcpy(all, a->sensitivity, a->sensitivities * sizeof *all);
  free(a->sensitivity);
  a->sensitivity = all;
  return IDM_OK;
}

static idm_status store(const difference *d, idm_error *opt_error)
{
  idm_assessment *a = d->q->assessment;
  const idm_status status = make_room(a, d->count, opt_error);
  if (status != IDM_OK) return status;
  for (size_t j = 0; j < d->count; j++) {
    idm_sensitivity *s = &a->sensitivity[a->sensitivities];
    s->slope = idm_new(a->quantities, sizeof *s->slope);
    if (!s->slope) return idm_fail_memory(opt_error);
    a->sensitivities++;
    s->dynamics = true;
    s->value = idm_direction_given(&d->e->directions, d->which[j]);
    s->step = idm_environment_error(d->e, d->which[j]);
    idm_direction_name(&d->e->directions, d->which[j], s->name, sizeof s->name);
    const idm_status found = idm_response_find(&d->response, j, s->slope, NULL, opt_error);
    if (found != IDM_OK) return found;
  }
  return IDM_OK;
}

/* Whether the numbers of a direction are held and used by the planner. A planner that uses dynamics
 * uses the start. */
static bool is_held(const idm_problem *problem, direction_part part)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const bool moves = idm_planner_uses_dynamics(planner, IDM_TRANSITION);
  const bool shows = idm_planner_uses_dynamics(planner, IDM_EMISSION);
  if (part == DIRECTION_START) return moves || shows;
  const size_t id = part == DIRECTION_EMISSION ? IDM_EMISSION : IDM_TRANSITION;
  return (part == DIRECTION_EMISSION ? shows : moves) &&
         problem->theta->block[id].role != IDM_DESCRIPTIVE;
}

/* Directions that the log informs, as many as there is work for; those of whole matrices come
 * first. */
static void choose(difference *d, size_t *which)
{
  const size_t most = d->plans / (2 * d->size);
  size_t left = 0;
  for (size_t i = 0; i < d->e->directions.count; i++) {
    if (isnan(d->e->p[i]) || !is_held(d->q->f->problem, d->e->directions.one[i].part)) continue;
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

static idm_status measure(difference *d, idm_error *opt_error)
{
  size_t *which = idm_new(d->e->directions.count, sizeof *which);
  if (!which) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  choose(d, which);
  if (d->count) status = take_differences(d, opt_error);
  if (d->count && status == IDM_OK) status = store(d, opt_error);
  idm_response_close(&d->response);
  free(d->status);
  free(d->error);
  free(which);
  return status;
}

/* Draws, given how many other checks look at. */
static size_t count_draws(const inquiry *q, size_t others)
{
  const size_t d = q->f->parameters->dimension;
  const size_t smooth = draws_per_term * (d + 1) * (d + 2) / 2;
  const size_t most = q->people || smooth > most_draws ? most_draws : smooth;
  return others < most ? others : most;
}

/* Plans over all directions, at most: fewer where one is dear. */
static size_t count_plans(size_t points)
{
  return points > 10000 ? 120 : points > 2000 ? 200 : points > 400 ? 1200 : 2000;
}

idm_status idm_depend_measure(const inquiry *q, idm_error *opt_error)
{
  environment_check e;
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  const size_t size = idm_inquiry_sample(q, points);
  if (size < least_draws) return IDM_OK;
  idm_status status = idm_environment_open(&e, q->f->problem, q->f->data, false, opt_error);
  difference d = {.q = q, .e = &e, .size = count_draws(q, size), .plans = count_plans(points)};
  const bool by_rows = q->f->problem->setting->moves;
  if (status == IDM_OK && e.looked && !by_rows) status = measure(&d, opt_error);
  if (status == IDM_OK && e.looked && by_rows)
    idm_check_skip(&q->assessment->checks, IDM_CHECK_DEPENDS,
                   "the transition is given by rows, not as matrices");
  if (status == IDM_OK && !e.looked)
    idm_check_skip(&q->assessment->checks, IDM_CHECK_DEPENDS, "%s", e.why);
  idm_environment_close(&e);
  return status;
}

/* --- the verdict ---------------------------------------------------------------------------- */

double idm_sensitivity_shift(const idm_assessment *a, size_t k, size_t quantity)
{
  const idm_sensitivity *s = &a->sensitivity[k];
  return s->slope[quantity] * s->step / a->diagnosis[quantity].sd;
}

/* The number of the dynamics that moves a quantity most; NULL: none. */
static const idm_sensitivity *find_most(const inquiry *q, size_t quantity, double *shift)
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

/* Put a sentence in place of another. A sentence lost to a failed allocation is not an error. */
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

/* Add to the remark on what the data bound of a quantity. The sentence of identification itself is
 * the same whatever draws there are. */
static void amend(const idm_assessment *a, size_t quantity)
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

static void judge_quantity(const inquiry *q, size_t quantity)
{
  idm_assessment *a = q->assessment;
  const double sd = a->diagnosis[quantity].sd;
  double shift;
  const idm_sensitivity *most = find_most(q, quantity, &shift);
  if (!most || !idm_check_test(&a->checks, IDM_CHECK_DEPENDS, fabs(shift))) return;
  char name[128];
  idm_inquiry_name(q, quantity, name, sizeof name);
  amend(a, quantity);
  idm_notes_add(&a->remarks,
                "%s depends on dynamics: raising %.100s from %.3g by the standard error that this "
                "log leaves it, %.2g, moves the posterior mean by %+.2f posterior sds. With this "
                "error alone its sd is about %.2g instead of %.2g%s",
                name, most->name, most->value, most->step, shift, sd * sqrt(1 + shift * shift), sd,
                q->people ? ""
                          : "; `idm learn --draws` and `--dynamics` draw the probabilities with "
                            "the answer");
}

void idm_depend_judge(const inquiry *q)
{
  const idm_assessment *a = q->assessment;
  for (size_t i = 0; i < a->quantities; i++)
    if (idm_inquiry_is_judged(q, i) && a->diagnosis[i].sd > 0) judge_quantity(q, i);
}
