/* Divides the log of an audit into cells, and builds groups and contrasts as linear combinations of
 * cells and effects (docs/method/audit.md, 1 and 2).
 *
 * Contents: cells · linear combinations · evaluation at draws · reasons */
#include "invert/audit/estimands.h"

#include <math.h>
#include <stdarg.h>

#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "invert/audit/model.h"

static void clear_combinations(linear_combination *combination, size_t count)
{
  for (size_t i = 0; combination && i < count; i++) {
    free(combination[i].cell);
    free(combination[i].effect);
  }
  free(combination);
}

void idm_audit_estimands_clear(audit_estimands *estimands)
{
  audit_model *m = &estimands->model;
  for (size_t c = 0; m->cell && c < m->cells; c++) idm_audit_cell_close(&m->cell[c]);
  free(m->cell);
  idm_audit_cohorts_clear(m);
  free(m->share);
  free(m->mean);
  free(m->sd);
  clear_combinations(estimands->group, estimands->sides);
  clear_combinations(estimands->contrast, estimands->contrasts);
  free(estimands->pair);
  *estimands = (audit_estimands){0};
}

/* --- cells ---------------------------------------------------------------------------------- */

/* Sets of trajectories, one per cell. */
typedef struct sets {
  size_t count;
  size_t trajectories;
  bool *member; /* [set][trajectory] */
} sets;

static void add_set(sets *s, const bool *member, bool inverted)
{
  bool *to = s->member + s->count++ * s->trajectories;
  for (size_t t = 0; t < s->trajectories; t++) to[t] = member[t] != inverted;
}

/* Add the set of all trajectories: for a partition, those in some group; for predicates, every
 * trajectory. */
static void add_overall(sets *s, const idm_groups *g)
{
  bool *to = s->member + s->count++ * s->trajectories;
  for (size_t t = 0; t < s->trajectories; t++) {
    to[t] = !g->partition;
    for (size_t i = 0; i < g->name.count && !to[t]; i++) to[t] = g->member[i * s->trajectories + t];
  }
}

static bool same_pattern(const idm_groups *g, size_t a, size_t b)
{
  for (size_t i = 0; i < g->name.count; i++)
    if (g->member[i * g->trajectories + a] != g->member[i * g->trajectories + b]) return false;
  return true;
}

/* Add the patterns of joint membership, in order of appearance. first[set]: its first trajectory.
 * Returns false if there are more than max_sets. */
static bool add_patterns(sets *s, const idm_groups *g, size_t max_sets, size_t *first)
{
  for (size_t t = 0; t < s->trajectories; t++) {
    size_t at = 0;
    while (at < s->count && !same_pattern(g, first[at], t)) at++;
    if (at == max_sets) return false;
    if (at == s->count) first[s->count++] = t;
    s->member[at * s->trajectories + t] = true;
  }
  return true;
}

static idm_status take_cell_data(const idm_data *data, const bool *member, audit_cell *cell,
                                 idm_error *opt_error)
{
  cell->from = idm_new(data->trajectories, sizeof *cell->from);
  if (!cell->from) return idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    if (member[t]) cell->from[count++] = (uint32_t)t;
  cell->cases = (double)count;
  return idm_data_subset(data, cell->from, count, &cell->data, opt_error);
}

/* --- linear combinations --------------------------------------------------------------------- */

static linear_combination *make_combinations(const audit_model *m, size_t count)
{
  linear_combination *combination = idm_new(count, sizeof *combination);
  bool allocated = combination;
  for (size_t i = 0; i < count && allocated; i++) {
    combination[i].cell = idm_new(m->cells, sizeof(double));
    combination[i].effect = idm_new(m->effects, sizeof(double));
    allocated = combination[i].cell && combination[i].effect;
  }
  if (allocated) return combination;
  clear_combinations(combination, count);
  return NULL;
}

/* Set the weights of the selected cells, in proportion to their cases. */
static void average_cells(const audit_model *m, const bool *in, linear_combination *combination)
{
  double sum = 0;
  for (size_t c = 0; c < m->cells; c++) {
    combination->cell[c] = in[c] ? m->cell[c].cases : 0;
    sum += combination->cell[c];
  }
  for (size_t c = 0; c < m->cells; c++) combination->cell[c] /= sum;
}

/* Select the cells of a side. With pooling, a group has the cells with its effect, `all` has every
 * cell, and the rest of a group has the cells without its effect. Without pooling, each group has
 * one cell, `all` has the last one, and for predicates the rest of each group has one. */
