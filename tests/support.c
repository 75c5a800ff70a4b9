/* Fixtures shared by several tests. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

idm_error support_error;

void support_check(idm_status status, const char *file, int line)
{
  if (status == IDM_OK) return;
  char text[1200];
  print_error("%s:%d: %s: %s\n", file, line, idm_status_name(status),
              idm_error_text(&support_error, text, sizeof text));
  _fail(file, line);
}

void support_near(double a, double b, double tolerance, const char *file, int line)
{
  const double scale = fmax(1, fmax(fabs(a), fabs(b)));
  if (a == b || fabs(a - b) <= tolerance * scale) return;
  print_error("%s:%d: %.17g and %.17g differ by %.3g, more than %.3g\n", file, line, a, b,
              fabs(a - b), tolerance * scale);
  _fail(file, line);
}

double support_signed(idm_random *random, double low, double high)
{
  const double size = low * pow(high / low, idm_random_uniform(random));
  return idm_random_uniform(random) < 0.5 ? -size : size;
}

void support_distribution(idm_random *random, double *p, size_t count)
{
  double total = 0;
  for (size_t i = 0; i < count; i++) total += p[i] = -log(idm_random_uniform(random));
  for (size_t i = 0; i < count; i++) p[i] /= total;
}

/* A number that a descriptor allows. opt_field: its field, or NULL. */
static double legal_number(const idm_block_info *info, const idm_field *opt_field,
                           idm_random *random)
{
  const double u = idm_random_uniform(random);
  if (opt_field) {
    const double least = fmax(opt_field->least, -5);
    return least + u * (fmin(opt_field->below, 5) - least);
  }
  if (info->support == IDM_FRACTION) return u;
  return info->support == IDM_REAL ? 4 * u - 2 : 3 * u;
}

void support_redraw(idm_theta *theta, size_t id, idm_random *random)
{
  const idm_block_info *info = theta->block[id].info;
  const size_t usual = idm_block_size(info, theta->sizes, theta->models);
  const size_t size = usual ? usual : theta->block[id].size; /* as specified by its planner */
  if (theta->block[id].size != size) check(idm_theta_resize(theta, id, size, 1, &support_error));
  double *value = theta->block[id].value;
  if (info->support != IDM_DISTRIBUTION) {
    for (size_t i = 0; i < size; i++)
      value[i] = legal_number(info, idm_block_field(info, theta->sizes, i), random);
    return;
  }
  const size_t width = idm_block_width(info, theta->sizes, theta->models);
  for (size_t i = 0; i < size; i += width) support_distribution(random, value + i, width);
}

/* Check the axes of a form. */
static void check_form(const idm_block_info *info)
{
  const struct {
    idm_form form;
    idm_axis axis[3];
  } forms[] = {
      {IDM_FORM_NUMBER, {IDM_AXIS_END}},
      {IDM_FORM_WEIGHTS, {IDM_AXIS_ACTION}},
      {IDM_FORM_FIELDS,
       {IDM_AXIS_FIELD, info->axis[1] == IDM_AXIS_ACTION ? IDM_AXIS_ACTION : IDM_AXIS_END}},
      {IDM_FORM_DIRICHLET, {IDM_AXIS_STATE}},
      {IDM_FORM_ROWS,
       {IDM_AXIS_ACTION, info->support == IDM_DISTRIBUTION ? IDM_AXIS_STATE : IDM_AXIS_TERM}},
      {IDM_FORM_UTILITY, {IDM_AXIS_ACTION, IDM_AXIS_STATE}}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    for (size_t k = 0; info->form == forms[i].form && k < 3; k++)
      assert_int_equal(info->axis[k], forms[i].axis[k]);
}

void support_legal_block(const idm_block_info *info)
{
  bool fields = false;
  assert_true(info->name && info->name[0]);
  assert_true(info->summary && info->summary[0]);
  for (size_t i = 0; i < 4; i++) {
    assert_true(info->axis[i] < IDM_AXIS_COUNT);
    fields = fields || info->axis[i] == IDM_AXIS_FIELD;
    /* Axes have no gap. */
    if (i) assert_true(info->axis[i - 1] || !info->axis[i]);
  }
  assert_int_equal(fields, info->field != NULL);
  assert_true(info->opaque || !info->count);
  if (info->opaque) assert_int_equal(info->form, IDM_FORM_NUMBERS);
  if (info->support == IDM_DISTRIBUTION) assert_true(info->axis[0] && !info->infinite);
  /* The default scale is allowed, and no unknown scale is. */
  assert_int_equal(info->scales & ~(unsigned)(IDM_SCALES_ALL | IDM_SCALES_FRACTION), 0);
  assert_true(info->scales ? (info->scales >> info->scale & 1) : !info->scale);
  assert_true(info->spread >= 0);
  check_form(info);
}

static void fill_rows(idm_random *random, double *rows, size_t count, size_t width)
{
  for (size_t i = 0; i < count; i++) support_distribution(random, rows + i * width, width);
}

idm_problem *support_problem(support_shape shape, idm_random *random)
{
  const idm_sizes n = {shape.states, shape.actions, shape.observations};
  idm_problem *problem;
  check(idm_problem_create(n, shape.models, true, true, &problem, &support_error));
  const size_t pairs = n.actions * n.states;
  idm_theta *theta = problem->theta;
  fill_rows(random, theta->block[IDM_TRANSITION].value, shape.models * pairs, n.states);
  fill_rows(random, theta->block[IDM_EMISSION].value, shape.models * pairs, n.observations);
  memcpy(problem->setting->transition, theta->block[IDM_TRANSITION].value,
         pairs * n.states * sizeof(double));
  memcpy(problem->setting->emission, theta->block[IDM_EMISSION].value,
         pairs * n.observations * sizeof(double));
  support_distribution(random, problem->setting->start, n.states);
  support_distribution(random, theta->block[IDM_ACTION_PRIOR].value, n.actions);
  support_distribution(random, theta->block[IDM_MODEL_PRIOR].value, shape.models);
  for (size_t i = 0; i < pairs; i++)
    theta->block[IDM_UTILITY].value[i] = 4 * idm_random_uniform(random) - 2;
  problem->agent.resolution = shape.resolution;
  return problem;
}

idm_problem *support_diag(double alpha, double beta, double eta)
{
  idm_problem *problem;
  check(idm_problem_read("example:diag", &problem, NULL, &support_error));
  support_set(problem, alpha, beta, eta);
  return problem;
}

void support_set(idm_problem *problem, double alpha, double beta, double eta)
{
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, alpha);
  idm_theta_set_scalar(problem->theta, IDM_BETA, beta);
  idm_theta_set_scalar(problem->theta, IDM_ETA, eta);
}

