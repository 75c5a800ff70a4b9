/* Whether soft plans attain a demonstrator's occupancy at utilities that are finite: a linear
 * program over directions d of the free numbers and values V of states. The demonstrator is optimal
 * for d where V(s) - d(s,u) - discount P V is 0 for what it does, and a slack of 0 or more
 * elsewhere; a direction that has a slack in a state that some policy visits is one along which the
 * soft plan approaches the demonstrator without end. Slacks are 1 at most, since directions have no
 * length. */
#include "invert/utility/attained.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "invert/utility/bellman.h"
#include "invert/utility/face.h"

/* Slacks that are rounding of the solver. */
static const double least_slack = 1e-6;

/* visited[state]: some policy of open actions does. `queue` holds states. */
static void find_visited(const idm_mdp *world, bool *visited, size_t *queue)
{
  const idm_moves *moves = world->moves;
  size_t count = 0;
  for (size_t s = 0; s < world->n.states; s++)
    if ((visited[s] = world->start[s] > 0)) queue[count++] = s;
  for (size_t k = 0; k < count; k++)
    for (size_t u = 0; u < world->n.actions; u++) {
      const size_t row = u * world->n.states + queue[k];
      for (size_t i = moves->first[row]; idm_bellman_open(world, u) && i < moves->first[row + 1];
           i++) {
        const size_t next = moves->next[i];
        if (visited[next] || !(moves->probability[i] > 0)) continue;
        visited[next] = true;
        queue[count++] = next;
      }
    }
}

/* A direction: entries that are held do not move. */
static idm_status make_direction(const idm_sought *sought, idm_sought *direction,
                                 idm_error *opt_error)
{
  *direction = *sought;
  direction->held = idm_new(sought->entries, sizeof *direction->held);
  return direction->held ? IDM_OK : idm_fail_memory(opt_error);
}

/* slack[state * actions + action]: its column, 0 where there is none. Returns how many there are.
 */
static size_t place_slacks(const idm_asked *asked, const double *demonstrated, const bool *visited,
                           size_t *slack)
{
  const idm_sizes n = asked->world->n;
  const size_t first = asked->sought->count + n.states;
  size_t count = 0;
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++)
      if (visited[s] && idm_bellman_open(asked->world, u) && !(demonstrated[u * n.states + s] > 0))
        slack[s * n.actions + u] = first + count++;
  return count;
}

static idm_status put_rows(idm_bellman *rows, const bool *visited, const size_t *slack,
                           idm_error *opt_error)
{
  const idm_sizes n = rows->world->n;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < n.states * n.actions && status == IDM_OK; i++) {
    const size_t s = i / n.actions, u = i % n.actions;
    if (!visited[s] || !idm_bellman_open(rows->world, u)) continue;
    status = idm_bellman_enter(rows, s, u, 1, opt_error);
    if (status == IDM_OK && slack[i]) {
      status = idm_program_enter(rows->program, slack[i], -1, opt_error);
      idm_program_set_cost(rows->program, slack[i], -1);
      idm_program_set_bounds(rows->program, slack[i], 0, 1);
    }
    if (status == IDM_OK) status = idm_bellman_add(rows, s, 0, 0, opt_error);
  }
  return status;
}

static idm_status refuse(const idm_asked *asked, const size_t *slack, const double *x,
                         idm_error *opt_error)
{
  enum { shown = 5 };
  const idm_setting *setting = asked->problem->setting;
  const idm_sizes n = asked->world->n;
  char list[900] = "";
  size_t pairs = 0;
  for (size_t i = 0; i < n.states * n.actions; i++) {
    if (!slack[i] || !(x[slack[i]] > least_slack) || pairs++ >= shown) continue;
    const size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s'%.60s' in '%.60s'", length ? ", " : "",
             setting->actions.name[i % n.actions], setting->states.name[i / n.actions]);
  }
  return idm_fail(opt_error, IDM_INPUT,
                  "with --lambda inf utilities grow without end: some of them make the "
                  "demonstrator optimal, and worse and worse what it never does (%s%s); expected a "
                  "finite --lambda, --lambda auto, fewer free numbers (ties), or more data",
                  list, pairs > shown ? ", ..." : "");
}

idm_status idm_attained_check(idm_asked *asked, const double *demonstrated, idm_error *opt_error)
{
  const idm_sizes n = asked->world->n;
  const size_t pairs = n.states * n.actions;
  idm_sought direction = {0};
  idm_program *program = NULL;
  idm_program_solution solution = {0};
  bool *visited = idm_new(n.states, sizeof *visited);
  size_t *slack = idm_new(pairs, sizeof *slack);
  size_t *queue = idm_new(n.states, sizeof *queue);
  idm_status status = visited && slack && queue ? IDM_OK : idm_fail_memory(opt_error);
  size_t slacks = 0;
  if (status == IDM_OK) {
    find_visited(asked->world, visited, queue);
    slacks = place_slacks(asked, demonstrated, visited, slack);
  }
  if (status == IDM_OK && slacks) {
    status = make_direction(asked->sought, &direction, opt_error);
    if (status == IDM_OK)
      status = idm_program_create(asked->sought->count + n.states + slacks, &program, opt_error);
    if (status == IDM_OK) {
      idm_bellman rows = idm_bellman_begin(program, asked->world, &direction, asked->sought->count);
      status = put_rows(&rows, visited, slack, opt_error);
    }
    if (status == IDM_OK)
      status = idm_face_solve(program, "no direction is 0", "slacks have no end", &solution,
                              &asked->halt, opt_error);
    if (status == IDM_OK && -solution.objective > least_slack)
      status = refuse(asked, slack, solution.x, opt_error);
  }
  idm_program_destroy(program);
  free(direction.held);
  free(visited);
  free(slack);
  free(queue);
  return status;
}
