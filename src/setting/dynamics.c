/* Dynamics of an environment, models derived from them by a rule, and families of environments.
 *
 * Contents: dynamics · environment */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/dynamics.h"
#include "idm/extension/problem.h"
#include "setting/model.h"

/* === dynamics =============================================================================== */

/* Dynamics of an environment, and the models of an agent that are derived from them. */

/* A perturbation gives at most 3^6 models; perturbed probabilities are kept within these bounds. */
enum { max_digits = 6 };
static const double min_probability = 0.001;
static const double max_probability = 0.999;

/* --- dynamics ------------------------------------------------------------------------------- */

static size_t transition_size(idm_sizes n)
{
  return n.actions * n.states * n.states;
}

static size_t emission_size(idm_sizes n)
{
  return n.actions * n.states * n.observations;
}

idm_status idm_dynamics_create(idm_sizes sizes, idm_dynamics **ret_dynamics, idm_error *opt_error)
{
  idm_require(ret_dynamics);
  *ret_dynamics = NULL;
  const size_t pairs = idm_times(sizes.actions, sizes.states);
  const size_t numbers = idm_times(pairs, sizes.states + sizes.observations);
  if (numbers > SIZE_MAX >> 24) return idm_fail_memory(opt_error);
  idm_dynamics *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  d->sizes = sizes;
  d->numbers = sizes.states + numbers;
  d->start = idm_new(d->numbers, sizeof *d->start);
  if (!d->start) {
    idm_dynamics_destroy(d);
    return idm_fail_memory(opt_error);
  }
  d->transition = d->start + sizes.states;
  d->emission = d->transition + transition_size(sizes);
  *ret_dynamics = d;
  return IDM_OK;
}

void idm_dynamics_destroy(idm_dynamics *dynamics)
{
  if (!dynamics) return;
  free(dynamics->start);
  free(dynamics);
}

void idm_dynamics_assign(idm_dynamics *dynamics, const idm_dynamics *from)
{
  if (!dynamics || !from || !idm_sizes_same(dynamics->sizes, from->sizes)) return;
  memcpy(dynamics->start, from->start, from->numbers * sizeof *from->start);
}

static idm_status check_known(const idm_setting *setting, idm_error *opt_error)
{
  const char *missing = setting->transition ? "observation" : "transition";
  if (setting->transition && setting->emission) return IDM_OK;
  if (setting->moves)
    return idm_fail(opt_error, IDM_INPUT,
                    "the transitions are given as sparse rows; expected matrices");
  return idm_fail(opt_error, IDM_INPUT,
                  "the problem has no %s matrix of the environment; expected one in addition to "
                  "the models: %s: {\"*\": uniform} makes every outcome possible",
                  missing, missing);
}

