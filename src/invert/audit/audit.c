/* Runs an audit: opens cells, samples the posterior, assesses the model and gives verdicts.
 *
 * Contents: memory and names · cells · run */
#include "invert/audit.h"

#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text.h"
#include "idm/audit.h"
#include "invert/assess.h"
#include "invert/audit/estimands.h"
#include "invert/audit/model.h"
#include "invert/clone.h"
#include "invert/joint/joint.h"
#include "invert/posterior.h"

/* Largest accepted shift of a posterior mean by grid error, in posterior sds. */
static const double max_grid_error = 0.1;

const char *const idm_audit_pool_words[] = {"partial", "none", "holm", NULL};

const char *idm_pool_name(idm_pool pool)
{
  return (unsigned)pool <= IDM_POOL_HOLM ? idm_audit_pool_words[pool] : NULL;
}

const char *idm_audit_verdict_name(idm_audit_verdict verdict)
{
  static const char *const words[] = {"identified",   "population-driven", "depends on dynamics",
                                      "prior-driven", "groups differ",     "failed"};
  return (unsigned)verdict <= IDM_AUDIT_FAILED ? words[verdict] : NULL;
}

static const char unchecked[] = "unchecked";

const char *idm_group_verdict_text(const idm_audit_group *group)
{
  if (!group) return NULL;
  const bool modified = group->depends && group->verdict < IDM_AUDIT_DYNAMICS_DRIVEN;
  if (group->unchecked && group->verdict == IDM_AUDIT_IDENTIFIED && !modified) return unchecked;
  return idm_audit_verdict_name(modified ? IDM_AUDIT_DYNAMICS_DRIVEN : group->verdict);
}

const char *idm_contrast_verdict_text(const idm_audit_contrast *contrast)
{
  if (!contrast) return NULL;
  if (contrast->depends) return idm_audit_verdict_name(IDM_AUDIT_DYNAMICS_DRIVEN);
  const bool is_checked = !contrast->unchecked || contrast->verdict != IDM_AUDIT_IDENTIFIED;
  return is_checked ? idm_audit_verdict_name(contrast->verdict) : unchecked;
}

const char *const idm_audit_dynamics_words[] = {"pooled", "group", NULL};

const char *idm_audit_dynamics_name(idm_audit_dynamics dynamics)
{
  return (unsigned)dynamics <= IDM_AUDIT_BY_GROUP ? idm_audit_dynamics_words[dynamics] : NULL;
}

void idm_audit_settings_default(idm_audit_settings *settings)
{
  if (!settings) return;
  *settings = (idm_audit_settings){0};
  idm_fit_settings_default(&settings->fit);
  settings->fit.keep = IDM_KEEP_NOTHING;
  settings->fit.warmup = 200; /* proposals are centred at modes, so little adaptation is needed */
  settings->cuts = 1;
}

/* --- memory and names ------------------------------------------------------------------------ */

static void destroy_numbers(idm_audit_quantity *number, size_t count)
{
  for (size_t i = 0; number && i < count; i++) free(number[i].draw);
  free(number);
}

void idm_audit_destroy(idm_audit *a)
{
  if (!a) return;
  const size_t d = a->coordinate.count;
  for (size_t i = 0; a->group && i < a->sides; i++) {
    free(a->group[i].name);
    idm_notes_clear(&a->group[i].misfits);
    idm_notes_clear(&a->group[i].reasons);
    idm_notes_clear(&a->group[i].failures);
    destroy_numbers(a->group[i].number, d);
    destroy_numbers(a->group[i].within, d);
  }
  for (size_t i = 0; a->contrast && i < a->contrasts; i++) {
    free(a->contrast[i].group);
    free(a->contrast[i].against);
    destroy_numbers(a->contrast[i].number, d);
    destroy_numbers(a->contrast[i].pooled, d);
  }
  destroy_numbers(a->mean, d);
  destroy_numbers(a->sd, d);
  destroy_numbers(a->within, d);
  free(a->group);
  free(a->contrast);
  idm_joint_dynamics_destroy(a->joint);
  idm_notes_clear(&a->failures);
  idm_notes_clear(&a->remarks);
  idm_problem_destroy(a->problem);
  idm_labels_destroy(&a->coordinate);
  free(a);
}

