/* Audits: cells opened, drawn and judged.
 *
 * Contents: the answer · cells · the whole */
#include "idm/audit.h"

#include <math.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/door.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "invert/audit/cell.h"
#include "invert/audit/draws.h"
#include "invert/audit/dynamics.h"
#include "invert/audit/held.h"
#include "invert/audit/judge.h"
#include "invert/audit/looked.h"
#include "invert/audit/remarks.h"
#include "invert/audit/sample.h"
#include "invert/audit/tabulate.h"
#include "invert/audit/words.h"
#include "invert/check.h"
#include "invert/finer.h"
#include "invert/fork.h"
#include "invert/joint/learner.h"
#include "invert/label.h"

/* By which grids may move a posterior mean, in its sds. */
static const double most_grid_error = 0.1;

const char *const idm_audit_pool_words[] = {"partial", "none", "holm", NULL};

const char *idm_pool_word(idm_pool pool)
{
  return (unsigned)pool <= IDM_POOL_HOLM ? idm_audit_pool_words[pool] : NULL;
}

const char *idm_audit_verdict_word(idm_audit_verdict verdict)
{
  static const char *const words[] = {"identified",   "population-driven", "depends on dynamics",
                                      "prior-driven", "groups differ",     "failed"};
  return (unsigned)verdict <= IDM_AUDIT_FAILED ? words[verdict] : NULL;
}

static const char unchecked[] = "unchecked";

const char *idm_audit_group_word(const idm_audit_group *group)
{
  if (!group) return NULL;
  const bool moved = group->depends && group->verdict < IDM_AUDIT_DYNAMICS_DRIVEN;
  if (group->unchecked && group->verdict == IDM_AUDIT_IDENTIFIED && !moved) return unchecked;
  return idm_audit_verdict_word(moved ? IDM_AUDIT_DYNAMICS_DRIVEN : group->verdict);
}

const char *idm_audit_contrast_word(const idm_audit_contrast *contrast)
{
  if (!contrast) return NULL;
  if (contrast->depends) return idm_audit_verdict_word(IDM_AUDIT_DYNAMICS_DRIVEN);
  const bool known = !contrast->unchecked || contrast->verdict != IDM_AUDIT_IDENTIFIED;
  return known ? idm_audit_verdict_word(contrast->verdict) : unchecked;
}

const char *const idm_audit_dynamics_words[] = {"pooled", "group", NULL};

const char *idm_audit_dynamics_word(idm_audit_dynamics dynamics)
{
  return (unsigned)dynamics <= IDM_AUDIT_BY_GROUP ? idm_audit_dynamics_words[dynamics] : NULL;
}

void idm_audit_settings_default(idm_audit_settings *settings)
{
  if (!settings) return;
  *settings = (idm_audit_settings){0};
  idm_fit_settings_default(&settings->fit);
  settings->fit.keep = IDM_KEEP_NOTHING;
  settings->fit.warmup = 200; /* proposals come from modes: there is little to adapt */
  settings->cuts = 1;
}

/* --- the answer ----------------------------------------------------------------------------- */

static void destroy_numbers(idm_audit_number *number, size_t count)
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
  idm_labels_destroy(&a->coordinate);
  free(a);
}

static idm_audit_number *make_numbers(const idm_audit *a)
{
  const size_t d = a->coordinate.count;
  idm_audit_number *number = idm_new(d, sizeof *number);
  bool made = number;
  for (size_t j = 0; j < d && made; j++) {
    number[j] = (idm_audit_number){.contraction = NAN,
                                   .prior_shift = NAN,
                                   .dynamics_shift = NAN,
                                   .own = NAN,
                                   .alone = NAN,
                                   .positive = NAN,
                                   .adjusted = NAN,
                                   .between = NAN,
                                   .shift = NAN,
                                   .draw = idm_new(a->chains * a->draws, sizeof(double))};
    made = number[j].draw;
  }
  if (made) return number;
  destroy_numbers(number, d);
  return NULL;
}

static char *copy_text(const char *text)
{
  return idm_text_copy(text, strlen(text));
}

static bool belongs(const idm_groups *g, size_t group, size_t trajectory)
{
  return g->member[group * g->trajectories + trajectory];
}

