/* Quantities that are the numbers of one block, side by side: arrays of a run's file. */
#ifndef IDM_IO_RUN_ARRAYS_H
#define IDM_IO_RUN_ARRAYS_H

#include "idm/posterior.h"

enum { IDM_ARRAY_RANK = 4 };

/* A part of a block that is whole along each of its axes: some places of every axis, and all their
 * combinations. */
typedef struct idm_array {
  size_t first;                 /* the first of its quantities */
  size_t count;                 /* how many; 1: a quantity by itself, without axes */
  const idm_block *block;       /* of several; borrowed */
  const idm_series *opt_series; /* where they lie along an axis of the posterior; borrowed */
  size_t rank;
  size_t length[IDM_ARRAY_RANK];
  size_t *place[IDM_ARRAY_RANK]; /* [length]: places along the axis */
} idm_array;

/* Cut a list of names into arrays, as long as they can be. Names of opaque blocks, of tied entries
 * and of parts that are not whole stay by themselves, and so do those that differ in opt_flag. */
idm_status idm_arrays_create(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array **ret_arrays, size_t *ret_count,
                             idm_error *opt_error);
/* The arrays that the quantities of a posterior lie in, and those by themselves. */
idm_status idm_arrays_series(const idm_posterior *posterior, idm_array **ret_arrays,
                             size_t *ret_count, idm_error *opt_error);
void idm_arrays_destroy(idm_array *arrays, size_t count);

#endif
