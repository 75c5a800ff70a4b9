/* The verdict in a line. */
#include <string.h>

#include "idm/assess.h"

/* Whether the model describes everybody who was fitted one by one. */
static bool fits_everybody(const idm_assessment *a)
{
  for (size_t i = 0; i < a->people; i++)
    if (strcmp(a->person[i].verdict, "misfit") == 0 || strcmp(a->person[i].verdict, "chance") == 0)
      return false;
  return true;
}

const char *idm_assessment_verdict(const idm_assessment *a)
{
  if (!a) return "";
  const bool point = a->answer == IDM_POINT;
  if (a->finding && a->trusted && a->answer == IDM_POSTERIOR)
    return "the draws can be trusted; see what is left open above";
  if (a->finding && a->trusted)
    return point ? "a point whose certificate is closed; see what is left open above"
                 : "a set whose certificate is closed; see its ranges above";
  if (a->failures.count && a->misfits.count)
    return "not to be trusted yet: neither the draws nor the model; see what FAILS and MODEL "
           "above";
  if (a->misfits.count)
    return point ? "not to be trusted yet: a point, of a model that does not fit; see MODEL above"
                 : "not to be trusted yet: the draws are sound, but the model is not; see MODEL "
                   "above";
  if (!a->trusted) return "not to be trusted yet; see what FAILS above";
  if (point) return "a point: nothing here says how sure it is";
  if (a->apart && !fits_everybody(a))
    return "the draws can be trusted; the model does not fit everybody, no more often than chance "
           "has it";
  return a->model.looked || a->apart
             ? "the draws can be trusted, and nothing speaks against the model"
             : "the draws can be trusted; the model is unchecked";
}
