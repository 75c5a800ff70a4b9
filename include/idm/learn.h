/* Dynamics from data: the input-output hidden Markov model, whose inputs are the actions.
 *
 * Given its actions, a log is the output of a hidden Markov chain. What is not recorded is summed
 * over: a blank observation is no evidence. A blank action that evidence follows is IDM_INPUT, as
 * nothing here says how actions are chosen. A start belief that the log gives a trajectory is that
 * trajectory's; the others share the start that is learnt. What is seen after a terminal action, of
 * which nothing follows, is not looked at. */
#ifndef IDM_LEARN_H
#define IDM_LEARN_H

#include "idm/data.h"
#include "idm/dynamics.h"
#include "idm/key.h"
#include "idm/work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_learn_start { IDM_LEARN_FROM_FILE, IDM_LEARN_FROM_RANDOM } idm_learn_start;
typedef enum idm_learn_fixed { IDM_LEARN_FIX_NOTHING, IDM_LEARN_FIX_START } idm_learn_fixed;

typedef struct idm_learn_settings {
  idm_learn_start start; /* where the first start is; the others are random */
  idm_learn_fixed hold;
  size_t starts;
  size_t repeats;   /* more rounds of as many starts, at most two, until this many reach the best
                       objective; 0: one round */
  long iterations;  /* the most of each start */
  double tolerance; /* nats: a gain that is not worth another iteration */
  double prior;     /* of every row: Dirichlet(prior) over what is possible in it; at least 1 */
  size_t folds;     /* of held-out likelihoods; 0: none */
  size_t chains;    /* of posterior draws */
  long draws;       /* a chain; 0: none */
  long warmup;
  uint64_t seed;
  int threads; /* never changes a number */
} idm_learn_settings;
IDM_API void idm_learn_settings_default(idm_learn_settings *settings);
/* Its fields; `threads`, which changes no number, is none of them. */
IDM_API const idm_key *idm_learn_keys(void);

/* Dispersed starts of a search that draws are taken from or compared with, and how many must reach
 * the best of them. */
enum { IDM_LEARN_STARTS = 10, IDM_LEARN_REPEATS = 3 };

/* Asked several times a second: true to stop. */
typedef bool (*idm_learn_stop)(void *context, double done);

/* What may be learnt of one problem from one log. Data are borrowed. */
typedef struct idm_iohmm idm_iohmm;
/* What the problem's dynamics give probability 0 stays impossible, and matrices that stand for
 * several actions are learnt once. `states` 0: the problem's own. Another number has new states, in
 * which whatever some state of the problem can show is possible, and every move is. */
IDM_API idm_status idm_iohmm_create(const idm_problem *problem, const idm_data *data, size_t states,
                                    idm_learn_fixed hold, idm_iohmm **ret_iohmm,
                                    idm_error *opt_error);
IDM_API void idm_iohmm_destroy(idm_iohmm *learner);
/* Let only some trajectories count, kept[trajectory]; NULL: all. */
IDM_API idm_status idm_iohmm_select(idm_iohmm *learner, const bool *opt_kept, idm_error *opt_error);
/* Rows with evidence: what was observed, in the trajectories that count. */
IDM_API double idm_iohmm_rows(const idm_iohmm *learner);

/* The log-likelihood of what was observed in the trajectories that count, given the actions; by
 * trajectory, of all, into opt_by_trajectory [trajectory]. Where something was seen that is
 * impossible it is IDM_INPUT with its place, unless -inf by trajectory was asked for. */
IDM_API idm_status idm_iohmm_log_likelihood(const idm_iohmm *learner, const idm_dynamics *dynamics,
                                            double *log_likelihood, double *opt_by_trajectory,
                                            idm_error *opt_error);
/* One step of Baum and Welch's, in place: expected counts, then the mode of each row given them.
 * *objective is that of the dynamics as they were: the log-likelihood, and (prior - 1) times the
 * sum of the logarithms of what is learnt. */
IDM_API idm_status idm_iohmm_step(const idm_iohmm *learner, double prior, idm_dynamics *dynamics,
                                  double *objective, idm_error *opt_error);
/* Order interchangeable states by the mean index of the first factor of what they show (labels
 * joined by '/' are factors), over actions alike; states that zeros tell apart stay. */
IDM_API idm_status idm_iohmm_order(const idm_iohmm *learner, idm_dynamics *dynamics,
                                   idm_error *opt_error);

/* Modes of the posterior of dynamics, by falling evidence but for the first, which has the highest
 * objective. */
typedef struct idm_modes {
  size_t count;
  idm_dynamics **mode;  /* [count]; interchangeable states are in the order of the first */
  double *log_evidence; /* [count]: an approximation, up to a constant of the log; not read where
                           there is one mode */
} idm_modes;

