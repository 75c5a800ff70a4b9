/* Strata: decisions that share one vector of free numbers. A plain fit has one stratum, the whole
 * log. A population fit has one per person or, where a column varies within people, one per person
 * and condition.
 *
 * The tests of the model (residual.h) look at the decisions of all strata at one point. In a plain
 * fit that is the draw of highest density. In a population it is one draw of all people together:
 * given a draw from the posterior, log and numbers have the joint distribution that log and true
 * numbers have (Johnson 2007), so that a statistic of both is distributed as its replicates at that
 * draw are, however few decisions a person has. The draw of highest density would not do, since the
 * joint density grows without bound as the sds between people go to 0. */
#ifndef IDM_INVERT_ASSESS_STRATA_H
#define IDM_INVERT_ASSESS_STRATA_H

#include "idm/people.h"
#include "invert/assess/inquiry.h"

/* When a trajectory was: eighths of the way from the first to the last of its agent's trajectories
 * and of the log's, 4 where it is the only one. No finer, so that questions recur (residual.h). */
enum { MOMENTS = 8 };
typedef struct moment {
  uint8_t of_agent;
  uint8_t of_log;
} moment;

typedef struct stratum {
  const idm_data *data;
  const idm_prefix_tree *tree;
  size_t first;          /* of its nodes among those of all strata */
  const uint32_t *agent; /* [trajectory of data]: the agent whose rates it counts for */
  const moment *when;    /* [trajectory of data] */
} stratum;

typedef struct strata {
  size_t count;
  stratum *one; /* [count] */
  size_t nodes; /* of all strata */
  size_t agents;
  const idm_labels *agent_name; /* [agents] */
  size_t dimension;
  double *centre; /* [stratum][dimension] */
  double *step;   /* [stratum][dimension]: of differences about it */
  moment *when;   /* [trajectory], by stratum */
  /* Of a population: */
  const idm_design *design; /* borrowed; NULL: a plain fit */
  const idm_people *people; /* borrowed */
  idm_data **part;          /* [stratum] */
  idm_prefix_tree **tree;   /* [stratum] */
  uint32_t *agent;          /* [trajectory], by stratum */
} strata;

/* The one stratum of a plain fit. idm_strata_close accepts strata that were set to 0. */
idm_status idm_strata_whole(strata *s, const inquiry *q, idm_error *opt_error);
/* The strata of a population, whose design and draws must outlive them. */
idm_status idm_strata_divide(strata *s, const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             idm_error *opt_error);
void idm_strata_close(strata *s);
/* Numbers of stratum c of a population at draw i: y[dimension]. */
void idm_strata_draw(const strata *s, size_t c, size_t i, double *y);

#endif
