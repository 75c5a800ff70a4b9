/* What quantities are called: see the header. */
#include "report/titles.h"

#include <string.h>

#include "base/number.h"

/* How names of populations and groups end in files, and what is said. */
static const struct {
  const char *ending;
  const char *before;
  const char *behind;
  const char *alone; /* of one of a series, before its label */
} endings[] = {{"_mean", "mean of ", "", ""},
               {"_sd", "sd of ", "", ""},
               {"_within", "sd of ", " within groups", "sd of "},
               {"_spread", "spread of ", "", ""},
               {"_r2", "variance explained of ", "", ""},
               {"_contrast", "differences in ", "", ""},
               {"_coefficient", "coefficients of ", "", ""}};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* The ending of a name, or ENDINGS; what is before it is spoken into base. */
static size_t split(const char *name, char *base, size_t size)
{
  char part[256];
  const size_t length = strlen(name);
  for (size_t i = 0; i < ENDINGS; i++) {
    const size_t tail = strlen(endings[i].ending);
    if (length <= tail || strcmp(name + length - tail, endings[i].ending) != 0) continue;
    idm_print(part, sizeof part, "%.*s", (int)(length - tail), name);
    idm_quantity_spoken(part, base, size);
    return i;
  }
  idm_quantity_spoken(name, base, size);
  return ENDINGS;
}

bool idm_series_is_along(const idm_posterior *p, size_t series, const char *axis)
{
  return series < p->series_count && strcmp(p->axis[p->series[series].axis].name, axis) == 0;
}

static const char *say(const char *name, char *buffer, size_t size)
{
  char base[256];
  const size_t ending = split(name, base, sizeof base);
  idm_print(buffer, size, "%s%s%s", ending < ENDINGS ? endings[ending].before : "", base,
            ending < ENDINGS ? endings[ending].behind : "");
  return buffer;
}

const char *idm_title_series(const idm_posterior *p, size_t series, char *buffer, size_t size)
{
  return say(p->series[series].name, buffer, size);
}

const char *idm_title_item(const idm_posterior *p, size_t series, size_t item, char *buffer,
                           size_t size)
{
  const char *label = p->axis[p->series[series].axis].label.name[item];
  const char *comma = strchr(label, ',');
  char first[256], part[2][256];
  if (!idm_series_is_along(p, series, "pair") || !comma || strchr(comma + 1, ',')) {
    idm_print(buffer, size, "%s", label);
    return buffer;
  }
  idm_print(first, sizeof first, "%.*s", (int)(comma - label), label);
  idm_print(buffer, size, "%s and %s", idm_quantity_spoken(first, part[0], sizeof part[0]),
            idm_quantity_spoken(comma + 1, part[1], sizeof part[1]));
  return buffer;
}

const char *idm_title_quantity(const idm_posterior *p, size_t quantity, char *buffer, size_t size)
{
  const size_t series = idm_posterior_series(p, quantity);
  char base[256], label[256];
  if (!p->series_count) return idm_quantity_spoken(p->quantity.name[quantity], buffer, size);
  if (series == p->series_count) return say(p->quantity.name[quantity], buffer, size);
  const size_t ending = split(p->series[series].name, base, sizeof base);
  idm_title_item(p, series, quantity - p->series[series].first, label, sizeof label);
  const bool pair = idm_series_is_along(p, series, "pair");
  idm_print(buffer, size, "%s%s%s%s", ending < ENDINGS ? endings[ending].alone : "", base,
            pair ? " of " : ", ", label);
  return buffer;
}
