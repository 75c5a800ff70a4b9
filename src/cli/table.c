/* Rows of tables of quantities. */
#include "cli/cli.h"

void cli_print_quantity_heading(FILE *out, int width, const char *last)
{
  fprintf(out, "%-*s %10s %10s %10s %10s %10s %10s %9s %9s %6s %6s\n", width, "", "mean", "sd",
          "mcse", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat", last);
}

void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *d,
                        const char *last)
{
  fprintf(out, "%-*s %10.4g %10.3g %10.2g %10.4g %10.4g %10.4g %9.0f %9.0f %6.3f %6s\n", width,
          name, d->mean, d->sd, d->mcse_mean, d->q05, d->q50, d->q95, d->ess_bulk, d->ess_tail,
          d->rhat, last);
}
