/* The inverse planner `minimum-perturbation`: the utility nearest to the file's under which the
 * demonstrator's actions are optimal (`docs/method/inverse.md, 5`).
 *
 * Contents: the program · relaxations · branches · beliefs · the inverse planner */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/belief_mdp.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/task.h"

extern const idm_inverse idm_inverse_minimum_perturbation; /* registered below */

/* Branching decision: the action that attains the value of an unvisited state, in addition to the
 * decisions of the parent branch. */
typedef struct branch {
  size_t parent;
  size_t state;
  size_t action;
  double bound;     /* lower bound on the distance */
  size_t undecided; /* a state of it whose value no action attains; the number of states if there is
                       none */
} branch;

typedef struct perturbation {
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  double epsilon;               /* in units, as all following fields */
  int32_t *demonstrated_action; /* [state]: IDM_MISSING if unvisited */
  bool *reachable;              /* [state]: reachable by the demonstrator */
  size_t *row;    /* [state][action]: index of its row in the program; SIZE_MAX if there is none */
  double *weight; /* [column]: number of entries that share a free number; 0 for other columns */
  double *target; /* [column]: their value in the file */
  double *key;    /* [number] */
  double *x;      /* [column] */
  double offset;  /* constant part of the distance that the program's costs omit */
  idm_program *program;
  idm_program_projection quadratic;
  double cost;     /* distance of the last relaxation */
  double attained; /* and its optimality residual */
  bool feasible;   /* the last relaxation is feasible */
  size_t branches;
  branch *branch;
  double lower;    /* lower bound on the distance of any solution */
  bool non_unique; /* another branch may attain the same distance */
  bool truncated;  /* the search ended with open branches */
  idm_face face;
  idm_cancel *cancel;
} perturbation;

static const char infeasible_message[] =
    "no utility makes every action of the demonstrator optimal in its state, with the entries that "
    "are held and the given --epsilon; free more of them";
static const char undecided_message[] =
    "no utility was found: states that the demonstrator reaches were never visited, the optimal "
    "actions there were not determined within the limit of branches, and with the entries that are "
    "held the last branch has no utility; free more of them";
static const char unbounded_message[] = "the distance to the file's utility has no least value";

/* --- the program ---------------------------------------------------------------------------- */

static bool squared_norm(const perturbation *q)
{
  return q->settings->norm == IDM_NORM_2;
}

/* Columns after numbers and values: for the inf norm the largest deviation; for the 1 norm the
 * positive parts of the deviations. In the latter case the numbers' own columns are the file's
 * value plus the negative part, so a number is the sum of both columns. */
static size_t columns_of(const perturbation *q)
{
  const size_t first = q->free_utility->count + q->mdp->n.states;
  if (squared_norm(q)) return first;
  return first + (q->settings->norm == IDM_NORM_INF ? 1 : q->free_utility->count);
}

/* For the 1 norm: adds the positive parts to an entry of the utility. */
static idm_status enter_positive(perturbation *q, size_t entry, size_t positive_column,
                                 idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 0; k < q->free_utility->count && status == IDM_OK; k++) {
    const double share = idm_free_utility_coefficient(q->free_utility, entry, k);
    if (share != 0)
      status = idm_program_add_entry(q->program, positive_column + k, -share, opt_error);
  }
  return status;
}

/* Adds V = Q of the demonstrated action, V >= Q + epsilon of others; in unvisited states V >= Q. */
static idm_status add_state(perturbation *q, idm_bellman_rows *rows, size_t s, idm_error *opt_error)
{
  const size_t actions = q->mdp->n.actions;
  const bool visited = q->demonstrated_action[s] != IDM_MISSING;
  idm_status status = IDM_OK;
  for (size_t u = 0; u < actions && status == IDM_OK; u++) {
    const bool demonstrated_action = visited && (size_t)q->demonstrated_action[s] == u;
    if (!demonstrated_action && !idm_mdp_allows(q->mdp, u)) continue;
    q->row[s * actions + u] = idm_program_rows(q->program);
    status = idm_bellman_enter(rows, s, u, 1, opt_error);
    if (status == IDM_OK && q->settings->norm == IDM_NORM_1)
      status =
          enter_positive(q, u * q->mdp->n.states + s, rows->values + q->mdp->n.states, opt_error);
    if (status == IDM_OK)
      status = idm_bellman_add(rows, s, visited && !demonstrated_action ? q->epsilon : 0,
                               demonstrated_action ? 0 : INFINITY, opt_error);
  }
  return status;
}

