/* Agents nested in groups: draws against exact posteriors, who is refused, verdicts.
 *
 * A comparison fails by chance where a mean is 4.5 of its standard errors away: 7 in a million. */
#include "invert/audit/nest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/part.h"
#include "invert/audit/audit_support.h"
#include "invert/audit/lines.h"
#include "invert/people/people_support.h"
#include "invert/people/reference_support.h"

enum { GROUPS = REFERENCE_GROUPS };
static const double prior_sd = 1.2;

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_groups *groups;
  idm_audit_settings settings;
  idm_audit *audit;
} fixture;

/* Group g takes in every agent whose number leaves the rest g by `groups`. */
static idm_groups *divide(const idm_data *data, size_t groups)
{
  static const char *const names[] = {"a", "b", "c"};
  idm_groups *g = idm_new(1, sizeof *g);
  assert_non_null(g);
  *g = (idm_groups){.partition = true, .trajectories = data->trajectories};
  check(idm_labels_create(&g->name, groups, &support_error));
  g->member = idm_new(groups * data->trajectories, sizeof *g->member);
  g->missing = idm_new(groups, sizeof *g->missing);
  for (size_t i = 0; i < groups; i++) {
    check(idm_labels_set(&g->name, i, names[i], 1, &support_error));
    for (size_t t = 0; t < data->trajectories; t++)
      g->member[i * data->trajectories + t] = data->agent[t] % groups == i;
  }
  return g;
}

/* Agents at x: [person]. */
static fixture make_at(size_t people, const double *x, size_t decisions)
{
  fixture f = {.problem = audit_problem(prior_sd), .settings = audit_settings()};
  f.data = support_people(f.problem, people, x, decisions, 12);
  f.groups = divide(f.data, GROUPS);
  f.settings.people = true;
  f.settings.fit.draws = 1000;
  return f;
}

/* Agents of three groups, `apart` from each other and `sd` within. */
static fixture make(size_t people, double apart, double sd, size_t decisions)
{
  double *x = idm_new(people, sizeof *x);
  idm_random random;
  idm_random_init(&random, 6, 1);
  for (size_t i = 0; i < people; i++)
    x[i] = apart * ((double)(i % GROUPS) - 1) + sd * idm_random_normal(&random);
  const fixture f = make_at(people, x, decisions);
  free(x);
  return f;
}

static void run(fixture *f)
{
  check(idm_audit_run(f->problem, f->data, f->groups, &f->settings, NULL, NULL, &f->audit,
                      &support_error));
}

