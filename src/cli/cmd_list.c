/* idm list: planners, inverse planners, classes, plots, samplers, agents, parameters, columns,
 * checks, examples. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

/* With --json, print one object, such as {"planners": [...]}. */
static idm_status finish(cli_call *call, json_t *array)
{
  json_t *object = json_object();
  idm_json_set(&object, call->argument[0], array);
  if (cli_given(call, "json")) return cli_print_json(call, object);
  const bool whole = object;
  json_decref(object);
  return whole ? IDM_OK : idm_fail_memory(&call->error);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Column of a table: key of the entry, and heading. */
typedef struct heading {
  const char *key;
  const char *words;
} heading;

/* Join words by commas. Returns buffer. */
static const char *join(const json_t *words, char *buffer, size_t size)
{
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < json_array_size(words) && used < size; i++)
    used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "",
                             json_string_value(json_array_get(words, i)));
  return buffer;
}

/* Cell of a table: a text, or a joined list. */
static const char *cell(const json_t *entry, const char *key, char *buffer, size_t size)
{
  const json_t *value = json_object_get(entry, key);
  return json_is_string(value) ? json_string_value(value) : join(value, buffer, size);
}

static void print_markdown(const json_t *array, const heading *headings)
{
  char buffer[400];
  for (const heading *h = headings; h->key; h++) printf("| %s ", h->words);
  printf("|\n");
  for (const heading *h = headings; h->key; h++) printf("|---");
  printf("|\n");
  for (size_t i = 0; i < json_array_size(array); i++) {
    for (const heading *h = headings; h->key; h++)
      printf(h == headings ? "| `%s` " : "| %s ",
             cell(json_array_get(array, i), h->key, buffer, sizeof buffer));
    printf("|\n");
  }
}

/* One line per entry; columns are as wide as their longest cell, except the last. */
static void print_lines(const json_t *array, const heading *headings)
{
  char buffer[400];
  for (size_t i = 0; i < json_array_size(array); i++)
    for (const heading *h = headings; h->key; h++) {
      int width = 0;
      for (size_t k = 0; h[1].key && k < json_array_size(array); k++) {
        const int own =
            cli_width(cell(json_array_get(array, k), h->key, buffer, sizeof buffer)) + 1;
        width = own > width ? own : width;
      }
      cli_print_left(stdout, width, cell(json_array_get(array, i), h->key, buffer, sizeof buffer));
      putchar(h[1].key ? ' ' : '\n');
    }
}

/* Whether lines are printed, and not JSON or a table. */
static bool plain(cli_call *call)
{
  return !cli_given(call, "json") && !cli_given(call, "markdown");
}

/* Print the entries as a table with --markdown. */
static idm_status finish_list(cli_call *call, json_t *array, const heading *headings)
{
  if (cli_given(call, "markdown")) print_markdown(array, headings);
  return finish(call, array);
}

static idm_status finish_table(cli_call *call, json_t *array, const heading *headings)
{
  if (plain(call)) print_lines(array, headings);
  return finish_list(call, array, headings);
}

static void set_text(json_t **entry, const char *key, const char *text)
{
  idm_json_set(entry, key, json_string(text));
}

/* --- lists ----------------------------------------------------------------------------------- */

/* Blocks that a planner uses, including its own. */
static json_t *blocks_read_json(const idm_planner *planner)
{
  json_t *reads = json_array();
  for (size_t id = 0; id < IDM_BLOCK_COUNT; id++)
    if (idm_planner_reads(planner, id))
      idm_json_append(&reads, json_string(idm_block_name((idm_block_id)id)));
  for (size_t i = 0; i < planner->own_count; i++)
    idm_json_append(&reads, json_string(planner->own[i].name));
  return reads;
}

