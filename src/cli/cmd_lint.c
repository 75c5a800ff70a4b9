/* idm lint: accounting of the rows of a log, and comparison of its frequencies with the problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

/* Maximum number of faults and of impossible observations that are printed. */
enum { max_faults = 20 };

/* Data and results of the command. */
typedef struct log_report {
  idm_problem *problem;
  idm_data *data;
  idm_lint *lint;
  idm_read_errors faults;
} log_report;

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *count_json(size_t count)
{
  return json_integer((json_int_t)count);
}

static json_t *counts_json(idm_log_size count)
{
  json_t *object = json_object();
  idm_json_set(&object, "rows", count_json(count.rows));
  idm_json_set(&object, "trajectories", count_json(count.trajectories));
  idm_json_set(&object, "agents", count_json(count.agents));
  return object;
}

static json_t *dropped_json(const idm_log_counts *log_counts)
{
  json_t *array = json_array();
  for (size_t i = 0; i < log_counts->reasons; i++) {
    json_t *object = counts_json(log_counts->dropped[i].lost);
    idm_json_set(&object, "reason", idm_json_text(log_counts->dropped[i].reason));
    idm_json_set(&object, "missing", count_json(log_counts->dropped[i].missing));
    idm_json_append(&array, object);
  }
  return array;
}

static json_t *cuts_json(const idm_problem *problem, const idm_log_counts *log_counts)
{
  json_t *all = json_object();
  for (size_t i = 0; i < log_counts->cuts; i++) {
    const idm_breakpoints *cut = &log_counts->cut[i];
    const idm_derived *derived = &problem->columns.derived[cut->derived];
    json_t *object = json_object();
    idm_json_set(&object, "column", json_string(derived->source.name[0]));
    idm_json_set(&object, "rows", count_json(cut->rows));
    idm_json_set(&object, "mean", idm_json_number(cut->mean));
    idm_json_set(&object, "sd", idm_json_number(cut->sd));
    idm_json_set(&object, "at", idm_json_numbers(cut->at, cut->count));
    idm_json_set(&all, derived->name, object);
  }
  return all;
}

static json_t *labels_json(const idm_labels *labels, const size_t *count)
{
  json_t *object = json_object();
  for (size_t i = 0; i < labels->count; i++)
    idm_json_set(&object, labels->name[i], count_json(count[i]));
  return object;
}

static json_t *lengths_json(const idm_lint *lint)
{
  json_t *object = json_object();
  idm_json_set(&object, "shortest", count_json(lint->shortest));
  idm_json_set(&object, "median", idm_json_number(lint->median));
  idm_json_set(&object, "mean", idm_json_number(lint->mean));
  idm_json_set(&object, "longest", count_json(lint->longest));
  idm_json_set(&object, "single", count_json(lint->single));
  return object;
}

/* Rows of counts as shares, with their totals and the probabilities of the file. */
static json_t *matrix_json(const idm_labels *rows, const double *counts, const double *opt_file,
                           size_t width)
{
  json_t *object = json_object();
  for (size_t i = 0; i < rows->count; i++) {
    json_t *row = json_object();
    json_t *share = json_array();
    double total = 0;
    for (size_t k = 0; k < width; k++) total += counts[i * width + k];
    for (size_t k = 0; k < width; k++)
      idm_json_append(&share, idm_json_number(total > 0 ? counts[i * width + k] / total : NAN));
    idm_json_set(&row, "rows", idm_json_number(total));
    idm_json_set(&row, "log", share);
    if (opt_file) idm_json_set(&row, "file", idm_json_numbers(opt_file + i * width, width));
    idm_json_set(&object, rows->name[i], row);
  }
  return object;
}

static json_t *by_action_json(const idm_setting *setting, const double *counts,
                              const double *opt_file, size_t width)
{
  json_t *object = json_object();
  const size_t size = setting->states.count * width;
  for (size_t u = 0; u < setting->actions.count; u++)
    idm_json_set(&object, setting->actions.name[u],
                 matrix_json(&setting->states, counts + u * size,
                             opt_file ? opt_file + u * size : NULL, width));
  return object;
}

