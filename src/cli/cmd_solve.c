/* idm solve: value, policy and complexities of an agent.
 *
 * Contents: search · states · cmd solve */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "cli/cli.h"
#include "cli/common.h"

/* === search =================================================================================== */

/* Options and progress of planners that search. */

static const idm_key seconds_key = {.name = "seconds",
                                    .kind = IDM_KEY_NUMBER,
                                    .offset = offsetof(idm_solver, seconds),
                                    .above = true,
                                    .most = INFINITY};

/* Set a field from the option with its key's name, if given. */
static idm_status take(cli_call *call, const idm_key *key, void *fields)
{
  return cli_given(call, key->name)
             ? idm_key_set_text(key, fields, cli_text(call, key->name), &call->error)
             : IDM_OK;
}

idm_status cli_search_begin(cli_call *call, idm_problem *problem, double begun, cli_search *search)
{
  static const char *const options[] = {"gap", "seconds", "alpha"};
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  *search = (cli_search){.goal = problem->agent.gap};
  idm_solver_default(&search->solver);
  for (size_t i = 0; i < sizeof options / sizeof options[0] && !planner->search; i++)
    if (cli_given(call, options[i]))
      return idm_fail(&call->error, IDM_USAGE,
                      "--%s needs planner 'point-based', and this agent has planner '%s'; see "
                      "--set planner=point-based",
                      options[i], planner->name);
  idm_status status = take(call, idm_key_find(idm_agent_option_keys(), "gap"), &problem->agent);
  if (status == IDM_OK) status = take(call, &seconds_key, &search->solver);
  /* The time limit includes reading the problem. */
  const double left = search->solver.seconds - (idm_seconds() - begun);
  if (search->solver.seconds > 0) search->solver.seconds = fmax(left, DBL_MIN);
  if (status == IDM_OK && cli_text(call, "alpha"))
    status = cli_check_target(call, cli_text(call, "alpha"));
  if (status != IDM_OK || !planner->search) return status;
  search->goal = search->solver.tolerance = problem->agent.gap;
  search->solver.opt_monitor = cli_search_watch;
  search->solver.monitor_context = search;
  cli_progress_begin(&search->progress, "interrupted; the results so far follow");
  cli_catch_signals();
  return IDM_OK;
}

static void describe(const void *content, char *buffer, size_t size)
{
  const cli_search *search = content;
  snprintf(buffer, size, "value between %.6g and %.6g", search->lower, search->upper);
}

bool cli_search_watch(void *context, double lower, double upper)
{
  cli_search *search = context;
  search->lower = lower;
  search->upper = upper;
  if (!(search->first > 0)) search->first = upper - lower;
  /* The gap decreases about exponentially in time. */
  const double closed = log(search->first / (upper - lower)) / log(search->first / search->goal);
  const idm_progress_state work = {
      .done = fmin(fmax(closed, 0), 1), .content = search, .describe = describe};
  return cli_progress_watch(&search->progress, &work);
}

/* === states =================================================================================== */

/* Value and policy in every state, if states are observed. */

/* Iteration over the states, as vertices of the simplex. */
typedef struct policy_scan {
  const idm_setting *setting;
  idm_workspace *workspace;
  double *corner;  /* [state]: a vertex */
  double *policy;  /* [action]: choice probabilities */
  double *planned; /* [action]: planned policy */
} policy_scan;

static idm_status policy_scan_open(cli_call *call, policy_scan *t)
{
  t->corner = calloc(t->setting->states.count, sizeof *t->corner);
  t->policy = calloc(t->setting->actions.count, sizeof *t->policy);
  t->planned = calloc(t->setting->actions.count, sizeof *t->planned);
  return t->corner && t->policy && t->planned ? IDM_OK : idm_fail_memory(&call->error);
}

static void policy_scan_close(const policy_scan *t)
{
  free(t->corner);
  free(t->policy);
  free(t->planned);
}

/* Compute both policies in a state, at the first decision; returns its value. A terminal state has
 * value 0, regardless of the planner. */
