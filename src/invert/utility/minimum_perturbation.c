/* The inverse planner `minimum-perturbation`: the utility nearest to the file's under which the
 * demonstrator's actions are the best.
 *
 * Contents: the program · relaxations · branches · beliefs · the inverse planner */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "infer/nearest.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/belief_margin.h"
#include "invert/utility/bellman.h"
#include "invert/utility/face.h"
#include "invert/utility/open.h"

extern const idm_inverse idm_inverse_minimum_perturbation; /* registered below */

/* A choice of the action that attains the value of a state that was never visited, on top of its
 * parent's. */
typedef struct branch {
  size_t parent;
  size_t state;
  size_t action;
  double bound;     /* what it costs at least */
  size_t undecided; /* a state of it whose value no action attains; the states' number: none */
} branch;

typedef struct question {
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_mdp *world;
  const idm_sought *sought;
  double epsilon; /* in units, as all that follows */
  int32_t *taken; /* [state]: IDM_MISSING where it was never visited */
  bool *matters;  /* [state]: the demonstrator can come to it */
  size_t *row;    /* [state][action]: of the program; its rows' number where there is none */
  double *weight; /* [column]: entries that share a number, 0 elsewhere */
  double *aim;    /* [column]: their value in the file */
  double *key;    /* [number] */
  double *x;      /* [column] */
  double offset;  /* what the program's costs leave out */
  idm_program *program;
  idm_nearest near;
  double cost;     /* of the last relaxation */
  double attained; /* and how far that is from shown */
  bool possible;   /* it has a solution */
  size_t branches;
  branch *branch;
  double lower; /* what any solution costs, at least */
  bool rivals;  /* another choice may cost as little */
  bool gave_up; /* choices were left when it ended */
  idm_face face;
  idm_halt *halt;
} question;

static const char no_utility[] =
    "no utility makes every action of the demonstrator the best of its state, with the entries "
    "that are held and the --epsilon asked for; free more of them";
static const char not_decided[] =
    "no utility was found: states that the demonstrator comes to were never visited, what is best "
    "there was not decided after all choices that were tried, and with the entries that are held "
    "the last one has no utility; free more of them";
static const char no_end[] = "the distance to the file's utility has no least value";

/* --- the program ---------------------------------------------------------------------------- */

static bool by_squares(const question *q)
{
  return q->settings->norm == IDM_NORM_2;
}

/* Columns after numbers and values: how far the furthest number is away; or, for a sum of absolute
 * values, what numbers are above the file's. Their own columns are then what is below: a number is
 * the sum of both, and of the two that are nearest to the file's one is always there already. */
static size_t columns_of(const question *q)
{
  const size_t first = q->sought->count + q->world->n.states;
  if (by_squares(q)) return first;
  return first + (q->settings->norm == IDM_NORM_INF ? 1 : q->sought->count);
}

/* A sum of absolute values: what numbers are above the file's adds to an entry of the utility. */
static idm_status enter_above(question *q, size_t entry, size_t above, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 0; k < q->sought->count && status == IDM_OK; k++) {
    const double share = idm_sought_coefficient(q->sought, entry, k);
    if (share != 0) status = idm_program_enter(q->program, above + k, -share, opt_error);
  }
  return status;
}

/* V = Q of what was taken, V >= Q + epsilon of the rest; V >= Q in states never visited. */
static idm_status add_state(question *q, idm_bellman *rows, size_t s, idm_error *opt_error)
{
  const size_t actions = q->world->n.actions;
  const bool visited = q->taken[s] != IDM_MISSING;
  idm_status status = IDM_OK;
  for (size_t u = 0; u < actions && status == IDM_OK; u++) {
    const bool taken = visited && (size_t)q->taken[s] == u;
    if (!taken && !idm_bellman_open(q->world, u)) continue;
    q->row[s * actions + u] = idm_program_rows(q->program);
    status = idm_bellman_enter(rows, s, u, 1, opt_error);
    if (status == IDM_OK && q->settings->norm == IDM_NORM_1)
      status =
          enter_above(q, u * q->world->n.states + s, rows->values + q->world->n.states, opt_error);
    if (status == IDM_OK)
      status = idm_bellman_add(rows, s, visited && !taken ? q->epsilon : 0, taken ? 0 : INFINITY,
                               opt_error);
  }
  return status;
}