/* Observations after each action, and frequencies predicted by the filter on the same histories. */
static json_t *observed_json(const idm_setting *setting, const idm_lint *lint)
{
  json_t *object = json_object();
  const size_t n = lint->sizes.observations;
  for (size_t u = 0; u < lint->sizes.actions; u++) {
    json_t *row = json_object();
    idm_json_set(&row, "log", idm_json_numbers(lint->observed + u * n, n));
    idm_json_set(&row, "expected", idm_json_numbers(lint->expected + u * n, n));
    idm_json_set(&object, setting->actions.name[u], row);
  }
  return object;
}

static const char *state_source(const idm_lint *lint)
{
  return lint->states == IDM_LINT_COLUMN ? "column" : "posterior";
}

static json_t *impossible_json(const log_report *l)
{
  const idm_data *data = l->data;
  const idm_setting *setting = l->problem->setting;
  json_t *array = json_array();
  for (size_t i = 0; i < l->lint->impossibles; i++) {
    const size_t row = l->lint->impossible[i];
    json_t *object = json_object();
    idm_json_set(&object, "file", idm_json_text(idm_data_file(data, row)));
    idm_json_set(&object, "line", count_json(data->line[row]));
    idm_json_set(&object, "action", json_string(setting->actions.name[data->action[row]]));
    idm_json_set(&object, "observation",
                 json_string(setting->observations.name[data->observation[row]]));
    idm_json_set(&object, "models", count_json(l->lint->allowed[i]));
    idm_json_append(&array, object);
  }
  return array;
}

static json_t *faults_json(const idm_read_errors *faults)
{
  json_t *array = json_array();
  for (size_t i = 0; i < faults->count && i < faults->room; i++) {
    json_t *object = json_object();
    idm_json_set(&object, "file", idm_json_text(faults->shown[i].file));
    idm_json_set(&object, "line", json_integer(faults->shown[i].line));
    idm_json_set(&object, "column", json_integer(faults->shown[i].column));
    idm_json_set(&object, "message", idm_json_text(faults->shown[i].message));
    idm_json_append(&array, object);
  }
  return array;
}

static json_t *report_json(const log_report *l)
{
  const idm_log_counts *log_counts = l->data->log_counts;
  const idm_setting *setting = l->problem->setting;
  const idm_lint *lint = l->lint;
  json_t *object = json_object();
  idm_json_set(&object, "read", counts_json(log_counts->read));
  idm_json_set(&object, "dropped", dropped_json(log_counts));
  idm_json_set(&object, "kept", counts_json(log_counts->kept));
  idm_json_set(&object, "closing", count_json(log_counts->final_rows));
  idm_json_set(&object, "parted", count_json(log_counts->truncated));
  idm_json_set(&object, "unsorted", count_json(log_counts->unsorted));
  idm_json_set(&object, "cuts", cuts_json(l->problem, log_counts));
  idm_json_set(&object, "actions", labels_json(&setting->actions, lint->action));
  idm_json_set(&object, "observations", labels_json(&setting->observations, lint->observation));
  json_t *missing = json_object();
  idm_json_set(&missing, "action", count_json(lint->action_missing));
  idm_json_set(&missing, "observation", count_json(lint->observation_missing));
  idm_json_set(&object, "missing", missing);
  idm_json_set(&object, "missed", count_json(lint->missed));
  idm_json_set(&object, "lengths", lengths_json(lint));
  if (lint->observed) {
    idm_json_set(&object, "seen", observed_json(setting, lint));
    idm_json_set(&object, "unfiltered", count_json(lint->unfiltered));
  }
  if (lint->states != IDM_LINT_NO_STATES) {
    idm_json_set(&object, "states", json_string(state_source(lint)));
    idm_json_set(&object, "stateless", count_json(lint->unlabelled));
    idm_json_set(&object, "start", idm_json_numbers(lint->start, lint->sizes.states));
    idm_json_set(
        &object, "transition",
        by_action_json(setting, lint->transition, setting->transition, lint->sizes.states));
    idm_json_set(
        &object, "observation",
        by_action_json(setting, lint->emission, setting->emission, lint->sizes.observations));
  }
  idm_json_set(&object, "impossible", impossible_json(l));
  return object;
}

/* --- the table ------------------------------------------------------------------------------ */

static void print_count(const char *what, idm_log_size count)
{
  cli_print_truncated(stdout, 40, what);
  printf(" %10zu %13zu %8zu\n", count.rows, count.trajectories, count.agents);
}

