/* Blocks of theta: one descriptor says everything about a kind of parameter.
 *
 * Allocation, copies, defaults, checks, priors, files, run.nc, sensitivity and help follow from it.
 * Blocks that several planners read stand in one table; a planner brings its own beside them. */
#ifndef IDM_BLOCK_H
#define IDM_BLOCK_H

#include "idm/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the numbers of a block are indexed by, slowest first. */
typedef enum idm_axis {
  IDM_AXIS_END,
  IDM_AXIS_MODEL,
  IDM_AXIS_ACTION,
  IDM_AXIS_STATE,
  IDM_AXIS_NEXT_STATE,
  IDM_AXIS_OBSERVATION,
  IDM_AXIS_TERM,  /* a constant, then the states: terms of a linear score */
  IDM_AXIS_FIELD, /* the descriptor's own fields */
  IDM_AXIS_COUNT
} idm_axis;

/* Where a number may lie. */
typedef enum idm_support {
  IDM_REAL,
  IDM_NOT_NEGATIVE,
  IDM_POSITIVE,
  IDM_FRACTION,    /* in [0, 1] */
  IDM_DISTRIBUTION /* each row along the last axis sums to 1 */
} idm_support;

/* Coordinate in which a free block is inferred. */
#define IDM_SCALE_LIST(X)                                                                          \
  X(IDM_SCALE_IDENTITY, "identity")                                                                \
  X(IDM_SCALE_LOG, "log")                                                                          \
  X(IDM_SCALE_INVERSE, "inverse")                                                                  \
  X(IDM_SCALE_SIGNED_LOG, "signed-log")                                                            \
  X(IDM_SCALE_LOGIT, "logit")
typedef enum idm_scale {
#define IDM_SCALE_ENUM(id, name) id,
  IDM_SCALE_LIST(IDM_SCALE_ENUM)
#undef IDM_SCALE_ENUM
} idm_scale;

/* Scales that a free block may have, as bits. */
enum {
  IDM_SCALES_NONE = 0, /* it cannot be free */
  IDM_SCALES_IDENTITY = 1 << IDM_SCALE_IDENTITY,
  IDM_SCALES_SIGNED = IDM_SCALES_IDENTITY | 1 << IDM_SCALE_SIGNED_LOG,
  IDM_SCALES_FRACTION = IDM_SCALES_IDENTITY | 1 << IDM_SCALE_LOGIT,
  IDM_SCALES_POWER = IDM_SCALES_IDENTITY | 1 << IDM_SCALE_LOG,
  IDM_SCALES_ALL = IDM_SCALES_SIGNED | 1 << IDM_SCALE_LOG | 1 << IDM_SCALE_INVERSE
};

/* How a block stands in a problem file. */
typedef enum idm_form {
  IDM_FORM_NUMBER,    /* name: number */
  IDM_FORM_WEIGHTS,   /* name: [weight an action], or {action: weight}; normalised */
  IDM_FORM_FIELDS,    /* name: {field: number, ...}; by action {field: {action: number}, ...} */
  IDM_FORM_DIRICHLET, /* name: {dirichlet: [number a state]}; where states are observed [weight a
                         state] or {state: weight}, normalised */
  IDM_FORM_ROWS,      /* name: {action: [number a term]}; the constant may be left out. By state:
                         {action: [weight a state]}; normalised */
  IDM_FORM_NUMBERS,   /* name: [all numbers] */
  IDM_FORM_UTILITY,   /* by action and state, numbers or data columns */
  IDM_FORM_MODELS     /* with the models */
} idm_form;

/* A field of a block: its value by default, and the range that a file may give it, [least, below).
 */
typedef struct idm_field {
  const char *name; /* NULL ends a list */
  double default_number;
  double least;
  double below;
  bool optional;  /* may be left out of a file, and is where it is as usual */
  bool is_linear; /* utilities are linear in it, so that it can be free */
} idm_field;

