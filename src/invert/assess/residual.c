/* Decisions against what the answer expected of them: see the header.
 *
 * Contents: questions · looking · information · replicates */
#include "invert/assess/residual.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/moments.h"
#include "invert/assess/view.h"

/* More free numbers than this are not taken out of the residuals, which then only vary less than is
 * expected of them. */
enum { most_dimension = 32 };
/* The least probability that an action taken is given. */
static const double smallest = 1e-300;

void idm_residual_close(residual *r)
{
  free(r->question);
  free(r->taken);
  free(r->probability);
  free(r->slope);
  free(r->information);
  free(r->inverse);
  *r = (residual){0};
}

/* --- questions ------------------------------------------------------------------------------ */

/* The decisions of one trajectory, backwards from its last node, each a question of its own. */
static void list_trajectory(residual *r, const idm_prefix_tree *tree, size_t t)
{
  const idm_data *data = r->data;
  uint32_t node = tree->last[t];
  for (size_t row = data->first[t + 1]; row-- > data->first[t];) {
    /* After a missed response nothing can be repeated: as at a start. */
    const bool first = row == data->first[t] || idm_data_missed(data, row - 1);
    const uint32_t parent = (uint32_t)tree->node[node].parent;
    if (idm_data_open(data, data->available[row]) > 1 && data->action[row] != IDM_MISSING)
      r->question[r->questions++] =
          (question){.node = node,
                     .parent = parent,
                     .available = data->available[row],
                     .agent = data->agent[t],
                     .previous = first ? IDM_MISSING : data->action[row - 1],
                     .seen = first ? IDM_MISSING : data->observation[row - 1],
                     .step = (uint32_t)(row - data->first[t])};
    node = parent;
  }
}

static int by_question(const void *a, const void *b)
{
  const question *x = a;
  const question *y = b;
  if (x->agent != y->agent) return x->agent < y->agent ? -1 : 1;
  if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
  return (x->available > y->available) - (x->available < y->available);
}

/* Put the same questions together, and count their answers. */
static void gather(residual *r, const idm_prefix_tree *tree)
{
  const size_t rows = r->questions;
  r->questions = 0;
  qsort(r->question, rows, sizeof *r->question, by_question);
  for (size_t i = 0; i < rows; i++) {
    const question one = r->question[i];
    if (!i || by_question(&r->question[r->questions - 1], &one) != 0)
      r->question[r->questions++] = one;
    r->question[r->questions - 1].asked++;
    r->taken[(r->questions - 1) * r->actions + (size_t)tree->node[one.node].action]++;
  }
}

/* --- looking -------------------------------------------------------------------------------- */

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
    const double *x = q->posterior->unconstrained + j * count;
    step[j] = 0.05 * sqrt(idm_squares_about(x, count, y[j]) / (double)count);
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

/* Scores have mean 0 given the past, which all that follows relies on. Differences have it only up
 * to their error, and in a direction that the decisions do not depend on, as shaping of a utility,
 * the error is all there is: its sum over the log would exceed its sd without bound. */
static void centre_scores(residual *r, size_t nodes, size_t j)
{
  for (size_t node = 0; node < nodes; node++) {
    const double *p = r->probability + node * r->actions;
    double *slope = r->slope + node * r->actions * r->dimension + j;
    double mean = 0;
    for (size_t u = 0; u < r->actions; u++) mean += p[u] * slope[u * r->dimension];
    for (size_t u = 0; u < r->actions; u++) slope[u * r->dimension] -= mean;
  }
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
    status = idm_view_at(v, y, NULL, side, &below, opt_error);
    y[j] = centre + step[j];
    if (status == IDM_OK) status = idm_view_at(v, y, NULL, side + cells, &above, opt_error);
    y[j] = centre;
    for (size_t i = 0; status == IDM_OK && below && above && i < cells; i++)
      r->slope[i * r->dimension + j] = log_slope(side[i], side[cells + i], step[j]);
    centre_scores(r, nodes, j);
  }
  free(side);
  return status;
}

static idm_status look_around(residual *r, const inquiry *q, viewer *v, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t nodes = q->f->tree->nodes;
  double *y = idm_new(3 * d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_view_centre(q, y);
    status = idm_view_at(v, y, NULL, r->probability, &r->seen, opt_error);
  }
  if (status == IDM_OK && r->seen && r->dimension) {
    find_steps(q, y, y + d, y + 2 * d);
    status = differentiate(r, v, nodes, y, y + d, opt_error);
  }
  free(y);
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
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      work[i * d + j] = r->information[i * d + j] * scale[i] * scale[j];
  idm_symmetric_eigen(d, work, values, vectors);
  for (size_t k = 0; k < d; k++) {
    const double *v = vectors + k * d;
    for (size_t i = 0; values[k] > 1e-8 && i < d; i++)
      for (size_t j = 0; j < d; j++)
        r->inverse[i * d + j] += v[i] * v[j] / values[k] * scale[i] * scale[j];
  }
  free(work);
  return IDM_OK;
}

