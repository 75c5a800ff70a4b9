/* The simplex lattice and its Freudenthal triangulation (docs/method/control.md, 7). */
#include "belief/belief.h"

#include <math.h>

#include "base/memory.h"

/* Binomial coefficient C(n, k); SIZE_MAX where it, times at most k, overflows. */
static size_t choose(size_t n, size_t k)
{
  if (k > n) return 0;
  if (k > n - k) k = n - k;
  size_t value = 1;
  for (size_t i = 1; i <= k; i++) {
    const size_t product = idm_times(value, n - k + i);
    if (product == SIZE_MAX) return SIZE_MAX;
    value = product / i;
  }
  return value;
}

size_t idm_lattice_count(size_t states, int resolution)
{
  return choose((size_t)resolution + states - 1, states - 1);
}

int idm_lattice_max_resolution(size_t states, size_t points)
{
  if (states == 1) return 1;
  /* Doubling, then bisection: the count increases with r. */
  int high = 1;
  while (idm_lattice_count(states, high) <= points && high < 1 << 28) high *= 2;
  int low = 0;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (idm_lattice_count(states, middle) <= points)
      low = middle;
    else
      high = middle;
  }
  return low;
}

int idm_lattice_default(size_t states)
{
  if (states <= 3) return 99;
  const int resolution = idm_lattice_max_resolution(states, 20000);
  return resolution > 0 ? resolution : 1;
}

/* rank[i][y]: with y_1 = r >= y_2 >= ... >= y_k, the index of a point is sum_{i >= 2} C(y_i + k -
 * i, k - i + 1), the combinatorial number system. */
static idm_status fill_ranks(idm_lattice *lattice, idm_error *opt_error)
{
  const size_t k = lattice->states;
  const size_t width = (size_t)lattice->resolution + 1;
  lattice->rank = idm_new(idm_times(k, width), sizeof *lattice->rank);
  if (!lattice->rank) return idm_fail_memory(opt_error);
  for (size_t i = 1; i < k; i++)
    for (size_t y = 0; y < width; y++) lattice->rank[i * width + y] = choose(y + k - i - 1, k - i);
  return IDM_OK;
}

/* Enumerate the decreasing sequences in the order of their rank. */
static void fill_beliefs(idm_lattice *lattice, size_t *y)
{
  const size_t k = lattice->states;
  const double r = lattice->resolution;
  memset(y, 0, (k + 1) * sizeof *y);
  y[0] = (size_t)lattice->resolution;
  for (size_t point = 0; point < lattice->points; point++) {
    double *z = lattice->belief + point * k;
    for (size_t i = 0; i < k; i++) z[i] = (double)(y[i] - y[i + 1]) / r;
    /* Next sequence: increase the last coordinate that can be increased, and set those after it to
     * 0. */
    size_t i = k - 1;
    while (i > 0 && y[i] == y[i - 1]) y[i--] = 0;
    if (i > 0) y[i]++;
  }
}

idm_status idm_lattice_create(size_t states, int resolution, bool corners,
                              idm_lattice **ret_lattice, idm_error *opt_error)
{
  *ret_lattice = NULL;
  const size_t points = corners ? states : idm_lattice_count(states, resolution);
  if (points > UINT32_MAX - 64)
    return idm_fail(opt_error, IDM_MEMORY,
                    "a lattice of resolution %d over %zu states is too large", resolution, states);
  idm_lattice *lattice = idm_new(1, sizeof *lattice);
  size_t *y = idm_new(states + 1, sizeof *y);
  idm_status status = IDM_OK;
  if (!lattice || !y) {
    status = idm_fail_memory(opt_error);
    goto done;
  }
  lattice->states = states;
  lattice->resolution = resolution;
  lattice->corners = corners;
  lattice->points = points;
  if (!corners) {
    lattice->belief = idm_new(idm_times(points, states), sizeof *lattice->belief);
    if (!lattice->belief) status = idm_fail_memory(opt_error);
    if (status == IDM_OK) status = fill_ranks(lattice, opt_error);
    if (status != IDM_OK) goto done;
    fill_beliefs(lattice, y);
  }
  *ret_lattice = lattice;

done:
  free(y);
  if (status != IDM_OK) idm_lattice_destroy(lattice);
  return status;
}

