/* The worlds that an agent holds possible. */
#include "invert/utility/models.h"

#include <math.h>

#include "base/memory.h"
#include "base/tail.h"

/* --- rows ----------------------------------------------------------------------------------- */

/* What follows an entry under a model of theta, [state]; where theta has no matrices the agent
 * knows the environment. */
static void put_row(const idm_problem *problem, const idm_mdp *environment, size_t model,
                    size_t entry, double *row)
{
  const idm_sizes n = environment->n;
  const idm_moves *moves = environment->moves;
  const idm_block *block = &problem->theta->block[IDM_TRANSITION];
  memset(row, 0, n.states * sizeof *row);
  if (problem->setting->terminal[entry / n.states]) return;
  if (block->size)
    memcpy(row, block->value + (model * n.actions * n.states + entry) * n.states,
           n.states * sizeof *row);
  for (size_t i = moves->first[entry]; !block->size && i < moves->first[entry + 1]; i++)
    row[moves->next[i]] += moves->probability[i];
}

/* A world like another, with rows[entry][state] of its own. */
static idm_status with_rows(const idm_mdp *like, const double *rows, idm_mdp **ret_world,
                            idm_error *opt_error)
{
  const size_t states = like->n.states;
  const size_t count = like->n.actions * states;
  size_t entries = 0;
  for (size_t i = 0; i < count * states; i++) entries += rows[i] != 0;
  idm_mdp *world = idm_duplicate(like, 1, sizeof *world);
  if (!world) return idm_fail_memory(opt_error);
  world->moves = NULL;
  const idm_status status = idm_moves_create(count, entries, &world->moves, opt_error);
  if (status != IDM_OK) {
    idm_mdp_destroy(world);
    return status;
  }
  size_t at = 0;
  for (size_t entry = 0; entry < count; entry++) {
    world->moves->first[entry] = at;
    for (size_t s = 0; s < states; s++) {
      if (rows[entry * states + s] == 0) continue;
      world->moves->next[at] = (uint32_t)s;
      world->moves->probability[at++] = rows[entry * states + s];
    }
  }
  world->moves->first[count] = at;
  *ret_world = world;
  return IDM_OK;
}

/* --- models --------------------------------------------------------------------------------- */

void idm_models_destroy(idm_models *models)
{
  if (!models) return;
  for (size_t m = 0; models->world && m < models->count; m++) idm_mdp_destroy(models->world[m]);
  free(models->world);
  free(models->weight);
  free(models->differ);
  free(models->next);
  free(models);
}

/* Add the model, and note where it differs from the first one. */
static idm_status add_model(const idm_problem *problem, const idm_mdp *environment, size_t model,
                            double *rows, double *first, idm_models *models, idm_error *opt_error)
{
  const size_t states = environment->n.states;
  const size_t entries = environment->n.actions * states;
  for (size_t e = 0; e < entries; e++) put_row(problem, environment, model, e, rows + e * states);
  if (!models->count) memcpy(first, rows, entries * states * sizeof *rows);
  for (size_t i = 0; i < entries * states; i++)
    if (fabs(rows[i] - first[i]) > 1e-12) models->differ[i / states] = true;
  models->weight[models->count] = idm_theta_values(problem->theta, IDM_MODEL_PRIOR, 0)[model];
  const idm_status status = with_rows(environment, rows, &models->world[models->count], opt_error);
  models->count += status == IDM_OK;
  return status;
}

