/* idm fit --class all: every class on one log, and how far each stays from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/classes.h"
#include "cli/common.h"
#include "cli/options.h"

/* What became of a class on the log. */
typedef struct outcome {
  const idm_class *of;
  const idm_class *twin; /* asked the same before, where states are observed; NULL: none was */
  idm_projection projection;
  double seconds;
  bool done;
  bool looked; /* for what is left open */
  size_t open;
  char why[600]; /* not */
} outcome;

idm_status cli_class_check(cli_call *call, const idm_class *of)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  for (size_t i = 0; i < count; i++) {
    char key[64];
    cli_setting_key(settings[i], key, sizeof key);
    if (idm_class_decides(of, key))
      return idm_fail(&call->error, IDM_USAGE,
                      "--class %s decides '%s'; leave --set %s out, or --class: --inverse and "
                      "--free take its place",
                      of->name, key, key);
  }
  return IDM_OK;
}

static idm_status fit_class(cli_call *call, const idm_class *of, idm_problem *problem,
                            const idm_data *data, idm_request *request, outcome *o)
{
  const idm_inverse *inverse = idm_inverse_find(of->inverse);
  idm_posterior *posterior = NULL;
  idm_error error = {0};
  const idm_fit_settings usual = request->settings;
  const double begun = idm_seconds();
  idm_class_settings(of, &request->settings);
  cli_take_keys(call, request);
  idm_status status = idm_class_apply(of, problem, &error);
  if (status == IDM_OK && !inverse)
    status = idm_fail(&error, IDM_INPUT, "there is no inverse planner '%s'", of->inverse);
  if (status == IDM_OK) status = idm_inverse_check(inverse, problem, data, &error);
  if (status == IDM_OK)
    status = idm_project(problem, data, inverse, &request->settings, NULL, &posterior,
                         &o->projection, &call->notes, &error);
  if (status == IDM_OK && posterior->answer == IDM_POSTERIOR)
    status = idm_projection_draws(problem, posterior, data, &o->projection, &error);
  request->settings = usual;
  o->seconds = idm_seconds() - begun;
  o->done = status == IDM_OK;
  if (o->done && posterior->finding) {
    o->looked = posterior->finding->looked;
    o->open = posterior->finding->open;
  }
  idm_posterior_destroy(posterior);
  if (status == IDM_MEMORY || status == IDM_SYSTEM) {
    call->error = error;
    return status;
  }
  if (!o->done) snprintf(o->why, sizeof o->why, "%.590s", error.message);
  return IDM_OK;
}

/* Where states are observed there is no emission to learn, and classes that differ in nothing but
 * hidden states are one: their first is fitted, the others have its answer. */
static bool asks_the_same(const idm_problem *problem, const idm_class *a, const idm_class *b)
{
  char blocks[2][200];
  const char *held[] = {a->held ? a->held : "", b->held ? b->held : ""};
  return strcmp(a->planner, b->planner) == 0 && strcmp(a->inverse, b->inverse) == 0 &&
         strcmp(held[0], held[1]) == 0 && a->deterministic == b->deterministic &&
         idm_class_blocks(a, problem, blocks[0], sizeof blocks[0]) &&
         idm_class_blocks(b, problem, blocks[1], sizeof blocks[1]) &&
         strcmp(blocks[0], blocks[1]) == 0;
}

static bool take_twin(const idm_problem *problem, outcome *list, size_t index)
{
  const idm_class *of = list[index].of;
  if (!problem->setting->fully_observed) return false;
  for (size_t i = 0; i < index; i++) {
    if (!asks_the_same(problem, list[i].of, of)) continue;
    list[index] = list[i];
    list[index].of = of;
    list[index].twin = list[i].of;
    return true;
  }
  return false;
}

static json_t *object_of(const outcome *o)
{
  json_t *object = cli_entry(o->of->name, o->of->question);
  idm_json_set(&object, "planner", json_string(o->of->planner));
  idm_json_set(&object, "inverse", json_string(o->of->inverse));
  if (o->twin) idm_json_set(&object, "same_as", json_string(o->twin->name));
  if (!o->done) {
    idm_json_set(&object, "why_not", idm_json_text(o->why));
    return object;
  }
  idm_json_set(&object, "log_loss", idm_json_number(o->projection.log_loss));
  idm_json_set(&object, "brier", idm_json_number(o->projection.brier));
  idm_json_set(&object, "divergence", idm_json_number(o->projection.divergence));
  idm_json_set(&object, "seconds", idm_json_number(o->seconds));
  if (o->looked) idm_json_set(&object, "open_directions", json_integer((json_int_t)o->open));
  idm_json_set(&object, "leaves_open", json_string(o->of->open));
  return object;
}

