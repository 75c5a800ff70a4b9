/* Preferences between trajectories: making and checking them, and whether they go in a circle. */
#include "data/preferences.h"

#include <math.h>

#include "base/door.h"
#include "base/memory.h"

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
      return idm_fail(opt_error, IDM_INPUT,
                      "preference %zu calls trajectory %lu better than itself", i + 1,
                      (unsigned long)last + 1);
    if (!isfinite(p->weight[i]) || !(p->weight[i] > 0))
      return idm_fail(opt_error, IDM_INPUT,
                      "preference %zu has the weight %g; expected a finite number above 0", i + 1,
                      p->weight[i]);
  }
  return IDM_OK;
}

/* --- circles -------------------------------------------------------------------------------- */

/* A walk from better to worse, that goes back where there is no way on. */
typedef struct walk {
  size_t *first;   /* [trajectory + 1]: its preferences in `worse` */
  uint32_t *worse; /* those that it is better than */
  size_t *next;    /* [trajectory]: the one to try next */
  bool *seen;      /* [trajectory] */
  bool *underway;  /* [trajectory]: on the way that led here */
  uint32_t *way;   /* [trajectory] */
} walk;

static void clear(walk *w)
{
  free(w->first);
  free(w->worse);
  free(w->next);
  free(w->seen);
  free(w->underway);
}

static bool open_walk(const idm_preferences *p, size_t trajectories, walk *w)
{
  w->first = idm_new(trajectories + 1, sizeof *w->first);
  w->worse = idm_new(p->count, sizeof *w->worse);
  w->next = idm_new(trajectories, sizeof *w->next);
  w->seen = idm_new(trajectories, sizeof *w->seen);
  w->underway = idm_new(trajectories, sizeof *w->underway);
  if (!w->first || !w->worse || !w->next || !w->seen || !w->underway) return false;
  for (size_t i = 0; i < p->count; i++) w->first[p->better[i] + 1]++;
  for (size_t t = 0; t < trajectories; t++) {
    w->first[t + 1] += w->first[t];
    w->next[t] = w->first[t];
  }
  for (size_t i = 0; i < p->count; i++) w->worse[w->next[p->better[i]]++] = p->worse[i];
  for (size_t t = 0; t < trajectories; t++) w->next[t] = w->first[t];
  return true;
}

/* Go down from a trajectory; the length of a circle, which is then the end of the way, or 0. */
static size_t descend(walk *w, uint32_t from, size_t *ret_steps)
{
  size_t steps = 0;
  w->way[steps++] = from;
  w->seen[from] = w->underway[from] = true;
  while (steps) {
    const uint32_t here = w->way[steps - 1];
    if (w->next[here] == w->first[here + 1]) {
      w->underway[here] = false;
      steps--;
      continue;
    }
    const uint32_t there = w->worse[w->next[here]++];
    if (w->underway[there]) {
      size_t length = 1;
      while (w->way[steps - length] != there) length++;
      *ret_steps = steps;
      return length;
    }
    if (w->seen[there]) continue;
    w->seen[there] = w->underway[there] = true;
    w->way[steps++] = there;
  }
  return 0;
}

idm_status idm_preferences_circle(const idm_preferences *p, size_t trajectories, uint32_t *circle,
                                  size_t *ret_length, idm_error *opt_error)
{
  walk w = {.way = circle};
  size_t steps = 0;
  *ret_length = 0;
  const bool opened = open_walk(p, trajectories, &w);
  for (size_t t = 0; opened && t < trajectories && !*ret_length; t++)
    if (!w.seen[t]) *ret_length = descend(&w, (uint32_t)t, &steps);
  if (*ret_length) memmove(circle, circle + steps - *ret_length, *ret_length * sizeof *circle);
  clear(&w);
  return opened ? IDM_OK : idm_fail_memory(opt_error);
}