static double scan_state(const policy_scan *t, size_t state)
{
  if (t->setting->terminal_state[state]) return 0;
  t->corner[state] = 1;
  idm_plan_choice(t->workspace, 0, 0, t->corner, IDM_MISSING, t->policy);
  idm_plan_policy_after(t->workspace, 0, 0, t->corner, t->planned);
  const double value = idm_plan_value_after(t->workspace, 0, 0, t->corner);
  t->corner[state] = 0;
  return value;
}

idm_status cli_print_states(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                            bool planned)
{
  enum { max_lines = 40, least = 12 };
  policy_scan t = {.setting = setting, .workspace = workspace};
  const idm_status status = policy_scan_open(call, &t);
  const size_t shown = setting->states.count < max_lines ? setting->states.count : max_lines;
  int wide = 8;
  for (size_t s = 0; s < shown; s++)
    if (cli_width(setting->states.name[s]) > wide) wide = cli_width(setting->states.name[s]);
  if (status == IDM_OK) {
    printf("%-*s %12s", wide, "state", "value");
    for (size_t u = 0; u < setting->actions.count; u++) {
      putchar(' ');
      cli_print_right(stdout, least, setting->actions.name[u]);
    }
    putchar('\n');
  }
  for (size_t s = 0; s < shown && status == IDM_OK; s++) {
    const double value = scan_state(&t, s);
    cli_print_left(stdout, wide, setting->states.name[s]);
    printf(" %12.6f", value);
    for (size_t u = 0; u < setting->actions.count && !setting->terminal_state[s]; u++) {
      const int width = cli_width(setting->actions.name[u]);
      printf(" %*.6f", width > least ? width : least, (planned ? t.planned : t.policy)[u]);
    }
    printf(setting->terminal_state[s] ? "  terminal\n" : "\n");
  }
  if (status == IDM_OK && shown < setting->states.count)
    printf("... and %zu more states (--json lists all)\n", setting->states.count - shown);
  policy_scan_close(&t);
  return status;
}

static json_t *state_policy_json(const idm_setting *setting, const double *probability)
{
  json_t *policy = json_object();
  for (size_t u = 0; u < setting->actions.count; u++)
    idm_json_set(&policy, setting->actions.name[u], idm_json_number(probability[u]));
  return policy;
}

idm_status cli_states_json(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                           json_t **ret_object)
{
  policy_scan t = {.setting = setting, .workspace = workspace};
  const idm_status status = policy_scan_open(call, &t);
  *ret_object = json_object();
  for (size_t s = 0; s < setting->states.count && status == IDM_OK; s++) {
    json_t *one = json_object();
    idm_json_set(&one, "value", idm_json_number(scan_state(&t, s)));
    idm_json_set(&one, "policy",
                 setting->terminal_state[s] ? json_null() : state_policy_json(setting, t.policy));
    if (!setting->terminal_state[s] && idm_workspace_has_bias(workspace))
      idm_json_set(&one, "planned", state_policy_json(setting, t.planned));
    idm_json_set(ret_object, setting->states.name[s], one);
  }
  policy_scan_close(&t);
  return status;
}

/* === cmd solve ================================================================================ */

/* Results apart from the table of beliefs. */
typedef struct solve_result {
  idm_plan_report report;
  idm_forward forward;
  bool has_forward;
  double lower; /* bounds on the value at the start belief; NaN: none */
  double upper;
} solve_result;

/* Table of beliefs; along a path, with the observation that leads to each. */
typedef struct belief_table {
  size_t count;
  bool has_beliefs;  /* the agent has beliefs */
  bool states;       /* the beliefs are all states of the problem */
  double *belief;    /* [count][state] */
  char **step_label; /* [count]: "monitor:positive", or NULL */
  double *value;     /* [count] */
  bool has_habits;   /* choice probabilities differ from the planned policy */
  double *policy;    /* [count][action]: choice probabilities */
  double *planned;   /* [count][action] */
} belief_table;

static void belief_table_clear(belief_table *v)
{
  for (size_t i = 0; v->step_label && i < v->count; i++) free(v->step_label[i]);
  free(v->belief);
  free(v->step_label);
  free(v->value);
  free(v->policy);
  free(v->planned);
}

