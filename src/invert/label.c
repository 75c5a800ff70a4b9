/* Fingerprints of problems, logs and settings: checksums over their meaning, not their text.
 *
 * Contents: pieces · settings · problems · logs · requests */
#include "invert/posterior.h"

#include <math.h>
#include <string.h>

#include "base/key.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "setting/model.h"

/* --- pieces --------------------------------------------------------------------------------- */

/* Least significant byte first, so that fingerprints are equal on all machines. */
static uint64_t hash_integer(uint64_t label, uint64_t value)
{
  char bytes[8];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(value >> (8 * i) & 0xff);
  return idm_checksum(label, bytes, sizeof bytes);
}

/* Hashes the bits; all NaNs are equal. */
static uint64_t hash_number(uint64_t label, double value)
{
  uint64_t bits = 0;
  if (isnan(value)) return hash_integer(label, UINT64_MAX);
  memcpy(&bits, &value, sizeof bits);
  return hash_integer(label, bits);
}

uint64_t idm_fingerprint_numbers(uint64_t label, const double *opt_values, size_t count)
{
  label = hash_integer(label, opt_values ? count : UINT64_MAX);
  for (size_t i = 0; opt_values && i < count; i++) label = hash_number(label, opt_values[i]);
  return label;
}

/* Includes the terminating zero, so that "ab", "c" differs from "a", "bc". */
static uint64_t hash_text(uint64_t label, const char *text)
{
  return idm_checksum(label, text, strlen(text) + 1);
}

static uint64_t hash_labels(uint64_t label, const idm_labels *labels)
{
  label = hash_integer(label, labels->count);
  for (size_t i = 0; i < labels->count; i++) label = hash_text(label, labels->name[i]);
  return label;
}

/* --- settings ------------------------------------------------------------------------------- */

uint64_t idm_fingerprint_fields(uint64_t label, const idm_key *keys, const void *fields)
{
  char text[4096];
  for (; keys->name; keys++) {
    const double number = idm_key_number(keys, fields);
    if (keys->place || (keys->later && keys->replaced_default == 0 && number == 0)) continue;
    label = hash_text(label, keys->name);
    idm_key_text(keys, fields, text, sizeof text);
    if (keys->replaced_default != 0 && number == 0)
      idm_number_text(keys->replaced_default, text, sizeof text);
    label = hash_text(label, text);
  }
  return label;
}

/* --- problems ------------------------------------------------------------------------------- */

static uint64_t hash_moves(uint64_t label, const idm_sparse_rows *opt_sparse)
{
  if (!opt_sparse) return label;
  for (size_t row = 0; row < opt_sparse->rows; row++)
    label = hash_integer(label, opt_sparse->first[row]);
  const size_t entries = opt_sparse->first[opt_sparse->rows];
  for (size_t i = 0; i < entries; i++) label = hash_integer(label, opt_sparse->next[i]);
  return idm_fingerprint_numbers(label, opt_sparse->probability, entries);
}

static uint64_t hash_setting(uint64_t label, const idm_setting *s)
{
  const idm_sizes n = idm_setting_sizes(s);
  label = hash_labels(label, &s->states);
  label = hash_labels(label, &s->actions);
  label = hash_labels(label, &s->observations);
  label = idm_fingerprint_numbers(label, s->transition, n.actions * n.states * n.states);
  label = idm_fingerprint_numbers(label, s->emission, n.actions * n.states * n.observations);
  label = hash_moves(label, s->moves);
  label = idm_fingerprint_numbers(label, s->start, n.states);
  for (size_t u = 0; u < n.actions; u++)
    label = hash_integer(label, (uint64_t)s->terminal[u] + 2 * (uint64_t)s->ends[u]);
  /* Adds nothing without terminal states, so that fingerprints of earlier versions stay valid. */
  for (size_t i = 0; i < n.states; i++)
    if (s->terminal_state[i]) label = hash_integer(label, i + 1);
  label = hash_integer(label, (uint64_t)s->horizon);
  return hash_integer(label, (uint64_t)s->fully_observed + 2 * (uint64_t)s->emits_before);
}

