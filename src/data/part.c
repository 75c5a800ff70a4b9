/* Subsets of a log, segments of a log of observed states, and duplicate trajectories.
 *
 * Contents: part · split · copies */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "setting/model.h"

/* === part =================================================================================== */

/* A subset of the trajectories of a log. */

/* The trajectories that are kept, with their number of rows. */
typedef struct selection {
  const idm_data *from;
  const uint32_t *trajectory;
  size_t count;
  size_t rows;
} selection;

/* Copy an array by row, with elements of `size` bytes. NULL stays NULL; false where memory runs
 * out. */
static bool by_row(const selection *g, const void *opt_from, size_t size, void *ret_to)
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

static bool by_trajectory(const selection *g, const void *opt_from, size_t size, void *ret_to)
{
  if (!opt_from) return true;
  char *to = idm_new(g->count, size);
  memcpy(ret_to, &to, sizeof to);
  for (size_t i = 0; to && i < g->count; i++)
    memcpy(to + i * size, (const char *)opt_from + g->trajectory[i] * size, size);
  return to != NULL;
}

static idm_status copy_evidence(const selection *g, idm_data *subset, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++) {
    const bool whole = idm_column_describe((idm_column)c)->by_trajectory;
    bool (*const copy)(const selection *, const void *, size_t, void *) =
        whole ? by_trajectory : by_row;
    if (!copy(g, g->from->number[c], sizeof(double), &subset->number[c]) ||
        !copy(g, g->from->label[c], sizeof(int32_t), &subset->label[c]))
      return idm_fail_memory(opt_error);
    if (subset->label[c])
      status = idm_labels_copy(&g->from->label_name[c], &subset->label_name[c], opt_error);
  }
  return status;
}

static idm_status copy_covariates(const selection *g, idm_data *subset, idm_error *opt_error)
{
  const idm_data *from = g->from;
  if (!from->covariates) return IDM_OK;
  subset->covariate = idm_new(idm_times(from->covariates, g->rows), sizeof *subset->covariate);
  subset->covariate_level = idm_new(from->covariates, sizeof *subset->covariate_level);
  if (!subset->covariate || !subset->covariate_level) return idm_fail_memory(opt_error);
  subset->covariates = from->covariates;
  idm_status status = idm_labels_copy(&from->covariate_name, &subset->covariate_name, opt_error);
  for (size_t c = 0; c < from->covariates && status == IDM_OK; c++) {
    int32_t *to = subset->covariate + c * g->rows;
    for (size_t i = 0; i < g->count; i++)
      for (size_t r = from->first[g->trajectory[i]]; r < from->first[g->trajectory[i] + 1]; r++)
        *to++ = from->covariate[c * from->rows + r];
    status = idm_labels_copy(&from->covariate_level[c], &subset->covariate_level[c], opt_error);
  }
  return status;
}

/* Copy sizes and tables, which belong to no trajectory. */
static bool copy_tables(const idm_data *from, idm_data *subset)
{
  subset->sizes = from->sizes;
  subset->available_sets = from->available_sets;
  subset->starts = from->starts;
  subset->variants = from->variants;
  subset->columns = from->columns;
  subset->available_set =
      idm_duplicate(from->available_set, from->available_sets * from->sizes.actions,
                    sizeof *subset->available_set);
  subset->start_belief = idm_duplicate(from->start_belief, from->starts * from->sizes.states,
                                       sizeof *subset->start_belief);
  subset->variant_value = idm_duplicate(from->variant_value, from->variants * from->columns,
                                        sizeof *subset->variant_value);
  return (subset->available_set || !from->available_set) &&
         (subset->start_belief || !from->start_belief) &&
         (subset->variant_value || !from->variant_value);
}