static idm_status belief_table_create(cli_call *call, const idm_setting *setting, size_t count,
                                      belief_table *v)
{
  const idm_sizes n = idm_setting_sizes(setting);
  v->count = count;
  v->belief = calloc(count * n.states, sizeof *v->belief);
  v->step_label = calloc(count, sizeof *v->step_label);
  v->value = calloc(count, sizeof *v->value);
  v->policy = calloc(count * n.actions, sizeof *v->policy);
  v->planned = calloc(count * n.actions, sizeof *v->planned);
  if (v->belief && v->step_label && v->value && v->policy && v->planned) return IDM_OK;
  return idm_fail_memory(&call->error);
}

/* Parse a belief such as "0.5,0.5". */
static idm_status parse_belief(cli_call *call, const idm_setting *setting, const char *text,
                               double *belief)
{
  const size_t k = setting->states.count;
  const char *at = text;
  size_t result = 0;
  bool more = strpbrk(text, "xX") == NULL; /* no hexadecimal */
  while (more && result < k) {
    char *policy_scan_close;
    belief[result] = strtod(at, &policy_scan_close);
    if (policy_scan_close == at) break;
    result++;
    more = *policy_scan_close == ',';
    at = policy_scan_close + more;
  }
  if (result != k || more || *at || idm_normalise(belief, k) < 0)
    return idm_fail(&call->error, IDM_USAGE,
                    "--at is '%s'; expected %zu probabilities that sum to 1, joined by commas",
                    text, k);
  return IDM_OK;
}

static idm_status parse_beliefs(cli_call *call, const idm_setting *setting, belief_table *v)
{
  const char *const *texts;
  const size_t count = cli_list(call, "at", &texts);
  const size_t k = setting->states.count;
  idm_status status = belief_table_create(call, setting, count ? count : 1, v);
  if (status == IDM_OK && !count) memcpy(v->belief, setting->start, k * sizeof *v->belief);
  for (size_t i = 0; status == IDM_OK && i < count; i++)
    status = parse_belief(call, setting, texts[i], v->belief + i * k);
  return status;
}

/* Beliefs and policies along a path of actions and observations from the start. */
static idm_status follow_path(cli_call *call, const idm_setting *setting,
                              const idm_workspace *workspace, const char *path, belief_table *v)
{
  const idm_sizes n = idm_setting_sizes(setting);
  idm_path_trace *f;
  idm_status status = idm_path_trace_create(setting, workspace, path, &f, &call->error);
  if (status == IDM_OK) status = belief_table_create(call, setting, f->step_count, v);
  if (status == IDM_OK) {
    memcpy(v->belief, f->belief, f->step_count * n.states * sizeof *f->belief);
    memcpy(v->policy, f->policy, f->step_count * n.actions * sizeof *f->policy);
    for (size_t i = 0; i < f->step_count; i++) {
      v->step_label[i] = f->step_label[i];
      f->step_label[i] = NULL;
    }
  }
  idm_path_trace_destroy(f);
  return status;
}

/* Compute values and planned policies at each belief and, without a path, the choice probabilities
 * of a first decision. Along a path, the row index is the number of steps. */
static void evaluate(idm_workspace *workspace, const idm_setting *setting, bool path,
                     belief_table *v)
{
  v->has_habits = v->has_beliefs && idm_workspace_has_bias(workspace);
  for (size_t i = 0; i < v->count; i++) {
    const double *z = v->belief + i * setting->states.count;
    const size_t at = i * setting->actions.count;
    const int steps = path ? (int)i : 0;
    v->value[i] = idm_plan_value_after(workspace, 0, steps, z);
    idm_plan_policy_after(workspace, 0, steps, z, v->planned + at);
    if (!path) idm_plan_choice(workspace, 0, 0, z, IDM_MISSING, v->policy + at);
  }
}

static json_t *policy_json(const idm_setting *setting, const belief_table *v, const double *of)
{
  const size_t actions = setting->actions.count;
  json_t *policy = json_object();
  for (size_t u = 0; u < actions; u++) {
    json_t *column = json_array();
    for (size_t i = 0; i < v->count; i++)
      idm_json_append(&column, idm_json_number(of[i * actions + u]));
    idm_json_set(&policy, setting->actions.name[u], column);
  }
  return policy;
}

