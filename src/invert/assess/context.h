/* Assessment of an answer: the context of the checks, the checks of draws, chance and lattice, and
 * profile likelihoods.
 *
 * Contents: context · checks · time limit · sentence · mean dynamics · higher mode ·
 * importance check · full log · lattice · effects · model · evidence · draws · prior pull ·
 * profile · region · bound */
#ifndef IDM_INVERT_ASSESS_CONTEXT_H
#define IDM_INVERT_ASSESS_CONTEXT_H

#include <stddef.h>

#include "idm/status.h"
#include "invert/assess.h"
#include "invert/cancel.h"
#include "invert/matching/fit.h"

/* === context ================================================================================ */

/* Context shared by all checks of an assessment. */

struct strata;
struct check_time_limit;

/* Rows of the table of checks that are run on the log. */
typedef enum check_selection {
  CHECKS_ALL,
  CHECKS_OF_DRAWS, /* rows that depend on the draws of the answer */
  CHECKS_OF_MODEL  /* rows of the model, and of modes that draws miss */
} check_selection;

typedef struct check_context {
  const fit_context *f;
  const idm_posterior *posterior;
  idm_assessment *assessment;
  size_t among; /* number of answers that are judged together, each at a stricter level; 1: this one
                   alone */
  bool no_likelihood; /* the answer does not come from the likelihood of the decisions, but from
                         programs, moments or preferences: the score is not 0 at its centre */
  const struct strata
      *people; /* strata with their own numbers (residual.h); NULL: one vector for all. If set, the
                  posterior is that of the population, without `unconstrained` */
  bool learnt; /* the answer is over draws of learnt dynamics, which replace those of the problem */
  size_t at; /* tests of the model use this draw, counted from 1; 0: the draw of highest density */
  bool fitted; /* the dynamics of the problem are fitted to the observations of the log */
  check_selection rows;
  const struct check_time_limit *opt_time_limit; /* time limit of the checks; NULL: none */
} check_context;

/* Store the unconstrained coordinates of draw i of all chains' draws in y. */
void idm_context_draw(const check_context *q, size_t i, double *y);
/* Store the coordinates at which the model is tested in y: of draw `at`, or of the draw of highest
 * density, or of the first if no draw has a density. */
void idm_context_centre(const check_context *q, double *y);
/* Coordinate c of a scalar item at draw i. */
double idm_context_coordinate(const check_context *q, const parameter *item, size_t i);

/* Whether the posterior mean of a quantity is checked: of all summarised quantities or, in a
 * population, of the coefficients of its mean; of nested agents, whose posterior has no series, of
 * the numbers of their cell. */
bool idm_context_is_assessed(const check_context *q, size_t quantity);

/* The name of a quantity in a sentence: its label or, in a population, its name in files. Returns
 * buffer. */
const char *idm_context_quantity_name(const check_context *q, size_t quantity, char *buffer,
                                      size_t size);

/* Number of draws to evaluate if each requires plans at `points` points, and the index of draw k of
 * them, spread evenly over all. */
size_t idm_context_sample(const check_context *q, size_t points);
size_t idm_context_sample_at(const check_context *q, size_t k, size_t size);

/* Whether a row of the table of checks can be run on the answer; if not, the reason is recorded. */
bool idm_context_can_run(const check_context *q, idm_check_id id);

/* === checks ================================================================================= */

/* Functions of the rows of the table of checks (invert/checks.h). */

/* Measures, records in q->assessment->checks, and adds sentences to its notes. Rows that read the
 * log have an open fit q->f, other rows none. A row that is not recorded counts as not run because
 * its requirements are missing. The verdict follows from rows and notes (idm_checks_conclude). */
typedef idm_status idm_check_function(const check_context *q, idm_error *opt_error);

#define DECLARE(id, function, ...) idm_check_function function;
#define IGNORE(...)
IDM_CHECK_LIST(DECLARE, IGNORE)
#undef DECLARE
#undef IGNORE

/* Run the rows that read the log, or the rows that do not, in the order of the table. Returns
 * IDM_UNTRUSTED if the monitor stops it. The caller concludes: idm_assessment_conclude. */
idm_status idm_check_rows(const check_context *q, bool log, const idm_fit_monitor *opt_monitor,
                          idm_error *opt_error);
