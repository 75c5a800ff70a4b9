/* Verdicts in words. */
#include "idm/assess.h"

const char *idm_person_verdict_word(idm_person_verdict verdict)
{
  static const char *const words[IDM_PERSON_VERDICTS] = {
      "identified", "population-driven", "prior-driven", "chance", "misfit", "failed",
      "point",      "unchecked"};
  return (unsigned)verdict < IDM_PERSON_VERDICTS ? words[verdict] : NULL;
}

/* Whether the model describes everybody who was fitted one by one. */
static bool fits_everybody(const idm_assessment *a)
{
  for (size_t i = 0; i < a->people; i++)
    if (a->person[i].verdict == IDM_PERSON_MISFIT || a->person[i].verdict == IDM_PERSON_CHANCE)
      return false;
  return true;
}

/* In a line, and what to look at above it. */
typedef struct verdict {
  const char *words;
  const char *see;
} verdict;

static verdict judge_finding(const idm_assessment *a)
{
  static const char open[] = "see what is left open above";
  if (a->answer == IDM_POSTERIOR) return (verdict){"the draws can be trusted", open};
  if (a->answer == IDM_POINT) return (verdict){"a point whose certificate is closed", open};
  return (verdict){"a set whose certificate is closed", "see its ranges above"};
}

static verdict judge(const idm_assessment *a)
{
  const bool point = a->answer == IDM_POINT;
  if (a->trusted && idm_checks_left_out(&a->checks))
    return (verdict){"unchecked: nothing fails, but checks were left out",
                     "see what is unchecked above"};
  if (a->finding && a->trusted) return judge_finding(a);
  if (a->failures.count && a->misfits.count)
    return (verdict){"not to be trusted yet: neither the draws nor the model",
                     "see what FAILS and MODEL above"};
  if (a->misfits.count)
    return (verdict){point ? "not to be trusted yet: a point, of a model that does not fit"
                           : "not to be trusted yet: the draws are sound, but the model is not",
                     "see MODEL above"};
  if (!a->trusted) return (verdict){"not to be trusted yet", "see what FAILS above"};
  if (point) return (verdict){"a point: nothing here says how sure it is", ""};
  if (a->apart && !fits_everybody(a))
    return (verdict){"the draws can be trusted; the model does not fit everybody, no more often "
                     "than chance has it",
                     ""};
  if (a->checks.kind == IDM_CHECK_FIT && a->checks.of[IDM_CHECK_CHANCE].outcome == IDM_CHECK_REMARK)
    return (verdict){"the draws can be trusted; the decisions are too few to test the model", ""};
  if (a->model.looked && idm_assessment_depends(a))
    return (verdict){"the draws can be trusted, and nothing speaks against the model; the answer "
                     "depends on dynamics",
                     ""};
  return (verdict){a->model.looked || a->apart
                       ? "the draws can be trusted, and nothing speaks against the model"
                       : "the draws can be trusted; the model is unchecked",
                   ""};
}

bool idm_assessment_depends(const idm_assessment *a)
{
  return a && (a->checks.of[IDM_CHECK_DEPENDS].outcome == IDM_CHECK_REMARK ||
               a->checks.of[IDM_CHECK_BETWEEN].outcome == IDM_CHECK_REMARK);
}

const char *idm_assessment_verdict(const idm_assessment *a)
{
  return a ? judge(a).words : "";
}

const char *idm_assessment_see(const idm_assessment *a)
{
  return a ? judge(a).see : "";
}
