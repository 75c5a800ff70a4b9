/* What the data bound: the maximum of the likelihood, and a profile of each free number from it.
 *
 * Contents: the maximum · profiles · work */

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "idm/assess.h"
#include "idm/laplace.h"
#include "idm/matching.h"
#include "invert/assess/bound.h"
#include "invert/assess/checks.h"
#include "invert/assess/curve.h"
#include "invert/assess/region.h"
#include "invert/assess/sentence.h"
#include "invert/assess/whole.h"
#include "invert/matching/halt.h"
#include "invert/matching/matching.h"
#include "invert/matching/start.h"
#include "setting/freedom.h"

/* Points looked at for a maximum, draws held against the regions, places of a scan held against
 * those of other numbers, profiles worked on at once. */
enum { most_guides = 40, most_draws = 1000, most_seen = 40, most_jobs = 4 };
/* A table may be off by so much where intervals are to end in the same digits: a hundredth of a
 * nat moves an end by a two-hundredth of an sd. */
static const double most_error = 0.01;

/* Everything the items share. */
typedef struct identifying {
  const inquiry *q;
  size_t dimension;
  bool dear;          /* an evaluation takes long: fewer of them */
  bool part;          /* of the log: draws of all of it say nothing here */
  bool tabled;        /* a table stands in for planning */
  bool last;          /* a higher maximum found now is not gone back to */
  long evaluations;   /* that may be spent on one item */
  window *where;      /* [dimension] */
  double *step;       /* [dimension] */
  double *precision;  /* [dimension][dimension]: minus the Hessian at the maximum */
  double *covariance; /* its inverse */
  size_t guides;
  place *guide; /* [guides], the best first */
  size_t further;
  place *draw;    /* draws within the drop of the maximum, then what other profiles saw there */
  size_t *seen;   /* [scalar item]: places of its scan within the drop, */
  place *seen_at; /* [scalar item][most_seen] */
  bool *done;     /* [scalar item]: its regions hold all that is known */
  size_t jobs;
  profile **profile;  /* [jobs] */
  idm_status *status; /* [jobs] */
  idm_error *error;   /* [jobs] */
} identifying;

/* --- the maximum ---------------------------------------------------------------------------- */

static int by_height(const void *a, const void *b)
{
  const double x = ((const place *)a)->height;
  const double y = ((const place *)b)->height;
  return (x < y) - (x > y);
}

/* Points that owe nothing to the priors asked for, nor to the seed: the problem's own values, then
 * draws of the default priors. */
static idm_status look_around(identifying *w, profile *p, idm_error *opt_error)
{
  const fit *f = w->q->f;
  idm_problem usual = *f->problem;
  idm_parameters *parameters = NULL;
  idm_random random;
  double *draw = idm_new(w->dimension, sizeof *draw);
  if (!draw) return idm_fail_memory(opt_error);
  idm_status status = idm_theta_copy(f->problem->theta, &usual.theta, opt_error);
  for (size_t i = 0; status == IDM_OK && i < usual.theta->blocks; i++)
    if (usual.theta->block[i].role == IDM_DESCRIPTIVE)
      status = idm_theta_default_prior(usual.theta, i, idm_problem_range(f->problem, i), opt_error);
  if (status == IDM_OK) status = idm_parameters_create(&usual, &parameters, opt_error);
  idm_random_init(&random, 0, UINT64_MAX);
  for (size_t k = 0; k < w->guides && status == IDM_OK; k++) {
    place *to = &w->guide[k];
    if (k > 0) {
      idm_parameters_draw(parameters, &random, draw);
      idm_parameters_set(parameters, draw, usual.theta);
    }
    idm_parameters_get(f->parameters, usual.theta, to->y);
    for (size_t i = 0; i < w->dimension; i++)
      to->y[i] = fmin(fmax(to->y[i], w->where[i].low), w->where[i].high);
    status = idm_profile_height(p, to->y, &to->height, opt_error);
  }
  idm_parameters_destroy(parameters);
  idm_theta_destroy(usual.theta);
  free(draw);
  qsort(w->guide, w->guides, sizeof *w->guide, by_height);
  return status;
}

/* The log-likelihood of draw i, from its log density. */
static double draw_height(const inquiry *q, size_t i, double *y)
{
  idm_inquiry_draw(q, i, y);
  return q->posterior->statistics[i].log_density -
         idm_parameters_log_prior(q->f->parameters, y, NULL);
}

/* Climb from the draw that explains the data best, should it explain them better than what was
 * found without the draws. */
