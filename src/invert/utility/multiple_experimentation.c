/* The inverse planner `multiple-experimentation`: the set of all utilities that explain decisions
 * in several environments, by linear programs over ranges (Amin and Singh 2016). */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/posterior.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/task.h"

extern const idm_inverse idm_inverse_multiple_experimentation; /* registered below */

static const char infeasible_message[] =
    "no utility of the box has values: the problem's numbers are invalid";
static const char unbounded_message[] =
    "the demonstrator's regret has no minimum; expected a finite --bound";

/* One environment and its demonstrator. */
typedef struct experiment {
  const idm_mdp *mdp;
  const idm_demonstrator *demonstrator;
} experiment;

/* --- the program ---------------------------------------------------------------------------- */

/* Adds V = value of the demonstrator's policy, and V - Q(s,u) + regret(s) >= 0 in visited states.
 */
static idm_status add_experiment(idm_program *program, const experiment *e,
                                 const idm_free_utility *free_utility, size_t values, size_t regret,
                                 idm_error *opt_error)
{
  const idm_sizes n = e->mdp->n;
  idm_bellman_rows rows = idm_bellman_begin(program, e->mdp, free_utility, values);
  idm_status status = idm_bellman_policy(&rows, e->demonstrator->policy, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    if (!(e->demonstrator->visits[s] > 0)) continue;
    idm_program_set_cost(program, regret + s, 1);
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++) {
      if (!idm_mdp_allows(e->mdp, u)) continue;
      status = idm_bellman_enter(&rows, s, u, 1, opt_error);
      if (status == IDM_OK) status = idm_program_add_entry(program, regret + s, 1, opt_error);
      if (status == IDM_OK) status = idm_bellman_add(&rows, s, 0, INFINITY, opt_error);
    }
  }
  return status;
}

/* min sum_s xi_s subject to xi_s >= Q_e(s,u) - V_e(s) for every action and every experiment e in
 * which s was visited, where Q_e and V_e are those of the demonstrator's policy; free numbers lie
 * between -bound and bound. The optimum is stored in face, whose `x` is allocated here and freed by
 * the caller; opt_range[count][2] receives the ranges of the numbers over all optima. */
static idm_status solve(size_t count, const experiment *list, const idm_free_utility *free_utility,
                        double bound, idm_face *face, double *opt_range, idm_cancel *cancel,
                        idm_error *opt_error)
{
  assert(count > 0 && list[0].mdp);
  const size_t states = list[0].mdp->n.states;
  const size_t regret = free_utility->count + count * states;
  idm_program *program = NULL;
  face->x = idm_new(regret + states, sizeof *face->x);
  idm_status status = face->x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_program_create(regret + states, &program, opt_error);
  for (size_t k = 0; k < free_utility->count && status == IDM_OK; k++)
    idm_program_set_bounds(program, k, -bound, bound);
  /* Regrets are nonnegative: the policy mean of Q - V is 0. */
  for (size_t s = 0; s < states && status == IDM_OK; s++)
    idm_program_set_bounds(program, regret + s, 0, INFINITY);
  for (size_t e = 0; e < count && status == IDM_OK; e++)
    status = add_experiment(program, list + e, free_utility, free_utility->count + e * states,
                            regret, opt_error);
  if (status == IDM_OK)
    status = idm_face_choose_unique(program, infeasible_message, unbounded_message, face, cancel,
                                    opt_error);
  if (status == IDM_OK && opt_range)
    status = idm_face_ranges(program, free_utility->count, opt_range, cancel, opt_error);
  idm_program_destroy(program);
  return status;
}

/* --- experiments of a log ------------------------------------------------------------------- */

typedef struct experiments_fit {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_free_utility *free_utility;
  size_t count;
  idm_mdp **mdp;                   /* [environment] */
  idm_demonstrator **demonstrator; /* [environment]; NULL without trajectories */
  experiment *experiment;          /* [count]: environments with trajectories */
  double *weight;                  /* [number] */
  double *key;                     /* [number] */
  idm_face face;
  idm_cancel cancel;
} experiments_fit;

/* Marks the trajectories of an environment; returns their number. */
static size_t mark_trajectories(const experiments_fit *q, size_t environment, bool *in_environment)
{
  const idm_data *data = q->data;
  const idm_labels *names = &data->label_name[IDM_COLUMN_ENVIRONMENT];
  size_t count = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const int32_t label = data->label[IDM_COLUMN_ENVIRONMENT][t];
    in_environment[t] =
        label >= 0 && strcmp(names->name[label], q->problem->environment[environment].name) == 0;
    count += in_environment[t];
  }
  return count;
}

