/* Creates the state of one chain over people and population, and updates people given the
 * population.
 *
 * Contents: chain · person */
#include <math.h>

#include "base/memory.h"
#include "invert/hierarchy/hierarchy.h"

/* === chain ================================================================================== */

/* State of a chain: creation, evaluation, checkpoints. */

static const double log_two_pi = 1.8378770664093454836;

static void state_clear(hierarchy_state *s)
{
  idm_population_destroy(&s->population);
  free(s->z);
  free(s->e);
  free(s->exact);
  free(s->surrogate);
}

static idm_status state_init(const idm_design *d, hierarchy_state *s, idm_error *opt_error)
{
  const size_t numbers = idm_times(d->people, d->effects);
  const idm_status status = idm_population_create(d, &s->population, opt_error);
  if (status != IDM_OK) return status;
  s->z = idm_new(numbers, sizeof *s->z);
  s->e = idm_new(numbers, sizeof *s->e);
  s->exact = idm_new(d->people, sizeof *s->exact);
  s->surrogate = idm_new(d->people, sizeof *s->surrogate);
  return s->z && s->e && s->exact && s->surrogate ? IDM_OK : idm_fail_memory(opt_error);
}

void idm_chain_destroy(hierarchy_chain *c)
{
  state_clear(&c->current);
  state_clear(&c->proposal);
  state_clear(&c->next);
  state_clear(&c->sweep_start);
  idm_hmc_destroy(c->hmc);
  void *const arrays[] = {c->u,        c->curvature, c->linear_term,   c->sum,
                          c->low,      c->high,      c->person_random, c->precision,
                          c->log_step, c->scratch,   c->regression,    c->coefficient_index};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  *c = (hierarchy_chain){0};
}

static idm_status allocate(hierarchy_chain *c, idm_error *opt_error)
{
  const idm_design *d = c->model->design;
  const size_t numbers = idm_times(d->people, d->effects);
  idm_status status = state_init(d, &c->current, opt_error);
  if (status == IDM_OK) status = state_init(d, &c->proposal, opt_error);
  if (status == IDM_OK) status = state_init(d, &c->next, opt_error);
  if (status == IDM_OK) status = state_init(d, &c->sweep_start, opt_error);
  if (status != IDM_OK) return status;
  const population *p = &c->current.population;
  const size_t square = idm_times(p->coefficients, p->coefficients);
  c->u = idm_new(numbers, sizeof *c->u);
  c->curvature = idm_new(idm_times(numbers, d->effects), sizeof *c->curvature);
  c->linear_term = idm_new(numbers, sizeof *c->linear_term);
  c->sum = idm_new(numbers, sizeof *c->sum);
  c->low = idm_new(d->coordinates, sizeof *c->low);
  c->high = idm_new(d->coordinates, sizeof *c->high);
  c->person_random = idm_new(d->people, sizeof *c->person_random);
  c->precision = idm_new(square, sizeof *c->precision);
  c->log_step = idm_new(1 + d->effects + p->pairs + p->spreads, sizeof *c->log_step);
  c->regression = idm_new(2 * square + 4 * p->coefficients, sizeof *c->regression);
  c->coefficient_index = idm_new(p->coefficients, sizeof *c->coefficient_index);
  c->scratch = idm_new(square + p->coefficients + 4 * d->effects * d->effects, sizeof *c->scratch);
  return c->u && c->curvature && c->linear_term && c->sum && c->low && c->high &&
                 c->person_random && c->precision && c->log_step && c->scratch && c->regression &&
                 c->coefficient_index
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

/* Draw the population from the middle of its prior, or set it to the fixed values. */
static void init_population(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  population *p = &c->current.population;
  const double width = d->held ? 0 : 0.3;
  for (size_t j = 0; j < d->effects; j++) {
    for (size_t a = 0; a < d->coefficients[j]; a++)
      p->b[p->first[j] + a] = d->coefficient_mean[j][a] +
                              width * d->coefficient_sd[j][a] * idm_random_normal(&c->random);
    p->root[j] = d->sd_scale[j] * (d->held ? 1 : 0.3 + 0.7 * idm_random_uniform(&c->random));
    if (d->fixed) p->root[j] = 0;
    c->log_step[1 + j] = log(0.3 * d->sd_scale[j]);
  }
  c->log_step[0] = log(2.4 / sqrt((double)p->coefficients));
  for (size_t k = 0; k < p->pairs; k++) {
    p->partial[k] = 0.3 * idm_random_normal(&c->random);
    c->log_step[1 + d->effects + k] = log(0.5);
  }
  for (size_t j = 0; j < p->spreads; j++) {
    p->spread[j] = d->spread_scale[j] * (0.3 + 0.7 * idm_random_uniform(&c->random));
    c->log_step[1 + d->effects + p->pairs + j] = log(0.3 * d->spread_scale[j]);
  }
  idm_population_set_factor(p);
}

idm_status idm_chain_create(const hierarchy *model, uint64_t seed, uint64_t streams,
                            hierarchy_chain *chain, idm_error *opt_error)
{
  *chain = (hierarchy_chain){.model = model, .adapting = true, .uses_exact = !model->has_tables};
  idm_status status = allocate(chain, opt_error);
  if (status == IDM_OK) status = idm_hmc_create(chain, opt_error);
  if (status != IDM_OK) {
    idm_chain_destroy(chain);
    return status;
  }
  idm_random_init(&chain->random, seed, streams);
  for (size_t i = 0; i < model->design->people; i++)
    idm_random_init(&chain->person_random[i], seed, streams + 1 + i);
  init_population(chain);
  return IDM_OK;
}

idm_status idm_chain_evaluate(hierarchy_chain *c, const leaf_worker *worker, size_t from, size_t to,
                              idm_error *opt_error)
{
  const size_t q = c->model->design->effects;
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK; i++) {
    const double *e = c->current.e + i * q;
    if (c->model->has_tables) c->current.surrogate[i] = idm_hierarchy_surrogate(c->model, i, e);
    if (c->uses_exact)
      status = idm_hierarchy_exact(c->model, worker, i, e, &c->current.exact[i], opt_error);
  }
  return status;
}

