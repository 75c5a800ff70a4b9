/* Who looks at every row of a log: see the header. */
#include "invert/explain/onlooker.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "setting/freedom.h"

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

size_t idm_explain_place_of(idm_sizes n, idm_explain_part part)
{
  size_t place = 0;
  for (int i = 0; i < (int)part; i++) place += idm_explain_part_size(n, (idm_explain_part)i);
  return place;
}

void idm_onlooker_close(onlooker *o)
{
  idm_rational_close(&o->rational);
  idm_reaction_close(&o->reaction);
  free(o->noise);
  free(o->quality);
}

static idm_status open_onlooker(void *context, const idm_data *data, const idm_prefix_tree *tree,
                                size_t draws, idm_error *opt_error)
{
  onlooker *o = context;
  const idm_sizes n = data->sizes;
  o->draws = draws;
  o->noise = idm_new(draws, sizeof *o->noise);
  o->quality = idm_new(2 * n.actions + 5 * n.states, sizeof *o->quality);
  if (!o->noise || !o->quality) return idm_fail_memory(opt_error);
  o->policy = o->quality + n.actions;
  o->after = o->policy + n.actions;
  o->scratch = o->after + n.states;
  const idm_status status = idm_rational_open(&o->rational, o->problem, data, tree, opt_error);
  return status == IDM_OK ? idm_reaction_open(&o->reaction, data, tree, draws, opt_error) : status;
}

/* Noise of decisions, in units of the range of the utilities. */
static double noise_of(const idm_workspace *workspace, idm_alpha_unit unit)
{
  const idm_planner *planner = idm_workspace_planner(workspace);
  const idm_theta *theta = idm_workspace_theta(workspace);
  const double range = idm_theta_range(theta);
  if (idm_planner_reads(planner, IDM_TEMPERATURE))
    return idm_theta_scalar(theta, IDM_TEMPERATURE) / range;
  for (const idm_block_id *id = planner->reads; id && *id != IDM_BLOCK_COUNT; id++)
    if (*id == IDM_ALPHA)
      return idm_theta_scalar(theta, IDM_ALPHA) / (unit == IDM_ALPHA_RANGE ? 1 : range);
  return NAN;
}

static idm_status plan_onlooker(void *context, size_t draw, idm_workspace *workspace,
                                idm_error *opt_error)
{
  onlooker *o = context;
  o->draw = draw;
  o->workspace = workspace;
  o->noise[draw] = noise_of(workspace, o->problem->agent.alpha_unit);
  return idm_rational_plan(&o->rational, idm_workspace_theta(workspace), opt_error);
}

bool idm_onlooker_is_due(const onlooker *o, size_t u)
{
  if (o->settings.due != IDM_MISSING) return u == (size_t)o->settings.due;
  return o->problem->setting->ends[u];
}

/* Where the parts of the guest's numbers begin. */
static double *part_at(const onlooker *o, double *numbers, idm_explain_part part)
{
  const idm_sizes n = o->rational.data->sizes;
  return numbers + idm_explain_place_of(n, part) -
         idm_explain_place_of(n, IDM_EXPLAIN_RATIONAL_BELIEF);
}

/* What the rational agent makes of the row, where its belief may be opt_world: by default that of
 * the recorded history. */