/* For the 1 norm: costs and bounds of negative and positive parts. */
static void set_sum(perturbation *q)
{
  const size_t positive_column = q->free_utility->count + q->mdp->n.states;
  for (size_t k = 0; k < q->free_utility->count; k++) {
    idm_program_set_bounds(q->program, k, -INFINITY, q->target[k]);
    idm_program_set_cost(q->program, k, -q->weight[k]);
    idm_program_set_bounds(q->program, positive_column + k, 0, INFINITY);
    idm_program_set_cost(q->program, positive_column + k, q->weight[k]);
    q->offset += q->weight[k] * q->target[k];
  }
}

/* For the inf norm: max_deviation >= +-(x - target). */
static idm_status add_largest(perturbation *q, size_t number, idm_error *opt_error)
{
  const size_t max_deviation = q->free_utility->count + q->mdp->n.states;
  idm_status status = IDM_OK;
  idm_program_set_cost(q->program, max_deviation, 1);
  for (int sign = -1; sign <= 1 && status == IDM_OK; sign += 2) {
    status = idm_program_add_entry(q->program, number, sign, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(q->program, max_deviation, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add_row(q->program, sign * q->target[number], INFINITY, opt_error);
  }
  return status;
}

static idm_status make_program(perturbation *q, idm_error *opt_error)
{
  idm_status status = idm_program_create(columns_of(q), &q->program, opt_error);
  if (status != IDM_OK) return status;
  /* The barrier method is at least three times as fast on gridworlds as the solver's default. */
  if (q->settings->norm == IDM_NORM_1) idm_program_set_method(q->program, IDM_PROGRAM_BARRIER);
  idm_bellman_rows rows =
      idm_bellman_begin(q->program, q->mdp, q->free_utility, q->free_utility->count);
  for (size_t i = 0; i < q->free_utility->entries; i++) q->row[i] = SIZE_MAX;
  for (size_t s = 0; s < q->mdp->n.states && status == IDM_OK; s++)
    status = add_state(q, &rows, s, opt_error);
  if (q->settings->norm == IDM_NORM_1) set_sum(q);
  if (q->settings->norm == IDM_NORM_INF)
    idm_program_set_bounds(q->program, q->free_utility->count + q->mdp->n.states, 0, INFINITY);
  for (size_t k = 0; k < q->free_utility->count && status == IDM_OK; k++)
    if (q->settings->norm == IDM_NORM_INF) status = add_largest(q, k, opt_error);
  return status;
}

/* Sets the file's utility as target: weights of features, or entries, of which tied ones must be
 * equal. */
static idm_status set_file_values(perturbation *q, idm_error *opt_error)
{
  const idm_free_utility *free_utility = q->free_utility;
  for (size_t k = 0; k < free_utility->count && free_utility->features; k++) {
    q->target[k] = free_utility->features->weight[k] / free_utility->unit;
    q->weight[k] = 1;
  }
  for (size_t e = 0; e < free_utility->entries; e++) {
    const int32_t k = free_utility->number[e];
    if (k < 0) continue;
    if (q->weight[k] > 0 && free_utility->held[e] != q->target[k])
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' needs a utility to start from, and entries that are tied differ in the "
                      "file (%g and %g); expected one value for them",
                      idm_inverse_minimum_perturbation.name, free_utility->unit * q->target[k],
                      free_utility->unit * free_utility->held[e]);
    q->target[k] = free_utility->held[e];
    q->weight[k]++;
  }
  return IDM_OK;
}

/* Copies weights and keys of the numbers to the columns of positive parts, after the program is
 * built. */
static void extend_weights(perturbation *q)
{
  const size_t positive_column = q->free_utility->count + q->mdp->n.states;
  for (size_t k = 0; k < q->free_utility->count && q->settings->norm == IDM_NORM_1; k++) {
    q->weight[positive_column + k] = q->weight[k];
    q->key[positive_column + k] = q->key[k];
  }
}

/* Adds the positive parts to the numbers, after the last solve. */
static void add_positive(perturbation *q)
{
  const size_t positive_column = q->free_utility->count + q->mdp->n.states;
  for (size_t k = 0; k < q->free_utility->count && q->settings->norm == IDM_NORM_1; k++)
    q->x[k] += q->x[positive_column + k];
}

/* --- relaxations ---------------------------------------------------------------------------- */

/* Minimises the distance under the current branching decisions. For the 2 norm a feasible point is
 * found first, which proves feasibility and starts the projection. */
static idm_status relax(perturbation *q, idm_error *opt_error)
{
  idm_program_solution found;
  idm_status status =
      idm_program_solve(q->program, idm_bellman_interrupted, q->cancel, &found, opt_error);
  if (status == IDM_OK) status = idm_cancel_check(q->cancel, opt_error);
  if (status != IDM_OK) return status;
  q->feasible = found.end == IDM_PROGRAM_SOLVED;
  if (found.end == IDM_PROGRAM_INFEASIBLE) return IDM_OK;
  if (!q->feasible)
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "the nearest utility was not found: the program is ill-conditioned, with "
                    "numbers of very different sizes");
  memcpy(q->x, found.x, columns_of(q) * sizeof *q->x);
  q->cost = found.objective + q->offset;
  q->attained = fmax(found.gap, found.violation);
  if (!squared_norm(q)) return IDM_OK;
  status = idm_program_project(q->program, &q->quadratic, q->x, idm_bellman_interrupted, q->cancel,
                               opt_error);
  if (status == IDM_OK) status = idm_cancel_check(q->cancel, opt_error);
  q->cost = q->quadratic.distance;
  q->attained = q->quadratic.residual;
  return status;
}

