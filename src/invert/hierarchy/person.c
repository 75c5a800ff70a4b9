/* Everybody given the population: steps in the coordinates u of normal.h. */
#include <math.h>

#include "base/memory.h"
#include "invert/hierarchy/check.h"
#include "invert/hierarchy/person.h"

/* Steps by the table before one exact look. */
enum { inner_steps = 6 };

/* One person on its way. */
typedef struct walker {
  hierarchy_chain *chain;
  const leaf_lane *lane;
  size_t person;
  size_t effects;
  normal_frame frame;
  double t[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  double v[IDM_MOST_EFFECTS];
  double mean[IDM_MOST_EFFECTS];
} walker;

/* A place: u, z and e, and the log-likelihood there by the table, or exactly. */
typedef struct place {
  double u[IDM_MOST_EFFECTS];
  double z[IDM_MOST_EFFECTS];
  double e[IDM_MOST_EFFECTS];
  double likelihood;
} place;

static double squares(size_t n, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

static void open_walker(walker *w)
{
  const hierarchy_chain *c = w->chain;
  const size_t q = w->effects;
  double scratch[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  w->frame = (normal_frame){.effects = q, .t = w->t, .v = w->v};
  idm_population_mean(c->model->design, &c->now.population, w->person, w->mean);
  idm_normal_frame(&w->frame, c->now.population.factor, w->mean, c->curvature + w->person * q * q,
                   c->pull + w->person * q, scratch);
}

/* Anew from the approximation with the tails of a t of five degrees, or a walk whose length is
 * drawn over an order of magnitude, for people whom the approximation fits badly. */
static void step(const walker *w, idm_random *random, bool anew, const place *from, place *to)
{
  const size_t q = w->effects;
  const double length = anew ? sqrt(2.5 / idm_random_gamma(random, 2.5))
                             : 1.7 / sqrt((double)q) * pow(10, -1.2 * idm_random_uniform(random));
  for (size_t j = 0; j < q; j++)
    to->u[j] = (anew ? 0 : from->u[j]) + length * idm_random_normal(random);
  idm_normal_open(&w->frame, to->u, to->z);
  idm_normal_effects(q, w->chain->now.population.factor, w->mean, to->z, to->e);
}

/* Log density of a place, less that of its proposal. */
static double weight(const walker *w, bool anew, const place *at)
{
  const double degrees = 5 + (double)w->effects;
  const double proposal = anew ? -0.5 * degrees * log1p(squares(w->effects, at->u) / 5) : 0;
  return at->likelihood - 0.5 * squares(w->effects, at->z) - proposal;
}

/* Whether to go; from where nobody can be, anywhere. */
static bool goes(idm_random *random, double from, double to)
{
  const double bar = log(idm_random_uniform(random));
  if (isnan(to) || to == -INFINITY) return false;
  return !(from > -INFINITY) || bar < to - from;
}

static void keep(walker *w, const place *at)
{
  hierarchy_state *now = &w->chain->now;
  memcpy(now->z + w->person * w->effects, at->z, w->effects * sizeof *at->z);
  memcpy(now->e + w->person * w->effects, at->e, w->effects * sizeof *at->e);
}

/* Steps by the table, each of either kind at random so that the way back is as likely; then, where
 * exact likelihoods are in force, one look. */
static idm_status walk_table(walker *w, place *at, idm_error *opt_error)
{
  hierarchy_chain *c = w->chain;
  idm_random *random = &c->own[w->person];
  place next = {0};
  const double rough = c->now.rough[w->person];
  double exact;
  at->likelihood = rough;
  for (int i = 0; i < inner_steps; i++) {
    const bool anew = idm_random_uniform(random) < 0.5;
    step(w, random, anew, at, &next);
    next.likelihood = idm_model_rough(c->model, w->person, next.e);
    if (goes(random, weight(w, anew, at), weight(w, anew, &next))) *at = next;
  }
  if (c->exactly) {
    const idm_status status =
        idm_model_exact(c->model, w->lane, w->person, at->e, &exact, opt_error);
    if (status != IDM_OK) return status;
    if (!goes(random, c->now.exact[w->person] - rough, exact - at->likelihood)) return IDM_OK;
    c->now.exact[w->person] = exact;
  }
  c->now.rough[w->person] = at->likelihood;
  keep(w, at);
  return IDM_OK;
}

/* Without the table: one step of either kind, each with an exact look. */
static idm_status walk_exactly(walker *w, place *at, idm_error *opt_error)
{
  hierarchy_chain *c = w->chain;
  idm_random *random = &c->own[w->person];
  place next = {0};
  at->likelihood = c->now.exact[w->person];
  for (int anew = 0; anew < 2; anew++) {
    step(w, random, anew, at, &next);
    const idm_status status =
        idm_model_exact(c->model, w->lane, w->person, next.e, &next.likelihood, opt_error);
    if (status != IDM_OK) return status;
    if (goes(random, weight(w, anew, at), weight(w, anew, &next))) *at = next;
  }
  c->now.exact[w->person] = at->likelihood;
  if (c->model->tabled) c->now.rough[w->person] = idm_model_rough(c->model, w->person, at->e);
  keep(w, at);
  return IDM_OK;
}

idm_status idm_chain_people(hierarchy_chain *chain, const leaf_lane *lane, size_t from, size_t to,
                            idm_error *opt_error)
{
  const size_t q = chain->model->design->effects;
  walker w = {.chain = chain, .lane = lane, .effects = q};
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK; i++) {
    place at = {0};
    w.person = i;
    open_walker(&w);
    memcpy(at.z, chain->now.z + i * q, q * sizeof *at.z);
    memcpy(at.e, chain->now.e + i * q, q * sizeof *at.e);
    idm_normal_close(&w.frame, at.z, at.u);
    status = idm_chain_trusts(chain, &chain->own[i]) ? walk_table(&w, &at, opt_error)
                                                     : walk_exactly(&w, &at, opt_error);
  }
  return status;
}
