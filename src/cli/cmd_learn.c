/* idm learn: dynamics from a log.
 *
 * Contents: the request · number of states · models · printing · the command */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

/* State of the command. */
typedef struct learn_job {
  cli_call *call;
  idm_learn_settings settings;
  idm_problem *problem;
  idm_data *data;
  idm_iohmm *learner;
  idm_learn_result learnt;
  size_t counts;                   /* number of state counts compared; 0: none */
  size_t least;                    /* smallest of them */
  idm_cross_validation *cv_result; /* [counts], or [1] for the problem's own number */
  size_t unknown;                  /* actions whose utilities must be filled in */
  idm_dynamics_draws draws;
  double spread[2]; /* distance of the models: mean, maximum */
  cli_progress progress;
} learn_job;

static bool is_interrupted(void *context, double done)
{
  learn_job *l = context;
  const idm_progress_state work = {.done = done};
  return cli_progress_watch(&l->progress, &work);
}

/* --- the request ---------------------------------------------------------------------------- */

/* "3" or "2..5". */
static idm_status parse_states(learn_job *l)
{
  const char *text = cli_text(l->call, "states");
  char *end;
  if (!text) return IDM_OK;
  const long first = strtol(text, &end, 10);
  long last = first;
  if (end != text && strncmp(end, "..", 2) == 0) {
    const char *second = end + 2;
    last = strtol(second, &end, 10);
    if (end == second) last = 0;
  }
  if (end == text || *end || first < 1 || last < first || last > 100)
    return idm_fail(&l->call->error, IDM_USAGE,
                    "--states is '%s'; expected a number, or a range such as 2..5, from 1 to 100",
                    text);
  l->least = (size_t)first;
  l->counts = (size_t)(last - first + 1);
  return IDM_OK;
}

/* Value of --models: perturb, pessimistic, or a number of draws. */
typedef struct model_request {
  bool given;
  bool perturb;
  bool pessimistic;
  size_t draws;
} model_request;

static idm_status parse_models(cli_call *call, model_request *ret)
{
  const char *text = cli_text(call, "models");
  char *end;
  *ret = (model_request){.given = text != NULL};
  if (!text) return IDM_OK;
  ret->perturb = strcmp(text, "perturb") == 0;
  ret->pessimistic = strcmp(text, "pessimistic") == 0;
  if (ret->perturb || ret->pessimistic) return IDM_OK;
  const long count = strtol(text, &end, 10);
  if (end == text || *end || count < 1 || count > 10000)
    return idm_fail(&call->error, IDM_USAGE,
                    "--models is '%s'; expected perturb, pessimistic, or a number of posterior "
                    "draws from 1 to 10000",
                    text);
  ret->draws = (size_t)count;
  return IDM_OK;
}

static idm_status take_options(learn_job *l, const model_request *models)
{
  cli_call *call = l->call;
  idm_learn_settings *s = &l->settings;
  *s = call->settings.learn;
  s->threads = cli_given(call, "threads") ? (int)cli_integer(call, "threads") : s->threads;
  if (l->counts && !cli_given(call, "folds")) s->folds = 5;
  if (l->counts && cli_given(call, "start") && s->start == IDM_LEARN_FROM_FILE)
    return idm_fail(
        &call->error, IDM_USAGE,
        "--states creates new states, for which the file has no dynamics; leave out --start");
  if (l->counts) s->start = IDM_LEARN_FROM_RANDOM;
  if (models->draws && !s->draws) {
    /* Enough sweeps for the models to be nearly independent draws. */
    enum { thin = 10, least = 250 };
    const long requested = (long)((models->draws + s->chains - 1) / s->chains * thin);
    s->draws = requested > least ? requested : least;
  }
  if (!cli_given(call, "starts")) {
    if (s->draws || s->start == IDM_LEARN_FROM_RANDOM) s->starts = IDM_LEARN_STARTS;
    if (s->draws && !cli_given(call, "repeats")) s->repeats = IDM_LEARN_REPEATS;
  }
  if (cli_given(call, "draws") && l->counts)
    return idm_fail(&call->error, IDM_USAGE,
                    "a run needs a problem that can be solved, and new states have utilities to be "
                    "filled in; use --states first, then --draws on its file");
  if (cli_given(call, "draws") && !cli_given(call, "output"))
    return idm_fail(&call->error, IDM_USAGE,
                    "--draws writes draws to a folder; expected -o FOLDER");
  return IDM_OK;
}

