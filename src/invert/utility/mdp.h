/* The Markov decision process of a demonstrator, its policy and its occupancies.
 *
 * Contents: mdp · demonstrator · flows · closest · pure · interior · models */
#ifndef IDM_INVERT_UTILITY_MDP_H
#define IDM_INVERT_UTILITY_MDP_H

#include "idm/data.h"
#include "idm/problem.h"
#include "idm/settings.h"
#include "invert/matching/halt.h"

/* === mdp ==================================================================================== */

/* The Markov decision process of a demonstrator, without its utility: one row of transitions per
 * state and action. */

typedef struct idm_mdp {
  idm_sizes n;
  double discount;
  size_t horizon;         /* steps of an episode; 0: endless */
  const double *start;    /* [state]: borrowed from the setting */
  const double *prior;    /* [action]: the action prior, borrowed from theta */
  idm_sparse_rows *moves; /* row action * states + state; empty where nothing follows the
                       action; without arrivals at terminal states */
} idm_mdp;

/* IDM_INPUT, as what `who` cannot do without, where states are not observed, dynamics are not known
 * or the utility varies with the data. */
idm_status idm_mdp_create(const idm_problem *problem, const idm_setting *setting,
                          const char *caller, idm_mdp **ret_mdp, idm_error *opt_error);
/* Where states are hidden: the process of the first model of a theta, which is borrowed. */
idm_status idm_mdp_create_believed(const idm_setting *setting, const idm_theta *theta,
                                   idm_mdp **ret_mdp, idm_error *opt_error);
/* The process under the hidden states, where states may be hidden. */
idm_status idm_mdp_underlying(const idm_problem *problem, const idm_setting *setting,
                              const char *caller, idm_mdp **ret_mdp, idm_error *opt_error);
void idm_mdp_destroy(idm_mdp *mdp);

/* discount * P(.|s,u) . v. */
double idm_mdp_next_value(const idm_mdp *mdp, size_t action, size_t state, const double *v);
/* v[state] = sum_u policy[state][u] (utility[u][state] + discount P v): policies are by state and
 * action, utilities by action and state, as in theta. IDM_NUMERICAL where sweeps do not settle: a
 * discount of 1, and episodes that do not end. */
idm_status idm_mdp_evaluate(const idm_mdp *mdp, const double *policy, const double *utility,
                            double *v, idm_error *opt_error);
/* What one step weighs in an occupancy: 1 - discount, or with a horizon what makes its steps sum to
 * 1. */
double idm_mdp_step_weight(const idm_mdp *mdp);
/* occupancy[state][action] = share E sum_t discount^t 1{s,u}, over the steps of the horizon where
 * there is one; sums to 1 where no action ends. The same failure. */
idm_status idm_mdp_occupancy(const idm_mdp *mdp, const double *policy, double *occupancy,
                             idm_error *opt_error);

/* === demonstrator =========================================================================== */

/* The demonstrator of a log: what it did in which state of a world. Where states are hidden, those
 * of the world are beliefs, and a decision may count at several of them by weights. */

/* Where the rows of a log act. */
typedef struct idm_row_states {
  size_t *first;   /* [rows + 1]: entries of a row; none: not known */
  uint32_t *state; /* [entry] */
  double *weight;  /* [entry]: over a row 1 */
  double *belief;  /* [row][state]: the belief, where states are hidden; NULL elsewhere */
} idm_row_states;

/* Room for so many entries. */
idm_status idm_row_states_create(size_t rows, size_t entries, idm_row_states **ret_row_states,
                                 idm_error *opt_error);
/* Takes NULL. */
void idm_row_states_destroy(idm_row_states *row_states);

typedef struct idm_demonstrator {
  idm_sizes n;
  idm_row_states *row_states;
  double *count;  /* [state][action]: rows */
  double *visits; /* [state]: rows with the state and an action */
  double *policy; /* [state][action]: frequencies; where the state was never visited, the action
                     prior */
  size_t decisions;
  size_t without_state; /* actions whose state is not recorded: they count nowhere */
} idm_demonstrator;

/* state[row]: the state acted in, or IDM_MISSING where the log does not say. */
void idm_demonstrator_states(const idm_data *data, const idm_setting *setting, int32_t *state);

/* Of all trajectories, or of those whose place in opt_include[trajectory] is true. IDM_INPUT where
 * no action has a state. */
idm_status idm_demonstrator_create(const idm_mdp *mdp, const idm_data *data,
                                   const idm_setting *setting, const bool *opt_include,
                                   idm_demonstrator **ret_demonstrator, idm_error *opt_error);
/* The same at given stations, which are taken over whatever this gives. */
idm_status idm_demonstrator_create_at(const idm_mdp *mdp, const idm_data *data,
                                      idm_row_states *row_states, const bool *opt_include,
                                      idm_demonstrator **ret_demonstrator, idm_error *opt_error);
