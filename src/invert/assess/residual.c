/* Decisions against what the answer expected of them: see the header.
 *
 * Contents: decisions · looking · information · replicates */
#include "invert/assess/residual.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/matching.h"

/* More free numbers than this are not taken out of the residuals, which then only vary less than is
 * expected of them. */
enum { most_dimension = 32 };
/* The least probability that an action taken is given. */
static const double smallest = 1e-300;

void idm_residual_close(residual *r)
{
  free(r->decision);
  free(r->probability);
  free(r->slope);
  free(r->information);
  free(r->inverse);
  *r = (residual){0};
}

/* --- decisions ------------------------------------------------------------------------------ */

/* The decisions of one trajectory, backwards from its last node. */
static void list_trajectory(residual *r, const idm_prefix_tree *tree, size_t t)
{
  const idm_data *data = r->data;
  uint32_t node = tree->last[t];
  for (size_t row = data->first[t + 1]; row-- > data->first[t];) {
    const bool free_choice = idm_data_open(data, data->available[row]) > 1;
    const bool first = row == data->first[t];
    if (free_choice && data->action[row] != IDM_MISSING)
      r->decision[r->decisions++] =
          (decision){.node = node,
                     .agent = data->agent[t],
                     .action = data->action[row],
                     .previous = first ? IDM_MISSING : data->action[row - 1],
                     .seen = first ? IDM_MISSING : data->observation[row - 1],
                     .step = (uint32_t)(row - data->first[t])};
    node = (uint32_t)tree->node[node].parent;
  }
}

/* --- looking -------------------------------------------------------------------------------- */

/* Plans at a vector of free numbers, and what they make of every node. */
typedef struct viewer {
  const idm_parameters *parameters;
  idm_workspace *workspace;
  idm_theta *theta;
  idm_scorer *scorer;
  size_t actions;
  double *probability; /* [node][action]: where to write */
} viewer;

static void view(void *context, size_t node, const double *probability)
{
  const viewer *v = context;
  memcpy(v->probability + node * v->actions, probability, v->actions * sizeof *probability);
}

/* pi at y. *seen is false where y cannot be planned for. */
static idm_status look(viewer *v, const double *y, double *probability, bool *seen,
                       idm_error *opt_error)
{
  idm_score score;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_FROM_NOTHING;
  v->probability = probability;
  idm_parameters_set(v->parameters, y, v->theta);
  idm_status status = idm_plan(v->theta, &solver, v->workspace, NULL, opt_error);
  if (status == IDM_OK)
    status = idm_scorer_run(v->scorer, idm_workspace_behavior(v->workspace), &score, opt_error);
  *seen = status == IDM_OK;
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}

/* Steps of differences: a twentieth of the posterior's sd, or for a point a thousandth of how far
 * draws from the prior are from it, or of what there is. */
static void find_steps(const inquiry *q, const double *y, double *step, double *drawn)
{
  enum { prior_draws = 32 };
  const size_t d = q->f->parameters->dimension;
  const size_t count = q->posterior->chains * q->posterior->draws;
  const bool proper = idm_parameters_proper(q->f->parameters);
  idm_random random;
  idm_random_init(&random, q->posterior->seed, 0);
  for (size_t j = 0; j < d; j++) {
    double square = 0;
    for (size_t i = 0; i < count; i++) {
      const double away = q->posterior->unconstrained[j * count + i] - y[j];
      square += away * away / (double)count;
    }
    step[j] = 0.05 * sqrt(square);
  }
  for (size_t i = 0; count < 2 && proper && i < prior_draws; i++) {
    idm_parameters_draw(q->f->parameters, &random, drawn);
    for (size_t j = 0; j < d; j++) step[j] += 1e-3 * fabs(drawn[j] - y[j]) / prior_draws;
  }
  for (size_t j = 0; j < d; j++)
    if (!(step[j] > 1e-10 * fabs(y[j])) || !isfinite(step[j])) step[j] = 1e-4 * fmax(1, fabs(y[j]));
}

static double log_slope(double below, double above, double step)
{
  return below > 0 && above > 0 ? (log(above) - log(below)) / (2 * step) : 0;
}

/* slope[node][action][dimension] by central differences. Where a neighbour cannot be planned for
 * nothing is taken out in that direction. */
static idm_status differentiate(residual *r, viewer *v, size_t nodes, double *y, const double *step,
                                idm_error *opt_error)
{
  const size_t cells = nodes * r->actions;
  double *side = idm_new(2 * cells, sizeof *side);
  if (!side) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t j = 0; j < r->dimension && status == IDM_OK; j++) {
    const double centre = y[j];
    bool below = false;
    bool above = false;
    y[j] = centre - step[j];
    status = look(v, y, side, &below, opt_error);
    y[j] = centre + step[j];
    if (status == IDM_OK) status = look(v, y, side + cells, &above, opt_error);
    y[j] = centre;
    for (size_t i = 0; status == IDM_OK && below && above && i < cells; i++)
      r->slope[i * r->dimension + j] = log_slope(side[i], side[cells + i], step[j]);
  }
  free(side);
  return status;
}

/* The draw of highest density; the first where none has one. */
static size_t best_draw(const idm_posterior *p)
{
  size_t best = 0;
  for (size_t i = 1; i < p->chains * p->draws; i++)
    if (p->statistics[i].log_density > p->statistics[best].log_density) best = i;
  return best;
}

