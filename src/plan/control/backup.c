/* Operator B* on the lattice, utility of beliefs, and specification policy.
 *
 * Contents: belief reward · specification · backup */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/soft.h"
#include "base/statistics.h"
#include "plan/control/control.h"

/* === belief reward ========================================================================== */

/* Utility of a belief (docs/method/control.md, 11). */

static double weight_of(const belief_reward *w, size_t term, size_t action)
{
  return w->weight[term * w->actions + action];
}

static const double *piece_of(const belief_reward *w, size_t action, size_t i)
{
  return w->piece + (i * w->actions + action) * w->states;
}

static size_t likeliest(size_t states, const double *z)
{
  size_t best = 0;
  for (size_t s = 1; s < states; s++)
    if (z[s] > z[best]) best = s;
  return best;
}

static double minus_entropy(size_t states, const double *z)
{
  double sum = 0;
  for (size_t s = 0; s < states; s++)
    if (z[s] > 0) sum += z[s] * log(z[s]);
  return sum;
}

/* Index of the best piece; *ret_piece_reward receives its value, 0 without pieces. */
static size_t best_piece(const belief_reward *w, size_t action, const double *z,
                         double *ret_piece_reward)
{
  size_t best = 0;
  *ret_piece_reward = 0;
  for (size_t i = 0; i < w->pieces; i++) {
    const double *piece = piece_of(w, action, i);
    double sum = 0;
    for (size_t s = 0; s < w->states; s++) sum += z[s] * piece[s];
    if (i && !(sum > *ret_piece_reward)) continue;
    *ret_piece_reward = sum;
    best = i;
  }
  return best;
}

void idm_belief_reward_terms(size_t states, const double *z, double *term)
{
  term[BELIEF_REWARD_ENTROPY] = minus_entropy(states, z);
  term[BELIEF_REWARD_GUESS] = z[likeliest(states, z)];
}

double idm_belief_reward_at(const belief_reward *w, size_t action, const double *z)
{
  const double entropy = weight_of(w, BELIEF_REWARD_ENTROPY, action);
  const double guess = weight_of(w, BELIEF_REWARD_GUESS, action);
  double sum = 0;
  if (w->pieces) (void)best_piece(w, action, z, &sum);
  if (entropy != 0) sum += entropy * minus_entropy(w->states, z);
  if (guess != 0) sum += guess * z[likeliest(w->states, z)];
  return sum;
}

double idm_belief_reward_corner(const belief_reward *w, size_t action, size_t state)
{
  double best = w->pieces ? -INFINITY : 0;
  for (size_t i = 0; i < w->pieces; i++) best = fmax(best, piece_of(w, action, i)[state]);
  return best + weight_of(w, BELIEF_REWARD_GUESS, action);
}

void idm_belief_reward_gradient(const belief_reward *w, size_t action, const double *z,
                                double factor, double *derivative)
{
  const double entropy = factor * weight_of(w, BELIEF_REWARD_ENTROPY, action);
  for (size_t s = 0; s < w->states && entropy != 0; s++)
    if (z[s] > 0) derivative[s] += entropy * (log(z[s]) + 1);
  derivative[likeliest(w->states, z)] += factor * weight_of(w, BELIEF_REWARD_GUESS, action);
  if (!w->pieces) return;
  double piece_reward;
  const double *piece = piece_of(w, action, best_piece(w, action, z, &piece_reward));
  for (size_t s = 0; s < w->states; s++) derivative[s] += factor * piece[s];
}

/* === specification ========================================================================== */

/* Specification policy (docs/method/control.md, 2). */

double idm_control_specify(const control *c, const double *k, double *opt_sigma)
{
  const control_numbers *n = &c->numbers;
  return c->robust ? idm_cvar(n->risk, c->models, n->model_prior, k, opt_sigma)
                   : idm_soft(n->beta, c->models, n->model_prior, k, opt_sigma);
}

/* idm_control_specify for IDM_LANES points side by side, k and opt_sigma [model][lane]. */
static void idm_control_specify_block(const control *c, const double *k, double *value,
                                      double *opt_sigma)
{
  const control_numbers *n = &c->numbers;
  if (!c->robust) {
    idm_soft_block(n->beta, c->models, n->model_prior, k, value, opt_sigma);
    return;
  }
  for (size_t l = 0; l < IDM_LANES; l++) {
    double *const point_values = c->cvar_scratch; /* K at a point, then sigma */
    for (size_t m = 0; m < c->models; m++) point_values[m] = k[m * IDM_LANES + l];
    value[l] = idm_cvar(n->risk, c->models, n->model_prior, point_values, point_values + c->models);
    for (size_t m = 0; opt_sigma && m < c->models; m++)
      opt_sigma[m * IDM_LANES + l] = point_values[c->models + m];
  }
}

