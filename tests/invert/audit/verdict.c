/* Tests the verdicts on groups and contrasts of an audit on simulated groups of known parameters,
 * and Holm's adjustment against R. */
#include "invert/audit/estimands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/audit/audit_support.h"
#include "invert/audit/model.h"
#include "invert/cut.h"

/* Against p.adjust(c(.01, .04, .03, .5), "holm") of R. */
static void holm_is_that_of_r(void **state)
{
  (void)state;
  double p[] = {0.01, 0.04, 0.03, 0.5};
  static const double adjusted[] = {0.04, 0.09, 0.09, 0.5};
  check(idm_audit_holm(p, 4, &support_error));
  for (size_t i = 0; i < 4; i++) assert_near(p[i], adjusted[i], 1e-12);
}

static const idm_audit *run(audit_case *c)
{
  check(idm_audit_run(c->problem, c->data, c->groups, &c->settings, NULL, NULL, &c->audit,
                      &support_error));
  support_check_listed(&c->audit->checks);
  assert_int_equal(c->audit->checks.kind, IDM_CHECK_AUDIT);
  return c->audit;
}

static bool mentions(const idm_notes *notes, const char *words)
{
  for (size_t i = 0; i < notes->count; i++)
    if (strstr(notes->text[i], words)) return true;
  return false;
}

static bool says(const idm_audit_group *group, const char *words)
{
  return mentions(&group->reasons, words);
}

/* Three patients have little information compared with a narrow prior. */
static void little_data_are_the_priors(void **state)
{
  (void)state;
  audit_case c = audit_open(0.2, 0.5, 0.5, 3, "site");
  c.settings.pool = IDM_POOL_NONE;
  const idm_audit *audit = run(&c);
  for (size_t g = 0; g < 2; g++) {
    assert_int_equal(audit->group[g].verdict, IDM_AUDIT_PRIOR_DRIVEN);
    assert_true(audit->group[g].number[0].contraction < 0.5);
    assert_true(says(&audit->group[g], "hardly narrower than its prior"));
  }
  assert_true(audit->trusted);
  assert_int_equal(audit->checks.of[IDM_CHECK_CONTRACTION].outcome, IDM_CHECK_REMARK);
  audit_close(&c);
}

/* One decision per group hardly tests the model, which is no misfit. */
static void one_decision_is_no_misfit(void **state)
{
  (void)state;
  audit_case c = {.problem = audit_problem(1.5), .settings = audit_settings()};
  const idm_csv_options options = {.keep = (const char *const[]){"site"}, .keep_count = 1};
  static const char log[] = "trajectory,action,observation,site\n"
                            "1,monitor,positive,a\n2,monitor,negative,b\n";
  check(idm_data_parse_csv(log, sizeof log - 1, "log.csv", c.problem, &options, &c.data, NULL,
                           &support_error));
  check(idm_groups_by(c.data, "site", &c.groups, NULL, &support_error));
  for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_HOLM; pool++) {
    c.settings.pool = pool;
    const idm_audit *audit = run(&c);
    for (size_t g = 0; g < 2; g++) {
      assert_int_equal(audit->group[g].verdict, IDM_AUDIT_PRIOR_DRIVEN);
      assert_int_equal(audit->group[g].misfits.count, 0);
      assert_true(says(&audit->group[g], "1 decision is too few to distinguish the model"));
    }
    assert_int_equal(audit->checks.of[IDM_CHECK_CHANCE].outcome, IDM_CHECK_REMARK);
    assert_true(audit->trusted);
    idm_audit_destroy(c.audit);
    c.audit = NULL;
  }
  audit_close(&c);
}

