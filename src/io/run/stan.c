/* Writes draws as CSV in the layout of CmdStan, and finds the arrays of run.nc.
 *
 * Contents: netcdf · arrays · statistics · stan */
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/posterior.h"
#include "io/file.h"
#include "io/run.h"
#include "io/run/netcdf.h"
#include "setting/model.h"

/* === netcdf ================================================================================= */

/* run.nc: the functions of netCDF, loaded on first use, and names of the format. */

const char *const idm_netcdf_answers[] = {"point", "posterior", "set", NULL};

idm_netcdf_functions idm_netcdf;

#define SYMBOL(name) IDM_LIBRARY_SYMBOL(idm_netcdf, name)
static const idm_symbol symbols[] = {IDM_NETCDF_FUNCTIONS(SYMBOL)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
  loaded = idm_library_load(IDM_NETCDF_LIBRARY, symbols, sizeof symbols / sizeof *symbols);
}

idm_status idm_netcdf_load(idm_error *opt_error)
{
  pthread_once(&once, load);
  if (loaded) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM,
                  "run.nc needs the library netCDF (%s), which this machine lacks",
                  IDM_NETCDF_LIBRARY);
}

/* === arrays ================================================================================= */

/* Arrays of a run's file: adjacent quantities that are numbers of one block. */

void idm_arrays_destroy(idm_array *arrays, size_t count)
{
  for (size_t i = 0; arrays && i < count; i++)
    for (size_t k = 0; k < IDM_ARRAY_RANK; k++) free(arrays[i].place[k]);
  free(arrays);
}

/* Returns true if a quantity is number `entry` of a block. */
static bool is_entry(const char *name, const idm_problem *problem, const idm_block *block,
                     size_t entry)
{
  char text[2400];
  const size_t length = strlen(block->info->name);
  if (strncmp(name, block->info->name, length) != 0 || name[length] != '[') return false;
  idm_block_entry_name(block->info, problem->setting, problem->theta->models, entry, text,
                       sizeof text - 1);
  const size_t end = strlen(text);
  text[end] = ']';
  text[end + 1] = '\0';
  return strcmp(name + length + 1, text) == 0;
}

/* First entry from `from` on with that name; the block's size if there is none. */
static size_t find_entry(const char *name, const idm_problem *problem, const idm_block *block,
                         size_t from)
{
  while (from < block->size && !is_entry(name, problem, block, from)) from++;
  return from;
}

static const idm_block *block_of(const char *name, const idm_problem *problem)
{
  for (size_t b = 0; b < problem->theta->blocks; b++) {
    const idm_block *block = &problem->theta->block[b];
    if (block->info->axis[0] && !block->info->opaque && block->role == IDM_DESCRIPTIVE &&
        find_entry(name, problem, block, 0) < block->size)
      return block;
  }
  return NULL;
}

/* Find the indices of the entries along each axis. As entries are distinct and in order, they are
 * all combinations of these indices if and only if the numbers of indices multiply to the count. */
static idm_status find_shape(idm_array *array, const idm_problem *problem, const size_t *entry,
                             bool *ret_is_complete, idm_error *opt_error)
{
  const idm_block_info *info = array->block->info;
  const idm_sizes sizes = idm_setting_sizes(problem->setting);
  size_t stride = array->block->size;
  size_t product = 1;
  for (size_t k = 0; k < IDM_ARRAY_RANK && info->axis[k]; k++) {
    const size_t length = idm_axis_length(info, info->axis[k], sizes, problem->theta->models);
    stride /= length;
    array->rank = k + 1;
    array->place[k] = idm_new(length, sizeof *array->place[k]);
    if (!array->place[k]) return idm_fail_memory(opt_error);
    for (size_t at = 0; at < length; at++) {
      bool taken = false;
      for (size_t i = 0; i < array->count && !taken; i++) taken = entry[i] / stride % length == at;
      if (taken) array->place[k][array->length[k]++] = at;
    }
    product *= array->length[k];
  }
  *ret_is_complete = product == array->count;
  return IDM_OK;
}

/* Length of the longest run of names from `first` on that are entries of one block, in their order.
 */
