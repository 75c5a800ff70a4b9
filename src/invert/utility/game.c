/* A game for a policy: better than the demonstrator, whatever the utility. */
#include "invert/utility/game.h"

#include <math.h>

#include "base/memory.h"
#include "infer/nearest.h"
#include "invert/utility/bellman.h"

/* What both players look at. */
typedef struct table {
  const idm_mdp *world;
  const idm_sought *sought;
  const double *occupancy; /* [state][action]: of the demonstrator */
  idm_game *game;
  idm_halt *halt;
} table;

static const char no_game[] =
    "the game of policies against utilities has no value: the problem's numbers are not those of "
    "one";

/* Where (state, action) of an entry stands in an occupancy. */
static size_t place(const table *t, size_t entry)
{
  const idm_sizes n = t->world->n;
  return entry % n.states * n.actions + entry / n.states;
}

/* --- utilities ------------------------------------------------------------------------------ */

/* min over utilities of (best value - the demonstrator's) at the start: V >= utility + discount P V
 * in every state. */
static idm_status add_rows(const table *t, idm_program *program, idm_error *opt_error)
{
  const idm_sizes n = t->world->n;
  idm_bellman rows = idm_bellman_begin(program, t->world, t->sought, t->sought->count);
  idm_status status = IDM_OK;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++)
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++) {
      if (!idm_bellman_open(t->world, u)) continue;
      status = idm_bellman_enter(&rows, s, u, 1, opt_error);
      if (status == IDM_OK) status = idm_bellman_add(&rows, s, 0, INFINITY, opt_error);
    }
  return status;
}

/* Costs: what the demonstrator gets of each number, and the start. Returns what it gets of held
 * entries. */
static double set_costs(const table *t, double *gain, idm_program *program)
{
  const size_t count = t->sought->count;
  double held = 0;
  for (size_t e = 0; e < t->sought->entries; e++) {
    const double share = t->occupancy[place(t, e)] / (1 - t->world->discount);
    held -= idm_sought_add(t->sought, e, -share, gain);
  }
  for (size_t k = 0; k < count; k++) {
    idm_program_set_bounds(program, k, -t->game->bound, t->game->bound);
    idm_program_set_cost(program, k, gain[k]);
  }
  for (size_t s = 0; s < t->world->n.states; s++)
    idm_program_set_cost(program, count + s, t->world->start[s]);
  return held;
}

static idm_status choose_utility(const table *t, idm_error *opt_error)
{
  const size_t columns = t->sought->count + t->world->n.states;
  idm_program *program = NULL;
  double held = 0;
  double *gain = idm_new(t->sought->count, sizeof *gain);
  t->game->face->x = idm_new(columns, sizeof *t->game->face->x);
  idm_status status = gain && t->game->face->x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_program_create(columns, &program, opt_error);
  if (status == IDM_OK) held = set_costs(t, gain, program);
  if (status == IDM_OK) status = add_rows(t, program, opt_error);
  if (status == IDM_OK)
    status = idm_face_choose(program, no_game, no_game, t->game->face, t->halt, opt_error);
  if (status == IDM_OK) t->game->objective = t->game->face->objective - held;
  idm_program_destroy(program);
  free(gain);
  return status;
}

/* --- policies ------------------------------------------------------------------------------- */

/* Occupancies of actions that are not best under the utility are 0. */
static void bound_occupancy(const table *t, const double *utility, idm_program *program)
{
  const idm_sizes n = t->world->n;
  const double *v = t->game->face->x + t->sought->count;
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++) {
      const double loss = v[s] - utility[u * n.states + s] - idm_mdp_next(t->world, u, s, v);
      const bool best = idm_bellman_open(t->world, u) && loss <= 1e-8 * fmax(1, fabs(v[s]));
      idm_program_set_bounds(program, s * n.actions + u, 0, best ? INFINITY : 0);
    }
}

/* What enters a state leaves it. Rows of the world by where they lead, in `back`: entries of the
 * moves by next state. */