static idm_status open_experiment(experiments_fit *q, size_t e, bool *in_environment,
                                  idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_environment *environment = q->problem->environment + e;
  if (!mark_trajectories(q, e, in_environment)) {
    idm_notes_add(opt_notes, "no trajectory of the log is of the environment '%.80s'",
                  environment->name);
    return IDM_OK;
  }
  const char *caller = idm_inverse_multiple_experimentation.name;
  idm_status status =
      idm_mdp_create(q->problem, environment->setting, caller, &q->mdp[e], opt_error);
  if (status == IDM_OK)
    status = idm_bellman_check(q->mdp[e], environment->setting, caller, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_create(q->mdp[e], q->data, environment->setting, in_environment,
                                     &q->demonstrator[e], opt_error);
  if (status == IDM_OK) q->experiment[q->count++] = (experiment){q->mdp[e], q->demonstrator[e]};
  return status;
}

static idm_status open_experiments(experiments_fit *q, idm_notes *opt_notes, idm_error *opt_error)
{
  const size_t most = q->problem->environments;
  assert(most > 0); /* fit_experiments rejects problems without environments */
  bool *in_environment = idm_new(q->data->trajectories, sizeof *in_environment);
  q->mdp = idm_new(most, sizeof *q->mdp);
  q->demonstrator = idm_new(most, sizeof *q->demonstrator);
  q->experiment = idm_new(most, sizeof *q->experiment);
  q->weight = idm_new(q->free_utility->count, sizeof *q->weight);
  q->key = idm_new(q->free_utility->count, sizeof *q->key);
  idm_status status =
      in_environment && q->mdp && q->demonstrator && q->experiment && q->weight && q->key
          ? IDM_OK
          : idm_fail_memory(opt_error);
  for (size_t e = 0; e < most && status == IDM_OK; e++)
    status = open_experiment(q, e, in_environment, opt_notes, opt_error);
  if (status == IDM_OK && !q->count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no trajectory of the log is of an environment of the problem");
  free(in_environment);
  return status;
}

static void close_experiments(experiments_fit *q)
{
  for (size_t e = 0; e < q->problem->environments; e++) {
    if (q->demonstrator) idm_demonstrator_destroy(q->demonstrator[e]);
    if (q->mdp) idm_mdp_destroy(q->mdp[e]);
  }
  free(q->mdp);
  free(q->demonstrator);
  free(q->experiment);
  free(q->weight);
  free(q->key);
  free(q->face.x);
}

/* Determines whether some weights of features make the utility constant, under which any behaviour
 * is optimal: the fixed part is then a combination of free features and a constant. */
static idm_status find_constant(const idm_free_utility *free_utility, bool *ret_found,
                                idm_error *opt_error)
{
  static const double tolerance = 1e-10;
  const size_t columns = free_utility->count + 1;
  size_t rank;
  double largest = 0, left = 0;
  double *a = idm_new(idm_times(free_utility->entries, columns), sizeof *a);
  double *b = idm_new(free_utility->entries, sizeof *b);
  double *x = idm_new(columns, sizeof *x);
  bool done = a && b && x;
  for (size_t e = 0; done && e < free_utility->entries; e++) {
    b[e] = -idm_free_utility_add(free_utility, e, 1, a + e * columns);
    a[e * columns + free_utility->count] = 1;
    largest = fmax(largest, fabs(b[e]));
  }
  done = done && idm_least_squares(free_utility->entries, columns, a, b, tolerance, x, &rank);
  for (size_t e = 0; done && e < free_utility->entries; e++)
    left = fmax(left, fabs(idm_free_utility_value(free_utility, e, x) + x[free_utility->count]));
  *ret_found = !(left > tolerance * largest);
  free(a);
  free(b);
  free(x);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

/* Checks that the shift and scale are determined: two fixed entries must differ; for features, a
 * fixed weight must not be a combination of the free ones. */
static idm_status check_reference(const idm_free_utility *free_utility, idm_error *opt_error)
{
  size_t first = free_utility->entries;
  bool constant = false;
  for (size_t e = 0; e < free_utility->entries && !free_utility->features; e++) {
    if (free_utility->number[e] >= 0) continue;
    if (first == free_utility->entries) first = e;
    if (free_utility->held[e] != free_utility->held[first]) return IDM_OK;
  }
  const idm_status status =
      free_utility->features ? find_constant(free_utility, &constant, opt_error) : IDM_OK;
  if (status != IDM_OK || (free_utility->features && !constant)) return status;
  if (free_utility->features)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs a held nonzero weight of a feature that is not a combination of "
                    "the free features: it fixes the scale; name the free features by `free: "
                    "{utility: {entries: [...]}}`",
                    idm_inverse_multiple_experimentation.name);
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' needs at least two held entries of the utility with different values: they "
                  "fix its shift and its scale; name the others under `free:` by `entries:`",
                  idm_inverse_multiple_experimentation.name);
}

/* --- the answer ----------------------------------------------------------------------------- */

static void note_result(const experiments_fit *q, idm_optimality *f)
{
  size_t open = 0;
  size_t at_bound = 0;
  double width = 0;
  for (size_t k = 0; k < f->free; k++) {
    const double here = f->range[2 * k + 1] - f->range[2 * k];
    width += here / (double)f->free;
    open += here > 1e-7 * q->free_utility->unit;
    at_bound += f->at_box[2 * k] || f->at_box[2 * k + 1];
  }
  idm_notes_add(&f->words,
                "of %zu numbers %zu have a range, on average %.6g wide; %zu of them touch the box, "
                "which then bounds them instead of the data",
                f->free, open, width, at_bound);
  if (q->count == 1)
    idm_notes_add(&f->words, "the log has one environment alone: others would narrow the ranges");
  if (q->face.objective <= 1e-9)
    idm_notes_add(&f->words,
                  "the decisions are optimal in every environment under each of these utilities");
}

static idm_status set_ranges(const experiments_fit *q, idm_optimality *f, idm_error *opt_error)
{
  const double unit = q->free_utility->unit;
  const double box_tolerance = q->settings->bound / unit * (1 - 1e-9);
  f->at_box = idm_new(2 * f->free, sizeof *f->at_box);
  if (!f->at_box) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < f->free; k++) {
    f->at_box[2 * k] = f->range[2 * k] <= -box_tolerance;
    f->at_box[2 * k + 1] = f->range[2 * k + 1] >= box_tolerance;
    f->range[2 * k] *= unit;
    f->range[2 * k + 1] *= unit;
  }
  return IDM_OK;
}

