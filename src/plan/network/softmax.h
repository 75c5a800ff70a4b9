/* Policies that are a softmax of scores of the belief, whatever the scores are: what planners that
 * plan nothing have in common. */
#ifndef IDM_PLAN_NETWORK_SOFTMAX_H
#define IDM_PLAN_NETWORK_SOFTMAX_H

#include "idm/planner.h"

typedef struct softmax softmax;

/* What a planner scores actions by. */
typedef struct softmax_scores {
  const size_t *block; /* blocks of theta that hold its numbers, [blocks] */
  size_t blocks;
  bool prior; /* pi ~ pi~ exp(score), else pi ~ exp(score) */
  /* score[action] at belief z; what it leaves in hidden[softmax.hidden], `recall` finds there. */
  void (*score)(const softmax *s, const double *z, double *hidden, double *score);
  /* The same in reverse: adds what `by_score` is by every number to `by_number`, and by z to
   * opt_by_belief; what is hidden is used up. */
  void (*recall)(const softmax *s, const double *z, double *hidden, const double *by_score,
                 double *by_number, double *opt_by_belief);
} softmax_scores;

struct softmax {
  const softmax_scores *scores;
  idm_sizes sizes;
  size_t models;
  size_t count;       /* numbers, over all blocks */
  size_t hidden;      /* numbers between belief and scores */
  size_t width;       /* of the planner's own choosing */
  double temperature; /* 1; 0: the best action is taken */
  double *number;     /* [count], block after block */
  double *action_prior;
  double *model_prior;
};

/* A content of that planner, its temperature 1. */
idm_status idm_softmax_create(const softmax_scores *scores, const idm_theta *theta, size_t hidden,
                              size_t width, void **ret_content, idm_error *opt_error);
/* Operations of a planner whose content that is. */
idm_status idm_softmax_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error);
void idm_softmax_destroy(void *content);
extern const idm_belief_ops idm_softmax_belief;

#endif