/* A sum of absolute values: what is below the file's costs, and what is above. */
static void set_sum(question *q)
{
  const size_t above = q->sought->count + q->world->n.states;
  for (size_t k = 0; k < q->sought->count; k++) {
    idm_program_set_bounds(q->program, k, -INFINITY, q->aim[k]);
    idm_program_set_cost(q->program, k, -q->weight[k]);
    idm_program_set_bounds(q->program, above + k, 0, INFINITY);
    idm_program_set_cost(q->program, above + k, q->weight[k]);
    q->offset += q->weight[k] * q->aim[k];
  }
}

/* The largest: furthest >= +-(x - file's). */
static idm_status add_largest(question *q, size_t number, idm_error *opt_error)
{
  const size_t furthest = q->sought->count + q->world->n.states;
  idm_status status = IDM_OK;
  idm_program_set_cost(q->program, furthest, 1);
  for (int sign = -1; sign <= 1 && status == IDM_OK; sign += 2) {
    status = idm_program_enter(q->program, number, sign, opt_error);
    if (status == IDM_OK) status = idm_program_enter(q->program, furthest, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add(q->program, sign * q->aim[number], INFINITY, opt_error);
  }
  return status;
}

static idm_status make_program(question *q, idm_error *opt_error)
{
  idm_status status = idm_program_create(columns_of(q), &q->program, opt_error);
  if (status != IDM_OK) return status;
  /* Measured on gridworlds: three times as fast, and more, as what the solver takes by itself. */
  if (q->settings->norm == IDM_NORM_1) idm_program_set_method(q->program, IDM_PROGRAM_BARRIER);
  idm_bellman rows = idm_bellman_begin(q->program, q->world, q->sought, q->sought->count);
  for (size_t i = 0; i < q->sought->entries; i++) q->row[i] = SIZE_MAX;
  for (size_t s = 0; s < q->world->n.states && status == IDM_OK; s++)
    status = add_state(q, &rows, s, opt_error);
  if (q->settings->norm == IDM_NORM_1) set_sum(q);
  if (q->settings->norm == IDM_NORM_INF)
    idm_program_set_bounds(q->program, q->sought->count + q->world->n.states, 0, INFINITY);
  for (size_t k = 0; k < q->sought->count && status == IDM_OK; k++)
    if (q->settings->norm == IDM_NORM_INF) status = add_largest(q, k, opt_error);
  return status;
}

/* Where the file's utility is: its weights of features, or entries, of which those that are one
 * number have one value there. */
static idm_status set_aim(question *q, idm_error *opt_error)
{
  const idm_sought *sought = q->sought;
  for (size_t k = 0; k < sought->count && sought->features; k++) {
    q->aim[k] = sought->features->weight[k] / sought->unit;
    q->weight[k] = 1;
  }
  for (size_t e = 0; e < sought->entries; e++) {
    const int32_t k = sought->number[e];
    if (k < 0) continue;
    if (q->weight[k] > 0 && sought->held[e] != q->aim[k])
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' needs a utility to start from, and entries that are tied differ in the "
                      "file (%g and %g); expected one value for them",
                      idm_inverse_minimum_perturbation.name, sought->unit * q->aim[k],
                      sought->unit * sought->held[e]);
    q->aim[k] = sought->held[e];
    q->weight[k]++;
  }
  return IDM_OK;
}

/* What is above the file's is to be small as what is below it: on top of the numbers' own weights
 * and keys, once the program is made. */
static void extend_aim(question *q)
{
  const size_t above = q->sought->count + q->world->n.states;
  for (size_t k = 0; k < q->sought->count && q->settings->norm == IDM_NORM_1; k++) {
    q->weight[above + k] = q->weight[k];
    q->key[above + k] = q->key[k];
  }
}