bool support_mentions(const idm_notes *notes, const char *words)
{
  for (size_t i = 0; i < notes->count; i++)
    if (strstr(notes->text[i], words)) return true;
  return false;
}

void support_check_listed(const idm_checks *checks)
{
  assert_non_null(idm_check_kind_name(checks->kind));
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    const idm_check_result *result = &checks->of[id];
    if (!idm_check_applies(checks, (idm_check_id)id))
      assert_int_equal(result->outcome, IDM_CHECK_UNRECORDED);
    else if ((result->outcome == IDM_CHECK_NOT_RUN) != (result->why[0] != '\0') ||
             result->outcome == IDM_CHECK_UNRECORDED)
      fail_msg("%s: %s, '%s'", idm_check_at((size_t)id)->name,
               idm_check_outcome_name(result->outcome), result->why);
  }
}

const char *support_failing(const idm_checks *checks, char *buffer, size_t size)
{
  size_t used = 0;
  buffer[0] = '\0';
  for (int id = 0; id < IDM_CHECK_COUNT && used < size; id++)
    if (checks->of[id].outcome >= IDM_CHECK_MISFIT)
      used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? " " : "",
                               idm_check_at((size_t)id)->name);
  return buffer;
}

void support_assign(idm_problem *problem, const char *assignment)
{
  check(idm_problem_set(problem, assignment, &support_error));
}

idm_workspace *support_plan(const idm_problem *problem, idm_plan_report *opt_report)
{
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  check(idm_plan(problem->theta, NULL, workspace, opt_report, &support_error));
  return workspace;
}

idm_data *support_simulate(const idm_problem *problem, idm_simulation simulation)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data;
  idm_simulation_adapt(&simulation, problem);
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  check(idm_data_validate(data, problem->setting, &support_error));
  idm_workspace_destroy(workspace);
  return data;
}

idm_data *support_data(const idm_problem *problem, const char *csv)
{
  idm_data *data;
  check(
      idm_data_parse_csv(csv, strlen(csv), "test.csv", problem, NULL, &data, NULL, &support_error));
  return data;
}

support_scored support_open_score(const idm_workspace *workspace, const idm_data *data)
{
  const idm_behavior behavior = idm_workspace_behavior(workspace);
  support_scored s;
  check(idm_prefix_tree_create(data, behavior.ops->scope, &s.tree, &support_error));
  check(idm_scorer_create(data, s.tree, &s.scorer, &support_error));
  check(idm_scorer_run(s.scorer, behavior, &s.score, &support_error));
  return s;
}

void support_close_score(support_scored *scored)
{
  idm_scorer_destroy(scored->scorer);
  idm_prefix_tree_destroy(scored->tree);
}

double support_observe(idm_behavior b, void *before, void *after, idm_event event)
{
  double log_evidence = 0;
  check(b.ops->observe(b.content, before, after, &event, &log_evidence, NULL, &support_error));
  return log_evidence;
}

idm_event support_event(const idm_data *data, size_t trajectory, size_t row)
{
  const double *rewards = data->number[IDM_COLUMN_REWARD];
  return (idm_event){.action = data->action[row],
                     .observation = data->observation[row],
                     .missed = idm_data_missed(data, row),
                     .reward = rewards ? rewards[row] : 0,
                     .last = row + 1 == data->first[trajectory + 1]};
}

