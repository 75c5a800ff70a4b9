/* Markov decision process of a demonstrator, its policy and occupancies; the free utility and its
 * unidentified directions.
 *
 * Contents: mdp · demonstrator · flows · occupancy projection · pure · interior · models · free
 * utility · open */
#ifndef IDM_INVERT_UTILITY_MDP_H
#define IDM_INVERT_UTILITY_MDP_H

#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/optimality.h"
#include "idm/extension/problem.h"
#include "invert/cancel.h"

/* === mdp ==================================================================================== */

/* Markov decision process of a demonstrator without its utility: one row of transition
 * probabilities per state and action. */

typedef struct idm_mdp {
  idm_sizes n;
  double discount;
  size_t horizon;         /* steps of an episode; 0: infinite horizon */
  const double *start;    /* [state]: borrowed from the setting */
  const double *prior;    /* [action]: the action prior, borrowed from theta */
  idm_sparse_rows *moves; /* row action * states + state; empty for terminal actions; without
                             transitions to terminal states */
} idm_mdp;

/* IDM_INPUT, with `caller` in the message, if states are not observed, dynamics are not given or
 * the utility varies with columns of the log. */
idm_status idm_mdp_create(const idm_problem *problem, const idm_setting *setting,
                          const char *caller, idm_mdp **ret_mdp, idm_error *opt_error);
/* For hidden states: the process of the first model of a theta, which is borrowed. */
idm_status idm_mdp_create_believed(const idm_setting *setting, const idm_theta *theta,
                                   idm_mdp **ret_mdp, idm_error *opt_error);
/* The process over the underlying states, which may be hidden. */
idm_status idm_mdp_underlying(const idm_problem *problem, const idm_setting *setting,
                              const char *caller, idm_mdp **ret_mdp, idm_error *opt_error);
void idm_mdp_destroy(idm_mdp *mdp);

/* Returns discount * P(.|s,u) . v. */
double idm_mdp_next_value(const idm_mdp *mdp, size_t action, size_t state, const double *v);
/* Solves v[state] = sum_u policy[state][u] (utility[u][state] + discount P v): policies are by
 * state and action, utilities by action and state, as in theta. IDM_NUMERICAL if the iteration does
 * not converge: a discount of 1 and episodes that do not end. */
idm_status idm_mdp_evaluate(const idm_mdp *mdp, const double *policy, const double *utility,
                            double *v, idm_error *opt_error);
/* Weight of one step in an occupancy: 1 - discount; with a horizon, the value that makes the
 * weights of its steps sum to 1. */
double idm_mdp_step_weight(const idm_mdp *mdp);
/* occupancy[state][action] = weight E sum_t discount^t 1{s,u}, over the steps of the horizon if
 * there is one (`docs/method/inverse.md, 2`); sums to 1 if no action is terminal. Errors as
 * idm_mdp_evaluate. */
idm_status idm_mdp_occupancy(const idm_mdp *mdp, const double *policy, double *occupancy,
                             idm_error *opt_error);

/* === demonstrator =========================================================================== */

/* Demonstrator of a log: its decisions by state of an MDP. If states are hidden, the states of the
 * MDP are beliefs, and a decision can be distributed over several of them by weights. */

/* States in which the rows of a log act. */
typedef struct idm_row_states {
  size_t *first;   /* [rows + 1]: range of entries of a row; empty: state unknown */
  uint32_t *state; /* [entry] */
  double *weight;  /* [entry]: sums to 1 over a row */
  double *belief;  /* [row][state]: the belief, if states are hidden; otherwise NULL */
} idm_row_states;

/* Allocates room for `entries` entries. */
idm_status idm_row_states_create(size_t rows, size_t entries, idm_row_states **ret_row_states,
                                 idm_error *opt_error);
/* Accepts NULL. */
void idm_row_states_destroy(idm_row_states *row_states);

typedef struct idm_demonstrator {
  idm_sizes n;
  idm_row_states *row_states;
  double *count;  /* [state][action]: number of rows */
  double *visits; /* [state]: number of rows with the state and an action */
  double *policy; /* [state][action]: relative frequencies; in unvisited states the action prior */
  size_t decisions;
  size_t without_state; /* actions whose state is not recorded, which are not counted */
} idm_demonstrator;

