/* Soft policy matching: the log-likelihood of a log as a function of the free numbers of theta. */
#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/matching.h"
#include "invert/matching/halt.h"
#include "invert/matching/matching.h"
#include "invert/matching/surface.h"

struct idm_matching {
  const idm_parameters *parameters; /* borrowed */
  idm_theta *theta;                 /* clamped numbers, and the free ones of the last y */
  idm_workspace *workspace;
  idm_scorer *scorer;
  idm_gradient *gradient; /* NULL where there is none */
  idm_theta *slope;       /* of the theta as planned */
  double *nearby;         /* [dimension]: y moved by a step */
  double *unit;           /* [dimension]: size of a usual change of y */
  idm_surface *surface;   /* where plans start, as a function of y; NULL: at the anchor */
  const parameter *held;  /* a number held at a value, or NULL */
  double held_value;
  long impossible_line; /* of the last score */
  const char *impossible_file;
  idm_solver solver; /* whose slots say where plans start */
  double *anchor;    /* [dimension]: an anchor that waits, where unsettled */
  bool unsettled;
  const idm_table *table; /* stands in; NULL: nothing does */
  idm_matching *far;      /* the same log on a coarser lattice, beyond the table */
  double far_off;         /* added to it */
  double prior_at_mode;   /* of the table */
  bool exactly;
};

/* Nats below the table's top from which on a coarser lattice says how many: beyond what lattices
 * disagree about. */
static const double hopeless = 40;

void idm_matching_destroy(idm_matching *matching)
{
  if (!matching) return;
  idm_surface_destroy(matching->surface);
  idm_gradient_destroy(matching->gradient);
  idm_scorer_destroy(matching->scorer);
  idm_workspace_destroy(matching->workspace);
  idm_theta_destroy(matching->theta);
  idm_theta_destroy(matching->slope);
  idm_matching_destroy(matching->far);
  free(matching->nearby);
  free(matching->unit);
  free(matching->anchor);
  free(matching);
}

/* A wish to stop ends an evaluation, however large the log is. */
static bool is_unwanted(void *context)
{
  const idm_matching *m = context;
  return idm_halt_check(m->parameters->halt, NULL) != IDM_OK;
}

idm_status idm_matching_create(const idm_problem *problem, const idm_data *data,
                               const idm_prefix_tree *tree, const idm_parameters *parameters,
                               idm_matching **ret_matching, idm_error *opt_error)
{
  idm_require(problem, data, tree, parameters, ret_matching);
  *ret_matching = NULL;
  if (idm_theta_unlike(parameters->theta, problem->theta))
    return idm_fail(opt_error, IDM_USAGE, "the parameters are of another problem");
  const idm_status legal = idm_data_validate(data, problem->setting, opt_error);
  if (legal != IDM_OK) return legal;
  idm_matching *m = idm_new(1, sizeof *m);
  if (!m) return idm_fail_memory(opt_error);
  m->parameters = parameters;
  idm_solver_default(&m->solver);
  m->solver.slots = IDM_FROM_NOTHING;
  m->nearby = idm_new(idm_parameters_dimension(parameters), sizeof *m->nearby);
  m->unit = idm_new(idm_parameters_dimension(parameters), sizeof *m->unit);
  m->anchor = idm_new(idm_parameters_dimension(parameters), sizeof *m->anchor);
  idm_status status = m->nearby && m->unit && m->anchor ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) idm_parameters_units(parameters, m->unit);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &m->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &m->slope, opt_error);
  /* Slopes by numbers that are held show how much depends on them: see assess/sensitivity.c. */
  for (size_t i = 0; status == IDM_OK && i < m->slope->blocks; i++)
    m->slope->block[i].role = IDM_DESCRIPTIVE;
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, &m->workspace,
                                  opt_error);
  if (status == IDM_OK) status = idm_scorer_create(data, tree, &m->scorer, opt_error);
  if (status == IDM_OK && idm_gradient_possible(data, tree, m->workspace))
    status = idm_gradient_create(data, tree, m->workspace, &m->gradient, opt_error);
  idm_scorer_interrupt(m->scorer, is_unwanted, m);
  idm_gradient_interrupt(m->gradient, is_unwanted, m);
  if (status != IDM_OK) {
    idm_matching_destroy(m);
    return status;
  }
  *ret_matching = m;
  return IDM_OK;
}

