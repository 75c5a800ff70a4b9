/* Cases of a log by an action that is due: see the header. */
#include "report/cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "idm/explain.h"

/* --- rational cases ------------------------------------------------------------------------- */

/* Whether every row has a recorded action that the rational policy takes; ties are shared there, so
 * that each of the best actions has a positive probability. */
static bool is_rational(const idm_explanation *e, const idm_data *data, size_t trajectory)
{
  for (size_t row = data->first[trajectory]; row < data->first[trajectory + 1]; row++)
    if (data->action[row] == IDM_MISSING ||
        !(idm_explained(e, row, IDM_EXPLAIN_RATIONAL, (size_t)data->action[row]).mean > 0))
      return false;
  return true;
}

static size_t count_actions(const idm_data *data, size_t trajectory)
{
  size_t count = 0;
  for (size_t row = data->first[trajectory]; row < data->first[trajectory + 1]; row++) {
    bool first = true;
    for (size_t k = data->first[trajectory]; k < row && first; k++)
      first = data->action[k] != data->action[row];
    count += first;
  }
  return count;
}

static void choose_rational(const idm_explanation *e, const idm_data *data, idm_case *ret_case)
{
  size_t most = 0, longest = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t rows = data->first[t + 1] - data->first[t];
    if (!rows || !is_rational(e, data, t)) continue;
    const size_t actions = count_actions(data, t);
    if (actions < most || (actions == most && rows <= longest)) continue;
    most = actions;
    longest = rows;
    ret_case->found = true;
    ret_case->trajectory = t;
  }
}

/* --- the choice ----------------------------------------------------------------------------- */

/* The largest delay, then the largest regret; a regret that does not exist counts as 0. */
static void choose_late(const idm_explanation *e, bool never, idm_case *ret_case)
{
  long latest = 0;
  double largest = 0;
  for (size_t t = 0; t < e->trajectories; t++) {
    const idm_explained_case *one = &e->one[t];
    const double regret = isnan(one->regret) ? 0 : one->regret;
    if (one->never != never || one->belated < 1 || one->belated < latest) continue;
    if (one->belated == latest && regret <= largest) continue;
    latest = one->belated;
    largest = regret;
    ret_case->found = true;
    ret_case->trajectory = t;
  }
}

static void name_case(const idm_explanation *e, const idm_data *data, idm_case_kind kind,
                      idm_case *one)
{
  char number[24], what[48];
  const idm_explained_case *found = &e->one[one->trajectory];
  if (kind == IDM_CASE_RATIONAL) snprintf(what, sizeof what, "rational");
  if (kind == IDM_CASE_NOT_RATIONAL)
    snprintf(what, sizeof what, "not rational: due at %zu", found->due);
  if (kind == IDM_CASE_BELATED) snprintf(what, sizeof what, "belated by %ld", found->belated);
  snprintf(one->title, sizeof one->title, "%s (%.80s)", what,
           idm_data_trajectory(data, one->trajectory, number, sizeof number));
}

idm_status idm_cases_choose(const idm_problem *problem, const idm_data *data, int32_t due,
                            idm_case ret_case[IDM_CASES], idm_notes *opt_notes,
                            idm_error *opt_error)
{
  idm_explain_settings settings;
  idm_explanation *e = NULL;
  memset(ret_case, 0, IDM_CASES * sizeof *ret_case);
  idm_explain_settings_default(&settings);
  settings.due = due;
  const idm_status status = idm_explain(problem, NULL, data, &settings, &e, opt_notes, opt_error);
  if (status != IDM_OK) return status;
  choose_rational(e, data, &ret_case[IDM_CASE_RATIONAL]);
  choose_late(e, true, &ret_case[IDM_CASE_NOT_RATIONAL]);
  choose_late(e, false, &ret_case[IDM_CASE_BELATED]);
  for (int kind = 0; kind < IDM_CASES; kind++)
    if (ret_case[kind].found) name_case(e, data, (idm_case_kind)kind, &ret_case[kind]);
  idm_explanation_destroy(e);
  return IDM_OK;
}
