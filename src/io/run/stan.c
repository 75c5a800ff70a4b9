/* One chain in CmdStan's CSV layout (CmdStan User's Guide, "Stan CSV file format"). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/intern.h"
#include "base/memory.h"
#include "idm/posterior.h"
#include "idm/run.h"
#include "io/file.h"
#include "io/run/stan.h"
#include "io/run/statistics.h"

/* --- names of columns ----------------------------------------------------------------------- */

/* A quantity base[label,label] becomes base.1.2: readers of the format (ArviZ, for one) take what
 * follows a dot for a number from 1. Labels are numbered by base and position as they appear, which
 * for a whole block is their order in the problem. Where the quantities of a base do not fill an
 * array that way, the base has one index, the quantity's place. */
typedef struct columns {
  const idm_labels *names;
  uint32_t *base;   /* [quantity] */
  size_t *rank;     /* [quantity]: labels between its brackets, 0 where there are none */
  size_t *place;    /* [quantity]: among those of its base, from 1 */
  size_t positions; /* largest rank */
  size_t *number;   /* [position][quantity]: of the label, from 1 */
  bool *array;      /* [base] */
  size_t *members;  /* [base] */
  size_t *cells;    /* [base]: product over positions of the distinct labels */
  size_t *labels;   /* [base]: distinct ones at a position */
  size_t *numbered; /* [distinct label of a position]: its number within the base */
} columns;

/* Length of the name up to its bracket, included; the whole name where it has none. */
static size_t base_length(const char *name)
{
  const size_t length = strlen(name);
  const char *bracket = strchr(name, '[');
  return length && name[length - 1] == ']' && bracket ? (size_t)(bracket - name) + 1 : length;
}

static bool is_indexed(const char *name)
{
  return name[base_length(name)] != '\0';
}

/* The comma behind a label, but none within its quotes; NULL where there is none before `end`. */
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
  const char *start = name + base_length(name);
  const char *end = name + strlen(name) - 1;
  for (;;) {
    const char *comma = comma_after(start, end);
    *ret_length = (size_t)((comma ? comma : end) - start);
    if (position-- == 0) return start;
    if (!comma) return NULL;
    start = comma + 1;
  }
}

static void clear_columns(columns *c)
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

static bool make_room(columns *c, const idm_labels *names)
{
  const size_t count = names->count;
  *c = (columns){.names = names,
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

/* Bases, places and ranks; a base is an array until its ranks disagree. */
static bool find_bases(columns *c, size_t *first_rank)
{
  idm_intern bases = {0};
  bool whole = true;
  for (size_t i = 0; i < c->names->count && whole; i++) {
    const char *name = c->names->name[i];
    size_t length;
    whole = idm_intern_add(&bases, name, base_length(name), &c->base[i]);
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

/* Number the labels at one position. A label is known by its base's number and its text. */
static bool number_labels(columns *c, size_t position)
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

static idm_status create_columns(const idm_labels *names, columns *c, idm_error *opt_error)
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

/* Bytes that would end a cell or a line, or start an index, become '_'. */
static void put_clean(idm_file *file, const char *text, size_t length, const char *forbidden)
{
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = (unsigned char)text[i];
    const bool bad = byte < 0x20 || byte == 0x7f || strchr(forbidden, byte);
    idm_file_write(file, bad ? "_" : text + i, 1);
  }
}

static void put_column(idm_file *file, const columns *c, size_t quantity)
{
  const char *name = c->names->name[quantity];
  const size_t count = c->names->count;
  put_clean(file, name, base_length(name) - is_indexed(name), " ,.#\"'[]");
  if (!is_indexed(name)) return;
  if (!c->array[c->base[quantity]]) {
    idm_file_printf(file, ".%zu", c->place[quantity]);
    return;
  }
  for (size_t p = 0; p < c->rank[quantity]; p++)
    idm_file_printf(file, ".%zu", c->number[p * count + quantity]);
}

/* --- header --------------------------------------------------------------------------------- */

/* Which statistics any draw has; over all chains, so that their files have the same columns. */
static void find_present(const idm_posterior *p, bool present[IDM_STATISTIC_COUNT])
{
  for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++) {
    const idm_statistic *statistic = &idm_statistic_list[k];
    present[k] = !statistic->optional;
    for (size_t i = 0; i < p->chains * p->draws && !present[k]; i++)
      present[k] = idm_statistic_given(statistic, &p->statistics[i]);
  }
}

/* Settings as CmdStan lists them, with the names of ours. */
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

/* Which quantity an indexed column is. */
static void put_meanings(idm_file *file, const columns *c)
{
  for (size_t i = 0; i < c->names->count; i++) {
    const char *name = c->names->name[i];
    if (!is_indexed(name)) continue;
    idm_file_printf(file, "# column ");
    put_column(file, c, i);
    idm_file_printf(file, ": ");
    put_clean(file, name, strlen(name), "");
    idm_file_printf(file, "\n");
  }
}

static void put_names(idm_file *file, const columns *c, const size_t *opt_size,
                      const bool present[IDM_STATISTIC_COUNT])
{
  for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++)
    if (present[k]) idm_file_printf(file, "%s%s", k ? "," : "", idm_statistic_list[k].stan);
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

/* NaN without a sign: it has none that means anything, and platforms print it differently. */
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
  for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++) {
    if (!present[k]) continue;
    if (k) idm_file_printf(file, ",");
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
  const idm_place place = idm_place_of(path);
  return idm_posterior_write_stan_at(posterior, chain, &place, opt_error);
}

idm_status idm_posterior_write_stan_at(const idm_posterior *posterior, size_t chain,
                                       const idm_place *place, idm_error *opt_error)
{
  if (chain >= posterior->chains)
    return idm_fail(opt_error, IDM_USAGE, "there is no chain %zu: the posterior has %zu", chain,
                    posterior->chains);
  bool present[IDM_STATISTIC_COUNT];
  find_present(posterior, present);
  columns c;
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