/* --- number of states ----------------------------------------------------------------------- */

static idm_status choose_states(learn_job *l)
{
  cli_call *call = l->call;
  const size_t count = l->counts ? l->counts : 1;
  size_t states[100] = {0};
  if (!l->settings.folds) return IDM_OK;
  for (size_t i = 0; i < l->counts; i++) states[i] = l->least + i;
  l->cv_result = calloc(count, sizeof *l->cv_result);
  if (!l->cv_result) return idm_fail_memory(&call->error);
  return idm_learn_cross_validate(l->problem, l->data, states, count, !l->counts, &l->settings,
                                  is_interrupted, l, l->cv_result, &call->error);
}

/* Use the number of states with the best held-out likelihood, with new labels. */
static idm_status use_best_states(learn_job *l)
{
  cli_call *call = l->call;
  if (!l->counts) return IDM_OK;
  size_t best = 0;
  for (size_t i = 1; i < l->counts; i++)
    if (l->cv_result[i].mean > l->cv_result[best].mean) best = i;
  const size_t states = l->cv_result[best].states;
  idm_status status =
      idm_iohmm_create(l->problem, l->data, states, l->settings.hold, &l->learner, &call->error);
  if (status == IDM_OK)
    status = idm_problem_reset_states(l->problem, states, &l->unknown, &call->error);
  if (status != IDM_OK) return status;
  idm_notes_add(&call->notes,
                "%zu states have the best held-out likelihood; they are new, named state1 to "
                "state%zu in the order of the mean index of the first observation factor",
                states, states);
  if (l->unknown)
    idm_notes_add(&call->notes,
                  "utilities of %zu action%s in new states cannot be learnt from a log; replace "
                  "FILL_IN in the file",
                  l->unknown, l->unknown == 1 ? "" : "s");
  return IDM_OK;
}

/* --- models --------------------------------------------------------------------------------- */

/* Set `count` models to draws that are evenly spaced over all chains. */
static idm_status list_draws(learn_job *l, size_t count)
{
  cli_call *call = l->call;
  const size_t all = l->draws.chains * l->draws.draws;
  idm_dynamics **list = calloc(count, sizeof *list);
  idm_status status = list ? IDM_OK : idm_fail_memory(&call->error);
  if (status == IDM_OK && count > all)
    status = idm_fail(&call->error, IDM_USAGE, "%zu models need as many draws; there are %zu",
                      count, all);
  for (size_t m = 0; m < count && status == IDM_OK; m++) {
    const size_t at = m * all / count;
    status = idm_dynamics_create(l->learnt.dynamics->sizes, &list[m], &call->error);
    if (status == IDM_OK)
      status = idm_dynamics_of_draw(l->problem, &l->draws, at / l->draws.draws, at % l->draws.draws,
                                    list[m], &call->error);
  }
  if (status == IDM_OK)
    status =
        idm_problem_set_models(l->problem, (const idm_dynamics *const *)list, count, &call->error);
  for (size_t m = 0; list && m < count; m++) idm_dynamics_destroy(list[m]);
  free(list);
  return status;
}

/* Put the learnt dynamics into the problem, and derive the requested models from them. */
static idm_status set_models(learn_job *l, const model_request *models)
{
  cli_call *call = l->call;
  idm_problem *problem = l->problem;
  idm_model_rule rule = problem->models;
  const bool follow = idm_problem_models_derived(problem);
  if (models->perturb)
    rule = (idm_model_rule){.perturb = {problem->setting->fully_observed ? 0.1 : 0,
                                        problem->setting->fully_observed ? 0 : 0.1}};
  if (models->pessimistic) rule = (idm_model_rule){.uniform = 0.5};
  if (!follow && !models->given) {
    rule = (idm_model_rule){0};
    idm_notes_add(
        &call->notes,
        "the models of the file are a fixed list for other dynamics and are left out: the agent "
        "has the learnt dynamics; use --models perturb, pessimistic or N for other models");
  }
  idm_status status = idm_problem_apply_rule(problem, &rule, &call->error);
  if (status == IDM_OK)
    status = idm_problem_set_dynamics(problem, l->learnt.dynamics, &call->error);
  if (status == IDM_OK && models->draws) status = list_draws(l, models->draws);
  if (status != IDM_OK) return status;
  idm_theta_models_distance(problem, &l->spread[0], &l->spread[1]);
  idm_models_note(problem, l->spread, &call->notes);
  return IDM_OK;
}

