/* What a run found. */
#ifndef IDM_CLI_POSTERIOR_H
#define IDM_CLI_POSTERIOR_H

#include "cli/cli.h"

/* Print something of one run, as JSON where that is asked for. */
typedef idm_status (*cli_print_run)(cli_call *call, const idm_posterior *posterior,
                                    const idm_assessment *assessment);
/* Read all runs that are arguments and print each, of several under its name: a heading, or a key
 * of one JSON object. *opt_untrusted counts those that are not to be trusted. */
idm_status cli_each_run(cli_call *call, cli_print_run print, int *opt_untrusted);
/* Table of the quantities that are summarised; on a terminal with how their draws are spread. */
void cli_print_posterior(const cli_call *opt_call, FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment);
/* The verdict in words. */
void cli_print_verdict(FILE *out, const idm_assessment *assessment);
/* Its last line alone. */
void cli_print_verdict_line(FILE *out, const idm_assessment *assessment);

#endif
