/* Covariates: a column of a formula as numbers, by trajectory. */
#ifndef IDM_INVERT_PEOPLE_COVARIATE_H
#define IDM_INVERT_PEOPLE_COVARIATE_H

#include "invert/people/formula.h"
#include "invert/people/who.h"

/* A numeric column is one regressor, its numbers less their mean over people; a category is one a
 * level but the reference, 1 where it is met. */
typedef struct idm_covariate {
  bool category;
  bool within;     /* differs between trajectories of one person */
  size_t columns;  /* regressors */
  idm_labels name; /* [columns]: "age", "group[T.drug]" */
  double *value;   /* [columns][trajectory] */
  double sd;       /* of numbers: over people, or over people and what varies within; else 1 */
  int32_t *level;  /* [trajectory]: equal where the cells are */
} idm_covariate;

/* The column of a factor; `formula` is its text, for messages. */
idm_status idm_covariate_create(const idm_data *data, const idm_who *who, const idm_factor *factor,
                                const char *formula, idm_covariate *covariate, idm_notes *opt_notes,
                                idm_error *opt_error);
void idm_covariate_clear(idm_covariate *covariate);

#endif
