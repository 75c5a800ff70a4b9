/* Cells by the columns of a terminal, not by bytes. */
#ifndef IDM_CLI_TABLE_H
#define IDM_CLI_TABLE_H

#include "cli/cli.h"

int cli_width(const char *text);
/* A text at the left or the right of `width` columns, or running over; cut: never. */
void cli_print_left(FILE *out, int width, const char *text);
void cli_print_right(FILE *out, int width, const char *text);
void cli_print_cut(FILE *out, int width, const char *text);
/* The ends of an interval in two columns of 10; where both are NaN, "depends on dynamics". */
void cli_print_ends(FILE *out, double low, double high);
/* A number; NaN as a dash. */
void cli_print_cell(FILE *out, int width, int digits, double value);
/* A row of a table of quantities, `width` columns for the name. */
void cli_print_quantity_heading(FILE *out, int width, const char *last);
void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *diagnosis,
                        const char *last);

#endif
