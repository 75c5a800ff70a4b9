/* Transitions of observed states, row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/setting.h"

idm_status idm_moves_create(size_t rows, size_t entries, idm_moves **ret_moves,
                            idm_error *opt_error)
{
  idm_require(ret_moves);
  *ret_moves = NULL;
  idm_moves *moves = idm_new(1, sizeof *moves);
  if (!moves) return idm_fail_memory(opt_error);
  moves->rows = rows;
  moves->first = idm_new(rows + 1, sizeof *moves->first);
  moves->next = idm_new(entries, sizeof *moves->next);
  moves->probability = idm_new(entries, sizeof *moves->probability);
  if (!moves->first || !moves->next || !moves->probability) {
    idm_moves_destroy(moves);
    return idm_fail_memory(opt_error);
  }
  *ret_moves = moves;
  return IDM_OK;
}

void idm_moves_destroy(idm_moves *moves)
{
  if (!moves) return;
  free(moves->first);
  free(moves->next);
  free(moves->probability);
  free(moves);
}

idm_status idm_moves_copy(const idm_moves *moves, idm_moves **ret_moves, idm_error *opt_error)
{
  idm_require(moves, ret_moves);
  const size_t entries = moves->first[moves->rows];
  const idm_status status = idm_moves_create(moves->rows, entries, ret_moves, opt_error);
  if (status != IDM_OK) return status;
  memcpy((*ret_moves)->first, moves->first, (moves->rows + 1) * sizeof *moves->first);
  memcpy((*ret_moves)->next, moves->next, entries * sizeof *moves->next);
  memcpy((*ret_moves)->probability, moves->probability, entries * sizeof *moves->probability);
  return IDM_OK;
}

double idm_moves_find(const idm_moves *moves, size_t row, size_t next)
{
  if (!moves || row >= moves->rows) return 0;
  size_t low = moves->first[row];
  size_t high = moves->first[row + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (moves->next[middle] == next) return moves->probability[middle];
    if (moves->next[middle] < next)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

/* Whether a row is a distribution over states that rise. */
static bool is_sound(const idm_moves *moves, size_t row, size_t states)
{
  static const double slack = 1e-4; /* of a sum, as in idm_setting_validate */
  double sum = 0;
  for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++) {
    const double p = moves->probability[i];
    if (!(p > 0) || !isfinite(p) || moves->next[i] >= states) return false;
    if (i > moves->first[row] && moves->next[i - 1] >= moves->next[i]) return false;
    sum += p;
  }
  return fabs(sum - 1) <= slack;
}

idm_status idm_moves_validate(const idm_moves *moves, idm_sizes sizes, idm_error *opt_error)
{
  idm_require(moves);
  if (moves->rows != sizes.actions * sizes.states || moves->first[0])
    return idm_fail(opt_error, IDM_INPUT, "the moves have %zu rows; expected %zu", moves->rows,
                    sizes.actions * sizes.states);
  for (size_t row = 0; row < moves->rows; row++)
    if (moves->first[row] > moves->first[row + 1] || !is_sound(moves, row, sizes.states))
      return idm_fail(opt_error, IDM_INPUT,
                      "row %zu of the transition is no distribution over states in their order",
                      row);
  return IDM_OK;
}

bool idm_moves_same(const idm_moves *a, const idm_moves *b)
{
  if (!a || !b) return a == b;
  if (a->rows != b->rows || memcmp(a->first, b->first, (a->rows + 1) * sizeof *a->first) != 0)
    return false;
  const size_t entries = a->first[a->rows];
  return memcmp(a->next, b->next, entries * sizeof *a->next) == 0 &&
         memcmp(a->probability, b->probability, entries * sizeof *a->probability) == 0;
}
