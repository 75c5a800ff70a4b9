/* The assessment of an answer: what every check reads, and checks of draws, chance and lattice.
 *
 * Contents: inquiry · checks · allowance · finding · sentence · given · higher mode · look ·
 * whole · lattice · matter · model · evidence · draws · pull */
#ifndef IDM_INVERT_ASSESS_INQUIRY_H
#define IDM_INVERT_ASSESS_INQUIRY_H

#include <stddef.h>

#include "idm/assess.h"
#include "idm/status.h"
#include "invert/check.h"
#include "invert/matching/fit.h"
#include "invert/matching/halt.h"

/* === inquiry ================================================================================ */

/* What every part of an assessment looks at. */

struct strata;
struct check_time_limit;

/* Rows of the log that are run. */
typedef enum check_selection {
  CHECKS_ALL,
  CHECKS_OF_DRAWS, /* those that go by the draws of the answer */
  CHECKS_OF_MODEL  /* those of the model, and of modes that draws miss */
} check_selection;

typedef struct check_context {
  const fit_context *f;
  const idm_posterior *posterior;
  idm_assessment *assessment;
  size_t among; /* answers that are judged together, each the more strictly; 1: this one alone */
  bool no_likelihood; /* the answer does not come from the likelihood of the decisions, but from
                     programs, moments or preferences: their score is not 0 at its centre */
  const struct strata *people; /* each has numbers of their own (residual.h); NULL: one vector for
                                  all. The posterior is then that of the population, without
                                  `unconstrained` */
  bool learnt; /* the answer is over draws of learnt dynamics: those of the problem are no part of
                  it */
  size_t
      at; /* tests of the model are at this draw, counted from 1; 0: at that of highest density */
  bool fitted; /* the dynamics of the problem are fitted to the observations of the log */
  check_selection rows;
  const struct check_time_limit *opt_time_limit; /* time limit of the checks; NULL: none */
} check_context;

/* The unconstrained coordinates of draw i of all chains' draws. */
void idm_context_draw(const check_context *q, size_t i, double *y);
/* Those of the draw of highest density, or of the first where none has a density; of that which
 * the inquiry is at. */
void idm_context_centre(const check_context *q, double *y);
/* Coordinate c of a scalar item at draw i. */
double idm_context_coordinate(const check_context *q, const parameter *item, size_t i);

/* Whether the posterior mean of a quantity is judged: of those that are summarised all or, in a
 * population, the coefficients of its mean; of nested agents, whose posterior has no series, the
 * numbers of their cell. */
bool idm_context_is_assessed(const check_context *q, size_t quantity);

/* Its name in a sentence: as spoken or, in a population, as in files. Returns buffer. */
const char *idm_context_quantity_name(const check_context *q, size_t quantity, char *buffer,
                                      size_t size);

/* How many draws to look at where each costs a plan on so many points, and draw k of them, spread
 * evenly over all. */
size_t idm_context_sample(const check_context *q, size_t points);
size_t idm_context_sample_at(const check_context *q, size_t k, size_t size);

/* Whether a row of the table of checks can be run on the answer; else why not is recorded. */
bool idm_context_can_run(const check_context *q, idm_check_id id);

/* === checks ================================================================================= */

/* Functions of the rows of the table of checks (idm/check.h). */

/* Measures, records in q->assessment->checks, and adds sentences to its notes. Rows of the log have
 * an open fit q->f, other rows none. What is not recorded is not run, for want of what the row
 * needs. */
typedef idm_status idm_check_function(const check_context *q, idm_error *opt_error);

#define DECLARE(id, function, ...) idm_check_function function;
#define IGNORE(...)
IDM_CHECK_LIST(DECLARE, IGNORE)
#undef DECLARE
#undef IGNORE

/* Run the rows of the log, or those that need none, in the order of the table. IDM_UNTRUSTED where
 * the watch stops it. */