idm_status idm_problem_dynamics(const idm_problem *problem, idm_dynamics **ret_dynamics,
                                idm_error *opt_error)
{
  idm_require(problem, ret_dynamics);
  *ret_dynamics = NULL;
  const idm_setting *setting = problem->setting;
  const idm_sizes n = idm_setting_sizes(setting);
  idm_status status = check_known(setting, opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(n, ret_dynamics, opt_error);
  if (status != IDM_OK) return status;
  const idm_dynamics *d = *ret_dynamics;
  memcpy(d->start, setting->start, n.states * sizeof *d->start);
  memcpy(d->transition, setting->transition, transition_size(n) * sizeof *d->transition);
  memcpy(d->emission, setting->emission, emission_size(n) * sizeof *d->emission);
  return IDM_OK;
}

/* --- models --------------------------------------------------------------------------------- */

/* Transition and observation matrices of model m and of the environment. */
typedef struct model {
  double *matrices[2]; /* transition, observation */
  const double *environment[2];
  size_t columns[2];
} model;

static model model_of(const idm_problem *problem, size_t m)
{
  const idm_sizes n = problem->theta->sizes;
  const idm_block *block = problem->theta->block;
  return (model){{block[IDM_TRANSITION].value + m * transition_size(n),
                  block[IDM_EMISSION].value + m * emission_size(n)},
                 {problem->setting->transition, problem->setting->emission},
                 {n.states, n.observations}};
}

static bool has_rule(const idm_model_rule *rule)
{
  return rule->perturb[0] > 0 || rule->perturb[1] > 0 || rule->uniform > 0;
}

bool idm_problem_models_derived(const idm_problem *problem)
{
  if (!problem) return false;
  const idm_sizes n = problem->theta->sizes;
  if (has_rule(&problem->models)) return true;
  if (problem->theta->models != 1 || !problem->setting->transition || !problem->setting->emission)
    return false;
  const model m = model_of(problem, 0);
  return memcmp(m.matrices[0], m.environment[0], transition_size(n) * sizeof(double)) == 0 &&
         memcmp(m.matrices[1], m.environment[1], emission_size(n) * sizeof(double)) == 0;
}

/* Resize the blocks to `count` models of equal weight. IDM_INPUT where entries of the matrices are
 * free. */
static idm_status resize_models(idm_problem *problem, size_t count, idm_error *opt_error)
{
  idm_theta *theta = problem->theta;
  const struct {
    idm_block_id id;
    size_t size;
  } blocks[] = {{IDM_MODEL_PRIOR, count},
                {IDM_TRANSITION, count * transition_size(theta->sizes)},
                {IDM_EMISSION, count * emission_size(theta->sizes)}};
  idm_status status = IDM_OK;
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
    if (theta->block[blocks[i].id].info->tied && theta->block[blocks[i].id].role == IDM_DESCRIPTIVE)
      return idm_fail(opt_error, IDM_INPUT,
                      "entries of %s are free, and other dynamics would replace them; expected no "
                      "`%s` under free",
                      theta->block[blocks[i].id].info->name, theta->block[blocks[i].id].info->name);
  theta->models = count;
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0] && status == IDM_OK; i++)
    status = idm_theta_resize(theta, blocks[i].id, blocks[i].size, 1, opt_error);
  for (size_t m = 0; m < count && status == IDM_OK; m++)
    theta->block[IDM_MODEL_PRIOR].value[m] = 1.0 / (double)count;
  return status;
}

/* Whether nothing follows a row: a terminal action, or an action in a terminal state. */
static bool is_idle(const idm_setting *setting, size_t row)
{
  const size_t states = setting->states.count;
  return setting->terminal[row / states] || setting->terminal_state[row % states];
}

/* Number of digits of a model's number in base 3. A digit encodes a perturbation of -d, 0 or +d: of
 * one row where rows are independent, else of all rows of one kind. */
static size_t count_digits(const idm_model_rule *rule, const idm_setting *setting)
{
  const size_t rows = setting->actions.count * setting->states.count;
  size_t moving = 0;
  size_t digits = 0;
  for (size_t row = 0; row < rows; row++) moving += !is_idle(setting, row);
  for (size_t k = 0; k < 2; k++)
    if (rule->perturb[k] > 0) digits += rule->independent ? moving : 1;
  return digits;
}

double idm_model_rule_count(const idm_model_rule *rule, const idm_setting *setting)
{
  if (!rule || !setting) return 0;
  if (rule->uniform > 0) return 2;
  return pow(3, (double)count_digits(rule, setting));
}

/* Change the probability of the most likely outcome (the first of equals) by `offset`; the other
 * outcomes keep their proportions. */
static void perturb_row(double *row, size_t count, double offset)
{
  size_t likeliest = 0;
  for (size_t i = 1; i < count; i++)
    if (row[i] > row[likeliest]) likeliest = i;
  double rest_mass = 0;
  for (size_t i = 0; i < count; i++)
    if (i != likeliest) rest_mass += row[i];
  if (count < 2) return;
  const double perturbed = fmin(fmax(row[likeliest] + offset, min_probability), max_probability);
  for (size_t i = 0; i < count; i++)
    if (i != likeliest)
      row[i] = rest_mass > 0 ? row[i] / rest_mass * (1 - perturbed)
                             : (1 - perturbed) / (double)(count - 1);
  row[likeliest] = perturbed;
  idm_normalise(row, count);
}