/* === backup ================================================================================= */

/* Operator B* on the lattice and its derivative gamma P (docs/method/control.md, 7 and 8). */

static const idm_successor_block *block_of(const control *c, size_t u, size_t m)
{
  return &c->successors->block[u * c->models + m];
}

double idm_control_reward(const control *c, size_t variant, const double *z, size_t action)
{
  const size_t k = c->sizes.states;
  const double *utility = c->utility + (variant * c->sizes.actions + action) * k;
  double sum = 0;
  for (size_t s = 0; s < k; s++) sum += z[s] * utility[s];
  return sum + idm_belief_reward_at(&c->numbers.belief_reward, action, z);
}

double idm_control_award(const control *c, const double *z)
{
  const control_numbers *n = &c->numbers;
  if (c->lattice->corners) return 0;
  return n->certainty_award * idm_belief_certainty(n->certainty, c->sizes.states, z).share;
}

double idm_control_arrivals(const control *c, int left)
{
  if (c->lattice->corners || (c->setting->horizon > 0 && left <= 1)) return 0;
  /* With sophisticated discounting the values that follow include the delay, and K has no discount.
   */
  return c->agent.discounting == IDM_SOPHISTICATED ? control_delay(c, 1) : 1;
}

double idm_control_arrival(const control *c, int left)
{
  return idm_control_arrivals(c, left) * c->numbers.certainty_award;
}

double idm_control_corner_share(const control *c)
{
  const double corner[] = {1};
  return c->lattice->corners ? idm_belief_certainty(c->numbers.certainty, 1, corner).share : 0;
}

void idm_control_select(control *c, size_t variant)
{
  c->reward = c->rewards + variant * c->sizes.actions * c->padded;
  c->numbers.alpha = c->alpha[variant];
  c->numbers.temperature = control_temperature(c, variant);
}

/* K of one (action, model) at a point. */
static double future_of(const control *c, const idm_successor_block *block, size_t point,
                        const double *v)
{
  const size_t row = block->rows == 1 ? 0 : point;
  const double expected =
      idm_successor_row(block, row, v) + c->numbers.arrival * block->expected_certainty[row];
  return c->numbers.discount * expected + c->numbers.eta * block->surprise[row];
}

double idm_control_point(const control *c, const double *v, size_t point, double *k, double *q)
{
  for (size_t u = 0; u < c->sizes.actions; u++) {
    q[u] = c->reward[u * c->padded + point];
    if (c->setting->terminal[u]) continue;
    double *ku = k + u * c->models;
    for (size_t m = 0; m < c->models; m++) ku[m] = future_of(c, block_of(c, u, m), point, v);
    q[u] += idm_control_specify(c, ku, NULL);
  }
  return idm_soft(c->numbers.alpha, c->sizes.actions, c->numbers.action_prior, q, NULL);
}

/* --- reset actions: one K for all beliefs ---------------------------------------------------- */

/* Computes future[u], the value of the models of each reset action, once per sweep; sigma goes into
 * control->constant. k is scratch, [model]. */
static void reset_values(control *c, const double *v, double *future, double *k)
{
  for (size_t u = 0; u < c->sizes.actions; u++) {
    future[u] = 0;
    if (!c->is_reset[u] || c->setting->terminal[u]) continue;
    for (size_t m = 0; m < c->models; m++) k[m] = future_of(c, block_of(c, u, m), 0, v);
    future[u] = idm_control_specify(c, k, c->constant + u * c->models);
  }
}

/* --- one slice ------------------------------------------------------------------------------ */

/* Scratch of a slice: K and sigma [model], then Q and pi [action], each IDM_LANES wide; future and
 * point are not. */
typedef struct slice_scratch {
  double *k;      /* [model] */
  double *sigma;  /* [model] */
  double *q;      /* [action] */
  double *pi;     /* [action] */
  double *future; /* [action] */
  double *point;  /* [action][model]: K at one point */
} slice_scratch;