static size_t entry_run(const idm_labels *names, const bool *opt_flag, size_t first,
                        const idm_problem *problem, const idm_block *block, size_t *entry)
{
  size_t count = 0;
  for (size_t i = first, from = 0; i < names->count; i++, count++) {
    if (opt_flag && opt_flag[i] != opt_flag[first]) break;
    entry[count] = find_entry(names->name[i], problem, block, from);
    if (entry[count] == block->size) break;
    from = entry[count] + 1;
  }
  return count;
}

/* Make the array of a run of names, with its axes if it is complete. */
static idm_status make_array(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array *array, bool *ret_is_complete,
                             idm_error *opt_error)
{
  const size_t first = array->first;
  *ret_is_complete = false;
  if (opt_size && opt_size[first] > 1) return IDM_OK;
  array->block = block_of(names->name[first], problem);
  if (!array->block) return IDM_OK;
  size_t *entry = idm_new(names->count - first + 1, sizeof *entry);
  if (!entry) return idm_fail_memory(opt_error);
  array->count = entry_run(names, opt_flag, first, problem, array->block, entry);
  const idm_status status =
      array->count > 1 ? find_shape(array, problem, entry, ret_is_complete, opt_error) : IDM_OK;
  free(entry);
  return status;
}

idm_status idm_arrays_create(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array **ret_arrays, size_t *ret_count,
                             idm_error *opt_error)
{
  *ret_count = 0;
  idm_array *arrays = *ret_arrays = idm_new(names->count, sizeof *arrays);
  if (!arrays) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0, count; i < names->count && status == IDM_OK; i += count) {
    idm_array *array = &arrays[(*ret_count)++];
    bool whole;
    *array = (idm_array){.first = i, .count = 1};
    status = make_array(names, opt_size, opt_flag, problem, array, &whole, opt_error);
    count = array->count;
    if (whole || status != IDM_OK) continue;
    /* All single quantities: parts of a part would need names of their own. */
    for (size_t k = 0; k < IDM_ARRAY_RANK; k++) free(array->place[k]);
    for (size_t k = 0; k < count; k++)
      arrays[*ret_count - 1 + k] = (idm_array){.first = i + k, .count = 1};
    *ret_count += count - 1;
  }
  return status;
}

idm_status idm_arrays_series(const idm_posterior *posterior, idm_array **ret_arrays,
                             size_t *ret_count, idm_error *opt_error)
{
  const size_t quantities = posterior->quantity.count;
  *ret_count = 0;
  idm_array *arrays = *ret_arrays = idm_new(quantities, sizeof *arrays);
  if (!arrays) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < quantities; i += arrays[*ret_count - 1].count) {
    const size_t at = idm_posterior_series(posterior, i);
    const idm_series *series = at < posterior->series_count ? &posterior->series[at] : NULL;
    arrays[(*ret_count)++] =
        (idm_array){.first = i,
                    .count = series ? posterior->axis[series->axis].label.count : 1,
                    .opt_series = series};
  }
  return IDM_OK;
}

/* === statistics ============================================================================= */

/* Statistics of a draw in files. */

#define FIELD(field) offsetof(idm_statistics, field), sizeof((idm_statistics *)0)->field

/* In the order of CmdStan's columns; ArviZ needs no order. */
const idm_statistic idm_statistic_list[IDM_STATISTIC_COUNT] = {
    {"lp", "lp__", NC_DOUBLE, FIELD(log_density), true},
    {"acceptance_rate", "accept_stat__", NC_DOUBLE, FIELD(acceptance), true},
    {"step_size", "stepsize__", NC_DOUBLE, FIELD(step_size), true},
    {"tree_depth", "treedepth__", NC_INT64, FIELD(tree_depth), true},
    {"n_steps", "n_leapfrog__", NC_INT64, FIELD(evaluations), true},
    {"diverging", "divergent__", NC_BYTE, FIELD(diverging), false},
    {"energy", "energy__", NC_DOUBLE, FIELD(energy), true},
};

double idm_statistic_get(const idm_statistic *statistic, const idm_statistics *from)
{
  const char *field = (const char *)from + statistic->offset;
  if (statistic->type == NC_DOUBLE) return *(const double *)(const void *)field;
  if (statistic->type == NC_BYTE) return *(const bool *)(const void *)field;
  return statistic->size == sizeof(int) ? *(const int *)(const void *)field
                                        : (double)*(const long *)(const void *)field;
}