/* state[row]: the state acted in, or IDM_MISSING if the log does not record it. */
void idm_demonstrator_states(const idm_data *data, const idm_setting *setting, int32_t *state);

/* Uses all trajectories, or those with opt_include[trajectory]. IDM_INPUT if no action has a state.
 */
idm_status idm_demonstrator_create(const idm_mdp *mdp, const idm_data *data,
                                   const idm_setting *setting, const bool *opt_include,
                                   idm_demonstrator **ret_demonstrator, idm_error *opt_error);
/* The same with given row states, whose ownership is taken in any case. */
idm_status idm_demonstrator_create_at(const idm_mdp *mdp, const idm_data *data,
                                      idm_row_states *row_states, const bool *opt_include,
                                      idm_demonstrator **ret_demonstrator, idm_error *opt_error);
/* Copies counts and policy, without row states. */
idm_status idm_demonstrator_copy(const idm_demonstrator *demonstrator,
                                 idm_demonstrator **ret_demonstrator, idm_error *opt_error);
void idm_demonstrator_destroy(idm_demonstrator *demonstrator);
/* true if a row is a decision with a state. Not available for a copy. */
bool idm_demonstrator_counts_row(const idm_demonstrator *demonstrator, const idm_data *data,
                                 size_t row);

/* Effective number n of independent decisions for sums over occupancies, given the errors of the
 * log's decisions. Decision i has weight a_i in the occupancy, and n = sum a / sum a^2, where a
 * sums to the occupancy's mass. In a policy's occupancy m, a decision has the share w_is m_s /
 * sum_j w_js of each state s in which it counts with weight w_is; in an empirical occupancy its
 * weight is its discount factor. Not available for a copy. */
double idm_demonstrator_ess(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                            const idm_data *data, const idm_setting *setting, bool empirical,
                            const double *occupancy);
/* Share of the discounted steps of an empirical occupancy that come after the last rows of
 * trajectories that the log truncates. */
double idm_demonstrator_truncated(const idm_mdp *mdp, const idm_data *data,
                                  const idm_setting *setting);

/* action[state]: the only action taken there, or IDM_MISSING in an unvisited state. IDM_INPUT, with
 * the states, if a state has two actions. */
idm_status idm_demonstrator_deterministic(const idm_demonstrator *demonstrator,
                                          const idm_setting *setting, const char *caller,
                                          int32_t *action, idm_error *opt_error);

/* Share of an occupancy[state][action] in states that the log never visits; 0 if it is below
 * rounding. */
double idm_demonstrator_unvisited(const idm_demonstrator *demonstrator, const double *occupancy);
/* occupancy[state][action] of the policy in the MDP, or with `empirical` the discounted frequencies
 * of the log. A note gives the share of the policy's occupancy in unvisited states. */
idm_status idm_demonstrator_occupancy(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                                      const idm_data *data, const idm_setting *setting,
                                      bool empirical, double *occupancy, idm_notes *opt_notes,
                                      idm_error *opt_error);

/* === flows ================================================================================== */

/* Occupancies of policies as a convex set, q >= 0 with sum_u q(s',u) - discount sum P(s'|s,u)
 * q(s,u) = (1 - discount) start(s') (Bellman flow constraints), and the objective: a divergence
 * from a given p minus the weighted entropy of the policy (`docs/method/inverse.md, 2`). */

typedef struct idm_flows {
  idm_divergence divergence;
  double lambda;           /* of the squared divergence */
  double entropy;          /* weight of H = -sum q log pi */
  size_t rows;             /* number of reachable states, one constraint each */
  size_t *place;           /* [row]: state index */
  double *source;          /* [row]: (1 - discount) start */
  size_t entries;          /* pairs of a reachable state and an action, ordered by state */
  size_t *first;           /* [rows + 1]: range of entries of a row */
  size_t *action;          /* [entry] */
  double *p;               /* [entry]: target occupancy */
  size_t *begin;           /* [entries + 1]: range of an entry's coefficients in the constraints: */
  size_t *to;              /* row */
  double *by;              /* coefficient */
  double unreachable_cost; /* divergence contributed by target mass that no policy can reach; may be
                              infinite */
} idm_flows;

