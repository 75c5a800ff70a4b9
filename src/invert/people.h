/* Hierarchical model of people, and its design.
 *
 * Contents: people · integrated likelihood · design */
#ifndef IDM_INVERT_PEOPLE_H
#define IDM_INVERT_PEOPLE_H

#include <stdint.h>

#include "base/arguments.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"

/* === people ================================================================================= */

/* Hierarchical model of people: one parameter vector per person, drawn from a population whose mean
 * may be a regression. Method: docs/method/people.md.
 *
 * Person i has effects e_i ~ normal(W_i b, Sigma), in the coordinates of the scales of the free
 * numbers, with Sigma = diag(sd) C diag(sd). The trajectories of a person are grouped into cells:
 * one cell if there are no conditions within people, else one per condition. In cell c the free
 * numbers are x_c = Z_c e_i. Priors: coefficients b are normal, sds half-normal, C has an LKJ
 * prior. Some coefficients may be pooled: those of one effect are normal(0, spread), and spread has
 * a half-normal prior. */

/* Assignment of trajectories to people and cells, and the regression of the population mean. */
typedef struct idm_design {
  size_t people;
  idm_labels person; /* [person] */
  size_t cells;
  uint32_t *cell_person; /* [cell]: index of its person; non-decreasing */
  uint32_t *cell_of;     /* [trajectory]: index of its cell */

  size_t coordinates;          /* number of free numbers of the problem */
  size_t effects;              /* number of effects per person; at least one per coordinate */
  idm_labels effect;           /* [effect]: "log_alpha", "log_alpha:condition[T.b]" */
  uint32_t *effect_coordinate; /* [effect]: free number that it contributes to; non-decreasing */
  double *share; /* Z, [cell][effect]: contribution of one unit of the effect to its free number in
                    that cell */

  size_t *coefficients;      /* [effect]: number of coefficients, at least one */
  idm_labels *coefficient;   /* [effect]: names of coefficients, such as "Intercept", "age",
                                "group[T.drug]" */
  double **regressor;        /* W, [effect]: [person][coefficient] */
  double **coefficient_mean; /* [effect]: [coefficient]: mean of the normal prior */
  double **coefficient_sd;
  size_t pooled; /* the last `pooled` coefficients of every effect are normal(0, spread); their
                    coefficient_mean is 0, and their coefficient_sd is the prior guess of spread */
  double *spread_scale; /* [effect]: scale of the prior of spread; NULL if none is pooled */
  double *sd_scale;     /* [effect]: scale of the half-normal prior of sd */
  double correlation;   /* shape of the LKJ prior */
  bool independent;     /* the effects of a person are uncorrelated */
  bool held;  /* the population is fixed at its prior: coefficients at their means, sds at their
                 scales, no correlations */
  bool fixed; /* no variation about the regression: e_i = W_i b, and sds are 0 */
} idm_design;

/* Free a design. Accepts NULL. */
IDM_CHECKED void idm_design_destroy(idm_design *design);

/* Posterior draws of people and population. Coefficient i of an effect has index
 * coefficient_first[effect] + i; the pair of effects (j, k), j > k, has index j (j - 1) / 2 + k. */
typedef struct idm_people {
  size_t chains;
  size_t draws;
  size_t people;
  size_t effects;
  size_t *coefficient_first; /* [effects + 1] */
  double *effect;            /* [effect][person][chain][draw] */
  double *coefficient;       /* [coefficient][chain][draw] */
  double *sd;                /* [effect][chain][draw] */
  double *spread;            /* [effect][chain][draw]; NULL if no coefficient is pooled */
  double *correlation;       /* [pair][chain][draw] */
  double *log_posterior;     /* [chain][draw]: joint density of effects, coefficients, spreads, sds,
                                correlations */
  double *log_likelihood;    /* [person][chain][draw] */
  double *information; /* [person][effect][effect]: approximate information of a person's decisions
                          on the population mean, (Sigma + H^-1)^-1, where H is the curvature of the
                          person's log-likelihood */
} idm_people;

