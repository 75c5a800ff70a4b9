/* Classes of inverse decision models: the rows of the paper's table "Inverse Decision Modeling",
 * each a planner, an inverse planner and what is free. */
#ifndef IDM_CLASSES_H
#define IDM_CLASSES_H

#include "idm/inverse.h"
#include "idm/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table's columns. */
typedef enum idm_class_property {
  IDM_PROPERTY_CONTROLLABLE,  /* tau_env: the environment is controlled in part */
  IDM_PROPERTY_OBSERVABLE,    /* omega_env: and observed in part */
  IDM_PROPERTY_PURPOSEFUL,    /* upsilon: behaviour has a purpose */
  IDM_PROPERTY_SUBJECTIVE,    /* tau, omega: dynamics are the agent's own */
  IDM_PROPERTY_STOCHASTIC,    /* pi: actions are drawn */
  IDM_PROPERTY_UNCERTAIN,     /* rho, sigma: knowledge is uncertain */
  IDM_PROPERTY_DECISION,      /* alpha: decisions have a price */
  IDM_PROPERTY_SPECIFICATION, /* beta: specifications have one */
  IDM_PROPERTY_RECOGNITION,   /* eta: recognitions have one */
  IDM_PROPERTY_COUNT
} idm_class_property;

typedef struct idm_class {
  const char *name;
  const char *row; /* of the paper's table */
  const char *planner;
  const char *inverse;
  const char *free;   /* as in idm_problem_set_free */
  const char *fixed;  /* blocks that it holds at 0, though its planner reads them; may be empty */
  bool partial;       /* of problems whose states need not be observed; else they must be */
  bool deterministic; /* of rules without a purpose: the policy is their best action */
  idm_divergence divergence; /* between occupancies, where its inverse planner asks for one and
                                nobody says which: the usual one, or where that would be infinite
                                one that is not */
  long draws;                /* most of a chain, in warm-up and after it; 0: the usual number */
  long depth;                /* of nuts; 0: the usual one */
  const char *question;      /* that it answers */
  const char *open;          /* what it leaves open */
} idm_class;

/* Class i, or NULL past the last; by name, or NULL. */
IDM_API const idm_class *idm_class_at(size_t index);
IDM_API const idm_class *idm_class_find(const char *name);
/* Whether the class has a tick, from what its planner reads and what is free. */
IDM_API bool idm_class_has_property(const idm_class *of, idm_class_property tick);
/* The blocks that it frees of a problem, as in idm_problem_set_free: where states are observed
 * there is no emission to learn. NULL where the buffer is too short. */
IDM_API const char *idm_class_blocks(const idm_class *of, const idm_problem *problem, char *buffer,
                                     size_t size);
/* Settings of a fit that are the class's where nobody says otherwise. */
IDM_API void idm_class_settings(const idm_class *of, idm_fit_settings *settings);
/* Whether the class decides a key of the agent itself: the planner, the choice, and blocks that it
 * holds. */
IDM_API bool idm_class_decides(const idm_class *of, const char *key);
#ifdef __cplusplus
}
#endif
#endif