/* All policies that take no action of prior 0, no action excluded by opt_allowed[state][action],
 * and with reverse-kl no action that the target does not take. target is p[state][action].
 * IDM_INPUT if no policy remains or the divergence is infinite for all. */
idm_status idm_flows_create(const idm_mdp *mdp, const idm_setting *setting, const double *target,
                            const bool *opt_allowed, idm_divergence divergence, double lambda,
                            double entropy, idm_flows **ret_flows, idm_error *opt_error);
void idm_flows_destroy(idm_flows *flows);

/* lambda of the squared divergence; 100 by default. */
double idm_flows_lambda(const idm_fit_settings *settings);
/* Contribution of one entry with target p and occupancy q to a divergence; may be infinite. */
double idm_flows_divergence(idm_divergence divergence, double lambda, double p, double q);
/* Its derivative with respect to q; not defined for tv. */
double idm_flows_derivative_q(idm_divergence divergence, double lambda, double p, double q);
/* Its derivative with respect to p > 0; not defined for tv. */
double idm_flows_derivative_p(idm_divergence divergence, double lambda, double p, double q);
/* Objective of the flows at q[entry]. */
double idm_flows_objective(const idm_flows *flows, const double *q);
/* First and second derivative of the divergence with respect to entry i at q; not defined for tv.
 */
double idm_flows_derivative(const idm_flows *flows, size_t i, double q);
double idm_flows_curvature(const idm_flows *flows, size_t i, double q);
/* log pi of each entry: log of q over the sum of its row. */
void idm_flows_log_policy(const idm_flows *flows, const double *q, double *log_policy);
/* residual[row] of the flow constraints at q: source minus outflow plus inflow. */
void idm_flows_residual(const idm_flows *flows, const double *q, double *residual);
/* dual_cost[entry] = (B'y)_entry, for multipliers y[row] of the constraints. */
void idm_flows_dual_cost(const idm_flows *flows, const double *y, double *dual_cost);
/* Upper bound on f(q) - f(q*) for a feasible q: for any y, f(q*) >= f(q) + gradient . (q* - q) with
 * gradient = B'y + z, so that z.q - min(0, min z) bounds the gap. For tv, opt_share[entry] in [0,
 * 1] selects the subgradient of max(p - q, 0). work: scratch [2 * entries]. */
double idm_flows_gap(const idm_flows *flows, const double *q, const double *y,
                     const double *opt_share, double *work);

/* === occupancy projection =================================================================== */

/* Projection onto the set of occupancies: the policy whose occupancy has the least divergence from
 * a target. */

typedef struct idm_occupancy_projection {
  double objective;
  double gap;        /* upper bound on the distance to the minimum */
  double *policy;    /* [state][action] */
  double *occupancy; /* [state][action] */
  size_t zeros;      /* zero probabilities of allowed actions in reachable states */
} idm_occupancy_projection;

/* Minimises the divergence from target[state][action] minus `entropy` times the policy's entropy,
 * among policies of the actions that opt_allowed[state][action] permits. In states of zero
 * occupancy the policy is fallback[state][action]. IDM_INPUT if the divergence is infinite for
 * every policy. */
idm_status idm_occupancy_projection_create(const idm_mdp *mdp, const idm_setting *setting,
                                           const double *target, const double *fallback,
                                           const bool *opt_allowed, idm_divergence divergence,
                                           double lambda, double entropy, idm_cancel *opt_cancel,
                                           idm_occupancy_projection **ret_nearest,
                                           idm_error *opt_error);
void idm_occupancy_projection_destroy(idm_occupancy_projection *nearest_policy);

/* === pure =================================================================================== */

/* Deterministic policy whose occupancy has the least divergence from a target.
 *
 * Deterministic policies are vertices of the set of occupancies, so the search is over finitely
 * many policies; the divergence of the nearest stochastic policy is a lower bound. */

/* Statistics of the search. */
typedef struct idm_branch_stats {
  size_t branches; /* number of branches examined */
  bool non_unique; /* another deterministic policy attains the minimum */
  size_t tied;     /* states of zero occupancy in which several actions are equally frequent */
} idm_branch_stats;

