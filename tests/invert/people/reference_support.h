/* Exact posterior of people with one free parameter, one cell and one intercept: likelihoods from a
 * table, people integrated out, mean and sd by quadrature. Independent of the code under test. */
#ifndef IDM_TESTS_INVERT_PEOPLE_REFERENCE_SUPPORT_H
#define IDM_TESTS_INVERT_PEOPLE_REFERENCE_SUPPORT_H

#include "support.h"

/* Log-likelihoods of agents with one free parameter, as a function of its coordinate. */
typedef struct reference_table {
  double low;
  double step;
  double *value; /* [person][point], owned */
} reference_table;

void reference_tabulate(const idm_problem *problem, const idm_data *data, double low, double high,
                        reference_table *table);
/* Log of the integral of a person's likelihood over a normal population, up to a constant. */
double reference_marginal(const reference_table *table, size_t person, double mean, double sd);

/* A distribution by masses on an even grid. */
typedef struct reference_law {
  double low;
  double step;
  size_t count;
  double *mass; /* [count]: at low + i step */
} reference_law;

/* A distribution on [low, high] without mass. */
reference_law reference_law_of(double low, double high, size_t count);
double reference_place(const reference_law *law, size_t i);
/* Scale the total mass to 1. */
void reference_normalise(reference_law *law);

typedef struct reference {
  reference_law mean;   /* of the population */
  reference_law sd;     /* of the population */
  reference_law person; /* parameter of the first person */
} reference;

/* Exact posterior of the agents of a log; the free parameter has the population prior of the
 * design. */
void reference_make(const idm_problem *problem, const idm_data *data, const idm_design *design,
                    reference *r);
void reference_free(reference *r);
/* Exact posterior of groups of people with one free parameter: an intercept and a pooled effect per
 * group, by quadrature over level, spread and sd, with people and groups integrated out. */
enum { REFERENCE_GROUPS = 3 };
typedef struct reference_groups {
  reference_law level;
  reference_law spread;
  reference_law sd;
  reference_law value; /* of the first group */
  double *log_group;   /* [sd][group][value]: people integrated out */
} reference_groups;

/* Agent i of the data is in group i % REFERENCE_GROUPS. Priors: level normal(centre, width), spread
 * and sd half-normal(width/2). */
void reference_groups_make(const idm_problem *problem, const idm_data *data, double centre,
                           double width, reference_groups *r);
void reference_groups_free(reference_groups *r);

double reference_mean(const reference_law *law);
double reference_sd(const reference_law *law);
/* Probability of a value below x. */
double reference_below(const reference_law *law, double x);

#endif
