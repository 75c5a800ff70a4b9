/* Writes the vectors of a plan in the .alpha format. */
#include "io/problem_file.h"

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/file.h"

static void write_vector(idm_file *file, size_t action, const double *vector, size_t states)
{
  idm_file_printf(file, "%zu\n", action);
  for (size_t s = 0; s < states; s++) {
    char text[40];
    idm_number_text(vector[s], text, sizeof text);
    idm_file_printf(file, s ? " %s" : "%s", text);
  }
  idm_file_printf(file, "\n\n");
}

idm_status idm_plan_write_alpha(const idm_workspace *workspace, size_t variant, const char *path,
                                idm_error *opt_error)
{
  idm_require(workspace, path);
  const size_t states = idm_workspace_theta(workspace)->sizes.states;
  double *vector = idm_new(states, sizeof *vector);
  if (!vector) return idm_fail_memory(opt_error);
  size_t action;
  idm_file *file = NULL;
  idm_status status = IDM_OK;
  if (!idm_plan_vector(workspace, variant, 0, vector, &action))
    status =
        idm_fail(opt_error, IDM_USAGE, "planner '%s' has no vectors to write: 'point-based' does",
                 idm_workspace_planner(workspace)->name);
  if (status == IDM_OK) status = idm_file_create(path, &file, opt_error);
  for (size_t i = 0; status == IDM_OK && idm_plan_vector(workspace, variant, i, vector, &action);
       i++)
    write_vector(file, action, vector, states);
  if (status == IDM_OK) status = idm_file_commit(file, opt_error);
  free(vector);
  return status;
}
