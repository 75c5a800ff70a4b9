/* Copies of problems with their own dynamics and parameters, and resolutions of finer lattices.
 *
 * Contents: clone · finer */
#include <unistd.h>

#include "base/memory.h"
#include "belief/belief.h"
#include "invert/clone.h"

/* === clone ================================================================================== */

/* Clones own their setting's dynamics and their theta. */

void idm_clone_destroy(idm_problem *clone)
{
  if (!clone) return;
  if (clone->setting) {
    free(clone->setting->start);
    free(clone->setting->transition);
    free(clone->setting->emission);
    free(clone->setting);
  }
  idm_theta_destroy(clone->theta);
  free(clone);
}

static idm_status clone_parts(const idm_problem *problem, idm_problem *clone, idm_error *opt_error)
{
  const idm_setting *from = problem->setting;
  const idm_sizes n = idm_setting_sizes(from);
  const size_t rows = n.actions * n.states;
  idm_setting *setting = clone->setting = idm_duplicate(from, 1, sizeof *setting);
  if (!setting) return idm_fail_memory(opt_error);
  setting->start = idm_duplicate(from->start, n.states, sizeof(double));
  setting->transition = idm_duplicate(from->transition, rows * n.states, sizeof(double));
  setting->emission = idm_duplicate(from->emission, rows * n.observations, sizeof(double));
  const bool allocated = setting->start && (setting->transition || !from->transition) &&
                         (setting->emission || !from->emission);
  return allocated ? idm_theta_copy(problem->theta, &clone->theta, opt_error)
                   : idm_fail_memory(opt_error);
}

idm_status idm_problem_clone(const idm_problem *problem, idm_problem **ret_clone,
                             idm_error *opt_error)
{
  *ret_clone = NULL;
  idm_problem *clone = idm_duplicate(problem, 1, sizeof *clone);
  if (!clone) return idm_fail_memory(opt_error);
  clone->setting = NULL;
  clone->theta = NULL;
  const idm_status status = clone_parts(problem, clone, opt_error);
  if (status == IDM_OK)
    *ret_clone = clone;
  else
    idm_clone_destroy(clone);
  return status;
}

/* === finer ================================================================================== */

/* Finer lattices for comparisons. */

/* Largest number of lattice points of a comparison; more would cost more than the comparison is
 * useful for. */
enum { max_points = 300000 };
/* Share of physical memory that comparisons may use. */
static const double memory_share = 0.4;

bool idm_lattice_is_used(const idm_problem *problem, const idm_workspace *workspace)
{
  return idm_workspace_points(workspace) > 0 && !problem->setting->fully_observed &&
         problem->setting->states.count > 1;
}

int idm_lattice_resolution(const idm_problem *problem)
{
  return problem->agent.resolution ? problem->agent.resolution
                                   : idm_lattice_default(problem->setting->states.count);
}

int idm_lattice_finer(const idm_problem *problem, const idm_workspace *workspace, int resolution,
                      size_t workspaces)
{
  const double budget =
      memory_share * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  int finer = idm_lattice_max_resolution(problem->setting->states.count, max_points);
  if (finer > 2 * resolution) finer = 2 * resolution;
  while (4 * finer >= 5 * resolution &&
         (double)workspaces * idm_workspace_bytes(workspace, finer) > budget)
    finer -= 1 + finer / 64;
  return 4 * finer >= 5 * resolution ? finer : 0;
}

double idm_lattice_doubling_factor(int resolution, int finer)
{
  return 0.5 * (double)finer / (double)(finer - resolution);
}
