/* Create, check, bind and compare problems: setting, parameter, agent and columns. */
#include "idm/extension/problem.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/text.h"
#include "setting/model.h"

void idm_agent_options_default(idm_agent_options *agent)
{
  if (!agent) return;
  *agent = (idm_agent_options){
      .evaluate = IDM_LOOKAHEAD,
      .surprise = IDM_SURPRISE_BELIEF,
      .recognition = IDM_RECOGNITION_MEAN,
      .tolerance = 1e-10,
      .gap = 1e-3,
      .decision_capacity = NAN,
      .specification_capacity = NAN,
      .recognition_capacity = NAN,
      .hidden = 64,
      .layer = 64,
      .sweeps = 40,
      .seed = 1,
      .step_power = 0.7,
      .exploration = 1,
      .nodes = 16,
  };
}

static const char *const evaluate_words[] = {"lookahead", "interpolate", NULL};
static const char *const surprise_words[] = {"belief", "observation", NULL};
static const char *const recognition_words[] = {"mean", "sampled", NULL};
static const char *const alpha_unit_words[] = {"absolute", "range", NULL};
static const char *const discounting_words[] = {"exponential", "naive", "sophisticated", NULL};
static const char *const asymmetry_words[] = {"outcome", "error", NULL};
static const char *const choice_words[] = {"drawn", "best", NULL};

static const idm_key agent_keys[] = {
    {.name = "resolution",
     .kind = IDM_KEY_INT,
     .offset = offsetof(idm_agent_options, resolution),
     .least = 1,
     .most = 1e9,
     .zero = "auto",
     .help = "r of the lattice of beliefs"},
    {.name = "evaluate",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, evaluate),
     .words = evaluate_words,
     .help = "evaluation of policies at beliefs off the lattice"},
    {.name = "surprise",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, surprise),
     .words = surprise_words,
     .help = "surprise of successor beliefs or of observations"},
    {.name = "recognition",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, recognition),
     .words = recognition_words,
     .help = "the mean of the models' updates, or their mixture"},
    {.name = "alpha_unit",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, alpha_unit),
     .words = alpha_unit_words,
     .help = "alpha by itself, or in units of the range of the utilities",
     .later = true},
    {.name = "tolerance",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, tolerance),
     .above = true,
     .most = INFINITY,
     .help = "tolerance of the value function, relative to its size"},
    {.name = "gap",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, gap),
     .above = true,
     .most = INFINITY,
     .help = "point-based: absolute gap between the bounds on the value at the start"},
    {.name = "decision_capacity",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, decision_capacity),
     .most = INFINITY,
     .help = "nats; finds alpha"},
    {.name = "specification_capacity",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, specification_capacity),
     .most = INFINITY,
     .help = "nats; finds beta"},
    {.name = "recognition_capacity",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, recognition_capacity),
     .least = -INFINITY,
     .most = INFINITY,
     .help = "nats; finds eta"},
    {.name = "discounting",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, discounting),
     .words = discounting_words,
     .help = "discounting by the discount, or by delay (naive or sophisticated)"},
    {.name = "asymmetry",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, asymmetry),
     .words = asymmetry_words,
     .help = "td-learner: a gain is a reward above 0, or an error of at least 0"},
    {.name = "fictive",
     .kind = IDM_KEY_BOOL,
     .offset = offsetof(idm_agent_options, fictive),
     .help = "td-learner: also update the other actions, with the opposite reward"},
    {.name = "hidden",
     .kind = IDM_KEY_INT,
     .offset = offsetof(idm_agent_options, hidden),
     .most = 1e5,
     .affects_shape = true,
     .help = "networks: units of the hidden layer, or of the memory"},
    {.name = "layer",
     .kind = IDM_KEY_INT,
     .offset = offsetof(idm_agent_options, layer),
     .least = 1,
     .most = 1e5,
     .affects_shape = true,
     .help = "recurrent: units between its memory and the choice"},
    {.name = "sweeps",
     .kind = IDM_KEY_INT,
     .offset = offsetof(idm_agent_options, sweeps),
     .least = 1,
     .most = 1e5,
     .affects_shape = true,
     .help = "value-iteration-network: sweeps of value iteration"},
    {.name = "seed",
     .kind = IDM_KEY_SEED,
     .offset = offsetof(idm_agent_options, seed),
     .affects_shape = true,
     .help = "networks: random stream of the initial weights; planners that learn by acting: "
             "random stream of their draws"},
    {.name = "budget",
     .kind = IDM_KEY_LONG,
     .offset = offsetof(idm_agent_options, budget),
     .least = 1,
     .most = 1e9,
     .zero = "auto",
     .help = "planners that learn by acting: transitions to draw from the environment"},
    {.name = "step_power",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, step_power),
     .least = 0.5,
     .above = true,
     .most = 1,
     .help = "q-learning: power p of the step size n^-p of the n-th update of a state and action"},
    {.name = "exploration",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(idm_agent_options, exploration),
     .most = 1,
     .help = "q-learning: share of actions that are drawn uniformly while it learns"},
    {.name = "nodes",
     .kind = IDM_KEY_INT,
     .offset = offsetof(idm_agent_options, nodes),
     .least = 1,
     .most = 1000,
     .help = "controller: nodes of its memory"},
    {.name = "choice",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_agent_options, choice),
     .words = choice_words,
     .help = "decision-rule: drawn by the softmax of its scores, or the best of them",
     .later = true},
    {.name = NULL},
};
_Static_assert(sizeof(idm_evaluate) == sizeof(int), "words are stored as int");