/* Whether a row that reads the log tests the model, or modes that draws miss. */
bool idm_check_is_of_model(idm_check_id id);
/* Settings of the fit that is opened to assess a posterior. */
idm_fit_settings idm_assess_settings(const idm_posterior *posterior, int threads);
/* The kind of answer of a posterior. */
idm_check_kind idm_check_kind_of(const idm_posterior *posterior);
/* Whether the answer does not come from the likelihood of the decisions. */
bool idm_check_has_no_likelihood(const idm_posterior *posterior);

/* === time limit ============================================================================= */

/* The time limit of the checks that read the log. */

/* Checks run in order. Each may use half of the remaining time, all of the first 10 s, or one
 * second, whichever ends last: a long check leaves time for those after it, and short checks run
 * even after it. */
typedef struct check_time_limit {
  idm_cancel *cancel; /* of the fit that the checks evaluate; NULL: checks are not interrupted */
  double seconds;     /* as idm_fit_monitor.check_seconds, measured by idm_seconds_worked, which
                         excludes the time of other processes */
  idm_timestamp started;
} check_time_limit;

/* Create a time limit that starts now. */
check_time_limit idm_check_time_begin(double seconds, idm_cancel *opt_cancel);
/* Run a check of the log within the time limit. If a check exceeds its time, its notes and results
 * are removed, and its rows are recorded as not run, with the reason. */
idm_status idm_check_time_run(const check_context *q, idm_check_id id, idm_check_function *check,
                              idm_error *opt_error);
/* Within a check: whether its time is over. If so, the row `id` is recorded as left out, and the
 * check has another second for its remaining work. */
bool idm_check_time_skip(const check_context *q, idm_check_id id);

/* === sentence =============================================================================== */

/* Sentences on the identification of free numbers, and their part of the verdict. */

/* Write id->sentence from the other fields of id. */
void idm_identification_sentence(const check_context *q, const parameter *item,
                                 idm_identification *id);

/* Add the verdict on what the data bound, and on free numbers without a name. */
void idm_assess_identification(const check_context *q);
void idm_assess_unnamed(const check_context *q);
/* Compare a point with the maximum of the likelihood y, found independently of it: the point fails
 * if the posterior at y is higher. */
void idm_assess_maximum(const check_context *q, const double *y, double log_likelihood);

/* === mean dynamics ========================================================================== */

/* Assessment of an answer over draws of dynamics, by an answer given their mean. */

/* As idm_assess_monitored, of a posterior over draws of learnt dynamics. `problem` has the mean of
 * these dynamics, or of a cut the draw that describes the decisions best; `given` is the posterior
 * of its free numbers. Rows that depend on the width of the answer use `posterior`; rows of the
 * model and of modes use `given`, which is also compared with the answer.
 *
 * The tests of the model keep their size although the mean is an estimate: if decisions and
 * observations have information I_d and I_o on a direction of the dynamics, the score of the
 * decisions at the joint mode has the variance I_d I_o / (I_d + I_o), which is below the variance
 * I_d of replicates. */
idm_status idm_assess_given_mean(const idm_problem *problem, const idm_data *data,
                                 const idm_posterior *posterior, const idm_posterior *given,
                                 int threads, const idm_fit_monitor *opt_monitor,
                                 idm_assessment **ret_assessment, idm_error *opt_error);

/* === higher mode ============================================================================ */

/* Distance of draws of dynamics below the highest mode that a search found. */

/* Compute the log-likelihood `highest` of the best start less the highest that draws reach, given
 * their log-likelihoods x [chain][draw] and the mode `attained` by a search from the best of them.
 */
idm_status idm_higher_mode_gap(const double *x, size_t chains, size_t draws, double highest,
                               double attained, double *ret_gap, idm_error *opt_error);

/* === importance check ======================================================================= */

/* Comparison of the draws with an independent importance sample of the posterior
 * (docs/method/verdict.md, 2). */

void idm_importance_check_clear(idm_importance_check *importance);

/* === full log =============================================================================== */

/* Profile intervals of a whole log from those of a part of its trajectories. */

/* Given an assessment of a `share` of the trajectories, with the maximum of the likelihood of the
 * part at y and the covariance there, replace its intervals by those of all trajectories. */
idm_status idm_identify_full_log(const check_context *q, const double *y, const double *covariance,
                                 double share, idm_error *opt_error);

/* === lattice ================================================================================ */

/* Sensitivity of the answer to the resolution of the lattice (docs/method/verdict.md, 4). */

/* Add the verdict on the difference between the lattices. */
void idm_assess_lattice(const check_context *q);

/* === effects ================================================================================ */

