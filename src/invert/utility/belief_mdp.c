/* POMDPs of agents that act on beliefs, and their belief MDPs on a lattice.
 *
 * Contents: pomdp · belief mdp */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/planner.h"
#include "invert/clone.h"
#include "invert/utility/belief_mdp.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* === pomdp ================================================================================== */

/* POMDP of one model, and its Bayes filter. */

/* Observations of lower probability are treated as impossible. */
static const double impossible = 1e-300;

/* --- what it cannot do ---------------------------------------------------------------------- */

static idm_status check_log(const idm_data *data, const char *caller, idm_error *opt_error)
{
  if (idm_data_is_multi_env(data))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs one environment, and the trajectories of the log are of several",
                    caller);
  for (size_t t = 0; t < data->trajectories; t++)
    if (data->start[t] >= 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' needs trajectories that begin at the problem's own `start`, and the "
                      "log gives start beliefs",
                      caller);
  for (size_t r = 0; r < data->rows; r++) {
    if (idm_data_missed(data, r)) continue;
    if (idm_data_available_count(data, data->available[r]) == data->sizes.actions) continue;
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "'%s' needs every action available at every step, and here some are not", caller);
    idm_data_locate(data, r, opt_error);
    return status;
  }
  return IDM_OK;
}

static idm_status check_agent(const idm_problem *problem, const char *caller, idm_error *opt_error)
{
  const idm_theta *theta = problem->theta;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (!planner->belief)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' uses the beliefs along a log, and the planner '%s' has none", caller,
                    planner->name);
  if (theta->block[IDM_UTILITY].variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' estimates one utility, and this one varies with columns of the log",
                    caller);
  if (problem->agent.discounting != IDM_EXPONENTIAL)
    return idm_fail(
        opt_error, IDM_INPUT,
        "'%s' needs an agent that discounts per step; expected discounting: exponential", caller);
  return IDM_OK;
}

static idm_status check_belief_utility(const idm_theta *theta, const char *caller,
                                       idm_error *opt_error)
{
  const idm_block *belief_utility = &theta->block[IDM_BELIEF_UTILITY];
  bool has_belief_utility = idm_theta_values(theta, IDM_CERTAINTY, 0)[1] != 0;
  for (size_t i = 0; i < belief_utility->size; i++)
    has_belief_utility = has_belief_utility || belief_utility->value[i] != 0;
  if (has_belief_utility)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' estimates a utility by state and action, and here beliefs have a utility "
                    "of their own (certainty, belief_utility)",
                    caller);
  return IDM_OK;
}

