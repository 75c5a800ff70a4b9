/* Reads a posterior from netCDF-4: the parts of a run that the program itself needs.
 *
 *   seal        trailer of a complete file written by idm
 *   pieces      groups, dimensions, variables and attributes, each checked before it is read
 *   draws       posterior, unconstrained_posterior
 *   axes        axes of quantities
 *   statistics  sample_stats
 *   dynamics    learnt_dynamics
 *   file        all groups */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/posterior.h"
#include "invert/posterior.h"
#include "io/file.h"
#include "io/run.h"
#include "io/run/folder.h"
#include "io/run/netcdf.h"

/* Larger files and larger groups are rejected. */
#define FILE_LIMIT   ((size_t)1 << 36)
#define NUMBER_LIMIT ((size_t)1 << 31)

/* Dimensions of a variable: (chain, draw), and up to four axes of an array. */
enum { max_rank = 6 };

typedef struct reader {
  const char *path;
  idm_error *opt_error;
  int group;
  const char *group_name;
  size_t chains;
  size_t draws;
} reader;

/* --- seal ----------------------------------------------------------------------------------- */

/* Check the trailer, so that HDF5 reads nothing that it has not written (see netcdf.h). */
static idm_status check_trailer(const char *bytes, size_t length, const char *path,
                                size_t *ret_image_length, idm_error *opt_error)
{
  static const char signature[] = "\x89HDF\r\n\x1a\n"; /* HDF5 File Format Specification, II.A */
  const size_t prefix = sizeof IDM_TRAILER_PREFIX - 1;
  if (length < sizeof signature - 1 || memcmp(bytes, signature, sizeof signature - 1) != 0)
    return idm_fail_at(opt_error, path, 0, 0, "found no netCDF-4 file; expected a run of idm");
  const size_t image = length < IDM_TRAILER_LENGTH ? 0 : length - IDM_TRAILER_LENGTH;
  if (!image || memcmp(bytes + image, IDM_TRAILER_PREFIX, prefix) != 0)
    return idm_fail_at(opt_error, path, 0, 0,
                       "found no checksum at the end: the file is cut short, or another program "
                       "than idm wrote or changed it");
  char trailer[IDM_TRAILER_LENGTH + 1];
  idm_trailer(bytes, image, trailer);
  if (memcmp(bytes + image, trailer, IDM_TRAILER_LENGTH) != 0)
    return idm_fail_at(opt_error, path, 0, 0,
                       "the file is damaged: found SHA-256 %.64s, expected %.64s", trailer + prefix,
                       bytes + image + prefix);
  *ret_image_length = image;
  return IDM_OK;
}

/* --- pieces --------------------------------------------------------------------------------- */

#define FAIL(r, ...) idm_fail_at((r)->opt_error, (r)->path, 0, 0, __VA_ARGS__)

/* Fail with the message of netCDF; exhausted memory is not an error of the file. */
static idm_status fail_code(const reader *r, int code, const char *what)
{
  if (code == NC_ENOMEM) return idm_fail_memory(r->opt_error);
  return FAIL(r, "'%s' in group '%s': %s", what, r->group_name, idm_netcdf.nc_strerror(code));
}

static idm_status enter_group(reader *r, int file, const char *name)
{
  r->group_name = name;
  const int code = idm_netcdf.nc_inq_grp_ncid(file, name, &r->group);
  if (code == NC_ENOGRP) return FAIL(r, "the group '%s' is missing", name);
  return code == NC_NOERR ? IDM_OK : fail_code(r, code, name);
}

static idm_status read_dimension(const reader *r, const char *name, size_t *ret_length)
{
  int dimension;
  int code = idm_netcdf.nc_inq_dimid(r->group, name, &dimension);
  if (code == NC_EBADDIM)
    return FAIL(r, "the dimension '%s' is missing in group '%s'", name, r->group_name);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_dimlen(r->group, dimension, ret_length);
  if (code != NC_NOERR) return fail_code(r, code, name);
  if (*ret_length == 0 || *ret_length > NUMBER_LIMIT)
    return FAIL(r, "the dimension '%s' in group '%s' is %zu; expected 1 to %zu", name,
                r->group_name, *ret_length, NUMBER_LIMIT);
  return IDM_OK;
}