const idm_key *idm_agent_option_keys(void)
{
  return agent_keys;
}

static idm_status create(idm_sizes sizes, size_t models, const bool with_matrices[2], bool sparse,
                         idm_problem **ret_problem, idm_error *opt_error)
{
  *ret_problem = NULL;
  idm_problem *problem = idm_new(1, sizeof *problem);
  if (!problem) return idm_fail_memory(opt_error);
  idm_agent_options_default(&problem->agent);
  idm_status status =
      idm_setting_create(sizes, with_matrices[0], with_matrices[1], &problem->setting, opt_error);
  if (status == IDM_OK)
    status = sparse ? idm_theta_create_sparse(sizes, &problem->theta, opt_error)
                    : idm_theta_create(sizes, models, &problem->theta, opt_error);
  if (status != IDM_OK) {
    idm_problem_destroy(problem);
    return status;
  }
  *ret_problem = problem;
  return IDM_OK;
}

idm_status idm_problem_create_sparse(idm_sizes sizes, idm_problem **ret_problem,
                                     idm_error *opt_error)
{
  idm_require(ret_problem);
  return create(sizes, 1, (const bool[]){false, false}, true, ret_problem, opt_error);
}

idm_status idm_problem_create(idm_sizes sizes, size_t models, bool with_transition,
                              bool with_emission, idm_problem **ret_problem, idm_error *opt_error)
{
  idm_require(ret_problem);
  const bool with_matrices[] = {with_transition, with_emission};
  return create(sizes, models, with_matrices, false, ret_problem, opt_error);
}

void idm_problem_destroy(idm_problem *problem)
{
  if (!problem) return;
  idm_setting_destroy(problem->setting);
  idm_theta_destroy(problem->theta);
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) {
    idm_labels_destroy(&problem->columns.role[i]);
    idm_codes_destroy(&problem->columns.codes[i]);
  }
  idm_labels_destroy(&problem->columns.utility);
  idm_labels_destroy(&problem->columns.missing);
  idm_labels_destroy(&problem->columns.missed);
  for (size_t i = 0; i < problem->columns.derived_count; i++)
    idm_derived_clear(&problem->columns.derived[i]);
  for (size_t i = 0; i < problem->columns.rules; i++) idm_rule_clear(&problem->columns.rule[i]);
  free(problem->columns.derived);
  free(problem->columns.rule);
  free(problem->utility_source);
  for (size_t i = 0; problem->environment && i < problem->environments; i++) {
    free(problem->environment[i].name);
    idm_setting_destroy(problem->environment[i].setting);
  }
  free(problem->environment);
  free(problem);
}