/* Its counts and its policy, without where the rows act. */
idm_status idm_demonstrator_copy(const idm_demonstrator *demonstrator,
                                 idm_demonstrator **ret_demonstrator, idm_error *opt_error);
void idm_demonstrator_destroy(idm_demonstrator *demonstrator);
/* Whether a row is a decision with a place; not of a copy. */
bool idm_demonstrator_counts_row(const idm_demonstrator *demonstrator, const idm_data *data,
                                 size_t row);

/* The number n of independent decisions that leave a sum over occupancies the errors that the log's
 * decisions leave it. The decisions i have weights a_i in the occupancy, and n = sum a / sum a^2,
 * where a sums to the occupancy's mass. Of a policy's occupancy m a decision has the share
 * w_is m_s / sum_j w_js of each state s that it counts in with a weight w_is; of an empirical
 * occupancy it has its discount. Not of a copy. */
double idm_demonstrator_ess(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                            const idm_data *data, const idm_setting *setting, bool empirical,
                            const double *occupancy);
/* The share of the discounted steps of an empirical occupancy that come after the last rows of
 * trajectories that the log cuts off. */
double idm_demonstrator_truncated(const idm_mdp *mdp, const idm_data *data,
                                  const idm_setting *setting);

/* action[state]: the only action taken there, or IDM_MISSING where none was. IDM_INPUT, with the
 * states, where some has two. */
idm_status idm_demonstrator_deterministic(const idm_demonstrator *demonstrator,
                                          const idm_setting *setting, const char *caller,
                                          int32_t *action, idm_error *opt_error);

/* The share of an occupancy[state][action] in states that the log never visits; 0 where it is
 * rounding. */
double idm_demonstrator_unvisited(const idm_demonstrator *demonstrator, const double *occupancy);
/* occupancy[state][action] of the policy under the world, or with `empirical` the discounted shares
 * of the log itself. A note says how much of the former lies in states that were never visited. */
idm_status idm_demonstrator_occupancy(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                                      const idm_data *data, const idm_setting *setting,
                                      bool empirical, double *occupancy, idm_notes *opt_notes,
                                      idm_error *opt_error);

/* === flows ================================================================================== */

/* Occupancies of policies as a convex set, q >= 0 with sum_u q(s',u) - discount sum P(s'|s,u)
 * q(s,u) = (1 - discount) start(s'), and how far they are from a given p, less the policy's
 * entropy. */

typedef struct idm_flows {
  idm_divergence divergence;
  double lambda;           /* of the squared divergence */
  double entropy;          /* weight of H = -sum q log pi */
  size_t rows;             /* states that can be come to */
  size_t *place;           /* [row]: which state it is */
  double *source;          /* [row]: (1 - discount) start */
  size_t entries;          /* pairs of such a state and an action, states one after the other */
  size_t *first;           /* [rows + 1]: entries of a row */
  size_t *action;          /* [entry] */
  double *p;               /* [entry]: the occupancy to come near to */
  size_t *begin;           /* [entries + 1]: what an entry puts into the equations: */
  size_t *to;              /* a row */
  double *by;              /* and how much a unit of it */
  double unreachable_cost; /* what p has where no policy comes adds to the divergence; may be
                              infinite */
} idm_flows;

/* All policies that take no action of prior 0, none that opt_allowed[state][action] forbids, and
 * with reverse-kl none that p does not. target is p[state][action]. IDM_INPUT where none is left,
 * or where the divergence is infinite for all. */
idm_status idm_flows_create(const idm_mdp *mdp, const idm_setting *setting, const double *target,
                            const bool *opt_allowed, idm_divergence divergence, double lambda,
                            double entropy, idm_flows **ret_flows, idm_error *opt_error);
void idm_flows_destroy(idm_flows *flows);

/* lambda of the squared divergence: 100 where none is set. */
double idm_flows_lambda(const idm_fit_settings *settings);
/* What an occupancy of q in place of p adds to a divergence; may be infinite. */
double idm_flows_divergence(idm_divergence divergence, double lambda, double p, double q);
/* Its derivative by q; not of tv, which has none. */
double idm_flows_derivative_q(idm_divergence divergence, double lambda, double p, double q);
/* Its derivative by p above 0; not of tv. */
double idm_flows_derivative_p(idm_divergence divergence, double lambda, double p, double q);
/* The row's own expression at q[entry]. */
double idm_flows_objective(const idm_flows *flows, const double *q);
/* First and second derivative of the divergence by entry i at q; not of tv, which has none. */
double idm_flows_derivative(const idm_flows *flows, size_t i, double q);
double idm_flows_curvature(const idm_flows *flows, size_t i, double q);
/* log pi of entry i: q over the sum of its row. */
void idm_flows_log_policy(const idm_flows *flows, const double *q, double *log_policy);
/* left[row] = what q leaves of the equations: source less inflow and stock. */
void idm_flows_residual(const idm_flows *flows, const double *q, double *residual);
/* price[entry] = what an entry costs at prices of rows. */
void idm_flows_dual_cost(const idm_flows *flows, const double *y, double *dual_cost);
/* How far q, which satisfies the equations, can be from the best: for any y,
 * f(q*) >= f(q) + slope . (q* - q), slope = B'y + z, so that z.q less the least of z (or 0) bounds
 * it. With tv opt_share[entry] in [0, 1] says which slope of max(p - q, 0) is taken. */
