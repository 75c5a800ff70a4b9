/* Beliefs as the states of a world. */
#include "invert/utility/belief_world.h"

#include "base/memory.h"
#include "invert/finer.h"

/* Points of the largest lattice, as of planners by default. */
static const size_t most_points = 20000;

int idm_belief_world_resolution(const idm_problem *problem, const idm_data *data)
{
  enum { decisions = 10 };
  const idm_sizes n = idm_setting_sizes(problem->setting);
  const int own = idm_lattice_resolution(problem);
  const int filled = idm_lattice_fitting(n.states, data->rows / (decisions * n.actions));
  const int most = filled < own ? filled : own;
  return most > IDM_BELIEF_COARSEST ? most : IDM_BELIEF_COARSEST;
}

void idm_belief_world_destroy(idm_belief_world *world)
{
  if (!world) return;
  idm_lattice_destroy(world->lattice);
  idm_mdp_destroy(world->world);
  free(world->start);
  free(world);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Scratch of a look at what follows. */
typedef struct ahead {
  const idm_mind *mind;
  const idm_lattice *lattice;
  double *next;     /* [state] */
  double *weight;   /* [state] */
  uint32_t *vertex; /* [state] */
  double *scratch;  /* [2][state] */
  double *mass;     /* [point]: of the row under way; 0 between rows */
} ahead;

static void close_ahead(ahead *a)
{
  free(a->next);
  free(a->weight);
  free(a->vertex);
  free(a->scratch);
  free(a->mass);
}

static bool open_ahead(ahead *a, const idm_mind *mind, const idm_lattice *lattice)
{
  const size_t states = mind->n.states;
  *a = (ahead){.mind = mind,
               .lattice = lattice,
               .next = idm_new(states, sizeof *a->next),
               .weight = idm_new(states, sizeof *a->weight),
               .vertex = idm_new(states, sizeof *a->vertex),
               .scratch = idm_new(2 * states, sizeof *a->scratch),
               .mass = idm_new(lattice->points, sizeof *a->mass)};
  return a->next && a->weight && a->vertex && a->scratch && a->mass;
}

/* The row of an action at a point, from entry `at` on; returns where it ends. What is seen may lead
 * to one point in several ways, which are added up. */
static size_t put_row(ahead *a, size_t point, size_t action, size_t at, idm_moves *moves)
{
  const idm_mind *mind = a->mind;
  const double *z = a->lattice->belief + point * mind->n.states;
  const size_t first = at;
  for (size_t x = 0; x < mind->n.observations && !mind->terminal[action]; x++) {
    const double p = idm_mind_update(mind, z, action, x, a->next);
    if (!(p > 0)) continue;
    const size_t count = idm_lattice_locate(a->lattice, a->next, a->vertex, a->weight, a->scratch);
    for (size_t i = 0; i < count; i++) {
      double *mass = &a->mass[a->vertex[i]];
      if (*mass == 0) moves->next[at++] = a->vertex[i];
      *mass += p * a->weight[i];
    }
  }
  for (size_t i = first; i < at; i++) {
    moves->probability[i] = a->mass[moves->next[i]];
    a->mass[moves->next[i]] = 0;
  }
  return at;
}

static void put_rows(ahead *a, idm_moves *moves)
{
  const size_t points = a->lattice->points;
  size_t at = 0;
  for (size_t row = 0; row < a->mind->n.actions * points; row++) {
    moves->first[row] = at;
    at = put_row(a, row % points, row / points, at, moves);
  }
  moves->first[a->mind->n.actions * points] = at;
}

static void put_start(ahead *a, double *start)
{
  const size_t count =
      idm_lattice_locate(a->lattice, a->mind->start, a->vertex, a->weight, a->scratch);
  for (size_t i = 0; i < count; i++) start[a->vertex[i]] = a->weight[i];
}

/* Entries that rows may have at most. */
static size_t room(const idm_mind *mind, size_t points)
{
  const size_t row = mind->n.observations * mind->n.states;
  return idm_times(idm_times(mind->n.actions, points), row < points ? row : points);
}

static idm_status fill(idm_belief_world *w, const idm_mind *mind, idm_error *opt_error)
{
  ahead a;
  const size_t points = w->lattice->points;
  w->start = idm_new(points, sizeof *w->start);
  w->world = idm_new(1, sizeof *w->world);
  idm_status status = open_ahead(&a, mind, w->lattice) && w->start && w->world
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    *w->world = (idm_mdp){.n = mind->n,
                          .discount = mind->discount,
                          .horizon = (size_t)mind->setting->horizon,
                          .start = w->start,
                          .prior = mind->prior};
    w->world->n.states = points;
    status =
        idm_moves_create(mind->n.actions * points, room(mind, points), &w->world->moves, opt_error);
  }
  if (status == IDM_OK) {
    put_start(&a, w->start);
    put_rows(&a, w->world->moves);
  }
  close_ahead(&a);
  return status;
}