/* The verdict on the first group over eight draws of dynamics learnt from `patients` patients. */
static idm_audit_verdict over_dynamics(size_t patients, double *between)
{
  audit_case c = audit_open(1.5, 0.5, 0.5, 150, "site");
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  idm_dynamics_draws draws;
  check(idm_problem_apply_rule(c.problem, &rule, &support_error));
  idm_data *seen = support_simulate(
      c.problem, (idm_simulation){.trajectories = patients, .steps = 20, .seed = 3});
  check(idm_audit_learn_dynamics(c.problem, seen, true, 5, &draws, &support_error));
  const idm_cut_draws cuts = {c.problem, &draws, 8};
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, &cuts, NULL, &c.audit,
                      &support_error));
  const idm_audit_group *group = &c.audit->group[0];
  const idm_audit_verdict verdict = group->verdict;
  *between = group->number[0].between;
  print_message("  %zu patients: between %.2f, %s: %s\n", patients, *between,
                idm_audit_verdict_name(verdict),
                group->reasons.count ? group->reasons.text[0] : "");
  assert_int_equal(verdict == IDM_AUDIT_DYNAMICS_DRIVEN,
                   says(group, "lies between draws of the dynamics"));
  const idm_audit_quantity *number = &group->number[0];
  const bool open = *between > 0.5;
  assert_int_equal(isnan(number->low) && isnan(number->high), open);
  assert_int_equal(isnan(number->diagnosis.q05) && isnan(number->diagnosis.q95), open);
  const idm_audit_quantity *contrast = &c.audit->contrast[0].number[0];
  assert_int_equal(isnan(contrast->positive), contrast->between > 0.5);
  assert_false(isnan(contrast->positive) && contrast->significant);
  idm_data_destroy(seen);
  idm_dynamics_draws_clear(&draws);
  audit_close(&c);
  return verdict;
}

/* Dynamics learnt from few patients leave the parameters of the groups open, however many decisions
 * the groups have. */
static void dynamics_decide_where_they_are_open(void **state)
{
  (void)state;
  double between;
  assert_int_equal(over_dynamics(60, &between), IDM_AUDIT_DYNAMICS_DRIVEN);
  assert_true(between > 0.5);
  assert_int_equal(over_dynamics(20000, &between), IDM_AUDIT_IDENTIFIED);
  assert_true(between < 0.5);
}

/* The file gives .9 to a test that is right with probability .7. Under dynamics learnt from another
 * log with .7, the decisions are tested in those and not in the file's. */
static void the_model_is_tested_in_learnt_dynamics(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.5, 150, "site");
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  const idm_sizes n = idm_setting_sizes(c.problem->setting);
  idm_dynamics_draws draws;
  check(idm_problem_apply_rule(c.problem, &rule, &support_error));
  idm_data *seen =
      support_simulate(c.problem, (idm_simulation){.trajectories = 20000, .steps = 20, .seed = 3});
  check(idm_audit_learn_dynamics(c.problem, seen, true, 5, &draws, &support_error));
  for (size_t i = 0; i < n.actions * n.states * n.observations; i++)
    if (c.problem->setting->emission[i] != 0.5)
      c.problem->setting->emission[i] = c.problem->setting->emission[i] > 0.5 ? 0.9 : 0.1;
  check(idm_problem_apply_rule(c.problem, &rule, &support_error));
  c.settings.fit.draws = 250;
  const idm_cut_draws cuts = {c.problem, &draws, 8};
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, &cuts, NULL, &c.audit,
                      &support_error));
  for (size_t g = 0; g < 2; g++) {
    assert_int_equal(c.audit->group[g].misfits.count, 0);
    assert_int_not_equal(c.audit->group[g].verdict, IDM_AUDIT_FAILED);
  }
  assert_true(mentions(&c.audit->remarks, "assessed in the mean of these dynamics"));
  idm_data_destroy(seen);
  idm_dynamics_draws_clear(&draws);
  audit_close(&c);
}

/* Groups that differ are identified, without reasons against them. */
static void much_data_identify(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 2, 150, "site");
  const idm_audit *audit = run(&c);
  assert_int_equal(audit->groups, 3);
  assert_string_equal(audit->group[2].name, "all");
  for (size_t g = 0; g < 3; g++) {
    assert_int_equal(audit->group[g].verdict, IDM_AUDIT_IDENTIFIED);
    assert_int_equal(audit->group[g].reasons.count, 0);
    assert_int_equal(audit->group[g].trajectories, g < 2 ? 150 : 300);
    assert_int_equal(audit->group[g].agents, g < 2 ? 150 : 300);
  }
  assert_true(audit->group[0].number[0].own > 0.8);
  assert_true(audit->contrast[0].number[0].significant);
  assert_true(audit->contrast[0].number[0].positive > 0.999);
  assert_string_equal(audit->contrast[0].group, "b");
  assert_string_equal(audit->contrast[0].against, "a");
  assert_null(audit->contrast[0].pooled);
  audit_close(&c);
}

/* Without pooling, a single vector for groups that differ is an average. The group `all` reports
 * this, and it is no misfit of the groups. */