/* What was learnt. Zero-initialise. */
typedef struct idm_learn_result {
  idm_dynamics *dynamics; /* modes.mode[0] */
  double log_likelihood;
  double objective;
  size_t best;    /* the start it came from */
  bool converged; /* before the iterations ran out */
  size_t steps;
  double *trace;    /* [steps]: the objective of the best start, which never falls */
  size_t starts;    /* that came to an end */
  size_t met;       /* starts that reach the best objective, up to 0.05 nats */
  size_t renamed;   /* starts whose states were renamed, since the log hardly distinguishes names */
  double *reached;  /* [starts]: the objective of each; -inf where it was impossible */
  size_t unvisited; /* rows of which the data say nothing: they are the prior's, or the file's */
  idm_modes modes;  /* distinct ends of the starts whose approximate evidence is within 10 nats of
                       the highest */
} idm_learn_result;
IDM_API void idm_learn_result_clear(idm_learn_result *learnt);
/* The best of several starts. Random starts draw every row evenly from what is possible. Their
 * states are ordered by what they show: in the order of the problem's states where the first start
 * is the problem's, else as in idm_iohmm_order. In the first case states that zeros distinguish
 * have the names that are nearest to the problem's numbers, unless the log prefers others by more
 * than 10 nats. IDM_INPUT where the first start holds states to be alike in every number, which
 * learning cannot separate; IDM_UNTRUSTED where it was stopped. */
IDM_API idm_status idm_learn(const idm_iohmm *learner, const idm_problem *problem,
                             const idm_learn_settings *settings, idm_learn_stop opt_stop,
                             void *context, idm_learn_result *learnt, idm_error *opt_error);

/* --- held out ------------------------------------------------------------------------------- */

/* Held-out log-likelihood of one number of states. */
typedef struct idm_cross_validation {
  size_t states;
  double mean;             /* per row with evidence */
  double error;            /* its standard error, over the units that folds are made of */
  double difference;       /* to the best of those compared, and */
  double difference_error; /* its standard error, unit by unit */
} idm_cross_validation;
/* Folds are of agents where there are at least as many, else of trajectories. With `own` the first
 * number is that of the problem, whose structure it has. Starts are as the settings say, random
 * where states are new. `kept` of the learner plays no part. */
IDM_API idm_status idm_learn_cross_validate(const idm_problem *problem, const idm_data *data,
                                            const size_t *states, size_t count, bool own,
                                            const idm_learn_settings *settings,
                                            idm_learn_stop opt_stop, void *context,
                                            idm_cross_validation *cv_result, idm_error *opt_error);

/* --- posterior draws ------------------------------------------------------------------------ */

/* Draws of the posterior under Dirichlet(prior) rows. Zero-initialise. */
typedef struct idm_dynamics_draws {
  size_t chains;
  size_t draws;
  size_t numbers;         /* learnt: possible, of rows with several possible, tied ones once */
  idm_labels name;        /* [numbers]: transition[action,state,next], * for several actions */
  size_t *place;          /* [numbers]: index in idm_dynamics.start */
  double *value;          /* [number][chain][draw] */
  double *log_likelihood; /* [chain][draw] */
  double prior;           /* Dirichlet(prior) rows that they were drawn under; 0 or NaN: unknown */
  double highest;         /* log-likelihood of the highest start */
  double attained;        /* highest log-likelihood that Baum and Welch's algorithm attains from the
                             best draw of each chain; NaN: unknown, as for `highest` */
  size_t modes;           /* between which chains are moved; 0: unknown */
  double *share;          /* [modes]: of the draws, each taken to the mode nearest to it */
  size_t moves;           /* draws that are of another mode than the one before them */
} idm_dynamics_draws;
IDM_API void idm_dynamics_draws_clear(idm_dynamics_draws *draws);
/* Gibbs: paths of states given dynamics, by filtering forward and sampling backward; rows given
 * paths. Chains start at random rows near modes of at least 1 % of the evidence, in turn. Where
 * there are several modes, a Metropolis-Hastings step follows every sweep, with proposals from a
 * mixture of Dirichlet rows that is fitted to a short chain at each mode. Where states change
 * places in a draw, those that are interchangeable are put into the order that they have in the
 * first mode. `highest` is the log-likelihood of the first mode; a caller that has found more
 * raises it. The same at any thread count. At most 8 modes. IDM_UNTRUSTED where the watch stops it;
 * a checkpoint of its work lets the same request go on. */
IDM_API idm_status idm_learn_draw_monitored(const idm_iohmm *learner, const idm_problem *problem,
                                            const idm_modes *modes,
                                            const idm_learn_settings *settings,
                                            const idm_fit_monitor *opt_monitor,
                                            idm_dynamics_draws *draws, idm_error *opt_error);
/* The same without checkpoints. */
IDM_API idm_status idm_learn_draw(const idm_iohmm *learner, const idm_problem *problem,
                                  const idm_modes *modes, const idm_learn_settings *settings,
                                  idm_learn_stop opt_stop, void *context, idm_dynamics_draws *draws,
                                  idm_error *opt_error);
/* The dynamics of one draw: those of the problem, with the draw's numbers in their places, tied
 * rows with them. */
IDM_API idm_status idm_dynamics_of_draw(const idm_problem *problem, const idm_dynamics_draws *draws,
                                        size_t chain, size_t draw, idm_dynamics *dynamics,
                                        idm_error *opt_error);
/* Names and places of all numbers that could be learnt of a problem, tied ones once: what the
 * names of draws that were kept elsewhere mean. */
IDM_API idm_status idm_dynamics_names(const idm_problem *problem, idm_labels *ret_names,
                                      size_t **ret_places, idm_error *opt_error);
/* How far apart equally weighted models are: the total variation between a row of one and the
 * models' mean, averaged over models and rows, and the largest. Rows of terminal actions are left
 * out. */
IDM_API void idm_theta_models_distance(const idm_problem *problem, double *mean, double *largest);

#ifdef __cplusplus
}
#endif
#endif
