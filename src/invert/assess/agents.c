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
  const size_t agents = r->strata->agents;
  *c = (agents_check){.r = r};
  if (agents < 2 || !d || r->strata->design) return IDM_OK;
  c->agents = agents;
  c->information = idm_new(idm_times(agents, d * d), sizeof *c->information);
  c->score = idm_new(idm_times(agents, d), sizeof *c->score);
  if (!c->information || !c->score) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->questions; i++)
    idm_residual_inform(r, &r->question[i], c->information + r->question[i].agent * d * d);
  return IDM_OK;
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
    const double *information = c->information + a * d * d;
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) own[i] -= information[i * d + j] * shift[j];
    sum += idm_residual_length(r, own);
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
