/* Draws of the model of an audit: a hierarchy whose people are the cells.
 *
 * Of a partition cells vary normally about the level, so that each is a person with an intercept;
 * without pooling the population is held at the prior. Of predicates cells are sums of effects that
 * they share: fixed effects with a common spread. Where agents are nested in cells, see nest.c. */
#include "invert/audit/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record.h"
#include "invert/audit/draws.h"
#include "invert/audit/joint.h"
#include "invert/audit/nest.h"
#include "invert/audit/tabulate.h"
#include "invert/hierarchy/check.h"
#include "invert/hierarchy/sample.h"

/* --- the design ----------------------------------------------------------------------------- */

/* Effect j, the j-th free number: an intercept and, of predicates, a coefficient for each. */
static bool fill_effect(const audit_model *m, double scale, size_t j, idm_design *d)
{
  const size_t n = m->partition ? 1 : 1 + m->effects;
  double *w = d->regressor[j] = idm_new(idm_times(m->cells, n), sizeof *w);
  double *mean = d->coefficient_mean[j] = idm_new(n, sizeof *mean);
  double *sd = d->coefficient_sd[j] = idm_new(n, sizeof *sd);
  if (!w || !mean || !sd) return false;
  d->effect_coordinate[j] = (uint32_t)j;
  d->coefficients[j] = n;
  d->sd_scale[j] = scale * m->sd[j] * (m->pooled ? 0.5 : 1);
  mean[0] = m->mean[j];
  sd[0] = scale * m->sd[j];
  for (size_t k = 1; k < n; k++) sd[k] = 0.5 * scale * m->sd[j];
  for (size_t c = 0; c < m->cells; c++) {
    w[c * n] = 1;
    d->share[c * m->dimension + j] = 1;
    for (size_t k = 1; k < n; k++) w[c * n + k] = m->share[c * m->effects + k - 1];
  }
  return true;
}

/* s and the scales of tau multiplied by `scale`. */
static idm_status make_design(const audit_model *m, double scale, idm_design **ret_design,
                              idm_error *opt_error)
{
  const size_t q = m->dimension;
  idm_design *d = *ret_design = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  *d = (idm_design){.people = m->cells,
                    .cells = m->cells,
                    .coordinates = q,
                    .effects = q,
                    .pooled = m->partition ? 0 : m->effects,
                    .correlation = 1,
                    .independent = true,
                    .held = !m->pooled,
                    .fixed = !m->partition};
  d->cell_person = idm_new(m->cells, sizeof *d->cell_person);
  d->effect_coordinate = idm_new(q, sizeof *d->effect_coordinate);
  d->share = idm_new(idm_times(m->cells, q), sizeof *d->share);
  d->coefficients = idm_new(q, sizeof *d->coefficients);
  d->regressor = idm_new(q, sizeof *d->regressor);
  d->coefficient_mean = idm_new(q, sizeof *d->coefficient_mean);
  d->coefficient_sd = idm_new(q, sizeof *d->coefficient_sd);
  d->spread_scale = idm_new(q, sizeof *d->spread_scale);
  d->sd_scale = idm_new(q, sizeof *d->sd_scale);
  bool made = d->cell_person && d->effect_coordinate && d->share && d->coefficients &&
              d->regressor && d->coefficient_mean && d->coefficient_sd && d->spread_scale &&
              d->sd_scale;
  for (size_t c = 0; c < m->cells && made; c++) d->cell_person[c] = (uint32_t)c;
  for (size_t j = 0; j < q && made; j++) {
    d->spread_scale[j] = 0.5 * scale * m->sd[j];
    made = fill_effect(m, scale, j, d);
  }
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- leaves --------------------------------------------------------------------------------- */

/* What the leaves of a hierarchy refer to. */
typedef struct cells_of {
  const audit_model *model;
} cells_of;

static double by_table(const void *context, size_t leaf, const double *x)
{
  const audit_model *m = ((const cells_of *)context)->model;
  return idm_audit_rough(&m->cell[leaf], m->dimension, x);
}

static idm_status by_planning(void *context, const leaf_lane *lane, size_t leaf, const double *x,
                              double *log_likelihood, idm_error *opt_error)
{
  const audit_model *m = ((const cells_of *)context)->model;
  return idm_matching_log_likelihood(m->cell[leaf].f.matching[lane->chain], x, log_likelihood, NULL,
                                     opt_error);
}

static const double *start_of(const void *context, size_t leaf, size_t chain)
{
  const audit_model *m = ((const cells_of *)context)->model;
  return m->cell[leaf].start + chain * m->dimension;
}

static leaf_source leaves_of(cells_of *cells)
{
  const audit_model *m = cells->model;
  bool tabled = true;
  for (size_t c = 0; c < m->cells; c++) tabled = tabled && m->cell[c].grid;
  return (leaf_source){
      .context = cells, .table = tabled ? by_table : NULL, .exact = by_planning, .start = start_of};
}

/* Every chain starts where every decision has a probability. */
static idm_status check_starts(cells_of *cells, idm_error *opt_error)
{
  const audit_model *m = cells->model;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < m->cells * m->settings->chains && status == IDM_OK; i++) {
    const leaf_lane lane = {.chain = i / m->cells};
    double found;
    status = by_planning(cells, &lane, i % m->cells, start_of(cells, i % m->cells, lane.chain),
                         &found, opt_error);
    if (status == IDM_OK && !isfinite(found))
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "a group has no starting point that explains its data: some decision has "
                      "probability 0 there");
  }
  return status;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Sweeps per draw: by tables they cost next to nothing. */
