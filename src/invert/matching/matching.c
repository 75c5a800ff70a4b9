/* Soft policy matching: the log-likelihood of a log as a function of the free numbers of theta
 * (docs/method/likelihood.md).
 *
 * Contents: surface · matching */
#include "invert/matching/fit.h"

#include <math.h>

#include "base/arguments.h"
#include "base/dense.h"
#include "base/memory.h"
#include "data/log.h"
#include "invert/cancel.h"
#include "invert/matching.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === surface ================================================================================== */

/* Quadratic interpolation through points around a mode, in the coordinates of its normal
 * approximation: f(u) = f0 + sum_i (f+i - f-i) u_i/2h + (f+i + f-i - 2 f0) u_i^2/2h^2 + sum_i<j
 * (f+i+j - f+i - f+j + f0) u_i u_j/h^2. A fit without it took 72.0 s instead of 53.8 s at ADNI's
 * size (warm-up 100, 200 draws, one thread, without a table), 2.2 s instead of 1.8 s on DIAG. */

/* Step of the design, in posterior sds, and radius in which the surface is used. */
static const double surface_step = 1.5;
static const double surface_radius = 4;
/* Above this dimension the points of the design cost more than they save. */
enum { max_dimensions = 8 };

struct idm_surface {
  size_t dimension;
  size_t points;
  double *mode;   /* [dimension] */
  double *factor; /* lower triangular: y = mode + factor u */
  double *point;  /* [points][dimension] */
  double *weight; /* [points] */
  double *u;      /* [dimension] */
};

void idm_surface_destroy(idm_surface *s)
{
  if (!s) return;
  free(s->mode);
  free(s->factor);
  free(s->point);
  free(s->weight);
  free(s->u);
  free(s);
}

/* Index of the point at +h e_i, -h e_i, and h (e_i + e_j) for i < j. */
static size_t plus_index(size_t i)
{
  return 1 + 2 * i;
}

static size_t minus_index(size_t i)
{
  return 2 + 2 * i;
}

static size_t pair_index(size_t dimension, size_t i, size_t j)
{
  return 1 + 2 * dimension + i * (2 * dimension - i - 1) / 2 + (j - i - 1);
}

/* Compute point k of the design, displaced in one or two coordinates of u. */
static void set_design_point(idm_surface *s, size_t k, size_t i, double offset_i, size_t j,
                             double offset_j)
{
  const size_t d = s->dimension;
  double *y = s->point + k * d;
  memset(y, 0, d * sizeof *y);
  y[i] += offset_i;
  y[j] += offset_j;
  idm_lower_multiply(d, s->factor, y);
  for (size_t n = 0; n < d; n++) y[n] += s->mode[n];
}

idm_status idm_surface_create(size_t dimension, const double *mode, const double *covariance,
                              idm_surface **ret_surface, idm_error *opt_error)
{
  *ret_surface = NULL;
  if (dimension > max_dimensions) return IDM_OK;
  idm_surface *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->dimension = dimension;
  s->points = (dimension + 1) * (dimension + 2) / 2;
  s->mode = idm_duplicate(mode, dimension, sizeof *mode);
  s->factor = idm_duplicate(covariance, dimension * dimension, sizeof *covariance);
  s->point = idm_new(s->points * dimension, sizeof *s->point);
  s->weight = idm_new(s->points, sizeof *s->weight);
  s->u = idm_new(dimension, sizeof *s->u);
  if (!s->mode || !s->factor || !s->point || !s->weight || !s->u) {
    idm_surface_destroy(s);
    return idm_fail_memory(opt_error);
  }
  if (!idm_cholesky(dimension, s->factor)) {
    idm_surface_destroy(s);
    return IDM_OK;
  }
  memcpy(s->point, mode, dimension * sizeof *mode);
  for (size_t i = 0; i < dimension; i++) {
    set_design_point(s, plus_index(i), i, surface_step, i, 0);
    set_design_point(s, minus_index(i), i, -surface_step, i, 0);
    for (size_t j = i + 1; j < dimension; j++)
      set_design_point(s, pair_index(dimension, i, j), i, surface_step, j, surface_step);
  }
  *ret_surface = s;
  return IDM_OK;
}

size_t idm_surface_points(const idm_surface *surface)
{
  return surface->points;
}

const double *idm_surface_point(const idm_surface *surface, size_t k)
{
  return surface->point + k * surface->dimension;
}

