/* Maximum margin over beliefs by a cutting-plane linear program (`docs/method/inverse.md, 8`). The
 * demonstrator is a policy graph, whose values are linear in the utility; constraints are generated
 * as they are violated. The best response of a search is kept as a policy graph, so its constraint
 * is exact. Whether any policy exceeds the margins is one search, in a POMDP that records whether
 * the plan was left (section leaving) and pays the margin for leaving. Requiring only that the
 * demonstrator is optimal at the start gives margins that are too large: 8 instead of 3.03 for a
 * demonstrator that never goes out. 1. rows 2. the program 3. plans of its own 4. rivals 5. rounds
 * 6. words
 *
 * Contents: leaving · belief margin */
#include "invert/utility/belief_mdp.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/bellman.h"

/* === leaving ================================================================================== */

/* POMDP whose state records whether a policy has deviated from a plan. */

/* Row of the original POMDP for a state of the extended one. */
static size_t row_of(const idm_deviation_pomdp *l, size_t action, size_t state)
{
  return action * l->states + state % l->states;
}

/* true if an action in a state deviates from the plan at the state's node. */
static bool deviates(const idm_deviation_pomdp *l, const idm_policy_graph *plan, size_t action,
                     size_t state)
{
  return state >= l->states && plan->action[state / l->states - 1] != (int32_t)action;
}

/* First state of the copy that (state, action, x) leads to: after a deviation, or of the successor
 * node. */
static size_t base_of(const idm_deviation_pomdp *l, const idm_policy_graph *plan, size_t action,
                      size_t state, size_t x)
{
  if (state < l->states || deviates(l, plan, action, state)) return 0;
  const size_t link = (state / l->states - 1) * plan->n.observations + x;
  return plan->approximate[link] ? 0 : (plan->next[link] + 1) * l->states;
}

static void put_rows(const idm_pomdp *pomdp, const idm_policy_graph *plan, idm_deviation_pomdp *l)
{
  const size_t all = l->pomdp.n.states;
  size_t at = 0;
  for (size_t u = 0; u < pomdp->n.actions; u++)
    for (size_t s = 0; s < all; s++) {
      const size_t row = row_of(l, u, s);
      l->pomdp.first[u * all + s] = at;
      for (size_t i = pomdp->first[row]; i < pomdp->first[row + 1]; i++, at++) {
        l->pomdp.observation[at] = pomdp->observation[i];
        l->pomdp.next[at] =
            (uint32_t)(base_of(l, plan, u, s, pomdp->observation[i]) + pomdp->next[i]);
        l->pomdp.p[at] = pomdp->p[i];
      }
    }
  l->pomdp.first[pomdp->n.actions * all] = at;
}

idm_status idm_deviation_create(const idm_pomdp *pomdp, const idm_policy_graph *plan,
                                idm_deviation_pomdp **ret_deviation, idm_error *opt_error)
{
  *ret_deviation = NULL;
  const size_t states = pomdp->n.states;
  const size_t all = (plan->count + 1) * states;
  const size_t entries = (plan->count + 1) * pomdp->first[pomdp->n.actions * states];
  idm_deviation_pomdp *l = idm_new(1, sizeof *l);
  if (!l) return idm_fail_memory(opt_error);
  l->pomdp = *pomdp;
  l->pomdp.n.states = all;
  l->nodes = plan->count;
  l->states = states;
  l->start = idm_new(all, sizeof *l->start);
  l->pomdp.start = l->start;
  l->pomdp.first = idm_new(pomdp->n.actions * all + 1, sizeof *l->pomdp.first);
  l->pomdp.observation = idm_new(entries, sizeof *l->pomdp.observation);
  l->pomdp.next = idm_new(entries, sizeof *l->pomdp.next);
  l->pomdp.p = idm_new(entries, sizeof *l->pomdp.p);
  if (!l->start || !l->pomdp.first || !l->pomdp.observation || !l->pomdp.next || !l->pomdp.p) {
    idm_deviation_destroy(l);
    return idm_fail_memory(opt_error);
  }
  memcpy(l->start + states, plan->belief, states * sizeof *l->start);
  put_rows(pomdp, plan, l);
  *ret_deviation = l;
  return IDM_OK;
}

