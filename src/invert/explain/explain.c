/* Single cases: a log step by step, beside a rational agent. See the header.
 *
 * Contents: a row · making one · trajectories · people · rankings */
#include "idm/explain.h"

#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/capacity.h"
#include "idm/diagnostics.h"
#include "invert/explain/rational.h"
#include "invert/explain/reaction.h"
#include "invert/trials.h"
#include "setting/freedom.h"

void idm_explain_settings_default(idm_explain_settings *settings)
{
  if (settings) *settings = (idm_explain_settings){IDM_MISSING, 10, -1};
}

void idm_explanation_destroy(idm_explanation *explanation)
{
  if (!explanation) return;
  idm_trials_destroy(explanation->trials);
  free(explanation->one);
  free(explanation->person);
  free(explanation->surprising_row);
  free(explanation->belated_case);
  free(explanation);
}

/* Numbers of a part. */
static size_t part_size(idm_sizes n, idm_explain_part part)
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

static size_t place_of(idm_sizes n, idm_explain_part part)
{
  size_t place = 0;
  for (int i = 0; i < (int)part; i++) place += part_size(n, (idm_explain_part)i);
  return place;
}

size_t idm_explain_place(const idm_explanation *explanation, idm_explain_part part)
{
  if (!explanation || (unsigned)part >= IDM_EXPLAIN_PARTS) return 0;
  return place_of(explanation->trials->sizes, part);
}

idm_interval idm_explained(const idm_explanation *explanation, size_t row, idm_explain_part part,
                           size_t i)
{
  const idm_interval none = {NAN, NAN, NAN};
  if (!explanation || (unsigned)part >= IDM_EXPLAIN_PARTS) return none;
  const idm_trials *t = explanation->trials;
  if (row >= t->rows || i >= part_size(t->sizes, part)) return none;
  const size_t at = t->node[row] * t->width + place_of(t->sizes, part) + i;
  if (!t->low) return (idm_interval){t->mean[at], t->mean[at], t->mean[at]};
  return (idm_interval){t->mean[at], t->low[at], t->high[at]};
}

idm_interval idm_explained_surprise(const idm_explanation *explanation, const idm_data *data,
                                    size_t row)
{
  const idm_interval none = {NAN, NAN, NAN};
  if (!explanation || !data || row >= explanation->trials->rows || row >= data->rows) return none;
  if (data->action[row] == IDM_MISSING) return none;
  const idm_interval p =
      idm_explained(explanation, row, IDM_EXPLAIN_PROBABILITY, (size_t)data->action[row]);
  idm_interval surprise = {-log(p.mean), -log(p.high), -log(p.low)};
  /* Too small for a probability, not for its logarithm. */
  if (p.mean == 0)
    surprise.mean = -idm_explained(explanation, row, IDM_EXPLAIN_LOG_LIKELIHOOD, 0).mean;
  if (p.mean == 0 && !explanation->trials->low) surprise.low = surprise.high = surprise.mean;
  surprise.mean += 0.0; /* no -0 */
  return surprise;
}

/* Append a name, after a '|' where it is not the first. */
static char *join(char *at, const char *name, bool first)
{
  const size_t length = strlen(name);
  if (!first) *at++ = '|';
  memcpy(at, name, length + 1);
  return at + length;
}

