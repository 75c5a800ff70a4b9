/* Decisions against what the answer expected of them: see the header.
 *
 * Contents: questions · looking · information · replicates */
#include "invert/assess/residual.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/assess/view.h"

/* More free numbers than this are not taken out of the residuals, which then only vary less than is
 * expected of them. */
enum { most_dimension = 32 };
/* The least probability that an action taken is given. */
static const double smallest = 1e-300;

void idm_residual_close(residual *r)
{
  idm_strata_close(&r->whole);
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
static void list_trajectory(residual *r, size_t c, size_t t)
{
  const stratum *of = &r->strata->one[c];
  const idm_data *data = of->data;
  uint32_t node = of->tree->last[t];
  for (size_t row = data->first[t + 1]; row-- > data->first[t];) {
    /* After a missed response nothing can be repeated: as at a start. */
    const bool first = row == data->first[t] || idm_data_missed(data, row - 1);
    const bool second = first || row - 1 == data->first[t] || idm_data_missed(data, row - 2);
    const uint32_t parent = (uint32_t)of->tree->node[node].parent;
    if (idm_data_open(data, data->available[row]) > 1 && data->action[row] != IDM_MISSING)
      r->question[r->questions++] =
          (question){.stratum = (uint32_t)c,
                     .node = (uint32_t)of->first + node,
                     .parent = (uint32_t)of->first + parent,
                     .depth = of->tree->node[node].depth,
                     .available = data->available[row],
                     .agent = of->agent[t],
                     .previous = first ? IDM_MISSING : data->action[row - 1],
                     .seen = first ? IDM_MISSING : data->observation[row - 1],
                     .earlier = second ? IDM_MISSING : data->action[row - 2],
                     .shown = second ? IDM_MISSING : data->observation[row - 2],
                     .variant = data->variant[t],
                     .step = (uint32_t)(row - data->first[t]),
                     .when = of->when[t]};
    node = parent;
  }
}

static int by_question(const void *a, const void *b)
{
  const question *x = a;
  const question *y = b;
  if (x->agent != y->agent) return x->agent < y->agent ? -1 : 1;
  if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
  if (x->available != y->available) return x->available < y->available ? -1 : 1;
  if (x->when.of_agent != y->when.of_agent) return x->when.of_agent < y->when.of_agent ? -1 : 1;
  return (x->when.of_log > y->when.of_log) - (x->when.of_log < y->when.of_log);
}

/* Put the same questions of a stratum, from `first` on, together, and count their answers. */
static void gather(residual *r, size_t c, size_t first)
{
  const stratum *of = &r->strata->one[c];
  const size_t end = r->questions;
  r->questions = first;
  qsort(r->question + first, end - first, sizeof *r->question, by_question);
  for (size_t i = first; i < end; i++) {
    const question one = r->question[i];
    if (i == first || by_question(&r->question[r->questions - 1], &one) != 0)
      r->question[r->questions++] = one;
    const int32_t action = of->tree->node[one.node - of->first].action;
    r->question[r->questions - 1].asked++;
    r->taken[(r->questions - 1) * r->actions + (size_t)action]++;
  }
}

static void list_questions(residual *r)
{
  for (size_t c = 0; c < r->strata->count; c++) {
    const size_t first = r->questions;
    for (size_t t = 0; t < r->strata->one[c].data->trajectories; t++) list_trajectory(r, c, t);
    gather(r, c, first);
  }
}

/* --- looking -------------------------------------------------------------------------------- */

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
static idm_status differentiate_by(residual *r, viewer *v, size_t j, double *y, double *side,
                                   idm_error *opt_error)
{
  const strata *s = r->strata;
  const size_t d = s->dimension, cells = s->nodes * r->actions;
  bool below = false, above = false;
  for (size_t c = 0; c < s->count; c++) y[c * d + j] = s->centre[c * d + j] - s->step[c * d + j];
  idm_status status = idm_view_at(v, y, NULL, side, &below, opt_error);
  for (size_t c = 0; c < s->count; c++) y[c * d + j] = s->centre[c * d + j] + s->step[c * d + j];
  if (status == IDM_OK) status = idm_view_at(v, y, NULL, side + cells, &above, opt_error);
  for (size_t c = 0; c < s->count; c++) y[c * d + j] = s->centre[c * d + j];
  if (status != IDM_OK || !below || !above) return status;
  for (size_t c = 0; c < s->count; c++) {
    const size_t begin = s->one[c].first * r->actions;
    const size_t end = begin + s->one[c].tree->nodes * r->actions;
    for (size_t i = begin; i < end; i++)
      r->slope[i * r->dimension + j] = log_slope(side[i], side[cells + i], s->step[c * d + j]);
  }
  return IDM_OK;
}

static idm_status differentiate(residual *r, viewer *v, idm_error *opt_error)
{
  const strata *s = r->strata;
  double *side = idm_new(idm_times(2 * s->nodes, r->actions), sizeof *side);
  double *y = idm_duplicate(s->centre, s->count * s->dimension, sizeof *y);
  idm_status status = side && y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t j = 0; j < r->dimension && status == IDM_OK; j++) {
    status = differentiate_by(r, v, j, y, side, opt_error);
    centre_scores(r, s->nodes, j);
  }
  free(side);
  free(y);
  return status;
}

static idm_status look_around(residual *r, viewer *v, idm_error *opt_error)
{
  const idm_status status =
      idm_view_at(v, r->strata->centre, NULL, r->probability, &r->seen, opt_error);
  return status == IDM_OK && r->seen && r->dimension ? differentiate(r, v, opt_error) : status;
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

static idm_status make_room(residual *r, size_t rows, idm_error *opt_error)
{
  const size_t cells = idm_times(r->strata->nodes, r->actions);
  r->question = idm_new(rows, sizeof *r->question);
  r->taken = idm_new(idm_times(rows, r->actions), sizeof *r->taken);
  r->probability = idm_new(cells, sizeof *r->probability);
  r->slope = idm_new(idm_times(cells, r->dimension), sizeof *r->slope);
  r->information = idm_new(r->dimension * r->dimension, sizeof *r->information);
  r->inverse = idm_new(r->dimension * r->dimension, sizeof *r->inverse);
  const bool made =
      r->question && r->taken && r->probability && r->slope && r->information && r->inverse;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_residual_open(residual *r, const inquiry *q, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const bool named = !q->posterior->coordinate_size && !q->elsewhere;
  *r = (residual){.setting = q->f->problem->setting,
                  .strata = q->people ? q->people : &r->whole,
                  .actions = q->f->data->sizes.actions,
                  .observations = q->f->data->sizes.observations,
                  .dimension = named && d <= most_dimension ? d : 0};
  viewer v = {0};
  idm_status status = q->people ? IDM_OK : idm_strata_whole(&r->whole, q, opt_error);
  if (status == IDM_OK) status = make_room(r, q->f->data->rows, opt_error);
  if (status == IDM_OK) status = idm_view_open(&v, q->f, r->strata, opt_error);
  if (status == IDM_OK) status = look_around(r, &v, opt_error);
  if (status == IDM_OK && r->seen) {
    list_questions(r);
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
