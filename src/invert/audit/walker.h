/* One chain of an audit: where it is, and how it moves. */
#ifndef IDM_INVERT_AUDIT_WALKER_H
#define IDM_INVERT_AUDIT_WALKER_H

#include "idm/random.h"
#include "invert/audit/model.h"

typedef struct walker {
  const audit_model *model;
  size_t chain;
  double *level_sd; /* [dimension]: s */
  idm_random random;
  size_t numbers;              /* of where it is, from mu to log_likelihood in one piece: */
  double *mu;                  /* [dimension], owned */
  double *tau;                 /* [dimension] */
  double *effect;              /* [effect][dimension] */
  double *x;                   /* [cell][dimension] */
  double *log_likelihood;      /* [cell]: by the grids */
  double *kept;                /* the same at the last exact look */
  double *exact;               /* [cell]: log-likelihoods there */
  double *next_x;              /* [cell][dimension] */
  double *next_log_likelihood; /* [cell] */
  bool *touched;               /* [cell] */
  double *factor;              /* [dimension][dimension] */
  double *centre;              /* [dimension] */
  double *proposal;            /* [dimension] */
  double *held;                /* [3][dimension], then [cells]: of an exchange */
  long moves;
  long accepted;
} walker;

/* Freed by idm_walker_destroy also where it fails. s and tau's scale are multiplied by `scale`. */
idm_status idm_walker_create(walker *w, const audit_model *model, size_t chain, double scale,
                             uint64_t stream, idm_error *opt_error);
void idm_walker_destroy(walker *w);
/* Where the cells start. */
idm_status idm_walker_start(walker *w, idm_error *opt_error);
/* A few sweeps and, where the model is to be exact, a look. */
idm_status idm_walker_step(walker *w, long sweeps, const atomic_bool *stop, idm_error *opt_error);

#endif
