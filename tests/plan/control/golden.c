/* Tests golden cases: values, policies, beliefs, likelihoods and complexities computed
 * independently from the equations by golden/make_golden.py. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct golden {
  char name[64];
  idm_problem *problem;
  idm_workspace *workspace;
  idm_forward forward;
  double sharpness; /* factor from an error of V to an error of a policy: 1/|alpha| */
} golden;

static void close_case(golden *g)
{
  idm_workspace_destroy(g->workspace);
  idm_problem_destroy(g->problem);
  g->workspace = NULL;
  g->problem = NULL;
}

static void open_case(golden *g, const char *name)
{
  if (g->problem && strcmp(g->name, name) == 0) return;
  close_case(g);
  char path[128];
  snprintf(g->name, sizeof g->name, "%.63s", name);
  snprintf(path, sizeof path, "golden/%.63s.yaml", name);
  check(idm_problem_read(path, &g->problem, NULL, &support_error));
  check(idm_workspace_create(g->problem->setting, g->problem->theta, &g->problem->agent,
                             &g->workspace, &support_error));
  const idm_solver solver = {.method = IDM_METHOD_NEWTON, .limit = 100, .tolerance = 1e-11};
  check(idm_plan(g->problem->theta, &solver, g->workspace, NULL, &support_error));
  check(idm_plan_forward(g->workspace, 0, &g->forward, NULL, &support_error));
  const double alpha = fabs(idm_theta_scalar(g->problem->theta, IDM_ALPHA));
  g->sharpness = alpha > 0 && alpha < 1 ? fmin(1 / alpha, 1e4) : 1;
}

static void parse_belief(const golden *g, const char *text, double *z)
{
  const size_t k = g->problem->setting->states.count;
  if (strncmp(text, "start", 5) == 0) {
    memcpy(z, g->problem->setting->start, k * sizeof *z);
    return;
  }
  char *end = NULL;
  for (size_t s = 0; s < k; s++, text = end + 1) z[s] = strtod(text, &end);
}

/* Follows "u:x,u:x,..."; a final "u:" is a decision without an observation. Returns the
 * log-likelihood; z receives the last belief. */
static double continuation(const golden *g, const char *path, double *z)
{
  const idm_setting *setting = g->problem->setting;
  const idm_behavior b = idm_workspace_behavior(g->workspace);
  double total = 0;
  void *memory;
  check(b.ops->memory_create(b.content, &memory, &support_error));
  check(b.ops->begin_agent(b.content, memory, &support_error));
  check(b.ops->begin_trajectory(b.content, memory, memory, 0, NULL, &support_error));
  while (*path) {
    const size_t length = strcspn(path, ",");
    const char *colon = memchr(path, ':', length);
    assert_non_null(colon);
    const long u = idm_labels_find(&setting->actions, path, (size_t)(colon - path));
    assert_true(u >= 0);
    double log_p;
    check(b.ops->log_act(b.content, memory, NULL, (size_t)u, &log_p, &support_error));
    total += log_p;
    const size_t rest = length - (size_t)(colon + 1 - path);
    if (rest > 0) {
      const long x = idm_labels_find(&setting->observations, colon + 1, rest);
      assert_true(x >= 0);
      support_observe(b, memory, memory, (idm_event){.action = (int)u, .observation = (int)x});
    }
    path += length + (path[length] == ',');
  }
  b.ops->belief(b.content, memory, z);
  b.ops->memory_destroy(memory);
  return total;
}

static double computed(const golden *g, char *key)
{
  double z[16], policy[16];
  char *at = strchr(key, '@');
  if (strcmp(key, "return") == 0) return g->forward.internal_return;
  if (strcmp(key, "complexity.decision") == 0) return g->forward.decision;
  if (strcmp(key, "complexity.specification") == 0) return g->forward.specification;
  if (strcmp(key, "complexity.recognition") == 0) return g->forward.recognition;
  assert_non_null(at);
  *at++ = '\0';
  if (strcmp(key, "loglik") == 0) return continuation(g, at, z);
  const char *label = strchr(key, ':') ? strchr(key, ':') + 1 : "";
  if (strncmp(key, "belief:", 7) == 0) {
    continuation(g, at, z);
    return z[idm_labels_find(&g->problem->setting->states, label, strlen(label))];
  }
  parse_belief(g, at, z);
  if (strcmp(key, "value") == 0) return idm_plan_value(g->workspace, 0, z);
  idm_plan_policy(g->workspace, 0, z, policy, NULL);
  return policy[idm_labels_find(&g->problem->setting->actions, label, strlen(label))];
}

static void every_golden_number_is_met(void **state)
{
  (void)state;
  FILE *file = fopen("golden/expected.csv", "r");
  assert_non_null(file);
  char line[512];
  golden g = {0};
  int seen = 0, wrong = 0;
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    char *key = strchr(line, ',') + 1;
    char *value = strrchr(line, ',') + 1;
    key[-1] = value[-1] = '\0';
    const double expected = strtod(value, NULL);
    open_case(&g, line);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", key);
    const double found = computed(&g, copy);
    const double slack = 1e-9 * g.sharpness * fmax(1, fabs(expected));
    seen++;
    if (found == expected || fabs(found - expected) <= slack) continue;
    wrong++;
    print_error("%s %s: %.15g, expected %.15g\n", line, key, found, expected);
  }
  fclose(file);
  close_case(&g);
  print_message("%d golden numbers, %d wrong\n", seen, wrong);
  assert_true(seen > 800);
  assert_int_equal(wrong, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_golden_number_is_met)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
