/* Dynamics of an environment (start, transition and observation probabilities), and the candidate
 * models of an agent that are derived from them. */
#ifndef IDM_EXTENSION_DYNAMICS_H
#define IDM_EXTENSION_DYNAMICS_H

#include "idm/extension/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start, transition and observation probabilities in one array. */
typedef struct idm_dynamics {
  idm_sizes sizes;
  size_t numbers;     /* total number of probabilities */
  double *start;      /* [state], owned; transition and emission follow in the same array */
  double *transition; /* [action][state][next state] */
  double *emission;   /* [action][emitter][observation] (see idm_setting) */
} idm_dynamics;

#ifdef __cplusplus
}
#endif
#endif