static idm_status look_at_draws(identifying *w, profile *p, place *at, idm_error *opt_error)
{
  const inquiry *q = w->q;
  const size_t count = q->posterior->chains * q->posterior->draws;
  double most = p->best.height + 1e-3;
  size_t best = count;
  for (size_t i = 0; i < count; i++) {
    const double height = draw_height(q, i, at->y);
    if (!(height > most)) continue;
    most = height;
    best = i;
  }
  if (best == count) return IDM_OK;
  idm_inquiry_draw(q, best, at->y);
  idm_status status = idm_profile_height(p, at->y, &at->height, opt_error);
  if (status == IDM_OK) status = idm_profile_climb(p, at, opt_error);
  if (status == IDM_OK && at->height > p->best.height) idm_place_copy(at, w->dimension, &p->best);
  return status;
}

/* The maximum of the likelihood: climbed to from the best of what was looked at. */
static idm_status find_best(identifying *w, profile *p, idm_error *opt_error)
{
  const size_t climbs = w->dear ? 2 : 3;
  idm_status status = look_around(w, p, opt_error);
  idm_profile_fix(p, w->dimension, w->precision);
  p->enough = INFINITY;
  for (size_t k = 0; k < climbs && k < w->guides && status == IDM_OK; k++)
    status = idm_profile_climb(p, &w->guide[k], opt_error);
  qsort(w->guide, w->guides, sizeof *w->guide, by_height);
  idm_place_copy(&w->guide[0], w->dimension, &p->best);
  if (status == IDM_OK) status = idm_profile_hop(p, &p->best, opt_error);
  if (status == IDM_OK && !w->part) status = look_at_draws(w, p, &p->start[0], opt_error);
  return status;
}

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(context, y, log_density, opt_gradient, opt_error);
}

/* Curvature at the maximum, and steps from it. */
static idm_status find_steps(identifying *w, profile *p, idm_error *opt_error)
{
  const size_t d = w->dimension;
  const idm_target target = {
      .dimension = d, .gradient = true, .context = p->matching, .evaluate = evaluate};
  bool definite = false;
  for (size_t i = 0; i < d * d; i++) w->precision[i] = 0;
  const idm_status status =
      idm_laplace(&target, p->best.y, w->covariance, w->precision, &definite, opt_error);
  for (size_t i = 0; i < d; i++) {
    const double variance = definite ? w->covariance[i * d + i] : 1 / w->precision[i * d + i];
    const double widest = (w->where[i].high - w->where[i].low) / 12;
    const bool known = variance > 0 && isfinite(variance);
    w->step[i] = fmin(known ? 0.5 * sqrt(variance) : w->where[i].unit, widest);
  }
  return status;
}

/* --- profiles ------------------------------------------------------------------------------- */

/* With every utility free a number added to all of them changes no choice: the path is known. */
static bool shifts_freely(const inquiry *q, const parameter *item)
{
  return item->block == IDM_UTILITY && !q->f->problem->theta->block[IDM_UTILITY].coordinate &&
         item->scale == IDM_SCALE_IDENTITY;
}

static void shift_path(const inquiry *q, profile *p)
{
  const idm_parameters *parameters = q->f->parameters;
  for (size_t i = 0; i < p->dimension; i++) p->path[i] = 0;
  for (size_t i = 0; i < parameters->items; i++)
    if (parameters->item[i].block == IDM_UTILITY) p->path[parameters->item[i].first] = 1;
}

/* Whether a profile has met a point that explains the data better than the maximum did. */
static bool met_higher(const profile *p)
{
  return p->highest.height > p->best.height + 1e-4;
}

/* Places of item `at`'s scan within the drop, spread over all of them. */
static void keep_seen(const identifying *w, size_t at, const profile *p, const scan *s)
{
  const double level = p->best.height - idm_profile_drop;
  size_t inside = 0, k = 0;
  w->seen[at] = 0;
  for (size_t i = 0; i < s->count; i++) inside += s->place[i].height >= level;
  for (size_t i = 0; i < s->count; i++) {
    if (s->place[i].height < level) continue;
    if (k++ * most_seen >= w->seen[at] * inside && w->seen[at] < most_seen)
      idm_place_copy(&s->place[i], w->dimension, &w->seen_at[at * most_seen + w->seen[at]++]);
  }
}

