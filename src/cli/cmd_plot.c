/* idm plot: a figure of a problem, a log or a run. */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

static idm_status find_kind(cli_call *call, const idm_plot **ret_plot)
{
  char names[600];
  size_t used = 0;
  *ret_plot = idm_plot_find(call->argument[0]);
  if (*ret_plot) return IDM_OK;
  for (size_t i = 0; idm_plot_at(i) && used < sizeof names - 1; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                             idm_plot_at(i)->name);
  return idm_fail(&call->error, IDM_USAGE, "unknown plot kind '%s'; expected one of %s",
                  call->argument[0], names);
}

static idm_status read_style(cli_call *call, idm_figure_options *style)
{
  static const char *const themes[] = {"auto", "light", "dark"};
  const char *size = cli_text(call, "size"), *theme = cli_text(call, "theme");
  const bool narrow = strcmp(size, "narrow") == 0;
  if (!narrow && strcmp(size, "wide") != 0)
    return idm_fail(&call->error, IDM_USAGE, "--size is '%s'; expected narrow or wide", size);
  style->width = narrow ? IDM_FIGURE_NARROW : IDM_FIGURE_WIDE;
  for (int i = 0; i < 3; i++)
    if (strcmp(theme, themes[i]) == 0) {
      style->theme = (idm_figure_theme)i;
      return IDM_OK;
    }
  return idm_fail(&call->error, IDM_USAGE, "--theme is '%s'; expected auto, light or dark", theme);
}

/* True if the posterior has a common centre; groups and people have none, and only plots of the
 * agent need it. */
static bool has_centre(const idm_posterior *opt_posterior)
{
  return opt_posterior && idm_posterior_axis(opt_posterior, "person") == opt_posterior->axes;
}

/* Read the log given, or, if a log is needed, the log of the run. */
static idm_status read_log(cli_call *call, const idm_plot *plot, cli_plot_input *s)
{
  char paths[sizeof((idm_request *)0)->data];
  if (call->arguments > 2) {
    const idm_status status = cli_data_paths(call, 2, paths, sizeof paths);
    return status == IDM_OK ? cli_read_data(call, paths, s->input.problem, 0, &s->data) : status;
  }
  const bool needed =
      (plot->needs & IDM_PLOT_DATA) || cli_given(call, "trajectory") || cli_given(call, "due");
  return needed && s->input.posterior ? cli_read_run_data(call, &s->input, &s->data) : IDM_OK;
}

/* Open the objects to draw, as far as the arguments determine them. */
static idm_status open_plot_input(cli_call *call, const idm_plot *plot, cli_plot_input *s,
                                  idm_plot_subject *ret_subject)
{
  const char *first = call->argument[1];
  idm_status status = cli_plot_input_open(call, first, s);
  /* An audit has groups, so a plot of one agent is not possible. */
  const idm_problem *problem = idm_audit_is(first) ? NULL : s->input.problem;
  if (status == IDM_OK && problem && has_centre(s->input.posterior) &&
      (plot->needs & IDM_PLOT_PROBLEM))
    status = cli_set_to_draw(call, &s->input, "centre");
  if (status == IDM_OK && problem) status = read_log(call, plot, s);
  *ret_subject = (idm_plot_subject){.problem = problem,
                                    .folder = idm_run_is(first) ? first : NULL,
                                    .posterior = s->input.posterior,
                                    .assessment = s->assessment,
                                    .data = s->data,
                                    .calibration = s->study,
                                    .request = s->input.request,
                                    .fitted = s->data && call->arguments == 2};
  return status;
}

static idm_status write_data(const void *figure, const char *path, idm_error *error)
{
  return idm_figure_write_csv(figure, path, error);
}

static idm_status write_output(cli_call *call, const idm_figure *figure,
                               const idm_figure_options *style)
{
  const char *path = cli_text(call, "output"), *data = cli_text(call, "data");
  idm_status status = IDM_OK;
  if (data) status = cli_write_csv(call, data, write_data, figure);
  if (status == IDM_OK) status = idm_figure_write_isolated(figure, style, path, &call->error);
  if (status == IDM_OK && strcmp(path, "-") != 0) return cli_report_file(call, path);
  return status;
}

static idm_status run(cli_call *call)
{
  const idm_plot *plot;
  cli_plot_input s;
  idm_plot_subject input;
  idm_figure *figure = NULL;
  idm_figure_options style = {.id = "figure"};
  const char *data = cli_text(call, "data");
  idm_plot_settings settings = {.path = cli_text(call, "path"),
                                .trajectory = cli_text(call, "trajectory"),
                                .due = cli_text(call, "due")};
  settings.panels = cli_list(call, "panel", &settings.panel);
  settings.quantities = cli_list(call, "quantity", &settings.quantity);
  settings.truths = cli_list(call, "truth", &settings.truth);
  idm_status status = find_kind(call, &plot);
  if (status == IDM_OK) status = read_style(call, &style);
  if (status == IDM_OK) status = idm_figure_check_path(cli_text(call, "output"), &call->error);
  if (status == IDM_OK) status = cli_check_target(call, cli_text(call, "output"));
  if (status == IDM_OK && data) status = cli_check_target(call, data);
  if (status != IDM_OK) return status;
  status = open_plot_input(call, plot, &s, &input);
  if (status == IDM_OK)
    status = idm_plot_make(plot, &input, &settings, &figure, &call->notes, &call->error);
  if (status == IDM_OK) status = write_output(call, figure, &style);
  idm_figure_destroy(figure);
  cli_plot_input_close(&s);
  return status;
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .default_value = "-",
     .help = "output file: SVG, or PNG or PDF by the extension .png or .pdf"},
    {.name = "data",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "also write the data of the figure as CSV"},
    CLI_SAFE_OPTION,
    {.name = "size",
     .kind = CLI_TEXT,
     .value = "SIZE",
     .default_value = "wide",
     .help = "narrow or wide: one or two columns of a journal"},
    {.name = "theme",
     .kind = CLI_TEXT,
     .value = "THEME",
     .default_value = "auto",
     .help = "light, dark, or auto: the colour scheme of the reader's browser"},
    {.name = "panel",
     .kind = CLI_LIST,
     .value = "TITLE:KEY=VALUE,...",
     .help = "for policy, simplex and occupancy: an agent to draw, with these keys set; may be "
             "repeated"},
    {.name = "path",
     .kind = CLI_TEXT,
     .value = "U:X,...",
     .help = "for policy and simplex: show the beliefs after these actions and observations"},
    {.name = "trajectory",
     .kind = CLI_TEXT,
     .value = "ID",
     .help = "for simplex and surprise: one trajectory of the log"},
    {.name = "due",
     .kind = CLI_TEXT,
     .value = "ACTION",
     .help = "for simplex: three trajectories of the log: one with rational decisions, one in "
             "which a due ACTION is missing, one in which it is late"},
    {.name = "quantity",
     .kind = CLI_LIST,
     .value = "NAME",
     .help = "for a run: draw this quantity; may be repeated (default: all that are summarised)"},
    {.name = "truth",
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "for posterior and joint: the true value of a quantity, if known; may be repeated"},
    CLI_SET_OPTION,
    CLI_WHERE_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_plot = {
    .name = "plot",
    .arguments = "KIND PROBLEM|FOLDER [DATA...]",
    .min_arguments = 2,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Draw a figure",
    .description = "Draws a figure of a problem, of a log or of the results of a run, an audit or "
                   "a study, as\n"
                   "SVG, PNG or PDF; `idm list plots` lists the kinds.",
    .options = options,
    .run = run,
};