static idm_audit_quantity *make_numbers(const idm_audit *a)
{
  const size_t d = a->coordinate.count;
  idm_audit_quantity *number = idm_new(d, sizeof *number);
  bool allocated = number;
  for (size_t j = 0; j < d && allocated; j++) {
    number[j] = (idm_audit_quantity){.contraction = NAN,
                                     .prior_shift = NAN,
                                     .dynamics_shift = NAN,
                                     .own = NAN,
                                     .alone = NAN,
                                     .positive = NAN,
                                     .adjusted = NAN,
                                     .between = NAN,
                                     .shift = NAN,
                                     .draw = idm_new(a->chains * a->draws, sizeof(double))};
    allocated = number[j].draw;
  }
  if (allocated) return number;
  destroy_numbers(number, d);
  return NULL;
}

static char *copy_text(const char *text)
{
  return idm_text_copy(text, strlen(text));
}

static bool is_member(const idm_groups *g, size_t group, size_t trajectory)
{
  return g->member[group * g->trajectories + trajectory];
}

/* Whether a trajectory belongs to a side: a group; `all`, which excludes trajectories without a
 * group; or the rest of a group. */
static bool is_in_side(const idm_groups *g, size_t side, size_t trajectory)
{
  const size_t n = g->name.count;
  if (side < n) return is_member(g, side, trajectory);
  bool is_included = !g->partition;
  for (size_t i = 0; i < n && !is_included; i++) is_included = is_member(g, i, trajectory);
  return is_included && (side == n || !is_member(g, side - n - 1, trajectory));
}

static idm_status count_people(const idm_data *data, const idm_groups *g, size_t at,
                               idm_audit_group *group, idm_error *opt_error)
{
  bool *counted = idm_new(data->agent_name.count, sizeof *counted);
  if (!counted) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < data->trajectories; t++) {
    if (!is_in_side(g, at, t)) continue;
    group->trajectories++;
    group->agents += !counted[data->agent[t]];
    counted[data->agent[t]] = true;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++)
      group->decisions += data->action[row] != IDM_MISSING &&
                          idm_data_available_count(data, data->available[row]) > 1;
  }
  free(counted);
  return IDM_OK;
}

static idm_status name_coordinates(const idm_parameters *p, idm_labels *coordinate,
                                   idm_error *opt_error)
{
  idm_status status = idm_labels_create(coordinate, p->items, opt_error);
  for (size_t i = 0; i < p->items && status == IDM_OK; i++) {
    char name[IDM_ENTRY_SIZE + 200];
    idm_parameter_name(p, &p->item[i], name, sizeof name);
    status = idm_labels_set(coordinate, i, name, strlen(name), opt_error);
  }
  return status;
}

/* Name of a side, as a new string; NULL: out of memory. */
static char *name_side(const idm_groups *g, size_t side)
{
  const size_t n = g->name.count;
  if (side <= n) return copy_text(side < n ? g->name.name[side] : IDM_AUDIT_ALL);
  const char *group = g->name.name[side - n - 1];
  const size_t size = strlen(group) + sizeof IDM_AUDIT_REST " of ";
  char *name = idm_new(size, 1);
  if (name) idm_print(name, size, IDM_AUDIT_REST " of %s", group);
  return name;
}

/* Set names and sizes, and allocate draws. */
static idm_status fill_names(const idm_data *data, const idm_groups *g,
                             const audit_estimands *estimands, idm_audit *a, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < a->sides && status == IDM_OK; i++) {
    idm_audit_group *group = &a->group[i];
    group->name = name_side(g, i);
    group->number = make_numbers(a);
    const bool spread = a->people && !estimands->model.pooled;
    if (spread) group->within = make_numbers(a);
    status = group->name && group->number && (group->within || !spread)
                 ? count_people(data, g, i, group, opt_error)
                 : idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < a->contrasts && status == IDM_OK; i++) {
    idm_audit_contrast *contrast = &a->contrast[i];
    const size_t against = estimands->pair[i][1];
    memcpy(contrast->side, estimands->pair[i], sizeof contrast->side);
    contrast->group = copy_text(g->name.name[estimands->pair[i][0]]);
    contrast->against = copy_text(against < g->name.count ? g->name.name[against] : IDM_AUDIT_REST);
    contrast->number = make_numbers(a);
    if (!contrast->group || !contrast->against || !contrast->number)
      status = idm_fail_memory(opt_error);
  }
  return status;
}