static slice_scratch scratch_of(control *c)
{
  slice_scratch s;
  s.k = c->lanes;
  s.sigma = s.k + c->models * IDM_LANES;
  s.q = s.sigma + c->models * IDM_LANES;
  s.pi = s.q + c->sizes.actions * IDM_LANES;
  s.future = s.pi + c->sizes.actions * IDM_LANES;
  s.point = s.future + c->sizes.actions;
  return s;
}

/* K of one action's models over a slice. */
IDM_INLINE void slice_futures(const control *c, const idm_successor_block *block, const double *v,
                              size_t slice, double *restrict k)
{
  const double gamma = c->numbers.discount;
  const double eta = c->numbers.eta;
  const double arrival = c->numbers.arrival;
  for (size_t m = 0; m < c->models; m++, k += IDM_LANES) {
    if (block[m].rows == 1) {
      const double all = future_of(c, &block[m], 0, v);
      for (int l = 0; l < IDM_LANES; l++) k[l] = all;
    } else {
      const double *restrict h = block[m].surprise + slice * IDM_LANES;
      const double *restrict certainty_reward = block[m].expected_certainty + slice * IDM_LANES;
      idm_successor_expect(&block[m], slice, v, k);
      for (int l = 0; l < IDM_LANES; l++)
        k[l] = gamma * (k[l] + arrival * certainty_reward[l]) + eta * h[l];
    }
  }
}

/* Q of one action over a slice; sigma goes into `out` and, for the derivative, into control->mix.
 */
IDM_INLINE void slice_action(control *c, const double *v, size_t slice, size_t u, slice_scratch s,
                             const backup_output *out)
{
  const size_t at = slice * IDM_LANES;
  const double *reward = c->reward + u * c->padded + at;
  double *q = s.q + u * IDM_LANES;
  if (c->setting->terminal[u] || c->is_reset[u]) {
    for (int l = 0; l < IDM_LANES; l++) q[l] = reward[l] + s.future[u];
    const double *sigma =
        c->setting->terminal[u] ? c->numbers.model_prior : c->constant + u * c->models;
    for (size_t m = 0; out->specification && m < c->models; m++) {
      const double all = sigma[m];
      double *restrict row = out->specification + (u * c->models + m) * c->padded + at;
      for (int l = 0; l < IDM_LANES; l++) row[l] = all;
    }
    return;
  }
  slice_futures(c, block_of(c, u, 0), v, slice, s.k);
  double future[IDM_LANES];
  const bool wants_policy = out->specification || out->mix;
  idm_control_specify_block(c, s.k, future, wants_policy ? s.sigma : NULL);
  for (int l = 0; l < IDM_LANES; l++) q[l] = reward[l] + future[l];
  for (size_t m = 0; wants_policy && m < c->models; m++) {
    const size_t row = (u * c->models + m) * c->padded + at;
    if (out->mix) memcpy(c->mix + row, s.sigma + m * IDM_LANES, IDM_LANES * sizeof *c->mix);
    if (out->specification)
      memcpy(out->specification + row, s.sigma + m * IDM_LANES, IDM_LANES * sizeof *c->mix);
  }
}

/* Multiplies sigma in control->mix by pi; a reset action stores pi alone, in its first row. */
IDM_INLINE void slice_mix(control *c, size_t slice, const double *pi)
{
  const size_t at = slice * IDM_LANES;
  for (size_t u = 0; u < c->sizes.actions; u++, pi += IDM_LANES) {
    if (c->setting->terminal[u]) continue;
    double *restrict mix = c->mix + u * c->models * c->padded + at;
    if (c->is_reset[u]) {
      for (int l = 0; l < IDM_LANES; l++) mix[l] = pi[l];
      continue;
    }
    for (size_t m = 0; m < c->models; m++, mix += c->padded)
      for (int l = 0; l < IDM_LANES; l++) mix[l] *= pi[l];
  }
}

/* Sets the weights of absorbing states to 0: they have no successors in the derivative. */
static void mask_absorbing(control *c, size_t slice)
{
  for (size_t s = slice * IDM_LANES; s < (slice + 1) * IDM_LANES && s < c->sizes.states; s++)
    for (size_t row = 0; c->absorbing[s] && row < c->sizes.actions * c->models; row++)
      c->mix[row * c->padded + s] = 0;
}

