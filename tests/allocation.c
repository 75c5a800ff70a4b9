/* Memory that runs out: every main path is run with its first, second, third... allocation failing
 * until it gets through. Each failure is reported as such, leaves nothing allocated and no file.
 *
 * Linked with --wrap, so that calls from the library and from here (not those that libc or libyaml
 * make for themselves) come by:
 *
 *   wrappers   the count, the failure asked for, the ledger of live blocks
 *   driver     a path against every failure
 *   paths      files, data, planning, behaviour, writing, chains and fits */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "invert/people/people_support.h"
#include "support.h"

/* --- wrappers ---------------------------------------------------------------------------------
 */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
/* Weak: where --wrap=free was forgotten, the first test says so. */
__attribute__((weak)) void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

enum { ledger_size = 1 << 20 };

static struct {
  size_t calls;   /* allocations since armed */
  size_t fail_at; /* the one that fails; 0: none */
  bool forever;   /* and all after it */
  bool failed;    /* one did */
  size_t live;    /* blocks in the ledger */
  void *block[ledger_size];
} heap;

static size_t slot_of(const void *block)
{
  size_t slot = ((size_t)block >> 4) * 2654435761u % ledger_size;
  while (heap.block[slot] && heap.block[slot] != block) slot = (slot + 1) % ledger_size;
  return slot;
}

static void *enter(void *block)
{
  if (!block) return NULL;
  if (heap.live > ledger_size / 2) abort();
  heap.block[slot_of(block)] = block;
  heap.live++;
  return block;
}

/* Blocks that others allocated are not ours to count. */
static void leave(const void *block)
{
  size_t hole = slot_of(block);
  if (!block || !heap.block[hole]) return;
  heap.block[hole] = NULL;
  heap.live--;
  /* Close the gap: what probing had pushed past it is entered again. */
  for (size_t i = (hole + 1) % ledger_size; heap.block[i]; i = (i + 1) % ledger_size) {
    void *moved = heap.block[i];
    heap.block[i] = NULL;
    heap.block[slot_of(moved)] = moved;
  }
}

static bool refuse(void)
{
  heap.calls++;
  if (!heap.fail_at || heap.calls < heap.fail_at) return false;
  if (heap.calls > heap.fail_at && !heap.forever) return false;
  heap.failed = true;
  return true;
}

