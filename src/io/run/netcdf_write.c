/* Writes a posterior as netCDF-4, in the layout of ArviZ's InferenceData.
 *
 *   pieces          dimensions, variables and attributes, the first error kept
 *   draws           posterior, unconstrained_posterior, prior
 *   statistics      sample_stats
 *   log-likelihood  by trajectory or by decision
 *   dynamics        learnt_dynamics: those of the draws
 *   evidence        observed_data
 *   constants       constant_data: the setting and the fixed parameters
 *   file            the image in memory, written with its trailer
 *
 * The image is made in memory and written as every other file: HDF5, which does not recover from a
 * failed write, never accesses the disk. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "idm/extension/posterior.h"
#include "io/run.h"
#include "io/run/folder.h"
#include "io/run/netcdf.h"
#include "setting/model.h"

/* --- pieces --------------------------------------------------------------------------------- */

/* The first error is kept: later calls do nothing. */
typedef struct writer {
  const idm_posterior *posterior;
  const idm_problem *problem;
  const idm_data *opt_data;
  int file;
  int group; /* the one being written */
  int code;  /* of netCDF */
  char what[NC_MAX_NAME + 1];
} writer;

static bool record_code(writer *w, int code, const char *what)
{
  if (code == NC_NOERR) return true;
  w->code = code;
  snprintf(w->what, sizeof w->what, "%s", what);
  return false;
}

static int define_dimension(writer *w, const char *name, size_t length)
{
  int dimension = -1;
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_def_dim(w->group, name, length, &dimension), name);
  return dimension;
}

static int define_variable(writer *w, const char *name, nc_type type, int rank,
                           const int *dimension)
{
  int variable = -1;
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_def_var(w->group, name, type, rank, dimension, &variable), name);
  return variable;
}

/* Write a string attribute, which netCDF-4 defines as UTF-8. An empty word is omitted. */
static void put_word(writer *w, int variable, const char *name, const char *word)
{
  if (w->code == NC_NOERR && word[0])
    record_code(w, idm_netcdf.nc_put_att_string(w->group, variable, name, 1, &word), name);
}

static void put_integer(writer *w, int variable, const char *name, long long value)
{
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_put_att_longlong(w->group, variable, name, NC_INT64, 1, &value),
                name);
}

static void put_doubles(writer *w, int variable, const double *values)
{
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_put_var_double(w->group, variable, values), "numbers");
}

/* Write first, first + 1, ... as a coordinate. */
static void put_range(writer *w, int variable, size_t count, size_t first)
{
  if (w->code != NC_NOERR) return;
  long long *value = idm_new(count, sizeof *value);
  for (size_t i = 0; value && i < count; i++) value[i] = (long long)first + (long long)i;
  record_code(w, value ? idm_netcdf.nc_put_var_longlong(w->group, variable, value) : NC_ENOMEM,
              "a coordinate");
  free(value);
}

/* A dimension whose coordinate is labels, or numbers from `first` without labels. */
typedef struct axis {
  int dimension;
  int coordinate;
  size_t length;
  size_t first;
  const idm_labels *opt_labels;
} axis;

static axis define_axis(writer *w, const char *name, size_t length, size_t first,
                        const idm_labels *opt_labels)
{
  axis a = {.length = length, .first = first, .opt_labels = opt_labels};
  a.dimension = define_dimension(w, name, length);
  a.coordinate = define_variable(w, name, opt_labels ? NC_STRING : NC_INT64, 1, &a.dimension);
  return a;
}

static void put_axis(writer *w, const axis *a)
{
  if (!a->opt_labels) {
    put_range(w, a->coordinate, a->length, a->first);
  } else if (w->code == NC_NOERR) {
    const char **name = idm_duplicate(a->opt_labels->name, a->length, sizeof *name);
    record_code(w, name ? idm_netcdf.nc_put_var_string(w->group, a->coordinate, name) : NC_ENOMEM,
                "labels");
    free(name);
  }
}

/* Write an attribute of the group or of a variable. */
static void put_number(writer *w, int variable, const char *name, double value)
{
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_put_att_double(w->group, variable, name, NC_DOUBLE, 1, &value),
                name);
}

/* Write the attributes of the run, in every group and in the root. There is no date, so that a run
 * that was interrupted and resumed gives the same bytes. */