void idm_statistic_set(const idm_statistic *statistic, idm_statistics *to, double value)
{
  char *field = (char *)to + statistic->offset;
  if (statistic->type == NC_DOUBLE)
    *(double *)(void *)field = value;
  else if (statistic->type == NC_BYTE)
    *(bool *)(void *)field = value != 0;
  else if (statistic->size == sizeof(int))
    *(int *)(void *)field = (int)value;
  else
    *(long *)(void *)field = (long)value;
}

bool idm_statistic_given(const idm_statistic *statistic, const idm_statistics *from)
{
  const double value = idm_statistic_get(statistic, from);
  return !isnan(value) && (statistic->type != NC_INT64 || value != -1);
}

/* === stan =================================================================================== */

/* One chain in CmdStan's CSV layout (CmdStan User's Guide, "Stan CSV file format"). */

/* --- names of columns ----------------------------------------------------------------------- */

/* A quantity base[label,label] becomes base.1.2: readers of the format (such as ArviZ) take the
 * text after a dot for a number from 1. Labels are numbered by base and position in the order of
 * appearance, which for a complete block is their order in the problem. If the quantities of a base
 * do not fill an array in this way, the base has one index, the position of the quantity. */
typedef struct column_names {
  const idm_labels *names;
  uint32_t *base;   /* [quantity] */
  size_t *rank;     /* [quantity]: count of labels between its brackets; 0 without brackets */
  size_t *place;    /* [quantity]: position among those of its base, from 1 */
  size_t positions; /* largest rank */
  size_t *number;   /* [position][quantity]: number of the label, from 1 */
  bool *array;      /* [base] */
  size_t *members;  /* [base] */
  size_t *cells;    /* [base]: product over positions of the distinct labels */
  size_t *labels;   /* [base]: count of distinct labels at a position */
  size_t *numbered; /* [distinct label of a position]: its number within the base */
} column_names;

/* Length of the name up to its bracket, included; of the whole name without brackets. */
static size_t base_name_length(const char *name)
{
  const size_t length = strlen(name);
  const char *bracket = strchr(name, '[');
  return length && name[length - 1] == ']' && bracket ? (size_t)(bracket - name) + 1 : length;
}

static bool is_indexed(const char *name)
{
  return name[base_name_length(name)] != '\0';
}

/* The comma after a label, outside quotes; NULL if there is none before `end`. */
static const char *comma_after(const char *label, const char *end)
{
  bool quoted = false;
  for (; label < end; label++) {
    if (*label == '"') quoted = !quoted;
    if (*label == ',' && !quoted) return label;
  }
  return NULL;
}

/* The label at a position between the brackets; NULL past the last. */
static const char *label_at(const char *name, size_t position, size_t *ret_length)
{
  const char *start = name + base_name_length(name);
  const char *end = name + strlen(name) - 1;
  for (;;) {
    const char *comma = comma_after(start, end);
    *ret_length = (size_t)((comma ? comma : end) - start);
    if (position-- == 0) return start;
    if (!comma) return NULL;
    start = comma + 1;
  }
}

static void clear_columns(column_names *c)
{
  free(c->base);
  free(c->rank);
  free(c->place);
  free(c->number);
  free(c->array);
  free(c->members);
  free(c->cells);
  free(c->labels);
  free(c->numbered);
}

static bool make_room(column_names *c, const idm_labels *names)
{
  const size_t count = names->count;
  *c = (column_names){.names = names,
                      .base = idm_new(count, sizeof *c->base),
                      .rank = idm_new(count, sizeof *c->rank),
                      .place = idm_new(count, sizeof *c->place),
                      .array = idm_new(count, sizeof *c->array),
                      .members = idm_new(count, sizeof *c->members),
                      .cells = idm_new(count, sizeof *c->cells),
                      .labels = idm_new(count, sizeof *c->labels),
                      .numbered = idm_new(count, sizeof *c->numbered)};
  return c->base && c->rank && c->place && c->array && c->members && c->cells && c->labels &&
         c->numbered;
}

