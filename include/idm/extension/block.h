/* Blocks of theta: one descriptor per kind of parameter.
 *
 * Allocation, copies, defaults, checks, priors, files, run.nc, sensitivity and help are derived
 * from it. Blocks that several planners read are in one table; a planner adds descriptors of its
 * own blocks. */
#ifndef IDM_EXTENSION_BLOCK_H
#define IDM_EXTENSION_BLOCK_H

#include "idm/extension/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indices of the numbers of a block, slowest first. */
typedef enum idm_axis {
  IDM_AXIS_END,
  IDM_AXIS_MODEL,
  IDM_AXIS_ACTION,
  IDM_AXIS_STATE,
  IDM_AXIS_NEXT_STATE,
  IDM_AXIS_OBSERVATION,
  IDM_AXIS_TERM,  /* a constant, then the states: the terms of a linear score */
  IDM_AXIS_FIELD, /* the fields of the descriptor */
  IDM_AXIS_COUNT
} idm_axis;

/* Set of values of a number. */
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

/* Scales that a free block can have, as bits. */
enum {
  IDM_SCALES_NONE = 0, /* the block cannot be free */
  IDM_SCALES_IDENTITY = 1 << IDM_SCALE_IDENTITY,
  IDM_SCALES_SIGNED = IDM_SCALES_IDENTITY | 1 << IDM_SCALE_SIGNED_LOG,
  IDM_SCALES_FRACTION = IDM_SCALES_IDENTITY | 1 << IDM_SCALE_LOGIT,
  IDM_SCALES_POWER = IDM_SCALES_IDENTITY | 1 << IDM_SCALE_LOG,
  IDM_SCALES_ALL = IDM_SCALES_SIGNED | 1 << IDM_SCALE_LOG | 1 << IDM_SCALE_INVERSE
};

/* Form of a block in a problem file. */
typedef enum idm_form {
  IDM_FORM_NUMBER,    /* name: number */
  IDM_FORM_WEIGHTS,   /* name: [weight per action], or {action: weight}; normalised */
  IDM_FORM_FIELDS,    /* name: {field: number, ...}; by action {field: {action: number}, ...} */
  IDM_FORM_DIRICHLET, /* name: {dirichlet: [number per state]}; where states are observed [weight
                         per state] or {state: weight}, normalised */
  IDM_FORM_ROWS,      /* name: {action: [number per term]}; the constant may be omitted. By state:
                         {action: [weight per state]}; normalised */
  IDM_FORM_NUMBERS,   /* name: [all numbers] */
  IDM_FORM_UTILITY,   /* by action and state, numbers or data columns */
  IDM_FORM_MODELS     /* in the section of the models */
} idm_form;

/* A field of a block: its default value, and the range [least, below) that a file may give it. */
typedef struct idm_field {
  const char *name; /* NULL ends a list */
  double default_number;
  double least;
  double below;
  bool optional;  /* a file may omit it; a writer omits it at its default */
  bool is_linear; /* utilities are linear in it: it can be free */
} idm_field;

typedef struct idm_block_info {
  const char *name;
  const char *summary;
  idm_axis axis[4]; /* ends with IDM_AXIS_END; none: one number */
  size_t count; /* numbers of an opaque block; 0: the planner decides; unused for other blocks */
  const idm_field *field; /* the fields of IDM_AXIS_FIELD */
  const char *rows; /* key of any number of rows that follow the fields in the block, each with a
                       number per action and state (see idm_theta_rows); a file may then omit any
                       key of the block. NULL: none */
  idm_support support;
  bool infinite;   /* +-inf are valid values, evaluated as limits */
  bool reciprocal; /* smooth in 1/x through infinity: derivatives are with respect to the inverse */
  bool optional;   /* absent (size 0) unless a file gives it */
  bool opaque;     /* numbers without names, one quantity in an answer: the weights of a network */
  double default_number; /* default of each number; a distribution is uniform by default */
  unsigned scales;       /* scales allowed for a free block, as bits */
  idm_scale scale;       /* the default scale */
  double
      spread; /* scale of the default prior, in units of the utility's range where `in_utility` */
  bool in_utility;
  idm_form form;
  /* Numbers by action and term of which only differences between actions have an effect; since
   * beliefs sum to 1, the constant and the states are redundant too. A free block of this kind
   * holds the numbers of a reference action and every constant fixed, so that the free numbers are
   * identifiable. */
  bool contrast;
  bool of_agent;    /* under `agent` in a file, else at the top level */
  bool sensitive;   /* its sensitivity is reported while it is held fixed */
  bool choice_bias; /* applied at choice time to every policy: all planners over beliefs have it */
  bool belief_update; /* applied to the update of beliefs: all planners over beliefs have it */
  bool tied; /* numbers of its rows can be free only as named entries, shared between rows */
} idm_block_info;

