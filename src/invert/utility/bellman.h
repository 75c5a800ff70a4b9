/* Linear programs over utilities and values.
 *
 * Contents: face · bellman · game · learner steps · penalty */
#ifndef IDM_INVERT_UTILITY_BELLMAN_H
#define IDM_INVERT_UTILITY_BELLMAN_H

#include "idm/extension/optimality.h"
#include "infer/program.h"
#include "invert/cancel.h"
#include "invert/utility/mdp.h"

/* === face =================================================================================== */

/* Selects one optimum among all optima of a linear program independently of the order of columns:
 * the nearest to a target point. Reports whether the optimum is unique. */

typedef struct idm_face {
  size_t count;             /* number of columns that define the optimum: the first ones */
  const double *weight;     /* [count]: weights of the squared distance */
  const double *opt_target; /* [count]; NULL: 0 */
  const double
      *key; /* [count]: generic positive numbers that break symmetries, see idm_free_utility_keys */
  bool bounded; /* the set of optima is bounded: a failure to bound it is due to rounding, and the
                   first optimum is kept */
  double *x;    /* [columns]: the optimum, owned by the caller */
  double objective;
  double attained; /* how far from an optimum it can be, as idm_program_solution has it */
  bool unique;     /* the optimum is unique */
  bool nearest;    /* the optimum is the nearest; false: the one of least sum by keys */
  bool unchecked;  /* uniqueness could not be determined */
} idm_face;

/* Solves a program and selects an optimum; changes costs and bounds of the program to those of its
 * optimal face. Errors: IDM_INPUT with the message `infeasible` or `unbounded`; IDM_UNTRUSTED if
 * interrupted. */
idm_status idm_face_choose_unique(idm_program *program, const char *infeasible,
                                  const char *unbounded, idm_face *face, idm_cancel *cancel,
                                  idm_error *opt_error);
/* Solves a program; same errors. */
idm_status idm_face_solve(idm_program *program, const char *infeasible, const char *unbounded,
                          idm_program_solution *solution, idm_cancel *cancel, idm_error *opt_error);
/* range[count][2]: least and largest values of the columns over the optimal face of a program after
 * idm_face_choose_unique. */
idm_status idm_face_ranges(idm_program *program, size_t count, double *range, idm_cancel *cancel,
                           idm_error *opt_error);

/* === bellman ================================================================================ */

/* Bellman equations as rows of a linear program over utilities and values.
 *
 * Columns 0 .. count - 1 are the free numbers, the next ones the values of states; further columns
 * of a program come after them. */

/* A row under construction: a sum of entries between bounds, which fixed entries of the utility
 * shift. */
typedef struct idm_bellman_rows {
  idm_program *program;
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  size_t values;     /* column of the first state's value */
  double fixed_part; /* contribution of fixed entries to the current row */
} idm_bellman_rows;

/* Begins rows over the values of one MDP; the values of several are stored one after another. */
idm_bellman_rows idm_bellman_begin(idm_program *program, const idm_mdp *mdp,
                                   const idm_free_utility *free_utility, size_t values);
/* Adds factor times an entry of the utility to the row: a free number, a linear combination of
 * features, or a fixed entry, which is moved to the bounds. */
idm_status idm_bellman_utility(idm_bellman_rows *rows, size_t entry, double factor,
                               idm_error *opt_error);
/* Adds -weight times (utility + discount P V) of (state, action) to the row. */
idm_status idm_bellman_enter(idm_bellman_rows *rows, size_t state, size_t action, double weight,
                             idm_error *opt_error);
/* Adds the state's own value and finishes the row: lower <= V(s) - ... <= upper. */
idm_status idm_bellman_add(idm_bellman_rows *rows, size_t state, double lower, double upper,
                           idm_error *opt_error);
/* Adds one row per state: V = value of policy[state][action]. */
idm_status idm_bellman_policy(idm_bellman_rows *rows, const double *policy, idm_error *opt_error);

/* true if an action is available to the agent: its prior is positive. */
bool idm_mdp_allows(const idm_mdp *mdp, size_t action);
/* IDM_INPUT if values of policies are not stationary fixed points: a horizon, or a discount of 1.
 */
idm_status idm_bellman_check(const idm_mdp *mdp, const idm_setting *setting, const char *caller,
                             idm_error *opt_error);
/* Interrupt callback for idm_program_solve and similar functions; the context is an idm_cancel. */
bool idm_bellman_interrupted(void *cancel);

/* === game =================================================================================== */

/* Game for a policy (apprenticeship learning): max over policies of min over utilities in the box
 * of the policy's return minus the demonstrator's (Syed and Schapire 2008). */

typedef struct idm_game {
  double bound;        /* bound of the box */
  idm_face *face;      /* utility side: its `x` is allocated here and freed by the caller */
  double objective;    /* value of the game */
  double *policy;      /* [state][action]: policy side, freed by the caller */
  double attained;     /* optimality gap of the policy */
  bool policy_nearest; /* of the optimal policies, its occupancy is the nearest to the
                          demonstrator's */
} idm_game;

/* Computes optimal strategies of both players. occupancy and demonstrated are the demonstrator's,
 * by state and action. */
idm_status idm_game_solve(const idm_mdp *mdp, const idm_free_utility *free_utility,
                          const double *occupancy, const double *demonstrated, idm_game *game,
                          idm_cancel *cancel, idm_error *opt_error);

/* === learner steps ========================================================================== */

/* Utility of a learner from its successive policies: inversion of soft policy iteration. */

typedef struct idm_learner_steps {
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  double alpha;
  const double *prior;  /* [action] */
  size_t count;         /* number of policies, at least 2 */
  const double *policy; /* [count][state][action] */
  const double *weight; /* [count - 1][state][action]: weight of the equation of a step; 0: the
                           equation is left out and may be undefined */
} idm_learner_steps;

/* Computes x[free] that minimises the weighted squares of
 *   alpha log(pi_{k+1} / pi~)(u|s) + alpha discount E KL(pi_k || pi_{k+1})(s') - u - discount P
 * phi_k + phi_k over x and potentials phi_k (`docs/method/inverse.md, 7`); among all minimisers the
 * potentials have least norm. The optimality record receives the sum of squares, its gradient, and
 * the directions of the utility that the equations leave unidentified. */
idm_status idm_learner_steps_invert(const idm_learner_steps *steps, double *x,
                                    idm_optimality *optimality, idm_error *opt_error);

/* === penalty ================================================================================ */

/* Weighted L1 penalty as rows of a linear program. */

/* Adds the cost penalty * weight[k] * |x_k - target_k| (target NULL: 0) on columns 0 .. count - 1,
 * by x - target = above - below, which are the 2 * count columns from `above` on. */
idm_status idm_penalty_add(idm_program *program, size_t count, size_t above, double penalty,
                           const double *weight, const double *opt_target, idm_error *opt_error);

#endif
