/* Trajectories that are the same row by row under two names.
 *
 * Short ones coincide by chance. In the tree of the distinct trajectories, two that have been the
 * same so far go on alike with some probability q, which branches of the tree show. Copies go on
 * alike for long where no third trajectory is with them: K rows have a probability of q^K. */
#include <math.h>
#include <string.h>

#include "base/door.h"
#include "base/intern.h"
#include "base/memory.h"
#include "idm/data.h"

/* Rows of a trajectory from which on copies are looked for, and depths of the tree that have a q of
 * their own. */
enum { least_rows = 5, DEPTHS = 4 };

typedef struct copies {
  const idm_data *data;
  uint32_t *row;     /* [row]: number of the distinct row */
  idm_intern rows;   /* distinct rows, as bytes */
  idm_intern whole;  /* distinct trajectories, as numbers of rows */
  idm_intern nodes;  /* of the tree of these: the node before, and the row */
  double *visits;    /* [node]: distinct trajectories */
  size_t *count;     /* [distinct trajectory]: how often it is in the log */
  size_t *first;     /* [distinct trajectory]: its first place */
  double going_on;   /* q */
  size_t found;      /* pairs of copies that chance does not explain */
  size_t one, other; /* the first of them */
} copies;

static void close_copies(copies *c)
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

/* All that was recorded of a row: what was open, done, seen and measured, and the setting of its
 * trajectory. */
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

static bool number_rows(copies *c)
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

static bool find_distinct(copies *c)
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

/* The node that a row leads to from another; the root is none. */
static bool go_on(copies *c, size_t row, uint32_t *node)
{
  const uint32_t step[2] = {*node, c->row[row]};
  return idm_intern_add(&c->nodes, (const char *)step, sizeof step, node);
}

static bool grow_tree(copies *c)
{
  const idm_data *data = c->data;
  c->visits = idm_new(data->rows, sizeof *c->visits); /* there are no more nodes */
  bool made = c->visits != NULL;
  for (size_t i = 0; i < c->whole.count && made; i++) {
    uint32_t node = IDM_INTERN_NONE;
    const size_t t = c->first[i];
    for (size_t r = data->first[t]; r < data->first[t + 1] && made; r++) {
      made = go_on(c, r, &node);
      if (made) c->visits[node]++;
    }
  }
  return made;
}

static double pairs_of(double count)
{
  return 0.5 * count * (count - 1);
}

/* The largest share, over depths, of pairs that have been the same and go on alike. Every distinct
 * trajectory adds its part of the pairs at the nodes that it visits. */
static bool measure_branches(copies *c)
{
  const idm_data *data = c->data;
  double here[DEPTHS] = {0}, next[DEPTHS] = {0};
  bool made = true;
  for (size_t i = 0; i < c->whole.count; i++) {
    uint32_t node = IDM_INTERN_NONE;
    double count = c->whole.count;
    const size_t from = data->first[c->first[i]], end = data->first[c->first[i] + 1];
    for (size_t r = from; r < end && made && count > 1; r++) {
      const size_t depth = r - from < DEPTHS ? r - from : DEPTHS - 1;
      made = go_on(c, r, &node);
      if (!made) break;
      here[depth] += pairs_of(count) / count;
      count = c->visits[node];
      next[depth] += pairs_of(count) / count;
    }
  }
  c->going_on = 0;
  for (size_t k = 0; k < DEPTHS; k++)
    c->going_on = fmax(c->going_on, (next[k] + 1) / (here[k] + 2));
  return made;
}

/* Rows of a distinct trajectory at which no other is with it. */
static bool count_alone(copies *c, size_t trajectory, double *ret_alone)
{
  const idm_data *data = c->data;
  uint32_t node = IDM_INTERN_NONE;
  bool made = true;
  *ret_alone = 0;
  for (size_t r = data->first[trajectory]; r < data->first[trajectory + 1] && made; r++) {
    made = go_on(c, r, &node);
    *ret_alone += made && c->visits[node] < 1.5;
  }
  return made;
}

/* The second place of a trajectory in the log. */
static size_t second_of(const copies *c, size_t first)
{
  const idm_data *data = c->data;
  const size_t rows = data->first[first + 1] - data->first[first];
  size_t t = first + 1;
  while (data->first[t + 1] - data->first[t] != rows ||
         memcmp(c->row + data->first[t], c->row + data->first[first], rows * sizeof *c->row) != 0)
    t++;
  return t;
}

static bool find_copies(copies *c)
{
  static const double level = 1e-3;
  const idm_data *data = c->data;
  bool made = true;
  for (size_t i = 0; i < c->whole.count && made; i++) {
    const size_t t = c->first[i];
    double alone;
    if (c->count[i] < 2 || data->first[t + 1] - data->first[t] < least_rows) continue;
    made = count_alone(c, t, &alone);
    if (!made || (double)data->trajectories * pow(c->going_on, alone) > level) continue;
    if (!c->found) {
      c->one = t;
      c->other = second_of(c, t);
    }
    c->found += c->count[i] - 1;
  }
  return made;
}

idm_status idm_data_note_copies(const idm_data *data, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(data);
  copies c = {.data = data};
  char one[24], other[24];
  const bool made = number_rows(&c) && find_distinct(&c) && grow_tree(&c) && measure_branches(&c) &&
                    find_copies(&c);
  if (made && c.found)
    idm_notes_add(opt_notes,
                  "%zu trajector%s the rows of another one under a name of %s own, as '%.100s' "
                  "those of '%.100s', for longer than chance explains: does the log hold the same "
                  "data twice?",
                  c.found, c.found == 1 ? "y has" : "ies have", c.found == 1 ? "its" : "their",
                  idm_data_trajectory(data, c.other, other, sizeof other),
                  idm_data_trajectory(data, c.one, one, sizeof one));
  close_copies(&c);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