static idm_status create(const idm_problem *problem, const idm_data *data, const idm_groups *g,
                         const audit_estimands *estimands, const idm_audit_settings *audit_settings,
                         size_t cuts, idm_audit **ret_audit, idm_error *opt_error)
{
  const idm_fit_settings *settings = &audit_settings->fit;
  idm_parameters *parameters = NULL;
  idm_audit *a = *ret_audit = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  idm_checks_begin(&a->checks, audit_settings->people ? IDM_CHECK_NESTED : IDM_CHECK_AUDIT);
  a->people = audit_settings->people;
  a->pool = audit_settings->pool;
  a->dynamics = audit_settings->dynamics;
  a->cuts = cuts;
  a->chains = settings->chains * cuts;
  a->draws = (size_t)settings->draws;
  a->warmup = settings->warmup;
  a->seed = settings->seed;
  a->resolution = idm_lattice_resolution(problem);
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = name_coordinates(parameters, &a->coordinate, opt_error);
  idm_parameters_destroy(parameters);
  if (status != IDM_OK) return status;
  a->group = idm_new(estimands->sides, sizeof *a->group);
  a->groups = a->group ? estimands->groups : 0;
  a->sides = a->group ? estimands->sides : 0;
  a->contrast = idm_new(estimands->contrasts, sizeof *a->contrast);
  a->contrasts = a->contrast ? estimands->contrasts : 0;
  if (estimands->model.pooled) {
    a->mean = make_numbers(a);
    a->sd = make_numbers(a);
    if (a->people) a->within = make_numbers(a);
    if (!a->mean || !a->sd || (a->people && !a->within)) return idm_fail_memory(opt_error);
  }
  if (!a->group || !a->contrast) return idm_fail_memory(opt_error);
  return fill_names(data, g, estimands, a, opt_error);
}

/* --- cells ---------------------------------------------------------------------------------- */

