/* Example of a planner plug-in: a softmax over immediate utilities, without regard to the future.
 */
#include <idm/extension/plugin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const idm_block_info sharpness = {.name = "sharpness",
                                         .summary = "how much a utility counts",
                                         .support = IDM_NOT_NEGATIVE,
                                         .default_number = 1,
                                         .scales = IDM_SCALES_ALL,
                                         .scale = IDM_SCALE_LOG,
                                         .spread = 1,
                                         .of_agent = true};

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  (void)setting, (void)agent;
  return idm_theta_copy(theta, (idm_theta **)ret_content, opt_error);
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver, (void)opt_error;
  idm_theta_assign(content, theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *scratch)
{
  const idm_theta *theta = content;
  const double *utility = idm_theta_values(theta, IDM_UTILITY, variant);
  double most = -INFINITY, sum = 0;
  (void)steps, (void)scratch;
  for (size_t u = 0; u < theta->sizes.actions; u++) {
    log_decision[u] = 0;
    for (size_t s = 0; s < theta->sizes.states; s++)
      log_decision[u] += z[s] * utility[u * theta->sizes.states + s];
    log_decision[u] *= idm_theta_scalar(theta, IDM_BLOCK_COUNT);
    most = fmax(most, log_decision[u]);
  }
  for (size_t u = 0; u < theta->sizes.actions; u++) sum += exp(log_decision[u] - most);
  for (size_t u = 0; u < theta->sizes.actions; u++) log_decision[u] -= most + log(sum);
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *scratch)
{
  const idm_theta *theta = content;
  const double *prior = idm_theta_values(theta, IDM_MODEL_PRIOR, 0);
  log_policy(content, variant, steps, z, decision, scratch);
  for (size_t u = 0; u < theta->sizes.actions; u++) decision[u] = exp(decision[u]);
  for (size_t i = 0; opt_specification && i < theta->sizes.actions * theta->models; i++)
    opt_specification[i] = prior[i % theta->models];
}

static size_t scratch(const void *content)
{
  (void)content;
  return 0;
}

static void destroy(void *content)
{
  idm_theta_destroy(content);
}

static const idm_belief_ops belief = {
    .scratch = scratch, .policy = policy, .log_policy = log_policy};

static const idm_planner myopic = {
    .size = sizeof(idm_planner),
    .name = "myopic",
    .summary = "softmax of the utilities of now",
    .row = "General",
    .reads = (const idm_block_id[]){IDM_UTILITY, IDM_MODEL_PRIOR, IDM_TRANSITION, IDM_EMISSION,
                                    IDM_BLOCK_COUNT},
    .own = &sharpness,
    .own_count = 1,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .belief = &belief};

IDM_PLUGIN(&myopic, NULL);