static void add_rational(onlooker *o, size_t node, double weight, const double *opt_world,
                         double *numbers)
{
  const idm_sizes n = o->rational.data->sizes;
  const double *z = opt_world ? opt_world : idm_rational_belief(&o->rational, node);
  const double *quality = o->rational.quality + node * n.actions;
  const int32_t action = o->rational.tree->node[node].action;
  if (opt_world) {
    idm_rational_quality(&o->rational, node, opt_world, o->quality);
    quality = o->quality;
  }
  const double best = idm_rational_best(quality, n.actions,
                                        idm_rational_open_actions(&o->rational, node), o->policy);
  double due = 1;
  double *belief = part_at(o, numbers, IDM_EXPLAIN_RATIONAL_BELIEF);
  double *policy = part_at(o, numbers, IDM_EXPLAIN_RATIONAL);
  for (size_t s = 0; s < n.states; s++) belief[s] += isnan(best) ? NAN : weight * z[s];
  for (size_t u = 0; u < n.actions; u++) {
    policy[u] += weight * o->policy[u];
    if (!idm_onlooker_is_due(o, u) && !(o->policy[u] == 0)) due = isnan(best) ? NAN : 0;
  }
  *part_at(o, numbers, IDM_EXPLAIN_REGRET) +=
      action == IDM_MISSING ? NAN : weight * fmax(0, best - quality[action]);
  if (isnan(best)) *part_at(o, numbers, IDM_EXPLAIN_REGRET) = NAN;
  *part_at(o, numbers, IDM_EXPLAIN_DUE) += weight * due;
}

/* What the rational policy would do at a belief of the agent's. */
static void add_at_belief(onlooker *o, size_t node, const idm_hypothesis *h, double *numbers)
{
  const size_t actions = o->rational.data->sizes.actions;
  double *at = part_at(o, numbers, IDM_EXPLAIN_RATIONAL_AT_BELIEF);
  idm_rational_quality(&o->rational, node, h->z, o->quality);
  idm_rational_best(o->quality, actions, idm_rational_open_actions(&o->rational, node), o->policy);
  for (size_t u = 0; u < actions; u++) at[u] += h->weight * o->policy[u];
}

/* How a belief took what was seen. */
static void add_update(onlooker *o, size_t node, const idm_hypothesis *h, reaction_sums *sums)
{
  const idm_prefix_node *row = &o->rational.tree->node[node];
  if (row->action == IDM_MISSING || row->observation == IDM_MISSING) return;
  if (o->problem->setting->ends[row->action]) return;
  const size_t u = (size_t)row->action;
  const size_t x = (size_t)row->observation;
  if (!(idm_plan_recognise(o->workspace, h->variant, h->steps, h->z, u, x, o->after) > 0)) return;
  idm_reaction_update(&o->rational.world, h->z, u, x, o->after, h->weight, o->scratch, sums);
}

static void look(void *context, size_t node, const void *memory, double *numbers)
{
  onlooker *o = context;
  const idm_behavior b = idm_workspace_behavior(o->workspace);
  const idm_sizes n = o->rational.data->sizes;
  reaction_sums sums = {0};
  idm_hypothesis h;
  size_t count = 0;
  memset(numbers, 0, (n.states + 2 * n.actions + 2) * sizeof *numbers);
  for (; b.ops->hypothesis && b.ops->hypothesis(b.content, memory, count, &h); count++) {
    add_rational(o, node, h.weight, h.opt_world, numbers);
    add_at_belief(o, node, &h, numbers);
    add_update(o, node, &h, &sums);
  }
  idm_reaction_add(&o->reaction, node, o->draw, &sums);
  if (count) return;
  add_rational(o, node, 1, NULL, numbers);
  double *at = part_at(o, numbers, IDM_EXPLAIN_RATIONAL_AT_BELIEF);
  for (size_t u = 0; u < n.actions; u++) at[u] = NAN;
}

trials_guest idm_onlooker_guest(onlooker *o, idm_sizes n)
{
  return (trials_guest){.context = o,
                        .width = n.states + 2 * n.actions + 2,
                        .open = open_onlooker,
                        .plan = plan_onlooker,
                        .look = look};
}

idm_status idm_onlooker_measure(const onlooker *o, size_t agent, idm_explained_person *person,
                                idm_error *opt_error)
{
  const size_t own = REACTION_SAMPLES * o->reaction.draws;
  const size_t most = o->draws > own ? o->draws : own;
  double *sample = idm_new(most, sizeof *sample);
  if (!sample) return idm_fail_memory(opt_error);
  memcpy(sample, o->noise, o->draws * sizeof *sample);
  person->noise = idm_reaction_interval(sample, o->draws);
  idm_reaction_solve(&o->reaction, agent, sample, person);
  free(sample);
  return IDM_OK;
}
