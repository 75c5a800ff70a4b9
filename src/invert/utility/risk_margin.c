/* Maximum margin for a demonstrator that maximises CVaR over its models (`docs/method/inverse.md,
 * 4`).
 *
 * The linear program for a fixed mixture of the models has true margins of at least its optimum
 * (cvar_program.c). The worst mixture at the optimum defines the next program, whose optimum is no
 * less; a fixed point is a local optimum. The largest optimum over all vertices of the set of
 * mixtures is global: if the vertices are few, all are tried. */
#include "invert/utility/task.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/extension/planner.h"
#include "invert/parameters.h"
#include "invert/utility/mdp.h"

/* Risk levels that are tried in addition to the file's. */
static const double grid[] = {1, 0.9, 0.75, 0.5, 0.25, 0.1};
enum { GRID = sizeof grid / sizeof grid[0], LEVELS = GRID + 1 };
/* Largest number of mixtures of vertices that are enumerated; of models whose vertices are listed;
 * number of starts drawn from names; largest number of alternations. */
enum {
  max_mixtures = 600,
  max_listed_models = 4,
  max_vertices = 24,
  random_starts = 16,
  max_steps = 50
};
/* Relative tolerance for equal margins. */
static const double tolerance = 1e-9;

typedef struct risk_search {
  const idm_problem *problem;
  const idm_task *task;
  idm_cvar_program *w;

  double level_objective; /* best at the current level */
  double *level_sigma;    /* [entry][model] */
  double *level_x;        /* [number] */

  double best_objective; /* best over all levels */
  double best_level;
  double *best_level_sigma;
  size_t levels;
  double level_tried[LEVELS];
  double margin_found[LEVELS];
  bool exact; /* all mixtures were enumerated, at every level */
  size_t starts;
} risk_search;

static bool differs(const risk_search *q)
{
  return q->w->models->differing > 0;
}

/* --- one level ------------------------------------------------------------------------------ */

static bool exceeds(double a, double b)
{
  return a > b + tolerance * fmax(1, fabs(b)) || (isinf(b) && a > b);
}

static void store_best(risk_search *q)
{
  if (!exceeds(q->w->objective, q->level_objective)) return;
  q->level_objective = q->w->objective;
  memcpy(q->level_sigma, q->w->sigma, idm_cvar_mixture_size(q->w) * sizeof *q->w->sigma);
  memcpy(q->level_x, q->w->x, q->w->free_utility->count * sizeof *q->w->x);
}

/* From q->w->sigma, alternates between the program's optimum and its worst mixture while the margin
 * grows. */
static idm_status alternate(risk_search *q, idm_error *opt_error)
{
  double last = -INFINITY;
  q->starts++;
  for (int step = 0; step < max_steps; step++) {
    const idm_status status = idm_cvar_program_solve(q->w, opt_error);
    if (status != IDM_OK) return status;
    store_best(q);
    if (!exceeds(q->w->objective, last)) break;
    last = q->w->objective;
    memcpy(q->w->sigma, q->w->worst, idm_cvar_mixture_size(q->w) * sizeof *q->w->sigma);
  }
  return IDM_OK;
}

/* Vertex of the set of mixtures: assigns the largest possible weight to the models in this order;
 * vertex[model]. */
static void fill_vertex(const risk_search *q, const size_t *order, double *vertex)
{
  double left = 1;
  for (size_t i = 0; i < q->w->models->count; i++) {
    const size_t m = order[i];
    const double most = q->w->level > 0 ? q->w->models->weight[m] / q->w->level : 1;
    vertex[m] = fmin(left, most);
    left -= vertex[m];
  }
}

/* Next permutation, or false after the last. */
static bool next_permutation(size_t count, size_t *order)
{
  size_t i = count - 1;
  while (i > 0 && order[i - 1] > order[i]) i--;
  if (i == 0) return false;
  size_t j = count - 1;
  while (order[j] < order[i - 1]) j--;
  const size_t swap = order[i - 1];
  order[i - 1] = order[j];
  order[j] = swap;
  for (size_t a = i, b = count - 1; a < b; a++, b--) {
    const size_t other = order[a];
    order[a] = order[b];
    order[b] = other;
  }
  return true;
}

/* Vertices of the set of mixtures of few models. Returns their number. */
static size_t list_vertices(const risk_search *q, double vertex[][max_listed_models])
{
  size_t order[max_listed_models];
  size_t count = 0;
  for (size_t m = 0; m < q->w->models->count; m++) order[m] = m;
  do {
    double *next = vertex[count];
    bool duplicate = false;
    fill_vertex(q, order, next);
    for (size_t i = 0; i < count && !duplicate; i++) {
      duplicate = true;
      for (size_t m = 0; m < q->w->models->count; m++)
        if (fabs(vertex[i][m] - next[m]) > 1e-12) duplicate = false;
    }
    count += !duplicate;
  } while (next_permutation(q->w->models->count, order));
  return count;
}

