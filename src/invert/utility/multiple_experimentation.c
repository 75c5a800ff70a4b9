/* The inverse planner `multiple-experimentation`: utilities that explain what was done in several
 * environments, all of them (Amin and Singh 2016). */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/least.h"
#include "base/memory.h"
#include "invert/utility/answer.h"
#include "invert/utility/bellman.h"
#include "invert/utility/demonstrator.h"
#include "invert/utility/face.h"
#include "invert/utility/open.h"
#include "invert/utility/sought.h"

extern const idm_inverse idm_inverse_multiple_experimentation; /* registered below */

static const char no_utility[] = "no utility of the box has values: the problem's numbers are not "
                                 "those of one";
static const char no_end[] =
    "what the demonstrator misses has no least value; expected a finite --bound";

/* A demonstrator in its world. */
typedef struct experiment {
  const idm_mdp *world;
  const idm_demonstrator *demonstrator;
} experiment;

/* --- the program ---------------------------------------------------------------------------- */

/* V = value of what was done; and V - Q(s,u) + missed(s) >= 0 where it was seen. */
static idm_status add_experiment(idm_program *program, const experiment *e,
                                 const idm_sought *sought, size_t values, size_t missed,
                                 idm_error *opt_error)
{
  const idm_sizes n = e->world->n;
  idm_bellman rows = idm_bellman_begin(program, e->world, sought, values);
  idm_status status = idm_bellman_policy(&rows, e->demonstrator->policy, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    if (!(e->demonstrator->visits[s] > 0)) continue;
    idm_program_set_cost(program, missed + s, 1);
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++) {
      if (!idm_bellman_open(e->world, u)) continue;
      status = idm_bellman_enter(&rows, s, u, 1, opt_error);
      if (status == IDM_OK) status = idm_program_enter(program, missed + s, 1, opt_error);
      if (status == IDM_OK) status = idm_bellman_add(&rows, s, 0, INFINITY, opt_error);
    }
  }
  return status;
}

/* min sum_s xi_s, xi_s >= Q_e(s,u) - V_e(s) for every action and every experiment e in which s was
 * visited, Q_e and V_e those of what was done there; free numbers between -bound and bound. The
 * optimum goes into face, whose `x` is made here for the caller to free, and opt_range[count][2] is
 * what the numbers can be over all optima. */
static idm_status solve(size_t count, const experiment *list, const idm_sought *sought,
                        double bound, idm_face *face, double *opt_range, idm_halt *halt,
                        idm_error *opt_error)
{
  assert(count > 0 && list[0].world);
  const size_t states = list[0].world->n.states;
  const size_t missed = sought->count + count * states;
  idm_program *program = NULL;
  face->x = idm_new(missed + states, sizeof *face->x);
  idm_status status = face->x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_program_create(missed + states, &program, opt_error);
  for (size_t k = 0; k < sought->count && status == IDM_OK; k++)
    idm_program_set_bounds(program, k, -bound, bound);
  /* What is missed is never negative: the mean of Q - V over what was done is 0. */
  for (size_t s = 0; s < states && status == IDM_OK; s++)
    idm_program_set_bounds(program, missed + s, 0, INFINITY);
  for (size_t e = 0; e < count && status == IDM_OK; e++)
    status =
        add_experiment(program, list + e, sought, sought->count + e * states, missed, opt_error);
  if (status == IDM_OK)
    status = idm_face_choose(program, no_utility, no_end, face, halt, opt_error);
  if (status == IDM_OK && opt_range)
    status = idm_face_ranges(program, sought->count, opt_range, halt, opt_error);
  idm_program_destroy(program);
  return status;
}

/* --- experiments of a log ------------------------------------------------------------------- */

typedef struct question {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_sought *sought;
  size_t count;
  idm_mdp **world;                 /* [environment] */
  idm_demonstrator **demonstrator; /* [environment]; NULL where it was not seen */
  experiment *experiment;          /* [count]: those that were */
  double *weight;                  /* [number] */
  double *key;                     /* [number] */
  idm_face face;
  idm_halt halt;
} question;

/* Trajectories of an environment; returns how many. */
static size_t mark(const question *q, size_t environment, bool *of)
{
  const idm_data *data = q->data;
  const idm_labels *names = &data->label_name[IDM_COLUMN_ENVIRONMENT];
  size_t count = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const int32_t label = data->label[IDM_COLUMN_ENVIRONMENT][t];
    of[t] =
        label >= 0 && strcmp(names->name[label], q->problem->environment[environment].name) == 0;
    count += of[t];
  }
  return count;
}