/* --- printing ------------------------------------------------------------------------------- */

static json_t *matrices(const idm_setting *setting, const double *numbers, size_t columns)
{
  json_t *object = json_object();
  const size_t rows = setting->states.count;
  for (size_t u = 0; u < setting->actions.count; u++) {
    json_t *matrix = json_array();
    for (size_t s = 0; s < rows; s++)
      idm_json_append(&matrix, idm_json_numbers(numbers + (u * rows + s) * columns, columns));
    idm_json_set(&object, setting->actions.name[u], matrix);
  }
  return object;
}

static json_t *held_out_json(const learn_job *l)
{
  json_t *list = json_array();
  for (size_t i = 0; i < (l->counts ? l->counts : 1); i++) {
    const idm_cross_validation *h = &l->cv_result[i];
    json_t *one = json_object();
    idm_json_set(&one, "states", json_integer((json_int_t)h->states));
    idm_json_set(&one, "log_likelihood_per_decision", idm_json_number(h->mean));
    idm_json_set(&one, "standard_error", idm_json_number(h->error));
    idm_json_set(&one, "difference", idm_json_number(h->difference));
    idm_json_set(&one, "difference_error", idm_json_number(h->difference_error));
    idm_json_append(&list, one);
  }
  return list;
}

static json_t *names(const idm_labels *labels)
{
  json_t *list = json_array();
  for (size_t i = 0; i < labels->count; i++) idm_json_append(&list, idm_json_text(labels->name[i]));
  return list;
}

/* Diagnostics of the draws, by the names of the learnt probabilities. */
static json_t *draws_json(const learn_job *l)
{
  const idm_dynamics_draws *d = &l->draws;
  json_t *object = json_object();
  for (size_t i = 0; i <= d->numbers; i++) {
    const bool whole = i == d->numbers;
    const double *x = whole ? d->log_likelihood : d->value + i * d->chains * d->draws;
    idm_diagnosis it;
    if (idm_diagnose(x, d->chains, d->draws, d->draws, 1, &it, NULL) != IDM_OK) continue;
    json_t *one = json_object();
    idm_json_set(&one, "mean", idm_json_number(it.mean));
    idm_json_set(&one, "sd", idm_json_number(it.sd));
    idm_json_set(&one, "q5", idm_json_number(it.q05));
    idm_json_set(&one, "q95", idm_json_number(it.q95));
    idm_json_set(&one, "ess_bulk", idm_json_number(it.ess_bulk));
    idm_json_set(&one, "r_hat", idm_json_number(it.rhat));
    idm_json_set(&object, whole ? "log_likelihood" : d->name.name[i], one);
  }
  return object;
}

/* Modes that chains move between. */
static json_t *modes_json(const learn_job *l)
{
  json_t *object = json_object();
  const idm_modes *modes = &l->learnt.modes;
  idm_json_set(&object, "share", idm_json_numbers(l->draws.share, l->draws.modes));
  idm_json_set(&object, "log_evidence", idm_json_numbers(modes->log_evidence, modes->count));
  idm_json_set(&object, "moves", json_integer((json_int_t)l->draws.moves));
  return object;
}