/* Blocks that several planners read, in the order of theta, one descriptor each; omitted fields are
 * 0. The planner's own blocks follow at IDM_BLOCK_COUNT. */
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
    .summary = "utility of the belief by action: weights of minus its entropy in nats and of the " \
               "probability of its likeliest state, and the largest of linear pieces by state",    \
    .axis = {IDM_AXIS_FIELD, IDM_AXIS_ACTION},                                                     \
    .field = (const idm_field[]){{"entropy", 0, -INFINITY, INFINITY, false, true},                 \
                                 {"guess", 0, -INFINITY, INFINITY, false, true},                   \
                                 {NULL, 0, 0, 0, false, false}},                                   \
    .rows = "pieces", .scales = IDM_SCALES_SIGNED, .spread = 2, .in_utility = true,                \
    .form = IDM_FORM_FIELDS)                                                                       \
  X(IDM_DISCOUNT, .name = "discount", .summary = "discount factor per step",                       \
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
  X(IDM_TEMPERATURE, .name = "temperature", .summary = "temperature of the softmax over Q",        \
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
  X(IDM_LAPSE, .name = "lapse",                                                                    \
    .summary = "share of choices made at random among the open actions", .support = IDM_FRACTION,  \
    .scales = IDM_SCALES_FRACTION, .of_agent = true, .choice_bias = true)                          \
  X(IDM_PRIOR_WEIGHT, .name = "prior_weight",                                                      \
    .summary = "power of the belief before in that after: 1 is Bayes, 0 neglects base rates",      \
    .support = IDM_NOT_NEGATIVE, .default_number = 1, .scales = IDM_SCALES_POWER,                  \
    .scale = IDM_SCALE_LOG, .spread = 20, .of_agent = true, .belief_update = true)                 \
  X(IDM_EVIDENCE_WEIGHT, .name = "evidence_weight",                                                \
    .summary = "power of the likelihood in the belief after: 1 is Bayes, 0 ignores observations",  \
    .support = IDM_NOT_NEGATIVE, .default_number = 1, .scales = IDM_SCALES_POWER,                  \
    .scale = IDM_SCALE_LOG, .spread = 20, .of_agent = true, .belief_update = true)                 \
  X(IDM_DELAY_RATE, .name = "delay_rate",                                                          \
    .summary = "kappa of discounting by delay: t steps ahead counts 1/(1 + kappa t)",              \
    .support = IDM_NOT_NEGATIVE, .scales = IDM_SCALES_POWER, .scale = IDM_SCALE_LOG, .spread = 2,  \
    .of_agent = true)                                                                              \
  X(IDM_SENSOR_CAPACITY, .name = "sensor_capacity",                                                \
    .summary = "nats per step that the sensor passes: inf passes everything, 0 nothing",           \
    .support = IDM_NOT_NEGATIVE, .infinite = true, .default_number = INFINITY,                     \
    .scales = IDM_SCALES_POWER, .scale = IDM_SCALE_LOG, .spread = 20, .of_agent = true)

typedef enum idm_block_id {
#define IDM_BLOCK_ENUM(id, ...) id,
  IDM_BLOCK_LIST(IDM_BLOCK_ENUM)
#undef IDM_BLOCK_ENUM
      IDM_BLOCK_COUNT
} idm_block_id;

/* Name of number i within its block, as in "monitor,healthy": labels joined by commas, models
 * numbered from 1. A label with a comma, a bracket or a quote is quoted, with its quotes doubled.
 * Empty for a block of one number. Returns buffer; IDM_ENTRY_SIZE bytes suffice for two labels of
 * 1000 bytes each with any characters. */
enum { IDM_ENTRY_SIZE = 4100 };

#ifdef __cplusplus
}
#endif
#endif