static void set_side(const audit_estimands *estimands, const idm_groups *g, size_t side, bool *in)
{
  const audit_model *m = &estimands->model;
  const size_t n = g->name.count;
  const bool rest = side > n;
  const size_t group = rest ? side - estimands->groups : side;
  const size_t named = m->pooled ? m->cells : n; /* number of cells that groups consist of */
  const bool has_rest_cell =
      !m->pooled && !g->partition; /* the rest of a group is a cell of its own */
  for (size_t c = 0; c < m->cells; c++) {
    const bool meets = group < n && m->share[c * m->effects + group] > 0;
    if (side == n)
      in[c] = m->pooled || c + 1 == m->cells;
    else if (rest && has_rest_cell)
      in[c] = c == n + group;
    else
      in[c] = c < named && meets != rest;
  }
  average_cells(m, in, &estimands->group[side]);
}

/* Set a contrast: the effect of a pooled predicate, the others held fixed; otherwise the difference
 * of two sides. */
static void set_pair(const audit_estimands *estimands, size_t at, size_t group, size_t against,
                     const idm_groups *g)
{
  const audit_model *m = &estimands->model;
  linear_combination *combination = &estimands->contrast[at];
  estimands->pair[at][0] = group;
  estimands->pair[at][1] = against;
  if (!g->partition && m->pooled)
    combination->effect[group] = 1;
  else
    for (size_t c = 0; c < m->cells; c++)
      combination->cell[c] = estimands->group[group].cell[c] - estimands->group[against].cell[c];
}

static bool is_paired(const idm_groups *g)
{
  return g->partition && g->name.count <= IDM_AUDIT_MAX_PAIRED;
}

static void set_contrasts(const audit_estimands *estimands, const idm_groups *g)
{
  const size_t groups = g->name.count;
  size_t at = 0;
  for (size_t i = 0; i < groups; i++) {
    if (!is_paired(g)) set_pair(estimands, at++, i, estimands->groups + i, g);
    for (size_t k = i + 1; is_paired(g) && k < groups; k++) set_pair(estimands, at++, k, i, g);
  }
}

static idm_status make_combinations_of(audit_estimands *estimands, const idm_groups *g,
                                       idm_error *opt_error)
{
  const size_t n = g->name.count;
  const size_t contrasts = is_paired(g) ? n * (n - 1) / 2 : n;
  const size_t sides = n + 1 + (is_paired(g) ? 0 : contrasts);
  estimands->group = make_combinations(&estimands->model, sides);
  if (estimands->group) estimands->sides = sides;
  estimands->groups = n + 1;
  estimands->contrast = make_combinations(&estimands->model, contrasts);
  if (estimands->contrast) estimands->contrasts = contrasts;
  estimands->pair = idm_new(contrasts, sizeof *estimands->pair);
  bool *in = idm_new(estimands->model.cells, sizeof *in);
  const bool allocated = estimands->group && estimands->contrast && estimands->pair && in;
  for (size_t i = 0; allocated && i < sides; i++) set_side(estimands, g, i, in);
  free(in);
  if (!allocated) return idm_fail_memory(opt_error);
  set_contrasts(estimands, g);
  return IDM_OK;
}

/* Define the cells, and the effects of each cell. IDM_INPUT if predicates give too many patterns.
 */
static idm_status divide_into_cells(audit_estimands *estimands, const idm_groups *g, sets *s,
                                    idm_error *opt_error)
{
  enum { max_patterns = 300 };
  audit_model *m = &estimands->model;
  const size_t n = g->name.count;
  const bool patterns = m->pooled && !g->partition;
  const size_t max_sets = patterns ? max_patterns : (g->partition ? n : 2 * n) + 1;
  size_t *first = idm_new(max_sets, sizeof *first);
  *s = (sets){.trajectories = g->trajectories};
  s->member = idm_new(idm_times(max_sets, g->trajectories), sizeof *s->member);
  idm_status status = first && s->member ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && patterns && !add_patterns(s, g, max_sets, first))
    status = idm_fail(opt_error, IDM_INPUT,
                      "the predicates make more than %d cells of joint membership; take fewer",
                      (int)max_patterns);
  if (status == IDM_OK && !patterns) {
    for (size_t i = 0; i < n; i++) add_set(s, g->member + i * g->trajectories, false);
    for (size_t i = 0; i < n && !g->partition; i++)
      add_set(s, g->member + i * g->trajectories, true);
    if (!m->pooled) add_overall(s, g);
  }
  m->partition = !patterns;
  m->effects = patterns ? n : s->count;
  m->share = idm_new(s->count * m->effects, sizeof *m->share);
  if (status == IDM_OK && !m->share) status = idm_fail_memory(opt_error);
  for (size_t c = 0; c < s->count && status == IDM_OK; c++)
    for (size_t k = 0; k < m->effects; k++)
      m->share[c * m->effects + k] =
          patterns ? (double)g->member[k * g->trajectories + first[c]] : (double)(k == c);
  free(first);
  return status;
}

