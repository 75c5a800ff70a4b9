/* Draws from the environment: see the header. */
#include "plan/draw.h"

/* The state after an action. */
static size_t draw_next(const idm_setting *setting, size_t u, size_t state, idm_random *random)
{
  const size_t k = setting->states.count;
  const idm_moves *moves = setting->moves;
  const size_t row = u * k + state;
  if (!moves) return idm_random_choice(random, setting->transition + row * k, k);
  const size_t first = moves->first[row];
  return moves->next[first + idm_random_choice(random, moves->probability + first,
                                               moves->first[row + 1] - first)];
}

int idm_draw_move(const idm_setting *setting, size_t action, size_t *state, idm_random *random)
{
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t acted_in = *state;
  *state = draw_next(setting, action, acted_in, random);
  if (setting->fully_observed) return (int)*state;
  const size_t emitter = setting->emits_before ? acted_in : *state;
  return (int)idm_random_choice(
      random, setting->emission + (action * n.states + emitter) * n.observations, n.observations);
}
