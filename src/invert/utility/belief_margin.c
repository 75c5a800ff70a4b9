/* Maximum margin on beliefs.
 *
 * A demonstrator on beliefs is a policy graph, whose values are linear in the utility, so that a
 * linear program over free numbers and margins is all there is; rows come as they are violated. A
 * rival is the search's own policy, kept as a graph and so exact. To ask whether any policy is
 * better than margins allow is one search, in a world that shows whether the plan was left yet
 * (leaving.c) and pays the margin for leaving. Demanding no more than that the demonstrator is best
 * at the start leaves margins too large: 8 in place of 3.03 where it never goes out.
 *
 * 1. rows   2. the program   3. plans of its own   4. rivals   5. rounds   6. words */
#include "invert/utility/belief_margin.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "infer/nearest.h"
#include "invert/utility/belief_nodes.h"
#include "invert/utility/bellman.h"
#include "invert/utility/leaving.h"
#include "invert/utility/penalty.h"
#include "invert/utility/rival.h"

static const char no_utility[] =
    "no utility within the box makes what the demonstrator does at its beliefs the best that can "
    "be done, with the entries that are held and the --epsilon asked for; free more of them, or "
    "widen --bound";
static const char none_near[] =
    "no utility makes what the demonstrator does at its beliefs the best that can be done, with "
    "the "
    "entries that are held and the --epsilon asked for; free more of them";
static const char no_end[] =
    "without an end to the box the margin grows for ever; expected a finite --bound";

/* Of the range of what a policy can be worth: what the certificate may leave open, and by how much
 * another policy must be better to be brought in. */
static const double closed = 1e-6, better = 2e-7;
/* And by how much a plan of the demonstrator's own must be. */
static const double violated = 1e-10;
/* Numbers of a table of values. */
static const double most_numbers = 5e7;

typedef struct duel {
  const idm_belief_margin *asked;
  idm_policy_graph demo;
  idm_leaving *leaving; /* of margins by state; NULL: of the return */
  size_t width;         /* free numbers and one for what is held */
  double *value;        /* [node][state][width]: see idm_policy_graph_values */
  double *lead;         /* [node][width]: what the demonstrator is worth at its own beliefs */
  size_t span;          /* width, and a number a margin */
  size_t cuts;          /* what is demanded so far */
  size_t capacity;
  double *row; /* [cut][span]: the demonstrator's worth less another's, and less which margins */
  double *utility; /* [entry]: at the numbers found last */
  double *worth;   /* [node][state]: values at them */
  double *joint;   /* [state]: scratch */
  double *next;    /* [state]: scratch */
  double *fresh;   /* [span]: a row that may come to be demanded */
  double *paid;    /* [entry of the leaver's world] */
  double *spent;   /* [entry]: scratch */
  idm_rival rival;
  double range; /* of what a policy can be worth */
  double attained;
  bool polished; /* of all optima one was chosen */
} duel;

/* --- 1. rows -------------------------------------------------------------------------------- */

static bool by_state(const duel *d)
{
  return d->asked->opt_aim || d->asked->settings->margin == IDM_MARGIN_STATE;
}

static bool by_squares(const duel *d)
{
  return d->asked->opt_aim && d->asked->settings->norm == IDM_NORM_2;
}

static double dot(const double *row, const double *x, size_t count)
{
  double sum = row[count];
  for (size_t k = 0; k < count; k++) sum += row[k] * x[k];
  return sum;
}

/* row += weight times what an entry of the utility is, by free numbers. */
static void add_entry(const duel *d, size_t entry, double weight, double *row)
{
  const idm_sought *sought = d->asked->sought;
  row[sought->count] += idm_sought_add(sought, entry, weight, row);
}

static bool known(const duel *d)
{
  for (size_t i = 0; i < d->cuts; i++) {
    double apart = 0;
    for (size_t k = 0; k < d->span; k++)
      apart = fmax(apart, fabs(d->row[i * d->span + k] - d->fresh[k]));
    if (apart <= 1e-13) return true;
  }
  return false;
}