static long thin_of(const audit_model *m, const leaf_source *leaves)
{
  enum { by_tables = 2 };
  if (m->settings->thin > 0) return m->settings->thin;
  return leaves->table && !m->exact ? by_tables : 1;
}

static void pour(const audit_model *m, const idm_people *p, audit_draws *draws)
{
  const size_t d = m->dimension, all = draws->chains * draws->draws;
  const size_t bytes = all * sizeof(double);
  for (size_t j = 0; j < d; j++) {
    const double *b = p->coefficient + p->coefficient_first[j] * all;
    memcpy(draws->mean + j * all, b, bytes);
    memcpy(draws->sd + j * all, (m->partition ? p->sd : p->spread) + j * all, bytes);
    for (size_t c = 0; c < m->cells; c++)
      memcpy(draws->cell + (c * d + j) * all, p->effect + (j * m->cells + c) * all, bytes);
    for (size_t k = 0; k < m->effects; k++) {
      double *effect = draws->effect + (k * d + j) * all;
      const double *from = m->partition ? draws->cell + (k * d + j) * all : b + (1 + k) * all;
      for (size_t i = 0; i < all; i++) effect[i] = from[i] - (m->partition ? b[i] : 0);
    }
  }
  memcpy(draws->log_likelihood, p->log_likelihood, m->cells * bytes);
}

/* A sampling under way: who watches, and whether it is to stop. */
typedef struct watched {
  const audit_watch *watch;
  uint64_t step;
  bool stopped;
} watched;

static bool progress(void *context, const idm_work *work)
{
  watched *w = context;
  w->stopped = w->stopped || idm_audit_watched(w->watch, work->done, w->step, work);
  return w->stopped;
}

/* Together with the dynamics. */
static idm_status draw_jointly(const audit_model *m, double scale, uint64_t stream, watched *w,
                               audit_draws *draws, idm_error *opt_error)
{
  idm_fit_watch watch = {.progress = progress, .context = w};
  if (w->watch && w->watch->journal) idm_journal_go_on(w->watch->journal, w->step, &watch);
  const bool seen = w->watch && w->watch->opt_watch;
  return idm_audit_joint_sample(m, scale, stream, seen ? &watch : NULL, draws, opt_error);
}

static idm_status draw(const audit_model *m, double scale, uint64_t stream, watched *w,
                       audit_draws *draws, idm_error *opt_error)
{
  cells_of cells = {m};
  const leaf_source leaves = leaves_of(&cells);
  idm_fit_watch watch = {.progress = progress, .context = w};
  idm_fit_settings settings = *m->settings;
  idm_design *design = NULL;
  idm_people *people = NULL;
  settings.thin = thin_of(m, &leaves);
  if (w->watch && w->watch->journal) idm_journal_go_on(w->watch->journal, w->step, &watch);
  idm_status status = check_starts(&cells, opt_error);
  if (status == IDM_OK) status = make_design(m, scale, &design, opt_error);
  if (status == IDM_OK) {
    const hierarchy_request request = {.design = design,
                                       .leaves = &leaves,
                                       .exact = m->exact,
                                       .settings = &settings,
                                       .key = m->key,
                                       .stream = stream,
                                       .opt_watch =
                                           w->watch && w->watch->opt_watch ? &watch : NULL};
    status = idm_hierarchy_sample(&request, &people, NULL, opt_error);
  }
  if (status == IDM_OK && !w->stopped) pour(m, people, draws);
  idm_people_destroy(people);
  idm_design_destroy(design);
  return status;
}

idm_status idm_audit_sample(const audit_model *m, double scale, uint64_t stream,
                            const audit_watch *opt_watch, audit_draws *draws, idm_error *opt_error)
{
  idm_journal *journal = opt_watch ? opt_watch->journal : NULL;
  const size_t number = journal ? idm_journal_count(journal) : 0;
  const size_t parts = m->wards ? m->wards : 1;
  idm_status status = idm_audit_draws_create(m, draws, opt_error);
  for (size_t i = 0; i < parts && status == IDM_OK; i++) {
    watched w = {.watch = opt_watch};
    idm_record record;
    w.step = opt_watch ? idm_audit_step(AUDIT_STEP_SAMPLE, opt_watch->way, number << 16 | i) : 0;
    if (journal && idm_journal_get(journal, w.step, &record)) {
      status = m->wards ? idm_audit_nest_pass(m, i, scale, &record, opt_error) : IDM_OK;
      idm_audit_draws_pass(m, draws, &record);
      if (status == IDM_OK) status = idm_record_close(&record, true, opt_error);
      continue;
    }
    status = m->wards   ? idm_audit_nest_sample(m, scale, opt_watch, w.step, i, &w.stopped, draws,
                                                opt_error)
             : m->joint ? draw_jointly(m, scale, stream, &w, draws, opt_error)
                        : draw(m, scale, stream, &w, draws, opt_error);
    if (w.stopped) status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
    if (status != IDM_OK || !journal) continue;
    idm_journal_begin(w.step, &record);
    if (m->wards) status = idm_audit_nest_pass(m, i, scale, &record, opt_error);
    idm_audit_draws_pass(m, draws, &record);
    if (status == IDM_OK) status = idm_journal_put(journal, w.step, &record, opt_error);
  }
  if (status != IDM_OK) idm_audit_draws_clear(draws);
  return status;
}
