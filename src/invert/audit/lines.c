/* Cells of an audit, and what is reported of them.
 *
 * Contents: cells · lines · at draws */
#include "invert/audit/lines.h"

#include <math.h>

#include "base/memory.h"
#include "data/part.h"
#include "invert/audit/cell.h"
#include "invert/audit/nest.h"
#include "invert/audit/words.h"

static void clear_lines(audit_line *line, size_t count)
{
  for (size_t i = 0; line && i < count; i++) {
    free(line[i].cell);
    free(line[i].effect);
  }
  free(line);
}

void idm_audit_plan_clear(audit_plan *plan)
{
  audit_model *m = &plan->model;
  for (size_t c = 0; m->cell && c < m->cells; c++) idm_audit_cell_close(&m->cell[c]);
  free(m->cell);
  idm_audit_wards_clear(m);
  free(m->share);
  free(m->mean);
  free(m->sd);
  clear_lines(plan->group, plan->sides);
  clear_lines(plan->contrast, plan->contrasts);
  free(plan->pair);
  *plan = (audit_plan){0};
}

/* --- cells ---------------------------------------------------------------------------------- */

/* Sets of trajectories, one a cell. */
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

/* Everybody who is in a group of a partition, or of predicates simply everybody. */
static void add_everybody(sets *s, const idm_groups *g)
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

/* The cells of joint membership, in order of appearance. first[set] is a trajectory of it; false
 * where there are more than `most`. */
static bool add_patterns(sets *s, const idm_groups *g, size_t most, size_t *first)
{
  for (size_t t = 0; t < s->trajectories; t++) {
    size_t at = 0;
    while (at < s->count && !same_pattern(g, first[at], t)) at++;
    if (at == most) return false;
    if (at == s->count) first[s->count++] = t;
    s->member[at * s->trajectories + t] = true;
  }
  return true;
}

static idm_status take_part(const idm_data *data, const bool *member, audit_cell *cell,
                            idm_error *opt_error)
{
  cell->from = idm_new(data->trajectories, sizeof *cell->from);
  if (!cell->from) return idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    if (member[t]) cell->from[count++] = (uint32_t)t;
  cell->cases = (double)count;
  return idm_data_part(data, cell->from, count, &cell->data, opt_error);
}

/* --- lines ---------------------------------------------------------------------------------- */

static audit_line *make_lines(const audit_model *m, size_t count)
{
  audit_line *line = idm_new(count, sizeof *line);
  bool made = line;
  for (size_t i = 0; i < count && made; i++) {
    line[i].cell = idm_new(m->cells, sizeof(double));
    line[i].effect = idm_new(m->effects, sizeof(double));
    made = line[i].cell && line[i].effect;
  }
  if (made) return line;
  clear_lines(line, count);
  return NULL;
}

/* The mean over the cases of the cells that are in. */
static void average(const audit_model *m, const bool *in, audit_line *line)
{
  double sum = 0;
  for (size_t c = 0; c < m->cells; c++) {
    line->cell[c] = in[c] ? m->cell[c].cases : 0;
    sum += line->cell[c];
  }
  for (size_t c = 0; c < m->cells; c++) line->cell[c] /= sum;
}

/* Cells of a side. A pooled group has those that meet its effect, all has every one, the rest of a
 * group those that do not. Without pooling a group has a cell, and so have all, which is the last,
 * and of predicates those who do not meet each. */
static void set_side(const audit_plan *plan, const idm_groups *g, size_t side, bool *in)
{
  const audit_model *m = &plan->model;
  const size_t n = g->name.count;
  const bool rest = side > n;
  const size_t group = rest ? side - plan->groups : side;
  const size_t named = m->pooled ? m->cells : n; /* cells that groups are made of */
  const bool own = !m->pooled && !g->partition;  /* the rest has a cell */
  for (size_t c = 0; c < m->cells; c++) {
    const bool meets = group < n && m->share[c * m->effects + group] > 0;
    if (side == n)
      in[c] = m->pooled || c + 1 == m->cells;
    else if (rest && own)
      in[c] = c == n + group;
    else
      in[c] = c < named && meets != rest;
  }
  average(m, in, &plan->group[side]);
}