idm_status idm_explained_actions(const idm_explanation *explanation, const idm_setting *setting,
                                 size_t row, idm_explain_part part, char **ret_names,
                                 idm_error *opt_error)
{
  idm_require(explanation, setting, ret_names);
  const idm_sizes n = explanation->trials->sizes;
  size_t length = 1;
  double most = 0;
  *ret_names = NULL;
  if (!idm_sizes_same(n, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the explanation is of another problem");
  for (size_t u = 0; u < n.actions; u++) {
    length += strlen(setting->actions.name[u]) + 1;
    most = fmax(most, idm_explained(explanation, row, part, u).mean);
  }
  char *names = idm_new(length, 1);
  if (!names) return idm_fail_memory(opt_error);
  char *at = names;
  for (size_t u = 0; u < n.actions && most > 0; u++)
    if (idm_explained(explanation, row, part, u).mean >= most - 1e-12)
      at = join(at, setting->actions.name[u], at == names);
  *ret_names = names;
  return IDM_OK;
}

/* --- a row ---------------------------------------------------------------------------------- */

/* The guest of the trials. */
typedef struct onlooker {
  const idm_problem *problem;
  idm_explain_settings settings;
  rational rational;
  reaction reaction;
  idm_workspace *workspace; /* of the agent */
  size_t draw;
  size_t draws;
  double *noise;   /* [draw] */
  double *quality; /* [action] */
  double *policy;  /* [action] */
  double *after;   /* [state] */
  double *scratch; /* [4 state] */
} onlooker;

static void close_onlooker(onlooker *o)
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

/* Whether an action is what the trajectory waits for. */
static bool is_due(const onlooker *o, size_t u)
{
  if (o->settings.due != IDM_MISSING) return u == (size_t)o->settings.due;
  return o->problem->setting->ends[u];
}

/* Where the parts of the guest's numbers begin. */
static double *part_at(const onlooker *o, double *numbers, idm_explain_part part)
{
  const idm_sizes n = o->rational.data->sizes;
  return numbers + place_of(n, part) - place_of(n, IDM_EXPLAIN_RATIONAL_BELIEF);
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
    if (!is_due(o, u) && !(o->policy[u] == 0)) due = isnan(best) ? NAN : 0;
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

/* --- trajectories --------------------------------------------------------------------------- */

static idm_explained_case look_at_case(const onlooker *o, const idm_explanation *e,
                                       const idm_data *data, size_t t)
{
  const size_t first = data->first[t];
  const size_t rows = data->first[t + 1] - first;
  idm_explained_case one = {.step = rows + 1, .belated = -1, .never = true};
  for (size_t i = 0; i < rows; i++) {
    one.regret += idm_explained(e, first + i, IDM_EXPLAIN_REGRET, 0).mean;
    const int32_t action = data->action[first + i];
    if (!one.due && idm_explained(e, first + i, IDM_EXPLAIN_DUE, 0).mean > 0.5) one.due = i + 1;
    if (one.never && action != IDM_MISSING && is_due(o, (size_t)action)) {
      one.never = false;
      one.step = i + 1;
      if (!one.due) break; /* before it was due, whatever came later */
    }
  }
  if (one.due && one.due <= one.step) one.belated = (long)(one.step - one.due);
  return one;
}

/* --- people --------------------------------------------------------------------------------- */

static void count_rows(const idm_explanation *e, const idm_data *data)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    idm_explained_person *person = &e->person[data->agent[t]];
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const bool decided =
          data->action[row] != IDM_MISSING && idm_data_open(data, data->available[row]) > 1;
      if (!decided) continue;
      person->decisions++;
      person->surprise += idm_explained_surprise(e, data, row).mean;
      person->regret += idm_explained(e, row, IDM_EXPLAIN_REGRET, 0).mean;
    }
  }
  for (size_t a = 0; a < e->agents; a++) {
    e->person[a].surprise /= (double)e->person[a].decisions;
    e->person[a].regret /= (double)e->person[a].decisions;
  }
}

static idm_status look_at_people(const onlooker *o, idm_explanation *e, const idm_data *data,
                                 idm_error *opt_error)
{
  double *sample = idm_new(2 * o->draws, sizeof *sample);
  if (!sample) return idm_fail_memory(opt_error);
  double sum = 0;
  for (size_t i = 0; i < o->draws; i++) sum += sample[i] = o->noise[i];
  const bool none = isnan(sum);
  const idm_interval noise = {sum / (double)o->draws,
                              none ? NAN : idm_quantile(sample, o->draws, 0.05),
                              none ? NAN : idm_quantile(sample, o->draws, 0.95)};
  e->reaction_draws = o->reaction.draws;
  for (size_t a = 0; a < e->agents; a++) {
    e->person[a].noise = noise;
    idm_reaction_solve(&o->reaction, a, sample, &e->person[a]);
  }
  free(sample);
  count_rows(e, data);
  return IDM_OK;
}