void *__wrap_malloc(size_t size)
{
  return refuse() ? NULL : enter(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
  return refuse() ? NULL : enter(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return refuse() ? NULL : enter(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size)
{
  if (refuse()) return NULL;
  leave(block);
  return enter(__real_realloc(block, size));
}

void __wrap_free(void *block)
{
  leave(block);
  __real_free(block);
}

static void arm(size_t fail_at, bool forever)
{
  heap.calls = 0;
  heap.failed = false;
  heap.forever = forever;
  heap.fail_at = fail_at;
}

static bool disarm(void)
{
  heap.fail_at = 0;
  return heap.failed;
}

/* --- driver -----------------------------------------------------------------------------------
 */

/* A path makes, uses and destroys; it returns the first status that is not IDM_OK. */
typedef idm_status (*path)(const void *argument, idm_error *error);

typedef struct expectation {
  idm_status end;   /* what the path comes to with all the memory it wants */
  bool may_recover; /* a lost note is no error, nor is an array that could not be made smaller */
} expectation;

/* Where results are written; it must be empty whenever a path failed. The log is read only. */
static char folder[64];
static char log_file[72];

static size_t files_in_folder(void)
{
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  size_t count = 0;
  for (const struct dirent *entry; (entry = readdir(directory));) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

static const char *in_folder(const char *name)
{
  static char text[128];
  snprintf(text, sizeof text, "%s/%s", folder, name);
  return text;
}

static void check_failure(const char *name, size_t i, idm_status status, const idm_error *error,
                          expectation expected)
{
  if (status == IDM_OK && expected.may_recover) return;
  /* What was wrong with the input may have been found before memory ran out. */
  if (status != expected.end || status == IDM_OK)
    if (status != IDM_MEMORY && status != IDM_SYSTEM)
      fail_msg("%s: allocation %zu failed, and the status is %s (%s)", name, i,
               idm_status_name(status), error->message);
  if (error->status != status || !error->message[0])
    fail_msg("%s: allocation %zu failed with %s, and the error says %s '%s'", name, i,
             idm_status_name(status), idm_status_name(error->status), error->message);
}

static void fail_one_by_one(const char *name, path run, const void *argument, bool forever,
                            expectation expected, size_t stride)
{
  size_t i = 1;
  for (bool failed = true; failed; i += stride * IDM_STRIDE) {
    const size_t live = heap.live;
    idm_error error = {0};
    arm(i, forever);
    const idm_status status = run(argument, &error);
    failed = disarm();
    if (heap.live != live)
      fail_msg("%s: allocation %zu failed, and %ld blocks are left", name, i,
               (long)heap.live - (long)live);
    if (status != IDM_OK && files_in_folder())
      fail_msg("%s: allocation %zu failed, and a file is left in %s", name, i, folder);
    if (failed)
      check_failure(name, i, status, &error, expected);
    else if (status != expected.end)
      fail_msg("%s: %s (%s), expected %s", name, idm_status_name(status), error.message,
               idm_status_name(expected.end));
    if (status == IDM_OK) remove(in_folder("out"));
  }
  if (i < 1 + 2 * stride) fail_msg("%s: no allocation was seen", name);
  print_message("  %-40s %5zu allocations\n", name, heap.calls);
}

static void every_failure(const char *name, path run, const void *argument, expectation expected)
{
  fail_one_by_one(name, run, argument, true, expected, 1);
  fail_one_by_one(name, run, argument, false, expected, 1);
}

static const expectation succeeds = {.end = IDM_OK};
static const expectation recovers = {.end = IDM_OK, .may_recover = true};
static const expectation refuses = {.end = IDM_INPUT};

/* A result beside an error, or neither. */
#define assert_result(status, pointer) assert_true(((status) == IDM_OK) == ((pointer) != NULL))
/* No address that a call could leave there by chance. */
#define GARBAGE ((void *)&heap)

static int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/idm-allocation-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(log_file, sizeof log_file, "%s.csv", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  remove(in_folder("out"));
  remove(log_file);
  return rmdir(folder);
}

/* By pointer: a compiler knows that malloc changes no variable, and here it does. */
static void test_wrappers_are_linked(void **state)
{
  (void)state;
  void *(*volatile allocate)(size_t) = malloc;
  void *(*volatile reallocate)(void *, size_t) = realloc;
  void (*volatile release)(void *) = free;
  const size_t live = heap.live;
  arm(2, false);
  void *block = allocate(8);
  assert_non_null(block);
  assert_int_equal(heap.live, live + 1);
  assert_null(reallocate(block, 1 << 16));
  assert_true(disarm());
  assert_int_equal(heap.calls, 2);
  release(block);
  assert_int_equal(heap.live, live);
}

/* --- files: YAML, .POMDP, overrides -----------------------------------------------------------
 */

static idm_status parse_yaml(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_status status =
      idm_problem_parse_yaml(argument, strlen(argument), "p.yaml", &problem, NULL, error);
  assert_result(status, problem);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  idm_problem_destroy(problem);
  return status;
}

static idm_status parse_pomdp(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_status status =
      idm_problem_parse_pomdp(argument, strlen(argument), "p.POMDP", &problem, NULL, error);
  assert_result(status, problem);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  idm_problem_destroy(problem);
  return status;
}

/* Notes may be lost to a failed allocation, the problem may not. */
static idm_status read_with_notes(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_notes notes = {0};
  const idm_status status = idm_problem_read(argument, &problem, &notes, error);
  assert_result(status, problem);
  idm_problem_destroy(problem);
  idm_notes_clear(&notes);
  return status;
}

static const char every_key[] =
    "name: every key\n"
    "states: [a, b, c]\n"
    "actions: [stay, go, stop]\n"
    "observations: {p: [n, y], q: 2}\n"
    "start: [0.5, 0.25, 0.25]\n"
    "discount: 1\n"
    "horizon: 3\n"
    "terminal: [stop]\n"
    "ends: [go]\n"
    "transition: {stay: identity, \"*\": uniform}\n"
    "observation:\n"
    "  stay: {p: &m [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], q: uniform}\n"
    "  \"*\": {p: *m, q: *m}\n"
    "utility: {stay: -cost, go: [1, gain, 0], stop: 0}\n"
    "models: [{weight: 2}, {observation: uniform, transition: {\"*\": identity}}]\n"
    "action_prior: [1, 2, 3]\n"
    "belief_prior: {dirichlet: [1, 2, 3]}\n"
    "certainty: {above: 0.9, award: 2.5}\n"
    "agent: {planner: bounded-rational, alpha: -1, beta: inf, eta: 0.5, resolution: 5}\n"
    "free: {alpha: {scale: inverse, prior: {normal: [0, 2]}},\n"
    "  action_prior: {prior: {dirichlet: [1, 1, 1]}}, beta: {}}\n"
    "data: {agent: who, trajectory: [who, case], time: day, action: did, observation: saw,\n"
    "  derive: {did: {recode: x, labels: {1: stay}, missing: stop, else: go},\n"
    "    p: {cut: y, at: [1], labels: [n, y]}, q: {cut: y, sd: [0], labels: ['0', '1']},\n"
    "    saw: {product: [p, q], missing: n/0}, after: {next: p}},\n"
    "  rules: [{require: x}, {keep: x>0}, {drop: x=9}, {duplicates: first},\n"
    "    {truncate: {column: day, every: 1}}, {ends: {column: x, in: [1, 2]}}, {least: 2}]}\n";

static void test_yaml(void **state)
{
  (void)state;
  for (size_t i = 0; idm_example_name(i); i++)
    every_failure(idm_example_name(i), parse_yaml, idm_example_text(i), succeeds);
  every_failure("every key", parse_yaml, every_key, succeeds);
  every_failure("a second document", parse_yaml, "a: 1\n---\nb: 1\n", refuses);
  every_failure("a label that is unknown", parse_yaml,
                "states: [a, b]\nactions: [go]\nobservations: [x]\ntransition: {og: identity}\n",
                refuses);
  every_failure("problem_read with notes", read_with_notes, "example:diag", recovers);
}

static void test_pomdp(void **state)
{
  (void)state;
  static const char good[] = "discount: 0.9 values: cost\n"
                             "states: left right middle\nactions: 2\nobservations: hear-l hear-r\n"
                             "start include: left right\n"
                             "T: 0 identity\nT: 1 uniform\n"
                             "O: 0\n0.8 0.2\n0.2 0.8\n0.5 0.5\nO: 1 : * uniform\n"
                             "R: 0 : * : * : * 1\nR: 1 : left : * : hear-l 5\n"
                             "R: 1 : right : left\n1 2\nR: 1 : middle\n1 2\n3 4\n5 6\n";
  every_failure("every section", parse_pomdp, good, succeeds);
  every_failure("a name that is unknown", parse_pomdp,
                "discount: 0.9 states: 2 actions: 2 observations: 2 T: x identity", refuses);
}

static idm_status assign(const void *argument, idm_error *error)
{
  idm_problem *problem;
  idm_status status = idm_problem_read("example:diag", &problem, NULL, error);
  if (status == IDM_OK) status = idm_problem_set(problem, argument, error);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  idm_problem_destroy(problem);
  return status;
}

static void test_set(void **state)
{
  (void)state;
  static const char *const assignments[] = {
      "alpha=-0.0",         "utility.monitor.healthy=2", "utility.monitor=-2", "start=diseased",
      "start=[0.25, 0.75]", "planner=maximum-entropy",   "horizon=3"};
  for (size_t i = 0; i < sizeof assignments / sizeof assignments[0]; i++)
    every_failure(assignments[i], assign, assignments[i], succeeds);
}

/* --- data -------------------------------------------------------------------------------------
 */

typedef struct table {
  const idm_problem *problem;
  const char *csv;
  size_t rows;
} table;

static const char diag_log[] =
    "agent,trajectory,step,action,observation,available,belief.healthy,belief.diseased,site\n"
    "ann,1,1,monitor,positive,,0.25,0.75,\"north, upper\"\n"
    "ann,1,2,monitor,,monitor|declare_healthy,,,north\n"
    "ann,1,3,,positive,,,,south\n"
    "ann,1,4,declare_diseased,,declare_diseased,,,south\n"
    "bob,2,1,monitor,negative,,,,\n"
    "bob,2,2,declare_healthy,,,,,north\n";

static const char beads_log[] =
    "subject,run,trial,step,action,obs,draw_cost,reward_high,reward_low,reward_wrong\n"
    "s,1,1,1,draw,high,1,70,10,0\n"
    "s,1,1,2,bet_high,,1,70,10,0\n"
    "s,1,2,1,bet_low,none,2,10,70,0\n";

/* Everything is derived, every rule takes something, and a condition does. */
static const char coded_log[] = "RID,M,AGE,CDRSB,Hippocampus,DX\n"
                                "1,0,60,0,5000,NL\n"
                                "1,6,60,0.5,,NL\n"
                                "1,18,60,1,7000,NL\n"
                                "2,0,80,3,8000,MCI\n"
                                "3,6,60,0,6000,NL\n"
                                "3,0,60,,6000,NL\n"
                                "4,0,60,0,,NL to MCI\n";

static idm_status parse_csv(const void *argument, idm_error *error)
{
  const table *t = argument;
  const char *const keep[] = {"site"};
  const char *const where[] = {"AGE<75"};
  const idm_csv_options options = {.keep = keep,
                                   .keep_count = strstr(t->csv, "site") ? 1 : 0,
                                   .where = where,
                                   .where_count = strstr(t->csv, "AGE") ? 1 : 0};
  idm_data *data = GARBAGE;
  idm_prefix_tree *tree = NULL;
  idm_status status =
      idm_data_parse_csv(t->csv, strlen(t->csv), "d.csv", t->problem, &options, &data, NULL, error);
  assert_result(status, data);
  if (status == IDM_OK) status = idm_data_validate(data, t->problem->setting, error);
  if (status == IDM_OK) {
    idm_lint *lint = GARBAGE;
    status = idm_lint_create(t->problem, data, NULL, &lint, error);
    assert_result(status, lint);
    idm_lint_destroy(lint);
  }
  if (status == IDM_OK) {
    assert_int_equal(data->rows, t->rows);
    tree = GARBAGE;
    status = idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, error);
    assert_result(status, tree);
  }
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  return status;
}

static void test_csv(void **state)
{
  (void)state;
  idm_problem *diag = support_diag(0.5, 1.25, 0.001);
  idm_problem *beads;
  idm_problem *adni;
  check(idm_problem_read("example:beads", &beads, NULL, &support_error));
  check(idm_problem_read("../examples/adni/adni.yaml", &adni, NULL, &support_error));
  every_failure("visits", parse_csv, &(table){adni, coded_log, 3}, recovers);
  every_failure("diagnoses", parse_csv, &(table){diag, diag_log, 6}, recovers);
  every_failure("beads", parse_csv, &(table){beads, beads_log, 3}, recovers);
  every_failure(
      "a label that is unknown", parse_csv,
      &(table){diag, "agent,action,observation\n1,monitor,positive\n1,wait,negative\n", 0},
      refuses);
  idm_problem_destroy(diag);
  idm_problem_destroy(beads);
  idm_problem_destroy(adni);
}

/* --- planning ---------------------------------------------------------------------------------
 */

static idm_status use_plan(const idm_problem *problem, idm_workspace *workspace, idm_error *error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  double decision[16];
  idm_forward forward;
  assert_true(n.actions <= sizeof decision / sizeof decision[0]);
  idm_plan_value(workspace, 0, problem->setting->start);
  idm_plan_policy(workspace, 0, problem->setting->start, decision, NULL);
  if (!idm_workspace_planner(workspace)->lattice) return IDM_OK;
  return idm_plan_forward(workspace, 0, &forward, NULL, error);
}

static idm_status plan(const void *argument, idm_error *error)
{
  const idm_problem *problem = argument;
  idm_workspace *workspace = GARBAGE;
  idm_status status =
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, error);
  assert_result(status, workspace);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, error);
  if (status == IDM_OK) status = use_plan(problem, workspace, error);
  idm_workspace_destroy(workspace);
  return status;
}

static void test_plan(void **state)
{
  (void)state;
  static const char *const cases[][2] = {{"example:diag", "alpha=0.5"},
                                         {"example:diag", "recognition=sampled"},
                                         {"example:diag", "surprise=observation"},
                                         {"example:diag", "evaluate=lookahead"},
                                         {"example:diag", "horizon=3"},
                                         {"example:diag", "alpha=0"},
                                         {"example:clinic", "resolution=7"},
                                         {"example:tiger", "eta=0.5"},
                                         {"example:maintenance", "alpha=0.5"},
                                         {"example:maintenance", "horizon=4"}};
  char name[80];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem;
    check(idm_problem_read(cases[i][0], &problem, NULL, &support_error));
    support_assign(problem, cases[i][1]);
    snprintf(name, sizeof name, "%s %s", cases[i][0], cases[i][1]);
    every_failure(name, plan, problem, succeeds);
    idm_problem_destroy(problem);
  }
}