/* --- branches ------------------------------------------------------------------------------- */

/* Marks states reachable by the demonstrator: visited ones, and successors by its action, or by any
 * action in unvisited states. In other states V need not be attained by an action: V is then an
 * upper bound of the value, and constraints that hold for the bound hold for the value. With a
 * discount of 0 successors are irrelevant. */
static idm_status mark_reachable(perturbation *q, idm_error *opt_error)
{
  const idm_sizes n = q->mdp->n;
  const idm_sparse_rows *moves = q->mdp->moves;
  size_t *queue = idm_new(n.states, sizeof *queue);
  size_t length = 0;
  if (!queue) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < n.states; s++) {
    q->reachable[s] = q->demonstrated_action[s] != IDM_MISSING;
    if (q->reachable[s]) queue[length++] = s;
  }
  for (size_t i = 0; i < length; i++)
    for (size_t u = 0; u < n.actions; u++) {
      const size_t s = queue[i];
      const size_t entry = u * n.states + s;
      if (q->row[s * n.actions + u] == SIZE_MAX || !(q->mdp->discount > 0)) continue;
      if (q->demonstrated_action[s] != IDM_MISSING && (size_t)q->demonstrated_action[s] != u)
        continue;
      for (size_t k = moves->first[entry]; k < moves->first[entry + 1]; k++) {
        if (q->reachable[moves->next[k]]) continue;
        q->reachable[moves->next[k]] = true;
        queue[length++] = moves->next[k];
      }
    }
  free(queue);
  return IDM_OK;
}

/* V - Q of an action at the last relaxation. */
static double slack(const perturbation *q, size_t s, size_t u)
{
  const double *v = q->x + q->free_utility->count;
  const size_t entry = u * q->mdp->n.states + s;
  double utility = idm_free_utility_value(q->free_utility, entry, q->x);
  if (q->settings->norm == IDM_NORM_1)
    utility += idm_free_utility_value(q->free_utility, entry, v + q->mdp->n.states) -
               idm_free_utility_constant(q->free_utility, entry);
  return v[s] - utility - idm_mdp_next_value(q->mdp, u, s, v);
}

