/* A problem and a log in files, read by the public functions with the settings of a short fit, the
 * fit in a folder, and watches that stop. */
#ifndef IDM_TESTS_STUDY_HOST_SUPPORT_H
#define IDM_TESTS_STUDY_HOST_SUPPORT_H

#include <stdio.h>
#include <unistd.h>

#include "idm/plan.h"
#include "idm/run.h"
#include "idm/settings.h"
#include "io/folder_support.h"

typedef struct host {
  idm_problem *problem;
  idm_data *data;
  idm_settings *settings;
  idm_posterior *posterior; /* of a fit in the folder `run`; NULL: none */
  char problem_path[96];
  char log[96];
  char run[96];
  char out[96]; /* for a file that a test writes */
} host;

static inline void set(const host *h, const char *name, const char *value)
{
  check(idm_settings_set(h->settings, name, value, &support_error));
}

/* Twelve people at two sites, three trajectories each. */
static inline void write_log(const idm_problem *problem, const char *path)
{
  idm_data *data;
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fprintf(out, "agent,trajectory,action,observation,site\n");
  check(idm_simulate_log(problem, 36, 12, 3, &data, &support_error));
  const size_t *first = idm_data_first_rows(data, NULL);
  for (size_t t = 0; t < 36; t++)
    for (size_t row = first[t]; row < first[t + 1]; row++) {
      const int32_t seen = idm_data_observations(data, NULL)[row];
      const size_t action = (size_t)idm_data_actions(data, NULL)[row];
      fprintf(out, "p%zu,%zu,%s,%s,%s\n", t / 3, t + 1, idm_problem_action_name(problem, action),
              seen < 0 ? "" : idm_problem_observation_name(problem, (size_t)seen),
              t / 3 % 2 ? "south" : "north");
    }
  assert_int_equal(fclose(out), 0);
  idm_data_destroy(data);
}

static inline void read_log(host *h)
{
  idm_data_destroy(h->data);
  check(idm_data_read(h->problem, (const char *const[]){h->log}, 1, h->settings, &h->data, NULL,
                      &support_error));
}

/* The problem, which is written and read again, and settings; without a log. */
static inline host begin_host(const folder *f, const char *free_blocks)
{
  host h = {0};
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 12;
  snprintf(h.problem_path, sizeof h.problem_path, "%s/problem.yaml", f->path);
  snprintf(h.log, sizeof h.log, "%s/log.csv", f->path);
  snprintf(h.run, sizeof h.run, "%s/run", f->path);
  snprintf(h.out, sizeof h.out, "%s/out.svg", f->path);
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  check(idm_problem_write_yaml(problem, h.problem_path, NULL, &support_error));
  idm_problem_destroy(problem);
  check(idm_problem_read(h.problem_path, &h.problem, NULL, &support_error));
  check(idm_settings_create(&h.settings, &support_error));
  set(&h, "chains", "2");
  set(&h, "draws", "50");
  set(&h, "warmup", "50");
  set(&h, "threads", "1");
  return h;
}

static inline host open_host(const folder *f)
{
  host h = begin_host(f, "alpha");
  set(&h, "checks", "none");
  write_log(h.problem, h.log);
  read_log(&h);
  return h;
}

/* Fit in the folder `run`. */
static inline void fit_host(host *h)
{
  check(idm_run_create(h->run, IDM_RUN_NEW, h->problem_path, (const char *const[]){h->log}, 1,
                       h->settings, &h->posterior, NULL, &support_error));
}

static inline void remove_run(const host *h)
{
  folder inner = {0};
  snprintf(inner.path, sizeof inner.path, "%.60s", h->run);
  if (access(h->run, F_OK) != 0) return;
  entries(&inner, 1);
  assert_int_equal(rmdir(h->run), 0);
}

static inline void close_host(host *h)
{
  remove_run(h);
  idm_posterior_destroy(h->posterior);
  idm_data_destroy(h->data);
  idm_settings_destroy(h->settings);
  idm_problem_destroy(h->problem);
}

/* Watches that stop at a call. */
typedef struct stopper {
  int at; /* call that stops, counted from 1 */
  int calls;
} stopper;

static inline bool stop(void *context, double done)
{
  stopper *s = context;
  assert_true(done >= 0 && done <= 1);
  return ++s->calls == s->at;
}

#endif