static void plan_by_name(const char *planner)
{
  idm_problem *problem = support_diag(0.5, -2, 0);
  char assignment[64];
  snprintf(assignment, sizeof assignment, "planner=%s", planner);
  support_assign(problem, assignment);
  /* A rule's weights come from elsewhere: one number an action and a coordinate. */
  if (strcmp(planner, "decision-rule") == 0)
    check(idm_theta_resize(problem->theta, IDM_WEIGHTS, 3 * 3, 1, &support_error));
  every_failure(planner, plan, problem, succeeds);
  idm_problem_destroy(problem);
}

static void test_every_planner(void **state)
{
  (void)state;
  for (size_t i = 0; idm_planner_at(i); i++) plan_by_name(idm_planner_at(i)->name);
}

static idm_status plan_capacity(const void *argument, idm_error *error)
{
  const idm_problem *problem = argument;
  idm_theta *theta = NULL;
  idm_workspace *workspace = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, error);
  assert_result(status, theta);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, error);
  if (status == IDM_OK)
    status = idm_plan_capacity(theta, &problem->agent, NULL, workspace, NULL, NULL, error);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

static void test_capacity(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  support_assign(problem, "decision_capacity=0.5");
  every_failure("decision_capacity", plan_capacity, problem, succeeds);
  idm_problem_destroy(problem);
}

