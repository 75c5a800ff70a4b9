#include "invert/people/people_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/planner.h"

static void *need(void *memory)
{
  assert_non_null(memory);
  return memory;
}

static void name_all(idm_labels *labels, size_t count, const char *what)
{
  char name[64];
  check(idm_labels_create(labels, count, &support_error));
  for (size_t i = 0; i < count; i++) {
    const int length = snprintf(name, sizeof name, "%s%zu", what, i + 1);
    check(idm_labels_set(labels, i, name, (size_t)length, &support_error));
  }
}

idm_problem *support_people_diag(const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, 2, 0);
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  problem->agent.resolution = 20;
  return problem;
}

idm_design *support_design(const idm_data *data, size_t coordinates, size_t slopes,
                           const double *mean, const double *sd)
{
  const size_t people = data->agent_name.count;
  idm_design *d = need(idm_new(1, sizeof *d));
  *d = (idm_design){.people = people,
                    .cells = people,
                    .coordinates = coordinates,
                    .effects = coordinates,
                    .correlation = 2};
  name_all(&d->person, people, "person");
  name_all(&d->effect, coordinates, "effect");
  d->cell_person = need(idm_new(people, sizeof *d->cell_person));
  for (size_t i = 0; i < people; i++) d->cell_person[i] = (uint32_t)i;
  d->cell_of = need(idm_duplicate(data->agent, data->trajectories, sizeof *d->cell_of));
  d->effect_coordinate = need(idm_new(coordinates, sizeof *d->effect_coordinate));
  d->share = need(idm_new(people * coordinates, sizeof *d->share));
  for (size_t i = 0; i < people * coordinates; i++) d->share[i] = 1;
  d->coefficients = need(idm_new(coordinates, sizeof *d->coefficients));
  d->coefficient = need(idm_new(coordinates, sizeof *d->coefficient));
  d->regressor = need(idm_new(coordinates, sizeof *d->regressor));
  d->coefficient_mean = need(idm_new(coordinates, sizeof *d->coefficient_mean));
  d->coefficient_sd = need(idm_new(coordinates, sizeof *d->coefficient_sd));
  d->sd_scale = need(idm_new(coordinates, sizeof *d->sd_scale));
  for (size_t k = 0; k < coordinates; k++) {
    const size_t n = 1 + slopes;
    d->effect_coordinate[k] = (uint32_t)k;
    d->coefficients[k] = n;
    name_all(&d->coefficient[k], n, "coefficient");
    d->regressor[k] = need(idm_new(people * n, sizeof(double)));
    for (size_t i = 0; i < people; i++) d->regressor[k][i * n] = 1;
    d->coefficient_mean[k] = need(idm_new(n, sizeof(double)));
    d->coefficient_sd[k] = need(idm_new(n, sizeof(double)));
    d->coefficient_mean[k][0] = mean[k];
    for (size_t a = 0; a < n; a++) d->coefficient_sd[k][a] = a ? sd[k] / 2 : sd[k];
    d->sd_scale[k] = sd[k] / 2;
  }
  return d;
}

typedef struct acting {
  const idm_problem *problem;
  idm_parameters *parameters;
  idm_theta *theta;
  idm_workspace *workspace;
  const double *x;
  size_t last;
} acting;

static idm_status become(void *context, size_t trajectory, size_t agent, idm_error *opt_error)
{
  acting *a = context;
  (void)trajectory;
  if (a->last == agent) return IDM_OK;
  a->last = agent;
  idm_parameters_set(a->parameters, a->x + agent * idm_parameters_dimension(a->parameters),
                     a->theta);
  return idm_plan(a->theta, NULL, a->workspace, NULL, opt_error);
}

/* The first trajectories of each agent, up to the given number of decisions. */
static idm_data *cut(const idm_data *data, size_t people, size_t decisions)
{
  size_t *made = need(idm_new(people, sizeof *made));
  uint32_t *kept = need(idm_new(data->trajectories, sizeof *kept));
  size_t count = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    if (made[data->agent[t]] >= decisions) continue;
    made[data->agent[t]] += data->first[t + 1] - data->first[t];
    kept[count++] = (uint32_t)t;
  }
  for (size_t i = 0; i < people; i++) assert_true(made[i] >= decisions);
  idm_data *part;
  check(idm_data_subset(data, kept, count, &part, &support_error));
  free(made);
  free(kept);
  return part;
}

idm_data *support_people(const idm_problem *problem, size_t people, const double *x,
                         size_t decisions, uint64_t seed)
{
  acting a = {.problem = problem, .x = x, .last = SIZE_MAX};
  check(idm_parameters_create(problem, &a.parameters, &support_error));
  check(idm_theta_copy(problem->theta, &a.theta, &support_error));
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &a.workspace,
                             &support_error));
  const bool rewarded = idm_agent_planner(&problem->agent)->needs & IDM_NEEDS_REWARDS;
  const idm_simulation simulation = {.trajectories = people * decisions,
                                     .opt_reward_theta = rewarded ? problem->theta : NULL,
                                     .agents = people,
                                     .steps = 50,
                                     .seed = seed,
                                     .opt_before = become,
                                     .context = &a};
  idm_data *all;
  check(idm_simulate(problem->setting, idm_workspace_behavior(a.workspace), &simulation, &all,
                     &support_error));
  idm_data *data = cut(all, people, decisions);
  idm_data_destroy(all);
  idm_workspace_destroy(a.workspace);
  idm_theta_destroy(a.theta);
  idm_parameters_destroy(a.parameters);
  return data;
}
