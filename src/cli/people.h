/* People for a reader. */
#ifndef IDM_CLI_PEOPLE_H
#define IDM_CLI_PEOPLE_H

#include "cli/cli.h"

/* Tables of people: the population, then everybody, at most `most` of them. */
void cli_print_people(FILE *out, const idm_posterior *posterior, const idm_assessment *assessment,
                      size_t most);

#endif