/* Read the shape of a group, which must be the same for all groups. */
static idm_status read_shape(reader *r)
{
  size_t chains;
  size_t draws;
  idm_status status = read_dimension(r, "chain", &chains);
  if (status == IDM_OK) status = read_dimension(r, "draw", &draws);
  if (status != IDM_OK) return status;
  if (idm_times(chains, draws) > NUMBER_LIMIT)
    return FAIL(r, "%zu chains of %zu draws are more than a run can hold", chains, draws);
  if (r->chains && (chains != r->chains || draws != r->draws))
    return FAIL(r, "group '%s' has %zu chains of %zu draws; expected %zu of %zu, as in 'posterior'",
                r->group_name, chains, draws, r->chains, r->draws);
  r->chains = chains;
  r->draws = draws;
  return IDM_OK;
}

static const char *type_name(nc_type type)
{
  return type == NC_DOUBLE ? "double" : type == NC_INT64 ? "int64" : "byte";
}

/* IDM_INPUT unless a variable has the given type and the dimensions (chain, draw). With opt_size it
 * may have more: the numbers of an opaque block, or the axes of an array; *opt_size is their
 * product. */
static idm_status check_variable(const reader *r, int variable, const char *name, nc_type type,
                                 size_t *opt_size)
{
  nc_type found;
  int rank;
  int dimension[max_rank];
  size_t length[max_rank] = {0};
  size_t size = 1;
  int code = idm_netcdf.nc_inq_vartype(r->group, variable, &found);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_varndims(r->group, variable, &rank);
  if (code != NC_NOERR) return fail_code(r, code, name);
  if (found != type)
    return FAIL(r, "'%s' in group '%s' is not of type %s", name, r->group_name, type_name(type));
  if (rank != 2 && !(rank > 2 && rank <= max_rank && opt_size))
    return FAIL(r, "'%s' in group '%s' has %d dimensions; expected (chain, draw)", name,
                r->group_name, rank);
  code = idm_netcdf.nc_inq_vardimid(r->group, variable, dimension);
  for (int i = 0; i < rank && code == NC_NOERR; i++)
    code = idm_netcdf.nc_inq_dimlen(r->group, dimension[i], &length[i]);
  if (code != NC_NOERR) return fail_code(r, code, name);
  if (length[0] != r->chains || length[1] != r->draws)
    return FAIL(r, "'%s' in group '%s' is %zu by %zu; expected %zu chains by %zu draws", name,
                r->group_name, length[0], length[1], r->chains, r->draws);
  for (int i = 2; i < rank; i++) size = idm_times(size, length[i]);
  if (!size || size > NUMBER_LIMIT)
    return FAIL(r, "'%s' in group '%s' has %zu numbers per draw", name, r->group_name, size);
  if (opt_size) *opt_size = size;
  return IDM_OK;
}

/* Attribute that is one string, which the caller frees with nc_free_string; NULL if absent. */
static idm_status read_word(const reader *r, int variable, const char *name, char **ret_word)
{
  *ret_word = NULL;
  nc_type type;
  size_t length;
  int code = idm_netcdf.nc_inq_att(r->group, variable, name, &type, &length);
  if (code == NC_ENOTATT) return IDM_OK;
  if (code != NC_NOERR) return fail_code(r, code, name);
  if (type != NC_STRING || length != 1)
    return FAIL(r, "the attribute '%s' in group '%s' is not a string", name, r->group_name);
  code = idm_netcdf.nc_get_att_string(r->group, variable, name, ret_word);
  if (code != NC_NOERR) return fail_code(r, code, name);
  if (!*ret_word) return FAIL(r, "the attribute '%s' in group '%s' is void", name, r->group_name);
  return IDM_OK;
}

/* Attribute that is one number of the type; *value is unchanged if it is absent and `optional`. */
static idm_status read_number(const reader *r, int variable, const char *name, nc_type type,
                              bool optional, void *value)
{
  nc_type found;
  size_t length;
  int code = idm_netcdf.nc_inq_att(r->group, variable, name, &found, &length);
  if (code == NC_ENOTATT && optional) return IDM_OK;
  if (code == NC_ENOTATT)
    return FAIL(r, "the attribute '%s' is missing in group '%s'", name, r->group_name);
  if (code == NC_NOERR && (found != type || length != 1))
    return FAIL(r, "the attribute '%s' in group '%s' is not one number", name, r->group_name);
  if (code == NC_NOERR) code = idm_netcdf.nc_get_att(r->group, variable, name, value);
  return code == NC_NOERR ? IDM_OK : fail_code(r, code, name);
}