/* V of a slice under the fixed policy: sum pi Q - alpha KL(pi || pi~). */
IDM_INLINE void slice_fixed(const control *c, size_t slice, const double *q, double *value,
                            double *pi)
{
  const size_t at = slice * IDM_LANES;
  for (int l = 0; l < IDM_LANES; l++) value[l] = -c->penalty[at + (size_t)l];
  for (size_t u = 0; u < c->sizes.actions; u++)
    for (int l = 0; l < IDM_LANES; l++) {
      const double p = c->fixed_policy[u * c->padded + at + (size_t)l];
      pi[u * IDM_LANES + (size_t)l] = p;
      value[l] += p * q[u * IDM_LANES + (size_t)l];
    }
}

/* Number of lanes of a slice that are points. */
static size_t points_of(const control *c, size_t slice)
{
  const size_t left = c->lattice->points - slice * IDM_LANES;
  return left < IDM_LANES ? left : IDM_LANES;
}

/* Sets lanes past the last point to 0, so that vectors can be processed in whole slices. */
static void clear_padding(control *c, size_t slice, double *value, bool mix)
{
  const size_t at = slice * IDM_LANES;
  for (size_t l = points_of(c, slice); l < IDM_LANES; l++) {
    value[l] = 0;
    for (size_t row = 0; mix && row < c->sizes.actions * c->models; row++)
      c->mix[row * c->padded + at + l] = 0;
  }
}

/* Extremes per lane, reduced once at the end of the sweep. */
typedef struct lane_extremes {
  double lowest[IDM_LANES];
  double highest[IDM_LANES];
  double size[IDM_LANES];
} lane_extremes;

IDM_INLINE void update_extremes(const control *c, const double *restrict v, size_t slice,
                                const double *restrict value, lane_extremes *restrict e)
{
  double d[IDM_LANES];
  v += slice * IDM_LANES;
  for (int l = 0; l < IDM_LANES; l++) d[l] = value[l] - v[l];
  for (size_t l = points_of(c, slice); l < IDM_LANES; l++) d[l] = d[0]; /* padding, not a point */
  for (int l = 0; l < IDM_LANES; l++) {
    const double size = fabs(value[l]) <= DBL_MAX ? fabs(value[l]) : INFINITY; /* also if NaN */
    e->lowest[l] = d[l] < e->lowest[l] ? d[l] : e->lowest[l];
    e->highest[l] = d[l] > e->highest[l] ? d[l] : e->highest[l];
    e->size[l] = size > e->size[l] ? size : e->size[l];
  }
}

static void reduce_extremes(const lane_extremes *e, backup_output *out)
{
  out->lowest = INFINITY;
  out->highest = -INFINITY;
  out->size = 0;
  for (int l = 0; l < IDM_LANES; l++) {
    out->lowest = e->lowest[l] < out->lowest ? e->lowest[l] : out->lowest;
    out->highest = e->highest[l] > out->highest ? e->highest[l] : out->highest;
    out->size = e->size[l] > out->size ? e->size[l] : out->size;
  }
}

void idm_control_tables(const control *c, size_t variant, int layer, backup_output *out)
{
  if (!c->quality) return;
  const size_t rows = ((size_t)c->layers * variant + (size_t)layer) * c->sizes.actions * c->padded;
  out->quality = c->quality + rows;
  out->decision = c->decision + rows;
  out->specification = c->specification + rows * c->models;
}

/* Stores Q and the decision policy of a slice; pi is the optimal policy if `ready`. */
static void slice_tables(const control *c, size_t slice, const double *q, double *pi, bool ready,
                         const backup_output *out)
{
  const size_t at = slice * IDM_LANES;
  const size_t bytes = IDM_LANES * sizeof *q;
  double value[IDM_LANES];
  if (!ready || c->own_temperature)
    idm_soft_block(c->numbers.temperature, c->sizes.actions, c->numbers.action_prior, q, value, pi);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    memcpy(out->quality + u * c->padded + at, q + u * IDM_LANES, bytes);
    memcpy(out->decision + u * c->padded + at, pi + u * IDM_LANES, bytes);
  }
}