static idm_status set_priors(const idm_problem *problem, audit_model *m, idm_error *opt_error)
{
  idm_parameters *parameters = NULL;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status != IDM_OK) return status;
  m->dimension = parameters->dimension;
  m->mean = idm_new(m->dimension, sizeof *m->mean);
  m->sd = idm_new(m->dimension, sizeof *m->sd);
  status = m->mean && m->sd ? idm_audit_priors(parameters, m->mean, m->sd, opt_error)
                            : idm_fail_memory(opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* Source of the dynamics of cells, one draw after another. */
typedef struct dynamics_source {
  const idm_problem *problem;
  const idm_cut_draws *opt_cut; /* dynamics shared by all cells; NULL: those of the problem, or */
  bool by_group;                /* dynamics learnt from the log of each cell */
  size_t count;
  const audit_joint
      *opt_joint; /* dynamics sampled jointly with the free numbers, instead of the above */
} dynamics_source;

/* Cells that are opened in parallel. */
typedef struct cell_job {
  audit_model *model;
  const dynamics_source *dynamics_source;
  size_t dynamics_index;
  bool refine; /* cells are open; build finer grids */
  const audit_watch *watch;
  atomic_bool stop;
  idm_status *status; /* [cell] */
  idm_error *error;
} cell_job;

/* Learn the dynamics of a cell from its log, or read them from the journal. */
static idm_status learn_cell(const cell_job *o, size_t cell, idm_error *opt_error)
{
  audit_cell *c = &o->model->cell[cell];
  const dynamics_source *w = o->dynamics_source;
  idm_journal *journal = o->watch->journal;
  const uint64_t step = idm_audit_step(AUDIT_STEP_LEARN, o->watch->dynamics_index, cell);
  idm_record record;
  if (idm_journal_get(journal, step, &record))
    return idm_audit_learn_read(&record, &c->own, opt_error);
  idm_status status = idm_audit_learn_dynamics(w->problem, c->data, w->count > 1,
                                               o->model->key + cell, &c->own, opt_error);
  if (status != IDM_OK) return status;
  idm_journal_begin(step, &record);
  idm_audit_learn_write(&c->own, &record);
  return idm_journal_put(journal, step, &record, opt_error);
}

/* Put the current draw of the dynamics into the cell's own problem. */
static idm_status move_cell(const cell_job *o, size_t cell, idm_error *opt_error)
{
  audit_cell *c = &o->model->cell[cell];
  const dynamics_source *w = o->dynamics_source;
  idm_status status = IDM_OK;
  if (!w->opt_cut && !w->by_group) return IDM_OK;
  if (w->by_group && !c->own.draws) status = learn_cell(o, cell, opt_error);
  if (status == IDM_OK && !c->modified)
    status = idm_problem_clone(w->problem, &c->modified, opt_error);
  if (status != IDM_OK) return status;
  c->problem = c->modified;
  const idm_cut_draws own = {w->problem, &c->own, w->count};
  return idm_cut_apply(w->by_group ? &own : w->opt_cut, o->dynamics_index, c->modified, opt_error);
}

/* Open a cell or refine its grid, or read the result from the journal. */
static idm_status open_or_refine_cell(cell_job *o, size_t cell, idm_error *error)
{
  const audit_model *m = o->model;
  audit_cell *c = &m->cell[cell];
  idm_journal *journal = o->watch->journal;
  const uint64_t step = idm_audit_step(o->refine ? AUDIT_STEP_REFINE : AUDIT_STEP_OPEN,
                                       o->watch->dynamics_index, cell);
  idm_record record;
  idm_status status = IDM_OK;
  const bool done = idm_journal_get(journal, step, &record);
  if (done || !o->refine) idm_audit_cell_reset(c);
  if (!o->refine) status = move_cell(o, cell, error);
  if (status != IDM_OK) return status;
  if (done) return idm_audit_cell_read(c, m->settings, &record, error);
  status = o->refine ? idm_audit_refine(c, m->mean, m->sd, &o->stop, error)
                     : idm_audit_cell_open(c, m->settings, m->mean, m->sd, &o->stop, error);
  if (status != IDM_OK) return status;
  idm_journal_begin(step, &record);
  idm_audit_cell_write(c, m->settings->chains, &record);
  return idm_journal_put(journal, step, &record, error);
}

static void open_cell(void *context, size_t cell)
{
  cell_job *o = context;
  o->status[cell] = open_or_refine_cell(o, cell, &o->error[cell]);
}

static void poll_stop(void *context)
{
  cell_job *o = context;
  if (idm_audit_report_progress(o->watch, 0, 0, NULL)) atomic_store(&o->stop, true);
}

/* Open all cells in draw `dynamics_index` of the dynamics; if opt_source is NULL, refine the grids
 * of open cells. */
static idm_status open_cells(audit_model *m, const dynamics_source *opt_source,
                             size_t dynamics_index, const audit_watch *watch, idm_error *opt_error)
{
  cell_job o = {.model = m,
                .dynamics_source = opt_source,
                .dynamics_index = dynamics_index,
                .refine = !opt_source,
                .watch = watch};
  o.status = idm_new(m->cells, sizeof *o.status);
  o.error = idm_new(m->cells, sizeof *o.error);
  idm_status status = o.status && o.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_parallel(m->cells, m->settings->threads, open_cell,
                          watch->opt_monitor ? poll_stop : NULL, &o, opt_error);
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    status = o.status[c];
    if (status != IDM_OK && opt_error) *opt_error = o.error[c];
  }
  free(o.status);
  free(o.error);
  return status;
}

/* --- run ------------------------------------------------------------------------------------- */

/* Key of the random streams: a checksum of everything that the result depends on. */
static uint64_t key_of(const idm_problem *problem, const idm_data *data, const idm_groups *g,
                       const idm_audit_settings *settings)
{
  uint64_t key = idm_fingerprint_request(NULL, problem, data, &settings->fit);
  const char *const words[] = {idm_audit_pool_words[settings->pool],
                               idm_audit_dynamics_words[settings->dynamics]};
  for (size_t i = 0; i < 2; i++) key = idm_checksum(key, words[i], strlen(words[i]) + 1);
  key = idm_checksum(key, settings->people ? "p" : "g", 1);
  for (size_t i = 0; i < g->name.count; i++)
    key = idm_checksum(key, g->name.name[i], strlen(g->name.name[i]) + 1);
  return idm_checksum(key, (const char *)g->member, g->name.count * g->trajectories);
}

