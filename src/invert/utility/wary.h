/* A demonstrator who plans for the worst share of its models: its margins, and the linear program
 * of utilities that make them large while what the models do elsewhere is held. */
#ifndef IDM_INVERT_UTILITY_WARY_H
#define IDM_INVERT_UTILITY_WARY_H

#include "invert/utility/asked.h"
#include "invert/utility/face.h"
#include "invert/utility/models.h"

typedef struct idm_wary {
  const idm_fit_settings *settings;
  const idm_sought *sought;
  const idm_demonstrator *demonstrator;
  idm_halt *halt;
  idm_models *models;
  idm_sizes n;
  size_t entries; /* actions times states */
  int32_t *taken; /* [state]: the demonstrator's action, or IDM_MISSING */
  double *weight; /* [number]: entries that share it */
  double *key;    /* [number]: see idm_sought_keys */
  size_t *place;  /* [entry]: which one it is of those where models differ */

  double level;  /* risk level of what follows */
  double *sigma; /* [entry][model]: the mixture of the program, of whoever calls */

  double *x;        /* [number]: of the program that was solved */
  double objective; /* of it; -inf where it has no solution */
  bool unclear;     /* of some program it was not decided whether it has one */
  idm_face face;    /* of the one that was chosen from */

  double margin;   /* the true one, where it was measured last */
  double *worst;   /* [entry][model]: the worst mixture there */
  double *utility; /* [entry] */
  double *v;       /* [state] */
  double *q;       /* [entry] */
} idm_wary;

/* Of what is asked, which has its demonstrator. IDM_INPUT where that has two actions in a state. */
idm_status idm_wary_create(idm_asked *asked, idm_wary **ret_wary, idm_error *opt_error);
void idm_wary_destroy(idm_wary *wary);
/* Numbers of a mixture. */
size_t idm_wary_mixture(const idm_wary *wary);

/* sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1 at numbers x, Q
 * the demonstrator's under the nested mean of the worst share of its models: by sweeps and no
 * program. */
idm_status idm_wary_measure(idm_wary *wary, const double *x, idm_error *opt_error);
/* The optimum of the program with the mixture sigma, and its true margin, which is no less. */
idm_status idm_wary_solve(idm_wary *wary, idm_error *opt_error);
/* The same, one of all optima, see face.h. IDM_INPUT where there is none. */
idm_status idm_wary_choose(idm_wary *wary, idm_error *opt_error);
/* IDM_INPUT: no program has a solution. */
idm_status idm_wary_refuse(idm_error *opt_error);

#endif
