/* Markov decision processes of demonstrators: transitions, values and occupancies of policies,
 * several models, and the flow constraints of occupancies.
 *
 * Contents: mdp · models · flows */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "invert/utility/mdp.h"
#include "setting/model.h"

/* === mdp ==================================================================================== */

/* Markov decision process of a demonstrator: transition rows, values and occupancies of policies.
 */

/* --- rows ----------------------------------------------------------------------------------- */

/* Source of the transition rows. */
typedef struct source {
  const idm_setting *setting;
  const double
      *transition; /* [action][state][next state], used if the setting has no sparse moves */
} source;

/* Appends the nonzero entries of one transition row. Transitions to terminal states are left out:
 * nothing follows them, as nothing follows a terminal action. */
static size_t put_row(const source *from, size_t row, idm_sparse_rows *moves, size_t at)
{
  const size_t states = from->setting->states.count;
  const idm_sparse_rows *given = from->setting->moves;
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

static size_t put_rows(const source *from, idm_sparse_rows *moves)
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
  idm_sparse_rows counting = {0};
  const size_t rows = mdp->n.actions * mdp->n.states;
  const size_t entries = put_rows(from, &counting);
  const idm_status status = idm_sparse_rows_create(rows, entries, &mdp->moves, opt_error);
  if (status == IDM_OK) mdp->moves->first[rows] = put_rows(from, mdp->moves);
  return status;
}

static idm_status check(const idm_problem *problem, const idm_setting *setting, const char *caller,
                        idm_error *opt_error)
{
  if (!setting->moves && !setting->transition)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs transition probabilities; expected `transition` in the problem",
                    caller);
  if (problem->theta->block[IDM_UTILITY].variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' estimates one utility, and this one varies with columns of the log",
                    caller);
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

idm_status idm_mdp_create(const idm_problem *problem, const idm_setting *setting,
                          const char *caller, idm_mdp **ret_mdp, idm_error *opt_error)
{
  *ret_mdp = NULL;
  if (!setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs states that are observed; expected observations: states", caller);
  return idm_mdp_underlying(problem, setting, caller, ret_mdp, opt_error);
}

idm_status idm_mdp_underlying(const idm_problem *problem, const idm_setting *setting,
                              const char *caller, idm_mdp **ret_mdp, idm_error *opt_error)
{
  *ret_mdp = NULL;
  const idm_status status = check(problem, setting, caller, opt_error);
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
  idm_sparse_rows_destroy(mdp->moves);
  free(mdp);
}

/* --- policies ------------------------------------------------------------------------------- */

double idm_mdp_next_value(const idm_mdp *mdp, size_t action, size_t state, const double *v)
{
  const idm_sparse_rows *moves = mdp->moves;
  const size_t row = action * mdp->n.states + state;
  double sum = 0;
  for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
    sum += moves->probability[i] * v[moves->next[i]];
  return mdp->discount * sum;
}

static const long max_sweeps = 20000000;

static idm_status fail_to_converge(idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the value of the demonstrator's policy does not converge: with a discount of 1 "
                  "its episodes must end");
}

idm_status idm_mdp_evaluate(const idm_mdp *mdp, const double *policy, const double *utility,
                            double *v, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  memset(v, 0, n.states * sizeof *v);
  /* Rounding can change the last place forever: once changes are that small, iterate only while
   * they decrease. */
  double last = INFINITY;
  for (long sweep = 0; sweep < max_sweeps; sweep++) {
    double change = 0;
    double size = 0;
    for (size_t s = 0; s < n.states; s++) {
      double next = 0;
      for (size_t u = 0; u < n.actions; u++) {
        const double p = policy[s * n.actions + u];
        if (p > 0) next += p * (utility[u * n.states + s] + idm_mdp_next_value(mdp, u, s, v));
      }
      change = fmax(change, fabs(next - v[s]));
      size = fmax(size, fabs(next));
      v[s] = next;
    }
    if (!isfinite(size)) break;
    if (change == 0 || (change <= 1e-13 * size && change >= last)) return IDM_OK;
    last = change;
  }
  return fail_to_converge(opt_error);
}

double idm_mdp_step_weight(const idm_mdp *mdp)
{
  if (!mdp->horizon) return 1 - mdp->discount;
  double sum = 0;
  double weight = 1;
  for (size_t t = 0; t < mdp->horizon; t++, weight *= mdp->discount) sum += weight;
  return 1 / sum;
}

