/* Paths that are good from every folder. */
#define _XOPEN_SOURCE 700 /* realpath: POSIX has had it since 2008, glibc shows it only so */
#include "io/run/absolute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/texts.h"
#include "base/utf8.h"

/* A path that is good from every folder; as given where it cannot be had, or could not be named. */
static void make_absolute(char *path, size_t size)
{
  char *absolute = realpath(path, NULL);
  if (absolute && strlen(absolute) < size && idm_utf8_valid(absolute, strlen(absolute)))
    snprintf(path, size, "%s", absolute);
  free(absolute);
}

/* The same for paths that stand one a line. */
static void make_paths_absolute(char *paths, size_t size)
{
  size_t count = 0;
  char **list = idm_texts_split(paths, &count);
  char *made = idm_new(size, 1);
  char *one = idm_new(size, 1);
  bool whole = list && made && one;
  for (size_t i = 0; i < count && whole; i++) {
    snprintf(one, size, "%s", list[i]);
    make_absolute(one, size);
    whole = idm_texts_add(made, size, one, NULL) == IDM_OK;
  }
  if (whole) snprintf(paths, size, "%s", made);
  free(list);
  free(made);
  free(one);
}

void idm_request_make_absolute(idm_request *request)
{
  make_paths_absolute(request->data, sizeof request->data);
  if (request->preferences[0]) make_absolute(request->preferences, sizeof request->preferences);
  if (request->problem_hash[0]) make_absolute(request->problem, sizeof request->problem);
}
