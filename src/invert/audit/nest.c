/* Samples and checks agents that are nested in the groups of an audit, by a hierarchical model
 * (docs/method/people.md, 1).
 *
 * Contents: agents of a cell · nested agents */
#include "invert/audit/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "data/log.h"
#include "invert/assess.h"
#include "invert/audit/estimands.h"
#include "invert/people.h"
#include "invert/predict.h"

/* === agents of a cell ======================================================================= */

/* Agents nested in one cell of an audit, as strata of its log. */

void idm_cell_agents_close(cell_agents *c)
{
  idm_strata_close(&c->strata);
  free(c->design.cell_person);
  free(c->design.effect_coordinate);
  free(c->design.share);
  free(c->people.effect);
  *c = (cell_agents){0};
}

/* Index, over all cohorts, of an agent of a cell; the number of agents if it is not found. */
static size_t find_agent(const audit_model *m, size_t cell, const char *name)
{
  size_t first = 0;
  for (size_t w = 0; w < m->cohorts; w++) {
    const audit_cohort *cohort = &m->cohort[w];
    for (size_t i = 0; i < cohort->design->people; i++)
      if (cohort->cell[i] == cell && strcmp(cohort->design->person.name[i], name) == 0)
        return first + i;
    first += cohort->design->people;
  }
  return first;
}

static void fill(cell_agents *c, const audit_model *m, const audit_draws *draws, size_t cell)
{
  const size_t d = m->dimension, all = draws->chains * draws->draws, n = c->design.people;
  for (size_t j = 0; j < d; j++) c->design.effect_coordinate[j] = (uint32_t)j;
  for (size_t i = 0; i < n * d; i++) c->design.share[i] = 1;
  for (size_t i = 0; i < n; i++) {
    const size_t agent = find_agent(m, cell, c->design.person.name[i]);
    c->design.cell_person[i] = (uint32_t)i;
    for (size_t j = 0; j < d; j++)
      memcpy(c->people.effect + (j * n + i) * all, draws->agent + (agent * d + j) * all,
             all * sizeof *draws->agent);
  }
}

idm_status idm_cell_agents_open(cell_agents *c, const audit_model *m, const audit_draws *draws,
                                size_t cell, idm_error *opt_error)
{
  const audit_cell *source_cell = &m->cell[cell];
  const size_t d = m->dimension, n = source_cell->data->agent_name.count;
  const size_t all = draws->chains * draws->draws;
  *c = (cell_agents){
      .design = {.people = n,
                 .person = source_cell->data->agent_name,
                 .cells = n,
                 .cell_of = source_cell->data->agent,
                 .coordinates = d,
                 .effects = d},
      .people = {.chains = draws->chains, .draws = draws->draws, .people = n, .effects = d}};
  c->design.cell_person = idm_new(n, sizeof *c->design.cell_person);
  c->design.effect_coordinate = idm_new(d, sizeof *c->design.effect_coordinate);
  c->design.share = idm_new(idm_times(n, d), sizeof *c->design.share);
  c->people.effect = idm_new(idm_times(n, idm_times(d, all)), sizeof *c->people.effect);
  const bool allocated =
      c->design.cell_person && c->design.effect_coordinate && c->design.share && c->people.effect;
  idm_status status = allocated ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    fill(c, m, draws, cell);
    status = idm_strata_divide(&c->strata, source_cell->problem, source_cell->data, &c->design,
                               &c->people, opt_error);
  }
  if (status != IDM_OK) idm_cell_agents_close(c);
  return status;
}

/* === nested agents ========================================================================== */

/* --- cohorts --------------------------------------------------------------------------------- */

void idm_audit_cohorts_clear(audit_model *m)
{
  for (size_t w = 0; w < m->cohorts; w++) {
    idm_design_destroy(m->cohort[w].design);
    idm_data_destroy(m->cohort[w].data);
    free(m->cohort[w].cell);
  }
  free(m->cohort);
  m->cohort = NULL;
  m->cohorts = 0;
}

/* Name of the first group that contains a trajectory, for messages. */
static const char *group_of(const idm_groups *g, size_t trajectory)
{
  for (size_t i = 0; i < g->name.count; i++)
    if (g->member[i * g->trajectories + trajectory]) return g->name.name[i];
  return "no group";
}

