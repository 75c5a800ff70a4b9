/* Learnt dynamics: the model, the Baum-Welch algorithm, modes and draws.
 *
 * Contents: structure · iohmm · learn · modes · ratio · draws · dirichlet */
#ifndef IDM_LEARN_LEARN_H
#define IDM_LEARN_LEARN_H

#include "idm/extension/dynamics.h"
#include "idm/extension/prefix.h"
#include "idm/extension/random.h"
#include "learn/iohmm.h"

/* === structure ============================================================================== */

/* What is learnt: rows of probabilities, their possible entries, and ties between rows. */

/* A row of idm_dynamics. Rows are in order: the start, then transitions, then observations, by
 * action and state. */
typedef struct structure_row {
  size_t first; /* index of its first probability in idm_dynamics.start */
  size_t width;
  size_t tied_to; /* first of the rows tied to it; itself where it has no ties */
  bool learnt;    /* false: fixed */
} structure_row;

typedef struct structure {
  idm_sizes sizes;
  bool emits_before;
  size_t rows;
  structure_row *row; /* [rows] */
  bool *possible;     /* [numbers] */
  bool *learnt;       /* [action]: not terminal */
  size_t *group;      /* [state]: the first state that it is interchangeable with */
  size_t *factor;     /* [observation]: its level of the first factor */
} structure;

/* Structure of a problem, with `states` new states (0: those of the problem). `learn_start`: the
 * start is learnt; `fixed`: the log identifies the states (it has its own start beliefs), so that
 * none are interchangeable. */
idm_status structure_create(const idm_problem *problem, size_t states, bool learn_start, bool fixed,
                            structure **ret_structure, idm_error *opt_error);
void structure_destroy(structure *s);
/* Learn, for the problem's own states, only the rows that the log is informative about:
 * transitions[action] marks actions that an observation follows, emissions[action] those with an
 * observation; other rows are held at the problem's values. Information about one action counts for
 * all that are tied to it. Both arrays are updated. */
void structure_fix_rows(structure *s, const idm_problem *problem, bool fixed, bool *transitions,
                        bool *emissions);

/* Indices of the rows of an action and state. */
static inline size_t structure_transition(const structure *s, size_t action, size_t state)
{
  return 1 + action * s->sizes.states + state;
}
static inline size_t structure_emission(const structure *s, size_t action, size_t state)
{
  return 1 + (s->sizes.actions + action) * s->sizes.states + state;
}
/* Whether a row is learnt and leads its ties. */
static inline bool structure_is_own_row(const structure *s, size_t r)
{
  return s->row[r].learnt && s->row[r].tied_to == r;
}

/* Whether a row is learnt, leads its ties, and has several possible entries. */
bool structure_is_free(const structure *s, size_t r);
/* Add the counts of tied rows to the row that leads them; copy the probabilities of that row to the
 * rows tied to it. */
void structure_sum_ties(const structure *s, double *counts);
void structure_copy_ties(const structure *s, double *numbers);
/* (prior - 1) times the sum of the logarithms of the learnt probabilities. */
double structure_log_prior(const structure *s, double prior, const double *numbers);
/* Set every row to its posterior mode under Dirichlet(prior), given counts, to which ties are added
 * here. A row without counts and prior is unchanged. */
void structure_maximise(const structure *s, double prior, double *counts, double *numbers);
/* Draw every learnt row from Dirichlet(prior + counts), with ties added to counts here; NULL:
 * counts of 0. */
void structure_draw(const structure *s, double prior, double *opt_counts, idm_random *random,
                    double *numbers);
/* Whether two interchangeable states have equal probabilities; then *one and *other are these
 * states. */
bool structure_find_identical(const structure *s, const double *numbers, size_t *one,
                              size_t *other);
/* mean[state]: expected level of the first factor of the observation, summed over actions whose
 * observations are learnt. */
void structure_means(const structure *s, const double *numbers, double *mean);
/* Length of `scratch` for the three functions below: all probabilities, and five numbers per state.
 */
static inline size_t structure_scratch_size(const structure *s)
{
  return s->sizes.states * (6 + s->sizes.actions * (s->sizes.states + s->sizes.observations));
}
/* Permute states inside their groups so that their means have the same ranks as those of
 * opt_reference; NULL: ascending means. */