static void put_attributes(writer *w)
{
  const idm_posterior *p = w->posterior;
  const unsigned long long seed = p->seed;
  put_word(w, NC_GLOBAL, "inference_library", "idm");
  put_word(w, NC_GLOBAL, "inference_library_version", idm_version());
  put_word(w, NC_GLOBAL, "problem", w->problem->setting->name);
  put_word(w, NC_GLOBAL, "answer", idm_netcdf_answers[p->answer]);
  put_word(w, NC_GLOBAL, "inverse", p->inverse);
  put_word(w, NC_GLOBAL, "sampler", p->sampler);
  char request[17] = "";
  if (p->request) snprintf(request, sizeof request, "%016" PRIx64, p->request);
  put_word(w, NC_GLOBAL, "request", request);
  put_integer(w, NC_GLOBAL, "warmup", p->warmup);
  put_integer(w, NC_GLOBAL, "resolution", p->resolution);
  if (p->cuts) put_integer(w, NC_GLOBAL, "dynamics_draws", (long long)p->cuts);
  if (p->search_recorded) {
    put_number(w, NC_GLOBAL, "highest", p->highest);
    put_number(w, NC_GLOBAL, "attained", p->attained);
  }
  if (p->row_prior > 0) put_number(w, NC_GLOBAL, "row_prior", p->row_prior);
  if (w->code == NC_NOERR)
    record_code(w,
                idm_netcdf.nc_put_att_ulonglong(w->group, NC_GLOBAL, "seed", NC_UINT64, 1, &seed),
                "seed");
}

static void begin_group(writer *w, const char *name)
{
  if (w->code == NC_NOERR) record_code(w, idm_netcdf.nc_def_grp(w->file, name, &w->group), name);
  put_attributes(w);
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Make a name that netCDF accepts: no '/', no control characters, no space at the end (User's
 * Guide, "Permitted characters"). Returns false if it does not fit. */
static bool netcdf_name(const char *name, char clean_name[NC_MAX_NAME + 1])
{
  size_t used = 0;
  for (const char *c = name; *c; c++) {
    const unsigned char byte = (unsigned char)*c;
    const bool illegal = byte == '/' || byte < 0x20 || byte == 0x7f || (byte == ' ' && !c[1]);
    if (used + 3 > NC_MAX_NAME) return false;
    used += (size_t)snprintf(clean_name + used, 4, illegal ? "%%%02X" : "%c", byte);
  }
  return used > 0;
}

/* Define a dimension of one variable, such as weights_number. */
static int define_own(writer *w, const char *name, const char *what, size_t length)
{
  char own_axis[NC_MAX_NAME + 1];
  snprintf(own_axis, sizeof own_axis, "%.100s_%s", name, what);
  return define_dimension(w, own_axis, length);
}

/* Define a variable by its name or, if netCDF rejects it (taken, too long, begins with a sign), by
 * `word` and index; the exact name is an attribute. */
static int define_named(writer *w, const char *name, const char *word, size_t index, int rank,
                        const int *dimension)
{
  char clean_name[NC_MAX_NAME + 1];
  int variable = -1;
  if (w->code != NC_NOERR) return variable;
  int code = NC_EBADNAME;
  if (netcdf_name(name, clean_name))
    code = idm_netcdf.nc_def_var(w->group, clean_name, NC_DOUBLE, rank, dimension, &variable);
  if (code == NC_EBADNAME || code == NC_ENAMEINUSE) {
    snprintf(clean_name, sizeof clean_name, "%s_%zu", word, index);
    code = idm_netcdf.nc_def_var(w->group, clean_name, NC_DOUBLE, rank, dimension, &variable);
  }
  if (record_code(w, code, clean_name)) put_word(w, variable, "long_name", name);
  return variable;
}

/* Names, and the count of numbers of each: one, or all of an opaque block. */
typedef struct drawn {
  const char *word;
  const idm_labels *names;
  const size_t *opt_size;
  const bool *opt_summarised;
  size_t chains;
  size_t draws;
  const double *value; /* [number][chain][draw] */
  bool series;         /* along the axes of the posterior, if it has any */
} drawn;

static size_t size_of(const drawn *d, size_t i)
{
  return d->opt_size ? d->opt_size[i] : 1;
}

/* Write the numbers of a variable; several per draw are along its last dimensions. */
static void put_numbers(writer *w, int variable, const drawn *d, const double *value, size_t size)
{
  const size_t count = d->chains * d->draws;
  double *transposed = size > 1 ? idm_new(idm_times(count, size), sizeof *transposed) : NULL;
  if (size > 1 && !transposed) record_code(w, NC_ENOMEM, d->word);
  for (size_t k = 0; transposed && k < size; k++)
    for (size_t i = 0; i < count; i++) transposed[i * size + k] = value[k * count + i];
  put_doubles(w, variable, transposed ? transposed : value);
  free(transposed);
}

/* Write the labels of an array's indices along one of its axes, as a coordinate. */
static void put_labels(writer *w, int variable, const idm_array *a, size_t k)
{
  char(*number)[24] = idm_new(a->length[k], sizeof *number);
  const char **label = idm_new(a->length[k], sizeof *label);
  if (!number || !label) record_code(w, NC_ENOMEM, "labels");
  for (size_t i = 0; number && label && i < a->length[k]; i++)
    label[i] = idm_axis_label(a->block->info, w->problem->setting, a->block->info->axis[k],
                              a->place[k][i], number[i], sizeof number[i]);
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_put_var_string(w->group, variable, label), "labels");
  free(label);
  free(number);
}

