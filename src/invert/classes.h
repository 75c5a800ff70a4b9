/* Classes of inverse decision models: rows of the table of the paper "Inverse Decision Modeling",
 * each a planner, an inverse planner and a list of free blocks. */
#ifndef IDM_INVERT_CLASSES_H
#define IDM_INVERT_CLASSES_H

#include "base/arguments.h"
#include "idm/extension/inverse.h"
#include "idm/extension/planner.h"

/* Columns of the table. */
typedef enum idm_class_property {
  IDM_PROPERTY_CONTROLLABLE,  /* tau_env: the environment is partially controllable */
  IDM_PROPERTY_OBSERVABLE,    /* omega_env: the environment is partially observable */
  IDM_PROPERTY_PURPOSEFUL,    /* upsilon: behaviour is purposeful */
  IDM_PROPERTY_SUBJECTIVE,    /* tau, omega: the dynamics are subjective */
  IDM_PROPERTY_STOCHASTIC,    /* pi: actions are stochastic */
  IDM_PROPERTY_UNCERTAIN,     /* rho, sigma: knowledge is uncertain */
  IDM_PROPERTY_DECISION,      /* alpha: decision complexity */
  IDM_PROPERTY_SPECIFICATION, /* beta: specification complexity */
  IDM_PROPERTY_RECOGNITION,   /* eta: recognition complexity */
  IDM_PROPERTY_COUNT
} idm_class_property;

typedef struct idm_class {
  const char *name;
  const char *row; /* row of the paper's table */
  const char *planner;
  const char *inverse;
  const char *free;          /* as in idm_problem_set_free */
  const char *fixed;         /* blocks held at 0 although the planner reads them; may be empty */
  bool partial;              /* states may be hidden; else they must be observed */
  bool deterministic;        /* policies without a utility that take the best action */
  idm_divergence divergence; /* between occupancies, for inverse planners that need one; the
                                default, or a finite one where the default would be infinite */
  long draws;                /* most draws and warm-up steps per chain; 0: no limit */
  long depth;                /* depth of nuts and hmc; 0: the default */
  const char *question;      /* question that the class answers */
  const char *open;          /* what the class does not identify */
} idm_class;

/* Class by index, NULL past the last; and class by name, NULL where there is none. Static. */
IDM_CHECKED const idm_class *idm_class_at(size_t index);
IDM_CHECKED const idm_class *idm_class_find(const char *name);
/* Whether a class has a property, derived from the blocks that its planner reads and from its free
 * blocks. False for NULL. */
IDM_CHECKED bool idm_class_has_property(const idm_class *of, idm_class_property tick);
/* List of the blocks that a class frees for a problem, as in idm_problem_set_free, written into
 * buffer[size]; `emission` is omitted where states are observed. Returns buffer; NULL where it is
 * too short. */
IDM_CHECKED const char *idm_class_blocks(const idm_class *of, const idm_problem *problem,
                                         char *buffer, size_t size);
/* Set the fields of a fit that the class determines (divergence, most draws, depth), for settings
 * that the user does not give. */
IDM_CHECKED void idm_class_settings(const idm_class *of, idm_fit_settings *settings);
/* Whether the class determines a key of the agent: the planner, the choice, and blocks that it
 * holds at 0. */
IDM_CHECKED bool idm_class_decides(const idm_class *of, const char *key);

/* --- within the library ----------------------------------------------------------------------- */

/* true if the list "alpha, beta" (NULL: empty) contains the block. */
bool idm_class_list_contains(const char *opt_names, const char *block);

#endif