/* A workspace is made once; a chain plans in it thousands of times. */
static void test_planning_allocates_nothing(void **state)
{
  (void)state;
  static const char *const settings[] = {"alpha=0.5", "alpha=0", "horizon=5",
                                         "planner=maximum-entropy"};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    support_assign(problem, settings[i]);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_theta_set_scalar(problem->theta, IDM_BETA, 2);
    arm(0, false);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    idm_plan_value(workspace, 0, problem->setting->start);
    double decision[3];
    idm_plan_policy(workspace, 0, problem->setting->start, decision, NULL);
    if (heap.calls) fail_msg("%s: planning made %zu allocations", settings[i], heap.calls);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* New dynamics rebuild the geometry: a failure in there must leave a workspace that still plans. */
static void test_new_dynamics(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_theta *other;
  check(idm_theta_copy(problem->theta, &other, &support_error));
  for (size_t i = 0; i < other->block[IDM_EMISSION].size; i += 2) {
    double *row = other->block[IDM_EMISSION].value + i;
    row[0] = 0.5 + 0.9 * (row[0] - 0.5);
    row[1] = 1 - row[0];
  }
  idm_workspace *fresh;
  check(idm_workspace_create(problem->setting, other, &problem->agent, &fresh, &support_error));
  check(idm_plan(other, NULL, fresh, NULL, &support_error));
  const double expected = idm_plan_value(fresh, 0, problem->setting->start);
  idm_workspace_destroy(fresh);
  bool failed = true;
  for (size_t i = 1; failed; i++) {
    idm_workspace *workspace = support_plan(problem, NULL);
    const double before = idm_plan_value(workspace, 0, problem->setting->start);
    arm(i, true);
    const idm_status status = idm_plan(other, NULL, workspace, NULL, &support_error);
    failed = disarm();
    assert_int_equal(status, failed ? IDM_MEMORY : IDM_OK);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    assert_near(idm_plan_value(workspace, 0, problem->setting->start), before, 1e-8);
    check(idm_plan(other, NULL, workspace, NULL, &support_error));
    assert_near(idm_plan_value(workspace, 0, problem->setting->start), expected, 1e-8);
    idm_workspace_destroy(workspace);
  }
  idm_theta_destroy(other);
  idm_problem_destroy(problem);
}

/* --- behaviour --------------------------------------------------------------------------------
 */

typedef struct planned {
  const idm_problem *problem;
  const idm_workspace *workspace;
  const idm_data *data;
} planned;

static idm_status simulate(const void *argument, idm_error *error)
{
  const planned *p = argument;
  idm_data *data = GARBAGE;
  idm_status status =
      idm_simulate(p->problem->setting, idm_workspace_behavior(p->workspace),
                   &(idm_simulation){.trajectories = 40, .steps = 30, .seed = 3}, &data, error);
  assert_result(status, data);
  if (status == IDM_OK) status = idm_data_write_csv(data, p->problem, in_folder("out"), error);
  idm_data_destroy(data);
  return status;
}

static idm_status score(const void *argument, idm_error *error)
{
  const planned *p = argument;
  idm_prefix_tree *tree = GARBAGE;
  idm_scorer *scorer = NULL;
  idm_score total;
  idm_status status = idm_prefix_tree_create(p->data, IDM_SCOPE_TRAJECTORY, &tree, error);
  assert_result(status, tree);
  if (status == IDM_OK) {
    scorer = GARBAGE;
    status = idm_scorer_create(p->data, tree, &scorer, error);
    assert_result(status, scorer);
  }
  if (status == IDM_OK)
    status = idm_scorer_run(scorer, idm_workspace_behavior(p->workspace), &total, error);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  return status;
}

static void test_behavior(void **state)
{
  (void)state;
  static const char *const recognitions[] = {"recognition=mean", "recognition=sampled"};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    support_assign(problem, recognitions[i]);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data = support_data(problem, diag_log);
    const planned p = {problem, workspace, data};
    char name[80];
    snprintf(name, sizeof name, "simulate, %s", recognitions[i]);
    every_failure(name, simulate, &p, succeeds);
    snprintf(name, sizeof name, "score, %s", recognitions[i]);
    every_failure(name, score, &p, succeeds);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static idm_status bind(const void *argument, idm_error *error)
{
  const idm_data *data = argument;
  idm_problem *problem;
  idm_status status = idm_problem_read("example:beads", &problem, NULL, error);
  if (status == IDM_OK)
    status = idm_problem_bind(problem, data->variants, data->variant_value, error);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  if (status == IDM_OK) status = plan(problem, error);
  idm_problem_destroy(problem);
  return status;
}

static void test_variants(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  idm_data *data = support_data(problem, beads_log);
  every_failure("utilities from columns", bind, data, succeeds);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- writing, copying, comparing --------------------------------------------------------------
 */

static idm_status write_yaml(const void *argument, idm_error *error)
{
  return idm_problem_write_yaml(argument, in_folder("out"), NULL, error);
}

static idm_status write_pomdp(const void *argument, idm_error *error)
{
  return idm_problem_write_pomdp(argument, in_folder("out"), NULL, error);
}

static void test_write(void **state)
{
  (void)state;
  for (size_t i = 0; idm_example_name(i); i++) {
    idm_problem *problem;
    char name[80];
    snprintf(name, sizeof name, "example:%s", idm_example_name(i));
    check(idm_problem_read(name, &problem, NULL, &support_error));
    snprintf(name, sizeof name, "write %s", idm_example_name(i));
    every_failure(name, write_yaml, problem, succeeds);
    const bool expressible = !problem->setting->horizon && !problem->setting->emits_before;
    snprintf(name, sizeof name, "write %s as .POMDP", idm_example_name(i));
    if (expressible) every_failure(name, write_pomdp, problem, succeeds);
    idm_problem_destroy(problem);
  }
}

static idm_status copy(const void *argument, idm_error *error)
{
  idm_theta *theta = GARBAGE;
  const idm_status status = idm_theta_copy(argument, &theta, error);
  assert_result(status, theta);
  idm_theta_destroy(theta);
  return status;
}

static idm_status create(const void *argument, idm_error *error)
{
  const idm_sizes *sizes = argument;
  idm_problem *problem = GARBAGE;
  const idm_status status = idm_problem_create(*sizes, 2, true, true, &problem, error);
  assert_result(status, problem);
  idm_problem_destroy(problem);
  return status;
}

static idm_status resize(const void *argument, idm_error *error)
{
  idm_theta *theta;
  idm_status status = idm_theta_copy(argument, &theta, error);
  if (status == IDM_OK) status = idm_theta_resize(theta, IDM_WEIGHTS, 9, 2, error);
  if (status == IDM_OK) status = idm_theta_resize(theta, IDM_WEIGHTS, 0, 1, error);
  idm_theta_destroy(theta);
  return status;
}

static void test_copy_and_compare(void **state)
{
  (void)state;
  idm_problem *a = support_diag(0.5, 1.25, 0.001);
  idm_problem *b = support_diag(0.5, 1.25, 0.002);
  char difference[200];
  every_failure("problem_create", create, &(idm_sizes){2, 3, 4}, succeeds);
  every_failure("theta_copy", copy, a->theta, succeeds);
  every_failure("theta_resize", resize, a->theta, succeeds);
  arm(1, true);
  const bool same = idm_problem_compare(a, a, 0, difference, sizeof difference);
  const bool differ = !idm_problem_compare(a, b, 0, difference, sizeof difference);
  disarm();
  assert_true(same && differ);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

static idm_status init(const void *argument, idm_error *error)
{
  return idm_init_write(argument, in_folder("out"), NULL, error);
}

static idm_status read_log(const void *argument, idm_error *error)
{
  char *text = GARBAGE;
  size_t length;
  const idm_status status = idm_file_read(argument, 1 << 24, &text, &length, error);
  assert_result(status, text);
  free(text);
  return status;
}

static void test_init(void **state)
{
  (void)state;
  FILE *stream = fopen(log_file, "wb");
  assert_non_null(stream);
  fputs(diag_log, stream);
  /* Long enough for buffers to grow. */
  for (int i = 0; i < 9000; i++) fprintf(stream, "agent%d,%d,1,monitor,negative,,,,x\n", i, i);
  assert_int_equal(fclose(stream), 0);
  every_failure("init", init, log_file, succeeds);
  every_failure("file_read", read_log, log_file, succeeds);
}

/* --- chains and fits --------------------------------------------------------------------------
 */

static idm_status normal(void *context, const double *x, double *log_density, double *opt_gradient,
                         idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  *log_density = -0.5 * (x[0] * x[0] + x[1] * x[1]);
  for (size_t i = 0; opt_gradient && i < 2; i++) opt_gradient[i] = -x[i];
  return IDM_OK;
}

static idm_status run_chains(const void *argument, idm_error *error)
{
  const idm_target target[] = {{2, true, NULL, normal}, {2, true, NULL, normal}};
  idm_chains_settings settings = {.sampler = argument, .chains = 2, .draws = 4, .threads = 1};
  idm_sampler_settings_default(&settings.kernel);
  settings.kernel.warmup = 4;
  idm_chains *chains = GARBAGE;
  char *bytes = NULL;
  size_t length;
  idm_status status = idm_chains_create(&settings, 2, &chains, error);
  assert_result(status, chains);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++)
    status = idm_chains_start(chains, i, &target[i], (double[]){0.1, 0.2}, NULL, NULL, error);
  if (status == IDM_OK) status = idm_chains_run(chains, target, NULL, NULL, error);
  if (status == IDM_OK) {
    bytes = GARBAGE;
    status = idm_chains_save(chains, 1, &bytes, &length, error);
    assert_result(status, bytes);
  }
  if (status == IDM_OK) status = idm_chains_load(chains, 1, bytes, length, error);
  free(bytes);
  idm_chains_destroy(chains);
  return status;
}

static void test_chains(void **state)
{
  (void)state;
  for (size_t i = 0; idm_sampler_at(i); i++)
    every_failure(idm_sampler_at(i)->name, run_chains, idm_sampler_at(i), succeeds);
}

static idm_status parameters(const void *argument, idm_error *error)
{
  idm_parameters *p = GARBAGE;
  const idm_status status = idm_parameters_create(argument, &p, error);
  assert_result(status, p);
  idm_parameters_destroy(p);
  return status;
}

static void test_parameters(void **state)
{
  (void)state;
  static const char *const free_texts[] = {
      "alpha, beta, eta", "{utility: {entries: {cost: [monitor], d: [declare_healthy.healthy]}}}",
      "model_prior, action_prior, discount", "utility"};
  for (size_t i = 0; i < sizeof free_texts / sizeof free_texts[0]; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    check(idm_problem_free(problem, free_texts[i], &support_error));
    every_failure(free_texts[i], parameters, problem, succeeds);
    idm_problem_destroy(problem);
  }
}

static idm_status free_blocks(const void *argument, idm_error *error)
{
  idm_problem *problem = NULL;
  idm_status status = idm_problem_read("example:diag", &problem, NULL, error);
  if (status == IDM_OK) status = idm_problem_free(problem, argument, error);
  idm_problem_destroy(problem);
  return status;
}

static void test_free_blocks(void **state)
{
  (void)state;
  every_failure("--free alpha,eta", free_blocks, "alpha,eta", succeeds);
  every_failure("--free, entries", free_blocks,
                "{utility: {entries: {cost: [monitor], d: [declare_healthy.healthy]}}}", succeeds);
}

/* What a fit needs, and what it made. */
typedef struct fitted {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
  const idm_inverse *inverse;
} fitted;

/* As small as a fit can be. */
static idm_fit_settings few(const char *sampler)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  snprintf(settings.sampler, sizeof settings.sampler, "%s", sampler);
  settings.chains = 1;
  settings.draws = 4;
  settings.warmup = 2;
  settings.threads = 1;
  settings.prior_draws = 2;
  return settings;
}

static fitted open_fit(void)
{
  fitted f = {.problem = support_diag(0.5, 1.25, 0.001)};
  support_assign(f.problem, "resolution=9");
  check(idm_problem_free(f.problem, "eta", &support_error));
  f.data = support_data(f.problem, "agent,trajectory,action,observation\n"
                                   "a,1,monitor,positive\na,1,declare_diseased,\n"
                                   "a,2,monitor,negative\na,2,declare_healthy,\n");
  const idm_fit_settings settings = few("metropolis");
  check(idm_inverse_find("bayes")->fit(f.problem, f.data, &settings, NULL, &f.posterior, NULL,
                                       &support_error));
  check(idm_assess_draws(f.posterior, &f.assessment, &support_error));
  return f;
}

static void close_fit(fitted *f)
{
  idm_assessment_destroy(f->assessment);
  idm_posterior_destroy(f->posterior);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static idm_status fit(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  const idm_fit_settings settings = few("");
  idm_posterior *posterior = GARBAGE;
  const idm_status status =
      f->inverse->fit(f->problem, f->data, &settings, NULL, &posterior, NULL, error);
  assert_result(status, posterior);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status assess(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_assessment *assessment = GARBAGE;
  const idm_status status = idm_assess(f->problem, f->data, f->posterior, 1, &assessment, error);
  assert_result(status, assessment);
  idm_assessment_destroy(assessment);
  return status;
}

/* People and their population. */
typedef struct peopled {
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
} peopled;

static idm_status fit_people(const void *argument, idm_error *error)
{
  const peopled *p = argument;
  const idm_fit_settings settings = few("");
  idm_people *people = GARBAGE;
  const idm_status status =
      idm_people_fit(p->problem, p->data, p->design, &settings, NULL, &people, NULL, error);
  assert_result(status, people);
  idm_people_destroy(people);
  return status;
}

static void test_people(void **state)
{
  (void)state;
  peopled p = {.problem = support_diag(0.5, 1.25, 0.001)};
  support_assign(p.problem, "resolution=9");
  check(idm_problem_free(p.problem, "alpha", &support_error));
  p.data = support_data(p.problem, "agent,trajectory,action,observation\n"
                                   "a,1,monitor,positive\na,1,declare_diseased,\n"
                                   "b,2,monitor,negative\nb,2,declare_healthy,\n");
  p.design = support_design(p.data, 1, 0, (const double[]){0}, (const double[]){1});
  every_failure("people", fit_people, &p, succeeds);
  idm_design_destroy(p.design);
  idm_data_destroy(p.data);
  idm_problem_destroy(p.problem);
}

static void test_fit(void **state)
{
  (void)state;
  fitted f = open_fit();
  for (size_t i = 0; idm_inverse_at(i); i++) {
    f.inverse = idm_inverse_at(i);
    every_failure(f.inverse->name, fit, &f, succeeds);
  }
  every_failure("assess", assess, &f, recovers);
  close_fit(&f);
}

static idm_status write_summary(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  return idm_summary_write(f->posterior, f->assessment, NULL, in_folder("out"), error);
}

/* Failures and remarks are notes: one may be lost. */
static idm_status read_summary(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_assessment *own = calloc(1, sizeof *own);
  if (!own) return idm_fail_memory(error);
  const idm_status status = idm_summary_read(log_file, f->posterior, own, error);
  idm_assessment_destroy(own);
  return status;
}

static idm_status write_request(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_request request;
  idm_request_default(&request);
  return idm_request_write(f->problem, &request, in_folder("out"), error);
}

static idm_status read_request(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_request request;
  const idm_status status = idm_request_read(argument, &problem, &request, NULL, error);
  assert_result(status, problem);
  idm_problem_destroy(problem);
  return status;
}

static void test_files_of_a_run(void **state)
{
  (void)state;
  fitted f = open_fit();
  idm_request request;
  idm_request_default(&request);
  idm_notes_add(&f.assessment->remarks, "a remark");
  json_set_alloc_funcs(malloc, free); /* ours, by the name that the linker gave them */
  every_failure("write summary", write_summary, &f, succeeds);
  json_set_alloc_funcs(__real_malloc, __real_free); /* a reader takes want of memory for bad JSON */
  check(idm_summary_write(f.posterior, f.assessment, NULL, log_file, &support_error));
  every_failure("read summary", read_summary, &f, recovers);
  every_failure("write request", write_request, &f, succeeds);
  char config[96];
  snprintf(config, sizeof config, "%s.yaml", folder);
  check(idm_request_write(f.problem, &request, config, &support_error));
  every_failure("read request", read_request, config, succeeds);
  remove(config);
  close_fit(&f);
}

/* Whether a file of a run was there and has been removed. */
static bool remove_of(const char *run, const char *file)
{
  char name[256];
  snprintf(name, sizeof name, "%s/%s", run, file);
  return remove(name) == 0;
}

/* A run into a folder of its own, read back, and removed. One that failed once there were draws has
 * kept them. */
static idm_status run_fit(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  char run[128];
  idm_request request;
  idm_run found;
  idm_problem *problem = NULL;
  idm_posterior *posterior = NULL;
  idm_request_default(&request);
  request.settings = few("");
  snprintf(run, sizeof run, "%s", in_folder("out"));
  idm_status status =
      idm_run_fit(run, IDM_RUN_NEW, f->problem, f->data, &request, NULL, NULL, &found, NULL, error);
  const bool whole = status == IDM_OK;
  if (whole) status = idm_run_read(run, &problem, NULL, &posterior, NULL, error);
  if (idm_run_is(run)) {
    assert_true(remove_of(run, "config.yaml"));
    assert_true(remove_of(run, "checkpoint") ? !whole : true);
    assert_true(remove_of(run, "run.nc") ? true : !whole);
    assert_int_equal(remove_of(run, "summary.json"), whole);
    assert_int_equal(rmdir(run), 0);
  }
  idm_run_clear(&found);
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
  return status;
}

static void test_run(void **state)
{
  (void)state;
  fitted f = open_fit();
  /* Its parts are tried above: one in eleven here. */
  fail_one_by_one("run", run_fit, &f, true, recovers, 11);
  fail_one_by_one("run", run_fit, &f, false, recovers, 13);
  close_fit(&f);
}

static idm_status calibrate(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_calibration_settings settings;
  idm_calibration_settings_default(&settings);
  settings.replications = 1;
  settings.trajectories = 2;
  settings.steps = 3;
  settings.threads = 1;
  settings.fit = few("");
  settings.fit.draws = 500; /* enough at the first try */
  settings.fit.warmup = 100;
  idm_calibration *calibration = GARBAGE;
  idm_status status = idm_calibration_create(f->problem, &settings, &calibration, error);
  assert_result(status, calibration);
  if (status == IDM_OK) status = idm_calibration_run(calibration, NULL, NULL, error);
  idm_calibration_destroy(calibration);
  return status;
}

static void test_calibration(void **state)
{
  (void)state;
  fitted f = open_fit();
  /* Each takes a while, and the parts are tried above: one in seven here. */
  fail_one_by_one("calibration", calibrate, &f, true, recovers, 7);
  fail_one_by_one("calibration", calibrate, &f, false, recovers, 5);
  close_fit(&f);
}

/* --- people --------------------------------------------------------------------------------- */

static const char people_log[] = "agent,trajectory,action,observation,drug,dose\n"
                                 "ann,1,declare_healthy,,no,low\n"
                                 "ann,2,declare_diseased,,no,high\n"
                                 "bob,3,declare_healthy,,yes,low\n"
                                 "cyd,4,declare_healthy,,yes,low\n"
                                 "dan,5,declare_healthy,,no,high\n";

static idm_data *people_data(const idm_problem *problem)
{
  const char *const keep[] = {"drug", "dose"};
  const idm_csv_options options = {.keep = keep, .keep_count = 2};
  idm_data *data = NULL;
  check(idm_data_parse_csv(people_log, strlen(people_log), "d.csv", problem, &options, &data, NULL,
                           &support_error));
  return data;
}

static idm_status design(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  const char *const model[] = {"eta ~ C(drug, ref=yes) + dose"};
  const idm_design_request request = {"agent", model, 1};
  idm_labels columns = {0};
  idm_design *made = NULL;
  idm_status status = idm_design_columns(f->problem, &request, &columns, error);
  if (status == IDM_OK) {
    made = GARBAGE;
    status = idm_design_create(f->problem, f->data, &request, &made, NULL, error);
    assert_result(status, made);
  }
  idm_labels_destroy(&columns);
  idm_design_destroy(made);
  return status;
}

/* A run of people by one column or another, read back and removed. */
static idm_status run_people(const fitted *f, const char *by, const char *each, idm_error *error)
{
  char run[128];
  idm_request request;
  idm_run found;
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  idm_request_default(&request);
  request.settings = few("");
  snprintf(request.by, sizeof request.by, "%s", by);
  snprintf(request.each, sizeof request.each, "%s", each);
  snprintf(run, sizeof run, "%s", in_folder("out"));
  idm_status status =
      idm_run_fit(run, IDM_RUN_NEW, f->problem, f->data, &request, NULL, NULL, &found, NULL, error);
  if (status == IDM_OK) status = idm_run_read(run, NULL, NULL, &posterior, NULL, error);
  if (status == IDM_OK) status = idm_run_assess(run, posterior, &assessment, error);
  if (idm_run_is(run)) {
    (void)remove_of(run, "config.yaml");
    (void)remove_of(run, "run.nc");
    (void)remove_of(run, "summary.json");
    assert_int_equal(rmdir(run), 0);
  }
  idm_run_clear(&found);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status run_population(const void *argument, idm_error *error)
{
  return run_people(argument, "agent", "", error);
}

static idm_status run_each(const void *argument, idm_error *error)
{
  return run_people(argument, "", "agent", error);
}

static void test_runs_of_people(void **state)
{
  (void)state;
  fitted f = open_fit();
  idm_data_destroy(f.data);
  f.data = people_data(f.problem);
  every_failure("a design", design, &f, recovers);
  fail_one_by_one("a population", run_population, &f, true, recovers, 61);
  fail_one_by_one("people one by one", run_each, &f, true, recovers, 997);
  close_fit(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_yaml),
      cmocka_unit_test(test_pomdp),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_plan),
      cmocka_unit_test(test_every_planner),
      cmocka_unit_test(test_capacity),
      cmocka_unit_test(test_planning_allocates_nothing),
      cmocka_unit_test(test_new_dynamics),
      cmocka_unit_test(test_behavior),
      cmocka_unit_test(test_variants),
      cmocka_unit_test(test_write),
      cmocka_unit_test(test_copy_and_compare),
      cmocka_unit_test(test_init),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_free_blocks),
      cmocka_unit_test(test_fit),
      cmocka_unit_test(test_people),
      cmocka_unit_test(test_files_of_a_run),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_runs_of_people),
      cmocka_unit_test(test_calibration),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
