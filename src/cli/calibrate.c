/* What recover and sbc share: the campaign, and its options. */
#include "cli/cli.h"

idm_status cli_calibrate(cli_call *call,
                         idm_status (*report)(cli_call *call, const idm_calibration *calibration))
{
  idm_problem *problem = NULL;
  idm_calibration *c = NULL;
  idm_calibration_settings *settings = &call->settings.calibration;
  const char *free_blocks = cli_text(call, "free");
  cli_progress progress;
  cli_progress_begin(&progress, NULL);
  if (cli_given(call, "threads")) settings->threads = (int)cli_integer(call, "threads");
  idm_status status = cli_read_problem(call, call->argument[0], &problem);
  if (status == IDM_OK) status = cli_need_utilities(call, problem);
  if (status == IDM_OK && free_blocks)
    status = idm_problem_free(problem, free_blocks, &call->error);
  if (status == IDM_OK) {
    status = idm_calibration_create(problem, settings, &c, &call->error);
    /* The file was sound: what is wrong now came from the command line. */
    if (status == IDM_INPUT && free_blocks) status = IDM_USAGE;
  }
  if (status == IDM_OK) {
    cli_catch_signals();
    status =
        idm_campaign_run(c, cli_text(call, "output"), cli_progress_watch, &progress, &call->error);
    cli_progress_end(&progress);
  }
  if (status == IDM_OK) status = report(call, c);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
  return status;
}

const cli_option cli_calibration_options[] = {
    {.name = "number", .letter = 'n', .kind = CLI_KEY},
    CLI_KEY_OPTION("steps"),
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
     .help = "folder for the results; the same command goes on where it stopped"},
    CLI_SET_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};
