/* Audits: one posterior per group of people and one for all, contrasts between groups, and a
 * verdict on each. Numbers are in the coordinates of their scales (log_alpha, inverse_beta, eta).
 */
#ifndef IDM_INVERT_AUDIT_H
#define IDM_INVERT_AUDIT_H

#include "base/arguments.h"
#include "idm/audit.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "invert/assess.h"
#include "invert/cut.h"

/* --- groups --------------------------------------------------------------------------------- */

/* Groups of trajectories; a trajectory belongs to a group as a whole. */
typedef struct idm_groups {
  bool partition;  /* true: the levels of one column; false: predicates, which may overlap */
  idm_labels name; /* [group] */
  size_t trajectories;
  bool *member;    /* [group][trajectory] */
  size_t *missing; /* [group]: trajectories with a missing value, which belong to no group of a
                      partition and meet no predicate */
} idm_groups;

/* Free groups. Takes NULL. */
IDM_CHECKED void idm_groups_destroy(idm_groups *groups);
/* Groups by the levels of a column, in alphabetical order. The data must contain the column as a
 * covariate. Notes list trajectories that are left out, and small groups. *ret_groups is the
 * caller's. IDM_INPUT, with the line, where the column varies within a trajectory, or where there
 * are fewer than two groups to compare. */