/* Report an agent with trajectories both inside and outside a group: t and `other` differ in
 * membership. */
static idm_status fail_split(const idm_data *data, const idm_groups *g, size_t group, size_t t,
                             size_t other, idm_error *opt_error)
{
  char where[200];
  if (g->partition)
    idm_print(where, sizeof where, "in '%.60s' and in '%.60s'", group_of(g, other), group_of(g, t));
  else
    idm_print(where, sizeof where, "in '%.60s' and others that are not", g->name.name[group]);
  return idm_fail(
      opt_error, IDM_INPUT,
      "agent '%.60s' has trajectories %s: --people requires that all trajectories of an "
      "agent are in the same groups; leave rows out by --where, or leave --people out, "
      "or compare within agents by `idm fit --by agent --model`",
      data->agent_name.name[data->agent[t]], where);
}

/* Check that all trajectories of an agent are in the same groups. IDM_INPUT otherwise. */
static idm_status check_nested(const idm_data *data, const idm_groups *g, idm_error *opt_error)
{
  size_t *first =
      idm_new(data->agent_name.count, sizeof *first); /* [agent]: its first trajectory + 1 */
  if (!first) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    const size_t agent = data->agent[t];
    if (!first[agent]) first[agent] = t + 1;
    for (size_t i = 0; i < g->name.count && status == IDM_OK; i++)
      if (g->member[i * g->trajectories + t] != g->member[i * g->trajectories + first[agent] - 1])
        status = fail_split(data, g, i, t, first[agent] - 1, opt_error);
  }
  free(first);
  return status;
}

/* Design of one coordinate: an intercept, followed by the effects of the model, which agents share
 * by cell. */
static idm_status pool_effect(const audit_model *m, const audit_cohort *w, size_t j,
                              const idm_groups *g, idm_error *opt_error)
{
  idm_design *d = w->design;
  const size_t n = 1 + m->effects;
  const double level = d->coefficient_mean[j][0], scale = d->coefficient_sd[j][0];
  double *const allocated[] = {idm_new(idm_times(d->people, n), sizeof(double)),
                               idm_new(n, sizeof(double)), idm_new(n, sizeof(double))};
  double **const target_field[] = {&d->regressor[j], &d->coefficient_mean[j],
                                   &d->coefficient_sd[j]};
  for (size_t i = 0; i < 3; i++) {
    free(*target_field[i]);
    *target_field[i] = allocated[i];
  }
  if (!allocated[0] || !allocated[1] || !allocated[2]) return idm_fail_memory(opt_error);
  d->coefficients[j] = n;
  d->spread_scale[j] = scale / 2;
  d->coefficient_mean[j][0] = level;
  d->coefficient_sd[j][0] = scale;
  for (size_t k = 0; k < m->effects; k++) d->coefficient_sd[j][1 + k] = scale / 2;
  for (size_t i = 0; i < d->people; i++) {
    double *row = d->regressor[j] + i * n;
    row[0] = 1;
    for (size_t k = 0; k < m->effects; k++) row[1 + k] = m->share[w->cell[i] * m->effects + k];
  }
  idm_labels_destroy(&d->coefficient[j]);
  idm_status status = idm_labels_create(&d->coefficient[j], n, opt_error);
  for (size_t k = 0; k < n && status == IDM_OK; k++) {
    const char *name = k ? g->name.name[k - 1] : "Intercept";
    status = idm_labels_set(&d->coefficient[j], k, name, strlen(name), opt_error);
  }
  return status;
}

static idm_status pool(const audit_model *m, const audit_cohort *w, const idm_groups *g,
                       idm_error *opt_error)
{
  idm_design *d = w->design;
  d->pooled = m->effects;
  d->spread_scale = idm_new(d->effects, sizeof *d->spread_scale);
  idm_status status = d->spread_scale ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t j = 0; j < d->effects && status == IDM_OK; j++)
    status = pool_effect(m, w, j, g, opt_error);
  return status;
}

/* Join the cells first, ..., end_cell - 1, which share no trajectory, into one log. *ret_cell:
 * [trajectory], the cell of each. */