/* --- draws ---------------------------------------------------------------------------------- */

typedef struct draws {
  idm_labels *name;
  size_t **size;  /* [name]: count of numbers */
  double **value; /* [number][chain][draw] */
  bool **opt_summarised;
  idm_posterior *opt_posterior; /* for axes, if quantities may be along some */
} draws;

/* A variable of draws and its quantities: one, or those of an array. */
typedef struct drawn {
  int variable;
  char own[NC_MAX_NAME + 1];
  size_t size;    /* count of its numbers */
  size_t entries; /* count of names in the attribute `entries`; 0: none, it is one quantity */
  int along;      /* dimension of the axis of its quantities; -1: none */
} drawn;

/* Add a name; IDM_INPUT if it exists already. */
static idm_status add_name(const reader *r, const char *name, idm_labels *names, size_t index)
{
  for (size_t i = 0; i < index; i++)
    if (strcmp(names->name[i], name) == 0)
      return FAIL(r, "'%s' occurs twice in group '%s'", name, r->group_name);
  return idm_labels_set(names, index, name, strlen(name), r->opt_error);
}

/* Read the exact name, which netCDF may not allow as the variable's own. */
static idm_status read_name(const reader *r, const drawn *d, idm_labels *names, size_t index)
{
  char *word;
  idm_status status = read_word(r, d->variable, "long_name", &word);
  if (status == IDM_OK) status = add_name(r, word ? word : d->own, names, index);
  if (word) idm_netcdf.nc_free_string(1, &word);
  return status;
}

/* Read the names of an array's quantities. */
static idm_status read_entries(const reader *r, const drawn *d, idm_labels *names, size_t index)
{
  char **word = idm_new(d->entries, sizeof *word);
  if (!word) return idm_fail_memory(r->opt_error);
  const int code = idm_netcdf.nc_get_att_string(r->group, d->variable, "entries", word);
  idm_status status = code == NC_NOERR ? IDM_OK : fail_code(r, code, "entries");
  for (size_t i = 0; i < d->entries && status == IDM_OK; i++)
    status = word[i] ? add_name(r, word[i], names, index + i)
                     : FAIL(r, "the attribute 'entries' of '%s' is void", d->own);
  if (code == NC_NOERR) idm_netcdf.nc_free_string(d->entries, word);
  free(word);
  return status;
}

/* --- axes ----------------------------------------------------------------------------------- */

/* Read the labels of a dimension from its coordinate. */
static idm_status read_labels(const reader *r, int dimension, const char *name, idm_labels *label)
{
  int variable;
  size_t count = 0;
  nc_type type = NC_NAT;
  int rank = 0;
  int of = -1;
  int code = idm_netcdf.nc_inq_dimlen(r->group, dimension, &count);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_varid(r->group, name, &variable);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_vartype(r->group, variable, &type);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_varndims(r->group, variable, &rank);
  if (code == NC_NOERR && rank == 1) code = idm_netcdf.nc_inq_vardimid(r->group, variable, &of);
  if (code != NC_NOERR) return fail_code(r, code, name);
  if (type != NC_STRING || of != dimension || !count || count > NUMBER_LIMIT)
    return FAIL(r, "'%s' in group '%s' holds no labels", name, r->group_name);
  char **word = idm_new(count, sizeof *word);
  if (!word) return idm_fail_memory(r->opt_error);
  code = idm_netcdf.nc_get_var_string(r->group, variable, word);
  idm_status status =
      code == NC_NOERR ? idm_labels_create(label, count, r->opt_error) : fail_code(r, code, name);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = word[i] ? idm_labels_set(label, i, word[i], strlen(word[i]), r->opt_error)
                     : FAIL(r, "a label of '%s' in group '%s' is void", name, r->group_name);
  if (code == NC_NOERR) idm_netcdf.nc_free_string(count, word);
  free(word);
  return status;
}