/* The numbers themselves, once the program was solved for the last time. */
static void add_above(question *q)
{
  const size_t above = q->sought->count + q->world->n.states;
  for (size_t k = 0; k < q->sought->count && q->settings->norm == IDM_NORM_1; k++)
    q->x[k] += q->x[above + k];
}

/* --- relaxations ---------------------------------------------------------------------------- */

/* The least distance with the choices made so far. By squares a point that satisfies the rows comes
 * first: it shows that there is one, and is where to start. */
static idm_status relax(question *q, idm_error *opt_error)
{
  idm_program_solution found;
  idm_status status = idm_program_solve(q->program, idm_bellman_ask, q->halt, &found, opt_error);
  if (status == IDM_OK) status = idm_halt_check(q->halt, opt_error);
  if (status != IDM_OK) return status;
  q->possible = found.end == IDM_PROGRAM_SOLVED;
  if (found.end == IDM_PROGRAM_INFEASIBLE) return IDM_OK;
  if (!q->possible)
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "the nearest utility was not found: numbers of very different sizes stand in "
                    "the way");
  memcpy(q->x, found.x, columns_of(q) * sizeof *q->x);
  q->cost = found.objective + q->offset;
  q->attained = fmax(found.gap, found.violation);
  if (!by_squares(q)) return IDM_OK;
  status = idm_program_nearest(q->program, &q->near, q->x, idm_bellman_ask, q->halt, opt_error);
  if (status == IDM_OK) status = idm_halt_check(q->halt, opt_error);
  q->cost = q->near.distance;
  q->attained = q->near.residual;
  return status;
}

/* --- branches ------------------------------------------------------------------------------- */

/* States that the demonstrator can come to: visited ones, and what follows by its action, or by any
 * where it was never seen. Of the others it does not matter whether an action attains V: V is then
 * an upper bound of their values, and what is better than a bound is better than the value. Nor
 * does it with a discount of 0, where no value of what follows enters. */
static idm_status find_what_matters(question *q, idm_error *opt_error)
{
  const idm_sizes n = q->world->n;
  const idm_moves *moves = q->world->moves;
  size_t *queue = idm_new(n.states, sizeof *queue);
  size_t length = 0;
  if (!queue) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < n.states; s++) {
    q->matters[s] = q->taken[s] != IDM_MISSING;
    if (q->matters[s]) queue[length++] = s;
  }
  for (size_t i = 0; i < length; i++)
    for (size_t u = 0; u < n.actions; u++) {
      const size_t s = queue[i];
      const size_t entry = u * n.states + s;
      if (q->row[s * n.actions + u] == SIZE_MAX || !(q->world->discount > 0)) continue;
      if (q->taken[s] != IDM_MISSING && (size_t)q->taken[s] != u) continue;
      for (size_t k = moves->first[entry]; k < moves->first[entry + 1]; k++) {
        if (q->matters[moves->next[k]]) continue;
        q->matters[moves->next[k]] = true;
        queue[length++] = moves->next[k];
      }
    }
  free(queue);
  return IDM_OK;
}

/* What V is above Q of an action at the last relaxation. */
static double slack(const question *q, size_t s, size_t u)
{
  const double *v = q->x + q->sought->count;
  const size_t entry = u * q->world->n.states + s;
  double utility = idm_sought_value(q->sought, entry, q->x);
  if (q->settings->norm == IDM_NORM_1)
    utility += idm_sought_value(q->sought, entry, v + q->world->n.states) -
               idm_sought_constant(q->sought, entry);
  return v[s] - utility - idm_mdp_next(q->world, u, s, v);
}

/* The action of a state that comes nearest to attaining V. */
static size_t best_action(const question *q, size_t s, double *ret_slack)
{
  size_t best = 0;
  *ret_slack = INFINITY;
  for (size_t u = 0; u < q->world->n.actions; u++) {
    if (q->row[s * q->world->n.actions + u] == SIZE_MAX) continue;
    const double here = slack(q, s, u);
    if (here >= *ret_slack) continue;
    *ret_slack = here;
    best = u;
  }
  return best;
}

