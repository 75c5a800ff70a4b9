/* Marching squares: see the header.
 *
 * A line crosses a grid line at most once between two grid points: such a piece is an edge, and has
 * a number. In every cell edges that are crossed are linked in pairs; lines are walked along links.
 */
#include "report/contour.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"

enum { NONE = -1 };

typedef struct walk {
  const idm_heights *h;
  double level;
  size_t edges;
  int64_t (*link)[2]; /* [edge]: the edges that a line goes on to */
  idm_contour *to;
} walk;

static double height_at(const walk *w, size_t x, size_t y)
{
  return w->h->z[y * w->h->across + x];
}

static bool is_above(const walk *w, size_t x, size_t y)
{
  return height_at(w, x, y) >= w->level;
}

/* Edges to the right of a grid point come first, then those up from one. */
static size_t level_edge(const walk *w, size_t x, size_t y)
{
  return y * w->h->across + x;
}

static size_t upright_edge(const walk *w, size_t x, size_t y)
{
  return w->h->across * w->h->up + y * w->h->across + x;
}

static void tie(const walk *w, size_t a, size_t b)
{
  w->link[a][w->link[a][0] != NONE] = (int64_t)b;
  w->link[b][w->link[b][0] != NONE] = (int64_t)a;
}

/* Link the edges of a cell that are crossed: two, or all four, where what is above the level goes
 * together if the middle is above it. */
static void link_cell(const walk *w, size_t x, size_t y)
{
  const bool above[] = {is_above(w, x, y), is_above(w, x + 1, y), is_above(w, x + 1, y + 1),
                        is_above(w, x, y + 1)};
  const size_t edge[] = {level_edge(w, x, y), upright_edge(w, x + 1, y), level_edge(w, x, y + 1),
                         upright_edge(w, x, y)};
  size_t crossed[4], count = 0;
  for (size_t k = 0; k < 4; k++)
    if (above[k] != above[(k + 1) % 4]) crossed[count++] = edge[k];
  if (count == 2) tie(w, crossed[0], crossed[1]);
  if (count != 4) return;
  const double middle = (height_at(w, x, y) + height_at(w, x + 1, y) + height_at(w, x + 1, y + 1) +
                         height_at(w, x, y + 1)) /
                        4;
  const bool together = (middle >= w->level) == above[0];
  /* Corners 0 and 2 together: lines cut off corners 1 and 3. */
  tie(w, edge[0], edge[together ? 1 : 3]);
  tie(w, edge[2], edge[together ? 3 : 1]);
}

/* The place on an edge that has the level. */
static void put(const walk *w, size_t edge)
{
  const size_t across = w->h->across, cells = across * w->h->up;
  const bool upright = edge >= cells;
  const size_t x = edge % cells % across, y = edge % cells / across;
  const double a = height_at(w, x, y), b = height_at(w, x + !upright, y + upright);
  const double part = (w->level - a) / (b - a);
  w->to->x[w->to->count] = upright ? w->h->x[x] : w->h->x[x] + part * (w->h->x[x + 1] - w->h->x[x]);
  w->to->y[w->to->count++] =
      upright ? w->h->y[y] + part * (w->h->y[y + 1] - w->h->y[y]) : w->h->y[y];
}

/* Along the links from an edge, each of which is undone. */
static void follow(const walk *w, size_t from)
{
  size_t at = from;
  put(w, at);
  for (;;) {
    const int side = w->link[at][0] == NONE;
    const int64_t next = w->link[at][side];
    if (next == NONE) break;
    w->link[at][side] = NONE;
    int64_t *back = w->link[next];
    back[back[0] != (int64_t)at] = NONE;
    at = (size_t)next;
    put(w, at);
  }
  w->to->x[w->to->count] = w->to->y[w->to->count] = NAN;
  w->to->count++;
}

static void walk_all(const walk *w)
{
  for (size_t y = 0; y + 1 < w->h->up; y++)
    for (size_t x = 0; x + 1 < w->h->across; x++) link_cell(w, x, y);
  /* Those that end at the grid's edge first, then those that close. */
  for (size_t i = 0; i < w->edges; i++)
    if ((w->link[i][0] == NONE) != (w->link[i][1] == NONE)) follow(w, i);
  for (size_t i = 0; i < w->edges; i++)
    if (w->link[i][0] != NONE) follow(w, i);
}

idm_status idm_contour_find(const idm_heights *heights, double level, idm_contour *ret_contour,
                            idm_error *opt_error)
{
  walk w = {
      .h = heights, .level = level, .edges = 2 * heights->across * heights->up, .to = ret_contour};
  /* Every edge is put once, or twice where a line closes, and a line has at least two. */
  *ret_contour = (idm_contour){.x = idm_new(2 * w.edges + 2, sizeof(double)),
                               .y = idm_new(2 * w.edges + 2, sizeof(double))};
  w.link = idm_new(w.edges, sizeof *w.link);
  if (!ret_contour->x || !ret_contour->y || !w.link) {
    free(w.link);
    idm_contour_clear(ret_contour);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < w.edges; i++) w.link[i][0] = w.link[i][1] = NONE;
  walk_all(&w);
  free(w.link);
  return IDM_OK;
}

void idm_contour_clear(idm_contour *contour)
{
  free(contour->x);
  free(contour->y);
  *contour = (idm_contour){0};
}
