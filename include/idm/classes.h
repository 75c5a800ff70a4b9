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
typedef enum idm_tick {
  IDM_TICK_CONTROLLABLE,  /* tau_env: the environment is controlled in part */
  IDM_TICK_OBSERVABLE,    /* omega_env: and observed in part */
  IDM_TICK_PURPOSEFUL,    /* upsilon: behaviour has a purpose */
  IDM_TICK_SUBJECTIVE,    /* tau, omega: dynamics are the agent's own */
  IDM_TICK_STOCHASTIC,    /* pi: actions are drawn */
  IDM_TICK_UNCERTAIN,     /* rho, sigma: knowledge is uncertain */
  IDM_TICK_DECISION,      /* alpha: decisions have a price */
  IDM_TICK_SPECIFICATION, /* beta: specifications have one */
  IDM_TICK_RECOGNITION,   /* eta: recognitions have one */
  IDM_TICK_COUNT
} idm_tick;

typedef struct idm_class {
  const char *name;
  const char *row; /* of the paper's table */
  const char *planner;
  const char *inverse;
  const char *free;   /* as in idm_problem_free */
  const char *held;   /* blocks that it holds at 0, though its planner reads them; may be empty */
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
IDM_API bool idm_class_ticks(const idm_class *of, idm_tick tick);
/* The blocks that it frees of a problem, as in idm_problem_free: where states are observed there is
 * no emission to learn. NULL where the buffer is too short. */
IDM_API const char *idm_class_blocks(const idm_class *of, const idm_problem *problem, char *buffer,
                                     size_t size);
/* Settings of a fit that are the class's where nobody says otherwise. */
IDM_API void idm_class_settings(const idm_class *of, idm_fit_settings *settings);
/* Whether the class decides a key of the agent itself: the planner, the choice, and blocks that it
 * holds. */
IDM_API bool idm_class_decides(const idm_class *of, const char *key);
/* Make a problem one of the class: its planner, and what is free. A problem that frees the same
 * blocks keeps its own entries and priors; else they are the default ones, and where dynamics are
 * the agent's own it has one model of them, which begins as the environment. IDM_INPUT where the
 * class is of observed states, and the problem's are not. */
IDM_API idm_status idm_class_apply(const idm_class *of, idm_problem *problem, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
