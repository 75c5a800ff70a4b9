/* Logs with groups, and tabulated likelihoods, for tests of audits. */
#include "invert/audit/audit_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/log.h"

static const double first_point = -5;
static const double step = 8.0 / (AUDIT_GRID - 1);

idm_problem *audit_problem(double sd)
{
  idm_problem *problem = support_diag(0.5, 2, 0);
  char free_blocks[80];
  problem->agent.resolution = 40;
  snprintf(free_blocks, sizeof free_blocks, "{alpha: {scale: log, prior: {normal: [0, %g]}}}", sd);
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return problem;
}

/* Append the rows of one group at byte `used` of the text; returns the new number of bytes. */
static size_t write_group(double alpha, const char *site, size_t cases, uint64_t seed, char *text,
                          size_t used, size_t size)
{
  static const char *const sex[] = {"f", "m"};
  idm_problem *own = support_diag(alpha, 2, 0);
  own->agent.resolution = 40;
  idm_data *data =
      support_simulate(own, (idm_simulation){.trajectories = cases, .steps = 12, .seed = seed});
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const int32_t seen = data->observation[row];
      used += (size_t)snprintf(text + used, size - used, "%s%zu,%s%zu,%s,%s,%s,%s,%zu\n", site, t,
                               site, t, own->setting->actions.name[data->action[row]],
                               seen < 0 ? "" : own->setting->observations.name[seen], site,
                               t % 10 == 9 ? "" : sex[(t / 2) % 2], row - data->first[t]);
    }
  idm_data_destroy(data);
  idm_problem_destroy(own);
  return used;
}

idm_data *audit_data(const idm_problem *problem, const double *alpha, size_t groups, size_t cases)
{
  static const char *const site[] = {"a", "b", "c", "d"};
  const idm_csv_options options = {.keep = (const char *const[]){"site", "sex", "visit"},
                                   .keep_count = 3};
  const size_t size = 64 + groups * cases * 12 * 60;
  char *text = malloc(size);
  assert_non_null(text);
  size_t used =
      (size_t)snprintf(text, size, "agent,trajectory,action,observation,site,sex,visit\n");
  for (size_t g = 0; g < groups; g++)
    used = write_group(alpha[g], site[g], cases, 10 + g, text, used, size);
  assert_true(used < size);
  idm_data *data;
  check(idm_data_parse_csv(text, used, "log.csv", problem, &options, &data, NULL, &support_error));
  free(text);
  return data;
}

idm_audit_settings audit_settings(void)
{
  idm_audit_settings settings;
  idm_audit_settings_default(&settings);
  settings.fit.chains = 4;
  settings.fit.draws = 600;
  settings.fit.warmup = 100;
  settings.fit.threads = 2;
  return settings;
}

static idm_data *take_part(const idm_data *data, const bool *member)
{
  uint32_t *trajectory = calloc(data->trajectories, sizeof *trajectory);
  size_t count = 0;
  idm_data *part;
  assert_non_null(trajectory);
  for (size_t t = 0; t < data->trajectories; t++)
    if (member[t]) trajectory[count++] = (uint32_t)t;
  check(idm_data_subset(data, trajectory, count, &part, &support_error));
  free(trajectory);
  return part;
}

void audit_tabulate(const idm_problem *problem, const idm_data *data, const bool *member,
                    audit_table *table)
{
  idm_data *part = take_part(data, member);
  idm_prefix_tree *tree;
  idm_parameters *parameters;
  idm_matching *matching;
  double most = -INFINITY;
  check(idm_evidence_tree(problem, part, &tree, &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_matching_create(problem, part, tree, parameters, &matching, &support_error));
  for (size_t i = 0; i < AUDIT_GRID; i++) {
    const double y = first_point + step * (double)i;
    check(
        idm_matching_log_likelihood(matching, &y, &table->log_likelihood[i], NULL, &support_error));
    most = fmax(most, table->log_likelihood[i]);
  }
  for (size_t i = 0; i < AUDIT_GRID; i++) table->log_likelihood[i] -= most;
  idm_matching_destroy(matching);
  idm_parameters_destroy(parameters);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(part);
}

double audit_look_up(const audit_table *table, double log_alpha)
{
  const double place = (log_alpha - first_point) / step;
  if (!(place >= 0) || place >= AUDIT_GRID - 1) return -INFINITY;
  const size_t at = (size_t)place;
  const double share = place - (double)at;
  return (1 - share) * table->log_likelihood[at] + share * table->log_likelihood[at + 1];
}

audit_case audit_open(double sd, double first, double second, size_t cases, const char *column)
{
  audit_case c = {.problem = audit_problem(sd), .settings = audit_settings()};
  c.data = audit_data(c.problem, (const double[]){first, second}, 2, cases);
  check(idm_groups_by(c.data, column, &c.groups, NULL, &support_error));
  return c;
}

void audit_close(audit_case *c)
{
  idm_audit_destroy(c->audit);
  idm_groups_destroy(c->groups);
  idm_data_destroy(c->data);
  idm_problem_destroy(c->problem);
}