static void print_log_counts(const idm_problem *problem, const idm_log_counts *log_counts)
{
  printf("%-40s %10s %13s %8s\n", "", "rows", "trajectories", "agents");
  print_count("read", log_counts->read);
  for (size_t i = 0; i < log_counts->reasons; i++) {
    char what[400];
    snprintf(what, sizeof what, "- %s", log_counts->dropped[i].reason);
    print_count(what, log_counts->dropped[i].lost);
  }
  print_count("kept", log_counts->kept);
  if (log_counts->final_rows)
    printf("%zu of these rows only record the final state of a trajectory, without a decision\n",
           log_counts->final_rows);
  for (size_t i = 0; i < log_counts->reasons; i++)
    if (log_counts->dropped[i].missing)
      printf("%s: %zu of these rows have a missing value in the column\n",
             log_counts->dropped[i].reason, log_counts->dropped[i].missing);
  for (size_t i = 0; i < log_counts->cuts; i++) {
    const idm_breakpoints *cut = &log_counts->cut[i];
    printf("%s: cut at", problem->columns.derived[cut->derived].name);
    for (size_t k = 0; k < cut->count; k++) printf(" %.6g", cut->at[k]);
    printf(" (mean %.6g, sd %.6g of %zu rows)\n", cut->mean, cut->sd, cut->rows);
  }
}

static void print_remaining(const char *what, size_t count, size_t rows)
{
  if (count) printf("%-28s %10zu %8.4f\n", what, count, (double)count / (double)rows);
}

static void print_labels(const char *what, const idm_labels *labels, const size_t *count,
                         size_t missing, size_t rows)
{
  printf("\n%-28s %10s %8s\n", what, "rows", "share");
  for (size_t i = 0; i < labels->count; i++) {
    cli_print_truncated(stdout, 28, labels->name[i]);
    printf(" %10zu %8.4f\n", count[i], (double)count[i] / (double)rows);
  }
  print_remaining("(not recorded)", missing, rows);
}

/* Print a label followed by a space. */
static void print_label(int width, const char *label)
{
  cli_print_truncated(stdout, width, label);
  putchar(' ');
}

static void print_observed(const idm_setting *setting, const idm_lint *lint)
{
  const size_t n = lint->sizes.observations;
  printf("\n"
         "observations after each action: frequencies in the log, and predicted by the file's "
         "dynamics given the same histories\n");
  printf("%-20s %-28s %10s %10s\n", "action", "observation", "log", "file");
  for (size_t u = 0; u < lint->sizes.actions; u++) {
    double total = 0;
    for (size_t x = 0; x < n; x++) total += lint->observed[u * n + x];
    for (size_t x = 0; x < n && total > 0; x++)
      if (lint->observed[u * n + x] > 0 || lint->expected[u * n + x] > 0) {
        print_label(20, setting->actions.name[u]);
        print_label(28, setting->observations.name[x]);
        printf("%10.4f %10.4f\n", lint->observed[u * n + x] / total,
               lint->expected[u * n + x] / total);
      }
  }
}

/* Print the shares of a row of counts next to the probabilities of the file. */
static void print_row(const idm_setting *setting, size_t u, size_t s, const double *counts,
                      const double *opt_file, const idm_labels *columns)
{
  double total = 0;
  for (size_t k = 0; k < columns->count; k++) total += counts[k];
  for (size_t k = 0; k < columns->count && total > 0; k++) {
    if (!(counts[k] > 0) && !(opt_file && opt_file[k] > 0)) continue;
    print_label(20, setting->actions.name[u]);
    print_label(16, setting->states.name[s]);
    print_label(28, columns->name[k]);
    printf("%10.4f", counts[k] / total);
    if (opt_file)
      printf(" %10.4f\n", opt_file[k]);
    else
      printf(" %10s\n", "-");
  }
}

static void print_matrix(const char *from, const char *to, const idm_setting *setting,
                         const double *counts, const double *opt_file, const idm_labels *columns)
{
  const size_t states = setting->states.count;
  printf("\n%-20s %-16s %-28s %10s %10s\n", "action", from, to, "log", "file");
  for (size_t u = 0; u < setting->actions.count; u++)
    for (size_t s = 0; s < states; s++) {
      const size_t at = (u * states + s) * columns->count;
      print_row(setting, u, s, counts + at, opt_file ? opt_file + at : NULL, columns);
    }
}

