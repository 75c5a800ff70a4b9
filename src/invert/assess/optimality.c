/* Checks of answers with a certificate instead of a likelihood, and a test of the policy of an
 * answer by state.
 *
 * Contents: optimality · saturated */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/random.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "invert/project.h"

/* === optimality =============================================================================== */

/* --- certificates --------------------------------------------------------------------------- */

idm_status idm_check_certificate(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  idm_assessment *a = q->assessment;
  const idm_optimality *f = a->optimality;
  if (!f) return IDM_OK;
  idm_check_record(&a->checks, IDM_CHECK_CERTIFICATE, IDM_CHECK_PASSED, f->attained);
  a->checks.of[IDM_CHECK_CERTIFICATE].threshold = f->closed;
  for (size_t i = 0; i < f->faults.count; i++)
    idm_notes_add(idm_check_note(a, IDM_CHECK_CERTIFICATE, IDM_CHECK_FAILED), "%s",
                  f->faults.text[i]);
  /* For draws, the R-hat of every number is checked separately. */
  if (a->answer != IDM_POSTERIOR && !idm_optimality_certified(f))
    idm_notes_add(idm_check_note(a, IDM_CHECK_CERTIFICATE, IDM_CHECK_FAILED),
                  "the certificate is not closed: its %s is %.3g, expected at most %.3g; nothing "
                  "shows that this is the answer",
                  f->certificate, f->attained, f->closed);
  for (size_t i = 0; i < f->words.count; i++) idm_notes_add(&a->remarks, "%s", f->words.text[i]);
  return IDM_OK;
}

idm_status idm_check_coverage(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_inverse *by = idm_inverse_find(q->posterior->inverse);
  if (by && by->own_objective && q->posterior->answer == IDM_POSTERIOR)
    idm_check_mark_unavailable(
        &q->assessment->checks, IDM_CHECK_COVERAGE,
        "a generalised posterior has no likelihood by which to test the model; --inverse bayes has "
        "one; idm recover RUN measures the coverage of intervals");
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------ */

/* Whether the log-loss is below that of uniform choice by more than rounding: under a constant
 * utility the planner chooses uniformly, and rounding must not decide. */
static bool is_better(const idm_projection *p)
{
  return p->log_loss < p->uniform_log_loss * (1 - 1e-9);
}

static void assess_behavior(idm_assessment *a, const idm_projection *p)
{
  const double ratio = p->log_loss / p->uniform_log_loss;
  const bool fails = isinf(p->log_loss) || (p->decisions && !is_better(p));
  if (isnan(p->log_loss)) {
    idm_check_skip(&a->checks, IDM_CHECK_BEHAVIOR, "no environment is chosen");
    idm_notes_add(&a->remarks,
                  "unchecked: behaviour at the answer is planned for one environment, and none is "
                  "chosen; `idm score` with --set environment=NAME compares it with one");
    return;
  }
  if (p->decisions || fails)
    idm_check_record(&a->checks, IDM_CHECK_BEHAVIOR, fails ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED,
                     ratio);
  if (isinf(p->log_loss))
    idm_notes_add(&a->misfits, "the planner at this answer gives probability 0 to a decision of "
                               "the log: its log-loss is infinite");
  else if (fails)
    idm_notes_add(&a->misfits,
                  "no better than chance: the planner at this answer has a log-loss of %.4f per "
                  "decision, uniform choice %.4f",
                  p->log_loss, p->uniform_log_loss);
}

/* The trajectories of a learner's last batch: the policies of earlier batches differ from that of
 * the answer, which batches approach over time. */
static idm_status select_last_batch(const idm_data *data, idm_data **ret_last, idm_error *opt_error)
{
  const double *batch = data->number[IDM_COLUMN_BATCH];
  if (!batch)
    return idm_fail(opt_error, IDM_INPUT, "the log was read without its column of batches");
  uint32_t *trajectory = idm_new(data->trajectories, sizeof *trajectory);
  double last = -INFINITY;
  size_t count = 0;
  if (!trajectory) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < data->trajectories; t++) last = fmax(last, batch[t]);
  for (size_t t = 0; t < data->trajectories; t++)
    if (batch[t] == last) trajectory[count++] = (uint32_t)t;
  const idm_status status = idm_data_subset(data, trajectory, count, ret_last, opt_error);
  free(trajectory);
  return status;
}