/* Find the axis of a dimension, or add it. */
static idm_status add_axis(const reader *r, int dimension, idm_posterior *p, size_t *ret_axis)
{
  char name[NC_MAX_NAME + 1];
  idm_labels label = {0};
  const int code = idm_netcdf.nc_inq_dimname(r->group, dimension, name);
  if (code != NC_NOERR) return fail_code(r, code, "a dimension");
  *ret_axis = idm_posterior_axis(p, name);
  if (*ret_axis < p->axes) return IDM_OK;
  idm_status status = read_labels(r, dimension, name, &label);
  if (status == IDM_OK) status = idm_posterior_add_axis(p, name, &label, r->opt_error);
  idm_labels_destroy(&label);
  return status;
}

/* Add quantities along an axis, which are named by its labels. Whether they are summarised is read
 * later. */
static idm_status read_series(const reader *r, const drawn *d, draws *target, size_t index)
{
  char *word;
  size_t axis = 0;
  idm_status status = read_word(r, d->variable, "long_name", &word);
  if (status == IDM_OK) status = add_axis(r, d->along, target->opt_posterior, &axis);
  if (status == IDM_OK)
    status = idm_posterior_add_series(target->opt_posterior, word ? word : d->own, axis, index,
                                      r->opt_error);
  if (word) idm_netcdf.nc_free_string(1, &word);
  return status;
}

/* Find whether the quantities of a variable are along its last dimension. */
static idm_status find_axis(const reader *r, drawn *d)
{
  long long series = 0;
  int rank = 0;
  int dimension[max_rank];
  d->along = -1;
  const idm_status status = read_number(r, d->variable, "series", NC_INT64, true, &series);
  if (status != IDM_OK || !series) return status;
  int code = idm_netcdf.nc_inq_varndims(r->group, d->variable, &rank);
  if (code == NC_NOERR && rank == 3)
    code = idm_netcdf.nc_inq_vardimid(r->group, d->variable, dimension);
  if (code != NC_NOERR) return fail_code(r, code, d->own);
  if (rank != 3)
    return FAIL(r, "'%s' in group '%s' has %d dimensions; expected 3", d->own, r->group_name, rank);
  d->along = dimension[2];
  d->entries = d->size;
  return IDM_OK;
}

/* Read the shape of a variable and the number of its entries. */
static idm_status describe_variable(const reader *r, drawn *d)
{
  nc_type type;
  idm_status status = check_variable(r, d->variable, d->own, NC_DOUBLE, &d->size);
  if (status == IDM_OK) status = find_axis(r, d);
  if (status != IDM_OK || d->along >= 0) return status;
  const int code = idm_netcdf.nc_inq_att(r->group, d->variable, "entries", &type, &d->entries);
  if (code == NC_ENOTATT) {
    d->entries = 0;
    return IDM_OK;
  }
  if (code != NC_NOERR) return fail_code(r, code, "entries");
  if (type != NC_STRING || d->entries != d->size)
    return FAIL(r, "'%s' in group '%s' names %zu entries; expected %zu strings", d->own,
                r->group_name, d->entries, d->size);
  return IDM_OK;
}

/* Read the names of a variable's quantities, their sizes, and whether they are summarised. */
static idm_status read_quantities(const reader *r, const drawn *d, draws *target, size_t index)
{
  long long summarised = 1;
  idm_status status = IDM_OK;
  if (d->along >= 0 && !target->opt_posterior)
    return FAIL(r, "'%s' in group '%s' lies along an axis", d->own, r->group_name);
  if (d->along >= 0)
    status = read_series(r, d, target, index);
  else if (d->entries)
    status = read_entries(r, d, target->name, index);
  else
    status = read_name(r, d, target->name, index);
  if (status == IDM_OK && target->opt_summarised)
    status = read_number(r, d->variable, "summarised", NC_INT64, true, &summarised);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < (d->entries ? d->entries : 1); i++) {
    (*target->size)[index + i] = d->entries ? 1 : d->size;
    if (target->opt_summarised) (*target->opt_summarised)[index + i] = summarised != 0;
  }
  return IDM_OK;
}