/* Find bases, places and ranks; a base is an array unless its ranks differ. */
static bool find_bases(column_names *c, size_t *first_rank)
{
  idm_intern bases = {0};
  bool whole = true;
  for (size_t i = 0; i < c->names->count && whole; i++) {
    const char *name = c->names->name[i];
    size_t length;
    whole = idm_intern_add(&bases, name, base_name_length(name), &c->base[i]);
    if (!whole) break;
    while (is_indexed(name) && label_at(name, c->rank[i], &length)) c->rank[i]++;
    const uint32_t base = c->base[i];
    c->place[i] = ++c->members[base];
    if (c->place[i] == 1) {
      c->cells[base] = 1;
      c->array[base] = true;
      first_rank[base] = c->rank[i];
    }
    if (c->rank[i] != first_rank[base]) c->array[base] = false;
    if (c->rank[i] > c->positions) c->positions = c->rank[i];
  }
  idm_intern_clear(&bases);
  return whole;
}

/* Number the labels at one position. The key of a label is its base's number and its text. */
static bool number_labels(column_names *c, size_t position)
{
  idm_intern known = {0};
  const size_t count = c->names->count;
  bool whole = true;
  memset(c->labels, 0, count * sizeof *c->labels);
  for (size_t i = 0; i < count && whole; i++) {
    if (c->rank[i] <= position) continue;
    size_t length;
    const char *label = label_at(c->names->name[i], position, &length);
    char *key = malloc(sizeof c->base[i] + length);
    const uint32_t before = known.count;
    uint32_t index = 0;
    if (key) {
      memcpy(key, &c->base[i], sizeof c->base[i]);
      memcpy(key + sizeof c->base[i], label, length);
    }
    whole = key && idm_intern_add(&known, key, sizeof c->base[i] + length, &index);
    free(key);
    if (whole && index == before) c->numbered[index] = ++c->labels[c->base[i]];
    if (whole) c->number[position * count + i] = c->numbered[index];
  }
  for (size_t b = 0; b < count; b++)
    if (c->labels[b]) c->cells[b] = idm_times(c->cells[b], c->labels[b]);
  idm_intern_clear(&known);
  return whole;
}

static idm_status create_columns(const idm_labels *names, column_names *c, idm_error *opt_error)
{
  size_t *first_rank = idm_new(names->count, sizeof *first_rank);
  bool whole = make_room(c, names) && first_rank && find_bases(c, first_rank);
  free(first_rank);
  if (whole) c->number = idm_new(idm_times(c->positions, names->count), sizeof *c->number);
  whole = whole && c->number;
  for (size_t p = 0; p < c->positions && whole; p++) whole = number_labels(c, p);
  for (size_t b = 0; b < names->count && whole; b++)
    c->array[b] = c->array[b] && c->cells[b] == c->members[b];
  return whole ? IDM_OK : idm_fail_memory(opt_error);
}

/* Write a text; bytes that would end a cell or a line, or start an index, become '_'. */
static void put_sanitised(idm_file *file, const char *text, size_t length, const char *forbidden)
{
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = (unsigned char)text[i];
    const bool bad = byte < 0x20 || byte == 0x7f || strchr(forbidden, byte);
    idm_file_write(file, bad ? "_" : text + i, 1);
  }
}

static void put_column(idm_file *file, const column_names *c, size_t quantity)
{
  const char *name = c->names->name[quantity];
  const size_t count = c->names->count;
  put_sanitised(file, name, base_name_length(name) - is_indexed(name), " ,.#\"'[]");
  if (!is_indexed(name)) return;
  if (!c->array[c->base[quantity]]) {
    idm_file_printf(file, ".%zu", c->place[quantity]);
    return;
  }
  for (size_t p = 0; p < c->rank[quantity]; p++)
    idm_file_printf(file, ".%zu", c->number[p * count + quantity]);
}

/* --- header --------------------------------------------------------------------------------- */

/* Find the statistics that any draw has, over all chains, so that their files have the same
 * columns. */
static void find_present(const idm_posterior *p, bool present[IDM_STATISTIC_COUNT])
{
  for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++) {
    const idm_statistic *statistic = &idm_statistic_list[k];
    present[k] = !statistic->optional;
    for (size_t i = 0; i < p->chains * p->draws && !present[k]; i++)
      present[k] = idm_statistic_given(statistic, &p->statistics[i]);
  }
}

