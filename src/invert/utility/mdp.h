/* The Markov decision process of a demonstrator, without its utility: one row of transitions per
 * state and action. */
#ifndef IDM_INVERT_UTILITY_MDP_H
#define IDM_INVERT_UTILITY_MDP_H

#include "idm/problem.h"

typedef struct idm_mdp {
  idm_sizes n;
  double discount;
  size_t horizon;      /* steps of an episode; 0: endless */
  const double *start; /* [state]: borrowed from the setting */
  const double *prior; /* [action]: the action prior, borrowed from theta */
  idm_moves *moves;    /* row action * states + state; empty where nothing follows the
                          action; without arrivals at terminal states */
} idm_mdp;

/* IDM_INPUT, as what `who` cannot do without, where states are not observed, dynamics are not known
 * or the utility varies with the data. */
idm_status idm_mdp_create(const idm_problem *problem, const idm_setting *setting, const char *who,
                          idm_mdp **ret_mdp, idm_error *opt_error);
/* Where states are hidden: the process of the first model of a theta, which is borrowed. */
idm_status idm_mdp_create_believed(const idm_setting *setting, const idm_theta *theta,
                                   idm_mdp **ret_mdp, idm_error *opt_error);
/* The process under the hidden states, where states may be hidden. */
idm_status idm_mdp_underlying(const idm_problem *problem, const idm_setting *setting,
                              const char *who, idm_mdp **ret_mdp, idm_error *opt_error);
void idm_mdp_destroy(idm_mdp *mdp);

/* discount * P(.|s,u) . v. */
double idm_mdp_next(const idm_mdp *mdp, size_t action, size_t state, const double *v);
/* v[state] = sum_u policy[state][u] (utility[u][state] + discount P v): policies are by state and
 * action, utilities by action and state, as in theta. IDM_NUMERICAL where sweeps do not settle: a
 * discount of 1, and episodes that do not end. */
idm_status idm_mdp_evaluate(const idm_mdp *mdp, const double *policy, const double *utility,
                            double *v, idm_error *opt_error);
/* What one step weighs in an occupancy: 1 - discount, or with a horizon what makes its steps sum to
 * 1. */
double idm_mdp_share(const idm_mdp *mdp);
/* occupancy[state][action] = share E sum_t discount^t 1{s,u}, over the steps of the horizon where
 * there is one; sums to 1 where no action ends. The same failure. */
idm_status idm_mdp_occupancy(const idm_mdp *mdp, const double *policy, double *occupancy,
                             idm_error *opt_error);

#endif
