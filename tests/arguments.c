/* Calls every public function with invalid arguments: NULL, the ends of the range of a number,
 * objects of another problem. tests/arguments.py generates the calls from the headers. If an
 * argument is NULL, the status must be IDM_USAGE; in no case may a call crash, overflow or leak
 * (checked by the sanitizers). Cases that the headers do not determine follow: settings, empty
 * data. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/idm.h"
#include "invert/people/people_support.h"
#include "support.h"

typedef struct fixture {
  struct fixture *other; /* the same for another problem; NULL in that */
  const char *yaml;
  idm_problem *problem;
  idm_problem *own_problem; /* may be modified */
  idm_data *data;
  idm_prefix_tree *tree;
  idm_parameters *parameters;
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_optimality *optimality;
  idm_calibration *calibration;
  idm_calibration_settings calibration_settings;
  idm_matching *matching;
  idm_target target;
  idm_chains *chains;
  idm_workspace *workspace;
  idm_scorer *scorer;
  idm_trials *trials;
  idm_design *design;
  idm_explain_settings explain;
  idm_explanation *explanation;
  idm_design_request design_request;
  idm_gradient *gradient;
  idm_request request;
  idm_request own_request;
  idm_simulation simulation;
  idm_run run;
  idm_progress_state work;
  idm_projection projection;
  idm_refinement refinement;
  idm_score score;
  idm_forward forward;
  idm_plan_report report;
  idm_solver solver;
  idm_sampler_settings kernel;
  const idm_key *keys;
  idm_prior prior;
  idm_random random;
  idm_iohmm *iohmm;
  idm_dynamics *dynamics;
  idm_modes modes;
  idm_sparse_rows *moves;
  idm_dynamics_draws draws;
  idm_dynamics_draws own_draws;
  idm_cut_draws cuts;
  idm_learn_settings learn_settings;
  idm_learn_settings own_learn_settings;
  idm_learn_result learnt;
  idm_cross_validation cv_result;
  idm_model_rule rule;
  size_t *places;
  idm_figure *figure; /* with one panel */
  idm_diagnosis diagnosis;
  idm_file *file;
  idm_labels labels; /* output */
  idm_notes notes;
  idm_predicate predicate; /* output */
  idm_log_counts *log_counts;
  idm_groups groups; /* empty */
  idm_audit audit;   /* empty */
  idm_audit_request audit_request;
  idm_audit_settings audit_settings;
  idm_error error;
  idm_settings *settings;
  idm_agent *agent; /* in a trajectory */
  idm_audit_estimate estimate;
  const double *view; /* output */
  char path[SUPPORT_PATH];
  char buffer[4096];
  char hash[IDM_HASH_SIZE];
  double number[4096];
  size_t count[64];
  bool flag[64];
} fixture;

static const char two_states[] =
    "states: [a, b]\nactions: [look, stop]\nobservations: [x, y]\ndiscount: 0.9\nends: [stop]\n"
    "transition: {look: identity, stop: uniform}\nobservation: {'*': [[0.8, 0.2], [0.3, 0.7]]}\n"
    "utility: {look: -1, stop: [4, -6]}\nagent: {alpha: 1, beta: 2, eta: 0.1, resolution: 8}\n"
    "models: [{weight: 1}, {weight: 1, observation: {'*': [[0.6, 0.4], [0.4, 0.6]]}}]\n"
    "free: [alpha, beta]\n";
static const char four_states[] =
    "states: [a, b, c, d]\nactions: [look, wait, stop]\nobservations: [w, x, y]\ndiscount: 0.9\n"
    "ends: [stop]\ntransition: {look: identity, wait: uniform, stop: uniform}\n"
    "observation: {'*': [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.4, 0.3, 0.3]]}\n"
    "utility: {look: -1, wait: 0, stop: [4, -6, 2, 1]}\n"
    "agent: {alpha: 1, beta: 2, eta: 0.1, resolution: 4}\n"
    "free: [alpha, eta]\n";

static void describe(const void *content, char *buffer, size_t size)
{
  (void)content;
  if (size) buffer[0] = '\0';
}

