/* Beliefs, policies and regret of the agent and of a rational agent, row by row of a log
 * (docs/method/explain.md, 1).
 *
 * Contents: rational · regret */
#include "invert/explain/explain.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === rational ================================================================================= */

/* Rational agent along the histories of a log. */

/* Relative difference below which values count as tied. */
static const double tie_tolerance = 1e-12;

void idm_rational_close(rational *r)
{
  idm_environment_destroy(&r->env);
  idm_workspace_destroy(r->workspace);
  idm_problem_destroy(r->problem);
  free(r->updated_belief);
  free(r->quality);
  free(r->variant);
  free(r->steps);
  *r = (rational){0};
}

/* --- the agent ------------------------------------------------------------------------------ */

/* Set the setting and the one model of an agent to the environment. */
static void set_known_environment(const rational *r, const idm_setting *from, idm_problem *problem)
{
  idm_setting *setting = problem->setting;
  const idm_sizes n = r->env.sizes;
  const size_t transitions = n.actions * n.states * n.states;
  const size_t emissions = n.actions * n.states * n.observations;
  memcpy(setting->transition, r->env.transition, transitions * sizeof(double));
  memcpy(setting->emission, r->env.emission, emissions * sizeof(double));
  memcpy(problem->theta->block[IDM_TRANSITION].value, r->env.transition,
         transitions * sizeof(double));
  memcpy(problem->theta->block[IDM_EMISSION].value, r->env.emission, emissions * sizeof(double));
  memcpy(setting->start, from->start, n.states * sizeof *setting->start);
  memcpy(setting->terminal, from->terminal, n.actions * sizeof *setting->terminal);
  memcpy(setting->ends, from->ends, n.actions * sizeof *setting->ends);
  memcpy(setting->terminal_state, from->terminal_state, n.states * sizeof *setting->terminal_state);
  setting->horizon = from->horizon;
  setting->fully_observed = from->fully_observed;
  setting->emits_before = from->emits_before;
}

static idm_status make_agent(rational *r, const idm_problem *source, idm_error *opt_error)
{
  const idm_block *utility = &source->theta->block[IDM_UTILITY];
  idm_status status = idm_problem_create(r->env.sizes, 1, true, true, &r->problem, opt_error);
  if (status != IDM_OK) return status;
  set_known_environment(r, source->setting, r->problem);
  r->problem->agent.resolution = source->agent.resolution;
  r->problem->agent.tolerance = source->agent.tolerance;
  status = idm_problem_set_planner(r->problem, idm_planner_find("rational"), opt_error);
  if (status == IDM_OK)
    status = idm_theta_resize(r->problem->theta, IDM_UTILITY, utility->size,
                              idm_theta_variants(source->theta), opt_error);
  if (status == IDM_OK) /* required to create a workspace: a discount of 1 needs a horizon */
    idm_theta_set_scalar(r->problem->theta, IDM_DISCOUNT,
                         idm_theta_scalar(source->theta, IDM_DISCOUNT));
  if (status == IDM_OK)
    status = idm_workspace_create(r->problem->setting, r->problem->theta, &r->problem->agent,
                                  &r->workspace, opt_error);
  return status;
}

/* --- histories ------------------------------------------------------------------------------ */

/* Set the belief at the start of a trajectory: that of the log, or the setting's. */
static void begin(rational *r, size_t node)
{
  const idm_prefix_tree *tree = r->tree;
  const size_t k = r->env.sizes.states;
  const int32_t at = tree->node[node].begin;
  const int32_t start = tree->begin_start[at];
  memcpy(r->updated_belief + node * k,
         start < 0 ? r->problem->setting->start : r->data->start_belief + (size_t)start * k,
         k * sizeof *r->updated_belief);
  r->variant[node] = tree->begin_variant[at];
  r->steps[node] = 0;
}

/* Actions available at a row; NULL: all. */
static const bool *idm_rational_open_actions(const rational *r, size_t node);