/* Read the numbers of a variable; several per draw are transposed to [number][chain][draw]. */
static idm_status read_numbers(const reader *r, int variable, size_t size, double *value)
{
  const size_t count = r->chains * r->draws;
  double *transposed = size > 1 ? idm_new(idm_times(count, size), sizeof *transposed) : NULL;
  if (size > 1 && !transposed) return idm_fail_memory(r->opt_error);
  const int code =
      idm_netcdf.nc_get_var_double(r->group, variable, transposed ? transposed : value);
  for (size_t k = 0; transposed && code == NC_NOERR && k < size; k++)
    for (size_t i = 0; i < count; i++) value[k * count + i] = transposed[i * size + k];
  free(transposed);
  return code == NC_NOERR ? IDM_OK : fail_code(r, code, "numbers");
}

/* Allocate room for `names` quantities. */
static idm_status make_room(const reader *r, size_t names, draws *target)
{
  *target->size = idm_new(names, sizeof **target->size);
  if (target->opt_summarised)
    *target->opt_summarised = idm_new(names, sizeof **target->opt_summarised);
  if (!*target->size || (target->opt_summarised && !*target->opt_summarised))
    return idm_fail_memory(r->opt_error);
  return idm_labels_create(target->name, names, r->opt_error);
}

static idm_status read_values(const reader *r, const drawn *d, size_t count, draws *target)
{
  const size_t each = r->chains * r->draws;
  size_t numbers = 0;
  for (size_t i = 0; i < count; i++) numbers += d[i].size;
  const size_t all = idm_times(numbers, each);
  if (all > NUMBER_LIMIT)
    return FAIL(r, "group '%s' holds more than %zu numbers", r->group_name, NUMBER_LIMIT);
  double *value = *target->value = idm_new(all, sizeof *value);
  if (!value) return idm_fail_memory(r->opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    status = read_numbers(r, d[i].variable, d[i].size, value);
    value += d[i].size * each;
  }
  return status;
}

/* Find every variable that is not a coordinate, in the order in which they were written: netCDF
 * numbers variables as they are defined, and keeps that order in the file. Only coordinates have
 * the name of a dimension. */
static idm_status find_variables(const reader *r, const int *variable, size_t count, drawn *found,
                                 size_t *ret_found, size_t *ret_names)
{
  *ret_found = *ret_names = 0;
  for (size_t i = 0; i < count; i++) {
    drawn *d = &found[*ret_found];
    int rank = 0;
    int dimension;
    *d = (drawn){.variable = variable[i]};
    int code = idm_netcdf.nc_inq_varname(r->group, variable[i], d->own);
    if (code == NC_NOERR) code = idm_netcdf.nc_inq_varndims(r->group, variable[i], &rank);
    if (code != NC_NOERR) return fail_code(r, code, "a variable");
    if (rank == 1 && idm_netcdf.nc_inq_dimid(r->group, d->own, &dimension) == NC_NOERR) continue;
    const idm_status status = describe_variable(r, d);
    if (status != IDM_OK) return status;
    *ret_names += d->entries ? d->entries : 1;
    ++*ret_found;
  }
  return IDM_OK;
}

static idm_status read_variables(const reader *r, const int *variable, size_t count, draws *target)
{
  size_t found = 0;
  size_t names = 0;
  drawn *d = idm_new(count, sizeof *d);
  if (!d) return idm_fail_memory(r->opt_error);
  idm_status status = find_variables(r, variable, count, d, &found, &names);
  if (status == IDM_OK) status = make_room(r, names, target);
  for (size_t i = 0, at = 0; i < found && status == IDM_OK; i++) {
    status = read_quantities(r, &d[i], target, at);
    at += d[i].entries ? d[i].entries : 1;
  }
  if (status == IDM_OK) status = read_values(r, d, found, target);
  free(d);
  return status;
}

static idm_status read_draws(reader *r, int file, const char *name, draws target)
{
  idm_status status = enter_group(r, file, name);
  if (status == IDM_OK) status = read_shape(r);
  if (status != IDM_OK) return status;
  int count = 0;
  int code = idm_netcdf.nc_inq_varids(r->group, &count, NULL);
  if (code != NC_NOERR || count < 0) return fail_code(r, code, name);
  int *variable = idm_new((size_t)count, sizeof *variable);
  if (!variable) return idm_fail_memory(r->opt_error);
  code = idm_netcdf.nc_inq_varids(r->group, &count, variable);
  status = code == NC_NOERR ? read_variables(r, variable, (size_t)count, &target)
                            : fail_code(r, code, name);
  free(variable);
  return status;
}

