/* Maximum a posteriori estimation and posterior draws of dynamics: the input-output hidden Markov
 * model, whose inputs are the actions. Method: docs/method/learning.md.
 *
 * Given its actions, a log is the output of a hidden Markov chain. Missing values are summed over:
 * a missing observation is no evidence. A missing action that is followed by evidence is IDM_INPUT,
 * because this model has no distribution of actions. If the log gives a trajectory its own start
 * belief, that belief is used; all other trajectories share the start distribution that is learnt.
 * Observations after a terminal action are ignored. */
#ifndef IDM_LEARN_IOHMM_H
#define IDM_LEARN_IOHMM_H

#include "base/arguments.h"
#include "base/key.h"
#include "idm/extension/data.h"
#include "idm/extension/dynamics.h"
#include "idm/extension/progress.h"

typedef enum idm_learn_start { IDM_LEARN_FROM_FILE, IDM_LEARN_FROM_RANDOM } idm_learn_start;
typedef enum idm_learn_fixed { IDM_LEARN_FIX_NOTHING, IDM_LEARN_FIX_START } idm_learn_fixed;

typedef struct idm_learn_settings {
  idm_learn_start start; /* location of the first start; the other starts are random */
  idm_learn_fixed hold;
  size_t starts;
  size_t repeats;   /* additional rounds of as many starts, at most two, until this many reach the
                       best objective; 0: one round */
  long iterations;  /* maximum per start */
  double tolerance; /* nats: stop when an iteration gains less */
  double prior;     /* Dirichlet(prior) over the possible entries of every row; at least 1 */
  size_t folds;     /* for the held-out likelihood; 0: none */
  size_t chains;    /* of posterior draws */
  long draws;       /* per chain; 0: none */
  long warmup;
  uint64_t seed;
  int threads; /* does not affect results */
} idm_learn_settings;
/* Fill the default settings. */
IDM_CHECKED void idm_learn_settings_default(idm_learn_settings *settings);
/* Keys of its fields. `threads`, which does not affect results, has none. */
IDM_CHECKED const idm_key *idm_learn_keys(void);

/* Number of dispersed starts of a search that posterior draws start from or are compared with, and
 * the number of starts that must reach the best objective. */
enum { IDM_LEARN_STARTS = 10, IDM_LEARN_REPEATS = 3 };

/* Called several times per second with the share of the work done, 0 to 1. Return true to stop. */
typedef bool (*idm_learn_stop)(void *context, double done);

/* Learner of the dynamics of one problem from one log. The data are borrowed. */
typedef struct idm_iohmm idm_iohmm;
/* Create a learner. Entries to which the problem's dynamics give probability 0 stay impossible;
 * matrices that are shared by several actions are learnt once. `states` 0: the states of the
 * problem. Any other number creates new states: every transition is possible, and so is every
 * observation that some state of the problem can emit. `hold` fixes the start distribution.
 * *ret_iohmm is owned by the caller. IDM_INPUT with its place for data that the model does not
 * cover. */
IDM_CHECKED idm_status idm_iohmm_create(const idm_problem *problem, const idm_data *data,
                                        size_t states, idm_learn_fixed hold, idm_iohmm **ret_iohmm,
                                        idm_error *opt_error);
/* Free a learner. Accepts NULL. */
IDM_CHECKED void idm_iohmm_destroy(idm_iohmm *learner);
/* Restrict the likelihood to the trajectories with opt_kept[trajectory] true; NULL: all. */
IDM_CHECKED idm_status idm_iohmm_select(idm_iohmm *learner, const bool *opt_kept,
                                        idm_error *opt_error);
/* Number of rows with an observation in the selected trajectories. */
IDM_CHECKED double idm_iohmm_rows(const idm_iohmm *learner);

/* Log-likelihood of the observations in the selected trajectories, given the actions, into
 * *log_likelihood. opt_by_trajectory [trajectory] receives the log-likelihood of every trajectory,
 * selected or not. An impossible observation is IDM_INPUT with its place, or -inf for its
 * trajectory if opt_by_trajectory is not NULL. */
