/* The verdict on an answer: diagnostics of the draws, and what the data say. */
#ifndef IDM_ASSESS_H
#define IDM_ASSESS_H

#include "idm/check.h"
#include "idm/data.h"
#include "idm/diagnostics.h"
#include "idm/posterior.h"
#include "idm/refine.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Separate regions of a profile that are told apart. */
enum { IDM_MAX_REGIONS = 4 };
/* Points of a profile that are kept. */
enum { IDM_PROFILE_POINTS = 49 };

/* What the data say of one free number. The profile log-likelihood maximises over the others. */
typedef struct idm_identification {
  size_t quantity;    /* index of the quantity that is summarised */
  double contraction; /* 1 - posterior variance / prior variance, in the coordinate of the prior;
                         NaN under an improper prior */
  double maximum;     /* the quantity at the maximum of the likelihood */
  double low;     /* ends of the 95 % profile interval (drop of 1.92), in the quantity's unit; */
  double high;    /* the end of the scale where the data do not bound it */
  size_t regions; /* where the profile is within the drop, in ascending order */
  double region[IDM_MAX_REGIONS][2];
  size_t points; /* of the profile: 0 where it took too many evaluations, or a part stood for the
                    log */
  double value[IDM_PROFILE_POINTS]; /* ascending: of the quantity */
  double drop[IDM_PROFILE_POINTS];  /* the profile less its maximum: at most 0, but for rounding */
  double limit[2];                  /* natural value at either end of the scale: below, above */
  double gap[2];                    /* how far the profile falls from its maximum to that limit */
  bool proper[2];                   /* the prior bounds that side */
  bool improper[2];   /* neither does the prior, nor does the likelihood fall so that the posterior
                         has   a finite integral */
  bool unchecked;     /* the search was cut short: it took too many evaluations */
  char sentence[640]; /* to be quoted */
} idm_identification;

/* How the answer moves with a number that was held. */
typedef struct idm_sensitivity {
  char name[2200];
  double value; /* the mean over variants of the setting */
  double step; /* 1 % of its size; where it is 0 of the utilities' range, its inverse, or a unit; of
                  dynamics the standard error that the observations of the log leave */
  bool dynamics;      /* a probability of the start, a transition or an observation */
  double *derivative; /* [quantity]: d posterior mean / d number, moved in every variant in
                         proportion */
} idm_sensitivity;

/* A test of the model, with what is expected of it where the model is right. */
typedef enum idm_model_test {
  IDM_TEST_HOMOGENEITY,  /* the agents' scores at the pooled answer: are they alike? */
  IDM_TEST_TRAJECTORIES, /* scores of a trajectory's decisions, by those before: do they hang
                            together? */
  IDM_TEST_STEPS,        /* rates of the actions by step */
  IDM_TEST_LENGTHS,      /* trajectories that end, by step: their lengths */
  IDM_TEST_REPETITION,   /* the same action again, by what was seen in between */
  IDM_TEST_ALTERNATION,  /* the action before the last again, by what was seen after it */
  IDM_TEST_RESPONSES,    /* rates of the actions by what was seen last */
  IDM_TEST_BELIEFS,      /* rates of the actions by the belief of a Bayesian */
  IDM_TEST_CONDITIONS,   /* rates of the actions by variant of the setting */
  IDM_TEST_AGENT_BANDS,  /* agents outside the 95 % band of their own rates and stays */
  IDM_TEST_CALIBRATION,  /* gain of recalibrated probabilities, in nats */
  IDM_TEST_EXTENSIONS,   /* scores of numbers that are held, of drifts of those that are free, of a
                            memory that begins anew in every trajectory, and of what is carried over
                            from the rows before */
  IDM_TEST_ENVIRONMENT,  /* probabilities of the environment, by the observations */
  IDM_TEST_COUNT
} idm_model_test;

typedef struct idm_model_test_result {
  bool evaluated;   /* there was something to look at */
  double statistic; /* ALIKE: the effective number of parameters, trace(J H^-1);
                       TRAJECTORIES: the largest sum of products of scores, in its sds; OUTSIDE:
                       agents; EXTENSIONS: the largest score statistic over its own 99 % quantile;
                       ENVIRONMENT: the square of the score over its variance, where p is least */
  double expected;  /* its mean where the model is right */
  double p;         /* probability of so much or more where it is */
} idm_model_test_result;