static void follow(rational *r, size_t node, double *joint)
{
  const idm_prefix_node *row = &r->tree->node[node];
  const size_t k = r->env.sizes.states;
  const size_t parent = (size_t)row->parent;
  const idm_event event = {.action = row->action,
                           .observation = row->observation,
                           .missed = row->missed,
                           .last = row->last,
                           .all_recorded = row->all_recorded};
  r->variant[node] = r->variant[parent];
  r->steps[node] = r->tree->node[parent].begin < 0 ? r->steps[parent] + 1 : 0;
  idm_environment_update(&r->env, &event, idm_rational_open_actions(r, node),
                         r->updated_belief + parent * k, r->updated_belief + node * k, joint);
}

idm_status idm_rational_open(rational *r, const idm_problem *problem, const idm_data *data,
                             const idm_prefix_tree *tree, idm_error *opt_error)
{
  const idm_sizes n = data->sizes;
  *r = (rational){.data = data, .tree = tree};
  idm_status status = idm_environment_create(problem->setting, problem->theta, &r->env, opt_error);
  if (status == IDM_OK) status = make_agent(r, problem, opt_error);
  if (status != IDM_OK) return status;
  r->updated_belief = idm_new(idm_times(tree->nodes, n.states), sizeof *r->updated_belief);
  r->quality = idm_new(idm_times(tree->nodes, n.actions), sizeof *r->quality);
  r->variant = idm_new(tree->nodes, sizeof *r->variant);
  r->steps = idm_new(tree->nodes, sizeof *r->steps);
  double *joint = idm_new(n.states, sizeof *joint);
  if (!r->updated_belief || !r->quality || !r->variant || !r->steps || !joint)
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
  return r->updated_belief + (size_t)r->tree->node[node].parent * r->env.sizes.states;
}

static const bool *idm_rational_open_actions(const rational *r, size_t node)
{
  const uint32_t set = r->tree->node[node].available;
  return set ? r->data->available_set + set * r->data->sizes.actions : NULL;
}

/* --- values --------------------------------------------------------------------------------- */

/* Compute Q* at a belief, at the step of a row; NaN if the belief has probability 0. */
static void idm_rational_quality(rational *r, size_t node, const double *z, double *quality)
{
  const idm_sizes n = r->env.sizes;
  double sum = 0;
  for (size_t s = 0; s < n.states; s++) sum += z[s];
  if (sum > 0)
    idm_plan_quality(r->workspace, r->variant[node], (int)r->steps[node], z, quality);
  else
    for (size_t u = 0; u < n.actions; u++) quality[u] = NAN;
}

/* Copy a block, one set of numbers per variant; returns whether they changed. */
static bool copy_block(rational *r, const idm_theta *theta, idm_block_id id)
{
  idm_block *target_block = &r->problem->theta->block[id];
  bool changed = false;
  for (size_t v = 0; v < target_block->variants; v++) {
    const double *from = idm_theta_values(theta, id, v);
    double *to = target_block->value + v * target_block->size;
    changed = changed || memcmp(to, from, target_block->size * sizeof *to) != 0;
    memcpy(to, from, target_block->size * sizeof *to);
  }
  return changed;
}

idm_status idm_rational_plan(rational *r, const idm_theta *theta, idm_error *opt_error)
{
  static const idm_block_id copied_blocks[] = {IDM_UTILITY, IDM_CERTAINTY, IDM_BELIEF_UTILITY,
                                               IDM_DISCOUNT};
  bool changed = !r->planned;
  for (size_t i = 0; i < sizeof copied_blocks / sizeof copied_blocks[0]; i++)
    changed = copy_block(r, theta, copied_blocks[i]) || changed;
  if (!changed) return IDM_OK;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_START_COLD; /* results independent of earlier plans */
  const idm_status status = idm_plan(r->problem->theta, &solver, r->workspace, NULL, opt_error);
  r->planned = status == IDM_OK;
  for (size_t i = 0; i < r->tree->nodes && status == IDM_OK; i++)
    if (r->tree->node[i].begin < 0)
      idm_rational_quality(r, i, idm_rational_belief(r, i), r->quality + i * r->env.sizes.actions);
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
    policy[u] = open && quality[u] >= best - tie_tolerance * size;
    ties += policy[u];
  }
  for (size_t u = 0; u < actions; u++) policy[u] = ties > 0 ? policy[u] / ties : NAN;
  return best;
}