static void groups_that_differ_are_no_misfit(void **state)
{
  (void)state;
  for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_HOLM; pool++) {
    audit_case c = audit_open(1.5, 0.4, 2, 100, "site");
    for (size_t t = 0; t < c.data->trajectories; t++) c.data->agent[t] = (uint32_t)(t / 20);
    c.settings.pool = pool;
    const idm_audit *audit = run(&c);
    const idm_audit_group *all = &audit->group[2];
    for (size_t g = 0; g < 2; g++) assert_int_equal(audit->group[g].verdict, IDM_AUDIT_IDENTIFIED);
    const bool mixed = pool != IDM_POOL_PARTIAL;
    assert_int_equal(all->verdict, mixed ? IDM_AUDIT_HETEROGENEOUS : IDM_AUDIT_IDENTIFIED);
    assert_int_equal(all->mixed, mixed);
    assert_int_equal(says(all, "the groups differ (log_alpha of 'b' less that of 'a'"), mixed);
    assert_int_equal(audit->checks.of[IDM_CHECK_HOMOGENEITY].outcome,
                     mixed ? IDM_CHECK_REMARK : IDM_CHECK_PASSED);
    assert_true(audit->trusted);
    audit_close(&c);
  }
}

/* Agents differ within groups, and groups do not differ: `all` is no average over groups. */
static void agents_that_differ_fail_all(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.2, 5, 100, "sex");
  for (size_t t = 0; t < c.data->trajectories; t++) c.data->agent[t] = (uint32_t)(t / 100);
  c.settings.pool = IDM_POOL_NONE;
  c.settings.fit.draws = 200;
  const idm_audit *audit = run(&c);
  assert_int_equal(audit->group[audit->groups - 1].verdict, IDM_AUDIT_FAILED);
  assert_false(audit->group[audit->groups - 1].mixed);
  assert_false(audit->trusted);
  audit_close(&c);
}

/* Both groups contain decisions of two clinicians whose parameters differ. */
static void agents_that_differ_fail_their_group(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.2, 5, 100, "sex");
  for (size_t t = 0; t < c.data->trajectories; t++) c.data->agent[t] = (uint32_t)(t / 100);
  c.settings.fit.draws = 200;
  const idm_audit *audit = run(&c);
  for (size_t g = 0; g < 2; g++) {
    assert_int_equal(audit->group[g].verdict, IDM_AUDIT_FAILED);
    assert_true(says(&audit->group[g], "the 2 agents are not alike enough"));
  }
  assert_false(audit->trusted);
  audit_close(&c);
}

/* One group exchanges the two diagnoses, which no free parameter explains. */
static void decisions_that_no_number_explains_fail_their_group(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.5, 60, "site");
  for (size_t row = 0; row < c.data->first[60]; row++)
    if (c.data->action[row] != 2) c.data->action[row] = 1 - c.data->action[row];
  const idm_audit *audit = run(&c);
  const idm_audit_group *swapped = &audit->group[0], *right = &audit->group[1];
  assert_int_equal(swapped->verdict, IDM_AUDIT_FAILED);
  assert_true(swapped->misfits.count > 0);
  assert_true(swapped->log_likelihood < swapped->rates);
  assert_int_equal(right->verdict, IDM_AUDIT_IDENTIFIED);
  assert_true(right->log_likelihood > right->rates);
  assert_false(audit->trusted);
  audit_close(&c);
}

