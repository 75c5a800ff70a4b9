/* Whether the form of a regression over people is right: squares and products of its columns. */
#ifndef IDM_INVERT_PEOPLE_FORM_H
#define IDM_INVERT_PEOPLE_FORM_H

#include "idm/assess.h"
#include "idm/people.h"

/* Columns that an effect depends on: NULL where there is none; the second is NULL for a column by
 * itself. Borrowed from the design. */
typedef struct form_term {
  const char *first;
  const char *second;
} form_term;

/* Record the check form, with a misfit that names the effect and the columns where it fails; these
 * columns are *ret_term. Of an audit the misfit is in words of groups.
 *
 * Candidates are columns of the regression of another effect, and squares and products of two
 * columns, that are no combination of the effect's own. At one draw of the posterior the effects of
 * people are a sample of the population (Johnson 2007; see outlier.h), so that the coefficient of
 * one more column in the least squares of the effects, over its standard error, is Student's t. p
 * of a candidate is the median over the draws looked at, and that of all candidates Bonferroni's.
 * Without a candidate nothing is recorded. */
idm_status idm_judge_form(const idm_design *design, const idm_people *people,
                          idm_assessment *assessment, form_term *ret_term, idm_error *opt_error);

#endif
