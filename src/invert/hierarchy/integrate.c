/* Integrates the likelihood of each person over the person's own numbers, given each draw of the
 * population (docs/method/people.md, 5).
 *
 * The integrand is evaluated at the points of a lattice in the coordinates z of the person's
 * posterior draws, e = mean + A z with A A' their covariance. The trapezoidal rule on a lattice
 * converges exponentially for integrands that are smooth and vanish at both ends (Trefethen and
 * Weideman 2014). The lattice grows from its centre until the integrand is negligible, finer
 * lattices contain the coarser ones, and all draws of the population use the same points. A
 * population that is much narrower than the lattice uses a polynomial that was
 * fitted to the log-likelihoods at the points.
 *
 * Contents: populations · lattice · polynomial · one person · all people */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/system.h"
#include "invert/cancel.h"
#include "invert/hierarchy/hierarchy.h"

enum { max_effects = IDM_MAX_INTEGRATED_EFFECTS };
/* Largest change, in nats, between two lattices of which the finer one is used. */
static const double tolerance = 1e-4;

static const double pi = 3.14159265358979323846;
static const double log_two_pi = 1.837877066409345483560659472811;

/* --- populations ---------------------------------------------------------------------------- */

/* Draws of the population. */
typedef struct populations {
  const idm_design *design;
  size_t effects;
  size_t coefficients;
  size_t draws;   /* over all chains */
  double *factor; /* [draw][effect][effect]: L, Sigma = L L' */
  double *b;      /* [draw][coefficient] */
  size_t *first;  /* [effects + 1]: first coefficient of each effect */
} populations;

static void populations_close(populations *p)
{
  free(p->factor);
  free(p->b);
}

/* Covariance of a draw. */
static void fill_covariance(const idm_people *people, size_t draw, double *sigma)
{
  const size_t k = people->effects, all = people->chains * people->draws;
  for (size_t i = 0; i < k; i++)
    for (size_t j = 0; j <= i; j++) {
      const double r = i == j ? 1 : people->correlation[(i * (i - 1) / 2 + j) * all + draw];
      sigma[i * k + j] = sigma[j * k + i] =
          r * people->sd[i * all + draw] * people->sd[j * all + draw];
    }
}

static idm_status populations_open(populations *p, const idm_design *design,
                                   const idm_people *people, idm_error *opt_error)
{
  const size_t k = design->effects;
  *p = (populations){.design = design,
                     .effects = k,
                     .coefficients = people->coefficient_first[k],
                     .draws = people->chains * people->draws,
                     .first = people->coefficient_first};
  p->factor = idm_new(idm_times(p->draws, k * k), sizeof *p->factor);
  p->b = idm_new(idm_times(p->draws, p->coefficients), sizeof *p->b);
  if (!p->factor || !p->b) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < p->draws; s++) {
    double *factor = p->factor + s * k * k;
    fill_covariance(people, s, factor);
    if (!idm_cholesky(k, factor))
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "draw %zu of the population has a covariance that is not positive definite",
                      s + 1);
    for (size_t a = 0; a < p->coefficients; a++)
      p->b[s * p->coefficients + a] = people->coefficient[a * p->draws + s];
  }
  return IDM_OK;
}

/* The normal of a person given a draw, in coordinates z with e = centre + A z: its standardised
 * argument is slope z + offset. */
typedef struct standard_normal {
  double slope[max_effects * max_effects];
  double offset[max_effects];
  double log_constant; /* log of the density by e where slope z + offset is 0 */
} standard_normal;

