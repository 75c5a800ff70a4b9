/* The utility that is looked for. */
#include "invert/utility/sought.h"

#include <math.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "setting/features.h"

/* Of features with weights that are held: columns of the free ones, and the sum of the others. */
static idm_status separate_held(const idm_block *block, idm_sought *sought, idm_error *opt_error)
{
  const idm_features *f = block->features;
  const size_t all = f->name.count;
  idm_status status =
      idm_features_create(block->size, &block->coordinate_name, &sought->blend, opt_error);
  sought->base = idm_new(block->size, sizeof *sought->base);
  if (status != IDM_OK || !sought->base) return idm_fail_memory(opt_error);
  for (size_t c = 0; c < sought->count; c++) {
    const size_t k = idm_features_place(f, c);
    sought->blend->weight[c] = f->weight[k];
    for (size_t i = 0; i < block->size; i++)
      sought->blend->value[i * sought->count + c] = f->value[i * all + k];
  }
  for (size_t i = 0; i < block->size; i++)
    for (size_t k = 0; k < all; k++)
      if (f->held[k]) sought->base[i] += f->weight[k] * f->value[i * all + k];
  sought->features = sought->blend;
  return IDM_OK;
}

idm_status idm_sought_create(const idm_problem *problem, idm_sought **ret_sought,
                             idm_error *opt_error)
{
  *ret_sought = NULL;
  const idm_block *block = &problem->theta->block[IDM_UTILITY];
  idm_sought *sought = idm_new(1, sizeof *sought);
  int32_t *number = idm_new(block->size, sizeof *number);
  double *held = idm_duplicate(block->value, block->size, sizeof *held);
  if (!sought || !number || !held) {
    free(sought);
    free(number);
    free(held);
    return idm_fail_memory(opt_error);
  }
  *sought = (idm_sought){
      .entries = block->size,
      .count = block->coordinate ? block->coordinate_name.count : block->size,
      .features = block->features,
      .number = number,
      .held = held,
      .unit = 1,
  };
  for (size_t i = 0; i < block->size; i++)
    number[i] = block->features ? -1 : block->coordinate ? block->coordinate[i] : (int32_t)i;
  const bool some_held = block->features && block->features->held;
  const idm_status status = some_held ? separate_held(block, sought, opt_error) : IDM_OK;
  if (status == IDM_OK)
    *ret_sought = sought;
  else
    idm_sought_destroy(sought);
  return status;
}

void idm_sought_destroy(idm_sought *sought)
{
  if (!sought) return;
  idm_features_destroy(sought->blend);
  free(sought->base);
  free(sought->number);
  free(sought->held);
  free(sought);
}

/* to[action][belief] = the mean of from[action][state], `stride` apart. */
static void mix(size_t actions, size_t states, size_t beliefs, const double *belief,
                const double *from, size_t stride, double *to)
{
  for (size_t e = 0; e < actions * beliefs; e++) {
    const double *z = belief + e % beliefs * states;
    to[e * stride] = 0;
    for (size_t s = 0; s < states; s++) to[e * stride] += z[s] * from[e / beliefs * states + s];
  }
}

static bool allocate_on(idm_sought *on)
{
  on->number = idm_new(on->entries, sizeof *on->number);
  on->held = idm_new(on->entries, sizeof *on->held);
  on->base = idm_new(on->entries, sizeof *on->base);
  on->blend = idm_new(1, sizeof *on->blend);
  if (!on->number || !on->held || !on->base || !on->blend) return false;
  on->blend->value = idm_new(idm_times(on->entries, on->count), sizeof *on->blend->value);
  on->features = on->blend;
  return on->blend->value != NULL;
}

idm_status idm_sought_create_on(const idm_sought *sought, size_t actions, size_t states,
                                size_t beliefs, const double *belief, idm_sought **ret_sought,
                                idm_error *opt_error)
{
  *ret_sought = NULL;
  idm_sought *on = idm_new(1, sizeof *on);
  double *unit = idm_new(sought->count, sizeof *unit);
  double *utility = idm_new(sought->entries, sizeof *utility);
  if (on)
    *on = (idm_sought){
        .entries = idm_times(actions, beliefs), .count = sought->count, .unit = sought->unit};
  if (!on || !unit || !utility || !allocate_on(on)) {
    idm_sought_destroy(on);
    free(unit);
    free(utility);
    return idm_fail_memory(opt_error);
  }
  for (size_t e = 0; e < on->entries; e++) on->number[e] = -1;
  idm_sought_fill(sought, unit, utility);
  mix(actions, states, beliefs, belief, utility, 1, on->base);
  for (size_t k = 0; k < sought->count; k++) {
    unit[k] = 1;
    idm_sought_push(sought, unit, utility);
    mix(actions, states, beliefs, belief, utility, sought->count, on->blend->value + k);
    unit[k] = 0;
  }
  free(unit);
  free(utility);
  *ret_sought = on;
  return IDM_OK;
}