void idm_lattice_destroy(idm_lattice *lattice)
{
  if (!lattice) return;
  free(lattice->rank);
  free(lattice->belief);
  free(lattice);
}

static size_t locate_corners(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                             double *weight)
{
  size_t count = 0;
  for (size_t s = 0; s < lattice->states; s++)
    if (z[s] > 0) {
      vertex[count] = (uint32_t)s;
      weight[count++] = z[s];
    }
  return count;
}

/* Two states: the general case on a line, without sorting. */
static size_t locate_pair(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                          double *weight)
{
  const double r = lattice->resolution;
  const double scaled = r * z[1];
  const double y = scaled < 0 ? 0 : scaled > r ? r : scaled;
  const uint32_t base = (uint32_t)y;
  const double fraction = y - base;
  vertex[0] = base;
  if (fraction <= 0) {
    weight[0] = 1;
    return 1;
  }
  vertex[1] = base + 1;
  weight[0] = 1 - fraction;
  weight[1] = fraction;
  return 2;
}

/* Three states: the general case in a plane, without loops. */
static size_t locate_triple(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                            double *weight)
{
  const double r = lattice->resolution;
  const size_t width = (size_t)lattice->resolution + 1;
  const double second_scaled = r * z[2], first_scaled = r * (z[2] + z[1]);
  const double y[] = {first_scaled < r ? first_scaled : r, second_scaled < r ? second_scaled : r};
  const uint32_t base[] = {(uint32_t)y[0], (uint32_t)y[1]};
  const double fraction[] = {y[0] - base[0], y[1] - base[1]};
  const size_t *first = lattice->rank + width + base[0];
  const size_t *second = lattice->rank + 2 * width + base[1];
  const bool second_first =
      fraction[1] > fraction[0]; /* the coordinate with the larger fraction steps first */
  const double high = second_first ? fraction[1] : fraction[0],
               low = second_first ? fraction[0] : fraction[1];
  size_t count = 0, index = first[0] + second[0];
  vertex[count] = (uint32_t)index;
  weight[count] = 1 - high;
  count += 1 - high > 0;
  if (high > 0) index += second_first ? second[1] - second[0] : first[1] - first[0];
  vertex[count] = (uint32_t)index;
  weight[count] = high - low;
  count += high - low > 0;
  if (!(low > 0)) return count;
  vertex[count] = (uint32_t)(index + (second_first ? first[1] - first[0] : second[1] - second[0]));
  weight[count] = low;
  return count + 1;
}

/* Integer and fractional parts of the coordinates y_1 .. y_k-1; returns the index of the integer
 * point. */
static inline size_t floor_of(const idm_lattice *lattice, const double *z, double *base,
                              double *fraction)
{
  const double r = lattice->resolution;
  const size_t width = (size_t)lattice->resolution + 1;
  double tail = 0;
  size_t index = 0;
  for (size_t i = lattice->states; i-- > 1;) {
    tail += z[i];
    const double y = r * tail < r ? r * tail : r;
    base[i] = (double)(uint32_t)y;
    fraction[i] = y - base[i];
    index += lattice->rank[i * width + (size_t)base[i]];
  }
  return index;
}