idm_status idm_audit_estimands(const idm_problem *problem, const idm_data *data,
                               const idm_groups *groups, const idm_audit_settings *settings,
                               audit_estimands *estimands, idm_error *opt_error)
{
  sets s;
  *estimands = (audit_estimands){
      .model = {.settings = &settings->fit, .pooled = settings->pool == IDM_POOL_PARTIAL}};
  audit_model *m = &estimands->model;
  idm_status status = divide_into_cells(estimands, groups, &s, opt_error);
  if (status == IDM_OK) {
    m->cell = idm_new(s.count, sizeof *m->cell);
    m->cells = m->cell ? s.count : 0;
    if (!m->cell) status = idm_fail_memory(opt_error);
  }
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    m->cell[c].problem = problem;
    status = take_cell_data(data, s.member + c * s.trajectories, &m->cell[c], opt_error);
  }
  free(s.member);
  if (status == IDM_OK && settings->people)
    status = idm_audit_nest(problem, data, groups, m, opt_error);
  return status == IDM_OK ? make_combinations_of(estimands, groups, opt_error) : status;
}

/* --- evaluation at draws --------------------------------------------------------------------- */

void idm_combination_draws(const audit_model *m, const audit_draws *draws,
                           const linear_combination *combination, size_t coordinate, double *value)
{
  const size_t all = draws->chains * draws->draws;
  memset(value, 0, all * sizeof *value);
  for (size_t c = 0; c < m->cells; c++) {
    const double *x = draws->cell + (c * m->dimension + coordinate) * all;
    for (size_t i = 0; combination->cell[c] != 0 && i < all; i++)
      value[i] += combination->cell[c] * x[i];
  }
  for (size_t k = 0; k < m->effects; k++) {
    const double *e = draws->effect + (k * m->dimension + coordinate) * all;
    for (size_t i = 0; combination->effect[k] != 0 && i < all; i++)
      value[i] += combination->effect[k] * e[i];
  }
}

/* Weight of effect k in a linear combination, through cells and directly. */
static double effect_weight(const audit_model *m, const linear_combination *combination, size_t k)
{
  double sum = combination->effect[k];
  for (size_t c = 0; c < m->cells; c++) sum += combination->cell[c] * m->share[c * m->effects + k];
  return sum;
}

double idm_combination_prior_var(const audit_model *m, const linear_combination *combination,
                                 size_t coordinate)
{
  const double variance = m->sd[coordinate] * m->sd[coordinate];
  double level = 0;
  double effects = 0;
  for (size_t c = 0; c < m->cells; c++) level += combination->cell[c];
  for (size_t k = 0; k < m->effects; k++) {
    const double weight = effect_weight(m, combination, k);
    effects += weight * weight;
  }
  /* E tau^2 = s^2/4 for a half-normal prior of scale s/2. */
  return m->pooled ? variance * (level * level + effects / 4) : variance * effects;
}

/* Add log normal(x; mean, scale sd) - log normal(x; mean, sd), up to a constant. */
static void add_normal_ratio(const double *x, size_t all, double mean, double sd, double scale,
                             double *log_weight)
{
  for (size_t i = 0; i < all; i++) {
    const double z = (x[i] - mean) / sd;
    log_weight[i] += 0.5 * z * z * (1 - 1 / (scale * scale));
  }
}

void idm_combination_log_weight(const audit_model *m, const audit_draws *draws,
                                const linear_combination *combination, double scale,
                                double *log_weight)
{
  const size_t all = draws->chains * draws->draws;
  memset(log_weight, 0, all * sizeof *log_weight);
  for (size_t j = 0; j < m->dimension; j++) {
    if (m->pooled) {
      add_normal_ratio(draws->mean + j * all, all, m->mean[j], m->sd[j], scale, log_weight);
      add_normal_ratio(draws->sd + j * all, all, 0, 0.5 * m->sd[j], scale, log_weight);
    }
    for (size_t w = 0; w < m->cohorts; w++) {
      const size_t c = m->cohort[w].cell[0];
      if (m->pooled || combination->cell[c] != 0)
        add_normal_ratio(draws->within + (c * m->dimension + j) * all, all, 0,
                         m->cohort[w].design->sd_scale[j], scale, log_weight);
    }
    for (size_t k = 0; !m->pooled && k < m->effects; k++)
      if (effect_weight(m, combination, k) != 0)
        add_normal_ratio(draws->effect + (k * m->dimension + j) * all, all, 0, m->sd[j], scale,
                         log_weight);
  }
}

/* === reasons ================================================================================ */

void idm_audit_note_failure(idm_audit_group *group, const char *format, ...)
{
  char text[1200];
  va_list arguments;
  va_start(arguments, format);
  idm_print_list(text, sizeof text, format, arguments);
  va_end(arguments);
  idm_notes_add(&group->reasons, "%s", text);
  idm_notes_add(&group->failures, "%s", text);
}
