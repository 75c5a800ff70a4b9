/* idm audit: comparison of groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/common.h"

static const char usage[] = "usage: idm audit PROBLEM DATA... --by COLUMN -o RUN";

/* --- the request ---------------------------------------------------------------------------- */

/* --dynamics: a keyword, or a run of `idm learn --draws`. */
static idm_status take_dynamics(cli_call *call, idm_audit_request *r)
{
  const char *dynamics_option = cli_text(call, "dynamics");
  if (!dynamics_option) return IDM_OK;
  idm_request *request = &r->request;
  request->dynamics[0] = request->dynamics_hash[0] = '\0';
  r->dynamics = strcmp(dynamics_option, idm_audit_dynamics_name(IDM_AUDIT_BY_GROUP)) == 0
                    ? IDM_AUDIT_BY_GROUP
                    : IDM_AUDIT_POOLED;
  if (idm_audit_dynamics_name(r->dynamics) &&
      strcmp(dynamics_option, idm_audit_dynamics_name(r->dynamics)) == 0)
    return IDM_OK;
  if (strlen(dynamics_option) >= sizeof request->dynamics)
    return idm_fail(&call->error, IDM_USAGE, "--dynamics: the name is too long");
  snprintf(request->dynamics, sizeof request->dynamics, "%s", dynamics_option);
  return idm_request_hash_dynamics(request, &call->error);
}

/* Options that are specific to audits; they replace the values of a config.yaml. */
static idm_status take_groups(cli_call *call, idm_audit_request *r)
{
  const char *const *group;
  const size_t groups = cli_list(call, "group", &group);
  const char *by = cli_text(call, "by");
  const char *pool = cli_text(call, "pool");
  idm_status status = IDM_OK;
  if (by || groups) r->by[0] = r->group[0] = '\0';
  if (by && !by[0])
    status = idm_fail(&call->error, IDM_USAGE, "--by is empty; expected the name of a column");
  if (by && status == IDM_OK)
    status = idm_key_set_text(idm_key_find(idm_audit_keys(), "by"), r, by, &call->error);
  for (size_t i = 0; i < groups && status == IDM_OK; i++)
    status = idm_texts_add(r->group, sizeof r->group, group[i], &call->error);
  if (cli_given(call, "people")) r->people = true;
  if (pool && status == IDM_OK)
    status = idm_key_set_text(idm_key_find(idm_audit_keys(), "pool"), r, pool, &call->error);
  if (status == IDM_OK) status = take_dynamics(call, r);
  return status == IDM_OK ? idm_audit_request_check(r, &call->error) : status;
}

static idm_status take_options(cli_call *call, idm_problem *problem, idm_audit_request *r)
{
  const char *free_blocks = cli_text(call, "free");
  cli_take_keys(call, &r->request);
  idm_status status = take_groups(call, r);
  if (status == IDM_OK && free_blocks)
    status = idm_problem_set_free(problem, free_blocks, &call->error);
  if (status != IDM_OK) return status;
  status = idm_request_check(problem, &r->request, &call->error);
  /* The file is valid, so this error is due to an option. */
  return status == IDM_INPUT && free_blocks ? IDM_USAGE : status;
}

static idm_status make_request(cli_call *call, idm_problem **ret_problem, idm_audit_request *r)
{
  if (call->arguments < 1) return idm_fail(&call->error, IDM_USAGE, "%s", usage);
  for (int i = 0; i < call->arguments; i++)
    if (strcmp(call->argument[i], "-") == 0)
      return idm_fail(&call->error, IDM_USAGE,
                      "a run names its problem and its log; expected files, not standard input");
  const char *path = call->argument[0];
  idm_request *request = &r->request;
  idm_status status = idm_audit_request_read(path, ret_problem, r, &call->notes, &call->error);
  if (status == IDM_OK) status = cli_override(call, *ret_problem);
  if (status != IDM_OK) return status;
  cli_note_unread_settings(call, *ret_problem);
  char paths[sizeof request->data];
  status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK && cli_given(call, "where"))
    status = cli_where(call, request->where, sizeof request->where);
  if (status == IDM_OK && !paths[0] && !request->data[0])
    status = idm_fail(&call->error, IDM_USAGE, "%s", usage);
  if (status == IDM_OK)
    status = idm_request_set_inputs(request, path, paths[0] ? paths : NULL, &call->error);
  return status == IDM_OK ? take_options(call, *ret_problem, r) : status;
}

