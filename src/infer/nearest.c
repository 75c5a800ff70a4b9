/* The nearest point of a polyhedron, by proximal multipliers: rows and bounds are priced, what is
 * left is piecewise quadratic and smooth, and Newton's method with conjugate gradients solves it to
 * the last digits (Rockafellar 1976; Li, Sun and Toh 2018 on why so few steps are enough). */
#include "infer/nearest.h"

#include <math.h>

#include "base/memory.h"

/* A wall is a row or, after those, the bounds of a column. */
typedef struct work {
  idm_program_view view;
  size_t n;
  size_t walls;
  const double *weight;
  const double *aim;
  double rho;     /* what a squared unit beyond a wall costs */
  double *x;      /* [n] */
  double *centre; /* [n]: of the proximal term */
  double *slope;  /* [n] */
  double *step;   /* [n] */
  double *rest;   /* [n]: conjugate gradients */
  double *search; /* [n] */
  double *image;  /* [n] */
  double *scale;  /* [n]: diagonal of the curvature */
  double *price;  /* [wall] */
  double *at;     /* [wall]: A x, and x */
  double *change; /* [wall]: A step, and step */
  double *excess; /* [wall]: how far at + price / rho is beyond its wall */
  bool *active;   /* [wall]: exceeded, or to be met exactly */
  idm_interrupt ask;
  void *context;
  bool stopped;
  long left; /* steps of conjugate gradients until it is given up */
} work;

/* The weight of staying near where the last round ended: it settles columns that nothing else
 * does. */
static const double sigma = 1e-7;

/* --- pieces --------------------------------------------------------------------------------- */

static bool held(const work *w, size_t j)
{
  return w->view.low[j] == w->view.high[j];
}

static double beyond(const work *w, size_t wall, double at)
{
  const bool row = wall < w->view.rows;
  const size_t j = wall - w->view.rows;
  const double low = row ? w->view.lower[wall] : w->view.low[j];
  const double high = row ? w->view.upper[wall] : w->view.high[j];
  return at < low ? at - low : at > high ? at - high : 0;
}

/* y[wall] = A v, and v itself. */
static void spread(const work *w, const double *v, double *y)
{
  const idm_program_view *a = &w->view;
  for (size_t i = 0; i < a->rows; i++) {
    double sum = 0;
    for (size_t k = a->first[i]; k < a->first[i + 1]; k++) sum += a->value[k] * v[a->column[k]];
    y[i] = sum;
  }
  memcpy(y + a->rows, v, w->n * sizeof *v);
}

/* v += factor * A' y, over walls with only[wall] where that is given. */
static void gather(const work *w, double factor, const double *y, const bool *opt_only, double *v)
{
  const idm_program_view *a = &w->view;
  for (size_t i = 0; i < a->rows; i++) {
    if (y[i] == 0 || (opt_only && !opt_only[i])) continue;
    for (size_t k = a->first[i]; k < a->first[i + 1]; k++)
      v[a->column[k]] += factor * a->value[k] * y[i];
  }
  for (size_t j = 0; j < w->n; j++)
    if (!opt_only || opt_only[a->rows + j]) v[j] += factor * y[a->rows + j];
}

static double largest(const double *v, size_t count)
{
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
  return most;
}

/* excess and slope at x. */
static void set_slope(work *w)
{
  spread(w, w->x, w->at);
  for (size_t i = 0; i < w->walls; i++)
    w->excess[i] = beyond(w, i, w->at[i] + w->price[i] / w->rho);
  for (size_t i = 0; i < w->walls; i++)
    w->active[i] = w->excess[i] != 0 || (i < w->view.rows && w->view.lower[i] == w->view.upper[i]);
  for (size_t j = 0; j < w->n; j++)
    w->slope[j] = w->weight[j] * (w->x[j] - w->aim[j]) + sigma * (w->x[j] - w->centre[j]);
  gather(w, w->rho, w->excess, NULL, w->slope);
  for (size_t j = 0; j < w->n; j++)
    if (held(w, j)) w->slope[j] = 0;
}

/* --- a step --------------------------------------------------------------------------------- */