IDM_CHECKED idm_status idm_groups_by(const idm_data *data, const char *column,
                                     idm_groups **ret_groups, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* Groups by predicates over covariates of the data, as in AGE>75 (see idm_predicate_parse);
 * predicate[count]. IDM_USAGE for no predicate or too many. IDM_INPUT where a predicate is met by
 * no trajectory or by all, varies within a trajectory, or is a linear combination of the others. */
IDM_CHECKED idm_status idm_groups_where(const idm_data *data, const char *const *predicate,
                                        size_t count, idm_groups **ret_groups, idm_notes *opt_notes,
                                        idm_error *opt_error);

/* --- the question --------------------------------------------------------------------------- */

/* Pooling of groups: a common normal distribution; none; or none with Holm's adjustment of the
 * contrasts. */
typedef enum idm_pool { IDM_POOL_PARTIAL, IDM_POOL_NONE, IDM_POOL_HOLM } idm_pool;
/* Name of a kind of pooling: "partial", "none", "holm"; NULL past the last. */
IDM_CHECKED const char *idm_pool_name(idm_pool pool);

/* Dynamics (start, transitions, observations) that a group is fitted in: those of the problem for
 * all groups, or dynamics learnt from the log of each group, with the problem's as starting point.
 */
typedef enum idm_audit_dynamics { IDM_AUDIT_POOLED, IDM_AUDIT_BY_GROUP } idm_audit_dynamics;
/* Name of a choice of dynamics: "pooled", "group"; NULL past the last. */
IDM_CHECKED const char *idm_audit_dynamics_name(idm_audit_dynamics dynamics);

/* Settings of an audit. */
typedef struct idm_audit_settings {
  idm_fit_settings fit;
  idm_pool pool;
  idm_audit_dynamics dynamics;
  size_t cuts; /* with dynamics by group: draws of these dynamics, each of which is audited; 1:
                  their mode alone */
  bool people; /* agents have their own numbers, normal around those of their group; false: a group
                  shares one vector of numbers */
} idm_audit_settings;
/* Set all fields to their defaults. */
IDM_CHECKED void idm_audit_settings_default(idm_audit_settings *settings);

/* --- the answer ----------------------------------------------------------------------------- */

typedef enum idm_audit_verdict {
  IDM_AUDIT_IDENTIFIED,        /* by the group's own data */
  IDM_AUDIT_POPULATION_DRIVEN, /* by the other groups: its own decisions would not be enough */
  IDM_AUDIT_DYNAMICS_DRIVEN,   /* too much of a variance lies between draws of the dynamics, by the
                                  threshold of the check between-dynamics */
  IDM_AUDIT_PRIOR_DRIVEN,      /* beyond the thresholds of the checks contraction or prior-scale */
  IDM_AUDIT_HETEROGENEOUS, /* of the group "all": the groups differ, so that one vector for all is
                              an average over them */
  IDM_AUDIT_FAILED         /* the draws or the model fail */
} idm_audit_verdict;
/* Name of a verdict: "identified", "population-driven", "depends on dynamics", "prior-driven",
 * "groups differ", "failed"; NULL past the last. */
IDM_CHECKED const char *idm_audit_verdict_name(idm_audit_verdict verdict);

/* Summary of one number of a group, of a contrast or of the population. A field that does not apply
 * is NaN. */
typedef struct idm_audit_quantity {
  idm_diagnosis diagnosis;
  double low; /* lower end of the 95 % interval */
  double high;
  double contraction; /* 1 - posterior variance / prior variance */
  double
      alone; /* contraction that the group's own decisions would reach without the other groups */
  double
      prior_shift; /* mean at double the scale of the prior less that at half, in posterior sds */
  double dynamics_shift; /* largest shift of the mean, in posterior sds, by a plausible error of the
                            dynamics: the standard error given the log of each cell */
  double own;      /* share of the precision of a group's value that its own decisions contribute */
  double positive; /* posterior probability of a value above 0 */
  double adjusted; /* p = 2 min(P(> 0), P(< 0)), adjusted by Holm's method over all contrasts and
                      numbers */
  double between;  /* share of the variance between draws of the dynamics; beyond the threshold of
                      between-dynamics low, high and positive are NaN */
  double shift;    /* mean less that under the problem's own dynamics, with dynamics by group */
  bool significant; /* different from 0 at 95 %: by the interval or, with Holm's method, adjusted <
                       .05 */
  double *draw;     /* [chain][draw]; chains in the order of idm_audit.chains */
} idm_audit_quantity;

typedef struct idm_audit_group {
  char *name; /* "all" for the group of all */
  size_t trajectories;
  size_t agents;
  uint64_t decisions;
  double log_likelihood; /* of the decisions, at the draw of highest density of each of its cells;
                            with people, the mean over draws; NaN where it cannot be computed */
  double uniform;        /* log-likelihood of uniform choice among the open actions */
  double rates;          /* log-likelihood of constant rates: the frequencies of the actions */
  idm_audit_verdict verdict;
  bool model_misfit; /* the model does not describe the decisions: see misfits, here or in an
                        overlapping group */
  bool mixed; /* of the group "all": misfits are those of an average over groups that differ */
  bool prior_conflict; /* prior and log disagree: the decisions are far likelier where no draw is,
                          or the prior keeps a number away from the value that they lead to */
  bool coarse;         /* a finer lattice of beliefs changes its numbers: see reasons */
  bool depends;        /* a plausible error of fixed dynamics shifts a mean beyond the threshold of
                          depends-on-dynamics */
  bool unchecked;      /* some checks of its log were not run */
  idm_notes misfits;   /* aspects that the model does not describe, as in a fit */
  idm_notes reasons;   /* for a verdict other than identified, including misfits */
  idm_notes failures;  /* of the reasons, those for which the group failed */
  idm_audit_quantity *number; /* [coordinate] */
  idm_audit_quantity *within; /* [coordinate]: sd between its agents; NULL without people, or where
                                 groups are pooled: see idm_audit.within */
} idm_audit_group;

typedef struct idm_audit_contrast {
  char *group;
  char *against; /* another group, or "rest" */
  idm_audit_quantity
      *number; /* [coordinate]: value of the group less that of the other; for pooled predicates,
                  the effect of meeting the predicate, given the others */
  idm_audit_quantity *pooled; /* [coordinate]: the same under the problem's own dynamics, with
                                 dynamics by group; else NULL */
  size_t side[2];             /* indices into idm_audit.group of the two groups compared */
  idm_audit_verdict verdict;  /* the worse verdict of both groups and of its own contraction; failed
                                 where its draws fail */
  bool
      depends; /* the sign or the significance differs between the dynamics of the groups and those
                  of the problem, or neither mean is within the other's interval; or a plausible
                  error of the dynamics shifts a mean beyond the threshold of depends-on-dynamics */
  bool unchecked; /* some checks of a group's log were not run: the contrast is not marked
                     significant */
} idm_audit_contrast;

typedef struct idm_audit {
  bool people; /* agents have their own numbers, nested in groups */
  idm_pool pool;
  idm_audit_dynamics dynamics;
  size_t chains; /* of all cuts: the same number for each cut, one cut after another */
  size_t draws;
  size_t cuts; /* draws of the dynamics that were audited; 1: the problem's own dynamics */
  long warmup;
  uint64_t seed;
  uint64_t request; /* label of the request; 0: none */
  int resolution;
  idm_labels coordinate;
  size_t groups; /* number of groups, including "all", which is the last */
  size_t sides;  /* groups, then the complement of each group with a contrast against the rest */
  idm_audit_group *group; /* [sides] */
  size_t contrasts;
  idm_audit_contrast *contrast;
  idm_audit_quantity
      *mean; /* [coordinate] of the distribution of groups; NULL where groups are not pooled */
  idm_audit_quantity *sd;
  idm_audit_quantity *within; /* [coordinate]: sd of agents around their group's value, common to
                                 all pooled groups; else NULL */
  idm_joint_dynamics
      *joint;        /* learnt dynamics that were drawn jointly with the decisions; else NULL */
  idm_checks checks; /* the worst result over groups of every row; the results of a group are in its
                        reasons */
  bool refitted;     /* prior sensitivity by further fits, as importance weights were too uneven */
  bool trusted;      /* no group failed, and no check of the whole audit */
  idm_notes failures; /* of the population, of contrasts, and of parts that all groups share */
  idm_notes remarks;  /* remarks that do not affect trust */
  idm_problem
      *problem; /* of idm_audit_create, with the lattice that it has chosen, owned; else NULL */
} idm_audit;

/* The verdict on a group in words: "depends on dynamics" where `depends` is set and the verdict is
 * no worse; "unchecked" in place of "identified" where some checks of its log were not run. NULL
 * for NULL. */
IDM_CHECKED const char *idm_group_verdict_text(const idm_audit_group *group);
/* The verdict on a contrast in words: "depends on dynamics" where `depends` is set, else as for a
 * group. NULL for NULL. */
IDM_CHECKED const char *idm_contrast_verdict_text(const idm_audit_contrast *contrast);

/* Audit: infer the free numbers of every group and of all, and their contrasts. The dynamics are
 * those of the problem, or those of the draws in opt_cut; with dynamics by group, the audit runs
 * under the problem's dynamics and under those of each group. Where the draws of opt_cut were
 * learnt from the observations in `data`, and pooled groups share one vector of numbers each,
 * dynamics and numbers are drawn jointly; else groups are fitted in each draw of the dynamics, and
 * the fits are pooled. The problem must be bound to the data. Results are the same at any number of
 * threads. *ret_audit is the caller's. IDM_UNTRUSTED where the monitor stops it. IDM_INPUT where a
 * free number has a prior that is not normal; with `people`, where an agent belongs to several
 * groups, or is all of a group that is not pooled. IDM_USAGE for people who are pooled with
 * dynamics by group. */
IDM_CHECKED idm_status idm_audit_run(const idm_problem *problem, const idm_data *data,
                                     const idm_groups *groups, const idm_audit_settings *settings,
                                     const idm_cut_draws *opt_cut,
                                     const idm_fit_monitor *opt_monitor, idm_audit **ret_audit,
                                     idm_error *opt_error);

#endif