/* --- rankings ------------------------------------------------------------------------------- */

/* The first `most` of a list by falling key, then by falling second key, then in order. */
typedef struct ranking {
  size_t most;
  size_t count;
  size_t *item;
  double *key; /* [most][2] */
} ranking;

static void rank(ranking *r, size_t item, double key, double second)
{
  size_t at = r->count;
  while (at > 0 &&
         (r->key[2 * at - 2] < key || (r->key[2 * at - 2] == key && r->key[2 * at - 1] < second)))
    at--;
  if (at == r->most) return;
  if (r->count < r->most) r->count++;
  const size_t moved = r->count - at - 1;
  memmove(r->item + at + 1, r->item + at, moved * sizeof *r->item);
  memmove(r->key + 2 * at + 2, r->key + 2 * at, moved * 2 * sizeof *r->key);
  r->item[at] = item;
  r->key[2 * at] = key;
  r->key[2 * at + 1] = second;
}

static void rank_rows(const idm_explanation *e, const idm_data *data, size_t t, ranking *r)
{
  for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
    if (data->action[row] == IDM_MISSING || idm_data_open(data, data->available[row]) < 2) continue;
    const double surprise = idm_explained_surprise(e, data, row).mean;
    const double regret = idm_explained(e, row, IDM_EXPLAIN_REGRET, 0).mean;
    if (!isnan(surprise)) rank(r, row, surprise, isnan(regret) ? 0 : regret);
  }
}

