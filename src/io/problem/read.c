/* A problem from wherever it is: a YAML file, a .POMDP file, or a built-in example. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "idm/problem_file.h"
#include "io/file.h"
#include "io/pomdp/read.h"
#include "io/problem/read.h"

/* Files of this many bytes are more than anyone writes by hand or by script. */
static const size_t size_limit = (size_t)128 << 20;

static bool ends_in_pomdp(const char *path)
{
  static const char suffix[] = ".pomdp";
  const size_t length = strlen(path);
  const size_t tail = sizeof suffix - 1;
  if (length < tail) return false;
  for (size_t i = 0; i < tail; i++)
    if (tolower((unsigned char)path[length - tail + i]) != suffix[i]) return false;
  return true;
}

static idm_status read_example(const char *path, const char *name, idm_problem **ret_problem,
                               idm_notes *opt_notes, idm_error *opt_error)
{
  char known[400] = "";
  size_t length = 0;
  for (size_t i = 0; idm_example_name(i); i++) {
    const char *text = idm_example_text(i);
    if (strcmp(idm_example_name(i), name) == 0)
      return idm_problem_parse_yaml(text, strlen(text), path, ret_problem, opt_notes, opt_error);
    const size_t room = sizeof known - length;
    const int written = snprintf(known + length, room, "%s%s", i ? ", " : "", idm_example_name(i));
    if (written > 0 && (size_t)written < room) length += (size_t)written;
  }
  return idm_fail(opt_error, IDM_USAGE, "there is no example '%.60s'; expected one of %s", name,
                  known);
}

const char *idm_problem_example(const char *path)
{
  static const char prefix[] = "example:";
  return strncmp(path, prefix, sizeof prefix - 1) == 0 ? path + sizeof prefix - 1 : NULL;
}

idm_status idm_problem_read_sections(const idm_place *place, idm_yaml_section opt_section,
                                     void *context, idm_problem **ret_problem, idm_notes *opt_notes,
                                     idm_error *opt_error)
{
  *ret_problem = NULL;
  const char *path = place->path;
  const char *example = idm_place_inside(place) ? NULL : idm_problem_example(path);
  if (example) return read_example(path, example, ret_problem, opt_notes, opt_error);
  char *text = NULL;
  size_t length = 0;
  idm_status status = idm_file_read_at(place, size_limit, &text, &length, opt_error);
  if (status != IDM_OK) return status;
  status = ends_in_pomdp(path)
               ? idm_problem_parse_pomdp(text, length, path, ret_problem, opt_notes, opt_error)
               : idm_problem_parse_sections(text, length, place, opt_section, context, ret_problem,
                                            opt_notes, opt_error);
  free(text);
  return status;
}

idm_status idm_problem_read(const char *path, idm_problem **ret_problem, idm_notes *opt_notes,
                            idm_error *opt_error)
{
  idm_require(path, ret_problem);
  const idm_place place = idm_place_of(path);
  return idm_problem_read_sections(&place, NULL, NULL, ret_problem, opt_notes, opt_error);
}

idm_status idm_problem_read_by_rows(const char *path, idm_problem **ret_problem,
                                    idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(path, ret_problem);
  if (!ends_in_pomdp(path)) return idm_problem_read(path, ret_problem, opt_notes, opt_error);
  *ret_problem = NULL;
  char *text = NULL;
  size_t length = 0;
  idm_status status = idm_file_read(path, size_limit, &text, &length, opt_error);
  if (status == IDM_OK)
    status = idm_pomdp_parse(text, length, path, true, ret_problem, opt_notes, opt_error);
  free(text);
  return status;
}