/* Standardise the normal of covariance L L', L = factor. */
static void standardise(const populations *p, size_t person, size_t draw, const double *factor,
                        const double *centre, const double *a, standard_normal *n)
{
  const size_t k = p->effects;
  const population view = {.effects = k, .first = p->first, .b = p->b + draw * p->coefficients};
  double column[max_effects];
  idm_population_mean(p->design, &view, person, n->offset);
  n->log_constant = -0.5 * (double)k * log_two_pi;
  for (size_t i = 0; i < k; i++) {
    n->offset[i] = centre[i] - n->offset[i];
    n->log_constant -= log(factor[i * k + i]);
  }
  idm_lower_solve(k, factor, n->offset);
  for (size_t j = 0; j < k; j++) {
    for (size_t i = 0; i < k; i++) column[i] = i < j ? 0 : a[i * k + j];
    idm_lower_solve(k, factor, column);
    for (size_t i = 0; i < k; i++) n->slope[i * k + j] = column[i];
  }
}

/* Minus half the square of slope z + offset. */
static double log_kernel(size_t k, const standard_normal *n, const double *z)
{
  double square = 0;
  for (size_t i = 0; i < k; i++) {
    double x = n->offset[i];
    for (size_t j = 0; j < k; j++) x += n->slope[i * k + j] * z[j];
    square += x * x;
  }
  return -0.5 * square;
}

/* --- lattice -------------------------------------------------------------------------------- */

/* Points in levels. Level 0 has a spacing of 1, level 1 adds the centres of its cubes, level 2
 * completes a spacing of 1/2 or, in one dimension, 1/4. In more than three dimensions level 2 has
 * too many points. */
enum { LEVELS = 3, max_points = 1 << 18 };
typedef struct lattice {
  size_t effects;
  size_t levels;
  size_t points;
  size_t room;
  double *z;               /* [point][effect], by level */
  double *value;           /* [point]: log-likelihood */
  size_t end[LEVELS];      /* number of points of a level and of those below */
  double log_cell[LEVELS]; /* log volume per point */
  uint64_t *key;           /* [slots]: hash table of the coordinates; 0: empty */
  size_t slots;            /* a power of two, at least twice the number of points */
} lattice;

static void lattice_close(lattice *l)
{
  free(l->z);
  free(l->value);
  free(l->key);
}

static void lattice_open(lattice *l, size_t effects)
{
  *l = (lattice){.effects = effects,
                 .levels = effects <= 3 ? 3 : 2,
                 .log_cell = {0, -log(2), -(double)(effects == 1 ? 2 : effects) * log(2)}};
}

/* Key of a point, given four times its coordinates. */
static uint64_t key_of(size_t k, const int *quarters)
{
  uint64_t key = 1;
  for (size_t i = 0; i < k; i++) key = key << 12 | (uint64_t)(quarters[i] + 2048);
  return key;
}

/* Slot of a key, or the empty slot in which it belongs. */
static size_t slot_of(const lattice *l, uint64_t key)
{
  size_t slot = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (l->slots - 1);
  while (l->key[slot] && l->key[slot] != key) slot = (slot + 1) & (l->slots - 1);
  return slot;
}

static bool rehash(lattice *l)
{
  const size_t slots = l->slots;
  uint64_t *old = l->key;
  l->slots = slots ? 2 * slots : 1024;
  l->key = idm_new(l->slots, sizeof *l->key);
  for (size_t i = 0; l->key && i < slots; i++)
    if (old[i]) l->key[slot_of(l, old[i])] = old[i];
  free(old);
  return l->key;
}

/* Add a point, unless it is present, out of range, or there are too many. Returns false if memory
 * runs out. */
static bool add_point(lattice *l, const int *quarters)
{
  const size_t k = l->effects;
  for (size_t i = 0; i < k; i++)
    if (abs(quarters[i]) > 2000) return true;
  if (l->points == max_points) return true;
  if (2 * l->points >= l->slots && !rehash(l)) return false;
  const uint64_t key = key_of(k, quarters);
  const size_t slot = slot_of(l, key);
  if (l->key[slot]) return true;
  if (l->points == l->room) {
    const size_t room = l->room ? 2 * l->room : 256;
    double *z = realloc(l->z, room * k * sizeof *z);
    if (z) l->z = z;
    double *value = z ? realloc(l->value, room * sizeof *value) : NULL;
    if (!value) return false;
    l->value = value;
    l->room = room;
  }
  l->key[slot] = key;
  for (size_t i = 0; i < k; i++) l->z[l->points * k + i] = 0.25 * quarters[i];
  l->points++;
  return true;
}