/* Define the dimension of an array along one of its axes, with its coordinate. A complete axis of
 * the setting has its own name and is shared; a part of one is of the block alone. */
static int define_along(writer *w, const idm_array *a, size_t k)
{
  const idm_block_info *info = a->block->info;
  const size_t whole = idm_axis_length(info, info->axis[k], idm_setting_sizes(w->problem->setting),
                                       w->problem->theta->models);
  const bool shared = a->length[k] == whole && info->axis[k] != IDM_AXIS_FIELD;
  char name[NC_MAX_NAME + 1];
  int dimension = -1;
  snprintf(name, sizeof name, "%.100s%s%s", shared ? "" : info->name, shared ? "" : "_",
           idm_axis_name(info->axis[k]));
  if (w->code != NC_NOERR || idm_netcdf.nc_inq_dimid(w->group, name, &dimension) == NC_NOERR)
    return dimension;
  dimension = define_dimension(w, name, a->length[k]);
  const int coordinate = define_variable(w, name, NC_STRING, 1, &dimension);
  if (w->code == NC_NOERR) put_labels(w, coordinate, a, k);
  return dimension;
}

/* Write the exact names of an array's quantities, for the reader. */
static void put_entries(writer *w, int variable, const drawn *d, const idm_array *a)
{
  const char **name = idm_duplicate(d->names->name + a->first, a->count, sizeof *name);
  if (w->code == NC_NOERR)
    record_code(w,
                name ? idm_netcdf.nc_put_att_string(w->group, variable, "entries", a->count, name)
                     : NC_ENOMEM,
                "entries");
  free(name);
}

/* Define the dimension of an axis of the posterior, with its coordinate; shared by its series. */
static int define_series_axis(writer *w, const idm_series *series)
{
  const idm_series_axis *along = &w->posterior->axis[series->axis];
  int dimension = -1;
  if (w->code != NC_NOERR || idm_netcdf.nc_inq_dimid(w->group, along->name, &dimension) == NC_NOERR)
    return dimension;
  const axis new = define_axis(w, along->name, along->label.count, 0, &along->label);
  put_axis(w, &new);
  return new.dimension;
}

/* Define a variable along an axis of the posterior. */
static int define_series(writer *w, const drawn *d, const idm_array *a, const axis *of_draws)
{
  const int dimension[] = {of_draws[0].dimension, of_draws[1].dimension,
                           define_series_axis(w, a->opt_series)};
  const int variable = define_named(w, a->opt_series->name, d->word, a->first, 3, dimension);
  put_integer(w, variable, "series", 1);
  if (d->opt_summarised) put_integer(w, variable, "summarised", d->opt_summarised[a->first]);
  return variable;
}

/* Define a variable over (chain, draw) and the axes of its numbers. */
static int define_drawn(writer *w, const drawn *d, const idm_array *a, const axis *of_draws)
{
  if (a->opt_series) return define_series(w, d, a, of_draws);
  const char *name = d->names->name[a->first];
  const size_t size = size_of(d, a->first);
  int dimension[2 + IDM_ARRAY_RANK] = {of_draws[0].dimension, of_draws[1].dimension};
  int rank = 2;
  if (size > 1) dimension[rank++] = define_own(w, name, "number", size);
  for (size_t k = 0; a->count > 1 && k < a->rank; k++) dimension[rank++] = define_along(w, a, k);
  const int variable = define_named(w, a->count > 1 ? a->block->info->name : name, d->word,
                                    a->first, rank, dimension);
  if (a->count > 1) put_entries(w, variable, d, a);
  if (d->opt_summarised) put_integer(w, variable, "summarised", d->opt_summarised[a->first]);
  return variable;
}