void idm_deviation_destroy(idm_deviation_pomdp *deviation)
{
  if (!deviation) return;
  free(deviation->start);
  free(deviation->pomdp.first);
  free(deviation->pomdp.observation);
  free(deviation->pomdp.next);
  free(deviation->pomdp.p);
  free(deviation);
}

void idm_deviation_reward(const idm_deviation_pomdp *deviation, const idm_policy_graph *plan,
                          const double *utility, const double *bonus, double *reward)
{
  const size_t all = deviation->pomdp.n.states;
  for (size_t u = 0; u < deviation->pomdp.n.actions; u++)
    for (size_t s = 0; s < all; s++) {
      reward[u * all + s] = utility[row_of(deviation, u, s)];
      if (deviates(deviation, plan, u, s)) reward[u * all + s] += bonus[s / deviation->states - 1];
    }
}

void idm_deviation_counts(const idm_deviation_pomdp *deviation, const idm_policy_graph *plan,
                          const double *count, double *counts, double *left)
{
  const size_t all = deviation->pomdp.n.states;
  memset(counts, 0, deviation->pomdp.n.actions * deviation->states * sizeof *counts);
  memset(left, 0, deviation->nodes * sizeof *left);
  for (size_t u = 0; u < deviation->pomdp.n.actions; u++)
    for (size_t s = 0; s < all; s++) {
      counts[row_of(deviation, u, s)] += count[u * all + s];
      if (deviates(deviation, plan, u, s)) left[s / deviation->states - 1] += count[u * all + s];
    }
}

/* === belief margin ============================================================================ */

static const char infeasible_message[] =
    "no utility within the box makes the demonstrator's actions optimal at its beliefs, with the "
    "entries that are held and the given --epsilon; free more of them, or widen --bound";
static const char no_nearest_message[] =
    "no utility makes the demonstrator's actions optimal at its beliefs, with the entries that are "
    "held and the given --epsilon; free more of them";
static const char unbounded_message[] =
    "without a box the margin is unbounded; expected a finite --bound";

/* In units of the range of values: tolerance of the certificate, and least improvement for which
 * the constraint of another policy is added. */
static const double closed = 1e-6, min_improvement = 2e-7;
/* Tolerance for constraints of the demonstrator's own plans. */
static const double violation_tolerance = 1e-10;
/* Largest size of the table of values. */
static const double max_numbers = 5e7;

typedef struct cutting_planes {
  const idm_belief_margin *task;
  idm_policy_graph demonstrator_graph;
  idm_deviation_pomdp *deviation; /* for margins by state; NULL: margin of the return */
  size_t width;                   /* free numbers plus one for fixed entries */
  double *value;                  /* [node][state][width]: see idm_policy_graph_values */
  double *belief_value;           /* [node][width]: value of the demonstrator at its own beliefs */
  size_t row_size;                /* width plus the number of margins */
  size_t cuts;                    /* constraints so far */
  size_t capacity;
  double *row;        /* [cut][row_size]: the demonstrator's value minus another policy's, and the
                         coefficients of the margins */
  double *utility;    /* [entry]: at the last solution */
  double *node_value; /* [node][state]: values there */
  double *joint;      /* [state]: scratch */
  double *next;       /* [state]: scratch */
  double *new_row;    /* [row_size]: candidate constraint */
  double *reward;     /* [entry of the POMDP with deviations] */
  double *deviation_counts; /* [entry]: scratch */
  idm_best_response best_response;
  double range; /* range of the values of policies */
  double attained;
  bool unique_chosen; /* a unique optimum was chosen among all optima */
} cutting_planes;

/* --- 1. rows -------------------------------------------------------------------------------- */

static bool by_state(const cutting_planes *d)
{
  return d->task->opt_target || d->task->settings->margin == IDM_MARGIN_STATE;
}

static bool squared_norm(const cutting_planes *d)
{
  return d->task->opt_target && d->task->settings->norm == IDM_NORM_2;
}

static double dot(const double *row, const double *x, size_t count)
{
  double sum = row[count];
  for (size_t k = 0; k < count; k++) sum += row[k] * x[k];
  return sum;
}

/* row += weight times an entry of the utility, as coefficients of the free numbers. */
static void add_entry(const cutting_planes *d, size_t entry, double weight, double *row)
{
  const idm_free_utility *free_utility = d->task->free_utility;
  row[free_utility->count] += idm_free_utility_add(free_utility, entry, weight, row);
}