/* Number of mixtures with one vertex per entry on which the models differ; 0: too many. */
static size_t count_mixtures(const risk_search *q, size_t vertices)
{
  size_t count = 1;
  for (size_t e = 0; e < q->w->models->differing && count <= max_mixtures; e++) count *= vertices;
  return count <= max_mixtures ? count : 0;
}

/* Sets mixture number i, whose digits in base `vertices` are the vertices. */
static void put_mixture(risk_search *q, size_t i, size_t vertices,
                        double vertex[][max_listed_models])
{
  for (size_t e = 0; e < q->w->entries; e++) {
    double *sigma = q->w->sigma + e * q->w->models->count;
    const size_t which = q->w->models->differ[e] ? i % vertices : 0;
    memcpy(sigma, vertex[which], q->w->models->count * sizeof *sigma);
    if (q->w->models->differ[e]) i /= vertices;
  }
}

/* Enumerates all mixtures if there are few: the best one is the global optimum. */
static idm_status try_mixtures(risk_search *q, bool *done, idm_error *opt_error)
{
  double vertex[max_vertices + 1][max_listed_models];
  *done = false;
  if (q->w->models->count > max_listed_models && q->w->level < 1) return IDM_OK;
  if (q->w->level == 1) { /* at level 1 there is one vertex */
    for (size_t i = 0; i < idm_cvar_mixture_size(q->w); i++)
      q->w->sigma[i] = q->w->models->weight[i % q->w->models->count];
    *done = true;
    return alternate(q, opt_error);
  }
  const size_t vertices = list_vertices(q, vertex);
  const size_t mixtures = count_mixtures(q, vertices);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < mixtures && status == IDM_OK; i++) {
    put_mixture(q, i, vertices, vertex);
    status = idm_cvar_program_solve(q->w, opt_error);
    if (status == IDM_OK) store_best(q);
  }
  q->starts += mixtures;
  *done = mixtures > 0;
  return status;
}

/* Start with the largest weight on model `first` and the rest shared in proportion to the weights;
 * first = count: the weights. */
static void put_first(risk_search *q, size_t first)
{
  const size_t count = q->w->models->count;
  const double *weight = q->w->models->weight;
  for (size_t i = 0; i < q->w->entries * count; i++) {
    const size_t m = i % count;
    const double most =
        first < count ? fmin(1, q->w->level > 0 ? weight[first] / q->w->level : 1) : 0;
    const double rest = first < count ? 1 - weight[first] : 1;
    q->w->sigma[i] = m == first ? most : rest > 0 ? (1 - most) * weight[m] / rest : 0;
  }
}

/* Alternates from the worst mixture at numbers x. */
static idm_status alternate_from(risk_search *q, const double *x, idm_error *opt_error)
{
  const idm_status status = idm_cvar_program_evaluate(q->w, x, opt_error);
  if (status != IDM_OK) return status;
  memcpy(q->w->sigma, q->w->worst, idm_cvar_mixture_size(q->w) * sizeof *q->w->sigma);
  return alternate(q, opt_error);
}

/* Start utilities derived from the names of entries, independent of their order. */
static void draw(const risk_search *q, size_t start, double *x)
{
  const double box_width = isfinite(q->w->settings->bound) ? q->w->settings->bound : 1;
  for (size_t k = 0; k < q->w->free_utility->count; k++) {
    const double mixed = q->w->key[k] * 1e4 * (1.618033988749895 + (double)start);
    x[k] = box_width * (2 * (mixed - floor(mixed)) - 1);
  }
}

static idm_status try_starts(risk_search *q, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  double *from = idm_new(q->w->free_utility->count, sizeof *from);
  if (!from) return idm_fail_memory(opt_error);
  for (size_t m = 0; m <= q->w->models->count && status == IDM_OK; m++) {
    put_first(q, m);
    status = alternate(q, opt_error);
  }
  /* The best utility at the previous level. */
  memcpy(from, q->level_x, q->w->free_utility->count * sizeof *from);
  if (status == IDM_OK) status = alternate_from(q, from, opt_error);
  for (size_t i = 0; i < random_starts && status == IDM_OK; i++) {
    draw(q, i, from);
    status = alternate_from(q, from, opt_error);
  }
  free(from);
  return status;
}

