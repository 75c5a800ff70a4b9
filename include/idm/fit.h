/* Fits: from a log to a posterior, its draws, their diagnostics and the verdict. */
#ifndef IDM_FIT_H
#define IDM_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/data.h"
#include "idm/problem.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The answer of an inverse planner: draws of a posterior, one point, or a set of parameters. */
typedef struct idm_posterior idm_posterior;
/* The verdict on an answer. */
typedef struct idm_assessment idm_assessment;

/* Kind of an answer. */
typedef enum idm_estimate_kind {
  IDM_POINT,     /* one draw of one chain */
  IDM_POSTERIOR, /* draws of a posterior */
  IDM_SET        /* all parameters that explain the data, described by one of them and ranges */
} idm_estimate_kind;

/* --- fit ------------------------------------------------------------------------------------ */

/* Infer the free parameters of a problem from a log, check the answer (as far as the setting
 * "checks" allows: by default for as long as the fit took), and measure how well it predicts the
 * log. With the setting "by" people have parameters of their own from a common
 * population; with "each" every person is fitted alone. Utilities from columns are those of the log
 * that was read last for the problem. The same draws at any number of threads. IDM_INPUT where
 * nothing is free, IDM_USAGE where the log was read without a column of the settings, IDM_NUMERICAL
 * where no starting point has a finite density, IDM_UNTRUSTED where the watch of the settings stops
 * the fit before its last draw. An answer that is not to be trusted is IDM_OK: see
 * idm_assessment_trusted. */
IDM_API idm_status idm_fit(const idm_problem *problem, const idm_data *data,
                           const idm_settings *settings, idm_posterior **ret_posterior,
                           idm_notes *opt_notes, idm_error *opt_error);
/* Free an answer; NULL is allowed. */
IDM_API void idm_posterior_destroy(idm_posterior *posterior);

/* The problem that was fitted: a copy, with the lattice that the fit has chosen, the planner and
 * the free parameters of its class, and the centre of learnt dynamics. Functions of answers use it.
 * It belongs to the answer; NULL for answers that were read from a file without a problem. */
IDM_API const idm_problem *idm_posterior_problem(const idm_posterior *posterior);
/* Exchange the environment of this problem with that of another, as idm_problem_transfer. Learnt
 * dynamics belong to the former environment and are removed from the answer. */
IDM_API idm_status idm_posterior_transfer(idm_posterior *posterior, idm_problem *other,
                                          idm_error *opt_error);
/* The centre of an answer, in place of a draw. */
#define IDM_CENTRE ((size_t)-1)
/* A copy of this problem with the numbers of a draw, counted from 0 over all chains, or of the
 * centre (IDM_CENTRE: the mean of the draws in the coordinates of the sampler), to plan, simulate
 * or score with. IDM_USAGE past the last draw. */
IDM_API idm_status idm_problem_from_posterior(const idm_posterior *posterior, size_t draw,
                                              idm_problem **ret_problem, idm_error *opt_error);

/* --- draws ---------------------------------------------------------------------------------- */

/* Kind of an answer; IDM_POINT for NULL. */
IDM_API idm_estimate_kind idm_posterior_kind(const idm_posterior *posterior);
/* Number of chains, of draws per chain, and of quantities. */
IDM_API size_t idm_posterior_chains(const idm_posterior *posterior);
IDM_API size_t idm_posterior_draws(const idm_posterior *posterior);
IDM_API size_t idm_posterior_quantities(const idm_posterior *posterior);
/* Name of quantity `index`: a parameter as "alpha", its coordinate where this is summarised as
 * "inverse_beta", a person's as "log_alpha[ann]"; NULL past the last. */
IDM_API const char *idm_posterior_quantity_name(const idm_posterior *posterior, size_t index);
/* Find a quantity by its name; the number of quantities where there is none. */
IDM_API size_t idm_posterior_find(const idm_posterior *posterior, const char *name);
/* View the draws of a quantity without copying: *ret_length numbers, [chain][draw], valid as long
 * as the answer. NULL and 0 past the last quantity. */
IDM_API const double *idm_posterior_values(const idm_posterior *posterior, size_t index,
                                           size_t *ret_length);
/* View the log-likelihood without copying: [chain][draw][unit], units being trajectories, or
 * decisions with the setting "log_likelihood". NULL and 0 where it was not kept. */
IDM_API const double *idm_posterior_log_likelihood(const idm_posterior *posterior,
                                                   size_t *ret_length);

/* Summary of a quantity over all chains (Vehtari et al. 2021). NaN where it is not defined:
 * constant draws, or fewer than four. */
