/* Stores the rows and rewards of a .POMDP file, and computes expected rewards.
 *
 * Contents: rows · reward */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/pomdp/pomdp.h"
#include "setting/model.h"

/* === rows =================================================================================== */

/* Sparse rows of distributions. */

idm_status idm_pomdp_rows_create(size_t count, size_t width, idm_pomdp_rows *rows,
                                 idm_error *opt_error)
{
  *rows = (idm_pomdp_rows){.width = width, .row = idm_new(count, sizeof *rows->row)};
  if (!rows->row) return idm_fail_memory(opt_error);
  rows->count = count;
  return IDM_OK;
}

void idm_pomdp_rows_destroy(idm_pomdp_rows *rows)
{
  for (size_t i = 0; i < rows->count; i++) {
    free(rows->row[i].column);
    free(rows->row[i].value);
  }
  free(rows->row);
  *rows = (idm_pomdp_rows){0};
}

static bool make_room(idm_pomdp_row *row, size_t entries, size_t width)
{
  if (entries <= row->capacity) return true;
  /* A row of single cells grows one by one: leave some room, but at most the number of columns. */
  const size_t required = entries + entries / 2 < width ? entries + entries / 2 : width;
  assert(required > 0 && required < SIZE_MAX / sizeof *row->value);
  uint32_t *column = realloc(row->column, required * sizeof *column);
  if (column) row->column = column;
  double *value = realloc(row->value, required * sizeof *value);
  if (value) row->value = value;
  if (!column || !value) return false;
  row->capacity = (uint32_t)required;
  return true;
}

idm_status idm_pomdp_rows_set(idm_pomdp_rows *rows, size_t index, const double *dense,
                              idm_error *opt_error)
{
  idm_pomdp_row *row = &rows->row[index];
  size_t entries = 0;
  for (size_t i = 0; i < rows->width; i++) entries += dense[i] != 0;
  if (!make_room(row, entries, rows->width)) return idm_fail_memory(opt_error);
  row->reset = false;
  row->count = 0;
  for (size_t i = 0; i < rows->width; i++) {
    if (!(dense[i] != 0)) continue;
    row->column[row->count] = (uint32_t)i;
    row->value[row->count++] = dense[i];
  }
  return IDM_OK;
}

void idm_pomdp_rows_reset(idm_pomdp_rows *rows, size_t index)
{
  rows->row[index].count = 0;
  rows->row[index].reset = true;
}

void idm_pomdp_rows_get(const idm_pomdp_rows *rows, size_t index, double *dense)
{
  const idm_pomdp_row *row = &rows->row[index];
  for (size_t i = 0; i < rows->width; i++) dense[i] = row->reset ? NAN : 0;
  for (size_t i = 0; i < row->count; i++) dense[row->column[i]] = row->value[i];
}

/* Expand a row that is the start belief, so that single entries can change. */
static bool expand(idm_pomdp_row *row, size_t width)
{
  if (!row->reset) return true;
  if (!make_room(row, width, width)) return false;
  for (size_t i = 0; i < width; i++) {
    row->column[i] = (uint32_t)i;
    row->value[i] = NAN;
  }
  row->count = (uint32_t)width;
  row->reset = false;
  return true;
}

