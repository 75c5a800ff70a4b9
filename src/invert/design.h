/* Design matrices of a population: who is a person, and the regressors of each person's numbers. */
#ifndef IDM_INVERT_DESIGN_H
#define IDM_INVERT_DESIGN_H

#include "base/door.h"
#include "invert/people.h"

/* A design as requested: the column that identifies people, and the formulas of the population
 * means. */
typedef struct idm_design_request {
  const char *by;           /* agent, trajectory, or a column of the log */
  const char *const *model; /* formulas such as "alpha, beta ~ drug * group + age" */
  size_t models;
} idm_design_request;

/* Names of the columns that a log must keep for a design (see idm_csv_options). *ret_columns is the
 * caller's. IDM_USAGE, with the place, for a formula that is not valid; IDM_USAGE without `by`. */
IDM_CHECKED idm_status idm_design_columns(const idm_problem *problem,
                                          const idm_design_request *request,
                                          idm_labels *ret_columns, idm_error *opt_error);
/* Give every free block a normal prior on an unbounded scale, as a population needs it. Another
 * proper prior is replaced by the normal of its mean and sd, with a note, where `population` of the
 * problem gives an sd and a coefficient for the block; else IDM_INPUT. Call it after the problem is
 * bound. */
IDM_CHECKED idm_status idm_population_set_priors(idm_problem *problem, idm_notes *opt_notes,
                                                 idm_error *opt_error);
/* Build the design of a log. Categories use treatment coding, with the first level in alphabetical
 * order as reference unless C(column, ref=level) names one; numbers are centred over people. A
 * column that varies within a person gives effects that vary by person. *ret_design is the
 * caller's. IDM_INPUT, with names, for effects that cannot be identified: a column without
 * variation, collinear regressors, empty cells. IDM_USAGE for a formula that is not valid. */
IDM_CHECKED idm_status idm_design_create(const idm_problem *problem, const idm_data *data,
                                         const idm_design_request *request, idm_design **ret_design,
                                         idm_notes *opt_notes, idm_error *opt_error);

#endif
