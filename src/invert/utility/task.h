/* Requests to inverse planners that do not use the likelihood, construction of their answers, and
 * draws of their free numbers.
 *
 * Contents: task · answer · discount search · risk margin · cvar program · lambda · attained ·
 * peaks · target draws */
#ifndef IDM_INVERT_UTILITY_TASK_H
#define IDM_INVERT_UTILITY_TASK_H

#include "idm/extension/inverse.h"
#include "idm/extension/sampler.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "invert/cancel.h"
#include "invert/parameters.h"
#include "invert/utility/belief_mdp.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/soft_plan.h"

/* === task =================================================================================== */

/* The request of a fit by an inverse planner that does not use the likelihood, with the objects
 * that are derived from it before the fit begins. */

typedef struct idm_task {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_notes *opt_notes;
  idm_pomdp *pomdp;               /* of a demonstrator whose states are hidden; otherwise NULL */
  idm_belief_mdp *beliefs;        /* if the states of `mdp` are beliefs; otherwise NULL */
  idm_mdp *mdp;                   /* NULL if the method uses the log alone */
  idm_free_utility *free_utility; /* NULL if the target is not the utility */
  idm_free_utility
      *belief_utility; /* free_utility by actions and beliefs of `beliefs`; otherwise NULL */
  idm_demonstrator *demonstrator; /* NULL until idm_task_demonstrator */
  idm_cancel cancel;              /* interrupt and progress of the fit */
} idm_task;

/* Representation that an inverse planner uses if states are hidden. */
typedef enum idm_task_basis {
  IDM_BY_STATES,  /* none: observed states are required */
  IDM_BY_LOG,     /* the log alone, without an MDP */
  IDM_BY_BELIEFS, /* the agent's beliefs along the log; `mdp` is that of the agent's model */
  IDM_BY_LATTICE  /* policies on a lattice of beliefs, which are the states of `mdp` */
} idm_task_basis;

/* Method of an inverse planner: the `method` field of its descriptor. */
typedef struct idm_task_method {
  idm_task_basis by;
  const char *activity; /* description of the computation in progress reports */
  /* Resolution of the lattice for a log; NULL: idm_belief_mdp_resolution. */
  int (*resolution)(const idm_problem *problem, const idm_data *data);
  /* Computes the answer; NULL: the descriptor has its own fit. */
  idm_status (*answer)(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error);
} idm_task_method;

/* Checks the settings and the requirements of the inverse planner, and creates the MDP and the free
 * utility. resolution: of the lattice; 0: the method's default. Call idm_task_close in any case,
 * also on failure. */
idm_status idm_task_open(idm_task *task, const idm_fit_arguments *call, int resolution,
                         idm_error *opt_error);
/* idm_inverse.fit for methods with an `answer`: opens the task, computes the answer, closes the
 * task. */
idm_status idm_task_fit(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                        idm_error *opt_error);
/* Returns the arguments of an open task without its notes, to repeat the fit at another resolution.
 */
idm_fit_arguments idm_task_call(const idm_task *task);
/* Creates the demonstrator of the whole log. */
idm_status idm_task_demonstrator(idm_task *task, idm_error *opt_error);
/* Returns the free utility by the actions and states of `mdp`. */
const idm_free_utility *idm_task_utility(const idm_task *task);
void idm_task_close(idm_task *task);

/* === answer ================================================================================= */

/* Answers of inverse planners that do not use the likelihood. */

/* Creates the answer at theta, whose free numbers are the estimate; `method` names the algorithm.
 * Takes ownership of the optimality record, which is destroyed on failure, and adds to it the
 * planner's policy at theta, if states are observed, and a sentence on the unidentified directions.
 */
idm_status idm_estimate_create(const idm_inverse *inverse, const idm_problem *problem,
                               const idm_fit_settings *settings, const idm_theta *theta,
                               const char *method, idm_optimality *optimality,
                               idm_posterior **ret_posterior, idm_error *opt_error);