/* The posterior of a group of one patient is narrow because of two groups of many patients. */
static void a_group_of_few_is_identified_by_the_others(void **state)
{
  (void)state;
  idm_problem *problem = audit_problem(1.5);
  idm_data *data = audit_data(problem, (const double[]){0.7, 0.7, 0.7}, 3, 150);
  idm_groups *groups;
  check(idm_groups_by(data, "site", &groups, NULL, &support_error));
  /* All but one patient of the first group move to the second. */
  for (size_t t = 1; t < 150; t++) {
    groups->member[t] = false;
    groups->member[data->trajectories + t] = true;
  }
  idm_audit_settings settings = audit_settings();
  idm_audit *audit;
  check(idm_audit_run(problem, data, groups, &settings, NULL, NULL, &audit, &support_error));
  assert_int_equal(audit->group[0].verdict, IDM_AUDIT_POPULATION_DRIVEN);
  assert_true(says(&audit->group[0], "is determined by the other groups"));
  assert_true(audit->group[0].number[0].contraction > 0.5);
  assert_true(audit->group[0].number[0].alone < 0.5);
  assert_int_equal(audit->group[1].verdict, IDM_AUDIT_IDENTIFIED);
  assert_true(audit->trusted);
  idm_audit_destroy(audit);
  idm_groups_destroy(groups);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- contrasts ------------------------------------------------------------------------------ */

/* A log of three sites, with predicates whose members a test may change. */
static audit_case open_predicates(const char *const *predicate, size_t count, double first)
{
  audit_case c = {.problem = audit_problem(1.5), .settings = audit_settings()};
  c.data = audit_data(c.problem, (const double[]){first, 0.6, 0.6}, 3, 60);
  c.settings.fit.draws = 250;
  check(idm_groups_where(c.data, predicate, count, &c.groups, NULL, &support_error));
  return c;
}

/* All but one patient satisfy a predicate. The rest is one patient, so that the rest and the
 * contrast are not identified. */
static void a_contrast_is_worth_what_the_rest_is(void **state)
{
  (void)state;
  for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_HOLM; pool++) {
    audit_case c = open_predicates((const char *const[]){"site=a"}, 1, 0.6);
    for (size_t t = 1; t < c.data->trajectories; t++) c.groups->member[t] = true;
    c.groups->member[0] = false;
    c.settings.pool = pool;
    const idm_audit *audit = run(&c);
    const idm_audit_group *rest = &audit->group[audit->contrast[0].side[1]];
    assert_int_equal(audit->groups, 2);
    assert_int_equal(audit->sides, 3);
    assert_string_equal(rest->name, "rest of site=a");
    assert_int_equal(rest->trajectories, 1);
    assert_int_equal(audit->group[0].verdict, IDM_AUDIT_IDENTIFIED);
    assert_int_not_equal(rest->verdict, IDM_AUDIT_IDENTIFIED);
    assert_true(audit->contrast[0].verdict >= rest->verdict);
    audit_close(&c);
  }
}

/* Patients who satisfy no predicate are in no group. A misfit of theirs fails the rests, and the
 * contrasts with them. */
static void misfits_of_those_in_no_group_are_told(void **state)
{
  (void)state;
  audit_case c = open_predicates((const char *const[]){"site=a", "site=b"}, 2, 0.6);
  for (size_t row = c.data->first[120]; row < c.data->rows; row++)
    if (c.data->action[row] != 2) c.data->action[row] = 1 - c.data->action[row];
  const idm_audit *audit = run(&c);
  size_t told = 0;
  for (size_t i = 0; i < 2; i++) {
    const idm_audit_group *rest = &audit->group[audit->contrast[i].side[1]];
    assert_int_not_equal(audit->group[i].verdict, IDM_AUDIT_FAILED);
    assert_true(rest->model_misfit);
    assert_int_equal(rest->verdict, IDM_AUDIT_FAILED);
    assert_int_equal(audit->contrast[i].verdict, IDM_AUDIT_FAILED);
    assert_false(audit->contrast[i].number[0].significant);
    told += rest->misfits.count > 0;
  }
  assert_int_equal(told, 1); /* reported once */
  assert_int_equal(audit->group[2].verdict, IDM_AUDIT_FAILED);
  assert_false(audit->trusted);
  audit_close(&c);
}

/* Two predicates with equal members but for one patient: the sides of each contrast are identified,
 * its effect given the other predicate is not. */
static void effects_that_go_together_are_the_priors(void **state)
{
  (void)state;
  audit_case c = open_predicates((const char *const[]){"site=a", "sex=f"}, 2, 6);
  const size_t n = c.data->trajectories;
  for (size_t t = 0; t < n; t++) c.groups->member[n + t] = c.groups->member[t] != (t == 0);
  const idm_audit *audit = run(&c);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(audit->group[i].verdict, IDM_AUDIT_IDENTIFIED);
    assert_true(audit->contrast[i].number[0].contraction < 0.5);
    assert_true(audit->contrast[i].verdict >= IDM_AUDIT_PRIOR_DRIVEN);
  }
  audit_close(&c);
}

/* The draws of both sides are sufficient, those of their difference are not: the contrast and the
 * audit fail. */
