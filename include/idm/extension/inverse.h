/* Inverse planners (G): (data, normative parameter) -> descriptive parameter; their table of
 * operations and registry. */
#ifndef IDM_EXTENSION_INVERSE_H
#define IDM_EXTENSION_INVERSE_H

#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/posterior.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_inverse idm_inverse;

/* Arguments of a fit. All pointers are borrowed. */
typedef struct idm_fit_arguments {
  const idm_inverse *inverse; /* the table entry whose `fit` is called */
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_fit_monitor *opt_monitor;
  idm_notes *opt_notes;
} idm_fit_arguments;

/* Class of planners that an inverse planner can invert. */
typedef enum idm_planner_family {
  IDM_ANY_PLANNER,    /* any planner, by the likelihood of its behaviour */
  IDM_BELIEF_PLANNER, /* planners whose policy is a function of a belief */
  IDM_LATTICE_PLANNER /* planners that solve a lattice */
} idm_planner_family;

/* Descriptor of an inverse planner. `name`, `summary`, `row`, `settings` and `fit` are required. */
struct idm_inverse {
  size_t size; /* sizeof(idm_inverse) in the program that fills the table */
  const char *name;
  const char *summary;
  const char *row; /* row of the paper's table "Inverse Planners" */
  idm_estimate_kind answer;
  unsigned columns;          /* required evidence columns: bits 1 << idm_column */
  bool preferences;          /* true if preference data are required; otherwise they are refused */
  idm_planner_family family; /* planners that it can invert */
  bool gradient;             /* requires a behaviour with a derivative */
  bool opaque;               /* can infer opaque blocks (blocks of unnamed numbers) */
  bool normal;               /* its draws are from a normal approximation of the posterior */
  bool by_state; /* requires a planner whose choices depend on the observed state alone, or on a
                    belief if states are hidden */
  bool own_objective; /* optimises its own objective, not the likelihood of decisions; true of all
                         that infer a single block */
  const char *target_block; /* the only block that it infers; NULL: all free blocks */
  const char *alone; /* why it infers no other block: the dependence of its objective on other
                        numbers, and an alternative */
  bool features; /* of one that infers the utility: accepts a utility that is linear in features */
  const char *planner;     /* the planner whose numbers it infers; NULL: any of the family */
  const char *extra_block; /* a block of some planners that it can infer in addition; NULL: none */
  bool extra_alone; /* it can also be inferred in place of target_block, which is then fixed */
  const char *const *settings; /* keys of idm_fit_keys that it uses; ends with NULL */
  const void *method; /* constants of `fit` if several inverse planners share it; NULL: none */
  idm_status (*fit)(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                    idm_error *opt_error);
};

/* Registry: inverse planner number `index`, or NULL past the last. */
IDM_API const idm_inverse *idm_inverse_at(size_t index);
/* Registry: the inverse planner of that name, or NULL. */
IDM_API const idm_inverse *idm_inverse_find(const char *name);
/* Register a copy of an inverse planner's table, as idm_planner_register. */
IDM_API idm_status idm_inverse_register(const idm_inverse *inverse, idm_error *opt_error);

/* Fit a problem to data. opt_monitor: progress, interruption and checkpoints. Remarks are appended
 * to opt_notes. *ret_posterior is NULL unless the status is IDM_OK. If opt_monitor stops the
 * sampler, the draws made so far are returned; IDM_UNTRUSTED if it stops the fit before the first
 * draw. Other errors are those of idm_inverse_check, and IDM_NUMERICAL. */
IDM_API idm_status idm_inverse_fit(const idm_inverse *inverse, const idm_problem *problem,
                                   const idm_data *data, const idm_fit_settings *settings,
                                   const idm_fit_monitor *opt_monitor,
                                   idm_posterior **ret_posterior, idm_notes *opt_notes,
                                   idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