/* Digit `digit_index` of model m as -1, 0 or +1; the first digit varies slowest. */
static int digit(size_t m, size_t digit_index, size_t digits)
{
  for (size_t i = digit_index + 1; i < digits; i++) m /= 3;
  return (int)(m % 3) - 1;
}

static void perturb_model(const idm_problem *problem, size_t m, size_t digits)
{
  const idm_model_rule *rule = &problem->models;
  const idm_sizes n = problem->theta->sizes;
  const model target_model = model_of(problem, m);
  size_t digit_index = 0;
  /* The digits of observations vary slowest. */
  for (int k = 1; k >= 0; k--) {
    const size_t columns = target_model.columns[k];
    if (!(rule->perturb[k] > 0)) continue;
    for (size_t row = 0; row < n.actions * n.states; row++) {
      if (is_idle(problem->setting, row)) continue;
      const int step = digit(m, digit_index, digits);
      if (step)
        perturb_row(target_model.matrices[k] + row * columns, columns, step * rule->perturb[k]);
      digit_index += rule->independent;
    }
    digit_index += !rule->independent;
  }
}

/* Mix every row of a model with the uniform distribution over the outcomes that are possible in it.
 */
static void mix_uniform(const idm_problem *problem, size_t m)
{
  const idm_sizes n = problem->theta->sizes;
  const model target_model = model_of(problem, m);
  const double share = problem->models.uniform;
  for (size_t k = 0; k < 2; k++)
    for (size_t row = 0; row < n.actions * n.states; row++) {
      double *p = target_model.matrices[k] + row * target_model.columns[k];
      size_t possible = 0;
      if (is_idle(problem->setting, row)) continue;
      for (size_t i = 0; i < target_model.columns[k]; i++) possible += p[i] > 0;
      for (size_t i = 0; i < target_model.columns[k]; i++)
        if (p[i] > 0) p[i] = (1 - share) * p[i] + share / (double)possible;
      idm_normalise(p, target_model.columns[k]);
    }
}

static void copy_environment(const idm_problem *problem, size_t m)
{
  const model target_model = model_of(problem, m);
  const idm_sizes n = problem->theta->sizes;
  memcpy(target_model.matrices[0], target_model.environment[0],
         transition_size(n) * sizeof(double));
  memcpy(target_model.matrices[1], target_model.environment[1], emission_size(n) * sizeof(double));
}

idm_status idm_problem_apply_rule(idm_problem *problem, const idm_model_rule *rule,
                                  idm_error *opt_error)
{
  idm_require(problem, rule);
  idm_status status = check_known(problem->setting, opt_error);
  if (status != IDM_OK) return status;
  const size_t digits = count_digits(rule, problem->setting);
  if (digits > max_digits)
    return idm_fail(opt_error, IDM_INPUT,
                    "%zu rows with independent perturbations give 3^%zu = %.4g models; expected at "
                    "most 3^%d = %.0f",
                    digits, digits, pow(3, (double)digits), max_digits, pow(3, max_digits));
  problem->models = *rule;
  const size_t count = has_rule(rule) ? (size_t)idm_model_rule_count(rule, problem->setting) : 1;
  status = resize_models(problem, count, opt_error);
  for (size_t m = 0; m < count && status == IDM_OK; m++) {
    copy_environment(problem, m);
    if (digits) perturb_model(problem, m, digits);
    if (rule->uniform > 0 && m == 1) mix_uniform(problem, m);
  }
  return status;
}

