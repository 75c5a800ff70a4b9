/* People for a reader: the population, then everybody. */
#include <math.h>
#include <string.h>

#include "cli/people.h"
#include "cli/table.h"

static bool is_of_people(const idm_posterior *p, const idm_series *series)
{
  return strcmp(p->axis[series->axis].name, "person") == 0;
}

/* Whether a quantity is a person's. */
static bool is_personal(const idm_posterior *p, size_t quantity)
{
  const size_t series = idm_posterior_series(p, quantity);
  return series < p->series_count && is_of_people(p, &p->series[series]);
}

static int widest(const idm_posterior *p)
{
  int width = 12;
  for (size_t i = 0; i < p->quantity.count; i++)
    if (!is_personal(p, i) && cli_width(p->quantity.name[i]) > width)
      width = cli_width(p->quantity.name[i]);
  return width < 60 ? width : 60;
}

/* How often a quantity is above 0, where it may be of either sign. */
static const char *positive_of(const idm_posterior *p, size_t quantity, char *buffer, size_t size)
{
  const size_t all = p->chains * p->draws;
  size_t above = 0;
  if (idm_posterior_series(p, quantity) == p->series_count) return "";
  for (size_t i = 0; i < all; i++) above += p->value[quantity * all + i] > 0;
  snprintf(buffer, size, "%.3f", (double)above / (double)all);
  return buffer;
}

static void print_population(FILE *out, const idm_posterior *p, const idm_assessment *a)
{
  const int width = widest(p);
  bool any = false;
  for (size_t i = 0; i < p->quantity.count; i++) {
    char above[16];
    if (is_personal(p, i)) continue;
    if (!any) cli_print_quantity_heading(out, width, "P(>0)");
    any = true;
    cli_print_quantity(out, width, p->quantity.name[i], &a->diagnosis[i],
                       positive_of(p, i, above, sizeof above));
  }
  if (any) fprintf(out, "\n");
}

/* Mean (median where a tail is heavy) and interval of every number, and how much of it is the
 * person's own. */
static void print_numbers(FILE *out, const idm_posterior *p, const idm_assessment *a,
                          const idm_person *who, size_t index)
{
  size_t effect = 0;
  for (size_t i = 0; i < p->series_count; i++) {
    if (!is_of_people(p, &p->series[i])) continue;
    if (who->absent) {
      fprintf(out, " %8s %19s %5s %6s", "-", "-", "-", "-");
      continue;
    }
    const idm_diagnosis *d = &a->diagnosis[p->series[i].first + index];
    const double own = who->own[effect++];
    fprintf(out, " %8.3g [%8.3g,%8.3g] ", idm_diagnosis_is_heavy(d) ? d->q50 : d->mean, d->q05,
            d->q95);
    if (isnan(own)) /* under a prior that has no variance of its own */
      fprintf(out, "%5s", "-");
    else
      fprintf(out, "%5.2f", own);
    fprintf(out, " %6.3f", d->rhat);
  }
}

static int widest_name(const idm_labels *names)
{
  int width = 6;
  for (size_t i = 0; i < names->count; i++)
    if (cli_width(names->name[i]) > width) width = cli_width(names->name[i]);
  return width < 40 ? width : 40;
}

void cli_print_people(FILE *out, const idm_posterior *p, const idm_assessment *a, size_t most)
{
  const int width = widest_name(&a->person_name);
  char spoken[256];
  print_population(out, p, a);
  fprintf(out, "%-*s", width, "");
  for (size_t i = 0; i < p->series_count; i++)
    if (is_of_people(p, &p->series[i]))
      fprintf(out, " %28.28s %5s %6s",
              idm_quantity_spoken(p->series[i].name, spoken, sizeof spoken), "own", "r_hat");
  fprintf(out, " %9s %8s %8s  verdict\n", "decisions", "log-loss", "chance");
  for (size_t i = 0, at = 0; i < a->people && i < most; i++) {
    const idm_person *who = &a->person[i];
    cli_print_cut(out, width, a->person_name.name[i]);
    print_numbers(out, p, a, who, at);
    fprintf(out, " %9llu %8.4f %8.4f  %s\n", (unsigned long long)who->decisions, who->log_loss,
            who->uniform_log_loss, idm_person_verdict_word(who->verdict));
    at += !who->absent;
  }
}
