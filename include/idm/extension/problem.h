/* A problem, as described by a problem file: setting, parameter, agent and columns of the log. */
#ifndef IDM_EXTENSION_PROBLEM_H
#define IDM_EXTENSION_PROBLEM_H

#include "idm/extension/column.h"
#include "idm/extension/derive.h"
#include "idm/extension/theta.h"
#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_evaluate { IDM_LOOKAHEAD, IDM_INTERPOLATE } idm_evaluate;
typedef enum idm_surprise { IDM_SURPRISE_BELIEF, IDM_SURPRISE_OBSERVATION } idm_surprise;
typedef enum idm_recognition { IDM_RECOGNITION_MEAN, IDM_RECOGNITION_SAMPLED } idm_recognition;
typedef enum idm_alpha_unit { IDM_ALPHA_ABSOLUTE, IDM_ALPHA_RANGE } idm_alpha_unit;
typedef enum idm_asymmetry { IDM_ASYMMETRY_OUTCOME, IDM_ASYMMETRY_ERROR } idm_asymmetry;
typedef enum idm_discounting {
  IDM_EXPONENTIAL,  /* by a discount factor per step */
  IDM_NAIVE,        /* by a discount function of delay, assuming that later selves will agree */
  IDM_SOPHISTICATED /* by a discount function of delay, anticipating the choices of later selves */
} idm_discounting;

typedef enum idm_action_choice {
  IDM_CHOICE_DRAWN, /* drawn from the softmax of the scores */
  IDM_CHOICE_BEST   /* the largest score; ties are drawn by the action prior */
} idm_action_choice;

struct idm_planner;

/* Options of an agent that are not parameters to infer. NaN: no capacity is given. */
typedef struct idm_agent_options {
  const struct idm_planner *planner; /* NULL: the first of the registry (see idm_agent_planner) */
  int resolution; /* r of the lattice; 0 (auto): the default for the number of states, refined by a
                     fit as far as its posterior requires */
  idm_evaluate evaluate;       /* interpolation of policies off the lattice */
  idm_surprise surprise;       /* whether observations with equal successor beliefs are merged */
  idm_recognition recognition; /* mean belief, or the mixture itself */
  idm_alpha_unit alpha_unit;   /* unit of alpha: utility, or the range of the utilities of each
                                  variant, so that one value fits all payoff schemes */
  double tolerance;            /* bound on |V - V*|, relative to max(|u|, |V|) */
  double gap; /* of point-based: gap between its bounds on the value at the start belief, in units
                 of the utility */
  double decision_capacity;      /* nats; determines alpha */
  double specification_capacity; /* nats; determines beta */
  double recognition_capacity;   /* nats; determines eta */
  idm_discounting discounting;   /* discounting by delay requires a horizon */
  idm_asymmetry asymmetry;       /* of td-learner: definition of a gain */
  bool fictive;  /* of td-learner: the action not taken is updated as if it had given the opposite
                    outcome */
  int hidden;    /* of networks: units of the hidden layer, or of the recurrent memory */
  int layer;     /* of recurrent: units between memory and output */
  int sweeps;    /* of value-iteration-network */
  uint64_t seed; /* of networks: seed of the initial weights; of planners that learn by acting: seed
                    of their samples */
  long budget;   /* of planners that learn by acting: number of transitions; 0 (auto): the planner's
                    default */
  double step_power;  /* q-learning: learning rate n^-step_power at the n-th visit of a state and
                         action */
  double exploration; /* q-learning: fraction of uniformly random actions */
  int nodes;          /* number of nodes of a controller */
  idm_action_choice choice; /* of decision-rule */
} idm_agent_options;

/* An entry of the utility that depends on a column of the data: scale * column. */
typedef struct idm_utility_source {
  size_t action;
  size_t state;
  size_t column; /* index into idm_columns.utility */
  double scale;
} idm_utility_source;

/* Coding of cells in addition to the labels themselves, which are always recognised. */
typedef struct idm_code {
  bool index;              /* an integer is the index of a label, from 0 */
  idm_labels text;         /* map: this text ... */
  idm_labels target_label; /* ... denotes this label */
} idm_code;

/* Codes of a role: none (labels only), one (for the label), or, if the label is joined from several
 * columns, one per column, for its level there (see idm_labels_level). Coding by index then applies
 * to every column. */
typedef struct idm_codes {
  size_t count;
  idm_code *code;
} idm_codes;

/* Mapping of the columns of a log to roles, and the coding of their cells. Each role is a list of
 * column names; empty lists use the defaults of their descriptor. */
typedef struct idm_columns {
  idm_labels role[IDM_COLUMN_COUNT];
  idm_labels utility;                /* columns that are referenced by utility entries */
  idm_codes codes[IDM_COLUMN_COUNT]; /* used for actions and observations */
  idm_labels missing;   /* texts that denote a missing value, in addition to the empty cell */
  idm_labels missed;    /* texts of the action column that denote a missed response */
  size_t missed_action; /* action whose dynamics apply after a missed response, counted from 1; 0:
                           none is given */
  size_t derived_count;
  idm_derived *derived; /* [derived_count]: each is computed from columns of the log and preceding
                           derived columns */
  size_t rules;
  idm_rule *rule; /* [rules]: rules on rows first */
} idm_columns;

/* Rule that derives the models of an agent from the environment; all 0: no rule. */
typedef struct idm_model_rule {
  double perturb[2]; /* transition, observation: models in which the most likely outcome of every
                        row is less likely by this amount, unchanged, or more likely */
  bool independent;  /* perturb each row separately, not all rows together */
  double uniform;    /* add a model in which this fraction of every row is uniform over the possible
                        outcomes */
} idm_model_rule;

/* Member of a family of environments with common spaces, agent and utility. */
typedef struct idm_environment {
  char *name;
  idm_setting *setting;
} idm_environment;

typedef struct idm_problem {
  idm_setting *setting;
  idm_theta *theta;
  idm_model_rule models; /* rule from which the models of theta were derived */
  idm_agent_options agent;
  double correlation; /* shape of the LKJ prior of correlations between effects of a person; 0: not
                         given */
  idm_columns columns;
  size_t utility_sources;
  idm_utility_source *utility_source;
  size_t environments; /* 0: no family, only the setting */
  idm_environment *environment;
  size_t current_environment; /* index of the environment that is the setting, counted from 1; 0:
                                 none of them */
} idm_problem;

#ifdef __cplusplus
}
#endif
#endif