static json_t *experience_json(const idm_learning_report *result)
{
  json_t *object = json_object();
  idm_json_set(&object, "transitions", json_integer(result->transitions));
  if (result->log_transitions)
    idm_json_set(&object, "logged_transitions", json_integer((json_int_t)result->log_transitions));
  idm_json_set(&object, "residual", idm_json_number(result->residual));
  idm_json_set(&object, "return", idm_json_number(result->value));
  idm_json_set(&object, "standard_error", idm_json_number(result->standard_error));
  idm_json_set(&object, "slope", idm_json_number(result->derivative));
  idm_json_set(&object, "unseen_states", json_integer((json_int_t)result->unvisited));
  return object;
}

static idm_status print_json(cli_call *call, const cli_input *input, const belief_table *v,
                             idm_workspace *workspace, const solve_result *result)
{
  const idm_problem *problem = input->problem;
  const idm_forward *opt_forward = result->has_forward ? &result->forward : NULL;
  const idm_theta *theta = idm_workspace_theta(workspace);
  const size_t states = problem->setting->states.count;
  json_t *by_state = NULL;
  const idm_status table_status =
      v->states ? cli_states_json(call, problem->setting, workspace, &by_state) : IDM_OK;
  if (table_status != IDM_OK) return table_status;
  json_t *at = json_array();
  for (size_t i = 0; i < v->count; i++)
    idm_json_append(&at, v->has_beliefs ? idm_json_numbers(v->belief + i * states, states)
                                        : json_null());
  json_t *object = json_object();
  idm_json_set(&object, "at", at);
  idm_json_set(&object, "value", idm_json_numbers(v->value, v->count));
  idm_json_set(&object, "policy", policy_json(problem->setting, v, v->policy));
  if (v->has_habits) idm_json_set(&object, "planned", policy_json(problem->setting, v, v->planned));
  if (v->states) idm_json_set(&object, "states", by_state);
  idm_json_set(&object, "bound", idm_json_number(result->report.bound));
  idm_json_set(&object, "lower", idm_json_number(result->lower));
  idm_json_set(&object, "upper", idm_json_number(result->upper));
  idm_json_set(&object, "iterations", json_integer(result->report.iterations));
  idm_json_set(&object, "stop", json_string(idm_stop_name(result->report.stop)));
  if (result->report.stop == IDM_STOP_BUDGET)
    idm_json_set(&object, "sampled", experience_json(&result->report.learning));
  idm_json_set(&object, "points", json_integer((json_int_t)idm_workspace_points(workspace)));
  const struct {
    const char *name;
    idm_block_id id;
  } scalars[] = {
      {"alpha", IDM_ALPHA}, {"beta", IDM_BETA}, {"eta", IDM_ETA}, {"discount", IDM_DISCOUNT}};
  for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
    idm_json_set(&object, scalars[i].name, idm_json_number(idm_theta_scalar(theta, scalars[i].id)));
  idm_json_set(&object, "return",
               opt_forward ? idm_json_number(opt_forward->internal_return) : json_null());
  json_t *complexity = json_object();
  idm_json_set(&complexity, "decision",
               opt_forward ? idm_json_number(opt_forward->decision) : json_null());
  idm_json_set(&complexity, "specification",
               opt_forward ? idm_json_number(opt_forward->specification) : json_null());
  idm_json_set(&complexity, "recognition",
               opt_forward ? idm_json_number(opt_forward->recognition) : json_null());
  idm_json_set(&object, "complexity", complexity);
  if (input->posterior) idm_json_set(&object, "draw", json_string(cli_text(call, "draw")));
  return cli_print_json(call, object);
}

/* Column width: at least that of the heading. */
static int column_width(const char *heading, int least)
{
  const int width = cli_width(heading);
  return width > least ? width : least;
}

