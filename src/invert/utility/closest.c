/* The nearest occupancy, by the interior-point method or for tv by a linear program, as a policy.
 */
#include "invert/utility/closest.h"

#include <math.h>

#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/flows.h"
#include "invert/utility/interior.h"

/* Occupancy below which a state counts as not come to, where nothing keeps every action. */
static const double nowhere = 1e-11;
/* What a gap may be after probabilities were made 0. */
static const double fine_gap = 1e-12;

/* --- tv ------------------------------------------------------------------------------------- */

/* Occupancies are small beside the tolerances of a linear program: there they count so many times.
 */
static const double unit = 1e5;
/* And less than this of them is rounding. */
static const double nothing = 1e-9;

/* 1/2 sum |p - q| = sum max(p - q, 0) + (sum q - sum p) / 2: columns q, then the maxima. */
static idm_status put_program(const idm_flows *f, idm_program *program, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  const size_t n = f->entries;
  for (size_t i = 0; i < n; i++) {
    idm_program_set_bounds(program, i, 0, INFINITY);
    idm_program_set_bounds(program, n + i, 0, INFINITY);
    idm_program_set_cost(program, i, 0.5);
    idm_program_set_cost(program, n + i, 1);
  }
  for (size_t r = 0; r < f->rows && status == IDM_OK; r++) {
    for (size_t i = 0; i < n && status == IDM_OK; i++)
      for (size_t k = f->begin[i]; k < f->begin[i + 1] && status == IDM_OK; k++)
        if (f->to[k] == r) status = idm_program_enter(program, i, f->by[k], opt_error);
    if (status == IDM_OK)
      status = idm_program_add(program, unit * f->source[r], unit * f->source[r], opt_error);
  }
  for (size_t i = 0; i < n && status == IDM_OK; i++) {
    if (!(f->p[i] > 0)) continue;
    status = idm_program_enter(program, i, 1, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, n + i, 1, opt_error);
    if (status == IDM_OK) status = idm_program_add(program, unit * f->p[i], INFINITY, opt_error);
  }
  return status;
}

static bool ask(void *context)
{
  return idm_halt_ask(context);
}

/* q, the prices y of the equations, and those of the maxima: the slopes that they take. */
static idm_status minimise_distance(const idm_flows *f, idm_halt *opt_halt, double *q, double *y,
                                    double *share, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_program_solution found = {0};
  idm_status status = idm_program_create(2 * f->entries, &program, opt_error);
  if (status == IDM_OK) status = put_program(f, program, opt_error);
  if (status == IDM_OK)
    status = idm_program_solve(program, opt_halt ? ask : NULL, opt_halt, &found, opt_error);
  if (status == IDM_OK) status = idm_halt_check(opt_halt, opt_error);
  if (status == IDM_OK && found.end != IDM_PROGRAM_SOLVED)
    status = idm_fail(opt_error, IDM_NUMERICAL, "the nearest occupancy could not be found");
  size_t row = f->rows;
  for (size_t i = 0; i < f->entries && status == IDM_OK; i++) {
    q[i] = found.x[i] > nothing ? found.x[i] / unit : 0;
    share[i] = f->p[i] > 0 ? fmin(fmax(found.dual[row++], 0), 1) : 0;
  }
  if (status == IDM_OK) memcpy(y, found.dual, f->rows * sizeof *y);
  idm_program_destroy(program);
  return status;
}

/* --- the policy ----------------------------------------------------------------------------- */

typedef struct search {
  const idm_mdp *world;
  const idm_flows *flows;
  const double *fallback;
  double *q;    /* [entry] */
  double *y;    /* [row] */
  double *work; /* [2 entries] */
} search;

/* The policy of q; opt_zero[entry] are to be 0. */
static void put_policy(const search *o, const bool *opt_zero, double *policy)
{
  const idm_flows *f = o->flows;
  const idm_sizes n = o->world->n;
  memcpy(policy, o->fallback, n.states * n.actions * sizeof *policy);
  for (size_t r = 0; r < f->rows; r++) {
    double *row = policy + f->place[r] * n.actions;
    double mass = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      if (!opt_zero || !opt_zero[i]) mass += o->q[i];
    if (!(mass > (f->entropy > 0 ? 0 : nowhere))) continue;
    memset(row, 0, n.actions * sizeof *row);
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      if (!opt_zero || !opt_zero[i]) row[f->action[i]] = o->q[i] / mass;
  }
}

/* The occupancy of a policy, and as entries. */
static idm_status follow_policy(const search *o, const double *policy, double *occupancy,
                                double *entries, idm_error *opt_error)
{
  const idm_flows *f = o->flows;
  const idm_status status = idm_mdp_occupancy(o->world, policy, occupancy, opt_error);
  for (size_t r = 0; r < f->rows && status == IDM_OK; r++)
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      entries[i] = occupancy[f->place[r] * o->world->n.actions + f->action[i]];
  return status;
}