/* Index of the first entry at or after a column. */
static size_t find(const idm_pomdp_row *row, size_t column)
{
  size_t low = 0, high = row->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (row->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

idm_status idm_pomdp_rows_put(idm_pomdp_rows *rows, size_t index, size_t first, size_t end,
                              double value, idm_error *opt_error)
{
  idm_pomdp_row *row = &rows->row[index];
  if (!expand(row, rows->width)) return idm_fail_memory(opt_error);
  const size_t from = find(row, first), to = find(row, end);
  const size_t added = value != 0 ? end - first : 0;
  const size_t next_entries = row->count - to;
  if (!make_room(row, from + added + next_entries, rows->width)) return idm_fail_memory(opt_error);
  if (next_entries) {
    memmove(row->column + from + added, row->column + to, next_entries * sizeof *row->column);
    memmove(row->value + from + added, row->value + to, next_entries * sizeof *row->value);
  }
  for (size_t i = 0; i < added; i++) {
    row->column[from + i] = (uint32_t)(first + i);
    row->value[from + i] = value;
  }
  row->count = (uint32_t)(from + added + next_entries);
  return IDM_OK;
}

idm_status idm_pomdp_rows_moves(const idm_pomdp_rows *rows, idm_sparse_rows **ret_sparse,
                                idm_error *opt_error)
{
  size_t entries = 0;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < rows->row[i].count; j++) entries += rows->row[i].value[j] > 0;
  const idm_status status = idm_sparse_rows_create(rows->count, entries, ret_sparse, opt_error);
  if (status != IDM_OK) return status;
  idm_sparse_rows *m = *ret_sparse;
  size_t at = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const idm_pomdp_row *row = &rows->row[i];
    m->first[i] = at;
    for (size_t j = 0; j < row->count; j++) {
      if (!(row->value[j] > 0)) continue;
      m->next[at] = row->column[j];
      m->probability[at++] = row->value[j];
    }
  }
  m->first[rows->count] = at;
  return IDM_OK;
}

/* === reward ================================================================================= */

/* Rewards R(a, s, s', o) as rules with wildcards, and their expectation by action and state.
 *
 * The full array of rewards is never built. Rules are stored in one hash table by their
 * coordinates; a later rule replaces an earlier one with the same coordinates. The reward of a cell
 * is the value of the latest of the few rules that can match it. Only cells with positive
 * probability are visited. */

/* Form of a rule in next state and observation. Each form is looked up at its own loop level. */
typedef enum form {
  FORM_ALL,         /* any next state, any observation */
  FORM_ROW,         /* any next state, a row over observations */
  FORM_MATRIX,      /* numbers by next state and observation */
  FORM_OBSERVATION, /* any next state, one observation */
  FORM_NEXT,        /* one next state, any observation */
  FORM_NEXT_ROW,    /* one next state, a row over observations */
  FORM_CELL,        /* one next state, one observation */
  FORM_COUNT
} form;

typedef struct rule {
  idm_pomdp_rule_key key;
  uint64_t order; /* position in the file, from 1 */
  union {
    double value;
    size_t first; /* index into the stored numbers, for rows and matrices */
  } as;
} rule;

struct idm_pomdp_rewards {
  size_t slots; /* a power of two */
  size_t rules;
  rule *slot;
  uint8_t *tag; /* [slot]: 0 is empty, otherwise bits of the hash, so that most mismatches are found
                   without reading rules */
  uint64_t order;
  size_t used[FORM_COUNT]
             [4]; /* number of rules by form, and by whether action (1) and state (2) are given */
  size_t stored;
  size_t capacity;
  double *number;
};

/* --- the store ------------------------------------------------------------------------------ */

static form form_of(idm_pomdp_rule_key key)
{
  if (key.next == IDM_POMDP_MATRIX) return FORM_MATRIX;
  if (key.next == IDM_POMDP_ANY) {
    if (key.observation == IDM_POMDP_ANY) return FORM_ALL;
    return key.observation == IDM_POMDP_ROW ? FORM_ROW : FORM_OBSERVATION;
  }
  if (key.observation == IDM_POMDP_ANY) return FORM_NEXT;
  return key.observation == IDM_POMDP_ROW ? FORM_NEXT_ROW : FORM_CELL;
}

static bool same_key(idm_pomdp_rule_key a, idm_pomdp_rule_key b)
{
  return a.action == b.action && a.state == b.state && a.next == b.next &&
         a.observation == b.observation;
}

