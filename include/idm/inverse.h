/* Inverse planners (G): (evidence, normative parameter) -> descriptive parameter, behind one table.
 */
#ifndef IDM_INVERSE_H
#define IDM_INVERSE_H

#include "idm/data.h"
#include "idm/posterior.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_inverse idm_inverse;

/* The input of a fit. All are borrowed. */
typedef struct idm_fit_arguments {
  const idm_inverse *inverse; /* the row whose `fit` is called */
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_fit_monitor *opt_monitor;
  idm_notes *opt_notes;
} idm_fit_arguments;

/* Planners that an inverse planner can invert. */
typedef enum idm_planner_family {
  IDM_ANY_PLANNER,    /* by the likelihood of its behaviour */
  IDM_BELIEF_PLANNER, /* that decides by a belief */
  IDM_LATTICE_PLANNER /* that solves a lattice */
} idm_planner_family;

/* An inverse planner. All operations are required. */
struct idm_inverse {
  const char *name;
  const char *summary;
  const char *row; /* of the paper's table "Inverse Planners" */
  idm_estimate_kind answer;
  unsigned columns;          /* evidence it needs: bits 1 << idm_column */
  bool preferences;          /* it needs preferences between trajectories; who does not say so
                                does not read them */
  idm_planner_family family; /* planners it can invert */
  bool gradient;             /* needs a behaviour with a slope */
  bool opaque;               /* can infer blocks of unnamed numbers */
  bool normal;               /* its draws are of a normal that stands for the posterior */
  bool by_state;      /* needs a planner whose choices depend on an observed state alone, or on a
                         belief where states are hidden */
  bool own_objective; /* goes by an objective of its own, not by the likelihood of decisions;
                         those that find one block do */
  const char *target_block; /* the block that it looks for and nothing else; NULL: whatever is
                        free */
  const char *alone; /* why nothing else: what its objective is of other numbers, and what to use */
  bool features;     /* of one that finds the utility: it takes one that is linear in features */
  const char *planner;     /* the one whose numbers it finds; NULL: any of the family */
  const char *extra_block; /* a block of some planners that it may look for as well; NULL: none */
  bool extra_alone;        /* or in place of the other, which is then held */
  const char *const *settings; /* keys of idm_fit_keys that it reads; NULL at the end */
  const void *method; /* constants of `fit`, of inverse planners that share it; NULL: none */
  idm_status (*fit)(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                    idm_error *opt_error);
};

/* Registry: inverse planner i, or NULL past the last; by name, or NULL. */
IDM_API const idm_inverse *idm_inverse_at(size_t index);
IDM_API const idm_inverse *idm_inverse_find(const char *name);
/* Add an inverse planner, as idm_planner_register. */
IDM_API idm_status idm_inverse_register(const idm_inverse *inverse, idm_error *opt_error);

/* Fit. *ret_posterior is NULL unless the status is IDM_OK. */
IDM_API idm_status idm_inverse_fit(const idm_inverse *inverse, const idm_problem *problem,
                                   const idm_data *data, const idm_fit_settings *settings,
                                   const idm_fit_monitor *opt_monitor,
                                   idm_posterior **ret_posterior, idm_notes *opt_notes,
                                   idm_error *opt_error);
/* Whether an inverse planner goes by the likelihood of the recorded decisions. */
IDM_API bool idm_inverse_by_likelihood(const idm_inverse *inverse);
/* Whether an inverse planner reads a setting, by its name in idm_fit_keys. */
IDM_API bool idm_inverse_reads(const idm_inverse *inverse, const char *setting);
/* Whether an inverse planner can work on a problem and its data: IDM_INPUT names the column that is
 * missing, preferences that are missing or that it does not read, the planner that does not fit or
 * the block that it cannot infer, or does not look for. */
IDM_API idm_status idm_inverse_check(const idm_inverse *inverse, const idm_problem *problem,
                                     const idm_data *data, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
