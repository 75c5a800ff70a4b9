/* Tests storage and checkpoints of an audit's draws, and the progress reported to a monitor. */
#include "invert/audit/model.h"

#include <stdlib.h>

#include "support.h"

static void steps_have_numbers_of_their_own(void **state)
{
  (void)state;
  uint64_t seen[4 * 3 * 3];
  size_t count = 0;
  for (int step = 0; step < 4; step++)
    for (size_t dynamics_index = 0; dynamics_index < 3; dynamics_index++)
      for (size_t index = 0; index < 3; index++) {
        const uint64_t one = idm_audit_step((audit_step)step, dynamics_index, index << 16);
        for (size_t k = 0; k < count; k++) assert_true(seen[k] != one);
        seen[count++] = one;
      }
}

/* Agents who are fitted together: three, and five. */
static idm_design three = {.people = 3}, five = {.people = 5};
static audit_cohort cohorts[2] = {{.design = &three}, {.design = &five}};

static void there_is_room_for_what_a_model_has(void **state)
{
  (void)state;
  const idm_fit_settings settings = {.chains = 2, .draws = 5};
  audit_model m = {.settings = &settings, .dimension = 2, .cells = 3, .effects = 4};
  audit_draws draws;
  check(idm_audit_draws_create(&m, &draws, &support_error));
  assert_int_equal(draws.chains, 2);
  assert_int_equal(draws.draws, 5);
  assert_null(draws.within);
  draws.effect[4 * 2 * 10 - 1] = draws.cell[3 * 2 * 10 - 1] = draws.log_likelihood[3 * 10 - 1] = 1;
  idm_audit_draws_clear(&draws);
  assert_null(draws.cell);
  assert_null(draws.agent);
  m.cohorts = 2;
  m.cohort = cohorts;
  assert_int_equal(idm_audit_agents(&m, 1), 3);
  assert_int_equal(idm_audit_agents(&m, 2), 8);
  check(idm_audit_draws_create(&m, &draws, &support_error));
  draws.within[3 * 2 * 10 - 1] = draws.agent[8 * 2 * 10 - 1] = 1;
  idm_audit_draws_clear(&draws);
}

/* Draws are unchanged after writing and reading a record. */
static void draws_are_recorded(void **state)
{
  (void)state;
  const idm_fit_settings settings = {.chains = 2, .draws = 5};
  const audit_model m = {.settings = &settings,
                         .dimension = 2,
                         .cells = 3,
                         .effects = 4,
                         .cohorts = 1,
                         .cohort = cohorts};
  audit_draws there, back;
  idm_record record;
  char *bytes;
  size_t length;
  check(idm_audit_draws_create(&m, &there, &support_error));
  check(idm_audit_draws_create(&m, &back, &support_error));
  for (size_t i = 0; i < 60; i++) there.cell[i] = there.within[i] = there.agent[i] = (double)i;
  for (size_t i = 0; i < 20; i++) there.mean[i] = there.sd[i] = 0.1 * (double)i;
  there.effect[79] = there.log_likelihood[29] = 7;
  idm_record_begin(&record, "idmtest", 3);
  idm_audit_draws_pass(&m, &there, &record);
  check(idm_record_finish(&record, &bytes, &length, &support_error));
  check(idm_record_open(&record, "idmtest", 3, bytes, length, &support_error));
  idm_audit_draws_pass(&m, &back, &record);
  check(idm_record_close(&record, true, &support_error));
  assert_memory_equal(there.cell, back.cell, 60 * sizeof(double));
  assert_memory_equal(there.within, back.within, 60 * sizeof(double));
  assert_memory_equal(there.agent, back.agent, 60 * sizeof(double));
  assert_memory_equal(there.mean, back.mean, 20 * sizeof(double));
  assert_memory_equal(there.effect, back.effect, 80 * sizeof(double));
  assert_memory_equal(there.log_likelihood, back.log_likelihood, 30 * sizeof(double));
  free(bytes);
  idm_audit_draws_clear(&there);
  idm_audit_draws_clear(&back);
}

static bool take(void *context, const idm_progress_state *work)
{
  char words[8] = "x";
  work->describe(work->content, words, sizeof words);
  assert_string_equal(words, "");
  *(double *)context = work->done;
  return work->done > 0.4;
}

static void a_watch_hears_of_its_part_of_the_whole(void **state)
{
  (void)state;
  double done = -1;
  const idm_fit_monitor watcher = {.progress = take, .context = &done};
  const audit_watch watch = {.opt_monitor = &watcher, .from = 0.2, .to = 0.6};
  assert_false(idm_audit_report_progress(&watch, 0.25, 0, NULL));
  assert_near(done, 0.3, 1e-15);
  assert_true(idm_audit_report_progress(&watch, 1, 0, NULL));
  assert_near(done, 0.6, 1e-15);
  assert_false(idm_audit_report_progress(&(audit_watch){.to = 1}, 1, 0, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_have_numbers_of_their_own),
                                     cmocka_unit_test(there_is_room_for_what_a_model_has),
                                     cmocka_unit_test(draws_are_recorded),
                                     cmocka_unit_test(a_watch_hears_of_its_part_of_the_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
