/* Constructs the POMDP with guess actions explicitly. */
#include "plan/guess_support.h"

#include <string.h>

/* Number of the fields, see IDM_BELIEF_UTILITY. */
static size_t fields(const idm_theta *theta)
{
  return 2 * theta->sizes.actions;
}

void support_pieces(idm_problem *problem, size_t pieces, idm_random *random)
{
  idm_theta *theta = problem->theta;
  const size_t size = fields(theta) + pieces * theta->sizes.actions * theta->sizes.states;
  check(idm_theta_resize(theta, IDM_BELIEF_UTILITY, size, 1, &support_error));
  for (size_t i = fields(theta); i < size; i++)
    theta->block[IDM_BELIEF_UTILITY].value[i] = 4 * idm_random_uniform(random) - 2;
}

idm_problem *support_guesses(const idm_problem *paid)
{
  const idm_sizes n = paid->theta->sizes;
  const idm_block *block = &paid->theta->block[IDM_BELIEF_UTILITY];
  const size_t pieces = (block->size - fields(paid->theta)) / (n.actions * n.states);
  const double *piece = block->value + fields(paid->theta);
  const size_t moves = n.states * n.states, cells = n.states * n.observations;
  idm_problem *p;
  check(idm_problem_create((idm_sizes){n.states, n.actions * pieces, n.observations},
                           paid->theta->models, true, true, &p, &support_error));
  for (size_t v = 0; v < n.actions * pieces; v++) {
    const size_t u = v / pieces, i = v % pieces;
    for (size_t m = 0; m < paid->theta->models; m++) {
      const size_t from = m * n.actions + u, to = m * n.actions * pieces + v;
      memcpy(p->theta->block[IDM_TRANSITION].value + to * moves,
             paid->theta->block[IDM_TRANSITION].value + from * moves, moves * sizeof(double));
      memcpy(p->theta->block[IDM_EMISSION].value + to * cells,
             paid->theta->block[IDM_EMISSION].value + from * cells, cells * sizeof(double));
    }
    memcpy(p->setting->transition + v * moves, paid->setting->transition + u * moves,
           moves * sizeof(double));
    memcpy(p->setting->emission + v * cells, paid->setting->emission + u * cells,
           cells * sizeof(double));
    for (size_t s = 0; s < n.states; s++)
      p->theta->block[IDM_UTILITY].value[v * n.states + s] =
          paid->theta->block[IDM_UTILITY].value[u * n.states + s] +
          piece[(i * n.actions + u) * n.states + s];
    p->theta->block[IDM_ACTION_PRIOR].value[v] =
        paid->theta->block[IDM_ACTION_PRIOR].value[u] / (double)pieces;
    p->setting->terminal[v] = paid->setting->terminal[u];
    p->setting->ends[v] = paid->setting->ends[u];
  }
  memcpy(p->theta->block[IDM_MODEL_PRIOR].value, paid->theta->block[IDM_MODEL_PRIOR].value,
         paid->theta->models * sizeof(double));
  memcpy(p->setting->start, paid->setting->start, n.states * sizeof(double));
  p->setting->horizon = paid->setting->horizon;
  p->setting->emits_before = paid->setting->emits_before;
  p->setting->fully_observed = paid->setting->fully_observed;
  p->agent.resolution = paid->agent.resolution;
  p->agent.gap = paid->agent.gap;
  idm_theta_set_scalar(p->theta, IDM_DISCOUNT, idm_theta_scalar(paid->theta, IDM_DISCOUNT));
  return p;
}