double idm_flows_gap(const idm_flows *flows, const double *q, const double *y,
                     const double *opt_share, double *work);

/* === closest ================================================================================ */

/* The policy whose occupancy comes nearest to a given one. */

typedef struct idm_occupancy_projection {
  double objective;
  double gap;        /* to the least, at most */
  double *policy;    /* [state][action] */
  double *occupancy; /* [state][action] */
  size_t zeros; /* probabilities of 0 in states that are come to, of actions that may be taken */
} idm_occupancy_projection;

/* Of target[state][action] under a divergence, less `entropy` times that of the policy, among
 * policies of what opt_allowed[state][action] leaves. In states that it does not come to the policy
 * is fallback[state][action]. IDM_INPUT where the divergence is infinite for every policy. */
idm_status idm_occupancy_projection_create(const idm_mdp *mdp, const idm_setting *setting,
                                           const double *target, const double *fallback,
                                           const bool *opt_allowed, idm_divergence divergence,
                                           double lambda, double entropy, idm_cancel *opt_cancel,
                                           idm_occupancy_projection **ret_nearest,
                                           idm_error *opt_error);
void idm_occupancy_projection_destroy(idm_occupancy_projection *nearest_policy);

/* === pure =================================================================================== */

/* The policy of one action a state whose occupancy comes nearest to a given one.
 *
 * Such policies are corners of the set of occupancies: to find the nearest is a choice among
 * finitely many, and how near the nearest of all policies comes bounds it from below. */

/* What is known of it beside the policy itself. */
typedef struct idm_branch_stats {
  size_t branches; /* that were looked at */
  bool non_unique; /* another such policy comes as near */
  size_t tied;     /* states that it does not come to in which several actions are as good */
} idm_branch_stats;

/* As idm_occupancy_projection_create, with `gap` what the nearest can be nearer by, at most. In
 * states that it does not come to the policy is what fallback[state][action] does most; where
 * several are done alike, all of them by the action prior. IDM_INPUT where the divergence is
 * infinite for all. */
idm_status idm_deterministic_projection_create(const idm_mdp *mdp, const idm_setting *setting,
                                               const double *target, const double *fallback,
                                               idm_divergence divergence, double lambda,
                                               idm_cancel *opt_cancel, idm_branch_stats *stats,
                                               idm_occupancy_projection **ret_nearest,
                                               idm_error *opt_error);

/* === interior =============================================================================== */

/* The nearest occupancy by an interior-point method. */

/* q[entry] that minimises the objective of the flows, prices y[row] of the equations, and in *gap
 * how far from the least it can be (idm_flows_gap). */
idm_status idm_interior_point_solve(const idm_flows *flows, idm_cancel *opt_cancel, double *q,
                                    double *y, double *gap, idm_error *opt_error);

/* === models ================================================================================= */

/* The worlds that an agent holds possible, where states are observed: one a model of its own, and
 * what the worst of them leave of a policy. */

typedef struct idm_models {
  size_t count;     /* models of weight above 0 */
  double *weight;   /* [count] */
  idm_mdp **mdp;    /* [count] */
  bool *differ;     /* [action][state]: whether they tell different things of it */
  size_t differing; /* how many there are */
  double *next;     /* [count]: scratch, so that a thread has its own */
} idm_models;

/* Of a problem whose environment is `world`, which must outlive them. */
idm_status idm_models_create(const idm_problem *problem, const idm_mdp *mdp,
                             idm_models **ret_models, idm_error *opt_error);
void idm_models_destroy(idm_models *models);

/* The world of a mixture, sigma[action][state][model]. */
idm_status idm_models_mix(const idm_models *models, const double *sigma, idm_mdp **ret_world,
                          idm_error *opt_error);

/* Q[action][state] = utility + min {sum_m sigma_m discount P_m v : 0 <= sigma_m <= weight_m /
 * level, sum sigma = 1}, and the sigma[action][state][model] that attains it. opt_q or opt_sigma
 * may be NULL. */
void idm_models_action_values(const idm_models *models, double level, const double *utility,
                              const double *v, double *opt_q, double *opt_sigma);
/* v[state] = sum_u policy[state][u] Q(s,u) of that Q, at every step anew.
 * IDM_NUMERICAL where sweeps do not settle. */
idm_status idm_models_evaluate(const idm_models *models, double level, const double *policy,
                               const double *utility, double *v, idm_error *opt_error);

#endif
