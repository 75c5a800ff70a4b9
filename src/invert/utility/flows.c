/* Occupancies of policies: equations, divergences, the gap. */
#include "invert/utility/flows.h"

#include <math.h>

#include "base/memory.h"

/* --- which policies ------------------------------------------------------------------------- */

/* Take away actions that may lead to a state in which nothing is left, until there is none. With a
 * discount of 0 it does not matter where they lead. */
static void prune(const idm_mdp *world, bool *allowed)
{
  const idm_sizes n = world->n;
  const idm_moves *moves = world->moves;
  bool changed = world->discount > 0;
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

static idm_status check_start(const idm_mdp *world, const idm_setting *setting, const bool *allowed,
                              idm_error *opt_error)
{
  const idm_sizes n = world->n;
  for (size_t s = 0; s < n.states; s++) {
    bool open = false;
    for (size_t u = 0; u < n.actions; u++) open |= allowed[s * n.actions + u];
    if (!open && world->start[s] > 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "reverse-kl needs a policy that stays where the demonstrator was seen, and "
                      "from '%.80s' there is none; expected another --divergence",
                      setting->states.name[s]);
  }
  return IDM_OK;
}

/* row[state] = 1 where it can be come to from the start by actions that are allowed; with a
 * discount of 0 nothing that follows the start counts. */
static void reach(const idm_mdp *world, const bool *allowed, size_t *row)
{
  const idm_sizes n = world->n;
  const idm_moves *moves = world->moves;
  bool changed = world->discount > 0;
  for (size_t s = 0; s < n.states; s++) row[s] = world->start[s] > 0;
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
  static const double usual = 100;
  return settings->lambda > 0 ? settings->lambda : usual;
}

/* Divergence of an entry at q. Where actions end episodes occupancies differ in what they sum to: q
 * - p makes of kl and reverse-kl a divergence all the same, 0 where q = p and nowhere less;
 * elsewhere these add up to 0. */
double idm_flows_diverge(idm_divergence divergence, double lambda, double p, double q)
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
  return idm_flows_diverge(f->divergence, f->lambda, p, q);
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

/* An entry: it takes from its own row and gives to those that follow. row[state] is counted from
 * 1. */
static void add_entry(const idm_mdp *world, const size_t *row, size_t state, size_t action,
                      double p, idm_flows *f)
{
  const idm_moves *moves = world->moves;
  const size_t at = action * world->n.states + state;
  size_t k = f->begin[f->entries];
  f->action[f->entries] = action;
  f->p[f->entries] = p;
  f->to[k] = row[state] - 1;
  f->by[k++] = 1;
  for (size_t i = moves->first[at]; i < moves->first[at + 1]; i++) {
    if (!row[moves->next[i]]) continue; /* a discount of 0 brings nothing there */
    f->to[k] = row[moves->next[i]] - 1;
    f->by[k++] = -world->discount * moves->probability[i];
  }
  f->begin[++f->entries] = k;
}

static void put_equations(const idm_mdp *world, const bool *allowed, const double *target,
                          size_t *row, idm_flows *f)
{
  const idm_sizes n = world->n;
  for (size_t s = 0; s < n.states; s++) {
    if (!row[s]) continue;
    f->place[f->rows] = s;
    f->source[f->rows++] = (1 - world->discount) * world->start[s];
    row[s] = f->rows;
  }
  for (size_t s = 0; s < n.states; s++) {
    for (size_t u = 0; u < n.actions; u++) {
      const size_t e = s * n.actions + u;
      if (row[s] && allowed[e])
        add_entry(world, row, s, u, target[e], f);
      else if (target[e] > 0)
        f->beyond += diverge(f, target[e], 0);
    }
    if (row[s]) f->first[row[s]] = f->entries;
  }
}

static idm_status build(const idm_mdp *world, const idm_setting *setting, const double *target,
                        const bool *opt_allowed, bool *allowed, size_t *row, idm_flows *f,
                        idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t entries = n.states * n.actions;
  const bool within = f->divergence == IDM_DIVERGENCE_REVERSE_KL;
  for (size_t e = 0; e < entries; e++)
    allowed[e] = world->prior[e % n.actions] > 0 && (!within || target[e] > 0) &&
                 (!opt_allowed || opt_allowed[e]);
  if (within) prune(world, allowed);
  const idm_status status = within ? check_start(world, setting, allowed, opt_error) : IDM_OK;
  if (status != IDM_OK) return status;
  reach(world, allowed, row);
  if (!allocate(f, n.states, entries, entries + world->moves->first[entries]))
    return idm_fail_memory(opt_error);
  put_equations(world, allowed, target, row, f);
  if (isfinite(f->beyond)) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the demonstrator was seen where no policy comes from the start, so that this "
                  "divergence is infinite for all; expected --divergence js, tv or squared");
}

idm_status idm_flows_create(const idm_mdp *world, const idm_setting *setting, const double *target,
                            const bool *opt_allowed, idm_divergence divergence, double lambda,
                            double entropy, idm_flows **ret_flows, idm_error *opt_error)
{
  const size_t entries = world->n.states * world->n.actions;
  *ret_flows = NULL;
  idm_flows *f = idm_new(1, sizeof *f);
  bool *allowed = idm_new(entries, sizeof *allowed);
  size_t *row = idm_new(world->n.states, sizeof *row);
  idm_status status = f && allowed && row ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    *f = (idm_flows){.divergence = divergence, .lambda = lambda, .entropy = entropy};
    status = build(world, setting, target, opt_allowed, allowed, row, f, opt_error);
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
  double objective = f->beyond;
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

double idm_flows_diverge_slope(idm_divergence divergence, double lambda, double p, double q)
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

double idm_flows_slope(const idm_flows *f, size_t i, double q)
{
  return idm_flows_diverge_slope(f->divergence, f->lambda, f->p[i], q);
}

double idm_flows_bend(const idm_flows *f, size_t i, double q)
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

void idm_flows_left(const idm_flows *f, const double *q, double *left)
{
  for (size_t r = 0; r < f->rows; r++) left[r] = f->source[r];
  for (size_t i = 0; i < f->entries; i++)
    for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) left[f->to[k]] -= f->by[k] * q[i];
}

void idm_flows_prices(const idm_flows *f, const double *y, double *price)
{
  for (size_t i = 0; i < f->entries; i++) {
    price[i] = 0;
    for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) price[i] += f->by[k] * y[f->to[k]];
  }
}

double idm_flows_gap(const idm_flows *f, const double *q, const double *y, const double *opt_share,
                     double *work)
{
  double *price = work;
  double *log_policy = work + f->entries;
  double gap = 0;
  double least = 0;
  idm_flows_prices(f, y, price);
  if (f->entropy > 0) idm_flows_log_policy(f, q, log_policy);
  for (size_t i = 0; i < f->entries; i++) {
    double slope = opt_share ? 0.5 - opt_share[i] : idm_flows_slope(f, i, q[i]);
    if (f->entropy > 0) slope += f->entropy * log_policy[i];
    if (opt_share) gap += fmax(f->p[i] - q[i], 0) - opt_share[i] * (f->p[i] - q[i]);
    least = fmin(least, slope - price[i]);
    gap += (slope - price[i]) * q[i];
  }
  return gap - least;
}
