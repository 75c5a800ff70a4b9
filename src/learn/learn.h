/* Learnt dynamics: the model, Baum and Welch's algorithm, modes and draws.
 *
 * Contents: structure · iohmm · learn · modes · ratio · draws · dirichlet */
#ifndef IDM_LEARN_LEARN_H
#define IDM_LEARN_LEARN_H

#include "idm/dynamics.h"
#include "idm/learn.h"
#include "idm/prefix.h"
#include "idm/random.h"

/* === structure ============================================================================== */

/* What may be learnt: rows of probabilities, what is possible in each, and which are one. */

/* A row of idm_dynamics: the start, then transitions, then emissions, by action and state. */
typedef struct structure_row {
  size_t first; /* of its numbers in idm_dynamics.start */
  size_t width;
  size_t tied_to; /* the first of the rows that are one with it: itself where it is alone */
  bool learnt;    /* else it stays as it is */
} structure_row;

typedef struct structure {
  idm_sizes sizes;
  bool emits_before;
  size_t rows;
  structure_row *row; /* [rows] */
  bool *possible;     /* [numbers] */
  bool *learnt;       /* [action]: not terminal */
  size_t *group;      /* [state]: the first state that it can change places with */
  size_t *factor;     /* [observation]: its place along the first factor */
} structure;

/* With `states` other than the problem's own (0: those), for new states. `learn_start`: the start
 * is learnt; `fixed`: the log names states (its own start beliefs), so that none can change places.
 */
idm_status structure_create(const idm_problem *problem, size_t states, bool learn_start, bool fixed,
                            structure **ret_structure, idm_error *opt_error);
void structure_destroy(structure *s);
/* Learn, of the problem's own states, the rows of actions after which something was seen (moves
 * [action]) and that showed something (shows [action]), and hold the others at the problem's
 * numbers. What is told of one action is told of those that are one with it. */
void structure_fix_rows(structure *s, const idm_problem *problem, bool fixed, bool *transitions,
                        bool *emissions);

/* Rows of one action. */
static inline size_t structure_transition(const structure *s, size_t action, size_t state)
{
  return 1 + action * s->sizes.states + state;
}
static inline size_t structure_emission(const structure *s, size_t action, size_t state)
{
  return 1 + (s->sizes.actions + action) * s->sizes.states + state;
}
/* Whether a row is learnt by itself: tied ones follow their first. */
static inline bool structure_is_own_row(const structure *s, size_t r)
{
  return s->row[r].learnt && s->row[r].tied_to == r;
}

/* Whether a row is learnt by itself and has several possible entries. */
bool structure_is_free(const structure *s, size_t r);
/* Give tied rows the counts of all of them together, and tied rows the numbers of their first. */
void structure_sum_ties(const structure *s, double *counts);
void structure_copy_ties(const structure *s, double *numbers);
/* (prior - 1) times the sum of the logarithms of the numbers that are learnt. */
double structure_log_prior(const structure *s, double prior, const double *numbers);
/* Every row's mode given counts (gathered here) under Dirichlet(prior); a row of which nothing is
 * known stays. */
void structure_maximise(const structure *s, double prior, double *counts, double *numbers);
/* Draw every row from Dirichlet(prior + counts); counts NULL: 0. */
void structure_draw(const structure *s, double prior, double *opt_counts, idm_random *random,
                    double *numbers);
/* Whether two interchangeable states are alike in every number: which two. */
bool structure_find_identical(const structure *s, const double *numbers, size_t *one,
                              size_t *other);
/* Mean index of the first factor of what each state shows, over actions that are not terminal. */
void structure_means(const structure *s, const double *numbers, double *mean);
/* Numbers of `scratch`, for the three below: all numbers, and five per state. */
static inline size_t structure_scratch_size(const structure *s)
{
  return s->sizes.states * (6 + s->sizes.actions * (s->sizes.states + s->sizes.observations));
}
/* Let states change places, inside their groups, so that their means rank as those of
 * `opt_reference` do; NULL: in ascending order. */
void structure_order(const structure *s, const double *opt_reference, double *numbers,
                     double *scratch);
/* Let states change places, inside their groups, so that the numbers that are learnt are nearest to
 * one of several dynamics. Where more than 8 states are interchangeable, their means rank as those
 * of the first do. What comes out is the same for every order of the states of a group that goes
 * in. */
void structure_match_states(const structure *s, const idm_dynamics *const *reference,
                            size_t references, double *numbers, double *scratch);
/* Let states of any group change places, so that the numbers are as near to `like` as exchanges of
 * two states bring them. Returns whether any did: then the zeros of the structure are restored, and
 * the numbers are where a climb may begin. */
bool structure_relabel(const structure *s, const double *reference, double *numbers,
                       double *scratch);

/* === iohmm ================================================================================== */

/* The input-output hidden Markov model over the tree of histories. */

/* A history: the beginning of trajectories, or a row of theirs. Parents come first. */
typedef struct history {
  uint32_t parent; /* itself: a beginning */
  int32_t action;
  int32_t observation; /* IDM_MISSING: nothing was recorded */
  int32_t start;       /* of a beginning: index of its start belief, -1 the start that is learnt */
  uint32_t row;        /* of the data, for messages */
} history;

struct idm_iohmm {
  const idm_data *data; /* borrowed */
  structure *structure;
  size_t histories;
  history *history;
  uint32_t *last;           /* [trajectory]: the last of its histories */
  double *end_count;        /* [history]: trajectories that count and end there */
  double *visit_count;      /* [history]: and that come by */
  double *unobserved_count; /* [history]: and after which nothing was seen of them */
  double rows;              /* with evidence, over the trajectories that count */
};

