/* Single cases: a log step by step, beside a rational agent. See the header.
 *
 * Contents: trajectories · people · rankings · making one · persons */
#include "idm/explain.h"

#include <assert.h>
#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "data/part.h"
#include "idm/capacity.h"
#include "idm/predict.h"
#include "invert/explain/onlooker.h"
#include "invert/people/who.h"

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
  free(explanation->belated_case);
  free(explanation);
}

idm_interval idm_explained(const idm_explanation *explanation, size_t row, idm_explain_part part,
                           size_t i)
{
  const idm_interval none = {NAN, NAN, NAN};
  if (!explanation || (unsigned)part >= IDM_EXPLAIN_PARTS) return none;
  const idm_trials *t = explanation->trials;
  if (row >= t->rows || i >= idm_explain_part_size(t->sizes, part)) return none;
  const size_t at = t->node[row] * t->width + idm_explain_place_of(t->sizes, part) + i;
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

/* --- trajectories --------------------------------------------------------------------------- */

static idm_explained_case look_at_case(const onlooker *o, const idm_explanation *e,
                                       const idm_data *data, size_t t)
{
  const size_t first = data->first[t];
  const size_t rows = data->first[t + 1] - first;
  idm_explained_case one = {.step = rows + 1, .belated = -1, .never = true};
  for (size_t i = 0; i < rows; i++) {
    const int32_t action = data->action[first + i];
    if (!idm_data_missed(data, first + i))
      one.regret += idm_explained(e, first + i, IDM_EXPLAIN_REGRET, 0).mean;
    if (!one.due && idm_explained(e, first + i, IDM_EXPLAIN_DUE, 0).mean > 0.5) one.due = i + 1;
    const bool acted = action != IDM_MISSING && !idm_data_missed(data, first + i);
    if (one.never && acted && idm_onlooker_is_due(o, (size_t)action)) {
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
    idm_explained_person *person = &e->person[e->agent[t]];
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

/* What is as probable as by uniform choice, or more, is no surprise. */
static void rank_rows(const idm_explanation *e, const idm_data *data, size_t t, ranking *r)
{
  for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
    if (data->action[row] == IDM_MISSING || idm_data_open(data, data->available[row]) < 2) continue;
    const double surprise = idm_explained_surprise(e, data, row).mean;
    const double regret = idm_explained(e, row, IDM_EXPLAIN_REGRET, 0).mean;
    const double chance = log((double)idm_data_open(data, data->available[row]));
    if (surprise > chance + 1e-9) rank(r, row, surprise, isnan(regret) ? 0 : regret);
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
  if (problem->setting->moves)
    return idm_fail(opt_error, IDM_INPUT,
                    "cases are explained by matrices of transitions; here they are given row by "
                    "row");
  if (!settings->draws)
    return idm_fail(opt_error, IDM_USAGE, "an explanation is over 1 draw at least");
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
    if (isnan(idm_explained(e, row, IDM_EXPLAIN_RATIONAL_BELIEF, 0).mean) &&
        !isnan(idm_explained(e, row, IDM_EXPLAIN_PROBABILITY, 0).mean))
      impossible++;
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
  for (size_t t = 0; t < e->trajectories; t++) e->one[t] = look_at_case(o, e, data, t);
  count_rows(e, data);
  return rank_all(&o->settings, e, data, opt_error);
}

/* Everybody by the same numbers: a parameter, or draws of one. */
static idm_status look_at_all(onlooker *o, const idm_posterior *opt_posterior, const idm_data *data,
                              idm_explanation *e, idm_notes *opt_notes, idm_error *opt_error)
{
  const trials_guest guest = idm_onlooker_guest(o, data->sizes);
  idm_status status =
      opt_posterior ? idm_posterior_trials_with(o->problem, opt_posterior, o->settings.draws, data,
                                                &guest, &e->trials, opt_error)
                    : look_at_point(o->problem, data, &guest, &e->trials, opt_notes, opt_error);
  for (size_t a = 0; a < e->agents && status == IDM_OK; a++)
    status = idm_onlooker_measure(o, a, &e->person[a], opt_error);
  e->reaction_draws = o->reaction.draws;
  return status;
}

/* --- persons -------------------------------------------------------------------------------- */

/* The trajectories of a person as a log of their own, and their rows in the whole. */
static idm_status take_part(const idm_data *data, const uint32_t *agent_of, size_t agent,
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
  const idm_status status = idm_data_part(data, trajectory, count, ret_part, opt_error);
  free(trajectory);
  return status;
}

/* Make room for `nodes` more nodes of all numbers; false where memory is short. */
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

/* Append one agent's rows: nodes come after those there are. */
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

/* One agent by their own draws, those of a person. */
static idm_status look_at_one(const onlooker *whole, const idm_posterior *posterior, size_t person,
                              const idm_data *part, idm_trials **ret_trials,
                              idm_explained_person *explained, size_t *ret_reaction_draws,
                              idm_error *opt_error)
{
  onlooker o = {.problem = whole->problem, .settings = whole->settings};
  const trials_guest guest = idm_onlooker_guest(&o, part->sizes);
  idm_posterior *own = NULL;
  idm_status status = idm_posterior_person(o.problem, posterior, person, &own, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_trials_with(o.problem, own, o.settings.draws, part, &guest, ret_trials,
                                       opt_error);
  /* A person who is several agents of the log has no reaction of their own. */
  idm_reaction_none(explained);
  if (status == IDM_OK && part->agent_name.count == 1)
    status = idm_onlooker_measure(&o, 0, explained, opt_error);
  *ret_reaction_draws = o.reaction.draws;
  idm_onlooker_close(&o);
  idm_posterior_destroy(own);
  return status;
}

/* An explanation without rows yet: node 0 is that of whoever the run does not know. */
static idm_status open_trials(const idm_data *data, size_t draws, idm_trials **ret_trials,
                              idm_error *opt_error)
{
  idm_trials *t = *ret_trials = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->sizes = data->sizes;
  t->width = idm_explain_place_of(data->sizes, IDM_EXPLAIN_PARTS);
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

/* The place of an agent along the people of an answer, or their number. */
static size_t find_person(const idm_labels *people, const char *name)
{
  size_t i = 0;
  while (i < people->count && strcmp(people->name[i], name) != 0) i++;
  return i;
}

/* Everybody by their own draws; who is none of the people has no numbers. */
static idm_status look_at_people(onlooker *o, const idm_posterior *posterior, const idm_data *data,
                                 idm_explanation *e, idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_labels *people = &posterior->axis[idm_posterior_axis(posterior, "person")].label;
  size_t used = 1;
  size_t strangers = 0;
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
      idm_reaction_none(&e->person[a]);
      strangers++;
      continue;
    }
    status = take_part(data, e->agent, a, &part, rows, opt_error);
    if (status == IDM_OK)
      status = look_at_one(o, posterior, person, part, &trials, &e->person[a], &e->reaction_draws,
                           opt_error);
    if (status == IDM_OK && !append(e->trials, &used, trials, rows))
      status = idm_fail_memory(opt_error);
    idm_trials_destroy(trials);
    idm_data_destroy(part);
  }
  free(rows);
  if (status == IDM_OK && strangers == e->agents)
    return idm_fail(opt_error, IDM_INPUT, "none of the agents of the log is a person of the run");
  if (status == IDM_OK && strangers)
    idm_notes_add(opt_notes, "%zu agents of the log are no people of the run: they are left out",
                  strangers);
  return status;
}

/* Whose each trajectory is: a person's by the column of the fit, else its agent's. */
static idm_status name_agents(const onlooker *o, bool people, const idm_data *data,
                              idm_explanation *e, idm_error *opt_error)
{
  idm_who who = {.people = data->agent_name.count};
  idm_status status;
  if (people) {
    const char *by = o->settings.by ? o->settings.by : "agent";
    status = idm_who_create(o->problem, data, by, &who, opt_error);
  } else {
    status = idm_labels_copy(&data->agent_name, &who.name, opt_error);
    who.of_trajectory = idm_duplicate(data->agent, data->trajectories, sizeof *data->agent);
    if (status == IDM_OK && !who.of_trajectory) status = idm_fail_memory(opt_error);
  }
  e->agents = who.people;
  e->name = who.name;
  e->agent = who.of_trajectory;
  if (status != IDM_OK) return status;
  e->person = idm_new(e->agents, sizeof *e->person);
  return e->person ? IDM_OK : idm_fail_memory(opt_error);
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
  e->trajectories = data->trajectories;
  e->one = idm_new(e->trajectories, sizeof *e->one);
  const bool people =
      opt_posterior && idm_posterior_axis(opt_posterior, "person") < opt_posterior->axes;
  status = e->one ? name_agents(&o, people, data, e, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = people ? look_at_people(&o, opt_posterior, data, e, opt_notes, opt_error)
                    : look_at_all(&o, opt_posterior, data, e, opt_notes, opt_error);
  if (status == IDM_OK) status = make_lists(&o, e, data, opt_error);
  if (status == IDM_OK) remark(problem, data, &o.settings, e, opt_notes);
  idm_onlooker_close(&o);
  if (status != IDM_OK) {
    idm_explanation_destroy(e);
    return status;
  }
  *ret_explanation = e;
  return IDM_OK;
}