static idm_status join_cells(const idm_data *data, const audit_model *m, size_t first,
                             size_t end_cell, idm_data **ret_data, uint32_t **ret_cell,
                             idm_error *opt_error)
{
  size_t max_trajectories = 0, count = 0;
  for (size_t c = first; c < end_cell; c++) max_trajectories += m->cell[c].data->trajectories;
  uint32_t *trajectory = idm_new(max_trajectories, sizeof *trajectory);
  uint32_t *cell = *ret_cell = idm_new(max_trajectories, sizeof *cell);
  idm_status status = trajectory && cell ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t c = first; c < end_cell && status == IDM_OK; c++)
    for (size_t t = 0; t < m->cell[c].data->trajectories; t++) {
      cell[count] = (uint32_t)c;
      trajectory[count++] = m->cell[c].from[t];
    }
  if (status == IDM_OK) status = idm_data_subset(data, trajectory, count, ret_data, opt_error);
  free(trajectory);
  return status;
}

/* Create the cohort of the agents of some cells. */
static idm_status make_cohort(const idm_problem *problem, const idm_data *data, const idm_groups *g,
                              size_t first, size_t end_cell, audit_model *m, idm_error *opt_error)
{
  audit_cohort *w = &m->cohort[m->cohorts++];
  uint32_t *cell = NULL; /* [trajectory] */
  const idm_design_request agents = {.by = "agent"};
  idm_status status = join_cells(data, m, first, end_cell, &w->data, &cell, opt_error);
  if (status == IDM_OK)
    status = idm_design_create(problem, w->data, &agents, &w->design, NULL, opt_error);
  if (status == IDM_OK) {
    w->cell = idm_new(w->design->people, sizeof *w->cell);
    if (!w->cell) status = idm_fail_memory(opt_error);
  }
  for (size_t t = 0; status == IDM_OK && t < w->data->trajectories; t++)
    w->cell[w->design->cell_person[w->design->cell_of[t]]] = cell[t];
  for (size_t i = 0; status == IDM_OK && i < w->design->people; i++) m->cell[w->cell[i]].cases += 1;
  if (status == IDM_OK && m->pooled) status = pool(m, w, g, opt_error);
  free(cell);
  return status;
}

/* Check that every cell has several agents: one agent carries no information on the sd of agents.
 */
static idm_status check_agent_counts(const audit_model *m, idm_error *opt_error)
{
  for (size_t c = 0; c < m->cells; c++) {
    const idm_data *data = m->cell[c].data;
    bool more_than_one = false;
    for (size_t t = 1; t < data->trajectories && !more_than_one; t++)
      more_than_one = data->agent[t] != data->agent[0];
    if (!more_than_one)
      return idm_fail(
          opt_error, IDM_INPUT,
          "a group has one agent, '%.60s', from which the variation of agents cannot be "
          "estimated: pool groups (--pool partial), or leave --people out",
          data->agent_name.name[data->agent[0]]);
  }
  return IDM_OK;
}

/* Check that there are more agents than group parameters or than cells; otherwise the sd of agents
 * is not identified either. */
static idm_status check_enough_agents(const audit_model *m, idm_error *opt_error)
{
  const size_t people = m->cohort[0].design->people;
  const size_t numbers = m->effects + (m->partition ? 0 : 1);
  if (people > m->cells || people > numbers) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "%s, and the variation of agents cannot be distinguished from that of groups: leave "
      "--people out, or use larger groups",
      m->partition ? "every group has one agent"
                   : "there are no more agents than groups and their level");
}

idm_status idm_audit_nest(const idm_problem *problem, const idm_data *data, const idm_groups *g,
                          audit_model *m, idm_error *opt_error)
{
  m->cohort = idm_new(m->pooled ? 1 : m->cells, sizeof *m->cohort);
  idm_status status = m->cohort ? check_nested(data, g, opt_error) : idm_fail_memory(opt_error);
  for (size_t c = 0; c < m->cells; c++) m->cell[c].cases = 0;
  if (status == IDM_OK && m->pooled) {
    status = make_cohort(problem, data, g, 0, m->cells, m, opt_error);
    return status == IDM_OK ? check_enough_agents(m, opt_error) : status;
  }
  if (status == IDM_OK) status = check_agent_counts(m, opt_error);
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++)
    status = make_cohort(problem, data, g, c, c + 1, m, opt_error);
  return status;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Multiply the prior scales of a design by `scale`. */
