/* Tests which blocks a planner depends on according to its table alone. */
#include "plan/learner_support.h"

/* A block that is read has an effect unless a clamp fixes it. A clamp that only restricts its sign
 * leaves it an effect. */
static void clamps_decide_what_is_read(void **state)
{
  (void)state;
  static const idm_clamp clamp[] = {{IDM_ALPHA, IDM_CLAMP_VALUE, 1},
                                    {IDM_BETA, IDM_CLAMP_NEGATIVE, 0},
                                    {IDM_ETA, IDM_CLAMP_POSITIVE, 0},
                                    {IDM_ACTION_PRIOR, IDM_CLAMP_UNIFORM, 0},
                                    {IDM_TRANSITION, IDM_CLAMP_ENVIRONMENT, 0},
                                    {IDM_BELIEF_PRIOR, IDM_CLAMP_IRRELEVANT, 0}};
  static const idm_block_id reads[] = {IDM_UTILITY,      IDM_ALPHA,        IDM_BETA,
                                       IDM_ETA,          IDM_ACTION_PRIOR, IDM_TRANSITION,
                                       IDM_BELIEF_PRIOR, IDM_BLOCK_COUNT};
  const idm_planner planner = {
      .size = sizeof(idm_planner), .name = "test", .reads = reads, .clamp = clamp, .clamps = 6};
  for (size_t id = 0; id < IDM_BLOCK_COUNT; id++)
    assert_int_equal(idm_planner_reads(&planner, id),
                     id == IDM_UTILITY || id == IDM_BETA || id == IDM_ETA ||
                         id == IDM_PERSEVERANCE || id == IDM_LAPSE || id == IDM_PRIOR_WEIGHT ||
                         id == IDM_EVIDENCE_WEIGHT);
  assert_false(idm_planner_reads(&planner, IDM_BLOCK_COUNT));
}

/* All blocks of the planner's own are read, and no further ones. */
static void own_blocks_are_read(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    for (size_t k = 0; k < planner->own_count; k++)
      assert_true(idm_planner_reads(planner, IDM_BLOCK_COUNT + k));
    assert_false(idm_planner_reads(planner, IDM_BLOCK_COUNT + planner->own_count));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clamps_decide_what_is_read),
      cmocka_unit_test(own_blocks_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