/* Number the agents in the order in which they first occur. */
static idm_status number_agents(const selection *g, idm_data *subset, idm_error *opt_error)
{
  const size_t agents = g->from->agent_name.count;
  uint32_t *number = idm_new(agents, sizeof *number);
  uint32_t *occurs = idm_new(agents, sizeof *occurs);
  idm_status status = number && occurs ? IDM_OK : idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t i = 0; i < g->count && status == IDM_OK; i++) {
    const uint32_t agent = subset->agent[i];
    if (!number[agent]) {
      occurs[count] = agent;
      number[agent] = (uint32_t)++count;
    }
    subset->agent[i] = number[agent] - 1;
  }
  if (status == IDM_OK) status = idm_labels_create(&subset->agent_name, count, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const char *name = g->from->agent_name.name[occurs[i]];
    status = idm_labels_set(&subset->agent_name, i, name, strlen(name), opt_error);
  }
  free(number);
  free(occurs);
  return status;
}

static idm_status name_trajectories(const selection *g, idm_data *subset, idm_error *opt_error)
{
  if (!g->from->trajectory_name.count) return IDM_OK;
  idm_status status = idm_labels_create(&subset->trajectory_name, g->count, opt_error);
  for (size_t i = 0; i < g->count && status == IDM_OK; i++) {
    const char *name = g->from->trajectory_name.name[g->trajectory[i]];
    status = idm_labels_set(&subset->trajectory_name, i, name, strlen(name), opt_error);
  }
  return status;
}

static idm_status fill(selection *g, idm_data *subset, idm_error *opt_error)
{
  const idm_data *from = g->from;
  subset->trajectories = g->count;
  subset->first = idm_new(g->count + 1, sizeof *subset->first);
  if (!subset->first) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->count; i++) {
    g->rows += from->first[g->trajectory[i] + 1] - from->first[g->trajectory[i]];
    subset->first[i + 1] = g->rows;
  }
  subset->rows = g->rows;
  const bool copied =
      by_row(g, from->action, sizeof *from->action, &subset->action) &&
      by_row(g, from->observation, sizeof *from->observation, &subset->observation) &&
      by_row(g, from->available, sizeof *from->available, &subset->available) &&
      by_row(g, from->line, sizeof *from->line, &subset->line) &&
      by_row(g, from->state, sizeof *from->state, &subset->state) &&
      by_row(g, from->file, sizeof *from->file, &subset->file) &&
      by_row(g, from->history, sizeof *from->history, &subset->history) &&
      by_row(g, from->missed, sizeof *from->missed, &subset->missed) &&
      by_trajectory(g, from->agent, sizeof *from->agent, &subset->agent) &&
      by_trajectory(g, from->variant, sizeof *from->variant, &subset->variant) &&
      by_trajectory(g, from->start, sizeof *from->start, &subset->start) &&
      copy_tables(from, subset);
  idm_status status = copied ? copy_evidence(g, subset, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = copy_covariates(g, subset, opt_error);
  if (status == IDM_OK) status = number_agents(g, subset, opt_error);
  if (status == IDM_OK) status = name_trajectories(g, subset, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->file_name, &subset->file_name, opt_error);
  return status;
}

idm_status idm_data_subset(const idm_data *data, const uint32_t *trajectory, size_t count,
                           idm_data **ret_subset, idm_error *opt_error)
{
  *ret_subset = NULL;
  idm_data *subset = idm_new(1, sizeof *subset);
  if (!subset) return idm_fail_memory(opt_error);
  selection g = {.from = data, .trajectory = trajectory, .count = count};
  const idm_status status = fill(&g, subset, opt_error);
  if (status == IDM_OK)
    *ret_subset = subset;
  else
    idm_data_destroy(subset);
  return status;
}

/* === split ================================================================================== */

/* A log of observed states in independent segments. */

/* Most bytes of start beliefs that are concentrated on one state. */
static const size_t max_bytes = (size_t)1 << 26;

/* Whether a belief is concentrated on one state. */
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

