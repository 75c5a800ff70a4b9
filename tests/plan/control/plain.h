/* Direct implementation of bounded rational control, the reference for tests of the planner: one
 * belief at a time, in long double, without folding, slices or caches. */
#ifndef IDM_TESTS_PLAIN_CONTROL_H
#define IDM_TESTS_PLAIN_CONTROL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/control/control.h"
#include "support.h"

/* Largest number of states, actions, observations or models in these tests. */
enum { PLAIN_MOST = 8 };

/* T log sum_j w_j exp(x_j/T) and its weights, for every T including its limits. */
static inline double plain_soft(double t, size_t count, const double *w, const double *x, double *p)
{
  long double best = signbit(t) ? INFINITY : -INFINITY;
  long double mean = 0;
  for (size_t j = 0; j < count; j++) {
    if (!(w[j] > 0)) continue;
    best = signbit(t) ? fminl(best, x[j]) : fmaxl(best, x[j]);
    mean += (long double)w[j] * x[j];
  }
  long double excess = 0, total = 0;
  long double share[PLAIN_MOST];
  for (size_t j = 0; j < count; j++) {
    const long double y = (x[j] - best) / t;
    const long double same = (double)best == x[j] ? w[j] : 0; /* the limit T = 0 */
    share[j] = isinf(t) ? w[j] : t == 0 ? same : w[j] > 0 ? w[j] * expl(y) : 0;
    if (!(w[j] > 0)) share[j] = 0;
    if (w[j] > 0 && t != 0 && !isinf(t)) excess += w[j] * expm1l(y);
    total += share[j];
  }
  for (size_t j = 0; p && j < count; j++) p[j] = (double)(share[j] / total);
  if (isinf(t)) return (double)mean;
  return (double)(t == 0 ? best : best + t * log1pl(excess));
}

/* Log density of the Dirichlet prior of successor beliefs; 0 if there is none. */
static inline double plain_log_prior(const idm_problem *problem, const double *z)
{
  const idm_block *block = &problem->theta->block[IDM_BELIEF_PRIOR];
  const size_t k = problem->theta->sizes.states;
  const double r = problem->agent.resolution;
  double sum = 0, total = 0;
  for (size_t s = 0; s < block->size; s++) {
    const double y = (z[s] + 1 / (2 * r)) / (1 + (double)k / (2 * r));
    sum += (block->value[s] - 1) * log(y) - lgamma(block->value[s]);
    total += block->value[s];
  }
  return block->size ? sum + lgamma(total) : 0;
}

/* p(s', x) from belief z, by its definition; x is emitted by the state before or after the
 * transition. */
static inline double plain_joint(const idm_problem *problem, const double *tau, const double *omega,
                                 const double *z, size_t x, double *joint)
{
  const idm_sizes n = problem->theta->sizes;
  double p = 0;
  for (size_t t = 0; t < n.states; t++) {
    joint[t] = 0;
    for (size_t s = 0; s < n.states; s++) {
      const size_t emitter = problem->setting->emits_before ? s : t;
      joint[t] += z[s] * tau[s * n.states + t] * omega[emitter * n.observations + x];
    }
    p += joint[t];
  }
  return p;
}

/* The belief after x with the agent's powers, by its definition; returns p(x), which the powers do
 * not change. */
static inline double plain_after(const idm_problem *problem, const double *tau, const double *omega,
                                 const double *z, size_t x, double *after)
{
  const idm_sizes n = problem->theta->sizes;
  const bool before = problem->setting->emits_before;
  const long double a = idm_theta_scalar(problem->theta, IDM_PRIOR_WEIGHT);
  const long double b = idm_theta_scalar(problem->theta, IDM_EVIDENCE_WEIGHT);
  const double p = plain_joint(problem, tau, omega, z, x, after);
  long double weight[PLAIN_MOST], total = 0;
  for (size_t e = 0; e < n.states; e++) {
    long double prior = before ? z[e] : 0;
    for (size_t s = 0; s < n.states && !before; s++) prior += z[s] * tau[s * n.states + e];
    const long double seen = omega[e * n.observations + x];
    weight[e] = prior > 0 && seen > 0 ? powl(prior, a) * powl(seen, b) : 0;
    total += weight[e];
  }
  for (size_t t = 0; t < n.states && p > 0; t++) {
    long double sum = before ? 0 : weight[t];
    for (size_t s = 0; s < n.states && before; s++) sum += weight[s] * tau[s * n.states + t];
    after[t] = (double)(sum / total);
  }
  return p;
}

