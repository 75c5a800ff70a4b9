/* A problem: what one file of a user describes. Setting, parameter, agent, and how to read the log.
 */
#ifndef IDM_PROBLEM_H
#define IDM_PROBLEM_H

#include "idm/column.h"
#include "idm/derive.h"
#include "idm/key.h"
#include "idm/theta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_evaluate { IDM_LOOKAHEAD, IDM_INTERPOLATE } idm_evaluate;
typedef enum idm_surprise { IDM_SURPRISE_BELIEF, IDM_SURPRISE_OBSERVATION } idm_surprise;
typedef enum idm_recognition { IDM_RECOGNITION_MEAN, IDM_RECOGNITION_SAMPLED } idm_recognition;
typedef enum idm_alpha_unit { IDM_ALPHA_ABSOLUTE, IDM_ALPHA_RANGE } idm_alpha_unit;
typedef enum idm_asymmetry { IDM_ASYMMETRY_OUTCOME, IDM_ASYMMETRY_ERROR } idm_asymmetry;
typedef enum idm_discounting {
  IDM_EXPONENTIAL,  /* by the discount of a step */
  IDM_NAIVE,        /* by delay, as if later selves would agree */
  IDM_SOPHISTICATED /* by delay, foreseeing what later selves will do */
} idm_discounting;

typedef enum idm_action_choice {
  IDM_CHOICE_DRAWN, /* by the softmax of the scores */
  IDM_CHOICE_BEST   /* of the largest score; where several have it, drawn by the action prior */
} idm_action_choice;

struct idm_planner;

/* Choices of an agent that are not numbers to infer. NaN marks a capacity that is not asked for. */
typedef struct idm_agent_options {
  const struct idm_planner *planner; /* NULL: the first of the registry (see idm_agent_planner) */
  int resolution; /* r of the lattice; 0 (auto): the default for the number of states, which a run
                     refines as far as its posterior asks for */
  idm_evaluate evaluate; /* policies off the lattice */
  idm_surprise surprise; /* whether observations with the same successor belief count as one */
  idm_recognition recognition; /* mean belief, or the mixture itself */
  idm_alpha_unit alpha_unit;   /* alpha in units of the utility, or of the range of the utilities of
                                  each variant: whoever adapts to what is at stake has one alpha */
  double tolerance;            /* bound on |V - V*| to reach, relative to max(|u|, |V|) */
  double gap; /* of point-based: between its bounds on the value at the start belief, in units of
                 the utility */
  double decision_capacity;      /* nats; finds alpha */
  double specification_capacity; /* nats; finds beta */
  double recognition_capacity;   /* nats; finds eta */
  idm_discounting discounting;   /* how what comes later counts; by delay there is a horizon */
  idm_asymmetry asymmetry;       /* of td-learner: what it calls a gain */
  bool fictive; /* of td-learner: what was not taken is learnt of as if it had given the opposite */
  int hidden;   /* of networks: units of the hidden layer, or of the memory */
  int layer;    /* of recurrent: units between the memory and the choice */
  int sweeps;   /* of value-iteration-network */
  uint64_t
      seed; /* of networks: what their numbers start from; of who learns by acting: what is drawn */
  long budget; /* of planners that learn by acting: transitions to draw; 0 (auto): the planner's */
  double step_power;        /* q-learning: the n-th step at a state and action is n^-step_power */
  double exploration;       /* q-learning: share of actions that are drawn evenly */
  int nodes;                /* of a controller's memory */
  idm_action_choice choice; /* of decision-rule */
} idm_agent_options;

/* An entry of the utility that comes from a column of the data: scale * column. */
typedef struct idm_utility_source {
  size_t action;
  size_t state;
  size_t column; /* index into idm_columns.utility */
  double scale;
} idm_utility_source;

/* How cells stand for labels beside the labels themselves, which always do. */
typedef struct idm_code {
  bool index;              /* a number is the place of a label in its list, from 0 */
  idm_labels text;         /* a map: this text ... */
  idm_labels target_label; /* ... stands for this label */
} idm_code;

/* Codes of a role: none (labels only), one (of the label), or where the label is joined from
 * several columns one a column, of its level there (see idm_labels_level). One that goes by index
 * is then that of every column. */
typedef struct idm_codes {
  size_t count;
  idm_code *code;
} idm_codes;

/* Which columns of a log play which role, and what its cells mean. Each role is a list of names;
 * empty lists take the defaults of their descriptor. */
typedef struct idm_columns {
  idm_labels role[IDM_COLUMN_COUNT];
  idm_labels utility;                /* columns that utility entries name */
  idm_codes codes[IDM_COLUMN_COUNT]; /* of actions and observations */
  idm_labels missing;                /* texts that mean "not recorded", as an empty cell does */
  idm_labels missed;                 /* texts of the action's column that mean a missed response */
  size_t missed_action; /* action that moves the world then, counted from 1; 0: none is named */
  size_t derived_count;
  idm_derived *derived; /* [deriveds]: each is made from columns of the log and those before it */
  size_t rules;
  idm_rule *rule; /* [rules]: those on rows first */
} idm_columns;