/* Request of an audit that is resumed. */
static idm_status resume_request(cli_call *call, const char *run, idm_problem **ret_problem,
                                 idm_audit_request *r)
{
  idm_status status = cli_check_unchanged(call, run);
  if (status == IDM_OK && call->arguments)
    status = idm_fail(
        &call->error, IDM_USAGE,
        "--resume continues with the problem and the log in %s/config.yaml; expected no other",
        run);
  if (status == IDM_OK && !idm_run_is(run))
    status = idm_fail(&call->error, IDM_USAGE, "there is no run at '%s' to resume", run);
  return status == IDM_OK
             ? idm_audit_read_unfinished(run, ret_problem, r, &call->notes, &call->error)
             : status;
}

/* --- the table ------------------------------------------------------------------------------ */

static int name_width(const idm_audit *a)
{
  int width = 8;
  char display_name[128];
  for (size_t i = 0; i < a->groups; i++) {
    const int length = cli_width(a->group[i].name);
    width = length > width ? length : width;
  }
  for (size_t j = 0; j < a->coordinate.count; j++) {
    const int length =
        cli_width(idm_quantity_label(a->coordinate.name[j], display_name, sizeof display_name));
    width = length > width ? length : width;
  }
  return width < 40 ? width : 40;
}

/* Smallest range that contains the intervals of all groups. */
static cli_span interval_range(const idm_audit *a, size_t j)
{
  cli_span range = {.low = INFINITY, .high = -INFINITY};
  for (size_t i = 0; i < a->groups; i++) {
    const idm_diagnosis *d = &a->group[i].number[j].diagnosis;
    if (isfinite(d->q05)) range.low = fmin(range.low, d->q05);
    if (isfinite(d->q95)) range.high = fmax(range.high, d->q95);
  }
  return range;
}

/* Print the ends of an interval in two columns of 10; "depends on dynamics" if both are NaN. */
static void print_interval_ends(FILE *out, double low, double high)
{
  if (isnan(low) && isnan(high))
    fprintf(out, " %21s", "depends on dynamics");
  else
    fprintf(out, " %10.4g %10.4g", low, high);
}

static void print_groups(const cli_call *call, const idm_audit *a, size_t j, int width)
{
  enum { columns = 24 };
  const cli_span range = interval_range(a, j);
  char display_name[128];
  cli_print_left(stdout, width,
                 idm_quantity_label(a->coordinate.name[j], display_name, sizeof display_name));
  printf(" %7s %9s %10s %10s %10s %10s %9s %6s %6s %6s  %s\n", a->people ? "agents" : "cases",
         "decisions", "mean", "sd", "5%", "95%", "ess_bulk", "r_hat", "contr.", "prior",
         cli_is_graphical(call) ? "90 % interval             verdict" : "verdict");
  for (size_t i = 0; i < a->groups; i++) {
    const idm_audit_group *g = &a->group[i];
    const idm_audit_quantity *n = &g->number[j];
    cli_print_truncated(stdout, width, g->name);
    char drawn[CLI_SPARKLINE];
    const cli_span span = {n->diagnosis.q05, n->diagnosis.mean, n->diagnosis.q95};
    printf(" %7zu %9llu %10.4g %10.3g", a->people ? g->agents : g->trajectories,
           (unsigned long long)g->decisions, n->diagnosis.mean, n->diagnosis.sd);
    print_interval_ends(stdout, n->diagnosis.q05, n->diagnosis.q95);
    printf(" %9.0f %6.3f %6.2f %6.2f  %s%s%s\n", n->diagnosis.ess_bulk, n->diagnosis.rhat,
           n->contraction, n->prior_shift,
           cli_is_graphical(call) ? cli_interval(&span, range.low, range.high, columns, drawn) : "",
           cli_is_graphical(call) ? "  " : "", idm_group_verdict_text(g));
  }
}

/* Print a number; NaN as a dash. */
static void print_cell(FILE *out, int width, int digits, double value)
{
  if (isnan(value))
    fprintf(out, " %*s", width, "-");
  else
    fprintf(out, " %*.*f", width, digits, value);
}

