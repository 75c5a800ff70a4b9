/* The Markov decision process of a demonstrator: rows, values and occupancies of policies. */
#include "invert/utility/mdp.h"

#include <math.h>

#include "base/memory.h"

/* --- rows ----------------------------------------------------------------------------------- */

/* Where rows come from. */
typedef struct source {
  const idm_setting *setting;
  const double *transition; /* [action][state][next state], where there are no moves */
} source;

/* Entries of a row of tau, sparse, after those that are there. Arrival at a terminal state is left
 * out: nothing follows it, as nothing follows a terminal action. */
static size_t put_row(const source *from, size_t row, idm_moves *moves, size_t at)
{
  const size_t states = from->setting->states.count;
  const idm_moves *given = from->setting->moves;
  if (given) {
    for (size_t i = given->first[row]; i < given->first[row + 1]; i++) {
      if (from->setting->terminal_state[given->next[i]]) continue;
      if (moves->next) {
        moves->next[at] = given->next[i];
        moves->probability[at] = given->probability[i];
      }
      at++;
    }
    return at;
  }
  for (size_t s = 0; s < states; s++) {
    const double p = from->transition[row * states + s];
    if (p == 0 || from->setting->terminal_state[s]) continue;
    if (moves->next) {
      moves->next[at] = (uint32_t)s;
      moves->probability[at] = p;
    }
    at++;
  }
  return at;
}

static size_t put_rows(const source *from, idm_moves *moves)
{
  const size_t states = from->setting->states.count;
  size_t at = 0;
  for (size_t row = 0; row < from->setting->actions.count * states; row++) {
    if (moves->first) moves->first[row] = at;
    if (!from->setting->terminal[row / states]) at = put_row(from, row, moves, at);
  }
  return at;
}

static idm_status copy_rows(const source *from, idm_mdp *mdp, idm_error *opt_error)
{
  idm_moves counting = {0};
  const size_t rows = mdp->n.actions * mdp->n.states;
  const size_t entries = put_rows(from, &counting);
  const idm_status status = idm_moves_create(rows, entries, &mdp->moves, opt_error);
  if (status == IDM_OK) mdp->moves->first[rows] = put_rows(from, mdp->moves);
  return status;
}

static idm_status check(const idm_problem *problem, const idm_setting *setting, const char *who,
                        idm_error *opt_error)
{
  if (!setting->moves && !setting->transition)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs to know where actions lead; expected `transition` in the problem",
                    who);
  if (problem->theta->block[IDM_UTILITY].variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' looks for one utility, and this one varies with columns of the log", who);
  return IDM_OK;
}

static idm_status create(const source *from, const idm_theta *theta, idm_mdp **ret_mdp,
                         idm_error *opt_error)
{
  idm_mdp *mdp = idm_new(1, sizeof *mdp);
  if (!mdp) return idm_fail_memory(opt_error);
  *mdp = (idm_mdp){.n = idm_setting_sizes(from->setting),
                   .discount = idm_theta_scalar(theta, IDM_DISCOUNT),
                   .horizon = (size_t)from->setting->horizon,
                   .start = from->setting->start,
                   .prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0)};
  const idm_status status = copy_rows(from, mdp, opt_error);
  if (status != IDM_OK) {
    idm_mdp_destroy(mdp);
    return status;
  }
  *ret_mdp = mdp;
  return IDM_OK;
}