static idm_status check(const idm_data *data, const idm_groups *g,
                        const idm_audit_settings *settings, idm_error *opt_error)
{
  if (!idm_pool_name(settings->pool) || !idm_audit_dynamics_name(settings->dynamics))
    return idm_fail(opt_error, IDM_USAGE, "the kind of pooling or of dynamics is unknown");
  if (settings->dynamics == IDM_AUDIT_BY_GROUP && !settings->cuts)
    return idm_fail(opt_error, IDM_USAGE,
                    "the number of draws of the groups' dynamics is 0; expected at least 1");
  if (settings->people && settings->pool == IDM_POOL_PARTIAL &&
      settings->dynamics == IDM_AUDIT_BY_GROUP)
    return idm_fail(opt_error, IDM_USAGE,
                    "agents of pooled groups share one set of dynamics; expected "
                    "--pool none or holm with --people --dynamics group");
  if (g->trajectories != data->trajectories || !g->name.count)
    return idm_fail(opt_error, IDM_USAGE, "the groups were made from another log");
  return idm_keys_check(idm_fit_keys(), &settings->fit, opt_error);
}

/* Sample with the grids as likelihoods if their error is small; otherwise with finer grids;
 * otherwise accept every draw by its exact likelihood. Nested agents always use exact likelihoods.
 */
static idm_status draw(audit_model *m, uint64_t stream, const audit_watch *watch,
                       audit_draws *draws, idm_error *opt_error)
{
  double error = 0;
  idm_status status = IDM_OK;
  m->exact = false;
  if (m->cohorts) return idm_audit_sample(m, 1, stream, watch, draws, opt_error);
  for (int refined = 0; refined < 2; refined++) {
    if (refined) status = open_cells(m, NULL, 0, watch, opt_error);
    if (status == IDM_OK) status = idm_audit_sample(m, 1, stream, watch, draws, opt_error);
    if (status == IDM_OK) status = idm_audit_grid_error(m, draws, &error, opt_error);
    if (status != IDM_OK || error <= max_grid_error) return status;
    idm_audit_draws_clear(draws);
  }
  m->exact = true;
  return idm_audit_sample(m, 1, stream, watch, draws, opt_error);
}

/* Whether the model is reassessed in this draw of the dynamics: evenly spaced draws, at most
 * IDM_AUDIT_ASSESSED_DRAWS. */
static bool is_assessed_draw(const dynamics_source *w, size_t dynamics_index)
{
  const size_t every = (w->count + IDM_AUDIT_ASSESSED_DRAWS - 1) / IDM_AUDIT_ASSESSED_DRAWS;
  return w->count > 1 && dynamics_index % every == 0;
}

/* Run one draw of the dynamics. With a single draw, the model is also assessed. scales: NULL if
 * draws are not collected. */
static idm_status run_dynamics_draw(audit_estimands *estimands, const dynamics_source *w,
                                    size_t dynamics_index, const audit_watch *watch,
                                    idm_audit *audit, prior_scale_means *scales,
                                    idm_error *opt_error)
{
  const uint64_t stream = (uint64_t)dynamics_index << 22;
  const double share = watch->to - watch->from;
  audit_watch begin = *watch, sample_watch = *watch, collect_watch = *watch;
  begin.to = sample_watch.from = watch->from + 0.6 * share;
  sample_watch.to = collect_watch.from = watch->from + 0.9 * share;
  audit_draws draws = {0};
  idm_status status = open_cells(&estimands->model, w, dynamics_index, &begin, opt_error);
  if (status == IDM_OK) status = draw(&estimands->model, stream, &sample_watch, &draws, opt_error);
  if (status == IDM_OK && scales)
    status = idm_audit_collect(estimands, &draws, dynamics_index, stream, &collect_watch, audit,
                               scales, opt_error);
  if (status == IDM_OK && w->count == 1)
    status = idm_audit_assess(estimands, &draws, audit, opt_error);
  if (status == IDM_OK && is_assessed_draw(w, dynamics_index) && idm_audit_count_unfit(audit))
    status = idm_audit_reassess(estimands, &draws, audit, opt_error);
  idm_audit_draws_clear(&draws);
  return status;
}

/* Sample dynamics and free numbers jointly. The fit of the model, and the information in a group's
 * own decisions, are assessed at the mean of the dynamics. */
