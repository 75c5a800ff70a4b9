/* The verdict on an answer: diagnostics of the draws, identification, sensitivity and tests of the
 * model; and the results of checks.
 *
 * Contents: assessment · results of checks */
#ifndef IDM_INVERT_ASSESS_H
#define IDM_INVERT_ASSESS_H

#include "base/arguments.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/posterior.h"
#include "idm/fit.h"
#include "infer/chains.h"
#include "invert/checks.h"
#include "invert/matching.h"

/* === assessment ============================================================================= */

/* The verdict on an answer: diagnostics of the draws, identification, sensitivity and tests of the
 * model. */

/* Most separate regions of a profile that are reported. */
enum { IDM_MAX_REGIONS = 4 };
/* Most points of a profile that are kept. */
enum { IDM_PROFILE_POINTS = 49 };

/* Identification of one free number by the data, from its profile log-likelihood (maximised over
 * the other free numbers). */
typedef struct idm_identification {
  size_t quantity;    /* index of the summarised quantity */
  double contraction; /* 1 - posterior variance / prior variance, in the coordinate of the prior;
                         NaN under an improper prior */
  double maximum;     /* the quantity at the maximum of the likelihood */
  double
      low; /* lower end of the 95 % profile interval (drop of 1.92), in the unit of the quantity; */
  double high;    /* upper end; the end of the scale on a side where the data do not bound it */
  size_t regions; /* number of regions within the drop, in ascending order */
  double region[IDM_MAX_REGIONS][2];
  size_t points; /* points of the profile: 0 where it took too many evaluations, or where only a
                    part of the log was used */
  double value[IDM_PROFILE_POINTS]; /* the quantity, ascending */
  double drop[IDM_PROFILE_POINTS];  /* profile less its maximum: at most 0, up to rounding */
  double limit[2];    /* natural value at the lower and at the upper end of the scale */
  double gap[2];      /* drop of the profile from its maximum to that end */
  bool proper[2];     /* the prior bounds that side */
  bool improper[2];   /* neither the prior nor the likelihood falls fast enough on that side for a
                         finite integral of the posterior */
  bool unchecked;     /* the search ended early: it took too many evaluations */
  char sentence[640]; /* summary for a report */
} idm_identification;

/* Sensitivity of the answer to a number that is held fixed. */
typedef struct idm_sensitivity {
  char name[2200];
  double value; /* mean over the variants of the setting */
  double step; /* 1 % of the size of the value; where the value is 0, of the range of the utilities,
                  of its inverse, or of a unit; for dynamics, the standard error given the
                  observations of the log */
  bool dynamics;      /* a probability of the start, the transition or the observation matrix */
  double *derivative; /* [quantity]: d posterior mean / d number, changed in every variant in
                         proportion */
} idm_sensitivity;

/* Tests of the model; each statistic has a known mean where the model is right. */
typedef enum idm_model_test {
  IDM_TEST_HOMOGENEITY,  /* agents' scores at the pooled answer: homogeneity of agents */
  IDM_TEST_TRAJECTORIES, /* scores of a trajectory's decisions by the scores before them: dependence
                            within trajectories */
  IDM_TEST_STEPS,        /* rates of the actions by step */
  IDM_TEST_LENGTHS,      /* lengths of trajectories: rates of ends by step */
  IDM_TEST_REPETITION,   /* rates of repeating an action, by the observation in between */
  IDM_TEST_ALTERNATION,  /* rates of returning to the action before the last, by the observation
                            after it */
  IDM_TEST_RESPONSES,    /* rates of the actions by the last observation */
  IDM_TEST_BELIEFS,      /* rates of the actions by the Bayesian belief */
  IDM_TEST_CONDITIONS,   /* rates of the actions by variant of the setting */
  IDM_TEST_AGENT_BANDS,  /* agents outside the 95 % band of their own rates of actions and
                            repetitions */
  IDM_TEST_CALIBRATION,  /* log-loss that recalibrated probabilities gain, in nats */
  IDM_TEST_EXTENSIONS,  /* score tests of fixed numbers, of drifts of free numbers, of a memory that
                           is reset in every trajectory, and of effects of earlier rows */
  IDM_TEST_ENVIRONMENT, /* score tests of the probabilities of the environment, from the
                           observations */
  IDM_TEST_COUNT
} idm_model_test;

