/* Families of environments that share spaces, agent and utility. */
#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/dynamics.h"
#include "idm/problem.h"

/* The names of a family, for a message. */
static const char *list(const idm_problem *problem, char *buffer, size_t size)
{
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < problem->environments && used + 1 < size; i++) {
    const int put = snprintf(buffer + used, size - used, "%s%.60s", i ? ", " : "",
                             problem->environment[i].name);
    used += put > 0 ? (size_t)put : 0;
  }
  return buffer;
}

/* Whether the agent's only model is the environment, by no rule. */
static bool knows(const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  const idm_block *transition = &problem->theta->block[IDM_TRANSITION];
  const idm_block *emission = &problem->theta->block[IDM_EMISSION];
  return problem->theta->models == 1 && setting->transition && setting->emission &&
         memcmp(transition->value, setting->transition,
                transition->size * sizeof *transition->value) == 0 &&
         memcmp(emission->value, setting->emission, emission->size * sizeof *emission->value) == 0;
}

static bool goes_by_rule(const idm_model_rule *rule)
{
  return rule->perturb[0] > 0 || rule->perturb[1] > 0 || rule->uniform > 0;
}

/* Exchange two pointers, given where they are. */
static void swap(void *a, void *b)
{
  void *kept;
  memcpy(&kept, a, sizeof kept);
  memcpy(a, b, sizeof kept);
  memcpy(b, &kept, sizeof kept);
}

/* What environments differ in. Names stay where they are: others may hold on to them. */
static void exchange(idm_setting *a, idm_setting *b)
{
  swap(&a->transition, &b->transition);
  swap(&a->emission, &b->emission);
  swap(&a->start, &b->start);
  swap(&a->moves, &b->moves);
  swap(&a->transition_shared, &b->transition_shared);
  swap(&a->emission_shared, &b->emission_shared);
}

idm_status idm_problem_enter(idm_problem *problem, const char *environment, idm_error *opt_error)
{
  idm_require(problem, environment);
  char names[600];
  size_t i = 0;
  while (i < problem->environments && strcmp(problem->environment[i].name, environment) != 0) i++;
  if (i == problem->environments)
    return idm_fail(opt_error, IDM_USAGE, "there is no environment '%.100s'; %s%s", environment,
                    problem->environments ? "expected one of " : "the problem names none",
                    list(problem, names, sizeof names));
  idm_setting *other = NULL;
  const idm_status status = idm_setting_copy(problem->environment[i].setting, &other, opt_error);
  if (status != IDM_OK) return status;
  const bool known = knows(problem);
  idm_setting *setting = problem->setting;
  exchange(setting, other);
  idm_setting_destroy(other);
  problem->within = i + 1;
  if (goes_by_rule(&problem->models)) {
    const idm_model_rule rule = problem->models;
    return idm_problem_apply_rule(problem, &rule, opt_error);
  }
  if (!known) return IDM_OK;
  idm_block *transition = &problem->theta->block[IDM_TRANSITION];
  idm_block *emission = &problem->theta->block[IDM_EMISSION];
  memcpy(transition->value, setting->transition, transition->size * sizeof *transition->value);
  memcpy(emission->value, setting->emission, emission->size * sizeof *emission->value);
  return IDM_OK;
}