static idm_status print_json(learn_job *l)
{
  const idm_setting *setting = l->problem->setting;
  const idm_dynamics *d = l->learnt.dynamics;
  json_t *object = json_object();
  idm_json_set(&object, "log_likelihood", idm_json_number(l->learnt.log_likelihood));
  idm_json_set(&object, "objective", idm_json_number(l->learnt.objective));
  idm_json_set(&object, "rows", idm_json_number(idm_iohmm_rows(l->learner)));
  idm_json_set(&object, "converged", json_boolean(l->learnt.converged));
  idm_json_set(&object, "trace", idm_json_numbers(l->learnt.trace, l->learnt.steps));
  idm_json_set(&object, "starts", idm_json_numbers(l->learnt.reached, l->learnt.starts));
  idm_json_set(&object, "starts_at_best", json_integer((json_int_t)l->learnt.met));
  idm_json_set(&object, "starts_renamed", json_integer((json_int_t)l->learnt.renamed));
  idm_json_set(&object, "states", names(&setting->states));
  idm_json_set(&object, "start", idm_json_numbers(d->start, d->sizes.states));
  idm_json_set(&object, "transition", matrices(setting, d->transition, d->sizes.states));
  idm_json_set(&object, "observation", matrices(setting, d->emission, d->sizes.observations));
  if (l->cv_result) idm_json_set(&object, "held_out", held_out_json(l));
  if (l->draws.numbers) idm_json_set(&object, "draws", draws_json(l));
  if (l->draws.modes > 1) idm_json_set(&object, "modes", modes_json(l));
  if (l->problem->theta->models > 1) {
    json_t *models = json_object();
    idm_json_set(&models, "count", json_integer((json_int_t)l->problem->theta->models));
    idm_json_set(&models, "spread", idm_json_number(l->spread[0]));
    idm_json_set(&models, "largest_spread", idm_json_number(l->spread[1]));
    idm_json_set(&object, "models", models);
  }
  idm_json_set(&object, "notes", idm_json_texts(&l->call->notes));
  return cli_print_json(l->call, object);
}

static void print_held_out(const learn_job *l)
{
  if (!l->cv_result) return;
  printf("\n"
         "cross-validation, %zu folds: held-out log-likelihood per decision\n"
         "\n",
         l->settings.folds);
  printf("states        mean       s.e.   to the best       s.e.\n");
  for (size_t i = 0; i < (l->counts ? l->counts : 1); i++) {
    const idm_cross_validation *h = &l->cv_result[i];
    printf("%6zu  %10.5f  %9.5f    %10.5f  %9.5f\n", h->states, h->mean, h->error, h->difference,
           h->difference_error);
  }
}

/* Print the rows of one matrix, with column headers. */
static void print_rows(const idm_labels *states, const idm_labels *columns, const double *numbers)
{
  printf("  %-16s", "");
  for (size_t i = 0; i < columns->count; i++) {
    putchar(' ');
    cli_print_right(stdout, 7, columns->name[i]);
  }
  putchar('\n');
  for (size_t s = 0; s < states->count; s++) {
    printf("  ");
    cli_print_truncated(stdout, 16, states->name[s]);
    for (size_t i = 0; i < columns->count; i++) {
      const int width = cli_width(columns->name[i]);
      printf(" %*.4f", width > 7 ? width : 7, numbers[s * columns->count + i]);
    }
    putchar('\n');
  }
}

static void print_matrix(const char *what, const idm_setting *setting, const double *numbers,
                         const bool *shared, const idm_labels *columns)
{
  const size_t rows = setting->states.count;
  const size_t size = rows * columns->count;
  for (size_t u = 0; u < setting->actions.count; u++) {
    size_t first = 0;
    size_t same = 0;
    while (!(shared[first] && shared[u] &&
             memcmp(numbers + first * size, numbers + u * size, size * sizeof *numbers) == 0) &&
           first < u)
      first++;
    if (first < u) continue;
    for (size_t v = u + 1; v < setting->actions.count; v++)
      same += shared[u] && shared[v] &&
              memcmp(numbers + v * size, numbers + u * size, size * sizeof *numbers) == 0;
    printf("\n%s, %s%s\n", what, setting->actions.name[u], same ? " and others alike (\"*\")" : "");
    print_rows(&setting->states, columns, numbers + u * size);
  }
}