/* The state that matters whose value is furthest from attained, or the states' number. */
static size_t undecided(const question *q)
{
  size_t worst = q->world->n.states;
  double most = 1e-9;
  for (size_t s = 0; s < q->world->n.states; s++) {
    double here = 0;
    if (!q->matters[s] || q->taken[s] != IDM_MISSING) continue;
    best_action(q, s, &here);
    here /= fmax(1, fabs(q->x[q->sought->count + s]));
    if (here <= most) continue;
    most = here;
    worst = s;
  }
  return worst;
}

static void set_choice(question *q, size_t s, size_t u, bool attained)
{
  const size_t row = q->row[s * q->world->n.actions + u];
  const double lower = idm_program_look(q->program).lower[row];
  idm_program_set_row(q->program, row, lower, attained ? lower : INFINITY);
}

/* Choices of a branch and those that it stands on; branch 0 has none. */
static void set_branch(question *q, size_t at, bool attained)
{
  for (; at; at = q->branch[at].parent)
    set_choice(q, q->branch[at].state, q->branch[at].action, attained);
}

static idm_status add_branch(question *q, size_t parent, size_t s, size_t u, idm_error *opt_error)
{
  const size_t at = q->branches;
  q->branch[at] = (branch){.parent = parent, .state = s, .action = u};
  set_branch(q, at, true);
  const idm_status status = relax(q, opt_error);
  set_branch(q, at, false);
  if (status != IDM_OK || !q->possible) return status;
  q->branch[at].bound = q->cost;
  q->branch[at].undecided = undecided(q);
  q->branches++;
  return IDM_OK;
}

/* The open branch that costs least; a decided one first among equals. */
static size_t cheapest(const question *q)
{
  size_t best = 0;
  for (size_t i = 1; i < q->branches; i++) {
    const branch *a = q->branch + i;
    const branch *b = q->branch + best;
    const double tie = isfinite(b->bound) ? 1e-10 * fmax(1, b->bound) : 0;
    const bool decided = a->undecided == q->world->n.states && b->undecided < q->world->n.states;
    if (a->bound < b->bound - tie || (a->bound <= b->bound + tie && decided)) best = i;
  }
  return best;
}

/* Given up: of the cheapest branch, attain every value that matters by the action that comes
 * nearest to it. What that costs is an upper bound. */
static idm_status settle(question *q, size_t at, idm_error *opt_error)
{
  set_branch(q, at, true);
  idm_status status = relax(q, opt_error);
  for (size_t s = 0; s < q->world->n.states && status == IDM_OK; s++) {
    double here;
    if (!q->matters[s] || q->taken[s] != IDM_MISSING) continue;
    const size_t u = best_action(q, s, &here);
    set_choice(q, s, u, true);
  }
  return status;
}

enum { most_branches = 400 };

/* Best first: the cheapest branch in which every value that matters is attained is the answer. The
 * program is left with its choices. */