/* Whether a trajectory counts for a side: a group; all, who have one; the rest of a group. */
static bool counts(const idm_groups *g, size_t side, size_t trajectory)
{
  const size_t n = g->name.count;
  if (side < n) return belongs(g, side, trajectory);
  bool in = !g->partition;
  for (size_t i = 0; i < n && !in; i++) in = belongs(g, i, trajectory);
  return in && (side == n || !belongs(g, side - n - 1, trajectory));
}

static idm_status count_people(const idm_data *data, const idm_groups *g, size_t at,
                               idm_audit_group *group, idm_error *opt_error)
{
  bool *seen = idm_new(data->agent_name.count, sizeof *seen);
  if (!seen) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < data->trajectories; t++) {
    if (!counts(g, at, t)) continue;
    group->trajectories++;
    group->agents += !seen[data->agent[t]];
    seen[data->agent[t]] = true;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++)
      group->decisions +=
          data->action[row] != IDM_MISSING && idm_data_open(data, data->available[row]) > 1;
  }
  free(seen);
  return IDM_OK;
}

static idm_status name_coordinates(const idm_parameters *p, idm_labels *coordinate,
                                   idm_error *opt_error)
{
  idm_status status = idm_labels_create(coordinate, p->items, opt_error);
  for (size_t i = 0; i < p->items && status == IDM_OK; i++) {
    char name[IDM_ENTRY + 200];
    idm_parameter_called(p, &p->item[i], name, sizeof name);
    status = idm_labels_set(coordinate, i, name, strlen(name), opt_error);
  }
  return status;
}

/* What a side is called, in a new text. */
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

/* Names, sizes and room for draws. */
static idm_status fill_names(const idm_data *data, const idm_groups *g, const audit_plan *plan,
                             idm_audit *a, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < a->sides && status == IDM_OK; i++) {
    idm_audit_group *group = &a->group[i];
    group->name = name_side(g, i);
    group->number = make_numbers(a);
    const bool spread = a->people && !plan->model.pooled;
    if (spread) group->within = make_numbers(a);
    status = group->name && group->number && (group->within || !spread)
                 ? count_people(data, g, i, group, opt_error)
                 : idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < a->contrasts && status == IDM_OK; i++) {
    idm_audit_contrast *contrast = &a->contrast[i];
    const size_t against = plan->pair[i][1];
    memcpy(contrast->side, plan->pair[i], sizeof contrast->side);
    contrast->group = copy_text(g->name.name[plan->pair[i][0]]);
    contrast->against = copy_text(against < g->name.count ? g->name.name[against] : IDM_AUDIT_REST);
    contrast->number = make_numbers(a);
    if (!contrast->group || !contrast->against || !contrast->number)
      status = idm_fail_memory(opt_error);
  }
  return status;
}