static idm_status rank_all(const idm_explain_settings *settings, idm_explanation *e,
                           const idm_data *data, idm_error *opt_error)
{
  ranking rows = {.most = settings->top < data->rows ? settings->top : data->rows};
  ranking cases = {.most = settings->top < e->trajectories ? settings->top : e->trajectories};
  rows.item = e->surprising_row = idm_new(rows.most, sizeof *rows.item);
  cases.item = e->belated_case = idm_new(cases.most, sizeof *cases.item);
  rows.key = idm_new(2 * rows.most, sizeof *rows.key);
  cases.key = idm_new(2 * cases.most, sizeof *cases.key);
  const bool room = rows.item && cases.item && rows.key && cases.key;
  for (size_t t = 0; t < e->trajectories && room; t++) {
    if (settings->trajectory >= 0 && t != (size_t)settings->trajectory) continue;
    rank_rows(e, data, t, &rows);
    if (e->one[t].belated > 0)
      rank(&cases, t, (double)e->one[t].belated, isnan(e->one[t].regret) ? 0 : e->one[t].regret);
  }
  e->surprising = rows.count;
  e->belated = cases.count;
  free(rows.key);
  free(cases.key);
  return room ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- making one ----------------------------------------------------------------------------- */

/* The rows by the problem's own parameter. */
static idm_status look_at_point(const idm_problem *problem, const idm_data *data,
                                const trials_guest *guest, idm_trials **ret_trials,
                                idm_notes *opt_notes, idm_error *opt_error)
{
  idm_workspace *workspace = NULL;
  idm_theta *theta = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK)
    status = idm_plan_capacity(theta, &problem->agent, NULL, workspace, NULL, opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_trials_create_with(workspace, data, guest, ret_trials, opt_error);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

static idm_status check_settings(const idm_problem *problem, const idm_data *data,
                                 const idm_explain_settings *settings, idm_error *opt_error)
{
  if (!idm_sizes_same(data->sizes, idm_setting_sizes(problem->setting)))
    return idm_fail(opt_error, IDM_USAGE, "the data are of another problem");
  if (settings->due != IDM_MISSING &&
      (settings->due < 0 || (size_t)settings->due >= data->sizes.actions))
    return idm_fail(opt_error, IDM_USAGE, "there is no action %ld", (long)settings->due);
  if (settings->trajectory >= 0 && (size_t)settings->trajectory >= data->trajectories)
    return idm_fail(opt_error, IDM_USAGE, "there is no trajectory %lld",
                    (long long)settings->trajectory);
  return IDM_OK;
}

/* What is to be known of the answer. */
static void remark(const idm_problem *problem, const idm_data *data,
                   const idm_explain_settings *settings, const idm_explanation *e,
                   idm_notes *opt_notes)
{
  const idm_setting *setting = problem->setting;
  bool ends = settings->due != IDM_MISSING;
  for (size_t u = 0; u < data->sizes.actions; u++) ends = ends || setting->ends[u];
  if (!setting->transition || !setting->emission)
    idm_notes_add(opt_notes, "the problem gives no environment: the mean of the agent's models "
                             "stands in for what a rational agent knows");
  if (!ends)
    idm_notes_add(opt_notes, "no action ends a trajectory, so that none is belated; name the one "
                             "that is waited for with --due");
  if (!idm_planner_reads(idm_agent_planner(&problem->agent), IDM_UTILITY))
    idm_notes_add(opt_notes, "the planner '%s' has no utilities; regret is by those of the problem",
                  idm_agent_planner(&problem->agent)->name);
  size_t impossible = 0;
  for (size_t row = 0; row < data->rows; row++)
    if (isnan(idm_explained(e, row, IDM_EXPLAIN_RATIONAL_BELIEF, 0).mean)) impossible++;
  if (impossible)
    idm_notes_add(
        opt_notes,
        "%zu rows come after something that the environment never shows: there a rational "
        "agent has no belief, and no regret is given",
        impossible);
  if (e->reaction_draws < e->trials->draws)
    idm_notes_add(opt_notes, "reactions are over %zu of %zu draws, since people are many",
                  e->reaction_draws, e->trials->draws);
}

static idm_status make_lists(onlooker *o, idm_explanation *e, const idm_data *data,
                             idm_error *opt_error)
{
  e->trajectories = data->trajectories;
  e->agents = data->agent_name.count;
  e->one = idm_new(e->trajectories, sizeof *e->one);
  e->person = idm_new(e->agents, sizeof *e->person);
  if (!e->one || !e->person) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < e->trajectories; t++) e->one[t] = look_at_case(o, e, data, t);
  const idm_status status = look_at_people(o, e, data, opt_error);
  return status == IDM_OK ? rank_all(&o->settings, e, data, opt_error) : status;
}

idm_status idm_explain(const idm_problem *problem, const idm_posterior *opt_posterior,
                       const idm_data *data, const idm_explain_settings *opt_settings,
                       idm_explanation **ret_explanation, idm_notes *opt_notes,
                       idm_error *opt_error)
{
  idm_require(problem, data, ret_explanation);
  *ret_explanation = NULL;
  onlooker o = {.problem = problem};
  idm_explain_settings_default(&o.settings);
  if (opt_settings) o.settings = *opt_settings;
  idm_status status = check_settings(problem, data, &o.settings, opt_error);
  if (status != IDM_OK) return status;
  idm_explanation *e = idm_new(1, sizeof *e);
  if (!e) return idm_fail_memory(opt_error);
  const trials_guest guest = {.context = &o,
                              .width = data->sizes.states + 2 * data->sizes.actions + 2,
                              .open = open_onlooker,
                              .plan = plan_onlooker,
                              .look = look};
  status = opt_posterior ? idm_posterior_trials_with(problem, opt_posterior, data, &guest,
                                                     &e->trials, opt_error)
                         : look_at_point(problem, data, &guest, &e->trials, opt_notes, opt_error);
  if (status == IDM_OK) status = make_lists(&o, e, data, opt_error);
  if (status == IDM_OK) remark(problem, data, &o.settings, e, opt_notes);
  close_onlooker(&o);
  if (status != IDM_OK) {
    idm_explanation_destroy(e);
    return status;
  }
  *ret_explanation = e;
  return IDM_OK;
}