typedef struct idm_model_test_result {
  bool evaluated;   /* the test was run */
  double statistic; /* HOMOGENEITY: effective number of parameters, trace(J H^-1); TRAJECTORIES:
                       largest sum of products of scores, in its sds; AGENT_BANDS: agents;
                       EXTENSIONS: largest score statistic over its own 99 % quantile; ENVIRONMENT:
                       square of the score over its variance, where p is least */
  double expected;  /* its mean where the model is right */
  double p;         /* p: probability of a value as extreme or more where the model is right */
} idm_model_test_result;

/* Score test of an extension of the model by one number. */
typedef struct idm_score_test {
  char name[128]; /* name of the fixed number; "drift of NAME within trajectories", "... over an
                     agent's trajectories", "... over the log's trajectories" or "... along a
                     history" for a free number, each also with "... and back", "... by odd and even
                     rows", or "NAME after a reward above 0", "... after 'win'"; "memory of single
                     trajectories"; "actions of the last rows", "last action, by its reward" etc.
                     for effects of earlier rows */
  double held;    /* its value in the fit of a fixed number; 0 for the others */
  double value; /* its value after one Newton step or, where the test is significant, in a fit with
                   it free. Drift: change of the coordinate from first to last, from the middle to
                   both ends, or from odd to even rows; after a reward or an observation: difference
                   from its value after others; memory: share of choices; earlier rows: weight in
                   log odds */
  double gain;  /* gain in log-likelihood at that value, in nats */
  double statistic; /* score^2 / information: approximately chi-square with one degree of freedom */
  double p;         /* p, adjusted for the number of extensions */
} idm_score_test;

/* Tests of the model, whatever the quality of the draws. */
typedef struct idm_model_check {
  bool evaluated;
  uint64_t decisions;
  double log_likelihood; /* of the decisions, at the draw of highest density */
  double uniform;        /* log-likelihood of uniform choice among the open actions */
  double rates;          /* log-likelihood of constant rates: the frequencies of the actions */
  size_t agents;
  double *between; /* [coordinate]: approximate sd between agents; NULL where not computed */
  idm_model_test_result test[IDM_TEST_COUNT];
  double level; /* a test fails below this p: IDM_CHECK_LEVEL over the number of tests */
  size_t extensions;
  idm_score_test *extension; /* [extensions]: those that were tested */
} idm_model_check;

/* Comparison of the draws with an importance sample independent of the MCMC draws. Arrays are by
 * unconstrained number; NULL where the sample was not drawn. */
enum { IDM_IMPORTANCE_MODES = 8 };
typedef struct idm_importance_check {
  size_t points;    /* points of the importance sample; 0: it was not drawn */
  double effective; /* effective sample size of the points */
  bool checked;     /* the effective sample size is large enough for a comparison */
  size_t modes;     /* number of modes found, separated by regions of low density */
  bool chance;      /* means or sds differ, by no more than the Monte Carlo error of the draws could
                       explain: more steps per draw would decide */
  double missed;    /* share of the posterior around the mode that the draws miss most */
  double higher;    /* log density of the highest mode less that of the highest draw */
  size_t numbers;
  double *mean;         /* [number]: mean by importance sampling */
  double *sd;           /* [number]: sd by importance sampling */
  double *shift;        /* [number]: mean of the draws less `mean`, in units of `sd` */
  double *shift_error;  /* [number]: standard error of `shift` */
  double *spread;       /* [number]: sd of the draws over `sd` */
  double *spread_error; /* [number]: standard error of its logarithm */
} idm_importance_check;

/* Verdict on the numbers of one person. */
typedef enum idm_person_verdict {
  IDM_PERSON_IDENTIFIED,
  IDM_PERSON_POPULATION_DRIVEN, /* the population determines more than the person's own decisions */
  IDM_PERSON_PRIOR_DRIVEN,      /* the prior determines more than the person's own decisions */
  IDM_PERSON_CHANCE,            /* predictions no better than uniform choice */
  IDM_PERSON_MISFIT,            /* the model does not describe the decisions */
  IDM_PERSON_FAILED,            /* no fit, or draws that are not trusted */
  IDM_PERSON_POINT,             /* a point without a measure of uncertainty */
  IDM_PERSON_UNCHECKED,         /* as identified, but some checks were not run */
  IDM_PERSON_VERDICTS
} idm_person_verdict;

