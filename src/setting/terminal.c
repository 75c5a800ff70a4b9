/* Terminal states: absorbing rows, utilities of 0, and checks. */

#include "base/memory.h"
#include "setting/model.h"

bool idm_setting_has_terminal_states(const idm_setting *setting)
{
  for (size_t s = 0; setting && s < setting->states.count; s++)
    if (setting->terminal_state[s]) return true;
  return false;
}

bool idm_observation_is_terminal(const idm_setting *setting, int seen)
{
  return setting && setting->fully_observed && seen >= 0 && (size_t)seen < setting->states.count &&
         setting->terminal_state[seen];
}

/* --- rows and utilities --------------------------------------------------------------------- */

void idm_setting_absorb(const idm_setting *setting, double *transition, size_t matrices)
{
  const size_t states = setting->states.count;
  for (size_t m = 0; transition && m < matrices; m++)
    for (size_t from = 0; from < states; from++) {
      double *row = transition + (m * states + from) * states;
      for (size_t s = 0; s < states && setting->terminal_state[from]; s++) row[s] = s == from;
    }
}

/* Reduce the rows of terminal states to one entry, and move the later entries up. */
static void absorb_moves(const idm_setting *setting)
{
  idm_sparse_rows *moves = setting->moves;
  const size_t states = setting->states.count;
  size_t at = 0;
  size_t begin = 0;
  for (size_t row = 0; moves && row < moves->rows; row++) {
    const size_t end = moves->first[row + 1];
    const bool is_terminal = setting->terminal_state[row % states];
    moves->first[row] = at;
    for (size_t i = begin; i < (is_terminal ? begin + 1 : end); i++, at++) {
      moves->next[at] = is_terminal ? (uint32_t)(row % states) : moves->next[i];
      moves->probability[at] = is_terminal ? 1 : moves->probability[i];
    }
    begin = end;
  }
  if (moves) moves->first[moves->rows] = at;
}

static void absorb_setting(const idm_setting *setting)
{
  idm_setting_absorb(setting, setting->transition, setting->actions.count);
  absorb_moves(setting);
}

/* Set the utilities of terminal states to 0, and remove their data columns. */
static void zero_terminal_utility(idm_problem *problem)
{
  const bool *is_terminal = problem->setting->terminal_state;
  const idm_block *utility = &problem->theta->block[IDM_UTILITY];
  size_t kept = 0;
  for (size_t i = 0; i < utility->size * utility->variants; i++)
    if (is_terminal[i % problem->setting->states.count]) utility->value[i] = 0;
  for (size_t i = 0; i < problem->utility_sources; i++)
    if (!is_terminal[problem->utility_source[i].state])
      problem->utility_source[kept++] = problem->utility_source[i];
  problem->utility_sources = kept;
}

void idm_problem_absorb(idm_problem *problem)
{
  const idm_block *models = &problem->theta->block[IDM_TRANSITION];
  if (!idm_setting_has_terminal_states(problem->setting)) return;
  absorb_setting(problem->setting);
  for (size_t i = 0; i < problem->environments; i++)
    absorb_setting(problem->environment[i].setting);
  if (models->size)
    idm_setting_absorb(problem->setting, models->value,
                       problem->theta->models * problem->setting->actions.count);
  zero_terminal_utility(problem);
}

/* --- checks ---------------------------------------------------------------------------------- */

static bool is_absorbing(const idm_setting *setting, size_t row)
{
  const size_t states = setting->states.count;
  if (setting->moves) return idm_sparse_rows_probability(setting->moves, row, row % states) == 1;
  return !setting->transition || setting->transition[row * states + row % states] == 1;
}

static idm_status check_setting(const idm_setting *setting, idm_error *opt_error)
{
  const size_t states = setting->states.count;
  if (!setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "terminal names a state, and states are hidden; expected observations: states, "
                    "or terminal actions");
  for (size_t s = 0; s < states; s++)
    if (setting->terminal_state[s] && setting->start[s] > 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "start has a probability of %g for '%.60s', which is terminal; expected 0",
                      setting->start[s], setting->states.name[s]);
  for (size_t row = 0; row < setting->actions.count * states; row++)
    if (setting->terminal_state[row % states] && !is_absorbing(setting, row))
      return idm_fail(opt_error, IDM_INPUT, "the terminal state '%.60s' is left by '%.60s'",
                      setting->states.name[row % states], setting->actions.name[row / states]);
  return IDM_OK;
}

/* Name of a block by which beliefs have a utility, or NULL: it would also be paid for time in a
 * terminal state. */
static const char *belief_utility_block(const idm_theta *theta)
{
  static const idm_block_id ids[] = {IDM_CERTAINTY, IDM_BELIEF_UTILITY};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    const idm_block *block = &theta->block[ids[i]];
    for (size_t f = 0; f < block->size; f++) {
      const idm_field *field = idm_block_field(block->info, theta->sizes, f);
      if (!field || block->value[f] != field->default_number || block->role == IDM_DESCRIPTIVE)
        return block->info->name;
    }
  }
  return NULL;
}

idm_status idm_terminal_check(const idm_problem *problem, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const idm_block *utility = &problem->theta->block[IDM_UTILITY];
  if (!idm_setting_has_terminal_states(setting)) return IDM_OK;
  const idm_status status = check_setting(setting, opt_error);
  if (status != IDM_OK) return status;
  const char *block_name = belief_utility_block(problem->theta);
  if (block_name)
    return idm_fail(opt_error, IDM_INPUT,
                    "%s is a utility of beliefs at every step, which terminal states do not "
                    "support; expected no %s",
                    block_name, block_name);
  for (size_t i = 0; i < utility->size * utility->variants; i++)
    if (setting->terminal_state[i % setting->states.count] && utility->value[i] != 0)
      return idm_fail(
          opt_error, IDM_INPUT,
          "the terminal state '%.60s' has a utility of %g; expected 0: no action is taken there",
          setting->states.name[i % setting->states.count], utility->value[i]);
  return IDM_OK;
}