static void print_rows(const idm_setting *setting, const belief_table *v, const double *policy)
{
  const size_t k = setting->states.count;
  const size_t actions = setting->actions.count;
  int wide = 6;
  for (size_t i = 0; i < v->count; i++)
    if (v->step_label[i] && cli_width(v->step_label[i]) > wide) wide = cli_width(v->step_label[i]);
  printf("%-*s", wide, "after");
  for (size_t s = 0; v->has_beliefs && s < k; s++) {
    putchar(' ');
    cli_print_right(stdout, 12, setting->states.name[s]);
  }
  if (v->has_beliefs) printf(" %12s", "value");
  for (size_t u = 0; u < actions; u++) {
    putchar(' ');
    cli_print_right(stdout, 16, setting->actions.name[u]);
  }
  putchar('\n');
  for (size_t i = 0; i < v->count; i++) {
    cli_print_left(stdout, wide, v->step_label[i] ? v->step_label[i] : "");
    for (size_t s = 0; v->has_beliefs && s < k; s++)
      printf(" %*.6f", column_width(setting->states.name[s], 12), v->belief[i * k + s]);
    if (v->has_beliefs) printf(" %12.6f", v->value[i]);
    for (size_t u = 0; u < actions; u++)
      printf(" %*.6f", column_width(setting->actions.name[u], 16), policy[i * actions + u]);
    putchar('\n');
  }
}

/* True if a block is a single number that the planner uses. Choice biases, belief-update parameters
 * and the sensor capacity are shown only if they differ from their defaults. */
static bool is_shown(const idm_agent_options *agent, const idm_theta *theta, size_t id)
{
  const idm_block_info *info = theta->block[id].info;
  if (info->form != IDM_FORM_NUMBER || !idm_agent_reads(agent, id)) return false;
  const bool hidden_by_default =
      info->choice_bias || info->belief_update || id == IDM_SENSOR_CAPACITY;
  return !hidden_by_default || idm_theta_scalar(theta, id) != info->default_number;
}

/* Print the numbers that a planner uses on one line: multipliers, discount, then all others, and
 * the horizon. Nothing is printed if there are none. */
static void print_numbers(const idm_agent_options *agent, const idm_theta *theta, int horizon)
{
  static const idm_block_id first[] = {IDM_ALPHA, IDM_BETA, IDM_ETA, IDM_DISCOUNT};
  enum { leading = sizeof first / sizeof first[0] };
  size_t shown = 0;
  for (size_t i = 0; i < leading + theta->blocks - IDM_ETA - 1; i++) {
    const size_t id = i < leading ? first[i] : i - leading + IDM_ETA + 1;
    if (!is_shown(agent, theta, id)) continue;
    printf("%s%s %g", shown++ ? "  " : "", theta->block[id].info->name,
           idm_theta_scalar(theta, id));
  }
  if (horizon) printf("%shorizon %d", shown++ ? "  " : "", horizon);
  printf(shown ? "\n\n" : "\n");
}

/* Print the diagnostics of a planner that learns by acting. */
static void print_experience(const idm_workspace *workspace, const idm_setting *setting,
                             const idm_learning_report *result)
{
  const idm_theta *theta = idm_workspace_theta(workspace);
  if (result->log_transitions)
    printf(
        "\n"
        "learnt from %zu transitions of the log in %.4g passes: no bound on the value is known\n",
        result->log_transitions, (double)result->transitions / (double)result->log_transitions);
  else
    printf("\nlearnt from %ld sampled transitions: no bound on the value is known\n",
           result->transitions);
  if (!isnan(result->residual))
    printf("Bellman residual on them %.3g (mean over the visited pairs of state and action)\n",
           result->residual);
  if (!isnan(result->value))
    printf("return %.6f (standard error %.2g) in separate episodes; norm of the policy gradient "
           "%.3g\n",
           result->value, result->standard_error, result->derivative);
  else if (isnan(result->residual))
    printf("the budget has too few complete episodes to estimate the return\n");
  if (result->unvisited)
    printf("%zu of %zu states were never %s: their values have the initial value 0, and their "
           "policy is uniform\n",
           result->unvisited, setting->states.count,
           result->log_transitions ? "acted in" : "sampled");
  const double alpha = idm_theta_scalar(theta, IDM_ALPHA);
  const double rest = 1 - idm_theta_scalar(theta, IDM_DISCOUNT);
  if (!idm_planner_reads(idm_workspace_planner(workspace), IDM_ALPHA) || !(rest > 0)) return;
  if (result->log_transitions) {
    printf("values include the entropy of the policy\n");
    return;
  }
  printf("values include the entropy of the policy: without terminal states they are alpha "
         "log|U|/(1-discount) = %.6g above those of `maximum-entropy`\n",
         alpha * log((double)setting->actions.count) / rest);
}