idm_status idm_problem_validate(const idm_problem *problem, idm_error *opt_error)
{
  idm_require(problem);
  idm_status status = idm_setting_validate(problem->setting, opt_error);
  for (size_t i = 0; i < problem->environments && status == IDM_OK; i++)
    status = idm_setting_validate(problem->environment[i].setting, opt_error);
  if (status == IDM_OK) status = idm_theta_validate(problem->theta, problem->setting, opt_error);
  return status == IDM_OK ? idm_terminal_check(problem, opt_error) : status;
}

size_t idm_columns_count(const idm_columns *columns, idm_column role)
{
  if (!columns || (size_t)role >= IDM_COLUMN_COUNT) return 0;
  return columns->role[role].count ? columns->role[role].count : 1;
}

const char *idm_columns_name(const idm_columns *columns, idm_column role, size_t part)
{
  if (part >= idm_columns_count(columns, role)) return NULL;
  const idm_labels *named = &columns->role[role];
  return named->count ? named->name[part] : idm_column_describe(role)->names[0];
}

bool idm_columns_shared(const idm_columns *columns, idm_column role, size_t part, idm_column other)
{
  const char *name = idm_columns_name(columns, role, part);
  for (size_t i = 0; name && i < idm_columns_count(columns, other); i++)
    if (strcmp(name, idm_columns_name(columns, other, i)) == 0) return true;
  return false;
}

/* Value of the data column that gives this entry of the utility. */
static double required_value(const idm_utility_source *source, const idm_theta *theta,
                             size_t variant)
{
  const double *utility = idm_theta_values(theta, IDM_UTILITY, variant);
  const double value = utility[source->action * theta->sizes.states + source->state];
  return source->scale != 0 ? value / source->scale : 0;
}

