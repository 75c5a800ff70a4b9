/* Cells and rows of tables. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/table.h"

int cli_width(const char *text)
{
  return (int)idm_utf8_width(text, strlen(text));
}

static void pad(FILE *out, int width)
{
  if (width > 0) fprintf(out, "%*s", width, "");
}

void cli_print_left(FILE *out, int width, const char *text)
{
  fputs(text, out);
  pad(out, width - cli_width(text));
}

void cli_print_right(FILE *out, int width, const char *text)
{
  pad(out, width - cli_width(text));
  fputs(text, out);
}

void cli_print_cut(FILE *out, int width, const char *text)
{
  const size_t bytes = idm_utf8_fit(text, (size_t)width);
  fwrite(text, 1, bytes, out);
  pad(out, width - (int)idm_utf8_width(text, bytes));
}

void cli_print_ends(FILE *out, double low, double high)
{
  if (isnan(low) && isnan(high))
    fprintf(out, " %21s", "depends on dynamics");
  else
    fprintf(out, " %10.4g %10.4g", low, high);
}

void cli_print_cell(FILE *out, int width, int digits, double value)
{
  if (isnan(value))
    fprintf(out, " %*s", width, "-");
  else
    fprintf(out, " %*.*f", width, digits, value);
}

void cli_print_quantity_heading(FILE *out, int width, const char *last)
{
  fprintf(out, "%-*s %10s %10s %10s %10s %10s %10s %9s %9s %6s %6s\n", width, "", "mean", "sd",
          "mcse", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat", last);
}

void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *d,
                        const char *last)
{
  cli_print_left(out, width, name);
  if (idm_diagnosis_is_heavy(d))
    fprintf(out, " %10s %10s %10s", "-", "-", "-");
  else
    fprintf(out, " %10.4g %10.3g %10.2g", d->mean, d->sd, d->mcse_mean);
  if (isnan(d->q05) && isnan(d->q95) && isfinite(d->q50))
    fprintf(out, " %10s %10.4g %10s", "-", d->q50, "-");
  else
    fprintf(out, " %10.4g %10.4g %10.4g", d->q05, d->q50, d->q95);
  fprintf(out, " %9.0f %9.0f %6.3f %6s\n", d->ess_bulk, d->ess_tail, d->rhat, last);
}