IDM_KERNEL(, idm_control_backup, (control * c, const double *v, bool fixed, backup_output *out),
           (c, v, fixed, out))
{
  const slice_scratch s = scratch_of(c);
  lane_extremes extremes;
  for (int l = 0; l < IDM_LANES; l++) {
    extremes.lowest[l] = INFINITY;
    extremes.highest[l] = -INFINITY;
    extremes.size[l] = 0;
  }
  reset_values(c, v, s.future, s.k);
  const bool wants_policy = out->mix || out->quality;
  for (size_t slice = 0; slice < c->successors->slices; slice++) {
    const size_t at = slice * IDM_LANES;
    for (size_t u = 0; u < c->sizes.actions; u++) slice_action(c, v, slice, u, s, out);
    double value[IDM_LANES];
    if (fixed)
      slice_fixed(c, slice, s.q, value, s.pi);
    else
      idm_soft_block(c->numbers.alpha, c->sizes.actions, c->numbers.action_prior, s.q, value,
                     wants_policy ? s.pi : NULL);
    if (out->mix) slice_mix(c, slice, s.pi);
    if (out->mix && c->absorbing) mask_absorbing(c, slice);
    clear_padding(c, slice, value, out->mix);
    update_extremes(c, v, slice, value, &extremes);
    if (out->value) memcpy(out->value + at, value, sizeof value);
    if (out->quality) slice_tables(c, slice, s.q, s.pi, !fixed, out);
  }
  reduce_extremes(&extremes, out);
}

void idm_control_fix_policy(control *c, const double *v)
{
  const slice_scratch s = scratch_of(c);
  const size_t actions = c->sizes.actions;
  for (size_t i = 0; i < c->lattice->points; i++) {
    idm_control_point(c, v, i, s.point, s.q);
    idm_soft(c->numbers.alpha, actions, c->numbers.action_prior, s.q, s.pi);
    for (size_t u = 0; u < actions; u++) c->fixed_policy[u * c->padded + i] = s.pi[u];
    /* alpha KL = sum pi Q - V, but this difference cancels if alpha is large. */
    const double kl = idm_soft_divergence(c->numbers.alpha, actions, c->numbers.action_prior, s.q);
    c->penalty[i] = kl > 0 && c->numbers.alpha != 0 ? c->numbers.alpha * kl : 0;
  }
}

/* --- derivative ------------------------------------------------------------------------------ */

/* Reset action: sum over the models of sigma times the product of its row with x. */
static double reset_product(const control *c, size_t u, const double *x)
{
  double sum = 0;
  for (size_t m = 0; m < c->models; m++)
    sum += c->constant[u * c->models + m] * idm_successor_row(block_of(c, u, m), 0, x);
  return sum;
}

/* folded = mix * value for one block, entry by entry. */
IDM_INLINE void fold_block(const control *c, const idm_successor_block *block, size_t pairs,
                           const double *restrict mix, double *restrict folded)
{
  const size_t stride = block->rows == 1 ? 0 : 2 * pairs;
  for (size_t i = 0; i < c->lattice->points; i++) {
    const double *restrict value = block->value + i * stride;
    for (size_t j = 0; j < 2 * pairs; j++) folded[2 * i * c->folds + j] = mix[i] * value[j];
  }
}

/* Merged matrix: adds mix * value of every block entry to its merged entry. */
IDM_INLINE void fill_merged(control *c)
{
  const uint32_t *restrict merged_index = c->merged_index;
  double *restrict to = c->merged.value;
  memset(to, 0, c->merged.offset[c->merged.slices] * sizeof *to);
  for (size_t b = 0; b < c->sizes.actions * c->models; b++) {
    const idm_successor_block *block = &c->successors->block[b];
    if (c->is_reset[b / c->models] || c->setting->terminal[b / c->models]) continue;
    for (size_t slice = 0; slice < block->slices; slice++) {
      const double *restrict mix = c->mix + b * c->padded + slice * IDM_LANES;
      for (size_t at = block->offset[slice]; at < block->offset[slice + 1]; at += IDM_LANES)
        for (size_t l = 0; l < IDM_LANES; l++)
          to[merged_index[at + l]] += mix[l] * block->value[at + l];
    }
    merged_index += block->offset[block->slices];
  }
}

IDM_KERNEL(, idm_control_fold, (control * c), (c))
{
  if (c->merged.rows) fill_merged(c);
  if (!c->folds) return;
  size_t at = 0; /* first fold of the current block */
  for (size_t u = 0; u < c->sizes.actions; u++) {
    if (c->is_reset[u] || c->setting->terminal[u]) continue;
    for (size_t m = 0; m < c->models; m++) {
      const idm_successor_block *block = block_of(c, u, m);
      const double *mix = c->mix + (u * c->models + m) * c->padded;
      if (block->pairs == 2) /* binary observation: the compiler unrolls the loop */
        fold_block(c, block, 2, mix, c->folded + 2 * at);
      else
        fold_block(c, block, block->pairs, mix, c->folded + 2 * at);
      at += block->pairs;
    }
  }
}

