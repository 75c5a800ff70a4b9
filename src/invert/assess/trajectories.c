/* Whether an agent's trajectories are alike enough to share numbers: see the header. */
#include "invert/assess/trajectories.h"

#include <math.h>

#include "base/memory.h"

void idm_trajectories_close(trajectories_check *c)
{
  free(c->before);
  free(c->cross);
  free(c->sd);
  free(c->rise);
  free(c->sum);
  *c = (trajectories_check){0};
}

/* Score and information, [dimension] each, over rows of a trajectory. */
typedef struct rows {
  double *score;
  double *information; /* its diagonal */
} rows;

static rows at(const rows *all, size_t row, size_t dimension)
{
  return (rows){all->score + row * dimension, all->information + row * dimension};
}

/* Add a row, where something was decided. */
static void add_row(const residual *r, const stratum *of, size_t node, const rows *to)
{
  const size_t row = of->first + node, d = r->dimension;
  const int32_t action = of->tree->node[node].action;
  if (action == IDM_MISSING || of->tree->node[node].missed) return;
  for (size_t u = 0; u < r->actions; u++)
    for (size_t j = 0; j < d; j++) {
      const double s = r->slope[(row * r->actions + u) * d + j];
      to->score[j] += action == (int32_t)u ? s : 0;
      to->information[j] += r->probability[row * r->actions + u] * s * s;
    }
}

/* Of every node, the rows of its trajectory above it; a parent comes before its children. */
static void add_rows(const residual *r, const rows *all)
{
  const size_t d = r->dimension;
  for (size_t c = 0; c < r->strata->count; c++) {
    const stratum *of = &r->strata->one[c];
    for (size_t i = 0; i < of->tree->nodes; i++) {
      const int32_t parent = of->tree->node[i].parent;
      if (parent < 0 || of->tree->node[parent].begin >= 0) continue;
      const rows to = at(all, of->first + i, d), from = at(all, of->first + (size_t)parent, d);
      memcpy(to.score, from.score, d * sizeof *to.score);
      memcpy(to.information, from.information, d * sizeof *to.information);
      add_row(r, of, (size_t)parent, &to);
    }
  }
}

/* Add a question to the variance of Q, to its covariances and to how it rises. */
static void add_question(trajectories_check *c, const question *q, const rows *before)
{
  const residual *r = c->r;
  const size_t d = r->dimension;
  const double *p = idm_residual_probability(r, q);
  for (size_t u = 0; u < r->actions; u++) {
    const double *s = idm_residual_score(r, q, u);
    for (size_t j = 0; j < d; j++) {
      const double own = q->asked * p[u] * s[j];
      c->rise[j] += own * s[j] * before->information[j];
      c->sd[j] += own * s[j] * before->score[j] * before->score[j];
      for (size_t k = 0; k < d; k++) c->cross[j * d + k] += own * s[k] * before->score[j];
    }
  }
}

/* The sds of Q once the scores of all decisions are taken out. */
static void find_sds(trajectories_check *c)
{
  static const double least = 1e-4; /* of the variance: less is rounding */
  const size_t d = c->r->dimension;
  for (size_t j = 0; j < d; j++) {
    const double rest = c->sd[j] - idm_residual_length(c->r, c->cross + j * d);
    c->sd[j] = rest > least * c->sd[j] ? sqrt(rest) : 0;
  }
}

static idm_status look(trajectories_check *c, idm_error *opt_error)
{
  const residual *r = c->r;
  const size_t d = r->dimension, size = idm_times(r->strata->nodes, d);
  const rows all = {idm_new(size, sizeof(double)), idm_new(size, sizeof(double))};
  const bool made = all.score && all.information;
  if (made) {
    add_rows(r, &all);
    for (size_t i = 0; i < r->questions; i++) {
      const rows before = at(&all, r->question[i].node, d);
      memcpy(c->before + i * d, before.score, d * sizeof *c->before);
      add_question(c, &r->question[i], &before);
    }
    find_sds(c);
  }
  free(all.score);
  free(all.information);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static size_t count_trajectories(const strata *s)
{
  size_t count = 0;
  for (size_t c = 0; c < s->count; c++) count += s->one[c].data->trajectories;
  return count > s->agents ? count : 0;
}

idm_status idm_trajectories_open(trajectories_check *c, const residual *r, idm_error *opt_error)
{
  const size_t d = r->dimension;
  *c = (trajectories_check){.r = r};
  if (!d || !count_trajectories(r->strata)) return IDM_OK;
  c->trajectories = count_trajectories(r->strata);
  c->before = idm_new(idm_times(r->questions, d), sizeof *c->before);
  c->cross = idm_new(d * d, sizeof *c->cross);
  c->sd = idm_new(d, sizeof *c->sd);
  c->rise = idm_new(d, sizeof *c->rise);
  c->sum = idm_new(d, sizeof *c->sum);
  const bool made = c->before && c->cross && c->sd && c->rise && c->sum;
  return made ? look(c, opt_error) : idm_fail_memory(opt_error);
}

double idm_trajectories_take(trajectories_check *c, const double *taken, const double *shift)
{
  const residual *r = c->r;
  const size_t d = r->dimension;
  double largest = 0;
  for (size_t j = 0; j < d; j++) {
    c->sum[j] = 0;
    for (size_t k = 0; k < d; k++) c->sum[j] -= c->cross[j * d + k] * shift[k];
  }
  for (size_t i = 0; i < r->questions; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->question[i], u);
      for (size_t j = 0; n > 0 && j < d; j++) c->sum[j] += n * s[j] * c->before[i * d + j];
    }
  for (size_t j = 0; j < d; j++)
    if (c->sd[j] > 0) largest = fmax(largest, c->sum[j] / c->sd[j]);
  return largest;
}

void idm_trajectories_between(const trajectories_check *c, double *between)
{
  for (size_t j = 0; j < c->r->dimension; j++)
    between[j] = c->sum[j] > 0 && c->rise[j] > 0 ? sqrt(c->sum[j] / c->rise[j]) : 0;
}