/* Returns whether two observations lead to the same belief from every belief. If the state before
 * the transition emits, beliefs on two states are tried. */
static inline bool plain_same(const idm_problem *problem, const double *tau, const double *emission,
                              size_t x, size_t y)
{
  const idm_sizes n = problem->theta->sizes;
  for (size_t s = 0; s < n.states; s++)
    for (size_t t = 0; t < n.states; t++) {
      if (problem->setting->emits_before) {
        double z[PLAIN_MOST] = {0}, first[PLAIN_MOST], second[PLAIN_MOST];
        z[s] += 0.375;
        z[t] += 0.625;
        const double p = plain_after(problem, tau, emission, z, x, first);
        const double q = plain_after(problem, tau, emission, z, y, second);
        for (size_t i = 0; i < n.states && p > 0 && q > 0; i++)
          if (fabs(first[i] - second[i]) > 1e-12) return false;
        continue;
      }
      const double power = idm_theta_scalar(problem->theta, IDM_EVIDENCE_WEIGHT);
      double a = emission[s * n.observations + x] * emission[t * n.observations + y];
      double b = emission[t * n.observations + x] * emission[s * n.observations + y];
      a = a > 0 ? pow(a, power) : 0;
      b = b > 0 ? pow(b, power) : 0;
      if (fabs(a - b) > 1e-13) return false;
    }
  return true;
}

/* The belief after an unperceived observation. */
static inline void plain_predict(const idm_problem *problem, const double *tau, const double *z,
                                 double *after)
{
  const size_t k = problem->theta->sizes.states;
  for (size_t t = 0; t < k; t++) {
    after[t] = 0;
    for (size_t s = 0; s < k; s++) after[t] += z[s] * tau[s * k + t];
  }
}

/* Returns whether x leads from every belief to the belief of an unperceived observation, by trying
 * beliefs on two states. */
static inline bool plain_idle(const idm_problem *problem, const double *tau, const double *emission,
                              size_t x)
{
  const size_t k = problem->theta->sizes.states;
  for (size_t s = 0; s < k; s++)
    for (size_t t = 0; t < k; t++) {
      double z[PLAIN_MOST] = {0}, first[PLAIN_MOST], second[PLAIN_MOST];
      z[s] += 0.375;
      z[t] += 0.625;
      if (!(plain_after(problem, tau, emission, z, x, first) > 0)) continue;
      plain_predict(problem, tau, z, second);
      for (size_t i = 0; i < k; i++)
        if (fabs(first[i] - second[i]) > 1e-12) return false;
    }
  return true;
}

/* The probability of perception a(z,u), from H(X|z,u) of the models mixed by their weights. */
static inline double plain_passes(const idm_problem *problem, const double *z, size_t u)
{
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  const double capacity = idm_theta_scalar(theta, IDM_SENSOR_CAPACITY);
  long double entropy = 0;
  if (problem->setting->fully_observed || isinf(capacity)) return 1;
  for (size_t x = 0; x < n.observations; x++) {
    long double p = 0;
    for (size_t m = 0; m < theta->models; m++) {
      const size_t at = m * n.actions + u;
      double joint[PLAIN_MOST];
      p += theta->block[IDM_MODEL_PRIOR].value[m] *
           plain_joint(problem, theta->block[IDM_TRANSITION].value + at * n.states * n.states,
                       theta->block[IDM_EMISSION].value + at * n.states * n.observations, z, x,
                       joint);
    }
    if (p > 0) entropy -= p * logl(p);
  }
  return capacity >= (double)entropy && capacity > 0 ? 1 : (double)(capacity / entropy);
}