static void a_contrast_fails_by_its_own_draws(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.5, 20, "site");
  c.settings.pool = IDM_POOL_NONE;
  const idm_audit *audit = run(&c);
  assert_true(audit->trusted);
  audit_estimands plan = {0};
  check(idm_audit_estimands(c.problem, c.data, c.groups, &c.settings, &plan, &support_error));
  plan.model.dimension = 1;
  plan.model.mean = calloc(1, sizeof(double));
  plan.model.sd = calloc(1, sizeof(double));
  plan.model.sd[0] = 1.5;
  const prior_scale_means scales[3] = {{{0, 0}}, {{0, 0}}, {{0, 0}}};
  double *draw = c.audit->contrast[0].number[0].draw;
  for (size_t i = 0; i < c.audit->draws; i++) draw[i] += 10;
  for (size_t g = 0; g < 3; g++) idm_notes_clear(&c.audit->group[g].reasons);
  for (size_t g = 0; g < 3; g++) assert_int_equal(audit->group[g].failures.count, 0);
  check(idm_audit_conclude(&plan, scales, c.audit, &support_error));
  for (size_t g = 0; g < 3; g++) assert_int_not_equal(audit->group[g].verdict, IDM_AUDIT_FAILED);
  assert_int_equal(audit->contrast[0].verdict, IDM_AUDIT_FAILED);
  assert_int_equal(audit->checks.of[IDM_CHECK_RHAT].outcome, IDM_CHECK_FAILED);
  assert_true(mentions(&audit->failures, "the contrast of 'b' less 'a' in log_alpha"));
  assert_false(audit->trusted);
  idm_audit_estimands_clear(&plan);
  audit_close(&c);
}

/* A group that fails by its draws, and whose mean depends on the prior: the latter is a reason of
 * its verdict, and no failure. */
static void remarks_are_no_failures(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.5, 20, "site");
  c.settings.pool = IDM_POOL_NONE;
  const idm_audit *audit = run(&c);
  audit_estimands plan = {0};
  check(idm_audit_estimands(c.problem, c.data, c.groups, &c.settings, &plan, &support_error));
  plan.model.dimension = 1;
  plan.model.mean = calloc(1, sizeof(double));
  plan.model.sd = calloc(1, sizeof(double));
  plan.model.sd[0] = 1.5;
  const prior_scale_means scales[3] = {{{0, 1e6}}, {{0, 0}}, {{0, 0}}};
  double *draw = c.audit->group[0].number[0].draw;
  for (size_t i = 0; i < c.audit->draws; i++) draw[i] += 10;
  for (size_t g = 0; g < 3; g++) idm_notes_clear(&c.audit->group[g].reasons);
  check(idm_audit_conclude(&plan, scales, c.audit, &support_error));
  const idm_audit_group *group = &audit->group[0];
  assert_int_equal(group->verdict, IDM_AUDIT_FAILED);
  assert_true(says(group, "has R-hat") && says(group, "double the prior's scale"));
  assert_true(mentions(&group->failures, "has R-hat"));
  assert_false(mentions(&group->failures, "double the prior's scale"));
  assert_int_equal(audit->checks.of[IDM_CHECK_PRIOR_SCALE].outcome, IDM_CHECK_REMARK);
  idm_audit_estimands_clear(&plan);
  audit_close(&c);
}

/* --- the prior ------------------------------------------------------------------------------ */

/* Without pooling, the contraction by a group's decisions alone equals that of its posterior, also
 * for likelihoods with long tails from few decisions. */
static void what_a_log_tells_has_its_tails(void **state)
{
  (void)state;
  for (size_t cases = 1; cases <= 9; cases += 4) {
    audit_case c = audit_open(1.5, 0.3, 2, cases, "site");
    c.settings.pool = IDM_POOL_NONE;
    const idm_audit *audit = run(&c);
    for (size_t g = 0; g < 2; g++) {
      const idm_audit_quantity *n = &audit->group[g].number[0];
      assert_near(n->alone, n->contraction, 0.06);
      assert_int_not_equal(audit->group[g].verdict, IDM_AUDIT_POPULATION_DRIVEN);
    }
    audit_close(&c);
  }
}

/* A prior dozens of its sds away from the likelihood, on either side. */
static void a_prior_that_is_far_off_fails(void **state)
{
  (void)state;
  for (int side = 0; side < 2; side++) {
    audit_case c = audit_open(1.5, 0.5, 0.8, 60, "site");
    check(idm_problem_set_free(c.problem,
                               side ? "{alpha: {scale: log, prior: {normal: [10, 0.2]}}}"
                                    : "{beta: {scale: inverse, prior: {normal: [5, 0.1]}}}",
                               &support_error));
    c.settings.fit.draws = 250;
    const idm_audit *audit = run(&c);
    for (size_t g = 0; g < 2; g++) {
      assert_true(audit->group[g].prior_conflict);
      assert_int_equal(audit->group[g].verdict, IDM_AUDIT_FAILED);
      assert_true(says(&audit->group[g], "prior and decisions disagree"));
    }
    assert_false(audit->trusted);
    audit_close(&c);
  }
}

