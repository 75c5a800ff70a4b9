/* What the planner makes of every history of a log at given numbers: see the header. */
#include "invert/assess/view.h"

#include "base/memory.h"
#include "idm/matching.h"
#include "invert/matching/halt.h"

static void view(void *context, size_t node, const void *memory, const double *probability)
{
  (void)memory;
  const viewer *v = context;
  memcpy(v->probability + node * v->actions, probability, v->actions * sizeof *probability);
}

idm_status idm_view_open(viewer *v, const inquiry *q, idm_error *opt_error)
{
  *v = (viewer){.parameters = q->f->parameters,
                .workspace = idm_matching_workspace(q->f->matching[0]),
                .actions = q->f->data->sizes.actions};
  idm_status status = idm_theta_copy(q->f->problem->theta, &v->theta, opt_error);
  if (status == IDM_OK) status = idm_scorer_create(q->f->data, q->f->tree, &v->scorer, opt_error);
  if (status == IDM_OK) idm_scorer_watch(v->scorer, view, v);
  return status;
}

void idm_view_close(viewer *v)
{
  idm_scorer_destroy(v->scorer);
  idm_theta_destroy(v->theta);
  *v = (viewer){0};
}

void idm_view_centre(const inquiry *q, double *y)
{
  const idm_posterior *p = q->posterior;
  size_t best = 0;
  for (size_t i = 1; i < p->chains * p->draws; i++)
    if (p->statistics[i].log_density > p->statistics[best].log_density) best = i;
  idm_inquiry_draw(q, best, y);
}

/* Write a held number into every variant. */
static void hold(idm_theta *theta, size_t block, double value)
{
  idm_block *b = &theta->block[block];
  for (size_t i = 0; i < b->variants * b->size; i++) b->value[i] = value;
}

idm_status idm_view_at(viewer *v, const double *y, const view_held *opt_held, double *probability,
                       bool *seen, idm_error *opt_error)
{
  idm_score score;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_FROM_NOTHING;
  v->probability = probability;
  const double before = opt_held ? v->theta->block[opt_held->block].value[0] : 0;
  if (opt_held) hold(v->theta, opt_held->block, opt_held->value);
  idm_parameters_set(v->parameters, y, v->theta);
  idm_status status =
      idm_halt_plan(v->parameters->halt, v->theta, &solver, v->workspace, opt_error);
  if (status == IDM_OK)
    status = idm_scorer_run(v->scorer, idm_workspace_behavior(v->workspace), &score, opt_error);
  if (opt_held) hold(v->theta, opt_held->block, before);
  *seen = status == IDM_OK;
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}