/* Write one variable per name or array. */
static void write_draws(writer *w, const drawn *d)
{
  const axis of_draws[] = {define_axis(w, "chain", d->chains, 0, NULL),
                           define_axis(w, "draw", d->draws, 0, NULL)};
  idm_array *arrays;
  size_t count;
  const idm_status status = d->series ? idm_arrays_series(w->posterior, &arrays, &count, NULL)
                                      : idm_arrays_create(d->names, d->opt_size, d->opt_summarised,
                                                          w->problem, &arrays, &count, NULL);
  if (status != IDM_OK) record_code(w, NC_ENOMEM, d->word);
  int *variable = idm_new(count, sizeof *variable);
  if (!variable) record_code(w, NC_ENOMEM, d->word);
  for (size_t i = 0; i < count && variable && w->code == NC_NOERR; i++)
    variable[i] = define_drawn(w, d, &arrays[i], of_draws);
  put_axis(w, &of_draws[0]);
  put_axis(w, &of_draws[1]);
  const double *value = d->value;
  for (size_t i = 0; i < count && variable && w->code == NC_NOERR; i++) {
    const size_t size = arrays[i].count > 1 ? arrays[i].count : size_of(d, arrays[i].first);
    put_numbers(w, variable[i], d, value, size);
    value += size * d->chains * d->draws;
  }
  free(variable);
  idm_arrays_destroy(arrays, count);
}

static void write_posterior(writer *w)
{
  const idm_posterior *p = w->posterior;
  const drawn posterior = {"quantity", &p->quantity, p->quantity_size, p->summarised,
                           p->chains,  p->draws,     p->value,         p->series_count > 0};
  const drawn unconstrained = {"coordinate", &p->coordinate, p->coordinate_size, NULL,
                               p->chains,    p->draws,       p->unconstrained,   false};
  const drawn prior = {"quantity", &p->quantity,   p->quantity_size, p->summarised,
                       1,          p->prior_draws, p->prior,         p->series_count > 0};
  begin_group(w, "posterior");
  write_draws(w, &posterior);
  if (!p->series_count) {
    begin_group(w, "unconstrained_posterior");
    write_draws(w, &unconstrained);
  }
  if (!p->prior_draws) return;
  begin_group(w, "prior");
  write_draws(w, &prior);
}

/* --- statistics ----------------------------------------------------------------------------- */

static bool is_present(const idm_posterior *p, const idm_statistic *statistic)
{
  if (!statistic->optional) return true;
  for (size_t i = 0; i < p->chains * p->draws; i++)
    if (idm_statistic_given(statistic, &p->statistics[i])) return true;
  return false;
}

static void put_statistic(writer *w, int variable, const idm_statistic *statistic)
{
  const size_t count = w->posterior->chains * w->posterior->draws;
  double *value = idm_new(count, sizeof *value);
  if (!value) record_code(w, NC_ENOMEM, statistic->name);
  for (size_t i = 0; value && i < count; i++)
    value[i] = idm_statistic_get(statistic, &w->posterior->statistics[i]);
  if (value) put_doubles(w, variable, value); /* integers are converted by netCDF */
  free(value);
}

static void write_statistics(writer *w)
{
  const idm_posterior *p = w->posterior;
  begin_group(w, "sample_stats");
  const axis a[] = {define_axis(w, "chain", p->chains, 0, NULL),
                    define_axis(w, "draw", p->draws, 0, NULL)};
  const int dimension[] = {a[0].dimension, a[1].dimension};
  int variable[IDM_STATISTIC_COUNT];
  for (size_t i = 0; i < IDM_STATISTIC_COUNT; i++) {
    const idm_statistic *statistic = &idm_statistic_list[i];
    variable[i] = -1;
    if (!is_present(p, statistic)) continue;
    variable[i] = define_variable(w, statistic->name, statistic->type, 2, dimension);
    /* xarray's mark of a truth value, for which netCDF has no type */
    if (statistic->type == NC_BYTE) put_word(w, variable[i], "dtype", "bool");
  }
  put_axis(w, &a[0]);
  put_axis(w, &a[1]);
  for (size_t i = 0; i < IDM_STATISTIC_COUNT; i++)
    if (variable[i] >= 0) put_statistic(w, variable[i], &idm_statistic_list[i]);
}

/* --- log-likelihood ------------------------------------------------------------------------- */

/* Largest count of numbers of one chain in a chunk (512 KiB) and in a write, unless there are more
 * units than that. */
enum { chunk_numbers = 1 << 16 };

/* Write log-likelihoods [chain][draw][unit] in blocks of `chunk`. */
static void put_log_likelihood(writer *w, int variable, const double *log_likelihood, size_t units,
                               const size_t chunk[3])
{
  const idm_posterior *p = w->posterior;
  for (size_t chain = 0; chain < p->chains; chain++)
    for (size_t draw = 0; draw < p->draws && w->code == NC_NOERR; draw += chunk[1]) {
      const size_t left = p->draws - draw;
      const size_t start[] = {chain, draw, 0};
      const size_t count[] = {1, chunk[1] < left ? chunk[1] : left, units};
      const double *from = log_likelihood + (chain * p->draws + draw) * units;
      record_code(w, idm_netcdf.nc_put_vara_double(w->group, variable, start, count, from),
                  "log_likelihood");
    }
}