/* Free numbers without effect: the likelihood of the log is constant over their prior. */

/* Add a misfit for each of them, with the remedy. */
idm_status idm_assess_effects(const check_context *q, uint64_t decisions, idm_error *opt_error);

/* === model ================================================================================== */

/* Tests of the model: prediction better than chance, effects of free numbers, homogeneity of
 * agents, and summaries of the log against their predictions. */

idm_status idm_assess_model(const check_context *q, idm_error *opt_error);
/* The row of the checks in which a test is recorded. */
idm_check_id idm_model_test_row(idm_model_test test);

/* === evidence =============================================================================== */

/* Bayes factor of the model with its prior against uniform choice. */

/* Compute the mean, over draws of the prior, of the likelihood of the decisions over that of
 * uniform choice (log-likelihood `uniform`): the Bayes factor of the model against chance. NaN
 * under an improper prior. If the decisions of an agent drawn from the prior follow the model, the
 * factor is below x with a probability of at most x, for any number of decisions (Markov's
 * inequality, since the expectation of its inverse is 1). */
idm_status idm_evidence_against_chance(const check_context *q, double uniform, double *ret_factor,
                                       idm_error *opt_error);

/* === draws ================================================================================== */

/* Checks of draws alone (docs/method/verdict.md, 1). */

/* Compute the larger Pareto k of the two tails of draws; NaN if the draws have too few distinct
 * values. */
idm_status idm_draws_shape(const double *x, size_t count, double *ret_shape, idm_error *opt_error);
/* Whether a quantity belongs to one person. */
bool idm_is_of_person(const idm_posterior *posterior, size_t quantity);
/* Whether the draws of one person's number suffice (person-draws, person-r-hat). The thresholds are
 * lower than for other numbers, since there may be thousands: each is read to a tenth of its sd. */
bool idm_person_draws_suffice(const idm_diagnosis *diagnosis, size_t chains);
/* Print the means of the chains, "1.2, 1.3 and 57", into buffer. Returns whether chains of the
 * quantity are at separate modes. */
bool idm_chains_separate(const idm_posterior *posterior, size_t quantity, char *buffer,
                         size_t size);

/* === prior pull ============================================================================= */

/* Conflict of a prior with the data, and its effect on the posterior. */

/* A number with a posterior of mean m and variance v, and a prior of mean M and variance s^2. */
typedef struct prior_pull {
  double conflict; /* |m - M| / sqrt(s^2 - v): if the prior is right, m varies with variance s^2 - v
                      over logs (law of total variance) */
  double shift; /* shift of the mean by the prior, in posterior sds, from the maximum of the normal
                   likelihood that implies m and v */
} prior_pull;

prior_pull idm_prior_pull(double mean, double variance, double prior_mean, double prior_variance);
/* The conflict if the prior shifts the mean by more than one posterior sd, else 0: compared with
 * the threshold of the check prior-pull. */
double idm_prior_pull_value(const prior_pull *pull);
/* Add a note on a prior that contradicts the data: `what` is the number, `by` the source that the
 * prior contradicts ("the data"). */
void idm_prior_pull_note(const prior_pull *pull, const char *what, const char *by,
                         idm_notes *notes);

/* === profile ================================================================================ */

/* The profile log-likelihood: the maximum over the other free numbers with one fixed. It is a
 * function of the problem and the log only; it does not depend on draws or seeds. */

/* Drop of the profile at the ends of a 95 % interval (half a chi-square quantile). */
static const double idm_profile_drop = 1.92;
/* Largest distance of a search, as a multiple of a number's unit, and the inverse of the smallest;
 * beyond it the number is treated as at its limit. */
static const double idm_profile_range = 1e4;

/* Range in which a coordinate of y is searched. */
typedef struct search_window {
  double low;
  double high;
  double unit; /* natural step size of a search */
} search_window;

/* A point of a profile. */
typedef struct profile_point {
  double value; /* of the fixed coordinate */
  double log_likelihood;
  double *y; /* [dimension] */
} profile_point;