/* Of predicates that are pooled the effect, the others held; else the difference of both sides. */
static void set_pair(const audit_plan *plan, size_t at, size_t group, size_t against,
                     const idm_groups *g)
{
  const audit_model *m = &plan->model;
  audit_line *line = &plan->contrast[at];
  plan->pair[at][0] = group;
  plan->pair[at][1] = against;
  if (!g->partition && m->pooled)
    line->effect[group] = 1;
  else
    for (size_t c = 0; c < m->cells; c++)
      line->cell[c] = plan->group[group].cell[c] - plan->group[against].cell[c];
}

static bool is_paired(const idm_groups *g)
{
  return g->partition && g->name.count <= IDM_AUDIT_PAIRED;
}

static void set_contrasts(const audit_plan *plan, const idm_groups *g)
{
  const size_t groups = g->name.count;
  size_t at = 0;
  for (size_t i = 0; i < groups; i++) {
    if (!is_paired(g)) set_pair(plan, at++, i, plan->groups + i, g);
    for (size_t k = i + 1; is_paired(g) && k < groups; k++) set_pair(plan, at++, k, i, g);
  }
}

static idm_status make_plan(audit_plan *plan, const idm_groups *g, idm_error *opt_error)
{
  const size_t n = g->name.count;
  const size_t contrasts = is_paired(g) ? n * (n - 1) / 2 : n;
  const size_t sides = n + 1 + (is_paired(g) ? 0 : contrasts);
  plan->group = make_lines(&plan->model, sides);
  if (plan->group) plan->sides = sides;
  plan->groups = n + 1;
  plan->contrast = make_lines(&plan->model, contrasts);
  if (plan->contrast) plan->contrasts = contrasts;
  plan->pair = idm_new(contrasts, sizeof *plan->pair);
  bool *in = idm_new(plan->model.cells, sizeof *in);
  const bool made = plan->group && plan->contrast && plan->pair && in;
  for (size_t i = 0; made && i < sides; i++) set_side(plan, g, i, in);
  free(in);
  if (!made) return idm_fail_memory(opt_error);
  set_contrasts(plan, g);
  return IDM_OK;
}

/* Which sets there are, and which effects each has. */
static idm_status divide(audit_plan *plan, const idm_groups *g, sets *s, idm_error *opt_error)
{
  enum { most_patterns = 300 };
  audit_model *m = &plan->model;
  const size_t n = g->name.count;
  const bool patterns = m->pooled && !g->partition;
  const size_t most = patterns ? most_patterns : (g->partition ? n : 2 * n) + 1;
  size_t *first = idm_new(most, sizeof *first);
  *s = (sets){.trajectories = g->trajectories};
  s->member = idm_new(idm_times(most, g->trajectories), sizeof *s->member);
  idm_status status = first && s->member ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && patterns && !add_patterns(s, g, most, first))
    status = idm_fail(opt_error, IDM_INPUT,
                      "the predicates make more than %d cells of joint membership; take fewer",
                      (int)most_patterns);
  if (status == IDM_OK && !patterns) {
    for (size_t i = 0; i < n; i++) add_set(s, g->member + i * g->trajectories, false);
    for (size_t i = 0; i < n && !g->partition; i++)
      add_set(s, g->member + i * g->trajectories, true);
    if (!m->pooled) add_everybody(s, g);
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

idm_status idm_audit_plan(const idm_problem *problem, const idm_data *data,
                          const idm_groups *groups, const idm_audit_settings *settings,
                          audit_plan *plan, idm_error *opt_error)
{
  sets s;
  *plan = (audit_plan){
      .model = {.settings = &settings->fit, .pooled = settings->pool == IDM_POOL_PARTIAL}};
  audit_model *m = &plan->model;
  idm_status status = divide(plan, groups, &s, opt_error);
  if (status == IDM_OK) {
    m->cell = idm_new(s.count, sizeof *m->cell);
    m->cells = m->cell ? s.count : 0;
    if (!m->cell) status = idm_fail_memory(opt_error);
  }
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    m->cell[c].problem = problem;
    status = take_part(data, s.member + c * s.trajectories, &m->cell[c], opt_error);
  }
  free(s.member);
  if (status == IDM_OK && settings->people)
    status = idm_audit_nest(problem, data, groups, m, opt_error);
  return status == IDM_OK ? make_plan(plan, groups, opt_error) : status;
}