static void make(fixture *f, const char *yaml)
{
  f->yaml = yaml;
  f->problem = support_yaml(yaml);
  f->workspace = support_plan(f->problem, NULL);
  check(idm_settings_create(&f->settings, &support_error));
  /* Calls that are legal after all must be short. */
  static const char *const small[][2] = {{"calibration.replications", "1"},
                                         {"calibration.number", "2"},
                                         {"calibration.draws", "50"},
                                         {"calibration.warmup", "20"},
                                         {"draws", "20"},
                                         {"warmup", "20"},
                                         {"checks", "none"}};
  for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
    check(idm_settings_set(f->settings, small[i][0], small[i][1], &support_error));
  check(idm_agent_create(f->workspace, 1, &f->agent, &support_error));
  check(idm_agent_begin(f->agent, NULL, &support_error));
  f->data =
      support_simulate(f->problem, (idm_simulation){.trajectories = 6, .steps = 5, .seed = 3});
  check(idm_evidence_tree(f->problem, f->data, &f->tree, &support_error));
  check(idm_parameters_create(f->problem, &f->parameters, &support_error));
  check(idm_matching_create(f->problem, f->data, f->tree, f->parameters, &f->matching,
                            &support_error));
  f->target = idm_matching_target(f->matching);
  check(idm_scorer_create(f->data, f->tree, &f->scorer, &support_error));
  check(idm_scorer_run(f->scorer, idm_workspace_behavior(f->workspace), &f->score, &support_error));
  check(idm_trials_create(f->workspace, f->data, &f->trials, &support_error));
  check(idm_explain_log(f->problem, NULL, f->data, NULL, &f->explanation, NULL, &support_error));
  check(idm_gradient_create(f->data, f->tree, f->workspace, &f->gradient, &support_error));
  f->design = support_design(f->data, 2, 0, (const double[]){0, 0}, (const double[]){1, 1});
  f->design_request = (idm_design_request){.by = "agent"};
  idm_request_default(&f->request);
  f->request.settings.chains = 2;
  f->request.settings.draws = 20;
  f->request.settings.warmup = 10;
  f->request.settings.threads = 1;
  f->request.settings.prior_draws = 5;
  check(idm_project(f->problem, f->data, idm_inverse_find("bayes"), &f->request.settings, NULL,
                    &f->posterior, &f->projection, NULL, &support_error));
  check(idm_assess_draws(f->posterior, &f->assessment, &support_error));
  check(idm_optimality_create(2, &f->optimality, &support_error));
  idm_calibration_settings_default(&f->calibration_settings);
  f->calibration_settings.replications = 1;
  check(idm_calibration_create(f->problem, &f->calibration_settings, &f->calibration,
                               &support_error));
  idm_sampler_settings_default(&f->kernel);
  const idm_chains_settings chains = {
      .sampler = idm_sampler_at(0), .chains = 2, .draws = 5, .threads = 1, .kernel = f->kernel};
  check(idm_chains_create(&chains, idm_parameters_dimension(f->parameters), &f->chains,
                          &support_error));
  f->simulation = (idm_simulation){.trajectories = 2, .steps = 3};
  f->work = (idm_progress_state){.describe = describe};
  f->prior = (idm_prior){.kind = IDM_PRIOR_NORMAL, .count = 2, .argument = f->number};
  f->keys = idm_fit_keys();
  idm_solver_default(&f->solver);
  support_path(f->path);
  check(idm_file_create(f->path, &f->file, &support_error));
  check(idm_log_counts_create(1, 1, &f->log_counts, &support_error));
  f->own_problem = support_yaml(yaml);
  idm_learn_settings_default(&f->learn_settings);
  f->learn_settings.threads = 1;
  f->learn_settings.draws = 2;
  f->learn_settings.warmup = 1;
  f->learn_settings.folds = 2;
  check(idm_problem_dynamics(f->problem, &f->dynamics, &support_error));
  check(idm_sparse_rows_create(2, 2, &f->moves, &support_error));
  check(idm_iohmm_create(f->problem, f->data, 0, IDM_LEARN_FIX_NOTHING, &f->iohmm, &support_error));
  f->modes = (idm_modes){1, &f->dynamics, NULL};
  check(idm_learn_draw(f->iohmm, f->problem, &f->modes, &f->learn_settings, NULL, NULL, &f->draws,
                       &support_error));
  f->cuts = (idm_cut_draws){f->problem, &f->draws, 1};
  idm_panel *panel;
  check(idm_figure_create("", "", 1, &f->figure, &support_error));
  check(idm_figure_add(f->figure, "", "", "", &panel, &support_error));
}