/* List the planners, or the agents of the paper's table. */
static idm_status list_planners(cli_call *call, bool agents)
{
  static const heading headings[] = {{"name", "planner"},
                                     {"row", "row of the paper's table"},
                                     {"summary", "what it is"},
                                     {"reads", "parameters that it reads"},
                                     {NULL, NULL}};
  json_t *array = json_array();
  for (size_t i = 0; idm_planner_at(i); i++) {
    const idm_planner *planner = idm_planner_at(i);
    if (planner->agent != agents) continue;
    json_t *object = cli_entry(planner->name, planner->summary);
    idm_json_set(&object, "row", json_string(planner->row));
    idm_json_set(&object, "reads", blocks_read_json(planner));
    idm_json_append(&array, object);
    if (plain(call)) printf("%-24s %-34s %s\n", planner->name, planner->row, planner->summary);
  }
  return finish_list(call, array, headings);
}

static idm_status list_inverses(cli_call *call)
{
  static const heading headings[] = {{"name", "inverse planner"},
                                     {"row", "row of the paper's table"},
                                     {"summary", "what it infers"},
                                     {"settings", "settings"},
                                     {NULL, NULL}};
  json_t *array = json_array();
  for (size_t i = 0; idm_inverse_at(i); i++) {
    const idm_inverse *inverse = idm_inverse_at(i);
    json_t *object = cli_entry(inverse->name, inverse->summary);
    json_t *settings = json_array();
    for (size_t k = 0; inverse->settings[k]; k++)
      idm_json_append(&settings, json_string(inverse->settings[k]));
    idm_json_set(&object, "row", json_string(inverse->row));
    idm_json_set(&object, "settings", settings);
    idm_json_append(&array, object);
    if (plain(call)) printf("%-24s %-34s %s\n", inverse->name, inverse->row, inverse->summary);
  }
  return finish_list(call, array, headings);
}

/* Print a line for each regulariser and each kind of policy. */
static idm_status show_regularisers(cli_call *call, const idm_problem *problem, double alpha)
{
  static const double scale[IDM_ZETA_COUNT] = {100, 0.02, 0.1, 1, 0.5};
  static const int units[] = {0, 8};
  idm_status status = IDM_OK;
  printf("\n%-9s  %5s  %-7s  %15s  %15s  %9s  %9s\n", "zeta", "scale", "policy", "margin",
         "matching", "sum off", "mu apart");
  for (int z = 0; z < IDM_ZETA_COUNT && status == IDM_OK; z++)
    for (size_t k = 0; k < 2 && status == IDM_OK; k++) {
      idm_proposition *p = NULL;
      status = idm_proposition_create_with(problem, alpha, (idm_zeta)z, scale[z], units[k], &p,
                                           &call->error);
      if (status == IDM_OK)
        printf("%-9s  %5g  %-7s  %15.10f  %15.10f  %9.1e  %9.1e\n", idm_zeta_name(p->zeta),
               p->lambda, units[k] ? "network" : "rule", p->margin, p->matching,
               fabs(p->margin + p->matching - p->constant), p->occupancy_difference);
      idm_proposition_destroy(p);
    }
  return status;
}

/* Print both sides of the paper's proposition for the built-in maintenance problem. */
static idm_status show_proposition(cli_call *call)
{
  static const double alpha = 0.5;
  static const double lambda = 100;
  char line[400];
  idm_problem *problem = NULL;
  idm_proposition *proposition = NULL;
  idm_status status = idm_problem_read("example:maintenance", &problem, &call->notes, &call->error);
  if (status == IDM_OK)
    status = idm_proposition_create(problem, alpha, lambda, &proposition, &call->error);
  for (size_t i = 0; status == IDM_OK && idm_proposition_line(proposition, i, line, sizeof line);
       i++)
    puts(line);
  if (status == IDM_OK) status = show_regularisers(call, problem, alpha);
  idm_proposition_destroy(proposition);
  idm_problem_destroy(problem);
  return status;
}