/* Print the accuracy of the results. */
static void print_accuracy(const idm_setting *setting, const idm_workspace *workspace,
                           const solve_result *result)
{
  const idm_plan_report *report = &result->report;
  if (report->stop == IDM_STOP_UNPLANNED) {
    printf("\nnothing is planned: there is no value\n");
    return;
  }
  if (report->stop == IDM_STOP_BUDGET) {
    print_experience(workspace, setting, &report->learning);
    return;
  }
  if (idm_workspace_planner(workspace)->search) {
    printf("\n"
           "the value of the optimal policy at the start is between %.6f and %.6f, %.1e apart; "
           "values in the table\n"
           "are lower bounds (stopped by %s after %ld trials)\n",
           result->lower, result->upper, report->bound, idm_stop_name(report->stop),
           report->iterations);
    return;
  }
  if (!idm_workspace_points(workspace)) {
    printf("\n"
           "no lattice: stopped by %s after %ld iterations\n",
           idm_stop_name(report->stop), report->iterations);
    return;
  }
  printf("%zu %s; certified error of the value on them %.1e (stopped by %s after %ld iterations)\n",
         idm_workspace_points(workspace), setting->fully_observed ? "states" : "lattice points",
         report->bound, idm_stop_name(report->stop), report->iterations);
  if (result->lower <= result->upper)
    printf("the value of the optimal policy at the start is between %.6f (exact value of plans "
           "with the lattice's\n"
           "actions) and %.6f (upper bound by the lattice)\n",
           result->lower, result->upper);
}

/* Table of states or beliefs; with choice biases, a second table of the planned policy. */
static idm_status print_policies(cli_call *call, const idm_setting *setting,
                                 idm_workspace *workspace, const belief_table *v)
{
  idm_status status = IDM_OK;
  for (int planned = 0; planned <= (v->has_habits ? 1 : 0) && status == IDM_OK; planned++) {
    if (planned) printf("\nplanned policy, without perseverance and lapse:\n");
    if (v->states)
      status = cli_print_states(call, setting, workspace, planned);
    else
      print_rows(setting, v, planned ? v->planned : v->policy);
    if (!planned && v->has_habits && !cli_text(call, "path") &&
        idm_theta_scalar(idm_workspace_theta(workspace), IDM_PERSEVERANCE) != 0)
      printf("(for a first decision; after an action perseverance changes the probabilities: see "
             "--path)\n");
  }
  return status;
}

/* Draw the choice probabilities over the beliefs of two states, one line per action. */
static void draw_policy(const idm_setting *setting, idm_workspace *workspace)
{
  enum { columns = 48 };
  const size_t actions = setting->actions.count;
  double *policy = calloc(actions * (columns + 1), sizeof *policy);
  int wide = 6;
  if (!policy) return;
  for (size_t u = 0; u < actions; u++)
    if (cli_width(setting->actions.name[u]) > wide) wide = cli_width(setting->actions.name[u]);
  for (size_t i = 0; i < columns; i++) {
    const double p = ((double)i + 0.5) / columns;
    idm_plan_choice(workspace, 0, 0, (const double[]){1 - p, p}, IDM_MISSING,
                    policy + actions * columns);
    for (size_t u = 0; u < actions; u++) policy[u * columns + i] = policy[actions * columns + u];
  }
  printf("\n");
  for (size_t u = 0; u < actions; u++) {
    char drawn[CLI_SPARKLINE];
    cli_print_left(stdout, wide, setting->actions.name[u]);
    printf(" %s\n", cli_sparkline(policy + u * columns, columns, drawn));
  }
  printf("%*s %s%*s%s\n", wide, "", setting->states.name[0],
         columns - cli_width(setting->states.name[0]) - cli_width(setting->states.name[1]), "",
         setting->states.name[1]);
  free(policy);
}

