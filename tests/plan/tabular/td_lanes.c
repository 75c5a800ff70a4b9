/* Tests several td-learners in vector lanes: log-likelihoods and derivatives against one learner at
 * a time. */
#include "plan/tabular/learner.h"

#include <math.h>

#include "data/log.h"
#include "plan/tabular/td_support.h"

enum { benches = 5, agents = 4, count = benches * agents };

/* Agents with different parameters and logs. */
typedef struct crowd {
  td_bench bench[benches];
  idm_data *data[count];
  idm_prefix_tree *tree[count];
  idm_theta *theta[count];
} crowd;

static idm_data *take_agent(const idm_data *data, size_t agent)
{
  uint32_t kept[64];
  size_t n = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    if (data->agent[t] == agent) kept[n++] = (uint32_t)t;
  idm_data *part;
  check(idm_data_subset(data, kept, n, &part, &support_error));
  return part;
}

static crowd open_crowd(unsigned kind, double missed)
{
  crowd c;
  for (size_t i = 0; i < count; i++) {
    td_bench *b = &c.bench[i / agents];
    if (i % agents == 0) *b = td_open_missed(kind, 3 + i, missed);
    c.data[i] = take_agent(b->data, i % agents);
    check(idm_evidence_tree(b->problem, c.data[i], &c.tree[i], &support_error));
    check(idm_theta_copy(b->problem->theta, &c.theta[i], &support_error));
    const double shift = 0.02 * (double)i;
    idm_theta_set_scalar(c.theta[i], IDM_BLOCK_COUNT + TD_TEMPERATURE, 0.5 + 5 * shift);
    idm_theta_set_scalar(c.theta[i], IDM_BLOCK_COUNT + TD_GAIN, 0.1 + shift);
    idm_theta_set_scalar(c.theta[i], IDM_PERSEVERANCE, 0.3 - shift);
    idm_theta_set_scalar(c.theta[i], IDM_LAPSE, i % 3 ? 0.1 * shift : 0);
  }
  return c;
}

static void close_crowd(crowd *c)
{
  for (size_t i = 0; i < count; i++) {
    idm_theta_destroy(c->theta[i]);
    idm_prefix_tree_destroy(c->tree[i]);
    idm_data_destroy(c->data[i]);
    if (i % agents == agents - 1) td_close(&c->bench[i / agents]);
  }
}

static void free_blocks(idm_theta *theta, unsigned which)
{
  static const size_t more[] = {IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE};
  for (size_t i = 0; i < TD_OWNS + 3; i++) {
    const size_t id = i < TD_OWNS ? IDM_BLOCK_COUNT + i : more[i - TD_OWNS];
    theta->block[id].role = which >> i & 1 ? IDM_DESCRIPTIVE : IDM_NORMATIVE;
  }
}

static void expect_alike(const crowd *c, void *lanes, size_t i, double log_likelihood)
{
  idm_theta *one, *derivative;
  idm_gradient *gradient;
  double expected;
  idm_workspace *workspace = c->bench[i / agents].workspace;
  check(idm_theta_copy(c->theta[i], &one, &support_error));
  check(idm_theta_copy(c->theta[i], &derivative, &support_error));
  check(idm_plan(c->theta[i], NULL, workspace, NULL, &support_error));
  check(idm_gradient_create(c->data[i], c->tree[i], workspace, &gradient, &support_error));
  check(idm_gradient_run(gradient, &expected, one, &support_error));
  idm_gradient_destroy(gradient);
  assert_near(log_likelihood, expected, 1e-12 * (1 + fabs(expected)));
  idm_td_lanes.get(lanes, i, derivative);
  for (size_t k = 0; k < one->blocks; k++) {
    if (one->block[k].role != IDM_DESCRIPTIVE) continue;
    const double x = one->block[k].value[0];
    assert_near(derivative->block[k].value[0], x, 1e-10 * (1 + fabs(x)));
  }
  idm_theta_destroy(one);
  idm_theta_destroy(derivative);
}

static void *open_lanes(const crowd *c)
{
  void *lanes;
  check(idm_td_lanes.create(
      idm_workspace_behavior(c->bench[0].workspace).content, (const idm_data *const *)c->data,
      (const idm_prefix_tree *const *)c->tree, count, &lanes, &support_error));
  return lanes;
}

/* Every kind of learner with a single state, and many sets of free numbers. */
static void lanes_are_as_one_at_a_time(void **state)
{
  (void)state;
  for (unsigned kind = 0; kind < 2 * TD_KINDS; kind += 2) {
    crowd c = open_crowd(kind % TD_KINDS, kind < TD_KINDS ? 0 : 0.25);
    double log_likelihood[count];
    void *lanes = open_lanes(&c);
    assert_non_null(lanes);
    for (unsigned which = 0; which < 256; which += 15) {
      for (size_t i = 0; i < count; i++) {
        free_blocks(c.theta[i], which);
        idm_td_lanes.set(lanes, i, c.theta[i]);
      }
      idm_td_lanes.run(lanes, log_likelihood);
      for (size_t i = 0; i < count; i++) expect_alike(&c, lanes, i, log_likelihood[i]);
    }
    idm_td_lanes.destroy(lanes);
    close_crowd(&c);
  }
}

/* Cases that are computed one at a time: several states, a missing action, histories that diverge.
 */
static void what_lanes_have_no_room_for(void **state)
{
  (void)state;
  crowd c = open_crowd(1, 0);
  assert_null(open_lanes(&c));
  close_crowd(&c);
  c = open_crowd(0, 0);
  idm_prefix_tree *whole = c.tree[3];
  c.tree[3] = c.bench[0].tree;
  assert_null(open_lanes(&c));
  c.tree[3] = whole;
  for (size_t i = 0; i < whole->nodes; i++)
    if (whole->node[i].begin < 0) whole->node[i].action = IDM_MISSING;
  assert_null(open_lanes(&c));
  close_crowd(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_are_as_one_at_a_time),
                                     cmocka_unit_test(what_lanes_have_no_room_for)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
