/* Designs: from a log, a column that says who is who, and formulas to what people may depend on. */
#ifndef IDM_DESIGN_H
#define IDM_DESIGN_H

#include "idm/people.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What people are asked for: who they are, and what the population's mean of a block depends on. */
typedef struct idm_design_request {
  const char *by;           /* agent, trajectory, or a column of the log */
  const char *const *model; /* formulas such as "alpha, beta ~ drug * group + age" */
  size_t models;
} idm_design_request;

/* Columns that a log must keep for a design (see idm_csv_options), for the caller to free.
 * IDM_USAGE names the place in a formula that is none. */
IDM_API idm_status idm_design_columns(const idm_problem *problem, const idm_design_request *request,
                                      idm_labels *ret_columns, idm_error *opt_error);
/* People vary normally, so every free block needs a normal prior on a scale without ends. Another
 * proper prior is replaced by the normal of its mean and sd, with a note, where `population` of the
 * problem gives an sd and a coefficient for it; else IDM_INPUT. After the problem is bound. */
IDM_API idm_status idm_population_set_priors(idm_problem *problem, idm_notes *opt_notes,
                                             idm_error *opt_error);
/* The design of a log. Categories are coded by treatment, the reference first in the alphabet
 * unless C(column, ref=level) names it; numbers are centred over people. A column that varies
 * within a person makes effects of that person's own. IDM_INPUT names what cannot be told apart:
 * a column that is the same for all, regressors that are combinations of others, cells that are
 * empty; IDM_USAGE what is wrong in a formula. */
IDM_API idm_status idm_design_create(const idm_problem *problem, const idm_data *data,
                                     const idm_design_request *request, idm_design **ret_design,
                                     idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