static idm_status open_experiment(question *q, size_t e, bool *of, idm_notes *opt_notes,
                                  idm_error *opt_error)
{
  const idm_environment *environment = q->problem->environment + e;
  if (!mark(q, e, of)) {
    idm_notes_add(opt_notes, "no trajectory of the log is of the environment '%.80s'",
                  environment->name);
    return IDM_OK;
  }
  const char *who = idm_inverse_multiple_experimentation.name;
  idm_status status =
      idm_mdp_create(q->problem, environment->setting, who, &q->world[e], opt_error);
  if (status == IDM_OK)
    status = idm_bellman_check(q->world[e], environment->setting, who, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_create(q->world[e], q->data, environment->setting, of,
                                     &q->demonstrator[e], opt_error);
  if (status == IDM_OK) q->experiment[q->count++] = (experiment){q->world[e], q->demonstrator[e]};
  return status;
}

static idm_status open_experiments(question *q, idm_notes *opt_notes, idm_error *opt_error)
{
  const size_t most = q->problem->environments;
  assert(most > 0); /* fit_experiments refuses the others */
  bool *of = idm_new(q->data->trajectories, sizeof *of);
  q->world = idm_new(most, sizeof *q->world);
  q->demonstrator = idm_new(most, sizeof *q->demonstrator);
  q->experiment = idm_new(most, sizeof *q->experiment);
  q->weight = idm_new(q->sought->count, sizeof *q->weight);
  q->key = idm_new(q->sought->count, sizeof *q->key);
  idm_status status = of && q->world && q->demonstrator && q->experiment && q->weight && q->key
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t e = 0; e < most && status == IDM_OK; e++)
    status = open_experiment(q, e, of, opt_notes, opt_error);
  if (status == IDM_OK && !q->count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no trajectory of the log is of an environment of the problem");
  free(of);
  return status;
}

static void close_experiments(question *q)
{
  for (size_t e = 0; e < q->problem->environments; e++) {
    if (q->demonstrator) idm_demonstrator_destroy(q->demonstrator[e]);
    if (q->world) idm_mdp_destroy(q->world[e]);
  }
  free(q->world);
  free(q->demonstrator);
  free(q->experiment);
  free(q->weight);
  free(q->key);
  free(q->face.x);
}

/* Find out whether some free weights make a utility that is one number everywhere, under which
 * whatever was done is optimal: what is held is then a sum of free features and a constant. */
static idm_status find_constant(const idm_sought *sought, bool *ret_found, idm_error *opt_error)
{
  static const double tolerance = 1e-10;
  const size_t columns = sought->count + 1;
  size_t rank;
  double largest = 0, left = 0;
  double *a = idm_new(idm_times(sought->entries, columns), sizeof *a);
  double *b = idm_new(sought->entries, sizeof *b);
  double *x = idm_new(columns, sizeof *x);
  bool done = a && b && x;
  for (size_t e = 0; done && e < sought->entries; e++) {
    b[e] = -idm_sought_add(sought, e, 1, a + e * columns);
    a[e * columns + sought->count] = 1;
    largest = fmax(largest, fabs(b[e]));
  }
  done = done && idm_least_squares(sought->entries, columns, a, b, tolerance, x, &rank);
  for (size_t e = 0; done && e < sought->entries; e++)
    left = fmax(left, fabs(idm_sought_value(sought, e, x) + x[sought->count]));
  *ret_found = !(left > tolerance * largest);
  free(a);
  free(b);
  free(x);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

/* Entries that are held fix the shift and, where two differ, the scale; of features, a weight that
 * is held. */
static idm_status check_reference(const idm_sought *sought, idm_error *opt_error)
{
  size_t first = sought->entries;
  bool constant = false;
  for (size_t e = 0; e < sought->entries && !sought->features; e++) {
    if (sought->number[e] >= 0) continue;
    if (first == sought->entries) first = e;
    if (sought->held[e] != sought->held[first]) return IDM_OK;
  }
  const idm_status status = sought->features ? find_constant(sought, &constant, opt_error) : IDM_OK;
  if (status != IDM_OK || (sought->features && !constant)) return status;
  if (sought->features)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs the weight of a feature that is held, other than 0, of which the "
                    "free features are no other form: it fixes the scale; name the free features "
                    "by `free: {utility: {entries: [...]}}`",
                    idm_inverse_multiple_experimentation.name);
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' needs two entries of the utility that are held, at least, and at different "
                  "values: they fix its shift and its scale; name the others under `free:` by "
                  "`entries:`",
                  idm_inverse_multiple_experimentation.name);
}

/* --- the answer ----------------------------------------------------------------------------- */

static void say(const question *q, idm_finding *f)
{
  size_t open = 0;
  size_t boxed = 0;
  double width = 0;
  for (size_t k = 0; k < f->free; k++) {
    const double here = f->range[2 * k + 1] - f->range[2 * k];
    width += here / (double)f->free;
    open += here > 1e-7 * q->sought->unit;
    boxed += f->at_box[2 * k] || f->at_box[2 * k + 1];
  }
  idm_notes_add(&f->words,
                "of %zu numbers %zu have a range, on average %.6g wide; %zu of them touch the box, "
                "which is then what bounds them and not the data",
                f->free, open, width, boxed);
  if (q->count == 1)
    idm_notes_add(&f->words, "one environment alone was seen: others would narrow the ranges");
  if (q->face.objective <= 1e-9)
    idm_notes_add(&f->words,
                  "what was done is optimal in every environment under each of these utilities");
}

