/* Fixtures shared by several tests: checked calls, random problems, small data sets. */
#ifndef IDM_TESTS_SUPPORT_H
#define IDM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/library.h"

/* Fail the test with the error's message unless the status is IDM_OK. */
#define check(call) support_check((call), __FILE__, __LINE__)
/* Error of the last checked call. */
extern idm_error support_error;
void support_check(idm_status status, const char *file, int line);

/* |a - b| <= tolerance * max(1, |a|, |b|), with a message. */
#define assert_near(a, b, tolerance) support_near((a), (b), (tolerance), __FILE__, __LINE__)
void support_near(double a, double b, double tolerance, const char *file, int line);

typedef struct support_shape {
  size_t states;
  size_t actions;
  size_t observations;
  size_t models;
  int resolution;
} support_shape;

/* A problem with random dynamics, utilities, priors and weights; all probabilities are positive. */
idm_problem *support_problem(support_shape shape, idm_random *random);
/* DIAG, the built-in example, with the given multipliers. */
idm_problem *support_diag(double alpha, double beta, double eta);
void support_set(idm_problem *problem, double alpha, double beta, double eta);
/* Whether one of the notes contains these words. */
bool support_mentions(const idm_notes *notes, const char *words);
/* Check that every applicable check has run, or has a reason for not running, and that the others
 * have no result. */
void support_check_listed(const idm_checks *checks);
/* Names of the checks that fail the draws or the model: "r-hat effective-draws"; "" if there are
 * none. */
const char *support_failing(const idm_checks *checks, char *buffer, size_t size);
/* Apply "key=value". */
void support_assign(idm_problem *problem, const char *assignment);
/* Plan a problem with the default solver. */
idm_workspace *support_plan(const idm_problem *problem, idm_plan_report *opt_report);
/* Simulate the problem's agent, with its plan, in its environment, which gives rewards if it learns
 * from them. */
idm_data *support_simulate(const idm_problem *problem, idm_simulation simulation);
/* Random number with log-uniform magnitude in [low, high] and random sign. */
double support_signed(idm_random *random, double low, double high);
/* Random distribution. */
void support_distribution(idm_random *random, double *p, size_t count);
/* Draw every number of a block of theta again, from those that its descriptor allows; an absent
 * block is added. */
void support_redraw(idm_theta *theta, size_t id, idm_random *random);
/* Fail unless the parts of a descriptor are consistent. */
void support_legal_block(const idm_block_info *info);
/* Problem from YAML text. */
idm_problem *support_yaml(const char *text);
/* Check an input error: its words, line and column. */
void support_expect_place(const idm_error *error, long line, long column, const char *words);
/* Data from CSV text. */
idm_data *support_data(const idm_problem *problem, const char *csv);
/* Data scored through the tree of histories that the workspace's behaviour distinguishes. */
typedef struct support_scored {
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
} support_scored;
support_scored support_open_score(const idm_workspace *workspace, const idm_data *data);
void support_close_score(support_scored *scored);
/* Apply an event to a behaviour; returns the evidence. */
double support_observe(idm_behavior b, void *before, void *after, idm_event event);
/* Row `row` of a trajectory as an event. */
idm_event support_event(const idm_data *data, size_t trajectory, size_t row);
/* Turn a share of the rows whose action ends nothing into missed responses with this action, or
 * with none (IDM_MISSING). */
void support_miss(idm_data *data, const idm_setting *setting, int action, double share,
                  idm_random *random);
/* Log-likelihood of the data. */
double support_score(const idm_workspace *workspace, const idm_data *data);
/* Labels from a list of words, and a problem with labels only (no dynamics). */
void support_names(idm_labels *labels, const char *const *names, size_t count);
#define SUPPORT_NAMES(labels, ...)                                                                 \
  support_names(labels, (const char *const[]){__VA_ARGS__},                                        \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
idm_problem *support_labels_problem(size_t states, size_t actions, size_t observations);
/* Set the coding of actions and observations in cells: `index` or `labels`. */
void support_codes(idm_problem *problem, const char *word);
/* Fixture: labels similar to DIAG's; declarations end a trajectory; actions and observations are
 * coded by index. */
int support_set_up(void **state);
int support_tear_down(void **state);
/* Progress callback, with its context, that stops work after a share of it, as soon as a checkpoint
 * is possible. */
typedef struct support_stopping {
  double at;
  char *bytes; /* freed by the test; NULL: not stopped */
  size_t length;
} support_stopping;
bool support_stop(void *stopping, const idm_progress_state *work);

/* Work that is repeatedly stopped and resumed. */
typedef struct support_resuming {
  support_stopping stopping;
  char *bytes; /* last checkpoint; freed by the test */
  size_t length;
} support_resuming;
/* Monitor of the next attempt: start at the last checkpoint, and stop after a share of the work. */
idm_fit_monitor support_resume(support_resuming *r, double until, uint64_t label);
/* Call after an attempt, which has finished or has stopped with a checkpoint, which is kept. */
void support_resumed(support_resuming *r, idm_status status);
/* Create an empty file with a new name; the test removes it. */
enum { SUPPORT_PATH = 64 };
void support_path(char path[SUPPORT_PATH]);
/* Path of a file of the shared data, which are not part of the repository. If it is missing, print
 * a line that names it and end the test as skipped. */
const char *support_shared(const char *name);

#endif
