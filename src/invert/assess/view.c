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

idm_status idm_view_open(viewer *v, const fit *f, const strata *s, idm_error *opt_error)
{
  *v = (viewer){.parameters = f->parameters,
                .strata = s,
                .workspace = idm_matching_workspace(f->matching[0]),
                .actions = f->data->sizes.actions};
  v->scorer = idm_new(s->count, sizeof *v->scorer);
  idm_status status = v->scorer ? idm_theta_copy(f->problem->theta, &v->theta, opt_error)
                                : idm_fail_memory(opt_error);
  for (size_t c = 0; c < s->count && status == IDM_OK; c++) {
    const stratum *one = &s->one[c];
    status = idm_scorer_create(one->data, one->tree, &v->scorer[c], opt_error);
    if (status == IDM_OK) idm_scorer_watch(v->scorer[c], view, v);
  }
  return status;
}

void idm_view_close(viewer *v)
{
  for (size_t c = 0; v->scorer && c < v->strata->count; c++) idm_scorer_destroy(v->scorer[c]);
  free(v->scorer);
  idm_theta_destroy(v->theta);
  *v = (viewer){0};
}

/* Write a held number, the first of its block, into every variant. */
static void hold(idm_theta *theta, size_t block, double value)
{
  idm_block *b = &theta->block[block];
  const idm_field *field = idm_block_field(b->info, theta->sizes, 0);
  const double moved = value - b->value[0];
  for (size_t i = 1; field && idm_block_field(b->info, theta->sizes, i) == field; i++)
    b->value[i] += moved;
  for (size_t v = 0; v < b->variants; v++) b->value[v * b->size] = value;
}

static idm_status view_stratum(viewer *v, size_t c, const double *y, double *probability,
                               idm_error *opt_error)
{
  idm_score score;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_FROM_NOTHING;
  v->probability = probability + v->strata->one[c].first * v->actions;
  idm_parameters_set(v->parameters, y + c * v->strata->dimension, v->theta);
  const idm_status status =
      idm_halt_plan(v->parameters->halt, v->theta, &solver, v->workspace, opt_error);
  if (status != IDM_OK) return status;
  return idm_scorer_run(v->scorer[c], idm_workspace_behavior(v->workspace), &score, opt_error);
}

idm_status idm_view_at(viewer *v, const double *y, const view_held *opt_held, double *probability,
                       bool *seen, idm_error *opt_error)
{
  const double before = opt_held ? v->theta->block[opt_held->block].value[0] : 0;
  idm_status status = IDM_OK;
  if (opt_held) hold(v->theta, opt_held->block, opt_held->value);
  for (size_t c = 0; c < v->strata->count && status == IDM_OK; c++)
    status = view_stratum(v, c, y, probability, opt_error);
  if (opt_held) hold(v->theta, opt_held->block, before);
  *seen = status == IDM_OK;
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}