void structure_order(const structure *s, const double *opt_reference, double *numbers,
                     double *scratch);
/* Permute states inside their groups to the least distance of the learnt probabilities from one of
 * several dynamics. Where more than 8 states are interchangeable, states are ranked by the means of
 * the first of the dynamics. The result does not depend on the order of the states of a group
 * before. */
void structure_match_states(const structure *s, const idm_dynamics *const *reference,
                            size_t references, double *numbers, double *scratch);
/* Permute states, also between groups, by exchanges of two states that reduce the distance to
 * `reference`. Returns whether any state moved: the zeros of the structure are then restored, and
 * the probabilities can be the start of a search. */
bool structure_relabel(const structure *s, const double *reference, double *numbers,
                       double *scratch);

/* === iohmm ================================================================================== */

/* The input-output hidden Markov model over the tree of histories. */

/* A history: the start of trajectories, or one row of them. Parents have smaller indices than
 * children. */
typedef struct history {
  uint32_t parent; /* itself for the start of a trajectory */
  int32_t action;
  int32_t observation; /* IDM_MISSING: nothing was recorded */
  int32_t start;       /* of a start: index of its start belief; -1: the learnt start */
  uint32_t row;        /* of the data, for messages */
} history;

struct idm_iohmm {
  const idm_data *data; /* borrowed */
  structure *structure;
  size_t histories;
  history *history;
  uint32_t *last;           /* [trajectory]: its last history */
  double *end_count;        /* [history]: number of selected trajectories that end there */
  double *visit_count;      /* [history]: number of selected trajectories through it */
  double *unobserved_count; /* [history]: number of selected trajectories that end without an
                               observation after it */
  double rows;              /* rows with evidence of the selected trajectories */
};

/* Scratch of the forward-backward recursion, for one thread. */
typedef struct smoother {
  const idm_iohmm *learner;
  double
      *filter; /* [history][state]: distribution of the state after it, given the records so far */
  double *scale;     /* [history]: probability of the observation, given all before */
  double *log_scale; /* [history]: scratch */
  double *backward; /* [history][state]: backward message, summed over trajectories; in the sampler,
                       trajectories per state */
  double *counts;   /* [numbers]: expected counts of starts, transitions and observations */
  double *one;      /* [state]: scratch */
  double *drawn;    /* [state]: scratch of the sampler */
} smoother;
idm_status smoother_create(const idm_iohmm *learner, smoother **ret_smoother, idm_error *opt_error);
void smoother_destroy(smoother *p);

/* Forward filter. With `all`, also histories that no selected trajectory visits. Returns the
 * log-likelihood of the selected trajectories; -inf where an observation is impossible, with the
 * first such history in *opt_impossible. */
double smoother_forward(smoother *p, const idm_dynamics *d, bool all, size_t *opt_impossible);
/* Backward recursion after smoother_forward: computes the expected counts. */
void smoother_backward(smoother *p, const idm_dynamics *d);
/* Fail with IDM_INPUT at a history whose observation is impossible. */
idm_status iohmm_fail_impossible(const idm_iohmm *learner, size_t impossible, idm_error *opt_error);

/* === learn ================================================================================== */

/* Functions of the Baum-Welch algorithm that other parts use. */

/* IDM_USAGE where the problem's actions and observations differ in number from those of the
 * learner. */
idm_status iohmm_check_problem(const idm_iohmm *learner, const idm_problem *problem,
                               idm_error *opt_error);
/* Maximise the objective from `dynamics`, in place; *ret_log_likelihood is that of the mode. */
idm_status learn_maximise(const idm_iohmm *learner, const idm_learn_settings *settings,
                          idm_dynamics *dynamics, double *ret_log_likelihood, idm_error *opt_error);