static idm_status search(question *q, idm_error *opt_error)
{
  const size_t none = q->world->n.states;
  const size_t actions = q->world->n.actions;
  q->branch = idm_new(most_branches + actions, sizeof *q->branch);
  idm_status status = q->branch ? relax(q, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK && !q->possible) status = idm_fail(opt_error, IDM_INPUT, "%s", no_utility);
  if (status != IDM_OK) return status;
  q->branches = 1;
  q->branch[0] = (branch){.bound = q->cost, .undecided = undecided(q)};
  size_t at = 0;
  while (status == IDM_OK && q->branch[at].undecided != none && q->branches < most_branches) {
    const size_t s = q->branch[at].undecided;
    for (size_t u = 0; u < actions && status == IDM_OK; u++)
      if (q->row[s * actions + u] != SIZE_MAX) status = add_branch(q, at, s, u, opt_error);
    q->branch[at].bound = INFINITY;
    at = cheapest(q);
    if (status == IDM_OK && isinf(q->branch[at].bound))
      return idm_fail(opt_error, IDM_INPUT, "%s", no_utility);
    q->halt->done = (double)q->branches / most_branches;
  }
  if (status != IDM_OK) return status;
  q->lower = q->branch[at].bound;
  for (size_t i = 0; i < q->branches; i++)
    if (i != at && q->branch[i].bound <= q->lower + 1e-9 * fmax(1, q->lower)) q->rivals = true;
  q->gave_up = q->branch[at].undecided != none;
  if (q->gave_up) return settle(q, at, opt_error);
  set_branch(q, at, true);
  return IDM_OK;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* The optimum with the choices made: by squares there is one; else of all the nearest by squares.
 */
static idm_status choose(question *q, idm_finding *f, idm_error *opt_error)
{
  const char *none = q->gave_up ? not_decided : no_utility;
  idm_status status = IDM_OK;
  if (by_squares(q)) {
    status = relax(q, opt_error);
    if (status == IDM_OK && !q->possible) status = idm_fail(opt_error, IDM_INPUT, "%s", none);
    q->face.only = true;
  } else {
    q->face = (idm_face){
        .count = columns_of(q), .weight = q->weight, .opt_aim = q->aim, .key = q->key, .x = q->x};
    status = idm_face_choose(q->program, none, no_end, &q->face, q->halt, opt_error);
    q->cost = q->face.objective + q->offset;
    q->attained = q->face.attained;
  }
  if (status != IDM_OK) return status;
  f->objective = q->cost < 0 ? 0 : q->sought->unit * q->cost;
  f->attained = fmax(q->attained, (q->cost - q->lower) / fmax(1, q->cost));
  f->closed = 1e-9;
  snprintf(f->certificate, sizeof f->certificate, "%s",
           by_squares(q) ? "KKT residual" : "duality gap");
  return IDM_OK;
}

/* The same with the actions that attain values where the search ended: the program once more, as
 * what was chosen from is bound to its optima. */
static idm_status choose_again(question *q, const size_t *attains, idm_finding *f,
                               idm_error *opt_error)
{
  idm_program_destroy(q->program);
  q->program = NULL;
  q->offset = 0;
  q->rivals = true;
  const idm_status status = make_program(q, opt_error);
  if (status != IDM_OK) return status;
  for (size_t s = 0; s < q->world->n.states; s++)
    if (q->matters[s] && q->taken[s] == IDM_MISSING) set_choice(q, s, attains[s], true);
  return choose(q, f, opt_error);
}

/* Where the search ended every value is attained; of all that are as near the one that is chosen
 * may not have that. Then choices are made as they were there. */
static idm_status choose_attained(question *q, idm_finding *f, idm_error *opt_error)
{
  const size_t states = q->world->n.states;
  size_t *attains = idm_new(states, sizeof *attains);
  idm_status status = attains ? relax(q, opt_error) : idm_fail_memory(opt_error);
  for (size_t s = 0; s < states && status == IDM_OK && q->possible; s++) {
    double slack_of;
    attains[s] = best_action(q, s, &slack_of);
  }
  if (status == IDM_OK) status = choose(q, f, opt_error);
  if (status == IDM_OK && undecided(q) != states) status = choose_again(q, attains, f, opt_error);
  free(attains);
  return status;
}

/* What was taken, and in states never visited what is best under the utility found. */
static idm_status look_for_open(const question *q, const idm_demonstrator *demonstrator,
                                idm_finding *f, idm_error *opt_error)
{
  const idm_sizes n = q->world->n;
  idm_demonstrator best = *demonstrator;
  best.policy = idm_new(idm_times(n.states, n.actions), sizeof *best.policy);
  if (!best.policy) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < n.states; s++) {
    double slack_of;
    const bool visited = q->taken[s] != IDM_MISSING;
    best.policy[s * n.actions + (visited ? (size_t)q->taken[s] : best_action(q, s, &slack_of))] = 1;
  }
  const idm_status status = idm_open_shaping(q->world, &best, q->sought, f, opt_error);
  free(best.policy);
  return status;
}