/* One of several people, each with its own numbers. */
typedef struct idm_person {
  size_t trajectories;
  uint64_t decisions;
  double log_loss;         /* mean -log pi(u|z) per decision, in nats */
  double uniform_log_loss; /* the same for uniform choice among the open actions */
  /* [series along people]: share of the estimate that the person's own decisions determine. In
   * separate fits: the contraction, 1 - posterior variance / prior variance. In a population: 1 -
   * shrinkage = Var(x - m) / E sd^2, where x - m is the deviation of the person from the population
   * mean (Gelman and Pardoe 2006: pooling factor). */
  double *own;
  bool unchecked; /* no independent importance sample could be compared with the draws */
  bool absent;    /* the fit failed, and the person is not along the axis */
  idm_person_verdict verdict;
  char reason[400]; /* why the person is not identified; may be empty */
} idm_person;

typedef struct idm_assessment {
  idm_estimate_kind answer;
  size_t quantities;
  idm_diagnosis *diagnosis; /* [quantity]; over several draws of dynamics, R-hat is the largest over
                               these draws, effective sample sizes are summed */
  double *between; /* [quantity]: share of the variance between draws of dynamics; NULL: there are
                      none */
  long divergences;
  double ebfmi; /* least E-BFMI over chains; NaN where there is no energy */

  /* Results of checks that read the log; all are absent where `identified` is false. */
  bool identified;
  double log_likelihood; /* at its maximum */
  size_t parameters;
  idm_identification *parameter;
  double ridge;         /* least eigenvalue of the posterior correlations; 1 for one parameter */
  char *ridge_sentence; /* NULL where there is no ridge */
  int resolution; /* resolution of the lattice; 0 where there is none, or nothing to compare */
  int finer;      /* finer resolution for comparison; 0: none within the limits */
  double
      finer_change; /* largest |log-likelihood at finer - at resolution| over the draws compared */
  double *finer_shift; /* [quantity]: shift of the posterior mean, in posterior sds, that a doubled
                          resolution would cause */
  double finer_share;  /* effective share of the draws compared, given their importance weights */
  double finer_error;  /* standard error of those shifts where a function fitted to few draws gives
                          them; else NaN */
  idm_refinement refinement; /* how the lattice of a run was chosen; no steps: it was given */
  size_t sensitivities;
  idm_sensitivity *sensitivity;

  idm_importance_check importance;
  idm_model_check model;

  size_t people;          /* 0 where the answer has no people */
  bool fitted_separately; /* each person was fitted and assessed separately */
  bool interrupted;       /* the fits of some people were stopped */
  idm_labels person_name;
  idm_person *person;

  idm_optimality *optimality; /* of an answer without a likelihood; NULL elsewhere */
  idm_optimality
      *matched; /* of an answer by the likelihood: its objective, -log-likelihood at the centre; for
                   draws, R-hat of the worst number as certificate (none for a point); where states
                   are observed, the policy at the centre. NULL where the log was not read again */

  idm_checks
      checks; /* by row of the table: which checks ran, which did not and why, and their results */
  bool trusted;       /* neither the draws nor the model fail */
  idm_notes failures; /* why the draws fail, and what to do */
  idm_notes misfits;  /* why the model fails */
  idm_notes remarks;  /* remarks that do not affect trust */
} idm_assessment;

/* Assess an answer by the diagnostics of its draws alone. *ret_assessment is the caller's, to be
 * freed with idm_assessment_destroy; NULL after an error. */
IDM_CHECKED idm_status idm_assess_draws(const idm_posterior *posterior,
                                        idm_assessment **ret_assessment, idm_error *opt_error);
/* Name of a test of the model, as in summary.json; NULL past the last. */
IDM_CHECKED const char *idm_model_test_name(idm_model_test test);
/* idm_assess in a given problem, with a monitor. opt_monitor->progress is called before each check
 * and can stop the assessment: the status is then IDM_UNTRUSTED. */
IDM_CHECKED idm_status idm_assess_monitored(const idm_problem *problem, const idm_data *data,
                                            const idm_posterior *posterior, int threads,
                                            const idm_fit_monitor *opt_monitor,
                                            idm_assessment **ret_assessment, idm_error *opt_error);
