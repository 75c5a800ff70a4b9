/* Room for draws, and the share of the work that a watch is told. */
#include "invert/audit/draws.h"
#include "support.h"

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
  m.wards = 1;
  check(idm_audit_draws_create(&m, &draws, &support_error));
  draws.within[3 * 2 * 10 - 1] = 1;
  idm_audit_draws_clear(&draws);
}

static bool take(void *context, const idm_work *work)
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
  const idm_fit_watch watcher = {.progress = take, .context = &done};
  const audit_watch watch = {&watcher, 0.2, 0.6};
  assert_false(idm_audit_watched(&watch, 0.25));
  assert_near(done, 0.3, 1e-15);
  assert_true(idm_audit_watched(&watch, 1));
  assert_near(done, 0.6, 1e-15);
  assert_false(idm_audit_watched(&(audit_watch){NULL, 0, 1}, 1));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(there_is_room_for_what_a_model_has),
                                     cmocka_unit_test(a_watch_hears_of_its_part_of_the_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