static idm_status identify_item(const identifying *w, const parameter *item, size_t at, profile *p,
                                idm_error *opt_error)
{
  idm_identification *id = &w->q->assessment->parameter[at];
  scan s;
  p->left = w->evaluations;
  p->enough = INFINITY;
  idm_profile_fix(p, item->first, w->precision);
  if (shifts_freely(w->q, item)) shift_path(w->q, p);
  /* What a profile finds is to be the same whichever profile was looked at before it. */
  idm_status status = idm_matching_anchor(p->matching, p->best.y, opt_error);
  idm_matching_wander(p->matching);
  if (status == IDM_OK) status = idm_scan_create(w->dimension, &s, opt_error);
  if (status != IDM_OK) return status;
  status = idm_scan_run(p, !w->dear, &s, opt_error);
  if (status == IDM_OK && (w->last || !met_higher(p)))
    status = idm_scan_regions(p, w->draw, w->further, &s, opt_error);
  if (status == IDM_OK && (w->last || !met_higher(p))) { /* else all of it again, from there */
    status = idm_bound(w->q, item, p, &s, id, opt_error);
    if (status == IDM_OK && !w->part) status = idm_profile_trace(item, p, &s, id, opt_error);
    keep_seen(w, at, p, &s);
    w->done[at] = true;
  }
  idm_scan_destroy(&s);
  return status;
}

/* What one profile has seen within the drop, all regions hold: those that do not are looked for
 * again, from there. *missed tells whether there are any. */
static void compare_profiles(const identifying *w, bool *missed)
{
  const idm_parameters *parameters = w->q->f->parameters;
  const idm_assessment *a = w->q->assessment;
  const double level = a->log_likelihood - idm_profile_drop + 0.01;
  *missed = false;
  for (size_t i = 0, at = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (!idm_parameter_is_scalar(item)) continue;
    for (size_t k = 0; k < a->parameters * most_seen; k++) {
      const place *seen = &w->seen_at[k];
      if (k % most_seen >= w->seen[k / most_seen] || seen->height < level) continue;
      const double value = idm_parameter_reported_at(item, seen->y[item->first]);
      if (!idm_regions_hold(a->parameter[at].regions, a->parameter[at].region[0], value))
        w->done[at] = false;
    }
    *missed |= !w->done[at];
    at++;
  }
}

/* Job k looks at every jobs-th scalar item. */
static void run_job(void *context, size_t k)
{
  identifying *w = context;
  const idm_parameters *parameters = w->q->f->parameters;
  size_t at = 0;
  for (size_t i = 0; i < parameters->items && w->status[k] == IDM_OK; i++) {
    if (!idm_parameter_is_scalar(&parameters->item[i])) continue;
    if (at % w->jobs == k && !w->done[at])
      w->status[k] = identify_item(w, &parameters->item[i], at, w->profile[k], &w->error[k]);
    at++;
  }
}

/* Draws within the drop of the maximum, and what profiles saw there: none of them may lie outside
 * of all regions. */
static void keep_draws(identifying *w)
{
  const inquiry *q = w->q;
  const size_t count = q->posterior->chains * q->posterior->draws;
  const double level = q->assessment->log_likelihood - idm_profile_drop;
  w->further = 0;
  for (size_t i = 0; i < count && w->further < most_draws && !w->part; i++) {
    place *to = &w->draw[w->further];
    to->height = draw_height(q, i, to->y);
    w->further += to->height >= level && isfinite(to->height);
  }
  for (size_t k = 0; k < q->assessment->parameters * most_seen; k++)
    if (k % most_seen < w->seen[k / most_seen] && w->seen_at[k].height >= level)
      idm_place_copy(&w->seen_at[k], w->dimension, &w->draw[w->further++]);
}

/* Every profile that is not done, from the maximum that the first knows. *higher tells whether one
 * met a higher point. */
static idm_status identify_items(identifying *w, bool *higher, idm_error *opt_error)
{
  profile *first = w->profile[0];
  idm_status status = find_steps(w, first, opt_error);
  for (size_t k = 0; k < w->jobs; k++) {
    idm_place_copy(&first->best, w->dimension, &w->profile[k]->best);
    idm_place_copy(&first->best, w->dimension, &w->profile[k]->highest);
    w->status[k] = IDM_OK;
  }
  if (status == IDM_OK)
    status = idm_halt_parallel(w->q->f->parameters->halt, w->jobs, w->q->f->settings->threads,
                               run_job, w, opt_error);
  *higher = false;
  for (size_t k = 0; k < w->jobs && status == IDM_OK; k++) {
    status = w->status[k];
    if (status != IDM_OK && opt_error) *opt_error = w->error[k];
    *higher |= met_higher(w->profile[k]);
    if (w->profile[k]->highest.height > first->best.height)
      idm_place_copy(&w->profile[k]->highest, w->dimension, &first->best);
  }
  if (status != IDM_OK || !*higher) return status;
  for (size_t i = 0; i < w->q->assessment->parameters; i++) w->done[i] = false;
  idm_profile_fix(first, w->dimension, w->precision);
  first->enough = INFINITY;
  first->left = w->evaluations;
  status = idm_profile_climb(first, &first->best, opt_error);
  return status == IDM_OK ? idm_profile_hop(first, &first->best, opt_error) : status;
}

