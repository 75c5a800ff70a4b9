/* Whether the policy of an answer describes the actions of every state as well as a right model
 * does: compared with a saturated one, the actions' own frequencies by state. The likelihood ratio
 * is referred to replicates from the policy, since most cells are too small for chi-square. A
 * policy that was fitted to these actions is nearer to them than to replicates, so that the test is
 * conservative. */
#include <math.h>

#include "base/memory.h"
#include "idm/random.h"
#include "invert/assess/checks.h"

typedef struct table {
  size_t states;
  size_t actions;
  const double *policy; /* [state][action] */
  const double *count;  /* [state][action] */
} table;

static double visits_of(const table *t, const double *count, size_t state)
{
  double sum = 0;
  for (size_t u = 0; u < t->actions; u++) sum += count[state * t->actions + u];
  return sum;
}

/* sum of count log(frequency / probability), in nats. */
static double gain_of(const table *t, const double *count)
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

/* Counts of a log whose states are those of this one, and whose actions are of the policy. */
static void replicate(const table *t, idm_random *random, double *count)
{
  for (size_t s = 0; s < t->states; s++) {
    const size_t visits = (size_t)visits_of(t, t->count, s);
    for (size_t u = 0; u < t->actions; u++) count[s * t->actions + u] = 0;
    for (size_t k = 0; k < visits; k++)
      count[s * t->actions + idm_random_choice(random, t->policy + s * t->actions, t->actions)]++;
  }
}

static void judge(idm_assessment *a, double decisions, double gain, double expected, double p)
{
  if (!idm_check_test(&a->checks, IDM_CHECK_SATURATED, p)) return;
  idm_notes_add(&a->misfits,
                "the policy at this answer underfits: the actions' own frequencies by state have a "
                "log-loss that is lower by %.4f a decision, where %.4f are expected of a policy "
                "that is right (p <= %.2g); use --lambda auto or a larger one, free more numbers, "
                "or use another planner",
                gain / decisions, expected / decisions, p);
}

idm_status idm_check_saturated(const inquiry *q, idm_error *opt_error)
{
  static const double most_draws = 5e7;
  idm_assessment *a = q->assessment;
  const idm_finding *f = a->finding;
  if (!f || !f->count || !f->policy) return IDM_OK;
  const table t = {f->state.count, f->action.count, f->policy, f->count};
  double decisions = 0, expected = 0;
  for (size_t s = 0; s < t.states; s++) decisions += visits_of(&t, t.count, s);
  const size_t replicates = decisions * 999 > most_draws ? 399 : 999;
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
  judge(a, decisions, gain, expected, (double)more / (double)(replicates + 1));
  return IDM_OK;
}
