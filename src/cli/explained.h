/* An explanation as it is printed: one JSON object, or tables for a person to read. */
#ifndef IDM_CLI_EXPLAINED_H
#define IDM_CLI_EXPLAINED_H

#include "cli/cli.h"

/* What is printed. */
typedef struct cli_explained {
  cli_call *call;
  const idm_setting *setting;
  const idm_data *data;
  const idm_explanation *e;
  int64_t trajectory; /* the only one, or -1 */
} cli_explained;

/* On standard output: all of it as JSON, with the call's notes. */
idm_status cli_print_explained_json(const cli_explained *x);
/* The one trajectory step by step, or the ranked lists; then what is said of agents. */
idm_status cli_print_explained(const cli_explained *x);

#endif