static void set_scale(work *w)
{
  const idm_program_view *a = &w->view;
  for (size_t j = 0; j < w->n; j++)
    w->scale[j] = w->weight[j] + sigma + (w->active[a->rows + j] ? w->rho : 0);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t k = a->first[i]; w->active[i] && k < a->first[i + 1]; k++)
      w->scale[a->column[k]] += w->rho * a->value[k] * a->value[k];
}

/* image = curvature . search, over the walls that are active; `change` is scratch. */
static void curve(work *w)
{
  spread(w, w->search, w->change);
  for (size_t j = 0; j < w->n; j++) w->image[j] = (w->weight[j] + sigma) * w->search[j];
  gather(w, w->rho, w->change, w->active, w->image);
  for (size_t j = 0; j < w->n; j++)
    if (held(w, j)) w->image[j] = 0;
}

/* step = - curvature^-1 slope, about; preconditioned by the diagonal. */
static void find_step(work *w, double accuracy)
{
  double energy = 0;
  double goal = 0;
  set_scale(w);
  for (size_t j = 0; j < w->n; j++) {
    w->step[j] = 0;
    w->rest[j] = -w->slope[j];
    w->search[j] = w->rest[j] / w->scale[j];
    energy += w->rest[j] * w->search[j];
  }
  goal = accuracy * accuracy * energy;
  for (long i = 0; w->left > 0 && energy > goal && energy > 0; i++, w->left--) {
    if (i % 64 == 0 && w->ask && (w->stopped = w->ask(w->context))) return;
    double bend = 0;
    double next = 0;
    curve(w);
    for (size_t j = 0; j < w->n; j++) bend += w->search[j] * w->image[j];
    const double length = energy / bend;
    for (size_t j = 0; j < w->n; j++) {
      w->step[j] += length * w->search[j];
      w->rest[j] -= length * w->image[j];
      next += w->rest[j] * w->rest[j] / w->scale[j];
    }
    for (size_t j = 0; j < w->n; j++)
      w->search[j] = w->rest[j] / w->scale[j] + next / energy * w->search[j];
    energy = next;
  }
}

/* Derivative along the step, `length` of it away. */
static double tilt(const work *w, double length)
{
  double sum = 0;
  for (size_t j = 0; j < w->n; j++)
    sum += w->step[j] * (w->weight[j] * (w->x[j] + length * w->step[j] - w->aim[j]) +
                         sigma * (w->x[j] + length * w->step[j] - w->centre[j]));
  for (size_t i = 0; i < w->walls; i++)
    sum += w->rho * w->change[i] *
           beyond(w, i, w->at[i] + length * w->change[i] + w->price[i] / w->rho);
  return sum;
}

/* The piecewise quadratic is least where its derivative, which rises, passes 0. */
static double find_length(work *w)
{
  double low = 0;
  double high = 1;
  spread(w, w->step, w->change);
  const double first = tilt(w, 0);
  if (!(tilt(w, 1) > -1e-3 * first)) return 1;
  for (int i = 0; i < 40; i++) {
    const double middle = (low + high) / 2;
    const double here = tilt(w, middle);
    if (fabs(here) <= -1e-3 * first) return middle;
    *(here > 0 ? &high : &low) = middle;
  }
  return low > 0 ? low : high;
}

/* Minimise for the prices as they are, until no slope is left beyond `goal`. */
static void settle(work *w, double goal)
{
  enum { most = 200 };
  double last = INFINITY;
  int idle = 0;
  set_slope(w);
  for (int i = 0; i < most && !w->stopped && w->left > 0; i++) {
    const double size = largest(w->slope, w->n);
    if (size <= goal) return;
    idle = size < 0.9 * last ? 0 : idle + 1;
    if (idle > 30) return;
    last = fmin(last, size);
    find_step(w, fmax(1e-8, fmin(1e-3, 0.1 * goal / size)));
    if (w->stopped) return;
    const double length = find_length(w);
    for (size_t j = 0; j < w->n; j++) w->x[j] += length * w->step[j];
    set_slope(w);
  }
}

/* --- how good it is ------------------------------------------------------------------------- */

