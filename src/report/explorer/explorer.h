/* Internal interface of the explorer: an interactive page that plans.
 *
 * Contents: explorer · sliders · figures · wasm · serialisation */
#ifndef IDM_REPORT_EXPLORER_EXPLORER_H
#define IDM_REPORT_EXPLORER_EXPLORER_H

#include <stddef.h>

#include "idm/extension/problem.h"
#include "plan/plan.h"
#include "report/markup.h"

/* === explorer =============================================================================== */

/* An agent with adjustable numbers, its plan, a simulated episode, and a log to which it is
 * compared. A page calls these functions; their arguments are numbers and texts only.
 *
 * The layers up to `plan`, the reader of logs and the figures are compiled to WebAssembly
 * (cmake/wasm.cmake). The page receives the problem as bytes (serialisation.c), so that neither
 * YAML nor netCDF is needed; code that needs threads or zlib is never called there. */

typedef struct idm_explorer {
  idm_problem *problem;
  idm_workspace *workspace;
  /* The episode so far: actions and observations, and the true state. */
  idm_event *event; /* [capacity] */
  size_t events;
  size_t capacity;
  size_t first; /* initial state */
  size_t state;
  int last; /* action that ended the episode; -1: it continues */
  bool over;
  idm_random random;
  idm_path_trace *trace; /* beliefs and policies of the episode under the current plan */
  /* A log, if one was loaded. */
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  char *text; /* the text returned last */
  idm_error error;
} idm_explorer;

/* Create an explorer from a serialised problem. NULL if memory is exhausted; for other errors see
 * idm_explorer_message. */
idm_explorer *idm_explorer_open(const char *bytes, size_t length);
/* NULL is allowed. */
void idm_explorer_close(idm_explorer *explorer);
/* Error message of the last call that failed; NULL if none failed. */
const char *idm_explorer_message(const idm_explorer *explorer);

/* Set numbers first .. first + count - 1 of a block, without planning. */
idm_status idm_explorer_set(idm_explorer *explorer, size_t block, size_t first, size_t count,
                            double value);
/* Plan for the current numbers, and evaluate the episode and the log under the new plan. The start
 * is the last plan, which is fast while numbers change, or a cold start, whose result depends on
 * the numbers alone. On failure the last plan is kept. */
idm_status idm_explorer_plan(idm_explorer *explorer, int from_scratch);

/* Begin a new episode with a seed. */
idm_status idm_explorer_begin(idm_explorer *explorer, unsigned seed);
/* Draw the next action of the agent and the response of the environment. */
idm_status idm_explorer_step(idm_explorer *explorer);
/* Returns true if the episode is over. */
int idm_explorer_over(const idm_explorer *explorer);

/* Load a log from CSV text; its log-likelihood and number of decisions (NaN without a log). */
idm_status idm_explorer_load(idm_explorer *explorer, const char *text, size_t length);
double idm_explorer_score(const idm_explorer *explorer);
double idm_explorer_decisions(const idm_explorer *explorer);

/* === sliders ================================================================================ */

/* Sliders for the numbers of an agent, as HTML. */

/* Add a slider for every number that the planner reads and that is not a probability; utilities of
 * an action that are the same in all states share one. Its range follows from the descriptor and
 * from the range of the utilities. */
void idm_sliders_add(idm_markup *markup, const idm_problem *problem);

/* === figures ================================================================================ */

/* Figures and texts of the interactive page. */

/* Policy, value and beliefs as SVG, `width` pixels wide; valid until the next text. NULL on
 * failure, see idm_explorer_message. */
const char *idm_explorer_draw(idm_explorer *explorer, double width);
/* Current state of the episode in texts and numbers, as HTML. */
const char *idm_explorer_tell(idm_explorer *explorer);

/* === wasm =================================================================================== */

/* The library as WebAssembly, compiled by the build. */

extern const unsigned char idm_explorer_wasm[];
/* 0 if the build has no compiler for WebAssembly */
extern const size_t idm_explorer_wasm_length;

/* === serialisation ========================================================================== */

/* Serialisation of a problem, for a page without files and parsers: everything that planning,
 * simulation and the reading of a log need. Data for fits (roles, priors) are omitted. */

idm_status idm_problem_serialise(const idm_problem *problem, char **ret_bytes, size_t *ret_length,
                                 idm_error *opt_error);
/* Restore the problem; its plans are the same bit for bit. */
idm_status idm_problem_deserialise(const char *bytes, size_t length, idm_problem **ret_problem,
                                   idm_error *opt_error);
/* Returns true if logs of the problem are read by its labels and columns alone; false if they need
 * data that are not serialised: derived columns, rules, utilities by column, several environments.
 */
bool idm_problem_has_log_reader(const idm_problem *problem);

#endif
