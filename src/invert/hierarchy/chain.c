/* The state of a chain: making it, and looking at it. */
#include "invert/hierarchy/chain.h"

#include <math.h>

#include "base/memory.h"
#include "invert/hierarchy/hamiltonian.h"

static const double log_two_pi = 1.8378770664093454836;

static void close_state(hierarchy_state *s)
{
  idm_population_destroy(&s->population);
  free(s->z);
  free(s->e);
  free(s->exact);
  free(s->rough);
}

static idm_status open_state(const idm_design *d, hierarchy_state *s, idm_error *opt_error)
{
  const size_t numbers = idm_times(d->people, d->effects);
  const idm_status status = idm_population_create(d, &s->population, opt_error);
  if (status != IDM_OK) return status;
  s->z = idm_new(numbers, sizeof *s->z);
  s->e = idm_new(numbers, sizeof *s->e);
  s->exact = idm_new(d->people, sizeof *s->exact);
  s->rough = idm_new(d->people, sizeof *s->rough);
  return s->z && s->e && s->exact && s->rough ? IDM_OK : idm_fail_memory(opt_error);
}

void idm_chain_destroy(hierarchy_chain *c)
{
  close_state(&c->now);
  close_state(&c->trial);
  close_state(&c->next);
  close_state(&c->begun);
  idm_motion_destroy(c->motion);
  void *const arrays[] = {c->u,   c->curvature, c->pull,     c->sum,     c->low,        c->high,
                          c->own, c->precision, c->log_step, c->scratch, c->regression, c->place};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  *c = (hierarchy_chain){0};
}

static idm_status allocate(hierarchy_chain *c, idm_error *opt_error)
{
  const idm_design *d = c->model->design;
  const size_t numbers = idm_times(d->people, d->effects);
  idm_status status = open_state(d, &c->now, opt_error);
  if (status == IDM_OK) status = open_state(d, &c->trial, opt_error);
  if (status == IDM_OK) status = open_state(d, &c->next, opt_error);
  if (status == IDM_OK) status = open_state(d, &c->begun, opt_error);
  if (status != IDM_OK) return status;
  const population *p = &c->now.population;
  const size_t square = idm_times(p->coefficients, p->coefficients);
  c->u = idm_new(numbers, sizeof *c->u);
  c->curvature = idm_new(idm_times(numbers, d->effects), sizeof *c->curvature);
  c->pull = idm_new(numbers, sizeof *c->pull);
  c->sum = idm_new(numbers, sizeof *c->sum);
  c->low = idm_new(d->coordinates, sizeof *c->low);
  c->high = idm_new(d->coordinates, sizeof *c->high);
  c->own = idm_new(d->people, sizeof *c->own);
  c->precision = idm_new(square, sizeof *c->precision);
  c->log_step = idm_new(1 + d->effects + p->pairs + p->spreads, sizeof *c->log_step);
  c->regression = idm_new(2 * square + 4 * p->coefficients, sizeof *c->regression);
  c->place = idm_new(p->coefficients, sizeof *c->place);
  c->scratch = idm_new(square + p->coefficients + 4 * d->effects * d->effects, sizeof *c->scratch);
  return c->u && c->curvature && c->pull && c->sum && c->low && c->high && c->own && c->precision &&
                 c->log_step && c->scratch && c->regression && c->place
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

/* Somewhere in the population's prior, its middle half; or where it is held. */
static void guess_population(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  population *p = &c->now.population;
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
  idm_population_build(p);
}

idm_status idm_chain_create(const hierarchy *model, uint64_t seed, uint64_t streams,
                            hierarchy_chain *chain, idm_error *opt_error)
{
  *chain = (hierarchy_chain){.model = model, .adapting = true, .exactly = !model->tabled};
  idm_status status = allocate(chain, opt_error);
  if (status == IDM_OK) status = idm_motion_create(chain, opt_error);
  if (status != IDM_OK) {
    idm_chain_destroy(chain);
    return status;
  }
  idm_random_init(&chain->random, seed, streams);
  for (size_t i = 0; i < model->design->people; i++)
    idm_random_init(&chain->own[i], seed, streams + 1 + i);
  guess_population(chain);
  return IDM_OK;
}

idm_status idm_chain_look(hierarchy_chain *c, const leaf_lane *lane, size_t from, size_t to,
                          idm_error *opt_error)
{
  const size_t q = c->model->design->effects;
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK; i++) {
    const double *e = c->now.e + i * q;
    if (c->model->tabled) c->now.rough[i] = idm_model_rough(c->model, i, e);
    if (c->exactly) status = idm_model_exact(c->model, lane, i, e, &c->now.exact[i], opt_error);
  }
  return status;
}

bool idm_chain_trusts(const hierarchy_chain *c, idm_random *random)
{
  static const double doubt = 0.2;
  return c->model->tabled && (!c->exactly || idm_random_uniform(random) >= doubt);
}

double idm_chain_log_posterior(const hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  const double *likelihood = c->exactly ? c->now.exact : c->now.rough;
  double sum = idm_population_log_density(d, &c->now.population);
  double squares = 0;
  for (size_t i = 0; i < d->people * d->effects; i++) squares += c->now.z[i] * c->now.z[i];
  for (size_t i = 0; i < d->people; i++) sum += likelihood[i];
  if (d->fixed) return sum;
  const double each =
      idm_population_log_det(&c->now.population) + 0.5 * (double)d->effects * log_two_pi;
  return sum - 0.5 * squares - (double)d->people * each;
}

void idm_chain_pass(hierarchy_chain *c, idm_record *r)
{
  const idm_design *d = c->model->design;
  const population *p = &c->now.population;
  const size_t q = d->effects, numbers = d->people * q;
  const struct {
    double *at;
    size_t count;
  } arrays[] = {{p->number, p->numbers},
                {c->now.z, numbers},
                {c->now.e, numbers},
                {c->now.exact, d->people},
                {c->now.rough, d->people},
                {&c->now.rest, 1},
                {c->curvature, numbers * q},
                {c->pull, numbers},
                {c->sum, numbers},
                {c->low, d->coordinates},
                {c->high, d->coordinates},
                {c->precision, p->coefficients * p->coefficients},
                {c->log_step, 1 + q + p->pairs + p->spreads}};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
    idm_record_pass(r, arrays[i].at, arrays[i].count * sizeof(double));
  idm_record_pass(r, &c->random, sizeof c->random);
  idm_record_pass(r, c->own, d->people * sizeof *c->own);
  idm_record_pass(r, &c->summed, sizeof c->summed);
  idm_record_pass(r, &c->proposed, sizeof c->proposed);
  idm_record_pass(r, &c->kept, sizeof c->kept);
  idm_record_pass_flag(r, &c->exactly);
  idm_record_pass_flag(r, &c->adapting);
  idm_motion_pass(c->motion, r);
}