idm_status idm_check_rows(const check_context *q, bool log, const idm_fit_monitor *opt_monitor,
                          idm_error *opt_error);
/* Whether a row of the log judges the model, or modes that draws miss. */
bool idm_check_is_of_model(idm_check_id id);
/* Settings of the fit that is opened to assess a posterior. */
idm_fit_settings idm_assess_settings(const idm_posterior *posterior, int threads);
/* The kind of answer that a posterior is. */
idm_check_kind idm_check_kind_of(const idm_posterior *posterior);
/* Whether it does not come from the likelihood of the decisions. */
bool idm_check_has_no_likelihood(const idm_posterior *posterior);

/* === allowance ============================================================================== */

/* The time limit of the checks that read the log. */

/* Checks run in order. Each may use half of the time that is left, all of the first 10 s, or one
 * second, whichever ends last: a long check leaves time for those after it, and short checks run
 * even after it. */
typedef struct check_time_limit {
  idm_cancel *cancel; /* of the fit that the checks evaluate; NULL: checks are not interrupted */
  double seconds; /* as idm_fit_monitor.check_seconds, by idm_seconds_worked: other processes on the
                     machine do not take from it */
  idm_timestamp started;
} check_time_limit;

/* The time starts now. */
check_time_limit idm_check_time_begin(double seconds, idm_cancel *opt_cancel);
/* Run a check of the log within the time limit of the inquiry. A check that does not end in time
 * leaves nothing behind but a row, or rows, that are not run, with the reason. */
idm_status idm_check_time_run(const check_context *q, idm_check_id id, idm_check_function *check,
                              idm_error *opt_error);
/* Within a check: whether its time is up, so that what it is doing is worthless. Then the row is
 * left out, and the check has another second for what remains of it. */
bool idm_check_time_skip(const check_context *q, idm_check_id id);

/* === finding ================================================================================ */

/* What an answer by the likelihood has in common with those that are not. */

/* Objective, certificate and policy into assessment->matched. */
idm_status idm_assess_matched(const check_context *q, idm_error *opt_error);

/* === sentence =============================================================================== */

/* What the data say of free numbers, in sentences, and the verdict on it. */

/* Write id->sentence from what stands in id. */
void idm_identification_sentence(const check_context *q, const parameter *item,
                                 idm_identification *id);

/* The verdict on what the data bound, and where free numbers without a name leave it open. */
void idm_assess_identification(const check_context *q);
void idm_assess_unnamed(const check_context *q);
/* Hold a point against the maximum of the likelihood, y, found without it: where the posterior is
 * higher there, the point is not the most probable one, and fails. */
void idm_assess_maximum(const check_context *q, const double *y, double log_likelihood);

/* === given ================================================================================== */

/* The verdict on an answer over draws of dynamics, by an answer given their mean. */

/* As idm_assess_monitored, of a posterior over draws of learnt dynamics. `problem` has the mean of
 * these dynamics, or of a cut the draw that describes the decisions best, and `given` is the
 * posterior of its free numbers. Rows that depend on the width
 * of the answer go by `posterior`, rows of the model and of modes by `given`, which is also
 * compared with the answer.
 *
 * The tests of the model keep their size though the mean is an estimate: where decisions and
 * observations inform a direction of the dynamics by I_d and I_o, the score of the decisions at the
 * mode of both has the variance I_d I_o / (I_d + I_o), which is below the I_d of replicates. */
idm_status idm_assess_given_mean(const idm_problem *problem, const idm_data *data,
                                 const idm_posterior *posterior, const idm_posterior *given,
                                 int threads, const idm_fit_monitor *opt_monitor,
                                 idm_assessment **ret_assessment, idm_error *opt_error);

/* === higher mode ============================================================================ */

/* How far draws of dynamics are below the highest mode that a search found. */

/* The log-likelihood `highest` of the best start less the highest that draws reach, given their
 * log-likelihoods x [chain][draw] and the mode `attained` from the best of them. */
