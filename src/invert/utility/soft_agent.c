/* What inverse planners of soft plans share. */
#include "invert/utility/soft_agent.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "base/null_space.h"
#include "idm/planner.h"
#include "plan/clamp.h"

/* --- the agent ------------------------------------------------------------------------------ */

static idm_status check(const idm_problem *problem, const idm_theta *theta, const char *who,
                        idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const double alpha = idm_theta_scalar(theta, IDM_ALPHA);
  if (!(alpha > 0 && isfinite(alpha)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts soft plans, and those of '%s' have alpha = %g; expected an alpha "
                    "above 0, as of 'maximum-entropy'",
                    who, planner->name, alpha);
  if (problem->agent.alpha_unit == IDM_ALPHA_RANGE)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' cannot count alpha in the range of a utility that it looks for; expected "
                    "alpha_unit: absolute",
                    who);
  if (idm_theta_scalar(theta, IDM_ETA) != 0 || theta->models > 1 ||
      problem->agent.discounting != IDM_EXPONENTIAL)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts plans of one model, by a discount, at eta = 0; those of this "
                    "agent are others",
                    who);
  return IDM_OK;
}

idm_status idm_soft_agent_create(const idm_problem *problem, const char *who,
                                 idm_soft_agent **ret_agent, idm_error *opt_error)
{
  idm_theta *theta = NULL;
  idm_soft_agent *agent = NULL;
  *ret_agent = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status =
        idm_clamp_apply(idm_agent_planner(&problem->agent), problem->setting, theta, opt_error);
  if (status == IDM_OK) status = check(problem, theta, who, opt_error);
  if (status == IDM_OK) {
    agent = idm_new(1, sizeof *agent);
    if (agent)
      agent->prior = idm_duplicate(idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
                                   theta->sizes.actions, sizeof *agent->prior);
    if (!agent || !agent->prior) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    agent->alpha = idm_theta_scalar(theta, IDM_ALPHA);
    *ret_agent = agent;
  } else {
    idm_soft_agent_destroy(agent);
  }
  idm_theta_destroy(theta);
  return status;
}

void idm_soft_agent_destroy(idm_soft_agent *agent)
{
  if (!agent) return;
  free(agent->prior);
  free(agent);
}

/* --- the demonstrator ----------------------------------------------------------------------- */

idm_status idm_soft_agent_demonstrated(const idm_demonstrator *demonstrator, const idm_mdp *world,
                                       const idm_data *data, const idm_setting *setting,
                                       bool empirical, double *occupancy, idm_notes *opt_notes,
                                       idm_error *opt_error)
{
  const idm_sizes n = world->n;
  double *by_state = occupancy + n.states * n.actions;
  const idm_status status = idm_demonstrator_occupancy(demonstrator, world, data, setting,
                                                       empirical, by_state, opt_notes, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++)
    for (size_t u = 0; u < n.actions; u++)
      occupancy[u * n.states + s] = by_state[s * n.actions + u];
  return status;
}

/* --- what is open --------------------------------------------------------------------------- */

/* States whose utilities are eliminated over a horizon, and numbers of rows that are. */
enum { most_states = 100, most_numbers = 2000000 };
static const double tolerance = 1e-10;

/* Over a horizon utilities d are told apart by nothing where d + discount P phi_{t+1} = phi_t with
 * phi_T = 0 for all steps: then d is a function f of the state, and so is P^k f whatever the
 * actions. Rows say so of f: P(.|s,u) P^k f - P(.|s,0) P^k f = 0, k up to the horizon or the number
 * of states, whichever is less; none where no later step counts. power[state][state] is P^k of the
 * first action. */
static size_t put_rows(const idm_mdp *world, size_t powers, double *power, double *next,
                       double *rows)
{
  const idm_sizes n = world->n;
  const idm_moves *moves = world->moves;
  size_t count = 0;
  for (size_t s = 0; s < n.states * n.states; s++) power[s] = s % (n.states + 1) == 0;
  for (size_t k = 0; k < powers; k++) {
    memset(next, 0, n.states * n.states * sizeof *next);
    for (size_t s = 0; s < n.states; s++)
      for (size_t u = 0; u < n.actions; u++) {
        double *row = u ? rows + count * n.states : next + s * n.states;
        const size_t at = u * n.states + s;
        for (size_t i = moves->first[at]; i < moves->first[at + 1]; i++)
          for (size_t j = 0; j < n.states; j++)
            row[j] += moves->probability[i] * power[moves->next[i] * n.states + j];
        for (size_t j = 0; j < n.states && u; j++) row[j] -= next[s * n.states + j];
        count += u > 0;
      }
    memcpy(power, next, n.states * n.states * sizeof *power);
  }
  return count;
}

/* Rows on the free numbers themselves: entries of a state are alike, and functions of the state
 * satisfy rows[count][state]. first[state] is its entry of the first action; held entries are 0. */
