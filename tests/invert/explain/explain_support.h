/* Explanations of all rows of a log, and their means. */
#ifndef IDM_TESTS_INVERT_EXPLAIN_SUPPORT_H
#define IDM_TESTS_INVERT_EXPLAIN_SUPPORT_H

#include "support.h"

static inline idm_explanation *explain_rows(const idm_problem *problem, const idm_data *data)
{
  idm_explanation *e;
  check(idm_explain_log(problem, NULL, data, NULL, &e, NULL, &support_error));
  return e;
}

static inline double explained_mean(const idm_explanation *e, size_t row, idm_explain_part part,
                                    size_t i)
{
  return idm_explanation_interval(e, row, part, i).mean;
}

#endif
