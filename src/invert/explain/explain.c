/* Explanation of single cases: a log step by step, compared with a rational agent
 * (docs/method/explain.md).
 *
 * Contents: trajectories · people · rankings · explanation · persons */
#include "invert/explain.h"

#include <assert.h>
#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "invert/explain/explain.h"
#include "invert/people/people.h"
#include "invert/predict.h"
#include "plan/plan.h"
#include "setting/model.h"

void idm_explain_settings_default(idm_explain_settings *settings)
{
  if (settings)
    *settings = (idm_explain_settings){
        .due = IDM_MISSING, .top = 10, .trajectory = -1, .draws = IDM_TRIAL_DRAWS};
}

void idm_explanation_destroy(idm_explanation *explanation)
{
  if (!explanation) return;
  idm_trials_destroy(explanation->trials);
  free(explanation->one);
  idm_labels_destroy(&explanation->name);
  free(explanation->agent);
  free(explanation->person);
  free(explanation->surprising_row);
  free(explanation->delayed_case);
  free(explanation);
}

idm_interval idm_explanation_interval(const idm_explanation *explanation, size_t row,
                                      idm_explain_part part, size_t i)
{
  const idm_interval none = {NAN, NAN, NAN};
  if (!explanation || (unsigned)part >= IDM_EXPLAIN_PARTS) return none;
  const idm_trials *t = explanation->trials;
  if (row >= t->rows || i >= idm_explain_part_size(t->sizes, part)) return none;
  const size_t at = t->node[row] * t->width + idm_explain_part_offset(t->sizes, part) + i;
  if (!t->low) return (idm_interval){t->mean[at], t->mean[at], t->mean[at]};
  return (idm_interval){t->mean[at], t->low[at], t->high[at]};
}

idm_interval idm_explanation_surprise(const idm_explanation *explanation, const idm_data *data,
                                      size_t row)
{
  const idm_interval none = {NAN, NAN, NAN};
  if (!explanation || !data || row >= explanation->trials->rows || row >= data->rows) return none;
  if (data->action[row] == IDM_MISSING) return none;
  const idm_interval p = idm_explanation_interval(explanation, row, IDM_EXPLAIN_PROBABILITY,
                                                  (size_t)data->action[row]);
  idm_interval surprise = {-log(p.mean), -log(p.high), -log(p.low)};
  /* If the mean probability underflows, the log-likelihood of the row replaces it. */
  if (p.mean == 0)
    surprise.mean = -idm_explanation_interval(explanation, row, IDM_EXPLAIN_LOG_LIKELIHOOD, 0).mean;
  if (p.mean == 0 && !explanation->trials->low) surprise.low = surprise.high = surprise.mean;
  surprise.mean += 0.0; /* avoids -0 */
  return surprise;
}

/* Append a name, after a '|' unless it is the first. */
static char *join(char *at, const char *name, bool first)
{
  const size_t length = strlen(name);
  if (!first) *at++ = '|';
  memcpy(at, name, length + 1);
  return at + length;
}