/* Print the largest R-hat over all probabilities, and that of the log-likelihood. */
static void print_draws(const learn_job *l)
{
  const idm_dynamics_draws *d = &l->draws;
  double worst = 0, ess = INFINITY;
  size_t which = 0;
  idm_diagnosis it;
  if (!d->numbers) return;
  for (size_t i = 0; i < d->numbers; i++) {
    if (idm_diagnose(d->value + i * d->chains * d->draws, d->chains, d->draws, d->draws, 1, &it,
                     NULL) != IDM_OK)
      continue;
    if (it.rhat > worst) which = i;
    worst = fmax(worst, it.rhat);
    ess = fmin(ess, it.ess_bulk);
  }
  if (idm_diagnose(d->log_likelihood, d->chains, d->draws, d->draws, 1, &it, NULL) != IDM_OK)
    return;
  printf("\n"
         "posterior: %zu chains of %zu draws; R-hat %.3f of the log-likelihood, at most %.3f (%s) "
         "of %zu probabilities; minimum effective sample size %.0f\n",
         d->chains, d->draws, it.rhat, worst, d->name.name[which], d->numbers, ess);
  if (d->modes < 2) return;
  printf("%zu modes, between which chains move %zu times; shares of the draws:", d->modes,
         d->moves);
  for (size_t m = 0; m < d->modes; m++) printf("%s %.3f", m ? "," : "", d->share[m]);
  putchar('\n');
}

static idm_status print(learn_job *l)
{
  if (cli_given(l->call, "json")) return print_json(l);
  const idm_setting *setting = l->problem->setting;
  const idm_dynamics *d = l->learnt.dynamics;
  const idm_learn_result *it = &l->learnt;
  printf("log-likelihood %.6f of %.0f observations: %.6f each; %zu step%s from start %zu of %zu%s",
         it->log_likelihood, idm_iohmm_rows(l->learner),
         it->log_likelihood / idm_iohmm_rows(l->learner), it->steps - 1, it->steps == 2 ? "" : "s",
         it->best + 1, it->starts, it->converged ? "" : ", not converged: raise --iterations");
  if (it->starts > 1) printf("; %zu of the starts reach it", it->met);
  if (it->renamed)
    printf("\n"
           "the log hardly distinguishes the labels of states: %zu of the starts were relabelled "
           "to be closest to the file's dynamics",
           it->renamed);
  putchar('\n');
  print_held_out(l);
  printf("\nstart\n  ");
  for (size_t s = 0; s < d->sizes.states; s++)
    printf("%s %.4f%s", setting->states.name[s], d->start[s],
           s + 1 < d->sizes.states ? ", " : "\n");
  print_matrix("transition", setting, d->transition, setting->transition_shared, &setting->states);
  print_matrix("observation", setting, d->emission, setting->emission_shared,
               &setting->observations);
  print_draws(l);
  if (l->problem->theta->models > 1)
    printf("\n"
           "%zu models of the agent: mean total variation distance %.4f, at most %.4f\n",
           l->problem->theta->models, l->spread[0], l->spread[1]);
  return IDM_OK;
}

/* --- the command ---------------------------------------------------------------------------- */

static idm_run_mode run_mode(const cli_call *call)
{
  return cli_given(call, "resume")      ? IDM_RUN_RESUME
         : cli_given(call, "overwrite") ? IDM_RUN_OVERWRITE
                                        : IDM_RUN_NEW;
}

/* Make the request of a run; freed by the caller. */
static idm_status make_request(const learn_job *l, const char *paths, idm_request **ret_request)
{
  cli_call *call = l->call;
  idm_request *request = *ret_request = calloc(1, sizeof *request);
  if (!request) return idm_fail_memory(&call->error);
  idm_request_default(request);
  request->settings.seed = l->settings.seed;
  const idm_status status = idm_request_set_inputs(request, call->argument[0], paths, &call->error);
  return status == IDM_OK ? cli_where(call, request->where, sizeof request->where) : status;
}