void idm_sought_measure(idm_sought *sought, bool free_too, double size)
{
  double largest = isfinite(size) ? fabs(size) : 0;
  for (size_t e = 0; e < sought->entries; e++)
    largest = fmax(largest, fabs(free_too ? sought->held[e] : idm_sought_constant(sought, e)));
  /* A unit that has an inverse. */
  const int power = largest > 0 ? ilogb(largest) : 0;
  const double unit = ldexp(1, power < -1000 ? -1000 : power > 1000 ? 1000 : power);
  for (size_t e = 0; e < sought->entries; e++) {
    sought->held[e] /= unit;
    if (sought->base) sought->base[e] /= unit;
  }
  sought->unit *= unit;
}

static double key_of(const char *name)
{
  return (double)(idm_checksum(IDM_CHECKSUM_START, name, strlen(name)) >> 11) * 0x1p-53;
}

/* Sums of such keys into their range. */
static void settle_keys(size_t count, double *key)
{
  for (size_t k = 0; k < count; k++) key[k] = 0.5 + key[k] - floor(key[k]);
}

idm_status idm_sought_keys(const idm_problem *problem, const idm_sought *sought, double *key,
                           idm_error *opt_error)
{
  const idm_block *block = &problem->theta->block[IDM_UTILITY];
  if (sought->features) {
    for (size_t k = 0; k < sought->count; k++) key[k] = key_of(block->coordinate_name.name[k]);
    settle_keys(sought->count, key);
    return IDM_OK;
  }
  char *name = idm_new(IDM_ENTRY, 1);
  if (!name) return idm_fail_memory(opt_error);
  for (size_t e = 0; e < sought->entries; e++) {
    if (sought->number[e] < 0) continue;
    /* Entries by their names; those of one number add up, in whatever order. */
    idm_block_entry(block->info, problem->setting, problem->theta->models, e, name, IDM_ENTRY);
    key[sought->number[e]] += key_of(name);
  }
  settle_keys(sought->count, key);
  free(name);
  return IDM_OK;
}

void idm_sought_weights(const idm_sought *sought, double *weight)
{
  for (size_t k = 0; k < sought->count; k++) weight[k] = sought->features ? 1 : 0;
  for (size_t e = 0; e < sought->entries; e++)
    if (sought->number[e] >= 0) weight[sought->number[e]]++;
}

double idm_sought_coefficient(const idm_sought *sought, size_t entry, size_t number)
{
  if (sought->features) return sought->features->value[entry * sought->count + number];
  return sought->number[entry] == (int32_t)number;
}

double idm_sought_constant(const idm_sought *sought, size_t entry)
{
  if (sought->features) return sought->base ? sought->base[entry] : 0;
  return sought->number[entry] < 0 ? sought->held[entry] : 0;
}

double idm_sought_add(const idm_sought *sought, size_t entry, double factor, double *row)
{
  if (sought->number[entry] >= 0) row[sought->number[entry]] += factor;
  for (size_t k = 0; sought->features && k < sought->count; k++)
    row[k] += factor * sought->features->value[entry * sought->count + k];
  return factor * idm_sought_constant(sought, entry);
}

double idm_sought_value(const idm_sought *sought, size_t entry, const double *x)
{
  double sum = idm_sought_constant(sought, entry);
  if (sought->number[entry] >= 0) sum += x[sought->number[entry]];
  for (size_t k = 0; sought->features && k < sought->count; k++)
    sum += x[k] * sought->features->value[entry * sought->count + k];
  return sum;
}

/* Of features: the sum over them. */
static void weigh(const idm_sought *sought, const double *weight, double *utility)
{
  for (size_t i = 0; i < sought->entries; i++) {
    utility[i] = 0;
    for (size_t k = 0; k < sought->count; k++)
      utility[i] += weight[k] * sought->features->value[i * sought->count + k];
  }
}

void idm_sought_push(const idm_sought *sought, const double *change, double *utility)
{
  if (sought->features) {
    weigh(sought, change, utility);
    return;
  }
  for (size_t i = 0; i < sought->entries; i++)
    utility[i] = sought->number[i] < 0 ? 0 : change[sought->number[i]];
}

void idm_sought_fill(const idm_sought *sought, const double *x, double *utility)
{
  if (sought->features) {
    weigh(sought, x, utility);
    for (size_t i = 0; i < sought->entries && sought->base; i++) utility[i] += sought->base[i];
    return;
  }
  for (size_t i = 0; i < sought->entries; i++)
    utility[i] = sought->number[i] < 0 ? sought->held[i] : x[sought->number[i]];
}

void idm_sought_write(const idm_sought *sought, const double *x, idm_theta *theta)
{
  idm_block *block = &theta->block[IDM_UTILITY];
  idm_sought_fill(sought, x, block->value);
  for (size_t e = 0; e < sought->entries; e++) block->value[e] *= sought->unit;
  for (size_t k = 0; k < sought->count && sought->features; k++)
    block->features->weight[idm_features_place(block->features, k)] = x[k] * sought->unit;
}

void idm_sought_pull(const idm_sought *sought, const double *slope, double *gradient)
{
  memset(gradient, 0, sought->count * sizeof *gradient);
  for (size_t i = 0; i < sought->entries; i++)
    if (sought->number[i] >= 0) gradient[sought->number[i]] += slope[i];
  for (size_t i = 0; sought->features && i < sought->entries; i++)
    for (size_t k = 0; k < sought->count; k++)
      gradient[k] += sought->features->value[i * sought->count + k] * slope[i];
}
