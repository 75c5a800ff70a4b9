/* Requests to inverse planners that do not use the likelihood, and their answers.
 *
 * Contents: asked · answer · discount search · risk margin · wary · lambda · attained */
#ifndef IDM_INVERT_UTILITY_ASKED_H
#define IDM_INVERT_UTILITY_ASKED_H

#include "idm/chains.h"
#include "idm/inverse.h"
#include "invert/matching/halt.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/mind.h"
#include "invert/utility/soft_plan.h"
#include "invert/utility/sought.h"

/* === asked ================================================================================== */

/* What an inverse planner that does not go by the likelihood is asked, looked at before it begins.
 */

typedef struct idm_task {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_notes *opt_notes;
  idm_pomdp *pomdp;               /* of a demonstrator whose states are hidden; NULL elsewhere */
  idm_belief_mdp *beliefs;        /* where the states of the world are beliefs; NULL elsewhere */
  idm_mdp *mdp;                   /* NULL where it goes by the log alone */
  idm_free_utility *free_utility; /* NULL where it looks for no utility */
  idm_free_utility
      *belief_utility;            /* the same by actions and beliefs of the world; NULL elsewhere */
  idm_demonstrator *demonstrator; /* NULL until it is asked for */
  idm_cancel cancel;              /* who may stop it, and what it is then doing */
} idm_task;

/* What an inverse planner goes by where states are hidden. */
typedef enum idm_task_basis {
  IDM_BY_STATES,  /* nothing: it needs states that are observed */
  IDM_BY_LOG,     /* the log alone: there is no world */
  IDM_BY_BELIEFS, /* the agent's beliefs, one by one; the world is then the agent's own */
  IDM_BY_LATTICE  /* policies: the states of the world are beliefs on a lattice */
} idm_task_basis;

/* How an inverse planner finds its answer: its row's `method`. */
typedef struct idm_task_method {
  idm_task_basis by;
  const char *activity; /* what it is doing then, in words of its progress */
  /* Of the lattice for a log; NULL: idm_belief_mdp_resolution. */
  int (*resolution)(const idm_problem *problem, const idm_data *data);
  /* NULL: the row has a fit of its own. */
  idm_status (*answer)(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error);
} idm_task_method;

/* Settings, needs of the inverse planner, the world, and what is sought. resolution: of the
 * lattice, 0: the method's. What is open is closed by idm_task_close, whatever this gives. */
idm_status idm_task_open(idm_task *task, const idm_fit_arguments *call, int resolution,
                         idm_error *opt_error);
/* idm_inverse.fit of those whose method has an answer: open, answer, close. */
idm_status idm_task_fit(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                        idm_error *opt_error);
/* The call of a fit that is open, without its notes: for the same fit at another resolution. */
idm_fit_arguments idm_task_call(const idm_task *task);
/* And the demonstrator of the whole log. */
idm_status idm_task_demonstrator(idm_task *task, idm_error *opt_error);
/* What is sought by the actions and states of the world. */
const idm_free_utility *idm_task_utility(const idm_task *task);
void idm_task_close(idm_task *task);

/* === answer ================================================================================= */

/* Answers of inverse planners that do not go by the likelihood. */

/* The answer at theta, whose free numbers are what was found; `method` is what found them. It takes
 * the finding, which is destroyed on failure, and adds to it the planner's policy there, where
 * states are observed, and a sentence on what the data leave open. */
idm_status idm_estimate_create(const idm_inverse *inverse, const idm_problem *problem,
                               const idm_fit_settings *settings, const idm_theta *theta,
                               const char *method, idm_optimality *finding,
                               idm_posterior **ret_posterior, idm_error *opt_error);