/* Prices from where x ended; returns how far x is from the walls that have one. */
static double raise(work *w)
{
  double most = 0;
  for (size_t i = 0; i < w->walls; i++) {
    const double stands = w->at[i] + w->price[i] / w->rho - w->excess[i];
    most = fmax(most, fabs(w->at[i] - stands) / fmax(1, fabs(w->at[i])));
    w->price[i] = w->rho * w->excess[i];
  }
  return most;
}

/* The slope that prices leave; rest and image are scratch. */
static double unpaid(work *w)
{
  const idm_program_view *a = &w->view;
  double most = 0;
  for (size_t j = 0; j < w->n; j++) {
    w->rest[j] = w->weight[j] * (w->x[j] - w->aim[j]);
    w->image[j] = fmax(1, fabs(w->rest[j]));
  }
  gather(w, 1, w->price, NULL, w->rest);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t k = a->first[i]; k < a->first[i + 1]; k++)
      w->image[a->column[k]] = fmax(w->image[a->column[k]], fabs(a->value[k] * w->price[i]));
  for (size_t j = 0; j < w->n; j++)
    if (!held(w, j)) most = fmax(most, fabs(w->rest[j]) / w->image[j]);
  return most;
}

/* Rounds of prices. */
static double iterate(work *w)
{
  enum { most = 400 };
  const double enough = 1e-11;
  double last = INFINITY;
  double best = INFINITY;
  double goal = 1e-3;
  int idle = 0;
  for (int round = 0; round < most && !w->stopped && w->left > 0; round++) {
    memcpy(w->centre, w->x, w->n * sizeof *w->x);
    settle(w, goal);
    const double gap = raise(w);
    const double residual = fmax(gap, unpaid(w));
    if (residual <= enough) return residual;
    /* Rounding sets an end to it. */
    idle = residual < 0.9 * best ? 0 : idle + 1;
    if (idle > (residual <= 1e-10 ? 2 : 25)) return residual;
    best = fmin(best, residual);
    if (gap > 0.2 * last && w->rho < 1e5) w->rho *= 5;
    last = gap;
    goal = fmax(0.3 * enough, fmin(0.1 * goal, 0.1 * residual));
  }
  return best;
}

/* --- the problem ---------------------------------------------------------------------------- */

static bool open_work(const idm_program *program, const idm_nearest *nearest, double *x, work *w)
{
  *w = (work){.view = idm_program_look(program),
              .weight = nearest->weight,
              .aim = nearest->aim,
              .rho = 10,
              .x = x};
  w->n = w->view.columns;
  w->walls = w->view.rows + w->n;
  w->left = (long)(nearest->effort / (double)(w->view.first[w->view.rows] + 8 * w->n));
  w->centre = idm_new(idm_times(7, w->n), sizeof *w->centre);
  w->price = idm_new(idm_times(4, w->walls), sizeof *w->price);
  w->active = idm_new(w->walls, sizeof *w->active);
  if (!w->centre || !w->price || !w->active) return false;
  w->slope = w->centre + w->n;
  w->step = w->centre + 2 * w->n;
  w->rest = w->centre + 3 * w->n;
  w->search = w->centre + 4 * w->n;
  w->image = w->centre + 5 * w->n;
  w->scale = w->centre + 6 * w->n;
  w->at = w->price + w->walls;
  w->change = w->price + 2 * w->walls;
  w->excess = w->price + 3 * w->walls;
  return true;
}

static void close_work(work *w)
{
  free(w->centre);
  free(w->price);
  free(w->active);
}

idm_status idm_program_nearest(const idm_program *program, idm_nearest *nearest, double *x,
                               idm_interrupt opt_interrupt, void *context, idm_error *opt_error)
{
  work w;
  const bool made = open_work(program, nearest, x, &w);
  if (made) {
    w.ask = opt_interrupt;
    w.context = context;
    for (size_t j = 0; j < w.n; j++) x[j] = fmax(w.view.low[j], fmin(w.view.high[j], x[j]));
    nearest->residual = iterate(&w);
    nearest->stopped = w.stopped;
    nearest->distance = 0;
    for (size_t j = 0; j < w.n; j++)
      nearest->distance += w.weight[j] * (x[j] - w.aim[j]) * (x[j] - w.aim[j]);
    nearest->distance = sqrt(nearest->distance);
  }
  close_work(&w);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