static void print_contrasts(const idm_audit *a, size_t j, int width)
{
  const bool holm = a->pool == IDM_POOL_HOLM;
  printf("\n%-*s   %-*s %10s %10s %10s %10s %9s%s%s\n", width, "contrast", width, "against", "mean",
         "sd", "2.5%", "97.5%", "P(>0)", holm ? "   p_holm" : "",
         a->dynamics == IDM_AUDIT_BY_GROUP ? "     pooled      shift" : "");
  for (size_t i = 0; i < a->contrasts; i++) {
    const idm_audit_contrast *c = &a->contrast[i];
    const idm_audit_quantity *n = &c->number[j];
    cli_print_truncated(stdout, width, c->group);
    printf(" - ");
    cli_print_truncated(stdout, width, c->against);
    printf(" %10.4g %10.3g", n->diagnosis.mean, n->diagnosis.sd);
    print_interval_ends(stdout, n->low, n->high);
    print_cell(stdout, 9, 4, n->positive);
    if (holm) print_cell(stdout, 8, 4, n->adjusted);
    if (c->pooled) printf(" %10.4g %10.4g", c->pooled[j].diagnosis.mean, n->shift);
    const char *word = idm_contrast_verdict_text(c);
    const bool plain = strcmp(word, idm_audit_verdict_name(IDM_AUDIT_IDENTIFIED)) == 0;
    printf("%s%s%s\n", n->significant ? " *" : "", plain ? "" : "  ", plain ? "" : word);
  }
  printf("\n");
}

static void print_sd_row(const char *where, const idm_audit_quantity *n, const char *end)
{
  if (isnan(n->low))
    printf("agents differ within %s: sd %.3g, depends on dynamics%s", where, n->diagnosis.mean,
           end);
  else
    printf("agents differ within %s: sd %.3g [%.3g, %.3g]%s", where, n->diagnosis.mean, n->low,
           n->high, end);
}

/* Variation of agents around their group: one line, or one line per group. */
static void print_within(const idm_audit *a, size_t j)
{
  if (a->within) print_sd_row("groups", &a->within[j], "\n\n");
  for (size_t i = 0; i < a->groups && a->group[i].within; i++) {
    print_sd_row(a->group[i].name, &a->group[i].within[j], i + 1 < a->groups ? "\n" : "\n\n");
  }
}

static void print_table(const cli_call *call, const idm_audit *a)
{
  const int width = name_width(a);
  for (size_t j = 0; j < a->coordinate.count; j++) {
    print_groups(call, a, j, width);
    print_contrasts(a, j, width);
    print_within(a, j);
  }
  for (size_t i = 0; i < a->sides; i++)
    for (size_t k = 0; k < a->group[i].reasons.count; k++)
      printf("%s: %s.\n", a->group[i].name, a->group[i].reasons.text[k]);
  for (size_t i = 0; i < a->failures.count; i++) printf("FAILS: %s.\n", a->failures.text[i]);
  for (size_t i = 0; i < a->remarks.count; i++) printf("- %s.\n", a->remarks.text[i]);
}

/* --- the command ---------------------------------------------------------------------------- */

static idm_status read_log(cli_call *call, const idm_audit_request *r, idm_problem *problem,
                           idm_data **ret_data)
{
  idm_labels columns;
  const idm_status status = idm_audit_columns(r, &columns, &call->error);
  if (status != IDM_OK) return status;
  const idm_csv_options options = {.keep = (const char *const *)columns.name,
                                   .keep_count = columns.count,
                                   .columns = idm_inverse_find("bayes")->columns};
  const idm_status read =
      cli_read_log_with(call, r->request.data, r->request.where, problem, options, ret_data);
  idm_labels_destroy(&columns);
  return read;
}