/* --- at draws ------------------------------------------------------------------------------- */

void idm_audit_line_draw(const audit_model *m, const audit_draws *draws, const audit_line *line,
                         size_t coordinate, double *value)
{
  const size_t all = draws->chains * draws->draws;
  memset(value, 0, all * sizeof *value);
  for (size_t c = 0; c < m->cells; c++) {
    const double *x = draws->cell + (c * m->dimension + coordinate) * all;
    for (size_t i = 0; line->cell[c] != 0 && i < all; i++) value[i] += line->cell[c] * x[i];
  }
  for (size_t k = 0; k < m->effects; k++) {
    const double *e = draws->effect + (k * m->dimension + coordinate) * all;
    for (size_t i = 0; line->effect[k] != 0 && i < all; i++) value[i] += line->effect[k] * e[i];
  }
}

/* What the line makes of effect k. */
static double weight_of(const audit_model *m, const audit_line *line, size_t k)
{
  double sum = line->effect[k];
  for (size_t c = 0; c < m->cells; c++) sum += line->cell[c] * m->share[c * m->effects + k];
  return sum;
}

double idm_audit_line_prior(const audit_model *m, const audit_line *line, size_t coordinate)
{
  const double variance = m->sd[coordinate] * m->sd[coordinate];
  double level = 0;
  double effects = 0;
  for (size_t c = 0; c < m->cells; c++) level += line->cell[c];
  for (size_t k = 0; k < m->effects; k++) {
    const double weight = weight_of(m, line, k);
    effects += weight * weight;
  }
  /* E tau^2 of a half-normal of scale s/2 is s^2/4. */
  return m->pooled ? variance * (level * level + effects / 4) : variance * effects;
}

/* Add log normal(x; mean, scale sd) - log normal(x; mean, sd), up to a constant. */
static void add_normal(const double *x, size_t all, double mean, double sd, double scale,
                       double *log_weight)
{
  for (size_t i = 0; i < all; i++) {
    const double z = (x[i] - mean) / sd;
    log_weight[i] += 0.5 * z * z * (1 - 1 / (scale * scale));
  }
}

void idm_audit_line_weigh(const audit_model *m, const audit_draws *draws, const audit_line *line,
                          double scale, double *log_weight)
{
  const size_t all = draws->chains * draws->draws;
  memset(log_weight, 0, all * sizeof *log_weight);
  for (size_t j = 0; j < m->dimension; j++) {
    if (m->pooled) {
      add_normal(draws->mean + j * all, all, m->mean[j], m->sd[j], scale, log_weight);
      add_normal(draws->sd + j * all, all, 0, 0.5 * m->sd[j], scale, log_weight);
    }
    for (size_t w = 0; w < m->wards; w++) {
      const size_t c = m->ward[w].cell[0];
      if (m->pooled || line->cell[c] != 0)
        add_normal(draws->within + (c * m->dimension + j) * all, all, 0,
                   m->ward[w].design->sd_scale[j], scale, log_weight);
    }
    for (size_t k = 0; !m->pooled && k < m->effects; k++)
      if (weight_of(m, line, k) != 0)
        add_normal(draws->effect + (k * m->dimension + j) * all, all, 0, m->sd[j], scale,
                   log_weight);
  }
}