idm_status idm_models_create(const idm_problem *problem, const idm_mdp *world,
                             idm_models **ret_models, idm_error *opt_error)
{
  const size_t all = problem->theta->models;
  const size_t entries = world->n.actions * world->n.states;
  const double *prior = idm_theta_values(problem->theta, IDM_MODEL_PRIOR, 0);
  *ret_models = NULL;
  idm_models *models = idm_new(1, sizeof *models);
  double *rows = idm_new(idm_times(2, idm_times(entries, world->n.states)), sizeof *rows);
  if (models) {
    models->weight = idm_new(all, sizeof *models->weight);
    models->world = idm_new(all, sizeof(idm_mdp *));
    models->differ = idm_new(entries, sizeof *models->differ);
    models->next = idm_new(all, sizeof *models->next);
  }
  const bool made =
      models && rows && models->weight && models->world && models->differ && models->next;
  idm_status status = made ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t m = 0; m < all && status == IDM_OK; m++)
    if (prior[m] > 0)
      status =
          add_model(problem, world, m, rows, rows + entries * world->n.states, models, opt_error);
  for (size_t e = 0; e < entries && status == IDM_OK; e++) models->differing += models->differ[e];
  free(rows);
  if (status == IDM_OK)
    *ret_models = models;
  else
    idm_models_destroy(models);
  return status;
}

idm_status idm_models_mix(const idm_models *models, const double *sigma, idm_mdp **ret_world,
                          idm_error *opt_error)
{
  const idm_mdp *like = models->world[0];
  const size_t states = like->n.states;
  const size_t entries = like->n.actions * states;
  *ret_world = NULL;
  double *rows = idm_new(idm_times(entries, states), sizeof *rows);
  if (!rows) return idm_fail_memory(opt_error);
  for (size_t m = 0; m < models->count; m++) {
    const idm_moves *moves = models->world[m]->moves;
    for (size_t e = 0; e < entries; e++)
      for (size_t i = moves->first[e]; i < moves->first[e + 1]; i++)
        rows[e * states + moves->next[i]] += sigma[e * models->count + m] * moves->probability[i];
  }
  const idm_status status = with_rows(like, rows, ret_world, opt_error);
  free(rows);
  return status;
}

/* --- the worst of them ---------------------------------------------------------------------- */

/* The worst mixture of what follows an entry; opt_sigma[model]. */
static double worst(const idm_models *models, double level, size_t entry, const double *v,
                    double *opt_sigma)
{
  const size_t states = models->world[0]->n.states;
  for (size_t m = 0; m < models->count; m++)
    models->next[m] = idm_mdp_next(models->world[m], entry / states, entry % states, v);
  return idm_tail(level, models->count, models->weight, models->next, opt_sigma);
}

void idm_models_quality(const idm_models *models, double level, const double *utility,
                        const double *v, double *opt_q, double *opt_sigma)
{
  const idm_sizes n = models->world[0]->n;
  for (size_t e = 0; e < n.actions * n.states; e++) {
    const double next =
        worst(models, level, e, v, opt_sigma ? opt_sigma + e * models->count : NULL);
    if (opt_q) opt_q[e] = utility[e] + next;
  }
}

/* One sweep over the states, each with what is new of those before it. */
static void sweep_once(const idm_models *models, double level, const double *policy,
                       const double *utility, double *v, double *change, double *size)
{
  const idm_sizes n = models->world[0]->n;
  *change = 0;
  *size = 0;
  for (size_t s = 0; s < n.states; s++) {
    double next = 0;
    for (size_t u = 0; u < n.actions; u++) {
      const double p = policy[s * n.actions + u];
      const size_t e = u * n.states + s;
      if (p > 0) next += p * (utility[e] + worst(models, level, e, v, NULL));
    }
    *change = fmax(*change, fabs(next - v[s]));
    *size = fmax(*size, fabs(next));
    v[s] = next;
  }
}

idm_status idm_models_evaluate(const idm_models *models, double level, const double *policy,
                               const double *utility, double *v, idm_error *opt_error)
{
  const long most_sweeps = 20000000;
  memset(v, 0, models->world[0]->n.states * sizeof *v);
  /* As idm_mdp_evaluate: once changes are in the last place, only falling ones are worth another
   * sweep. */
  double last = INFINITY;
  for (long sweep = 0; sweep < most_sweeps; sweep++) {
    double change;
    double size;
    sweep_once(models, level, policy, utility, v, &change, &size);
    if (!isfinite(size)) break;
    if (change == 0 || (change <= 1e-13 * size && change >= last)) return IDM_OK;
    last = change;
  }
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the value of the demonstrator's policy does not settle under its models");
}