/* --- statistics ----------------------------------------------------------------------------- */

/* Read one statistic into value [chain][draw]; *ret_found is false if it is optional and absent. */
static idm_status read_values_of(const reader *r, const idm_statistic *statistic, double *value,
                                 bool *ret_found)
{
  int variable;
  const char *name = statistic->name;
  *ret_found = false;
  int code = idm_netcdf.nc_inq_varid(r->group, name, &variable);
  if (code == NC_ENOTVAR && statistic->optional) return IDM_OK;
  if (code == NC_ENOTVAR)
    return FAIL(r, "the variable '%s' is missing in group '%s'", name, r->group_name);
  if (code != NC_NOERR) return fail_code(r, code, name);
  const idm_status status = check_variable(r, variable, name, statistic->type, NULL);
  if (status != IDM_OK) return status;
  *ret_found = true;
  code = idm_netcdf.nc_get_var_double(r->group, variable, value);
  return code == NC_NOERR ? IDM_OK : fail_code(r, code, name);
}

/* Read one statistic into the draws; IDM_INPUT if an integer is out of range. */
static idm_status read_statistic(const reader *r, const idm_statistic *statistic, double *value,
                                 idm_statistics *statistics)
{
  const bool flag = statistic->type == NC_BYTE;
  const double lower = flag ? 0 : -1;
  const double upper = flag ? 1 : statistic->size == sizeof(int) ? INT_MAX : (double)LONG_MAX;
  bool found;
  const idm_status status = read_values_of(r, statistic, value, &found);
  for (size_t i = 0; i < r->chains * r->draws && status == IDM_OK; i++) {
    if (!found) value[i] = statistic->type == NC_DOUBLE ? NAN : -1;
    if (statistic->type != NC_DOUBLE && !(value[i] >= lower && value[i] <= upper))
      return FAIL(r, "'%s' in group '%s' holds %.0f; expected %.0f to %.0f", statistic->name,
                  r->group_name, value[i], lower, upper);
    idm_statistic_set(statistic, &statistics[i], value[i]);
  }
  return status;
}

static idm_status read_statistics(reader *r, int file, idm_posterior *p)
{
  idm_status status = enter_group(r, file, "sample_stats");
  if (status == IDM_OK) status = read_shape(r);
  if (status != IDM_OK) return status;
  double *value = idm_new(r->chains * r->draws, sizeof *value);
  p->statistics = idm_new(r->chains * r->draws, sizeof *p->statistics);
  if (!value || !p->statistics) status = idm_fail_memory(r->opt_error);
  for (size_t i = 0; i < IDM_STATISTIC_COUNT && status == IDM_OK; i++)
    status = read_statistic(r, &idm_statistic_list[i], value, p->statistics);
  free(value);
  return status;
}

/* --- dynamics ------------------------------------------------------------------------------- */

static idm_status read_doubles(const reader *r, const char *name, int rank, double *value)
{
  static const char *const dimension[] = {"set", "number"};
  int variable, found = 0, own[2], expected;
  nc_type type = NC_NAT;
  int code = idm_netcdf.nc_inq_varid(r->group, name, &variable);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_varndims(r->group, variable, &found);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_vartype(r->group, variable, &type);
  if (code == NC_NOERR && (found != rank || type != NC_DOUBLE))
    return FAIL(r, "'%s' in group '%s' is no array of %d dimensions of numbers", name,
                r->group_name, rank);
  if (code == NC_NOERR) code = idm_netcdf.nc_inq_vardimid(r->group, variable, own);
  for (int i = 0; i < rank && code == NC_NOERR; i++) {
    code = idm_netcdf.nc_inq_dimid(r->group, dimension[2 - rank + i], &expected);
    if (code == NC_NOERR && own[i] != expected)
      return FAIL(r, "'%s' in group '%s' is not over (%sNUMBER)", name, r->group_name,
                  rank > 1 ? "SET, " : "");
  }
  if (code == NC_NOERR) code = idm_netcdf.nc_get_var_double(r->group, variable, value);
  return code == NC_NOERR ? IDM_OK : fail_code(r, code, name);
}

