/* The rational agent beside a log: see the header. */
#include "invert/explain/rational.h"

#include <math.h>

#include "base/memory.h"

/* Values that differ by less, relative to their size, are equal: rounding. */
static const double tie = 1e-12;

void idm_rational_close(rational *r)
{
  idm_environment_destroy(&r->world);
  idm_workspace_destroy(r->workspace);
  idm_problem_destroy(r->problem);
  free(r->after);
  free(r->quality);
  free(r->variant);
  free(r->steps);
  *r = (rational){0};
}

/* --- the agent ------------------------------------------------------------------------------ */

/* The setting and the one model of an agent that knows the world. */
static void know_world(const rational *r, const idm_setting *from, idm_problem *problem)
{
  idm_setting *setting = problem->setting;
  const idm_sizes n = r->world.sizes;
  const size_t transitions = n.actions * n.states * n.states;
  const size_t emissions = n.actions * n.states * n.observations;
  memcpy(setting->transition, r->world.transition, transitions * sizeof(double));
  memcpy(setting->emission, r->world.emission, emissions * sizeof(double));
  memcpy(problem->theta->block[IDM_TRANSITION].value, r->world.transition,
         transitions * sizeof(double));
  memcpy(problem->theta->block[IDM_EMISSION].value, r->world.emission, emissions * sizeof(double));
  memcpy(setting->start, from->start, n.states * sizeof *setting->start);
  memcpy(setting->terminal, from->terminal, n.actions * sizeof *setting->terminal);
  memcpy(setting->ends, from->ends, n.actions * sizeof *setting->ends);
  memcpy(setting->terminal_state, from->terminal_state, n.states * sizeof *setting->terminal_state);
  setting->horizon = from->horizon;
  setting->fully_observed = from->fully_observed;
  setting->emits_before = from->emits_before;
}

static idm_status make_agent(rational *r, const idm_problem *like, idm_error *opt_error)
{
  const idm_block *utility = &like->theta->block[IDM_UTILITY];
  idm_status status = idm_problem_create(r->world.sizes, 1, true, true, &r->problem, opt_error);
  if (status != IDM_OK) return status;
  know_world(r, like->setting, r->problem);
  r->problem->agent.resolution = like->agent.resolution;
  r->problem->agent.tolerance = like->agent.tolerance;
  status = idm_problem_plan_by(r->problem, idm_planner_find("rational"), opt_error);
  if (status == IDM_OK)
    status = idm_theta_resize(r->problem->theta, IDM_UTILITY, utility->size,
                              idm_theta_variants(like->theta), opt_error);
  if (status == IDM_OK) /* as good as any for making a workspace: a discount of 1 needs a horizon */
    idm_theta_set_scalar(r->problem->theta, IDM_DISCOUNT,
                         idm_theta_scalar(like->theta, IDM_DISCOUNT));
  if (status == IDM_OK)
    status = idm_workspace_create(r->problem->setting, r->problem->theta, &r->problem->agent,
                                  &r->workspace, opt_error);
  return status;
}

/* --- histories ------------------------------------------------------------------------------ */

/* A trajectory begins: the start belief that the log gives it, or the setting's. */
static void begin(rational *r, size_t node)
{
  const idm_prefix_tree *tree = r->tree;
  const size_t k = r->world.sizes.states;
  const int32_t at = tree->node[node].begin;
  const int32_t start = tree->begin_start[at];
  memcpy(r->after + node * k,
         start < 0 ? r->problem->setting->start : r->data->start_belief + (size_t)start * k,
         k * sizeof *r->after);
  r->variant[node] = tree->begin_variant[at];
  r->steps[node] = 0;
}

static void follow(rational *r, size_t node, double *joint)
{
  const idm_prefix_node *row = &r->tree->node[node];
  const size_t k = r->world.sizes.states;
  const size_t parent = (size_t)row->parent;
  const idm_event event = {.action = row->action,
                           .observation = row->observation,
                           .missed = row->missed,
                           .last = row->last,
                           .whole = row->whole};
  r->variant[node] = r->variant[parent];
  r->steps[node] = r->tree->node[parent].begin < 0 ? r->steps[parent] + 1 : 0;
  idm_environment_follow(&r->world, &event, idm_rational_open_actions(r, node),
                         r->after + parent * k, r->after + node * k, joint);
}