/* Scratch of one thread. */
typedef struct smoother {
  const idm_iohmm *learner;
  double *filter;   /* [history][state]: what is known of the state after it */
  double *scale;    /* [history]: probability of what was seen, given all before */
  double *backward; /* [history][state]: what follows says of the state, summed over trajectories */
  double *counts;   /* [numbers]: expected, of starts, moves and what was seen */
  double *one;      /* [state] */
  double *drawn;    /* [state] */
} smoother;
idm_status smoother_create(const idm_iohmm *learner, smoother **ret_smoother, idm_error *opt_error);
void smoother_destroy(smoother *p);

/* Filter forward; with `all` also histories that no trajectory that counts comes by. Returns the
 * log-likelihood of those that count; -inf where something was impossible, *opt_impossible then
 * being the first such history. */
double smoother_forward(smoother *p, const idm_dynamics *d, bool all, size_t *opt_impossible);
/* After that: smooth backward, into the expected counts. */
void smoother_backward(smoother *p, const idm_dynamics *d);
/* IDM_INPUT: what was seen there is impossible. */
idm_status iohmm_fail_impossible(const idm_iohmm *learner, size_t impossible, idm_error *opt_error);

/* === learn ================================================================================== */

/* Baum and Welch's algorithm: what the starts of a search share. */

/* IDM_USAGE where a problem has not the actions and observations of what is learnt. */
idm_status iohmm_check_problem(const idm_iohmm *learner, const idm_problem *problem,
                               idm_error *opt_error);
/* Climb from dynamics, in place, to a mode of the objective, whose log-likelihood is returned. */
idm_status learn_maximise(const idm_iohmm *learner, const idm_learn_settings *settings,
                          idm_dynamics *dynamics, double *ret_log_likelihood, idm_error *opt_error);
/* Which seeds belong to what: the stream of start i, beside those of other uses. */
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

/* Modes of the posterior of dynamics: which ends of a search are modes of their own, and the
 * evidence of each. */

/* The most modes that are kept. */
enum { MODES_MAX = 8 };

/* Log evidence of a mode by Cheeseman and Stutz (1996), up to a constant of the log. p->counts then
 * holds the expected counts, gathered. */
double modes_log_evidence(smoother *p, double prior, const idm_dynamics *mode);
/* Nats by which dynamics `other` describe the counts of complete data worse than `numbers` do. */
double modes_divergence(const structure *s, const double *counts, const double *numbers,
                        const double *other);
/* The mode at which a chain starts: those of at least 1 % of the evidence take turns. */
size_t modes_start(const idm_modes *modes, size_t chain);

/* === ratio ================================================================================== */

/* Learnt rows as unconstrained numbers: logarithms of the possible entries of a row over its last
 * possible one. Tied rows count once, and rows with one possible entry have none. */

/* How many there are. */
size_t ratio_count(const structure *s);
/* Those of one row that is open. */
size_t ratio_count_row(const structure *s, size_t r);
/* y[count] of rows laid out as idm_dynamics.start. */
void ratio_get(const structure *s, const double *numbers, double *y);
/* And back: rows that are not learnt are left alone, tied rows follow their first. */
void ratio_set(const structure *s, const double *y, double *numbers);
/* Log density of y under Dirichlet(prior) rows, with the Jacobian, up to a constant; -inf where an
 * entry has underflowed. */
double ratio_log_prior(const structure *s, double prior, const double *numbers);
/* gradient[count] of that, and of a log-likelihood with these expected counts, which are gathered
 * here. */
void ratio_gradient(const structure *s, double prior, double *counts, const double *numbers,
                    double *gradient);

/* === draws ================================================================================== */

/* Draws of dynamics: names and places of their numbers. */

/* Name the numbers of a structure that are learnt, with their places; tied ones once. */
idm_status draws_name(const structure *s, const idm_setting *setting, idm_dynamics_draws *draws,
                      idm_error *opt_error);

/* === dirichlet ============================================================================== */

/* Mixtures of products of Dirichlet rows: proposals that lead from any mode of a posterior of
 * dynamics to any other.
 *
 * Given paths of hidden states, rows are independent and Dirichlet. The mean of these densities
 * over the paths that a chain draws at a mode estimates the posterior there, with the dependence
 * between rows (Gelfand and Smith 1990); it is exact where the states are known. */

typedef struct dirichlet {
  const structure *structure; /* borrowed */
  size_t numbers;             /* of idm_dynamics */
  size_t components;
  size_t kernels;       /* per part; all have the same weight */
  size_t *kernel_count; /* [part]: kernels so far */
  double *shape;        /* [part][kernel][number] */
  double *constant;     /* [part][kernel]: log of the normaliser */
} dirichlet;

idm_status dirichlet_create(const structure *s, size_t numbers, size_t components, size_t kernels,
                            dirichlet **ret_dirichlet, idm_error *opt_error);
void dirichlet_destroy(dirichlet *d);
/* Add a kernel to a part: Dirichlet(prior + counts), given counts that are gathered. Threads may
 * add to different parts at a time. A part that is full is left as it is. */
void dirichlet_add(dirichlet *d, size_t component, double prior, const double *counts);
/* Once all parts are full: draw the rows that are learnt, ties with them. `scratch` [numbers]. */
void dirichlet_draw(const dirichlet *d, idm_random *random, double *numbers, double *scratch);
/* log density of the rows that are learnt; *opt_component is the part that has the largest share of
 * it. `scratch` [numbers]. */
double dirichlet_log_density(const dirichlet *d, const double *numbers, double *scratch,
                             size_t *opt_component);

#endif