bool idm_chain_uses_table(const hierarchy_chain *c, idm_random *random)
{
  static const double exact_share = 0.2;
  return c->model->has_tables && (!c->uses_exact || idm_random_uniform(random) >= exact_share);
}

double idm_chain_log_posterior(const hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  const double *likelihood = c->uses_exact ? c->current.exact : c->current.surrogate;
  double sum = idm_population_log_density(d, &c->current.population);
  double squares = 0;
  for (size_t i = 0; i < d->people * d->effects; i++) squares += c->current.z[i] * c->current.z[i];
  for (size_t i = 0; i < d->people; i++) sum += likelihood[i];
  if (d->fixed) return sum;
  const double per_person =
      idm_population_log_det(&c->current.population) + 0.5 * (double)d->effects * log_two_pi;
  return sum - 0.5 * squares - (double)d->people * per_person;
}

void idm_chain_transfer(hierarchy_chain *c, idm_record *r)
{
  const idm_design *d = c->model->design;
  const population *p = &c->current.population;
  const size_t q = d->effects, numbers = d->people * q;
  const struct {
    double *at;
    size_t count;
  } arrays[] = {{p->number, p->numbers},
                {c->current.z, numbers},
                {c->current.e, numbers},
                {c->current.exact, d->people},
                {c->current.surrogate, d->people},
                {&c->current.log_prior_u, 1},
                {c->curvature, numbers * q},
                {c->linear_term, numbers},
                {c->sum, numbers},
                {c->low, d->coordinates},
                {c->high, d->coordinates},
                {c->precision, p->coefficients * p->coefficients},
                {c->log_step, 1 + q + p->pairs + p->spreads}};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
    idm_record_transfer(r, arrays[i].at, arrays[i].count * sizeof(double));
  idm_record_transfer(r, &c->random, sizeof c->random);
  idm_record_transfer(r, c->person_random, d->people * sizeof *c->person_random);
  idm_record_transfer(r, &c->sum_count, sizeof c->sum_count);
  idm_record_transfer(r, &c->proposed, sizeof c->proposed);
  idm_record_transfer(r, &c->kept, sizeof c->kept);
  idm_record_transfer_flag(r, &c->uses_exact);
  idm_record_transfer_flag(r, &c->adapting);
  idm_hmc_transfer(c->hmc, r);
}

/* === person ================================================================================= */

/* Updates of people given the population, in the coordinates u of hierarchy.h. */

/* Steps by the table per exact evaluation. */
enum { inner_steps = 6 };

/* Update of one person. */
typedef struct person_update {
  hierarchy_chain *chain;
  const leaf_worker *worker;
  size_t person;
  size_t effects;
  normal_frame frame;
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  double v[IDM_MAX_EFFECTS];
  double mean[IDM_MAX_EFFECTS];
} person_update;

/* A point: u, z and e, and the log-likelihood there, by the table or exact. */
typedef struct person_point {
  double u[IDM_MAX_EFFECTS];
  double z[IDM_MAX_EFFECTS];
  double e[IDM_MAX_EFFECTS];
  double likelihood;
} person_point;