/* sum[l] = product of each folded row of one slice with x. */
IDM_INLINE void fold_slice(const control *c, size_t folds, size_t slice, const double *x,
                           double *restrict sum)
{
  const size_t lanes = points_of(c, slice);
  const uint32_t *column = c->folded_column + slice * IDM_LANES * folds;
  const double *value = c->folded + 2 * slice * IDM_LANES * folds;
  for (size_t l = 0; l < lanes; l++, column += folds, value += 2 * folds) {
    idm_pair part = {0, 0}, other = {0, 0}; /* two accumulators, to hide the latency of additions */
    size_t j = 0;
    for (; j + 2 <= folds; j += 2) {
      part += idm_load_pair(value + 2 * j) * idm_load_pair(x + column[j]);
      other += idm_load_pair(value + 2 * j + 2) * idm_load_pair(x + column[j + 1]);
    }
    if (j < folds) part += idm_load_pair(value + 2 * j) * idm_load_pair(x + column[j]);
    part += other;
    sum[l] = part[0] + part[1];
  }
}

/* fold_slice, unrolled by the compiler for a binary observation under one, two or three models. */
IDM_INLINE void slice_folded(const control *c, size_t slice, const double *x, double *restrict sum)
{
  if (c->folds == 6)
    fold_slice(c, 6, slice, x, sum);
  else if (c->folds == 4)
    fold_slice(c, 4, slice, x, sum);
  else if (c->folds == 2)
    fold_slice(c, 2, slice, x, sum);
  else
    fold_slice(c, c->folds, slice, x, sum);
}

/* sum[l] += mix * (S x) over the models of one action and slice. */
IDM_INLINE void slice_product(const control *c, size_t u, size_t slice, const double *x,
                              double *restrict sum)
{
  const idm_successor_block *block = block_of(c, u, 0);
  const double *restrict mix = c->mix + u * c->models * c->padded + slice * IDM_LANES;
  for (size_t m = 0; m < c->models; m++, mix += c->padded) {
    if (block[m].rows == 1) {
      const double all = idm_successor_row(&block[m], 0, x);
      for (int l = 0; l < IDM_LANES; l++) sum[l] += mix[l] * all;
    } else {
      double expected[IDM_LANES];
      idm_successor_expect(&block[m], slice, x, expected);
      for (int l = 0; l < IDM_LANES; l++) sum[l] += mix[l] * expected[l];
    }
  }
}

IDM_KERNEL(, idm_control_derivative, (const void *context, const double *x, double *y),
           (context, x, y))
{
  const control *c = context;
  double *product = c->lanes;
  for (size_t u = 0; u < c->sizes.actions; u++)
    product[u] = c->is_reset[u] && !c->setting->terminal[u] ? reset_product(c, u, x) : 0;
  for (size_t slice = 0; slice < c->successors->slices; slice++) {
    const size_t at = slice * IDM_LANES;
    double sum[IDM_LANES] = {0};
    const bool whole = c->folds || c->merged.rows; /* includes all actions that are not reset */
    if (c->folds) slice_folded(c, slice, x, sum);
    if (c->merged.rows) idm_successor_expect(&c->merged, slice, x, sum);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      if (c->setting->terminal[u]) continue;
      if (!c->is_reset[u]) {
        if (!whole) slice_product(c, u, slice, x, sum);
        continue;
      }
      const double *mix = c->mix + u * c->models * c->padded + at;
      for (int l = 0; l < IDM_LANES; l++) sum[l] += mix[l] * product[u];
    }
    for (size_t l = 0; l < IDM_LANES; l++) y[at + l] = x[at + l] - c->numbers.discount * sum[l];
  }
}

/* --- transposed derivative ------------------------------------------------------------------- */

/* to[column] += scale * value for the lanes of one slice. */
IDM_INLINE void slice_scatter(const idm_successor_block *block, size_t slice, size_t lanes,
                              const double *restrict scale, double *restrict to)
{
  const size_t first = slice * IDM_LANES;
  if (block->pairs) {
    for (size_t l = 0; l < lanes; l++) idm_successor_scatter(block, first + l, scale[l], to);
    return;
  }
  const size_t end = block->offset[slice + 1];
  for (size_t at = block->offset[slice]; at < end; at += IDM_LANES) {
    const uint32_t *restrict column = block->column + at;
    const double *restrict value = block->value + at;
    double product[IDM_LANES];
    for (int l = 0; l < IDM_LANES; l++) product[l] = scale[l] * value[l];
    for (size_t l = 0; l < lanes; l++) to[column[l]] += product[l];
  }
}