/* Free the draws. Accepts NULL. */
IDM_CHECKED void idm_people_destroy(idm_people *people);

/* Sample the posterior of a hierarchical model by blocks: people given the population, the
 * population given the people, and both jointly. Priors of the problem's free blocks are ignored:
 * the population is the prior. Results do not depend on the number of threads. If opt_monitor stops
 * it, the draws made so far are returned, with at least one per chain, else IDM_UNTRUSTED; it can
 * continue from a checkpoint. *ret_people is owned by the caller. IDM_INPUT if the design does not
 * match the log, or if the planner learns over trajectories and the trajectories of an agent lie in
 * several cells. */
IDM_CHECKED idm_status idm_people_fit(const idm_problem *problem, const idm_data *data,
                                      const idm_design *design, const idm_fit_settings *settings,
                                      const idm_fit_monitor *opt_monitor, idm_people **ret_people,
                                      idm_notes *opt_notes, idm_error *opt_error);

/* === integrated likelihood ================================================================== */

/* Log-likelihood of each person given a draw of the population alone: the integral of the person's
 * likelihood over the person's own effects. */
typedef struct idm_integrated {
  double *log_likelihood; /* [chain][draw][person] */
  double *error;          /* [person]: estimate of the largest error over the draws, in nats; inf:
                             unknown */
} idm_integrated;

void idm_integrated_destroy(idm_integrated *integrated);

/* Integrate the likelihood of every person for every draw of the population. *ret_integrated is
 * NULL, with a note that gives the reason, for a fixed population, for too many effects per person,
 * if it takes more than `seconds` of work (0: no limit), or if an integral may be off by more than
 * 0.1 nats. IDM_UNTRUSTED if opt_monitor stops it.
 * The result does not depend on the number of threads. */
idm_status idm_people_integrate(const idm_problem *problem, const idm_data *data,
                                const idm_design *design, const idm_people *people,
                                const idm_fit_settings *settings,
                                const idm_fit_monitor *opt_monitor, double seconds,
                                idm_integrated **ret_integrated, idm_notes *opt_notes,
                                idm_error *opt_error);

/* === design ================================================================================= */

/* Design matrices of a population: who is a person, and the regressors of each person's numbers. */

/* A design as requested: the column that identifies people, and the formulas of the population
 * means. */
typedef struct idm_design_request {
  const char *by;           /* agent, trajectory, or a column of the log */
  const char *const *model; /* formulas such as "alpha, beta ~ drug * group + age" */
  size_t models;
} idm_design_request;

/* Names of the columns that a log must keep for a design (see idm_csv_options). *ret_columns is the
 * caller's. IDM_USAGE, with the place, for a formula that is not valid; IDM_USAGE without `by`. */
IDM_CHECKED idm_status idm_design_columns(const idm_problem *problem,
                                          const idm_design_request *request,
                                          idm_labels *ret_columns, idm_error *opt_error);
/* Give every free block a normal prior on an unbounded scale, as a population needs it. Another
 * proper prior is replaced by the normal of its mean and sd, with a note, where `population` of the
 * problem gives an sd and a coefficient for the block; else IDM_INPUT. Call it after the problem is
 * bound. */
IDM_CHECKED idm_status idm_population_set_priors(idm_problem *problem, idm_notes *opt_notes,
                                                 idm_error *opt_error);
/* Build the design of a log. Categories use treatment coding, with the first level in alphabetical
 * order as reference unless C(column, ref=level) names one; numbers are centred over people. A
 * column that varies within a person gives effects that vary by person. *ret_design is the
 * caller's. IDM_INPUT, with names, for effects that cannot be identified: a column without
 * variation, collinear regressors, empty cells. IDM_USAGE for a formula that is not valid. */
IDM_CHECKED idm_status idm_design_create(const idm_problem *problem, const idm_data *data,
                                         const idm_design_request *request, idm_design **ret_design,
                                         idm_notes *opt_notes, idm_error *opt_error);

#endif