typedef struct idm_block_info {
  const char *name;
  const char *summary;
  idm_axis axis[4];       /* ends with IDM_AXIS_END; none: one number */
  size_t count;           /* numbers of an opaque block; 0: as many as its planner says, and
                             elsewhere */
  const idm_field *field; /* of IDM_AXIS_FIELD */
  const char *rows; /* key of any number of rows in addition to the fields, each a number per action
                       and state, that follow them in the block (see idm_theta_rows): then a file
                       may leave any of its keys out. NULL: none */
  idm_support support;
  bool infinite;   /* +-inf are values: limits are computed as limits */
  bool reciprocal; /* smooth in 1/x through infinity: differentiated by the inverse */
  bool optional;   /* absent (size 0) unless a file gives it */
  bool opaque;     /* numbers without names, one quantity in an answer: weights of a network */
  double default_number; /* value of each number by default; that of a distribution is uniform */
  unsigned scales;       /* legal scales of a free one */
  idm_scale scale;       /* the usual one */
  double spread; /* of the default prior, in units of the utility's range where `in_utility` */
  bool in_utility;
  idm_form form;
  /* By action and term, and only differences between actions count; of those the constant and the
   * states say one thing twice, since beliefs sum to 1. A free one holds a reference action's
   * numbers and every constant, so that what is free is what can be told. */
  bool contrast;
  bool of_agent;    /* stands under `agent`, else at the top of the file */
  bool sensitive;   /* while held, how the answer moves with it is reported */
  bool choice_bias; /* of the moment of choice, whoever plans: every planner over beliefs has it */
  bool belief_update; /* of how beliefs take up what is seen, whoever plans: the same */
  bool tied; /* of its rows no number is free by itself: only by names that entries share */
} idm_block_info;

/* Blocks that several planners read, in the order of theta, one descriptor each; fields that are
 * left out are 0. Those of the planner itself come after IDM_BLOCK_COUNT. */