idm_status idm_check_behavior(const check_context *q, idm_error *opt_error)
{
  idm_projection projection;
  if (!q->assessment->optimality) return IDM_OK; /* people record this row themselves */
  if (q->assessment->optimality->compared) {
    idm_check_skip(&q->assessment->checks, IDM_CHECK_BEHAVIOR,
                   "trajectories were compared, not imitated");
    return IDM_OK;
  }
  const idm_inverse *by = idm_inverse_find(q->posterior->inverse);
  const bool batches = by && by->columns & 1U << IDM_COLUMN_BATCH;
  idm_data *last = NULL;
  idm_status status = batches ? select_last_batch(q->f->data, &last, opt_error) : IDM_OK;
  if (status == IDM_OK)
    status = idm_projection_measure_centre(q->f->problem, q->posterior, last ? last : q->f->data,
                                           &projection, opt_error);
  if (status == IDM_OK) assess_behavior(q->assessment, &projection);
  idm_data_destroy(last);
  return status;
}

/* === saturated ================================================================================ */

/* Test whether the policy of an answer describes the actions of every state as well as a right
 * model does, against a saturated model: the actions' own frequencies by state. The reference
 * distribution of the likelihood ratio is simulated by replicates from the policy, since most cells
 * are too small for chi-square. A policy that was fitted to these actions is nearer to them than to
 * replicates, so the test is conservative. */

typedef struct policy_counts {
  size_t states;
  size_t actions;
  const double *policy; /* [state][action] */
  const double *count;  /* [state][action] */
} policy_counts;

static double visits_of(const policy_counts *t, const double *count, size_t state)
{
  double sum = 0;
  for (size_t u = 0; u < t->actions; u++) sum += count[state * t->actions + u];
  return sum;
}

/* Returns the sum of count log(frequency / probability), in nats. */
static double gain_of(const policy_counts *t, const double *count)
{
  double sum = 0;
  for (size_t s = 0; s < t->states; s++) {
    const double visits = visits_of(t, count, s);
    for (size_t u = 0; u < t->actions; u++) {
      const double own = count[s * t->actions + u];
      if (own > 0) sum += own * log(own / (visits * t->policy[s * t->actions + u]));
    }
  }
  return sum;
}

/* Simulate counts of a log with the same states and with actions drawn from the policy. */
static void replicate(const policy_counts *t, idm_random *random, double *count)
{
  for (size_t s = 0; s < t->states; s++) {
    const size_t visits = (size_t)visits_of(t, t->count, s);
    for (size_t u = 0; u < t->actions; u++) count[s * t->actions + u] = 0;
    for (size_t k = 0; k < visits; k++)
      count[s * t->actions + idm_random_choice(random, t->policy + s * t->actions, t->actions)]++;
  }
}

static void assess_saturated(idm_assessment *a, double decisions, double gain, double expected,
                             double p)
{
  if (!idm_check_test(&a->checks, IDM_CHECK_SATURATED, p)) return;
  idm_notes_add(
      &a->misfits,
      "the policy at this answer underfits: the actions' own frequencies by state have a log-loss "
      "that is lower by %.4f per decision, where %.4f are expected for a right policy (p <= %.2g); "
      "use --lambda auto or a larger one, free more numbers, or use another planner",
      gain / decisions, expected / decisions, p);
}

idm_status idm_check_saturated(const check_context *q, idm_error *opt_error)
{
  static const double max_draws = 5e7;
  idm_assessment *a = q->assessment;
  const idm_optimality *f = a->optimality;
  if (!f || !f->count || !f->policy) return IDM_OK;
  const policy_counts t = {f->state.count, f->action.count, f->policy, f->count};
  double decisions = 0, expected = 0;
  for (size_t s = 0; s < t.states; s++) decisions += visits_of(&t, t.count, s);
  const size_t replicates = decisions * 999 > max_draws ? 399 : 999;
  const double gain = gain_of(&t, t.count);
  double *count = idm_new(t.states * t.actions, sizeof *count);
  idm_random random;
  size_t more = 1;
  if (!count) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < replicates; i++) {
    idm_random_init(&random, q->posterior->seed, (uint64_t)1 << 41 | i);
    replicate(&t, &random, count);
    const double own = gain_of(&t, count);
    expected += own / (double)replicates;
    more += own >= gain;
  }
  free(count);
  assess_saturated(a, decisions, gain, expected, (double)more / (double)(replicates + 1));
  return IDM_OK;
}
