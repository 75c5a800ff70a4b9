/* Preferences between trajectories: create and check them, and find cycles by depth-first search.
 */

#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"

idm_status idm_preferences_create(size_t count, idm_preferences **ret_preferences,
                                  idm_error *opt_error)
{
  idm_require(ret_preferences);
  *ret_preferences = NULL;
  idm_preferences *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->count = count;
  p->worse = idm_new(count, sizeof *p->worse);
  p->better = idm_new(count, sizeof *p->better);
  p->weight = idm_new(count, sizeof *p->weight);
  if (!p->worse || !p->better || !p->weight) {
    idm_preferences_destroy(p);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < count; i++) p->weight[i] = 1;
  *ret_preferences = p;
  return IDM_OK;
}

void idm_preferences_destroy(idm_preferences *preferences)
{
  if (!preferences) return;
  free(preferences->worse);
  free(preferences->better);
  free(preferences->weight);
  free(preferences);
}

idm_status idm_preferences_check(const idm_preferences *p, size_t trajectories,
                                 idm_error *opt_error)
{
  for (size_t i = 0; i < p->count; i++) {
    const uint32_t last = p->worse[i] > p->better[i] ? p->worse[i] : p->better[i];
    if (last >= trajectories)
      return idm_fail(opt_error, IDM_INPUT,
                      "preference %zu is of trajectory %lu, and there are %zu", i + 1,
                      (unsigned long)last + 1, trajectories);
    if (p->worse[i] == p->better[i])
      return idm_fail(opt_error, IDM_INPUT, "preference %zu ranks trajectory %lu above itself",
                      i + 1, (unsigned long)last + 1);
    if (!isfinite(p->weight[i]) || !(p->weight[i] > 0))
      return idm_fail(opt_error, IDM_INPUT,
                      "preference %zu has the weight %g; expected a finite number above 0", i + 1,
                      p->weight[i]);
  }
  return IDM_OK;
}

/* --- cycles ---------------------------------------------------------------------------------- */

/* Depth-first search from better to worse trajectories. */
typedef struct dfs {
  size_t *first;   /* [trajectory + 1]: its range of preferences in `worse` */
  uint32_t *worse; /* the worse trajectories, ordered by the better one */
  size_t *next;    /* [trajectory]: next preference to follow */
  bool *visited;   /* [trajectory] */
  bool *on_path;   /* [trajectory]: on the current path */
  uint32_t *path;  /* [trajectory]: the current path; borrowed */
} dfs;

static void dfs_clear(dfs *w)
{
  free(w->first);
  free(w->worse);
  free(w->next);
  free(w->visited);
  free(w->on_path);
}

static bool dfs_create(const idm_preferences *p, size_t trajectories, dfs *w)
{
  w->first = idm_new(trajectories + 1, sizeof *w->first);
  w->worse = idm_new(p->count, sizeof *w->worse);
  w->next = idm_new(trajectories, sizeof *w->next);
  w->visited = idm_new(trajectories, sizeof *w->visited);
  w->on_path = idm_new(trajectories, sizeof *w->on_path);
  if (!w->first || !w->worse || !w->next || !w->visited || !w->on_path) return false;
  for (size_t i = 0; i < p->count; i++) w->first[p->better[i] + 1]++;
  for (size_t t = 0; t < trajectories; t++) {
    w->first[t + 1] += w->first[t];
    w->next[t] = w->first[t];
  }
  for (size_t i = 0; i < p->count; i++) w->worse[w->next[p->better[i]]++] = p->worse[i];
  for (size_t t = 0; t < trajectories; t++) w->next[t] = w->first[t];
  return true;
}

/* Search from a trajectory. Returns the length of a cycle, which is then the end of the path of
 * *ret_steps trajectories, or 0. */
static size_t find_cycle(dfs *w, uint32_t from, size_t *ret_steps)
{
  size_t steps = 0;
  w->path[steps++] = from;
  w->visited[from] = w->on_path[from] = true;
  while (steps) {
    const uint32_t here = w->path[steps - 1];
    if (w->next[here] == w->first[here + 1]) {
      w->on_path[here] = false;
      steps--;
      continue;
    }
    const uint32_t there = w->worse[w->next[here]++];
    if (w->on_path[there]) {
      size_t length = 1;
      while (w->path[steps - length] != there) length++;
      *ret_steps = steps;
      return length;
    }
    if (w->visited[there]) continue;
    w->visited[there] = w->on_path[there] = true;
    w->path[steps++] = there;
  }
  return 0;
}

idm_status idm_preferences_cycle(const idm_preferences *p, size_t trajectories, uint32_t *cycle,
                                 size_t *ret_length, idm_error *opt_error)
{
  dfs w = {.path = cycle};
  size_t steps = 0;
  *ret_length = 0;
  const bool allocated = dfs_create(p, trajectories, &w);
  for (size_t t = 0; allocated && t < trajectories && !*ret_length; t++)
    if (!w.visited[t]) *ret_length = find_cycle(&w, (uint32_t)t, &steps);
  if (*ret_length) memmove(cycle, cycle + steps - *ret_length, *ret_length * sizeof *cycle);
  dfs_clear(&w);
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}