idm_status idm_higher_mode_gap(const double *x, size_t chains, size_t draws, double highest,
                               double attained, double *ret_gap, idm_error *opt_error);

/* === look =================================================================================== */

/* An independent look at the posterior: do the draws represent it? */

void idm_importance_check_clear(idm_importance_check *look);

/* === whole ================================================================================== */

/* What a whole log bounds, where a part of it told what there is to bound. */

/* The assessment tells what the first trajectories bound, a `share` of all, with the maximum at y
 * and the covariance there: make it that of all of them. */
idm_status idm_identify_full_log(const check_context *q, const double *y, const double *covariance,
                                 double share, idm_error *opt_error);

/* === lattice ================================================================================ */

/* Whether the lattice matters. */

/* The verdict on what the lattices disagree about. */
void idm_assess_lattice(const check_context *q);

/* === matter ================================================================================= */

/* Free numbers that cannot matter: wherever they are within their prior, the log is as likely. */

/* Names each of them among the misfits, with the cure. */
idm_status idm_assess_effects(const check_context *q, uint64_t decisions, idm_error *opt_error);

/* === model ================================================================================== */

/* The model's half of the verdict: is it better than chance, does every free number matter, are the
 * agents alike, are the log's own summaries what it predicts? */

idm_status idm_assess_model(const check_context *q, idm_error *opt_error);
/* The row of the checks that a test is recorded in. */
idm_check_id idm_model_test_row(idm_model_test test);

/* === evidence =============================================================================== */

/* Bayes factor of the model with its prior against uniform choice. */

/* The mean, over draws of the prior, of the likelihood of the decisions over that of uniform choice
 * (log-likelihood `uniform`): the Bayes factor of the model against chance. NaN under an improper
 * prior. Where the decisions of an agent of the prior follow the model, the factor is below x with
 * a probability of at most x, however few they are (Markov's inequality, as the expectation of its
 * inverse is 1). */
idm_status idm_evidence_against_chance(const check_context *q, double uniform, double *ret_factor,
                                       idm_error *opt_error);

/* === draws ================================================================================== */

/* Checks of draws alone. */

/* The larger Pareto k of both tails of draws; NaN where they are too alike. */
idm_status idm_draws_shape(const double *x, size_t count, double *ret_shape, idm_error *opt_error);
/* Whether a quantity is one person's. */
bool idm_is_of_person(const idm_posterior *posterior, size_t quantity);
/* Whether the draws of one person's number are enough to read it (person-draws, person-r-hat).
 * Thousands of numbers are looked at, each read to a tenth of its sd. */
bool idm_person_draws_suffice(const idm_diagnosis *diagnosis, size_t chains);
/* Where chains of a quantity are at separate places: "1.2, 1.3 and 57", into buffer; false where
 * they are not. */
bool idm_chains_separate(const idm_posterior *posterior, size_t quantity, char *buffer,
                         size_t size);

/* === pull =================================================================================== */

/* How far a prior holds a posterior off what the data lead to. */

/* A number with a posterior of mean m and variance v, and a prior of mean M and variance s^2. */
typedef struct prior_pull {
  double conflict; /* (m - M) / sqrt(s^2 - v), without its sign: where the prior is right, m varies
                      with variance s^2 - v over logs (law of total variance) */
  double shift;    /* how far the prior moves the mean, in posterior sds: from where a normal
                      likelihood that leads to m and v has its maximum */
} prior_pull;

prior_pull idm_prior_pull(double mean, double variance, double prior_mean, double prior_variance);
/* The conflict where the prior moves the mean by more than one posterior sd, else 0: what the check
 * prior-pull compares with its threshold. */
double idm_prior_pull_value(const prior_pull *pull);
/* The sentence of a prior that holds a number off: `what` is the number, `by` what it contradicts
 * ("the data"). */
void idm_prior_pull_note(const prior_pull *pull, const char *what, const char *by,
                         idm_notes *notes);

#endif