typedef struct profile {
  const fit_context *f;
  idm_matching *matching; /* owned by this profile alone */
  size_t dimension;
  size_t fixed;     /* the fixed coordinate; dimension: none */
  bool at_limit;    /* a number is held at its limit: heights are not functions of y alone */
  bool with_priors; /* heights include the proper priors of the other numbers */
  double ceiling;   /* larger heights are reported as this one, so that a search can end early */
  bool frugal;      /* an evaluation takes long: use fewer starts and shorter searches */
  long left;        /* evaluations left for searches */
  const search_window *windows; /* [dimension] */
  const double *step;           /* [dimension]: a step over which the likelihood changes */
  size_t known_points;          /* good points found before, the best first: */
  const profile_point *known_point;
  profile_point best;    /* the maximum of the likelihood */
  profile_point highest; /* the highest point seen */
  double *path;          /* [dimension]: change of the other numbers per unit of the fixed one */
  double
      *precision_factor; /* [n][n]: Cholesky factor of minus the Hessian by the n other numbers at
                            the maximum; searches use the coordinates z = root' (others - start) */
  double *y;             /* scratch, [dimension] each */
  double *gradient;
  double *nuisance;
  double *origin; /* of z */
  double *z;
  double *unit_step;      /* of z */
  profile_point start[2]; /* the two best starts of the next search */
} profile;

/* Whether a window holds values, not logarithms of values. */
bool idm_window_is_linear(const search_window *w);
/* If a value is outside a window, or within a tenth of its range of an end, extend that end by a
 * factor of idm_profile_range, repeatedly: a peak near the end would be taken for a limit. */
void idm_window_extend(search_window *w, double value);
/* Compute the windows of all coordinates. */
void idm_profile_windows(const fit_context *f, search_window *windows);

idm_status idm_profile_create(const fit_context *f, idm_matching *matching, profile **ret_profile,
                              idm_error *opt_error);
void idm_profile_destroy(profile *p);
/* Fix a coordinate, or none (dimension); minus the Hessian at the maximum gives the path of the
 * other numbers and their scales. */
void idm_profile_fix(profile *p, size_t fixed, const double *precision);

/* Log-likelihood at y; -INFINITY where y is outside the windows by more than half their width. */
idm_status idm_profile_evaluate(profile *p, const double *y, double *log_likelihood,
                                idm_error *opt_error);
/* Maximise from `at` over all coordinates but the fixed one. */
idm_status idm_profile_maximise(profile *p, profile_point *at, idm_error *opt_error);
/* Compute the profile at to->value by a search from the best of the points that a neighbour on
 * either side, the path and the known points suggest. */
idm_status idm_profile_at(profile *p, const profile_point *opt_inner,
                          const profile_point *opt_outer, profile_point *to, idm_error *opt_error);

/* Move from a local maximum over the other numbers to a higher one, if a coarse scan along each of
 * them finds one. */
idm_status idm_profile_escape(profile *p, profile_point *at, idm_error *opt_error);

/* Allocate an array of points with their y; release with free(). Returns NULL without memory. */
profile_point *idm_profile_points_create(size_t count, size_t dimension);
void idm_profile_point_copy(const profile_point *from, size_t dimension, profile_point *to);

/* === region ================================================================================= */

/* Regions in which the profile of one free number is within the drop of its maximum: one interval,
 * or several. */

/* A scan over the window of a coordinate, in ascending order of values, and its regions. */
typedef struct scan {
  size_t count;
  size_t capacity;
  profile_point *profile_point; /* [capacity] */
  size_t regions;
  double region[IDM_MAX_REGIONS][2]; /* ends, in the coordinate; infinite if unbounded */
} scan;

/* Whether a value is in one of `count` regions, end[count][2], up to rounding; the two ends may be
 * in either order. */
bool idm_regions_contain(size_t count, const double *end, double value);

idm_status idm_scan_create(size_t dimension, scan *s, idm_error *opt_error);
void idm_scan_destroy(scan *s);
/* Scan the whole window of coordinate p->fixed. */
idm_status idm_scan_run(profile *p, bool fine, scan *s, idm_error *opt_error);
/* Compute the regions from the scan and from further points (such as draws); a further point
 * outside all regions is examined if its height is within the drop. */
idm_status idm_scan_regions(profile *p, const profile_point *extra_points, size_t count, scan *s,
                            idm_error *opt_error);

/* === bound ================================================================================== */

/* What the data bound of one free number: the fall of its profile towards its limits, its regions
 * within the drop of the maximum, and the contraction of the posterior relative to the prior. */

/* Fill in id, including its sentence, from the regions of a scan. The profile, of q's fit, is fixed
 * at the item and holds the maximum of the likelihood. */
idm_status idm_profile_bounds(const check_context *q, const parameter *item, profile *p,
                              const scan *s, idm_identification *id, idm_error *opt_error);

#endif