idm_status idm_rational_open(rational *r, const idm_problem *problem, const idm_data *data,
                             const idm_prefix_tree *tree, idm_error *opt_error)
{
  const idm_sizes n = data->sizes;
  *r = (rational){.data = data, .tree = tree};
  idm_status status =
      idm_environment_create(problem->setting, problem->theta, &r->world, opt_error);
  if (status == IDM_OK) status = make_agent(r, problem, opt_error);
  if (status != IDM_OK) return status;
  r->after = idm_new(idm_times(tree->nodes, n.states), sizeof *r->after);
  r->quality = idm_new(idm_times(tree->nodes, n.actions), sizeof *r->quality);
  r->variant = idm_new(tree->nodes, sizeof *r->variant);
  r->steps = idm_new(tree->nodes, sizeof *r->steps);
  double *joint = idm_new(n.states, sizeof *joint);
  if (!r->after || !r->quality || !r->variant || !r->steps || !joint)
    status = idm_fail_memory(opt_error);
  for (size_t i = 0; i < tree->nodes && status == IDM_OK; i++) {
    if (tree->node[i].begin >= 0)
      begin(r, i);
    else
      follow(r, i, joint);
  }
  free(joint);
  return status;
}

const double *idm_rational_belief(const rational *r, size_t node)
{
  return r->after + (size_t)r->tree->node[node].parent * r->world.sizes.states;
}

const bool *idm_rational_open_actions(const rational *r, size_t node)
{
  const uint32_t set = r->tree->node[node].available;
  return set ? r->data->available_set + set * r->data->sizes.actions : NULL;
}

/* --- values --------------------------------------------------------------------------------- */

void idm_rational_quality(rational *r, size_t node, const double *z, double *quality)
{
  const idm_sizes n = r->world.sizes;
  double sum = 0;
  for (size_t s = 0; s < n.states; s++) sum += z[s];
  if (sum > 0)
    idm_plan_quality(r->workspace, r->variant[node], (int)r->steps[node], z, quality);
  else
    for (size_t u = 0; u < n.actions; u++) quality[u] = NAN;
}

/* Copy a block's numbers, one set a variant; returns whether they changed. */
static bool take_block(rational *r, const idm_theta *theta, idm_block_id id)
{
  idm_block *own = &r->problem->theta->block[id];
  bool changed = false;
  for (size_t v = 0; v < own->variants; v++) {
    const double *from = idm_theta_values(theta, id, v);
    double *to = own->value + v * own->size;
    changed = changed || memcmp(to, from, own->size * sizeof *to) != 0;
    memcpy(to, from, own->size * sizeof *to);
  }
  return changed;
}

idm_status idm_rational_plan(rational *r, const idm_theta *theta, idm_error *opt_error)
{
  static const idm_block_id taken[] = {IDM_UTILITY, IDM_CERTAINTY, IDM_BELIEF_UTILITY,
                                       IDM_DISCOUNT};
  bool changed = !r->planned;
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    changed = take_block(r, theta, taken[i]) || changed;
  if (!changed) return IDM_OK;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_FROM_NOTHING; /* the same numbers whatever was planned before */
  const idm_status status = idm_plan(r->problem->theta, &solver, r->workspace, NULL, opt_error);
  r->planned = status == IDM_OK;
  for (size_t i = 0; i < r->tree->nodes && status == IDM_OK; i++)
    if (r->tree->node[i].begin < 0)
      idm_rational_quality(r, i, idm_rational_belief(r, i),
                           r->quality + i * r->world.sizes.actions);
  return status;
}

double idm_rational_best(const double *quality, size_t actions, const bool *opt_open,
                         double *policy)
{
  double best = -INFINITY;
  double size = 0;
  double ties = 0;
  for (size_t u = 0; u < actions; u++) {
    if (opt_open && !opt_open[u]) continue;
    best = isnan(quality[u]) ? NAN : fmax(best, quality[u]);
    size = fmax(size, fabs(quality[u]));
  }
  for (size_t u = 0; u < actions; u++) {
    const bool open = !opt_open || opt_open[u];
    policy[u] = open && quality[u] >= best - tie * size;
    ties += policy[u];
  }
  for (size_t u = 0; u < actions; u++) policy[u] = ties > 0 ? policy[u] / ties : NAN;
  return best;
}