static idm_status list_plots(cli_call *call)
{
  static const heading headings[] = {{"name", "kind"}, {"summary", "what it shows"}, {NULL, NULL}};
  json_t *array = json_array();
  for (size_t i = 0; idm_plot_at(i); i++) {
    const idm_plot *plot = idm_plot_at(i);
    idm_json_append(&array, cli_entry(plot->name, plot->summary));
    if (plain(call)) printf("%-14s %s\n", plot->name, plot->summary);
  }
  return finish_list(call, array, headings);
}

/* The paper's table "Inverse Decision Modeling", with computed ticks. */
static idm_status list_classes(cli_call *call)
{
  static const heading headings[] = {{"name", "class"},
                                     {"summary", "question"},
                                     {"planner", "planner"},
                                     {"inverse", "inverse planner"},
                                     {"free", "free"},
                                     {"leaves_open", "leaves open"},
                                     {NULL, NULL}};
  static const char *const ticks[IDM_PROPERTY_COUNT] = {
      "tau_env", "omega_env", "upsilon", "tau,omega", "pi", "rho,sigma", "alpha", "beta", "eta"};
  if (cli_given(call, "proposition")) return show_proposition(call);
  json_t *array = json_array();
  const bool print = plain(call);
  if (print) {
    printf("%-12s", "class");
    for (size_t t = 0; t < IDM_PROPERTY_COUNT; t++) printf(" %s", ticks[t]);
    printf("  planner, inverse planner, free\n");
  }
  for (size_t i = 0; idm_class_at(i); i++) {
    const idm_class *of = idm_class_at(i);
    json_t *object = cli_entry(of->name, of->question);
    json_t *has = json_object();
    idm_json_set(&object, "row", json_string(of->row));
    idm_json_set(&object, "planner", json_string(of->planner));
    idm_json_set(&object, "inverse", json_string(of->inverse));
    idm_json_set(&object, "free", json_string(of->free));
    idm_json_set(&object, "leaves_open", json_string(of->open));
    if (print) printf("%-12s", of->name);
    for (size_t t = 0; t < IDM_PROPERTY_COUNT; t++) {
      const bool tick = idm_class_has_property(of, (idm_class_property)t);
      idm_json_set(&has, ticks[t], json_boolean(tick));
      if (print)
        printf(" %*s%*s", (int)(strlen(ticks[t]) + 1) / 2, tick ? "x" : "-",
               (int)strlen(ticks[t]) / 2, "");
    }
    idm_json_set(&object, "ticks", has);
    idm_json_append(&array, object);
    if (print) printf("  %s, %s, %s\n", of->planner, of->inverse, of->free);
  }
  return finish_list(call, array, headings);
}

static idm_status list_samplers(cli_call *call)
{
  static const heading headings[] = {
      {"name", "sampler"}, {"summary", "what it does"}, {NULL, NULL}};
  json_t *array = json_array();
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    idm_json_append(&array, cli_entry(sampler->name, sampler->summary));
    if (plain(call)) printf("%-24s %s\n", sampler->name, sampler->summary);
  }
  return finish_list(call, array, headings);
}

static idm_status list_examples(cli_call *call)
{
  static const heading headings[] = {{"name", "example"}, {NULL, NULL}};
  json_t *array = json_array();
  for (size_t i = 0; idm_example_name(i); i++) {
    idm_json_append(&array, cli_entry(idm_example_name(i), NULL));
    if (plain(call)) printf("example:%s\n", idm_example_name(i));
  }
  return finish_list(call, array, headings);
}

/* --- parameters ----------------------------------------------------------------------------- */

