/* Choice of the lattice resolution for `resolution: auto`. See docs/method/control.md, 7. */
#ifndef IDM_INVERT_REFINE_H
#define IDM_INVERT_REFINE_H

#include "base/door.h"
#include "idm/extension/data.h"
#include "idm/extension/settings.h"

/* Comparison of one lattice with a finer one. */
typedef struct idm_refinement_step {
  int resolution;
  int finer;
  double shift; /* largest shift of a posterior mean, in posterior standard deviations, extrapolated
                   to a doubling of the resolution */
  double share; /* effective sample size of the importance weights, relative to the number of
                   points; minimum over the two lattices */
} idm_refinement_step;

enum { IDM_REFINEMENTS = 12 };
typedef struct idm_refinement {
  int resolution; /* chosen resolution; 0: no lattice to choose */
  bool converged; /* no posterior mean shifts by 0.1 posterior sd on a finer lattice */
  size_t steps;   /* 0 if the resolution is given, or nothing is to be refined */
  idm_refinement_step step[IDM_REFINEMENTS];
} idm_refinement;

/* Choose the lattice resolution for a fit of a problem with resolution 0 (auto): the default, or
 * the first finer one whose doubling shifts no posterior mean by 0.1 posterior sd. Points are drawn
 * around the mode on the default lattice or, if that is large, from the posterior on a lattice a
 * third as fine. They are reweighted by the posterior on each lattice in turn, and drawn again from
 * the result if the weights become uneven, so a fine lattice needs some tens of plans. If no
 * feasible lattice is fine enough, the first that shifts no mean by 0.25 is chosen, else the
 * default; the verdict then reports the error. The result is a function of the arguments. */
IDM_CHECKED idm_status idm_refine(const idm_problem *problem, const idm_data *data,
                                  const idm_fit_settings *settings,
                                  const idm_fit_monitor *opt_monitor, idm_refinement *refinement,
                                  idm_error *opt_error);
/* Add a note about the choice and its cost. */
IDM_CHECKED void idm_refinement_note(const idm_refinement *refinement, idm_notes *notes);

#endif