#define IDM_BLOCK_LIST(X)                                                                          \
  X(IDM_UTILITY, .name = "utility", .summary = "utility by action and current state",              \
    .axis = {IDM_AXIS_ACTION, IDM_AXIS_STATE}, .scales = IDM_SCALES_SIGNED, .spread = 2,           \
    .in_utility = true, .form = IDM_FORM_UTILITY, .sensitive = true)                               \
  X(IDM_CERTAINTY, .name = "certainty", .summary = "award paid while the belief is certain",       \
    .axis = {IDM_AXIS_FIELD},                                                                      \
    .field = (const idm_field[]){{"above", 1, 0, 1, false, false},                                 \
                                 {"award", 0, -INFINITY, INFINITY, false, true},                   \
                                 {"width", 0, 0, 1, true, false},                                  \
                                 {NULL, 0, 0, 0, false, false}},                                   \
    .scales = IDM_SCALES_SIGNED, .spread = 2, .in_utility = true, .form = IDM_FORM_FIELDS)         \
  X(IDM_BELIEF_UTILITY, .name = "belief_utility",                                                  \
    .summary = "utility of the belief by action: less its entropy in nats, as much as its "        \
               "likeliest state, and the best of pieces by state",                                 \
    .axis = {IDM_AXIS_FIELD, IDM_AXIS_ACTION},                                                     \
    .field = (const idm_field[]){{"entropy", 0, -INFINITY, INFINITY, false, true},                 \
                                 {"guess", 0, -INFINITY, INFINITY, false, true},                   \
                                 {NULL, 0, 0, 0, false, false}},                                   \
    .rows = "pieces", .scales = IDM_SCALES_SIGNED, .spread = 2, .in_utility = true,                \
    .form = IDM_FORM_FIELDS)                                                                       \
  X(IDM_DISCOUNT, .name = "discount", .summary = "how much the next step counts",                  \
    .support = IDM_FRACTION, .default_number = 0.95, .scales = IDM_SCALES_FRACTION,                \
    .sensitive = true)                                                                             \
  X(IDM_ALPHA, .name = "alpha", .summary = "1/alpha is flexibility", .infinite = true,             \
    .reciprocal = true, .scales = IDM_SCALES_ALL, .scale = IDM_SCALE_LOG, .spread = 1,             \
    .in_utility = true, .of_agent = true, .sensitive = true)                                       \
  X(IDM_BETA, .name = "beta", .summary = "1/beta is optimism", .infinite = true,                   \
    .reciprocal = true, .default_number = INFINITY, .scales = IDM_SCALES_ALL,                      \
    .scale = IDM_SCALE_INVERSE, .spread = 1, .in_utility = true, .of_agent = true,                 \
    .sensitive = true)                                                                             \
  X(IDM_ETA, .name = "eta", .summary = "1/eta is adaptivity", .scales = IDM_SCALES_ALL,            \
    .spread = 1, .in_utility = true, .of_agent = true, .sensitive = true)                          \
  X(IDM_TEMPERATURE, .name = "temperature", .summary = "softmax laid over a solved Q",             \
    .support = IDM_NOT_NEGATIVE, .reciprocal = true, .default_number = 1,                          \
    .scales = IDM_SCALES_ALL, .spread = 1, .in_utility = true, .of_agent = true)                   \
  X(IDM_ACTION_PRIOR, .name = "action_prior", .summary = "prior over actions",                     \
    .axis = {IDM_AXIS_ACTION}, .support = IDM_DISTRIBUTION, .scales = IDM_SCALES_IDENTITY,         \
    .form = IDM_FORM_WEIGHTS)                                                                      \
  X(IDM_MODEL_PRIOR, .name = "model_prior", .summary = "weights of the candidate models",          \
    .axis = {IDM_AXIS_MODEL}, .support = IDM_DISTRIBUTION, .scales = IDM_SCALES_IDENTITY,          \
    .form = IDM_FORM_MODELS, .sensitive = true)                                                    \
  X(IDM_BELIEF_PRIOR, .name = "belief_prior",                                                      \
    .summary = "prior of successor beliefs, Dirichlet; where states are observed, of next states", \
    .axis = {IDM_AXIS_STATE}, .support = IDM_POSITIVE, .optional = true,                           \
    .scales = IDM_SCALES_POWER, .scale = IDM_SCALE_LOG, .spread = 20, .form = IDM_FORM_DIRICHLET)  \
  X(IDM_TRANSITION, .name = "transition", .summary = "transitions of the candidate models",        \
    .axis = {IDM_AXIS_MODEL, IDM_AXIS_ACTION, IDM_AXIS_STATE, IDM_AXIS_NEXT_STATE},                \
    .support = IDM_DISTRIBUTION, .scales = IDM_SCALES_FRACTION, .scale = IDM_SCALE_LOGIT,          \
    .form = IDM_FORM_MODELS, .tied = true)                                                         \
  X(IDM_EMISSION, .name = "emission", .summary = "emissions of the candidate models",              \
    .axis = {IDM_AXIS_MODEL, IDM_AXIS_ACTION, IDM_AXIS_NEXT_STATE, IDM_AXIS_OBSERVATION},          \
    .support = IDM_DISTRIBUTION, .scales = IDM_SCALES_FRACTION, .scale = IDM_SCALE_LOGIT,          \
    .form = IDM_FORM_MODELS, .tied = true)                                                         \
  X(IDM_WEIGHTS, .name = "weights", .summary = "weights of a decision rule",                       \
    .axis = {IDM_AXIS_ACTION, IDM_AXIS_TERM}, .optional = true, .scales = IDM_SCALES_SIGNED,       \
    .spread = 5, .form = IDM_FORM_ROWS, .contrast = true, .of_agent = true)                        \
  X(IDM_PERSEVERANCE, .name = "perseverance",                                                      \
    .summary = "bonus, on log pi, of the action taken last in the trajectory",                     \
    .scales = IDM_SCALES_SIGNED, .spread = 1, .of_agent = true, .choice_bias = true)               \
  X(IDM_LAPSE, .name = "lapse", .summary = "share of choices made at random among what is open",   \
    .support = IDM_FRACTION, .scales = IDM_SCALES_FRACTION, .of_agent = true, .choice_bias = true) \
  X(IDM_PRIOR_WEIGHT, .name = "prior_weight",                                                      \
    .summary = "power of the belief before in that after: 1 is Bayes, 0 neglects base rates",      \
    .support = IDM_NOT_NEGATIVE, .default_number = 1, .scales = IDM_SCALES_POWER,                  \
    .scale = IDM_SCALE_LOG, .spread = 20, .of_agent = true, .belief_update = true)                 \
  X(IDM_EVIDENCE_WEIGHT, .name = "evidence_weight",                                                \
    .summary = "power of what was seen in the belief after: 1 is Bayes, 0 ignores it",             \
    .support = IDM_NOT_NEGATIVE, .default_number = 1, .scales = IDM_SCALES_POWER,                  \
    .scale = IDM_SCALE_LOG, .spread = 20, .of_agent = true, .belief_update = true)                 \
  X(IDM_DELAY_RATE, .name = "delay_rate",                                                          \
    .summary = "kappa of discounting by delay: t steps ahead counts 1/(1 + kappa t)",              \
    .support = IDM_NOT_NEGATIVE, .scales = IDM_SCALES_POWER, .scale = IDM_SCALE_LOG, .spread = 2,  \
    .of_agent = true)                                                                              \
  X(IDM_SENSOR_CAPACITY, .name = "sensor_capacity",                                                \
    .summary = "nats per step that the sensor passes: inf sees everything, 0 nothing",             \
    .support = IDM_NOT_NEGATIVE, .infinite = true, .default_number = INFINITY,                     \
    .scales = IDM_SCALES_POWER, .scale = IDM_SCALE_LOG, .spread = 20, .of_agent = true)