/* As idm_occupancy_projection_create, where `gap` bounds the distance to the least divergence of
 * deterministic policies. In states of zero occupancy the policy is the most frequent action of
 * fallback[state][action]; of several all of them, weighted by the action prior. IDM_INPUT if the
 * divergence is infinite for all. */
idm_status idm_deterministic_projection_create(const idm_mdp *mdp, const idm_setting *setting,
                                               const double *target, const double *fallback,
                                               idm_divergence divergence, double lambda,
                                               idm_cancel *opt_cancel, idm_branch_stats *stats,
                                               idm_occupancy_projection **ret_nearest,
                                               idm_error *opt_error);

/* === interior =============================================================================== */

/* Projection by an interior-point method. */

/* Computes the minimiser q[entry] of the flows' objective, multipliers y[row] of the constraints,
 * and in *gap an upper bound on the distance to the minimum (idm_flows_gap). */
idm_status idm_interior_point_solve(const idm_flows *flows, idm_cancel *opt_cancel, double *q,
                                    double *y, double *gap, idm_error *opt_error);

/* === models ================================================================================= */

/* Models of the environment that an agent with observed states considers possible, one MDP per
 * model, and the worst-case (CVaR) values of policies over them. */

typedef struct idm_models {
  size_t count;     /* models of positive weight */
  double *weight;   /* [count] */
  idm_mdp **mdp;    /* [count] */
  bool *differ;     /* [action][state]: true if the models differ there */
  size_t differing; /* number of such entries */
  double *next;     /* [count]: scratch; one object per thread */
} idm_models;

/* Creates the models of a problem whose environment is `mdp`, which must outlive them. */
idm_status idm_models_create(const idm_problem *problem, const idm_mdp *mdp,
                             idm_models **ret_models, idm_error *opt_error);
void idm_models_destroy(idm_models *models);

/* Creates the MDP of a mixture, sigma[action][state][model]. */
idm_status idm_models_mix(const idm_models *models, const double *sigma, idm_mdp **ret_mdp,
                          idm_error *opt_error);

/* Q[action][state] = utility + min {sum_m sigma_m discount P_m v : 0 <= sigma_m <= weight_m /
 * level, sum sigma = 1}, and the minimiser sigma[action][state][model]. opt_q and opt_sigma may be
 * NULL. */
void idm_models_action_values(const idm_models *models, double level, const double *utility,
                              const double *v, double *opt_q, double *opt_sigma);
/* Solves v[state] = sum_u policy[state][u] Q(s,u) with that Q (nested CVaR). IDM_NUMERICAL if the
 * iteration does not converge. */
idm_status idm_models_evaluate(const idm_models *models, double level, const double *policy,
                               const double *utility, double *v, idm_error *opt_error);

/* === free utility =========================================================================== */

/* The utility that is estimated: its entries by action and state are free, tied to others, fixed,
 * or linear in features, whose weights are the free numbers. */

typedef struct idm_free_utility {
  size_t entries;  /* actions * states, as in theta */
  size_t count;    /* free numbers, in the order of the answer's coordinates */
  int32_t *number; /* [entry]: index of its free number, or -1: fixed; all -1 with features */
  double *held;    /* [entry]: values of the file, in units */
  double unit;     /* unit of all quantities measured as utilities: 1 until it is set */
  const idm_features *features; /* borrowed from the problem; NULL: none (see idm_inverse_check) */
  idm_features
      *owned_features; /* owned features, for entries that are mixtures of others, or for the free
                          weights if some are fixed; `features` then points here */
  double *base;        /* [entry]: offset added to the features; NULL: none */
} idm_free_utility;

/* For a problem whose utility is the only free block (see idm_inverse.target_block). */
idm_status idm_free_utility_create(const idm_problem *problem, idm_free_utility **ret_free_utility,
                                   idm_error *opt_error);
void idm_free_utility_destroy(idm_free_utility *free_utility);
/* The same free numbers with entries by action and belief, each the expectation over the states of
 * belief[beliefs][states], in the same unit. */
idm_status idm_belief_utility_create(const idm_free_utility *free_utility, size_t actions,
                                     size_t states, size_t beliefs, const double *belief,
                                     idm_free_utility **ret_free_utility, idm_error *opt_error);
