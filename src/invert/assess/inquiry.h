/* What every part of an assessment looks at. */
#ifndef IDM_INVERT_ASSESS_INQUIRY_H
#define IDM_INVERT_ASSESS_INQUIRY_H

#include "idm/assess.h"
#include "invert/matching/fit.h"

struct strata;
struct allowance;

/* Rows of the log that are run. */
typedef enum inquiry_rows {
  INQUIRY_ALL,
  INQUIRY_ANSWER, /* those that go by the draws of the answer */
  INQUIRY_MODEL   /* those of the model, and of modes that draws miss */
} inquiry_rows;

typedef struct inquiry {
  const fit *f;
  const idm_posterior *posterior;
  idm_assessment *assessment;
  size_t among;   /* answers that are judged together, each the more strictly; 1: this one alone */
  bool elsewhere; /* the answer does not come from the likelihood of the decisions, but from
                     programs, moments or preferences: their score is not 0 at its centre */
  const struct strata *people; /* each has numbers of their own (strata.h); NULL: one vector for
                                  all. The posterior is then that of the population, without
                                  `unconstrained` */
  bool learnt; /* the answer is over draws of learnt dynamics: those of the problem are no part of
                  it */
  size_t
      at; /* tests of the model are at this draw, counted from 1; 0: at that of highest density */
  bool fitted; /* the dynamics of the problem are fitted to the observations of the log */
  inquiry_rows rows;
  const struct allowance *opt_allowance; /* time limit of the checks; NULL: none */
} inquiry;

/* The unconstrained coordinates of draw i of all chains' draws. */
void idm_inquiry_draw(const inquiry *q, size_t i, double *y);
/* Those of the draw of highest density, or of the first where none has a density; of that which
 * the inquiry is at. */
void idm_inquiry_centre(const inquiry *q, double *y);
/* Coordinate c of a scalar item at draw i. */
double idm_inquiry_coordinate(const inquiry *q, const parameter *item, size_t i);

/* Whether the posterior mean of a quantity is judged: of those that are summarised all or, in a
 * population, the coefficients of its mean; of nested agents, whose posterior has no series, the
 * numbers of their cell. */
bool idm_inquiry_is_judged(const inquiry *q, size_t quantity);

/* Its name in a sentence: as spoken or, in a population, as in files. Returns buffer. */
const char *idm_inquiry_name(const inquiry *q, size_t quantity, char *buffer, size_t size);

/* How many draws to look at where each costs a plan on so many points, and draw k of them, spread
 * evenly over all. */
size_t idm_inquiry_sample(const inquiry *q, size_t points);
size_t idm_inquiry_sample_at(const inquiry *q, size_t k, size_t size);

/* Whether a row of the table of checks can be run on the answer; else why not is recorded. */
bool idm_inquiry_can_run(const inquiry *q, idm_check_id id);

#endif