static const char *file_position(const idm_block_info *info, char *buffer, size_t size)
{
  static const char *const forms[] = {[IDM_FORM_NUMBER] = "a number",
                                      [IDM_FORM_WEIGHTS] = "weights by action",
                                      [IDM_FORM_FIELDS] = "by field",
                                      [IDM_FORM_DIRICHLET] = "{dirichlet: [...]}",
                                      [IDM_FORM_ROWS] = "numbers by action",
                                      [IDM_FORM_NUMBERS] = "numbers",
                                      [IDM_FORM_UTILITY] = "by action and state",
                                      [IDM_FORM_MODELS] = "of each"};
  const bool by_action = info->field && info->axis[1] == IDM_AXIS_ACTION;
  snprintf(buffer, size, "%s%s: %s%s%s%s", info->of_agent ? "agent." : "",
           info->form == IDM_FORM_MODELS ? "models" : info->name, forms[info->form],
           by_action ? " and action" : "", info->rows ? ", and by state a list of " : "",
           info->rows ? info->rows : "");
  return buffer;
}

static const char *support_of(const idm_block_info *info)
{
  static const char *const words[] = {[IDM_REAL] = "real",
                                      [IDM_NOT_NEGATIVE] = "at least 0",
                                      [IDM_POSITIVE] = "above 0",
                                      [IDM_FRACTION] = "0 to 1",
                                      [IDM_DISTRIBUTION] = "distribution"};
  if (info->infinite) return info->support == IDM_REAL ? "real, inf, -inf" : "at least 0, inf";
  return words[info->support];
}

static const char *default_text(const idm_block_info *info, char *buffer, size_t size)
{
  if (info->optional) return "absent";
  if (info->opaque && !info->count) return "of its planner";
  if (info->tied) return "the environment's";
  if (info->support == IDM_DISTRIBUTION) return "uniform";
  snprintf(buffer, size, "%g", info->default_number);
  size_t used = 0;
  for (const idm_field *field = info->field; field && field->name && used < size; field++)
    used += (size_t)snprintf(buffer + used, size - used, "%s%s %g", used ? ", " : "", field->name,
                             field->default_number);
  return buffer;
}

/* Planners that use a block, as text; if they are the majority, "all but" the others. */
static void set_readers(json_t **entry, json_t *readers, const json_t *non_readers)
{
  char names[400];
  char words[420];
  const bool most = json_array_size(non_readers) < json_array_size(readers);
  join(most ? non_readers : readers, names, sizeof names);
  snprintf(words, sizeof words, "%s%s", most ? (names[0] ? "all but " : "all") : "", names);
  set_text(entry, "read_by", words);
  idm_json_set(entry, "planners", readers);
}

/* JSON of a block of the shared table (opt_owner NULL) or of a planner's own block. */
static json_t *parameter_json(const idm_block_info *info, int id, const idm_planner *opt_owner)
{
  char buffer[160];
  json_t *entry = cli_entry(info->name, info->summary);
  json_t *readers = json_array();
  json_t *non_readers = json_array();
  for (size_t i = 0; idm_planner_at(i); i++) {
    const idm_planner *planner = idm_planner_at(i);
    const bool reads = opt_owner ? planner == opt_owner : idm_planner_reads(planner, (size_t)id);
    idm_json_append(reads ? &readers : &non_readers, json_string(planner->name));
  }
  set_text(&entry, "place", file_position(info, buffer, sizeof buffer));
  set_text(&entry, "support", support_of(info));
  set_text(&entry, "default", default_text(info, buffer, sizeof buffer));
  set_text(&entry, "scale", info->scales ? idm_scale_name(info->scale) : "never free");
  set_text(&entry, "prior", idm_block_prior_text(info, buffer, sizeof buffer));
  set_readers(&entry, readers, non_readers);
  json_decref(non_readers);
  return entry;
}

static idm_status list_parameters(cli_call *call)
{
  static const heading headings[] = {
      {"name", "parameter"}, {"summary", "what it is"}, {"place", "in a file"},
      {"support", "values"}, {"default", "default"},    {"scale", "scale"},
      {"prior", "prior"},    {"read_by", "read by"},    {NULL, NULL}};
  json_t *array = json_array();
  for (int id = 0; id < IDM_BLOCK_COUNT; id++)
    idm_json_append(&array, parameter_json(idm_block_describe((idm_block_id)id), id, NULL));
  for (size_t i = 0; idm_planner_at(i); i++)
    for (size_t k = 0; k < idm_planner_at(i)->own_count; k++)
      idm_json_append(&array, parameter_json(&idm_planner_at(i)->own[k], -1, idm_planner_at(i)));
  return finish_table(call, array, headings);
}