/* Define a variable of log-likelihoods, compressed in blocks of `chunk`. */
static int define_log_likelihood(writer *w, const char *name, const axis *unit, size_t units,
                                 size_t chunk[3])
{
  const int dimension[] = {unit[0].dimension, unit[1].dimension, unit[2].dimension};
  const int variable = define_variable(w, name, NC_DOUBLE, 3, dimension);
  chunk[0] = 1;
  chunk[2] = units < chunk_numbers ? units : chunk_numbers;
  chunk[1] = chunk_numbers / chunk[2] < w->posterior->draws ? chunk_numbers / chunk[2]
                                                            : w->posterior->draws;
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_def_var_chunking(w->group, variable, NC_CHUNKED, chunk), name);
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_def_var_deflate(w->group, variable, 1, 1, 1), name);
  return variable;
}

/* Axis of the units of the log-likelihoods. That of people is `people`: xarray reads no variable
 * `person` along an axis `person`. */
static const char *unit_of(const idm_posterior *p)
{
  return p->by_decision ? "decision" : p->series_count ? "people" : "trajectory";
}

/* Largest error of the integrals over people, in nats. */
static void put_largest_error(writer *w, int variable)
{
  const idm_posterior *p = w->posterior;
  double largest = 0;
  for (size_t i = 0; i < p->unit.count; i++) largest = fmax(largest, p->integrated_error[i]);
  if (w->code == NC_NOERR)
    record_code(
        w,
        idm_netcdf.nc_put_att_double(w->group, variable, "largest_error", NC_DOUBLE, 1, &largest),
        "largest_error");
}

/* `choice`: log-likelihoods of the decisions given the free numbers. `person`: those of people
 * given the population. */
static void write_log_likelihood(writer *w)
{
  const idm_posterior *p = w->posterior;
  if (!p->log_likelihood || !p->unit.count) return;
  begin_group(w, "log_likelihood");
  const axis chains = define_axis(w, "chain", p->chains, 0, NULL);
  const axis draws = define_axis(w, "draw", p->draws, 0, NULL);
  const axis a[] = {chains, draws, define_axis(w, unit_of(p), p->unit.count, 0, &p->unit)};
  size_t chunk[3], person_chunk[3];
  const int variable = define_log_likelihood(w, "choice", a, p->unit.count, chunk);
  const int person =
      p->integrated ? define_log_likelihood(w, "person", a, p->unit.count, person_chunk) : -1;
  if (person >= 0) put_largest_error(w, person);
  for (size_t i = 0; i < 3; i++) put_axis(w, &a[i]);
  put_log_likelihood(w, variable, p->log_likelihood, p->unit.count, chunk);
  if (!p->integrated) return;
  put_log_likelihood(w, person, p->integrated, p->unit.count, person_chunk);
}

/* --- dynamics ------------------------------------------------------------------------------- */

/* Numbers of a set are start[state], transition[action][state][next state] and
 * emission[action][emitter][observation], one after another. */
static void write_dynamics(writer *w)
{
  const idm_dynamics_sets *d = w->posterior->drawn;
  if (!d) return;
  begin_group(w, "learnt_dynamics");
  const int dimension[] = {define_dimension(w, "set", d->sets),
                           define_dimension(w, "number", d->numbers)};
  const int set = define_variable(w, "probability", NC_DOUBLE, 2, dimension);
  const int central = define_variable(w, "central", NC_DOUBLE, 1, dimension + 1);
  put_integer(w, NC_GLOBAL, "central_set", (long long)d->of);
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_def_var_deflate(w->group, set, 1, 1, 1), "probability");
  put_doubles(w, set, d->set);
  put_doubles(w, central, d->central);
}

/* --- evidence ------------------------------------------------------------------------------- */

/* Write the meanings of codes as in the CF conventions (3.5, flags): words separated by blanks.
 * Omitted for very many labels; the coordinate of the same name in constant_data has them all. */
