/* Groups of decisions by what a Bayesian would believe: see the header. */
#include "invert/assess/beliefs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "belief/filter.h"

void idm_beliefs_close(beliefs *b)
{
  free(b->group);
  *b = (beliefs){0};
}

/* --- beliefs -------------------------------------------------------------------------------- */

/* Beliefs after the nodes of one stratum; NaN where something that they need was not recorded. */
typedef struct filtered {
  const residual *r;
  const stratum *of;
  double *z;       /* [node][state] */
  double *emitter; /* [state] */
} filtered;

/* Where trajectories begin. */
static void begin(const filtered *f, const idm_prefix_node *node, double *z)
{
  const idm_setting *setting = f->r->setting;
  const size_t states = setting->states.count;
  const int32_t own = f->of->tree->begin_start[node->begin];
  memcpy(z, own >= 0 ? f->of->tree->data->start_belief + (size_t)own * states : setting->start,
         states * sizeof *z);
}

/* After a row. */
static void step(const filtered *f, const idm_prefix_node *node, const double *before, double *z)
{
  const size_t states = f->r->setting->states.count;
  bool possible = node->action != IDM_MISSING && !node->missed && isfinite(before[0]);
  if (possible) {
    const idm_world world = idm_world_of_setting(f->r->setting, (size_t)node->action);
    if (node->observation == IDM_MISSING) {
      idm_filter_predict(states, world.transition, before, z);
    } else {
      idm_filter_emitter(&world, before, f->emitter);
      possible = idm_filter_correct(&world, f->emitter, (size_t)node->observation, z) > 0;
    }
  }
  for (size_t s = 0; s < states && !possible; s++) z[s] = NAN;
}

/* A parent comes before its children. */
static void filter_stratum(const filtered *f)
{
  const size_t states = f->r->setting->states.count;
  for (size_t i = 0; i < f->of->tree->nodes; i++) {
    const idm_prefix_node *node = &f->of->tree->node[i];
    double *z = f->z + i * states;
    if (node->begin >= 0)
      begin(f, node, z);
    else
      step(f, node, node->parent < 0 ? f->r->setting->start : f->z + (size_t)node->parent * states,
           z);
  }
}

/* --- groups --------------------------------------------------------------------------------- */

/* A decision by its belief. Probabilities are rounded, so that histories which lead to the same
 * belief are alike on every machine. */
typedef struct placed {
  size_t at; /* of the question */
  int32_t state;
  double probability;
} placed;

static placed place(size_t at, size_t states, const double *z)
{
  static const double unit = 1e-9;
  placed p = {.at = at, .probability = z[0]};
  for (size_t s = 1; s < states; s++)
    if (z[s] > p.probability + unit) {
      p.state = (int32_t)s;
      p.probability = z[s];
    }
  p.probability = unit * round(p.probability / unit);
  return p;
}

static int by_probability(const void *a, const void *b)
{
  const double x = ((const placed *)a)->probability, y = ((const placed *)b)->probability;
  return x < y ? -1 : x > y;
}

/* Thirds of the decisions; of equal probabilities all are in one. */
static void divide(beliefs *b, const residual *r, placed *all, size_t count)
{
  double total = 0, before = 0;
  size_t bin = 0;
  qsort(all, count, sizeof *all, by_probability);
  for (size_t i = 0; i < count; i++) total += r->question[all[i].at].asked;
  b->edge[0] = count ? all[0].probability : 0;
  for (size_t i = 0; i < count; i++) {
    const bool same = i && all[i].probability == all[i - 1].probability;
    while (!same && bin + 1 < BELIEF_BINS && before * BELIEF_BINS >= total * (double)(bin + 1))
      b->edge[++bin] = all[i].probability;
    b->group[all[i].at] = all[i].state * BELIEF_BINS + (int32_t)bin;
    before += r->question[all[i].at].asked;
  }
  while (bin < BELIEF_BINS) b->edge[++bin] = count ? all[count - 1].probability : 1;
}

static bool can_compare(const idm_setting *setting)
{
  enum { most_states = 8 };
  return !setting->fully_observed && !setting->moves && setting->states.count >= 2 &&
         setting->states.count <= most_states && setting->observations.count >= 2;
}

idm_status idm_beliefs_open(beliefs *b, const residual *r, idm_error *opt_error)
{
  const size_t states = r->setting->states.count;
  *b = (beliefs){0};
  if (!can_compare(r->setting)) return IDM_OK;
  b->group = idm_new(r->questions, sizeof *b->group);
  double *z = idm_new(idm_times(r->strata->nodes, states) + states, sizeof *z);
  placed *all = idm_new(r->questions, sizeof *all);
  const bool made = b->group && z && all;
  size_t count = 0;
  for (size_t c = 0; made && c < r->strata->count; c++) {
    const stratum *of = &r->strata->one[c];
    filter_stratum(&(filtered){.r = r, .of = of, .z = z + (of->first + 1) * states, .emitter = z});
  }
  for (size_t i = 0; made && i < r->questions; i++) {
    const double *own = z + (r->question[i].parent + 1) * states;
    b->group[i] = IDM_MISSING;
    if (isfinite(own[0])) all[count++] = place(i, states, own);
  }
  if (made) divide(b, r, all, count);
  if (made) b->groups = states * BELIEF_BINS;
  free(z);
  free(all);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
