/* Small drawings for a terminal. */
#ifndef IDM_CLI_SPARK_H
#define IDM_CLI_SPARK_H

#include "cli/cli.h"

/* Whether standard output is one, and neither --plain nor --json says otherwise. */
bool cli_draws(const cli_call *opt_call);
/* What changes the colour of what follows; nothing where NO_COLOR is set, or nobody looks. */
typedef enum cli_hue { CLI_USUAL, CLI_GOOD, CLI_BAD } cli_hue;
const char *cli_colour(cli_hue hue);
enum { CLI_SPARK = 256 };
/* Bars of these heights, one column each. Into buffer, which is returned. */
const char *cli_spark(const double *height, size_t count, char buffer[CLI_SPARK]);
/* How numbers are spread between the least and the largest. The same. */
const char *cli_histogram(const double *x, size_t count, size_t columns, char buffer[CLI_SPARK]);
/* An interval on a scale from low to high, with 0 where that is on it. The same. */
typedef struct cli_span {
  double low;
  double at;
  double high;
} cli_span;
const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARK]);

#endif