static size_t pull_rows(const idm_mdp *world, const idm_sought *sought, size_t count,
                        const double *rows, double *design)
{
  const size_t states = world->n.states;
  size_t made = 0;
  assert(states > 0);
  for (size_t e = states; e < sought->entries; e++, made++) {
    double *row = design + made * sought->count;
    (void)idm_sought_add(sought, e, 1, row);
    (void)idm_sought_add(sought, e % states, -1, row);
  }
  for (size_t i = 0; i < count; i++, made++)
    for (size_t s = 0; s < states; s++)
      (void)idm_sought_add(sought, s, rows[i * states + s], design + made * sought->count);
  return made;
}

static idm_status open_horizon(const idm_mdp *world, const idm_sought *sought, idm_finding *f,
                               idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t ahead = world->discount > 0 ? world->horizon - 1 : 0; /* steps that count */
  const size_t powers = ahead < n.states ? ahead : n.states;
  if (n.states > most_states) {
    idm_notes_add(&f->words,
                  "unchecked: with %zu states over a horizon, what no behaviour can tell of the "
                  "utility was not looked for",
                  n.states);
    return IDM_OK;
  }
  const size_t most = powers * n.states * (n.actions - 1);
  double *rows = idm_new(idm_times(most, n.states), sizeof *rows);
  double *power = idm_new(2 * n.states * n.states, sizeof *power);
  size_t *pivot = idm_new(n.states, sizeof *pivot);
  double *design = idm_new(idm_times(sought->entries + n.states, sought->count), sizeof *design);
  idm_status status = rows && power && pivot && design ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    const size_t count = put_rows(world, powers, power, power + n.states * n.states, rows);
    const size_t rank = idm_row_reduce(count, n.states, rows, tolerance, pivot);
    status = idm_open_design(pull_rows(world, sought, rank, rows, design), design, f, opt_error);
  }
  free(rows);
  free(power);
  free(pivot);
  free(design);
  return status;
}

static size_t count_unvisited(const idm_demonstrator *seen)
{
  size_t unvisited = 0;
  for (size_t s = 0; s < seen->n.states; s++) unvisited += seen->visits[s] > 0 ? 0 : 1;
  return unvisited;
}

/* What a unit of number k makes an action better than the policy, with so many steps left,
 * into column k of rows, one an action and visited state. v[state]: what it adds to values with a
 * step less left, then with so many; `later` is scratch. Returns how many rows there are. */
static size_t put_step(const idm_mdp *world, const idm_demonstrator *seen, const idm_sought *sought,
                       size_t k, double *v, double *later, double *rows)
{
  const idm_sizes n = world->n;
  size_t count = 0;
  memcpy(later, v, n.states * sizeof *later);
  for (size_t s = 0; s < n.states; s++) {
    v[s] = 0;
    for (size_t u = 0; u < n.actions; u++)
      v[s] +=
          seen->policy[s * n.actions + u] *
          (idm_sought_coefficient(sought, u * n.states + s, k) + idm_mdp_next(world, u, s, later));
    for (size_t u = 0; u < n.actions && seen->visits[s] > 0; u++)
      rows[count++ * sought->count + k] = idm_sought_coefficient(sought, u * n.states + s, k) +
                                          idm_mdp_next(world, u, s, later) - v[s];
  }
  return count;
}

/* Over a horizon where some states were never visited: what makes no action of a visited state
 * better, with any number of steps left. What a step more adds to values is a power of the policy's
 * transitions of what the first does, so that no more than one step a state and one tell anything.
 */
static idm_status open_visited(const idm_mdp *world, const idm_demonstrator *seen,
                               const idm_sought *sought, idm_finding *f, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t steps = world->horizon < n.states + 1 ? world->horizon : n.states + 1;
  const size_t most = steps * n.states * n.actions;
  if (idm_times(most, sought->count) > most_numbers) {
    idm_notes_add(&f->words,
                  "unchecked: with %zu states over a horizon, what the data leave open was not "
                  "looked for",
                  n.states);
    return IDM_OK;
  }
  double *rows = idm_new(idm_times(most, sought->count), sizeof *rows);
  double *v = idm_new(2 * n.states, sizeof *v);
  size_t count = 0;
  idm_status status = rows && v ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < sought->count && status == IDM_OK; k++) {
    memset(v, 0, n.states * sizeof *v);
    count = 0;
    for (size_t t = 0; t < steps; t++)
      count += put_step(world, seen, sought, k, v, v + n.states, rows + count * sought->count);
  }
  if (status == IDM_OK) status = idm_open_design(count, rows, f, opt_error);
  if (status == IDM_OK) idm_open_say_unvisited(count_unvisited(seen), n.states, f);
  free(rows);
  free(v);
  return status;
}

idm_status idm_soft_agent_open(const idm_mdp *world, const idm_demonstrator *opt_seen,
                               const idm_sought *sought, idm_finding *finding, idm_error *opt_error)
{
  if (!world->horizon) return idm_open_shaping(world, opt_seen, sought, finding, opt_error);
  return opt_seen && count_unvisited(opt_seen)
             ? open_visited(world, opt_seen, sought, finding, opt_error)
             : open_horizon(world, sought, finding, opt_error);
}