/* next[state] = the start's weight plus the discounted inflow from `now`. With a horizon, one sweep
 * per step. */
static void propagate(const idm_mdp *mdp, const double *policy, const double *now, double *next)
{
  const idm_sizes n = mdp->n;
  const idm_sparse_rows *moves = mdp->moves;
  const double share = idm_mdp_step_weight(mdp);
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
  bool converged = false;
  const bool finite_horizon = mdp->horizon > 0;
  for (long sweep = 0; sweep < max_sweeps && !converged && (finite_horizon || mdp->discount < 1);
       sweep++) {
    double change = 0;
    propagate(mdp, policy, now, next);
    for (size_t s = 0; s < n.states; s++) change += fabs(next[s] - now[s]);
    memcpy(now, next, n.states * sizeof *now);
    converged = finite_horizon ? (size_t)sweep + 1 == mdp->horizon
                               : change == 0 || (change <= 1e-14 && change >= last);
    last = change;
  }
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++)
      occupancy[s * n.actions + u] = now[s] * policy[s * n.actions + u];
  free(now);
  return converged ? IDM_OK : fail_to_converge(opt_error);
}

/* === models ================================================================================= */

/* Models of the environment that an agent considers possible. */

/* --- rows ----------------------------------------------------------------------------------- */

/* Transition row of an entry under a model of theta, [state]; without matrices in theta the agent's
 * model is the environment. */
static void models_put_row(const idm_problem *problem, const idm_mdp *environment, size_t model,
                           size_t entry, double *row)
{
  const idm_sizes n = environment->n;
  const idm_sparse_rows *moves = environment->moves;
  const idm_block *block = &problem->theta->block[IDM_TRANSITION];
  memset(row, 0, n.states * sizeof *row);
  if (problem->setting->terminal[entry / n.states]) return;
  if (block->size)
    memcpy(row, block->value + (model * n.actions * n.states + entry) * n.states,
           n.states * sizeof *row);
  for (size_t i = moves->first[entry]; !block->size && i < moves->first[entry + 1]; i++)
    row[moves->next[i]] += moves->probability[i];
}

/* Copies an MDP with its own transition rows[entry][state]. */
static idm_status create_with_rows(const idm_mdp *template, const double *rows, idm_mdp **ret_mdp,
                                   idm_error *opt_error)
{
  const size_t states = template->n.states;
  const size_t count = template->n.actions * states;
  size_t entries = 0;
  for (size_t i = 0; i < count * states; i++) entries += rows[i] != 0;
  idm_mdp *mdp = idm_duplicate(template, 1, sizeof *mdp);
  if (!mdp) return idm_fail_memory(opt_error);
  mdp->moves = NULL;
  const idm_status status = idm_sparse_rows_create(count, entries, &mdp->moves, opt_error);
  if (status != IDM_OK) {
    idm_mdp_destroy(mdp);
    return status;
  }
  size_t at = 0;
  for (size_t entry = 0; entry < count; entry++) {
    mdp->moves->first[entry] = at;
    for (size_t s = 0; s < states; s++) {
      if (rows[entry * states + s] == 0) continue;
      mdp->moves->next[at] = (uint32_t)s;
      mdp->moves->probability[at++] = rows[entry * states + s];
    }
  }
  mdp->moves->first[count] = at;
  *ret_mdp = mdp;
  return IDM_OK;
}

/* --- models --------------------------------------------------------------------------------- */

void idm_models_destroy(idm_models *models)
{
  if (!models) return;
  for (size_t m = 0; models->mdp && m < models->count; m++) idm_mdp_destroy(models->mdp[m]);
  free(models->mdp);
  free(models->weight);
  free(models->differ);
  free(models->next);
  free(models);
}

/* Adds a model and marks the entries where it differs from the first one. */
static idm_status add_model(const idm_problem *problem, const idm_mdp *environment, size_t model,
                            double *rows, double *first, idm_models *models, idm_error *opt_error)
{
  const size_t states = environment->n.states;
  const size_t entries = environment->n.actions * states;
  for (size_t e = 0; e < entries; e++)
    models_put_row(problem, environment, model, e, rows + e * states);
  if (!models->count) memcpy(first, rows, entries * states * sizeof *rows);
  for (size_t i = 0; i < entries * states; i++)
    if (fabs(rows[i] - first[i]) > 1e-12) models->differ[i / states] = true;
  models->weight[models->count] = idm_theta_values(problem->theta, IDM_MODEL_PRIOR, 0)[model];
  const idm_status status =
      create_with_rows(environment, rows, &models->mdp[models->count], opt_error);
  models->count += status == IDM_OK;
  return status;
}