/* Demand the fresh row, where it is not demanded yet. */
static idm_status demand(duel *d, bool *added, idm_error *opt_error)
{
  if (known(d)) return IDM_OK;
  if (d->cuts == d->capacity) {
    const size_t capacity = 2 * d->capacity + 64;
    const size_t bytes = idm_times(idm_times(capacity, d->span), sizeof *d->row);
    assert(bytes > 0); /* a row has numbers */
    double *rows = realloc(d->row, bytes);
    if (!rows) return idm_fail_memory(opt_error);
    d->row = rows;
    d->capacity = capacity;
  }
  memcpy(d->row + d->cuts++ * d->span, d->fresh, d->span * sizeof *d->fresh);
  *added = true;
  return IDM_OK;
}

/* --- 2. the program ------------------------------------------------------------------------- */

/* Columns: numbers, then a margin a belief or the one of the return, then what numbers are above
 * and below 0. */
static size_t margins(const duel *d)
{
  return by_state(d) ? d->demo.count : 1;
}

/* Worth of the demonstrator less another's >= margins, each as often as the row says. */
static idm_status add_row(const duel *d, size_t cut, idm_program *program, idm_error *opt_error)
{
  const size_t count = d->asked->sought->count;
  const double *row = d->row + cut * d->span;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < count && status == IDM_OK; k++)
    if (row[k] != 0) status = idm_program_enter(program, k, row[k], opt_error);
  for (size_t i = 0; i < margins(d) && status == IDM_OK; i++)
    if (row[d->width + i] != 0)
      status = idm_program_enter(program, count + i, row[d->width + i], opt_error);
  if (status == IDM_OK) status = idm_program_add(program, -row[count], INFINITY, opt_error);
  return status;
}

/* A belief where nothing else can be done has no margin. */
static bool has_margin(const duel *d, size_t node)
{
  const idm_mind *mind = d->asked->mind;
  for (size_t u = 0; u < mind->n.actions; u++)
    if (mind->prior[u] > 0 && u != (size_t)d->demo.action[node]) return true;
  return false;
}

static void bound_margins(const duel *d, idm_program *program)
{
  const size_t first = d->asked->sought->count;
  if (!by_state(d)) {
    idm_program_set_bounds(program, first, 0, INFINITY);
    idm_program_set_cost(program, first, 1);
  }
  for (size_t i = 0; i < d->demo.count && by_state(d); i++) {
    const bool any = has_margin(d, i);
    const double least = any ? d->asked->settings->epsilon : 0;
    const bool grows = any && !d->asked->opt_aim;
    idm_program_set_bounds(program, first + i, least, grows ? INFINITY : least);
    idm_program_set_cost(program, first + i, d->asked->opt_aim ? 0 : -1);
  }
}

/* Columns after the margins. */
static size_t extra(const duel *d)
{
  const idm_belief_margin *a = d->asked;
  const bool sums = a->opt_aim ? a->settings->norm == IDM_NORM_1 : a->settings->penalty > 0;
  if (sums) return 2 * a->sought->count;
  return a->opt_aim && a->settings->norm == IDM_NORM_INF;
}