static idm_status set_ranges(const question *q, idm_finding *f, idm_error *opt_error)
{
  const double unit = q->sought->unit;
  const double edge = q->settings->bound / unit * (1 - 1e-9);
  f->at_box = idm_new(2 * f->free, sizeof *f->at_box);
  if (!f->at_box) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < f->free; k++) {
    f->at_box[2 * k] = f->range[2 * k] <= -edge;
    f->at_box[2 * k + 1] = f->range[2 * k + 1] >= edge;
    f->range[2 * k] *= unit;
    f->range[2 * k + 1] *= unit;
  }
  return IDM_OK;
}

/* What no behaviour in any of the environments that were seen can tell. */
static idm_status look_for_open(const question *q, idm_finding *f, idm_error *opt_error)
{
  const idm_mdp **world = idm_new(q->count, sizeof *world);
  const idm_demonstrator **seen = idm_new(q->count, sizeof *seen);
  idm_status status = world && seen ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t e = 0; e < q->count && status == IDM_OK; e++) {
    world[e] = q->experiment[e].world;
    seen[e] = q->experiment[e].demonstrator;
  }
  if (status == IDM_OK) status = idm_open_shared(q->count, world, seen, q->sought, f, opt_error);
  free(world);
  free(seen);
  return status;
}

static idm_status find(question *q, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_inverse *inverse = &idm_inverse_multiple_experimentation;
  idm_finding *f = NULL;
  idm_status status = idm_sought_keys(q->problem, q->sought, q->key, opt_error);
  idm_sought_weights(q->sought, q->weight);
  if (status == IDM_OK) status = idm_finding_create(q->sought->count, &f, opt_error);
  q->face = (idm_face){.count = q->sought->count, .weight = q->weight, .key = q->key};
  if (status == IDM_OK) {
    f->range = idm_new(2 * f->free, sizeof *f->range);
    if (!f->range) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): close_experiments frees what q holds */
    status = solve(q->count, q->experiment, q->sought, q->settings->bound / q->sought->unit,
                   &q->face, f->range, &q->halt, opt_error);
  if (status == IDM_OK) status = set_ranges(q, f, opt_error);
  if (status == IDM_OK) status = look_for_open(q, f, opt_error);
  if (status == IDM_OK) {
    f->objective = q->sought->unit * q->face.objective;
    snprintf(f->certificate, sizeof f->certificate, "duality gap");
    f->attained = q->face.attained;
    f->closed = 1e-9;
    say(q, f);
    return idm_answer_utility(inverse, q->problem, q->settings, q->sought, q->face.x,
                              "linear-program", f, ret_posterior, opt_error);
  }
  idm_finding_destroy(f);
  return status;
}

static idm_status fit_experiments(const idm_fit_call *call, idm_posterior **ret_posterior,
                                  idm_error *opt_error)
{
  const char *who = call->inverse->name;
  idm_sought *sought = NULL;
  idm_status status = idm_inverse_check(call->inverse, call->problem, call->data, opt_error);
  if (status == IDM_OK && !call->problem->environments)
    status =
        idm_fail(opt_error, IDM_INPUT,
                 "'%s' needs several environments; expected `environments:` in the problem", who);
  if (status == IDM_OK) status = idm_sought_create(call->problem, &sought, opt_error);
  if (status == IDM_OK) status = check_reference(sought, opt_error);
  if (status == IDM_OK) idm_sought_measure(sought, false, call->settings->bound);
  question q = {
      .problem = call->problem, .data = call->data, .settings = call->settings, .sought = sought};
  if (status == IDM_OK) {
    idm_halt_begin(&q.halt, call->opt_watch, "looking for what the utilities can be");
    status = open_experiments(&q, call->opt_notes, opt_error);
    if (status == IDM_OK) status = find(&q, ret_posterior, opt_error);
    close_experiments(&q);
  }
  idm_sought_destroy(sought);
  return status;
}

static const char *const settings_read[] = {"bound", NULL};

const idm_inverse idm_inverse_multiple_experimentation = {
    .name = "multiple-experimentation",
    .summary = "all utilities that explain what was done in several environments",
    .row = "Multiple experimentation",
    .answer = IDM_SET,
    .columns = 1u << IDM_COLUMN_ENVIRONMENT,
    .finds = "utility",
    .alone = "that an action is the best is linear in utilities alone; use --inverse map or bayes",
    .features = true,
    .settings = settings_read,
    .fit = fit_experiments,
};