size_t idm_lattice_locate(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                          double *weight, double *scratch)
{
  const size_t k = lattice->states;
  if (lattice->corners) return locate_corners(lattice, z, vertex, weight);
  if (k == 2) return locate_pair(lattice, z, vertex, weight);
  if (k == 3) return locate_triple(lattice, z, vertex, weight);
  const size_t width = (size_t)lattice->resolution + 1;
  double *base = scratch;
  double *fraction = scratch + k;
  size_t order_count = 0;
  size_t index = floor_of(lattice, z, base, fraction);
  /* Sort the coordinates with a positive fraction by decreasing fraction; ties by increasing index,
   * which keeps the path inside the simplex. `vertex` contains the order until it is overwritten
   * from the front. */
  for (size_t i = 1; i < k; i++) {
    if (!(fraction[i] > 0)) continue;
    size_t j = order_count++;
    while (j > 0 && fraction[vertex[j - 1]] < fraction[i]) {
      vertex[j] = vertex[j - 1];
      j--;
    }
    vertex[j] = (uint32_t)i;
  }
  /* Vertex 0 is the integer point; each next vertex is one step up in one coordinate. Weights are
   * differences of the fractions. */
  size_t count = 0;
  double upper_part = 1;
  for (size_t j = 0; j <= order_count; j++) {
    const size_t i = j < order_count ? vertex[j] : 0;
    const double next = j < order_count ? fraction[i] : 0;
    if (upper_part - next > 0) {
      /* Slot `count` has been read: count <= j, and slot j is read at step j. */
      vertex[count] = (uint32_t)index;
      weight[count++] = upper_part - next;
    }
    if (j == order_count) break;
    const size_t y = (size_t)base[i];
    index += lattice->rank[i * width + y + 1] - lattice->rank[i * width + y];
    upper_part = next;
  }
  return count;
}

/* --- whole cells ---------------------------------------------------------------------------- */

static size_t cell_of_corners(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                              double *weight, uint32_t *step)
{
  for (uint32_t s = 0; s < lattice->states; s++) {
    vertex[s] = step[s] = s;
    weight[s] = z[s];
  }
  return lattice->states;
}

static size_t cell_of_pair(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                           double *weight, uint32_t *step)
{
  const size_t count = locate_pair(lattice, z, vertex, weight);
  step[0] = 0;
  if (vertex[0] == (uint32_t)lattice->resolution) return 1;
  step[1] = 1;
  if (count == 2) return 2;
  vertex[1] = vertex[0] + 1;
  weight[1] = 0;
  return 2;
}

size_t idm_lattice_cell(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                        double *weight, uint32_t *step, double *scratch)
{
  const size_t k = lattice->states;
  if (lattice->corners) return cell_of_corners(lattice, z, vertex, weight, step);
  if (k == 2) return cell_of_pair(lattice, z, vertex, weight, step);
  const size_t width = (size_t)lattice->resolution + 1;
  double *base = scratch;
  double *fraction = scratch + k;
  size_t index = floor_of(lattice, z, base, fraction);
  /* Each coordinate below r steps up, by decreasing fraction, then by increasing index: of two
   * coordinates with equal integer parts, the lower index has the larger or equal fraction, so that
   * the path stays inside. */
  size_t count = 1;
  step[0] = 0;
  for (size_t i = 1; i < k; i++) {
    if (!(base[i] < lattice->resolution)) continue;
    size_t j = count++;
    for (; j > 1 && fraction[step[j - 1]] < fraction[i]; j--) step[j] = step[j - 1];
    step[j] = (uint32_t)i;
  }
  double upper_part = 1;
  for (size_t j = 0; j < count; j++) {
    if (j > 0) {
      const size_t *rank = lattice->rank + step[j] * width + (size_t)base[step[j]];
      index += rank[1] - rank[0];
    }
    const double next = j + 1 < count ? fraction[step[j + 1]] : 0;
    vertex[j] = (uint32_t)index;
    weight[j] = upper_part - next;
    upper_part = next;
  }
  return count;
}

void idm_lattice_gradient(const idm_lattice *lattice, size_t count, const uint32_t *step,
                          const double *at, double *derivative)
{
  const size_t k = lattice->states;
  if (lattice->corners) {
    memcpy(derivative, at, k * sizeof *derivative);
    return;
  }
  /* The derivative along y_i is r times the difference of the ends of its step, and z_s adds r to
   * every y_i with i <= s. */
  const double r = lattice->resolution;
  memset(derivative, 0, k * sizeof *derivative);
  for (size_t j = 1; j < count; j++) derivative[step[j]] = r * (at[j] - at[j - 1]);
  for (size_t s = 1; s < k; s++) derivative[s] += derivative[s - 1];
}
