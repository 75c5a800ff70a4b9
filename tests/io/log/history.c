/* Rows that --where leaves out as history: marked, not scored, and the sums add up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/folder_support.h"

static const char log_text[] =
    "agent,trajectory,trial,action,observation\n"
    "ann,1,1,monitor,positive\nann,1,2,monitor,negative\nann,1,3,monitor,positive\n"
    "ann,1,4,declare_diseased,\n"
    "bob,2,1,monitor,negative\nbob,2,2,declare_healthy,\n"
    "ann,3,1,monitor,positive\nann,3,2,monitor,positive\nann,3,3,declare_diseased,\n";

typedef struct scene {
  idm_problem *problem;
  idm_workspace *workspace;
  char path[1000];
} scene;

static scene open_scene(const folder *f)
{
  scene s = {.problem = support_diag(0.5, 1.25, 0.001)};
  s.workspace = support_plan(s.problem, NULL);
  snprintf(s.path, sizeof s.path, "%s.csv", f->path);
  FILE *file = fopen(s.path, "w");
  assert_non_null(file);
  fputs(log_text, file);
  fclose(file);
  return s;
}

static void close_scene(scene *s)
{
  remove(s->path);
  idm_workspace_destroy(s->workspace);
  idm_problem_destroy(s->problem);
}

static idm_data *read_where(const scene *s, const char *where, idm_notes *opt_notes)
{
  const char *const paths[] = {s->path};
  const idm_csv_options options = {.where = &where, .where_count = 1};
  idm_data *data;
  check(idm_data_read_history(paths, 1, s->problem, &options, &data, opt_notes, &support_error));
  return data;
}

/* Score data with their marks, and each trajectory. */
static idm_score score(const scene *s, const idm_data *data, double *trajectory)
{
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score found;
  check(idm_prefix_tree_create(data, 0, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(s->workspace), &found, &support_error));
  double agents[2] = {0}, sum = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    trajectory[t] = idm_scorer_trajectory(scorer, t);
    sum += trajectory[t];
  }
  idm_scorer_agents(scorer, agents);
  assert_near(sum, found.log_likelihood, 1e-12);
  assert_near(agents[0] + agents[1], found.log_likelihood, 1e-12);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  return found;
}

/* Late rows with their history, and early rows, which need none: the two sum to the whole. */
static void late_and_early_rows_are_the_whole(void **state)
{
  scene s = open_scene(*state);
  static const char *const wheres[] = {"trial>2", "trial<=2", "trial>0"};
  idm_score found[3];
  double each[3][3];
  for (size_t i = 0; i < 3; i++) {
    idm_data *data = read_where(&s, wheres[i], NULL);
    found[i] = score(&s, data, each[i]);
    idm_data_destroy(data);
  }
  assert_near(found[0].log_likelihood, found[2].log_likelihood - found[1].log_likelihood, 1e-12);
  assert_true(found[0].log_likelihood < -1e-3);
  assert_int_equal(found[0].decisions, 3);
  assert_int_equal(found[1].decisions, 6);
  assert_int_equal(found[2].decisions, 9);
  /* The third decision of ann's second trajectory comes after two positive results: without them
   * its probability is another. */
  const char *const paths[] = {s.path};
  const idm_csv_options options = {.where = &wheres[0], .where_count = 1};
  idm_data *bare;
  double alone[2];
  check(idm_data_read_files(paths, 1, s.problem, &options, &bare, NULL, &support_error));
  score(&s, bare, alone);
  assert_true(fabs(alone[1] - each[0][1]) > 0.1);
  idm_data_destroy(bare);
  close_scene(&s);
}

/* Agents without a row that is scored are left out, and the note counts the others' rows. */
static void agents_without_scored_rows_are_left_out(void **state)
{
  scene s = open_scene(*state);
  idm_notes notes = {0};
  idm_data *data = read_where(&s, "trial>2", &notes);
  assert_int_equal(data->agent_name.count, 1);
  assert_int_equal(data->trajectories, 2);
  assert_int_equal(data->rows, 7);
  assert_true(data->history[0] && data->history[1] && !data->history[2] && !data->history[3]);
  assert_non_null(strstr(notes.text[notes.count - 1], "3 rows are scored; 4 rows"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  close_scene(&s);
}

static void standard_input_is_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  const char *const paths[] = {"-"};
  const idm_csv_options options = {0};
  idm_data *data;
  idm_error error;
  assert_int_equal(idm_data_read_history(paths, 1, problem, &options, &data, NULL, &error),
                   IDM_USAGE);
  assert_null(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(late_and_early_rows_are_the_whole, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(agents_without_scored_rows_are_left_out, make_folder,
                                      remove_folder),
      cmocka_unit_test(standard_input_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
