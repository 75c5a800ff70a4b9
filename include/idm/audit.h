/* Audits: one posterior a group of people and for all, contrasts between groups, and what each is
 * worth. Numbers are in the coordinates of the scales (log_alpha, inverse_beta, eta). */
#ifndef IDM_AUDIT_H
#define IDM_AUDIT_H

#include "idm/assess.h"
#include "idm/cut.h"
#include "idm/data.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- groups --------------------------------------------------------------------------------- */

/* Who is in which group; groups are of whole trajectories. */
typedef struct idm_groups {
  bool partition;  /* levels of one column; else predicates, which may overlap */
  idm_labels name; /* [group] */
  size_t trajectories;
  bool *member;    /* [group][trajectory] */
  size_t *missing; /* [group]: trajectories without a value that would tell, which are in no group
                      of a partition and meet no predicate */
} idm_groups;

IDM_API void idm_groups_destroy(idm_groups *groups);
/* The levels of a column that the data keep as a covariate, in alphabetical order. IDM_INPUT, with
 * the line, where it varies within a trajectory; and where there is nothing to compare. */
IDM_API idm_status idm_groups_by(const idm_data *data, const char *column, idm_groups **ret_groups,
                                 idm_notes *opt_notes, idm_error *opt_error);
/* Predicates over such columns, as in AGE>75 (see idm_predicate_parse). IDM_INPUT where one is met
 * by nobody or by everybody, varies within a trajectory, or follows from the others. */
IDM_API idm_status idm_groups_where(const idm_data *data, const char *const *predicate,
                                    size_t count, idm_groups **ret_groups, idm_notes *opt_notes,
                                    idm_error *opt_error);

/* --- the question --------------------------------------------------------------------------- */

/* What groups have to do with each other: a common normal distribution, nothing, or nothing and
 * Holm's adjustment of the contrasts. */
typedef enum idm_pool { IDM_POOL_PARTIAL, IDM_POOL_NONE, IDM_POOL_HOLM } idm_pool;
/* "partial", "none", "holm"; NULL beyond. */
IDM_API const char *idm_pool_name(idm_pool pool);

/* Whose dynamics (start, transitions, emissions) a group is seen in: those of all, or those learnt
 * from its own log, beginning at the problem's. */
typedef enum idm_audit_dynamics { IDM_AUDIT_POOLED, IDM_AUDIT_BY_GROUP } idm_audit_dynamics;
/* "pooled", "group"; NULL beyond. */
IDM_API const char *idm_audit_dynamics_name(idm_audit_dynamics dynamics);

/* What is asked. */
typedef struct idm_audit_settings {
  idm_fit_settings fit;
  idm_pool pool;
  idm_audit_dynamics dynamics;
  size_t cuts; /* draws of dynamics by group, each of which is audited; 1: their mode alone */
  bool people; /* agents have numbers of their own, normal around those of their group; else a group
                  shares one vector of them */
} idm_audit_settings;
IDM_API void idm_audit_settings_default(idm_audit_settings *settings);

/* --- the answer ----------------------------------------------------------------------------- */

typedef enum idm_audit_verdict {
  IDM_AUDIT_IDENTIFIED,        /* by the group's data */
  IDM_AUDIT_POPULATION_DRIVEN, /* by the other groups: its own decisions would not be enough */
  IDM_AUDIT_DYNAMICS_DRIVEN,   /* too much of a variance lies between draws of the dynamics: beyond
                                  the threshold of the check between-dynamics */
  IDM_AUDIT_PRIOR_DRIVEN,      /* beyond the thresholds of contraction or prior-scale */
  IDM_AUDIT_HETEROGENEOUS,     /* of all: the groups differ, and one vector for all, which does not
                          describe everybody, is an average over them */
  IDM_AUDIT_FAILED             /* the draws, or the model */
} idm_audit_verdict;
/* "identified", "population-driven", "depends on dynamics", "prior-driven", "groups differ",
 * "failed". */
IDM_API const char *idm_audit_verdict_name(idm_audit_verdict verdict);

/* One number of a group, of a contrast, or of the population. NaN where there is no such thing. */
typedef struct idm_audit_quantity {
  idm_diagnosis diagnosis;
  double low; /* ends of the 95 % interval */
  double high;
  double contraction; /* 1 - posterior variance / prior variance */
  double alone;       /* the same that the group's own decisions would reach without the others */
  double prior_shift; /* mean at double the prior's scale less that at half, in posterior sds */
  double dynamics_shift; /* largest shift of the mean, in posterior sds, by a plausible error of the
                            dynamics: the standard error that the log of each cell leaves them */
  double own;            /* share of the precision of a group's value that its own decisions give */
  double positive;       /* probability of being above 0 */
  double adjusted;       /* p = 2 min(P(> 0), P(< 0)) after Holm, over all contrasts and numbers */
  double between;        /* share of the variance between draws of the dynamics; beyond the
                            threshold of between-dynamics low, high and positive are NaN */
  double shift;     /* mean less that under the problem's own dynamics, where there are others */
  bool significant; /* different from 0 at 95 %: by the interval or, with Holm, adjusted < .05 */
  double *draw;     /* [chain][draw], by cuts (see idm_audit) */
} idm_audit_quantity;

