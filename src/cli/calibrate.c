/* Options and execution of calibration studies, shared by recover and sbc. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/common.h"

/* A study draws one vector per log from the prior, so runs of a population or of people are
 * refused. */
static idm_status check_no_people(cli_call *call, const cli_input *run)
{
  if (!run->posterior->series_count) return IDM_OK;
  return idm_fail(
      &call->error, IDM_USAGE,
      "the run is of people (%s), and %s draws one parameter vector per log: it recovers neither "
      "population nor people. Expected a run with a single parameter vector, or the problem with "
      "-n, the number of trajectories per person; to examine the hierarchy, simulate people with "
      "known parameters (`idm simulate --set`), and fit their log with the same options",
      run->request->by[0] ? "--by" : "--each", call->command->name);
}

/* Settings of the run, replaced by the options given; without a number of trajectories, the design
 * of its log. */
static idm_status take_run_design(cli_call *call, cli_input *run, idm_data **ret_like)
{
  idm_calibration_settings *settings = &call->settings.calibration;
  const idm_status people = check_no_people(call, run);
  if (people != IDM_OK) return people;
  settings->fit = run->request->settings;
  snprintf(settings->inverse, sizeof settings->inverse, "%s", run->request->inverse);
  cli_take_keys(call, settings);
  if (cli_given(call, "number")) return cli_check_utilities(call, run->problem);
  idm_status status = cli_read_run_data(call, run, ret_like);
  settings->opt_design_log = *ret_like;
  if (status == IDM_OK && run->request->preferences[0] && !cli_given(call, "pairs")) {
    status =
        idm_preferences_read_csv(run->request->preferences, *ret_like, &call->notes, &call->error);
    if (status == IDM_OK) settings->pairs = (*ret_like)->preferences->count;
  }
  const char *where = run->request->where;
  snprintf(settings->design, sizeof settings->design, where[0] ? "%s-%016" PRIx64 : "%s",
           run->request->data_hash, idm_checksum(IDM_CHECKSUM_START, where, strlen(where)));
  return status;
}

idm_status cli_calibrate(cli_call *call,
                         idm_status (*report)(cli_call *call, const idm_calibration *calibration))
{
  cli_input input;
  idm_data *like = NULL;
  idm_calibration *c = NULL;
  idm_calibration_settings *settings = &call->settings.calibration;
  const char *free_blocks = cli_text(call, "free");
  cli_progress progress;
  cli_progress_begin(&progress, NULL);
  if (cli_given(call, "threads")) settings->threads = (int)cli_integer(call, "threads");
  idm_status status = cli_input_open(call, call->argument[0], &input);
  if (status == IDM_OK)
    status = input.posterior ? take_run_design(call, &input, &like)
                             : cli_check_utilities(call, input.problem);
  if (status == IDM_OK && free_blocks)
    status = idm_problem_set_free(input.problem, free_blocks, &call->error);
  if (status == IDM_OK) {
    status = idm_calibration_create(input.problem, settings, &c, &call->error);
    /* The file is valid, so this error is due to an option. */
    if (status == IDM_INPUT && free_blocks) status = IDM_USAGE;
  }
  if (status == IDM_OK) {
    cli_catch_signals();
    status = idm_replications_run(c, cli_text(call, "output"), cli_progress_watch, &progress,
                                  &call->error);
    cli_progress_end(&progress);
  }
  if (status == IDM_OK) status = report(call, c);
  idm_calibration_destroy(c);
  idm_data_destroy(like);
  cli_input_close(&input);
  return status;
}

const cli_option cli_calibration_options[] = {
    {.name = "number", .letter = 'n', .kind = CLI_KEY},
    CLI_KEY_OPTION("steps"),
    CLI_KEY_OPTION("pairs"),
    CLI_KEY_OPTION("replications"),
    CLI_KEY_OPTION("seed"),
    CLI_THREADS_OPTION("threads (default: the processors)"),
    CLI_KEY_OPTION("inverse"),
    CLI_KEY_OPTION("chains"),
    CLI_KEY_OPTION("draws"),
    CLI_KEY_OPTION("warmup"),
    CLI_KEY_OPTION("sampler"),
    CLI_FREE_OPTION("what to infer instead of the file's `free`"),
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FOLDER",
     .help = "folder for the results; after an interruption the same command continues"},
    CLI_SET_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};