static idm_status print_table(cli_call *call, const idm_problem *problem, const belief_table *v,
                              idm_workspace *workspace, const solve_result *result)
{
  const idm_theta *theta = idm_workspace_theta(workspace);
  const idm_setting *setting = problem->setting;
  const idm_planner *planner = idm_workspace_planner(workspace);
  const bool informed = planner->needs & IDM_NEEDS_ENVIRONMENT;
  printf("%s: %zu states, %zu actions, %zu observations, %zu model%s; %s\n",
         setting->name[0] ? setting->name : "problem", setting->states.count,
         setting->actions.count, setting->observations.count, informed ? 1 : theta->models,
         informed || theta->models == 1 ? "" : "s", planner->name);
  print_numbers(&problem->agent, theta, setting->horizon);
  const idm_status status = print_policies(call, setting, workspace, v);
  if (status != IDM_OK) return status;
  if (cli_is_graphical(call) && v->has_beliefs && setting->states.count == 2 &&
      !setting->fully_observed)
    draw_policy(setting, workspace);
  if (result->has_forward)
    printf("\n%sreturn %.6f; complexity in nats: decision %.6f, specification %.6f, recognition "
           "%.6f\n",
           v->has_habits ? "of the planned policy: " : "", result->forward.internal_return,
           result->forward.decision, result->forward.specification, result->forward.recognition);
  print_accuracy(setting, workspace, result);
  return IDM_OK;
}

/* True if the planner given by --set supports sparse transitions of hidden states and only planning
 * is requested: beliefs along a path require matrices. */
static bool uses_sparse_rows(const cli_call *call)
{
  static const char key[] = "planner=";
  const idm_planner *planner = NULL;
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  for (size_t i = 0; i < count; i++)
    if (strncmp(settings[i], key, sizeof key - 1) == 0)
      planner = idm_planner_find(settings[i] + sizeof key - 1);
  return planner && planner->supports & IDM_SUPPORTS_SPARSE_HIDDEN && !cli_text(call, "path");
}

/* Open the problem, or a run at its centre or at a draw. */
static idm_status open_subject(cli_call *call, cli_input *input)
{
  idm_status status = uses_sparse_rows(call)
                          ? cli_input_open_by_rows(call, call->argument[0], input)
                          : cli_input_open(call, call->argument[0], input);
  if (status == IDM_OK) status = cli_check_draw(call, input);
  if (status == IDM_OK) status = cli_check_utilities(call, input->problem);
  if (status == IDM_OK && input->posterior)
    status = cli_set_to_draw(call, input, cli_text(call, "draw"));
  if (status == IDM_OK && cli_text(call, "path") && cli_given(call, "at"))
    status = idm_fail(&call->error, IDM_USAGE, "--at and --path exclude each other");
  if (status == IDM_OK && cli_given(call, "at") &&
      !idm_agent_planner(&input->problem->agent)->belief)
    status = idm_fail(&call->error, IDM_USAGE,
                      "--at is a belief, and the policy of '%s' is not a function of one",
                      idm_agent_planner(&input->problem->agent)->name);
  return status;
}

/* Print which parameter of a run is solved for. */
static void print_draw_used(const cli_call *call)
{
  const char *draw = cli_text(call, "draw");
  if (strcmp(draw, "centre") == 0)
    printf("%s, at the centre of its posterior (the mean of the draws in the sampler's "
           "coordinates)\n",
           call->argument[0]);
  else
    printf("%s, at draw %s of its posterior\n", call->argument[0], draw);
}

static idm_status print(cli_call *call, const cli_input *input, const belief_table *v,
                        idm_workspace *workspace, solve_result *result)
{
  idm_status status = IDM_OK;
  result->has_forward = idm_workspace_planner(workspace)->lattice != NULL;
  if (result->has_forward)
    status = idm_plan_forward(workspace, 0, &result->forward, NULL, &call->error);
  if (status == IDM_NUMERICAL) { /* value and policy are still valid */
    idm_notes_add(&call->notes, "%s: return and complexities are left out", call->error.message);
    result->has_forward = false;
    status = IDM_OK;
  }
  if (status == IDM_OK)
    status = idm_plan_bounds(workspace, 0, input->problem->setting->start, &result->lower,
                             &result->upper, &call->error);
  if (status == IDM_OK && cli_given(call, "json"))
    return print_json(call, input, v, workspace, result);
  if (status == IDM_OK && input->posterior) print_draw_used(call);
  if (status == IDM_OK) status = print_table(call, input->problem, v, workspace, result);
  return status;
}