static void print_states(const idm_setting *setting, const idm_lint *lint)
{
  if (lint->states == IDM_LINT_NO_STATES) return;
  printf("\nhidden states %s\n",
         lint->states == IDM_LINT_COLUMN
             ? "are those of the column"
             : "are expected under the file's own dynamics, given the whole trajectory");
  if (lint->unlabelled) printf("%zu rows have no label of a state\n", lint->unlabelled);
  print_matrix("state", "next state", setting, lint->transition, setting->transition,
               &setting->states);
  print_matrix(setting->emits_before ? "state" : "next state", "observation", setting,
               lint->emission, setting->emission, &setting->observations);
}

static void print_impossible(const log_report *l)
{
  const idm_setting *setting = l->problem->setting;
  const idm_lint *lint = l->lint;
  if (!lint->impossibles) return;
  printf("\n"
         "%zu observation%s with probability 0 under the file's dynamics\n",
         lint->impossibles, lint->impossibles == 1 ? "" : "s");
  for (size_t i = 0; i < lint->impossibles && i < max_faults; i++) {
    const size_t row = lint->impossible[i];
    printf("%s:%lu: '%s' after '%s'%s\n", idm_data_file(l->data, row),
           (unsigned long)l->data->line[row], setting->observations.name[l->data->observation[row]],
           setting->actions.name[l->data->action[row]],
           lint->allowed[i] ? "" : " (impossible in every model of the agent, too)");
  }
  if (lint->impossibles > max_faults)
    printf("... and %zu more (--json lists all)\n", lint->impossibles - max_faults);
}

/* Add notes on peculiarities of the log, with remedies. */
static void add_recommendations(cli_call *call, const log_report *l)
{
  const idm_log_counts *log_counts = l->data->log_counts;
  const idm_lint *lint = l->lint;
  idm_notes *notes = &call->notes;
  if (!log_counts->timed)
    idm_notes_add(notes, "there is no time column: rows are used in file order; if that is not the "
                         "order of time, map a column by data: {time: COLUMN}");
  if (log_counts->unsorted)
    idm_notes_add(notes, "%zu trajector%s with rows out of time order %s sorted",
                  log_counts->unsorted, log_counts->unsorted == 1 ? "y" : "ies",
                  log_counts->unsorted == 1 ? "was" : "were");
  if (lint->single)
    idm_notes_add(notes,
                  "%zu trajector%s of one row, with a first decision only; data: {rules: [{least: "
                  "2}]} excludes them",
                  lint->single, lint->single == 1 ? "y is" : "ies are");
  if (log_counts->mixed)
    idm_notes_add(notes,
                  "line ends are inconsistent (LF, CRLF, CR) in %zu file%s: all are read; a file "
                  "that was concatenated from others may contain a second header",
                  log_counts->mixed, log_counts->mixed == 1 ? "" : "s");
  if (log_counts->marked)
    idm_notes_add(notes, "%zu file%s with a byte order mark, which is skipped", log_counts->marked,
                  log_counts->marked == 1 ? " begins" : "s begin");
  if (lint->unfiltered)
    idm_notes_add(notes,
                  "%zu row%s after a missing action or an impossible observation %s excluded from "
                  "the frequencies that are compared with the file",
                  lint->unfiltered, lint->unfiltered == 1 ? "" : "s",
                  lint->unfiltered == 1 ? "is" : "are");
  if (lint->impossibles)
    idm_notes_add(notes, "correct the cells of impossible observations, or change the problem's "
                         "observation probabilities to allow them");
}

static void print_table(const log_report *l)
{
  const idm_setting *setting = l->problem->setting;
  const idm_lint *lint = l->lint;
  print_log_counts(l->problem, l->data->log_counts);
  print_labels("action", &setting->actions, lint->action, lint->action_missing, l->data->rows);
  print_remaining("(missed)", lint->missed, l->data->rows);
  print_labels("observation", &setting->observations, lint->observation, lint->observation_missing,
               l->data->rows);
  printf("\n"
         "rows per trajectory: %zu to %zu, median %g, mean %.4g; %zu of one row\n",
         lint->shortest, lint->longest, lint->median, lint->mean, lint->single);
  if (lint->observed) print_observed(setting, lint);
  print_states(setting, lint);
  print_impossible(l);
}