static void unmake(fixture *f)
{
  idm_file_abandon(f->file);
  remove(f->path);
  idm_chains_destroy(f->chains);
  idm_calibration_destroy(f->calibration);
  idm_assessment_destroy(f->assessment);
  idm_optimality_destroy(f->optimality);
  idm_posterior_destroy(f->posterior);
  idm_gradient_destroy(f->gradient);
  idm_scorer_destroy(f->scorer);
  idm_agent_destroy(f->agent);
  idm_settings_destroy(f->settings);
  idm_trials_destroy(f->trials);
  idm_design_destroy(f->design);
  idm_explanation_destroy(f->explanation);
  idm_matching_destroy(f->matching);
  idm_parameters_destroy(f->parameters);
  idm_prefix_tree_destroy(f->tree);
  idm_data_destroy(f->data);
  idm_workspace_destroy(f->workspace);
  idm_notes_clear(&f->notes);
  idm_predicate_clear(&f->predicate);
  idm_log_counts_destroy(f->log_counts);
  idm_labels_destroy(&f->labels);
  idm_dynamics_draws_clear(&f->draws);
  idm_dynamics_draws_clear(&f->own_draws);
  idm_learn_result_clear(&f->learnt);
  idm_iohmm_destroy(f->iohmm);
  idm_dynamics_destroy(f->dynamics);
  idm_sparse_rows_destroy(f->moves);
  free(f->places);
  idm_figure_destroy(f->figure);
  idm_problem_destroy(f->own_problem);
  idm_problem_destroy(f->problem);
}

static int set_up(void **state)
{
  static fixture one, two;
  one = two = (fixture){0};
  make(&one, two_states);
  make(&two, four_states);
  one.other = &two;
  *state = &one;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  unmake(f->other);
  unmake(f);
  return 0;
}

/* Create objects again that a call may have changed. */
static void prepare(fixture *f, const char *what)
{
  print_message("  %s\n", what);
  for (fixture *each = f; each; each = each->other) {
    idm_problem_destroy(each->own_problem);
    each->own_problem = support_yaml(each->yaml);
    each->own_request = each->request;
    for (size_t i = 0; i < sizeof each->number / sizeof each->number[0]; i++) each->number[i] = 0.5;
  }
  idm_labels_destroy(&f->labels);
  f->labels = (idm_labels){0};
  idm_predicate_clear(&f->predicate);
  f->error = (idm_error){0};
  snprintf(f->buffer, sizeof f->buffer, "alpha");
}

static void refused(idm_status status)
{
  assert_string_equal(idm_status_name(status), "IDM_USAGE");
}

#include "argument_calls.h"

/* --- cases that the headers do not determine ------------------------------------------------- */

static bool stop_at_once(void *context, const idm_progress_state *work)
{
  (void)context;
  (void)work;
  return true;
}

/* Every number of the settings at the ends of its range and beyond them, for every inverse planner.
 */
static void settings_beyond_their_range_are_refused(void **state)
{
  fixture *f = *state;
  static const double wild[] = {-1, 0, 1e12, 9e18};
  const idm_fit_monitor watch = {.progress = stop_at_once};
  for (const idm_key *key = idm_fit_keys(); key->name; key++)
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++)
      for (size_t k = 0; idm_inverse_at(k); k++) {
        prepare(f, key->name);
        idm_fit_settings settings = f->request.settings;
        idm_key_set_number(key, &settings, wild[i]);
        const bool legal = idm_keys_check(idm_fit_keys(), &settings, NULL) == IDM_OK;
        idm_posterior *posterior = NULL;
        const idm_status status = idm_project(f->problem, f->data, idm_inverse_at(k), &settings,
                                              &watch, &posterior, &f->projection, NULL, &f->error);
        if (!legal) refused(status);
        idm_posterior_destroy(posterior);
      }
}

static void settings_of_calibrations_are_refused(void **state)
{
  fixture *f = *state;
  static const double wild[] = {-1, 0, 1e12, 9e18};
  for (const idm_key *key = idm_calibration_keys(); key->name; key++)
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
      prepare(f, key->name);
      idm_calibration_settings settings = f->calibration_settings;
      idm_key_set_number(key, &settings, wild[i]);
      const bool legal = idm_keys_check(idm_calibration_keys(), &settings, NULL) == IDM_OK;
      idm_calibration *calibration = NULL;
      const idm_status status = idm_calibration_create(f->problem, &settings, &calibration, NULL);
      if (!legal) refused(status);
      idm_calibration_destroy(calibration);
    }
}

static const struct CMUnitTest others[] = {
    cmocka_unit_test(settings_beyond_their_range_are_refused),
    cmocka_unit_test(settings_of_calibrations_are_refused),
};

int main(void)
{
  const int failed = cmocka_run_group_tests(argument_calls, set_up, tear_down);
  return failed + cmocka_run_group_tests(others, set_up, tear_down);
}