static idm_status try_level(risk_search *q, double level, idm_error *opt_error)
{
  bool all = false;
  q->w->level = level;
  q->level_objective = -INFINITY;
  idm_status status = try_mixtures(q, &all, opt_error);
  if (status == IDM_OK && !all) {
    q->exact = false;
    status = try_starts(q, opt_error);
  }
  if (status != IDM_OK) return status;
  q->exact = q->exact && !q->w->undetermined;
  q->level_tried[q->levels] = level;
  q->margin_found[q->levels++] = q->level_objective;
  /* Levels decrease: of equal margins the largest level is kept. */
  if (!exceeds(q->level_objective, q->best_objective)) return IDM_OK;
  q->best_objective = q->level_objective;
  q->best_level = level;
  memcpy(q->best_level_sigma, q->level_sigma, idm_cvar_mixture_size(q->w) * sizeof *q->w->sigma);
  return IDM_OK;
}

/* --- all levels ----------------------------------------------------------------------------- */

static int risk_block(const idm_problem *problem)
{
  return idm_theta_find(problem->theta, "risk_level");
}

static bool is_level_free(const risk_search *q)
{
  return q->problem->theta->block[risk_block(q->problem)].role == IDM_DESCRIPTIVE;
}

static double file_level(const risk_search *q)
{
  return idm_theta_scalar(q->problem->theta, (size_t)risk_block(q->problem));
}

/* The grid and the file's own level, in decreasing order; only 1 if the models do not differ. */
static size_t list_levels(const risk_search *q, double *level)
{
  const double own = file_level(q);
  size_t count = 0;
  bool listed = false;
  if (!is_level_free(q)) {
    level[0] = own;
    return 1;
  }
  for (size_t i = 0; i < (differs(q) ? (size_t)GRID : 1); i++) {
    if (!listed && differs(q) && own > grid[i]) level[count++] = own;
    listed = listed || own >= grid[i];
    level[count++] = grid[i];
  }
  if (!listed && differs(q)) level[count++] = own;
  return count;
}

/* Chooses the optimum of least norm of the last program; alternates further if its true margin is
 * larger. */
static idm_status choose_optimum(risk_search *q, idm_error *opt_error)
{
  const size_t bytes = idm_cvar_mixture_size(q->w) * sizeof *q->w->sigma;
  idm_status status = IDM_OK;
  memcpy(q->w->sigma, q->best_level_sigma, bytes);
  q->w->level = q->best_level;
  for (int step = 0; step < max_steps && status == IDM_OK; step++) {
    status = idm_cvar_program_choose(q->w, opt_error);
    if (status != IDM_OK || !exceeds(q->w->margin, q->w->objective)) break;
    memcpy(q->w->sigma, q->w->worst, bytes);
  }
  return status;
}

static idm_status search(risk_search *q, idm_error *opt_error)
{
  double level[LEVELS];
  const size_t count = list_levels(q, level);
  idm_status status = IDM_OK;
  q->best_objective = -INFINITY;
  q->exact = true;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    q->w->cancel->done = (double)i / (double)count;
    status = try_level(q, level[i], opt_error);
  }
  if (status == IDM_OK && isinf(q->best_objective)) status = idm_cvar_program_infeasible(opt_error);
  return status == IDM_OK ? choose_optimum(q, opt_error) : status;
}

/* --- words ---------------------------------------------------------------------------------- */

static void note_levels(const risk_search *q, idm_notes *words)
{
  char list[400] = "";
  size_t equal = 0;
  for (size_t i = 0; i < q->levels; i++) {
    const size_t length = strlen(list);
    const bool none = isinf(q->margin_found[i]);
    equal += !none && !exceeds(q->best_objective, q->margin_found[i]);
    snprintf(list + length, sizeof list - length, none ? "%s%.4g: none" : "%s%.4g: %.6g",
             i ? ", " : "", q->level_tried[i], q->margin_found[i]);
  }
  if (!differs(q)) {
    idm_notes_add(words, "%s: the risk level has no effect, and the data do not inform it",
                  q->w->models->count == 1 ? "the agent has one model"
                                           : "the agent's models have the same transitions");
    return;
  }
  if (q->levels == 1) return;
  idm_notes_add(words, "the largest margin by risk level: %s", list);
  if (equal > 1)
    idm_notes_add(words,
                  "%zu risk levels have the same margin; the largest of them, which is the least "
                  "risk-averse, is kept",
                  equal);
}