/* Checked after the clamps are applied; identical models count as one. */
static idm_status check_models(const idm_theta *theta, const char *caller, idm_error *opt_error)
{
  static const idm_block_id dynamics[] = {IDM_TRANSITION, IDM_EMISSION};
  for (size_t i = 0; i < 2; i++) {
    const idm_block *block = &theta->block[dynamics[i]];
    const size_t size = block->size / theta->models;
    for (size_t m = 1; m < theta->models; m++)
      if (memcmp(block->value, block->value + m * size, size * sizeof *block->value) != 0)
        return idm_fail(
            opt_error, IDM_INPUT,
            "'%s' needs an agent with one model of the environment, and this one has %zu; see the "
            "planner 'deterministic-optimal', whose model is the environment",
            caller, theta->models);
  }
  if (idm_theta_scalar(theta, IDM_PRIOR_WEIGHT) != 1 ||
      idm_theta_scalar(theta, IDM_EVIDENCE_WEIGHT) != 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs beliefs by Bayes' rule; expected prior_weight: 1 and "
                    "evidence_weight: 1",
                    caller);
  if (isfinite(idm_theta_scalar(theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(
        opt_error, IDM_INPUT,
        "'%s' needs an agent that perceives every observation; expected sensor_capacity: inf",
        caller);
  return IDM_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Stores the entries of all rows, or only counts them before allocation. */
static size_t put_rows(idm_pomdp *pomdp)
{
  const idm_sizes n = pomdp->n;
  const double *transition = idm_theta_values(pomdp->theta, IDM_TRANSITION, 0);
  const double *emission = idm_theta_values(pomdp->theta, IDM_EMISSION, 0);
  size_t at = 0;
  for (size_t row = 0; row < n.actions * n.states; row++) {
    const size_t u = row / n.states;
    pomdp->first[row] = at;
    for (size_t to = 0; to < n.states && !pomdp->setting->terminal[u]; to++) {
      const double moves = transition[row * n.states + to];
      const size_t emitter = pomdp->setting->emits_before ? row % n.states : to;
      const double *emission_row = emission + (u * n.states + emitter) * n.observations;
      for (size_t x = 0; x < n.observations && moves > 0; x++) {
        if (!(emission_row[x] > 0)) continue;
        if (pomdp->p) {
          pomdp->observation[at] = (uint32_t)x;
          pomdp->next[at] = (uint32_t)to;
          pomdp->p[at] = moves * emission_row[x];
        }
        at++;
      }
    }
  }
  pomdp->first[n.actions * n.states] = at;
  return at;
}

static idm_status create_rows(idm_pomdp *pomdp, idm_error *opt_error)
{
  pomdp->first = idm_new(idm_times(pomdp->n.actions, pomdp->n.states) + 1, sizeof *pomdp->first);
  if (!pomdp->first) return idm_fail_memory(opt_error);
  const size_t entries = put_rows(pomdp);
  pomdp->observation = idm_new(entries, sizeof *pomdp->observation);
  pomdp->next = idm_new(entries, sizeof *pomdp->next);
  pomdp->p = idm_new(entries, sizeof *pomdp->p);
  if (!pomdp->observation || !pomdp->next || !pomdp->p) return idm_fail_memory(opt_error);
  put_rows(pomdp);
  return IDM_OK;
}

idm_status idm_pomdp_create_any(const idm_problem *problem, const idm_data *data,
                                const char *caller, idm_pomdp **ret_pomdp, idm_error *opt_error)
{
  *ret_pomdp = NULL;
  idm_status status = check_agent(problem, caller, opt_error);
  if (status == IDM_OK) status = check_log(data, caller, opt_error);
  if (status != IDM_OK) return status;
  idm_pomdp *pomdp = idm_new(1, sizeof *pomdp);
  if (!pomdp) return idm_fail_memory(opt_error);
  pomdp->setting = problem->setting;
  pomdp->n = idm_setting_sizes(problem->setting);
  pomdp->discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  status = idm_theta_copy(problem->theta, &pomdp->theta, opt_error);
  if (status == IDM_OK)
    status = idm_clamp_apply(idm_agent_planner(&problem->agent), problem->setting, pomdp->theta,
                             opt_error);
  if (status == IDM_OK) status = check_models(pomdp->theta, caller, opt_error);
  if (status == IDM_OK) status = create_rows(pomdp, opt_error);
  if (status != IDM_OK) {
    idm_pomdp_destroy(pomdp);
    return status;
  }
  pomdp->start = problem->setting->start;
  pomdp->terminal = problem->setting->terminal;
  pomdp->prior = idm_theta_values(pomdp->theta, IDM_ACTION_PRIOR, 0);
  *ret_pomdp = pomdp;
  return IDM_OK;
}

idm_status idm_pomdp_create(const idm_problem *problem, const idm_data *data, const char *caller,
                            idm_pomdp **ret_pomdp, idm_error *opt_error)
{
  *ret_pomdp = NULL;
  idm_status status = check_agent(problem, caller, opt_error);
  if (status == IDM_OK) status = check_belief_utility(problem->theta, caller, opt_error);
  return status == IDM_OK ? idm_pomdp_create_any(problem, data, caller, ret_pomdp, opt_error)
                          : status;
}

void idm_pomdp_destroy(idm_pomdp *pomdp)
{
  if (!pomdp) return;
  idm_theta_destroy(pomdp->theta);
  free(pomdp->first);
  free(pomdp->observation);
  free(pomdp->next);
  free(pomdp->p);
  free(pomdp);
}

/* --- beliefs -------------------------------------------------------------------------------- */

double idm_pomdp_joint(const idm_pomdp *pomdp, const double *z, size_t action, size_t observation,
                       double *joint)
{
  const size_t states = pomdp->n.states;
  double total = 0;
  memset(joint, 0, states * sizeof *joint);
  for (size_t s = 0; s < states; s++) {
    const size_t row = action * states + s;
    if (!(z[s] > 0)) continue;
    for (size_t i = pomdp->first[row]; i < pomdp->first[row + 1]; i++)
      if (pomdp->observation[i] == observation) joint[pomdp->next[i]] += z[s] * pomdp->p[i];
  }
  for (size_t s = 0; s < states; s++) total += joint[s];
  return total;
}

double idm_pomdp_update(const idm_pomdp *pomdp, const double *z, size_t action, size_t observation,
                        double *next)
{
  const double p = idm_pomdp_joint(pomdp, z, action, observation, next);
  if (!(p > impossible)) return 0;
  for (size_t s = 0; s < pomdp->n.states; s++) next[s] /= p;
  return p;
}

/* --- logs ----------------------------------------------------------------------------------- */

/* State of a filter along a log. */
typedef struct log_filter {
  const idm_pomdp *pomdp;
  const idm_data *data;
  idm_pomdp_visit visit;
  void *context;
  double *z; /* [state]: the belief */
  double *next_belief;
  size_t truncated; /* trajectories used in part */
} log_filter;

static idm_status fail_impossible(const log_filter *f, size_t row, size_t x, idm_error *opt_error)
{
  const idm_status status = idm_fail(
      opt_error, IDM_INPUT,
      "'%s' is observed here, and it is impossible under the agent's model of the environment",
      f->pomdp->setting->observations.name[x]);
  idm_data_locate(f->data, row, opt_error);
  return status;
}

static idm_status filter_trajectory(log_filter *f, size_t trajectory, idm_error *opt_error)
{
  const idm_data *data = f->data;
  const size_t states = f->pomdp->n.states;
  const size_t end = data->first[trajectory + 1];
  memcpy(f->z, f->pomdp->start, states * sizeof *f->z);
  for (size_t row = data->first[trajectory]; row < end; row++) {
    if (data->action[row] == IDM_MISSING) {
      f->truncated++;
      return IDM_OK;
    }
    const size_t action = (size_t)data->action[row];
    const idm_status status =
        idm_data_missed(data, row) ? IDM_OK : f->visit(f->context, row, f->z, opt_error);
    if (status != IDM_OK) return status;
    if (f->pomdp->terminal[action]) return IDM_OK;
    if (data->observation[row] == IDM_MISSING) {
      f->truncated += row + 1 < end;
      return IDM_OK;
    }
    const size_t x = (size_t)data->observation[row];
    if (!(idm_pomdp_update(f->pomdp, f->z, action, x, f->next_belief) > 0))
      return fail_impossible(f, row, x, opt_error);
    memcpy(f->z, f->next_belief, states * sizeof *f->z);
  }
  return IDM_OK;
}

idm_status idm_pomdp_filter(const idm_pomdp *pomdp, const idm_data *data, idm_pomdp_visit visit,
                            void *context, idm_notes *opt_notes, idm_error *opt_error)
{
  double *z = idm_new(2 * pomdp->n.states, sizeof *z);
  if (!z) return idm_fail_memory(opt_error);
  log_filter f = {.pomdp = pomdp,
                  .data = data,
                  .visit = visit,
                  .context = context,
                  .z = z,
                  .next_belief = z + pomdp->n.states};
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
    status = filter_trajectory(&f, t, opt_error);
  if (status == IDM_OK && f.truncated)
    idm_notes_add(opt_notes,
                  "%zu %s used up to the first action or observation that is not recorded: later "
                  "beliefs are unknown",
                  f.truncated, f.truncated == 1 ? "trajectory is" : "trajectories are");
  free(z);
  return status;
}

/* === belief mdp ============================================================================= */

/* Belief MDP on a lattice. */

/* Largest number of lattice points, as for planners by default. */
static const size_t max_points = 20000;

int idm_belief_mdp_resolution(const idm_problem *problem, const idm_data *data)
{
  enum { decisions = 10 };
  const idm_sizes n = idm_setting_sizes(problem->setting);
  const int own = idm_lattice_resolution(problem);
  const int supported = idm_lattice_max_resolution(n.states, data->rows / (decisions * n.actions));
  const int most = supported < own ? supported : own;
  return most > IDM_BELIEF_COARSEST ? most : IDM_BELIEF_COARSEST;
}

void idm_belief_mdp_destroy(idm_belief_mdp *mdp)
{
  if (!mdp) return;
  idm_lattice_destroy(mdp->lattice);
  idm_mdp_destroy(mdp->mdp);
  free(mdp->start);
  free(mdp);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Scratch for the successors of a belief. */
typedef struct successor_scratch {
  const idm_pomdp *pomdp;
  const idm_lattice *lattice;
  double *next;     /* [state] */
  double *weight;   /* [state] */
  uint32_t *vertex; /* [state] */
  double *scratch;  /* [2][state] */
  double *mass;     /* [point]: of the current row; 0 between rows */
} successor_scratch;

static void close_successor_scratch(successor_scratch *a)
{
  free(a->next);
  free(a->weight);
  free(a->vertex);
  free(a->scratch);
  free(a->mass);
}

static bool open_successor_scratch(successor_scratch *a, const idm_pomdp *pomdp,
                                   const idm_lattice *lattice)
{
  const size_t states = pomdp->n.states;
  *a = (successor_scratch){.pomdp = pomdp,
                           .lattice = lattice,
                           .next = idm_new(states, sizeof *a->next),
                           .weight = idm_new(states, sizeof *a->weight),
                           .vertex = idm_new(states, sizeof *a->vertex),
                           .scratch = idm_new(2 * states, sizeof *a->scratch),
                           .mass = idm_new(lattice->points, sizeof *a->mass)};
  return a->next && a->weight && a->vertex && a->scratch && a->mass;
}

/* Stores the row of an action at a lattice point from entry `at` on; returns its end. Probabilities
 * of different observations that lead to the same point are added. */
static size_t put_row(successor_scratch *a, size_t point, size_t action, size_t at,
                      idm_sparse_rows *moves)
{
  const idm_pomdp *pomdp = a->pomdp;
  const double *z = a->lattice->belief + point * pomdp->n.states;
  const size_t first = at;
  for (size_t x = 0; x < pomdp->n.observations && !pomdp->terminal[action]; x++) {
    const double p = idm_pomdp_update(pomdp, z, action, x, a->next);
    if (!(p > 0)) continue;
    const size_t count = idm_lattice_locate(a->lattice, a->next, a->vertex, a->weight, a->scratch);
    for (size_t i = 0; i < count; i++) {
      double *mass = &a->mass[a->vertex[i]];
      if (*mass == 0) moves->next[at++] = a->vertex[i];
      *mass += p * a->weight[i];
    }
  }
  for (size_t i = first; i < at; i++) {
    moves->probability[i] = a->mass[moves->next[i]];
    a->mass[moves->next[i]] = 0;
  }
  return at;
}

static void belief_mdp_put_rows(successor_scratch *a, idm_sparse_rows *moves)
{
  const size_t points = a->lattice->points;
  size_t at = 0;
  for (size_t row = 0; row < a->pomdp->n.actions * points; row++) {
    moves->first[row] = at;
    at = put_row(a, row % points, row / points, at, moves);
  }
  moves->first[a->pomdp->n.actions * points] = at;
}

static void put_start(successor_scratch *a, double *start)
{
  const size_t count =
      idm_lattice_locate(a->lattice, a->pomdp->start, a->vertex, a->weight, a->scratch);
  for (size_t i = 0; i < count; i++) start[a->vertex[i]] = a->weight[i];
}

/* Upper bound on the number of entries of all rows. */
static size_t row_capacity(const idm_pomdp *pomdp, size_t points)
{
  const size_t row = pomdp->n.observations * pomdp->n.states;
  return idm_times(idm_times(pomdp->n.actions, points), row < points ? row : points);
}

static idm_status fill_belief_mdp(idm_belief_mdp *w, const idm_pomdp *pomdp, idm_error *opt_error)
{
  successor_scratch a;
  const size_t points = w->lattice->points;
  w->start = idm_new(points, sizeof *w->start);
  w->mdp = idm_new(1, sizeof *w->mdp);
  idm_status status = open_successor_scratch(&a, pomdp, w->lattice) && w->start && w->mdp
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    *w->mdp = (idm_mdp){.n = pomdp->n,
                        .discount = pomdp->discount,
                        .horizon = (size_t)pomdp->setting->horizon,
                        .start = w->start,
                        .prior = pomdp->prior};
    w->mdp->n.states = points;
    status = idm_sparse_rows_create(pomdp->n.actions * points, row_capacity(pomdp, points),
                                    &w->mdp->moves, opt_error);
  }
  if (status == IDM_OK) {
    put_start(&a, w->start);
    belief_mdp_put_rows(&a, w->mdp->moves);
  }
  close_successor_scratch(&a);
  return status;
}

idm_status idm_belief_mdp_create(const idm_pomdp *pomdp, int resolution, const char *caller,
                                 idm_belief_mdp **ret_mdp, idm_error *opt_error)
{
  *ret_mdp = NULL;
  const size_t points = idm_lattice_count(pomdp->n.states, resolution);
  if (points > max_points)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' counts decisions at the points of a lattice of beliefs, which with %zu "
                    "hidden states at resolution %d has more than %zu; use --inverse map or bayes",
                    caller, pomdp->n.states, resolution, max_points);
  idm_belief_mdp *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  idm_status status =
      idm_lattice_create(pomdp->n.states, resolution, false, &w->lattice, opt_error);
  if (status == IDM_OK) status = fill_belief_mdp(w, pomdp, opt_error);
  if (status == IDM_OK)
    *ret_mdp = w;
  else
    idm_belief_mdp_destroy(w);
  return status;
}

/* --- logs ----------------------------------------------------------------------------------- */

/* State while the rows of a log are located on the lattice. */
typedef struct row_locator {
  successor_scratch successor_scratch;
  idm_row_states *row_states;
  size_t next; /* rows before this one are located */
  size_t at;   /* entries so far */
} row_locator;

/* Rows without a located belief get empty ranges. */
static void skip_rows(row_locator *p, size_t row)
{
  while (p->next < row) p->row_states->first[++p->next] = p->at;
}

static idm_status locate_row(void *context, size_t row, const double *z, idm_error *opt_error)
{
  (void)opt_error;
  row_locator *p = context;
  skip_rows(p, row);
  memcpy(p->row_states->belief + row * p->successor_scratch.pomdp->n.states, z,
         p->successor_scratch.pomdp->n.states * sizeof *z);
  p->at += idm_lattice_locate(p->successor_scratch.lattice, z, p->row_states->state + p->at,
                              p->row_states->weight + p->at, p->successor_scratch.scratch);
  skip_rows(p, row + 1);
  return IDM_OK;
}

idm_status idm_belief_mdp_row_states(const idm_belief_mdp *mdp, const idm_pomdp *pomdp,
                                     const idm_data *data, idm_row_states **ret_row_states,
                                     idm_notes *opt_notes, idm_error *opt_error)
{
  *ret_row_states = NULL;
  row_locator p = {0};
  idm_status status = open_successor_scratch(&p.successor_scratch, pomdp, mdp->lattice)
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_row_states_create(data->rows, idm_times(data->rows, pomdp->n.states),
                                   &p.row_states, opt_error);
  if (status == IDM_OK) {
    p.row_states->belief =
        idm_new(idm_times(data->rows, pomdp->n.states), sizeof *p.row_states->belief);
    if (!p.row_states->belief) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status = idm_pomdp_filter(pomdp, data, locate_row, &p, opt_notes, opt_error);
  close_successor_scratch(&p.successor_scratch);
  if (status != IDM_OK) {
    idm_row_states_destroy(p.row_states);
    return status;
  }
  skip_rows(&p, data->rows);
  *ret_row_states = p.row_states;
  return IDM_OK;
}

void idm_belief_mdp_note(const idm_belief_mdp *mdp, int coarse_resolution, double share,
                         idm_optimality *optimality)
{
  static const double share_tolerance = 0.02;
  idm_notes_add(&optimality->words,
                "occupancies are over %zu beliefs of a lattice of resolution %d; at resolution %d "
                "the answer makes other choices in %.2g %% of decisions",
                mdp->lattice->points, mdp->lattice->resolution, coarse_resolution, 100 * share);
  if (!(share <= share_tolerance))
    idm_notes_add(&optimality->faults,
                  "the answer depends on the lattice of beliefs: at half the resolution it makes "
                  "other choices in %.2g %% of decisions; raise `resolution`, or give more data",
                  100 * share);
}
