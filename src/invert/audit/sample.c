/* Draws of the model of an audit: chains side by side. */
#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "invert/audit/draws.h"
#include "invert/audit/nest.h"
#include "invert/audit/sample.h"
#include "invert/audit/walker.h"

/* Sweeps a draw: by grids they cost next to nothing; else one of predicates costs every cell
 * several times over. */
static long thin_of(const audit_model *model)
{
  enum { by_grid = 20, by_cell = 3 };
  if (model->settings->thin > 0) return model->settings->thin;
  return model->cell[0].grid ? by_grid : model->partition ? by_cell : 1;
}

/* Chains at work. */
typedef struct work {
  const audit_model *model;
  double scale;
  uint64_t stream;
  audit_draws *draws;
  const audit_watch *watch;
  atomic_long done; /* draws of all chains */
  atomic_bool stop;
  idm_status *status; /* [chain] */
  idm_error *error;
  long *moves;
  long *accepted;
} work;

static void keep(const work *k, const walker *w, size_t draw)
{
  const audit_model *m = k->model;
  const size_t d = m->dimension;
  const size_t all = k->draws->chains * k->draws->draws;
  const size_t at = w->chain * k->draws->draws + draw;
  for (size_t j = 0; j < d; j++) {
    k->draws->mean[j * all + at] = w->mu[j];
    k->draws->sd[j * all + at] = w->tau[j];
  }
  for (size_t i = 0; i < m->effects * d; i++) k->draws->effect[i * all + at] = w->effect[i];
  for (size_t i = 0; i < m->cells * d; i++) k->draws->cell[i * all + at] = w->x[i];
  for (size_t c = 0; c < m->cells; c++)
    k->draws->log_likelihood[c * all + at] = m->exact ? w->exact[c] : w->log_likelihood[c];
}

static idm_status walk(work *k, walker *w, idm_error *opt_error)
{
  const idm_fit_settings *settings = k->model->settings;
  const long thin = thin_of(k->model);
  idm_status status = idm_walker_start(w, opt_error);
  for (long i = 0; i < settings->warmup + settings->draws && status == IDM_OK && !k->stop; i++) {
    status = idm_walker_step(w, thin, &k->stop, opt_error);
    if (i >= settings->warmup) keep(k, w, (size_t)(i - settings->warmup));
    k->done++;
  }
  return status;
}

static void run_chain(void *context, size_t chain)
{
  work *k = context;
  walker w;
  idm_status status = idm_walker_create(&w, k->model, chain, k->scale, k->stream, &k->error[chain]);
  if (status == IDM_OK) status = walk(k, &w, &k->error[chain]);
  k->status[chain] = status;
  k->moves[chain] = w.moves;
  k->accepted[chain] = w.accepted;
  idm_walker_destroy(&w);
}

static void watch(void *context)
{
  work *k = context;
  const idm_fit_settings *s = k->model->settings;
  const double whole = (double)s->chains * (double)(s->warmup + s->draws);
  if (idm_audit_watched(k->watch, (double)k->done / whole)) k->stop = true;
}

idm_status idm_audit_sample(const audit_model *model, double scale, uint64_t stream,
                            const audit_watch *opt_watch, audit_draws *draws, idm_error *opt_error)
{
  if (model->wards) return idm_audit_nest_sample(model, scale, opt_watch, draws, opt_error);
  const size_t n = model->settings->chains;
  work k = {.model = model, .scale = scale, .stream = stream, .draws = draws, .watch = opt_watch};
  const bool watched = opt_watch && opt_watch->opt_watch && opt_watch->opt_watch->progress;
  k.status = idm_new(n, sizeof *k.status);
  k.error = idm_new(n, sizeof *k.error);
  k.moves = idm_new(2 * n, sizeof *k.moves);
  k.accepted = k.moves ? k.moves + n : NULL;
  idm_status status = idm_audit_draws_create(model, draws, opt_error);
  if (status == IDM_OK && (!k.status || !k.error || !k.moves)) status = idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_parallel(n, model->settings->threads, run_chain, watched ? watch : NULL, &k, opt_error);
  double moves = 0;
  double accepted = 0;
  for (size_t i = 0; i < n && status == IDM_OK; i++) {
    status = k.status[i];
    if (status != IDM_OK && opt_error) *opt_error = k.error[i];
    moves += (double)k.moves[i];
    accepted += (double)k.accepted[i];
  }
  if (status == IDM_OK && k.stop)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted; nothing was kept");
  draws->acceptance = moves > 0 ? accepted / moves : 1;
  free(k.status);
  free(k.error);
  free(k.moves);
  if (status != IDM_OK) idm_audit_draws_clear(draws);
  return status;
}