/* The start beliefs of the log, followed by one per state that is concentrated on it. */
static double *make_starts(const idm_data *data)
{
  const size_t states = data->sizes.states;
  double *belief = idm_new(idm_times(data->starts + states, states), sizeof *belief);
  if (!belief) return NULL;
  if (data->starts) memcpy(belief, data->start_belief, data->starts * states * sizeof *belief);
  for (size_t s = 0; s < states; s++) belief[(data->starts + s) * states + s] = 1;
  return belief;
}

/* The last observation of a segment is informative only about an unrecorded action or an unknown
 * state; else remove it. */
static void end_segment(idm_data *split, bool known)
{
  const size_t last = split->first[split->trajectories] - 1;
  const bool one = last == split->first[split->trajectories - 1];
  if (known && one && split->action[last] != IDM_MISSING) split->observation[last] = IDM_MISSING;
}

/* Whether the rows after a row constrain its unrecorded action: in a trajectory that continues it
 * is not an action that ends the log. */
static bool constrains_action(const idm_data *data, const idm_setting *setting, size_t row)
{
  if (data->action[row] != IDM_MISSING) return false;
  for (size_t u = 0; u < data->sizes.actions; u++)
    if (setting->ends[u]) return true;
  return false;
}

static void split_trajectory(const idm_data *data, const idm_setting *setting, size_t t,
                             idm_data *split)
{
  bool known = begins_at_corner(data, setting, t);
  int32_t start = data->start[t];
  for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
    const bool ends = row + 1 == data->first[t + 1];
    const int32_t seen = data->observation[row];
    if (!ends && (seen == IDM_MISSING || constrains_action(data, setting, row))) continue;
    const size_t segment = split->trajectories++;
    split->agent[segment] = data->agent[t];
    split->variant[segment] = data->variant[t];
    split->start[segment] = start;
    split->first[segment + 1] = row + 1;
    end_segment(split, known);
    start = (int32_t)data->starts + seen;
    known = true;
  }
}

void idm_data_split_destroy(idm_data *split)
{
  if (!split) return;
  free(split->first);
  free(split->agent);
  free(split->variant);
  free(split->start);
  free(split->start_belief);
  free(split->observation);
  free(split);
}