const double *idm_surface_weights(idm_surface *s, const double *y)
{
  const size_t d = s->dimension;
  double *w = s->weight;
  for (size_t i = 0; i < d; i++) s->u[i] = y[i] - s->mode[i];
  idm_lower_solve(d, s->factor, s->u);
  for (size_t i = 0; i < d; i++)
    s->u[i] = fmin(fmax(s->u[i], -surface_radius), surface_radius) / surface_step;
  memset(w, 0, s->points * sizeof *w);
  w[0] = 1;
  for (size_t i = 0; i < d; i++) {
    const double u = s->u[i];
    w[0] -= u * u;
    w[plus_index(i)] += (u + u * u) / 2;
    w[minus_index(i)] += (u * u - u) / 2;
    for (size_t j = i + 1; j < d; j++) {
      const double product = u * s->u[j];
      w[pair_index(d, i, j)] += product;
      w[plus_index(i)] -= product;
      w[plus_index(j)] -= product;
      w[0] += product;
    }
  }
  return w;
}

/* === matching ================================================================================= */

struct idm_matching {
  const idm_parameters *parameters; /* borrowed */
  idm_theta *theta;                 /* held numbers, and the free ones of the last y */
  idm_workspace *workspace;
  idm_scorer *scorer;
  idm_gradient *gradient;    /* NULL: none */
  idm_theta *theta_gradient; /* derivatives by theta at the last plan */
  double *displaced;         /* [dimension]: y displaced by a step */
  double *unit;              /* [dimension]: typical change of y */
  idm_surface *surface; /* weights of the stored solutions at which plans start, as a function of y;
                           NULL: the anchor */
  const parameter *fixed_item; /* number held at a value, or NULL */
  double fixed_value;
  long impossible_line; /* of the last score */
  const char *impossible_file;
  idm_solver solver; /* its slots and weights define the start of plans */
  double *anchor;    /* [dimension]: deferred anchor, if anchor_pending */
  bool anchor_pending;
  const idm_likelihood_table *table; /* replaces planning; NULL: none */
  idm_matching *coarse;              /* the same log on a coarser lattice, outside the table */
  double coarse_offset;              /* added to its log-likelihood */
  double prior_at_mode;              /* log prior at the mode of the table */
  bool exact;
};

/* Nats below the table's maximum from which on a coarser lattice is accurate enough: lattices
 * differ by less. */
static const double negligible_drop = 40;

void idm_matching_destroy(idm_matching *matching)
{
  if (!matching) return;
  idm_surface_destroy(matching->surface);
  idm_gradient_destroy(matching->gradient);
  idm_scorer_destroy(matching->scorer);
  idm_workspace_destroy(matching->workspace);
  idm_theta_destroy(matching->theta);
  idm_theta_destroy(matching->theta_gradient);
  idm_matching_destroy(matching->coarse);
  free(matching->displaced);
  free(matching->unit);
  free(matching->anchor);
  free(matching);
}

/* A stop request ends an evaluation, for logs of any size. */
static bool is_cancelled(void *context)
{
  const idm_matching *m = context;
  return idm_cancel_check(m->parameters->cancel, NULL) != IDM_OK;
}

idm_status idm_matching_create(const idm_problem *problem, const idm_data *data,
                               const idm_prefix_tree *tree, const idm_parameters *parameters,
                               idm_matching **ret_matching, idm_error *opt_error)
{
  idm_require(problem, data, tree, parameters, ret_matching);
  *ret_matching = NULL;
  if (idm_theta_form_mismatch(parameters->theta, problem->theta))
    return idm_fail(opt_error, IDM_USAGE, "the parameters are of another problem");
  const idm_status valid_data = idm_data_validate(data, problem->setting, opt_error);
  if (valid_data != IDM_OK) return valid_data;
  idm_matching *m = idm_new(1, sizeof *m);
  if (!m) return idm_fail_memory(opt_error);
  m->parameters = parameters;
  idm_solver_default(&m->solver);
  m->solver.slots = IDM_START_COLD;
  m->displaced = idm_new(idm_parameters_dimension(parameters), sizeof *m->displaced);
  m->unit = idm_new(idm_parameters_dimension(parameters), sizeof *m->unit);
  m->anchor = idm_new(idm_parameters_dimension(parameters), sizeof *m->anchor);
  idm_status status = m->displaced && m->unit && m->anchor ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) idm_parameters_units(parameters, m->unit);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &m->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &m->theta_gradient, opt_error);
  /* Derivatives by held numbers are needed for sensitivities (assess/sensitivity.c). */
  for (size_t i = 0; status == IDM_OK && i < m->theta_gradient->blocks; i++)
    m->theta_gradient->block[i].role = IDM_DESCRIPTIVE;
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, &m->workspace,
                                  opt_error);
  if (status == IDM_OK) status = idm_scorer_create(data, tree, &m->scorer, opt_error);
  if (status == IDM_OK && idm_gradient_possible(data, tree, m->workspace))
    status = idm_gradient_create(data, tree, m->workspace, &m->gradient, opt_error);
  idm_scorer_interrupt(m->scorer, is_cancelled, m);
  idm_gradient_interrupt(m->gradient, is_cancelled, m);
  if (status != IDM_OK) {
    idm_matching_destroy(m);
    return status;
  }
  *ret_matching = m;
  return IDM_OK;
}