/* The same with the free numbers of the utility at x, in units of what is sought. */
idm_status idm_estimate_utility(const idm_inverse *inverse, const idm_problem *problem,
                                const idm_fit_settings *settings,
                                const idm_free_utility *free_utility, const double *x,
                                const char *method, idm_optimality *finding,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* Where a share from 0 to 1 is free as well, the last number of all: open directions of the utility
 * as directions of all free numbers, words and faults. share_open: the share is open, too. */
idm_status idm_estimate_embed(const idm_optimality *utility_finding, bool share_open,
                              idm_optimality *finding, idm_error *opt_error);
/* That share as it is: coordinates that start a search keep off the ends of an interval, which it
 * may be at. IDM_INPUT where its prior leaves it out; `what` begins the message. */
idm_status idm_estimate_set_share(const idm_problem *problem, const char *what, double share,
                                  idm_posterior *posterior, idm_error *opt_error);
/* Where the demonstrator's occupancy is empirical, and the log cuts off its trajectories: record
 * that the answer fails by it. */
void idm_task_check_truncation(const idm_task *task, idm_optimality *finding);
/* The same of the first draws of every chain, with the policy at their centre. */
idm_status idm_estimate_from_draws(const idm_inverse *inverse, const idm_problem *problem,
                                   const idm_fit_settings *settings,
                                   const idm_parameters *parameters, const idm_chains *chains,
                                   size_t draws, idm_optimality *finding,
                                   idm_posterior **ret_posterior, idm_error *opt_error);

/* === discount search ======================================================================== */

/* Utilities and the discount together, where the best utilities at a discount are those of a least
 * sum. */

typedef struct idm_discount_search {
  idm_task *task;
  const char *evidence; /* "the scores": what the sum compares utilities with */
  const char *method;   /* what finds the utilities */
  double floor;         /* sums of at most this are 0 but for rounding */
  double terms;         /* in the sum whose errors are alike; 0: it is no such sum */
  bool squares;         /* terms are squares */
  /* The best numbers x[sought] at a discount, and their finding. */
  idm_status (*fit)(void *context, double discount, double *x, idm_optimality **ret_finding,
                    idm_error *opt_error);
  void *context;
  double *x; /* [sought]: scratch */
} idm_discount_search;

/* The discount of the least sum, and the utilities there. The answer fails where another discount
 * comes as near, with the reason. */
idm_status idm_discount_search_run(const idm_discount_search *search, idm_posterior **ret_posterior,
                                   idm_error *opt_error);
/* Whether the discount is free. */
bool idm_discount_is_free(const idm_problem *problem);

/* === risk margin ============================================================================ */

/* Utilities under which a demonstrator who plans for the worst share of its models is better than
 * others by as much as can be, by state. */

/* Whether that is how the problem's agent plans: it has a risk level. */
bool idm_risk_margin_applies(const idm_problem *problem);
/* max sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1, Q the
 * demonstrator's under the nested mean of the worst share of its models,
 * at the agent's risk level or, where that is free, at each of a grid. `asked` has its
 * demonstrator. */
idm_status idm_risk_margin_fit(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error);

/* === wary =================================================================================== */

/* A demonstrator who plans for the worst share of its models: its margins, and the linear program
 * of utilities that make them large while what the models do elsewhere is held. */

typedef struct idm_cvar_program {
  const idm_fit_settings *settings;
  const idm_free_utility *free_utility;
  const idm_demonstrator *demonstrator;
  idm_cancel *cancel;
  idm_models *models;
  idm_sizes n;
  size_t entries;               /* actions times states */
  int32_t *demonstrated_action; /* [state]: the demonstrator's action, or IDM_MISSING */
  double *weight;               /* [number]: entries that share it */
  double *key;                  /* [number]: see idm_free_utility_keys */
  size_t *differ_index;         /* [entry]: which one it is of those where models differ */

  double level;  /* risk level of what follows */
  double *sigma; /* [entry][model]: the mixture of the program, of whoever calls */

  double *x;         /* [number]: of the program that was solved */
  double objective;  /* of it; -inf where it has no solution */
  bool undetermined; /* of some program it was not decided whether it has one */
  idm_face face;     /* of the one that was chosen from */

  double margin;   /* the true one, where it was measured last */
  double *worst;   /* [entry][model]: the worst mixture there */
  double *utility; /* [entry] */
  double *v;       /* [state] */
  double *q;       /* [entry] */
} idm_cvar_program;

/* Of what is asked, which has its demonstrator. IDM_INPUT where that has two actions in a state. */
idm_status idm_cvar_program_create(idm_task *task, idm_cvar_program **ret_cvar,
                                   idm_error *opt_error);
void idm_cvar_program_destroy(idm_cvar_program *cvar);
/* Numbers of a mixture. */
size_t idm_cvar_mixture_size(const idm_cvar_program *cvar);

/* sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1 at numbers x, Q
 * the demonstrator's under the nested mean of the worst share of its models: by sweeps and no
 * program. */
idm_status idm_cvar_program_evaluate(idm_cvar_program *cvar, const double *x, idm_error *opt_error);
/* The optimum of the program with the mixture sigma, and its true margin, which is no less. */
idm_status idm_cvar_program_solve(idm_cvar_program *cvar, idm_error *opt_error);
/* The same, one of all optima, see bellman.h. IDM_INPUT where there is none. */
idm_status idm_cvar_program_choose(idm_cvar_program *cvar, idm_error *opt_error);
/* IDM_INPUT: no program has a solution. */
idm_status idm_cvar_program_infeasible(idm_error *opt_error);

/* === lambda ================================================================================= */

/* The price on utilities of regularised-margin, chosen by held-out decisions. */

typedef struct idm_lambda {
  double value;     /* of least loss; of several the least */
  double log_loss;  /* of held-out decisions at it, in nats a decision */
  double min_value; /* of the values that were compared */
  double max_value;
  size_t folds;
  bool trajectories; /* folds are of whole trajectories; else of runs of decisions */
} idm_lambda;

/* After idm_task_demonstrator: compare decades of alpha by cross-validation, with the occupancy of
 * the policy. The folds follow from the seed of the settings. With fewer than 10 decisions there
 * are no folds, and it is 100. */
idm_status idm_lambda_choose(idm_task *task, const idm_soft_agent *agent, idm_lambda *ret_lambda,
                             idm_error *opt_error);

/* === attained =============================================================================== */

/* Whether soft plans attain a demonstrator's occupancy at utilities that are finite. */

/* Without a price on utilities, share E V_soft(u(x)) - <mu, u(x)> has a minimum if and only if no
 * direction of the free numbers makes the demonstrator optimal and some other policy worse: along
 * such a direction it falls for ever. demonstrated[action][state] is mu, the occupancy of a policy.
 * IDM_INPUT, with the states in which an action that is never taken grows worse without limit,
 * where there is such a direction. */
idm_status idm_attainable_check(idm_task *task, const double *demonstrated, idm_error *opt_error);

#endif