/* === regret =================================================================================== */

size_t idm_explain_part_size(idm_sizes n, idm_explain_part part)
{
  switch (part) {
  case IDM_EXPLAIN_BELIEF:
  case IDM_EXPLAIN_RATIONAL_BELIEF:
    return n.states;
  case IDM_EXPLAIN_PROBABILITY:
  case IDM_EXPLAIN_QUALITY:
  case IDM_EXPLAIN_RATIONAL:
  case IDM_EXPLAIN_RATIONAL_AT_BELIEF:
    return n.actions;
  default:
    return 1;
  }
}

size_t idm_explain_part_offset(idm_sizes n, idm_explain_part part)
{
  size_t offset = 0;
  for (int i = 0; i < (int)part; i++) offset += idm_explain_part_size(n, (idm_explain_part)i);
  return offset;
}

void idm_explain_visitor_close(explain_visitor *o)
{
  idm_rational_close(&o->rational);
  idm_reaction_close(&o->reaction);
  free(o->noise);
  free(o->quality);
}

static idm_status open_visitor(void *context, const idm_data *data, const idm_prefix_tree *tree,
                               size_t draws, idm_error *opt_error)
{
  explain_visitor *o = context;
  const idm_sizes n = data->sizes;
  o->draws = draws;
  o->noise = idm_new(draws, sizeof *o->noise);
  o->quality = idm_new(2 * n.actions + 5 * n.states, sizeof *o->quality);
  if (!o->noise || !o->quality) return idm_fail_memory(opt_error);
  o->policy = o->quality + n.actions;
  o->updated_belief = o->policy + n.actions;
  o->scratch = o->updated_belief + n.states;
  const idm_status status = idm_rational_open(&o->rational, o->problem, data, tree, opt_error);
  return status == IDM_OK ? idm_reaction_open(&o->reaction, data, tree, draws, opt_error) : status;
}

/* Noise of decisions, relative to the range of the utilities. */
static double noise_of(const idm_workspace *workspace, idm_alpha_unit unit)
{
  const idm_planner *planner = idm_workspace_planner(workspace);
  const idm_theta *theta = idm_workspace_theta(workspace);
  const double range = idm_theta_utility_range(theta);
  if (idm_planner_reads(planner, IDM_TEMPERATURE))
    return idm_theta_scalar(theta, IDM_TEMPERATURE) / range;
  for (const idm_block_id *id = planner->reads; id && *id != IDM_BLOCK_COUNT; id++)
    if (*id == IDM_ALPHA)
      return idm_theta_scalar(theta, IDM_ALPHA) / (unit == IDM_ALPHA_RANGE ? 1 : range);
  return NAN;
}

static idm_status plan_visitor(void *context, size_t draw, idm_workspace *workspace,
                               idm_error *opt_error)
{
  explain_visitor *o = context;
  o->draw = draw;
  o->workspace = workspace;
  o->noise[draw] = noise_of(workspace, o->problem->agent.alpha_unit);
  return idm_rational_plan(&o->rational, idm_workspace_theta(workspace), opt_error);
}

bool idm_explain_is_due(const explain_visitor *o, size_t u)
{
  if (o->settings.due != IDM_MISSING) return u == (size_t)o->settings.due;
  return o->problem->setting->ends[u];
}

/* Address of a part in the visitor's numbers. */
static double *part_address(const explain_visitor *o, double *numbers, idm_explain_part part)
{
  const idm_sizes n = o->rational.data->sizes;
  return numbers + idm_explain_part_offset(n, part) -
         idm_explain_part_offset(n, IDM_EXPLAIN_RATIONAL_BELIEF);
}

/* Add the rational policy, regret and due probability of a row, at opt_env_belief, or at the belief
 * given the recorded history if it is NULL. */