idm_status idm_belief_world_create(const idm_mind *mind, int resolution, const char *who,
                                   idm_belief_world **ret_world, idm_error *opt_error)
{
  *ret_world = NULL;
  const size_t points = idm_lattice_count(mind->n.states, resolution);
  if (points > most_points)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' counts decisions at the points of a lattice of beliefs, which of %zu "
                    "hidden states at resolution %d has more than %zu; use --inverse map or bayes",
                    who, mind->n.states, resolution, most_points);
  idm_belief_world *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  idm_status status = idm_lattice_create(mind->n.states, resolution, false, &w->lattice, opt_error);
  if (status == IDM_OK) status = fill(w, mind, opt_error);
  if (status == IDM_OK)
    *ret_world = w;
  else
    idm_belief_world_destroy(w);
  return status;
}

/* --- logs ----------------------------------------------------------------------------------- */

/* Placing under way. */
typedef struct placing {
  ahead ahead;
  idm_stations *stations;
  size_t next; /* rows before this one have their stations */
  size_t at;   /* entries so far */
} placing;

/* Rows that are passed over have none. */
static void pass(placing *p, size_t row)
{
  while (p->next < row) p->stations->first[++p->next] = p->at;
}

static idm_status place(void *context, size_t row, const double *z, idm_error *opt_error)
{
  (void)opt_error;
  placing *p = context;
  pass(p, row);
  p->at += idm_lattice_locate(p->ahead.lattice, z, p->stations->state + p->at,
                              p->stations->weight + p->at, p->ahead.scratch);
  pass(p, row + 1);
  return IDM_OK;
}

idm_status idm_belief_world_stations(const idm_belief_world *world, const idm_mind *mind,
                                     const idm_data *data, idm_stations **ret_stations,
                                     idm_notes *opt_notes, idm_error *opt_error)
{
  *ret_stations = NULL;
  placing p = {0};
  idm_status status =
      open_ahead(&p.ahead, mind, world->lattice) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_stations_create(data->rows, idm_times(data->rows, mind->n.states), &p.stations,
                                 opt_error);
  if (status == IDM_OK) status = idm_mind_follow(mind, data, place, &p, opt_notes, opt_error);
  close_ahead(&p.ahead);
  if (status != IDM_OK) {
    idm_stations_destroy(p.stations);
    return status;
  }
  pass(&p, data->rows);
  *ret_stations = p.stations;
  return IDM_OK;
}

void idm_belief_world_remark(const idm_belief_world *world, int coarser, double share,
                             idm_finding *finding)
{
  static const double same_choices = 0.02;
  idm_notes_add(&finding->words,
                "occupancies are over %zu beliefs of a lattice of resolution %d; at resolution %d "
                "the answer makes other choices in %.2g %% of decisions",
                world->lattice->points, world->lattice->resolution, coarser, 100 * share);
  if (!(share <= same_choices))
    idm_notes_add(&finding->faults,
                  "the answer depends on the lattice of beliefs: at half the resolution it makes "
                  "other choices in %.2g %% of decisions; raise `resolution`, or give more data",
                  100 * share);
}