/* The award for certainty at z. */
static inline double plain_award(const idm_theta *theta, const double *z)
{
  const double *certainty = idm_theta_values(theta, IDM_CERTAINTY, 0);
  const double above = certainty[0], award = certainty[1], width = certainty[2];
  double most = 0;
  for (size_t s = 0; s < theta->sizes.states; s++) most = fmax(most, z[s]);
  if (width > 0 && most > above - width / 2 && most < above + width / 2)
    return award * (most - (above - width / 2)) / width;
  return most > above + 1e-12 ? award : 0;
}

/* K(z, u, m) from successor values v on the lattice, which exclude the awards of their points;
 * `last`: the successor values are zero. */
static inline double plain_k_of(const idm_problem *problem, const idm_lattice *lattice,
                                const double *v, const double *z, size_t u, size_t m, bool last)
{
  const idm_sizes n = problem->theta->sizes;
  const size_t at = m * n.actions + u;
  const double *tau = problem->theta->block[IDM_TRANSITION].value + at * n.states * n.states;
  const double *omega = problem->theta->block[IDM_EMISSION].value + at * n.states * n.observations;
  const double passes = plain_passes(problem, z, u);
  double p[PLAIN_MOST + 1], posterior[PLAIN_MOST + 1][PLAIN_MOST];
  for (size_t x = 0; x < n.observations; x++) {
    p[x] = passes * plain_after(problem, tau, omega, z, x, posterior[x]);
  }
  p[n.observations] = 1 - passes; /* not perceived */
  plain_predict(problem, tau, z, posterior[n.observations]);
  double future = 0, surprise = 0;
  bool counted[PLAIN_MOST + 1] = {false};
  for (size_t x = 0; x <= n.observations; x++) {
    if (!(p[x] > 0)) continue;
    uint32_t vertex[PLAIN_MOST];
    double weight[PLAIN_MOST], scratch[2 * PLAIN_MOST];
    const size_t count = idm_lattice_locate(lattice, posterior[x], vertex, weight, scratch);
    for (size_t i = 0; i < count; i++) future += p[x] * weight[i] * v[vertex[i]];
    if (!lattice->corners && !last) future += p[x] * plain_award(problem->theta, posterior[x]);
    double together = counted[x] ? 0 : p[x];
    for (size_t y = x + 1; y <= n.observations; y++) {
      if (problem->agent.surprise != IDM_SURPRISE_BELIEF || counted[x] || counted[y]) continue;
      if (!(p[y] > 0)) continue;
      if (y == n.observations ? !plain_idle(problem, tau, omega, x)
                              : !plain_same(problem, tau, omega, x, y))
        continue;
      together += p[y];
      counted[y] = true;
    }
    if (together > 0)
      surprise -= together * (log(together) - plain_log_prior(problem, posterior[x]));
  }
  return idm_theta_scalar(problem->theta, IDM_DISCOUNT) * future +
         idm_theta_scalar(problem->theta, IDM_ETA) * surprise;
}

static inline double plain_k(const idm_problem *problem, const idm_lattice *lattice,
                             const double *v, const double *z, size_t u, size_t m)
{
  return plain_k_of(problem, lattice, v, z, u, m, false);
}

/* The result of one application of B* at a belief. */
typedef struct plain_result {
  double value;
  double q[PLAIN_MOST];
  double pi[PLAIN_MOST];
  double sigma[PLAIN_MOST * PLAIN_MOST]; /* [action][model] */
} plain_result;

/* max_i a_i.z over the pieces of an action, which follow the two fields; 0 if there are none. */
static inline double plain_pieces(const idm_theta *theta, size_t u, const double *z)
{
  const idm_block *block = &theta->block[IDM_BELIEF_UTILITY];
  const size_t actions = theta->sizes.actions, row = actions * theta->sizes.states;
  double best = block->size > 2 * actions ? -INFINITY : 0;
  for (size_t i = 2 * actions + u * theta->sizes.states; i < block->size; i += row) {
    double sum = 0;
    for (size_t s = 0; s < theta->sizes.states; s++) sum += block->value[i + s] * z[s];
    best = fmax(best, sum);
  }
  return best;
}

