/* Linear programs of utilities and values.
 *
 * Contents: face · bellman · game · learner steps · penalty */
#ifndef IDM_INVERT_UTILITY_BELLMAN_H
#define IDM_INVERT_UTILITY_BELLMAN_H

#include "idm/finding.h"
#include "infer/program.h"
#include "invert/matching/halt.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"

/* === face =================================================================================== */

/* One optimum among all optima of a linear program, by a rule that knows no order: the nearest to a
 * point. And whether there are others. */

typedef struct idm_face {
  size_t count;             /* columns that matter: the first ones */
  const double *weight;     /* [count]: of their squared distance */
  const double *opt_target; /* [count]; NULL: 0 */
  const double
      *key;     /* [count]: positive numbers that no symmetry shares, see idm_free_utility_keys */
  bool bounded; /* optima have an end: not to find it is a matter of rounding, which leaves the
                   optimum that was found */
  double *x;    /* [columns]: the optimum, of the caller's */
  double objective;
  double attained; /* how far from an optimum it can be, as idm_program_solution has it */
  bool unique;     /* there is no other */
  bool nearest;    /* it is the nearest; else the one whose sum by keys is least */
  bool unchecked;  /* which others there are was not found */
} idm_face;

/* Solve a program and choose. Costs and bounds of the program are then those of its optima. Not to
 * be solved: IDM_INPUT with `infeasible` or `unbounded` for words; IDM_UNTRUSTED where somebody
 * stopped it. */
idm_status idm_face_choose_unique(idm_program *program, const char *infeasible,
                                  const char *unbounded, idm_face *face, idm_cancel *cancel,
                                  idm_error *opt_error);
/* Solve a program; the same failures. */
idm_status idm_face_solve(idm_program *program, const char *infeasible, const char *unbounded,
                          idm_program_solution *solution, idm_cancel *cancel, idm_error *opt_error);
/* range[count][2] of the columns over what is left of a program that was chosen from. */
idm_status idm_face_ranges(idm_program *program, size_t count, double *range, idm_cancel *cancel,
                           idm_error *opt_error);

/* === bellman ================================================================================ */

/* Bellman's equations as rows of a linear program over utilities and values.
 *
 * Columns 0 .. count - 1 are the free numbers that are sought, the next ones the values of states;
 * whatever else a program has comes after them. */

/* A row under way: sum of entries between bounds that held entries of the utility shift. */
typedef struct idm_bellman_rows {
  idm_program *program;
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  size_t values;     /* column of the first state's value */
  double fixed_part; /* what held entries add to the row that comes next */
} idm_bellman_rows;

/* Rows over the values of one world; those of several follow one another. */
idm_bellman_rows idm_bellman_begin(idm_program *program, const idm_mdp *mdp,
                                   const idm_free_utility *free_utility, size_t values);
/* Enter a factor times an entry of the utility: a free number, a sum over features, or one that is
 * held, which is moved to the bounds. */
idm_status idm_bellman_utility(idm_bellman_rows *rows, size_t entry, double factor,
                               idm_error *opt_error);
/* Enter weight times what (state, action) brings: -(utility + discount P V). */
idm_status idm_bellman_enter(idm_bellman_rows *rows, size_t state, size_t action, double weight,
                             idm_error *opt_error);
/* Enter the state's own value, and add the row: lower <= V(s) - ... <= upper. */
idm_status idm_bellman_add(idm_bellman_rows *rows, size_t state, double lower, double upper,
                           idm_error *opt_error);
/* V = value of a policy[state][action] in every state, a row each. */
idm_status idm_bellman_policy(idm_bellman_rows *rows, const double *policy, idm_error *opt_error);

/* Whether an action is open to the agent at all: its prior is not 0. */
bool idm_mdp_allows(const idm_mdp *mdp, size_t action);
/* IDM_INPUT where values of policies are no fixed points: a horizon, or a discount of 1. */
idm_status idm_bellman_check(const idm_mdp *mdp, const idm_setting *setting, const char *caller,
                             idm_error *opt_error);
/* For idm_program_solve and its like: the context is a halt. */
bool idm_bellman_interrupted(void *cancel);

/* === game =================================================================================== */

/* A game for a policy: max over policies of min over utilities of the box of the policy's return
 * less the demonstrator's (Syed and Schapire 2008). */

typedef struct idm_game {
  double bound;        /* of the box */
  idm_face *face;      /* the utility's side: its `x` is made here, for the caller to free */
  double objective;    /* value of the game */
  double *policy;      /* [state][action]: the other side, for the caller to free */
  double attained;     /* how far that is from one that plays best */
  bool policy_nearest; /* its occupancy is the nearest to the demonstrator's that plays best */
} idm_game;

/* Both players' best. occupancy and demonstrated are the demonstrator's, by state and action. */
idm_status idm_game_solve(const idm_mdp *mdp, const idm_free_utility *free_utility,
                          const double *occupancy, const double *demonstrated, idm_game *game,
                          idm_cancel *cancel, idm_error *opt_error);

/* === learner steps ========================================================================== */

/* What successive policies of a learner say of its utility: soft policy iteration run backwards. */

typedef struct idm_learner_steps {
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  double alpha;
  const double *prior;  /* [action] */
  size_t count;         /* policies, at least 2 */
  const double *policy; /* [count][state][action] */
  const double *weight; /* [count - 1][state][action]: what the equation of a step counts; 0: it is
                           left out, and need not make sense */
} idm_learner_steps;

/* x[free] that minimises the weighted squares of
 *   alpha log(pi_{k+1} / pi~)(u|s) + alpha discount E KL(pi_k || pi_{k+1})(s') - u - discount P
 * phi_k
 *   + phi_k
 * over x and potentials phi_k; of all those the potentials of least norm. The finding receives the
 * sum of squares, its gradient, and what of the utility the equations leave open. */
idm_status idm_learner_steps_invert(const idm_learner_steps *steps, double *x,
                                    idm_optimality *finding, idm_error *opt_error);

/* === penalty ================================================================================ */

/* A price on the size of numbers, as rows of a linear program. */

/* Columns 0 .. count - 1 cost price * weight[k] * |x_k - aim_k| (NULL: 0): x - aim = above - below,
 * which are the 2 * count columns from `above` on. */
idm_status idm_penalty_add(idm_program *program, size_t count, size_t above, double penalty,
                           const double *weight, const double *opt_target, idm_error *opt_error);

#endif