/* Random streams: start, chain, fold or pilot number `index` has its own. */
enum {
  LEARN_STREAM_STARTS = 1,
  LEARN_STREAM_CHAINS = 2,
  LEARN_STREAM_FOLDS = 3,
  LEARN_STREAM_PILOTS = 4
};
static inline uint64_t learn_stream(unsigned use, size_t states, size_t fold, size_t index)
{
  return (uint64_t)use << 60 | (uint64_t)(states & 0xffff) << 40 | (uint64_t)(fold & 0xffff) << 24 |
         (uint64_t)(index & 0xffffff);
}

/* === modes ================================================================================== */

/* Modes of the posterior of dynamics: distinct end points of a search, and the evidence of each. */

/* Most modes that are kept. */
enum { MODES_MAX = 8 };

/* Log evidence of a mode by the Cheeseman-Stutz approximation (1996), up to a constant of the log.
 * Afterwards p->counts contains the expected counts, with ties added. */
double modes_log_evidence(smoother *p, double prior, const idm_dynamics *mode);
/* Divergence in nats: log-likelihood of complete-data counts under `numbers` less that under
 * `other`. */
double modes_divergence(const structure *s, const double *counts, const double *numbers,
                        const double *other);
/* Index of the mode at which a chain starts: modes with at least 1 % of the evidence, in turn. */
size_t modes_start(const idm_modes *modes, size_t chain);

/* === ratio ================================================================================== */

/* Learnt rows in unconstrained coordinates: log ratios of the possible entries of a row to its last
 * possible entry. Tied rows count once; rows with one possible entry have no coordinates. */

/* Number of coordinates. */
size_t ratio_count(const structure *s);
/* Number of coordinates of one free row. */
size_t ratio_count_row(const structure *s, size_t r);
/* y[count] from probabilities in the layout of idm_dynamics.start. */
void ratio_get(const structure *s, const double *numbers, double *y);
/* The inverse: fixed rows are unchanged, tied rows are copied. */
void ratio_set(const structure *s, const double *y, double *numbers);
/* Log density of y under Dirichlet(prior) rows, with the Jacobian, up to a constant; -inf where an
 * entry is 0 by underflow. */
double ratio_log_prior(const structure *s, double prior, const double *numbers);
/* gradient[count] of the log prior and of a log-likelihood with these expected counts, to which
 * ties are added here. */
void ratio_gradient(const structure *s, double prior, double *counts, const double *numbers,
                    double *gradient);

/* === draws ================================================================================== */

/* Draws of dynamics: names and indices of the probabilities. */

/* Name the learnt probabilities of a structure, with their indices; tied ones once. */
idm_status draws_name(const structure *s, const idm_setting *setting, idm_dynamics_draws *draws,
                      idm_error *opt_error);

/* === dirichlet ============================================================================== */

/* Mixtures of products of Dirichlet rows: independence proposals that reach every mode of a
 * posterior of dynamics.
 *
 * Given paths of hidden states, rows are independent and Dirichlet. The mean of these densities
 * over the paths that a chain draws at a mode estimates the posterior there, including the
 * dependence between rows (Gelfand and Smith 1990); it is exact where the states are known. */

typedef struct dirichlet {
  const structure *structure; /* borrowed */
  size_t numbers;             /* of idm_dynamics */
  size_t components;
  size_t kernels;       /* per component; all have the same weight */
  size_t *kernel_count; /* [component]: kernels so far */
  double *shape;        /* [component][kernel][number] */
  double *constant;     /* [component][kernel]: log of the normaliser */
} dirichlet;

idm_status dirichlet_create(const structure *s, size_t numbers, size_t components, size_t kernels,
                            dirichlet **ret_dirichlet, idm_error *opt_error);
void dirichlet_destroy(dirichlet *d);
/* Add a kernel Dirichlet(prior + counts) to a component, given counts with ties added. Threads may
 * add to different components concurrently. No effect on a component that is full. */
void dirichlet_add(dirichlet *d, size_t component, double prior, const double *counts);
/* Draw the learnt rows and their ties; all components must be full. scratch[numbers]. */
void dirichlet_draw(const dirichlet *d, idm_random *random, double *numbers, double *scratch);
/* Log density of the learnt rows; *opt_component is the component with the largest density.
 * scratch[numbers]. */
double dirichlet_log_density(const dirichlet *d, const double *numbers, double *scratch,
                             size_t *opt_component);

#endif