/* Role, scale, prior, coordinates and features of a block. */
static uint64_t hash_freedom(uint64_t label, const idm_block *block)
{
  const idm_features *f = block->features;
  if (f) {
    label = hash_labels(label, &f->name);
    label = idm_fingerprint_numbers(label, f->value, block->size * f->name.count);
    label = idm_fingerprint_numbers(label, f->weight, f->name.count);
  }
  label = hash_integer(label, block->role == IDM_DESCRIPTIVE);
  if (block->role != IDM_DESCRIPTIVE) return label;
  label = hash_integer(label, block->scale);
  label = hash_integer(label, block->prior.kind);
  label = idm_fingerprint_numbers(label, block->prior.argument, block->prior.count);
  for (size_t i = 0; block->coordinate && i < block->size; i++)
    label = hash_integer(label, (uint64_t)block->coordinate[i]);
  return hash_labels(label, &block->coordinate_name);
}

/* Blocks keep the indices from before sensor_capacity was added, so that fingerprints stay valid.
 */
static uint64_t block_position(size_t id)
{
  if (id == IDM_SENSOR_CAPACITY) return UINT64_MAX;
  return id - (id > IDM_SENSOR_CAPACITY);
}

/* Parameters of the population, where the problem gives them. */
static uint64_t hash_population(uint64_t label, const idm_problem *problem)
{
  if (problem->correlation != 0) label = hash_number(label, problem->correlation);
  for (size_t i = 0; i < problem->theta->blocks; i++) {
    const idm_population *population = &problem->theta->block[i].population;
    if (population->sd == 0 && population->coefficient == 0) continue;
    label = hash_number(hash_integer(label, block_position(i)), population->sd);
    label = hash_number(label, population->coefficient);
  }
  return label;
}

static uint64_t entry_hash(size_t entry, double value)
{
  return hash_number(hash_integer(IDM_CHECKSUM_START, entry), value);
}

/* Utilities of the problem itself, and for those that come from the log the names of their columns.
 * Entries are combined by exclusive or: the order of the sources has no effect, and a number is
 * removed by the operation that added it. */
static uint64_t hash_utility(uint64_t label, const idm_problem *problem)
{
  const idm_block *block = &problem->theta->block[IDM_UTILITY];
  const size_t states = problem->setting->states.count;
  uint64_t combined = 0;
  for (size_t i = 0; i < block->size; i++) combined ^= entry_hash(i, block->value[i]);
  for (size_t i = 0; i < problem->utility_sources; i++) {
    const idm_utility_source *source = &problem->utility_source[i];
    const size_t entry = source->action * states + source->state;
    combined ^= entry_hash(entry, block->value[entry]);
    combined ^=
        hash_text(entry_hash(entry, source->scale), problem->columns.utility.name[source->column]);
  }
  return hash_freedom(hash_integer(label, combined), block);
}

static uint64_t hash_codes(uint64_t label, const idm_codes *codes)
{
  label = hash_integer(label, codes->count);
  for (size_t i = 0; i < codes->count; i++) {
    label = hash_integer(label, codes->code[i].index);
    label = hash_labels(label, &codes->code[i].text);
    label = hash_labels(label, &codes->code[i].target_label);
  }
  return label;
}

static uint64_t hash_optional(uint64_t label, const char *opt_text)
{
  return opt_text ? hash_text(hash_integer(label, 1), opt_text) : hash_integer(label, 0);
}

/* Derived columns and rules; adds nothing if there are none, so that other fingerprints stay valid.
 */