/* Write the vectors of the plan, with --alpha. */
static idm_status write_vectors(cli_call *call, const idm_workspace *workspace)
{
  const char *path = cli_text(call, "alpha");
  if (!path) return IDM_OK;
  const idm_status status = idm_plan_write_alpha(workspace, 0, path, &call->error);
  if (status == IDM_OK && !cli_given(call, "json") && strcmp(path, "-") != 0)
    fprintf(stderr, "idm: wrote %s\n", path);
  return status;
}

static idm_status run(cli_call *call)
{
  cli_input input;
  idm_workspace *workspace = NULL;
  solve_result result = {.lower = NAN, .upper = NAN};
  cli_search search = {0};
  belief_table v = {0};
  const char *path = cli_text(call, "path");
  const double begun = idm_seconds();
  idm_status status = open_subject(call, &input);
  const idm_problem *problem = input.problem;
  v.has_beliefs = status == IDM_OK && idm_agent_planner(&problem->agent)->belief;
  v.states = v.has_beliefs && problem->setting->fully_observed && !path && !cli_given(call, "at");
  /* Without beliefs, the table is a path of length 0. */
  const bool follows = path || !v.has_beliefs;
  if (status == IDM_OK && !follows) status = parse_beliefs(call, problem->setting, &v);
  if (status == IDM_OK) status = cli_search_begin(call, input.problem, begun, &search);
  if (status == IDM_OK) {
    status = cli_plan(call, input.problem, &search.solver, &workspace, &result.report);
    cli_progress_end(&search.progress);
  }
  if (status == IDM_OK && follows)
    status = follow_path(call, problem->setting, workspace, path, &v);
  if (status == IDM_OK) status = write_vectors(call, workspace);
  if (status == IDM_OK) {
    evaluate(workspace, problem->setting, follows, &v);
    status = print(call, &input, &v, workspace, &result);
  }
  belief_table_clear(&v);
  idm_workspace_destroy(workspace);
  cli_input_close(&input);
  return status;
}

static const cli_option options[] = {
    CLI_SET_OPTION,
    CLI_PROBLEM_OPTION,
    {.name = "at",
     .kind = CLI_LIST,
     .value = "P,P,...",
     .help = "a belief to evaluate at; may be repeated (default: the start belief)"},
    {.name = "path",
     .kind = CLI_TEXT,
     .value = "U:X,...",
     .help = "follow actions and observations from the start and show every belief along the path"},
    {.name = "gap",
     .kind = CLI_TEXT,
     .value = "G",
     .help = "for planner point-based: search until the bounds on the value at the start are G "
             "apart, in units of the utility (default: the agent's gap, 0.001)"},
    {.name = "seconds",
     .kind = CLI_TEXT,
     .value = "S",
     .help = "for planner point-based: limit the search to S seconds (default: none; the search is "
             "then deterministic)"},
    {.name = "alpha",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "for planner point-based: write the vectors of the lower bound, each with the first "
             "action of its plan, in the .alpha format of pomdp-solve"},
    CLI_DRAW_OPTION("centre", "for a RUN: the draw to solve for, or the posterior's `centre`"),
    CLI_PLAIN_OPTION,
    CLI_BATCH_OPTIONS,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_solve = {
    .name = "solve",
    .arguments = "PROBLEM|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Solve an agent: value, policy, return and complexities",
    .description =
        "Plans for the agent of the problem and prints its value and decision policy at the start\n"
        "belief, at each --at, or along a --path. The value has a certified bound on its error on\n"
        "the lattice; --set resolution=N refines the lattice itself. For a rational agent, bounds\n"
        "on the value of the optimal policy are printed. --set planner=point-based bounds the\n"
        "value from both sides for any number of states, until the bounds are --gap apart.\n"
        "Planners that learn by acting have no bound, and print estimates from their samples.\n"
        "Return and complexities (nats) are computed under the agent's own model of the world.\n"
        "With --set decision_capacity=NATS (likewise specification_capacity,\n"
        "recognition_capacity) the multiplier alpha (beta, eta) at which the complexity equals\n"
        "the capacity is computed first. A RUN is solved at the centre of its posterior, or at\n"
        "one of its draws: --draw N.",
    .options = options,
    .run = run,
};