static void say(const question *q, idm_finding *f)
{
  const double gap = q->cost - q->lower;
  if (gap > 1e-9 * fmax(1, q->cost))
    idm_notes_add(&f->words,
                  "states that the demonstrator comes to were never visited, and what is best "
                  "there was not decided after %zu choices: the distance is between %.6g and %.6g",
                  q->branches, q->sought->unit * q->lower, q->sought->unit * q->cost);
  if (q->cost <= 1e-9)
    idm_notes_add(&f->words,
                  "the demonstrator's actions are already the best under the file's utility");
  if (q->rivals)
    idm_notes_add(
        &f->words,
        "another choice of what is best in states never visited may cost as little; which "
        "one is taken may depend on the order of states and actions");
  if (q->face.only)
    idm_notes_add(&f->words, "%s",
                  q->rivals || q->gave_up ? "with this choice no other utility is as near"
                                          : "no other utility is as near");
  else if (q->rivals || q->gave_up)
    idm_notes_add(&f->words, "with this choice other utilities are as near%s",
                  q->face.nearest ? "; of those this is the nearest by squares" : "");
  else if (q->face.nearest)
    idm_notes_add(&f->words,
                  "other utilities are as near; of those this is the nearest by squares, which "
                  "does not depend on the order of states and actions");
  else
    idm_notes_add(&f->words,
                  "other utilities are as near; this is one of them, picked by the names of its "
                  "entries and not by their order");
  if (!(q->settings->epsilon > 0))
    idm_notes_add(&f->words, "with --epsilon 0 other actions may be as good as the demonstrator's");
}