idm_status idm_models_create(const idm_problem *problem, const idm_mdp *mdp,
                             idm_models **ret_models, idm_error *opt_error)
{
  const size_t all = problem->theta->models;
  const size_t entries = mdp->n.actions * mdp->n.states;
  const double *prior = idm_theta_values(problem->theta, IDM_MODEL_PRIOR, 0);
  *ret_models = NULL;
  idm_models *models = idm_new(1, sizeof *models);
  double *rows = idm_new(idm_times(2, idm_times(entries, mdp->n.states)), sizeof *rows);
  if (models) {
    models->weight = idm_new(all, sizeof *models->weight);
    models->mdp = idm_new(all, sizeof(idm_mdp *));
    models->differ = idm_new(entries, sizeof *models->differ);
    models->next = idm_new(all, sizeof *models->next);
  }
  const bool made =
      models && rows && models->weight && models->mdp && models->differ && models->next;
  idm_status status = made ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t m = 0; m < all && status == IDM_OK; m++)
    if (prior[m] > 0)
      status = add_model(problem, mdp, m, rows, rows + entries * mdp->n.states, models, opt_error);
  for (size_t e = 0; e < entries && status == IDM_OK; e++) models->differing += models->differ[e];
  free(rows);
  if (status == IDM_OK)
    *ret_models = models;
  else
    idm_models_destroy(models);
  return status;
}

idm_status idm_models_mix(const idm_models *models, const double *sigma, idm_mdp **ret_mdp,
                          idm_error *opt_error)
{
  const idm_mdp *template = models->mdp[0];
  const size_t states = template->n.states;
  const size_t entries = template->n.actions * states;
  *ret_mdp = NULL;
  double *rows = idm_new(idm_times(entries, states), sizeof *rows);
  if (!rows) return idm_fail_memory(opt_error);
  for (size_t m = 0; m < models->count; m++) {
    const idm_sparse_rows *moves = models->mdp[m]->moves;
    for (size_t e = 0; e < entries; e++)
      for (size_t i = moves->first[e]; i < moves->first[e + 1]; i++)
        rows[e * states + moves->next[i]] += sigma[e * models->count + m] * moves->probability[i];
  }
  const idm_status status = create_with_rows(template, rows, ret_mdp, opt_error);
  free(rows);
  return status;
}

/* --- the worst of them ---------------------------------------------------------------------- */

/* Least mean of the successors' values over the mixtures within the risk level (CVaR);
 * opt_sigma[model] receives the mixture. */
static double worst_mixture(const idm_models *models, double level, size_t entry, const double *v,
                            double *opt_sigma)
{
  const size_t states = models->mdp[0]->n.states;
  for (size_t m = 0; m < models->count; m++)
    models->next[m] = idm_mdp_next_value(models->mdp[m], entry / states, entry % states, v);
  return idm_cvar(level, models->count, models->weight, models->next, opt_sigma);
}

void idm_models_action_values(const idm_models *models, double level, const double *utility,
                              const double *v, double *opt_q, double *opt_sigma)
{
  const idm_sizes n = models->mdp[0]->n;
  for (size_t e = 0; e < n.actions * n.states; e++) {
    const double next =
        worst_mixture(models, level, e, v, opt_sigma ? opt_sigma + e * models->count : NULL);
    if (opt_q) opt_q[e] = utility[e] + next;
  }
}

/* One Gauss-Seidel sweep over the states. */
static void sweep_once(const idm_models *models, double level, const double *policy,
                       const double *utility, double *v, double *change, double *size)
{
  const idm_sizes n = models->mdp[0]->n;
  *change = 0;
  *size = 0;
  for (size_t s = 0; s < n.states; s++) {
    double next = 0;
    for (size_t u = 0; u < n.actions; u++) {
      const double p = policy[s * n.actions + u];
      const size_t e = u * n.states + s;
      if (p > 0) next += p * (utility[e] + worst_mixture(models, level, e, v, NULL));
    }
    *change = fmax(*change, fabs(next - v[s]));
    *size = fmax(*size, fabs(next));
    v[s] = next;
  }
}