static uint64_t hash_coding(uint64_t label, const idm_columns *columns)
{
  char text[400];
  for (size_t i = 0; i < columns->derived_count; i++) {
    const idm_derived *d = &columns->derived[i];
    label = hash_text(hash_integer(label, d->kind), d->name);
    label = hash_labels(label, &d->source);
    label = idm_fingerprint_numbers(label, d->at, d->cuts);
    label = hash_integer(label, d->closed_left);
    label = hash_labels(hash_labels(label, &d->text), &d->label);
    label = hash_optional(hash_optional(label, d->missing), d->other);
  }
  for (size_t i = 0; i < columns->rules; i++) {
    label = hash_text(label, idm_rule_text(&columns->rule[i], text, sizeof text));
    label = hash_labels(label, &columns->rule[i].in);
  }
  return label;
}

/* Adds nothing if no response can be missed, so that other fingerprints stay valid. */
static uint64_t hash_missed(uint64_t label, const idm_columns *columns)
{
  if (!columns->missed.count) return label;
  return hash_integer(hash_labels(label, &columns->missed), columns->missed_action);
}

/* Index of the number of the first action that corresponds to number i of a block by field and
 * action: i itself for the first action. Rows after the fields are by action and state. */
static size_t first_action_index(const idm_block *block, idm_sizes n, size_t i)
{
  const size_t fields = idm_block_size(block->info, n, 1);
  if (i < fields) return i - i % n.actions;
  const size_t row = n.actions * n.states, at = (i - fields) % row;
  return i - at + at % n.states;
}

/* Numbers by field and action: hashed once if they are equal for all actions, so that fingerprints
 * from before numbers by action stay valid. */
static uint64_t hash_by_action(uint64_t label, const idm_block *block, idm_sizes n)
{
  size_t count = 0;
  bool all_equal = true;
  for (size_t i = 0; i < block->size; i++) {
    const size_t first = first_action_index(block, n, i);
    all_equal = all_equal && block->value[i] == block->value[first];
    count += i == first;
  }
  if (!all_equal) return idm_fingerprint_numbers(label, block->value, block->size);
  label = hash_integer(label, count);
  for (size_t i = 0; i < block->size; i++)
    if (first_action_index(block, n, i) == i) label = hash_number(label, block->value[i]);
  return label;
}

/* Numbers of a block without trailing optional fields that have their defaults, and without a
 * sensor_capacity that is fixed at infinity, so that other fingerprints stay valid. */
static uint64_t hash_block(uint64_t label, const idm_block *block, idm_sizes sizes)
{
  const bool sensor = block->info == idm_block_describe(IDM_SENSOR_CAPACITY);
  if (sensor && block->role != IDM_DESCRIPTIVE && isinf(block->value[0])) return label;
  if (block->info->field && block->info->axis[1] == IDM_AXIS_ACTION)
    return hash_freedom(hash_by_action(label, block, sizes), block);
  const idm_field *field = block->info->field;
  size_t fields = 0, size = block->size;
  while (field && field[fields].name) fields++;
  while (fields == size && size && field[size - 1].optional &&
         block->value[size - 1] == field[size - 1].default_number)
    fields = --size;
  return hash_freedom(idm_fingerprint_numbers(label, block->value, size), block);
}

uint64_t idm_fingerprint_problem(uint64_t label, const idm_problem *problem)
{
  label = hash_setting(label, problem->setting);
  label = hash_integer(label, problem->theta->models);
  for (size_t i = 0; i < problem->theta->blocks; i++)
    if (i != IDM_UTILITY)
      label = hash_block(label, &problem->theta->block[i], problem->theta->sizes);
  label = hash_population(hash_utility(label, problem), problem);
  label = hash_text(label, idm_agent_planner(&problem->agent)->name);
  label = idm_fingerprint_fields(label, idm_agent_option_keys(), &problem->agent);
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) {
    label = hash_labels(label, &problem->columns.role[i]);
    label = hash_codes(label, &problem->columns.codes[i]);
  }
  for (size_t i = 0; i < problem->environments; i++) {
    label = hash_text(label, problem->environment[i].name);
    label = hash_setting(label, problem->environment[i].setting);
  }
  label = hash_missed(hash_labels(label, &problem->columns.missing), &problem->columns);
  return hash_coding(label, &problem->columns);
}