static idm_status identify_all(identifying *w, idm_error *opt_error)
{
  enum { most_rounds = 6 };
  idm_assessment *a = w->q->assessment;
  profile *first = w->profile[0];
  bool higher = false, missed = true;
  first->left = 2 * w->evaluations;
  idm_matching_wander(first->matching);
  idm_status status = find_best(w, first, opt_error);
  a->identified = isfinite(first->best.height);
  a->log_likelihood = first->best.height;
  if (!a->identified) return status;
  for (int round = 0; round < most_rounds && (higher || missed) && status == IDM_OK; round++) {
    w->last = round + 1 == most_rounds;
    a->log_likelihood = first->best.height;
    keep_draws(w);
    status = identify_items(w, &higher, opt_error);
    if (status == IDM_OK && !higher) compare_profiles(w, &missed);
  }
  for (size_t i = 0; i < a->parameters; i++) a->parameter[i].unchecked |= higher || !w->done[i];
  return status;
}

/* --- work ----------------------------------------------------------------------------------- */

static size_t count_scalars(const idm_parameters *parameters)
{
  size_t count = 0;
  for (size_t i = 0; i < parameters->items; i++)
    count += idm_parameter_is_scalar(&parameters->item[i]);
  return count;
}

/* What a history costs beside one of two actions, three results and three models. */
static double breadth_of(const idm_problem *problem)
{
  const idm_setting *s = problem->setting;
  return (double)s->actions.count * (double)s->observations.count * (double)problem->theta->models /
         18;
}

/* What an evaluation costs decides how many there may be. */
static void plan_work(identifying *w)
{
  const inquiry *q = w->q;
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  w->tabled = q->f->table && q->f->table->error <= most_error;
  const double work = (w->tabled ? 2001 : (double)points) + 0.1 * (double)idm_fit_histories(q->f);
  const double breadth = breadth_of(q->f->problem);
  const size_t scalars = count_scalars(q->f->parameters);
  w->dear = work > 2000 || w->dimension > 6 || w->part;
  /* Where there are very many histories, and no part to go by, what is cut short says so. */
  static const double large = 8000, usual = 1500;
  const double total = work > large ? usual * pow(large / work, 2)
                       : w->part    ? usual
                                    : fmin(fmax(1.2e7 / (work * fmax(breadth, 1)), usual), 40000);
  const long least = work > large ? 40 : 200;
  w->evaluations = (long)(total / (double)(scalars ? scalars : 1));
  if (w->evaluations < least) w->evaluations = least;
  w->guides = w->dear ? 12 : most_guides;
  w->jobs = scalars < most_jobs ? scalars : most_jobs;
  if (points > 20000) w->jobs = 1; /* memory */
  if (!w->jobs) w->jobs = 1;
}

static void end_work(identifying *w)
{
  (void)idm_matching_stand_in(w->q->f->matching[0], NULL, NULL, NULL);
  for (size_t k = 0; w->profile && k < w->jobs; k++) {
    if (k && w->profile[k]) idm_matching_destroy(w->profile[k]->matching);
    idm_profile_destroy(w->profile[k]);
  }
  free(w->profile);
  free(w->status);
  free(w->error);
  free(w->where);
  free(w->step);
  free(w->guide);
  free(w->draw);
  free(w->seen);
  free(w->seen_at);
  free(w->done);
}

/* Windows that hold the draw of the highest density, wherever the units of the problem put it. */
static void lay_windows(identifying *w)
{
  const idm_posterior *posterior = w->q->posterior;
  const size_t count = posterior->chains * posterior->draws;
  size_t best = 0;
  idm_profile_windows(w->q->f, w->where);
  for (size_t i = 1; i < count; i++)
    if (posterior->statistics[i].log_density > posterior->statistics[best].log_density) best = i;
  for (size_t i = 0; i < w->dimension && count; i++)
    idm_window_hold(&w->where[i], posterior->unconstrained[i * count + best]);
}

