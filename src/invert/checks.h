/* Checks of an answer, one row per check. The verdict, summary.json, the report, `idm check` and
 * its exit code, `idm list checks` and docs/reference/checks.md are derived from the table. */
#ifndef IDM_INVERT_CHECKS_H
#define IDM_INVERT_CHECKS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arguments.h"
#include "idm/status.h"

/* Kinds of answer, as bits of idm_check.kinds. */
typedef enum idm_check_kind {
  IDM_CHECK_FIT = 1 << 0,         /* draws of a posterior by the likelihood */
  IDM_CHECK_POINT = 1 << 1,       /* one point by the likelihood (map) */
  IDM_CHECK_PREFERENCES = 1 << 2, /* draws of a posterior given preferences */
  IDM_CHECK_PROGRAM = 1 << 3,     /* a point or a set with a certificate */
  IDM_CHECK_SEPARATE = 1 << 4,    /* people fitted one by one (--each) */
  IDM_CHECK_POPULATION = 1 << 5,  /* people and their population (--by) */
  IDM_CHECK_AUDIT = 1 << 6,       /* groups */
  IDM_CHECK_NESTED = 1 << 7,      /* groups of people (audit --people) */
  IDM_CHECK_DYNAMICS = 1 << 8,    /* draws of learnt dynamics */
  IDM_CHECK_KINDS = 1 << 9        /* one past the last bit */
} idm_check_kind;

/* Sets of kinds. */
#define IDM_CHECK_BY_GROUP   (IDM_CHECK_AUDIT | IDM_CHECK_NESTED)
#define IDM_CHECK_LIKELIHOOD (IDM_CHECK_FIT | IDM_CHECK_POINT | IDM_CHECK_SEPARATE)
#define IDM_CHECK_WITH_DRAWS                                                                       \
  (IDM_CHECK_FIT | IDM_CHECK_PREFERENCES | IDM_CHECK_SEPARATE | IDM_CHECK_POPULATION |             \
   IDM_CHECK_BY_GROUP | IDM_CHECK_DYNAMICS)
#define IDM_CHECK_ALL_KINDS (IDM_CHECK_KINDS - 1)
/* Kinds that are fitted to a log, so that predictions can be compared with it. */
#define IDM_CHECK_PREDICTED (IDM_CHECK_LIKELIHOOD | IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP)

/* In ascending order of severity. */
typedef enum idm_check_outcome {
  IDM_CHECK_UNRECORDED, /* the run was written without results of checks */
  IDM_CHECK_NOT_RUN,
  IDM_CHECK_PASSED,
  IDM_CHECK_REMARK, /* beyond its threshold, without effect on trust */
  IDM_CHECK_MISFIT, /* the model fails */
  IDM_CHECK_FAILED, /* the draws, or the answer itself, fail */
  IDM_CHECK_OUTCOMES
} idm_check_outcome;

typedef struct idm_check {
  const char *name;        /* stable identifier */
  const char *measures;    /* what the value is */
  unsigned kinds;          /* kinds of answer that it applies to, as bits */
  const char *needs;       /* what it needs to run; NULL: nothing beyond the answer */
  bool draws;              /* it needs draws of a posterior */
  bool log;                /* it reads the log */
  bool named;              /* it needs names of all free numbers */
  double threshold;        /* NaN: none, or one per answer */
  bool below;              /* values below the threshold are beyond it; else values above */
  idm_check_outcome worst; /* consequence of a value beyond the threshold */
  const char *sentence;    /* what a check that passes shows */
  const char *remedy;      /* what to do where it does not pass */
  const char *owner;       /* source file that records it; NULL: the check has its own function */
} idm_check;

/* Probability of a misfit where the model is right, over all tests together. */
#define IDM_CHECK_LEVEL 0.01

/* The checks in the order in which they run. RUN(id, function, fields...): a check with its own
 * function, an idm_check_function (invert/assess/context.h). RECORD(id, fields...): a check that
 * the source file `owner` records together with others. */