static idm_status create(const idm_problem *problem, const idm_data *data, const idm_groups *g,
                         const audit_plan *plan, const idm_audit_settings *asked, size_t cuts,
                         idm_audit **ret_audit, idm_error *opt_error)
{
  const idm_fit_settings *settings = &asked->fit;
  idm_parameters *parameters = NULL;
  idm_audit *a = *ret_audit = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  idm_checks_begin(&a->checks, asked->people ? IDM_CHECK_NESTED : IDM_CHECK_AUDIT);
  a->people = asked->people;
  a->pool = asked->pool;
  a->dynamics = asked->dynamics;
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
  a->group = idm_new(plan->sides, sizeof *a->group);
  a->groups = a->group ? plan->groups : 0;
  a->sides = a->group ? plan->sides : 0;
  a->contrast = idm_new(plan->contrasts, sizeof *a->contrast);
  a->contrasts = a->contrast ? plan->contrasts : 0;
  if (plan->model.pooled) {
    a->mean = make_numbers(a);
    a->sd = make_numbers(a);
    if (a->people) a->within = make_numbers(a);
    if (!a->mean || !a->sd || (a->people && !a->within)) return idm_fail_memory(opt_error);
  }
  if (!a->group || !a->contrast) return idm_fail_memory(opt_error);
  return fill_names(data, g, plan, a, opt_error);
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

/* Whose dynamics cells are seen in, one draw of them after another. */
typedef struct ways {
  const idm_problem *problem;
  const idm_cuts *opt_cut; /* the same for all cells; NULL: the problem's own, or */
  bool by_group;           /* those learnt from each cell's log */
  size_t count;
  const audit_joint *opt_joint; /* drawn together with the decisions, in place of the above */
} ways;

/* Cells opened side by side. */
typedef struct opening {
  audit_model *model;
  const ways *ways;
  size_t way;
  bool refine; /* cells are open, and get a finer grid */
  const audit_watch *watch;
  atomic_bool stop;
  idm_status *status; /* [cell] */
  idm_error *error;
} opening;

/* Dynamics learnt from the cell's own log, or from the journal. */
static idm_status learn_cell(const opening *o, size_t cell, idm_error *opt_error)
{
  audit_cell *c = &o->model->cell[cell];
  const ways *w = o->ways;
  idm_journal *journal = o->watch->journal;
  const uint64_t step = idm_audit_step(AUDIT_STEP_LEARN, o->watch->way, cell);
  idm_record record;
  if (idm_journal_get(journal, step, &record))
    return idm_audit_learn_read(&record, &c->own, opt_error);
  idm_status status =
      idm_audit_learn(w->problem, c->data, w->count > 1, o->model->key + cell, &c->own, opt_error);
  if (status != IDM_OK) return status;
  idm_journal_begin(step, &record);
  idm_audit_learn_write(&c->own, &record);
  return idm_journal_put(journal, step, &record, opt_error);
}

/* The dynamics of this way, in a problem of the cell's own. */
static idm_status move_cell(const opening *o, size_t cell, idm_error *opt_error)
{
  audit_cell *c = &o->model->cell[cell];
  const ways *w = o->ways;
  idm_status status = IDM_OK;
  if (!w->opt_cut && !w->by_group) return IDM_OK;
  if (w->by_group && !c->own.draws) status = learn_cell(o, cell, opt_error);
  if (status == IDM_OK && !c->moved) status = idm_problem_fork(w->problem, &c->moved, opt_error);
  if (status != IDM_OK) return status;
  c->problem = c->moved;
  const idm_cuts own = {w->problem, &c->own, w->count};
  return idm_cut_take(w->by_group ? &own : w->opt_cut, o->way, c->moved, opt_error);
}

/* Open a cell, or refine its grid, unless the journal has the result. */
static idm_status do_cell(opening *o, size_t cell, idm_error *error)
{
  const audit_model *m = o->model;
  audit_cell *c = &m->cell[cell];
  idm_journal *journal = o->watch->journal;
  const uint64_t step =
      idm_audit_step(o->refine ? AUDIT_STEP_REFINE : AUDIT_STEP_OPEN, o->watch->way, cell);
  idm_record record;
  idm_status status = IDM_OK;
  const bool done = idm_journal_get(journal, step, &record);
  if (done || !o->refine) idm_audit_cell_shut(c);
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
  opening *o = context;
  o->status[cell] = do_cell(o, cell, &o->error[cell]);
}

static void watch_cells(void *context)
{
  opening *o = context;
  if (idm_audit_watched(o->watch, 0, 0, NULL)) atomic_store(&o->stop, true);
}

/* All cells: opened in the dynamics of a way or, without ways, with a finer grid. */
static idm_status open_cells(audit_model *m, const ways *opt_ways, size_t way,
                             const audit_watch *watch, idm_error *opt_error)
{
  opening o = {.model = m, .ways = opt_ways, .way = way, .refine = !opt_ways, .watch = watch};
  o.status = idm_new(m->cells, sizeof *o.status);
  o.error = idm_new(m->cells, sizeof *o.error);
  idm_status status = o.status && o.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_parallel(m->cells, m->settings->threads, open_cell,
                          watch->opt_watch ? watch_cells : NULL, &o, opt_error);
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    status = o.status[c];
    if (status != IDM_OK && opt_error) *opt_error = o.error[c];
  }
  free(o.status);
  free(o.error);
  return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Streams go by everything that is asked for. */
static uint64_t key_of(const idm_problem *problem, const idm_data *data, const idm_groups *g,
                       const idm_audit_settings *settings)
{
  uint64_t key = idm_label_request(NULL, problem, data, &settings->fit);
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
  if (!idm_pool_word(settings->pool) || !idm_audit_dynamics_word(settings->dynamics))
    return idm_fail(opt_error, IDM_USAGE, "there is no such way of pooling");
  if (settings->dynamics == IDM_AUDIT_BY_GROUP && !settings->cuts)
    return idm_fail(opt_error, IDM_USAGE, "no draw of the dynamics of groups is asked for");
  if (settings->people && settings->pool == IDM_POOL_PARTIAL &&
      settings->dynamics == IDM_AUDIT_BY_GROUP)
    return idm_fail(opt_error, IDM_USAGE,
                    "agents of groups that are pooled are seen in one set of dynamics; expected "
                    "--pool none or holm with --people --dynamics group");
  if (g->trajectories != data->trajectories || !g->name.count)
    return idm_fail(opt_error, IDM_USAGE, "the groups are of another log");
  return idm_keys_check(idm_fit_keys(), &settings->fit, opt_error);
}

/* By grids, where what they miss is little; else by finer ones; else every draw is looked at
 * exactly, as those of agents always are. */
static idm_status draw(audit_model *m, uint64_t stream, const audit_watch *watch,
                       audit_draws *draws, idm_error *opt_error)
{
  double error = 0;
  idm_status status = IDM_OK;
  m->exact = false;
  if (m->wards) return idm_audit_sample(m, 1, stream, watch, draws, opt_error);
  for (int fine = 0; fine < 2; fine++) {
    if (fine) status = open_cells(m, NULL, 0, watch, opt_error);
    if (status == IDM_OK) status = idm_audit_sample(m, 1, stream, watch, draws, opt_error);
    if (status == IDM_OK) status = idm_audit_grid_error(m, draws, &error, opt_error);
    if (status != IDM_OK || error <= most_grid_error) return status;
    idm_audit_draws_clear(draws);
  }
  m->exact = true;
  return idm_audit_sample(m, 1, stream, watch, draws, opt_error);
}

/* Whether the model is looked at in a draw of the dynamics where it does not fit in their mean: in
 * some of them, evenly spread. */
static bool is_looked_at(const ways *w, size_t way)
{
  const size_t every = (w->count + IDM_AUDIT_LOOKS - 1) / IDM_AUDIT_LOOKS;
  return w->count > 1 && way % every == 0;
}

/* One draw of the dynamics or, where there is one way only, all. */
static idm_status run_way(audit_plan *plan, const ways *w, size_t way, const audit_watch *watch,
                          idm_audit *audit, audit_scales *scales, idm_error *opt_error)
{
  const uint64_t stream = (uint64_t)way << 22;
  const double part = watch->to - watch->from;
  audit_watch begin = *watch, sampling = *watch, judging = *watch;
  begin.to = sampling.from = watch->from + 0.6 * part;
  sampling.to = judging.from = watch->from + 0.9 * part;
  audit_draws draws = {0};
  idm_status status = open_cells(&plan->model, w, way, &begin, opt_error);
  if (status == IDM_OK) status = draw(&plan->model, stream, &sampling, &draws, opt_error);
  if (status == IDM_OK && scales)
    status = idm_audit_collect(plan, &draws, way, stream, &judging, audit, scales, opt_error);
  if (status == IDM_OK && w->count == 1) status = idm_audit_look(plan, &draws, audit, opt_error);
  if (status == IDM_OK && is_looked_at(w, way) && idm_audit_count_unfit(audit))
    status = idm_audit_look_again(plan, &draws, audit, opt_error);
  idm_audit_draws_clear(&draws);
  return status;
}

/* Dynamics and decisions drawn together. How the model fits, and what a group's own decisions tell,
 * is looked at in the mean of the dynamics. */
static idm_status run_joint(audit_plan *plan, const audit_joint *joint, const audit_watch *watch,
                            idm_audit *audit, audit_scales *scales, idm_error *opt_error)
{
  enum { way = 1 }; /* of the mean, in the journal */
  const double part = watch->to - watch->from;
  audit_watch sampling = *watch, judging = *watch, looking = *watch;
  sampling.to = judging.from = watch->from + 0.9 * part;
  judging.to = looking.from = watch->from + 0.95 * part;
  looking.way += way;
  audit_draws draws = {0}, given = {0};
  idm_dynamics_draws mean = {0};
  plan->model.joint = joint;
  idm_status status = idm_audit_sample(&plan->model, 1, 0, &sampling, &draws, opt_error);
  if (status == IDM_OK) status = idm_dynamics_mean(joint->cut, draws.dynamics, &mean, opt_error);
  const idm_cuts one = {joint->cut->learnt, &mean, 1};
  const ways middle = {joint->problem, &one, false, 1, NULL};
  if (status == IDM_OK) status = open_cells(&plan->model, &middle, 0, &looking, opt_error);
  if (status == IDM_OK)
    status = idm_audit_collect(plan, &draws, 0, 0, &judging, audit, scales, opt_error);
  plan->model.joint = NULL;
  if (status == IDM_OK) status = draw(&plan->model, 0, &looking, &given, opt_error);
  if (status == IDM_OK) status = idm_audit_look(plan, &given, audit, opt_error);
  audit->joint = draws.dynamics;
  draws.dynamics = NULL;
  idm_audit_draws_clear(&given);
  idm_audit_draws_clear(&draws);
  idm_dynamics_draws_clear(&mean);
  return status;
}

/* How the model fits over several ways: in the mean of the draws of the dynamics, or the mode of a
 * cell's own. Where it does not, run_way looks at some of the draws. */
static idm_status look_between(audit_plan *plan, const ways *w, const audit_watch *watch,
                               idm_audit *audit, idm_error *opt_error)
{
  idm_dynamics_draws mean = {0};
  const idm_cuts one = {w->opt_cut ? w->opt_cut->learnt : NULL, &mean, 1};
  const ways middle = {w->problem, w->opt_cut ? &one : NULL, w->by_group, 1, NULL};
  idm_status status = w->opt_cut ? idm_dynamics_mean(w->opt_cut, NULL, &mean, opt_error) : IDM_OK;
  if (status == IDM_OK) status = run_way(plan, &middle, 0, watch, audit, NULL, opt_error);
  for (size_t c = 0; c < plan->model.cells; c++) {
    audit_cell *cell = &plan->model.cell[c];
    cell->problem = w->problem;
    idm_dynamics_draws_clear(&cell->own);
  }
  idm_dynamics_draws_clear(&mean);
  return status;
}

/* In the dynamics of all, or in others. */
static idm_status run_once(const idm_problem *problem, const idm_data *data,
                           const idm_groups *groups, const idm_audit_settings *settings,
                           const ways *w, const audit_watch *watch, idm_audit **ret_audit,
                           idm_error *opt_error)
{
  audit_plan plan = {0};
  audit_scales *scales = NULL;
  const bool several = w->count > 1 && !w->opt_joint;
  const size_t count = w->opt_joint ? 1 : w->count;
  const double part = (watch->to - watch->from) / (double)(count + several);
  idm_status status = idm_audit_plan(problem, data, groups, settings, &plan, opt_error);
  if (status == IDM_OK) status = set_priors(problem, &plan.model, opt_error);
  if (status == IDM_OK) {
    plan.model.began = idm_moment_now();
    plan.model.key = key_of(problem, data, groups, settings);
    plan.model.learnt = several || w->opt_cut;
    status = create(problem, data, groups, &plan, settings, count, ret_audit, opt_error);
  }
  if (status == IDM_OK) {
    scales = idm_new(plan.sides * plan.model.dimension, sizeof *scales);
    if (!scales) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && several) {
    audit_watch own = *watch;
    own.to = own.from + part;
    status = look_between(&plan, w, &own, *ret_audit, opt_error);
  }
  if (status == IDM_OK && w->opt_joint)
    status = run_joint(&plan, w->opt_joint, watch, *ret_audit, scales, opt_error);
  for (size_t k = 0; k < count && !w->opt_joint && status == IDM_OK; k++) {
    audit_watch own = *watch;
    own.from += (double)(k + several) * part;
    own.to = own.from + part;
    own.way += k + several;
    status = run_way(&plan, w, k, &own, *ret_audit, scales, opt_error);
  }
  /* Cells of a joint audit are left in the mean of the dynamics. */
  if (status == IDM_OK && w->opt_joint)
    status = idm_audit_held_test(plan.model.cell[0].problem, data, true, *ret_audit, opt_error);
  else if (status == IDM_OK && !plan.model.learnt && !w->by_group)
    status = idm_audit_held_test(problem, data, false, *ret_audit, opt_error);
  if (status == IDM_OK) status = idm_audit_conclude(&plan, scales, *ret_audit, opt_error);
  if (status == IDM_OK && w->by_group)
    status = idm_audit_learn_check(&plan.model, *ret_audit, opt_error);
  idm_audit_plan_clear(&plan);
  free(scales);
  return status;
}

/* Whether two answers to one question contradict each other: another sign, one that differs from 0
 * and one that does not, or neither mean within the other's interval. */
static bool contradict(const idm_audit_number *a, const idm_audit_number *b)
{
  const double x = a->diagnosis.mean;
  const double y = b->diagnosis.mean;
  const bool apart = (x < b->low || x > b->high) && (y < a->low || y > a->high);
  return x * y < 0 || a->flagged != b->flagged || apart;
}

/* How the choice of dynamics moves the answer: `pooled` gives its contrasts away. */
static void compare_ways(idm_audit *a, idm_audit *pooled)
{
  const size_t d = a->coordinate.count;
  for (size_t i = 0; i < a->groups * d; i++) {
    idm_audit_number *n = &a->group[i / d].number[i % d];
    n->shift = n->diagnosis.mean - pooled->group[i / d].number[i % d].diagnosis.mean;
  }
  for (size_t i = 0; i < a->contrasts; i++) {
    idm_audit_contrast *c = &a->contrast[i];
    c->pooled = pooled->contrast[i].number;
    pooled->contrast[i].number = NULL;
    for (size_t j = 0; j < d; j++) {
      idm_audit_number *n = &c->number[j];
      const idm_audit_number *other = &c->pooled[j];
      n->shift = n->diagnosis.mean - other->diagnosis.mean;
      c->depends = c->depends || contradict(n, other);
    }
  }
}

/* Whether cells divide the log, so that dynamics which they share can be drawn with them: groups
 * that are not pooled share their trajectories with `all`. */
static bool can_join(const idm_audit_settings *settings)
{
  return settings->pool == IDM_POOL_PARTIAL && !settings->people &&
         settings->dynamics == IDM_AUDIT_POOLED;
}

idm_status idm_audit_run(const idm_problem *problem, const idm_data *data, const idm_groups *groups,
                         const idm_audit_settings *settings, const idm_cuts *opt_cut,
                         const idm_fit_watch *opt_watch, idm_audit **ret_audit,
                         idm_error *opt_error)
{
  idm_require(problem, data, groups, settings, ret_audit);
  *ret_audit = NULL;
  idm_audit *pooled = NULL;
  idm_audit_settings other = *settings;
  other.dynamics = IDM_AUDIT_POOLED;
  const bool by_group = settings->dynamics == IDM_AUDIT_BY_GROUP;
  audit_joint joint = {problem, opt_cut, NULL};
  ways all = {problem, opt_cut, false, opt_cut ? opt_cut->count : 1, NULL};
  const ways own = {problem, NULL, true, settings->cuts, NULL};
  idm_iohmm *learner = NULL;
  idm_journal *journal = NULL;
  idm_status status = check(data, groups, settings, opt_error);
  if (status == IDM_OK && opt_cut && can_join(settings))
    status = idm_joint_learner(problem, opt_cut, data, &learner, opt_error);
  joint.learner = learner;
  if (learner) all.opt_joint = &joint;
  if (status == IDM_OK) status = idm_journal_create("idmaud3", opt_watch, &journal, opt_error);
  const audit_watch first = {opt_watch, journal, 0, 0, 0.2};
  const audit_watch last = {opt_watch, journal, all.count + 1, by_group ? 0.2 : 0, 1};
  if (status == IDM_OK && by_group)
    status = run_once(problem, data, groups, &other, &all, &first, &pooled, opt_error);
  if (status == IDM_OK)
    status = run_once(problem, data, groups, settings, by_group ? &own : &all, &last, ret_audit,
                      opt_error);
  if (status == IDM_OK && by_group) compare_ways(*ret_audit, pooled);
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