idm_status idm_problem_set_dynamics(idm_problem *problem, const idm_dynamics *dynamics,
                                    idm_error *opt_error)
{
  idm_require(problem, dynamics);
  const idm_setting *setting = problem->setting;
  const idm_sizes n = idm_setting_sizes(setting);
  if (!idm_sizes_same(n, dynamics->sizes))
    return idm_fail(opt_error, IDM_USAGE, "the dynamics are of another problem");
  const idm_status status = check_known(setting, opt_error);
  if (status != IDM_OK) return status;
  if (!idm_problem_models_derived(problem))
    return idm_fail(opt_error, IDM_INPUT,
                    "the models of the problem are an explicit list, which does not follow new "
                    "dynamics; expected `models: {perturb: ...}`, `{uniform: ...}` or none, as in "
                    "the file that `idm learn --models perturb` writes");
  memcpy(setting->start, dynamics->start, n.states * sizeof *setting->start);
  memcpy(setting->transition, dynamics->transition, transition_size(n) * sizeof(double));
  memcpy(setting->emission, dynamics->emission, emission_size(n) * sizeof(double));
  idm_setting_absorb(setting, setting->transition, n.actions);
  const idm_model_rule rule = problem->models;
  return idm_problem_apply_rule(problem, &rule, opt_error);
}

idm_status idm_problem_set_models(idm_problem *problem, const idm_dynamics *const *list,
                                  size_t count, idm_error *opt_error)
{
  idm_require(problem, list);
  const idm_sizes n = problem->theta->sizes;
  for (size_t m = 0; m < count; m++)
    if (!list[m] || !idm_sizes_same(n, list[m]->sizes))
      return idm_fail(opt_error, IDM_USAGE, "the dynamics are of another problem");
  if (!count) return idm_fail(opt_error, IDM_USAGE, "an agent needs at least one model");
  problem->models = (idm_model_rule){0};
  const idm_status status = resize_models(problem, count, opt_error);
  for (size_t m = 0; m < count && status == IDM_OK; m++) {
    const model target_model = model_of(problem, m);
    memcpy(target_model.matrices[0], list[m]->transition, transition_size(n) * sizeof(double));
    memcpy(target_model.matrices[1], list[m]->emission, emission_size(n) * sizeof(double));
  }
  return status;
}

/* === environment ============================================================================ */

/* Families of environments with common spaces, agent and utility. */

/* Names of the environments, for a message. */
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

/* Whether the agent's only model equals the environment. */
static bool models_environment(const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  const idm_block *transition = &problem->theta->block[IDM_TRANSITION];
  const idm_block *emission = &problem->theta->block[IDM_EMISSION];
  return problem->theta->models == 1 && setting->transition && setting->emission &&
         memcmp(transition->value, setting->transition,
                transition->size * sizeof *transition->value) == 0 &&
         memcmp(emission->value, setting->emission, emission->size * sizeof *emission->value) == 0;
}

static bool has_model_rule(const idm_model_rule *rule)
{
  return rule->perturb[0] > 0 || rule->perturb[1] > 0 || rule->uniform > 0;
}

/* Exchange two pointers, given their addresses. */
static void swap(void *a, void *b)
{
  void *temporary;
  memcpy(&temporary, a, sizeof temporary);
  memcpy(a, b, sizeof temporary);
  memcpy(b, &temporary, sizeof temporary);
}

/* Exchange the dynamics of two settings. Labels stay in place, since others may have borrowed them.
 */
static void swap_dynamics(idm_setting *a, idm_setting *b)
{
  swap(&a->transition, &b->transition);
  swap(&a->emission, &b->emission);
  swap(&a->start, &b->start);
  swap(&a->moves, &b->moves);
  swap(&a->transition_shared, &b->transition_shared);
  swap(&a->emission_shared, &b->emission_shared);
}

idm_status idm_problem_set_environment(idm_problem *problem, const char *environment,
                                       idm_error *opt_error)
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
  const bool known = models_environment(problem);
  idm_setting *setting = problem->setting;
  swap_dynamics(setting, other);
  idm_setting_destroy(other);
  problem->current_environment = i + 1;
  if (has_model_rule(&problem->models)) {
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