#define IDM_CHECK_LIST(RUN, RECORD)                                                                \
  RUN(IDM_CHECK_CERTIFICATE, idm_check_certificate, .name = "certificate",                         \
      .measures = "what the certificate attains, in its own measure",                              \
      .kinds = IDM_CHECK_PROGRAM | IDM_CHECK_PREFERENCES | IDM_CHECK_SEPARATE,                     \
      .needs = "an inverse planner with a certificate", .threshold = NAN,                          \
      .worst = IDM_CHECK_FAILED,                                                                   \
      .sentence = "The certificate shows that this is the answer: its gap is closed, and nothing " \
                  "else contradicts it.",                                                          \
      .remedy = "follow the sentence of the failure: a proper prior, or an exact solution")        \
  RUN(IDM_CHECK_COVERAGE, idm_check_coverage, .name = "coverage",                                  \
      .measures = "how far errors of the log move the answer",                                     \
      .kinds = IDM_CHECK_PREFERENCES | IDM_CHECK_PROGRAM,                                          \
      .needs = "a posterior without a likelihood", .threshold = NAN, .worst = IDM_CHECK_FAILED,    \
      .sentence = "Nothing: draws by an objective in place of a likelihood have intervals as "     \
                  "wide as its scale makes them, and no test of the model.",                       \
      .remedy = "test the model by --inverse bayes; measure errors by idm recover")                \
  RUN(IDM_CHECK_FINITE, idm_check_finite, .name = "finite",                                        \
      .measures = "numbers that are not finite", .kinds = IDM_CHECK_ALL_KINDS, .threshold = 0,     \
      .worst = IDM_CHECK_FAILED,                                                                   \
      .sentence = "Every draw, mean, sd and diagnostic is a finite number.",                       \
      .remedy = "give the number a proper or narrower prior, or another scale")                    \
  RUN(IDM_CHECK_RHAT, idm_check_rhat, .name = "r-hat",                                             \
      .measures = "largest rank-normalised split R-hat", .kinds = IDM_CHECK_WITH_DRAWS,            \
      .needs = "two chains or more", .draws = true, .threshold = 1.01, .worst = IDM_CHECK_FAILED,  \
      .sentence = "The chains agree about every number that is summarised (Vehtari et al. 2021).", \
      .remedy = "raise --warmup and --draws; where chains are at separate modes, use --sampler "   \
                "metropolis or a prior that excludes all but one")                                 \
  RUN(IDM_CHECK_EFFECTIVE, idm_check_effective, .name = "effective-draws",                         \
      .measures = "least effective sample size, bulk or tail", .kinds = IDM_CHECK_WITH_DRAWS,      \
      .needs = "a number that is summarised", .draws = true, .threshold = 400, .below = true,      \
      .worst = IDM_CHECK_FAILED,                                                                   \
      .sentence = "Means and quantiles have enough effective draws (Vehtari et al. 2021).",        \
      .remedy = "raise --draws")                                                                   \
  RUN(IDM_CHECK_HEAVY_TAIL, idm_check_heavy_tail, .name = "heavy-tail",                            \
      .measures = "largest Pareto k of a tail", .kinds = IDM_CHECK_WITH_DRAWS,                     \
      .needs = "a number that is not restricted to [0, 1]", .draws = true, .threshold = 0.7,       \
      .worst = IDM_CHECK_REMARK,                                                                   \
      .sentence = "No mean depends on its few largest draws (Vehtari et al. 2024). The weights "   \
                  "of importance sampling have the same limit.",                                   \
      .remedy = "report quantiles, or give the number a narrower prior or another scale")          \
  RECORD(IDM_CHECK_SD, .name = "sd-exists", .measures = "largest Pareto k of a tail",              \
         .kinds = IDM_CHECK_WITH_DRAWS, .needs = "a number that is not restricted to [0, 1]",      \
         .draws = true, .threshold = 0.5, .worst = IDM_CHECK_REMARK,                               \
         .sentence = "Every tail is light enough for an sd to exist; beyond, tables show the "     \
                     "median and the interval in place of mean and sd.",                           \
         .remedy = "report quantiles, or give the number a narrower prior or another scale",       \
         .owner = "invert/assess/draws.c")                                                         \
  RECORD(IDM_CHECK_MEAN, .name = "mean-exists", .measures = "largest Pareto k of a tail",          \
         .kinds = IDM_CHECK_WITH_DRAWS, .needs = "a number that is not restricted to [0, 1]",      \
         .draws = true, .threshold = 1, .worst = IDM_CHECK_FAILED,                                 \
         .sentence = "Every tail is light enough for a mean to exist.",                            \
         .remedy = "report quantiles, or give the number a narrower prior or another scale",       \
         .owner = "invert/assess/draws.c")                                                         \
  RUN(IDM_CHECK_PERSON_DRAWS, idm_check_people, .name = "person-draws",                            \
      .measures = "least effective sample size of a person's number",                              \
      .kinds = IDM_CHECK_POPULATION | IDM_CHECK_SEPARATE, .needs = "people", .draws = true,        \
      .threshold = 100, .below = true, .worst = IDM_CHECK_FAILED,                                  \
      .sentence = "The numbers of every person have enough effective draws to read each to a "     \
                  "tenth of its sd.",                                                              \
      .remedy = "raise --draws or --warmup")                                                       \
  RECORD(IDM_CHECK_PERSON_RHAT, .name = "person-r-hat",                                            \
         .measures = "largest R-hat of a person's number",                                         \
         .kinds = IDM_CHECK_POPULATION | IDM_CHECK_SEPARATE,                                       \
         .needs = "people, and two chains or more", .draws = true, .threshold = 1.05,              \
         .worst = IDM_CHECK_FAILED,                                                                \
         .sentence = "The chains agree about the numbers of every person, of whom there may be "   \
                     "thousands.",                                                                 \
         .remedy = "raise --draws or --warmup", .owner = "invert/assess/draws.c")                  \
  RUN(IDM_CHECK_APPROXIMATION, idm_check_approximation, .name = "approximation",                   \
      .measures = "share of draws that importance weights leave effective",                        \
      .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE, .needs = "a normal approximation (laplace)",    \
      .draws = true, .threshold = 0.5, .below = true, .worst = IDM_CHECK_FAILED,                   \
      .sentence = "The normal approximation is close to the posterior: the weights between them "  \
                  "are even, and the Pareto k of their tail is within that of heavy-tail.",        \
      .remedy = "use --inverse bayes")                                                             \
  RUN(IDM_CHECK_DIVERGENCES, idm_check_divergences, .name = "divergences",                         \
      .measures = "draws that diverged", .kinds = IDM_CHECK_WITH_DRAWS,                            \
      .needs = "a sampler with energies (nuts, hmc)", .draws = true, .threshold = 0,               \
      .worst = IDM_CHECK_FAILED, .sentence = "The sampler can follow the posterior everywhere.",   \
      .remedy = "use --sampler metropolis, or a tighter prior")                                    \
  RUN(IDM_CHECK_ENERGY, idm_check_energy, .name = "energy", .measures = "least E-BFMI of a chain", \
      .kinds = IDM_CHECK_WITH_DRAWS, .needs = "a sampler with energies (nuts, hmc)",               \
      .draws = true, .threshold = 0.3, .below = true, .worst = IDM_CHECK_REMARK,                   \
      .sentence = "The energy mixes fast enough to reach the tails.",                              \
      .remedy = "use a tighter prior or another scale")                                            \
  RUN(IDM_CHECK_HIGHER_MODE, idm_check_higher_mode, .name = "higher-mode",                         \
      .measures = "log-likelihood of the best start less the highest that the draws reach",        \
      .kinds = IDM_CHECK_DYNAMICS | IDM_CHECK_BY_GROUP, .needs = "a record of the best start",     \
      .draws = true, .threshold = 3, .worst = IDM_CHECK_FAILED,                                    \
      .sentence = "No start of the search has a higher mode than that of the draws. The draws "    \
                  "reach the maximum that a normal posterior of their mean and variance has, and " \
                  "the mode that a search from the best of them attains.",                         \
      .remedy = "leave --starts out, or raise it")                                                 \
  RUN(IDM_CHECK_ONE_CHAIN, idm_check_chains, .name = "one-chain",                                  \
      .measures = "chains (per draw of the dynamics in an audit)", .kinds = IDM_CHECK_WITH_DRAWS,  \
      .needs = "draws", .draws = true, .threshold = 2, .below = true, .worst = IDM_CHECK_FAILED,   \
      .sentence = "There are chains to compare: one alone cannot show that it has converged.",     \
      .remedy = "use --chains 4")                                                                  \
  RUN(IDM_CHECK_BEHAVIOR, idm_check_behavior, .name = "behaviour",                                 \
      .measures = "log-loss at the answer over that of uniform choice",                            \
      .kinds = IDM_CHECK_PROGRAM | IDM_CHECK_PREFERENCES | IDM_CHECK_SEPARATE |                    \
               IDM_CHECK_POPULATION | IDM_CHECK_NESTED,                                            \
      .needs = "the log, and an answer without a likelihood of its own", .log = true,              \
      .threshold = 1, .worst = IDM_CHECK_MISFIT,                                                   \
      .sentence = "The planner at the answer predicts the decisions better than uniform choice.",  \
      .remedy = "free another number, or use another planner")                                     \
  RUN(IDM_CHECK_SATURATED, idm_check_saturated, .name = "saturated",                               \
      .measures = "p of the likelihood ratio to the actions' own frequencies by state",            \
      .kinds = IDM_CHECK_PROGRAM, .needs = "the log, and regularised-margin without a horizon",    \
      .log = true, .threshold = IDM_CHECK_LEVEL / 2, .below = true, .worst = IDM_CHECK_MISFIT,     \
      .sentence = "The policy at the answer describes the actions of every state as well as a "    \
                  "right model does; replicates of the log from it are as far from their own "     \
                  "frequencies.",                                                                  \
      .remedy = "use --lambda auto or a larger one, free more numbers, or use another planner")    \
  RUN(IDM_CHECK_IDENTIFICATION, idm_check_identification, .name = "identification",                \
      .measures = "sides on which neither the prior nor the data bound a number",                  \
      .kinds = IDM_CHECK_LIKELIHOOD, .needs = "the log", .log = true, .threshold = 0,              \
      .worst = IDM_CHECK_FAILED,                                                                   \
      .sentence = "The posterior is proper: where a prior is improper, the likelihood falls fast " \
                  "enough towards the limit. Of a point: it has a maximum.",                       \
      .remedy = "give the number a proper prior")                                                  \
  RUN(IDM_CHECK_PRIOR_CONFLICT, idm_check_prior_conflict, .name = "prior-conflict",                \
      .measures = "numbers whose median, or point, is outside the profile interval",               \
      .kinds = IDM_CHECK_LIKELIHOOD, .needs = "the log", .log = true, .named = true,               \
      .threshold = 0, .worst = IDM_CHECK_REMARK,                                                   \
      .sentence = "Posterior medians, or points, are within the 95 % intervals of the profile "    \
                  "likelihood.",                                                                   \
      .remedy = "examine the prior")                                                               \
  RUN(IDM_CHECK_PRIOR_PULL, idm_check_prior_pull, .name = "prior-pull",                            \
      .measures =                                                                                  \
          "largest distance of a posterior mean from the prior's, in sds of what the "             \
          "prior expects of it, where the prior moves it by more than one posterior sd; of "       \
          "a uniform prior the root of twice the log-likelihood gained beyond its ends; of "       \
          "a correlation, what people have beyond it in standard errors; of an sd between "        \
          "people, what their scores vary by beyond it in sds, or the sd that they show in "       \
          "scales of its prior, whichever is less",                                                \
      .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE | IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP,     \
      .needs = "the log, and a prior that is uniform, or normal on an unbounded coordinate",       \
      .draws = true, .log = true, .named = true, .threshold = 3.2905, .worst = IDM_CHECK_MISFIT,   \
      .sentence = "No prior contradicts the data (by as much as 1 in 1,000 right priors) and "     \
                  "keeps the answer away from the values that they lead to, or excludes these.",   \
      .remedy = "correct or widen the prior")                                                      \
  RUN(IDM_CHECK_PRIOR_GAP, idm_check_prior_gap, .name = "prior-gap",                               \
      .measures = "log-likelihood at its maximum, less the draws' mean and a nat a number",        \
      .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE,                                                 \
      .needs = "the log, a maximum of the likelihood, and one problem", .draws = true,             \
      .log = true, .named = true, .threshold = 8, .worst = IDM_CHECK_MISFIT,                       \
      .sentence = "Draws are about as likely as the maximum of the likelihood allows: no prior "   \
                  "of any form keeps them from where the data are e^8 times as likely.",           \
      .remedy = "correct or widen the prior")                                                      \
  RECORD(IDM_CHECK_HIGHEST_POINT, .name = "highest-point",                                         \
         .measures = "log posterior at the maximum of the likelihood less that at the point",      \
         .kinds = IDM_CHECK_POINT | IDM_CHECK_SEPARATE, .needs = "the log, and a point",           \
         .log = true, .named = true, .threshold = 0.02, .worst = IDM_CHECK_FAILED,                 \
         .sentence =                                                                               \
             "The point is the most probable one that was found. The threshold is half "           \
             "the square of a fifth of an sd; where one number is free and the likelihood "        \
             "jumps, a higher point within a fifth of an sd is a remark.",                         \
         .remedy = "start at the higher point (--set), or from more points (--chains)",            \
         .owner = "invert/assess/sentence.c")                                                      \
  RUN(IDM_CHECK_RIDGE, idm_check_ridge, .name = "ridge",                                           \
      .measures = "least eigenvalue of the posterior correlations",                                \
      .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE,                                                 \
      .needs = "the log, and two free numbers or more", .draws = true, .log = true, .named = true, \
      .threshold = 0.1, .below = true, .worst = IDM_CHECK_REMARK,                                  \
      .sentence = "The data bound each number, not only combinations of several. Two numbers "     \
                  "reach the threshold at a correlation of .9.",                                   \
      .remedy = "hold one of the numbers, or report what they imply together")                     \
  RUN(IDM_CHECK_IMPORTANCE, idm_check_importance, .name = "independent-look",                      \
      .measures = "largest difference of a mean (in sds) or of the logarithm of an sd",            \
      .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE | IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP,     \
      .needs = "the log, and at most 20 free numbers, each with a name", .draws = true,            \
      .log = true, .named = true, .threshold = 0.12, .worst = IDM_CHECK_FAILED,                    \
      .sentence = "Importance sampling independent of the chains gives the same means and sds. A " \
                  "difference counts where it also exceeds four of its standard errors.",          \
      .remedy = "raise --warmup and --draws, use --sampler metropolis, or take a tighter prior")   \
  RECORD(IDM_CHECK_MODES, .name = "separate-modes",                                                \
         .measures = "log density of the highest mode found less that of the best draw, less "     \
                     "the number of free numbers",                                                 \
         .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE,                                              \
         .needs = "an importance sample (independent-look) that is too uncertain to compare "      \
                  "means and sds",                                                                 \
         .draws = true, .log = true, .named = true, .threshold = 3, .worst = IDM_CHECK_FAILED,     \
         .sentence = "No mode is much higher than every draw.",                                    \
         .remedy = "raise --warmup and --chains", .owner = "invert/assess/importance.c")           \
  RUN(IDM_CHECK_LATTICE, idm_check_lattice, .name = "lattice",                                     \
      .measures = "shift of a posterior mean on a finer lattice, in sds, with two of its "         \
                  "standard errors",                                                               \
      .kinds = IDM_CHECK_PREDICTED, .needs = "the log, and a planner on a lattice of beliefs",     \
      .log = true, .threshold = 0.5, .worst = IDM_CHECK_FAILED,                                    \
      .sentence = "A finer lattice of beliefs gives the same answer.",                             \
      .remedy = "raise agent.resolution, or use resolution: auto")                                 \
  RUN(IDM_CHECK_SENSITIVITY, idm_check_sensitivity, .name = "sensitivity",                         \
      .measures =                                                                                  \
          "largest shift of a posterior mean, in sds, when a held number is raised by its step",   \
      .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE | IDM_CHECK_POPULATION,                          \
      .needs = "the log, gradients, ten draws or more, and a number that is held", .draws = true,  \
      .log = true, .threshold = NAN, .worst = IDM_CHECK_REMARK,                                    \
      .sentence = "Reports how far the answer moves with the numbers that were held.",             \
      .remedy = "measure the number better, or free it")                                           \
  RECORD(IDM_CHECK_DEPENDS, .name = "depends-on-dynamics",                                         \
         .measures = "largest shift of a posterior mean, in sds, when a probability of the "       \
                     "dynamics is raised by the standard error that this log leaves it",           \
         .kinds = IDM_CHECK_FIT | IDM_CHECK_SEPARATE | IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP,  \
         .needs = "the log with observations, ten draws or more, and dynamics that are held",      \
         .draws = true, .log = true, .threshold = 1, .worst = IDM_CHECK_REMARK,                    \
         .sentence = "The answer is less certain than the dynamics: a plausible error of the "     \
                     "file's probabilities moves no mean by more than one posterior sd.",          \
         .remedy = "read the interval as given the file's dynamics; measure the probability "      \
                   "better, or learn the dynamics and fit over their draws (--dynamics)",          \
         .owner = "invert/assess/sensitivity.c")                                                   \
  RUN(IDM_CHECK_INERT, idm_check_inert, .name = "inert",                                           \
      .measures = "free numbers without effect", .kinds = IDM_CHECK_LIKELIHOOD | IDM_CHECK_AUDIT,  \
      .needs = "the log", .log = true, .threshold = 0, .worst = IDM_CHECK_MISFIT,                  \
      .sentence = "Every free number changes the likelihood somewhere within its prior.",          \
      .remedy = "leave the number out of `free:`, or collect a log in which it has an effect")     \
  RUN(IDM_CHECK_CHANCE, idm_check_chance, .name = "chance",                                        \
      .measures = "p of the gain in likelihood over uniform choice",                               \
      .kinds = IDM_CHECK_LIKELIHOOD | IDM_CHECK_AUDIT, .needs = "the log, with decisions",         \
      .log = true, .threshold = IDM_CHECK_LEVEL, .worst = IDM_CHECK_MISFIT,                        \
      .sentence = "The model predicts the decisions better than uniform choice, by more than its " \
                  "free numbers would by chance. Where it does not, chance-evidence decides "      \
                  "whether that is a misfit or a remark: few decisions are no misfit.",            \
      .remedy = "free another number, use another planner, or collect more decisions")             \
  RECORD(IDM_CHECK_EVIDENCE, .name = "chance-evidence",                                            \
         .measures = "likelihood of the decisions under the model with its prior, over that of "   \
                     "uniform choice",                                                             \
         .kinds = IDM_CHECK_LIKELIHOOD | IDM_CHECK_AUDIT,                                          \
         .needs = "the log, and decisions that do not pass the check chance", .log = true,         \
         .threshold = 0.05, .below = true, .worst = IDM_CHECK_MISFIT,                              \
         .sentence = "Decisions that do not distinguish the model from chance do not contradict "  \
                     "it: uniform choice explains them less than 20 times as well. Agents of the " \
                     "prior who follow the model fail in at most 5 % of cases.",                   \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_RATES, .name = "rates",                                                         \
         .measures = "p of the loss in likelihood against the actions' own rates",                 \
         .kinds = IDM_CHECK_LIKELIHOOD | IDM_CHECK_AUDIT, .needs = "the log, with decisions",      \
         .log = true, .threshold = 0.001, .below = true, .worst = IDM_CHECK_MISFIT,                \
         .sentence = "The model predicts no worse than the actions' own rates.",                   \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_HOMOGENEITY, .name = "alike",                                                   \
         .measures = "p of the effective number of parameters",                                    \
         .kinds = IDM_CHECK_LIKELIHOOD | IDM_CHECK_AUDIT,                                          \
         .needs = "the log, and two agents or more that share numbers", .log = true,               \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence = "The agents are alike enough to share one set of numbers. The level is "      \
                     "divided by the number of tests.",                                            \
         .remedy = "give each agent its own numbers (idm fit --by agent, idm audit --people)",     \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_TRAJECTORIES, .name = "trajectories",                                           \
         .measures = "p of scores of decisions by those before in the trajectory",                 \
         .kinds = IDM_CHECK_PREDICTED,                                                             \
         .needs = "the log, and an agent with two trajectories or more", .log = true,              \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence =                                                                               \
             "The trajectories of an agent are alike enough to share its numbers. The level "      \
             "is divided by the number of tests.",                                                 \
         .remedy = "fit trajectories of different kinds apart (--where, --each COLUMN)",           \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_STEPS, .name = "steps", .measures = "p of the actions' rates by step",          \
         .kinds = IDM_CHECK_PREDICTED, .needs = "the log, with decisions that vary by step",       \
         .log = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,      \
         .sentence = "The rates of the actions by step are as predicted. A rate that is off by "   \
                     "less than 2 % is a remark.",                                                 \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_LENGTHS, .name = "ends", .measures = "p of the lengths of the trajectories",    \
         .kinds = IDM_CHECK_PREDICTED, .needs = "the log, with decisions that end a trajectory",   \
         .log = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,      \
         .sentence = "Trajectories end when the model predicts it. A rate that is off by less "    \
                     "than 2 % is a remark.",                                                      \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(                                                                                          \
      IDM_CHECK_REPETITION, .name = "stays", .measures = "p of repeated actions by observation",   \
      .kinds = IDM_CHECK_PREDICTED, .needs = "the log, with decisions after an observation",       \
      .log = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,         \
      .sentence = "Actions are repeated after each observation as often as predicted. A rate "     \
                  "that is off by less than 2 % is a remark.",                                     \
      .remedy = "free another number, or use another planner", .owner = "invert/assess/model.c")   \
  RECORD(IDM_CHECK_ALTERNATION, .name = "returns",                                                 \
         .measures = "p of returns to the action before the last", .kinds = IDM_CHECK_PREDICTED,   \
         .needs = "the log, with decisions two rows after an observation", .log = true,            \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence = "The action before the last is taken again as often as predicted, by what "   \
                     "was seen after it. A rate that is off by less than 2 % is a remark.",        \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_RESPONSES, .name = "responses",                                                 \
         .measures = "p of the actions' rates by observation", .kinds = IDM_CHECK_PREDICTED,       \
         .needs = "the log, with decisions after an observation", .log = true,                     \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence = "The rates of the actions after each observation are as predicted. A rate "   \
                     "that is off by less than 2 % is a remark.",                                  \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_BELIEFS, .name = "beliefs", .measures = "p of the actions' rates by belief",    \
         .kinds = IDM_CHECK_PREDICTED,                                                             \
         .needs = "the log, 2 to 8 hidden states and 2 or more observations", .log = true,         \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence = "The rates of the actions are as predicted at each belief: by its likeliest " \
                     "state and by thirds of that state's probability. A rate that is off by "     \
                     "less than 2 % is a remark.",                                                 \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_CONDITIONS, .name = "conditions",                                               \
         .measures = "p of the actions' rates by condition", .kinds = IDM_CHECK_PREDICTED,         \
         .needs = "the log, and 2 to 64 conditions by columns that utilities are read from",       \
         .log = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,      \
         .sentence = "The rates of the actions in each condition are as predicted. A rate that "   \
                     "is off by less than 2 % is a remark.",                                       \
         .remedy = "free another number, or use another planner",                                  \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_AGENT_BANDS, .name = "outside",                                                 \
         .measures = "p of the number of agents outside", .kinds = IDM_CHECK_PREDICTED,            \
         .needs = "the log, and 2 to 40,000 agents", .log = true, .threshold = IDM_CHECK_LEVEL,    \
         .below = true, .worst = IDM_CHECK_MISFIT,                                                 \
         .sentence = "No more agents than expected are outside the 95 % band of their own rates.", \
         .remedy = "examine the agents that are named; give each agent its own numbers",           \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_CALIBRATION, .name = "calibration",                                             \
         .measures = "p of the log-loss that recalibrated probabilities gain",                     \
         .kinds = IDM_CHECK_PREDICTED, .needs = "the log, and at most 32 free numbers with names", \
         .log = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,      \
         .sentence =                                                                               \
             "Actions that are predicted with probability p are taken in a share p of the "        \
             "decisions (isotonic regression). A share that is off by less than 2 % is a "         \
             "remark.",                                                                            \
         .remedy = "free lapse or another number, or use another planner",                         \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_EXTENSIONS, .name = "extensions",                                               \
         .measures = "p of what a number that is held would gain if it were free, of a drift, of " \
                     "a memory that begins anew, or of what is carried over from the rows before", \
         .kinds = IDM_CHECK_PREDICTED, .needs = "the log, and at most 32 free numbers with names", \
         .log = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,      \
         .sentence = "No number that is held (lapse, perseverance, prior_weight, discount, ...) "  \
                     "would improve the likelihood if it were free, no free number drifts within " \
                     "or over trajectories or differs by the last reward or observation, no "      \
                     "memory of agents begins anew in every trajectory, and choices follow the "   \
                     "actions of the rows before no more than the planner does.",                  \
         .remedy = "free the number that is named (--free), fit early and late rows or "           \
                   "trajectories apart (--where, --each), or use another planner",                 \
         .owner = "invert/assess/model.c")                                                         \
  RECORD(IDM_CHECK_ENVIRONMENT, .name = "environment",                                             \
         .measures = "least p of a probability of the environment, times their number",            \
         .kinds =                                                                                  \
             IDM_CHECK_PREDICTED | IDM_CHECK_DYNAMICS | IDM_CHECK_PROGRAM | IDM_CHECK_PREFERENCES, \
         .needs = "the log with observations, and matrices of the environment", .log = true,       \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence = "The observations of the log are as likely as the start, transition and "     \
                     "observation probabilities imply, given the actions, and no observation "     \
                     "recurs within trajectories, or has a trend, that they do not. Of learnt "    \
                     "dynamics the latter alone are tested. The level is divided by the number "   \
                     "of tests. A difference of less than 2 % is a remark.",                       \
         .remedy = "correct the probability that is named, learn the dynamics (idm learn, then "   \
                   "--dynamics), or add a state",                                                  \
         .owner = "invert/assess/environment.c")                                                   \
  RECORD(IDM_CHECK_PERSON_FITS, .name = "person-fits", .measures = "people whose own fit failed",  \
         .kinds = IDM_CHECK_SEPARATE, .threshold = 0, .worst = IDM_CHECK_FAILED,                   \
         .sentence = "Every person could be fitted, and every fit is "                             \
                     "trusted.",                                                                   \
         .remedy = "follow the reason of each person", .owner = "invert/people/separate.c")        \
  RECORD(IDM_CHECK_PERSON_MISFITS, .name = "person-misfits",                                       \
         .measures = "p of the number of people whom the model does not fit",                      \
         .kinds = IDM_CHECK_SEPARATE, .threshold = IDM_CHECK_LEVEL, .below = true,                 \
         .worst = IDM_CHECK_MISFIT,                                                                \
         .sentence = "The model fails to fit no more people than a right model would.",            \
         .remedy = "follow the reason of each person", .owner = "invert/people/separate.c")        \
  RECORD(                                                                                          \
      IDM_CHECK_PERSON_EXTENSIONS, .name = "person-extensions",                                    \
      .measures = "p of what a number would gain over all people together",                        \
      .kinds = IDM_CHECK_SEPARATE,                                                                 \
      .needs = "two people with draws, and at most 32 free numbers with names", .draws = true,     \
      .named = true, .threshold = IDM_CHECK_LEVEL / 2, .below = true, .worst = IDM_CHECK_MISFIT,   \
      .sentence = "The scores of extensions, added up over people, show nothing that the model "   \
                  "lacks in every person by too little to be found in one.",                       \
      .remedy = "free the number that is named (--free), or use another planner",                  \
      .owner = "invert/people/separate.c")                                                         \
  RECORD(IDM_CHECK_PERSON_GUESSES, .name = "person-guesses",                                       \
         .measures = "p of the number of people who are predicted no better than by chance",       \
         .kinds = IDM_CHECK_SEPARATE, .threshold = 0.05, .below = true, .worst = IDM_CHECK_MISFIT, \
         .sentence = "No more people than 1 in 20 decide as if by chance, where their decisions "  \
                     "suffice to show it (chance-evidence).",                                      \
         .remedy = "follow the reason of each person", .owner = "invert/people/separate.c")        \
  RECORD(IDM_CHECK_PERSON_CHANCE, .name = "person-chance",                                         \
         .measures = "people predicted no better than by uniform choice",                          \
         .kinds = IDM_CHECK_POPULATION, .needs = "a log of decisions", .log = true,                \
         .threshold = 0, .worst = IDM_CHECK_REMARK,                                                \
         .sentence = "Every person is predicted better than by uniform choice.",                   \
         .remedy = "read the numbers of these people as those of the population",                  \
         .owner = "invert/people/report.c")                                                        \
  RECORD(IDM_CHECK_OUTLIER, .name = "outlier",                                                     \
         .measures = "p of the person furthest from the others",                                   \
         .kinds = IDM_CHECK_POPULATION | IDM_CHECK_NESTED,                                         \
         .needs = "three people more than coefficients, who vary", .draws = true,                  \
         .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,                   \
         .sentence = "No person is so far from the others that people cannot vary normally.",      \
         .remedy =                                                                                 \
             "exclude the person that is named (--where), or describe what sets it apart by "      \
             "a column (--model); of an audit, put it in a group of its own",                      \
         .owner = "invert/people/form.c")                                                          \
  RECORD(IDM_CHECK_FORM, .name = "form",                                                           \
         .measures = "p of a square or product of columns that the regression does not contain",   \
         .kinds = IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP,                                       \
         .needs = "two columns (--model), a number (--model) or two pooled groups that overlap "   \
                  "(--group), and three people more than coefficients",                            \
         .draws = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_MISFIT,    \
         .sentence = "No number of people depends on a square or a product of the columns of the " \
                     "regression that it does not contain, nor on a column of another number's "   \
                     "formula; the effects of overlapping groups add up. The level is divided by " \
                     "the number of tests.",                                                       \
         .remedy =                                                                                 \
             "add the product that is named to --model, or a column of the square to the log "     \
             "and to --model; of an audit, compare the combinations as groups (--by)",             \
         .owner = "invert/people/form.c")                                                          \
  RECORD(IDM_CHECK_CONTRACTION, .name = "contraction",                                             \
         .measures = "least 1 - posterior variance / prior variance",                              \
         .kinds = IDM_CHECK_SEPARATE | IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP,                  \
         .needs = "a proper prior", .draws = true, .threshold = 0.5, .below = true,                \
         .worst = IDM_CHECK_REMARK,                                                                \
         .sentence = "The decisions determine more of the number than its prior does; below, a "   \
                     "person or a group is prior-driven.",                                         \
         .remedy = "collect more decisions, or report the number as the prior's",                  \
         .owner = "invert/audit/verdict.c")                                                        \
  RECORD(IDM_CHECK_OWN_DECISIONS, .name = "own-decisions",                                         \
         .measures = "least share that own decisions determine: 1 - shrinkage of a person, "       \
                     "contraction of a group alone",                                               \
         .kinds = IDM_CHECK_POPULATION | IDM_CHECK_BY_GROUP,                                       \
         .needs = "people or groups that are pooled", .draws = true, .threshold = 0.5,             \
         .below = true, .worst = IDM_CHECK_REMARK,                                                 \
         .sentence = "Own decisions determine more of a person or a group than the others do; "    \
                     "below, they are population-driven.",                                         \
         .remedy = "collect more decisions, or read the number as that of the population",         \
         .owner = "invert/audit/verdict.c")                                                        \
  RECORD(IDM_CHECK_PRIOR_DISTANCE, .name = "prior-distance",                                       \
         .measures = "largest distance of a population's number from its prior's centre, in "      \
                     "prior sds",                                                                  \
         .kinds = IDM_CHECK_POPULATION, .draws = true, .threshold = 2, .worst = IDM_CHECK_REMARK,  \
         .sentence = "The population's numbers are where their priors expect them.",               \
         .remedy = "examine the prior", .owner = "invert/people/report.c")                         \
  RECORD(IDM_CHECK_PRIOR_SCALE, .name = "prior-scale",                                             \
         .measures = "largest shift of a mean between half and double the prior's scale, in sds",  \
         .kinds = IDM_CHECK_BY_GROUP, .draws = true, .threshold = 0.5, .worst = IDM_CHECK_REMARK,  \
         .sentence = "The prior's scale does not decide the answer; beyond, a group is "           \
                     "prior-driven.",                                                              \
         .remedy = "collect more decisions, or justify the prior",                                 \
         .owner = "invert/audit/verdict.c")                                                        \
  RECORD(IDM_CHECK_PRIOR_EXCLUSION, .name = "elsewhere",                                           \
         .measures = "log-likelihood at its maximum less that at the best draw, in nats",          \
         .kinds = IDM_CHECK_BY_GROUP, .needs = "the log", .log = true, .threshold = 8,             \
         .worst = IDM_CHECK_MISFIT,                                                                \
         .sentence =                                                                               \
             "The prior does not keep the draws from a region that explains the decisions "        \
             "far better.",                                                                        \
         .remedy = "examine the prior", .owner = "invert/audit/verdict.c")                         \
  RECORD(IDM_CHECK_BETWEEN_DYNAMICS, .name = "between-dynamics",                                   \
         .measures = "largest share of a variance between draws of the dynamics",                  \
         .kinds = IDM_CHECK_FIT | IDM_CHECK_BY_GROUP,                                              \
         .needs = "several draws of learnt dynamics (--dynamics)", .draws = true,                  \
         .threshold = 0.5, .worst = IDM_CHECK_REMARK,                                              \
         .sentence = "Most of each variance is within draws of the dynamics, not between them; "   \
                     "beyond, a number depends on dynamics and has no interval.",                  \
         .remedy = "learn the dynamics from the log of the decisions, or from more data",          \
         .owner = "invert/audit/verdict.c")                                                        \
  RECORD(IDM_CHECK_JOINT_OBSERVATIONS, .name = "joint-observations",                               \
         .measures = "p of the likelihood of the observations that the decisions cost",            \
         .kinds = IDM_CHECK_FIT | IDM_CHECK_AUDIT,                                                 \
         .needs = "dynamics that were learnt from the log of the decisions (--dynamics)",          \
         .draws = true, .threshold = IDM_CHECK_LEVEL, .below = true, .worst = IDM_CHECK_FAILED,    \
         .sentence = "Dynamics that are drawn with the decisions describe the observations about " \
                     "as well as dynamics without decisions do.",                                  \
         .remedy = "correct the utilities, the discount or the agent: decisions of another agent " \
                   "distort the dynamics",                                                         \
         .owner = "invert/joint/fit.c")                                                            \
  RECORD(IDM_CHECK_GIVEN_MEAN, .name = "given-mean-dynamics",                                      \
         .measures = "distance of a median from that of a fit given the mean of the dynamics, "    \
                     "over twice its sd, or the sd of that fit over twice that of the draws",      \
         .kinds = IDM_CHECK_FIT, .needs = "learnt dynamics (--dynamics), and draws",               \
         .draws = true, .log = true, .threshold = 1, .worst = IDM_CHECK_FAILED,                    \
         .sentence = "The draws over learnt dynamics agree with a fit given the mean of these "    \
                     "dynamics, and are at least half as wide.",                                   \
         .remedy = "raise --warmup and --chains", .owner = "invert/assess/mean_dynamics.c")        \
  RECORD(IDM_CHECK_JOINT_RHAT, .name = "joint-r-hat",                                              \
         .measures = "largest R-hat of a probability that is drawn with the decisions",            \
         .kinds = IDM_CHECK_FIT | IDM_CHECK_AUDIT,                                                 \
         .needs = "dynamics that were learnt from the log of the decisions (--dynamics), and two " \
                  "chains or more",                                                                \
         .draws = true, .threshold = 1.05, .worst = IDM_CHECK_FAILED,                              \
         .sentence = "The chains agree about the learnt dynamics, which are drawn together with "  \
                     "the answer.",                                                                \
         .remedy = "raise --warmup and --draws", .owner = "invert/joint/fit.c")                    \
  RECORD(IDM_CHECK_DYNAMICS_COUNT, .name = "dynamics-count",                                       \
         .measures = "largest share of a variance between draws of the dynamics, over their "      \
                     "number",                                                                     \
         .kinds = IDM_CHECK_BY_GROUP, .needs = "several draws of learnt dynamics (--dynamics)",    \
         .draws = true, .threshold = 0.01, .worst = IDM_CHECK_REMARK,                              \
         .sentence =                                                                               \
             "There are enough draws of the dynamics to estimate a mean to a tenth of its sd.",    \
         .remedy = "raise --dynamics-draws", .owner = "invert/audit/remarks.c")                    \
  RECORD(IDM_CHECK_DYNAMICS_DRAWS, .name = "dynamics-draws",                                       \
         .measures = "checks that the draws of the dynamics fail",                                 \
         .kinds = IDM_CHECK_FIT | IDM_CHECK_BY_GROUP,                                              \
         .needs = "draws of learnt dynamics in a folder (--dynamics)", .threshold = 0,             \
         .worst = IDM_CHECK_FAILED, .sentence = "The draws of the dynamics are trusted.",          \
         .remedy = "run `idm check` on the folder of the dynamics", .owner = "study/dynamics.c")   \
  RECORD(IDM_CHECK_COMPLETE, .name = "complete", .measures = "parts of the fit that are missing",  \
         .kinds = IDM_CHECK_LIKELIHOOD | IDM_CHECK_PROGRAM | IDM_CHECK_PREFERENCES |               \
                  IDM_CHECK_POPULATION,                                                            \
         .needs = "a run folder", .threshold = 0, .worst = IDM_CHECK_FAILED,                       \
         .sentence = "All draws were made, and the checks that read the log were run.",            \
         .remedy = "continue with `idm fit --resume`", .owner = "study/fit.c")

typedef enum idm_check_id {
#define IDM_CHECK_RUN_ENUM(id, ...)    id,
#define IDM_CHECK_RECORD_ENUM(id, ...) id,
  IDM_CHECK_LIST(IDM_CHECK_RUN_ENUM, IDM_CHECK_RECORD_ENUM)
#undef IDM_CHECK_RUN_ENUM
#undef IDM_CHECK_RECORD_ENUM
      IDM_CHECK_COUNT
} idm_check_id;

/* Result of one check: its worst value over everything that it was applied to. */
typedef struct idm_check_result {
  idm_check_outcome outcome;
  double value;     /* NaN: none */
  double threshold; /* threshold that the value was compared with */
  char why[200];    /* why it was not run; else empty */
} idm_check_result;

/* Results of all checks of an answer. Rows that do not apply to its kind are zero. */
typedef struct idm_checks {
  idm_check_kind kind;
  idm_check_result of[IDM_CHECK_COUNT];
} idm_checks;

/* Row i of the table; NULL past the last. */
IDM_CHECKED const idm_check *idm_check_at(size_t i);
/* Index of the check of that name, or IDM_CHECK_COUNT. */
IDM_CHECKED idm_check_id idm_check_find(const char *name);
/* Threshold of a check; NaN past the last. */
IDM_CHECKED double idm_check_threshold(idm_check_id id);
/* Whether a check applies to the kind of answer that the results are of. */
IDM_CHECKED bool idm_check_applies(const idm_checks *checks, idm_check_id id);
/* Whether a check was not run, on at least one part of the answer, because of the time limit of the
 * checks. Where its outcome is not IDM_CHECK_NOT_RUN, it ran on other parts (people, groups). */
IDM_CHECKED bool idm_check_is_left_out(const idm_checks *checks, idm_check_id id);
/* Number of checks that were left out in this sense. */
IDM_CHECKED size_t idm_checks_left_out(const idm_checks *checks);
/* Name of an outcome: "not recorded", "not run", "passed", "remark", "misfit", "failed"; NULL past
 * the last. */
IDM_CHECKED const char *idm_check_outcome_name(idm_check_outcome outcome);
/* Name of a kind: "fit", "point", "preferences", "program", "each", "population", "audit", "audit
 * --people", "dynamics"; NULL for any other value. */
IDM_CHECKED const char *idm_check_kind_name(idm_check_kind kind);

#endif