idm_status idm_data_split(const idm_data *data, const idm_setting *setting, idm_data **ret_split,
                          idm_error *opt_error)
{
  const size_t states = data->sizes.states;
  *ret_split = NULL;
  if (idm_times(idm_times(data->starts + states, states), sizeof(double)) > max_bytes)
    return IDM_OK;
  idm_data *split = idm_new(1, sizeof *split);
  if (!split) return idm_fail_memory(opt_error);
  *split = (idm_data){.sizes = data->sizes,
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
  split->observation = idm_duplicate(data->observation, data->rows, sizeof *split->observation);
  split->first = idm_new(data->rows + 1, sizeof *split->first);
  split->agent = idm_new(data->rows, sizeof *split->agent);
  split->variant = idm_new(data->rows, sizeof *split->variant);
  split->start = idm_new(data->rows, sizeof *split->start);
  split->start_belief = make_starts(data);
  if (!split->observation || !split->first || !split->agent || !split->variant || !split->start ||
      !split->start_belief) {
    idm_data_split_destroy(split);
    return idm_fail_memory(opt_error);
  }
  for (size_t t = 0; t < data->trajectories; t++) split_trajectory(data, setting, t, split);
  *ret_split = split;
  return IDM_OK;
}

/* === copies ================================================================================= */

/* Trajectories that are equal row by row under two names.
 *
 * Short trajectories coincide by chance. In the tree of the distinct trajectories, two that are
 * equal so far have equal next rows with a probability q, which is estimated from the branches of
 * the tree. Duplicates are equal for long where no third trajectory is: K such rows have
 * probability q^K. */

/* Least rows of a trajectory that is compared, and depths of the tree with separate estimates of q.
 */
enum { min_rows = 5, DEPTHS = 4 };

typedef struct duplicate_search {
  const idm_data *data;
  uint32_t *row;             /* [row]: number of the distinct row */
  idm_intern rows;           /* distinct rows, as bytes */
  idm_intern whole;          /* distinct trajectories, as numbers of rows */
  idm_intern nodes;          /* nodes of the tree of these: parent node and row */
  double *visits;            /* [node]: number of distinct trajectories through it */
  size_t *count;             /* [distinct trajectory]: number of occurrences in the log */
  size_t *first;             /* [distinct trajectory]: index of its first occurrence */
  double branch_probability; /* q */
  size_t duplicates;         /* pairs of duplicates that chance does not explain */
  size_t one, other;         /* the first such pair */
} duplicate_search;

static void duplicate_search_clear(duplicate_search *c)
{
  idm_intern_clear(&c->rows);
  idm_intern_clear(&c->whole);
  idm_intern_clear(&c->nodes);
  free(c->row);
  free(c->visits);
  free(c->count);
  free(c->first);
}

/* Append a value to the bytes of a row. */
static size_t put(char *bytes, size_t at, const void *value, size_t size)
{
  memcpy(bytes + at, value, size);
  return at + size;
}

/* Write everything recorded of a row: availability, action, observation, evidence, and the variant
 * and start of its trajectory. Returns the number of bytes. */
static size_t describe_row(const idm_data *data, size_t trajectory, size_t row, char *bytes)
{
  size_t at = 0;
  at = put(bytes, at, &data->action[row], sizeof data->action[row]);
  at = put(bytes, at, &data->observation[row], sizeof data->observation[row]);
  at = put(bytes, at, &data->available[row], sizeof data->available[row]);
  at = put(bytes, at, &data->variant[trajectory], sizeof data->variant[trajectory]);
  at = put(bytes, at, &data->start[trajectory], sizeof data->start[trajectory]);
  for (int k = 0; k < IDM_COLUMN_COUNT; k++) {
    const size_t i = idm_column_describe((idm_column)k)->by_trajectory ? trajectory : row;
    if (data->number[k]) at = put(bytes, at, &data->number[k][i], sizeof(double));
    if (data->label[k]) at = put(bytes, at, &data->label[k][i], sizeof(int32_t));
  }
  return at;
}

static bool number_rows(duplicate_search *c)
{
  const idm_data *data = c->data;
  char bytes[64 + 12 * IDM_COLUMN_COUNT];
  c->row = idm_new(data->rows, sizeof *c->row);
  bool made = c->row != NULL;
  for (size_t t = 0; t < data->trajectories && made; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1] && made; r++)
      made = idm_intern_add(&c->rows, bytes, describe_row(data, t, r, bytes), &c->row[r]);
  return made;
}

static bool find_distinct(duplicate_search *c)
{
  const idm_data *data = c->data;
  c->count = idm_new(data->trajectories, sizeof *c->count);
  c->first = idm_new(data->trajectories, sizeof *c->first);
  bool made = c->count && c->first;
  for (size_t t = 0; t < data->trajectories && made; t++) {
    const size_t from = data->first[t], rows = data->first[t + 1] - from;
    uint32_t index;
    made = idm_intern_add(&c->whole, (const char *)(c->row + from), rows * sizeof *c->row, &index);
    if (made && !c->count[index]++) c->first[index] = t;
  }
  return made;
}

/* The child of a node for a row; the root has no number. */
static bool next_node(duplicate_search *c, size_t row, uint32_t *node)
{
  const uint32_t step[2] = {*node, c->row[row]};
  return idm_intern_add(&c->nodes, (const char *)step, sizeof step, node);
}

static bool build_tree(duplicate_search *c)
{
  const idm_data *data = c->data;
  c->visits = idm_new(data->rows, sizeof *c->visits); /* an upper bound of the number of nodes */
  bool made = c->visits != NULL;
  for (size_t i = 0; i < c->whole.count && made; i++) {
    uint32_t node = IDM_INTERN_NONE;
    const size_t t = c->first[i];
    for (size_t r = data->first[t]; r < data->first[t + 1] && made; r++) {
      made = next_node(c, r, &node);
      if (made) c->visits[node]++;
    }
  }
  return made;
}

