/* What may be learnt: rows of probabilities, what is possible in each, and which are one. */
#ifndef IDM_LEARN_STRUCTURE_H
#define IDM_LEARN_STRUCTURE_H

#include "idm/dynamics.h"
#include "idm/learn.h"
#include "idm/random.h"

/* A row of idm_dynamics: the start, then transitions, then emissions, by action and state. */
typedef struct row {
  size_t first; /* of its numbers in idm_dynamics.start */
  size_t width;
  size_t same; /* the first of the rows that are one with it: itself where it is alone */
  bool learnt; /* else it stays as it is */
} row;

typedef struct structure {
  idm_sizes sizes;
  bool emits_before;
  size_t rows;
  row *row;       /* [rows] */
  bool *possible; /* [numbers] */
  bool *learnt;   /* [action]: not terminal */
  size_t *group;  /* [state]: the first state that it can change places with */
  size_t *factor; /* [observation]: its place along the first factor */
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
void structure_hold(structure *s, const idm_problem *problem, bool fixed, bool *moves, bool *shows);

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
static inline bool structure_leads(const structure *s, size_t r)
{
  return s->row[r].learnt && s->row[r].same == r;
}

/* Whether a row is learnt by itself and has several possible entries. */
bool structure_is_open(const structure *s, size_t r);
/* Give tied rows the counts of all of them together, and tied rows the numbers of their first. */
void structure_gather(const structure *s, double *counts);
void structure_spread(const structure *s, double *numbers);
/* (prior - 1) times the sum of the logarithms of the numbers that are learnt. */
double structure_penalty(const structure *s, double prior, const double *numbers);
/* Every row's mode given counts (gathered here) under Dirichlet(prior); a row of which nothing is
 * known stays. */
void structure_maximise(const structure *s, double prior, double *counts, double *numbers);
/* Draw every row from Dirichlet(prior + counts); counts NULL: 0. */
void structure_draw(const structure *s, double prior, double *opt_counts, idm_random *random,
                    double *numbers);
/* Whether two interchangeable states are alike in every number: which two. */
bool structure_alike(const structure *s, const double *numbers, size_t *one, size_t *other);
/* Mean index of the first factor of what each state shows, over actions that are not terminal. */
void structure_means(const structure *s, const double *numbers, double *mean);
/* Numbers of `scratch`, for the three below: all numbers, and five per state. */
static inline size_t structure_room(const structure *s)
{
  return s->sizes.states * (6 + s->sizes.actions * (s->sizes.states + s->sizes.observations));
}
/* Let states change places, inside their groups, so that their means rank as those of `opt_like`
 * do; NULL: in ascending order. */
void structure_order(const structure *s, const double *opt_like, double *numbers, double *scratch);
/* Let states change places, inside their groups, so that the numbers that are learnt are nearest to
 * one of several dynamics. Where more than 8 states are interchangeable, their means rank as those
 * of the first do. What comes out is the same for every order of the states of a group that goes
 * in. */
void structure_name(const structure *s, const idm_dynamics *const *like, size_t likes,
                    double *numbers, double *scratch);
/* Let states of any group change places, so that the numbers are as near to `like` as exchanges of
 * two states bring them. Returns whether any did: then the zeros of the structure are restored, and
 * the numbers are where a climb may begin. */
bool structure_relabel(const structure *s, const double *like, double *numbers, double *scratch);

#endif