static idm_status run_joint(audit_estimands *estimands, const audit_joint *joint,
                            const audit_watch *watch, idm_audit *audit, prior_scale_means *scales,
                            idm_error *opt_error)
{
  enum { dynamics_index = 1 }; /* of the mean, in the journal */
  const double share = watch->to - watch->from;
  audit_watch sample_watch = *watch, collect_watch = *watch, assess_watch = *watch;
  sample_watch.to = collect_watch.from = watch->from + 0.9 * share;
  collect_watch.to = assess_watch.from = watch->from + 0.95 * share;
  assess_watch.dynamics_index += dynamics_index;
  audit_draws draws = {0}, mean_draws = {0};
  idm_dynamics_draws mean = {0};
  estimands->model.joint = joint;
  idm_status status = idm_audit_sample(&estimands->model, 1, 0, &sample_watch, &draws, opt_error);
  if (status == IDM_OK) status = idm_dynamics_mean(joint->cut, draws.dynamics, &mean, opt_error);
  const idm_cut_draws mean_cut = {joint->cut->learnt, &mean, 1};
  const dynamics_source at_mean = {joint->problem, &mean_cut, false, 1, NULL};
  if (status == IDM_OK)
    status = open_cells(&estimands->model, &at_mean, 0, &assess_watch, opt_error);
  if (status == IDM_OK)
    status = idm_audit_collect(estimands, &draws, 0, 0, &collect_watch, audit, scales, opt_error);
  estimands->model.joint = NULL;
  if (status == IDM_OK) status = draw(&estimands->model, 0, &assess_watch, &mean_draws, opt_error);
  if (status == IDM_OK) status = idm_audit_assess(estimands, &mean_draws, audit, opt_error);
  audit->joint = draws.dynamics;
  draws.dynamics = NULL;
  idm_audit_draws_clear(&mean_draws);
  idm_audit_draws_clear(&draws);
  idm_dynamics_draws_clear(&mean);
  return status;
}

/* Assess the model over several draws of the dynamics: at their mean or, for dynamics learnt by
 * group, at their point estimate. If it does not fit, run_dynamics_draw reassesses it in some of
 * the draws. */
static idm_status assess_at_mean(audit_estimands *estimands, const dynamics_source *w,
                                 const audit_watch *watch, idm_audit *audit, idm_error *opt_error)
{
  idm_dynamics_draws mean = {0};
  const idm_cut_draws mean_cut = {w->opt_cut ? w->opt_cut->learnt : NULL, &mean, 1};
  const dynamics_source at_mean = {w->problem, w->opt_cut ? &mean_cut : NULL, w->by_group, 1, NULL};
  idm_status status = w->opt_cut ? idm_dynamics_mean(w->opt_cut, NULL, &mean, opt_error) : IDM_OK;
  if (status == IDM_OK)
    status = run_dynamics_draw(estimands, &at_mean, 0, watch, audit, NULL, opt_error);
  for (size_t c = 0; c < estimands->model.cells; c++) {
    audit_cell *cell = &estimands->model.cell[c];
    cell->problem = w->problem;
    idm_dynamics_draws_clear(&cell->own);
  }
  idm_dynamics_draws_clear(&mean);
  return status;
}

