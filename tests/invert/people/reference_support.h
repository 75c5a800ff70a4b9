/* Exact posterior of people with one free number, one cell and one intercept: likelihoods from a
 * table, people integrated out, mean and sd by quadrature. Plain, and of its own. */
#ifndef IDM_TESTS_INVERT_PEOPLE_REFERENCE_SUPPORT_H
#define IDM_TESTS_INVERT_PEOPLE_REFERENCE_SUPPORT_H

#include "support.h"

/* Log-likelihoods of agents with one free number, by its coordinate. */
typedef struct reference_table {
  double low;
  double step;
  double *value; /* [person][point], owned */
} reference_table;

void reference_tabulate(const idm_problem *problem, const idm_data *data, double low, double high,
                        reference_table *table);
/* log of the integral of a person's likelihood over a normal population, up to a constant. */
double reference_marginal(const reference_table *table, size_t person, double mean, double sd);

/* A quantity by its distribution function on an even grid. */
typedef struct reference_law {
  double low;
  double step;
  size_t count;
  double *mass; /* [count]: at low + i step */
} reference_law;

/* Of no mass yet, from low to high. */
reference_law reference_law_of(double low, double high, size_t count);
double reference_place(const reference_law *law, size_t i);
/* Make its mass 1. */
void reference_normalise(reference_law *law);

typedef struct reference {
  reference_law mean;   /* of the population */
  reference_law sd;     /* of the population */
  reference_law person; /* the first one's number */
} reference;

/* Data of agents, the free number being normal a priori with the design's numbers. */
void reference_make(const idm_problem *problem, const idm_data *data, const idm_design *design,
                    reference *r);
void reference_free(reference *r);
/* Exact posterior of groups of people with one free number: an intercept and a pooled effect a
 * group, by quadrature over level, spread and sd, people and groups integrated out. */
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
/* Probability of being below x. */
double reference_below(const reference_law *law, double x);

#endif