static idm_status make_room(question *q, idm_error *opt_error)
{
  const size_t states = q->world->n.states;
  q->taken = idm_new(states, sizeof *q->taken);
  q->matters = idm_new(states, sizeof *q->matters);
  q->row = idm_new(q->sought->entries, sizeof *q->row);
  q->weight = idm_new(columns_of(q), sizeof *q->weight);
  q->aim = idm_new(columns_of(q), sizeof *q->aim);
  q->key = idm_new(columns_of(q), sizeof *q->key);
  q->x = idm_new(columns_of(q), sizeof *q->x);
  q->near = (idm_nearest){.weight = q->weight, .aim = q->aim, .effort = 1e11};
  return q->taken && q->matters && q->row && q->weight && q->aim && q->key && q->x
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

static void clear_room(question *q)
{
  free(q->taken);
  free(q->matters);
  free(q->row);
  free(q->weight);
  free(q->aim);
  free(q->key);
  free(q->x);
  free(q->branch);
  idm_program_destroy(q->program);
}

static idm_status find(question *q, const idm_demonstrator *demonstrator,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_inverse *inverse = &idm_inverse_minimum_perturbation;
  idm_finding *f = NULL;
  idm_status status = make_room(q, opt_error);
  if (status == IDM_OK) status = idm_finding_create(q->sought->count, &f, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_deterministic(demonstrator, q->problem->setting, inverse->name,
                                            q->taken, opt_error);
  if (status == IDM_OK) status = idm_sought_keys(q->problem, q->sought, q->key, opt_error);
  if (status == IDM_OK) status = set_aim(q, opt_error);
  if (status == IDM_OK) status = make_program(q, opt_error);
  if (status == IDM_OK) extend_aim(q);
  if (status == IDM_OK) status = find_what_matters(q, opt_error);
  if (status == IDM_OK) status = search(q, opt_error);
  if (status == IDM_OK) status = choose_attained(q, f, opt_error);
  if (status == IDM_OK) status = look_for_open(q, demonstrator, f, opt_error);
  if (status == IDM_OK) {
    add_above(q);
    say(q, f);
    status = idm_answer_utility(inverse, q->problem, q->settings, q->sought, q->x,
                                by_squares(q) ? "quadratic-program" : "linear-program", f,
                                ret_posterior, opt_error);
  } else {
    idm_finding_destroy(f);
  }
  clear_room(q);
  return status;
}

/* --- beliefs -------------------------------------------------------------------------------- */

static idm_status come_near(question *q, const idm_asked *asked, idm_finding *f,
                            idm_error *opt_error)
{
  const idm_belief_margin margin = {.mind = asked->mind,
                                    .data = asked->data,
                                    .sought = q->sought,
                                    .settings = q->settings,
                                    .opt_aim = q->aim,
                                    .who = asked->inverse->name,
                                    .halt = q->halt,
                                    .opt_notes = asked->opt_notes};
  q->face =
      (idm_face){.count = q->sought->count, .weight = q->weight, .opt_aim = q->aim, .key = q->key};
  idm_status status = idm_belief_margin_find(&margin, &q->face, f, opt_error);
  if (status == IDM_OK) status = idm_open_shaping(q->world, NULL, q->sought, f, opt_error);
  if (status != IDM_OK) return status;
  if (f->objective <= 1e-9)
    idm_notes_add(&f->words,
                  "the demonstrator's actions are already the best under the file's utility");
  idm_notes_add(&f->words, "unchecked: a log that acts at few beliefs may leave more open");
  return IDM_OK;
}

/* Where states are hidden: best at every belief of the log, of all policies. */
static idm_status find_by_beliefs(question *q, const idm_asked *asked,
                                  idm_posterior **ret_posterior, idm_error *opt_error)
{
  const size_t count = q->sought->count;
  idm_finding *f = NULL;
  q->weight = idm_new(count, sizeof *q->weight);
  q->aim = idm_new(count, sizeof *q->aim);
  q->key = idm_new(count, sizeof *q->key);
  idm_status status = q->weight && q->aim && q->key ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_finding_create(count, &f, opt_error);
  if (status == IDM_OK) status = idm_sought_keys(q->problem, q->sought, q->key, opt_error);
  if (status == IDM_OK) status = set_aim(q, opt_error);
  if (status == IDM_OK) status = come_near(q, asked, f, opt_error);
  if (status == IDM_OK)
    status = idm_answer_utility(asked->inverse, q->problem, q->settings, q->sought, q->face.x,
                                by_squares(q) ? "quadratic-program" : "linear-program", f,
                                ret_posterior, opt_error);
  else
    idm_finding_destroy(f);
  free(q->face.x);
  clear_room(q);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status answer(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_problem *problem = asked->problem;
  const double epsilon = asked->settings->epsilon;
  idm_status status =
      idm_bellman_check(asked->world, problem->setting, asked->inverse->name, opt_error);
  if (status == IDM_OK && !asked->mind) status = idm_asked_demonstrator(asked, opt_error);
  if (status != IDM_OK) return status;
  /* Utilities on beliefs are held against searches in the file's own unit. */
  if (!asked->mind) idm_sought_measure(asked->sought, true, epsilon);
  question q = {.problem = problem,
                .settings = asked->settings,
                .world = asked->world,
                .sought = asked->sought,
                .epsilon = epsilon / asked->sought->unit,
                .halt = &asked->halt};
  return asked->mind ? find_by_beliefs(&q, asked, ret_posterior, opt_error)
                     : find(&q, asked->demonstrator, ret_posterior, opt_error);
}

static const idm_asked_method method = {
    .by = IDM_BY_MIND, .doing = "looking for the nearest utility", .answer = answer};

static const char *const settings_read[] = {"norm", "epsilon", NULL};

const idm_inverse idm_inverse_minimum_perturbation = {
    .name = "minimum-perturbation",
    .summary = "the utility nearest to the file's under which the demonstrator's actions are best",
    .row = "Minimum perturbation",
    .answer = IDM_POINT,
    .finds = "utility",
    .alone = "its objective is the distance of utilities to the file's, in which a change of other "
             "numbers costs nothing; use --inverse distribution-matching, map or bayes",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_asked_fit,
};
