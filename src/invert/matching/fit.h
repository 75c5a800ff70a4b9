/* What every inverse planner by soft policy matching works with. */
#ifndef IDM_INVERT_MATCHING_FIT_H
#define IDM_INVERT_MATCHING_FIT_H

#include "idm/inverse.h"
#include "idm/matching.h"
#include "invert/parameters.h"
#include "invert/table.h"

/* Everything a fit works with. */
typedef struct fit {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_data *cut; /* the data in pieces, for agents that remember the state alone; NULL: whole, */
  idm_prefix_tree *cut_tree; /* and their tree */
  size_t matchings;
  idm_matching **matching; /* [chain] */
  double *scratch;         /* [numbers] */
  double *unit;            /* [dimension]: size of a usual change of a free number */
  uint64_t key;            /* of its random streams */
  const idm_table *table;  /* borrowed: what may stand in for planning; NULL: nothing */
} fit;

/* Refuse an agent that finds by itself what a fit infers. */
idm_status idm_fit_infers(const idm_problem *problem, idm_error *opt_error);
/* Check the request (against the needs of the inverse planner, where one is given), build
 * parameters, tree and `matchings` matchings. The fit is zeroed first; idm_fit_close frees what is
 * there. */
idm_status idm_fit_open(fit *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                        const idm_data *data, const idm_fit_settings *settings, size_t matchings,
                        idm_error *opt_error);
struct idm_halt;
/* The same, which may take seconds, under somebody who may stop it and what is evaluated later. */
idm_status idm_fit_open_halted(fit *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                               const idm_data *data, const idm_fit_settings *settings,
                               size_t matchings, struct idm_halt *opt_halt, idm_error *opt_error);
void idm_fit_close(fit *f);
/* A matching of the fit's evidence with a problem like its own: of the pieces, where there are any.
 */
idm_status idm_fit_match(const fit *f, const idm_problem *problem, idm_matching **ret_matching,
                         idm_error *opt_error);
/* Histories that such a matching goes through. */
size_t idm_fit_histories(const fit *f);
/* Let the fit's table, where it has one, stand in for what a matching plans for. */
idm_status idm_fit_stand_in(const fit *f, idm_matching *matching, idm_error *opt_error);

#endif
