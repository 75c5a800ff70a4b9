/* A small posterior and its assessment with fixed numbers, for tests of printed tables. */
#ifndef IDM_TESTS_CLI_ANSWER_SUPPORT_H
#define IDM_TESTS_CLI_ANSWER_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_support.h"

enum { ANSWER_DRAWS = 4 };

typedef struct answer {
  idm_posterior *posterior;
  idm_assessment *assessment;
} answer;

/* Makes one chain of four draws: 1 to 4 of the first quantity, 11 to 14 of the second, and so on.
 * All diagnoses have the same numbers except for the mean. Free with answer_close. */
static inline answer answer_open(const char *const *names, size_t count)
{
  answer a = {calloc(1, sizeof *a.posterior), calloc(1, sizeof *a.assessment)};
  assert_true(a.posterior && a.assessment);
  a.posterior->answer = a.assessment->answer = IDM_POSTERIOR;
  a.posterior->chains = 1;
  a.posterior->draws = ANSWER_DRAWS;
  support_names(&a.posterior->quantity, names, count);
  a.posterior->summarised = calloc(count, sizeof(bool));
  a.posterior->value = calloc(count * ANSWER_DRAWS, sizeof(double));
  a.assessment->quantities = count;
  a.assessment->diagnosis = calloc(count, sizeof(idm_diagnosis));
  for (size_t i = 0; i < count; i++) {
    a.posterior->summarised[i] = true;
    for (size_t k = 0; k < ANSWER_DRAWS; k++)
      a.posterior->value[i * ANSWER_DRAWS + k] = 10 * (double)i + 1 + (double)k;
    a.assessment->diagnosis[i] = (idm_diagnosis){.mean = 10 * (double)i + 2.5,
                                                 .sd = 0.5,
                                                 .mcse_mean = 0.01,
                                                 .q05 = 1,
                                                 .q50 = 2,
                                                 .q95 = 4,
                                                 .ess_bulk = 400,
                                                 .ess_tail = 300,
                                                 .rhat = 1.001};
  }
  return a;
}

static inline void answer_close(answer *a)
{
  idm_assessment_destroy(a->assessment);
  idm_posterior_destroy(a->posterior);
}

#endif