void idm_control_scatter(const control *c, size_t u, size_t m, size_t slice, const double *scale,
                         double *to)
{
  const idm_successor_block *block = block_of(c, u, m);
  if (block->rows > 1) {
    slice_scatter(block, slice, points_of(c, slice), scale, to);
    return;
  }
  double sum = 0;
  for (size_t l = 0; l < points_of(c, slice); l++) sum += scale[l];
  idm_successor_scatter(block, 0, sum, to);
}

/* y -= gamma F' x with the folded values. Consecutive rows add to the same columns, which would
 * serialise them; so folds add to separate strands, which are summed at the end. */
IDM_INLINE void scatter_folds(const control *c, size_t folds, const double *restrict x,
                              double *restrict y)
{
  const size_t n = c->padded;
  double *strand = c->strands;
  const size_t strands = folds < CONTROL_STRANDS ? folds : CONTROL_STRANDS;
  memset(strand, 0, strands * n * sizeof *strand);
  const uint32_t *column = c->folded_column;
  const double *value = c->folded;
  for (size_t i = 0; i < c->lattice->points; i++, column += folds, value += 2 * folds) {
    const double scale = x[i];
    const idm_pair both = {scale, scale};
    for (size_t j = 0; j < folds; j++) {
      double *to = strand + (j % CONTROL_STRANDS) * n + column[j];
      const idm_pair sum = idm_load_pair(to) + both * idm_load_pair(value + 2 * j);
      memcpy(to, &sum, sizeof sum);
    }
  }
  for (size_t j = 0; j < strands; j++, strand += n)
    for (size_t i = 0; i < n; i++) y[i] -= c->numbers.discount * strand[i];
}

/* y -= gamma F' x with the merged matrix. */
static void scatter_merged(const control *c, const double *x, double *y)
{
  for (size_t slice = 0; slice < c->merged.slices; slice++) {
    double scale[IDM_LANES];
    for (size_t l = 0; l < IDM_LANES; l++)
      scale[l] = -c->numbers.discount * x[slice * IDM_LANES + l];
    slice_scatter(&c->merged, slice, points_of(c, slice), scale, y);
  }
}

/* One action that is not reset, without folds. */
static void scatter_action(const control *c, size_t u, const double *x, double *y)
{
  for (size_t m = 0; m < c->models; m++) {
    const double *mix = c->mix + (u * c->models + m) * c->padded;
    for (size_t slice = 0; slice < c->successors->slices; slice++) {
      const size_t at = slice * IDM_LANES;
      double scale[IDM_LANES];
      for (size_t l = 0; l < IDM_LANES; l++)
        scale[l] = -c->numbers.discount * mix[at + l] * x[at + l];
      idm_control_scatter(c, u, m, slice, scale, y);
    }
  }
}

IDM_KERNEL(, idm_control_transposed, (const void *context, const double *x, double *y),
           (context, x, y))
{
  const control *c = context;
  memcpy(y, x, c->padded * sizeof *y);
  if (c->folds == 6) /* unrolled by the compiler, as in the derivative */
    scatter_folds(c, 6, x, y);
  else if (c->folds)
    scatter_folds(c, c->folds, x, y);
  if (c->merged.rows) scatter_merged(c, x, y);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    if (c->setting->terminal[u]) continue;
    if (!c->is_reset[u]) {
      if (!c->folds && !c->merged.rows) scatter_action(c, u, x, y);
      continue;
    }
    const double *mix = c->mix + u * c->models * c->padded;
    double lane[IDM_LANES] = {0};
    for (size_t i = 0; i < c->padded; i += IDM_LANES)
      for (size_t l = 0; l < IDM_LANES; l++) lane[l] += mix[i + l] * x[i + l];
    double reset_mass = 0;
    for (int l = 0; l < IDM_LANES; l++) reset_mass += lane[l];
    for (size_t m = 0; m < c->models; m++)
      idm_successor_scatter(block_of(c, u, m), 0,
                            -c->numbers.discount * reset_mass * c->constant[u * c->models + m], y);
  }
}
