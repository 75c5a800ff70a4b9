/* The explorer: a page that plans.
 *
 * Contents: explorer · dials · picture · wasm */
#ifndef IDM_REPORT_EXPLORER_EXPLORER_H
#define IDM_REPORT_EXPLORER_EXPLORER_H

#include <stddef.h>

#include "idm/follow.h"
#include "idm/problem.h"
#include "idm/score.h"
#include "report/markup.h"

/* === explorer =============================================================================== */

/* An agent to play with: numbers that move, a plan for them, an episode that goes by it and a log
 * that it is compared with. A page calls these functions; their arguments are numbers and texts
 * only.
 *
 * The layers up to `plan`, the reader of logs and the figures are compiled to WebAssembly
 * (cmake/wasm.cmake), and the page is handed a parcel of bytes (parcel.h), so that neither YAML nor
 * netCDF goes in; what needs threads or zlib is never reached there. */

typedef struct idm_explorer {
  idm_problem *problem;
  idm_workspace *workspace;
  /* The episode so far: what was done and seen, and where it is in truth. */
  idm_event *event; /* [capacity] */
  size_t events;
  size_t capacity;
  size_t first; /* the state it began in */
  size_t state;
  int last; /* the action that ended it; -1: it goes on, or its time is up */
  bool over;
  idm_random random;
  idm_path_trace *trace; /* the same by the plan that is held: beliefs and policies */
  /* A log, where one was loaded. */
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  char *text; /* what was handed out last */
  idm_error error;
} idm_explorer;

/* From a parcel. NULL: out of memory; else see idm_explorer_message. */
idm_explorer *idm_explorer_open(const char *bytes, size_t length);
/* Takes NULL. */
void idm_explorer_close(idm_explorer *explorer);
/* Why the last call that was refused was, or NULL where none was. */
const char *idm_explorer_message(const idm_explorer *explorer);

/* Numbers first .. first + count - 1 of a block. Nothing is planned yet. */
idm_status idm_explorer_set(idm_explorer *explorer, size_t block, size_t first, size_t count,
                            double value);
/* Plan for the numbers as they are, and see the episode and the log with other eyes: from the last
 * plan, which is fast while numbers move, or anew, which depends on the numbers alone. Where it is
 * refused the last plan stays. */
idm_status idm_explorer_plan(idm_explorer *explorer, int from_scratch);

/* A new episode, drawn by a seed. */
idm_status idm_explorer_begin(idm_explorer *explorer, unsigned seed);
/* What the agent does next, and what the environment answers. */
idm_status idm_explorer_step(idm_explorer *explorer);
/* Whether nothing follows. */
int idm_explorer_over(const idm_explorer *explorer);

/* A log as CSV text, and its log-likelihood (NaN where there is none). */
idm_status idm_explorer_load(idm_explorer *explorer, const char *text, size_t length);
double idm_explorer_score(const idm_explorer *explorer);
double idm_explorer_decisions(const idm_explorer *explorer);

/* === dials ================================================================================== */

/* Controls for the numbers of an agent, as HTML. */

/* A dial for every number that the planner heeds and that is no probability: those of an action's
 * utilities that are the same in all states are one. How far each turns follows from its
 * descriptor and the range of the utilities. */
void idm_sliders_add(idm_markup *markup, const idm_problem *problem);

/* === picture ================================================================================ */

/* Pictures and words of the page that plans. */

/* Policy, value and beliefs as SVG, so many pixels wide; valid until the next text. NULL: see the
 * message. */
const char *idm_explorer_draw(idm_explorer *explorer, double width);
/* Where the episode stands, in words and numbers, as HTML. */
const char *idm_explorer_tell(idm_explorer *explorer);

/* === wasm =================================================================================== */

/* The library as WebAssembly, made by the build. */

extern const unsigned char idm_explorer_wasm[];
/* 0 where the build had no compiler for it. */
extern const size_t idm_explorer_wasm_length;

#endif