static void add_rational(explain_visitor *o, size_t node, double weight,
                         const double *opt_env_belief, double *numbers)
{
  const idm_sizes n = o->rational.data->sizes;
  const double *z = opt_env_belief ? opt_env_belief : idm_rational_belief(&o->rational, node);
  const double *quality = o->rational.quality + node * n.actions;
  const int32_t action = o->rational.tree->node[node].action;
  if (opt_env_belief) {
    idm_rational_quality(&o->rational, node, opt_env_belief, o->quality);
    quality = o->quality;
  }
  const double best = idm_rational_best(quality, n.actions,
                                        idm_rational_open_actions(&o->rational, node), o->policy);
  double due = 1;
  double *belief = part_address(o, numbers, IDM_EXPLAIN_RATIONAL_BELIEF);
  double *policy = part_address(o, numbers, IDM_EXPLAIN_RATIONAL);
  for (size_t s = 0; s < n.states; s++) belief[s] += isnan(best) ? NAN : weight * z[s];
  for (size_t u = 0; u < n.actions; u++) {
    policy[u] += weight * o->policy[u];
    if (!idm_explain_is_due(o, u) && !(o->policy[u] == 0)) due = isnan(best) ? NAN : 0;
  }
  *part_address(o, numbers, IDM_EXPLAIN_REGRET) +=
      action == IDM_MISSING ? NAN : weight * fmax(0, best - quality[action]);
  if (isnan(best)) *part_address(o, numbers, IDM_EXPLAIN_REGRET) = NAN;
  *part_address(o, numbers, IDM_EXPLAIN_DUE) += weight * due;
}

/* Add the rational policy at a belief of the agent. */
static void add_at_belief(explain_visitor *o, size_t node, const idm_hypothesis *h, double *numbers)
{
  const size_t actions = o->rational.data->sizes.actions;
  double *at = part_address(o, numbers, IDM_EXPLAIN_RATIONAL_AT_BELIEF);
  idm_rational_quality(&o->rational, node, h->z, o->quality);
  idm_rational_best(o->quality, actions, idm_rational_open_actions(&o->rational, node), o->policy);
  for (size_t u = 0; u < actions; u++) at[u] += h->weight * o->policy[u];
}

/* Add the update of a belief of the agent by the observation of a row. */
static void add_update(explain_visitor *o, size_t node, const idm_hypothesis *h,
                       reaction_sums *sums)
{
  const idm_prefix_node *row = &o->rational.tree->node[node];
  if (row->action == IDM_MISSING || row->observation == IDM_MISSING) return;
  if (o->problem->setting->ends[row->action]) return;
  const size_t u = (size_t)row->action;
  const size_t x = (size_t)row->observation;
  if (!(idm_plan_recognise(o->workspace, h->variant, h->steps, h->z, u, x, o->updated_belief) > 0))
    return;
  idm_reaction_update(&o->rational.env, h->z, u, x, o->updated_belief, h->weight, o->scratch, sums);
}

static void visit(void *context, size_t node, const void *memory, double *numbers)
{
  explain_visitor *o = context;
  const idm_behavior b = idm_workspace_behavior(o->workspace);
  const idm_sizes n = o->rational.data->sizes;
  reaction_sums sums = {0};
  idm_hypothesis h;
  size_t count = 0;
  memset(numbers, 0, (n.states + 2 * n.actions + 2) * sizeof *numbers);
  for (; b.ops->hypothesis && b.ops->hypothesis(b.content, memory, count, &h); count++) {
    add_rational(o, node, h.weight, h.opt_env_belief, numbers);
    add_at_belief(o, node, &h, numbers);
    add_update(o, node, &h, &sums);
  }
  idm_reaction_add(&o->reaction, node, o->draw, &sums);
  if (count) return;
  add_rational(o, node, 1, NULL, numbers);
  double *at = part_address(o, numbers, IDM_EXPLAIN_RATIONAL_AT_BELIEF);
  for (size_t u = 0; u < n.actions; u++) at[u] = NAN;
}

trials_visitor idm_explain_visitor(explain_visitor *o, idm_sizes n)
{
  return (trials_visitor){.context = o,
                          .width = n.states + 2 * n.actions + 2,
                          .open = open_visitor,
                          .plan = plan_visitor,
                          .visit = visit};
}