static void put_flags(writer *w, int variable, const idm_labels *labels)
{
  enum { most = 1000 };
  if (labels->count > most || w->code != NC_NOERR) return;
  int code[most + 1] = {IDM_MISSING};
  size_t size = sizeof "not_recorded";
  for (size_t i = 0; i < labels->count; i++) size += 1 + strlen(labels->name[i]);
  char *meanings = malloc(size);
  if (!meanings) {
    record_code(w, NC_ENOMEM, "flags");
    return;
  }
  size_t used = (size_t)snprintf(meanings, size, "not_recorded");
  for (size_t i = 0; i < labels->count; i++) {
    code[i + 1] = (int)i;
    meanings[used++] = ' ';
    for (const char *c = labels->name[i]; *c; c++)
      meanings[used++] = strchr(" \t\r\n", *c) ? '_' : *c;
  }
  meanings[used] = '\0';
  record_code(
      w,
      idm_netcdf.nc_put_att_int(w->group, variable, "flag_values", NC_INT, labels->count + 1, code),
      "flag_values");
  put_word(w, variable, "flag_meanings", meanings);
  free(meanings);
}

static void put_codes(writer *w, int variable, const int *codes)
{
  if (w->code == NC_NOERR)
    record_code(w, idm_netcdf.nc_put_var_int(w->group, variable, codes), "codes");
}

/* Write the trajectory of each row, then agent and variant of each trajectory. */
static void put_indices(writer *w, int of_row, int of_trajectory, int opt_variant)
{
  const idm_data *d = w->opt_data;
  int *index = idm_new(d->rows, sizeof *index); /* no trajectory is empty */
  if (!index) {
    record_code(w, NC_ENOMEM, "indices");
    return;
  }
  for (size_t i = 0; i < d->trajectories; i++)
    for (size_t row = d->first[i]; row < d->first[i + 1]; row++) index[row] = (int)i;
  put_codes(w, of_row, index);
  for (size_t i = 0; i < d->trajectories; i++) index[i] = (int)d->agent[i];
  put_codes(w, of_trajectory, index);
  for (size_t i = 0; i < d->trajectories; i++) index[i] = (int)d->variant[i];
  if (opt_variant >= 0) put_codes(w, opt_variant, index);
  free(index);
}

static const idm_labels *named(const idm_labels *labels, size_t count)
{
  return labels->count == count ? labels : NULL;
}

static size_t agents_of(const idm_data *data)
{
  size_t count = data->agent_name.count;
  for (size_t i = 0; i < data->trajectories; i++)
    if (data->agent[i] >= count) count = data->agent[i] + (size_t)1;
  return count;
}

/* Define columns of evidence, over rows or trajectories: numbers, or labels as codes. */
static void define_evidence(writer *w, const axis *row, const axis *trajectory,
                            int variable[IDM_COLUMN_COUNT])
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const int *along = info->by_trajectory ? &trajectory->dimension : &row->dimension;
    variable[c] = -1;
    if (w->opt_data->number[c]) variable[c] = define_variable(w, info->key, NC_DOUBLE, 1, along);
    if (w->opt_data->label[c]) {
      variable[c] = define_variable(w, info->key, NC_INT, 1, along);
      put_flags(w, variable[c], &w->opt_data->label_name[c]);
    }
  }
}

static void put_evidence(writer *w, const int variable[IDM_COLUMN_COUNT])
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    if (w->opt_data->number[c]) put_doubles(w, variable[c], w->opt_data->number[c]);
    if (w->opt_data->label[c]) put_codes(w, variable[c], w->opt_data->label[c]);
  }
}

/* Write the evidence; row t of a trajectory is (u_t, x_{t+1}). */
static void write_evidence(writer *w)
{
  const idm_data *d = w->opt_data;
  if (!d || !d->rows) return;
  begin_group(w, "observed_data");
  const size_t agents = agents_of(d);
  const axis a[] = {
      define_axis(w, "row", d->rows, 0, NULL),
      define_axis(w, "trajectory", d->trajectories, 1, named(&d->trajectory_name, d->trajectories)),
      define_axis(w, "agent", agents, 1, named(&d->agent_name, agents))};
  const int action = define_variable(w, "action", NC_INT, 1, &a[0].dimension);
  put_flags(w, action, &w->problem->setting->actions);
  const int observation = define_variable(w, "observation", NC_INT, 1, &a[0].dimension);
  put_flags(w, observation, &w->problem->setting->observations);
  put_word(w, observation, "long_name", "observation that followed the action");
  const int of_row = define_variable(w, "trajectory_index", NC_INT, 1, &a[0].dimension);
  const int of_trajectory = define_variable(w, "agent_index", NC_INT, 1, &a[1].dimension);
  const int variant =
      d->variants > 1 ? define_variable(w, "variant_index", NC_INT, 1, &a[1].dimension) : -1;
  int evidence[IDM_COLUMN_COUNT];
  define_evidence(w, &a[0], &a[1], evidence);
  for (size_t i = 0; i < 3; i++) put_axis(w, &a[i]);
  put_codes(w, action, d->action);
  put_codes(w, observation, d->observation);
  put_indices(w, of_row, of_trajectory, variant);
  put_evidence(w, evidence);
}