/* A lattice of resolution 3, for agents who planned at 40. */
static void a_lattice_that_is_too_coarse_fails(void **state)
{
  (void)state;
  for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_NONE; pool++) {
    audit_case c = audit_open(1.5, 0.5, 0.8, 60, "site");
    c.problem->agent.resolution = 3;
    c.settings.fit.draws = 250;
    c.settings.pool = pool;
    const idm_audit *audit = run(&c);
    assert_int_equal(audit->checks.of[IDM_CHECK_LATTICE].outcome, IDM_CHECK_FAILED);
    for (size_t g = 0; g < 2; g++) {
      assert_true(audit->group[g].coarse);
      assert_int_equal(audit->group[g].verdict, IDM_AUDIT_FAILED);
      assert_true(says(&audit->group[g], "the lattice is too coarse, raise agent.resolution"));
    }
    assert_false(audit->trusted);
    audit_close(&c);
  }
}

/* The side of a bet after looks without recorded observations does not depend on the sign of alpha:
 * 1/alpha and -1/alpha have equal likelihoods, with a valley between them that no chain crosses. */
static void modes_that_chains_cannot_leave_fail(void **state)
{
  (void)state;
  char log[2000];
  size_t used = (size_t)snprintf(log, sizeof log, "trajectory,action,observation,site\n");
  for (size_t i = 0; i < 24; i++)
    used += (size_t)snprintf(log + used, sizeof log - used,
                             "%zu,look,,%s\n%zu,look,,%s\n%zu,%s,,%s\n", i, i < 12 ? "a" : "b", i,
                             i < 12 ? "a" : "b", i, i % 2 ? "left" : "right", i < 12 ? "a" : "b");
  audit_case c = {.settings = audit_settings()};
  c.problem = support_yaml("states: [l, r]\n"
                           "actions: [look, left, right, safe]\n"
                           "observations: [x, y]\n"
                           "start: [0.5, 0.5]\n"
                           "discount: 0.9\n"
                           "terminal: [left, right, safe]\n"
                           "transition: {look: identity}\n"
                           "observation: {\"*\": [[0.8, 0.2], [0.2, 0.8]]}\n"
                           "utility: {look: 0, left: [1, -1], right: [-1, 1], safe: 0}\n"
                           "agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}\n"
                           "free: {alpha: {scale: inverse, prior: {normal: [0.5, 6]}}}\n");
  const idm_csv_options options = {.keep = (const char *const[]){"site"}, .keep_count = 1};
  check(
      idm_data_parse_csv(log, used, "log.csv", c.problem, &options, &c.data, NULL, &support_error));
  check(idm_groups_by(c.data, "site", &c.groups, NULL, &support_error));
  for (uint64_t seed = 1; seed <= 3; seed++) {
    c.settings.fit.seed = seed;
    const idm_audit *audit = run(&c);
    for (size_t g = 0; g < 2; g++) {
      assert_true(audit->group[g].number[0].diagnosis.rhat > idm_check_threshold(IDM_CHECK_RHAT));
      assert_int_equal(audit->group[g].verdict, IDM_AUDIT_FAILED);
    }
    assert_false(audit->trusted);
    idm_audit_destroy(c.audit);
    c.audit = NULL;
  }
  audit_close(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(holm_is_that_of_r),
      cmocka_unit_test(little_data_are_the_priors),
      cmocka_unit_test(one_decision_is_no_misfit),
      cmocka_unit_test(dynamics_decide_where_they_are_open),
      cmocka_unit_test(the_model_is_tested_in_learnt_dynamics),
      cmocka_unit_test(much_data_identify),
      cmocka_unit_test(groups_that_differ_are_no_misfit),
      cmocka_unit_test(agents_that_differ_fail_all),
      cmocka_unit_test(agents_that_differ_fail_their_group),
      cmocka_unit_test(decisions_that_no_number_explains_fail_their_group),
      cmocka_unit_test(a_group_of_few_is_identified_by_the_others),
      cmocka_unit_test(a_contrast_is_worth_what_the_rest_is),
      cmocka_unit_test(misfits_of_those_in_no_group_are_told),
      cmocka_unit_test(effects_that_go_together_are_the_priors),
      cmocka_unit_test(a_contrast_fails_by_its_own_draws),
      cmocka_unit_test(remarks_are_no_failures),
      cmocka_unit_test(what_a_log_tells_has_its_tails),
      cmocka_unit_test(a_prior_that_is_far_off_fails),
      cmocka_unit_test(a_lattice_that_is_too_coarse_fails),
      cmocka_unit_test(modes_that_chains_cannot_leave_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
