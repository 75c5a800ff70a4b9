/* A log of observed states in pieces: see the header. */
#include "data/cut.h"

#include "base/memory.h"

/* Bytes that the corners may take as start beliefs. */
static const size_t most_bytes = (size_t)1 << 26;

/* Whether a belief is sure of its state. */
static bool is_corner(const double *belief, size_t states)
{
  size_t possible = 0;
  for (size_t s = 0; s < states; s++) possible += belief[s] > 0;
  return possible == 1;
}

static bool begins_at_corner(const idm_data *data, const idm_setting *setting, size_t trajectory)
{
  const size_t states = data->sizes.states;
  const int32_t start = data->start[trajectory];
  return is_corner(start < 0 ? setting->start : data->start_belief + (size_t)start * states,
                   states);
}

/* The start beliefs of the log, and behind them the corners. */
static double *make_starts(const idm_data *data)
{
  const size_t states = data->sizes.states;
  double *belief = idm_new(idm_times(data->starts + states, states), sizeof *belief);
  if (!belief) return NULL;
  if (data->starts) memcpy(belief, data->start_belief, data->starts * states * sizeof *belief);
  for (size_t s = 0; s < states; s++) belief[(data->starts + s) * states + s] = 1;
  return belief;
}

/* What was seen last speaks of an action that was not recorded, and of a state that is not known;
 * of nothing else. */
static void end_piece(idm_data *cut, bool known)
{
  const size_t last = cut->first[cut->trajectories] - 1;
  const bool one = last == cut->first[cut->trajectories - 1];
  if (known && one && cut->action[last] != IDM_MISSING) cut->observation[last] = IDM_MISSING;
}

/* Whether what follows a row tells more of it than what was seen there: an action that was not
 * recorded is none that ends a trajectory which goes on. */
static bool outlives(const idm_data *data, const idm_setting *setting, size_t row)
{
  if (data->action[row] != IDM_MISSING) return false;
  for (size_t u = 0; u < data->sizes.actions; u++)
    if (setting->ends[u]) return true;
  return false;
}

static void cut_trajectory(const idm_data *data, const idm_setting *setting, size_t t,
                           idm_data *cut)
{
  bool known = begins_at_corner(data, setting, t);
  int32_t start = data->start[t];
  for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
    const bool ends = row + 1 == data->first[t + 1];
    const int32_t seen = data->observation[row];
    if (!ends && (seen == IDM_MISSING || outlives(data, setting, row))) continue;
    const size_t piece = cut->trajectories++;
    cut->agent[piece] = data->agent[t];
    cut->variant[piece] = data->variant[t];
    cut->start[piece] = start;
    cut->first[piece + 1] = row + 1;
    end_piece(cut, known);
    start = (int32_t)data->starts + seen;
    known = true;
  }
}

void idm_data_cut_destroy(idm_data *cut)
{
  if (!cut) return;
  free(cut->first);
  free(cut->agent);
  free(cut->variant);
  free(cut->start);
  free(cut->start_belief);
  free(cut->observation);
  free(cut);
}

idm_status idm_data_cut(const idm_data *data, const idm_setting *setting, idm_data **ret_cut,
                        idm_error *opt_error)
{
  const size_t states = data->sizes.states;
  *ret_cut = NULL;
  if (idm_times(idm_times(data->starts + states, states), sizeof(double)) > most_bytes)
    return IDM_OK;
  idm_data *cut = idm_new(1, sizeof *cut);
  if (!cut) return idm_fail_memory(opt_error);
  *cut = (idm_data){.sizes = data->sizes,
                    .rows = data->rows,
                    .action = data->action,
                    .available = data->available,
                    .missed = data->missed,
                    .line = data->line,
                    .file = data->file,
                    .file_name = data->file_name,
                    .agent_name = data->agent_name,
                    .available_sets = data->available_sets,
                    .available_set = data->available_set,
                    .starts = data->starts + states,
                    .variants = data->variants,
                    .columns = data->columns,
                    .variant_value = data->variant_value};
  cut->observation = idm_duplicate(data->observation, data->rows, sizeof *cut->observation);
  cut->first = idm_new(data->rows + 1, sizeof *cut->first);
  cut->agent = idm_new(data->rows, sizeof *cut->agent);
  cut->variant = idm_new(data->rows, sizeof *cut->variant);
  cut->start = idm_new(data->rows, sizeof *cut->start);
  cut->start_belief = make_starts(data);
  if (!cut->observation || !cut->first || !cut->agent || !cut->variant || !cut->start ||
      !cut->start_belief) {
    idm_data_cut_destroy(cut);
    return idm_fail_memory(opt_error);
  }
  for (size_t t = 0; t < data->trajectories; t++) cut_trajectory(data, setting, t, cut);
  *ret_cut = cut;
  return IDM_OK;
}