static bool is_duplicate(const cutting_planes *d)
{
  for (size_t i = 0; i < d->cuts; i++) {
    double apart = 0;
    for (size_t k = 0; k < d->row_size; k++)
      apart = fmax(apart, fabs(d->row[i * d->row_size + k] - d->new_row[k]));
    if (apart <= 1e-13) return true;
  }
  return false;
}

/* Adds new_row as a constraint unless it is a duplicate. */
static idm_status add_cutting_plane(cutting_planes *d, bool *added, idm_error *opt_error)
{
  if (is_duplicate(d)) return IDM_OK;
  if (d->cuts == d->capacity) {
    const size_t capacity = 2 * d->capacity + 64;
    const size_t bytes = idm_times(idm_times(capacity, d->row_size), sizeof *d->row);
    assert(bytes > 0); /* rows are not empty */
    double *rows = realloc(d->row, bytes);
    if (!rows) return idm_fail_memory(opt_error);
    d->row = rows;
    d->capacity = capacity;
  }
  memcpy(d->row + d->cuts++ * d->row_size, d->new_row, d->row_size * sizeof *d->new_row);
  *added = true;
  return IDM_OK;
}

/* --- 2. the program ------------------------------------------------------------------------- */

/* Columns: free numbers; one margin per belief or the one of the return; positive and negative
 * parts of the numbers. */
static size_t margins(const cutting_planes *d)
{
  return by_state(d) ? d->demonstrator_graph.count : 1;
}

/* Adds the constraint: the demonstrator's value minus another policy's, minus the weighted margins,
 * is at least 0. */
static idm_status add_row(const cutting_planes *d, size_t cut, idm_program *program,
                          idm_error *opt_error)
{
  const size_t count = d->task->free_utility->count;
  const double *row = d->row + cut * d->row_size;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < count && status == IDM_OK; k++)
    if (row[k] != 0) status = idm_program_add_entry(program, k, row[k], opt_error);
  for (size_t i = 0; i < margins(d) && status == IDM_OK; i++)
    if (row[d->width + i] != 0)
      status = idm_program_add_entry(program, count + i, row[d->width + i], opt_error);
  if (status == IDM_OK) status = idm_program_add_row(program, -row[count], INFINITY, opt_error);
  return status;
}

/* false at a belief without alternative actions. */
static bool has_margin(const cutting_planes *d, size_t node)
{
  const idm_pomdp *pomdp = d->task->pomdp;
  for (size_t u = 0; u < pomdp->n.actions; u++)
    if (pomdp->prior[u] > 0 && u != (size_t)d->demonstrator_graph.action[node]) return true;
  return false;
}

static void bound_margins(const cutting_planes *d, idm_program *program)
{
  const size_t first = d->task->free_utility->count;
  if (!by_state(d)) {
    idm_program_set_bounds(program, first, 0, INFINITY);
    idm_program_set_cost(program, first, 1);
  }
  for (size_t i = 0; i < d->demonstrator_graph.count && by_state(d); i++) {
    const bool any = has_margin(d, i);
    const double least = any ? d->task->settings->epsilon : 0;
    const bool unbounded_margin = any && !d->task->opt_target;
    idm_program_set_bounds(program, first + i, least, unbounded_margin ? INFINITY : least);
    idm_program_set_cost(program, first + i, d->task->opt_target ? 0 : -1);
  }
}

/* Number of columns after the margins. */
static size_t extra_columns(const cutting_planes *d)
{
  const idm_belief_margin *a = d->task;
  const bool sums = a->opt_target ? a->settings->norm == IDM_NORM_1 : a->settings->penalty > 0;
  if (sums) return 2 * a->free_utility->count;
  return a->opt_target && a->settings->norm == IDM_NORM_INF;
}