static idm_status begin_work(identifying *w, idm_error *opt_error)
{
  const fit *f = w->q->f;
  const size_t d = w->dimension;
  const size_t scalars = count_scalars(f->parameters);
  plan_work(w);
  w->where = idm_new(d, sizeof *w->where);
  w->step = idm_new(d * (1 + 2 * d), sizeof *w->step);
  w->guide = idm_places_create(w->guides, d);
  w->draw = idm_places_create(most_draws + scalars * most_seen, d);
  w->seen = idm_new(scalars, sizeof *w->seen);
  w->seen_at = idm_places_create(scalars * most_seen, d);
  w->done = idm_new(scalars, sizeof *w->done);
  w->profile = idm_new(w->jobs, sizeof(profile *));
  w->status = idm_new(w->jobs, sizeof *w->status);
  w->error = idm_new(w->jobs, sizeof *w->error);
  if (!w->where || !w->step || !w->guide || !w->draw || !w->seen || !w->seen_at || !w->done ||
      !w->profile || !w->status || !w->error)
    return idm_fail_memory(opt_error);
  w->precision = w->step + d;
  w->covariance = w->precision + d * d;
  lay_windows(w);
  for (size_t i = 0; i < d; i++) w->step[i] = w->where[i].unit;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < w->jobs && status == IDM_OK; k++) {
    idm_matching *matching = f->matching[0];
    if (k) status = idm_fit_match(f, f->problem, &matching, opt_error);
    if (status == IDM_OK && w->tabled) status = idm_fit_stand_in(f, matching, opt_error);
    if (status == IDM_OK) status = idm_profile_create(f, matching, &w->profile[k], opt_error);
    if (status != IDM_OK) {
      if (k) idm_matching_destroy(matching);
      break;
    }
    w->profile[k]->where = w->where;
    w->profile[k]->step = w->step;
    w->profile[k]->frugal = w->dear;
    w->profile[k]->guides = w->guides;
    w->profile[k]->guide = w->guide;
  }
  return status;
}

/* Over some trajectories of a log of very many histories, then brought over to all of them. */
static idm_status identify_by_part(const inquiry *q, fit *small, double share, idm_error *opt_error)
{
  inquiry over = *q;
  over.f = small;
  identifying w = {.q = &over, .dimension = q->f->parameters->dimension, .part = true};
  idm_status status = begin_work(&w, opt_error);
  if (status == IDM_OK) status = identify_all(&w, opt_error);
  if (status == IDM_OK && q->assessment->identified)
    status = idm_identify_whole(q, w.profile[0]->best.y, w.covariance, share, opt_error);
  if (status == IDM_OK && q->assessment->identified)
    idm_notes_add(
        &q->assessment->remarks,
        "what the data bound was looked for in %zu of %zu trajectories, spread over all; the "
        "intervals are those of all, by the curvature at their maximum, held against the "
        "likelihood at their ends",
        small->data->trajectories, q->f->data->trajectories);
  end_work(&w);
  return status;
}

static idm_status identify_in_full(const inquiry *q, idm_error *opt_error)
{
  identifying w = {.q = q, .dimension = q->f->parameters->dimension};
  idm_status status = begin_work(&w, opt_error);
  if (status == IDM_OK) status = identify_all(&w, opt_error);
  if (status == IDM_OK && q->assessment->identified)
    idm_judge_top(q, w.profile[0]->best.y, w.profile[0]->best.height);
  end_work(&w);
  return status;
}

static idm_status identify(const inquiry *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  fit small = {0};
  idm_data *part = NULL;
  double share = 1;
  a->parameters = count_scalars(q->f->parameters);
  a->parameter = idm_new(a->parameters, sizeof *a->parameter);
  idm_status status = a->parameter ? idm_start_open_part(q->f, &small, &part, &share, opt_error)
                                   : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        share < 1 ? identify_by_part(q, &small, share, opt_error) : identify_in_full(q, opt_error);
  idm_fit_close(&small);
  idm_data_destroy(part);
  if (!a->identified) a->parameters = 0;
  return status;
}

idm_status idm_check_identification(const inquiry *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  a->identified = !q->posterior->coordinate_size;
  if (!a->identified) {
    idm_judge_unnamed(q);
    return IDM_OK;
  }
  const idm_status status = identify(q, opt_error);
  if (status == IDM_OK) idm_judge_identification(q);
  return status;
}