/* Compare the draws with dispersed starts, even if the search for their mode had fewer. */
static idm_status compare_with_starts(learn_job *l)
{
  idm_learn_settings settings = l->settings;
  idm_learn_result found = {0};
  l->draws.highest = fmax(l->draws.highest, l->learnt.log_likelihood);
  if (settings.starts >= IDM_LEARN_STARTS) return IDM_OK;
  settings.starts = IDM_LEARN_STARTS + (settings.start == IDM_LEARN_FROM_FILE);
  settings.repeats = 0;
  const idm_status status =
      idm_learn(l->learner, l->problem, &settings, is_interrupted, l, &found, &l->call->error);
  if (status == IDM_OK) l->draws.highest = fmax(l->draws.highest, found.log_likelihood);
  idm_learn_result_clear(&found);
  return status;
}

/* Draw from the posterior; with a folder, in the folder of the run, so that it can be resumed. */
static idm_status draw(learn_job *l, const char *paths)
{
  cli_call *call = l->call;
  const char *folder = cli_text(call, "output");
  idm_request *request = NULL;
  if (!folder || !cli_given(call, "draws"))
    return idm_learn_draw(l->learner, l->problem, &l->learnt.modes, &l->settings, is_interrupted, l,
                          &l->draws, &call->error);
  idm_status status = make_request(l, paths, &request);
  l->progress.stop_message = "interrupted; saving the draws made so far";
  if (status == IDM_OK)
    status = idm_dynamics_draw_run(folder, run_mode(call), l->learner, l->problem, &l->learnt.modes,
                                   request, &l->settings, cli_progress_watch, &l->progress,
                                   &l->draws, &call->error);
  free(request);
  return status;
}

static idm_status learn(learn_job *l, const char *paths)
{
  cli_call *call = l->call;
  idm_status status = choose_states(l);
  if (status == IDM_OK) status = use_best_states(l);
  if (status == IDM_OK && !l->learner)
    status = idm_iohmm_create(l->problem, l->data, 0, l->settings.hold, &l->learner, &call->error);
  if (status == IDM_OK)
    status = idm_learn(l->learner, l->problem, &l->settings, is_interrupted, l, &l->learnt,
                       &call->error);
  if (status == IDM_OK && l->settings.draws) status = draw(l, paths);
  if (status == IDM_OK && cli_given(call, "draws")) status = compare_with_starts(l);
  if (status == IDM_OK) idm_learn_note(&l->learnt, &l->settings, &call->notes);
  return status;
}

/* Check the folder before learning starts. */
static idm_status check_run(const learn_job *l, const char *paths)
{
  cli_call *call = l->call;
  idm_request *request = NULL;
  if (!cli_given(call, "output") || !cli_given(call, "draws")) return IDM_OK;
  idm_status status = make_request(l, paths, &request);
  if (status == IDM_OK)
    status = idm_run_check(cli_text(call, "output"), run_mode(call), request, &call->error);
  free(request);
  return status;
}

/* Write the draws as a run. */
static idm_status write_run(learn_job *l, const char *folder, const char *paths)
{
  cli_call *call = l->call;
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  idm_request *request = NULL;
  idm_status status = make_request(l, paths, &request);
  if (status == IDM_OK)
    status = idm_dynamics_posterior(&l->draws, &l->settings, &posterior, &call->error);
  if (status == IDM_OK)
    status = idm_dynamics_write_run(folder, IDM_RUN_RESUME, l->problem, l->data, request, posterior,
                                    &assessment, &call->error);
  if (status == IDM_OK && assessment->failures.count)
    idm_notes_add(&call->notes, "the draws fail %zu check%s, the first being: %s",
                  assessment->failures.count, assessment->failures.count == 1 ? "" : "s",
                  assessment->failures.text[0]);
  if (status == IDM_OK && assessment->misfits.count)
    idm_notes_add(&call->notes, "%s", assessment->misfits.text[0]);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  free(request);
  return status;
}

static idm_status write(learn_job *l, const char *paths)
{
  cli_call *call = l->call;
  const char *path = cli_text(call, "output");
  if (!path) return IDM_OK;
  if (cli_given(call, "draws")) return write_run(l, path, paths);
  return idm_problem_write_yaml(l->problem, path, &call->notes, &call->error);
}