/* Adds the largest deviation from the target: max_deviation >= +-(x - target). */
static idm_status add_max_deviation(const cutting_planes *d, size_t max_deviation,
                                    idm_program *program, idm_error *opt_error)
{
  const size_t count = d->task->free_utility->count;
  idm_status status = IDM_OK;
  idm_program_set_bounds(program, max_deviation, 0, INFINITY);
  idm_program_set_cost(program, max_deviation, 1);
  for (size_t i = 0; i < 2 * count && status == IDM_OK; i++) {
    const double sign = i % 2 ? 1 : -1;
    status = idm_program_add_entry(program, i / 2, sign, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(program, max_deviation, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add_row(program, sign * d->task->opt_target[i / 2], INFINITY, opt_error);
  }
  return status;
}

/* Adds the costs of the numbers, in the columns from positive_column on. */
static idm_status add_costs(const cutting_planes *d, const double *weight, size_t positive_column,
                            idm_program *program, idm_error *opt_error)
{
  const idm_belief_margin *a = d->task;
  const size_t columns = extra_columns(d);
  if (columns == 1 && a->opt_target)
    return add_max_deviation(d, positive_column, program, opt_error);
  if (!columns) return IDM_OK;
  return idm_penalty_add(program, a->free_utility->count, positive_column,
                         a->opt_target ? 1 : a->settings->penalty, weight, a->opt_target,
                         opt_error);
}

static idm_status build_program(const cutting_planes *d, const double *weight,
                                idm_program **ret_program, idm_error *opt_error)
{
  const size_t count = d->task->free_utility->count;
  const double bound = d->task->opt_target ? INFINITY : d->task->settings->bound;
  const size_t positive_column = count + margins(d);
  idm_program *program = NULL;
  idm_status status = idm_program_create(positive_column + extra_columns(d), &program, opt_error);
  *ret_program = program;
  if (status != IDM_OK) return status;
  for (size_t k = 0; k < count; k++) idm_program_set_bounds(program, k, -bound, bound);
  bound_margins(d, program);
  for (size_t i = 0; i < d->cuts && status == IDM_OK; i++)
    status = add_row(d, i, program, opt_error);
  return status == IDM_OK ? add_costs(d, weight, positive_column, program, opt_error) : status;
}

/* Bound on the range of the values of policies: between the least and largest utility at every
 * step, and 0 if episodes can end. */
static double range_of(const cutting_planes *d)
{
  const idm_pomdp *pomdp = d->task->pomdp;
  bool ends = false;
  for (size_t u = 0; u < pomdp->n.actions; u++) ends = ends || pomdp->setting->terminal[u];
  double least = ends ? 0 : INFINITY;
  double most = ends ? 0 : -INFINITY;
  for (size_t e = 0; e < pomdp->n.actions * pomdp->n.states; e++) {
    least = fmin(least, d->utility[e]);
    most = fmax(most, d->utility[e]);
  }
  return (most - least) / (1 - pomdp->discount);
}

static void store_optimum(const idm_program_solution *found, size_t columns, idm_face *face)
{
  memcpy(face->x, found->x, columns * sizeof *found->x);
  face->objective = found->objective;
  face->attained = fmax(found->gap, found->violation);
}

/* Projects the target in the weighted L2 norm onto the constraints, starting from a feasible point.
 */
static idm_status minimise_squares(const cutting_planes *d, const idm_program *program,
                                   idm_face *face, idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  double *weight = idm_new(2 * columns, sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  idm_program_projection near = {.weight = weight, .target = weight + columns, .effort = 1e11};
  memcpy(weight, face->weight, face->count * sizeof *weight);
  memcpy(weight + columns, d->task->opt_target, face->count * sizeof *weight);
  idm_status status = idm_program_project(program, &near, face->x, idm_bellman_interrupted,
                                          d->task->cancel, opt_error);
  if (status == IDM_OK) status = idm_cancel_check(d->task->cancel, opt_error);
  face->objective = near.distance;
  face->attained = near.residual;
  face->unique = true;
  free(weight);
  return status;
}

static idm_status optimise(const cutting_planes *d, idm_program *program, idm_face *face,
                           idm_error *opt_error)
{
  const char *none = d->task->opt_target ? no_nearest_message : infeasible_message;
  idm_program_solution found;
  if (d->unique_chosen && !squared_norm(d))
    return idm_face_choose_unique(program, none, unbounded_message, face, d->task->cancel,
                                  opt_error);
  const idm_status status =
      idm_face_solve(program, none, unbounded_message, &found, d->task->cancel, opt_error);
  if (status == IDM_OK) store_optimum(&found, idm_program_columns(program), face);
  return status == IDM_OK && squared_norm(d) ? minimise_squares(d, program, face, opt_error)
                                             : status;
}

/* Solves the program with the current constraints. */
static idm_status solve(cutting_planes *d, idm_face *face, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_status status = build_program(d, face->weight, &program, opt_error);
  if (status == IDM_OK) {
    free(face->x);
    face->x = idm_new(idm_program_columns(program), sizeof *face->x);
    if (!face->x) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = optimise(d, program, face, opt_error);
  /* Sets numbers that are 0 up to rounding to 0. */
  for (size_t k = 0; k < face->count && status == IDM_OK; k++)
    if (fabs(face->x[k]) <= 1e-11 * fmin(1, d->task->settings->bound)) face->x[k] = 0;
  if (status == IDM_OK) {
    idm_free_utility_fill(d->task->free_utility, face->x, d->utility);
    d->range = range_of(d);
  }
  idm_program_destroy(program);
  return status;
}

/* --- 3. plans of its own -------------------------------------------------------------------- */

/* Best continuation after an action and an observation, given p(s', x | z, u): by the values of the
 * last solution; before the first solution, that of the nearest belief. */
static size_t best_successor(const cutting_planes *d, const double *joint, double p, bool first)
{
  const size_t states = d->demonstrator_graph.n.states;
  if (first) {
    for (size_t s = 0; s < states; s++) d->next[s] = joint[s] / p;
    return idm_policy_graph_nearest(&d->demonstrator_graph, d->next);
  }
  size_t best = 0;
  double most = -INFINITY;
  for (size_t i = 0; i < d->demonstrator_graph.count; i++) {
    double sum = 0;
    for (size_t s = 0; s < states; s++) sum += joint[s] * d->node_value[i * states + s];
    if (!(sum > most)) continue;
    most = sum;
    best = i;
  }
  return best;
}

/* new_row = V(z) - Q(z,u) at a node, minus its margin. */
static void put_margin(const cutting_planes *d, size_t node, size_t u, bool first)
{
  const idm_pomdp *pomdp = d->task->pomdp;
  const size_t states = pomdp->n.states;
  const double *z = d->demonstrator_graph.belief + node * states;
  double *joint = d->joint;
  double *row = d->new_row;
  memset(row, 0, d->row_size * sizeof *row);
  memcpy(row, d->belief_value + node * d->width, d->width * sizeof *row);
  row[d->width + node] = -1;
  for (size_t s = 0; s < states; s++) add_entry(d, u * states + s, -z[s], row);
  for (size_t x = 0; x < pomdp->n.observations; x++) {
    const double p = idm_pomdp_joint(pomdp, z, u, x, joint);
    if (!(p > 0)) continue;
    const double *plan = d->value + best_successor(d, joint, p, first) * states * d->width;
    for (size_t s = 0; s < states; s++)
      for (size_t k = 0; k < d->width && joint[s] > 0; k++)
        row[k] -= pomdp->discount * joint[s] * plan[s * d->width + k];
  }
}

/* Slack of new_row at numbers and margins x. */
static double slack(const cutting_planes *d, const double *x)
{
  const size_t count = d->task->free_utility->count;
  double sum = dot(d->new_row, x, count);
  for (size_t i = 0; i < margins(d); i++) sum += d->new_row[d->width + i] * x[count + i];
  return sum;
}

/* Adds every violated constraint of the demonstrator's own plans. */
static idm_status separate_own_plans(cutting_planes *d, const double *opt_x, bool *added,
                                     idm_error *opt_error)
{
  const idm_pomdp *pomdp = d->task->pomdp;
  const size_t count = d->task->free_utility->count;
  idm_status status = IDM_OK;
  for (size_t at = 0; at < d->demonstrator_graph.count * pomdp->n.states && opt_x; at++)
    d->node_value[at] = dot(d->value + at * d->width, opt_x, count);
  for (size_t i = 0; i < d->demonstrator_graph.count && status == IDM_OK; i++) {
    for (size_t u = 0; u < pomdp->n.actions && status == IDM_OK; u++) {
      if (u == (size_t)d->demonstrator_graph.action[i] || !(pomdp->prior[u] > 0)) continue;
      put_margin(d, i, u, !opt_x);
      if (!opt_x || slack(d, opt_x) < -violation_tolerance * fmax(1, d->range))
        status = add_cutting_plane(d, added, opt_error);
    }
    if (status == IDM_OK) status = idm_cancel_check(d->task->cancel, opt_error);
  }
  return status;
}

/* --- 4. rivals ------------------------------------------------------------------------------ */

/* Best policy under the current utility; with margins by state it receives the margin of the belief
 * at which it first deviates. */
static idm_status find_best_response(cutting_planes *d, const double *x, double gap, size_t most,
                                     idm_error *opt_error)
{
  const idm_belief_margin *a = d->task;
  if (!by_state(d))
    return idm_best_response_find(a->pomdp, d->utility, gap, most, &d->best_response, a->cancel,
                                  opt_error);
  idm_deviation_reward(d->deviation, &d->demonstrator_graph, d->utility, x + a->free_utility->count,
                       d->reward);
  return idm_best_response_find(&d->deviation->pomdp, d->reward, gap, most, &d->best_response,
                                a->cancel, opt_error);
}

/* new_row = the demonstrator's value at the start minus the best response's, minus the margins paid
 * for deviations; for the margin of the return, plus that margin. */
static void put_best_response(cutting_planes *d)
{
  double *row = d->new_row;
  memset(row, 0, d->row_size * sizeof *row);
  memcpy(row, d->belief_value, d->width * sizeof *row);
  const double *count = d->best_response.count;
  row[d->width] = 1;
  if (by_state(d)) {
    idm_deviation_counts(d->deviation, &d->demonstrator_graph, count, d->deviation_counts,
                         row + d->width);
    for (size_t i = 0; i < d->demonstrator_graph.count; i++)
      row[d->width + i] = 0 - row[d->width + i];
    count = d->deviation_counts;
  }
  for (size_t e = 0; e < d->task->free_utility->entries; e++) add_entry(d, e, -count[e], row);
}

/* Searches for a policy that violates the margins and adds its constraint; otherwise records an
 * upper bound on the violation. */
static idm_status separate_best_response(cutting_planes *d, const double *x, bool *added,
                                         idm_error *opt_error)
{
  static const struct {
    double gap; /* relative to the range */
    size_t most;
  } effort[] = {{1e-3, 300}, {1e-5, 1000}, {4e-7, 4000}};
  const size_t count = d->task->free_utility->count;
  const double allowed = dot(d->belief_value, x, count) + (by_state(d) ? 0 : x[count]);
  idm_status status = IDM_OK;
  d->attained = 0;
  /* If utilities are equal up to rounding, policies do not differ. */
  const double size = fmin(d->task->settings->bound, 1) / (1 - d->task->pomdp->discount);
  if (d->range <= 1e-9 * size) return IDM_OK;
  for (size_t i = 0; i < sizeof effort / sizeof effort[0] && status == IDM_OK; i++) {
    status = find_best_response(d, x, effort[i].gap * d->range, effort[i].most, opt_error);
    if (status != IDM_OK) break;
    d->attained = fmax(0, d->best_response.upper - allowed) / d->range;
    if (d->attained <= closed) break;
    if (d->best_response.value - allowed <= min_improvement * d->range) continue;
    put_best_response(d);
    status = add_cutting_plane(d, added, opt_error);
    break;
  }
  return status;
}

/* --- 5. rounds ------------------------------------------------------------------------------ */

/* Initial constraints: margins over the nearest plans, or the demonstrator against itself. */
static idm_status initial_cuts(cutting_planes *d, idm_error *opt_error)
{
  bool added = false;
  if (by_state(d)) return separate_own_plans(d, NULL, &added, opt_error);
  memset(d->new_row, 0, d->row_size * sizeof *d->new_row);
  d->new_row[d->width] = 1;
  return add_cutting_plane(d, &added, opt_error);
}

/* Solves and adds violated constraints until there is none. */
static idm_status generate_cuts(cutting_planes *d, idm_face *face, idm_error *opt_error)
{
  enum { max_rounds = 500 };
  idm_status status = initial_cuts(d, opt_error);
  d->attained = INFINITY;
  for (int round = 0; round < max_rounds && status == IDM_OK; round++) {
    bool added = false;
    status = solve(d, face, opt_error);
    if (status == IDM_OK && by_state(d)) status = separate_own_plans(d, face->x, &added, opt_error);
    if (status == IDM_OK && !added) status = separate_best_response(d, face->x, &added, opt_error);
    if (added) continue;
    if (d->unique_chosen) return status;
    d->unique_chosen = true;
  }
  return status;
}

static idm_status allocate(cutting_planes *d, idm_error *opt_error)
{
  const idm_belief_margin *a = d->task;
  const size_t states = a->pomdp->n.states;
  const size_t pairs = d->demonstrator_graph.count * states;
  const size_t entries = a->free_utility->entries;
  const size_t reward = by_state(d) ? (d->demonstrator_graph.count + 1) * entries : entries;
  d->row_size = d->width + margins(d);
  d->value = idm_new(pairs * d->width, sizeof *d->value);
  d->belief_value = idm_new(d->demonstrator_graph.count * d->width, sizeof *d->belief_value);
  d->utility = idm_new(entries, sizeof *d->utility);
  d->node_value = idm_new(pairs, sizeof *d->node_value);
  d->joint = idm_new(states, sizeof *d->joint);
  d->next = idm_new(states, sizeof *d->next);
  d->new_row = idm_new(d->row_size, sizeof *d->new_row);
  d->reward = idm_new(reward, sizeof *d->reward);
  d->deviation_counts = idm_new(entries, sizeof *d->deviation_counts);
  d->best_response.count = idm_new(reward, sizeof *d->best_response.count);
  if (!d->value || !d->belief_value || !d->utility || !d->node_value || !d->joint || !d->next ||
      !d->new_row || !d->reward || !d->deviation_counts || !d->best_response.count)
    return idm_fail_memory(opt_error);
  return by_state(d)
             ? idm_deviation_create(a->pomdp, &d->demonstrator_graph, &d->deviation, opt_error)
             : IDM_OK;
}

static idm_status prepare(cutting_planes *d, idm_error *opt_error)
{
  const idm_belief_margin *a = d->task;
  const idm_sizes n = a->pomdp->n;
  idm_status status = idm_belief_nodes_read(a->pomdp, a->data, a->caller, &d->demonstrator_graph,
                                            a->opt_notes, opt_error);
  if (status != IDM_OK) return status;
  const size_t pairs = d->demonstrator_graph.count * n.states;
  if ((double)pairs * (double)d->width > max_numbers)
    return idm_fail(
        opt_error, IDM_INPUT,
        "the log has decisions at %zu beliefs over %zu states: with %zu free entries of the "
        "utility that is more than '%s' can store; free fewer entries, or tie some",
        d->demonstrator_graph.count, n.states, a->free_utility->count, a->caller);
  status = allocate(d, opt_error);
  if (status != IDM_OK) return status;
  status = idm_policy_graph_values(a->pomdp, &d->demonstrator_graph, a->free_utility, d->value,
                                   a->cancel, opt_error);
  for (size_t at = 0; at < pairs && status == IDM_OK; at++)
    for (size_t k = 0; k < d->width; k++)
      d->belief_value[at / n.states * d->width + k] +=
          d->demonstrator_graph.belief[at] * d->value[at * d->width + k];
  return status;
}

static void clear(cutting_planes *d)
{
  idm_policy_graph_free(&d->demonstrator_graph);
  idm_deviation_destroy(d->deviation);
  free(d->value);
  free(d->belief_value);
  free(d->row);
  free(d->utility);
  free(d->node_value);
  free(d->joint);
  free(d->next);
  free(d->new_row);
  free(d->reward);
  free(d->deviation_counts);
  free(d->best_response.count);
}

/* --- 6. words ------------------------------------------------------------------------------- */

/* At beliefs without a decision in the log, the demonstrator's plan is assumed to be that of the
 * nearest belief with one, and is constrained to be optimal as well. With more than a small share
 * of such beliefs, the answer solves a different problem and has a fault. */
static void note_approximations(double share, idm_optimality *f)
{
  static const double most = 0.01;
  if (share <= 1e-12) return;
  idm_notes_add(share > most ? &f->faults : &f->words,
                "%.3g %% of the demonstrator's discounted steps come after beliefs without a "
                "decision in the log; there the plan of the nearest belief with a decision is "
                "assumed, and constrained to be optimal as well: other utilities may explain the "
                "log better. Expected longer trajectories, or more of them",
                100 * share);
}

/* Appends to an infeasibility message the constraints that do not come from the log. */
static void explain_infeasible(double share, idm_error *error)
{
  idm_error own = *error;
  if (share <= 1e-12) return;
  (void)idm_fail(error, IDM_INPUT,
                 "%.300s; at beliefs without a decision in the log (%.3g %% of discounted steps) "
                 "the plan of the nearest belief was assumed",
                 own.message, 100 * share);
}

static void note_margins(const cutting_planes *d, const double *x, idm_notes *words)
{
  const double *margin = x + d->task->free_utility->count;
  size_t none = 0;
  for (size_t i = 0; i < d->demonstrator_graph.count; i++)
    none += margin[i] <= 1e-9 * fmax(1, d->range);
  if (none == d->demonstrator_graph.count)
    idm_notes_add(words,
                  "no utility of the box makes the log's actions better than all others at any "
                  "belief: the margin is 0%s",
                  d->range <= 1e-9 * fmin(1, d->task->settings->bound)
                      ? ", and this utility, which is constant, explains any log"
                      : "");
  else if (none)
    idm_notes_add(
        words,
        "at %zu of the %zu beliefs with decisions the margin is 0: another action is as good there "
        "under this utility, and a planner may take it; an --epsilon above 0 excludes that",
        none, d->demonstrator_graph.count);
  else
    idm_notes_add(
        words,
        "the log has decisions at %zu beliefs, and at each of them no other action is as good",
        d->demonstrator_graph.count);
}

static void note_result(const cutting_planes *d, const idm_face *face, idm_optimality *f)
{
  if (d->task->opt_target)
    idm_notes_add(
        &f->words,
        "the log has decisions at %zu beliefs, and at each of them no other action is better%s",
        d->demonstrator_graph.count,
        d->task->settings->epsilon > 0 ? ", but worse by --epsilon at least"
                                       : "; with --epsilon 0 another action may be as good");
  else if (by_state(d))
    note_margins(d, face->x, &f->words);
  else if (face->x[d->task->free_utility->count] <= 1e-9 * fmax(1, d->range))
    idm_notes_add(&f->words, "under this utility no policy is better than the demonstrator%s",
                  d->range <= 1e-9 ? ", nor is any worse: hold some entries" : "");
  else
    idm_notes_add(&f->words,
                  "under every utility of the box some policy is better than the demonstrator, by "
                  "%.6g at least",
                  face->x[d->task->free_utility->count]);
  idm_notes_add(&f->words, "the %s program is solved to a %s of %.1e",
                squared_norm(d) ? "quadratic" : "linear",
                squared_norm(d) ? "KKT residual" : "duality gap", face->attained);
  if (d->attained > closed)
    idm_notes_add(&f->words,
                  "the optimal value under this utility was not bounded closely enough: a policy "
                  "may exceed the margins by %.1e of the range of policy values",
                  d->attained);
  if (!(face->attained <= 1e-9)) idm_notes_add(&f->faults, "the program was not solved exactly");
}

idm_status idm_belief_margin_find(const idm_belief_margin *task, idm_face *face,
                                  idm_optimality *optimality, idm_error *opt_error)
{
  cutting_planes d = {.task = task, .width = task->free_utility->count + 1};
  double share = 0; /* share of discounted steps after approximate links */
  idm_status status = prepare(&d, opt_error);
  if (status == IDM_OK)
    status = idm_policy_graph_approximated(task->pomdp, &d.demonstrator_graph, &share, task->cancel,
                                           opt_error);
  if (status == IDM_OK) status = generate_cuts(&d, face, opt_error);
  if (status == IDM_INPUT && opt_error) explain_infeasible(share, opt_error);
  if (status == IDM_OK) {
    snprintf(optimality->certificate, sizeof optimality->certificate, "optimality gap");
    const bool unbounded_margin = by_state(&d) && !task->opt_target;
    optimality->objective = unbounded_margin ? 0 - face->objective : face->objective;
    optimality->attained = d.attained;
    optimality->closed = closed;
    note_result(&d, face, optimality);
    note_approximations(share, optimality);
  }
  clear(&d);
  return status;
}
