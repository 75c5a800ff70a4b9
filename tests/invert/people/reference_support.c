#include "invert/people/reference_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LEVELS = 81, SPREADS = 60, SDS = 50, VALUES = 141, UNITS = 41 };
/* The spacing of the log-likelihoods is small enough for linear interpolation. */
enum { points = 3001, nodes = 81, means = 121, sds = 160, cells = 400 };

void reference_tabulate(const idm_problem *problem, const idm_data *data, double low, double high,
                        reference_table *t)
{
  t->low = low;
  t->step = (high - low) / (points - 1);
  const size_t people = data->agent_name.count;
  idm_parameters *parameters;
  idm_theta *theta;
  idm_workspace *workspace;
  double *agents = idm_new(people, sizeof *agents);
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  support_scored scored = {0};
  check(idm_evidence_tree(problem, data, &scored.tree, &support_error));
  check(idm_scorer_create(data, scored.tree, &scored.scorer, &support_error));
  t->value = idm_new(people * points, sizeof *t->value);
  for (size_t k = 0; k < points; k++) {
    const double y = t->low + (double)k * t->step;
    idm_parameters_set(parameters, &y, theta);
    check(idm_plan(theta, NULL, workspace, NULL, &support_error));
    check(idm_scorer_run(scored.scorer, idm_workspace_behavior(workspace), &scored.score,
                         &support_error));
    idm_scorer_agents(scored.scorer, agents);
    for (size_t i = 0; i < people; i++) t->value[i * points + k] = agents[i];
  }
  support_close_score(&scored);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
  free(agents);
}

static double at(const reference_table *t, size_t person, double x)
{
  const double place = fmin(fmax((x - t->low) / t->step, 0), points - 1.000001);
  const size_t k = (size_t)place;
  const double *value = t->value + person * points + k;
  return value[0] + (place - (double)k) * (value[1] - value[0]);
}

/* Node j of a person's parameter in units of the population's sd: the trapezoidal rule, which is
 * exact to rounding for functions with normal tails. */
static double node(size_t j)
{
  return -8 + 16 * (double)j / (nodes - 1);
}

double reference_marginal(const reference_table *t, size_t person, double mean, double sd)
{
  double term[nodes];
  double most = -INFINITY;
  for (size_t j = 0; j < nodes; j++) {
    term[j] = at(t, person, mean + sd * node(j)) - 0.5 * node(j) * node(j);
    most = fmax(most, term[j]);
  }
  double sum = 0;
  for (size_t j = 0; j < nodes; j++) sum += exp(term[j] - most);
  return most + log(sum);
}

reference_law reference_law_of(double low, double high, size_t count)
{
  return (reference_law){.low = low,
                         .step = (high - low) / (double)(count - 1),
                         .count = count,
                         .mass = idm_new(count, sizeof(double))};
}

double reference_place(const reference_law *law, size_t i)
{
  return law->low + (double)i * law->step;
}

void reference_normalise(reference_law *law)
{
  double sum = 0;
  for (size_t i = 0; i < law->count; i++) sum += law->mass[i];
  for (size_t i = 0; i < law->count; i++) law->mass[i] /= sum;
}

/* Add the distribution of the first person's parameter given mean and sd to its grid. */
static void add_person(const reference_table *t, double mean, double sd, double weight,
                       reference_law *person)
{
  double term[nodes];
  double sum = 0;
  const double most = reference_marginal(t, 0, mean, sd);
  for (size_t j = 0; j < nodes; j++)
    sum += term[j] = exp(at(t, 0, mean + sd * node(j)) - 0.5 * node(j) * node(j) - most);
  for (size_t j = 0; j < nodes; j++) {
    const double place = (mean + sd * node(j) - person->low) / person->step;
    const double inside = fmin(fmax(place, 0), (double)person->count - 1.000001);
    const size_t k = (size_t)inside;
    person->mass[k] += weight * term[j] / sum * (1 - (inside - (double)k));
    person->mass[k + 1] += weight * term[j] / sum * (inside - (double)k);
  }
}