/* --- logs ----------------------------------------------------------------------------------- */

/* Hashes words of 32 bits, one round per word, for speed: a log can have millions of rows. */
static uint64_t hash_words(uint64_t label, const void *opt_words, size_t count)
{
  uint32_t word;
  label = hash_integer(label, opt_words ? count : UINT64_MAX);
  for (size_t i = 0; opt_words && i < count; i++) {
    memcpy(&word, (const char *)opt_words + i * sizeof word, sizeof word);
    label = (label ^ word) * UINT64_C(1099511628211);
    label ^= label >> 32; /* a round over four bytes leaves the high bytes poorly mixed */
  }
  return label;
}

static uint64_t hash_evidence(uint64_t label, const idm_data *data, size_t column)
{
  const size_t count =
      idm_column_describe((idm_column)column)->by_trajectory ? data->trajectories : data->rows;
  label = idm_fingerprint_numbers(label, data->number[column], count);
  label = hash_words(label, data->label[column], count);
  return hash_labels(label, &data->label_name[column]);
}

/* Adds nothing without preferences, so that other fingerprints stay valid. */
static uint64_t hash_preferences(uint64_t label, const idm_preferences *opt_preferences)
{
  if (!opt_preferences) return label;
  label = hash_words(label, opt_preferences->worse, opt_preferences->count);
  label = hash_words(label, opt_preferences->better, opt_preferences->count);
  return idm_fingerprint_numbers(label, opt_preferences->weight, opt_preferences->count);
}

uint64_t idm_fingerprint_data(uint64_t label, const idm_data *data)
{
  label = hash_words(label, data->action, data->rows);
  label = hash_words(label, data->observation, data->rows);
  label = hash_words(label, data->available, data->rows);
  if (data->missed) label = hash_words(label, data->missed, data->rows);
  label = hash_integer(label, data->trajectories);
  for (size_t i = 0; i < data->trajectories; i++) label = hash_integer(label, data->first[i]);
  label = hash_words(label, data->agent, data->trajectories);
  label = hash_words(label, data->variant, data->trajectories);
  label = hash_words(label, data->start, data->trajectories);
  /* Names are included: different people with equal decisions must get independent draws. */
  label = hash_labels(label, &data->trajectory_name);
  label = hash_labels(label, &data->agent_name);
  label = hash_integer(label, data->available_sets);
  for (size_t i = 0; i < data->available_sets * data->sizes.actions; i++)
    label = hash_integer(label, data->available_set[i]);
  label = idm_fingerprint_numbers(label, data->start_belief, data->starts * data->sizes.states);
  label = idm_fingerprint_numbers(label, data->variant_value, data->variants * data->columns);
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) label = hash_evidence(label, data, c);
  return hash_preferences(label, data->preferences);
}

/* --- requests ------------------------------------------------------------------------------- */

uint64_t idm_fingerprint_request(const idm_inverse *opt_inverse, const idm_problem *problem,
                                 const idm_data *data, const idm_fit_settings *settings)
{
  uint64_t label = hash_text(IDM_CHECKSUM_START, opt_inverse ? opt_inverse->name : "");
  label = idm_fingerprint_data(idm_fingerprint_problem(label, problem), data);
  for (const idm_key *key = idm_fit_keys(); key->name; key++) {
    const idm_key one[] = {*key, {0}};
    /* Without an inverse planner, use the settings common to all planners by the likelihood. */
    if (opt_inverse ? idm_inverse_reads(opt_inverse, key->name) : !key->later)
      label = idm_fingerprint_fields(label, one, settings);
  }
  return label;
}

uint64_t idm_fingerprint_simulation(const idm_problem *problem, size_t trajectories, int steps,
                                    uint64_t seed)
{
  const uint64_t label = idm_fingerprint_problem(IDM_CHECKSUM_START, problem);
  return hash_integer(hash_integer(hash_integer(label, trajectories), (uint64_t)steps), seed);
}