/* Write the settings as CmdStan lists them, with the names of idm. */
static void put_settings(idm_file *file, const idm_posterior *p, size_t chain)
{
  idm_file_printf(file, "# idm_version = %s\n", idm_version());
  idm_file_printf(file, "# method = sample\n");
  idm_file_printf(file, "#   sample\n");
  idm_file_printf(file, "#     num_samples = %zu\n", p->draws);
  idm_file_printf(file, "#     num_warmup = %ld\n", p->warmup);
  idm_file_printf(file, "#     save_warmup = 0\n");
  idm_file_printf(file, "#     thin = 1\n");
  idm_file_printf(file, "#     algorithm = %s\n", p->sampler);
  idm_file_printf(file, "#     inverse = %s\n", p->inverse);
  idm_file_printf(file, "# id = %zu\n", chain + 1);
  idm_file_printf(file, "# random\n#   seed = %llu\n", (unsigned long long)p->seed);
}

/* Write the quantity of each indexed column. */
static void put_meanings(idm_file *file, const column_names *c)
{
  for (size_t i = 0; i < c->names->count; i++) {
    const char *name = c->names->name[i];
    if (!is_indexed(name)) continue;
    idm_file_printf(file, "# column ");
    put_column(file, c, i);
    idm_file_printf(file, ": ");
    put_sanitised(file, name, strlen(name), "");
    idm_file_printf(file, "\n");
  }
}

static void put_names(idm_file *file, const column_names *c, const size_t *opt_size,
                      const bool present[IDM_STATISTIC_COUNT])
{
  const char *separator = "";
  for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++) {
    if (!present[k]) continue;
    idm_file_printf(file, "%s%s", separator, idm_statistic_list[k].stan);
    separator = ",";
  }
  for (size_t i = 0; i < c->names->count; i++)
    for (size_t k = 0; k < (opt_size ? opt_size[i] : 1); k++) {
      idm_file_printf(file, ",");
      put_column(file, c, i);
      if (opt_size && opt_size[i] > 1)
        idm_file_printf(file, ".%zu", k + 1); /* of an opaque block */
    }
  idm_file_printf(file, "\n");
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Write NaN without a sign, which has no meaning and is printed differently by platforms. */
static void put_number(idm_file *file, double x)
{
  if (isnan(x))
    idm_file_printf(file, "nan");
  else
    idm_file_printf(file, "%.17g", x);
}

static void put_draw(idm_file *file, const idm_posterior *p, size_t chain, size_t draw,
                     const bool present[IDM_STATISTIC_COUNT])
{
  const char *separator = "";
  for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++) {
    if (!present[k]) continue;
    idm_file_printf(file, "%s", separator);
    separator = ",";
    put_number(file,
               idm_statistic_get(&idm_statistic_list[k], &p->statistics[chain * p->draws + draw]));
  }
  const size_t numbers = idm_posterior_numbers(p);
  for (size_t q = 0; q < numbers; q++) {
    idm_file_printf(file, ",");
    put_number(file, p->value[(q * p->chains + chain) * p->draws + draw]);
  }
  idm_file_printf(file, "\n");
}

idm_status idm_posterior_write_stan(const idm_posterior *posterior, size_t chain, const char *path,
                                    idm_error *opt_error)
{
  idm_require(posterior, path);
  const idm_location place = idm_location_of(path);
  return idm_posterior_write_stan_at(posterior, chain, &place, opt_error);
}

idm_status idm_posterior_write_stan_at(const idm_posterior *posterior, size_t chain,
                                       const idm_location *place, idm_error *opt_error)
{
  if (chain >= posterior->chains)
    return idm_fail(opt_error, IDM_USAGE, "there is no chain %zu: the posterior has %zu", chain,
                    posterior->chains);
  bool present[IDM_STATISTIC_COUNT];
  find_present(posterior, present);
  column_names c;
  idm_file *file = NULL;
  idm_status status = create_columns(&posterior->quantity, &c, opt_error);
  if (status == IDM_OK) status = idm_file_create_at(place, &file, opt_error);
  if (status == IDM_OK) {
    put_settings(file, posterior, chain);
    put_meanings(file, &c);
    put_names(file, &c, posterior->quantity_size, present);
    for (size_t i = 0; i < posterior->draws; i++) put_draw(file, posterior, chain, i, present);
    status = idm_file_commit(file, opt_error);
  }
  clear_columns(&c);
  return status;
}
