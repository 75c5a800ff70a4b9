/* Columns of a log, one descriptor per role. Reading, writing, the section `data:`, the guesses of
 * `idm init` and the needs of planners and inverse planners are derived from it. */
#ifndef IDM_EXTENSION_COLUMN_H
#define IDM_EXTENSION_COLUMN_H

#include "idm/extension/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Type of the cells. idm_data stores columns of the last two types as evidence by column: see
 * idm_data.number and idm_data.label. */
typedef enum idm_column_kind {
  IDM_COLUMN_ID,     /* groups rows */
  IDM_COLUMN_ORDER,  /* orders rows */
  IDM_COLUMN_CHOICE, /* a label of an action or observation of the setting, or a set of actions */
  IDM_COLUMN_NUMBER, /* a finite number */
  IDM_COLUMN_LABEL   /* a text of the log */
} idm_column_kind;

typedef struct idm_column_info {
  const char *key;  /* under `data:` */
  const char *what; /* in messages: "the action" */
  idm_column_kind kind;
  bool by_trajectory; /* the same on all rows of a trajectory; else one value per row */
  double least;       /* least value of a number */
  bool whole;
  bool required; /* every log has it */
  bool evidence; /* read only where `data:` names it or a planner or inverse planner needs it */
  bool of_state; /* only where states are observed; else ignored */
  const char *names[9]; /* headers that are accepted for it: `defaults` by default, then those that
                           `idm init` guesses */
  size_t defaults;      /* number of names that are accepted without an entry under `data:` */
} idm_column_info;

/* The columns, one descriptor each; omitted fields are 0. */
#define IDM_COLUMN_LIST(X)                                                                         \
  X(IDM_COLUMN_AGENT, .key = "agent", .what = "the agent", .kind = IDM_COLUMN_ID,                  \
    .by_trajectory = true,                                                                         \
    .names = {"agent", "subject", "participant", "clinician", "player", "person", "user", NULL},   \
    .defaults = 2)                                                                                 \
  X(IDM_COLUMN_TRAJECTORY, .key = "trajectory", .what = "the trajectory", .kind = IDM_COLUMN_ID,   \
    .by_trajectory = true,                                                                         \
    .names = {"trajectory", "episode", "case", "patient", "encounter", "game", NULL},              \
    .defaults = 1)                                                                                 \
  X(IDM_COLUMN_TIME, .key = "time", .what = "the time", .kind = IDM_COLUMN_ORDER,                  \
    .least = -INFINITY, .names = {"time", NULL}, .defaults = 1)                                    \
  X(IDM_COLUMN_ACTION, .key = "action", .what = "the action", .kind = IDM_COLUMN_CHOICE,           \
    .required = true, .names = {"action", "choice", "decision", "response", "act", NULL},          \
    .defaults = 1)                                                                                 \
  X(IDM_COLUMN_STATE, .key = "state", .what = "the state", .kind = IDM_COLUMN_CHOICE,              \
    .of_state = true, .names = {"state", NULL}, .defaults = 1)                                     \
  X(IDM_COLUMN_OBSERVATION, .key = "observation", .what = "the observation",                       \
    .kind = IDM_COLUMN_CHOICE, .required = true,                                                   \
    .names = {"observation", "obs", "outcome", "result", "feedback", "stimulus", NULL},            \
    .defaults = 2)                                                                                 \
  X(IDM_COLUMN_AVAILABLE, .key = "available", .what = "the actions available",                     \
    .kind = IDM_COLUMN_CHOICE, .names = {"available", NULL}, .defaults = 1)                        \
  X(IDM_COLUMN_REWARD, .key = "reward", .what = "the reward", .kind = IDM_COLUMN_NUMBER,           \
    .least = -INFINITY, .evidence = true, .names = {"reward", NULL}, .defaults = 1)                \
  X(IDM_COLUMN_SCORE, .key = "score", .what = "the score of a trajectory",                         \
    .kind = IDM_COLUMN_NUMBER, .by_trajectory = true, .least = -INFINITY, .evidence = true,        \
    .names = {"score", NULL}, .defaults = 1)                                                       \
  X(IDM_COLUMN_BATCH, .key = "batch", .what = "the batch", .kind = IDM_COLUMN_NUMBER,              \
    .by_trajectory = true, .least = 1, .whole = true, .evidence = true, .names = {"batch", NULL},  \
    .defaults = 1)                                                                                 \
  X(IDM_COLUMN_ENVIRONMENT, .key = "environment", .what = "the environment",                       \
    .kind = IDM_COLUMN_LABEL, .by_trajectory = true, .evidence = true,                             \
    .names = {"environment", NULL}, .defaults = 1)

typedef enum idm_column {
#define IDM_COLUMN_ENUM(id, ...) id,
  IDM_COLUMN_LIST(IDM_COLUMN_ENUM)
#undef IDM_COLUMN_ENUM
      IDM_COLUMN_COUNT
} idm_column;

#ifdef __cplusplus
}
#endif
#endif