/* Directions that no behaviour in any of the observed environments identifies. */
static idm_status find_nullspace(const experiments_fit *q, idm_optimality *f, idm_error *opt_error)
{
  const idm_mdp **mdp = idm_new(q->count, sizeof *mdp);
  const idm_demonstrator **demonstrator = idm_new(q->count, sizeof *demonstrator);
  idm_status status = mdp && demonstrator ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t e = 0; e < q->count && status == IDM_OK; e++) {
    mdp[e] = q->experiment[e].mdp;
    demonstrator[e] = q->experiment[e].demonstrator;
  }
  if (status == IDM_OK)
    status = idm_nullspace_shared(q->count, mdp, demonstrator, q->free_utility, f, opt_error);
  free(mdp);
  free(demonstrator);
  return status;
}

static idm_status find(experiments_fit *q, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_inverse *inverse = &idm_inverse_multiple_experimentation;
  idm_optimality *f = NULL;
  idm_status status = idm_free_utility_keys(q->problem, q->free_utility, q->key, opt_error);
  idm_free_utility_weights(q->free_utility, q->weight);
  if (status == IDM_OK) status = idm_optimality_create(q->free_utility->count, &f, opt_error);
  q->face = (idm_face){.count = q->free_utility->count, .weight = q->weight, .key = q->key};
  if (status == IDM_OK) {
    f->range = idm_new(2 * f->free, sizeof *f->range);
    if (!f->range) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): close_experiments frees what q holds */
    status =
        solve(q->count, q->experiment, q->free_utility, q->settings->bound / q->free_utility->unit,
              &q->face, f->range, &q->cancel, opt_error);
  if (status == IDM_OK) status = set_ranges(q, f, opt_error);
  if (status == IDM_OK) status = find_nullspace(q, f, opt_error);
  if (status == IDM_OK) {
    f->objective = q->free_utility->unit * q->face.objective;
    snprintf(f->certificate, sizeof f->certificate, "duality gap");
    f->attained = q->face.attained;
    f->closed = 1e-9;
    note_result(q, f);
    return idm_estimate_utility(inverse, q->problem, q->settings, q->free_utility, q->face.x,
                                "linear-program", f, ret_posterior, opt_error);
  }
  idm_optimality_destroy(f);
  return status;
}

static idm_status fit_experiments(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                                  idm_error *opt_error)
{
  const char *caller = call->inverse->name;
  idm_free_utility *free_utility = NULL;
  idm_status status = idm_inverse_check(call->inverse, call->problem, call->data, opt_error);
  if (status == IDM_OK && !call->problem->environments)
    status = idm_fail(opt_error, IDM_INPUT,
                      "'%s' needs several environments; expected `environments:` in the problem",
                      caller);
  if (status == IDM_OK) status = idm_free_utility_create(call->problem, &free_utility, opt_error);
  if (status == IDM_OK) status = check_reference(free_utility, opt_error);
  if (status == IDM_OK) idm_free_utility_rescale(free_utility, false, call->settings->bound);
  experiments_fit q = {.problem = call->problem,
                       .data = call->data,
                       .settings = call->settings,
                       .free_utility = free_utility};
  if (status == IDM_OK) {
    idm_cancel_init(&q.cancel, call->opt_monitor, "computing the ranges of the utilities");
    status = open_experiments(&q, call->opt_notes, opt_error);
    if (status == IDM_OK) status = find(&q, ret_posterior, opt_error);
    close_experiments(&q);
  }
  idm_free_utility_destroy(free_utility);
  return status;
}

static const char *const settings_read[] = {"bound", NULL};

const idm_inverse idm_inverse_multiple_experimentation = {
    .name = "multiple-experimentation",
    .summary = "all utilities that explain the decisions in several environments",
    .row = "Multiple experimentation",
    .answer = IDM_SET,
    .columns = 1u << IDM_COLUMN_ENVIRONMENT,
    .target_block = "utility",
    .alone = "optimality of an action is a linear condition in utilities alone; use --inverse map "
             "or bayes",
    .features = true,
    .settings = settings_read,
    .fit = fit_experiments,
};
