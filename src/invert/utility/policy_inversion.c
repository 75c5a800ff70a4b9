/* The inverse planner `policy-inversion`: the utility that a learner's successive batches improve
 * on. */
#include <math.h>

#include "base/memory.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/learner_steps.h"
#include "invert/utility/soft_agent.h"

extern const idm_inverse idm_inverse_policy_inversion; /* registered below */

/* Policies and weights of the batches that the log has, in their order. */
typedef struct batches {
  size_t count;
  double *policy; /* [count][state][action] */
  double *weight; /* [count][state][action] */
} batches;

/* --- batches -------------------------------------------------------------------------------- */

static double batch_of(const idm_data *data, size_t trajectory)
{
  return data->number[IDM_COLUMN_BATCH][trajectory];
}

/* The next batch after one, or infinity. */
static double next_batch(const idm_data *data, double after)
{
  double next = INFINITY;
  for (size_t t = 0; t < data->trajectories; t++)
    if (batch_of(data, t) > after) next = fmin(next, batch_of(data, t));
  return next;
}

static size_t count_batches(const idm_data *data)
{
  size_t count = 0;
  for (double at = next_batch(data, -INFINITY); isfinite(at); at = next_batch(data, at)) count++;
  return count;
}

/* pi_k(u|s) = (n + c pi~_u) / (n_s + c), and the share of the batch's rows in (s,u). */
static void put_batch(const idm_demonstrator *d, const double *prior, double smoothing,
                      double *policy, double *weight)
{
  for (size_t e = 0; e < d->n.states * d->n.actions; e++) {
    const double visits = d->visits[e / d->n.actions] + smoothing;
    const double usual = prior[e % d->n.actions];
    policy[e] = visits > 0 ? (d->count[e] + smoothing * usual) / visits : usual;
    weight[e] = d->count[e] / (double)d->decisions;
  }
}

static idm_status read_batches(const idm_problem *problem, const idm_data *data,
                               const idm_mdp *world, const double *prior, double smoothing,
                               batches *b, idm_error *opt_error)
{
  const size_t all = world->n.states * world->n.actions;
  bool *of = idm_new(data->trajectories, sizeof *of);
  b->policy = idm_new(idm_times(b->count, all), sizeof *b->policy);
  b->weight = idm_new(idm_times(b->count, all), sizeof *b->weight);
  idm_status status = of && b->policy && b->weight ? IDM_OK : idm_fail_memory(opt_error);
  double at = -INFINITY;
  for (size_t k = 0; k < b->count && status == IDM_OK; k++) {
    idm_demonstrator *d = NULL;
    at = next_batch(data, at);
    for (size_t t = 0; t < data->trajectories; t++) of[t] = batch_of(data, t) == at;
    status = idm_demonstrator_create(world, data, problem->setting, of, &d, opt_error);
    if (status == IDM_OK) put_batch(d, prior, smoothing, b->policy + k * all, b->weight + k * all);
    idm_demonstrator_destroy(d);
  }
  free(of);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status find(const idm_problem *problem, const idm_fit_settings *settings,
                       const idm_mdp *world, const idm_sought *sought, const idm_soft_agent *agent,
                       const batches *b, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_finding *f = NULL;
  double *x = idm_new(sought->count, sizeof *x);
  idm_status status = x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_finding_create(sought->count, &f, opt_error);
  if (status == IDM_OK) {
    const idm_learner_steps steps = {world,    sought,    agent->alpha, agent->prior,
                                     b->count, b->policy, b->weight};
    status = idm_learner_steps_invert(&steps, x, f, opt_error);
  }
  if (status == IDM_OK)
    status = idm_answer_utility(&idm_inverse_policy_inversion, problem, settings, sought, x,
                                "least-squares", f, ret_posterior, opt_error);
  else
    idm_finding_destroy(f);
  free(x);
  return status;
}

static idm_status check(const idm_problem *problem, const idm_data *data, batches *b,
                        idm_error *opt_error)
{
  const char *who = idm_inverse_policy_inversion.name;
  if (problem->setting->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts a learner of one policy for all steps; expected a problem "
                    "without `horizon`",
                    who);
  b->count = count_batches(data);
  if (b->count >= 2) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' goes by how a learner changes from batch to batch, and the log has one "
                  "batch only; expected at least two in the column '%s'",
                  who, idm_columns_name(&problem->columns, IDM_COLUMN_BATCH, 0));
}

static idm_status answer(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_problem *problem = asked->problem;
  const idm_fit_settings *settings = asked->settings;
  idm_soft_agent *agent = NULL;
  batches b = {0};
  idm_status status = check(problem, asked->data, &b, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_create(problem, asked->inverse->name, &agent, opt_error);
  if (status == IDM_OK)
    status = read_batches(problem, asked->data, asked->world, agent->prior, settings->smoothing, &b,
                          opt_error);
  if (status == IDM_OK)
    status =
        find(problem, settings, asked->world, asked->sought, agent, &b, ret_posterior, opt_error);
  free(b.policy);
  free(b.weight);
  idm_soft_agent_destroy(agent);
  return status;
}

static const idm_asked_method method = {
    .by = IDM_BY_STATES, .doing = "looking at how the learner changed", .answer = answer};

static const char *const settings_read[] = {"smoothing", NULL};

const idm_inverse idm_inverse_policy_inversion = {
    .name = "policy-inversion",
    .summary = "the utility that a soft learner's successive batches improve on",
    .row = "Soft policy inversion",
    .answer = IDM_POINT,
    .columns = 1u << IDM_COLUMN_BATCH,
    .family = IDM_LATTICE_PLANNER,
    .finds = "utility",
    .alone = "the objective depends on utilities in units of alpha, under the discount that is "
             "given; use --inverse map or bayes",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_asked_fit,
};