idm_status idm_models_evaluate(const idm_models *models, double level, const double *policy,
                               const double *utility, double *v, idm_error *opt_error)
{
  memset(v, 0, models->mdp[0]->n.states * sizeof *v);
  /* As idm_mdp_evaluate: once changes are of the order of rounding, iterate only while they
   * decrease. */
  double last = INFINITY;
  for (long sweep = 0; sweep < max_sweeps; sweep++) {
    double change;
    double size;
    sweep_once(models, level, policy, utility, v, &change, &size);
    if (!isfinite(size)) break;
    if (change == 0 || (change <= 1e-13 * size && change >= last)) return IDM_OK;
    last = change;
  }
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the value of the demonstrator's policy does not converge under its models");
}

/* === flows ================================================================================== */

/* Occupancies of policies: flow constraints, divergences and the optimality gap. */

/* --- which policies ------------------------------------------------------------------------- */

/* Removes actions that can lead to a state without allowed actions, until there is none. With a
 * discount of 0 successors are irrelevant. */
static void prune_actions(const idm_mdp *mdp, bool *allowed)
{
  const idm_sizes n = mdp->n;
  const idm_sparse_rows *moves = mdp->moves;
  bool changed = mdp->discount > 0;
  while (changed) {
    changed = false;
    for (size_t e = 0; e < n.states * n.actions; e++) {
      const size_t row = e % n.actions * n.states + e / n.actions;
      for (size_t i = moves->first[row]; allowed[e] && i < moves->first[row + 1]; i++) {
        bool open = false;
        for (size_t u = 0; u < n.actions; u++) open |= allowed[moves->next[i] * n.actions + u];
        if (open) continue;
        allowed[e] = false;
        changed = true;
      }
    }
  }
}

static idm_status check_start(const idm_mdp *mdp, const idm_setting *setting, const bool *allowed,
                              idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  for (size_t s = 0; s < n.states; s++) {
    bool open = false;
    for (size_t u = 0; u < n.actions; u++) open |= allowed[s * n.actions + u];
    if (!open && mdp->start[s] > 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "reverse-kl needs a policy that stays in states that the demonstrator "
                      "visited, and from '%.80s' there is none; expected another --divergence",
                      setting->states.name[s]);
  }
  return IDM_OK;
}

/* row[state] = 1 if the state is reachable from the start by allowed actions; with a discount of 0
 * only start states are. */
static void mark_reachable(const idm_mdp *mdp, const bool *allowed, size_t *row)
{
  const idm_sizes n = mdp->n;
  const idm_sparse_rows *moves = mdp->moves;
  bool changed = mdp->discount > 0;
  for (size_t s = 0; s < n.states; s++) row[s] = mdp->start[s] > 0;
  while (changed) {
    changed = false;
    for (size_t e = 0; e < n.states * n.actions; e++) {
      const size_t at = e % n.actions * n.states + e / n.actions;
      if (!row[e / n.actions] || !allowed[e]) continue;
      for (size_t i = moves->first[at]; i < moves->first[at + 1]; i++) {
        if (row[moves->next[i]]) continue;
        row[moves->next[i]] = 1;
        changed = true;
      }
    }
  }
}

/* --- equations ------------------------------------------------------------------------------ */

void idm_flows_destroy(idm_flows *flows)
{
  if (!flows) return;
  free(flows->place);
  free(flows->source);
  free(flows->first);
  free(flows->action);
  free(flows->p);
  free(flows->begin);
  free(flows->to);
  free(flows->by);
  free(flows);
}

double idm_flows_lambda(const idm_fit_settings *settings)
{
  static const double default_lambda = 100;
  return settings->lambda > 0 ? settings->lambda : default_lambda;
}

/* Divergence of one entry at q. If actions end episodes, occupancies can have different total
 * masses: the term q - p makes kl and reverse-kl nonnegative and 0 only at q = p; for equal masses
 * these terms sum to 0. */
double idm_flows_divergence(idm_divergence divergence, double lambda, double p, double q)
{
  switch (divergence) {
  case IDM_DIVERGENCE_KL:
    return (p > 0 ? p * log(p / q) : 0) + q - p;
  case IDM_DIVERGENCE_REVERSE_KL:
    return (q > 0 ? q * log(q / p) : 0) + p - q;
  case IDM_DIVERGENCE_JS:
    return 0.5 * ((p > 0 ? p * log(2 * p / (p + q)) : 0) + (q > 0 ? q * log(2 * q / (p + q)) : 0));
  case IDM_DIVERGENCE_TV:
    return 0.5 * fabs(p - q);
  case IDM_DIVERGENCE_CHI2:
    return p > 0 ? (p - q) * (p - q) / q : q;
  default:
    return 0.5 * lambda * (p - q) * (p - q);
  }
}