/* Probabilities that only the method keeps above 0, by the price of being there, become 0, unless
 * that opens the gap. */
static idm_status tidy(const search *o, bool *zero, double *trial, idm_closest *found,
                       idm_error *opt_error)
{
  const idm_flows *f = o->flows;
  const size_t all = o->world->n.states * o->world->n.actions;
  double *policy = trial;
  double *occupancy = trial + all;
  double *entries = trial + 2 * all;
  idm_flows_prices(f, o->y, o->work);
  for (size_t i = 0; i < f->entries; i++)
    zero[i] = idm_flows_slope(f, i, o->q[i]) - o->work[i] > o->q[i];
  put_policy(o, zero, policy);
  const idm_status status = follow_policy(o, policy, occupancy, entries, opt_error);
  if (status != IDM_OK) return status;
  const double gap = idm_flows_gap(f, entries, o->y, NULL, o->work);
  if (!(gap <= fmax(found->gap, fine_gap))) return IDM_OK;
  found->gap = gap;
  found->objective = idm_flows_objective(f, entries);
  memcpy(found->policy, policy, all * sizeof *policy);
  memcpy(found->occupancy, occupancy, all * sizeof *occupancy);
  return IDM_OK;
}

static size_t count_zeros(const idm_mdp *world, const idm_closest *found)
{
  const idm_sizes n = world->n;
  size_t zeros = 0;
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += found->occupancy[s * n.actions + u];
    for (size_t u = 0; u < n.actions && mass > 0; u++)
      zeros += world->prior[u] > 0 && found->policy[s * n.actions + u] == 0;
  }
  return zeros;
}

static idm_status find(const search *o, idm_halt *opt_halt, bool *zero, double *trial,
                       idm_closest *found, idm_error *opt_error)
{
  const idm_flows *f = o->flows;
  const bool linear = f->divergence == IDM_DIVERGENCE_TV && !(f->entropy > 0);
  double *share = trial + f->entries;
  idm_status status = linear
                          ? minimise_distance(f, opt_halt, o->q, o->y, share, opt_error)
                          : idm_interior_minimise(f, opt_halt, o->q, o->y, &found->gap, opt_error);
  if (status != IDM_OK) return status;
  put_policy(o, NULL, found->policy);
  status = follow_policy(o, found->policy, found->occupancy, trial, opt_error);
  if (status != IDM_OK) return status;
  found->objective = idm_flows_objective(f, trial);
  if (linear) found->gap = idm_flows_gap(f, trial, o->y, share, o->work);
  /* Beside entropy and reverse-kl nothing is worth a probability of 0. */
  if (!linear && !(f->entropy > 0) && f->divergence != IDM_DIVERGENCE_REVERSE_KL)
    status = tidy(o, zero, trial, found, opt_error);
  found->zeros = count_zeros(o->world, found);
  return status;
}

/* --- memory --------------------------------------------------------------------------------- */

void idm_closest_destroy(idm_closest *closest)
{
  if (!closest) return;
  free(closest->policy);
  free(closest->occupancy);
  free(closest);
}

static idm_closest *allocate(size_t entries)
{
  idm_closest *found = idm_new(1, sizeof *found);
  if (!found) return NULL;
  found->policy = idm_new(entries, sizeof *found->policy);
  found->occupancy = idm_new(entries, sizeof *found->occupancy);
  if (found->policy && found->occupancy) return found;
  idm_closest_destroy(found);
  return NULL;
}

idm_status idm_closest_create(const idm_mdp *world, const idm_setting *setting,
                              const double *target, const double *fallback, const bool *opt_allowed,
                              idm_divergence divergence, double lambda, double entropy,
                              idm_halt *opt_halt, idm_closest **ret_closest, idm_error *opt_error)
{
  const size_t all = world->n.states * world->n.actions;
  idm_flows *flows = NULL;
  *ret_closest = NULL;
  idm_closest *found = allocate(all);
  bool *zero = idm_new(all, sizeof *zero);
  double *work = idm_new(6 * all + world->n.states, sizeof *work);
  idm_status status = found && zero && work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_flows_create(world, setting, target, opt_allowed, divergence, lambda, entropy,
                              &flows, opt_error);
  if (status == IDM_OK) {
    const search o = {world, flows, fallback, work, work + 6 * all, work + all};
    status = find(&o, opt_halt, zero, work + 3 * all, found, opt_error);
  }
  idm_flows_destroy(flows);
  free(zero);
  free(work);
  if (status == IDM_OK)
    *ret_closest = found;
  else
    idm_closest_destroy(found);
  return status;
}