/* Action of a state with the least V - Q. */
static size_t best_action(const perturbation *q, size_t s, double *ret_slack)
{
  size_t best = 0;
  *ret_slack = INFINITY;
  for (size_t u = 0; u < q->mdp->n.actions; u++) {
    if (q->row[s * q->mdp->n.actions + u] == SIZE_MAX) continue;
    const double slack_now = slack(q, s, u);
    if (slack_now >= *ret_slack) continue;
    *ret_slack = slack_now;
    best = u;
  }
  return best;
}

/* Reachable unvisited state whose value is furthest from attained, or the number of states if all
 * are attained. */
static size_t undecided(const perturbation *q)
{
  size_t worst = q->mdp->n.states;
  double most = 1e-9;
  for (size_t s = 0; s < q->mdp->n.states; s++) {
    double slack_now = 0;
    if (!q->reachable[s] || q->demonstrated_action[s] != IDM_MISSING) continue;
    best_action(q, s, &slack_now);
    slack_now /= fmax(1, fabs(q->x[q->free_utility->count + s]));
    if (slack_now <= most) continue;
    most = slack_now;
    worst = s;
  }
  return worst;
}

static void set_choice(perturbation *q, size_t s, size_t u, bool attained)
{
  const size_t row = q->row[s * q->mdp->n.actions + u];
  const double lower = idm_program_get_view(q->program).lower[row];
  idm_program_set_row(q->program, row, lower, attained ? lower : INFINITY);
}

/* Applies the decisions of a branch and of its ancestors; branch 0 has none. */
static void set_branch(perturbation *q, size_t at, bool attained)
{
  for (; at; at = q->branch[at].parent)
    set_choice(q, q->branch[at].state, q->branch[at].action, attained);
}

static idm_status add_branch(perturbation *q, size_t parent, size_t s, size_t u,
                             idm_error *opt_error)
{
  const size_t at = q->branches;
  q->branch[at] = (branch){.parent = parent, .state = s, .action = u};
  set_branch(q, at, true);
  const idm_status status = relax(q, opt_error);
  set_branch(q, at, false);
  if (status != IDM_OK || !q->feasible) return status;
  q->branch[at].bound = q->cost;
  q->branch[at].undecided = undecided(q);
  q->branches++;
  return IDM_OK;
}

/* Open branch of least lower bound; among equals a decided one. */
static size_t least_bound(const perturbation *q)
{
  size_t best = 0;
  for (size_t i = 1; i < q->branches; i++) {
    const branch *a = q->branch + i;
    const branch *b = q->branch + best;
    const double tie = isfinite(b->bound) ? 1e-10 * fmax(1, b->bound) : 0;
    const bool decided = a->undecided == q->mdp->n.states && b->undecided < q->mdp->n.states;
    if (a->bound < b->bound - tie || (a->bound <= b->bound + tie && decided)) best = i;
  }
  return best;
}

/* After the limit of branches: in the branch of least bound, every undecided value is attained by
 * the action with the least V - Q. The resulting distance is an upper bound. */
static idm_status round_branch(perturbation *q, size_t at, idm_error *opt_error)
{
  set_branch(q, at, true);
  idm_status status = relax(q, opt_error);
  for (size_t s = 0; s < q->mdp->n.states && status == IDM_OK; s++) {
    double slack_now;
    if (!q->reachable[s] || q->demonstrated_action[s] != IDM_MISSING) continue;
    const size_t u = best_action(q, s, &slack_now);
    set_choice(q, s, u, true);
  }
  return status;
}

enum { max_branches = 400 };

/* Best-first branch and bound: the branch of least bound in which every relevant value is attained
 * is the answer. The program is left with its decisions. */