/* Read the sets of learnt dynamics, if a run has them. Whether they are distributions is checked
 * when they are applied to a problem. */
static idm_status read_dynamics(reader *r, int file, idm_posterior *p)
{
  static const char name[] = "learnt_dynamics";
  size_t sets = 0, numbers = 0;
  long long of = 0;
  int group;
  if (idm_netcdf.nc_inq_grp_ncid(file, name, &group) == NC_ENOGRP) return IDM_OK;
  idm_status status = enter_group(r, file, name);
  if (status == IDM_OK) status = read_dimension(r, "set", &sets);
  if (status == IDM_OK) status = read_dimension(r, "number", &numbers);
  if (status == IDM_OK) status = read_number(r, NC_GLOBAL, "central_set", NC_INT64, false, &of);
  if (status != IDM_OK) return status;
  if (idm_times(sets, numbers) > NUMBER_LIMIT || sets > r->chains * r->draws || of < 0 ||
      (unsigned long long)of > sets)
    return FAIL(r, "group '%s' holds %zu sets of %zu numbers, of which the central one is %lld",
                name, sets, numbers, of);
  status = idm_dynamics_sets_create(sets, numbers, &p->drawn, r->opt_error);
  if (status == IDM_OK) status = read_doubles(r, "probability", 2, p->drawn->set);
  if (status == IDM_OK) status = read_doubles(r, "central", 1, p->drawn->central);
  if (status == IDM_OK) p->drawn->of = (size_t)of;
  return status;
}

/* --- file ----------------------------------------------------------------------------------- */

/* Read a string attribute of the root into a field of fixed size; empty if absent. */
static idm_status read_field(const reader *r, const char *name, char *field, size_t size)
{
  char *word;
  idm_status status = read_word(r, NC_GLOBAL, name, &word);
  if (status != IDM_OK || !word) return status;
  if (strlen(word) < size)
    memcpy(field, word, strlen(word) + 1);
  else
    status = FAIL(r, "the attribute '%s' is longer than %zu bytes", name, size - 1);
  idm_netcdf.nc_free_string(1, &word);
  return status;
}

/* Read the label of the request, in hexadecimal; 0 if absent. */
static idm_status read_request(const reader *r, uint64_t *ret_request)
{
  char word[17] = "";
  const idm_status status = read_field(r, "request", word, sizeof word);
  if (status == IDM_OK && word[strspn(word, "0123456789abcdef")])
    return FAIL(r, "the attribute 'request' is '%s'; expected a hexadecimal number", word);
  *ret_request = strtoull(word, NULL, 16);
  return status;
}

static idm_status read_attributes(reader *r, int file, idm_posterior *p)
{
  char answer[16] = "";
  unsigned long long seed = 0;
  long long warmup = 0;
  long long resolution = 0;
  long long cuts = 0;
  r->group = file;
  r->group_name = "/";
  idm_status status = read_field(r, "answer", answer, sizeof answer);
  if (status == IDM_OK) status = read_field(r, "inverse", p->inverse, sizeof p->inverse);
  if (status == IDM_OK) status = read_field(r, "sampler", p->sampler, sizeof p->sampler);
  if (status == IDM_OK) status = read_request(r, &p->request);
  if (status == IDM_OK) status = read_number(r, NC_GLOBAL, "seed", NC_UINT64, false, &seed);
  if (status == IDM_OK) status = read_number(r, NC_GLOBAL, "warmup", NC_INT64, false, &warmup);
  if (status == IDM_OK)
    status = read_number(r, NC_GLOBAL, "resolution", NC_INT64, true, &resolution);
  if (status == IDM_OK) status = read_number(r, NC_GLOBAL, "dynamics_draws", NC_INT64, true, &cuts);
  p->highest = p->attained = NAN;
  if (status == IDM_OK) status = read_number(r, NC_GLOBAL, "highest", NC_DOUBLE, true, &p->highest);
  if (status == IDM_OK)
    status = read_number(r, NC_GLOBAL, "attained", NC_DOUBLE, true, &p->attained);
  if (status == IDM_OK)
    status = read_number(r, NC_GLOBAL, "row_prior", NC_DOUBLE, true, &p->row_prior);
  if (status != IDM_OK) return status;
  if (cuts < 0 || cuts > INT_MAX)
    return FAIL(r, "the attribute 'dynamics_draws' is %lld; expected 0 or more", cuts);
  if (resolution < 0 || resolution > INT_MAX)
    return FAIL(r, "the attribute 'resolution' is %lld; expected 0 or more", resolution);
  size_t kind = 0;
  while (idm_netcdf_answers[kind] && strcmp(answer, idm_netcdf_answers[kind]) != 0) kind++;
  if (!idm_netcdf_answers[kind])
    return FAIL(r, "the attribute 'answer' is '%s'; expected 'point', 'posterior' or 'set'",
                answer);
  if (warmup < 0 || warmup > LONG_MAX)
    return FAIL(r, "the attribute 'warmup' is %lld; expected 0 or more", warmup);
  p->search_recorded = !isnan(p->highest);
  p->answer = (idm_estimate_kind)kind;
  p->seed = seed;
  p->warmup = (long)warmup;
  p->resolution = (int)resolution;
  p->cuts = (size_t)cuts;
  return IDM_OK;
}

