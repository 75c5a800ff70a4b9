/* The inverse planner `policy-inversion`: the utility that a learner's successive batches improve
 * on. */
#include <math.h>

#include "base/memory.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/discount_search.h"
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

/* What fits at a discount go by. */
typedef struct inversion {
  const idm_asked *asked;
  const idm_soft_agent *agent;
  const batches *b;
} inversion;

static idm_status fit_at(void *context, double discount, double *x, idm_finding **ret_finding,
                         idm_error *opt_error)
{
  const inversion *v = context;
  const idm_sought *sought = v->asked->sought;
  idm_mdp world = *v->asked->world;
  const idm_learner_steps steps = {&world,      sought,       v->agent->alpha, v->agent->prior,
                                   v->b->count, v->b->policy, v->b->weight};
  world.discount = discount;
  idm_status status = idm_finding_create(sought->count, ret_finding, opt_error);
  if (status == IDM_OK) status = idm_learner_steps_invert(&steps, x, *ret_finding, opt_error);
  if (status != IDM_OK) {
    idm_finding_destroy(*ret_finding);
    *ret_finding = NULL;
  }
  return status;
}

static const char method_name[] = "least-squares";

/* Utilities and the discount together. Errors of the batches' policies are in both sides of the
 * equations: the discount is biased, and has no range; `coverage` is left open. */
static idm_status find_discount(idm_asked *asked, inversion *v, double *x,
                                idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_discount_search search = {
      .asked = asked,
      .evidence = "changes from batch to batch",
      .method = method_name,
      .floor = 1e-20 * v->agent->alpha * v->agent->alpha,
      .fit = fit_at,
      .context = v,
      .x = x,
  };
  return idm_discount_search_run(&search, ret_posterior, opt_error);
}

static idm_status find(idm_asked *asked, const idm_soft_agent *agent, const batches *b,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  inversion v = {asked, agent, b};
  idm_finding *f = NULL;
  double *x = idm_new(asked->sought->count, sizeof *x);
  idm_status status = x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && idm_discount_is_free(asked->problem)) {
    status = find_discount(asked, &v, x, ret_posterior, opt_error);
  } else if (status == IDM_OK) {
    status = fit_at(&v, asked->world->discount, x, &f, opt_error);
    if (status == IDM_OK)
      status = idm_answer_utility(asked->inverse, asked->problem, asked->settings, asked->sought, x,
                                  method_name, f, ret_posterior, opt_error);
  }
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
  idm_soft_agent *agent = NULL;
  batches b = {0};
  idm_status status = check(problem, asked->data, &b, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_create(problem, asked->inverse->name, &agent, opt_error);
  if (status == IDM_OK)
    status = read_batches(problem, asked->data, asked->world, agent->prior,
                          asked->settings->smoothing, &b, opt_error);
  if (status == IDM_OK) status = find(asked, agent, &b, ret_posterior, opt_error);
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
    .alone = "the equations of a learner's steps hold at every alpha, with utilities in its units; "
             "use --inverse map or bayes",
    .also = "discount",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_asked_fit,
};