/* Last line of the verdict of `idm check`; its reasons are in the table. */
static idm_status print_verdict(cli_call *call, const char *folder)
{
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  idm_status status = idm_run_read(folder, NULL, NULL, &posterior, NULL, &call->error);
  if (status == IDM_OK) status = idm_run_assess(folder, posterior, &assessment, &call->error);
  if (status == IDM_OK) cli_print_verdict_line(stdout, assessment);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status audit(cli_call *call, const char *folder, idm_problem *problem,
                        const idm_audit_request *request, cli_progress *progress)
{
  idm_data *data = NULL;
  idm_audit *found = NULL;
  idm_status status = read_log(call, request, problem, &data);
  if (status == IDM_OK && request->by[0]) status = cli_note_equal_labels(call, data, request->by);
  if (status == IDM_OK) {
    idm_assess_note_inert(problem, &call->notes);
    cli_print_notes(call);
    cli_catch_signals();
    status = idm_run_audit(folder,
                           cli_given(call, "resume")      ? IDM_RUN_RESUME
                           : cli_given(call, "overwrite") ? IDM_RUN_OVERWRITE
                                                          : IDM_RUN_NEW,
                           problem, data, request, cli_progress_watch, progress, &found,
                           &call->notes, &call->error);
    cli_progress_end(progress);
  }
  if (status == IDM_OK && cli_given(call, "json"))
    status = idm_audit_write_summary(found, "-", &call->error);
  else if (status == IDM_OK) {
    print_table(call, found);
    if (idm_run_complete(folder)) status = print_verdict(call, folder);
    printf("%s: run.nc, summary.json, config.yaml (%.1f s)\n", folder,
           idm_seconds() - progress->started);
  }
  idm_audit_destroy(found);
  idm_data_destroy(data);
  return status;
}

static idm_status run(cli_call *call)
{
  const char *folder = cli_text(call, "output");
  idm_problem *problem = NULL;
  cli_progress progress;
  const bool resume = cli_given(call, "resume");
  cli_progress_begin(&progress, "interrupted; saving the results so far");
  if (resume && cli_given(call, "overwrite"))
    return idm_fail(&call->error, IDM_USAGE, "--resume and --overwrite exclude each other");
  if (!folder)
    return idm_fail(&call->error, IDM_USAGE, "no folder for the audit is given (-o RUN); %s",
                    usage);
  idm_audit_request *request = malloc(sizeof *request);
  if (!request) return idm_fail_memory(&call->error);
  idm_status status = resume ? resume_request(call, folder, &problem, request)
                             : make_request(call, &problem, request);
  const bool complete = resume && status == IDM_OK && idm_run_complete(folder);
  if (cli_given(call, "threads"))
    request->request.settings.threads = (int)cli_integer(call, "threads");
  if (complete)
    idm_notes_add(&call->notes, "the audit is complete: there is nothing to resume");
  else if (status == IDM_OK)
    status = audit(call, folder, problem, request, &progress);
  idm_problem_destroy(problem);
  free(request);
  return status;
}

static const cli_option options[] = {
    CLI_RUN_OPTION,
    {.name = "by",
     .kind = CLI_TEXT,
     .problem = true,
     .value = "COLUMN",
     .help = "one group per level of this column of the log"},
    {.name = "group",
     .kind = CLI_LIST,
     .problem = true,
     .value = "PREDICATE",
     .help = "one group: the trajectories that satisfy it, as in \"AGE>75\", \"APOE4!=0\", "
             "\"PTGENDER=Female\"; several times for several groups, which may overlap"},
    {.name = "pool",
     .kind = CLI_TEXT,
     .problem = true,
     .value = "HOW",
     .help = "partial (default): groups have a common distribution; none: groups are independent; "
             "holm: independent, with adjusted contrasts"},
    {.name = "dynamics",
     .kind = CLI_TEXT,
     .problem = true,
     .value = "WHOSE",
     .help = "pooled (default): the problem's dynamics for every group; group: also the dynamics "
             "learnt from each group's own log, with both contrasts; RUN, of `idm learn --draws`: "
             "parameters and dynamics are drawn jointly if it was learnt from the same log, else "
             "parameters are drawn given some draws of its dynamics"},
    CLI_KEY_OPTION("dynamics-draws"),
    {.name = "people",
     .kind = CLI_FLAG,
     .problem = true,
     .help = "nest agents in groups: the parameters of an agent are normally distributed around "
             "those of its group"},
    CLI_FREE_OPTION("what to infer instead of the file's `free`"),
    CLI_KEY_OPTION("chains"),
    CLI_KEY_OPTION("draws"),
    CLI_KEY_OPTION("warmup"),
    CLI_KEY_OPTION("thin"),
    CLI_KEY_OPTION("depth"),
    CLI_KEY_OPTION("seed"),
    CLI_KEY_OPTION("checks"),
    CLI_THREADS_OPTION("threads (default: the processors); never changes a draw"),
    {.name = "overwrite", .kind = CLI_FLAG, .help = "replace a run"},
    {.name = "resume", .kind = CLI_FLAG, .help = "continue an interrupted audit"},
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PLAIN_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_audit = {
    .name = "audit",
    .arguments = "PROBLEM DATA... --by COLUMN | --group PREDICATE... -o RUN",
    .min_arguments = 0,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Compare how groups decide",
    .description =
        "Infers the free parameters of every group of trajectories and of all, with partial\n"
        "pooling, and the contrasts between groups: for a column each pair (beyond 10 groups\n"
        "each against the rest), for predicates each against the rest, given the other\n"
        "predicates. The verdict of a group is whether its data identify it, the prior\n"
        "determines it, or it failed. Writes a folder with run.nc, summary.json and config.yaml,\n"
        "which the same command accepts as a problem. Ctrl-C saves the results so far;\n"
        "--resume -o RUN continues, bit for bit as if never stopped.",
    .options = options,
    .run = run,
    .keys = idm_request_keys,
    .defaults = cli_request_defaults,
};