/* Drop the sizes if every name has one number, as in the posterior that was written. */
static void drop_unit_sizes(const idm_labels *names, size_t **size)
{
  for (size_t i = 0; *size && i < names->count; i++)
    if ((*size)[i] != 1) return;
  free(*size);
  *size = NULL;
}

static idm_status read_groups(reader *r, int file, idm_posterior *p)
{
  const draws posterior = {&p->quantity, &p->quantity_size, &p->value, &p->summarised, p};
  const draws unconstrained = {&p->coordinate, &p->coordinate_size, &p->unconstrained, NULL, NULL};
  idm_status status = read_attributes(r, file, p);
  if (status == IDM_OK) status = read_draws(r, file, "posterior", posterior);
  if (status == IDM_OK && !p->quantity.count)
    status = FAIL(r, "the group 'posterior' holds no quantity");
  if (status == IDM_OK && !p->series_count)
    status = read_draws(r, file, "unconstrained_posterior", unconstrained);
  if (status == IDM_OK) status = read_statistics(r, file, p);
  if (status == IDM_OK) status = read_dynamics(r, file, p);
  drop_unit_sizes(&p->quantity, &p->quantity_size);
  drop_unit_sizes(&p->coordinate, &p->coordinate_size);
  p->chains = r->chains;
  p->draws = r->draws;
  return status;
}

static idm_status read_image(reader *r, char *image, size_t length, idm_posterior *p)
{
  int file;
  const int code = idm_netcdf.nc_open_mem("run.nc", NC_NOWRITE, length, image, &file);
  r->group_name = "/";
  if (code != NC_NOERR) return fail_code(r, code, "file");
  const idm_status status = read_groups(r, file, p);
  idm_netcdf.nc_close(file);
  return status;
}

idm_status idm_posterior_read_file(const char *path, idm_posterior **ret_posterior,
                                   idm_error *opt_error)
{
  idm_require(path, ret_posterior);
  const idm_location location = idm_location_of(path);
  return idm_posterior_read_netcdf_at(&location, ret_posterior, opt_error);
}

idm_status idm_posterior_read_netcdf_at(const idm_location *location, idm_posterior **ret_posterior,
                                        idm_error *opt_error)
{
  const char *path = location->path;
  *ret_posterior = NULL;
  char *bytes;
  size_t length;
  size_t image = 0;
  idm_status status = idm_netcdf_load(opt_error);
  if (status == IDM_OK) status = idm_file_read_at(location, FILE_LIMIT, &bytes, &length, opt_error);
  if (status != IDM_OK) return status;
  idm_posterior *posterior = idm_new(1, sizeof *posterior);
  if (!posterior) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = check_trailer(bytes, length, path, &image, opt_error);
  reader r = {.path = path, .opt_error = opt_error};
  if (status == IDM_OK) status = read_image(&r, bytes, image, posterior);
  free(bytes);
  if (status == IDM_OK)
    *ret_posterior = posterior;
  else
    idm_posterior_destroy(posterior);
  return status;
}