/* Mix the bits, so that neighbouring indices do not map to adjacent slots. */
static uint64_t hash_key(idm_pomdp_rule_key key)
{
  uint64_t hash = ((uint64_t)key.action << 32 | key.state) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  hash = (hash ^ ((uint64_t)key.next << 32 | key.observation)) * 0xbf58476d1ce4e5b9u;
  hash ^= hash >> 32;
  hash *= 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

/* The slot that contains the key, or the empty slot where it belongs. */
static size_t find_slot(const idm_pomdp_rewards *rewards, idm_pomdp_rule_key key, uint8_t *ret_tag)
{
  const uint64_t hash = hash_key(key);
  size_t i = (size_t)hash & (rewards->slots - 1);
  *ret_tag = (uint8_t)(hash >> 56) | 1;
  while (rewards->tag[i] && (rewards->tag[i] != *ret_tag || !same_key(rewards->slot[i].key, key)))
    i = (i + 1) & (rewards->slots - 1);
  return i;
}

static const rule *find_rule(const idm_pomdp_rewards *rewards, idm_pomdp_rule_key key)
{
  uint8_t tag = 0;
  const size_t i = find_slot(rewards, key, &tag);
  return rewards->tag[i] ? &rewards->slot[i] : NULL;
}

idm_status idm_pomdp_rewards_create(idm_pomdp_rewards **ret_rewards, idm_error *opt_error)
{
  *ret_rewards = NULL;
  idm_pomdp_rewards *rewards = idm_new(1, sizeof *rewards);
  if (!rewards) return idm_fail_memory(opt_error);
  rewards->slots = 64;
  rewards->slot = idm_new(rewards->slots, sizeof *rewards->slot);
  rewards->tag = idm_new(rewards->slots, sizeof *rewards->tag);
  if (!rewards->slot || !rewards->tag) {
    idm_pomdp_rewards_destroy(rewards);
    return idm_fail_memory(opt_error);
  }
  *ret_rewards = rewards;
  return IDM_OK;
}

void idm_pomdp_rewards_destroy(idm_pomdp_rewards *rewards)
{
  if (!rewards) return;
  free(rewards->slot);
  free(rewards->tag);
  free(rewards->number);
  free(rewards);
}

size_t idm_pomdp_rewards_stored(const idm_pomdp_rewards *rewards)
{
  return rewards->stored;
}

idm_status idm_pomdp_rewards_push(idm_pomdp_rewards *rewards, double value, idm_error *opt_error)
{
  if (rewards->stored == rewards->capacity) {
    const size_t capacity = rewards->capacity ? 2 * rewards->capacity : 64;
    double *number = realloc(rewards->number, idm_times(capacity, sizeof *number));
    if (!number) return idm_fail_memory(opt_error);
    rewards->number = number;
    rewards->capacity = capacity;
  }
  rewards->number[rewards->stored++] = value;
  return IDM_OK;
}

static idm_status grow(idm_pomdp_rewards *rewards, idm_error *opt_error)
{
  const idm_pomdp_rewards old = *rewards;
  rule *slot = idm_new(2 * old.slots, sizeof *slot);
  uint8_t *tag = idm_new(2 * old.slots, sizeof *tag);
  if (!slot || !tag) {
    free(slot);
    free(tag);
    return idm_fail_memory(opt_error);
  }
  rewards->slot = slot;
  rewards->tag = tag;
  rewards->slots = 2 * old.slots;
  for (size_t i = 0; i < old.slots; i++) {
    if (!old.tag[i]) continue;
    uint8_t mark = 0;
    const size_t j = find_slot(rewards, old.slot[i].key, &mark);
    rewards->slot[j] = old.slot[i];
    rewards->tag[j] = mark;
  }
  free(old.slot);
  free(old.tag);
  return IDM_OK;
}

static idm_status set_rule(idm_pomdp_rewards *rewards, rule fresh, idm_error *opt_error)
{
  if (2 * rewards->rules >= rewards->slots) {
    const idm_status status = grow(rewards, opt_error);
    if (status != IDM_OK) return status;
  }
  fresh.order = ++rewards->order;
  uint8_t tag = 0;
  const size_t i = find_slot(rewards, fresh.key, &tag);
  if (!rewards->tag[i]) {
    rewards->tag[i] = tag;
    rewards->rules++;
    rewards->used[form_of(fresh.key)][(fresh.key.action ? 1 : 0) + (fresh.key.state ? 2 : 0)]++;
  }
  rewards->slot[i] = fresh;
  return IDM_OK;
}

idm_status idm_pomdp_rewards_set(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key, double value,
                                 idm_error *opt_error)
{
  return set_rule(rewards, (rule){.key = key, .as.value = value}, opt_error);
}

idm_status idm_pomdp_rewards_set_stored(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key,
                                        size_t first, idm_error *opt_error)
{
  return set_rule(rewards, (rule){.key = key, .as.first = first}, opt_error);
}

/* --- lookup --------------------------------------------------------------------------------- */

/* The later of two rules, either of which may be NULL. */
static const rule *later(const rule *a, const rule *b)
{
  if (!a || !b) return a ? a : b;
  return a->order > b->order ? a : b;
}

/* The latest rule of one form for (action, state), given or by wildcard. */
static const rule *latest(const idm_pomdp_rewards *rewards, form which, size_t action, size_t state,
                          uint32_t next, uint32_t observation)
{
  const rule *best = NULL;
  for (unsigned given = 0; given < 4; given++) {
    if (!rewards->used[which][given]) continue;
    const idm_pomdp_rule_key key = {given & 1 ? (uint32_t)action + 1 : IDM_POMDP_ANY,
                                    given & 2 ? (uint32_t)state + 1 : IDM_POMDP_ANY, next,
                                    observation};
    best = later(best, find_rule(rewards, key));
  }
  return best;
}

static bool uses(const idm_pomdp_rewards *rewards, form which)
{
  const size_t *used = rewards->used[which];
  return used[0] || used[1] || used[2] || used[3];
}

/* Value of a rule at a cell; without a rule the reward is 0. */
static double value_at(const idm_pomdp_rewards *rewards, const rule *found, size_t next,
                       size_t observation, size_t observations)
{
  if (!found) return 0;
  switch (form_of(found->key)) {
  case FORM_ROW:
  case FORM_NEXT_ROW:
    return rewards->number[found->as.first + observation];
  case FORM_MATRIX:
    return rewards->number[found->as.first + next * observations + observation];
  default:
    return found->as.value;
  }
}

/* --- expectation ---------------------------------------------------------------------------- */

/* Expectation that is exact if all values are equal, whatever the sum of the weights. */
typedef struct exact_mean {
  bool any;
  bool constant;
  double first;
  double sum;
} exact_mean;

static void exact_mean_add(exact_mean *m, double weight, double value)
{
  if (!m->any) *m = (exact_mean){true, true, value, 0};
  m->constant = m->constant && value == m->first;
  m->sum += weight * value;
}

static double exact_mean_value(const exact_mean *m)
{
  return m->constant ? m->first : m->sum;
}

/* Scratch for one action: which observations can follow each next state. */
typedef struct reward_scratch {
  bool by_observation;      /* some rule depends on the observation */
  size_t *first;            /* [state + 1]: index into possible */
  uint32_t *possible;       /* observations with positive probability, by next state */
  const rule **latest_rule; /* [observation]: latest rule for that observation at any next state */
  double *row;              /* [state]: a row of sparse transitions in dense form */
} reward_scratch;

static void reward_scratch_destroy(reward_scratch *w)
{
  free(w->first);
  free(w->possible);
  free(w->latest_rule);
  free(w->row);
}

static idm_status reward_scratch_create(const idm_pomdp_rewards *rewards, idm_sizes n,
                                        reward_scratch *w, idm_error *opt_error)
{
  *w = (reward_scratch){.row = idm_new(n.states, sizeof *w->row)};
  if (!w->row) return idm_fail_memory(opt_error);
  for (int i = 0; i < FORM_COUNT; i++)
    if (i != FORM_ALL && i != FORM_NEXT && uses(rewards, (form)i)) w->by_observation = true;
  if (!w->by_observation) return IDM_OK;
  w->first = idm_new(n.states + 1, sizeof *w->first);
  w->possible = idm_new(idm_times(n.states, n.observations), sizeof *w->possible);
  w->latest_rule = idm_new(n.observations, sizeof *w->latest_rule);
  if (w->first && w->possible && w->latest_rule) return IDM_OK;
  reward_scratch_destroy(w);
  return idm_fail_memory(opt_error);
}

/* List the observations with positive probability after `action`, by next state. */
static void list_possible(const idm_setting *setting, idm_sizes n, size_t action, reward_scratch *w)
{
  size_t count = 0;
  for (size_t next = 0; next < n.states; next++) {
    const double *row = setting->emission + (action * n.states + next) * n.observations;
    w->first[next] = count;
    for (size_t o = 0; o < n.observations; o++)
      if (row[o] > 0) w->possible[count++] = (uint32_t)o;
  }
  w->first[n.states] = count;
}

/* Expectation over observations at one (action, state, next state); `general_rule` is the latest
 * rule that applies to every observation. */
static double expect_observations(const idm_pomdp_rewards *rewards, const idm_setting *setting,
                                  idm_sizes n, const reward_scratch *w, size_t action, size_t state,
                                  size_t next, const rule *general_rule)
{
  const double *row = setting->emission + (action * n.states + next) * n.observations;
  const uint32_t there = (uint32_t)next + 1;
  const bool observed = uses(rewards, FORM_OBSERVATION);
  const bool cells = uses(rewards, FORM_CELL);
  exact_mean inner = {0};
  for (size_t i = w->first[next]; i < w->first[next + 1]; i++) {
    const size_t o = w->possible[i];
    const rule *found = observed ? later(general_rule, w->latest_rule[o]) : general_rule;
    if (cells)
      found = later(found, latest(rewards, FORM_CELL, action, state, there, (uint32_t)o + 1));
    exact_mean_add(&inner, row[o], value_at(rewards, found, next, o, n.observations));
  }
  return exact_mean_value(&inner);
}

/* A row of transitions; sparse rows are expanded into scratch_row. */
static const double *transitions(const idm_setting *setting, size_t row, double *scratch_row)
{
  const size_t states = setting->states.count;
  const idm_sparse_rows *moves = setting->moves;
  if (!moves) return setting->transition + row * states;
  memset(scratch_row, 0, states * sizeof *scratch_row);
  for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
    scratch_row[moves->next[i]] = moves->probability[i];
  return scratch_row;
}

static double expect_pair(const idm_pomdp_rewards *rewards, const idm_setting *setting, idm_sizes n,
                          const reward_scratch *w, size_t action, size_t state)
{
  const rule *general_rule = latest(rewards, FORM_ALL, action, state, IDM_POMDP_ANY, IDM_POMDP_ANY);
  general_rule =
      later(general_rule, latest(rewards, FORM_ROW, action, state, IDM_POMDP_ANY, IDM_POMDP_ROW));
  general_rule = later(
      general_rule, latest(rewards, FORM_MATRIX, action, state, IDM_POMDP_MATRIX, IDM_POMDP_ANY));
  if (w->by_observation && uses(rewards, FORM_OBSERVATION))
    for (size_t o = 0; o < n.observations; o++)
      w->latest_rule[o] =
          latest(rewards, FORM_OBSERVATION, action, state, IDM_POMDP_ANY, (uint32_t)o + 1);

  const double *row = transitions(setting, action * n.states + state, w->row);
  exact_mean outer = {0};
  for (size_t next = 0; next < n.states; next++) {
    if (!(row[next] > 0)) continue;
    const uint32_t there = (uint32_t)next + 1;
    const rule *found = later(
        general_rule, later(latest(rewards, FORM_NEXT, action, state, there, IDM_POMDP_ANY),
                            latest(rewards, FORM_NEXT_ROW, action, state, there, IDM_POMDP_ROW)));
    const double value =
        w->by_observation ? expect_observations(rewards, setting, n, w, action, state, next, found)
                          : value_at(rewards, found, next, 0, n.observations);
    exact_mean_add(&outer, row[next], value);
  }
  return exact_mean_value(&outer);
}

idm_status idm_pomdp_rewards_expect(const idm_pomdp_rewards *rewards, const idm_setting *setting,
                                    double *utility, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(setting);
  reward_scratch w;
  const idm_status status = reward_scratch_create(rewards, n, &w, opt_error);
  if (status != IDM_OK) return status;
  for (size_t a = 0; a < n.actions; a++) {
    if (w.by_observation) list_possible(setting, n, a, &w);
    for (size_t s = 0; s < n.states; s++)
      utility[a * n.states + s] = expect_pair(rewards, setting, n, &w, a, s);
  }
  reward_scratch_destroy(&w);
  return IDM_OK;
}
