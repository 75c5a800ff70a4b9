/* Lattices to compare with. */
#include "invert/finer.h"

#include <unistd.h>

#include "belief/lattice.h"

/* Points of a lattice beyond which a comparison costs more than it tells. */
enum { most_points = 300000 };
/* Of the machine's memory, what comparisons may take. */
static const double memory_share = 0.4;

bool idm_lattice_matters(const idm_problem *problem, const idm_workspace *workspace)
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
  int finer = idm_lattice_fitting(problem->setting->states.count, most_points);
  if (finer > 2 * resolution) finer = 2 * resolution;
  while (4 * finer >= 5 * resolution &&
         (double)workspaces * idm_workspace_bytes(workspace, finer) > budget)
    finer -= 1 + finer / 64;
  return 4 * finer >= 5 * resolution ? finer : 0;
}

double idm_lattice_doubling(int resolution, int finer)
{
  return 0.5 * (double)finer / (double)(finer - resolution);
}