static idm_status run(cli_call *call)
{
  learn_job l = {.call = call};
  model_request models;
  char paths[1 << 15];
  cli_progress_begin(&l.progress, "interrupted; nothing is written");
  idm_status status = parse_states(&l);
  if (status == IDM_OK && cli_given(call, "resume") && cli_given(call, "overwrite"))
    status = idm_fail(&call->error, IDM_USAGE, "--resume and --overwrite exclude each other");
  if (status == IDM_OK && cli_given(call, "resume") && !cli_given(call, "draws"))
    status = idm_fail(&call->error, IDM_USAGE, "--resume continues draws; expected --draws N");
  if (status == IDM_OK && cli_given(call, "resume") && cli_given(call, "output") &&
      idm_run_complete(cli_text(call, "output"))) {
    idm_notes_add(&call->notes, "the run is complete: there is nothing to resume");
    return IDM_OK;
  }
  if (status == IDM_OK) status = parse_models(call, &models);
  if (status == IDM_OK) status = take_options(&l, &models);
  if (status == IDM_OK && cli_given(call, "output") && !cli_given(call, "draws"))
    status = cli_check_target(call, cli_text(call, "output"));
  if (status == IDM_OK) status = cli_read_problem(call, call->argument[0], &l.problem);
  if (status == IDM_OK) status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK) status = cli_read_data(call, paths, l.problem, 0, &l.data);
  if (status == IDM_OK) status = check_run(&l, paths);
  if (status == IDM_OK) {
    cli_catch_signals();
    status = learn(&l, paths);
    cli_progress_end(&l.progress);
  }
  if (status == IDM_OK) status = set_models(&l, &models);
  if (status == IDM_OK) status = write(&l, paths);
  if (status == IDM_OK) status = print(&l);
  idm_dynamics_draws_clear(&l.draws);
  idm_learn_result_clear(&l.learnt);
  idm_iohmm_destroy(l.learner);
  free(l.cv_result);
  idm_data_destroy(l.data);
  idm_problem_destroy(l.problem);
  return status;
}

static void defaults(cli_settings *settings)
{
  idm_learn_settings_default(&settings->learn);
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "problem file with the learnt dynamics (YAML); with --draws a folder for the run"},
    CLI_KEY_OPTION("start"),
    CLI_KEY_OPTION("starts"),
    CLI_KEY_OPTION("repeats"),
    CLI_KEY_OPTION("iterations"),
    CLI_KEY_OPTION("tolerance"),
    CLI_KEY_OPTION("prior"),
    CLI_KEY_OPTION("hold"),
    {.name = "states",
     .kind = CLI_TEXT,
     .value = "2..5",
     .help = "create new states; their number, or a range from which cross-validation selects it"},
    CLI_KEY_OPTION("folds"),
    {.name = "models",
     .kind = CLI_TEXT,
     .value = "N",
     .help = "models of the agent: N posterior draws; perturb: in every row the most likely "
             "observation .1 less likely, unchanged, and .1 more likely; pessimistic: the learnt "
             "dynamics, and their equal mixture with uniform rows"},
    CLI_KEY_OPTION("draws"),
    CLI_KEY_OPTION("chains"),
    CLI_KEY_OPTION("warmup"),
    CLI_KEY_OPTION("seed"),
    {.name = "overwrite", .kind = CLI_FLAG, .help = "with --draws: replace a run"},
    {.name = "resume",
     .kind = CLI_FLAG,
     .help = "with --draws: continue an interrupted run; all other options must be the same"},
    CLI_THREADS_OPTION("threads (default: the processors); never changes a number"),
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_learn = {
    .name = "learn",
    .arguments = "PROBLEM DATA... [-o FILE]",
    .min_arguments = 2,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Learn the dynamics from a log",
    .description =
        "Learns start, transition and observation probabilities of the environment from a log (an\n"
        "input-output hidden Markov model, by the Baum-Welch algorithm), and writes the complete\n"
        "problem with them. Entries with probability 0 in the file stay impossible; a matrix\n"
        "under \"*\" is learnt once for all its actions; the start is learnt unless it is held\n"
        "fixed. States of random starts are ordered by the mean index of the first factor of\n"
        "their observations.",
    .options = options,
    .run = run,
    .keys = idm_learn_keys,
    .defaults = defaults,
};