static void rescale(idm_design *d, double scale)
{
  for (size_t j = 0; j < d->effects; j++) {
    d->sd_scale[j] *= scale;
    if (d->pooled) d->spread_scale[j] *= scale;
    for (size_t a = 0; a < d->coefficients[j]; a++) d->coefficient_sd[j][a] *= scale;
  }
}

static void add_to(double *to, const double *from, double weight, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += weight * from[i];
}

/* Store the population of one coordinate: that of the groups, or of one cell. */
static void store_population(const audit_model *m, const audit_cohort *w, const idm_people *p,
                             size_t j, audit_draws *to)
{
  const size_t d = m->dimension, all = to->chains * to->draws;
  const double *b = p->coefficient + p->coefficient_first[j] * all;
  if (m->pooled) {
    memcpy(to->mean + j * all, b, all * sizeof *b);
    memcpy(to->sd + j * all, p->spread + j * all, all * sizeof *b);
  }
  for (size_t k = 0; k < m->effects; k++) {
    double *effect = to->effect + (k * d + j) * all;
    if (m->pooled) memcpy(effect, b + (1 + k) * all, all * sizeof *b);
    for (size_t i = 0; !m->pooled && k == w->cell[0] && i < all; i++) effect[i] = b[i] - m->mean[j];
  }
}

/* Store the numbers of a cohort's cells. Its population must be stored. */
static void store_cells(const audit_model *m, const audit_cohort *w, const idm_people *p,
                        audit_draws *to)
{
  const size_t d = m->dimension, all = to->chains * to->draws;
  const size_t first = m->pooled ? 0 : w->cell[0], end_cell = m->pooled ? m->cells : first + 1;
  for (size_t c = first; c < end_cell; c++)
    for (size_t j = 0; j < d; j++) {
      double *x = to->cell + (c * d + j) * all;
      for (size_t i = 0; i < all; i++) x[i] = m->pooled ? to->mean[j * all + i] : m->mean[j];
      for (size_t k = 0; k < m->effects; k++)
        add_to(x, to->effect + (k * d + j) * all, m->share[c * m->effects + k], all);
      memcpy(to->within + (c * d + j) * all, p->sd + j * all, all * sizeof *x);
    }
  for (size_t i = 0; i < p->people; i++)
    add_to(to->log_likelihood + w->cell[i] * all, p->log_likelihood + i * all, 1, all);
}

/* Store the numbers of a cohort's agents. */
static void store_agents(const audit_model *m, size_t cohort, const idm_people *p, audit_draws *to)
{
  const size_t d = m->dimension, all = to->chains * to->draws;
  const size_t first = idm_audit_agents(m, cohort);
  for (size_t i = 0; i < p->people; i++)
    for (size_t j = 0; j < d; j++)
      memcpy(to->agent + ((first + i) * d + j) * all, p->effect + (j * p->people + i) * all,
             all * sizeof *to->agent);
}

/* Add the information of agents to their cells. */
static idm_status add_information(const audit_model *m, const audit_cohort *w, const idm_people *p,
                                  idm_error *opt_error)
{
  const size_t square = m->dimension * m->dimension;
  for (size_t i = 0; i < p->people; i++) {
    audit_cell *cell = &m->cell[w->cell[i]];
    if (!cell->agent_information)
      cell->agent_information = idm_new(square, sizeof *cell->agent_information);
    if (!cell->agent_information) return idm_fail_memory(opt_error);
    add_to(cell->agent_information, p->information + i * square, 1, square);
  }
  return IDM_OK;
}

idm_status idm_audit_nest_pass(const audit_model *m, size_t cohort, double scale,
                               idm_record *record, idm_error *opt_error)
{
  const audit_cohort *w = &m->cohort[cohort];
  const size_t square = m->dimension * m->dimension;
  for (size_t i = 0; i < w->design->people && scale == 1; i++) {
    audit_cell *cell = &m->cell[w->cell[i]];
    if (!cell->agent_information)
      cell->agent_information = idm_new(square, sizeof *cell->agent_information);
    if (!cell->agent_information) return idm_fail_memory(opt_error);
    idm_record_transfer(record, cell->agent_information, square * sizeof *cell->agent_information);
  }
  return IDM_OK;
}

