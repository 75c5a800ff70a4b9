/* Logs whose posterior of the dynamics has two modes. */
#include "learn/bits_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "learn/textbook_support.h"
#include "support.h"

const char bits_second[] =
    "states: [a, b]\nactions: [look]\nobservations: [ll, lh, hl, hh]\n"
    "start: [0.5, 0.5]\ndiscount: 0.9\ntransition: {'*': [[0.7, 0.3], [0.3, 0.7]]}\n"
    "observation: {'*': [[0.49, 0.01, 0.49, 0.01], [0.01, 0.49, 0.01, 0.49]]}\n"
    "utility: {look: 0}\n";

char *bits_problem(double first, double second)
{
  enum { size = 1000 };
  char *yaml = malloc(size);
  assert_non_null(yaml);
  int at =
      snprintf(yaml, size,
               "states: [ll, lh, hl, hh]\nactions: [look]\nobservations: [ll, lh, hl, hh]\n"
               "start: [0.25, 0.25, 0.25, 0.25]\ndiscount: 0.9\nutility: {look: 0}\n"
               "observation: {'*': [[0.997, 0.001, 0.001, 0.001], [0.001, 0.997, 0.001, 0.001],\n"
               "                    [0.001, 0.001, 0.997, 0.001], [0.001, 0.001, 0.001, 0.997]]}\n"
               "transition: {'*': [");
  for (int from = 0; from < 4; from++)
    for (int to = 0; to < 4; to++) {
      const double one = (from ^ to) & 2 ? 1 - first : first;
      const double other = (from ^ to) & 1 ? 1 - second : second;
      at += snprintf(yaml + at, (size_t)(size - at), "%s%.6f%s", to ? ", " : "[", one * other,
                     to < 3     ? ""
                     : from < 3 ? "], "
                                : "]]}\n");
    }
  return yaml;
}

idm_data *bits_simulate(double first, double second, size_t trajectories, size_t rows,
                        uint64_t seed)
{
  char *yaml = bits_problem(first, second);
  idm_problem *problem = support_yaml(yaml);
  idm_dynamics *dynamics;
  check(idm_problem_dynamics(problem, &dynamics, &support_error));
  idm_data *data = textbook_simulate(dynamics, false, trajectories, rows, 0, seed);
  data->sizes.states = 2; /* of a learner with two hidden states */
  idm_dynamics_destroy(dynamics);
  idm_problem_destroy(problem);
  free(yaml);
  return data;
}
