/* Provides a graph of beliefs for a problem read by name. */
#ifndef TESTS_PLAN_POINT_GRAPH_SUPPORT_H
#define TESTS_PLAN_POINT_GRAPH_SUPPORT_H

#include "plan/point/search.h"
#include "support.h"

typedef struct fixture {
  idm_problem *problem;
  kernel *kernel;
  point_problem p;
  bounds bounds;
  search_graph graph;
} fixture;

/* Creates the graph for the problem of the fixture. */
static inline void fill_graph(fixture *f)
{
  const idm_theta *theta = f->problem->theta;
  check(idm_kernel_create(f->problem->setting, theta, &f->kernel, &support_error));
  f->p = (point_problem){.kernel = f->kernel,
                         .reward = idm_theta_values(theta, IDM_UTILITY, 0),
                         .prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
                         .terminal = f->problem->setting->terminal,
                         .start = f->problem->setting->start,
                         .discount = idm_theta_scalar(theta, IDM_DISCOUNT)};
  check(idm_bounds_create(&f->p, 1e-6, &f->bounds, &support_error));
  check(idm_graph_create(&f->p, &f->bounds, &f->graph, &support_error));
}

static inline void open_graph(fixture *f, const char *name)
{
  check(idm_problem_read(name, &f->problem, NULL, &support_error));
  fill_graph(f);
}

static inline void close_graph(fixture *f)
{
  idm_graph_free(&f->graph);
  idm_bounds_free(&f->bounds);
  idm_kernel_destroy(f->kernel);
  idm_problem_destroy(f->problem);
}

#endif