typedef struct idm_audit_group {
  char *name; /* "all" for the last */
  size_t trajectories;
  size_t agents;
  uint64_t decisions;
  double log_likelihood; /* of the decisions, at the best draw of each of its cells; of agents who
                            are nested, the mean over draws; NaN where it cannot be looked at */
  double uniform;        /* and of whoever takes every open action alike */
  double rates;          /* and of whoever knows the actions' own rates and nothing else */
  idm_audit_verdict verdict;
  bool model_misfit;   /* the model does not explain its decisions: see misfits, here or with a
                   group that has them too */
  bool mixed;          /* of all: misfits are those of an average over groups that differ */
  bool prior_conflict; /* prior and log disagree: they are likelier by far where no draw is,
                     or the prior holds a number off what they lead to */
  bool coarse;         /* a finer lattice of beliefs moves its numbers: see reasons */
  bool depends;        /* a plausible error of held dynamics moves a mean beyond the threshold
                          of depends-on-dynamics */
  bool unchecked;      /* checks of its log were left out */
  idm_notes misfits;   /* what the model does not explain, as in a fit */
  idm_notes reasons;   /* for the verdict, misfits among them, where it is not identified */
  idm_audit_quantity *number; /* [coordinate] */
  idm_audit_quantity *within; /* [coordinate]: sd of its agents; NULL where they are not nested, or
                               groups are pooled: see the audit's */
} idm_audit_group;

typedef struct idm_audit_contrast {
  char *group;
  char *against;              /* another group, or "rest" */
  idm_audit_quantity *number; /* [coordinate]: the group's less the other's; of predicates that are
                               pooled, the effect of meeting it, the others held */
  idm_audit_quantity *pooled; /* [coordinate]: the same under the problem's own dynamics, where
                               groups have others; else NULL */
  size_t side[2];             /* of the audit's: who is compared with whom */
  idm_audit_verdict verdict; /* the worst of both sides and of its own contraction; failed where its
                                draws are */
  bool depends;   /* on dynamics: a sign, or whether it is flagged, is not the same both ways, or
                     neither mean is within the other's interval; or a plausible error of the
                     dynamics moves a mean beyond the threshold of depends-on-dynamics */
  bool unchecked; /* checks of the log of a side were left out: it is not flagged */
} idm_audit_contrast;

typedef struct idm_audit {
  bool people; /* agents are nested in groups */
  idm_pool pool;
  idm_audit_dynamics dynamics;
  size_t chains; /* of all cuts, as many each, one after another */
  size_t draws;
  size_t cuts; /* draws of dynamics that were audited; 1: the problem's own */
  long warmup;
  uint64_t seed;
  uint64_t request; /* label of what was asked for; 0: none */
  int resolution;
  idm_labels coordinate;
  size_t groups;          /* all is the last of them */
  size_t sides;           /* and behind them the rest of each contrast that is with the rest */
  idm_audit_group *group; /* [sides] */
  size_t contrasts;
  idm_audit_contrast *contrast;
  idm_audit_quantity *mean; /* [coordinate] of the groups' distribution; NULL where there is none */
  idm_audit_quantity *sd;
  idm_audit_quantity *within; /* [coordinate]: sd of agents around their group's value, the same in
                               all that are pooled; else NULL */
  idm_joint_dynamics *joint;  /* learnt dynamics that were drawn with the decisions; else NULL */
  idm_checks checks;  /* the worst over groups of every row; a group's own are its reasons */
  bool refitted;      /* prior sensitivity by fits, as weights would not do */
  bool trusted;       /* no group failed, and nothing else did */
  idm_notes failures; /* of the population, of contrasts, and of what all rests on */
  idm_notes remarks;  /* what to know */
} idm_audit;

IDM_API void idm_audit_destroy(idm_audit *audit);
/* The verdict on a group in words: "depends on dynamics" where it does and the verdict is no worse;
 * "unchecked" in place of "identified" where checks of its log were left out. */
IDM_API const char *idm_audit_group_verdict(const idm_audit_group *group);
/* The verdict on a contrast in words: "depends on dynamics" where it does, else as of a group. */
IDM_API const char *idm_audit_contrast_verdict(const idm_audit_contrast *contrast);

/* Infer the free numbers of every group: in the problem's dynamics, or in draws of others; with
 * dynamics by group, both ways. Where the draws of the cut are of the observations in `data`, and
 * groups that share one vector of numbers are pooled, dynamics and numbers are drawn together; else
 * groups are inferred in each of the draws, which are pooled. The problem is bound to the data.
 * The same at any thread count. IDM_UNTRUSTED where the watch stops it. IDM_INPUT where a free
 * number has a prior that is not normal; with `people`, where an agent is in several groups, or is
 * all of one that is not pooled; IDM_USAGE for people who are pooled in dynamics by group. */
IDM_API idm_status idm_audit_run(const idm_problem *problem, const idm_data *data,
                                 const idm_groups *groups, const idm_audit_settings *settings,
                                 const idm_cut_draws *opt_cut, const idm_fit_monitor *opt_monitor,
                                 idm_audit **ret_audit, idm_error *opt_error);

/* The same as a posterior, to be written, read and diagnosed as any other: `log_alpha` along
 * groups, `log_alpha_contrast` along contrasts, `log_alpha_mean` and `log_alpha_sd` where groups
 * are pooled, `log_alpha_within` where agents are nested, along groups that are not. */
IDM_API idm_status idm_audit_posterior(const idm_audit *audit, idm_posterior **ret_posterior,
                                       idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