void reference_make(const idm_problem *problem, const idm_data *data, const idm_design *design,
                    reference *r)
{
  const double m0 = design->coefficient_mean[0][0], s0 = design->coefficient_sd[0][0];
  const double scale = design->sd_scale[0];
  reference_table t;
  reference_tabulate(problem, data, m0 - 6 * s0, m0 + 6 * s0, &t);
  r->mean = reference_law_of(m0 - 2.5 * s0, m0 + 2.5 * s0, means);
  const double half = scale * 4 / sds / 2; /* midpoints, since the density is positive at 0 */
  r->sd = reference_law_of(half, scale * 4 - half, sds);
  r->person = reference_law_of(m0 - 4 * s0, m0 + 4 * s0, cells);
  double *joint = idm_new(means * sds, sizeof *joint);
  double most = -INFINITY;
  for (size_t a = 0; a < means; a++)
    for (size_t b = 0; b < sds; b++) {
      const double mean = reference_place(&r->mean, a), sd = reference_place(&r->sd, b);
      double sum = -0.5 * pow((mean - m0) / s0, 2) - 0.5 * pow(sd / scale, 2);
      for (size_t i = 0; i < design->people; i++) sum += reference_marginal(&t, i, mean, sd);
      joint[a * sds + b] = sum;
      most = fmax(most, sum);
    }
  for (size_t a = 0; a < means; a++)
    for (size_t b = 0; b < sds; b++) {
      const double weight = exp(joint[a * sds + b] - most);
      r->mean.mass[a] += weight;
      r->sd.mass[b] += weight;
      if (weight > 1e-12)
        add_person(&t, reference_place(&r->mean, a), reference_place(&r->sd, b), weight,
                   &r->person);
    }
  reference_normalise(&r->mean);
  reference_normalise(&r->sd);
  reference_normalise(&r->person);
  free(joint);
  free(t.value);
}

void reference_free(reference *r)
{
  free(r->mean.mass);
  free(r->sd.mass);
  free(r->person.mass);
}

double reference_mean(const reference_law *law)
{
  double sum = 0;
  for (size_t i = 0; i < law->count; i++) sum += law->mass[i] * reference_place(law, i);
  return sum;
}

double reference_sd(const reference_law *law)
{
  const double mean = reference_mean(law);
  double sum = 0;
  for (size_t i = 0; i < law->count; i++)
    sum += law->mass[i] * pow(reference_place(law, i) - mean, 2);
  return sqrt(sum);
}

/* The mass of a point is uniform over half a step on either side. */
double reference_below(const reference_law *law, double x)
{
  double sum = 0;
  for (size_t i = 0; i < law->count; i++) {
    const double share = (x - reference_place(law, i)) / law->step + 0.5;
    sum += law->mass[i] * fmin(fmax(share, 0), 1);
  }
  return sum;
}

/* --- groups --------------------------------------------------------------------------------- */

/* Log-likelihood of a group at a value, by linear interpolation. */
static double group_at(const reference_groups *e, size_t sd, size_t group, double value)
{
  const double place = fmin(fmax((value - e->value.low) / e->value.step, 0), VALUES - 1.000001);
  const size_t k = (size_t)place;
  const double *v = e->log_group + (sd * REFERENCE_GROUPS + group) * VALUES + k;
  return v[0] + (place - (double)k) * (v[1] - v[0]);
}

static double unit(size_t j)
{
  return -6 + 12 * (double)j / (UNITS - 1);
}

/* The integral of a group's likelihood over its value, given level and spread. */
static double integrate(const reference_groups *e, size_t sd, size_t group, double level,
                        double spread)
{
  double sum = 0;
  for (size_t j = 0; j < UNITS; j++)
    sum += exp(group_at(e, sd, group, level + spread * unit(j)) - 0.5 * unit(j) * unit(j));
  return sum;
}