static void unmake(fixture *f)
{
  idm_audit_destroy(f->audit);
  idm_groups_destroy(f->groups);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static void agrees(const char *what, const idm_audit_number *n, const reference_law *law)
{
  const idm_diagnosis *d = &n->diagnosis;
  const double mean = reference_mean(law), sd = reference_sd(law);
  print_message("  %s: %.4f (%.4f), exactly %.4f (%.4f); R-hat %.3f, ESS %.0f\n", what, d->mean,
                d->sd, mean, sd, d->rhat, d->ess_bulk);
  assert_true(d->rhat < 1.02 && d->ess_bulk > 400);
  assert_true(fabs(d->mean - mean) < 4.5 * d->mcse_mean);
  assert_true(fabs(d->sd - sd) < 4.5 * d->mcse_sd);
}

/* --- draws ---------------------------------------------------------------------------------- */

static void pooled_groups_agree_with_quadrature(void **state)
{
  (void)state;
  fixture f = make(12, 0.8, 0.4, 40);
  reference_groups exact;
  reference_groups_make(f.problem, f.data, 0, prior_sd, &exact);
  run(&f);
  agrees("level", &f.audit->mean[0], &exact.level);
  agrees("spread", &f.audit->sd[0], &exact.spread);
  agrees("within", &f.audit->within[0], &exact.sd);
  agrees("a group", &f.audit->group[0].number[0], &exact.value);
  assert_true(f.audit->people && !f.audit->group[0].within);
  assert_int_equal(f.audit->group[0].agents, 4);
  reference_groups_free(&exact);
  unmake(&f);
}

/* Each group is a population of its own: the last of the sides, which is everybody, too. */
static void groups_apart_agree_with_quadrature(void **state)
{
  (void)state;
  fixture f = make(12, 0.8, 0.4, 40);
  f.settings.pool = IDM_POOL_NONE;
  idm_design *design = support_design(f.data, 1, 0, (const double[]){0}, &prior_sd);
  reference exact;
  reference_make(f.problem, f.data, design, &exact);
  run(&f);
  agrees("everybody", &f.audit->group[GROUPS].number[0], &exact.mean);
  agrees("within", &f.audit->group[GROUPS].within[0], &exact.sd);
  assert_null(f.audit->within);
  assert_null(f.audit->mean);
  /* Draws of two groups owe nothing to each other. */
  const idm_audit_number *a = f.audit->group[0].number, *b = f.audit->group[1].number;
  const size_t all = f.audit->chains * f.audit->draws;
  double product = 0;
  for (size_t i = 0; i < all; i++)
    product += (a->draw[i] - a->diagnosis.mean) * (b->draw[i] - b->diagnosis.mean);
  const double correlation = product / (double)all / (a->diagnosis.sd * b->diagnosis.sd);
  assert_true(fabs(correlation) < 4.5 / sqrt(fmin(a->diagnosis.ess_bulk, b->diagnosis.ess_bulk)));
  reference_free(&exact);
  idm_design_destroy(design);
  unmake(&f);
}

/* --- wards ---------------------------------------------------------------------------------- */

/* Predicates: everybody has the effects of those that the agent meets. */
static void predicates_are_effects_of_agents(void **state)
{
  (void)state;
  fixture f = make(6, 0, 0, 10);
  audit_plan plan;
  f.groups->partition = false;
  for (size_t t = 0; t < f.data->trajectories; t++) /* the first also takes in agents 4 and 5 */
    if (f.data->agent[t] > 3) f.groups->member[t] = true;
  check(idm_audit_plan(f.problem, f.data, f.groups, &f.settings, &plan, &support_error));
  const audit_model *m = &plan.model;
  assert_int_equal(m->wards, 1);
  const idm_design *d = m->ward[0].design;
  assert_int_equal(d->people, 6);
  assert_int_equal(d->pooled, GROUPS);
  for (size_t i = 0; i < 6; i++) {
    const size_t agent = (size_t)atoi(d->person.name[i]) - 1;
    const double *row = d->regressor[0] + i * (1 + GROUPS);
    assert_true(row[0] == 1);
    for (size_t g = 0; g < GROUPS; g++)
      assert_true(row[1 + g] == (agent % GROUPS == g || (g == 0 && agent > 3)));
  }
  double cases = 0;
  for (size_t c = 0; c < m->cells; c++) cases += m->cell[c].cases;
  assert_true(cases == 6);
  assert_true(d->spread_scale[0] == prior_sd / 2 && d->sd_scale[0] == prior_sd / 2);
  idm_audit_plan_clear(&plan);
  unmake(&f);
}

static void refused(fixture *f, idm_status wanted, const char *words)
{
  idm_error error = {0};
  const idm_status status =
      idm_audit_run(f->problem, f->data, f->groups, &f->settings, NULL, NULL, &f->audit, &error);
  assert_string_equal(idm_status_name(status), idm_status_name(wanted));
  assert_null(f->audit);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void agents_in_several_groups_are_named(void **state)
{
  (void)state;
  fixture f = make(6, 0, 0, 10);
  size_t t = 0;
  while (f.data->agent[t] != 4) t++;
  f.groups->member[1 * f.data->trajectories + t] = false;
  f.groups->member[2 * f.data->trajectories + t] = true;
  char words[100];
  snprintf(words, sizeof words, "agent '%s' has trajectories in 'c' and in 'b'",
           f.data->agent_name.name[4]);
  refused(&f, IDM_INPUT, words);
  f.groups->member[2 * f.data->trajectories + t] = false;
  refused(&f, IDM_INPUT, "in 'no group' and in 'b'");
  /* Of predicates: two trajectories that share the first group and not the second. */
  f.groups->partition = false;
  for (size_t i = 0; i < f.data->trajectories; i++) f.groups->member[i] = true;
  refused(&f, IDM_INPUT, "in 'b' and others that are not");
  unmake(&f);
}

static void groups_of_one_agent_need_others(void **state)
{
  (void)state;
  fixture f = make(5, 0, 0, 10);
  f.settings.pool = IDM_POOL_HOLM;
  refused(&f, IDM_INPUT, "a group has one agent, '3'");
  unmake(&f);
}

/* Nothing tells the sd within groups from that between them. */
static void pooled_groups_of_one_each_are_refused(void **state)
{
  (void)state;
  fixture f = make(3, 0, 0, 10);
  refused(&f, IDM_INPUT, "every group has one agent");
  unmake(&f);
  /* Predicates have a level as well: a, b and c met by one each, and by one none. */
  f = make(4, 0, 0, 10);
  f.groups->partition = false;
  for (size_t t = 0; t < f.data->trajectories; t++)
    if (f.data->agent[t] == 3) f.groups->member[t] = false;
  refused(&f, IDM_INPUT, "no more agents than groups and their level");
  unmake(&f);
}

static void pooled_agents_have_one_set_of_dynamics(void **state)
{
  (void)state;
  fixture f = make(6, 0, 0, 10);
  f.settings.dynamics = IDM_AUDIT_BY_GROUP;
  refused(&f, IDM_USAGE, "expected --pool none or holm");
  unmake(&f);
}

static bool stop(void *context, const idm_work *work)
{
  (void)context;
  return work->done > 0.5;
}

static void a_watch_stops_it(void **state)
{
  (void)state;
  fixture f = make(6, 0, 0, 10);
  const idm_fit_watch watch = {.progress = stop};
  idm_error error = {0};
  f.settings.fit.draws = 100000;
  assert_int_equal(
      idm_audit_run(f.problem, f.data, f.groups, &f.settings, NULL, &watch, &f.audit, &error),
      IDM_UNTRUSTED);
  assert_non_null(strstr(error.message, "interrupted"));
  assert_null(f.audit);
  unmake(&f);
}

/* --- verdicts ------------------------------------------------------------------------------- */

/* The first agents keep one trajectory each and are a; the others are b and c. */
static void thin_out(fixture *f, size_t few)
{
  uint32_t *kept = idm_new(f->data->trajectories, sizeof *kept);
  bool *seen = idm_new(f->data->agent_name.count, sizeof *seen);
  idm_data *part;
  size_t count = 0;
  for (size_t t = 0; t < f->data->trajectories; t++) {
    const uint32_t agent = f->data->agent[t];
    if (agent >= few || !seen[agent]) kept[count++] = (uint32_t)t;
    seen[agent] = true;
  }
  check(idm_data_part(f->data, kept, count, &part, &support_error));
  idm_groups_destroy(f->groups);
  f->groups = divide(part, GROUPS);
  for (size_t t = 0; t < part->trajectories; t++)
    for (size_t g = 0; g < GROUPS; g++)
      f->groups->member[g * part->trajectories + t] =
          g == (part->agent[t] >= few ? 1 + part->agent[t] % 2 : 0);
  idm_data_destroy(f->data);
  f->data = part;
  free(kept);
  free(seen);
}

static bool remarked(const idm_audit *audit, const char *words)
{
  for (size_t i = 0; i < audit->remarks.count; i++)
    if (strstr(audit->remarks.text[i], words)) return true;
  return false;
}

/* One agent of a group, with one trajectory, many of the others: what is said of the group comes
 * from them. */
static void a_group_of_one_is_driven_by_the_others(void **state)
{
  (void)state;
  fixture f = make(13, 0.1, 0.4, 60);
  thin_out(&f, 1);
  run(&f);
  const idm_audit_group *one = &f.audit->group[0];
  print_message("  alone %.2f, contraction %.2f; others %.2f\n", one->number[0].alone,
                one->number[0].contraction, f.audit->group[1].number[0].alone);
  assert_int_equal(one->agents, 1);
  assert_int_equal(one->verdict, IDM_AUDIT_POPULATION_DRIVEN);
  assert_int_equal(f.audit->group[1].verdict, IDM_AUDIT_IDENTIFIED);
  assert_int_equal(f.audit->contrast[0].verdict, IDM_AUDIT_POPULATION_DRIVEN);
  assert_true(remarked(f.audit, "'a' is one agent"));
  unmake(&f);
}

/* Agents who never err, of few decisions, say that alpha is not high and no more. Where the others
 * put them their likelihoods are curved, and yet what they would say alone is what a fit of theirs
 * says. */
static void a_bound_is_no_knowledge(void **state)
{
  (void)state;
  enum { few = 2, people = 12 };
  double x[people];
  for (size_t i = 0; i < people; i++) x[i] = i < few ? -3 : 1;
  fixture f = make_at(people, x, 60);
  thin_out(&f, few);
  run(&f);
  const double alone = f.audit->group[0].number[0].alone;
  const idm_audit_verdict verdict = f.audit->group[0].verdict;
  assert_int_equal(f.audit->group[1].verdict, IDM_AUDIT_IDENTIFIED);
  idm_audit_destroy(f.audit);
  f.settings.pool = IDM_POOL_NONE;
  run(&f);
  const double exactly = f.audit->group[0].number[0].contraction;
  print_message("  alone %.2f, by a fit %.2f\n", alone, exactly);
  assert_true(exactly < 0.5 && alone < exactly + 0.1);
  assert_true(verdict >= IDM_AUDIT_POPULATION_DRIVEN);
  unmake(&f);
}

/* Agents who differ fail a group that is to share one number, and not one that they are nested in.
 */
static void agents_who_differ_are_no_misfit(void **state)
{
  (void)state;
  fixture f = make(24, 0.5, 0.9, 80);
  f.settings.people = false;
  run(&f);
  assert_false(f.audit->trusted);
  idm_audit_destroy(f.audit);
  f.settings.people = true;
  run(&f);
  assert_true(f.audit->trusted);
  assert_true(f.audit->within[0].contraction > 0.5);
  assert_false(remarked(f.audit, "hardly narrower"));
  unmake(&f);
}

/* Two agents a group hardly say how agents vary: intervals are the prior's, and that is said. */
static void an_sd_of_the_prior_is_remarked(void **state)
{
  (void)state;
  fixture f = make(6, 0.5, 0.3, 10);
  run(&f);
  assert_true(f.audit->within[0].contraction < 0.5);
  assert_true(remarked(f.audit, "within groups in log_alpha is hardly narrower than its prior"));
  idm_audit_destroy(f.audit);
  f.settings.pool = IDM_POOL_NONE;
  run(&f);
  assert_true(remarked(f.audit, "how agents differ in log_alpha is hardly narrower"));
  unmake(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pooled_groups_agree_with_quadrature),
      cmocka_unit_test(groups_apart_agree_with_quadrature),
      cmocka_unit_test(predicates_are_effects_of_agents),
      cmocka_unit_test(agents_in_several_groups_are_named),
      cmocka_unit_test(groups_of_one_agent_need_others),
      cmocka_unit_test(pooled_groups_of_one_each_are_refused),
      cmocka_unit_test(pooled_agents_have_one_set_of_dynamics),
      cmocka_unit_test(a_watch_stops_it),
      cmocka_unit_test(a_group_of_one_is_driven_by_the_others),
      cmocka_unit_test(a_bound_is_no_knowledge),
      cmocka_unit_test(agents_who_differ_are_no_misfit),
      cmocka_unit_test(an_sd_of_the_prior_is_remarked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