idm_status idm_mdp_create(const idm_problem *problem, const idm_setting *setting, const char *who,
                          idm_mdp **ret_mdp, idm_error *opt_error)
{
  *ret_mdp = NULL;
  if (!setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs states that are observed; expected observations: states", who);
  return idm_mdp_underlying(problem, setting, who, ret_mdp, opt_error);
}

idm_status idm_mdp_underlying(const idm_problem *problem, const idm_setting *setting,
                              const char *who, idm_mdp **ret_mdp, idm_error *opt_error)
{
  *ret_mdp = NULL;
  const idm_status status = check(problem, setting, who, opt_error);
  if (status != IDM_OK) return status;
  const source from = {setting, setting->transition};
  return create(&from, problem->theta, ret_mdp, opt_error);
}

idm_status idm_mdp_create_believed(const idm_setting *setting, const idm_theta *theta,
                                   idm_mdp **ret_mdp, idm_error *opt_error)
{
  *ret_mdp = NULL;
  const source from = {setting, idm_theta_values(theta, IDM_TRANSITION, 0)};
  return create(&from, theta, ret_mdp, opt_error);
}

void idm_mdp_destroy(idm_mdp *mdp)
{
  if (!mdp) return;
  idm_moves_destroy(mdp->moves);
  free(mdp);
}

/* --- policies ------------------------------------------------------------------------------- */

double idm_mdp_next(const idm_mdp *mdp, size_t action, size_t state, const double *v)
{
  const idm_moves *moves = mdp->moves;
  const size_t row = action * mdp->n.states + state;
  double sum = 0;
  for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
    sum += moves->probability[i] * v[moves->next[i]];
  return mdp->discount * sum;
}

static const long most_sweeps = 20000000;

static idm_status fail_to_settle(idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the value of the demonstrator's policy does not settle: with a discount of 1 "
                  "its episodes must come to an end");
}

idm_status idm_mdp_evaluate(const idm_mdp *mdp, const double *policy, const double *utility,
                            double *v, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  memset(v, 0, n.states * sizeof *v);
  /* A step in the last place may go on for ever: once changes are that small, only falling ones are
   * worth another sweep. */
  double last = INFINITY;
  for (long sweep = 0; sweep < most_sweeps; sweep++) {
    double change = 0;
    double size = 0;
    for (size_t s = 0; s < n.states; s++) {
      double next = 0;
      for (size_t u = 0; u < n.actions; u++) {
        const double p = policy[s * n.actions + u];
        if (p > 0) next += p * (utility[u * n.states + s] + idm_mdp_next(mdp, u, s, v));
      }
      change = fmax(change, fabs(next - v[s]));
      size = fmax(size, fabs(next));
      v[s] = next;
    }
    if (!isfinite(size)) break;
    if (change == 0 || (change <= 1e-13 * size && change >= last)) return IDM_OK;
    last = change;
  }
  return fail_to_settle(opt_error);
}

double idm_mdp_share(const idm_mdp *mdp)
{
  if (!mdp->horizon) return 1 - mdp->discount;
  double sum = 0;
  double weight = 1;
  for (size_t t = 0; t < mdp->horizon; t++, weight *= mdp->discount) sum += weight;
  return 1 / sum;
}

/* next[state] = the share of the start, and what flows in from `now`. Steps of a horizon are so
 * many times of it. */
static void flow(const idm_mdp *mdp, const double *policy, const double *now, double *next)
{
  const idm_sizes n = mdp->n;
  const idm_moves *moves = mdp->moves;
  const double share = idm_mdp_share(mdp);
  for (size_t s = 0; s < n.states; s++) next[s] = share * mdp->start[s];
  for (size_t u = 0; u < n.actions; u++)
    for (size_t s = 0; s < n.states; s++) {
      const double mass = mdp->discount * now[s] * policy[s * n.actions + u];
      const size_t row = u * n.states + s;
      for (size_t i = moves->first[row]; mass > 0 && i < moves->first[row + 1]; i++)
        next[moves->next[i]] += mass * moves->probability[i];
    }
}

idm_status idm_mdp_occupancy(const idm_mdp *mdp, const double *policy, double *occupancy,
                             idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  double *now = idm_new(2 * n.states, sizeof *now);
  if (!now) return idm_fail_memory(opt_error);
  double *next = now + n.states;
  double last = INFINITY;
  bool settled = false;
  const bool ends = mdp->horizon > 0;
  for (long sweep = 0; sweep < most_sweeps && !settled && (ends || mdp->discount < 1); sweep++) {
    double change = 0;
    flow(mdp, policy, now, next);
    for (size_t s = 0; s < n.states; s++) change += fabs(next[s] - now[s]);
    memcpy(now, next, n.states * sizeof *now);
    settled = ends ? (size_t)sweep + 1 == mdp->horizon
                   : change == 0 || (change <= 1e-14 && change >= last);
    last = change;
  }
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++)
      occupancy[s * n.actions + u] = now[s] * policy[s * n.actions + u];
  free(now);
  return settled ? IDM_OK : fail_to_settle(opt_error);
}