IDM_API void idm_codes_destroy(idm_codes *codes);
/* Allocate `count` codes of labels only. */
IDM_API idm_status idm_codes_create(idm_codes *codes, size_t count, idm_error *opt_error);
/* The distinct parts number `part` of labels that are joined from `parts` by '/', in the order of
 * the labels; IDM_INPUT where a label has not as many parts. */
IDM_API idm_status idm_labels_level(const idm_labels *labels, size_t parts, size_t part,
                                    idm_labels *ret_labels, idm_error *opt_error);

/* How the models of an agent follow from the environment; all 0: by no rule. */
typedef struct idm_model_rule {
  double perturb[2]; /* transition, observation: in every row the likeliest outcome is less likely
                        by this much, as it is, and more likely */
  bool independent;  /* each row by itself, in place of all together */
  double uniform;    /* a second model, with this share of every row even over what is possible */
} idm_model_rule;

/* One of a family of environments that share spaces, agent and utility. */
typedef struct idm_environment {
  char *name;
  idm_setting *setting;
} idm_environment;

typedef struct idm_problem {
  idm_setting *setting;
  idm_theta *theta;
  idm_model_rule models; /* the rule that the models of theta were made by */
  idm_agent_options agent;
  double correlation; /* shape of the LKJ prior of correlations between people; 0: not given */
  idm_columns columns;
  size_t utility_sources;
  idm_utility_source *utility_source;
  size_t environments; /* 0 where there is no family: the setting is all there is */
  idm_environment *environment;
  size_t current_environment; /* the one that the setting is, counted from 1; 0: none of them */
} idm_problem;

/* Settings every agent starts from. */
IDM_API void idm_agent_options_default(idm_agent_options *agent);
/* Keys of the agent beside its planner and the blocks of theta, as they stand under `agent:`; one
 * descriptor a field of idm_agent_options. */
IDM_API const idm_key *idm_agent_option_keys(void);
/* Allocate a problem around a fresh setting and a theta with `models` models. */
IDM_API idm_status idm_problem_create(idm_sizes sizes, size_t models, bool with_transition,
                                      bool with_emission, idm_problem **ret_problem,
                                      idm_error *opt_error);
/* One without matrices, whose setting is to be given moves. */
IDM_API idm_status idm_problem_create_sparse(idm_sizes sizes, idm_problem **ret_problem,
                                             idm_error *opt_error);
IDM_API void idm_problem_destroy(idm_problem *problem);
IDM_API idm_status idm_problem_validate(const idm_problem *problem, idm_error *opt_error);
/* Put an environment of the family in place of the setting's own; an agent that knew the one knows
 * the other. IDM_USAGE where there is none of that name. */
IDM_API idm_status idm_problem_set_environment(idm_problem *problem, const char *environment,
                                               idm_error *opt_error);
/* Put the environment of another problem in place of the problem's own: its dynamics, start,
 * endings, horizon and family of environments. The agent and its numbers stay; its models follow
 * from the new environment. `other` gets the former environment, for the caller to destroy.
 * IDM_INPUT where states or actions differ, observations differ between problems of hidden states,
 * features have other names, or the agent has models that do not follow from an environment. */
IDM_API idm_status idm_problem_transfer(idm_problem *problem, idm_problem *other,
                                        idm_error *opt_error);
/* Where two problems differ: writes the first difference into buffer and returns false; true when
 * they are the same to a relative `tolerance` (0: bit for bit). */
IDM_API bool idm_problem_compare(const idm_problem *a, const idm_problem *b, double tolerance,
                                 char *buffer, size_t size);
/* Give the utility block one copy a variant from values[variant][column] (variants of a
 * setting). */
IDM_API idm_status idm_problem_bind(idm_problem *problem, size_t variants, const double *opt_values,
                                    idm_error *opt_error);
/* The other way round: values[variant][column] that bind the problem's utilities to those of a
 * theta, which may belong to another problem of the same sizes. IDM_USAGE where entries of one
 * column would need different values. */
IDM_API idm_status idm_problem_unbind(const idm_problem *problem, const idm_theta *theta,
                                      double *values, idm_error *opt_error);
/* Columns of a role: those that the problem names, else the first default of its descriptor. */
IDM_API size_t idm_columns_count(const idm_columns *columns, idm_column role);
IDM_API const char *idm_columns_name(const idm_columns *columns, idm_column role, size_t part);
/* Whether a column of a role is one of another role as well. */
IDM_API bool idm_columns_shared(const idm_columns *columns, idm_column role, size_t part,
                                idm_column other);

#ifdef __cplusplus
}
#endif
#endif