/* Numbers that cannot be planned for lie outside the support; they are no failure. */
static bool outside(idm_status status)
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
  if (m->held) idm_parameter_write(m->theta, m->held, m->held_value);
  if (!m->held && idm_parameters_are_lost(m->parameters, m->theta)) return IDM_OK;
  if (m->surface && m->solver.slots > 0) m->solver.weights = idm_surface_weights(m->surface, y);
  const idm_status status =
      idm_halt_plan(m->parameters->halt, m->theta, &m->solver, m->workspace, &error);
  *planned = status == IDM_OK;
  if (status == IDM_OK || outside(status)) return IDM_OK;
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
  if (status == IDM_OK || outside(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

/* Whether the likelihood has steps, and no slope, by the numbers of a block. */
static bool has_steps(const idm_matching *m, size_t block)
{
  return idm_workspace_planner(m->workspace)->gives & IDM_GIVES_STEPS &&
         (block == IDM_UTILITY || block == IDM_DISCOUNT);
}

/* Central differences by coordinates of y. */
static idm_status differ(idm_matching *m, const double *y, size_t first, size_t past,
                         double *gradient, idm_error *opt_error)
{
  for (size_t i = first; i < past; i++) {
    const double step = 2e-5 * fmax(m->unit[i], fabs(y[i]));
    double side[2];
    for (int k = 0; k < 2; k++) {
      m->nearby[i] = y[i] + (k ? step : -step);
      const idm_status status = score(m, m->nearby, &side[k], opt_error);
      if (status != IDM_OK) return status;
    }
    m->nearby[i] = y[i];
    gradient[i] = isfinite(side[0]) && isfinite(side[1]) ? (side[1] - side[0]) / (2 * step) : 0;
  }
  return IDM_OK;
}

/* Central differences, for behaviours without a slope. */
static idm_status differences(idm_matching *m, const double *y, double *gradient,
                              idm_error *opt_error)
{
  const idm_parameters *p = m->parameters;
  idm_status status = IDM_OK;
  memcpy(m->nearby, y, p->dimension * sizeof *y);
  for (size_t i = 0; i < p->items && status == IDM_OK; i++) {
    const size_t past = i + 1 < p->items ? p->item[i + 1].first : p->dimension;
    if (!has_steps(m, p->item[i].block))
      status = differ(m, y, p->item[i].first, past, gradient, opt_error);
  }
  return status;
}

/* The planner's own gradient. */
static idm_status differentiate(idm_matching *m, const double *y, double *log_likelihood,
                                double *gradient, idm_error *opt_error)
{
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(m, y, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_gradient_run(m->gradient, log_likelihood, m->slope, opt_error);
  if (status == IDM_OK && isfinite(*log_likelihood))
    idm_parameters_pull(m->parameters, y, m->slope, gradient);
  if (!outside(status)) return status;
  *log_likelihood = -INFINITY;
  return IDM_OK;
}

/* From now on plans start from `slots` kept solutions, weighted by a surface or, one alone, as it
 * is. */
static void start_from(idm_matching *m, int slots, idm_surface *opt_surface)
{
  static const double alone = 1;
  idm_surface_destroy(m->surface);
  m->surface = opt_surface;
  m->solver.slots = slots;
  m->solver.weights = &alone;
  m->unsettled = false;
}

static idm_status anchor(idm_matching *m, const double *y, idm_error *opt_error)
{
  bool planned;
  start_from(m, IDM_FROM_NOTHING, NULL);
  idm_status status = plan(m, y, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_workspace_keep(m->workspace, 0, opt_error);
  if (status == IDM_OK) start_from(m, 1, NULL);
  return status;
}

/* Without planning, where something stands in; *known tells whether it does. */
static idm_status look_up(idm_matching *m, const double *y, double *log_likelihood,
                          double *opt_gradient, bool *known, idm_error *opt_error)
{
  *known = m->table && !m->held && !m->exactly;
  for (size_t i = 0; i < m->parameters->dimension; i++) *known = *known && isfinite(y[i]);
  if (!*known) return IDM_OK;
  if (idm_table_holds(m->table, y)) {
    *log_likelihood = idm_table_at(m->table, y, opt_gradient);
    return IDM_OK;
  }
  const idm_status status =
      idm_matching_log_likelihood(m->far, y, log_likelihood, opt_gradient, opt_error);
  *log_likelihood += m->far_off;
  /* Neither by the likelihood alone nor with the prior. */
  const double prior = idm_parameters_log_prior(m->parameters, y, NULL) - m->prior_at_mode;
  *known = *log_likelihood + fmax(prior, 0) < m->table->top - hopeless;
  return status;
}

idm_status idm_matching_log_likelihood(idm_matching *m, const double *y, double *log_likelihood,
                                       double *opt_gradient, idm_error *opt_error)
{
  idm_require(m, y, log_likelihood);
  const idm_status asked = idm_halt_check(m->parameters->halt, opt_error);
  if (asked != IDM_OK) return asked;
  bool known;
  const idm_status looked = look_up(m, y, log_likelihood, opt_gradient, &known, opt_error);
  if (looked != IDM_OK || known) return looked;
  const idm_status settled = m->unsettled ? anchor(m, m->anchor, opt_error) : IDM_OK;
  if (settled != IDM_OK) return settled;
  if (!opt_gradient) return score(m, y, log_likelihood, opt_error);
  for (size_t i = 0; i < m->parameters->dimension; i++) opt_gradient[i] = 0;
  if (m->gradient) return differentiate(m, y, log_likelihood, opt_gradient, opt_error);
  const idm_status status = differences(m, y, opt_gradient, opt_error);
  return status == IDM_OK ? score(m, y, log_likelihood, opt_error) : status;
}

idm_status idm_matching_check(idm_matching *m, idm_error *opt_error)
{
  idm_score result;
  /* The problem's own values may be ones that cannot be planned for; then there is nothing to see.
   */
  idm_error error = {0};
  const idm_status status =
      idm_halt_plan(m->parameters->halt, m->theta, &m->solver, m->workspace, &error);
  if (outside(status)) return IDM_OK;
  if (status != IDM_OK && opt_error) *opt_error = error;
  if (status != IDM_OK) return status;
  return idm_scorer_run(m->scorer, idm_workspace_behavior(m->workspace), &result, opt_error);
}

long idm_matching_impossible_line(const idm_matching *m, const char **ret_file)
{
  *ret_file = m->impossible_file;
  return m->impossible_line;
}

void idm_matching_hold(idm_matching *m, const parameter *opt_item, double value)
{
  m->held = opt_item;
  m->held_value = value;
}

void idm_matching_wander(idm_matching *m)
{
  start_from(m, IDM_FROM_LAST, NULL);
}

idm_status idm_matching_anchor(idm_matching *m, const double *y, idm_error *opt_error)
{
  idm_require(m, y);
  if (!m->table) return anchor(m, y, opt_error);
  memcpy(m->anchor, y, m->parameters->dimension * sizeof *y);
  m->unsettled = true;
  return IDM_OK;
}

idm_status idm_matching_survey(idm_matching *m, const double *mode, const double *covariance,
                               idm_error *opt_error)
{
  const size_t d = m->parameters->dimension;
  idm_surface *surface = NULL;
  if (m->table) return idm_matching_anchor(m, mode, opt_error);
  idm_status status = idm_surface_create(d, mode, covariance, &surface, opt_error);
  if (status != IDM_OK || !surface) return status;
  const size_t points = idm_surface_points(surface);
  start_from(m, IDM_FROM_NOTHING, NULL);
  bool planned = true;
  for (size_t k = 0; k < points && status == IDM_OK && planned; k++) {
    status = plan(m, idm_surface_point(surface, k), &planned, opt_error);
    if (status == IDM_OK && planned) status = idm_workspace_keep(m->workspace, k, opt_error);
  }
  if (status == IDM_OK && planned) {
    start_from(m, (int)points, surface);
    return IDM_OK;
  }
  /* A design point that cannot be planned for: the mode alone must do. */
  idm_surface_destroy(surface);
  return status == IDM_OK ? idm_matching_anchor(m, mode, opt_error) : status;
}

idm_status idm_matching_stand_in(idm_matching *m, const idm_table *opt_table, idm_matching *opt_far,
                                 idm_error *opt_error)
{
  idm_matching_destroy(m->far);
  m->table = opt_table;
  m->far = opt_far;
  if (!opt_table) return IDM_OK;
  double there = -INFINITY;
  idm_status status = idm_matching_anchor(opt_far, opt_table->mode, opt_error);
  if (status == IDM_OK)
    status = idm_matching_log_likelihood(opt_far, opt_table->mode, &there, NULL, opt_error);
  m->far_off = isfinite(there) ? opt_table->top - there : 0;
  m->prior_at_mode = idm_parameters_log_prior(m->parameters, opt_table->mode, NULL);
  return status;
}

void idm_matching_exactly(idm_matching *m, bool exactly)
{
  m->exactly = exactly;
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
    idm_parameters_log_prior(m->parameters, y, m->nearby);
    for (size_t i = 0; i < d; i++) opt_gradient[i] += m->nearby[i];
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

const idm_theta *idm_matching_slope(const idm_matching *matching)
{
  if (!matching) return NULL;
  return matching->gradient ? matching->slope : NULL;
}