typedef enum idm_block_id {
#define IDM_BLOCK_ENUM(id, ...) id,
  IDM_BLOCK_LIST(IDM_BLOCK_ENUM)
#undef IDM_BLOCK_ENUM
      IDM_BLOCK_COUNT
} idm_block_id;

/* The shared table: descriptor of a block. */
IDM_API const idm_block_info *idm_block_describe(idm_block_id id);
/* Name of a shared block, and back (-1 where unknown). */
IDM_API const char *idm_block_name(idm_block_id id);
IDM_API int idm_block_find(const char *name);
/* Names of the axes, as in run.nc. */
IDM_API const char *idm_axis_name(idm_axis axis);
/* Length of an axis, of a block where it is one of fields. */
IDM_API size_t idm_axis_length(const idm_block_info *opt_info, idm_axis axis, idm_sizes sizes,
                               size_t models);
/* Label of place `at` along an axis; models have none, and are numbered from 1 in `number`. */
IDM_API const char *idm_axis_label(const idm_block_info *info, const idm_setting *setting,
                                   idm_axis axis, size_t at, char *number, size_t size);
/* Numbers of a block; 0 where its planner says how many (see idm_planner_shape). */
IDM_API size_t idm_block_size(const idm_block_info *info, idm_sizes sizes, size_t models);
/* Field of number i of a block; NULL where it is none of a field. */
IDM_API const idm_field *idm_block_field(const idm_block_info *info, idm_sizes sizes, size_t i);
/* Numbers of a row, along the last axis: of a distribution, where the block holds those. */
IDM_API size_t idm_block_width(const idm_block_info *info, idm_sizes sizes, size_t models);
/* Name of number i within its block, as in "monitor,healthy": labels joined by commas, models from
 * 1; a label with a comma, a bracket or a quote in it stands in quotes, and those within are
 * doubled. Empty for a block of one number. Returns buffer; IDM_ENTRY_SIZE bytes are room for two
 * labels of 1000 bytes each, whatever they are made of. */
enum { IDM_ENTRY_SIZE = 4100 };
IDM_API const char *idm_block_entry_name(const idm_block_info *info, const idm_setting *setting,
                                         size_t models, size_t i, char *buffer, size_t size);

IDM_API const char *idm_scale_name(idm_scale scale);
IDM_API int idm_scale_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