/* Run the whole audit with one source of dynamics. */
static idm_status run_once(const idm_problem *problem, const idm_data *data,
                           const idm_groups *groups, const idm_audit_settings *settings,
                           const dynamics_source *w, const audit_watch *watch,
                           idm_audit **ret_audit, idm_error *opt_error)
{
  audit_estimands estimands = {0};
  prior_scale_means *scales = NULL;
  const bool pools_draws = w->count > 1 && !w->opt_joint;
  const size_t count = w->opt_joint ? 1 : w->count;
  const double share = (watch->to - watch->from) / (double)(count + pools_draws);
  idm_status status = idm_audit_estimands(problem, data, groups, settings, &estimands, opt_error);
  if (status == IDM_OK) status = set_priors(problem, &estimands.model, opt_error);
  if (status == IDM_OK) {
    estimands.model.began = idm_timestamp_now();
    estimands.model.key = key_of(problem, data, groups, settings);
    estimands.model.learnt = pools_draws || w->opt_cut;
    status = create(problem, data, groups, &estimands, settings, count, ret_audit, opt_error);
  }
  if (status == IDM_OK) {
    scales = idm_new(estimands.sides * estimands.model.dimension, sizeof *scales);
    if (!scales) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && pools_draws) {
    audit_watch own = *watch;
    own.to = own.from + share;
    status = assess_at_mean(&estimands, w, &own, *ret_audit, opt_error);
  }
  if (status == IDM_OK && w->opt_joint)
    status = run_joint(&estimands, w->opt_joint, watch, *ret_audit, scales, opt_error);
  for (size_t k = 0; k < count && !w->opt_joint && status == IDM_OK; k++) {
    audit_watch own = *watch;
    own.from += (double)(k + pools_draws) * share;
    own.to = own.from + share;
    own.dynamics_index += k + pools_draws;
    status = run_dynamics_draw(&estimands, w, k, &own, *ret_audit, scales, opt_error);
  }
  /* After a joint audit, cells hold the mean of the dynamics. */
  if (status == IDM_OK && w->opt_joint)
    status = idm_audit_environment_test(estimands.model.cell[0].problem, data, true, *ret_audit,
                                        opt_error);
  else if (status == IDM_OK && !estimands.model.learnt && !w->by_group)
    status = idm_audit_environment_test(problem, data, false, *ret_audit, opt_error);
  if (status == IDM_OK) status = idm_audit_conclude(&estimands, scales, *ret_audit, opt_error);
  if (status == IDM_OK && w->by_group)
    status = idm_audit_learn_check(&estimands.model, *ret_audit, opt_error);
  idm_audit_estimands_clear(&estimands);
  free(scales);
  return status;
}

/* Whether two estimates of one quantity contradict each other: their means differ in sign, only one
 * is significant, or each mean is outside the other's interval. */
static bool contradicts(const idm_audit_quantity *a, const idm_audit_quantity *b)
{
  const double x = a->diagnosis.mean;
  const double y = b->diagnosis.mean;
  const bool apart = (x < b->low || x > b->high) && (y < a->low || y > a->high);
  return x * y < 0 || a->significant != b->significant || apart;
}

/* Record how the choice of dynamics changes the estimates. The contrasts of `pooled` are moved to
 * `a`. */
static void compare_dynamics(idm_audit *a, idm_audit *pooled)
{
  const size_t d = a->coordinate.count;
  for (size_t i = 0; i < a->groups * d; i++) {
    idm_audit_quantity *n = &a->group[i / d].number[i % d];
    n->shift = n->diagnosis.mean - pooled->group[i / d].number[i % d].diagnosis.mean;
  }
  for (size_t i = 0; i < a->contrasts; i++) {
    idm_audit_contrast *c = &a->contrast[i];
    c->pooled = pooled->contrast[i].number;
    pooled->contrast[i].number = NULL;
    for (size_t j = 0; j < d; j++) {
      idm_audit_quantity *n = &c->number[j];
      const idm_audit_quantity *other = &c->pooled[j];
      n->shift = n->diagnosis.mean - other->diagnosis.mean;
      c->depends = c->depends || contradicts(n, other);
    }
  }
}

/* Whether the cells partition the log, so that shared dynamics can be sampled jointly. Groups that
 * are not pooled share their trajectories with `all`. */
static bool can_draw_jointly(const idm_audit_settings *settings)
{
  return settings->pool == IDM_POOL_PARTIAL && !settings->people &&
         settings->dynamics == IDM_AUDIT_POOLED;
}