/* Numbers for which planning fails are outside the support; this is not an error. */
static bool outside_support(idm_status status)
{
  return status == IDM_NUMERICAL || status == IDM_INPUT;
}

static idm_status plan(idm_matching *m, const double *y, bool *planned, idm_error *opt_error)
{
  idm_error error = {0};
  *planned = false;
  for (size_t i = 0; i < m->parameters->dimension; i++)
    if (!isfinite(y[i])) return IDM_OK;
  idm_parameters_set(m->parameters, y, m->theta);
  if (m->fixed_item) idm_parameter_write(m->theta, m->fixed_item, m->fixed_value);
  if (!m->fixed_item && idm_parameters_degenerate(m->parameters, m->theta)) return IDM_OK;
  if (m->surface && m->solver.slots > 0) m->solver.weights = idm_surface_weights(m->surface, y);
  const idm_status status =
      idm_cancel_plan(m->parameters->cancel, m->theta, &m->solver, m->workspace, &error);
  *planned = status == IDM_OK;
  if (status == IDM_OK || outside_support(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

static idm_status score(idm_matching *m, const double *y, double *log_likelihood,
                        idm_error *opt_error)
{
  idm_error error = {0};
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(m, y, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  idm_score result;
  status = idm_scorer_run(m->scorer, idm_workspace_behavior(m->workspace), &result, &error);
  m->impossible_line = status == IDM_OK ? result.impossible_line : 0;
  m->impossible_file = status == IDM_OK ? result.impossible_file : NULL;
  if (status == IDM_OK) *log_likelihood = result.log_likelihood;
  if (status == IDM_OK || outside_support(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

/* Whether the likelihood is a step function, without a derivative, of the numbers of a block. */
static bool has_steps(const idm_matching *m, size_t block)
{
  return idm_workspace_planner(m->workspace)->supports & IDM_SUPPORTS_NO_GRADIENT &&
         (block == IDM_UTILITY || block == IDM_DISCOUNT);
}

/* Central differences by coordinates of y. */
static idm_status difference_range(idm_matching *m, const double *y, size_t first, size_t end,
                                   double *gradient, idm_error *opt_error)
{
  for (size_t i = first; i < end; i++) {
    const double step = 2e-5 * fmax(m->unit[i], fabs(y[i]));
    double sides[2];
    for (int k = 0; k < 2; k++) {
      m->displaced[i] = y[i] + (k ? step : -step);
      const idm_status status = score(m, m->displaced, &sides[k], opt_error);
      if (status != IDM_OK) return status;
    }
    m->displaced[i] = y[i];
    gradient[i] = isfinite(sides[0]) && isfinite(sides[1]) ? (sides[1] - sides[0]) / (2 * step) : 0;
  }
  return IDM_OK;
}

/* Central differences, for behaviours without a derivative. */
static idm_status difference_gradient(idm_matching *m, const double *y, double *gradient,
                                      idm_error *opt_error)
{
  const idm_parameters *p = m->parameters;
  idm_status status = IDM_OK;
  memcpy(m->displaced, y, p->dimension * sizeof *y);
  for (size_t i = 0; i < p->items && status == IDM_OK; i++) {
    const size_t end = i + 1 < p->items ? p->item[i + 1].first : p->dimension;
    if (!has_steps(m, p->item[i].block))
      status = difference_range(m, y, p->item[i].first, end, gradient, opt_error);
  }
  return status;
}

/* The planner's own gradient (docs/method/likelihood.md, 7). */
static idm_status planner_gradient(idm_matching *m, const double *y, double *log_likelihood,
                                   double *gradient, idm_error *opt_error)
{
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(m, y, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_gradient_run(m->gradient, log_likelihood, m->theta_gradient, opt_error);
  if (status == IDM_OK && isfinite(*log_likelihood))
    idm_parameters_backward(m->parameters, y, m->theta_gradient, gradient);
  if (!outside_support(status)) return status;
  *log_likelihood = -INFINITY;
  return IDM_OK;
}

/* Start plans from `slots` stored solutions from now on, weighted by a surface, or from a single
 * one. */
static void set_plan_start(idm_matching *m, int slots, idm_surface *opt_surface)
{
  static const double unit_weight = 1;
  idm_surface_destroy(m->surface);
  m->surface = opt_surface;
  m->solver.slots = slots;
  m->solver.weights = &unit_weight;
  m->anchor_pending = false;
}

static idm_status anchor(idm_matching *m, const double *y, idm_error *opt_error)
{
  bool planned;
  set_plan_start(m, IDM_START_COLD, NULL);
  idm_status status = plan(m, y, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_workspace_store(m->workspace, 0, opt_error);
  if (status == IDM_OK) set_plan_start(m, 1, NULL);
  return status;
}

/* Compute the log-likelihood without planning, by the table or the coarser lattice; *found is false
 * if a plan is needed. */
static idm_status table_log_likelihood(idm_matching *m, const double *y, double *log_likelihood,
                                       double *opt_gradient, bool *found, idm_error *opt_error)
{
  *found = m->table && !m->fixed_item && !m->exact;
  for (size_t i = 0; i < m->parameters->dimension; i++) *found = *found && isfinite(y[i]);
  if (!*found) return IDM_OK;
  if (idm_table_contains(m->table, y)) {
    *log_likelihood = idm_table_at(m->table, y, opt_gradient);
    return IDM_OK;
  }
  const idm_status status =
      idm_matching_log_likelihood(m->coarse, y, log_likelihood, opt_gradient, opt_error);
  *log_likelihood += m->coarse_offset;
  /* Negligible both by the likelihood alone and with the prior. */
  const double prior = idm_parameters_log_prior(m->parameters, y, NULL) - m->prior_at_mode;
  *found = *log_likelihood + fmax(prior, 0) < m->table->top - negligible_drop;
  return status;
}

idm_status idm_matching_log_likelihood(idm_matching *m, const double *y, double *log_likelihood,
                                       double *opt_gradient, idm_error *opt_error)
{
  idm_require(m, y, log_likelihood);
  const idm_status cancelled = idm_cancel_check(m->parameters->cancel, opt_error);
  if (cancelled != IDM_OK) return cancelled;
  bool found;
  const idm_status lookup =
      table_log_likelihood(m, y, log_likelihood, opt_gradient, &found, opt_error);
  if (lookup != IDM_OK || found) return lookup;
  const idm_status anchored = m->anchor_pending ? anchor(m, m->anchor, opt_error) : IDM_OK;
  if (anchored != IDM_OK) return anchored;
  if (!opt_gradient) return score(m, y, log_likelihood, opt_error);
  for (size_t i = 0; i < m->parameters->dimension; i++) opt_gradient[i] = 0;
  if (m->gradient) return planner_gradient(m, y, log_likelihood, opt_gradient, opt_error);
  const idm_status status = difference_gradient(m, y, opt_gradient, opt_error);
  return status == IDM_OK ? score(m, y, log_likelihood, opt_error) : status;
}

idm_status idm_matching_check(idm_matching *m, idm_error *opt_error)
{
  idm_score result;
  /* Planning may fail at the problem's own values; then nothing is checked. */
  idm_error error = {0};
  const idm_status status =
      idm_cancel_plan(m->parameters->cancel, m->theta, &m->solver, m->workspace, &error);
  if (outside_support(status)) return IDM_OK;
  if (status != IDM_OK && opt_error) *opt_error = error;
  if (status != IDM_OK) return status;
  return idm_scorer_run(m->scorer, idm_workspace_behavior(m->workspace), &result, opt_error);
}

long idm_matching_impossible_line(const idm_matching *m, const char **ret_file)
{
  *ret_file = m->impossible_file;
  return m->impossible_line;
}

void idm_matching_fix(idm_matching *m, const parameter *opt_item, double value)
{
  m->fixed_item = opt_item;
  m->fixed_value = value;
}

void idm_matching_warm_start(idm_matching *m)
{
  set_plan_start(m, IDM_START_LAST, NULL);
}

idm_status idm_matching_fix_start(idm_matching *m, const double *y, idm_error *opt_error)
{
  idm_require(m, y);
  if (!m->table) return anchor(m, y, opt_error);
  memcpy(m->anchor, y, m->parameters->dimension * sizeof *y);
  m->anchor_pending = true;
  return IDM_OK;
}

idm_status idm_matching_use_surface(idm_matching *m, const double *mode, const double *covariance,
                                    idm_error *opt_error)
{
  const size_t d = m->parameters->dimension;
  idm_surface *surface = NULL;
  if (m->table) return idm_matching_fix_start(m, mode, opt_error);
  idm_status status = idm_surface_create(d, mode, covariance, &surface, opt_error);
  if (status != IDM_OK || !surface) return status;
  const size_t points = idm_surface_points(surface);
  set_plan_start(m, IDM_START_COLD, NULL);
  bool planned = true;
  for (size_t k = 0; k < points && status == IDM_OK && planned; k++) {
    status = plan(m, idm_surface_point(surface, k), &planned, opt_error);
    if (status == IDM_OK && planned) status = idm_workspace_store(m->workspace, k, opt_error);
  }
  if (status == IDM_OK && planned) {
    set_plan_start(m, (int)points, surface);
    return IDM_OK;
  }
  /* Planning failed at a design point: start from the mode alone. */
  idm_surface_destroy(surface);
  return status == IDM_OK ? idm_matching_fix_start(m, mode, opt_error) : status;
}

idm_status idm_matching_use_table(idm_matching *m, const idm_likelihood_table *opt_table,
                                  idm_matching *opt_coarse, idm_error *opt_error)
{
  idm_matching_destroy(m->coarse);
  m->table = opt_table;
  m->coarse = opt_coarse;
  if (!opt_table) return IDM_OK;
  double coarse_value = -INFINITY;
  idm_status status = idm_matching_fix_start(opt_coarse, opt_table->mode, opt_error);
  if (status == IDM_OK)
    status =
        idm_matching_log_likelihood(opt_coarse, opt_table->mode, &coarse_value, NULL, opt_error);
  m->coarse_offset = isfinite(coarse_value) ? opt_table->top - coarse_value : 0;
  m->prior_at_mode = idm_parameters_log_prior(m->parameters, opt_table->mode, NULL);
  return status;
}

void idm_matching_set_exact(idm_matching *m, bool exact)
{
  m->exact = exact;
}

/* log-likelihood + log prior. */
static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  idm_matching *m = context;
  const size_t d = m->parameters->dimension;
  const double log_prior = idm_parameters_log_prior(m->parameters, y, NULL);
  if (!isfinite(log_prior)) {
    *log_density = -INFINITY;
    for (size_t i = 0; opt_gradient && i < d; i++) opt_gradient[i] = 0;
    return IDM_OK;
  }
  const idm_status status = idm_matching_log_likelihood(m, y, log_density, opt_gradient, opt_error);
  if (status != IDM_OK) return status;
  if (opt_gradient) {
    idm_parameters_log_prior(m->parameters, y, m->displaced);
    for (size_t i = 0; i < d; i++) opt_gradient[i] += m->displaced[i];
  }
  *log_density += log_prior;
  return IDM_OK;
}

idm_target idm_matching_target(idm_matching *matching)
{
  if (!matching) return (idm_target){0};
  return (idm_target){.dimension = matching->parameters->dimension,
                      .gradient = true,
                      .context = matching,
                      .evaluate = evaluate};
}

const idm_scorer *idm_matching_scorer(const idm_matching *matching)
{
  if (!matching) return NULL;
  return matching->scorer;
}

idm_workspace *idm_matching_workspace(idm_matching *matching)
{
  if (!matching) return NULL;
  return matching->workspace;
}

const idm_theta *idm_matching_theta_grad(const idm_matching *matching)
{
  if (!matching) return NULL;
  return matching->gradient ? matching->theta_gradient : NULL;
}