static idm_status look_around(residual *r, const inquiry *q, viewer *v, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t nodes = q->f->tree->nodes;
  double *y = idm_new(3 * d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_inquiry_draw(q, best_draw(q->posterior), y);
    status = look(v, y, r->probability, &r->seen, opt_error);
  }
  if (status == IDM_OK && r->seen && r->dimension) {
    find_steps(q, y, y + d, y + 2 * d);
    status = differentiate(r, v, nodes, y, y + d, opt_error);
  }
  free(y);
  return status;
}

static idm_status open_viewer(viewer *v, const inquiry *q, idm_error *opt_error)
{
  *v = (viewer){.parameters = q->f->parameters,
                .workspace = idm_matching_workspace(q->f->matching[0]),
                .actions = q->f->data->sizes.actions};
  idm_status status = idm_theta_copy(q->f->problem->theta, &v->theta, opt_error);
  if (status == IDM_OK) status = idm_scorer_create(q->f->data, q->f->tree, &v->scorer, opt_error);
  if (status == IDM_OK) idm_scorer_watch(v->scorer, view, v);
  return status;
}

/* --- information ---------------------------------------------------------------------------- */

/* Var(S) and its inverse over the directions in which there is information: scaled to a diagonal of
 * 1, so that units do not matter. */
static idm_status invert_information(residual *r, idm_error *opt_error)
{
  const size_t d = r->dimension;
  double *work = idm_new(2 * d * d + 2 * d, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  double *vectors = work + d * d;
  double *values = vectors + d * d;
  double *scale = values + d;
  for (size_t i = 0; i < d; i++) {
    const double own = r->information[i * d + i];
    scale[i] = own > 0 && isfinite(own) ? 1 / sqrt(own) : 0;
  }
  for (size_t i = 0; i < d * d; i++) work[i] = r->information[i] * scale[i / d] * scale[i % d];
  idm_symmetric_eigen(d, work, values, vectors);
  for (size_t k = 0; k < d; k++)
    for (size_t i = 0; values[k] > 1e-8 && i < d * d; i++)
      r->inverse[i] +=
          vectors[k * d + i / d] * vectors[k * d + i % d] / values[k] * scale[i / d] * scale[i % d];
  free(work);
  return IDM_OK;
}

static void add_up(residual *r)
{
  const size_t d = r->dimension;
  for (size_t i = 0; i < r->decisions; i++) {
    const decision *at = &r->decision[i];
    const double *p = idm_residual_probability(r, at);
    r->log_likelihood += log(fmax(p[at->action], smallest));
    for (size_t u = 0; u < r->actions; u++) {
      const double *s = idm_residual_score(r, at, u);
      for (size_t j = 0; j < d * d; j++) r->information[j] += p[u] * s[j / d] * s[j % d];
    }
  }
}

idm_status idm_residual_open(residual *r, const inquiry *q, idm_error *opt_error)
{
  const idm_data *data = q->f->data;
  const size_t d = q->f->parameters->dimension;
  const bool named = !q->posterior->coordinate_size;
  *r = (residual){.data = data,
                  .setting = q->f->problem->setting,
                  .actions = data->sizes.actions,
                  .dimension = named && d <= most_dimension ? d : 0};
  const size_t cells = q->f->tree->nodes * r->actions;
  r->decision = idm_new(data->rows, sizeof *r->decision);
  r->probability = idm_new(cells, sizeof *r->probability);
  r->slope = idm_new(idm_times(cells, r->dimension), sizeof *r->slope);
  r->information = idm_new(r->dimension * r->dimension, sizeof *r->information);
  r->inverse = idm_new(r->dimension * r->dimension, sizeof *r->inverse);
  viewer v = {0};
  idm_status status = IDM_OK;
  if (!r->decision || !r->probability || !r->slope || !r->information || !r->inverse)
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = open_viewer(&v, q, opt_error);
  if (status == IDM_OK) status = look_around(r, q, &v, opt_error);
  if (status == IDM_OK && r->seen) {
    for (size_t t = 0; t < data->trajectories; t++) list_trajectory(r, q->f->tree, t);
    add_up(r);
    status = invert_information(r, opt_error);
  }
  idm_scorer_destroy(v.scorer);
  idm_theta_destroy(v.theta);
  if (status != IDM_OK) idm_residual_close(r);
  return status;
}

/* --- replicates ----------------------------------------------------------------------------- */

void idm_residual_draw(const residual *r, idm_random *random, int32_t *choice)
{
  for (size_t i = 0; i < r->decisions; i++) {
    const double *p = idm_residual_probability(r, &r->decision[i]);
    double left = idm_random_uniform(random);
    int32_t last = r->decision[i].action; /* what rounding leaves over */
    for (size_t u = 0; u < r->actions && left >= 0; u++) {
      left -= p[u];
      if (p[u] > 0) last = (int32_t)u;
    }
    choice[i] = last;
  }
}

void idm_residual_shift(const residual *r, const int32_t *choice, double *shift)
{
  const size_t d = r->dimension;
  double score[most_dimension] = {0};
  for (size_t i = 0; i < r->decisions; i++) {
    const double *s = idm_residual_score(r, &r->decision[i], (size_t)choice[i]);
    for (size_t j = 0; j < d; j++) score[j] += s[j];
  }
  for (size_t i = 0; i < d; i++) {
    shift[i] = 0;
    for (size_t j = 0; j < d; j++) shift[i] += r->inverse[i * d + j] * score[j];
  }
}