/* An extension of the model by one number: a score test. */
typedef struct idm_score_test {
  char name[128];   /* the number that is held; "drift of NAME within trajectories", "... over an
                       agent's trajectories", "... over the log's trajectories" or "... along a
                       history" of one that is free, each also "... and back", "... by odd and
                       even rows", or "NAME after a reward above 0", "... after
                       'win'"; "memory of single trajectories"; "actions of the last rows", "last
                       action, by its reward" and so on, of what is carried over */
  double held;      /* its value in the fit; 0 of the others */
  double value;     /* of one Newton step; where that is significant, of a fit with it free. Of a
                       drift, how far the coordinate moves from first to last, from the middle to
                       both ends or from odd to even rows; after a reward or an
                       observation, how far it is from where it is after others; of a memory, the
                       share of choices; of what is carried over, its weight in log odds */
  double gain;      /* in nats, of the same */
  double statistic; /* score^2 / information: chi-square with one degree, about */
  double p;         /* adjusted for all extensions together */
} idm_score_test;

/* What speaks against the model, whatever the draws are like. */
typedef struct idm_model_check {
  bool evaluated;
  uint64_t decisions;
  double log_likelihood; /* of the decisions, at the draw of highest density */
  double uniform;        /* and of whoever takes every open action alike */
  double rates;          /* and of whoever knows the actions' own rates and nothing else */
  size_t agents;
  double
      *between; /* [coordinate]: how far agents differ in it (sd, about); NULL where not looked */
  idm_model_test_result test[IDM_TEST_COUNT];
  double level; /* a test fails below this: IDM_CHECK_LEVEL over the number of tests */
  size_t extensions;
  idm_score_test *extension; /* [extensions] that were tested */
} idm_model_check;

/* An independent look at the posterior, by importance sampling that owes nothing to the draws: do
 * they represent it? By unconstrained number; NULL where there was no look. */
enum { IDM_IMPORTANCE_MODES = 8 };
typedef struct idm_importance_check {
  size_t points;    /* 0: there was no look */
  double effective; /* what the points are worth in independent draws */
  bool checked;     /* that is enough to compare with */
  size_t modes;     /* found, separated by valleys */
  bool chance;      /* means or sds differ, all by no more than the Monte Carlo error of the draws
                       leaves open: more steps a draw would show which it is */
  double missed;    /* share of the posterior around the mode that the draws miss most of */
  double higher;    /* log density of the highest mode less that of the highest draw */
  size_t numbers;
  double *mean;        /* [number] by the look */
  double *sd;          /* [number] */
  double *shift;       /* [number]: mean of the draws less that, in its sds, and the look's error */
  double *shift_error; /* [number] */
  double *spread;      /* [number]: sd of the draws over that of the look, and the error of */
  double *spread_error; /* [number]: its logarithm */
} idm_importance_check;

/* What is to be thought of what is said of a person. */
typedef enum idm_person_verdict {
  IDM_PERSON_IDENTIFIED,
  IDM_PERSON_POPULATION_DRIVEN, /* the population says more than the person's own decisions */
  IDM_PERSON_PRIOR_DRIVEN,      /* the prior does */
  IDM_PERSON_CHANCE,            /* predicted no better than by chance */
  IDM_PERSON_MISFIT,            /* the model does not fit */
  IDM_PERSON_FAILED,            /* absent, or the draws are not to be trusted */
  IDM_PERSON_POINT,             /* nothing says how sure it is */
  IDM_PERSON_UNCHECKED,         /* as identified, but checks were left out */
  IDM_PERSON_VERDICTS
} idm_person_verdict;

/* One of several people, each with numbers of their own. */
typedef struct idm_person {
  size_t trajectories;
  uint64_t decisions;
  double log_loss;         /* mean -log pi(u|z) a decision, nats */
  double uniform_log_loss; /* of whoever takes every open action alike: chance */
  /* [series along people]: how much of what is said of the person is the person's own. Fitted
   * alone: the contraction, 1 - posterior variance / prior variance. Of a population: 1 -
   * shrinkage, which is Var(x - m) / E sd^2, x - m being the person's distance from the
   * population's mean (Gelman and Pardoe 2006: the pooling factor). */
  double *own;
  bool unchecked; /* no independent look could compare the draws with the posterior */
  bool absent;    /* could not be fitted, and is not along the axis */
  idm_person_verdict verdict;
  char reason[400]; /* of what is not identified; may be empty */
} idm_person;