void idm_residual_inform(const residual *r, const question *q, double *information)
{
  const size_t d = r->dimension;
  const double *p = idm_residual_probability(r, q);
  for (size_t u = 0; u < r->actions; u++) {
    const double *s = idm_residual_score(r, q, u);
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) information[i * d + j] += q->asked * p[u] * s[i] * s[j];
  }
}

double idm_residual_length(const residual *r, const double *x)
{
  const size_t d = r->dimension;
  double sum = 0;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) sum += x[i] * r->inverse[i * d + j] * x[j];
  return sum;
}

static void add_up(residual *r)
{
  for (size_t i = 0; i < r->questions; i++) {
    const double *p = idm_residual_probability(r, &r->question[i]);
    const double *taken = r->taken + i * r->actions;
    for (size_t u = 0; u < r->actions; u++)
      if (taken[u] > 0) r->log_likelihood += taken[u] * log(fmax(p[u], smallest));
    idm_residual_inform(r, &r->question[i], r->information);
  }
}

idm_status idm_residual_open(residual *r, const inquiry *q, idm_error *opt_error)
{
  const idm_data *data = q->f->data;
  const size_t d = q->f->parameters->dimension;
  const bool named = !q->posterior->coordinate_size && !q->elsewhere;
  *r = (residual){.data = data,
                  .setting = q->f->problem->setting,
                  .actions = data->sizes.actions,
                  .dimension = named && d <= most_dimension ? d : 0};
  const size_t cells = q->f->tree->nodes * r->actions;
  r->question = idm_new(data->rows, sizeof *r->question);
  r->taken = idm_new(idm_times(data->rows, r->actions), sizeof *r->taken);
  r->probability = idm_new(cells, sizeof *r->probability);
  r->slope = idm_new(idm_times(cells, r->dimension), sizeof *r->slope);
  r->information = idm_new(r->dimension * r->dimension, sizeof *r->information);
  r->inverse = idm_new(r->dimension * r->dimension, sizeof *r->inverse);
  viewer v = {0};
  idm_status status = IDM_OK;
  if (!r->question || !r->taken || !r->probability || !r->slope || !r->information || !r->inverse)
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_view_open(&v, q, opt_error);
  if (status == IDM_OK) status = look_around(r, q, &v, opt_error);
  if (status == IDM_OK && r->seen) {
    for (size_t t = 0; t < data->trajectories; t++) list_trajectory(r, q->f->tree, t);
    gather(r, q->f->tree);
    add_up(r);
    status = invert_information(r, opt_error);
  }
  idm_view_close(&v);
  if (status != IDM_OK) idm_residual_close(r);
  return status;
}

/* --- replicates ----------------------------------------------------------------------------- */

/* One answer: an index in proportion to p, which sums to 1 but for rounding. */
static size_t draw_one(size_t actions, const double *p, idm_random *random)
{
  double left = idm_random_uniform(random);
  size_t last = 0;
  for (size_t u = 0; u < actions && left >= 0; u++) {
    left -= p[u];
    if (p[u] > 0) last = u;
  }
  return last;
}

/* Binomial, by summing its probabilities up; where it is wide enough the normal number next to it.
 */
static double draw_binomial(double n, double p, idm_random *random)
{
  if (p > 0.5) return n - draw_binomial(n, 1 - p, random);
  const double variance = n * p * (1 - p);
  if (!(variance > 0)) return 0;
  if (variance > 50)
    return fmin(n, fmax(0, rint(n * p + sqrt(variance) * idm_random_normal(random))));
  double left = idm_random_uniform(random);
  double chance = exp(n * log1p(-p));
  double k = 0;
  for (left -= chance; left > 0 && k < n; left -= chance) {
    chance *= (n - k) / (k + 1) * p / (1 - p);
    k++;
  }
  return k;
}

/* Answers to a question that was asked often: one action after the other, of those left. */
static void draw_many(size_t actions, const double *p, double n, idm_random *random, double *taken)
{
  double rest = 1;
  for (size_t u = 0; u < actions && n > 0; u++) {
    const bool all = p[u] >= rest * (1 - 1e-12);
    taken[u] = all ? n : draw_binomial(n, p[u] / rest, random);
    n -= taken[u];
    rest -= p[u];
  }
}

void idm_residual_draw(const residual *r, idm_random *random, double *taken)
{
  enum { few = 8 };
  memset(taken, 0, r->questions * r->actions * sizeof *taken);
  for (size_t i = 0; i < r->questions; i++) {
    const question *q = &r->question[i];
    const double *p = idm_residual_probability(r, q);
    double *own = taken + i * r->actions;
    if (q->asked > few) draw_many(r->actions, p, q->asked, random, own);
    for (uint32_t k = 0; q->asked <= few && k < q->asked; k++)
      own[draw_one(r->actions, p, random)]++;
  }
}

void idm_residual_shift(const residual *r, const double *taken, double *shift)
{
  const size_t d = r->dimension;
  double score[most_dimension] = {0};
  for (size_t i = 0; i < r->questions; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->question[i], u);
      for (size_t j = 0; n > 0 && j < d; j++) score[j] += n * s[j];
    }
  for (size_t i = 0; i < d; i++) {
    shift[i] = 0;
    for (size_t j = 0; j < d; j++) shift[i] += r->inverse[i * d + j] * score[j];
  }
}