static void add_value(reference_groups *e, size_t sd, double level, double spread, double weight)
{
  const double sum = integrate(e, sd, 0, level, spread);
  for (size_t j = 0; j < UNITS; j++) {
    const double value = level + spread * unit(j);
    const double share = exp(group_at(e, sd, 0, value) - 0.5 * unit(j) * unit(j)) / sum;
    const double place = fmin(fmax((value - e->value.low) / e->value.step, 0), VALUES - 1.000001);
    const size_t k = (size_t)place;
    e->value.mass[k] += weight * share * (1 - (place - (double)k));
    e->value.mass[k + 1] += weight * share * (place - (double)k);
  }
}

static void tabulate_groups(const idm_problem *problem, const idm_data *data, double centre,
                            double width, reference_groups *e)
{
  reference_table t;
  double most[REFERENCE_GROUPS];
  reference_tabulate(problem, data, centre - 6 * width, centre + 6 * width, &t);
  for (size_t g = 0; g < REFERENCE_GROUPS; g++) most[g] = -INFINITY;
  for (size_t i = 0; i < SDS * REFERENCE_GROUPS * VALUES; i++) {
    const size_t g = i / VALUES % REFERENCE_GROUPS;
    for (size_t k = 0; k < data->agent_name.count; k++)
      if (k % REFERENCE_GROUPS == g)
        e->log_group[i] +=
            reference_marginal(&t, k, reference_place(&e->value, i % VALUES),
                               reference_place(&e->sd, i / (REFERENCE_GROUPS * VALUES)));
    most[g] = fmax(most[g], e->log_group[i]);
  }
  for (size_t i = 0; i < SDS * REFERENCE_GROUPS * VALUES; i++)
    e->log_group[i] -= most[i / VALUES % REFERENCE_GROUPS];
  free(t.value);
}

static void add_place(reference_groups *e, double centre, double width, size_t sd, size_t spread,
                      size_t level)
{
  const double m = reference_place(&e->level, level), tau = reference_place(&e->spread, spread);
  const double sigma = reference_place(&e->sd, sd);
  double weight = exp(-0.5 * pow((m - centre) / width, 2) - 2 * pow(tau / width, 2) -
                      2 * pow(sigma / width, 2));
  for (size_t g = 0; g < REFERENCE_GROUPS; g++) weight *= integrate(e, sd, g, m, tau);
  e->level.mass[level] += weight;
  e->spread.mass[spread] += weight;
  e->sd.mass[sd] += weight;
  add_value(e, sd, m, tau, weight);
}

void reference_groups_make(const idm_problem *problem, const idm_data *data, double centre,
                           double width, reference_groups *e)
{
  /* Midpoints, since the densities are positive at 0. */
  const double most = 2 * width;
  e->level = reference_law_of(centre - 3 * width, centre + 3 * width, LEVELS);
  e->spread = reference_law_of(most / SPREADS / 2, most - most / SPREADS / 2, SPREADS);
  e->sd = reference_law_of(most / SDS / 2, most - most / SDS / 2, SDS);
  e->value = reference_law_of(centre - 4 * width, centre + 4 * width, VALUES);
  e->log_group = idm_new(SDS * REFERENCE_GROUPS * VALUES, sizeof *e->log_group);
  tabulate_groups(problem, data, centre, width, e);
  for (size_t i = 0; i < (size_t)SDS * SPREADS * LEVELS; i++)
    add_place(e, centre, width, i / (SPREADS * LEVELS), i / LEVELS % SPREADS, i % LEVELS);
  reference_normalise(&e->level);
  reference_normalise(&e->spread);
  reference_normalise(&e->sd);
  reference_normalise(&e->value);
}

void reference_groups_free(reference_groups *e)
{
  free(e->level.mass);
  free(e->spread.mass);
  free(e->sd.mass);
  free(e->value.mass);
  free(e->log_group);
}