/* Add the neighbours of a point of level 0 that belong to a level. Returns false if memory runs
 * out. */
static bool add_neighbours(lattice *l, size_t point, size_t level)
{
  const size_t k = l->effects;
  const int length = level == 0 ? 4 : level == 1 || k > 1 ? 2 : 1;
  int step[max_effects], quarters[max_effects];
  for (size_t i = 0; i < k; i++) step[i] = -1;
  for (size_t i = 0; i < k;) {
    size_t moved = 0;
    for (size_t j = 0; j < k; j++) moved += step[j] != 0;
    const bool included = level == 0 ? moved == 1 : level == 1 ? moved == k : moved > 0;
    for (size_t j = 0; j < k; j++) quarters[j] = (int)(4 * l->z[point * k + j]) + length * step[j];
    if (included && !add_point(l, quarters)) return false;
    for (i = 0; i < k && ++step[i] > 1; i++) step[i] = -1;
  }
  return true;
}

/* log of a sum over the points of exp(value + log_kernel), for the levels up to `level`,
 * each with its own volume per point. `work` has an element per point. */
static void sum_levels(const lattice *l, size_t level, const standard_normal *n, double *work,
                       double *log_integral)
{
  const size_t k = l->effects, points = l->end[level];
  double largest = -INFINITY, sum = 0;
  for (size_t i = 0; i < points; i++) {
    work[i] = l->value[i] + log_kernel(k, n, l->z + i * k);
    largest = fmax(largest, work[i]);
  }
  for (size_t v = 0, i = 0; v <= level; v++) {
    for (; i < l->end[v] && isfinite(largest); i++)
      if (work[i] > largest - 40) sum += exp(work[i] - largest);
    log_integral[v] = largest + (sum > 0 ? log(sum) : -INFINITY) + l->log_cell[v] + n->log_constant;
  }
}

/* --- polynomial ----------------------------------------------------------------------------- */

/* Polynomial in z, fitted to the log-likelihoods at the points of a lattice. */
enum { max_degree = 8, max_terms = 84 };
static const unsigned degree_of[max_effects + 1] = {0, 8, 8, 6, 4};
typedef struct polynomial {
  size_t effects;
  size_t terms;
  unsigned char power[max_terms][max_effects];
  double coefficient[max_terms];
} polynomial;

/* List the powers of a degree of at most `degree`. */
static void list_terms(polynomial *p, size_t effects, unsigned degree)
{
  unsigned char power[max_effects] = {0};
  *p = (polynomial){.effects = effects};
  for (;;) {
    unsigned sum = 0;
    for (size_t i = 0; i < effects; i++) sum += power[i];
    if (sum <= degree) memcpy(p->power[p->terms++], power, sizeof power);
    size_t i = 0;
    while (i < effects && ++power[i] > degree) power[i++] = 0;
    if (i == effects) return;
  }
}

/* Values of all terms at z, by powers of z / 2. */
static void fill_terms(const polynomial *p, const double *z, double *term)
{
  double power[max_effects][max_degree + 1];
  for (size_t i = 0; i < p->effects; i++) {
    power[i][0] = 1;
    for (size_t d = 1; d <= max_degree; d++) power[i][d] = power[i][d - 1] * z[i] / 2;
  }
  for (size_t t = 0; t < p->terms; t++) {
    term[t] = 1;
    for (size_t i = 0; i < p->effects; i++) term[t] *= power[i][p->power[t][i]];
  }
}

