/* The population: coefficients, sds and correlations, with their priors. */
#ifndef IDM_INVERT_HIERARCHY_POPULATION_H
#define IDM_INVERT_HIERARCHY_POPULATION_H

#include "idm/people.h"

/* Numbers of a population in coordinates on the whole line: an sd is |root|, so that a half-normal
 * prior is normal and 0 no end; a correlation is built of partial correlations tanh(partial), which
 * under LKJ are independent (Lewandowski, Kurowicka and Joe 2009). */
typedef struct population {
  size_t coefficients; /* over all effects */
  size_t effects;
  size_t pairs;
  size_t spreads;  /* effects that have pooled coefficients: all, or none */
  size_t *first;   /* [effects + 1]: of each effect's coefficients */
  size_t numbers;  /* of them all: */
  double *number;  /* coefficients, roots, partials, spreads; then the factor */
  double *b;       /* [coefficients]; these point into `number` */
  double *root;    /* [effects] */
  double *partial; /* [pair]: of j > k at j (j - 1) / 2 + k */
  double *spread;  /* [spreads]: |spread| is the sd of an effect's pooled coefficients */
  double *factor;  /* [effects][effects]: lower triangular L, Sigma = L L' */
} population;

idm_status idm_population_create(const idm_design *design, population *p, idm_error *opt_error);
void idm_population_destroy(population *p);
/* Both of one design. */
void idm_population_assign(population *to, const population *from);
/* The factor that roots and partials make. */
void idm_population_build(population *p);
/* log det L. */
double idm_population_log_det(const population *p);
/* [pair]: correlations of the factor. */
void idm_population_correlations(const population *p, double *correlation);
/* W_i b: [effects]. */
void idm_population_mean(const idm_design *design, const population *p, size_t person,
                         double *mean);
/* The sd of coefficient a of effect j: of its prior or, where it is pooled, |spread|. */
double idm_population_coefficient_sd(const idm_design *design, const population *p, size_t j,
                                     size_t a);
/* Shape of the symmetric beta law of (1 + r) / 2, r the partial correlation of some effect and k
 * given those before k. */
double idm_population_pair_shape(const idm_design *design, size_t k);
/* Move the spread of an effect to another, and its pooled coefficients in proportion. */
void idm_population_respread(const idm_design *design, population *p, size_t effect, double spread);
/* log prior density of (b, root, partial, spread) up to a constant, pooled coefficients taken over
 * their spread. */
double idm_population_log_prior(const idm_design *design, const population *p);
/* log prior density of (coefficients, spreads, sds, correlation matrix), normalised. */
double idm_population_log_density(const idm_design *design, const population *p);

#endif