typedef struct idm_assessment {
  idm_estimate_kind answer;
  size_t quantities;
  idm_diagnosis *diagnosis; /* [quantity]; over several draws of dynamics: R-hat is the largest
                               within one, effective draws are summed */
  double *between; /* [quantity]: share of the variance between draws of dynamics; NULL: there are
                      none */
  long divergences;
  double ebfmi; /* the least over chains; NaN where there is no energy */

  /* By looking at the data again; nothing of it is there where `identified` is false. */
  bool identified;
  double log_likelihood; /* at its maximum */
  size_t parameters;
  idm_identification *parameter;
  double ridge;         /* least eigenvalue of the posterior correlations; 1 for one parameter */
  char *ridge_sentence; /* NULL where there is no ridge */
  int resolution;       /* of the lattice; 0 where there is none, or nothing to compare */
  int finer;            /* the lattice compared with; 0: none that is fine enough fits */
  double
      finer_change; /* largest |log-likelihood at finer - at resolution| over the draws looked at */
  double *finer_shift; /* [quantity]: shift of the posterior mean, in posterior sds, as doubling
                          the resolution would give it */
  double finer_share;  /* share of the draws looked at that the weights leave effective */
  double finer_error;  /* standard error of those shifts, where they are told by a function through
                          few draws; else NaN */
  idm_refinement refinement; /* how the lattice of a run was chosen; no steps: it was given */
  size_t sensitivities;
  idm_sensitivity *sensitivity;

  idm_importance_check look;
  idm_model_check model;

  size_t people;          /* 0 where the answer is not of people */
  bool fitted_separately; /* they were fitted, and looked at, one by one */
  idm_labels person_name;
  idm_person *person;

  idm_optimality *finding; /* of an answer that does not go by the likelihood; NULL elsewhere */
  idm_optimality *matched; /* of one that does: its objective, -log-likelihood at the centre, R-hat
                           of the worst number as the certificate of draws (of a point there is
                           none), and where states are observed the policy at the centre; NULL where
                           the data were not looked at again */

  idm_checks checks;  /* by row of the table: what ran, what did not and why, what was found */
  bool trusted;       /* neither half fails */
  idm_notes failures; /* why the draws are not, and what to do */
  idm_notes misfits;  /* why the model is not */
  idm_notes remarks;  /* what to know */
} idm_assessment;

/* Diagnostics of the draws alone, with their part of the verdict. */
IDM_API idm_status idm_assess_draws(const idm_posterior *posterior, idm_assessment **ret_assessment,
                                    idm_error *opt_error);
/* Name of a test, as in summary.json. */
IDM_API const char *idm_model_test_name(idm_model_test test);
/* The same, and identification, discretisation and sensitivity from the data, and the model's half
 * of the verdict. */
IDM_API idm_status idm_assess(const idm_problem *problem, const idm_data *data,
                              const idm_posterior *posterior, int threads,
                              idm_assessment **ret_assessment, idm_error *opt_error);
/* The same under the eyes of somebody, who is asked before every part of it whether to stop: then
 * it is IDM_UNTRUSTED. */
IDM_API idm_status idm_assess_monitored(const idm_problem *problem, const idm_data *data,
                                        const idm_posterior *posterior, int threads,
                                        const idm_fit_monitor *opt_monitor,
                                        idm_assessment **ret_assessment, idm_error *opt_error);
/* Steps a draw with which a posterior is to be drawn again (`again` of the settings), and assessed
 * again: four times those that it has, up to sixteen times the sampler's own, where it differs from
 * the independent look by no more than the Monte Carlo error of its draws leaves open. 0: it does
 * not, it does by more, or the sampler or `thin` leave no choice. */
IDM_API long idm_assess_redraw_thin(const idm_fit_settings *settings,
                                    const idm_posterior *posterior,
                                    const idm_assessment *assessment);
/* "identified", "population-driven", "prior-driven", "chance", "misfit", "failed", "point",
 * "unchecked"; NULL past the last. */
IDM_API const char *idm_person_verdict_name(idm_person_verdict verdict);
/* Note free numbers that the problem alone shows to have no effect, with the reason: known before
 * a fit. */
IDM_API void idm_assess_note_inert(const idm_problem *problem, idm_notes *opt_notes);
/* Whether an answer depends on dynamics: a plausible error of those that are held moves it, or most
 * of its variance lies between draws of learnt ones. */
IDM_API bool idm_assessment_depends(const idm_assessment *assessment);
/* Both halves of the verdict in a line: the draws, then the model. */
IDM_API const char *idm_assessment_verdict(const idm_assessment *assessment);
/* What to look at of what is printed before it, as in "see MODEL above"; "" where it says all. */
IDM_API const char *idm_assessment_section(const idm_assessment *assessment);
/* Whether a tail is too heavy for stable estimates of mean and sd, by the threshold of sd-exists:
 * tables print the median and the interval alone. */
IDM_API bool idm_diagnosis_heavy_tailed(const idm_diagnosis *diagnosis);
IDM_API void idm_assessment_destroy(idm_assessment *assessment);

#ifdef __cplusplus
}
#endif
#endif