/* --- columns -------------------------------------------------------------------------------- */

static const char *cell_description(const idm_column_info *info, char *buffer, size_t size)
{
  static const char *const words[] = {[IDM_COLUMN_ID] = "an id",
                                      [IDM_COLUMN_ORDER] = "a number",
                                      [IDM_COLUMN_CHOICE] = "labels of the problem",
                                      [IDM_COLUMN_LABEL] = "a label"};
  if (info->kind != IDM_COLUMN_NUMBER) return words[info->kind];
  const int used = snprintf(buffer, size, "a %snumber", info->whole ? "whole " : "");
  if (isfinite(info->least))
    snprintf(buffer + used, size - (size_t)used, " of at least %g", info->least);
  return buffer;
}

static idm_status list_columns(cli_call *call)
{
  static const heading headings[] = {{"name", "key under `data`"},
                                     {"headers", "default headers"},
                                     {"guesses", "and for `init`"},
                                     {"cells", "cells"},
                                     {"by", "by"},
                                     {"need", "in a log"},
                                     {NULL, NULL}};
  json_t *array = json_array();
  for (int c = 0; c < IDM_COLUMN_COUNT; c++) {
    char buffer[80];
    const idm_column_info *info = idm_column_describe((idm_column)c);
    json_t *entry = cli_entry(info->key, info->what);
    json_t *headers = json_array();
    json_t *guesses = json_array();
    for (size_t i = 0; info->names[i]; i++)
      idm_json_append(i < info->defaults ? &headers : &guesses, json_string(info->names[i]));
    idm_json_set(&entry, "headers", headers);
    idm_json_set(&entry, "guesses", guesses);
    set_text(&entry, "cells", cell_description(info, buffer, sizeof buffer));
    set_text(&entry, "by", info->by_trajectory ? "trajectory" : "row");
    set_text(&entry, "need",
             info->of_state   ? "read if states are observed"
             : info->required ? "required"
             : info->evidence ? "evidence: read if it is mapped or needed"
                              : "read if it is present");
    idm_json_append(&array, entry);
  }
  return finish_table(call, array, headings);
}

/* --- checks --------------------------------------------------------------------------------- */

/* Threshold as in "above 1.01" or "below 400"; empty if there is none. */
static const char *threshold_text(const idm_check *row, char *buffer, size_t size)
{
  buffer[0] = '\0';
  if (!isnan(row->threshold))
    snprintf(buffer, size, "%s %g", row->below ? "below" : "above", row->threshold);
  return buffer;
}

static const char *outcome_text(const idm_check *row)
{
  return row->worst == IDM_CHECK_FAILED   ? "fails the draws"
         : row->worst == IDM_CHECK_MISFIT ? "fails the model"
                                          : "remark";
}

static idm_status list_checks(cli_call *call)
{
  static const heading headings[] = {{"name", "check"},
                                     {"measures", "value"},
                                     {"beyond", "beyond"},
                                     {"consequence", "consequence"},
                                     {"kinds", "answers"},
                                     {"needs", "needs"},
                                     {"summary", "what it shows"},
                                     {"cure", "cure"},
                                     {NULL, NULL}};
  static const heading brief[] = {
      {"name", ""}, {"consequence", ""}, {"beyond", ""}, {"measures", ""}, {NULL, NULL}};
  json_t *array = json_array();
  for (size_t i = 0; idm_check_at(i); i++) {
    char buffer[40];
    const idm_check *row = idm_check_at(i);
    json_t *entry = cli_entry(row->name, row->sentence);
    json_t *kinds = json_array();
    for (unsigned kind = 1; kind < IDM_CHECK_KINDS; kind <<= 1)
      if (row->kinds & kind)
        idm_json_append(&kinds, json_string(idm_check_kind_name((idm_check_kind)kind)));
    set_text(&entry, "measures", row->measures);
    set_text(&entry, "beyond", threshold_text(row, buffer, sizeof buffer));
    set_text(&entry, "consequence", outcome_text(row));
    idm_json_set(&entry, "kinds", kinds);
    set_text(&entry, "needs", row->needs ? row->needs : "");
    set_text(&entry, "cure", row->remedy);
    idm_json_set(&entry, "threshold", idm_json_number(row->threshold));
    idm_json_append(&array, entry);
  }
  return finish_table(call, array, cli_given(call, "markdown") ? headings : brief);
}