/* Add an availability set that contains only this action. */
static uint32_t add_set(idm_data *data, int action)
{
  const size_t actions = data->sizes.actions, at = data->available_sets++;
  bool *larger = realloc(data->available_set, (at + 1) * actions * sizeof *larger);
  assert_non_null(larger);
  data->available_set = larger;
  for (size_t u = 0; u < actions; u++) larger[at * actions + u] = (int)u == action;
  return (uint32_t)at;
}

void support_miss(idm_data *data, const idm_setting *setting, int action, double share,
                  idm_random *random)
{
  const uint32_t set = action == IDM_MISSING ? 0 : add_set(data, action);
  data->missed = malloc(data->rows * sizeof *data->missed);
  assert_non_null(data->missed);
  for (size_t row = 0; row < data->rows; row++) {
    const bool ends = data->action[row] >= 0 && setting->ends[data->action[row]];
    data->missed[row] = !ends && idm_random_uniform(random) < share ? 0 : IDM_MISSING;
    if (data->missed[row] < 0) continue;
    data->action[row] = action;
    data->available[row] = set;
  }
}

double support_score(const idm_workspace *workspace, const idm_data *data)
{
  support_scored s = support_open_score(workspace, data);
  support_close_score(&s);
  return s.score.log_likelihood;
}

void support_path(char path[SUPPORT_PATH])
{
  strcpy(path, "/tmp/idm-test-XXXXXX");
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
}

const char *support_shared(const char *name)
{
  static char path[1024];
  const char *folder = getenv("IDM_SHARED");
  snprintf(path, sizeof path, "%s/data/%s", folder ? folder : "../../shared", name);
  if (access(path, R_OK) != 0) {
    print_message("skipped: %s is not here\n", path);
    skip();
  }
  return path;
}

void support_names(idm_labels *labels, const char *const *names, size_t count)
{
  if (!labels->count) assert_int_equal(idm_labels_create(labels, count, NULL), IDM_OK);
  assert_int_equal(labels->count, count);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(idm_labels_set(labels, i, names[i], strlen(names[i]), NULL), IDM_OK);
}

idm_problem *support_labels_problem(size_t states, size_t actions, size_t observations)
{
  idm_problem *problem;
  assert_int_equal(idm_problem_create((idm_sizes){states, actions, observations}, 1, false, false,
                                      &problem, NULL),
                   IDM_OK);
  return problem;
}

void support_codes(idm_problem *problem, const char *word)
{
  static const idm_column roles[] = {IDM_COLUMN_ACTION, IDM_COLUMN_OBSERVATION};
  for (size_t i = 0; i < 2; i++) {
    idm_codes *codes = &problem->columns.codes[roles[i]];
    idm_codes_destroy(codes);
    check(idm_codes_create(codes, 1, &support_error));
    codes->code[0].index = strcmp(word, "index") == 0;
  }
}

idm_problem *support_yaml(const char *text)
{
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "test.yaml", &problem, NULL, &support_error));
  return problem;
}

void support_expect_place(const idm_error *error, long line, long column, const char *words)
{
  if (!strstr(error->message, words)) fail_msg("'%s' lacks '%s'", error->message, words);
  if (error->line != line || error->column != column)
    fail_msg("'%s' at %ld:%ld, expected %ld:%ld", error->message, error->line, error->column, line,
             column);
}

int support_set_up(void **state)
{
  idm_problem *problem = support_labels_problem(2, 3, 2);
  SUPPORT_NAMES(&problem->setting->states, "healthy", "diseased");
  SUPPORT_NAMES(&problem->setting->actions, "healthy!", "diseased!", "monitor");
  SUPPORT_NAMES(&problem->setting->observations, "negative", "positive");
  problem->setting->ends[0] = problem->setting->ends[1] = true;
  support_codes(problem, "index");
  *state = problem;
  return 0;
}

int support_tear_down(void **state)
{
  idm_problem_destroy(*state);
  return 0;
}

bool support_stop(void *stopping, const idm_progress_state *work)
{
  support_stopping *s = stopping;
  char words[100];
  assert_true(work->done >= 0 && work->done <= 1);
  idm_progress_describe(work, words, sizeof words);
  if (s->bytes || work->done < s->at || !work->save) return s->bytes;
  check(idm_progress_save(work, &s->bytes, &s->length, &support_error));
  return true;
}

idm_fit_monitor support_resume(support_resuming *r, double until, uint64_t label)
{
  r->stopping = (support_stopping){.at = until};
  return (idm_fit_monitor){.progress = support_stop,
                           .context = &r->stopping,
                           .checkpoint = r->bytes,
                           .checkpoint_length = r->length,
                           .label = label};
}

void support_resumed(support_resuming *r, idm_status status)
{
  assert_true(status == IDM_OK || (r->stopping.bytes && status == IDM_UNTRUSTED));
  if (!r->stopping.bytes) return;
  free(r->bytes);
  r->bytes = r->stopping.bytes;
  r->length = r->stopping.length;
}