/* --- constants ------------------------------------------------------------------------------ */

static bool is_constant(const idm_block *block)
{
  if (block->role == IDM_NORMATIVE) return block->size > 0;
  for (size_t i = 0; block->coordinate && i < block->size; i++)
    if (block->coordinate[i] < 0) return true;
  return false;
}

/* Axes of the setting and of theta, by idm_axis; that of variants is at IDM_AXIS_END. */
typedef struct axes {
  axis of[IDM_AXIS_COUNT];
} axes;

/* Axis of the state that observations depend on: after the action, or before it. */
static idm_axis emitter_axis(const writer *w)
{
  return w->problem->setting->emits_before ? IDM_AXIS_STATE : IDM_AXIS_NEXT_STATE;
}

/* Define a block over its own axes, after that of variants if there are several. Fields and unnamed
 * numbers have an axis of the block's own. The models' dynamics are named model_*, unlike those of
 * the environment. */
static int define_constant(writer *w, const idm_block *block, const axes *a)
{
  const idm_block_info *info = block->info;
  const idm_sizes sizes = idm_setting_sizes(w->problem->setting);
  char name[80];
  int dimension[6];
  int rank = 0;
  const bool dynamics = info->axis[0] == IDM_AXIS_MODEL && info->axis[1];
  snprintf(name, sizeof name, "%s%s", dynamics ? "model_" : "", info->name);
  if (block->variants > 1) dimension[rank++] = a->of[IDM_AXIS_END].dimension;
  /* Rows after fields are in one list. */
  const bool ragged = info->rows && block->size > idm_block_size(info, sizes, 1);
  if (ragged) dimension[rank++] = define_own(w, info->name, "number", block->size);
  for (size_t i = 0; i < 4 && info->axis[i] && !ragged; i++) {
    const bool own_axis = info->axis[i] == IDM_AXIS_FIELD;
    const bool emitter = i < 3 && info->axis[i + 1] == IDM_AXIS_OBSERVATION;
    if (!own_axis) dimension[rank++] = a->of[emitter ? emitter_axis(w) : info->axis[i]].dimension;
    if (own_axis)
      dimension[rank++] = define_own(w, info->name, idm_axis_name(info->axis[i]),
                                     idm_axis_length(info, info->axis[i], sizes, 1));
  }
  if (info->opaque) dimension[rank++] = define_own(w, info->name, "number", block->size);
  return define_variable(w, name, NC_DOUBLE, rank, dimension);
}

/* Write a block, with NaN in place of the numbers that were inferred. */
static void put_constant(writer *w, int variable, const idm_block *block)
{
  if (block->role == IDM_NORMATIVE || !block->coordinate) {
    put_doubles(w, variable, block->value);
    return;
  }
  const size_t count = idm_times(block->variants, block->size);
  double *held = idm_duplicate(block->value, count, sizeof *held);
  if (!held) record_code(w, NC_ENOMEM, "constants");
  for (size_t i = 0; held && i < count; i++)
    if (block->coordinate[i % block->size] >= 0 || (block->share && block->share[i] > 0))
      held[i] = NAN;
  if (held) put_doubles(w, variable, held);
  free(held);
}

static int define_on_axes(writer *w, bool known, const char *name, const axes *a,
                          const idm_axis *along)
{
  int dimension[3];
  int rank = 0;
  for (; along[rank]; rank++) dimension[rank] = a->of[along[rank]].dimension;
  return known ? define_variable(w, name, NC_DOUBLE, rank, dimension) : -1;
}

static void define_axes(writer *w, axes *a)
{
  const idm_setting *setting = w->problem->setting;
  const idm_sizes n = idm_setting_sizes(setting);
  const idm_theta *theta = w->problem->theta;
  const idm_labels *const labels[IDM_AXIS_COUNT] = {[IDM_AXIS_ACTION] = &setting->actions,
                                                    [IDM_AXIS_STATE] = &setting->states,
                                                    [IDM_AXIS_NEXT_STATE] = &setting->states,
                                                    [IDM_AXIS_OBSERVATION] =
                                                        &setting->observations};
  a->of[IDM_AXIS_END] = define_axis(w, "variant", idm_theta_variants(theta), 0, NULL);
  for (int i = IDM_AXIS_MODEL; i < IDM_AXIS_FIELD; i++)
    a->of[i] =
        define_axis(w, idm_axis_name((idm_axis)i),
                    idm_axis_length(idm_block_describe(IDM_UTILITY), (idm_axis)i, n, theta->models),
                    0, labels[i]);
}

