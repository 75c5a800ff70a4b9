/* run.nc of an audit: the posterior of groups and contrasts in ArviZ's layout. */
#include <inttypes.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/audit_run.h"
#include "io/run/netcdf.h"

/* The first error ends everything: later calls do nothing. */
typedef struct writer {
  const idm_audit *audit;
  int group;
  int code; /* of netCDF */
  int chain;
  int draw;
  int of_group;
  int of_contrast;
} writer;

static bool note(writer *w, int code)
{
  if (w->code == NC_NOERR) w->code = code;
  return w->code == NC_NOERR;
}

static void put_word(writer *w, const char *name, const char *word)
{
  if (w->code == NC_NOERR) note(w, nc_put_att_string(w->group, NC_GLOBAL, name, 1, &word));
}

/* A dimension with its coordinate: labels, or numbers from 0. */
static int define_axis(writer *w, const char *name, size_t length, const char *const *opt_label)
{
  int dimension = -1;
  int variable = -1;
  if (w->code != NC_NOERR || !note(w, nc_def_dim(w->group, name, length, &dimension)))
    return dimension;
  if (!note(w,
            nc_def_var(w->group, name, opt_label ? NC_STRING : NC_INT64, 1, &dimension, &variable)))
    return dimension;
  for (size_t i = 0; i < length && w->code == NC_NOERR; i++) {
    const long long number = (long long)i;
    const char *label = opt_label ? opt_label[i] : NULL;
    note(w, label ? nc_put_var1_string(w->group, variable, &i, &label)
                  : nc_put_var1_longlong(w->group, variable, &i, &number));
  }
  return dimension;
}

/* Names of all groups or contrasts; one free() gives them back with what they hold. */
static char **list_names(const idm_audit *a, bool contrasts)
{
  const size_t count = contrasts ? a->contrasts : a->groups;
  size_t room = (count + 1) * sizeof(char *);
  for (size_t i = 0; i < count; i++)
    room += contrasts ? strlen(a->contrast[i].group) + strlen(a->contrast[i].against) + 4
                      : strlen(a->group[i].name) + 1;
  char **list = idm_new(room, 1);
  if (!list) return NULL;
  char *text = (char *)(list + count + 1);
  for (size_t i = 0; i < count; i++) {
    list[i] = text;
    text += contrasts ? sprintf(text, "%s - %s", a->contrast[i].group, a->contrast[i].against)
                      : sprintf(text, "%s", a->group[i].name);
    text++;
  }
  return list;
}

static void define_axes(writer *w)
{
  const idm_audit *a = w->audit;
  char **group = list_names(a, false);
  char **contrast = list_names(a, true);
  if (!group || !contrast) note(w, NC_ENOMEM);
  w->chain = define_axis(w, "chain", a->chains, NULL);
  w->draw = define_axis(w, "draw", a->draws, NULL);
  w->of_group = define_axis(w, "group", a->groups, (const char *const *)group);
  w->of_contrast = define_axis(w, "contrast", a->contrasts, (const char *const *)contrast);
  free(group);
  free(contrast);
}

/* A name that netCDF takes: '/' stands as %2F, as in run.nc of a fit. */
static void spell(const char *name, const char *ending, char spelt[NC_MAX_NAME + 1])
{
  size_t used = 0;
  for (const char *c = name; *c && used + 20 < NC_MAX_NAME; c++)
    used += (size_t)snprintf(spelt + used, 4, *c == '/' ? "%%2F" : "%c", *c);
  snprintf(spelt + used, NC_MAX_NAME + 1 - used, "%s", ending);
}

/* A variable over (chain, draw) and a last axis, along which value[i] stands; one number where axis
 * is -1. */
static void put_variable(writer *w, const char *name, const char *ending, int axis, size_t count,
                         const double *const *value)
{
  const idm_audit *a = w->audit;
  const size_t draws = a->chains * a->draws;
  const int dimension[] = {w->chain, w->draw, axis};
  char spelt[NC_MAX_NAME + 1];
  int variable;
  spell(name, ending, spelt);
  double *turned = idm_new(idm_times(draws, count), sizeof *turned);
  if (!turned) note(w, NC_ENOMEM);
  for (size_t i = 0; turned && i < count; i++)
    for (size_t k = 0; k < draws; k++) turned[k * count + i] = value[i][k];
  if (w->code == NC_NOERR &&
      note(w, nc_def_var(w->group, spelt, NC_DOUBLE, axis < 0 ? 2 : 3, dimension, &variable)))
    note(w, nc_put_var_double(w->group, variable, turned));
  free(turned);
}

static void put_coordinate(writer *w, size_t j)
{
  const idm_audit *a = w->audit;
  const char *name = a->coordinate.name[j];
  const size_t most = a->groups > a->contrasts ? a->groups : a->contrasts;
  const double **value = idm_new(most, sizeof *value);
  if (!value) {
    note(w, NC_ENOMEM);
    return;
  }
  for (size_t i = 0; i < a->groups; i++) value[i] = a->group[i].number[j].draw;
  put_variable(w, name, "", w->of_group, a->groups, value);
  for (size_t i = 0; i < a->contrasts; i++) value[i] = a->contrast[i].number[j].draw;
  put_variable(w, name, "_contrast", w->of_contrast, a->contrasts, value);
  if (a->mean) {
    value[0] = a->mean[j].draw;
    put_variable(w, name, "_mean", -1, 1, value);
    value[0] = a->sd[j].draw;
    put_variable(w, name, "_sd", -1, 1, value);
  }
  free(value);
}

/* In memory first: HDF5 does not get over a write that fails. */
static int make_image(writer *w, NC_memio *image)
{
  int file;
  char request[17] = "";
  const idm_audit *a = w->audit;
  if (a->request) snprintf(request, sizeof request, "%016" PRIx64, a->request);
  if (!note(w, nc_create_mem("run.nc", NC_NETCDF4 | NC_CLOBBER, 1 << 16, &file))) return w->code;
  if (note(w, nc_def_grp(file, "posterior", &w->group))) {
    put_word(w, "inference_library", "idm");
    put_word(w, "inference_library_version", idm_version());
    put_word(w, "answer", "audit");
    put_word(w, "pool", idm_pool_word(a->pool));
    put_word(w, "request", request);
    define_axes(w);
    for (size_t j = 0; j < a->coordinate.count; j++) put_coordinate(w, j);
  }
  const int code = nc_close_memio(file, image);
  note(w, code);
  return w->code;
}

idm_status idm_audit_write_netcdf(const idm_audit *audit, const char *path, idm_error *opt_error)
{
  idm_require(audit, path);
  writer w = {.audit = audit};
  NC_memio image = {0};
  const int code = make_image(&w, &image);
  idm_status status = IDM_OK;
  if (code == NC_ENOMEM) status = idm_fail_memory(opt_error);
  if (code != NC_NOERR && code != NC_ENOMEM)
    status = idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", path, nc_strerror(code));
  if (status == IDM_OK) status = idm_seal_write(image.memory, image.size, path, opt_error);
  free(image.memory);
  return status;
}
