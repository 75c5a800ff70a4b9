/* Small drawings for a terminal: histograms and intervals in a line of text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/spark.h"

bool cli_draws(const cli_call *opt_call)
{
  return opt_call && isatty(STDOUT_FILENO) && !cli_given(opt_call, "plain") &&
         !cli_given(opt_call, "json");
}

const char *cli_colour(cli_hue hue)
{
  static const char *const codes[] = {"\033[0m", "\033[32m", "\033[31m"};
  const char *refused = getenv("NO_COLOR");
  if (!isatty(STDOUT_FILENO) || (refused && *refused)) return "";
  return codes[hue];
}

const char *cli_spark(const double *height, size_t count, char buffer[CLI_SPARK])
{
  static const char *const bar[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double most = 0;
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < count; i++)
    if (isfinite(height[i])) most = fmax(most, height[i]);
  for (size_t i = 0; i < count && used + 4 <= CLI_SPARK; i++) {
    const double part = most > 0 && isfinite(height[i]) ? fmax(height[i], 0) / most : 0;
    /* What is there at all is seen, but for what is next to nothing. */
    const int level = part > 1e-3 ? (int)fmin(8, 1 + floor(8 * part)) : 0;
    used += (size_t)snprintf(buffer + used, CLI_SPARK - used, "%s", bar[level]);
  }
  return buffer;
}

const char *cli_histogram(const double *x, size_t count, size_t columns, char buffer[CLI_SPARK])
{
  enum { most_columns = 64 };
  double height[most_columns] = {0}, low = INFINITY, high = -INFINITY;
  if (columns > most_columns) columns = most_columns;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) continue;
    low = fmin(low, x[i]);
    high = fmax(high, x[i]);
  }
  for (size_t i = 0; i < count && low <= high; i++) {
    if (!isfinite(x[i])) continue;
    const double part = high > low ? (x[i] - low) / (high - low) : 0.5;
    const size_t at = (size_t)(part * (double)columns);
    height[at < columns ? at : columns - 1]++;
  }
  return cli_spark(height, columns, buffer);
}

/* The column of a number on a scale; those beyond it are at its ends. */
static int column_of(double number, double low, double high, int width)
{
  const double part = high > low ? (number - low) / (high - low) : 0.5;
  return (int)lround(fmin(fmax(part, 0), 1) * (width - 1));
}

const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARK])
{
  const bool there = isfinite(span->low) && isfinite(span->high) && isfinite(span->at);
  const int from = there ? column_of(span->low, low, high, width) : width;
  const int to = there ? column_of(span->high, low, high, width) : -1;
  const int at = there ? column_of(span->at, low, high, width) : -1;
  const int zero = low < 0 && high > 0 ? column_of(0, low, high, width) : -1;
  size_t used = 0;
  buffer[0] = '\0';
  for (int i = 0; i < width && used + 4 <= CLI_SPARK; i++) {
    const char *mark = i == at              ? "●"
                       : i == from          ? "├"
                       : i == to            ? "┤"
                       : i > from && i < to ? "─"
                       : i == zero          ? "┊"
                                            : " ";
    used += (size_t)snprintf(buffer + used, CLI_SPARK - used, "%s", mark);
  }
  return buffer;
}