/* Write the setting, and every number of theta that was fixed. */
static void write_constants(writer *w)
{
  const idm_setting *setting = w->problem->setting;
  const idm_theta *theta = w->problem->theta;
  axes a;
  begin_group(w, "constant_data");
  define_axes(w, &a);
  int *variable = idm_new(theta->blocks, sizeof *variable);
  if (!variable) {
    record_code(w, NC_ENOMEM, "constants");
    return;
  }
  for (size_t i = 0; i < theta->blocks; i++)
    variable[i] = is_constant(&theta->block[i]) ? define_constant(w, &theta->block[i], &a) : -1;
  const int start = define_on_axes(w, true, "start", &a, (const idm_axis[]){IDM_AXIS_STATE, 0});
  const int transition =
      define_on_axes(w, setting->transition, "transition", &a,
                     (const idm_axis[]){IDM_AXIS_ACTION, IDM_AXIS_STATE, IDM_AXIS_NEXT_STATE, 0});
  const int emission =
      define_on_axes(w, setting->emission, "emission", &a,
                     (const idm_axis[]){IDM_AXIS_ACTION, emitter_axis(w), IDM_AXIS_OBSERVATION, 0});
  for (int i = 0; i < IDM_AXIS_FIELD; i++) put_axis(w, &a.of[i]);
  for (size_t i = 0; i < theta->blocks; i++)
    if (variable[i] >= 0) put_constant(w, variable[i], &theta->block[i]);
  put_doubles(w, start, setting->start);
  if (setting->transition) put_doubles(w, transition, setting->transition);
  if (setting->emission) put_doubles(w, emission, setting->emission);
  free(variable);
}

/* --- file ----------------------------------------------------------------------------------- */

static void write_groups(writer *w)
{
  put_attributes(w); /* of the root */
  write_posterior(w);
  write_statistics(w);
  write_log_likelihood(w);
  write_dynamics(w);
  write_evidence(w);
  write_constants(w);
}

static idm_status fail(const writer *w, const char *path, idm_error *opt_error)
{
  if (w->code == NC_ENOMEM) return idm_fail_memory(opt_error);
  return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': '%s': %s", path, w->what,
                  idm_netcdf.nc_strerror(w->code));
}

/* Make all groups in memory; the caller frees the image. */
static idm_status make_image(writer *w, const char *path, NC_memio *ret_image, idm_error *opt_error)
{
  *ret_image = (NC_memio){0};
  const int mode = NC_NETCDF4 | NC_CLOBBER;
  if (!record_code(w, idm_netcdf.nc_create_mem("run.nc", mode, chunk_numbers, &w->file), "file"))
    return fail(w, path, opt_error);
  w->group = w->file;
  /* Every number is written, so that no fill values are needed. */
  record_code(w, idm_netcdf.nc_set_fill(w->file, NC_NOFILL, NULL), "file");
  write_groups(w);
  const int code = idm_netcdf.nc_close_memio(w->file, ret_image);
  if (w->code == NC_NOERR) record_code(w, code, "file");
  return w->code == NC_NOERR ? IDM_OK : fail(w, path, opt_error);
}

idm_status idm_posterior_write_file(const idm_posterior *posterior, const idm_problem *problem,
                                    const idm_data *opt_data, const char *path,
                                    idm_error *opt_error)
{
  idm_require(posterior, problem, path);
  const idm_location place = idm_location_of(path);
  return idm_posterior_write_netcdf_at(posterior, problem, opt_data, &place, opt_error);
}

idm_status idm_posterior_write_netcdf_at(const idm_posterior *posterior, const idm_problem *problem,
                                         const idm_data *opt_data, const idm_location *place,
                                         idm_error *opt_error)
{
  const char *path = place->path;
  if (!posterior->chains || !posterior->draws || !posterior->quantity.count)
    return idm_fail(opt_error, IDM_USAGE, "cannot write '%s': the posterior holds no draws", path);
  idm_status status = opt_data ? idm_data_validate(opt_data, problem->setting, opt_error) : IDM_OK;
  if (status == IDM_OK) status = idm_netcdf_load(opt_error);
  if (status != IDM_OK) return status;
  writer w = {.posterior = posterior, .problem = problem, .opt_data = opt_data};
  NC_memio image;
  status = make_image(&w, path, &image, opt_error);
  if (status == IDM_OK) status = idm_trailer_write(image.memory, image.size, place, opt_error);
  free(image.memory);
  return status;
}
