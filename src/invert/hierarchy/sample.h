/* Draws of a hierarchy, whatever its leaves are. */
#ifndef IDM_INVERT_HIERARCHY_SAMPLE_H
#define IDM_INVERT_HIERARCHY_SAMPLE_H

#include "idm/people.h"
#include "invert/hierarchy/model.h"

typedef struct hierarchy_request {
  const idm_design *design;
  const leaf_source *leaves;
  bool exact; /* every draw is accepted by exact likelihoods; false: tables are enough */
  const idm_fit_settings *settings;
  uint64_t key;    /* of the random streams, */
  uint64_t stream; /* and the first of them */
  const idm_fit_watch *opt_watch;
} hierarchy_request;

/* Draws of people and population. The same at any thread count; a checkpoint of the watch's work
 * lets the same request go on. Stopped by its watch, it gives the draws made so far, at least one
 * per chain. */
idm_status idm_hierarchy_sample(const hierarchy_request *request, idm_people **ret_people,
                                idm_notes *opt_notes, idm_error *opt_error);

#endif