static double pairs_of(double count)
{
  return 0.5 * count * (count - 1);
}

/* Estimate q: the largest share, over depths, of pairs of equal histories whose next rows are
 * equal. Every distinct trajectory contributes its part of the pairs at the nodes that it visits.
 */
static bool estimate_branching(duplicate_search *c)
{
  const idm_data *data = c->data;
  double pairs_at_depth[DEPTHS] = {0}, pairs_beyond[DEPTHS] = {0};
  bool made = true;
  for (size_t i = 0; i < c->whole.count; i++) {
    uint32_t node = IDM_INTERN_NONE;
    double count = c->whole.count;
    const size_t from = data->first[c->first[i]], end = data->first[c->first[i] + 1];
    for (size_t r = from; r < end && made && count > 1; r++) {
      const size_t depth = r - from < DEPTHS ? r - from : DEPTHS - 1;
      made = next_node(c, r, &node);
      if (!made) break;
      pairs_at_depth[depth] += pairs_of(count) / count;
      count = c->visits[node];
      pairs_beyond[depth] += pairs_of(count) / count;
    }
  }
  c->branch_probability = 0;
  for (size_t k = 0; k < DEPTHS; k++)
    c->branch_probability =
        fmax(c->branch_probability, (pairs_beyond[k] + 1) / (pairs_at_depth[k] + 2));
  return made;
}

/* Number of rows of a distinct trajectory that no other distinct trajectory shares. */
static bool count_unshared(duplicate_search *c, size_t trajectory, double *ret_unshared)
{
  const idm_data *data = c->data;
  uint32_t node = IDM_INTERN_NONE;
  bool made = true;
  *ret_unshared = 0;
  for (size_t r = data->first[trajectory]; r < data->first[trajectory + 1] && made; r++) {
    made = next_node(c, r, &node);
    *ret_unshared += made && c->visits[node] < 1.5;
  }
  return made;
}

/* The second occurrence of a trajectory in the log. */
static size_t second_of(const duplicate_search *c, size_t first)
{
  const idm_data *data = c->data;
  const size_t rows = data->first[first + 1] - data->first[first];
  size_t t = first + 1;
  while (data->first[t + 1] - data->first[t] != rows ||
         memcmp(c->row + data->first[t], c->row + data->first[first], rows * sizeof *c->row) != 0)
    t++;
  return t;
}

static bool find_copies(duplicate_search *c)
{
  static const double level = 1e-3;
  const idm_data *data = c->data;
  bool made = true;
  for (size_t i = 0; i < c->whole.count && made; i++) {
    const size_t t = c->first[i];
    double unshared;
    if (c->count[i] < 2 || data->first[t + 1] - data->first[t] < min_rows) continue;
    made = count_unshared(c, t, &unshared);
    if (!made || (double)data->trajectories * pow(c->branch_probability, unshared) > level)
      continue;
    if (!c->duplicates) {
      c->one = t;
      c->other = second_of(c, t);
    }
    c->duplicates += c->count[i] - 1;
  }
  return made;
}

idm_status idm_data_note_duplicates(const idm_data *data, idm_notes *opt_notes,
                                    idm_error *opt_error)
{
  idm_require(data);
  duplicate_search c = {.data = data};
  char one[24], other[24];
  const bool made = number_rows(&c) && find_distinct(&c) && build_tree(&c) &&
                    estimate_branching(&c) && find_copies(&c);
  if (made && c.duplicates)
    idm_notes_add(
        opt_notes,
        "%zu trajector%s the same rows as another one under %s own name ('%.100s' and '%.100s'), "
        "for longer than chance explains: check whether the log contains the same data twice",
        c.duplicates, c.duplicates == 1 ? "y has" : "ies have", c.duplicates == 1 ? "its" : "their",
        idm_data_trajectory_name(data, c.other, other, sizeof other),
        idm_data_trajectory_name(data, c.one, one, sizeof one));
  duplicate_search_clear(&c);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