idm_status idm_problem_unbind(const idm_problem *problem, const idm_theta *theta, double *values,
                              idm_error *opt_error)
{
  idm_require(problem, theta, values);
  const idm_setting *setting = problem->setting;
  const size_t columns = problem->columns.utility.count;
  if (!idm_sizes_same(theta->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the sizes of theta differ from those of the problem");
  const size_t variants = idm_theta_variants(theta);
  for (size_t i = 0; i < problem->utility_sources; i++) {
    const idm_utility_source *source = &problem->utility_source[i];
    size_t first = 0;
    while (problem->utility_source[first].column != source->column) first++;
    for (size_t v = 0; v < variants; v++) {
      const double value = required_value(source, theta, v);
      double *target = &values[v * columns + source->column];
      if (first == i) *target = value;
      if (fabs(*target - value) > 1e-9 * (fabs(value) + fabs(*target)))
        return idm_fail(opt_error, IDM_USAGE,
                        "the utilities of '%s' in '%s' and of '%s' in '%s' both come from the data "
                        "column '%s', which cannot be %g and %g at once",
                        setting->actions.name[problem->utility_source[first].action],
                        setting->states.name[problem->utility_source[first].state],
                        setting->actions.name[source->action], setting->states.name[source->state],
                        problem->columns.utility.name[source->column], *target, value);
    }
  }
  return IDM_OK;
}

idm_status idm_problem_bind(idm_problem *problem, size_t variants, const double *opt_values,
                            idm_error *opt_error)
{
  idm_require(problem);
  if (!problem->utility_sources) return IDM_OK;
  if (!variants || !opt_values)
    return idm_fail(opt_error, IDM_USAGE, "a family needs at least one variant, with its values");
  idm_theta *theta = problem->theta;
  const size_t size = theta->block[IDM_UTILITY].size;
  double *constant_utility =
      idm_duplicate(theta->block[IDM_UTILITY].value, size, sizeof *constant_utility);
  if (!constant_utility) return idm_fail_memory(opt_error);
  idm_status status = idm_theta_resize(theta, IDM_UTILITY, size, variants, opt_error);
  for (size_t v = 0; status == IDM_OK && v < variants; v++) {
    double *utility = theta->block[IDM_UTILITY].value + v * size;
    memcpy(utility, constant_utility, size * sizeof *utility);
    for (size_t i = 0; i < problem->utility_sources; i++) {
      const idm_utility_source *source = &problem->utility_source[i];
      utility[source->action * theta->sizes.states + source->state] =
          source->scale * opt_values[v * problem->columns.utility.count + source->column];
    }
  }
  free(constant_utility);
  /* The utilities are now known, and with them the scale of the default priors. */
  return status == IDM_OK ? idm_problem_reset_priors(problem, opt_error) : status;
}

/* --- comparison ----------------------------------------------------------------------------- */

typedef struct difference {
  double tolerance;
  char *buffer;
  size_t size;
} difference;

static bool same_labels(const idm_labels *a, const idm_labels *b, const char *what, difference *d)
{
  if (a->count != b->count) {
    idm_print(d->buffer, d->size, "%zu and %zu %s", a->count, b->count, what);
    return false;
  }
  for (size_t i = 0; i < a->count; i++)
    if (strcmp(a->name[i], b->name[i]) != 0) {
      idm_print(d->buffer, d->size, "%s %zu: '%s' and '%s'", what, i, a->name[i], b->name[i]);
      return false;
    }
  return true;
}

static bool same_numbers(const double *a, const double *b, size_t count, const char *what,
                         difference *d)
{
  if (!a != !b) {
    idm_print(d->buffer, d->size, "only one of the problems has %s", what);
    return false;
  }
  for (size_t i = 0; a && i < count; i++)
    if (!idm_number_same(a[i], b[i], d->tolerance)) {
      idm_print(d->buffer, d->size, "%s[%zu]: %.17g and %.17g", what, i, a[i], b[i]);
      return false;
    }
  return true;
}

static bool same_setting(const idm_setting *a, const idm_setting *b, difference *d)
{
  if (!same_labels(&a->states, &b->states, "states", d) ||
      !same_labels(&a->actions, &b->actions, "actions", d) ||
      !same_labels(&a->observations, &b->observations, "observations", d))
    return false;
  const idm_sizes n = idm_setting_sizes(a);
  if (!same_numbers(a->transition, b->transition, n.actions * n.states * n.states, "transition",
                    d) ||
      !same_numbers(a->emission, b->emission, n.actions * n.states * n.observations, "emission",
                    d) ||
      !same_numbers(a->start, b->start, n.states, "start", d))
    return false;
  if (!idm_sparse_rows_same(a->moves, b->moves)) {
    idm_print(d->buffer, d->size, "transition");
    return false;
  }
  if (memcmp(a->terminal, b->terminal, n.actions * sizeof *a->terminal) != 0 ||
      memcmp(a->ends, b->ends, n.actions * sizeof *a->ends) != 0 ||
      memcmp(a->terminal_state, b->terminal_state, n.states * sizeof *a->terminal_state) != 0 ||
      a->horizon != b->horizon || a->fully_observed != b->fully_observed) {
    idm_print(d->buffer, d->size, "how episodes end");
    return false;
  }
  if (a->emits_before != b->emits_before) {
    idm_print(d->buffer, d->size, "where observations come from");
    return false;
  }
  return true;
}

static bool same_theta(const idm_theta *a, const idm_theta *b, difference *d)
{
  if (a->blocks != b->blocks) {
    idm_print(d->buffer, d->size, "the planners' own blocks");
    return false;
  }
  for (size_t i = 0; i < a->blocks; i++) {
    const idm_block *x = &a->block[i];
    const idm_block *y = &b->block[i];
    const char *name = x->info->name;
    if (x->info != y->info || x->size != y->size || x->variants != y->variants ||
        x->role != y->role || x->scale != y->scale || x->prior.kind != y->prior.kind ||
        x->prior.count != y->prior.count || !x->coordinate != !y->coordinate ||
        (x->coordinate &&
         memcmp(x->coordinate, y->coordinate, x->size * sizeof *x->coordinate) != 0)) {
      idm_print(d->buffer, d->size, "the form of %s", name);
      return false;
    }
    if (!idm_features_same(x->features, y->features, x->size)) {
      idm_print(d->buffer, d->size, "the features of %s", name);
      return false;
    }
    if (!same_numbers(x->value, y->value, x->size * x->variants, name, d) ||
        !same_numbers(x->prior.argument, y->prior.argument, x->prior.count, name, d) ||
        !same_numbers(&x->population.sd, &y->population.sd, 1, "population.sd", d) ||
        !same_numbers(&x->population.coefficient, &y->population.coefficient, 1,
                      "population.coefficient", d) ||
        !same_labels(&x->coordinate_name, &y->coordinate_name, "free entries", d))
      return false;
  }
  return true;
}

static bool same_agent(const idm_agent_options *a, const idm_agent_options *b, difference *d)
{
  bool same = a->planner == b->planner;
  for (const idm_key *key = agent_keys; key->name && same; key++)
    same = idm_key_same(key, a, b, d->tolerance);
  if (!same) idm_print(d->buffer, d->size, "the agent");
  return same;
}

static bool same_codes(const idm_codes *a, const idm_codes *b, const char *what, difference *d)
{
  bool same = a->count == b->count;
  for (size_t i = 0; i < a->count && same; i++) same = a->code[i].index == b->code[i].index;
  if (!same) {
    snprintf(d->buffer, d->size, "the form of %s", what);
    return false;
  }
  for (size_t i = 0; i < a->count; i++)
    if (!same_labels(&a->code[i].text, &b->code[i].text, what, d) ||
        !same_labels(&a->code[i].target_label, &b->code[i].target_label, what, d))
      return false;
  return true;
}

/* Compare derived columns and rules. */
static bool same_derivations(const idm_columns *a, const idm_columns *b, difference *d)
{
  bool same = a->derived_count == b->derived_count;
  for (size_t i = 0; same && i < a->derived_count; i++)
    same = idm_derived_same(&a->derived[i], &b->derived[i]);
  if (!same) {
    idm_print(d->buffer, d->size, "derived columns");
    return false;
  }
  same = a->rules == b->rules;
  for (size_t i = 0; same && i < a->rules; i++) same = idm_rule_same(&a->rule[i], &b->rule[i]);
  if (!same) idm_print(d->buffer, d->size, "rules of the data");
  return same;
}

static bool same_missed(const idm_columns *a, const idm_columns *b, difference *d)
{
  if (!same_labels(&a->missed, &b->missed, "texts of missed responses", d)) return false;
  if (a->missed_action == b->missed_action) return true;
  idm_print(d->buffer, d->size, "the action of missed responses");
  return false;
}

static bool same_columns(const idm_problem *a, const idm_problem *b, difference *d)
{
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) {
    char what[40];
    idm_print(what, sizeof what, "%s columns", idm_column_describe((idm_column)i)->key);
    if (!same_labels(&a->columns.role[i], &b->columns.role[i], what, d)) return false;
    snprintf(what, sizeof what, "%s codes", idm_column_describe((idm_column)i)->key);
    if (!same_codes(&a->columns.codes[i], &b->columns.codes[i], what, d)) return false;
  }
  if (!same_labels(&a->columns.utility, &b->columns.utility, "utility columns", d) ||
      !same_labels(&a->columns.missing, &b->columns.missing, "missing texts", d) ||
      !same_missed(&a->columns, &b->columns, d) || !same_derivations(&a->columns, &b->columns, d))
    return false;
  bool same = a->utility_sources == b->utility_sources;
  for (size_t i = 0; same && i < a->utility_sources; i++) {
    const idm_utility_source *p = &a->utility_source[i];
    const idm_utility_source *q = &b->utility_source[i];
    same = p->action == q->action && p->state == q->state && p->column == q->column &&
           p->scale == q->scale;
  }
  if (!same) idm_print(d->buffer, d->size, "utilities by column");
  return same;
}

static bool same_environments(const idm_problem *a, const idm_problem *b, difference *d)
{
  bool same =
      a->environments == b->environments && a->current_environment == b->current_environment;
  for (size_t i = 0; i < a->environments && same; i++)
    same = strcmp(a->environment[i].name, b->environment[i].name) == 0;
  if (!same) idm_print(d->buffer, d->size, "the names of environments");
  for (size_t i = 0; i < a->environments && same; i++)
    same = same_setting(a->environment[i].setting, b->environment[i].setting, d);
  return same;
}

bool idm_problem_compare(const idm_problem *a, const idm_problem *b, double tolerance, char *buffer,
                         size_t size)
{
  if (!a || !b || !buffer) return false;
  difference d = {tolerance, buffer, size};
  return same_setting(a->setting, b->setting, &d) && same_theta(a->theta, b->theta, &d) &&
         same_agent(&a->agent, &b->agent, &d) &&
         same_numbers(&a->correlation, &b->correlation, 1, "population.correlation", &d) &&
         same_columns(a, b, &d) && same_environments(a, b, &d);
}

/* === accessors ============================================================================== */

size_t idm_problem_states(const idm_problem *problem)
{
  return problem ? problem->setting->states.count : 0;
}

size_t idm_problem_actions(const idm_problem *problem)
{
  return problem ? problem->setting->actions.count : 0;
}

size_t idm_problem_observations(const idm_problem *problem)
{
  return problem ? problem->setting->observations.count : 0;
}

static const char *name_at(const idm_labels *labels, size_t index)
{
  return index < labels->count ? labels->name[index] : NULL;
}

const char *idm_problem_state_name(const idm_problem *problem, size_t index)
{
  return problem ? name_at(&problem->setting->states, index) : NULL;
}

const char *idm_problem_action_name(const idm_problem *problem, size_t index)
{
  return problem ? name_at(&problem->setting->actions, index) : NULL;
}

const char *idm_problem_observation_name(const idm_problem *problem, size_t index)
{
  return problem ? name_at(&problem->setting->observations, index) : NULL;
}

idm_status idm_problem_numbers(const idm_problem *problem, const char *name,
                               const double **ret_values, size_t *ret_length, idm_error *opt_error)
{
  idm_require(problem, name, ret_values, ret_length);
  *ret_values = NULL;
  *ret_length = 0;
  const idm_setting *setting = problem->setting;
  const idm_sizes sizes = idm_setting_sizes(setting);
  const idm_theta *theta = problem->theta;
  const int block = idm_theta_find(theta, name);
  if (strcmp(name, "start") == 0) {
    *ret_values = setting->start;
    *ret_length = sizes.states;
  } else if (strcmp(name, "environment.transition") == 0) {
    *ret_values = setting->transition;
    *ret_length = sizes.actions * sizes.states * sizes.states;
  } else if (strcmp(name, "environment.observation") == 0) {
    *ret_values = setting->emission;
    *ret_length = sizes.actions * sizes.states * sizes.observations;
  } else if (block >= 0 && theta->block[block].size) {
    *ret_values = idm_theta_values(theta, (size_t)block, 0);
    *ret_length = theta->block[block].size;
  }
  if (*ret_values) return IDM_OK;
  *ret_length = 0;
  return idm_fail(opt_error, IDM_USAGE, "the problem has no array '%.60s'", name);
}