IDM_CHECKED idm_status idm_iohmm_log_likelihood(const idm_iohmm *learner,
                                                const idm_dynamics *dynamics,
                                                double *log_likelihood, double *opt_by_trajectory,
                                                idm_error *opt_error);
/* One iteration of the Baum-Welch algorithm, in place: expected counts, then the mode of each row
 * given the counts. *objective receives the objective before the iteration: the log-likelihood plus
 * (prior - 1) times the sum of the logarithms of the learnt entries. */
IDM_CHECKED idm_status idm_iohmm_step(const idm_iohmm *learner, double prior,
                                      idm_dynamics *dynamics, double *objective,
                                      idm_error *opt_error);
/* Order interchangeable states by the mean index of the first factor of their observations (labels
 * joined by '/' are factors), averaged over actions. States that are distinguished by impossible
 * entries keep their place. */
IDM_CHECKED idm_status idm_iohmm_order(const idm_iohmm *learner, idm_dynamics *dynamics,
                                       idm_error *opt_error);

/* Modes of the posterior of dynamics. The first has the highest objective; the others are in
 * decreasing order of evidence. */
typedef struct idm_modes {
  size_t count;
  idm_dynamics **mode;  /* [count]; interchangeable states are ordered as in the first mode */
  double *log_evidence; /* [count]: approximate log evidence, up to a constant of the log; unused if
                           count is 1 */
} idm_modes;

/* Result of learning. Zero-initialise. */
typedef struct idm_learn_result {
  idm_dynamics *dynamics; /* modes.mode[0] */
  double log_likelihood;
  double objective;
  size_t best;    /* index of the start that reached it */
  bool converged; /* converged before the iteration limit */
  size_t steps;
  double *trace;    /* [steps]: objective of the best start; never decreases */
  size_t starts;    /* number of completed starts */
  size_t met;       /* number of starts that reach the best objective, up to 0.05 nats */
  size_t renamed;   /* starts whose states were relabelled because the log hardly distinguishes the
                       labels */
  double *reached;  /* [starts]: final objective; -inf if the log is impossible */
  size_t unvisited; /* rows without evidence in the data: they follow the prior or the file */
  idm_modes modes; /* distinct end points of the starts whose approximate evidence is within 10 nats
                      of the highest */
} idm_learn_result;
/* Free the content of a result. Accepts NULL. */
IDM_CHECKED void idm_learn_result_clear(idm_learn_result *learnt);
/* Maximise the objective from several starts, by expectation maximisation. Random starts draw each
 * row uniformly from the possible distributions. Their states are ordered by their observations: in
 * the order of the problem's states if the first start is the problem's dynamics, else as in
 * idm_iohmm_order. In the first case, states that are distinguished by impossible entries take the
 * labels closest to the problem's numbers, unless the log prefers other labels by more than 10
 * nats. `context` is passed to opt_stop. IDM_INPUT if states of the first start are equal in every
 * number, since learning cannot separate them; IDM_UNTRUSTED if opt_stop stops it. */
IDM_CHECKED idm_status idm_learn(const idm_iohmm *learner, const idm_problem *problem,
                                 const idm_learn_settings *settings, idm_learn_stop opt_stop,
                                 void *context, idm_learn_result *learnt, idm_error *opt_error);

/* --- cross-validation ------------------------------------------------------------------------ */

/* Held-out log-likelihood for one number of states. */
typedef struct idm_cross_validation {
  size_t states;
  double mean;             /* per row with evidence */
  double error;            /* standard error of the mean, over the units that make up the folds */
  double difference;       /* difference to the best of the numbers compared */
  double difference_error; /* standard error of the difference, paired by unit */
} idm_cross_validation;
/* Cross-validate count numbers states[count] of states; results go to cv_result[count]. Folds
 * consist of agents if there are at least as many agents as folds, else of trajectories. With
 * `own`, the first entry uses the states and the structure of the problem. Starts follow the
 * settings; with new states all are random. IDM_UNTRUSTED if opt_stop stops it. */