/* The same with the free numbers of the utility at x, in units of the free utility. */
idm_status idm_estimate_utility(const idm_inverse *inverse, const idm_problem *problem,
                                const idm_fit_settings *settings,
                                const idm_free_utility *free_utility, const double *x,
                                const char *method, idm_optimality *optimality,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* For a free share in [0, 1] in addition to the utility, the last free number: copies the
 * unidentified directions of the utility as directions of all free numbers, and the words and
 * faults. share_open: the share is unidentified as well. */
idm_status idm_estimate_embed(const idm_optimality *utility_optimality, bool share_open,
                              idm_optimality *optimality, idm_error *opt_error);
/* Sets that share exactly: the coordinates that start a search are kept off the ends of an
 * interval, which the estimate can be at. IDM_INPUT if its prior excludes the value; `what` begins
 * the message. */
idm_status idm_estimate_set_share(const idm_problem *problem, const char *what, double share,
                                  idm_posterior *posterior, idm_error *opt_error);
/* If the demonstrator's occupancy is empirical and the log truncates trajectories: adds a fault to
 * the optimality record. */
void idm_task_check_truncation(const idm_task *task, idm_optimality *optimality);
/* idm_estimate_create for the first `draws` draws of every chain, with the policy at their centre.
 */
idm_status idm_estimate_from_draws(const idm_inverse *inverse, const idm_problem *problem,
                                   const idm_fit_settings *settings,
                                   const idm_parameters *parameters, const idm_chains *chains,
                                   size_t draws, idm_optimality *optimality,
                                   idm_posterior **ret_posterior, idm_error *opt_error);

/* === discount search ======================================================================== */

/* Joint estimation of the utility and the discount, if the best utility at a given discount
 * minimises a sum. */

typedef struct idm_discount_search {
  idm_task *task;
  const char *evidence; /* such as "the scores": what the sum compares utilities with */
  const char *method;   /* name of the algorithm that finds the utility */
  double floor;         /* sums of at most this are 0 up to rounding */
  double terms; /* number of terms of the sum, if their errors are identically distributed; 0: if
                   not */
  bool squares; /* terms are squares */
  /* Best numbers x[count] at a discount, and their optimality record. */
  idm_status (*fit)(void *context, double discount, double *x, idm_optimality **ret_optimality,
                    idm_error *opt_error);
  void *context;
  /* For sums whose terms are not identically distributed: the 95 % quantile of the gap between the
   * sum at the true discount and the least one, given the estimate of the discount; negative: not
   * computed. NULL: none. */
  idm_status (*gap)(void *context, double discount, double *ret_gap, idm_error *opt_error);
  double *x;    /* [count]: scratch */
  bool reports; /* reports its progress; false if several run at once */
} idm_discount_search;

/* Finds the discount of the least sum and the utility there. The answer has a fault if another
 * discount fits as well. */
idm_status idm_discount_search_run(const idm_discount_search *search, idm_posterior **ret_posterior,
                                   idm_error *opt_error);
/* Searches for the least sum alone: *gap is how much the sum at `discount` is above it. */
idm_status idm_discount_search_gap(const idm_discount_search *search, double discount, double *gap,
                                   idm_error *opt_error);
/* true if the discount is free. */
bool idm_discount_is_free(const idm_problem *problem);

/* === risk margin ============================================================================ */

/* Maximum margin by state for a demonstrator that maximises CVaR over its models. */

/* true if the problem's agent plans that way: it has a risk level. */
bool idm_risk_margin_applies(const idm_problem *problem);
/* max sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1, where Q is
 * the demonstrator's under the nested CVaR over its models (`docs/method/inverse.md, 4`), at the
 * agent's risk level or, if it is free, at each level of a grid. `task` must have its demonstrator.
 */
idm_status idm_risk_margin_fit(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error);

/* === cvar program =========================================================================== */

/* Margins of a demonstrator that maximises CVaR over its models, and the linear program of
 * utilities that maximises them for a fixed mixture of the models. */

typedef struct idm_cvar_program {
  const idm_fit_settings *settings;
  const idm_free_utility *free_utility;
  const idm_demonstrator *demonstrator;
  idm_cancel *cancel;
  idm_models *models;
  idm_sizes n;
  size_t entries;               /* actions * states */
  int32_t *demonstrated_action; /* [state]: action, or IDM_MISSING */
  double *weight;               /* [number]: number of entries that share it */
  double *key;                  /* [number]: see idm_free_utility_keys */
  size_t *differ_index;         /* [entry]: index among the entries on which the models differ */

  double level;  /* risk level of the following fields */
  double *sigma; /* [entry][model]: mixture of the program, set by the caller */

  double *x;         /* [number]: solution of the program */
  double objective;  /* its objective; -inf if infeasible */
  bool undetermined; /* feasibility of some program was not determined */
  idm_face face;     /* of the program whose unique optimum was chosen */

  double margin;   /* true margin, from the last evaluation */
  double *worst;   /* [entry][model]: worst mixture there */
  double *utility; /* [entry] */
  double *v;       /* [state] */
  double *q;       /* [entry] */
} idm_cvar_program;

/* Creates the program of a task that has its demonstrator. IDM_INPUT if the demonstrator takes two
 * actions in one state. */
idm_status idm_cvar_program_create(idm_task *task, idm_cvar_program **ret_cvar,
                                   idm_error *opt_error);
void idm_cvar_program_destroy(idm_cvar_program *cvar);
/* Number of elements of a mixture. */
size_t idm_cvar_mixture_size(const idm_cvar_program *cvar);

/* Computes sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1 at
 * numbers x, where Q is the demonstrator's under the nested CVaR over its models: by iterative
 * policy evaluation, without a linear program. */
idm_status idm_cvar_program_evaluate(idm_cvar_program *cvar, const double *x, idm_error *opt_error);
/* Solves the program with the mixture sigma and evaluates the true margin of its optimum, which is
 * no less. */
idm_status idm_cvar_program_solve(idm_cvar_program *cvar, idm_error *opt_error);
/* The same with a unique choice among all optima, see bellman.h. IDM_INPUT if infeasible. */
idm_status idm_cvar_program_choose(idm_cvar_program *cvar, idm_error *opt_error);
/* Returns IDM_INPUT with the message that no program is feasible. */
idm_status idm_cvar_program_infeasible(idm_error *opt_error);

/* === lambda ================================================================================= */

/* lambda of regularised-margin, chosen by cross-validation. */

typedef struct idm_lambda {
  double value;     /* value of least loss; of several the smallest */
  double log_loss;  /* of held-out decisions at that value, in nats per decision */
  double min_value; /* range of the compared values */
  double max_value;
  size_t folds;
  bool trajectories; /* true: folds are of whole trajectories; false: of runs of decisions */
} idm_lambda;

/* Call after idm_task_demonstrator: compares alpha times powers of 10 by cross-validation, with the
 * occupancy of the policy. The folds depend on the seed of the settings. With fewer than 10
 * decisions there are no folds, and the value is 100. */
idm_status idm_lambda_choose(idm_task *task, const idm_soft_agent *agent, idm_lambda *ret_lambda,
                             idm_error *opt_error);

/* === attained =============================================================================== */

/* Existence of a finite utility under which the soft plan attains a demonstrator's occupancy. */

/* Without a penalty on utilities, share E V_soft(u(x)) - <mu, u(x)> has a minimiser if and only if
 * no direction of the free numbers makes the demonstrator optimal and some other policy worse:
 * along such a direction the objective decreases without attaining its infimum.
 * demonstrated[action][state] is mu, the occupancy of a policy. If there is such a direction:
 * IDM_INPUT, with the states in which the value of an untaken action decreases without bound. */
idm_status idm_attainable_check(idm_task *task, const double *demonstrated, idm_error *opt_error);

/* === peaks ================================================================================== */

/* Local modes of a possibly multimodal density: starting points of chains, and centres of an
 * independence proposal. */

typedef struct idm_local_mode {
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; undefined if not definite */
  double log_density; /* log density of the mode */
  double log_mass;    /* log of its mass, by the Laplace approximation */
  bool definite;
} idm_local_mode;

typedef struct idm_local_modes {
  size_t dimension;
  size_t count;
  size_t capacity;
  idm_local_mode *local_mode; /* [capacity] */
  double *scratch;            /* [dimension][dimension + 1] */
} idm_local_modes;

/* Allocates room for `most` modes. */
idm_status idm_local_modes_create(size_t dimension, size_t most, idm_local_modes **ret_modes,
                                  idm_error *opt_error);
void idm_local_modes_destroy(idm_local_modes *modes);
/* Maximises from x, which receives the mode. Stores the mode, if there is room and the density has
 * a valley between it and every stored mode. */
idm_status idm_local_modes_ascend(idm_local_modes *modes, const idm_target *target, double *x,
                                  idm_error *opt_error);
/* Removes modes of negligible mass relative to the largest. */
void idm_local_modes_prune(idm_local_modes *modes);
/* Mixture proposal over all modes, weighted by their masses, with a broad defensive component. */
idm_status idm_local_modes_mixture(const idm_local_modes *modes, idm_defensive_component broad,
                                   idm_mixture **ret_mixture, idm_error *opt_error);

/* === target draws =========================================================================== */

/* Markov chains for a density over free numbers that is not the likelihood of decisions: starts,
 * sampling and the resulting posterior. */

/* The target density and settings; all fields are borrowed. */
typedef struct idm_sampling_target {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_parameters *parameters;
  idm_target *target; /* [chain] */
  uint64_t key;       /* key of the random streams */
  idm_cancel *cancel;
  const idm_fit_monitor *watch;
  idm_notes *opt_notes;
} idm_sampling_target;

/* Draws of all chains, which start at the modes in turn, or around the problem's own values if
 * there is no mode. Takes ownership of the optimality record, which is destroyed on failure; its
 * certificate becomes the largest R-hat. */
idm_status idm_target_draws(const idm_sampling_target *t, const idm_local_modes *modes,
                            idm_optimality *optimality, idm_posterior **ret_posterior,
                            idm_error *opt_error);

#endif