/* Progress monitor of one cohort. */
typedef struct cohort_progress {
  const audit_watch *watch;
  uint64_t step;
  size_t cohort;
  size_t cohorts;
  bool stopped;
} cohort_progress;

static bool progress(void *context, const idm_progress_state *work)
{
  cohort_progress *k = context;
  const double share = ((double)k->cohort + work->done) / (double)k->cohorts;
  k->stopped = k->stopped || idm_audit_report_progress(k->watch, share, k->step, work);
  return k->stopped;
}

idm_status idm_audit_nest_sample(const audit_model *m, double scale, const audit_watch *opt_monitor,
                                 uint64_t step, size_t cohort, bool *stopped, audit_draws *draws,
                                 idm_error *opt_error)
{
  const audit_cohort *w = &m->cohort[cohort];
  cohort_progress k = {.watch = opt_monitor, .step = step, .cohort = cohort, .cohorts = m->cohorts};
  idm_fit_monitor watch = {.progress = progress, .context = &k};
  idm_people *people = NULL;
  if (opt_monitor && opt_monitor->journal)
    idm_journal_resume_step(opt_monitor->journal, step, &watch);
  rescale(w->design, scale);
  idm_status status = idm_people_fit(m->cell[w->cell[0]].problem, w->data, w->design, m->settings,
                                     opt_monitor && opt_monitor->opt_monitor ? &watch : NULL,
                                     &people, NULL, opt_error);
  rescale(w->design, 1 / scale);
  *stopped = k.stopped;
  for (size_t j = 0; j < m->dimension && status == IDM_OK && !k.stopped; j++)
    store_population(m, w, people, j, draws);
  if (status == IDM_OK && !k.stopped) {
    store_cells(m, w, people, draws);
    store_agents(m, cohort, people, draws);
  }
  if (status == IDM_OK && !k.stopped && scale == 1)
    status = add_information(m, w, people, opt_error);
  idm_people_destroy(people);
  return status;
}

/* --- model checks ---------------------------------------------------------------------------- */

/* Compare the mean log-likelihood over the draws with that of chance. */
static idm_status compare_with_chance(const audit_model *m, const audit_draws *draws, size_t cell,
                                      idm_assessment *a, idm_error *opt_error)
{
  const size_t all = draws->chains * draws->draws;
  idm_chance chance;
  const idm_status status = idm_chance_measure(m->cell[cell].data, &chance, opt_error);
  if (status != IDM_OK) return status;
  const double found = idm_moments_of(draws->log_likelihood + cell * all, all).mean;
  a->model.evaluated = true;
  a->model.decisions = chance.decisions;
  a->model.log_likelihood = found;
  a->model.uniform = chance.uniform;
  a->model.rates = chance.rates;
  if (chance.decisions && !(found > chance.uniform))
    idm_notes_add(&a->misfits,
                  "the agents are predicted no better than by chance (log-loss %.4f per decision, "
                  "chance %.4f)",
                  -found / (double)chance.decisions, -chance.uniform / (double)chance.decisions);
  return IDM_OK;
}

static idm_status inspect_cell(const audit_model *m, const audit_draws *draws, size_t cell,
                               size_t among, const check_time_limit *limit, idm_assessment *a,
                               idm_error *opt_error)
{
  cell_agents agents;
  idm_status status = idm_cell_agents_open(&agents, m, draws, cell, opt_error);
  if (status != IDM_OK) return status;
  idm_checks_begin(&a->checks, IDM_CHECK_NESTED);
  status = idm_audit_check_cell(m, draws, cell, &agents.strata, among, limit, a, opt_error);
  if (status == IDM_OK) status = compare_with_chance(m, draws, cell, a, opt_error);
  idm_cell_agents_close(&agents);
  return status;
}

idm_status idm_audit_nest_check(const audit_model *m, const audit_draws *draws, size_t among,
                                idm_assessment *assessment, idm_error *opt_error)
{
  const check_time_limit limit = idm_audit_limit(m);
  idm_status status = IDM_OK;
  memset(assessment, 0, m->cells * sizeof *assessment);
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++)
    status = inspect_cell(m, draws, c, among, &limit, &assessment[c], opt_error);
  return status;
}
