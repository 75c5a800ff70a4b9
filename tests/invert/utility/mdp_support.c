/* Random problems with observed states. */
#include "invert/utility/mdp_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row with `branches` random successors, possibly repeated. */
static void draw_row(idm_random *random, size_t states, size_t branches, double *row)
{
  double sum = 0;
  memset(row, 0, states * sizeof *row);
  for (size_t k = 0; k < branches; k++) {
    const double p = 0.1 + idm_random_uniform(random);
    row[(size_t)((double)states * idm_random_uniform(random))] += p;
    sum += p;
  }
  for (size_t s = 0; s < states; s++) row[s] /= sum;
}

static void observe(idm_problem *problem)
{
  const size_t states = problem->setting->states.count;
  const size_t actions = problem->setting->actions.count;
  problem->setting->fully_observed = true;
  for (size_t i = 0; i < actions * states * states; i++)
    problem->setting->emission[i] = problem->theta->block[IDM_EMISSION].value[i] =
        i % states == i / states % states;
  memcpy(problem->theta->block[IDM_TRANSITION].value, problem->setting->transition,
         actions * states * states * sizeof(double));
}

idm_problem *support_mdp(size_t states, size_t actions, size_t branches, double alpha,
                         uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem = support_problem((support_shape){states, actions, states, 1, 1}, &random);
  for (size_t r = 0; r < actions * states; r++)
    draw_row(&random, states, branches, problem->setting->transition + r * states);
  observe(problem);
  check(idm_problem_set_planner(problem, idm_planner_find("maximum-entropy"), &support_error));
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.9);
  support_set(problem, alpha, INFINITY, 0);
  return problem;
}

static idm_problem *relabelled(const idm_problem *problem, const size_t *place, const size_t *turn)
{
  const size_t states = problem->setting->states.count;
  const size_t actions = problem->setting->actions.count;
  idm_problem *other =
      support_mdp(states, actions, 1, idm_theta_scalar(problem->theta, IDM_ALPHA), 1);
  for (size_t s = 0; s < states; s++) {
    other->setting->start[place[s]] = problem->setting->start[s];
    for (size_t u = 0; u < actions; u++) {
      const size_t from = u * states + s, to = turn[u] * states + place[s];
      other->theta->block[IDM_UTILITY].value[to] = problem->theta->block[IDM_UTILITY].value[from];
      for (size_t k = 0; k < states; k++)
        other->setting->transition[to * states + place[k]] =
            problem->setting->transition[from * states + k];
    }
  }
  for (size_t u = 0; u < actions; u++)
    other->theta->block[IDM_ACTION_PRIOR].value[turn[u]] =
        problem->theta->block[IDM_ACTION_PRIOR].value[u];
  observe(other);
  return other;
}

/* Copies evidence by trajectory as well. */
static idm_data *relabelled_data(const idm_data *data, const size_t *place, const size_t *turn)
{
  idm_data *copy;
  check(idm_data_design(data, &copy, &support_error));
  copy->rows = data->rows;
  free(copy->action);
  free(copy->observation);
  free(copy->available);
  free(copy->line);
  free(copy->first);
  copy->action = calloc(data->rows, sizeof *copy->action);
  copy->observation = calloc(data->rows, sizeof *copy->observation);
  copy->available = calloc(data->rows, sizeof *copy->available);
  copy->line = calloc(data->rows, sizeof *copy->line);
  copy->first = calloc(data->trajectories + 1, sizeof *copy->first);
  memcpy(copy->first, data->first, (data->trajectories + 1) * sizeof *copy->first);
  for (size_t r = 0; r < data->rows; r++) {
    copy->action[r] = (int32_t)turn[data->action[r]];
    copy->observation[r] = (int32_t)place[data->observation[r]];
  }
  const size_t states = data->sizes.states;
  for (size_t i = 0; i < data->starts; i++)
    for (size_t s = 0; s < states; s++)
      copy->start_belief[i * states + place[s]] = data->start_belief[i * states + s];
  return copy;
}

support_twins support_twins_create(double alpha)
{
  support_twins twins = {.place = {3, 0, 4, 1, 2}, .turn = {2, 0, 1}};
  idm_problem *problem = support_mdp(SUPPORT_TWIN_STATES, SUPPORT_TWIN_ACTIONS, 3, alpha, 17);
  memset(problem->setting->start, 0, SUPPORT_TWIN_STATES * sizeof(double));
  problem->setting->start[0] = 1;
  twins.problem[0] = problem;
  twins.problem[1] = relabelled(problem, twins.place, twins.turn);
  return twins;
}

void support_twins_log(support_twins *twins, idm_data *data)
{
  twins->data[0] = data;
  twins->data[1] = relabelled_data(data, twins->place, twins->turn);
}

void support_twins_destroy(support_twins *twins)
{
  for (size_t i = 0; i < 2; i++) {
    idm_data_destroy(twins->data[i]);
    idm_problem_destroy(twins->problem[i]);
  }
}

idm_mdp *support_create_mdp(const idm_problem *problem)
{
  idm_mdp *mdp;
  check(idm_mdp_create(problem, problem->setting, "somebody", &mdp, &support_error));
  return mdp;
}

void support_policy(idm_random *random, size_t states, size_t actions, double *policy)
{
  for (size_t s = 0; s < states; s++) support_distribution(random, policy + s * actions, actions);
}

idm_posterior *support_fit(const char *inverse, const idm_problem *problem, const idm_data *data,
                           const idm_fit_settings *settings)
{
  idm_posterior *posterior;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, settings, NULL, &posterior, NULL,
                        &support_error));
  return posterior;
}

void support_refused(const char *inverse, const idm_problem *problem, const idm_data *data,
                     const idm_fit_settings *settings, const char *words)
{
  idm_posterior untouched = {0};
  idm_posterior *posterior = &untouched;
  idm_error error = {0};
  const idm_status status = idm_inverse_fit(idm_inverse_find(inverse), problem, data, settings,
                                            NULL, &posterior, NULL, &error);
  assert_true(status == IDM_INPUT || status == IDM_USAGE);
  assert_null(posterior);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}
