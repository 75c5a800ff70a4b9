/* A part of a log: see the header. */
#include "data/part.h"

#include "base/memory.h"

/* Numbers of `size` bytes, by row or by trajectory, of the trajectories that are kept. */
typedef struct gather {
  const idm_data *from;
  const uint32_t *trajectory;
  size_t count;
  size_t rows;
} gather;

/* NULL stays NULL; false where memory ran out. */
static bool by_row(const gather *g, const void *opt_from, size_t size, void *ret_to)
{
  if (!opt_from) return true;
  char *to = idm_new(g->rows, size);
  memcpy(ret_to, &to, sizeof to);
  for (size_t i = 0; to && i < g->count; i++) {
    const size_t first = g->from->first[g->trajectory[i]];
    const size_t bytes = (g->from->first[g->trajectory[i] + 1] - first) * size;
    memcpy(to, (const char *)opt_from + first * size, bytes);
    to += bytes;
  }
  return to != NULL;
}

static bool by_trajectory(const gather *g, const void *opt_from, size_t size, void *ret_to)
{
  if (!opt_from) return true;
  char *to = idm_new(g->count, size);
  memcpy(ret_to, &to, sizeof to);
  for (size_t i = 0; to && i < g->count; i++)
    memcpy(to + i * size, (const char *)opt_from + g->trajectory[i] * size, size);
  return to != NULL;
}

static idm_status copy_evidence(const gather *g, idm_data *part, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++) {
    const bool whole = idm_column_describe((idm_column)c)->by_trajectory;
    bool (*const copy)(const gather *, const void *, size_t, void *) =
        whole ? by_trajectory : by_row;
    if (!copy(g, g->from->number[c], sizeof(double), &part->number[c]) ||
        !copy(g, g->from->label[c], sizeof(int32_t), &part->label[c]))
      return idm_fail_memory(opt_error);
    if (part->label[c])
      status = idm_labels_copy(&g->from->label_name[c], &part->label_name[c], opt_error);
  }
  return status;
}

static idm_status copy_covariates(const gather *g, idm_data *part, idm_error *opt_error)
{
  const idm_data *from = g->from;
  if (!from->covariates) return IDM_OK;
  part->covariate = idm_new(idm_times(from->covariates, g->rows), sizeof *part->covariate);
  part->covariate_level = idm_new(from->covariates, sizeof *part->covariate_level);
  if (!part->covariate || !part->covariate_level) return idm_fail_memory(opt_error);
  part->covariates = from->covariates;
  idm_status status = idm_labels_copy(&from->covariate_name, &part->covariate_name, opt_error);
  for (size_t c = 0; c < from->covariates && status == IDM_OK; c++) {
    int32_t *to = part->covariate + c * g->rows;
    for (size_t i = 0; i < g->count; i++)
      for (size_t r = from->first[g->trajectory[i]]; r < from->first[g->trajectory[i] + 1]; r++)
        *to++ = from->covariate[c * from->rows + r];
    status = idm_labels_copy(&from->covariate_level[c], &part->covariate_level[c], opt_error);
  }
  return status;
}

/* What is no part of any trajectory: sizes and tables. */
static bool copy_tables(const idm_data *from, idm_data *part)
{
  part->sizes = from->sizes;
  part->available_sets = from->available_sets;
  part->starts = from->starts;
  part->variants = from->variants;
  part->columns = from->columns;
  part->available_set = idm_duplicate(
      from->available_set, from->available_sets * from->sizes.actions, sizeof *part->available_set);
  part->start_belief = idm_duplicate(from->start_belief, from->starts * from->sizes.states,
                                     sizeof *part->start_belief);
  part->variant_value = idm_duplicate(from->variant_value, from->variants * from->columns,
                                      sizeof *part->variant_value);
  return (part->available_set || !from->available_set) &&
         (part->start_belief || !from->start_belief) &&
         (part->variant_value || !from->variant_value);
}

/* Agents in the order in which they first occur. */
static idm_status number_agents(const gather *g, idm_data *part, idm_error *opt_error)
{
  const size_t agents = g->from->agent_name.count;
  uint32_t *number = idm_new(agents, sizeof *number);
  uint32_t *occurs = idm_new(agents, sizeof *occurs);
  idm_status status = number && occurs ? IDM_OK : idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t i = 0; i < g->count && status == IDM_OK; i++) {
    const uint32_t agent = part->agent[i];
    if (!number[agent]) {
      occurs[count] = agent;
      number[agent] = (uint32_t)++count;
    }
    part->agent[i] = number[agent] - 1;
  }
  if (status == IDM_OK) status = idm_labels_create(&part->agent_name, count, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const char *name = g->from->agent_name.name[occurs[i]];
    status = idm_labels_set(&part->agent_name, i, name, strlen(name), opt_error);
  }
  free(number);
  free(occurs);
  return status;
}

static idm_status name_trajectories(const gather *g, idm_data *part, idm_error *opt_error)
{
  if (!g->from->trajectory_name.count) return IDM_OK;
  idm_status status = idm_labels_create(&part->trajectory_name, g->count, opt_error);
  for (size_t i = 0; i < g->count && status == IDM_OK; i++) {
    const char *name = g->from->trajectory_name.name[g->trajectory[i]];
    status = idm_labels_set(&part->trajectory_name, i, name, strlen(name), opt_error);
  }
  return status;
}

static idm_status fill(gather *g, idm_data *part, idm_error *opt_error)
{
  const idm_data *from = g->from;
  part->trajectories = g->count;
  part->first = idm_new(g->count + 1, sizeof *part->first);
  if (!part->first) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->count; i++) {
    g->rows += from->first[g->trajectory[i] + 1] - from->first[g->trajectory[i]];
    part->first[i + 1] = g->rows;
  }
  part->rows = g->rows;
  const bool copied = by_row(g, from->action, sizeof *from->action, &part->action) &&
                      by_row(g, from->observation, sizeof *from->observation, &part->observation) &&
                      by_row(g, from->available, sizeof *from->available, &part->available) &&
                      by_row(g, from->line, sizeof *from->line, &part->line) &&
                      by_row(g, from->state, sizeof *from->state, &part->state) &&
                      by_row(g, from->file, sizeof *from->file, &part->file) &&
                      by_row(g, from->history, sizeof *from->history, &part->history) &&
                      by_row(g, from->missed, sizeof *from->missed, &part->missed) &&
                      by_trajectory(g, from->agent, sizeof *from->agent, &part->agent) &&
                      by_trajectory(g, from->variant, sizeof *from->variant, &part->variant) &&
                      by_trajectory(g, from->start, sizeof *from->start, &part->start) &&
                      copy_tables(from, part);
  idm_status status = copied ? copy_evidence(g, part, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = copy_covariates(g, part, opt_error);
  if (status == IDM_OK) status = number_agents(g, part, opt_error);
  if (status == IDM_OK) status = name_trajectories(g, part, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->file_name, &part->file_name, opt_error);
  return status;
}

idm_status idm_data_part(const idm_data *data, const uint32_t *trajectory, size_t count,
                         idm_data **ret_part, idm_error *opt_error)
{
  *ret_part = NULL;
  idm_data *part = idm_new(1, sizeof *part);
  if (!part) return idm_fail_memory(opt_error);
  gather g = {.from = data, .trajectory = trajectory, .count = count};
  const idm_status status = fill(&g, part, opt_error);
  if (status == IDM_OK)
    *ret_part = part;
  else
    idm_data_destroy(part);
  return status;
}
