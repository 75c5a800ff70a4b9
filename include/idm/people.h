/* People: one vector of parameters a person, people drawn from a population that a regression may
 * describe.
 *
 * Person i has effects e_i ~ normal(W_i b, Sigma), in the coordinates of the free numbers' scales;
 * Sigma = diag(sd) C diag(sd). The trajectories of a person fall into cells, one where nothing
 * varies within people, else one a condition; in cell c the free numbers are x_c = Z_c e_i. Priors:
 * coefficients b are normal, sds half-normal, C is LKJ. Some coefficients may be pooled: those of
 * one effect are normal(0, spread) with a half-normal spread of their own. */
#ifndef IDM_PEOPLE_H
#define IDM_PEOPLE_H

#include <stdint.h>

#include "idm/data.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who is who, and what the population's mean may depend on. */
typedef struct idm_design {
  size_t people;
  idm_labels person; /* [person] */
  size_t cells;
  uint32_t *cell_person; /* [cell]: never falls */
  uint32_t *cell_of;     /* [trajectory] */

  size_t coordinates;          /* free numbers of the problem */
  size_t effects;              /* of a person: at least one a coordinate */
  idm_labels effect;           /* [effect]: "log_alpha", "log_alpha:condition[T.b]" */
  uint32_t *effect_coordinate; /* [effect]: the free number it adds to; never falls */
  double *share; /* Z: [cell][effect]: what one unit of the effect adds to its number there */

  size_t *coefficients;      /* [effect]: at least one */
  idm_labels *coefficient;   /* [effect]: names: "Intercept", "age", "group[T.drug]" */
  double **regressor;        /* W: [effect]: [person][coefficient] */
  double **coefficient_mean; /* [effect]: [coefficient]: of its normal prior */
  double **coefficient_sd;
  size_t pooled; /* of every effect so many coefficients, its last, are normal(0, spread); their
                    coefficient_mean is 0, and coefficient_sd what is expected of spread */
  double
      *spread_scale;  /* [effect]: of the half-normal prior of spread; NULL where none is pooled */
  double *sd_scale;   /* [effect]: of the half-normal prior of sd */
  double correlation; /* shape of the LKJ prior */
  bool independent;   /* the effects of a person are not correlated */
  bool held;  /* the population is held at its prior: coefficients at their means, sds at their
                 scales, no correlations */
  bool fixed; /* people do not vary about the regression: e_i = W_i b, and sds are 0 */
} idm_design;

IDM_API void idm_design_destroy(idm_design *design);

/* Draws of people and population. A coefficient stands at coefficient_first[effect] + its index; a
 * pair of effects (j, k), j > k, at j (j - 1) / 2 + k. */
typedef struct idm_people {
  size_t chains;
  size_t draws;
  size_t people;
  size_t effects;
  size_t *coefficient_first; /* [effects + 1] */
  double *effect;            /* [effect][person][chain][draw] */
  double *coefficient;       /* [coefficient][chain][draw] */
  double *sd;                /* [effect][chain][draw] */
  double *spread;            /* [effect][chain][draw]; NULL where no coefficient is pooled */
  double *correlation;       /* [pair][chain][draw] */
  double *log_posterior;  /* [chain][draw]: of effects, coefficients, spreads, sds, correlations */
  double *log_likelihood; /* [person][chain][draw] */
  double *information;    /* [person][effect][effect]: about what a person's decisions say of the
                             population's mean, (Sigma + H^-1)^-1, H being the curvature of the
                             person's log-likelihood */
} idm_people;

IDM_API void idm_people_destroy(idm_people *people);

/* Draws given the design, by blocks: each person given the population, the population given the
 * people, and both together. The priors of the problem's free blocks are no part: the population is
 * the prior. The same at any thread count. Stopped by its watch, it gives the draws made so far, at
 * least one per chain; a checkpoint of the watch's work lets it go on. Refuses (IDM_INPUT) a design
 * that does not fit the log, and a planner that learns over trajectories where those of an agent
 * fall into several cells. */
IDM_API idm_status idm_people_fit(const idm_problem *problem, const idm_data *data,
                                  const idm_design *design, const idm_fit_settings *settings,
                                  const idm_fit_monitor *opt_monitor, idm_people **ret_people,
                                  idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