typedef struct idm_diagnosis {
  double mean;      /* of all draws */
  double sd;        /* standard deviation */
  double mcse_mean; /* Monte Carlo standard error of the mean */
  double mcse_sd;   /* and of the sd */
  double q05;       /* quantile 5 % */
  double q50;       /* median */
  double q95;       /* quantile 95 % */
  double ess_bulk;  /* effective sample size of the bulk */
  double ess_tail;  /* and of the tails */
  double rhat;      /* the larger of rank-normalised split R-hat and its folded version */
  double tail;      /* the larger Pareto k of both tails; NaN: not measured */
} idm_diagnosis;
/* Summarise quantity `index`. IDM_USAGE past the last, and for quantities of several numbers
 * without names (weights of networks). */
IDM_API idm_status idm_posterior_diagnose(const idm_posterior *posterior, size_t index,
                                          idm_diagnosis *diagnosis, idm_error *opt_error);

/* Write an answer as netCDF-4 in the layout of ArviZ's InferenceData; opt_data adds the group
 * observed_data. The file is written whole or not at all. No two calls of netCDF functions may run
 * at the same time. */
IDM_API idm_status idm_posterior_write_netcdf(const idm_posterior *posterior,
                                              const idm_data *opt_data, const char *path,
                                              idm_error *opt_error);
/* Read such a file: draws and their statistics, without log-likelihood, prior and data. The answer
 * gets a copy of opt_problem, the problem that was fitted; functions that need a problem return
 * IDM_USAGE without it. IDM_INPUT for files that are damaged or were changed by another program. */
IDM_API idm_status idm_posterior_read_netcdf(const char *path, const idm_problem *opt_problem,
                                             idm_posterior **ret_posterior, idm_error *opt_error);

/* --- prediction ----------------------------------------------------------------------------- */

/* Distance of a behaviour from a log. */
typedef struct idm_projection {
  uint64_t decisions;      /* rows with an action, of which more than one was available */
  double log_loss;         /* mean -log pi(u|z) per decision, nats */
  double brier;            /* mean sum_v (pi(v|z) - 1{v = u})^2 per decision */
  double uniform_log_loss; /* log_loss of uniform choice among the available actions */
  double rates_log_loss;   /* log_loss of the actions' own rates */
  double pseudo_r2;        /* 1 - log_loss / uniform_log_loss (McFadden); NaN without decisions */
  double
      pseudo_r2_rates; /* as pseudo_r2, against the rates; NaN where these explain all decisions */
  uint64_t repeated;   /* decisions at histories that two or more trajectories share */
  double divergence;   /* mean KL(empirical || pi) over those, nats; NaN where there are none */
} idm_projection;
/* Distance of the behaviour at the centre of an answer from a log. */
IDM_API idm_status idm_projection_centre(const idm_posterior *posterior, const idm_data *data,
                                         idm_projection *projection, idm_error *opt_error);

/* --- verdict -------------------------------------------------------------------------------- */

/* The verdict that idm_fit or idm_run_load has made; it belongs to the answer. NULL for answers
 * from elsewhere: idm_assess. */
IDM_API const idm_assessment *idm_posterior_assessment(const idm_posterior *posterior);
/* Check an answer that is no population: the draws, and with the log the model, the lattice, what
 * the data identify and what the answer depends on. All checks, whatever they take. Free the result
 * with idm_assessment_destroy. */
IDM_API idm_status idm_assess(const idm_posterior *posterior, const idm_data *data, int threads,
                              idm_assessment **ret_assessment, idm_error *opt_error);
/* Free a verdict; NULL is allowed. */
IDM_API void idm_assessment_destroy(idm_assessment *assessment);

/* True if no check fails. */
IDM_API bool idm_assessment_trusted(const idm_assessment *assessment);
/* The verdict as a line: the draws, then the model. */
IDM_API const char *idm_assessment_verdict(const idm_assessment *assessment);
/* Sentences, by index; NULL past the last: why the draws fail, why the model fails, and remarks. */
IDM_API const char *idm_assessment_failure(const idm_assessment *assessment, size_t index);
IDM_API const char *idm_assessment_misfit(const idm_assessment *assessment, size_t index);
IDM_API const char *idm_assessment_remark(const idm_assessment *assessment, size_t index);
/* Checks, by index: name (NULL past the last), outcome ("passed", "failed", ...; empty where the
 * check does not apply) and value (NaN where there is none). `idm list checks` describes them. */
IDM_API const char *idm_assessment_check_name(const idm_assessment *assessment, size_t index);
IDM_API const char *idm_assessment_check_outcome(const idm_assessment *assessment, size_t index);
IDM_API double idm_assessment_check_value(const idm_assessment *assessment, size_t index);

/* Write summary.json of an answer: diagnostics, what the data identify, distance and verdict. "-"
 * is standard output. */
IDM_API idm_status idm_posterior_write_summary(const idm_posterior *posterior,
                                               const idm_assessment *assessment,
                                               const idm_projection *opt_projection,
                                               const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