static idm_status add_flow(const table *t, idm_program *program, idm_error *opt_error)
{
  const idm_sizes n = t->world->n;
  const idm_moves *moves = t->world->moves;
  const size_t entries = moves->first[moves->rows];
  size_t *begin = idm_new(n.states + 2, sizeof *begin);
  size_t *row = idm_new(entries, sizeof *row);
  double *share = idm_new(entries, sizeof *share);
  idm_status status = begin && row && share ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < entries && status == IDM_OK; i++) begin[moves->next[i] + 2]++;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) begin[s + 2] += begin[s + 1];
  for (size_t r = 0; r < moves->rows && status == IDM_OK; r++)
    for (size_t i = moves->first[r]; i < moves->first[r + 1]; i++) {
      share[begin[moves->next[i] + 1]] = t->world->discount * moves->probability[i];
      row[begin[moves->next[i] + 1]++] = r;
    }
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++)
      status = idm_program_enter(program, s * n.actions + u, 1, opt_error);
    for (size_t i = begin[s]; i < begin[s + 1] && status == IDM_OK; i++)
      status = idm_program_enter(program, place(t, row[i]), -share[i], opt_error);
    const double start = (1 - t->world->discount) * t->world->start[s];
    if (status == IDM_OK) status = idm_program_add(program, start, start, opt_error);
  }
  free(begin);
  free(row);
  free(share);
  return status;
}

/* A number inside of the box must gain nothing either way; at an end of it, nothing inwards. */
static idm_status add_numbers(const table *t, idm_program *program, idm_error *opt_error)
{
  const double edge = t->game->bound * (1 - 1e-9);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < t->sought->count && status == IDM_OK; k++) {
    const double x = t->game->face->x[k];
    double target = 0;
    for (size_t e = 0; e < t->sought->entries && status == IDM_OK; e++) {
      const double share = idm_sought_coefficient(t->sought, e, k);
      if (share == 0) continue;
      target += share * t->occupancy[place(t, e)];
      status = idm_program_enter(program, place(t, e), share, opt_error);
    }
    if (status == IDM_OK)
      status = idm_program_add(program, x > edge ? -INFINITY : target,
                               x < -edge ? INFINITY : target, opt_error);
  }
  return status;
}

/* The occupancy nearest to the demonstrator's among those that play best, and its policy; where
 * nothing comes, the demonstrator's own. */
static idm_status approach(const table *t, const idm_program *program, const double *demonstrated,
                           idm_error *opt_error)
{
  const idm_sizes n = t->world->n;
  const size_t entries = n.states * n.actions;
  double *mu = idm_duplicate(t->occupancy, entries, sizeof *mu);
  double *weight = idm_new(entries, sizeof *weight);
  idm_status status = mu && weight ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < entries && status == IDM_OK; i++) weight[i] = 1;
  idm_nearest near = {.weight = weight, .aim = t->occupancy, .effort = 2e9};
  if (status == IDM_OK)
    status = idm_program_nearest(program, &near, mu, idm_bellman_ask, t->halt, opt_error);
  if (status == IDM_OK) status = idm_halt_check(t->halt, opt_error);
  if (status == IDM_OK) {
    t->game->policy_nearest = near.residual <= 1e-9;
    t->game->attained = near.residual;
  }
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    double total = 0;
    for (size_t u = 0; u < n.actions; u++) total += fmax(0, mu[s * n.actions + u]);
    for (size_t u = 0; u < n.actions; u++)
      t->game->policy[s * n.actions + u] =
          total > 1e-9 ? fmax(0, mu[s * n.actions + u]) / total : demonstrated[s * n.actions + u];
  }
  free(mu);
  free(weight);
  return status;
}

static idm_status choose_policy(const table *t, const double *demonstrated, idm_error *opt_error)
{
  const size_t entries = t->sought->entries;
  idm_program *program = NULL;
  double *utility = idm_new(entries, sizeof *utility);
  t->game->policy = idm_new(entries, sizeof *t->game->policy);
  idm_status status = utility && t->game->policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_program_create(entries, &program, opt_error);
  if (status == IDM_OK) {
    idm_sought_fill(t->sought, t->game->face->x, utility);
    bound_occupancy(t, utility, program);
    status = add_flow(t, program, opt_error);
  }
  if (status == IDM_OK) status = add_numbers(t, program, opt_error);
  if (status == IDM_OK) status = approach(t, program, demonstrated, opt_error);
  idm_program_destroy(program);
  free(utility);
  return status;
}

idm_status idm_game_play(const idm_mdp *world, const idm_sought *sought, const double *occupancy,
                         const double *demonstrated, idm_game *game, idm_halt *halt,
                         idm_error *opt_error)
{
  const table t = {
      .world = world, .sought = sought, .occupancy = occupancy, .game = game, .halt = halt};
  game->policy = NULL;
  idm_status status = choose_utility(&t, opt_error);
  if (status == IDM_OK) status = choose_policy(&t, demonstrated, opt_error);
  return status;
}