static void note_result(const risk_search *q, idm_notes *words)
{
  bool scale = true;
  for (size_t e = 0; e < q->w->free_utility->entries; e++)
    scale = scale && idm_free_utility_constant(q->w->free_utility, e) == 0;
  note_levels(q, words);
  if (!differs(q) || (q->levels == 1 && q->best_level == 1))
    idm_notes_add(words, "no utility of the box has a larger margin");
  else if (q->exact)
    idm_notes_add(
        words,
        "all mixtures of the models were enumerated: no utility of the box has a larger margin");
  else
    idm_notes_add(words,
                  "margins of a risk-averse agent are not concave in the utility: of %zu starts "
                  "this is the best, and only a local optimum is certified",
                  q->starts);
  if (scale) idm_notes_add(words, "a positive factor is open too: the box alone sets the scale");
  if (!q->w->face.unique)
    idm_notes_add(words, "other utilities have as large a margin; this is one of them%s",
                  q->w->face.nearest ? ", of least norm where the same models are the worst"
                                     : ", picked by the names of its entries");
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Unidentified directions: at level 1 the agent has one environment, the mean of the models;
 * otherwise a potential must change the utility equally under all models. */
static idm_status put_directions(risk_search *q, idm_optimality *f, idm_error *opt_error)
{
  idm_optimality *utility_optimality = NULL;
  idm_mdp *mean = NULL;
  idm_status status =
      idm_optimality_create(q->w->free_utility->count, &utility_optimality, opt_error);
  put_first(q, q->w->models->count);
  if (status == IDM_OK) status = idm_models_mix(q->w->models, q->w->sigma, &mean, opt_error);
  if (status == IDM_OK)
    status = q->w->level < 1
                 ? idm_nullspace_robust(q->w->models->count, q->w->models->mdp, q->w->demonstrator,
                                        q->w->free_utility, utility_optimality, opt_error)
                 : idm_nullspace_shaping(mean, q->w->demonstrator, q->w->free_utility,
                                         utility_optimality, opt_error);
  if (status == IDM_OK) status = idm_estimate_embed(utility_optimality, !differs(q), f, opt_error);
  idm_mdp_destroy(mean);
  idm_optimality_destroy(utility_optimality);
  return status;
}

static idm_status answer(risk_search *q, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_theta *theta = NULL;
  idm_optimality *f = NULL;
  idm_status status = idm_theta_copy(q->problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_optimality_create(q->w->free_utility->count + is_level_free(q), &f, opt_error);
  if (status == IDM_OK) status = put_directions(q, f, opt_error);
  if (status == IDM_OK) {
    const double program_margin = q->w->objective;
    f->objective = program_margin;
    f->attained = fmax(q->w->face.attained,
                       fabs(q->w->margin - program_margin) / fmax(1, fabs(program_margin)));
    f->closed = 1e-9;
    snprintf(f->certificate, sizeof f->certificate, "gap of program and margins");
    note_result(q, &f->words);
    idm_free_utility_write(q->w->free_utility, q->w->face.x, theta);
    idm_theta_set_scalar(theta, (size_t)risk_block(q->problem), q->best_level);
    status = idm_estimate_create(q->task->inverse, q->problem, q->task->settings, theta,
                                 q->exact ? "linear-program" : "linear-programs", f, ret_posterior,
                                 opt_error);
  } else {
    idm_optimality_destroy(f);
  }
  idm_theta_destroy(theta);
  if (status == IDM_OK && is_level_free(q))
    status = idm_estimate_set_share(q->problem, "the margin is largest at a risk level",
                                    q->best_level, *ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

bool idm_risk_margin_applies(const idm_problem *problem)
{
  return risk_block(problem) >= 0;
}

static idm_status check(const idm_task *task, idm_error *opt_error)
{
  const idm_theta *theta = task->problem->theta;
  const char *caller = task->inverse->name;
  if (task->settings->margin != IDM_MARGIN_STATE)
    return idm_fail(opt_error, IDM_USAGE,
                    "the margin of the return needs a risk-neutral agent, not 'cvar-robust'; "
                    "expected --margin state");
  if (idm_theta_scalar(theta, IDM_ALPHA) != 0 || idm_theta_scalar(theta, IDM_ETA) != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs an agent that takes the best action, and 'cvar-robust' has alpha = "
                    "%g and eta = %g here; expected 0, as in the class rs-irl",
                    caller, idm_theta_scalar(theta, IDM_ALPHA), idm_theta_scalar(theta, IDM_ETA));
  return IDM_OK;
}

static idm_status allocate(risk_search *q, idm_error *opt_error)
{
  const size_t mixture = idm_cvar_mixture_size(q->w);
  q->level_sigma = idm_new(2 * mixture + q->w->free_utility->count, sizeof *q->level_sigma);
  if (!q->level_sigma) return idm_fail_memory(opt_error);
  q->best_level_sigma = q->level_sigma + mixture;
  q->level_x = q->best_level_sigma + mixture;
  return IDM_OK;
}

idm_status idm_risk_margin_fit(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  risk_search q = {.problem = task->problem, .task = task};
  *ret_posterior = NULL;
  idm_status status = check(task, opt_error);
  if (status == IDM_OK) status = idm_cvar_program_create(task, &q.w, opt_error);
  if (status == IDM_OK) status = allocate(&q, opt_error);
  if (status == IDM_OK) status = search(&q, opt_error);
  if (status == IDM_OK) status = answer(&q, ret_posterior, opt_error);
  free(q.level_sigma);
  idm_cvar_program_destroy(q.w);
  return status;
}