/* The furthest of all numbers: furthest >= +-(x - aim). */
static idm_status add_furthest(const duel *d, size_t furthest, idm_program *program,
                               idm_error *opt_error)
{
  const size_t count = d->asked->sought->count;
  idm_status status = IDM_OK;
  idm_program_set_bounds(program, furthest, 0, INFINITY);
  idm_program_set_cost(program, furthest, 1);
  for (size_t i = 0; i < 2 * count && status == IDM_OK; i++) {
    const double sign = i % 2 ? 1 : -1;
    status = idm_program_enter(program, i / 2, sign, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, furthest, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add(program, sign * d->asked->opt_aim[i / 2], INFINITY, opt_error);
  }
  return status;
}

/* What numbers cost, in the columns from `above` on. */
static idm_status add_costs(const duel *d, const double *weight, size_t above, idm_program *program,
                            idm_error *opt_error)
{
  const idm_belief_margin *a = d->asked;
  const size_t columns = extra(d);
  if (columns == 1 && a->opt_aim) return add_furthest(d, above, program, opt_error);
  if (!columns) return IDM_OK;
  return idm_penalty_add(program, a->sought->count, above, a->opt_aim ? 1 : a->settings->penalty,
                         weight, a->opt_aim, opt_error);
}

static idm_status build(const duel *d, const double *weight, idm_program **ret_program,
                        idm_error *opt_error)
{
  const size_t count = d->asked->sought->count;
  const double bound = d->asked->opt_aim ? INFINITY : d->asked->settings->bound;
  const size_t above = count + margins(d);
  idm_program *program = NULL;
  idm_status status = idm_program_create(above + extra(d), &program, opt_error);
  *ret_program = program;
  if (status != IDM_OK) return status;
  for (size_t k = 0; k < count; k++) idm_program_set_bounds(program, k, -bound, bound);
  bound_margins(d, program);
  for (size_t i = 0; i < d->cuts && status == IDM_OK; i++)
    status = add_row(d, i, program, opt_error);
  return status == IDM_OK ? add_costs(d, weight, above, program, opt_error) : status;
}

/* What policies differ by in worth, at most: utilities between their least and their largest for
 * ever, and 0 where episodes can end. */
static double range_of(const duel *d)
{
  const idm_mind *mind = d->asked->mind;
  bool ends = false;
  for (size_t u = 0; u < mind->n.actions; u++) ends = ends || mind->setting->terminal[u];
  double least = ends ? 0 : INFINITY;
  double most = ends ? 0 : -INFINITY;
  for (size_t e = 0; e < mind->n.actions * mind->n.states; e++) {
    least = fmin(least, d->utility[e]);
    most = fmax(most, d->utility[e]);
  }
  return (most - least) / (1 - mind->discount);
}

static void take(const idm_program_solution *found, size_t columns, idm_face *face)
{
  memcpy(face->x, found->x, columns * sizeof *found->x);
  face->objective = found->objective;
  face->attained = fmax(found->gap, found->violation);
}

/* The nearest by squares, from a point that satisfies all demands. */
static idm_status come_near(const duel *d, const idm_program *program, idm_face *face,
                            idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  double *weight = idm_new(2 * columns, sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  idm_nearest near = {.weight = weight, .aim = weight + columns, .effort = 1e11};
  memcpy(weight, face->weight, face->count * sizeof *weight);
  memcpy(weight + columns, d->asked->opt_aim, face->count * sizeof *weight);
  idm_status status =
      idm_program_nearest(program, &near, face->x, idm_bellman_ask, d->asked->halt, opt_error);
  if (status == IDM_OK) status = idm_halt_check(d->asked->halt, opt_error);
  face->objective = near.distance;
  face->attained = near.residual;
  face->only = true;
  free(weight);
  return status;
}

static idm_status optimise(const duel *d, idm_program *program, idm_face *face,
                           idm_error *opt_error)
{
  const char *none = d->asked->opt_aim ? none_near : no_utility;
  idm_program_solution found;
  if (d->polished && !by_squares(d))
    return idm_face_choose(program, none, no_end, face, d->asked->halt, opt_error);
  const idm_status status =
      idm_face_solve(program, none, no_end, &found, d->asked->halt, opt_error);
  if (status == IDM_OK) take(&found, idm_program_columns(program), face);
  return status == IDM_OK && by_squares(d) ? come_near(d, program, face, opt_error) : status;
}

/* Numbers that satisfy all demands and are best among those. */
static idm_status solve(duel *d, idm_face *face, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_status status = build(d, face->weight, &program, opt_error);
  if (status == IDM_OK) {
    free(face->x);
    face->x = idm_new(idm_program_columns(program), sizeof *face->x);
    if (!face->x) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = optimise(d, program, face, opt_error);
  /* What rounding leaves of 0 is 0. */
  for (size_t k = 0; k < face->count && status == IDM_OK; k++)
    if (fabs(face->x[k]) <= 1e-11 * fmin(1, d->asked->settings->bound)) face->x[k] = 0;
  if (status == IDM_OK) {
    idm_sought_fill(d->asked->sought, face->x, d->utility);
    d->range = range_of(d);
  }
  idm_program_destroy(program);
  return status;
}

/* --- 3. plans of its own -------------------------------------------------------------------- */

/* Which plan follows an action and an observation, given p(s', x | z, u): the best at the values
 * found last; before there are any, that of the nearest belief. */
static size_t follow(const duel *d, const double *joint, double p, bool first)
{
  const size_t states = d->demo.n.states;
  if (first) {
    for (size_t s = 0; s < states; s++) d->next[s] = joint[s] / p;
    return idm_policy_graph_nearest(&d->demo, d->next);
  }
  size_t best = 0;
  double most = -INFINITY;
  for (size_t i = 0; i < d->demo.count; i++) {
    double sum = 0;
    for (size_t s = 0; s < states; s++) sum += joint[s] * d->worth[i * states + s];
    if (!(sum > most)) continue;
    most = sum;
    best = i;
  }
  return best;
}

/* The fresh row: V(z) - Q(z,u) at a node, less its margin. */
static void put_margin(const duel *d, size_t node, size_t u, bool first)
{
  const idm_mind *mind = d->asked->mind;
  const size_t states = mind->n.states;
  const double *z = d->demo.belief + node * states;
  double *joint = d->joint;
  double *row = d->fresh;
  memset(row, 0, d->span * sizeof *row);
  memcpy(row, d->lead + node * d->width, d->width * sizeof *row);
  row[d->width + node] = -1;
  for (size_t s = 0; s < states; s++) add_entry(d, u * states + s, -z[s], row);
  for (size_t x = 0; x < mind->n.observations; x++) {
    const double p = idm_mind_joint(mind, z, u, x, joint);
    if (!(p > 0)) continue;
    const double *plan = d->value + follow(d, joint, p, first) * states * d->width;
    for (size_t s = 0; s < states; s++)
      for (size_t k = 0; k < d->width && joint[s] > 0; k++)
        row[k] -= mind->discount * joint[s] * plan[s * d->width + k];
  }
}

/* What the fresh row leaves of itself at numbers and margins x. */
static double slack(const duel *d, const double *x)
{
  const size_t count = d->asked->sought->count;
  double sum = dot(d->fresh, x, count);
  for (size_t i = 0; i < margins(d); i++) sum += d->fresh[d->width + i] * x[count + i];
  return sum;
}

/* Demand every margin that the plans of its own deny. */
static idm_status look_at_own(duel *d, const double *opt_x, bool *added, idm_error *opt_error)
{
  const idm_mind *mind = d->asked->mind;
  const size_t count = d->asked->sought->count;
  idm_status status = IDM_OK;
  for (size_t at = 0; at < d->demo.count * mind->n.states && opt_x; at++)
    d->worth[at] = dot(d->value + at * d->width, opt_x, count);
  for (size_t i = 0; i < d->demo.count && status == IDM_OK; i++) {
    for (size_t u = 0; u < mind->n.actions && status == IDM_OK; u++) {
      if (u == (size_t)d->demo.action[i] || !(mind->prior[u] > 0)) continue;
      put_margin(d, i, u, !opt_x);
      if (!opt_x || slack(d, opt_x) < -violated * fmax(1, d->range))
        status = demand(d, added, opt_error);
    }
    if (status == IDM_OK) status = idm_halt_check(d->asked->halt, opt_error);
  }
  return status;
}

/* --- 4. rivals ------------------------------------------------------------------------------ */

/* The best policy under the utility found last: by state one that is paid the margin of a belief
 * where it first does something else there. */
static idm_status find_rival(duel *d, const double *x, double gap, size_t most,
                             idm_error *opt_error)
{
  const idm_belief_margin *a = d->asked;
  if (!by_state(d))
    return idm_rival_find(a->mind, d->utility, gap, most, &d->rival, a->halt, opt_error);
  idm_leaving_pay(d->leaving, &d->demo, d->utility, x + a->sought->count, d->paid);
  return idm_rival_find(&d->leaving->mind, d->paid, gap, most, &d->rival, a->halt, opt_error);
}

/* The fresh row: the demonstrator's worth at the start less the rival's, and less what that was
 * paid; or no more less than the margin of the return. */
static void put_rival(duel *d)
{
  double *row = d->fresh;
  memset(row, 0, d->span * sizeof *row);
  memcpy(row, d->lead, d->width * sizeof *row);
  const double *count = d->rival.count;
  row[d->width] = 1;
  if (by_state(d)) {
    idm_leaving_gather(d->leaving, &d->demo, count, d->spent, row + d->width);
    for (size_t i = 0; i < d->demo.count; i++) row[d->width + i] = 0 - row[d->width + i];
    count = d->spent;
  }
  for (size_t e = 0; e < d->asked->sought->entries; e++) add_entry(d, e, -count[e], row);
}

/* Look for a policy that is better than is allowed, and demand that it is not; else say how much
 * better one can be at most. */
static idm_status look_at_rivals(duel *d, const double *x, bool *added, idm_error *opt_error)
{
  static const struct {
    double gap; /* of the range */
    size_t most;
  } effort[] = {{1e-3, 300}, {1e-5, 1000}, {4e-7, 4000}};
  const size_t count = d->asked->sought->count;
  const double allowed = dot(d->lead, x, count) + (by_state(d) ? 0 : x[count]);
  idm_status status = IDM_OK;
  d->attained = 0;
  /* What rounding leaves of equal utilities tells no policies apart. */
  const double size = fmin(d->asked->settings->bound, 1) / (1 - d->asked->mind->discount);
  if (d->range <= 1e-9 * size) return IDM_OK;
  for (size_t i = 0; i < sizeof effort / sizeof effort[0] && status == IDM_OK; i++) {
    status = find_rival(d, x, effort[i].gap * d->range, effort[i].most, opt_error);
    if (status != IDM_OK) break;
    d->attained = fmax(0, d->rival.upper - allowed) / d->range;
    if (d->attained <= closed) break;
    if (d->rival.value - allowed <= better * d->range) continue;
    put_rival(d);
    status = demand(d, added, opt_error);
    break;
  }
  return status;
}

/* --- 5. rounds ------------------------------------------------------------------------------ */

/* What is demanded from the first: margins over the nearest plans, or that the demonstrator is no
 * better than itself. */
static idm_status begin(duel *d, idm_error *opt_error)
{
  bool added = false;
  if (by_state(d)) return look_at_own(d, NULL, &added, opt_error);
  memset(d->fresh, 0, d->span * sizeof *d->fresh);
  d->fresh[d->width] = 1;
  return demand(d, &added, opt_error);
}

/* Solve, and bring in whatever shows that more must be demanded, until nothing does. */
static idm_status play(duel *d, idm_face *face, idm_error *opt_error)
{
  enum { most_rounds = 500 };
  idm_status status = begin(d, opt_error);
  d->attained = INFINITY;
  for (int round = 0; round < most_rounds && status == IDM_OK; round++) {
    bool added = false;
    status = solve(d, face, opt_error);
    if (status == IDM_OK && by_state(d)) status = look_at_own(d, face->x, &added, opt_error);
    if (status == IDM_OK && !added) status = look_at_rivals(d, face->x, &added, opt_error);
    if (added) continue;
    if (d->polished) return status;
    d->polished = true;
  }
  return status;
}

static idm_status make_room(duel *d, idm_error *opt_error)
{
  const idm_belief_margin *a = d->asked;
  const size_t states = a->mind->n.states;
  const size_t pairs = d->demo.count * states;
  const size_t entries = a->sought->entries;
  const size_t paid = by_state(d) ? (d->demo.count + 1) * entries : entries;
  d->span = d->width + margins(d);
  d->value = idm_new(pairs * d->width, sizeof *d->value);
  d->lead = idm_new(d->demo.count * d->width, sizeof *d->lead);
  d->utility = idm_new(entries, sizeof *d->utility);
  d->worth = idm_new(pairs, sizeof *d->worth);
  d->joint = idm_new(states, sizeof *d->joint);
  d->next = idm_new(states, sizeof *d->next);
  d->fresh = idm_new(d->span, sizeof *d->fresh);
  d->paid = idm_new(paid, sizeof *d->paid);
  d->spent = idm_new(entries, sizeof *d->spent);
  d->rival.count = idm_new(paid, sizeof *d->rival.count);
  if (!d->value || !d->lead || !d->utility || !d->worth || !d->joint || !d->next || !d->fresh ||
      !d->paid || !d->spent || !d->rival.count)
    return idm_fail_memory(opt_error);
  return by_state(d) ? idm_leaving_create(a->mind, &d->demo, &d->leaving, opt_error) : IDM_OK;
}

static idm_status prepare(duel *d, idm_error *opt_error)
{
  const idm_belief_margin *a = d->asked;
  const idm_sizes n = a->mind->n;
  idm_status status =
      idm_belief_nodes_read(a->mind, a->data, a->who, &d->demo, a->opt_notes, opt_error);
  if (status != IDM_OK) return status;
  const size_t pairs = d->demo.count * n.states;
  if ((double)pairs * (double)d->width > most_numbers)
    return idm_fail(opt_error, IDM_INPUT,
                    "the log acts at %zu beliefs over %zu states: with %zu free entries of the "
                    "utility that is more than '%s' can hold; free fewer entries, or tie some",
                    d->demo.count, n.states, a->sought->count, a->who);
  status = make_room(d, opt_error);
  if (status != IDM_OK) return status;
  status = idm_policy_graph_values(a->mind, &d->demo, a->sought, d->value, a->halt, opt_error);
  for (size_t at = 0; at < pairs && status == IDM_OK; at++)
    for (size_t k = 0; k < d->width; k++)
      d->lead[at / n.states * d->width + k] += d->demo.belief[at] * d->value[at * d->width + k];
  return status;
}

static void clear(duel *d)
{
  idm_policy_graph_free(&d->demo);
  idm_leaving_destroy(d->leaving);
  free(d->value);
  free(d->lead);
  free(d->row);
  free(d->utility);
  free(d->worth);
  free(d->joint);
  free(d->next);
  free(d->fresh);
  free(d->paid);
  free(d->spent);
  free(d->rival.count);
}

/* --- 6. words ------------------------------------------------------------------------------- */

/* At beliefs without a decision in the log the demonstrator's plan is taken to be that of the
 * nearest belief with one, and is constrained to be optimal as well. With more than a small share
 * of them the answer is that of another problem. */
static void say_guesses(double share, idm_finding *f)
{
  static const double most = 0.01;
  if (share <= 1e-12) return;
  idm_notes_add(share > most ? &f->faults : &f->words,
                "%.3g %% of the demonstrator's discounted steps come after beliefs that the log "
                "never acts at; there the plan of the nearest belief at which it does is taken for "
                "its own, and made the best as well: other utilities may explain the log better. "
                "Expected longer trajectories, or more of them",
                100 * share);
}

/* Name the constraints that are not of the log, in a refusal. */
static void explain_refusal(double share, idm_error *error)
{
  idm_error own = *error;
  if (share <= 1e-12) return;
  (void)idm_fail(error, IDM_INPUT,
                 "%.300s; at beliefs that the log never acts at (%.3g %% of discounted steps) the "
                 "plan of the nearest belief was taken for the demonstrator's",
                 own.message, 100 * share);
}

static void say_margins(const duel *d, const double *x, idm_notes *words)
{
  const double *margin = x + d->asked->sought->count;
  size_t none = 0;
  for (size_t i = 0; i < d->demo.count; i++) none += margin[i] <= 1e-9 * fmax(1, d->range);
  if (none == d->demo.count)
    idm_notes_add(words,
                  "no utility of the box makes what the log shows better than everything else at "
                  "any belief: the margin is 0%s",
                  d->range <= 1e-9 * fmin(1, d->asked->settings->bound)
                      ? ", and this utility, the same everywhere, explains any log"
                      : "");
  else if (none)
    idm_notes_add(
        words,
        "at %zu of the %zu beliefs that the log acts at the margin is 0: there something "
        "else is as good under this utility, and a planner may do it; an --epsilon above 0 "
        "asks for more than that",
        none, d->demo.count);
  else
    idm_notes_add(words, "the log acts at %zu beliefs, and at each of them nothing else is as good",
                  d->demo.count);
}

static void say(const duel *d, const idm_face *face, idm_finding *f)
{
  if (d->asked->opt_aim)
    idm_notes_add(
        &f->words, "the log acts at %zu beliefs, and at each of them nothing else is better%s",
        d->demo.count,
        d->asked->settings->epsilon > 0 ? " than by --epsilon less"
                                        : "; with --epsilon 0 something else may be as good");
  else if (by_state(d))
    say_margins(d, face->x, &f->words);
  else if (face->x[d->asked->sought->count] <= 1e-9 * fmax(1, d->range))
    idm_notes_add(&f->words, "under this utility no policy is better than the demonstrator%s",
                  d->range <= 1e-9 ? ", nor is any worse: hold some entries" : "");
  else
    idm_notes_add(&f->words,
                  "under every utility of the box some policy is better than the demonstrator, by "
                  "%.6g at least",
                  face->x[d->asked->sought->count]);
  idm_notes_add(&f->words, "the %s program is solved to a %s of %.1e",
                by_squares(d) ? "quadratic" : "linear",
                by_squares(d) ? "KKT residual" : "duality gap", face->attained);
  if (d->attained > closed)
    idm_notes_add(&f->words,
                  "how good a policy can be under this utility was not found closely enough: one "
                  "may be better than is allowed for, by %.1e of the range of what policies are "
                  "worth",
                  d->attained);
  if (!(face->attained <= 1e-9)) idm_notes_add(&f->faults, "the program was not solved exactly");
}

idm_status idm_belief_margin_find(const idm_belief_margin *asked, idm_face *face,
                                  idm_finding *finding, idm_error *opt_error)
{
  duel d = {.asked = asked, .width = asked->sought->count + 1};
  double share = 0; /* of discounted steps that are guessed */
  idm_status status = prepare(&d, opt_error);
  if (status == IDM_OK)
    status = idm_policy_graph_guesses(asked->mind, &d.demo, &share, asked->halt, opt_error);
  if (status == IDM_OK) status = play(&d, face, opt_error);
  if (status == IDM_INPUT && opt_error) explain_refusal(share, opt_error);
  if (status == IDM_OK) {
    snprintf(finding->certificate, sizeof finding->certificate, "optimality gap");
    const bool grows = by_state(&d) && !asked->opt_aim;
    finding->objective = grows ? 0 - face->objective : face->objective;
    finding->attained = d.attained;
    finding->closed = closed;
    say(&d, face, finding);
    say_guesses(share, finding);
  }
  clear(&d);
  return status;
}
