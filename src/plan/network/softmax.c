/* Softmax of scores of the belief: see the header. */
#include "plan/network/softmax.h"

#include <math.h>

#include "base/memory.h"
#include "base/soft.h"

void idm_softmax_destroy(void *content)
{
  softmax *s = content;
  if (!s) return;
  free(s->number);
  free(s->action_prior);
  free(s->model_prior);
  free(s);
}

idm_status idm_softmax_create(const softmax_scores *scores, const idm_theta *theta, size_t hidden,
                              size_t width, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  softmax *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->scores = scores;
  s->sizes = theta->sizes;
  s->models = theta->models;
  s->hidden = hidden;
  s->width = width;
  s->temperature = 1;
  for (size_t i = 0; i < scores->blocks; i++) s->count += theta->block[scores->block[i]].size;
  s->number = idm_new(s->count, sizeof *s->number);
  s->action_prior = idm_new(s->sizes.actions, sizeof *s->action_prior);
  s->model_prior = idm_new(s->models, sizeof *s->model_prior);
  if (!s->number || !s->action_prior || !s->model_prior) {
    idm_softmax_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_content = s;
  return IDM_OK;
}

/* Whether every score is finite, and what it is made of: beliefs and what is hidden are at most 1,
 * a squared distance of beliefs at most 2. */
static bool scores_are_finite(const softmax *s, const idm_theta *theta)
{
  double most = 0;
  for (size_t i = 0; i < s->scores->blocks; i++) {
    const idm_block *block = &theta->block[s->scores->block[i]];
    for (size_t k = 0; k < block->size; k++) most += 2 * fabs(block->value[k]);
  }
  return isfinite(most);
}

idm_status idm_softmax_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  softmax *s = content;
  if (!scores_are_finite(s, theta))
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "actions would have scores that are no finite numbers: the numbers of %s are "
                    "too large",
                    theta->block[s->scores->block[0]].info->name);
  double *to = s->number;
  for (size_t i = 0; i < s->scores->blocks; i++) {
    const idm_block *block = &theta->block[s->scores->block[i]];
    memcpy(to, block->value, block->size * sizeof *to);
    to += block->size;
  }
  const double *prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0);
  for (size_t u = 0; u < s->sizes.actions; u++)
    s->action_prior[u] = s->scores->prior ? prior[u] : 1.0 / (double)s->sizes.actions;
  memcpy(s->model_prior, idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
         s->models * sizeof *s->model_prior);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* Scores, then what is hidden. */
static size_t scratch(const void *content)
{
  const softmax *s = content;
  return s->sizes.actions + s->hidden;
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *score)
{
  (void)variant;
  (void)steps;
  const softmax *s = content;
  s->scores->score(s, z, score + s->sizes.actions, score);
  idm_soft(s->temperature, s->sizes.actions, s->action_prior, score, decision);
  for (size_t u = 0; opt_specification && u < s->sizes.actions; u++)
    memcpy(opt_specification + u * s->models, s->model_prior, s->models * sizeof(double));
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *score)
{
  (void)variant;
  (void)steps;
  const softmax *s = content;
  s->scores->score(s, z, score + s->sizes.actions, score);
  idm_soft_logs(s->temperature, s->sizes.actions, s->action_prior, score, log_decision);
}

/* --- the derivative in reverse -------------------------------------------------------------- */

typedef struct softmax_adjoint {
  const softmax *softmax;
  double *number; /* sums of the derivatives, as in the softmax */
  double *action_prior;
  double *model_prior;
  double *score; /* [actions + hidden]: scratch */
} softmax_adjoint;

static void adjoint_destroy(void *content)
{
  softmax_adjoint *a = content;
  if (!a) return;
  free(a->number);
  free(a->action_prior);
  free(a->model_prior);
  free(a->score);
  free(a);
}

static idm_status adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error)
{
  const softmax *s = content;
  *ret_adjoint = NULL;
  softmax_adjoint *a = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  a->softmax = s;
  a->number = idm_new(s->count, sizeof *a->number);
  a->action_prior = idm_new(s->sizes.actions, sizeof *a->action_prior);
  a->model_prior = idm_new(s->models, sizeof *a->model_prior);
  a->score = idm_new(scratch(s), sizeof *a->score);
  if (!a->number || !a->action_prior || !a->model_prior || !a->score) {
    adjoint_destroy(a);
    return idm_fail_memory(opt_error);
  }
  *ret_adjoint = a;
  return IDM_OK;
}

static void adjoint_begin(void *content)
{
  softmax_adjoint *a = content;
  memset(a->number, 0, a->softmax->count * sizeof *a->number);
  memset(a->action_prior, 0, a->softmax->sizes.actions * sizeof *a->action_prior);
  memset(a->model_prior, 0, a->softmax->models * sizeof *a->model_prior);
}

static void adjoint_point(void *content, const idm_policy_slope *point)
{
  softmax_adjoint *a = content;
  const softmax *s = a->softmax;
  const size_t n = s->sizes.actions;
  double total = 0;
  s->scores->score(s, point->belief, a->score + n, a->score);
  for (size_t u = 0; u < n; u++) total += point->log_decision_slope[u];
  for (size_t u = 0; u < n; u++) {
    a->score[u] = point->log_decision_slope[u] - total * point->decision[u];
    const bool counts = s->temperature > 0 || point->decision[u] > 0;
    if (counts && s->action_prior[u] > 0) a->action_prior[u] += a->score[u] / s->action_prior[u];
    for (size_t m = 0; m < s->models; m++)
      a->model_prior[m] += point->specification_slope[u * s->models + m];
  }
  /* What is best changes by leaps, or not at all. */
  if (s->temperature == 0) return;
  s->scores->recall(s, point->belief, a->score + n, a->score, a->number, point->opt_belief_slope);
}

static void add(double *to, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static idm_status adjoint_finish(void *content, idm_theta *slope, idm_error *opt_error)
{
  (void)opt_error;
  const softmax_adjoint *a = content;
  const softmax *s = a->softmax;
  const double *from = a->number;
  for (size_t i = 0; i < s->scores->blocks; i++) {
    const idm_block *block = &slope->block[s->scores->block[i]];
    add(block->value, from, block->size);
    from += block->size;
  }
  if (s->scores->prior)
    add(slope->block[IDM_ACTION_PRIOR].value, a->action_prior, s->sizes.actions);
  add(slope->block[IDM_MODEL_PRIOR].value, a->model_prior, s->models);
  return IDM_OK;
}

static const idm_adjoint_ops adjoint = {.dynamics =
                                            true, /* policies of a belief do not hang on them */
                                        .create = adjoint_create,
                                        .destroy = adjoint_destroy,
                                        .begin = adjoint_begin,
                                        .point = adjoint_point,
                                        .finish = adjoint_finish};

const idm_belief_ops idm_softmax_belief = {
    .scratch = scratch, .policy = policy, .log_policy = log_policy, .adjoint = &adjoint};