/* Rewards, K, Q, pi, sigma and V at z, from successor values v, for a variant of the utility.
 * Excludes the award at z, except at corners. */
static inline plain_result plain_step(const idm_problem *problem, const idm_lattice *lattice,
                                      size_t variant, const double *v, const double *z, bool last)
{
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  const double *utility = idm_theta_values(theta, IDM_UTILITY, variant);
  const double *weight = idm_theta_values(theta, IDM_BELIEF_UTILITY, 0);
  const double *prior = idm_theta_values(theta, IDM_MODEL_PRIOR, 0);
  plain_result out;
  double most = 0;
  for (size_t s = 0; s < n.states; s++) most = fmax(most, z[s]);
  for (size_t u = 0; u < n.actions; u++) {
    out.q[u] = weight[n.actions + u] * most + plain_pieces(theta, u, z);
    if (lattice->corners) out.q[u] += plain_award(theta, z);
    for (size_t s = 0; s < n.states; s++) out.q[u] += z[s] > 0 ? weight[u] * z[s] * log(z[s]) : 0;
    for (size_t s = 0; s < n.states; s++) out.q[u] += z[s] * utility[u * n.states + s];
    double k[PLAIN_MOST] = {0};
    for (size_t m = 0; m < theta->models && !problem->setting->terminal[u]; m++)
      k[m] = plain_k_of(problem, lattice, v, z, u, m, last);
    out.q[u] += plain_soft(idm_theta_scalar(theta, IDM_BETA), theta->models, prior, k,
                           out.sigma + u * theta->models);
    if (problem->setting->terminal[u])
      memcpy(out.sigma + u * theta->models, prior, theta->models * sizeof *prior);
  }
  out.value = plain_soft(idm_theta_scalar(theta, IDM_ALPHA), n.actions,
                         idm_theta_values(theta, IDM_ACTION_PRIOR, 0), out.q, out.pi);
  return out;
}

static inline plain_result plain_backup(const idm_problem *problem, const idm_lattice *lattice,
                                        size_t variant, const double *v, const double *z)
{
  return plain_step(problem, lattice, variant, v, z, false);
}

/* Returns a content of the planner `bounded-rational`, planned to a small tolerance. */
static inline control *plain_content(const idm_problem *problem)
{
  const idm_solver solver = {.method = IDM_METHOD_NEWTON, .tolerance = 1e-11, .limit = 200};
  idm_plan_report report;
  void *content;
  check(idm_control_create(problem->setting, problem->theta, &problem->agent, &content,
                           &support_error));
  check(idm_control_plan(content, problem->theta, &solver, &report, &support_error));
  assert_true(report.bound <= 1e-9);
  return content;
}

/* Makes every row of an action's transition under one model equal to that of state 0, so that it
 * resets the state. */
static inline void plain_forget(idm_problem *problem, size_t action, size_t model)
{
  const idm_sizes n = problem->theta->sizes;
  double *tau = problem->theta->block[IDM_TRANSITION].value +
                (model * n.actions + action) * n.states * n.states;
  for (size_t s = 1; s < n.states; s++) memcpy(tau + s * n.states, tau, n.states * sizeof *tau);
}

/* Makes the first two observations of an action proportional, under every model. */
static inline void plain_blur(idm_problem *problem, size_t action)
{
  const idm_sizes n = problem->theta->sizes;
  for (size_t m = 0; m < problem->theta->models && n.observations > 1; m++)
    for (size_t s = 0; s < n.states; s++) {
      double *row = problem->theta->block[IDM_EMISSION].value +
                    ((m * n.actions + action) * n.states + s) * n.observations;
      const double both = row[0] + row[1];
      row[0] = 0.25 * both;
      row[1] = 0.75 * both;
    }
}

#endif