IDM_CHECKED idm_status idm_learn_cross_validate(const idm_problem *problem, const idm_data *data,
                                                const size_t *states, size_t count, bool own,
                                                const idm_learn_settings *settings,
                                                idm_learn_stop opt_stop, void *context,
                                                idm_cross_validation *cv_result,
                                                idm_error *opt_error);

/* --- posterior draws ------------------------------------------------------------------------- */

/* Posterior draws of dynamics under Dirichlet(prior) rows. Zero-initialise. */
typedef struct idm_dynamics_draws {
  size_t chains;
  size_t draws;
  size_t numbers;  /* learnt entries: possible entries of rows with several possible entries; shared
                      matrices count once */
  idm_labels name; /* [numbers]: transition[action,state,next]; * for several actions */
  size_t *place;   /* [numbers]: index in idm_dynamics.start */
  double *value;   /* [number][chain][draw] */
  double *log_likelihood; /* [chain][draw] */
  double prior;           /* concentration of the Dirichlet rows; 0 or NaN: unknown */
  double highest;         /* log-likelihood at the highest mode */
  double attained; /* highest log-likelihood that the Baum-Welch algorithm reaches from the best
                      draw of each chain; NaN: unknown, as for `highest` */
  size_t modes;    /* number of modes that chains move between; 0: unknown */
  double *share;   /* [modes]: share of draws; each draw is assigned to the nearest mode */
  size_t moves;    /* draws in another mode than the previous draw */
} idm_dynamics_draws;
/* Free the content of the draws. Accepts NULL. */
IDM_CHECKED void idm_dynamics_draws_clear(idm_dynamics_draws *draws);
/* Draw from the posterior by Gibbs sampling: state paths given dynamics (forward filtering,
 * backward sampling), rows given paths. Chains start at random rows near the modes with at least 1
 * % of the evidence, in turn. With several modes, every sweep is followed by a Metropolis-Hastings
 * step whose proposal density is a mixture of Dirichlet rows, fitted to a short chain at each mode.
 * If states switch labels in a draw, interchangeable states are put into the order of the first
 * mode. `highest` is the log-likelihood of the first mode; a caller with a higher one must raise
 * it. Results do not depend on the number of threads. At most 8 modes. IDM_UNTRUSTED if the monitor
 * stops it; the same request can continue from a checkpoint. Method: docs/method/learning.md, 3 and
 * 4. */
IDM_CHECKED idm_status idm_learn_draw_monitored(const idm_iohmm *learner,
                                                const idm_problem *problem, const idm_modes *modes,
                                                const idm_learn_settings *settings,
                                                const idm_fit_monitor *opt_monitor,
                                                idm_dynamics_draws *draws, idm_error *opt_error);
/* The same without checkpoints: opt_stop only. */
IDM_CHECKED idm_status idm_learn_draw(const idm_iohmm *learner, const idm_problem *problem,
                                      const idm_modes *modes, const idm_learn_settings *settings,
                                      idm_learn_stop opt_stop, void *context,
                                      idm_dynamics_draws *draws, idm_error *opt_error);
/* Dynamics of one draw, into `dynamics`: the dynamics of the problem with the learnt entries
 * replaced, in all actions that share a matrix. IDM_USAGE if the indices are out of range or the
 * draws belong to another problem. */
IDM_CHECKED idm_status idm_dynamics_of_draw(const idm_problem *problem,
                                            const idm_dynamics_draws *draws, size_t chain,
                                            size_t draw, idm_dynamics *dynamics,
                                            idm_error *opt_error);
/* Names and places of all entries that can be learnt for a problem, shared matrices once, in the
 * order of idm_dynamics_draws. The caller destroys *ret_names and frees *ret_places with free(). */
IDM_CHECKED idm_status idm_dynamics_names(const idm_problem *problem, idm_labels *ret_names,
                                          size_t **ret_places, idm_error *opt_error);
/* Distance between equally weighted models: the total variation between a row of one model and the
 * mean of the models, as the mean over models and rows (*mean) and as the maximum (*largest). Rows
 * of terminal actions are excluded. */
IDM_CHECKED void idm_theta_models_distance(const idm_problem *problem, double *mean,
                                           double *largest);

#endif