static double diverge(const idm_flows *f, double p, double q)
{
  return idm_flows_divergence(f->divergence, f->lambda, p, q);
}

static bool allocate(idm_flows *f, size_t states, size_t entries, size_t coefficients)
{
  f->place = idm_new(states, sizeof *f->place);
  f->source = idm_new(states, sizeof *f->source);
  f->first = idm_new(states + 1, sizeof *f->first);
  f->action = idm_new(entries, sizeof *f->action);
  f->p = idm_new(entries, sizeof *f->p);
  f->begin = idm_new(entries + 1, sizeof *f->begin);
  f->to = idm_new(coefficients, sizeof *f->to);
  f->by = idm_new(coefficients, sizeof *f->by);
  return f->place && f->source && f->first && f->action && f->p && f->begin && f->to && f->by;
}

/* Adds the coefficients of an entry: outflow from its own row and discounted inflow to its
 * successors. row[state] is the row's index plus 1, or 0 if unreachable. */
static void add_entry(const idm_mdp *mdp, const size_t *row, size_t state, size_t action, double p,
                      idm_flows *f)
{
  const idm_sparse_rows *moves = mdp->moves;
  const size_t at = action * mdp->n.states + state;
  size_t k = f->begin[f->entries];
  f->action[f->entries] = action;
  f->p[f->entries] = p;
  f->to[k] = row[state] - 1;
  f->by[k++] = 1;
  for (size_t i = moves->first[at]; i < moves->first[at + 1]; i++) {
    if (!row[moves->next[i]]) continue; /* with a discount of 0 successors need no row */
    f->to[k] = row[moves->next[i]] - 1;
    f->by[k++] = -mdp->discount * moves->probability[i];
  }
  f->begin[++f->entries] = k;
}

static void put_equations(const idm_mdp *mdp, const bool *allowed, const double *target,
                          size_t *row, idm_flows *f)
{
  const idm_sizes n = mdp->n;
  for (size_t s = 0; s < n.states; s++) {
    if (!row[s]) continue;
    f->place[f->rows] = s;
    f->source[f->rows++] = (1 - mdp->discount) * mdp->start[s];
    row[s] = f->rows;
  }
  for (size_t s = 0; s < n.states; s++) {
    for (size_t u = 0; u < n.actions; u++) {
      const size_t e = s * n.actions + u;
      if (row[s] && allowed[e])
        add_entry(mdp, row, s, u, target[e], f);
      else if (target[e] > 0)
        f->unreachable_cost += diverge(f, target[e], 0);
    }
    if (row[s]) f->first[row[s]] = f->entries;
  }
}

static idm_status build_program(const idm_mdp *mdp, const idm_setting *setting,
                                const double *target, const bool *opt_allowed, bool *allowed,
                                size_t *row, idm_flows *f, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const size_t entries = n.states * n.actions;
  const bool within = f->divergence == IDM_DIVERGENCE_REVERSE_KL;
  for (size_t e = 0; e < entries; e++)
    allowed[e] = mdp->prior[e % n.actions] > 0 && (!within || target[e] > 0) &&
                 (!opt_allowed || opt_allowed[e]);
  if (within) prune_actions(mdp, allowed);
  const idm_status status = within ? check_start(mdp, setting, allowed, opt_error) : IDM_OK;
  if (status != IDM_OK) return status;
  mark_reachable(mdp, allowed, row);
  if (!allocate(f, n.states, entries, entries + mdp->moves->first[entries]))
    return idm_fail_memory(opt_error);
  put_equations(mdp, allowed, target, row, f);
  if (isfinite(f->unreachable_cost)) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the demonstrator visited states that no policy reaches from the start, so that "
                  "this divergence is infinite for all; expected --divergence js, tv or squared");
}

idm_status idm_flows_create(const idm_mdp *mdp, const idm_setting *setting, const double *target,
                            const bool *opt_allowed, idm_divergence divergence, double lambda,
                            double entropy, idm_flows **ret_flows, idm_error *opt_error)
{
  const size_t entries = mdp->n.states * mdp->n.actions;
  *ret_flows = NULL;
  idm_flows *f = idm_new(1, sizeof *f);
  bool *allowed = idm_new(entries, sizeof *allowed);
  size_t *row = idm_new(mdp->n.states, sizeof *row);
  idm_status status = f && allowed && row ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    *f = (idm_flows){.divergence = divergence, .lambda = lambda, .entropy = entropy};
    status = build_program(mdp, setting, target, opt_allowed, allowed, row, f, opt_error);
  }
  free(allowed);
  free(row);
  if (status == IDM_OK)
    *ret_flows = f;
  else
    idm_flows_destroy(f);
  return status;
}