static idm_status print_list(cli_call *call, const outcome *list, size_t count)
{
  json_t *array = json_array();
  json_t *object = json_object();
  for (size_t i = 0; i < count; i++) idm_json_append(&array, object_of(&list[i]));
  idm_json_set(&object, "classes", array);
  return cli_print_json(call, object);
}

/* A row as soon as there is one: some classes take minutes. */
static void print_row(const outcome *o, bool first)
{
  if (first)
    printf("%-12s %9s %9s %9s %9s  %s\n", "class", "log-loss", "Brier", "KL", "seconds",
           "what it leaves open");
  if (o->twin) {
    printf("%-12s as %s: states are observed\n", o->of->name, o->twin->name);
  } else if (o->done) {
    printf("%-12s %9.4f %9.4f %9.4f %9.1f  %s", o->of->name, o->projection.log_loss,
           o->projection.brier, o->projection.divergence, o->seconds, o->of->open);
    if (o->looked) printf(" (%zu %s)", o->open, o->open == 1 ? "direction" : "directions");
    printf("\n");
  } else {
    printf("%-12s not here: %s\n", o->of->name, o->why);
  }
  fflush(stdout);
}

static void print_end(void)
{
  printf("\nlog-loss and Brier a decision; KL to the empirical policy where histories repeat; a "
         "lower number is nearer to the log.\nPolicies of posteriors are averaged over their "
         "draws. `idm fit --class NAME` says how far an answer is to be trusted.\n");
}

/* Each class takes the problem as the file has it. */
static idm_status fit_all(cli_call *call, const char *paths, const char *where, outcome *list,
                          size_t *ret_count)
{
  idm_status status = IDM_OK;
  idm_request request;
  idm_request_default(&request);
  /* Few draws of a posterior are enough to compare by. */
  request.settings.chains = 2;
  request.settings.warmup = 300;
  request.settings.draws = 200;
  request.settings.keep = IDM_KEEP_NOTHING;
  cli_take_keys(call, &request);
  for (size_t i = 0; idm_class_at(i) && status == IDM_OK; i++) {
    idm_problem *problem = NULL;
    idm_data *data = NULL;
    const idm_class *of = idm_class_at(i);
    const idm_inverse *inverse = idm_inverse_find(of->inverse);
    status = cli_class_check(call, of);
    if (status == IDM_OK)
      status = idm_problem_read(call->argument[0], &problem, i ? NULL : &call->notes, &call->error);
    if (status == IDM_OK) status = cli_override(call, problem);
    if (status == IDM_OK)
      status =
          cli_read_log_with(call, paths, where, problem,
                            (idm_csv_options){.columns = inverse ? inverse->columns : 0}, &data);
    list[i].of = of;
    if (status == IDM_OK && !take_twin(problem, list, i))
      status = fit_class(call, of, problem, data, &request, &list[i]);
    if (status == IDM_OK && !cli_given(call, "json")) print_row(&list[i], i == 0);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
    *ret_count = i + 1;
  }
  return status;
}

idm_status cli_fit_classes(cli_call *call)
{
  enum { most = 32 };
  idm_request *request = calloc(1, sizeof *request);
  outcome *list = calloc(most, sizeof *list);
  size_t count = 0;
  idm_status status = request && list ? IDM_OK : idm_fail_memory(&call->error);
  if (status == IDM_OK && cli_given(call, "output"))
    status = idm_fail(&call->error, IDM_USAGE,
                      "--class all prints a table and keeps no run; leave -o out");
  if (status == IDM_OK && call->arguments < 2)
    status = idm_fail(&call->error, IDM_USAGE, "usage: idm fit PROBLEM DATA... --class all");
  if (status == IDM_OK) status = cli_data_paths(call, 1, request->data, sizeof request->data);
  if (status == IDM_OK && cli_given(call, "where"))
    status = cli_where(call, request->where, sizeof request->where);
  if (status == IDM_OK) status = fit_all(call, request->data, request->where, list, &count);
  if (status == IDM_OK && cli_given(call, "json"))
    status = print_list(call, list, count);
  else if (status == IDM_OK)
    print_end();
  free(request);
  free(list);
  return status;
}