idm_status idm_explanation_actions(const idm_explanation *explanation, const idm_setting *setting,
                                   size_t row, idm_explain_part part, char **ret_names,
                                   idm_error *opt_error)
{
  idm_require(explanation, setting, ret_names);
  const idm_sizes n = explanation->trials->sizes;
  size_t length = 1;
  double maximum = 0;
  *ret_names = NULL;
  if (!idm_sizes_same(n, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the explanation is of another problem");
  for (size_t u = 0; u < n.actions; u++) {
    length += strlen(setting->actions.name[u]) + 1;
    maximum = fmax(maximum, idm_explanation_interval(explanation, row, part, u).mean);
  }
  char *names = idm_new(length, 1);
  if (!names) return idm_fail_memory(opt_error);
  char *at = names;
  for (size_t u = 0; u < n.actions && maximum > 0; u++)
    if (idm_explanation_interval(explanation, row, part, u).mean >= maximum - 1e-12)
      at = join(at, setting->actions.name[u], at == names);
  *ret_names = names;
  return IDM_OK;
}

/* --- trajectories --------------------------------------------------------------------------- */

static idm_case_summary explain_case(const explain_visitor *o, const idm_explanation *e,
                                     const idm_data *data, size_t t)
{
  const size_t first = data->first[t];
  const size_t rows = data->first[t + 1] - first;
  idm_case_summary one = {.step = rows + 1, .delayed = -1, .censored = true};
  bool early = false; /* a due action was taken before it was due, and none is due later */
  for (size_t i = 0; i < rows; i++) {
    const int32_t action = data->action[first + i];
    if (!idm_data_missed(data, first + i))
      one.regret += idm_explanation_interval(e, first + i, IDM_EXPLAIN_REGRET, 0).mean;
    if (!one.due && !early && idm_explanation_interval(e, first + i, IDM_EXPLAIN_DUE, 0).mean > 0.5)
      one.due = i + 1;
    const bool is_action = action != IDM_MISSING && !idm_data_missed(data, first + i);
    if (one.censored && is_action && idm_explain_is_due(o, (size_t)action)) {
      one.censored = false;
      one.step = i + 1;
      early = !one.due;
    }
  }
  if (one.due && one.due <= one.step) one.delayed = (long)(one.step - one.due);
  return one;
}

/* --- people --------------------------------------------------------------------------------- */

static void count_rows(const idm_explanation *e, const idm_data *data)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    idm_person_summary *person = &e->person[e->agent[t]];
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const bool decided = data->action[row] != IDM_MISSING &&
                           idm_data_available_count(data, data->available[row]) > 1;
      if (!decided) continue;
      person->decisions++;
      person->surprise += idm_explanation_surprise(e, data, row).mean;
      person->regret += idm_explanation_interval(e, row, IDM_EXPLAIN_REGRET, 0).mean;
    }
  }
  for (size_t a = 0; a < e->agents; a++) {
    e->person[a].surprise /= (double)e->person[a].decisions;
    e->person[a].regret /= (double)e->person[a].decisions;
  }
}

/* --- rankings ------------------------------------------------------------------------------- */

/* The first `maximum` items by descending key, then by descending second key, then in order. */
typedef struct ranking {
  size_t maximum;
  size_t count;
  size_t *item;
  double *key; /* [maximum][2] */
} ranking;

static void rank(ranking *r, size_t item, double key, double second)
{
  size_t at = r->count;
  while (at > 0 &&
         (r->key[2 * at - 2] < key || (r->key[2 * at - 2] == key && r->key[2 * at - 1] < second)))
    at--;
  if (at == r->maximum) return;
  if (r->count < r->maximum) r->count++;
  const size_t shifted = r->count - at - 1;
  memmove(r->item + at + 1, r->item + at, shifted * sizeof *r->item);
  memmove(r->key + 2 * at + 2, r->key + 2 * at, shifted * 2 * sizeof *r->key);
  r->item[at] = item;
  r->key[2 * at] = key;
  r->key[2 * at + 1] = second;
}

/* Rank the decisions of a trajectory by surprise, omitting those at least as probable as under
 * uniform choice. */
static void rank_rows(const idm_explanation *e, const idm_data *data, size_t t, ranking *r)
{
  for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
    if (data->action[row] == IDM_MISSING ||
        idm_data_available_count(data, data->available[row]) < 2)
      continue;
    const double surprise = idm_explanation_surprise(e, data, row).mean;
    const double regret = idm_explanation_interval(e, row, IDM_EXPLAIN_REGRET, 0).mean;
    const double chance = log((double)idm_data_available_count(data, data->available[row]));
    if (surprise > chance + 1e-9) rank(r, row, surprise, isnan(regret) ? 0 : regret);
  }
}

