/* Whether agents are alike enough to share numbers: see the header. */
#include "invert/assess/agents.h"

#include <math.h>

#include "base/memory.h"

void idm_agents_close(agents_check *c)
{
  free(c->information);
  free(c->score);
  *c = (agents_check){0};
}

idm_status idm_agents_open(agents_check *c, const residual *r, idm_error *opt_error)
{
  const size_t d = r->dimension;
  const size_t agents = r->data->agent_name.count;
  *c = (agents_check){.r = r};
  if (agents < 2 || !d) return IDM_OK;
  c->agents = agents;
  c->information = idm_new(idm_times(agents, d * d), sizeof *c->information);
  c->score = idm_new(idm_times(agents, d), sizeof *c->score);
  if (!c->information || !c->score) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->questions; i++) {
    const question *at = &r->question[i];
    const double *p = idm_residual_probability(r, at);
    double *own = c->information + at->agent * d * d;
    for (size_t u = 0; u < r->actions; u++) {
      const double *s = idm_residual_score(r, at, u);
      for (size_t j = 0; j < d * d; j++) own[j] += at->asked * p[u] * s[j / d] * s[j % d];
    }
  }
  return IDM_OK;
}

/* x' A y. */
static double form(size_t n, const double *a, const double *x, const double *y)
{
  double sum = 0;
  for (size_t i = 0; i < n * n; i++) sum += x[i / n] * a[i] * y[i % n];
  return sum;
}

double idm_agents_take(agents_check *c, const double *taken, const double *shift)
{
  const residual *r = c->r;
  const size_t d = r->dimension;
  memset(c->score, 0, c->agents * d * sizeof *c->score);
  for (size_t i = 0; i < r->questions; i++) {
    double *own = c->score + r->question[i].agent * d;
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->question[i], u);
      for (size_t j = 0; n > 0 && j < d; j++) own[j] += n * s[j];
    }
  }
  double sum = 0;
  for (size_t a = 0; a < c->agents; a++) {
    double *own = c->score + a * d;
    for (size_t j = 0; j < d * d; j++) own[j / d] -= c->information[a * d * d + j] * shift[j % d];
    sum += form(d, r->inverse, own, own);
  }
  return sum;
}

void idm_agents_between(const agents_check *c, double *between)
{
  const size_t d = c->r->dimension;
  for (size_t j = 0; j < d; j++) {
    double excess = 0;
    double weight = 0;
    for (size_t a = 0; a < c->agents; a++) {
      const double score = c->score[a * d + j];
      const double own = c->information[a * d * d + j * d + j];
      excess += score * score - own;
      weight += own * own;
    }
    between[j] = excess > 0 && weight > 0 ? sqrt(excess / weight) : 0;
  }
}
