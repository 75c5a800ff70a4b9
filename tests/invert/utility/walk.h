/* A walk of three observed states, shared by tests of inverse planners of utilities. */
#ifndef IDM_TESTS_INVERT_UTILITY_WALK_H
#define IDM_TESTS_INVERT_UTILITY_WALK_H

#define WALK                                                                                       \
  "name: walk\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\n"                  \
  "discount: 0.9\nstart: a\n"                                                                      \
  "transition:\n"                                                                                  \
  "  left: {a: {a: 1}, b: {a: 0.8, b: 0.2}, c: {b: 1}}\n"                                          \
  "  right: {a: {b: 0.8, a: 0.2}, b: {c: 1}, c: {c: 1}}\n"                                         \
  "utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}\n"                                          \
  "agent: {planner: maximum-entropy, alpha: 1}\n"

/* The same with matrices. */
#define WALK_MATRICES                                                                              \
  "name: walk\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\n"                  \
  "discount: 0.9\nstart: a\n"                                                                      \
  "transition:\n"                                                                                  \
  "  left: [[1, 0, 0], [0.8, 0.2, 0], [0, 1, 0]]\n"                                                \
  "  right: [[0.2, 0.8, 0], [0, 0, 1], [0, 0, 1]]\n"                                               \
  "utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}\n"                                          \
  "agent: {planner: maximum-entropy, alpha: 1}\n"

#endif
