/* What several tests need: checked calls, problems at random, tiny data sets. */
#ifndef IDM_TESTS_SUPPORT_H
#define IDM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "idm/idm.h"

/* Fail the test with the error's sentence unless status is IDM_OK. */
#define check(call) support_check((call), __FILE__, __LINE__)
/* The error that checked calls fill. */
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

/* A problem with dynamics, utilities, priors and weights drawn at random; every row is positive. */
idm_problem *support_problem(support_shape shape, idm_random *random);
/* DIAG, the built-in example, with the given multipliers. */
idm_problem *support_diag(double alpha, double beta, double eta);
void support_set(idm_problem *problem, double alpha, double beta, double eta);
/* Whether one of the notes has these words. */
bool support_mentions(const idm_notes *notes, const char *words);
/* Every check that applies ran, or was not run for a reason; the others have no result. */
void support_check_listed(const idm_checks *checks);
/* The checks that fail the draws or the model, by name: "r-hat effective-draws"; "" for none. */
const char *support_failing(const idm_checks *checks, char *buffer, size_t size);
/* Apply "key=value". */
void support_assign(idm_problem *problem, const char *assignment);
/* Plan a problem with the default solver. */
idm_workspace *support_plan(const idm_problem *problem, idm_plan_report *opt_report);
/* Data of the problem's agent, planned for and acting in its environment, which pays it where it
 * learns from rewards. */
idm_data *support_simulate(const idm_problem *problem, idm_simulation simulation);
/* log-uniform magnitude in [low, high] with a random sign. */
double support_signed(idm_random *random, double low, double high);
/* A random distribution. */
void support_distribution(idm_random *random, double *p, size_t count);
/* Draw every number of a block of theta anew, from those that its descriptor allows; a block that
 * is absent appears. */
void support_redraw(idm_theta *theta, size_t id, idm_random *random);
/* Fail unless a descriptor says one thing: its parts agree with each other. */
void support_legal_block(const idm_block_info *info);
/* A problem from YAML text. */
idm_problem *support_yaml(const char *text);
/* An error of input: its words, and where it says that it is. */
void support_expect_place(const idm_error *error, long line, long column, const char *words);
/* Data from CSV text. */
idm_data *support_data(const idm_problem *problem, const char *csv);
/* Data scored through the tree of histories that the workspace's behaviour tells apart. */
typedef struct support_scored {
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
} support_scored;
support_scored support_open_score(const idm_workspace *workspace, const idm_data *data);
void support_close_score(support_scored *scored);
/* Tell a behaviour what happened; returns the evidence. */
double support_observe(idm_behavior b, void *before, void *after, idm_event event);
/* Row `row` of a trajectory as an event. */
idm_event support_event(const idm_data *data, size_t trajectory, size_t row);
/* Turn a share of the rows, those whose action ends nothing, into missed responses with this
 * action, or with none (IDM_MISSING). */
void support_miss(idm_data *data, const idm_setting *setting, int action, double share,
                  idm_random *random);
/* Their log-likelihood alone. */
double support_score(const idm_workspace *workspace, const idm_data *data);
/* Labels from a list of words, and a problem of labels only (no dynamics). */
void support_names(idm_labels *labels, const char *const *names, size_t count);
#define SUPPORT_NAMES(labels, ...)                                                                 \
  support_names(labels, (const char *const[]){__VA_ARGS__},                                        \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
idm_problem *support_labels_problem(size_t states, size_t actions, size_t observations);
/* `index` or `labels`: what cells of actions and observations are. */
void support_codes(idm_problem *problem, const char *word);
/* Fixture: DIAG's labels, declarations ending the log, numbers for labels by index. */
int support_set_up(void **state);
int support_tear_down(void **state);
/* Stops work once a share of it is done and it can be kept, with a checkpoint: a watch's progress
 * and its context. */
typedef struct support_stopping {
  double at;
  char *bytes; /* for the test to free; NULL: not stopped */
  size_t length;
} support_stopping;
bool support_stop(void *stopping, const idm_progress_state *work);

/* Work that is stopped and resumed several times. */
typedef struct support_resuming {
  support_stopping stopping;
  char *bytes; /* the last checkpoint, for the test to free */
  size_t length;
} support_resuming;
/* The watch of the next attempt: from the last checkpoint, until a share of the work is done. */
idm_fit_monitor support_resume(support_resuming *r, double until, uint64_t label);
/* After the attempt: it ended, or was stopped and left a checkpoint, which is kept. */
void support_resumed(support_resuming *r, idm_status status);
/* A fresh name of a file for the test to remove; the file exists and is empty. */
enum { SUPPORT_PATH = 64 };
void support_path(char path[SUPPORT_PATH]);
/* Path of a file of the shared data, which are no part of the repository; where it is absent the
 * test ends as skipped, after a line that names it. */
const char *support_shared(const char *name);

#endif