/* Sets the unit to a power of 2 (so that nothing is rounded) by the largest fixed entry, also of
 * free entries if include_free, and by `size`, a bound or difference from the settings (infinite:
 * none). The scaled problem has numbers of order 1, so that tolerances do not depend on the
 * problem's units. */
void idm_free_utility_rescale(idm_free_utility *free_utility, bool include_free, double size);
/* key[count]: a number between 1/2 and 3/2 per free number, derived from its name, so that it does
 * not depend on the order. */
idm_status idm_free_utility_keys(const idm_problem *problem, const idm_free_utility *free_utility,
                                 double *key, idm_error *opt_error);
/* weight[count]: number of entries of each free number; 1 for the weight of a feature. */
void idm_free_utility_weights(const idm_free_utility *free_utility, double *weight);
/* size[count]: largest coefficient of the weight of a feature; 1 without features. */
void idm_free_utility_sizes(const idm_free_utility *free_utility, double *size);
/* d entry / d number, and the constant part of an entry. */
double idm_free_utility_coefficient(const idm_free_utility *free_utility, size_t entry,
                                    size_t number);
double idm_free_utility_constant(const idm_free_utility *free_utility, size_t entry);
/* row[count] += factor d entry / d number; returns factor times the constant of the entry. */
double idm_free_utility_add(const idm_free_utility *free_utility, size_t entry, double factor,
                            double *row);
/* Value of one entry at the free numbers x[count]. */
double idm_free_utility_value(const idm_free_utility *free_utility, size_t entry, const double *x);
/* utility[entry] at the free numbers x[count], all in units. */
void idm_free_utility_fill(const idm_free_utility *free_utility, const double *x, double *utility);
/* Writes the free numbers x[count] to a theta, in the file's units, including weights of features.
 */
void idm_free_utility_write(const idm_free_utility *free_utility, const double *x,
                            idm_theta *theta);
/* utility[entry] of a change of the free numbers, without constant parts. */
void idm_free_utility_apply(const idm_free_utility *free_utility, const double *change,
                            double *utility);
/* gradient[count]: derivatives with respect to free numbers, from derivatives with respect to
 * entries. */
void idm_free_utility_backward(const idm_free_utility *free_utility, const double *derivative,
                               double *gradient);

/* === open =================================================================================== */

/* Unidentified directions of a utility: potential shaping, which includes a shift and does not
 * affect any behaviour, and utilities in unvisited states. */

/* Adds to the optimality record the directions of the free numbers that do not change the
 * likelihood of the log: in visited states discount P phi - phi for some potential phi; in
 * unvisited states any change whose policy mean, under the demonstrator's policy, equals that
 * expression. Fixed and tied entries leave fewer directions. opt_demonstrator NULL: every state
 * counts as visited. With more states than can be eliminated nothing is computed (`evaluated` stays
 * false, and a note is added to the words). */
idm_status idm_nullspace_shaping(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                 const idm_free_utility *free_utility, idm_optimality *optimality,
                                 idm_error *opt_error);
/* The same for decisions in several environments: the common utility changes by a potential of
 * each. More environments leave fewer directions. */
idm_status idm_nullspace_shared(size_t mdps, const idm_mdp *const *mdp,
                                const idm_demonstrator *const *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *optimality,
                                idm_error *opt_error);
/* The same for an agent that plans for several models jointly: one potential that changes the
 * utility equally under each. */
idm_status idm_nullspace_robust(size_t mdps, idm_mdp *const *mdp,
                                const idm_demonstrator *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *optimality,
                                idm_error *opt_error);
/* Directions d with rows . d = 0, for a design matrix rows[count][free], which is overwritten. */
idm_status idm_nullspace_design(size_t count, double *rows, idm_optimality *optimality,
                                idm_error *opt_error);

/* Adds a remark on unvisited states, if any. */
void idm_nullspace_note_unvisited(size_t unvisited, size_t states, idm_optimality *optimality);

/* Half the distance between the normalised canonical utilities, with states weighted equally and
 * actions by the prior: sqrt((1 - correlation) / 2) (EPIC). 0 if both are constant, 1/2 if one is.
 */
idm_status idm_canonical_distance(const idm_mdp *mdp, const double *a, const double *b,
                                  double *distance, idm_error *opt_error);

#endif