static double polynomial_at(const polynomial *p, const double *z)
{
  double term[max_terms], sum = 0;
  fill_terms(p, z, term);
  for (size_t t = 0; t < p->terms; t++) sum += p->coefficient[t] * term[t];
  return sum;
}

/* Fit by least squares with weights exp(-|z|^2 / 4). Returns false without enough finite values. */
static idm_status fit_polynomial(polynomial *p, unsigned degree, const lattice *l, bool *fitted,
                                 idm_error *opt_error)
{
  const size_t k = l->effects, points = l->points;
  list_terms(p, k, degree);
  double *a = idm_new(idm_times(points, p->terms), sizeof *a);
  double *b = idm_new(points, sizeof *b);
  size_t rows = 0, rank = 0;
  bool done = a && b;
  for (size_t i = 0; done && i < points; i++) {
    double square = 0;
    for (size_t j = 0; j < k; j++) square += l->z[i * k + j] * l->z[i * k + j];
    if (!isfinite(l->value[i]) || square > 16) continue;
    const double weight = exp(-square / 8);
    fill_terms(p, l->z + i * k, a + rows * p->terms);
    for (size_t t = 0; t < p->terms; t++) a[rows * p->terms + t] *= weight;
    b[rows++] = weight * l->value[i];
  }
  done = done && idm_least_squares(rows, p->terms, a, b, 1e-12, p->coefficient, &rank);
  *fitted = done && rank == p->terms;
  free(a);
  free(b);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

/* Precision of a person given a draw: that of the population, plus the curvature of a quadratic
 * polynomial. */
static void precision_of(const polynomial *quadratic, const standard_normal *n, double *precision)
{
  const size_t k = quadratic->effects;
  memset(precision, 0, k * k * sizeof *precision);
  for (size_t i = 0; i < k; i++)
    for (size_t j = 0; j < k; j++)
      for (size_t m = 0; m < k; m++)
        precision[i * k + j] += n->slope[m * k + i] * n->slope[m * k + j];
  for (size_t t = 0; t < quadratic->terms; t++) {
    size_t at[2], count = 0;
    for (size_t i = 0; i < k; i++)
      for (unsigned d = 0; d < quadratic->power[t][i]; d++) at[count++] = i;
    if (count < 2) continue;
    precision[at[0] * k + at[1]] -= quadratic->coefficient[t] / 4;
    precision[at[1] * k + at[0]] -= quadratic->coefficient[t] / 4;
  }
}

/* Normal approximation of a person given a draw: z = centre + A y. Returns false without a finite
 * Cholesky factor of the precision. */
static bool approximate(const polynomial *quadratic, const standard_normal *n, double *centre,
                        double *a)
{
  const size_t k = quadratic->effects;
  double precision[max_effects * max_effects], inverse[max_effects * max_effects];
  precision_of(quadratic, n, precision);
  for (size_t i = 0; i < k; i++) {
    centre[i] = 0;
    for (size_t m = 0; m < k; m++) centre[i] -= n->slope[m * k + i] * n->offset[m];
  }
  for (size_t t = 0; t < quadratic->terms; t++) {
    unsigned degree = 0;
    size_t at = 0;
    for (size_t i = 0; i < k; i++) {
      degree += quadratic->power[t][i];
      if (quadratic->power[t][i]) at = i;
    }
    if (degree == 1) centre[at] += quadratic->coefficient[t] / 2;
  }
  if (!idm_cholesky(k, precision)) return false;
  idm_lower_solve(k, precision, centre);
  idm_lower_solve_transposed(k, precision, centre);
  idm_cholesky_inverse(k, precision, inverse);
  memcpy(a, inverse, k * k * sizeof *a);
  return idm_cholesky(k, a);
}

/* Error of the lattice for a normal integrand, 2 k exp(-2 pi^2 d^2 / lambda): d is the shortest
 * vector of the dual lattice, lambda the largest eigenvalue of the precision. Differences of levels
 * do not show a normal that is narrow along one axis, since levels 1 and 2 have the same planes. */
static double lattice_error(const polynomial *quadratic, const standard_normal *n, size_t level)
{
  const size_t k = quadratic->effects;
  const double dual = k == 1 ? (level == 1 ? 2 : 4) : level == 1 ? sqrt(2) : 2;
  double precision[max_effects * max_effects], value[max_effects],
      vector[max_effects * max_effects];
  precision_of(quadratic, n, precision);
  for (size_t i = 0; i < k * k; i++)
    if (!isfinite(precision[i])) return INFINITY;
  idm_symmetric_eigen(k, precision, value, vector);
  const double largest = value[k - 1];
  return largest > 0 ? 2 * (double)k * exp(-2 * pi * pi * dual * dual / largest) : 0;
}

/* --- one person ----------------------------------------------------------------------------- */

typedef struct integration {
  const idm_people *people;
  hierarchy model;
  populations populations;
  idm_cancel *cancel;
  idm_integrated *output;
  atomic_bool failed;
  pthread_mutex_t mutex; /* protects status and error */
  idm_status status;
  idm_error error;
} integration;

/* Draws by which a point is relevant or not. */
enum { PROBES = 32 };

/* Scratch of one person. */
typedef struct person_work {
  integration *g;
  const leaf_worker *worker;
  size_t person;
  double centre[max_effects];          /* mean of the person's draws */
  double a[max_effects * max_effects]; /* Cholesky factor of their covariance */
  double log_det;                      /* log det A */
  standard_normal probe[PROBES];
  double largest[PROBES]; /* largest integrand of a probe so far */
  lattice lattice;
  polynomial quadratic; /* fitted to the points of the lattice */
  bool has_quadratic;
  lattice ball;   /* of the polynomial's integrals */
  double *work;   /* [point] */
  double *result; /* [draw] */
  double *change; /* [draw]: estimate of the error */
} person_work;

static void close_person(person_work *w)
{
  lattice_close(&w->lattice);
  lattice_close(&w->ball);
  free(w->work);
  free(w->result);
  free(w->change);
}

/* The normal of the person at a draw. */
static void set_normal(const person_work *w, size_t draw, standard_normal *n)
{
  const populations *p = &w->g->populations;
  standardise(p, w->person, draw, p->factor + draw * p->effects * p->effects, w->centre, w->a, n);
}

/* The same, widened by the covariance of the person's draws: the lattice resolves it. Returns false
 * if rounding prevents it. */
static bool set_wide_normal(const person_work *w, size_t draw, standard_normal *n)
{
  const populations *p = &w->g->populations;
  const size_t k = p->effects;
  const double *l = p->factor + draw * k * k;
  double factor[max_effects * max_effects] = {0};
  for (size_t i = 0; i < k; i++)
    for (size_t j = 0; j < k; j++)
      for (size_t m = 0; m < k; m++)
        factor[i * k + j] += l[i * k + m] * l[j * k + m] + w->a[i * k + m] * w->a[j * k + m];
  if (!idm_cholesky(k, factor)) return false;
  standardise(p, w->person, draw, factor, w->centre, w->a, n);
  return true;
}

/* Returns false if the draws have no covariance. */
static bool set_frame(person_work *w)
{
  const idm_people *people = w->g->people;
  const size_t all = people->chains * people->draws, k = people->effects;
  const idm_points points = {.x = people->effect + w->person * all,
                             .count = all,
                             .dimension = k,
                             .point_stride = 1,
                             .number_stride = people->people * all};
  idm_covariance(&points, 1, w->centre, w->a);
  const bool varies = idm_cholesky(k, w->a);
  for (size_t i = 0; i < k; i++) w->log_det += varies ? log(w->a[i * k + i]) : -INFINITY;
  for (size_t i = 0; i < PROBES && varies; i++) {
    set_normal(w, i * all / PROBES, &w->probe[i]);
    w->largest[i] = -INFINITY;
  }
  return varies;
}

static idm_status open_person(person_work *w, idm_error *opt_error)
{
  const size_t draws = w->g->populations.draws;
  lattice_open(&w->lattice, w->g->people->effects);
  lattice_open(&w->ball, w->g->people->effects);
  w->work = idm_new(max_points, sizeof *w->work);
  w->result = idm_new(draws, sizeof *w->result);
  w->change = idm_new(draws, sizeof *w->change);
  return w->work && w->result && w->change ? IDM_OK : idm_fail_memory(opt_error);
}

/* Evaluate the log-likelihood at a point. *ret_relevant: its integrand is not negligible for one of
 * the probes. */
static idm_status evaluate(person_work *w, size_t point, bool *ret_relevant, idm_error *opt_error)
{
  static const double negligible = 15; /* nats below the largest */
  const size_t k = w->lattice.effects;
  const double *z = w->lattice.z + point * k;
  double e[max_effects];
  *ret_relevant = false;
  idm_status status = idm_cancel_check(w->g->cancel, opt_error);
  if (status != IDM_OK) return status;
  memcpy(e, z, k * sizeof *e);
  idm_lower_multiply(k, w->a, e);
  for (size_t j = 0; j < k; j++) e[j] += w->centre[j];
  status = idm_hierarchy_exact(&w->g->model, w->worker, w->person, e, &w->lattice.value[point],
                               opt_error);
  for (size_t i = 0; i < PROBES && status == IDM_OK; i++) {
    const double term = w->lattice.value[point] + log_kernel(k, &w->probe[i], z);
    *ret_relevant = *ret_relevant || term > w->largest[i] - negligible;
    w->largest[i] = fmax(w->largest[i], term);
  }
  return status;
}

/* Grow level 0 from the centre: every relevant point adds its neighbours. Then add the neighbours
 * of the relevant points that belong to the level. */
static idm_status grow_level(person_work *w, size_t level, idm_error *opt_error)
{
  static const int origin[max_effects] = {0};
  lattice *l = &w->lattice;
  const size_t begin = l->points;
  bool room = level || add_point(l, origin), relevant;
  idm_status status = IDM_OK;
  for (size_t i = 0; level && room && i < l->end[0]; i++) room = add_neighbours(l, i, level);
  for (size_t i = begin; room && i < l->points && status == IDM_OK; i++) {
    status = evaluate(w, i, &relevant, opt_error);
    if (!level && relevant) room = add_neighbours(l, i, 0);
  }
  l->end[level] = l->points;
  return room ? status : idm_fail_memory(opt_error);
}

/* Integrate over the lattice up to a level, for every draw. Returns the largest change from the
 * level below. */
static double integrate_level(person_work *w, size_t level)
{
  const integration *g = w->g;
  double largest = 0;
  for (size_t s = 0; s < g->populations.draws; s++) {
    standard_normal n;
    double sum[LEVELS];
    set_normal(w, s, &n);
    sum_levels(&w->lattice, level, &n, w->work, sum);
    w->result[s] = sum[level] + w->log_det;
    w->change[s] = fmax(fabs(sum[level] - sum[level - 1]),
                        w->has_quadratic ? lattice_error(&w->quadratic, &n, level) : INFINITY);
    largest = isnan(w->change[s]) ? INFINITY : fmax(largest, w->change[s]);
  }
  return largest;
}

/* Fill the ball of the polynomial's integrals: levels 0 and 1 within 5 sds. */
static bool fill_ball(lattice *l)
{
  static const int origin[max_effects] = {0};
  bool room = add_point(l, origin);
  for (size_t level = 0; level < 2; level++) {
    for (size_t i = 0; room && i < (level ? l->end[0] : l->points); i++) {
      double square = 0;
      for (size_t j = 0; j < l->effects; j++)
        square += l->z[i * l->effects + j] * l->z[i * l->effects + j];
      if (square < 25) room = add_neighbours(l, i, level);
    }
    l->end[level] = l->points;
  }
  return room;
}

/* log of the integral of a polynomial times a normal, over a lattice in the coordinates of its
 * normal approximation. NaN without an approximation. */
static double integrate_polynomial(person_work *w, const polynomial *p, const standard_normal *n)
{
  lattice *l = &w->ball;
  const size_t k = l->effects;
  standard_normal moved = {0};
  double centre[max_effects], a[max_effects * max_effects], sum[LEVELS], log_det = 0;
  if (!approximate(&w->quadratic, n, centre, a)) return NAN;
  moved.log_constant = n->log_constant;
  for (size_t i = 0; i < k; i++) {
    log_det += log(a[i * k + i]);
    moved.offset[i] = n->offset[i];
    for (size_t m = 0; m < k; m++) {
      moved.offset[i] += n->slope[i * k + m] * centre[m];
      for (size_t j = 0; j < k; j++) moved.slope[i * k + j] += n->slope[i * k + m] * a[m * k + j];
    }
  }
  for (size_t i = 0; i < l->points; i++) {
    double z[max_effects], square = 0;
    memcpy(z, l->z + i * k, k * sizeof *z);
    idm_lower_multiply(k, a, z);
    for (size_t j = 0; j < k; j++) {
      z[j] += centre[j];
      square += z[j] * z[j];
    }
    l->value[i] = square <= 64 ? polynomial_at(p, z) : -INFINITY;
  }
  sum_levels(l, 1, &moved, w->work, sum);
  return sum[1] + log_det + w->log_det;
}

/* Largest difference between the integrals of a polynomial and those of the lattice, over up to 64
 * widened normals; inf if the lattice does not resolve them. */
static double compare_integrals(person_work *w, const polynomial *p, size_t level)
{
  enum { compared = 64 };
  const size_t draws = w->g->populations.draws, stride = (draws - 1) / compared + 1;
  double error = 0;
  for (size_t s = 0; s < draws && error < INFINITY; s += stride) {
    standard_normal n;
    double sum[LEVELS];
    if (!set_wide_normal(w, s, &n) || lattice_error(&w->quadratic, &n, level) > tolerance)
      return INFINITY;
    sum_levels(&w->lattice, level, &n, w->work, sum);
    const double difference = fabs(sum[level] + w->log_det - integrate_polynomial(w, p, &n));
    error = isnan(difference) ? INFINITY : fmax(error, difference);
  }
  return error;
}

/* Replace the results of unresolved draws by those of a polynomial. *ret_error is its error; inf if
 * there is no polynomial. */
static idm_status resolve_draws(person_work *w, size_t level, double *ret_error,
                                idm_error *opt_error)
{
  polynomial p;
  bool fitted;
  *ret_error = INFINITY;
  if (!w->ball.points && !fill_ball(&w->ball)) return idm_fail_memory(opt_error);
  const idm_status status =
      fit_polynomial(&p, degree_of[w->lattice.effects], &w->lattice, &fitted, opt_error);
  if (status != IDM_OK || !fitted || !w->has_quadratic) return status;
  double error = compare_integrals(w, &p, level);
  for (size_t s = 0; s < w->g->populations.draws; s++) {
    standard_normal n;
    if (w->change[s] <= tolerance) continue;
    set_normal(w, s, &n);
    w->result[s] = integrate_polynomial(w, &p, &n);
    if (!isfinite(w->result[s])) error = INFINITY;
  }
  *ret_error = error;
  return IDM_OK;
}

/* Integrate by finer lattices until all draws are resolved, or the polynomial resolves the others.
 */
static idm_status refine(person_work *w, double *ret_error, idm_error *opt_error)
{
  static const double sufficient = 1e-3;
  const lattice *l = &w->lattice;
  idm_status status = grow_level(w, 0, opt_error);
  *ret_error = INFINITY;
  for (size_t level = 1; level < l->levels && status == IDM_OK && *ret_error > sufficient;
       level++) {
    status = grow_level(w, level, opt_error);
    if (status == IDM_OK)
      status = fit_polynomial(&w->quadratic, 2, l, &w->has_quadratic, opt_error);
    if (status != IDM_OK || l->points == max_points) break;
    *ret_error = integrate_level(w, level);
    if (*ret_error > tolerance) status = resolve_draws(w, level, ret_error, opt_error);
  }
  return status;
}

static idm_status integrate_person(integration *g, const leaf_worker *worker, size_t person,
                                   idm_error *opt_error)
{
  person_work w = {.g = g, .worker = worker, .person = person};
  double error = INFINITY;
  idm_status status = open_person(&w, opt_error);
  if (status == IDM_OK && set_frame(&w)) status = refine(&w, &error, opt_error);
  if (status == IDM_OK) {
    g->output->error[person] = error;
    for (size_t s = 0; s < g->populations.draws; s++)
      g->output->log_likelihood[s * g->people->people + person] = w.result[s];
  }
  close_person(&w);
  return status;
}

/* --- all people ----------------------------------------------------------------------------- */

static void run_person(void *context, size_t person)
{
  integration *g = context;
  if (atomic_load(&g->failed)) return;
  idm_error error = {0};
  const leaf_source *leaves = &g->model.leaves;
  const leaf_worker worker = {.evaluator =
                                  leaves->acquire ? leaves->acquire(leaves->context) : NULL};
  const idm_status status = integrate_person(g, &worker, person, &error);
  if (leaves->release) leaves->release(leaves->context, worker.evaluator);
  if (status == IDM_OK) return;
  pthread_mutex_lock(&g->mutex);
  if (g->status == IDM_OK) {
    g->status = status;
    g->error = error;
  }
  pthread_mutex_unlock(&g->mutex);
  atomic_store(&g->failed, true);
}

void idm_integrated_destroy(idm_integrated *integrated)
{
  if (!integrated) return;
  free(integrated->log_likelihood);
  free(integrated->error);
  free(integrated);
}

static idm_integrated *create_output(size_t people, size_t draws)
{
  idm_integrated *output = idm_new(1, sizeof *output);
  if (!output) return NULL;
  output->log_likelihood = idm_new(idm_times(draws, people), sizeof *output->log_likelihood);
  output->error = idm_new(people, sizeof *output->error);
  if (output->log_likelihood && output->error) return output;
  idm_integrated_destroy(output);
  return NULL;
}

static idm_status open_integration(integration *g, const idm_design *design,
                                   const leaf_source *leaves, idm_error *opt_error)
{
  idm_status status = idm_hierarchy_create(design, leaves, false, &g->model, opt_error);
  if (status == IDM_OK) status = populations_open(&g->populations, design, g->people, opt_error);
  if (status != IDM_OK) return status;
  g->output = create_output(design->people, g->populations.draws);
  return g->output ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_hierarchy_integrate(const idm_design *design, const leaf_source *leaves,
                                   const idm_people *people, int threads, idm_cancel *cancel,
                                   idm_integrated **ret_integrated, idm_error *opt_error)
{
  *ret_integrated = NULL;
  integration g = {.people = people, .cancel = cancel};
  pthread_mutex_init(&g.mutex, NULL);
  idm_status status = open_integration(&g, design, leaves, opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(cancel, design->people, threads, run_person, &g, opt_error);
  if (status == IDM_OK && g.status != IDM_OK) {
    status = g.status;
    if (opt_error) *opt_error = g.error;
  }
  if (status == IDM_OK)
    *ret_integrated = g.output;
  else
    idm_integrated_destroy(g.output);
  populations_close(&g.populations);
  idm_hierarchy_destroy(&g.model);
  pthread_mutex_destroy(&g.mutex);
  return status;
}
