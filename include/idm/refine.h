/* How fine a lattice has to be: `resolution: auto`. */
#ifndef IDM_REFINE_H
#define IDM_REFINE_H

#include "idm/data.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One lattice looked at: how far the posterior means move on a finer one. */
typedef struct idm_refinement_step {
  int resolution;
  int finer;
  double shift; /* the largest, in posterior sds, as doubling the resolution would give it */
  double share; /* of the points weighed, how many the weights leave effective: the lesser of the
                   two lattices */
} idm_refinement_step;

enum { IDM_REFINEMENTS = 12 };
typedef struct idm_refinement {
  int resolution; /* to be taken; 0 where there is no lattice to choose */
  bool converged; /* no posterior mean moves by .1 posterior sd on a finer lattice */
  size_t steps;   /* 0 where the resolution is given, or there is nothing to refine */
  idm_refinement_step step[IDM_REFINEMENTS];
} idm_refinement;

/* Choose the lattice for a fit of a problem whose resolution is 0 (auto): the default one, or the
 * first finer one whose doubling moves no posterior mean by .1 posterior sd. Points drawn around
 * the mode on the default lattice, or where that is large from the posterior on one a third as
 * fine, are weighed by the posterior on each lattice in turn, and drawn anew around what a lattice
 * finds where the weights have become uneven, so that a fine lattice costs some tens of plans.
 * Where no lattice within reach is fine enough, the first that moves no mean by .25, else the
 * default: the verdict then says what it is worth. A function of its arguments. */
IDM_API idm_status idm_refine(const idm_problem *problem, const idm_data *data,
                              const idm_fit_settings *settings, const idm_fit_monitor *opt_monitor,
                              idm_refinement *refinement, idm_error *opt_error);
/* Say what it took. */
IDM_API void idm_refinement_note(const idm_refinement *refinement, idm_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