static idm_status rank_all(const idm_explain_settings *settings, idm_explanation *e,
                           const idm_data *data, idm_error *opt_error)
{
  ranking rows = {.maximum = settings->top < data->rows ? settings->top : data->rows};
  ranking cases = {.maximum = settings->top < e->trajectories ? settings->top : e->trajectories};
  rows.item = e->surprising_row = idm_new(rows.maximum, sizeof *rows.item);
  cases.item = e->delayed_case = idm_new(cases.maximum, sizeof *cases.item);
  rows.key = idm_new(2 * rows.maximum, sizeof *rows.key);
  cases.key = idm_new(2 * cases.maximum, sizeof *cases.key);
  const bool allocated = rows.item && cases.item && rows.key && cases.key;
  for (size_t t = 0; t < e->trajectories && allocated; t++) {
    if (settings->trajectory >= 0 && t != (size_t)settings->trajectory) continue;
    rank_rows(e, data, t, &rows);
    if (e->one[t].delayed > 0)
      rank(&cases, t, (double)e->one[t].delayed, isnan(e->one[t].regret) ? 0 : e->one[t].regret);
  }
  e->surprising = rows.count;
  e->delayed = cases.count;
  free(rows.key);
  free(cases.key);
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- explanation ----------------------------------------------------------------------------- */

/* Compute the rows with the problem's own parameters. */
static idm_status explain_point(const idm_problem *problem, const idm_data *data,
                                const trials_visitor *visitor, idm_trials **ret_trials,
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
    status = idm_trials_create_with(workspace, data, visitor, ret_trials, opt_error);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

/* Largest number of states for which sparse transitions are expanded to matrices. */
static const size_t max_unrolled = 1000;

static void close_unrolled(idm_problem *problem)
{
  idm_setting_destroy(problem->setting);
  idm_theta_destroy(problem->theta);
}

/* Compute transition[action][state][next] and emission from sparse transitions. */
static void put_matrices(const idm_setting *from, double *transition, double *emission)
{
  const idm_sizes n = idm_setting_sizes(from);
  const idm_sparse_rows *moves = from->moves;
  for (size_t row = 0; row < n.actions * n.states; row++) {
    for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
      transition[row * n.states + moves->next[i]] = moves->probability[i];
    if (from->fully_observed) emission[row * n.observations + row % n.states] = 1;
  }
  if (from->emission)
    memcpy(emission, from->emission, n.actions * n.states * n.observations * sizeof *emission);
}

/* Copy a problem with sparse transitions expanded to matrices; other members are borrowed.
 * close_unrolled accepts a problem for which this failed. */
static idm_status unroll(const idm_problem *from, idm_problem *to, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(from->setting);
  const size_t moves = n.actions * n.states * n.states;
  const size_t emissions = n.actions * n.states * n.observations;
  *to = *from;
  to->setting = NULL;
  to->theta = NULL;
  idm_status status = idm_setting_copy(from->setting, &to->setting, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(from->theta, &to->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_resize(to->theta, IDM_TRANSITION, moves, 1, opt_error);
  if (status == IDM_OK) status = idm_theta_resize(to->theta, IDM_EMISSION, emissions, 1, opt_error);
  if (status != IDM_OK) return status;
  double *transition = to->theta->block[IDM_TRANSITION].value;
  double *emission = to->theta->block[IDM_EMISSION].value;
  put_matrices(from->setting, transition, emission);
  idm_sparse_rows_destroy(to->setting->moves);
  to->setting->moves = NULL;
  free(to->setting->emission);
  to->setting->transition = idm_duplicate(transition, moves, sizeof *transition);
  to->setting->emission = idm_duplicate(emission, emissions, sizeof *emission);
  return to->setting->transition && to->setting->emission ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status check_settings(const idm_problem *problem, const idm_data *data,
                                 const idm_explain_settings *settings, idm_error *opt_error)
{
  if (!idm_sizes_same(data->sizes, idm_setting_sizes(problem->setting)))
    return idm_fail(opt_error, IDM_USAGE, "the data are of another problem");
  if (problem->setting->moves && !(data->sizes.states <= max_unrolled))
    return idm_fail(opt_error, IDM_INPUT,
                    "explanations need matrices of transitions, which are too large for %zu states "
                    "with transitions by rows; expected %zu states at most",
                    data->sizes.states, max_unrolled);
  if (!settings->draws)
    return idm_fail(opt_error, IDM_USAGE, "an explanation needs 1 draw or more");
  if (settings->due != IDM_MISSING &&
      (settings->due < 0 || (size_t)settings->due >= data->sizes.actions))
    return idm_fail(opt_error, IDM_USAGE, "there is no action %ld", (long)settings->due);
  if (settings->trajectory >= 0 && (size_t)settings->trajectory >= data->trajectories)
    return idm_fail(opt_error, IDM_USAGE, "there is no trajectory %lld",
                    (long long)settings->trajectory);
  return IDM_OK;
}

/* Add remarks on substitutes, due actions, impossible rows and the number of draws. */
static void remark(const idm_problem *problem, const idm_data *data,
                   const idm_explain_settings *settings, const idm_explanation *e,
                   idm_notes *opt_notes)
{
  const idm_setting *setting = problem->setting;
  bool ends = settings->due != IDM_MISSING;
  for (size_t u = 0; u < data->sizes.actions; u++) ends = ends || setting->ends[u];
  if (!setting->transition || !setting->emission)
    idm_notes_add(
        opt_notes,
        "the problem gives no environment: the rational agent uses the mean of the agent's models");
  if (!ends)
    idm_notes_add(
        opt_notes,
        "no action ends a trajectory, so that no decision is late; name the due action with --due");
  if (!idm_planner_reads(idm_agent_planner(&problem->agent), IDM_UTILITY))
    idm_notes_add(opt_notes, "the planner '%s' has no utilities; regret uses those of the problem",
                  idm_agent_planner(&problem->agent)->name);
  size_t impossible = 0;
  for (size_t row = 0; row < data->rows; row++)
    if (isnan(idm_explanation_interval(e, row, IDM_EXPLAIN_RATIONAL_BELIEF, 0).mean) &&
        !isnan(idm_explanation_interval(e, row, IDM_EXPLAIN_PROBABILITY, 0).mean))
      impossible++;
  if (impossible)
    idm_notes_add(opt_notes,
                  "%zu rows follow an observation that has probability 0 in the environment: there "
                  "a rational agent has no belief, and regret is not defined",
                  impossible);
  if (e->reaction_draws < e->trials->draws)
    idm_notes_add(opt_notes, "reactions use %zu of %zu draws, since there are many people",
                  e->reaction_draws, e->trials->draws);
}

static idm_status make_lists(explain_visitor *o, idm_explanation *e, const idm_data *data,
                             idm_error *opt_error)
{
  for (size_t t = 0; t < e->trajectories; t++) e->one[t] = explain_case(o, e, data, t);
  count_rows(e, data);
  return rank_all(&o->settings, e, data, opt_error);
}

/* Summarise the draws of one agent, number `agent` of the visited log. */
static idm_status measure_reactions(const explain_visitor *o, size_t agent,
                                    idm_person_summary *person, idm_error *opt_error)
{
  const size_t target_block = REACTION_SAMPLES * o->reaction.draws;
  const size_t sample_count = o->draws > target_block ? o->draws : target_block;
  double *sample = idm_new(sample_count, sizeof *sample);
  if (!sample) return idm_fail_memory(opt_error);
  memcpy(sample, o->noise, o->draws * sizeof *sample);
  person->noise = idm_reaction_interval(sample, o->draws);
  idm_reaction_solve(&o->reaction, agent, sample, person);
  free(sample);
  return IDM_OK;
}

/* Explain all agents by the same numbers: one parameter, or draws of one posterior. */
static idm_status explain_pooled(explain_visitor *o, const idm_posterior *opt_posterior,
                                 const idm_data *data, idm_explanation *e, idm_notes *opt_notes,
                                 idm_error *opt_error)
{
  const trials_visitor visitor = idm_explain_visitor(o, data->sizes);
  idm_status status =
      opt_posterior ? idm_posterior_trials_with(o->problem, opt_posterior, o->settings.draws, data,
                                                &visitor, &e->trials, opt_error)
                    : explain_point(o->problem, data, &visitor, &e->trials, opt_notes, opt_error);
  for (size_t a = 0; a < e->agents && status == IDM_OK; a++)
    status = measure_reactions(o, a, &e->person[a], opt_error);
  e->reaction_draws = o->reaction.draws;
  return status;
}

/* --- persons -------------------------------------------------------------------------------- */

/* Copy the trajectories of a person to a log of their own, and list their rows in the whole log. */
static idm_status take_agent_data(const idm_data *data, const uint32_t *agent_of, size_t agent,
                                  idm_data **ret_part, size_t *rows, idm_error *opt_error)
{
  uint32_t *trajectory = idm_new(data->trajectories, sizeof *trajectory);
  if (!trajectory) return idm_fail_memory(opt_error);
  size_t count = 0;
  size_t row = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    if (agent_of[t] != agent) continue;
    trajectory[count++] = (uint32_t)t;
    for (size_t i = data->first[t]; i < data->first[t + 1]; i++) rows[row++] = i;
  }
  const idm_status status = idm_data_subset(data, trajectory, count, ret_part, opt_error);
  free(trajectory);
  return status;
}

/* Make room for `nodes` more nodes in all arrays; returns false without memory. */
static bool grow(idm_trials *t, size_t used, size_t nodes)
{
  double **const arrays[] = {&t->mean, &t->low, &t->high};
  for (size_t i = 0; i < (t->draws > 1 ? 3 : 1); i++) {
    const size_t bytes = idm_times(idm_times(used + nodes, t->width), sizeof(double));
    assert(bytes > 0);
    double *array = realloc(*arrays[i], bytes);
    if (!array) return false;
    *arrays[i] = array;
  }
  return true;
}

/* Append one agent's rows; their nodes follow the existing ones. */
static bool append(idm_trials *to, size_t *used, const idm_trials *part, const size_t *rows)
{
  uint32_t nodes = 0;
  for (size_t i = 0; i < part->rows; i++)
    if (part->node[i] >= nodes) nodes = part->node[i] + 1;
  if (!grow(to, *used, nodes)) return false;
  const size_t bytes = nodes * to->width * sizeof *to->mean;
  memcpy(to->mean + *used * to->width, part->mean, bytes);
  if (to->low) memcpy(to->low + *used * to->width, part->low, bytes);
  if (to->high) memcpy(to->high + *used * to->width, part->high, bytes);
  for (size_t i = 0; i < part->rows; i++) to->node[rows[i]] = (uint32_t)*used + part->node[i];
  *used += nodes;
  return true;
}

/* Store NaN for a person without updates. */
static void clear_reactions(idm_person_summary *person)
{
  const idm_interval none = {NAN, NAN, NAN};
  person->base_rate = person->reaction = person->noise = none;
  person->confirming = person->disconfirming = person->asymmetry = none;
}

/* Explain one agent by the draws of a person. */
static idm_status explain_person(const explain_visitor *parent, const idm_posterior *posterior,
                                 size_t person, const idm_data *part, idm_trials **ret_trials,
                                 idm_person_summary *explained, size_t *ret_reaction_draws,
                                 idm_error *opt_error)
{
  explain_visitor o = {.problem = parent->problem, .settings = parent->settings};
  const trials_visitor visitor = idm_explain_visitor(&o, part->sizes);
  idm_posterior *person_posterior = NULL;
  idm_status status =
      idm_posterior_person(o.problem, posterior, person, &person_posterior, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_trials_with(o.problem, person_posterior, o.settings.draws, part,
                                       &visitor, ret_trials, opt_error);
  /* A person who is several agents of the log has no single reaction. */
  clear_reactions(explained);
  if (status == IDM_OK && part->agent_name.count == 1)
    status = measure_reactions(&o, 0, explained, opt_error);
  *ret_reaction_draws = o.reaction.draws;
  idm_explain_visitor_close(&o);
  idm_posterior_destroy(person_posterior);
  return status;
}

/* Create trials without rows: node 0 has NaN, for agents that are not people of the run. */
static idm_status open_trials(const idm_data *data, size_t draws, idm_trials **ret_trials,
                              idm_error *opt_error)
{
  idm_trials *t = *ret_trials = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->sizes = data->sizes;
  t->width = idm_explain_part_offset(data->sizes, IDM_EXPLAIN_PARTS);
  t->draws = draws;
  t->rows = data->rows;
  t->node = idm_new(data->rows, sizeof *t->node);
  if (!t->node || !grow(t, 0, 1)) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < t->width; i++) {
    t->mean[i] = NAN;
    if (t->low) t->low[i] = t->high[i] = NAN;
  }
  return IDM_OK;
}

/* Index of an agent among the people of an answer, or their number if absent. */
static size_t find_person(const idm_labels *people, const char *name)
{
  size_t i = 0;
  while (i < people->count && strcmp(people->name[i], name) != 0) i++;
  return i;
}

/* Explain every agent by its own draws; agents that are not people of the run have NaN. */
static idm_status explain_people(explain_visitor *o, const idm_posterior *posterior,
                                 const idm_data *data, idm_explanation *e, idm_notes *opt_notes,
                                 idm_error *opt_error)
{
  const idm_labels *people = &posterior->axis[idm_posterior_axis(posterior, "person")].label;
  size_t used = 1;
  size_t unknown_agents = 0;
  size_t *rows = idm_new(data->rows, sizeof *rows);
  const size_t all = posterior->chains * posterior->draws;
  const size_t draws = all < o->settings.draws ? all : o->settings.draws;
  idm_status status =
      rows ? open_trials(data, draws, &e->trials, opt_error) : idm_fail_memory(opt_error);
  for (size_t a = 0; a < e->agents && status == IDM_OK; a++) {
    const size_t person = find_person(people, e->name.name[a]);
    idm_data *part = NULL;
    idm_trials *trials = NULL;
    if (person == people->count) {
      clear_reactions(&e->person[a]);
      unknown_agents++;
      continue;
    }
    status = take_agent_data(data, e->agent, a, &part, rows, opt_error);
    if (status == IDM_OK)
      status = explain_person(o, posterior, person, part, &trials, &e->person[a],
                              &e->reaction_draws, opt_error);
    if (status == IDM_OK && !append(e->trials, &used, trials, rows))
      status = idm_fail_memory(opt_error);
    idm_trials_destroy(trials);
    idm_data_destroy(part);
  }
  free(rows);
  if (status == IDM_OK && unknown_agents == e->agents)
    return idm_fail(opt_error, IDM_INPUT, "none of the agents of the log is a person of the run");
  if (status == IDM_OK && unknown_agents)
    idm_notes_add(opt_notes, "%zu agents of the log are not people of the run: they are left out",
                  unknown_agents);
  return status;
}

/* Assign trajectories: to people by the column of the fit, else to agents. */
static idm_status name_agents(const explain_visitor *o, bool people, const idm_data *data,
                              idm_explanation *e, idm_error *opt_error)
{
  idm_person_map assignment = {.people = data->agent_name.count};
  idm_status status;
  if (people) {
    const char *by = o->settings.by ? o->settings.by : "agent";
    status = idm_person_map_create(o->problem, data, by, &assignment, opt_error);
  } else {
    status = idm_labels_copy(&data->agent_name, &assignment.name, opt_error);
    assignment.of_trajectory = idm_duplicate(data->agent, data->trajectories, sizeof *data->agent);
    if (status == IDM_OK && !assignment.of_trajectory) status = idm_fail_memory(opt_error);
  }
  e->agents = assignment.people;
  e->name = assignment.name;
  e->agent = assignment.of_trajectory;
  if (status != IDM_OK) return status;
  e->person = idm_new(e->agents, sizeof *e->person);
  return e->person ? IDM_OK : idm_fail_memory(opt_error);
}

/* Explain a log of a problem with transition matrices. */
static idm_status explain(const idm_problem *problem, const idm_posterior *opt_posterior,
                          const idm_data *data, const idm_explain_settings *opt_settings,
                          idm_explanation **ret_explanation, idm_notes *opt_notes,
                          idm_error *opt_error)
{
  explain_visitor o = {.problem = problem};
  idm_explain_settings_default(&o.settings);
  if (opt_settings) o.settings = *opt_settings;
  idm_status status = check_settings(problem, data, &o.settings, opt_error);
  if (status != IDM_OK) return status;
  idm_explanation *e = idm_new(1, sizeof *e);
  if (!e) return idm_fail_memory(opt_error);
  e->trajectories = data->trajectories;
  e->one = idm_new(e->trajectories, sizeof *e->one);
  const bool people =
      opt_posterior && idm_posterior_axis(opt_posterior, "person") < opt_posterior->axes;
  status = e->one ? name_agents(&o, people, data, e, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = people ? explain_people(&o, opt_posterior, data, e, opt_notes, opt_error)
                    : explain_pooled(&o, opt_posterior, data, e, opt_notes, opt_error);
  if (status == IDM_OK) status = make_lists(&o, e, data, opt_error);
  if (status == IDM_OK) remark(problem, data, &o.settings, e, opt_notes);
  idm_explain_visitor_close(&o);
  if (status != IDM_OK) {
    idm_explanation_destroy(e);
    return status;
  }
  *ret_explanation = e;
  return IDM_OK;
}

idm_status idm_explain_log(const idm_problem *problem, const idm_posterior *opt_posterior,
                           const idm_data *data, const idm_explain_settings *opt_settings,
                           idm_explanation **ret_explanation, idm_notes *opt_notes,
                           idm_error *opt_error)
{
  idm_require(problem, data, ret_explanation);
  *ret_explanation = NULL;
  if (!problem->setting->moves || idm_setting_sizes(problem->setting).states > max_unrolled)
    return explain(problem, opt_posterior, data, opt_settings, ret_explanation, opt_notes,
                   opt_error);
  idm_problem unrolled;
  idm_status status = unroll(problem, &unrolled, opt_error);
  if (status == IDM_OK)
    status = explain(&unrolled, opt_posterior, data, opt_settings, ret_explanation, opt_notes,
                     opt_error);
  close_unrolled(&unrolled);
  return status;
}

/* --- accessors ------------------------------------------------------------------------------ */

size_t idm_explanation_cases(const idm_explanation *explanation)
{
  return explanation ? explanation->trajectories : 0;
}

size_t idm_explanation_people(const idm_explanation *explanation)
{
  return explanation ? explanation->agents : 0;
}

const idm_case_summary *idm_explanation_case(const idm_explanation *explanation, size_t index)
{
  return index < idm_explanation_cases(explanation) ? &explanation->one[index] : NULL;
}

const idm_person_summary *idm_explanation_person(const idm_explanation *explanation, size_t index)
{
  return index < idm_explanation_people(explanation) ? &explanation->person[index] : NULL;
}

const char *idm_explanation_bias_name(size_t index)
{
  return index < IDM_BIAS_COUNT ? idm_bias_name((idm_bias)index) : NULL;
}

bool idm_explanation_has_bias(const idm_explanation *explanation, size_t person, size_t index)
{
  const idm_person_summary *of = idm_explanation_person(explanation, person);
  return of && index < IDM_BIAS_COUNT && idm_person_has_bias(of, (idm_bias)index);
}