/* --- the command ---------------------------------------------------------------------------- */

static idm_status list_plain_planners(cli_call *call)
{
  return list_planners(call, false);
}

static idm_status list_agents(cli_call *call)
{
  return list_planners(call, true);
}

static const struct {
  const char *name;
  idm_status (*list)(cli_call *call);
} lists[] = {{"planners", list_plain_planners}, {"inverses", list_inverses},
             {"classes", list_classes},         {"plots", list_plots},
             {"samplers", list_samplers},       {"agents", list_agents},
             {"parameters", list_parameters},   {"columns", list_columns},
             {"checks", list_checks},           {"examples", list_examples}};

static idm_status run(cli_call *call)
{
  if (call->arguments < 1)
    return idm_fail(&call->error, IDM_USAGE,
                    "usage: idm list planners|inverses|classes|plots|samplers|agents|parameters|"
                    "columns|checks|examples [options]; see `idm help list`");
  if (cli_given(call, "proposition") && (strcmp(call->argument[0], "classes") != 0 || !plain(call)))
    return idm_fail(&call->error, IDM_USAGE,
                    "--proposition applies to classes only, without --json or --markdown");
  if (cli_given(call, "markdown") && cli_given(call, "json"))
    return idm_fail(&call->error, IDM_USAGE, "--markdown and --json exclude each other");
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    if (strcmp(lists[i].name, call->argument[0]) != 0) continue;
    return lists[i].list(call);
  }
  return idm_fail(&call->error, IDM_USAGE,
                  "unknown list '%s'; expected planners, inverses, classes, plots, samplers, "
                  "agents, parameters, columns, checks or examples",
                  call->argument[0]);
}

static const cli_option options[] = {
    {.name = "markdown",
     .kind = CLI_FLAG,
     .help = "print a table in Markdown instead, as in docs/reference/"},
    {.name = "proposition",
     .kind = CLI_FLAG,
     .help = "classes: both sides of the paper's proposition for example:maintenance, computed "
             "independently, for five regularisers, with a rule and with a network"},
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_list_command = {
    .name = "list",
    .arguments = "WHAT",
    .min_arguments = 0,
    .max_arguments = 1,
    .summary = "List planners, agents, inverse planners, classes, plots, samplers, parameters, "
               "columns, checks, examples",
    .description =
        "WHAT is planners, inverses (inverse planners), classes, plots, samplers, agents,\n"
        "parameters, columns, checks or examples.\n"
        "Agents are the paper's table of boundedly rational agents: planners with some parameters\n"
        "clamped. Any of them can be the planner of a problem, as in\n"
        "--set planner=maximum-entropy.\n"
        "Classes are the paper's table of inverse decision models, each a planner, an inverse\n"
        "planner and free blocks (idm fit --class NAME); its ticks are computed from the blocks\n"
        "that the planner uses and those that are free.\n"
        "Parameters are listed with their place in a file, values, default, default scale and\n"
        "prior (R: the range of the utility), and the planners that use them; columns of a log\n"
        "with their key under `data`, their default headers, and their content; checks of an\n"
        "answer with their consequence, threshold and measure.",
    .options = options,
    .run = run,
};