static idm_status branch_and_bound(perturbation *q, idm_error *opt_error)
{
  const size_t none = q->mdp->n.states;
  const size_t actions = q->mdp->n.actions;
  q->branch = idm_new(max_branches + actions, sizeof *q->branch);
  idm_status status = q->branch ? relax(q, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK && !q->feasible)
    status = idm_fail(opt_error, IDM_INPUT, "%s", infeasible_message);
  if (status != IDM_OK) return status;
  q->branches = 1;
  q->branch[0] = (branch){.bound = q->cost, .undecided = undecided(q)};
  size_t at = 0;
  while (status == IDM_OK && q->branch[at].undecided != none && q->branches < max_branches) {
    const size_t s = q->branch[at].undecided;
    for (size_t u = 0; u < actions && status == IDM_OK; u++)
      if (q->row[s * actions + u] != SIZE_MAX) status = add_branch(q, at, s, u, opt_error);
    q->branch[at].bound = INFINITY;
    at = least_bound(q);
    if (status == IDM_OK && isinf(q->branch[at].bound))
      return idm_fail(opt_error, IDM_INPUT, "%s", infeasible_message);
    q->cancel->done = (double)q->branches / max_branches;
  }
  if (status != IDM_OK) return status;
  q->lower = q->branch[at].bound;
  for (size_t i = 0; i < q->branches; i++)
    if (i != at && q->branch[i].bound <= q->lower + 1e-9 * fmax(1, q->lower)) q->non_unique = true;
  q->truncated = q->branch[at].undecided != none;
  if (q->truncated) return round_branch(q, at, opt_error);
  set_branch(q, at, true);
  return IDM_OK;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Optimum under the current decisions: unique for the 2 norm; otherwise the optimum nearest to the
 * file's utility in the 2 norm. */
static idm_status choose(perturbation *q, idm_optimality *f, idm_error *opt_error)
{
  const char *none = q->truncated ? undecided_message : infeasible_message;
  idm_status status = IDM_OK;
  if (squared_norm(q)) {
    status = relax(q, opt_error);
    if (status == IDM_OK && !q->feasible) status = idm_fail(opt_error, IDM_INPUT, "%s", none);
    q->face.unique = true;
  } else {
    q->face = (idm_face){.count = columns_of(q),
                         .weight = q->weight,
                         .opt_target = q->target,
                         .key = q->key,
                         .x = q->x};
    status =
        idm_face_choose_unique(q->program, none, unbounded_message, &q->face, q->cancel, opt_error);
    q->cost = q->face.objective + q->offset;
    q->attained = q->face.attained;
  }
  if (status != IDM_OK) return status;
  f->objective = q->cost < 0 ? 0 : q->free_utility->unit * q->cost;
  f->attained = fmax(q->attained, (q->cost - q->lower) / fmax(1, q->cost));
  f->closed = 1e-9;
  snprintf(f->certificate, sizeof f->certificate, "%s",
           squared_norm(q) ? "KKT residual" : "duality gap");
  return IDM_OK;
}

/* Solves again with the actions that attained values when the search ended; the program is rebuilt
 * because choosing among optima restricted it to its optimal face. */
static idm_status choose_with_actions(perturbation *q, const size_t *attaining_action,
                                      idm_optimality *f, idm_error *opt_error)
{
  idm_program_destroy(q->program);
  q->program = NULL;
  q->offset = 0;
  q->non_unique = true;
  const idm_status status = make_program(q, opt_error);
  if (status != IDM_OK) return status;
  for (size_t s = 0; s < q->mdp->n.states; s++)
    if (q->reachable[s] && q->demonstrated_action[s] == IDM_MISSING)
      set_choice(q, s, attaining_action[s], true);
  return choose(q, f, opt_error);
}

/* When the search ends every value is attained, but the optimum that is chosen among several may
 * violate that. The attaining actions are then fixed. */
static idm_status choose_attained(perturbation *q, idm_optimality *f, idm_error *opt_error)
{
  const size_t states = q->mdp->n.states;
  size_t *attaining_action = idm_new(states, sizeof *attaining_action);
  idm_status status = attaining_action ? relax(q, opt_error) : idm_fail_memory(opt_error);
  for (size_t s = 0; s < states && status == IDM_OK && q->feasible; s++) {
    double slack_of;
    attaining_action[s] = best_action(q, s, &slack_of);
  }
  if (status == IDM_OK) status = choose(q, f, opt_error);
  if (status == IDM_OK && undecided(q) != states)
    status = choose_with_actions(q, attaining_action, f, opt_error);
  free(attaining_action);
  return status;
}

/* Unidentified directions for the demonstrated actions, and in unvisited states for the optimal
 * actions under the estimate. */
static idm_status find_nullspace(const perturbation *q, const idm_demonstrator *demonstrator,
                                 idm_optimality *f, idm_error *opt_error)
{
  const idm_sizes n = q->mdp->n;
  idm_demonstrator best = *demonstrator;
  best.policy = idm_new(idm_times(n.states, n.actions), sizeof *best.policy);
  if (!best.policy) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < n.states; s++) {
    double slack_of;
    const bool visited = q->demonstrated_action[s] != IDM_MISSING;
    best.policy[s * n.actions +
                (visited ? (size_t)q->demonstrated_action[s] : best_action(q, s, &slack_of))] = 1;
  }
  const idm_status status = idm_nullspace_shaping(q->mdp, &best, q->free_utility, f, opt_error);
  free(best.policy);
  return status;
}