/* --- the command ---------------------------------------------------------------------------- */

/* Report all rows that cannot be read, not only the first. */
static idm_status report_faults(cli_call *call, const idm_read_errors *faults)
{
  if (cli_given(call, "json")) {
    json_t *object = json_object();
    idm_json_set(&object, "faults", faults_json(faults));
    idm_json_set(&object, "fault_count", count_json(faults->count));
    const idm_status status = cli_print_json(call, object);
    if (status != IDM_OK) return status;
  } else {
    char text[sizeof(idm_error)];
    for (size_t i = 0; i < faults->count && i < faults->room; i++)
      puts(idm_error_text(&faults->shown[i], text, sizeof text));
  }
  return idm_fail(&call->error, IDM_INPUT,
                  "%zu row%s cannot be read%s; no other checks are made before %s corrected",
                  faults->count, faults->count == 1 ? "" : "s",
                  faults->count > faults->room ? " (the first are shown)" : "",
                  faults->count == 1 ? "it is" : "they are");
}

static idm_status read_data(cli_call *call, log_report *l)
{
  char paths[sizeof((idm_request *)0)->data];
  char where[sizeof((idm_request *)0)->where];
  const char *state = cli_text(call, "state");
  idm_status status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK) status = cli_where(call, where, sizeof where);
  if (status != IDM_OK) return status;
  const idm_csv_options options = {
      .keep = &state, .keep_count = state != NULL, .opt_faults = &l->faults};
  return cli_read_log_with(call, paths, where, l->problem, options, &l->data);
}

static idm_status inspect_log(cli_call *call, log_report *l)
{
  idm_status status = cli_read_problem(call, call->argument[0], &l->problem);
  if (status == IDM_OK) status = read_data(call, l);
  if (status == IDM_INPUT && l->faults.count) return report_faults(call, &l->faults);
  if (status == IDM_OK)
    status = idm_lint_create(l->problem, l->data, cli_text(call, "state"), &l->lint, &call->error);
  if (status != IDM_OK) return status;
  add_recommendations(call, l);
  status = cli_note_equal_labels(call, l->data, NULL);
  if (status == IDM_OK) status = idm_data_note_duplicates(l->data, &call->notes, &call->error);
  if (status != IDM_OK) return status;
  if (cli_given(call, "json")) {
    json_t *object = report_json(l);
    idm_json_set(&object, "notes", idm_json_texts(&call->notes));
    status = cli_print_json(call, object);
  } else {
    print_table(l);
  }
  if (status == IDM_OK && l->lint->impossibles)
    status = idm_fail(&call->error, IDM_UNTRUSTED, "%zu observation%s impossible in this problem",
                      l->lint->impossibles, l->lint->impossibles == 1 ? " is" : "s are");
  return status;
}

static idm_status run(cli_call *call)
{
  log_report l = {.faults = {.room = max_faults}};
  l.faults.shown = calloc(max_faults, sizeof *l.faults.shown);
  const idm_status status = l.faults.shown ? inspect_log(call, &l) : idm_fail_memory(&call->error);
  free(l.faults.shown);
  idm_lint_destroy(l.lint);
  idm_data_destroy(l.data);
  idm_problem_destroy(l.problem);
  return status;
}

static const cli_option options[] = {
    {.name = "state",
     .kind = CLI_TEXT,
     .value = "COLUMN",
     .help = "a column with the hidden state before each action"},
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_lint = {
    .name = "lint",
    .arguments = "PROBLEM DATA...",
    .min_arguments = 2,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Check a log: rows read and dropped, and its agreement with the problem",
    .description =
        "Counts the rows, trajectories and agents that were read, dropped by each rule of data:\n"
        "rules: and each condition, and kept; the counts add up. Then labels and lengths, the\n"
        "observations after each action compared with the predictions of the file's dynamics\n"
        "given the same histories, and transitions and observations by hidden state compared with\n"
        "the file: states from a column (--state), or expected under the file's own dynamics. All\n"
        "rows that cannot be read are listed (exit code 3), and all observations with probability\n"
        "0 under the file's dynamics (exit code 1). Missed responses (data: {missed: ...}) are\n"
        "counted separately from actions.",
    .options = options,
    .run = run,
};
