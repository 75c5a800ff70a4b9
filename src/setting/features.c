/* Utilities that are linear in features. */
#include "setting/features.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

idm_status idm_features_create(size_t numbers, const idm_labels *name, idm_features **ret_features,
                               idm_error *opt_error)
{
  *ret_features = NULL;
  idm_features *f = idm_new(1, sizeof *f);
  if (!f) return idm_fail_memory(opt_error);
  f->value = idm_new(idm_times(numbers, name->count), sizeof *f->value);
  f->weight = idm_new(name->count, sizeof *f->weight);
  const idm_status status = f->value && f->weight ? idm_labels_copy(name, &f->name, opt_error)
                                                  : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    *ret_features = f;
  else
    idm_features_destroy(f);
  return status;
}

void idm_features_destroy(idm_features *features)
{
  if (!features) return;
  idm_labels_destroy(&features->name);
  free(features->value);
  free(features->weight);
  free(features->held);
  free(features);
}

idm_status idm_features_copy(const idm_features *features, size_t numbers,
                             idm_features **ret_features, idm_error *opt_error)
{
  const size_t count = features->name.count;
  const idm_status status = idm_features_create(numbers, &features->name, ret_features, opt_error);
  if (status != IDM_OK) return status;
  memcpy((*ret_features)->value, features->value, numbers * count * sizeof(double));
  memcpy((*ret_features)->weight, features->weight, count * sizeof(double));
  if (!features->held) return IDM_OK;
  (*ret_features)->held = idm_duplicate(features->held, count, sizeof *features->held);
  if ((*ret_features)->held) return IDM_OK;
  idm_features_destroy(*ret_features);
  *ret_features = NULL;
  return idm_fail_memory(opt_error);
}

size_t idm_features_place(const idm_features *features, size_t coordinate)
{
  size_t k = 0;
  if (!features->held) return coordinate;
  for (size_t left = coordinate; features->held[k] || left; k++) left -= !features->held[k];
  return k;
}

/* From the weights alone, whatever the numbers were: the same weights give the same bits. */
void idm_features_apply(idm_block *block)
{
  const idm_features *f = block->features;
  for (size_t i = 0; f && i < block->size; i++) {
    double sum = 0;
    for (size_t k = 0; k < f->name.count; k++)
      sum += f->weight[k] * f->value[i * f->name.count + k];
    for (size_t v = 0; v < block->variants; v++) block->value[v * block->size + i] = sum;
  }
}

double idm_features_slope(const idm_features *features, const idm_block *slope, size_t k)
{
  double sum = 0;
  for (size_t v = 0; v < slope->variants; v++)
    for (size_t i = 0; i < slope->size; i++)
      sum += features->value[i * features->name.count + k] * slope->value[v * slope->size + i];
  return sum;
}

/* Names of the weights that are free. */
static idm_status name_free(const idm_features *f, idm_labels *ret_name, idm_error *opt_error)
{
  size_t count = 0;
  if (!f->held) return idm_labels_copy(&f->name, ret_name, opt_error);
  for (size_t k = 0; k < f->name.count; k++) count += !f->held[k];
  idm_status status = idm_labels_create(ret_name, count, opt_error);
  for (size_t c = 0; c < count && status == IDM_OK; c++) {
    const char *name = f->name.name[idm_features_place(f, c)];
    status = idm_labels_set(ret_name, c, name, strlen(name), opt_error);
  }
  return status;
}

idm_status idm_features_free(idm_block *block, idm_error *opt_error)
{
  const idm_features *f = block->features;
  block->coordinate = idm_new(block->size, sizeof *block->coordinate);
  if (!block->coordinate) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < block->size; i++) {
    bool moves = false;
    for (size_t k = 0; k < f->name.count; k++)
      moves |= f->value[i * f->name.count + k] != 0 && !(f->held && f->held[k]);
    block->coordinate[i] = moves ? 0 : -1;
  }
  return name_free(f, &block->coordinate_name, opt_error);
}

bool idm_features_same(const idm_features *a, const idm_features *b, size_t numbers)
{
  if (!a || !b) return !a && !b;
  return idm_labels_same(&a->name, &b->name) &&
         memcmp(a->value, b->value, numbers * a->name.count * sizeof *a->value) == 0 &&
         memcmp(a->weight, b->weight, a->name.count * sizeof *a->weight) == 0;
}
