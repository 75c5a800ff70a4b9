/* What an agent does in every state, where states are observed. */
#include "cli/states.h"
#include "cli/table.h"

#include <stdlib.h>

/* One corner after another. */
typedef struct tour {
  const idm_setting *setting;
  idm_workspace *workspace;
  double *corner;  /* [state] */
  double *policy;  /* [action]: at choice time */
  double *planned; /* [action] */
} tour;

static idm_status begin(cli_call *call, tour *t)
{
  t->corner = calloc(t->setting->states.count, sizeof *t->corner);
  t->policy = calloc(t->setting->actions.count, sizeof *t->policy);
  t->planned = calloc(t->setting->actions.count, sizeof *t->planned);
  return t->corner && t->policy && t->planned ? IDM_OK : idm_fail_memory(&call->error);
}

static void end(const tour *t)
{
  free(t->corner);
  free(t->policy);
  free(t->planned);
}

/* Both policies in a state, at the first decision; returns its value. Nothing follows arrival at a
 * terminal state, whatever a planner keeps for it. */
static double visit(const tour *t, size_t state)
{
  if (t->setting->terminal_state[state]) return 0;
  t->corner[state] = 1;
  idm_plan_choice(t->workspace, 0, 0, t->corner, IDM_MISSING, t->policy);
  idm_plan_policy_after(t->workspace, 0, 0, t->corner, t->planned);
  const double value = idm_plan_value_after(t->workspace, 0, 0, t->corner);
  t->corner[state] = 0;
  return value;
}

idm_status cli_print_states(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                            bool planned)
{
  enum { screen = 40, least = 12 };
  tour t = {.setting = setting, .workspace = workspace};
  const idm_status status = begin(call, &t);
  const size_t shown = setting->states.count < screen ? setting->states.count : screen;
  int wide = 8;
  for (size_t s = 0; s < shown; s++)
    if (cli_width(setting->states.name[s]) > wide) wide = cli_width(setting->states.name[s]);
  if (status == IDM_OK) {
    printf("%-*s %12s", wide, "state", "value");
    for (size_t u = 0; u < setting->actions.count; u++) {
      putchar(' ');
      cli_print_right(stdout, least, setting->actions.name[u]);
    }
    putchar('\n');
  }
  for (size_t s = 0; s < shown && status == IDM_OK; s++) {
    const double value = visit(&t, s);
    cli_print_left(stdout, wide, setting->states.name[s]);
    printf(" %12.6f", value);
    for (size_t u = 0; u < setting->actions.count && !setting->terminal_state[s]; u++) {
      const int width = cli_width(setting->actions.name[u]);
      printf(" %*.6f", width > least ? width : least, (planned ? t.planned : t.policy)[u]);
    }
    printf(setting->terminal_state[s] ? "  terminal\n" : "\n");
  }
  if (status == IDM_OK && shown < setting->states.count)
    printf("... and %zu more states: --json has them all\n", setting->states.count - shown);
  end(&t);
  return status;
}

static json_t *policy_json(const idm_setting *setting, const double *probability)
{
  json_t *policy = json_object();
  for (size_t u = 0; u < setting->actions.count; u++)
    idm_json_set(&policy, setting->actions.name[u], idm_json_number(probability[u]));
  return policy;
}

idm_status cli_states_json(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                           json_t **ret_object)
{
  tour t = {.setting = setting, .workspace = workspace};
  const idm_status status = begin(call, &t);
  *ret_object = json_object();
  for (size_t s = 0; s < setting->states.count && status == IDM_OK; s++) {
    json_t *one = json_object();
    idm_json_set(&one, "value", idm_json_number(visit(&t, s)));
    idm_json_set(&one, "policy",
                 setting->terminal_state[s] ? json_null() : policy_json(setting, t.policy));
    if (!setting->terminal_state[s] && idm_workspace_has_habits(workspace))
      idm_json_set(&one, "planned", policy_json(setting, t.planned));
    idm_json_set(ret_object, setting->states.name[s], one);
  }
  end(&t);
  return status;
}