/* Number of steps per draw with which a posterior should be drawn again and assessed again (field
 * `again` of idm_fit_settings). It is positive where the draws differ from the independent
 * importance sample by no more than their Monte Carlo error could explain: four times the current
 * number, up to sixteen times the default of the sampler. Returns 0 where they do not differ, where
 * they differ by more, or where the sampler or `thin` leave no choice. */
IDM_CHECKED long idm_assess_redraw_thin(const idm_fit_settings *settings,
                                        const idm_posterior *posterior,
                                        const idm_assessment *assessment);
/* Name of a verdict: "identified", "population-driven", "prior-driven", "chance", "misfit",
 * "failed", "point", "unchecked"; NULL past the last. */
IDM_CHECKED const char *idm_person_verdict_name(idm_person_verdict verdict);
/* Add a note, with the reason, for each free number that has no effect on the likelihood whatever
 * the log; usable before a fit. */
IDM_CHECKED void idm_assess_note_inert(const idm_problem *problem, idm_notes *opt_notes);
/* Section of the printed output that explains the verdict, as in "see MODEL above"; "" where there
 * is none. */
IDM_CHECKED const char *idm_assessment_section(const idm_assessment *assessment);
/* Whether a tail is too heavy for stable estimates of mean and sd, by the threshold of the check
 * sd-exists. Tables then print only the median and the interval. */
IDM_CHECKED bool idm_diagnosis_heavy_tailed(const idm_diagnosis *diagnosis);

/* === results of checks ====================================================================== */

/* Results of checks: recorded by the functions that measure, read by those that report. */

/* Resets the results: every row that applies to the kind is "not run", with what it needs as the
 * reason. */
void idm_checks_begin(idm_checks *checks, idm_check_kind kind);
/* true if a value is within the threshold of the check. NaN is not; every value is if the check has
 * no threshold. */
bool idm_check_passes(idm_check_id id, double value);
/* Merges an outcome and a value: the results keep the worst of each. A NaN leaves the value
 * unchanged. */
void idm_check_record(idm_checks *checks, idm_check_id id, idm_check_outcome outcome, double value);
/* Records a value with the outcome that the threshold gives; returns true if it is beyond the
 * threshold. */
bool idm_check_test(idm_checks *checks, idm_check_id id, double value);
/* The same for an optional value: a NaN is not recorded and returns false. */
bool idm_check_test_optional(idm_checks *checks, idm_check_id id, double value);
/* Records an outcome; returns the list of notes of the assessment that its sentence belongs to. */
idm_notes *idm_check_note(idm_assessment *assessment, idm_check_id id, idm_check_outcome outcome);
/* Notes a part of the answer that a completed check does not cover. No effect on a check that did
 * not run. */
void idm_check_add_exception(idm_checks *checks, idm_check_id id, const char *format, ...)
    IDM_PRINTF(3, 4);
/* Records why a check was not run. No effect on a check that ran. */
void idm_check_skip(idm_checks *checks, idm_check_id id, const char *format, ...) IDM_PRINTF(3, 4);
/* Records the same reason for every check of the log that was not run. */
void idm_checks_skip_log(idm_checks *checks, const char *why);
/* Records that a check is left out because of a limit of `seconds` (idm_fit_monitor.check_seconds;
 * negative: --checks none). Its recorded results are dropped. */
void idm_check_leave_out(idm_checks *checks, idm_check_id id, double seconds);
/* Records that a check is left out for a reason other than a limit: it cannot be run here. */
void idm_check_mark_unavailable(idm_checks *checks, idm_check_id id, const char *why);
/* Adds a remark that lists the checks that were left out, if any. */
void idm_checks_remark_left_out(const idm_checks *checks, idm_notes *remarks);
/* Merges the results of a part of the answer, such as a person or a group: the worst outcome and
 * value of each row, where a misfit of the part counts as `misfit`. The result does not depend on
 * the order of the parts, and merging a part twice has no effect. */
void idm_checks_merge(idm_checks *checks, const idm_checks *part, idm_check_outcome misfit);
/* Whether an answer is trusted: it has no failures, no misfits, and no row fails. Where rows fail
 * and the list that explains them is empty, a note per row is added: what it measured, and its
 * remedy. */
bool idm_checks_conclude(const idm_checks *checks, idm_notes *failures, idm_notes *misfits);
/* The same for an assessment: sets `trusted`. */
void idm_assessment_conclude(idm_assessment *assessment);

#endif