/* --- the objective -------------------------------------------------------------------------- */

void idm_flows_log_policy(const idm_flows *f, const double *q, double *log_policy)
{
  for (size_t r = 0; r < f->rows; r++) {
    double sum = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) sum += q[i];
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) log_policy[i] = log(q[i] / sum);
  }
}

double idm_flows_objective(const idm_flows *f, const double *q)
{
  double objective = f->unreachable_cost;
  for (size_t r = 0; r < f->rows; r++) {
    double sum = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) sum += q[i];
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
      objective += diverge(f, f->p[i], q[i]);
      if (f->entropy > 0 && q[i] > 0) objective += f->entropy * q[i] * log(q[i] / sum);
    }
  }
  return objective;
}

double idm_flows_derivative_q(idm_divergence divergence, double lambda, double p, double q)
{
  switch (divergence) {
  case IDM_DIVERGENCE_KL:
    return (p > 0 ? -p / q : 0) + 1;
  case IDM_DIVERGENCE_REVERSE_KL:
    return log(q / p);
  case IDM_DIVERGENCE_JS:
    return p > 0 ? 0.5 * log(2 * q / (p + q)) : 0.5 * log(2);
  case IDM_DIVERGENCE_CHI2:
    return p > 0 ? 1 - p / q * (p / q) : 1;
  default:
    return lambda * (q - p);
  }
}

double idm_flows_derivative_p(idm_divergence divergence, double lambda, double p, double q)
{
  switch (divergence) {
  case IDM_DIVERGENCE_KL:
    return log(p / q);
  case IDM_DIVERGENCE_REVERSE_KL:
    return 1 - q / p;
  case IDM_DIVERGENCE_JS:
    return 0.5 * log(2 * p / (p + q));
  case IDM_DIVERGENCE_CHI2:
    return 2 * (p - q) / q;
  default:
    return lambda * (p - q);
  }
}

double idm_flows_derivative(const idm_flows *f, size_t i, double q)
{
  return idm_flows_derivative_q(f->divergence, f->lambda, f->p[i], q);
}

double idm_flows_curvature(const idm_flows *f, size_t i, double q)
{
  const double p = f->p[i];
  switch (f->divergence) {
  case IDM_DIVERGENCE_KL:
    return p / q / q;
  case IDM_DIVERGENCE_REVERSE_KL:
    return 1 / q;
  case IDM_DIVERGENCE_JS:
    return 0.5 * p / (q * (p + q));
  case IDM_DIVERGENCE_CHI2:
    return 2 * (p / q) * (p / q) / q;
  default:
    return f->lambda;
  }
}

/* --- the gap -------------------------------------------------------------------------------- */

void idm_flows_residual(const idm_flows *f, const double *q, double *residual)
{
  for (size_t r = 0; r < f->rows; r++) residual[r] = f->source[r];
  for (size_t i = 0; i < f->entries; i++)
    for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) residual[f->to[k]] -= f->by[k] * q[i];
}

void idm_flows_dual_cost(const idm_flows *f, const double *y, double *dual_cost)
{
  for (size_t i = 0; i < f->entries; i++) {
    dual_cost[i] = 0;
    for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) dual_cost[i] += f->by[k] * y[f->to[k]];
  }
}

double idm_flows_gap(const idm_flows *f, const double *q, const double *y, const double *opt_share,
                     double *work)
{
  double *dual_cost = work;
  double *log_policy = work + f->entries;
  double gap = 0;
  double least = 0;
  idm_flows_dual_cost(f, y, dual_cost);
  if (f->entropy > 0) idm_flows_log_policy(f, q, log_policy);
  for (size_t i = 0; i < f->entries; i++) {
    double slope = opt_share ? 0.5 - opt_share[i] : idm_flows_derivative(f, i, q[i]);
    if (f->entropy > 0) slope += f->entropy * log_policy[i];
    if (opt_share) gap += fmax(f->p[i] - q[i], 0) - opt_share[i] * (f->p[i] - q[i]);
    least = fmin(least, slope - dual_cost[i]);
    gap += (slope - dual_cost[i]) * q[i];
  }
  return gap - least;
}