static void note_result(const perturbation *q, idm_optimality *f)
{
  const double gap = q->cost - q->lower;
  if (gap > 1e-9 * fmax(1, q->cost))
    idm_notes_add(
        &f->words,
        "states that the demonstrator reaches were never visited, and the optimal actions there "
        "were not determined after %zu branches: the distance is between %.6g and %.6g",
        q->branches, q->free_utility->unit * q->lower, q->free_utility->unit * q->cost);
  if (q->cost <= 1e-9)
    idm_notes_add(&f->words,
                  "the demonstrator's actions are already the best under the file's utility");
  if (q->non_unique)
    idm_notes_add(&f->words,
                  "another choice of optimal actions in unvisited states may attain the same "
                  "distance; which one is taken may depend on the order of states and actions");
  if (q->face.unique)
    idm_notes_add(&f->words, "%s",
                  q->non_unique || q->truncated ? "with this choice no other utility is as near"
                                                : "no other utility is as near");
  else if (q->non_unique || q->truncated)
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

static idm_status allocate(perturbation *q, idm_error *opt_error)
{
  const size_t states = q->mdp->n.states;
  q->demonstrated_action = idm_new(states, sizeof *q->demonstrated_action);
  q->reachable = idm_new(states, sizeof *q->reachable);
  q->row = idm_new(q->free_utility->entries, sizeof *q->row);
  q->weight = idm_new(columns_of(q), sizeof *q->weight);
  q->target = idm_new(columns_of(q), sizeof *q->target);
  q->key = idm_new(columns_of(q), sizeof *q->key);
  q->x = idm_new(columns_of(q), sizeof *q->x);
  q->quadratic = (idm_program_projection){.weight = q->weight, .target = q->target, .effort = 1e11};
  return q->demonstrated_action && q->reachable && q->row && q->weight && q->target && q->key &&
                 q->x
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

static void release(perturbation *q)
{
  free(q->demonstrated_action);
  free(q->reachable);
  free(q->row);
  free(q->weight);
  free(q->target);
  free(q->key);
  free(q->x);
  free(q->branch);
  idm_program_destroy(q->program);
}

static idm_status find(perturbation *q, const idm_demonstrator *demonstrator,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_inverse *inverse = &idm_inverse_minimum_perturbation;
  idm_optimality *f = NULL;
  idm_status status = allocate(q, opt_error);
  if (status == IDM_OK) status = idm_optimality_create(q->free_utility->count, &f, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_deterministic(demonstrator, q->problem->setting, inverse->name,
                                            q->demonstrated_action, opt_error);
  if (status == IDM_OK)
    status = idm_free_utility_keys(q->problem, q->free_utility, q->key, opt_error);
  if (status == IDM_OK) status = set_file_values(q, opt_error);
  if (status == IDM_OK) status = make_program(q, opt_error);
  if (status == IDM_OK) extend_weights(q);
  if (status == IDM_OK) status = mark_reachable(q, opt_error);
  if (status == IDM_OK) status = branch_and_bound(q, opt_error);
  if (status == IDM_OK) status = choose_attained(q, f, opt_error);
  if (status == IDM_OK) status = find_nullspace(q, demonstrator, f, opt_error);
  if (status == IDM_OK) {
    add_positive(q);
    note_result(q, f);
    status = idm_estimate_utility(inverse, q->problem, q->settings, q->free_utility, q->x,
                                  squared_norm(q) ? "quadratic-program" : "linear-program", f,
                                  ret_posterior, opt_error);
  } else {
    idm_optimality_destroy(f);
  }
  release(q);
  return status;
}

/* --- beliefs -------------------------------------------------------------------------------- */

static idm_status minimise_distance(perturbation *q, const idm_task *task, idm_optimality *f,
                                    idm_error *opt_error)
{
  const idm_belief_margin margin = {.pomdp = task->pomdp,
                                    .data = task->data,
                                    .free_utility = q->free_utility,
                                    .settings = q->settings,
                                    .opt_target = q->target,
                                    .caller = task->inverse->name,
                                    .cancel = q->cancel,
                                    .opt_notes = task->opt_notes};
  q->face = (idm_face){
      .count = q->free_utility->count, .weight = q->weight, .opt_target = q->target, .key = q->key};
  idm_status status = idm_belief_margin_find(&margin, &q->face, f, opt_error);
  if (status == IDM_OK) status = idm_nullspace_shaping(q->mdp, NULL, q->free_utility, f, opt_error);
  if (status != IDM_OK) return status;
  if (f->objective <= 1e-9)
    idm_notes_add(&f->words,
                  "the demonstrator's actions are already the best under the file's utility");
  idm_notes_add(&f->words, "unchecked: a log with decisions at few beliefs may leave more open");
  return IDM_OK;
}

/* For hidden states: the demonstrator's actions are optimal among all policies at every belief of
 * the log. */
static idm_status find_by_beliefs(perturbation *q, const idm_task *task,
                                  idm_posterior **ret_posterior, idm_error *opt_error)
{
  const size_t count = q->free_utility->count;
  idm_optimality *f = NULL;
  q->weight = idm_new(count, sizeof *q->weight);
  q->target = idm_new(count, sizeof *q->target);
  q->key = idm_new(count, sizeof *q->key);
  idm_status status = q->weight && q->target && q->key ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_optimality_create(count, &f, opt_error);
  if (status == IDM_OK)
    status = idm_free_utility_keys(q->problem, q->free_utility, q->key, opt_error);
  if (status == IDM_OK) status = set_file_values(q, opt_error);
  if (status == IDM_OK) status = minimise_distance(q, task, f, opt_error);
  if (status == IDM_OK)
    status = idm_estimate_utility(
        task->inverse, q->problem, q->settings, q->free_utility, q->face.x,
        squared_norm(q) ? "quadratic-program" : "linear-program", f, ret_posterior, opt_error);
  else
    idm_optimality_destroy(f);
  free(q->face.x);
  release(q);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status answer(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_problem *problem = task->problem;
  const double epsilon = task->settings->epsilon;
  idm_status status =
      idm_bellman_check(task->mdp, problem->setting, task->inverse->name, opt_error);
  if (status == IDM_OK && !task->pomdp) status = idm_task_demonstrator(task, opt_error);
  if (status != IDM_OK) return status;
  /* Margins over beliefs are compared with searches in the file's own unit. */
  if (!task->pomdp) idm_free_utility_rescale(task->free_utility, true, epsilon);
  perturbation q = {.problem = problem,
                    .settings = task->settings,
                    .mdp = task->mdp,
                    .free_utility = task->free_utility,
                    .epsilon = epsilon / task->free_utility->unit,
                    .cancel = &task->cancel};
  return task->pomdp ? find_by_beliefs(&q, task, ret_posterior, opt_error)
                     : find(&q, task->demonstrator, ret_posterior, opt_error);
}

static const idm_task_method method = {
    .by = IDM_BY_BELIEFS, .activity = "searching for the nearest utility", .answer = answer};

static const char *const settings_read[] = {"norm", "epsilon", NULL};

const idm_inverse idm_inverse_minimum_perturbation = {
    .name = "minimum-perturbation",
    .summary = "the utility nearest to the file's under which the demonstrator's actions are best",
    .row = "Minimum perturbation",
    .answer = IDM_POINT,
    .target_block = "utility",
    .alone = "its objective is the distance of utilities to the file's, and a distance of other "
             "numbers is in another unit; use --inverse distribution-matching, map or bayes",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_task_fit,
};
