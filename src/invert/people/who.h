/* Who is who: the trajectories of a log divided among people. */
#ifndef IDM_INVERT_PEOPLE_WHO_H
#define IDM_INVERT_PEOPLE_WHO_H

#include "idm/data.h"

typedef struct idm_who {
  size_t people;
  idm_labels name;         /* [person], in the order in which they first appear */
  uint32_t *of_trajectory; /* [trajectory] */
} idm_who;

/* What a column is to people: a role of the log, or one of its covariates. */
typedef enum idm_who_kind { IDM_WHO_AGENT, IDM_WHO_TRAJECTORY, IDM_WHO_COVARIATE } idm_who_kind;
/* `agent` and `trajectory`, and the columns that alone play these roles, mean the roles. */
idm_who_kind idm_who_by(const idm_problem *problem, const char *by);

/* Divide by the agent, the trajectory, or a covariate that the data keep and that is the same in
 * all rows of a trajectory; else IDM_INPUT names the row. */
idm_status idm_who_create(const idm_problem *problem, const idm_data *data, const char *by,
                          idm_who *who, idm_error *opt_error);
void idm_who_clear(idm_who *who);

/* A covariate of the data by name, or the number of them. */
size_t idm_who_covariate(const idm_data *data, const char *name);
/* level[trajectory]: of a covariate, IDM_MISSING where no row has one. IDM_INPUT at the row where
 * it changes within a trajectory. */
idm_status idm_who_levels(const idm_data *data, size_t covariate, int32_t *level,
                          idm_error *opt_error);
/* Name of a trajectory, or its number from 1 into buffer. */
const char *idm_who_trajectory(const idm_data *data, size_t trajectory, char *buffer, size_t size);

#endif