idm_status idm_audit_run(const idm_problem *problem, const idm_data *data, const idm_groups *groups,
                         const idm_audit_settings *settings, const idm_cut_draws *opt_cut,
                         const idm_fit_monitor *opt_monitor, idm_audit **ret_audit,
                         idm_error *opt_error)
{
  idm_require(problem, data, groups, settings, ret_audit);
  *ret_audit = NULL;
  idm_audit *pooled = NULL;
  idm_audit_settings other = *settings;
  other.dynamics = IDM_AUDIT_POOLED;
  const bool by_group = settings->dynamics == IDM_AUDIT_BY_GROUP;
  audit_joint joint = {problem, opt_cut, NULL};
  dynamics_source all = {problem, opt_cut, false, opt_cut ? opt_cut->count : 1, NULL};
  const dynamics_source own = {problem, NULL, true, settings->cuts, NULL};
  idm_iohmm *learner = NULL;
  idm_journal *journal = NULL;
  idm_status status = check(data, groups, settings, opt_error);
  if (status == IDM_OK && opt_cut && can_draw_jointly(settings))
    status = idm_joint_learner(problem, opt_cut, data, &learner, opt_error);
  joint.learner = learner;
  if (learner) all.opt_joint = &joint;
  if (status == IDM_OK) status = idm_journal_create("idmaud3", opt_monitor, &journal, opt_error);
  const audit_watch first = {opt_monitor, journal, 0, 0, 0.2};
  const audit_watch last = {opt_monitor, journal, all.count + 1, by_group ? 0.2 : 0, 1};
  if (status == IDM_OK && by_group)
    status = run_once(problem, data, groups, &other, &all, &first, &pooled, opt_error);
  if (status == IDM_OK)
    status = run_once(problem, data, groups, settings, by_group ? &own : &all, &last, ret_audit,
                      opt_error);
  if (status == IDM_OK && by_group) compare_dynamics(*ret_audit, pooled);
  if (status == IDM_OK) idm_audit_remark(*ret_audit);
  idm_audit_destroy(pooled);
  idm_iohmm_destroy(learner);
  idm_journal_destroy(journal);
  if (status != IDM_OK) {
    idm_audit_destroy(*ret_audit);
    *ret_audit = NULL;
  }
  return status;
}

/* --- accessors ------------------------------------------------------------------------------ */

size_t idm_audit_groups(const idm_audit *audit)
{
  return audit ? audit->groups : 0;
}

size_t idm_audit_contrasts(const idm_audit *audit)
{
  return audit ? audit->contrasts : 0;
}

size_t idm_audit_numbers(const idm_audit *audit)
{
  return audit ? audit->coordinate.count : 0;
}

const char *idm_audit_number_name(const idm_audit *audit, size_t index)
{
  return index < idm_audit_numbers(audit) ? audit->coordinate.name[index] : NULL;
}

const char *idm_audit_group_name(const idm_audit *audit, size_t index)
{
  return index < idm_audit_groups(audit) ? audit->group[index].name : NULL;
}

const char *idm_audit_side_name(const idm_audit *audit, size_t index, int side)
{
  if (index >= idm_audit_contrasts(audit)) return NULL;
  return side == 0   ? audit->contrast[index].group
         : side == 1 ? audit->contrast[index].against
                     : NULL;
}

const char *idm_audit_group_verdict(const idm_audit *audit, size_t index)
{
  return index < idm_audit_groups(audit) ? idm_group_verdict_text(&audit->group[index]) : NULL;
}

const char *idm_audit_contrast_verdict(const idm_audit *audit, size_t index)
{
  return index < idm_audit_contrasts(audit) ? idm_contrast_verdict_text(&audit->contrast[index])
                                            : NULL;
}

static idm_status estimate_of(const idm_audit *audit, bool exists,
                              const idm_audit_quantity *quantity, size_t number,
                              idm_audit_estimate *estimate, idm_error *opt_error)
{
  if (!exists || number >= idm_audit_numbers(audit))
    return idm_fail(opt_error, IDM_USAGE, "the audit has no such number");
  const idm_audit_quantity *q = &quantity[number];
  *estimate = (idm_audit_estimate){q->diagnosis, q->low, q->high, q->positive, q->adjusted};
  return IDM_OK;
}

idm_status idm_audit_group_estimate(const idm_audit *audit, size_t index, size_t number,
                                    idm_audit_estimate *estimate, idm_error *opt_error)
{
  idm_require(audit, estimate);
  const bool exists = index < audit->groups;
  return estimate_of(audit, exists, exists ? audit->group[index].number : NULL, number, estimate,
                     opt_error);
}

idm_status idm_audit_contrast_estimate(const idm_audit *audit, size_t index, size_t number,
                                       idm_audit_estimate *estimate, idm_error *opt_error)
{
  idm_require(audit, estimate);
  const bool exists = index < audit->contrasts;
  return estimate_of(audit, exists, exists ? audit->contrast[index].number : NULL, number, estimate,
                     opt_error);
}

bool idm_audit_trusted(const idm_audit *audit)
{
  return audit && audit->trusted;
}
