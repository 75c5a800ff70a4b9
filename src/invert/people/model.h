/* What all chains share: the design, and the likelihood of a person, exact or roughly. */
#ifndef IDM_INVERT_PEOPLE_MODEL_H
#define IDM_INVERT_PEOPLE_MODEL_H

#include "invert/grid.h"
#include "invert/people/cells.h"

typedef struct people_model {
  const idm_design *design;
  idm_cells *cells;
  idm_grid *table; /* NULL: there is none, and nothing is rough */
  size_t *first;   /* [people + 1]: cells of each person */
  double *gram;    /* [coefficient][coefficient]: sums over people of products of regressors */
} people_model;

/* Takes the cells, also where it fails. */
idm_status idm_model_create(const idm_design *design, idm_cells *cells, people_model *model,
                            idm_error *opt_error);
void idm_model_destroy(people_model *model);

/* Free numbers of a cell at its person's effects: Z_c e. */
void idm_model_numbers(const idm_design *design, size_t cell, const double *e, double *x);
/* Log-likelihood of a person by the table. */
double idm_model_rough(const people_model *model, size_t person, const double *e);
idm_status idm_model_exact(const people_model *model, idm_judge *judge, size_t person,
                           const double *e, double *log_likelihood, idm_error *opt_error);
/* The box that holds the free numbers of everybody, wherever the prior believes them. */
void idm_model_prior_box(const people_model *model, double *low, double *high);

#endif
