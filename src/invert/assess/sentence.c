/* What the data say of a free number, in a sentence to be quoted. */
#include "invert/assess/sentence.h"

#include <math.h>

#include "base/number.h"
#include "idm/transform.h"
#include "invert/assess/profile.h"

static bool is_open(const idm_identification *id, int side)
{
  return id->gap[side] <= idm_profile_drop;
}

/* Sides that the data leave open, as clauses. */
static void open_clauses(const idm_identification *id, char *text, size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (int side = 0; side < 2; side++)
    if (is_open(id, side))
      length += (size_t)idm_print(
          text + length, size - length,
          id->proper[side]
              ? "; %s it is bounded by the prior, not by the data (at the limit the "
                "log-likelihood is within %.2f of its maximum)"
              : "; %s it is bounded neither by the data (at the limit the log-likelihood is within "
                "%.2f of its maximum) nor by the prior",
          side ? "above" : "below", id->gap[side]);
}

/* "within [a, b] or [c, d]", "below only: it is above a", or as much of it as holds. */
static void region_clause(const idm_identification *id, char *text, size_t size)
{
  if (id->regions == 1 && is_open(id, 0) != is_open(id, 1)) {
    const bool below = is_open(id, 1);
    idm_print(text, size, "%s only: it is %s %.3g", below ? "below" : "above",
              below ? "above" : "below", below ? id->low : id->high);
    return;
  }
  size_t length = (size_t)idm_print(text, size, "within ");
  for (size_t i = 0; i < id->regions; i++)
    length += (size_t)idm_print(text + length, size - length, "%s[%.3g, %.3g]", i ? " or " : "",
                                id->region[i][0], id->region[i][1]);
}

/* What the interval means for the natural value of a number inferred by another. */
static void natural_clause(const inquiry *q, const parameter *item, const idm_identification *id,
                           char *text, size_t size)
{
  const char *natural = q->posterior->quantity.name[item->quantity];
  const bool inverse = item->scale == IDM_SCALE_INVERSE;
  text[0] = '\0';
  if (idm_parameter_reported(item) == item->quantity) return;
  if (inverse && id->low <= 0 && id->high >= 0)
    idm_print(text, size, "; %.60s itself is not bounded above: report 1/%.60s%s", natural, natural,
              item->block == IDM_BETA ? ", optimism, not beta" : "");
  else if (inverse)
    idm_print(text, size, " (%.60s between %.3g and %.3g)", natural,
              1 / (id->high != 0 ? id->high : INFINITY), 1 / id->low);
  else
    idm_print(text, size, " (%.60s between %.3g and %.3g)", natural,
              idm_scale_from(item->scale, id->low), idm_scale_from(item->scale, id->high));
}

void idm_identification_sentence(const inquiry *q, const parameter *item, idm_identification *id)
{
  char name[128];
  char regions[200];
  char open[400];
  char natural[200];
  idm_quantity_spoken(q->posterior->quantity.name[id->quantity], name, sizeof name);
  open_clauses(id, open, sizeof open);
  region_clause(id, regions, sizeof regions);
  natural_clause(q, item, id, natural, sizeof natural);
  if (id->regions == 1 && is_open(id, 0) && is_open(id, 1))
    idm_print(id->sentence, sizeof id->sentence, "the data do not bound %s%s", name, open);
  else
    idm_print(id->sentence, sizeof id->sentence,
              "the data bound %s %s (95 %% profile likelihood)%s%s%s", name, regions, natural, open,
              id->unchecked ? "; the search was cut short, so that this is not certain" : "");
}