static double squares(size_t n, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

static void person_update_init(person_update *w)
{
  const hierarchy_chain *c = w->chain;
  const size_t q = w->effects;
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  w->frame = (normal_frame){.effects = q, .t = w->t, .v = w->v};
  idm_population_mean(c->model->design, &c->current.population, w->person, w->mean);
  idm_normal_frame(&w->frame, c->current.population.factor, w->mean,
                   c->curvature + w->person * q * q, c->linear_term + w->person * q, scratch);
}

/* Propose a point: an independent draw from a t distribution with five degrees of freedom around
 * the approximation, or a random walk whose length varies over an order of magnitude, for people
 * whose approximation is poor. */
static void propose_point(const person_update *w, idm_random *random, bool independent,
                          const person_point *from, person_point *to)
{
  const size_t q = w->effects;
  const double length = independent
                            ? sqrt(2.5 / idm_random_gamma(random, 2.5))
                            : 1.7 / sqrt((double)q) * pow(10, -1.2 * idm_random_uniform(random));
  for (size_t j = 0; j < q; j++)
    to->u[j] = (independent ? 0 : from->u[j]) + length * idm_random_normal(random);
  idm_normal_u_to_z(&w->frame, to->u, to->z);
  idm_normal_effects(q, w->chain->current.population.factor, w->mean, to->z, to->e);
}

/* Log density of a point, less that of its proposal. */
static double log_weight(const person_update *w, bool independent, const person_point *at)
{
  const double degrees = 5 + (double)w->effects;
  const double proposal = independent ? -0.5 * degrees * log1p(squares(w->effects, at->u) / 5) : 0;
  return at->likelihood - 0.5 * squares(w->effects, at->z) - proposal;
}

/* Metropolis-Hastings decision. From a point of density 0, every point of positive density is
 * accepted. */
static bool accepts(idm_random *random, double from, double to)
{
  const double log_uniform = log(idm_random_uniform(random));
  if (isnan(to) || to == -INFINITY) return false;
  return !(from > -INFINITY) || log_uniform < to - from;
}

static void store_point(person_update *w, const person_point *at)
{
  hierarchy_state *current = &w->chain->current;
  memcpy(current->z + w->person * w->effects, at->z, w->effects * sizeof *at->z);
  memcpy(current->e + w->person * w->effects, at->e, w->effects * sizeof *at->e);
}

/* Take several steps by the table, each of a random kind, so that the sequence is reversible; then,
 * if exact likelihoods are in use, accept or reject the result once. */
static idm_status update_by_table(person_update *w, person_point *at, idm_error *opt_error)
{
  hierarchy_chain *c = w->chain;
  idm_random *random = &c->person_random[w->person];
  person_point next = {0};
  const double surrogate = c->current.surrogate[w->person];
  double exact;
  at->likelihood = surrogate;
  for (int i = 0; i < inner_steps; i++) {
    const bool independent = idm_random_uniform(random) < 0.5;
    propose_point(w, random, independent, at, &next);
    next.likelihood = idm_hierarchy_surrogate(c->model, w->person, next.e);
    if (accepts(random, log_weight(w, independent, at), log_weight(w, independent, &next)))
      *at = next;
  }
  if (c->uses_exact) {
    const idm_status status =
        idm_hierarchy_exact(c->model, w->worker, w->person, at->e, &exact, opt_error);
    if (status != IDM_OK) return status;
    if (!accepts(random, c->current.exact[w->person] - surrogate, exact - at->likelihood))
      return IDM_OK;
    c->current.exact[w->person] = exact;
  }
  c->current.surrogate[w->person] = at->likelihood;
  store_point(w, at);
  return IDM_OK;
}

/* Take one step of each kind, each with an exact evaluation. */
static idm_status update_exact(person_update *w, person_point *at, idm_error *opt_error)
{
  hierarchy_chain *c = w->chain;
  idm_random *random = &c->person_random[w->person];
  person_point next = {0};
  at->likelihood = c->current.exact[w->person];
  for (int independent = 0; independent < 2; independent++) {
    propose_point(w, random, independent, at, &next);
    const idm_status status =
        idm_hierarchy_exact(c->model, w->worker, w->person, next.e, &next.likelihood, opt_error);
    if (status != IDM_OK) return status;
    if (accepts(random, log_weight(w, independent, at), log_weight(w, independent, &next)))
      *at = next;
  }
  c->current.exact[w->person] = at->likelihood;
  if (c->model->has_tables)
    c->current.surrogate[w->person] = idm_hierarchy_surrogate(c->model, w->person, at->e);
  store_point(w, at);
  return IDM_OK;
}

idm_status idm_chain_update_people(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                   size_t to, idm_error *opt_error)
{
  const size_t q = chain->model->design->effects;
  person_update w = {.chain = chain, .worker = worker, .effects = q};
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK; i++) {
    person_point at = {0};
    w.person = i;
    person_update_init(&w);
    memcpy(at.z, chain->current.z + i * q, q * sizeof *at.z);
    memcpy(at.e, chain->current.e + i * q, q * sizeof *at.e);
    idm_normal_z_to_u(&w.frame, at.z, at.u);
    status = idm_chain_uses_table(chain, &chain->person_random[i])
                 ? update_by_table(&w, &at, opt_error)
                 : update_exact(&w, &at, opt_error);
  }
  return status;
}
