/* Policies that are a softmax of scores of the belief.
 *
 * Contents: softmax · decision rule · decision network · prototype */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/soft.h"
#include "plan/network/network.h"

/* === softmax ================================================================================ */

/* Softmax of scores of the belief (docs/method/learners.md, 3). */

void idm_softmax_destroy(void *content)
{
  softmax *s = content;
  if (!s) return;
  free(s->number);
  free(s->action_prior);
  free(s->model_prior);
  free(s);
}

idm_status idm_softmax_create(const softmax_scores *scores, const idm_theta *theta, size_t hidden,
                              size_t width, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  softmax *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->scores = scores;
  s->sizes = theta->sizes;
  s->models = theta->models;
  s->hidden = hidden;
  s->width = width;
  s->temperature = 1;
  for (size_t i = 0; i < scores->blocks; i++) s->count += theta->block[scores->block[i]].size;
  s->number = idm_new(s->count, sizeof *s->number);
  s->action_prior = idm_new(s->sizes.actions, sizeof *s->action_prior);
  s->model_prior = idm_new(s->models, sizeof *s->model_prior);
  if (!s->number || !s->action_prior || !s->model_prior) {
    idm_softmax_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_content = s;
  return IDM_OK;
}

/* Whether every score and its terms are finite: beliefs and hidden units are at most 1, a squared
 * distance of beliefs at most 2. */
static bool weights_are_finite(const softmax *s, const idm_theta *theta)
{
  double weight_bound = 0;
  for (size_t i = 0; i < s->scores->blocks; i++) {
    const idm_block *block = &theta->block[s->scores->block[i]];
    for (size_t k = 0; k < block->size; k++) weight_bound += 2 * fabs(block->value[k]);
  }
  return isfinite(weight_bound);
}

idm_status idm_softmax_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  softmax *s = content;
  if (!weights_are_finite(s, theta))
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "the scores of actions would not be finite: the numbers of %s are too large",
                    theta->block[s->scores->block[0]].info->name);
  double *to = s->number;
  for (size_t i = 0; i < s->scores->blocks; i++) {
    const idm_block *block = &theta->block[s->scores->block[i]];
    memcpy(to, block->value, block->size * sizeof *to);
    to += block->size;
  }
  const double *prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0);
  for (size_t u = 0; u < s->sizes.actions; u++)
    s->action_prior[u] = s->scores->prior ? prior[u] : 1.0 / (double)s->sizes.actions;
  memcpy(s->model_prior, idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
         s->models * sizeof *s->model_prior);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* Numbers of scratch: scores, then intermediate values. */
static size_t scratch(const void *content)
{
  const softmax *s = content;
  return s->sizes.actions + s->hidden;
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *score)
{
  (void)variant;
  (void)steps;
  const softmax *s = content;
  s->scores->score(s, z, score + s->sizes.actions, score);
  idm_soft(s->temperature, s->sizes.actions, s->action_prior, score, decision);
  for (size_t u = 0; opt_specification && u < s->sizes.actions; u++)
    memcpy(opt_specification + u * s->models, s->model_prior, s->models * sizeof(double));
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *score)
{
  (void)variant;
  (void)steps;
  const softmax *s = content;
  s->scores->score(s, z, score + s->sizes.actions, score);
  idm_soft_logs(s->temperature, s->sizes.actions, s->action_prior, score, log_decision);
}

/* --- derivative in reverse mode -------------------------------------------------------------- */

typedef struct softmax_adjoint {
  const softmax *softmax;
  double *number; /* sums of derivatives, in the order of softmax.number */
  double *action_prior;
  double *model_prior;
  double *score; /* [actions + hidden]: scratch */
} softmax_adjoint;

static void adjoint_destroy(void *content)
{
  softmax_adjoint *a = content;
  if (!a) return;
  free(a->number);
  free(a->action_prior);
  free(a->model_prior);
  free(a->score);
  free(a);
}

static idm_status adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error)
{
  const softmax *s = content;
  *ret_adjoint = NULL;
  softmax_adjoint *a = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  a->softmax = s;
  a->number = idm_new(s->count, sizeof *a->number);
  a->action_prior = idm_new(s->sizes.actions, sizeof *a->action_prior);
  a->model_prior = idm_new(s->models, sizeof *a->model_prior);
  a->score = idm_new(scratch(s), sizeof *a->score);
  if (!a->number || !a->action_prior || !a->model_prior || !a->score) {
    adjoint_destroy(a);
    return idm_fail_memory(opt_error);
  }
  *ret_adjoint = a;
  return IDM_OK;
}

static void adjoint_begin(void *content)
{
  softmax_adjoint *a = content;
  memset(a->number, 0, a->softmax->count * sizeof *a->number);
  memset(a->action_prior, 0, a->softmax->sizes.actions * sizeof *a->action_prior);
  memset(a->model_prior, 0, a->softmax->models * sizeof *a->model_prior);
}

static void adjoint_point(void *content, const idm_policy_adjoint *point)
{
  softmax_adjoint *a = content;
  const softmax *s = a->softmax;
  const size_t n = s->sizes.actions;
  double total = 0;
  s->scores->score(s, point->belief, a->score + n, a->score);
  for (size_t u = 0; u < n; u++) total += point->log_decision_gradient[u];
  for (size_t u = 0; u < n; u++) {
    a->score[u] = point->log_decision_gradient[u] - total * point->decision[u];
    const bool counts = s->temperature > 0 || point->decision[u] > 0;
    if (counts && s->action_prior[u] > 0) a->action_prior[u] += a->score[u] / s->action_prior[u];
    for (size_t m = 0; m < s->models; m++)
      a->model_prior[m] += point->specification_gradient[u * s->models + m];
  }
  /* The action with the largest score is piecewise constant: its derivative is 0. */
  if (s->temperature == 0) return;
  s->scores->backward(s, point->belief, a->score + n, a->score, a->number,
                      point->opt_belief_gradient);
}

static void add(double *to, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static idm_status adjoint_finish(void *content, idm_theta *derivative, idm_error *opt_error)
{
  (void)opt_error;
  const softmax_adjoint *a = content;
  const softmax *s = a->softmax;
  const double *from = a->number;
  for (size_t i = 0; i < s->scores->blocks; i++) {
    const idm_block *block = &derivative->block[s->scores->block[i]];
    add(block->value, from, block->size);
    from += block->size;
  }
  if (s->scores->prior)
    add(derivative->block[IDM_ACTION_PRIOR].value, a->action_prior, s->sizes.actions);
  add(derivative->block[IDM_MODEL_PRIOR].value, a->model_prior, s->models);
  return IDM_OK;
}

static const idm_adjoint_ops adjoint = {.dynamics =
                                            true, /* policies of a belief do not depend on it */
                                        .create = adjoint_create,
                                        .destroy = adjoint_destroy,
                                        .begin = adjoint_begin,
                                        .point = adjoint_point,
                                        .finish = adjoint_finish};

const idm_belief_ops idm_softmax_belief = {
    .scratch = scratch, .policy = policy, .log_policy = log_policy, .adjoint = &adjoint};

/* === decision rule ========================================================================== */

/* Decision rules: pi(u|z) proportional to pi~_u exp(chi_u0 + sum_s chi_us z_s), or the action with
 * the largest of these scores. */

static void score(const softmax *s, const double *z, double *hidden, double *score)
{
  (void)hidden;
  idm_linear(s->sizes.actions, s->sizes.states, s->number, z, score);
}

static void backward(const softmax *s, const double *z, double *hidden, const double *by_score,
                     double *by_number, double *opt_by_belief)
{
  (void)hidden;
  idm_linear_backward(s->sizes.actions, s->sizes.states, s->number, z, by_score, by_number,
                      opt_by_belief);
}

static const size_t blocks[] = {IDM_WEIGHTS};
static const softmax_scores scores = {
    .block = blocks, .blocks = 1, .prior = true, .score = score, .backward = backward};

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  (void)setting;
  *ret_content = NULL;
  if (theta->block[IDM_WEIGHTS].size != theta->sizes.actions * (theta->sizes.states + 1))
    return idm_fail(opt_error, IDM_INPUT,
                    "the decision-rule planner needs agent.weights: for each action a constant and "
                    "one number per state");
  const idm_status status = idm_softmax_create(&scores, theta, 0, 0, ret_content, opt_error);
  if (status == IDM_OK && agent->choice == IDM_CHOICE_BEST)
    ((softmax *)*ret_content)->temperature = 0;
  return status;
}

static const idm_block_id reads[] = {IDM_WEIGHTS,    IDM_ACTION_PRIOR, IDM_MODEL_PRIOR,
                                     IDM_TRANSITION, IDM_EMISSION,     IDM_BLOCK_COUNT};

const idm_planner idm_decision_rule = {
    .name = "decision-rule",
    .summary = "a softmax of linear scores of the belief, or the action with the largest; nothing "
               "is planned",
    .row = "Decision-rule (CMP, IOHMM) policy",
    .rule = true,
    .keys = (const char *const[]){"recognition", "choice", NULL},
    .reads = reads,
    .needs = IDM_NEEDS_MODEL,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE |
                IDM_SUPPORTS_UNDISCOUNTED,
    .create = create,
    .plan = idm_softmax_plan,
    .destroy = idm_softmax_destroy,
    .belief = &idm_softmax_belief,
};

/* === decision network ======================================================================= */

/* Decision networks: pi(u|z) proportional to pi~_u exp(w_u0 + sum_i w_ui h_i), h_i = tanh(v_i0 +
 * sum_s v_is z_s). Without a hidden layer the scores are linear in z: a decision rule. */

static const idm_block_info own[] = {{.name = "network",
                                      .summary = "weights of a network, layer after layer",
                                      .opaque = true,
                                      .scales = IDM_SCALES_IDENTITY,
                                      .spread = 5,
                                      .form = IDM_FORM_NUMBERS,
                                      .of_agent = true}};

/* Number of inputs of the scores. */
static size_t inputs(idm_sizes sizes, size_t width)
{
  return width ? width : sizes.states;
}

static size_t shape(const idm_agent_options *agent, idm_sizes sizes, size_t block,
                    double *opt_value)
{
  (void)block;
  const size_t width = (size_t)agent->hidden;
  const size_t hidden_weights = width ? idm_linear_count(width, sizes.states) : 0;
  if (opt_value) {
    idm_random random;
    idm_random_init(&random, agent->seed, 0);
    idm_linear_init(width, sizes.states, &random, opt_value);
    idm_linear_init(sizes.actions, inputs(sizes, width), &random, opt_value + hidden_weights);
  }
  return hidden_weights + idm_linear_count(sizes.actions, inputs(sizes, width));
}

/* Offset of the weights of the scores, after those of the hidden layer. */
static size_t output_weights(const softmax *s)
{
  return s->width ? idm_linear_count(s->width, s->sizes.states) : 0;
}

static void decision_network_score(const softmax *s, const double *z, double *hidden,
                                   double *decision_network_score)
{
  if (s->width) idm_linear(s->width, s->sizes.states, s->number, z, hidden);
  for (size_t i = 0; i < s->width; i++) hidden[i] = tanh(hidden[i]);
  idm_linear(s->sizes.actions, inputs(s->sizes, s->width), s->number + output_weights(s),
             s->width ? hidden : z, decision_network_score);
}

static void decision_network_backward(const softmax *s, const double *z, double *hidden,
                                      const double *by_score, double *by_number,
                                      double *opt_by_belief)
{
  const size_t n = s->sizes.actions, width = s->width;
  double *by_hidden = hidden + width;
  memset(by_hidden, 0, width * sizeof *by_hidden);
  idm_linear_backward(n, inputs(s->sizes, width), s->number + output_weights(s), width ? hidden : z,
                      by_score, by_number + output_weights(s), width ? by_hidden : opt_by_belief);
  for (size_t i = 0; i < width; i++) by_hidden[i] *= 1 - hidden[i] * hidden[i];
  if (width)
    idm_linear_backward(width, s->sizes.states, s->number, z, by_hidden, by_number, opt_by_belief);
}

static const size_t decision_network_blocks[] = {IDM_BLOCK_COUNT};
static const softmax_scores decision_network_scores = {.block = decision_network_blocks,
                                                       .blocks = 1,
                                                       .prior = true,
                                                       .score = decision_network_score,
                                                       .backward = decision_network_backward};

static idm_status decision_network_create(const idm_setting *setting, const idm_theta *theta,
                                          const idm_agent_options *agent, void **ret_content,
                                          idm_error *opt_error)
{
  (void)setting;
  const size_t width = (size_t)agent->hidden;
  return idm_softmax_create(&decision_network_scores, theta, 2 * width, width, ret_content,
                            opt_error);
}

static const idm_block_id decision_network_reads[] = {
    IDM_ACTION_PRIOR, IDM_MODEL_PRIOR, IDM_TRANSITION, IDM_EMISSION, IDM_BLOCK_COUNT};

const idm_planner idm_decision_network = {
    .name = "decision-network",
    .summary = "a softmax of scores of the belief by a network with one hidden layer",
    .row = "Decision-rule CMP policy",
    .rule = true,
    .keys = (const char *const[]){"recognition", "hidden", "seed", NULL},
    .reads = decision_network_reads,
    .own = own,
    .own_count = 1,
    .shape = shape,
    .needs = IDM_NEEDS_MODEL,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE,
    .create = decision_network_create,
    .plan = idm_softmax_plan,
    .destroy = idm_softmax_destroy,
    .belief = &idm_softmax_belief,
};

/* === prototype ============================================================================== */

/* Prototypes: pi(u|z) proportional to exp(-kappa |z - mu_u|^2), mu_u a belief. The decision
 * boundary between two actions is the hyperplane half-way between their prototypes. */

enum { SHARPNESS, PROTOTYPES, OWNS };

static const idm_block_info prototype_own[OWNS] = {
    [SHARPNESS] = {.name = "sharpness",
                   .summary = "how much the distance to a prototype counts in a choice",
                   .support = IDM_NOT_NEGATIVE,
                   .default_number = 1,
                   .scales = IDM_SCALES_ALL,
                   .scale = IDM_SCALE_LOG,
                   .spread = 100,
                   .of_agent = true},
    [PROTOTYPES] = {.name = "prototypes",
                    .summary = "the prototype of each action, a belief",
                    .axis = {IDM_AXIS_ACTION, IDM_AXIS_STATE},
                    .support = IDM_DISTRIBUTION,
                    .scales = IDM_SCALES_IDENTITY,
                    .form = IDM_FORM_ROWS,
                    .of_agent = true},
};

static void prototype_score(const softmax *s, const double *z, double *hidden,
                            double *prototype_score)
{
  (void)hidden;
  const size_t k = s->sizes.states;
  const double sharpness = s->number[0];
  for (size_t u = 0; u < s->sizes.actions; u++) {
    const double *prototype = s->number + 1 + u * k;
    double distance = 0;
    for (size_t i = 0; i < k; i++) distance += (z[i] - prototype[i]) * (z[i] - prototype[i]);
    prototype_score[u] = -sharpness * distance;
  }
}

static void prototype_backward(const softmax *s, const double *z, double *hidden,
                               const double *by_score, double *by_number, double *opt_by_belief)
{
  (void)hidden;
  const size_t k = s->sizes.states;
  const double sharpness = s->number[0];
  for (size_t u = 0; u < s->sizes.actions; u++) {
    const double *prototype = s->number + 1 + u * k;
    for (size_t i = 0; i < k; i++) {
      const double off = z[i] - prototype[i];
      const double by_off = -2 * sharpness * by_score[u] * off;
      by_number[0] -= by_score[u] * off * off;
      by_number[1 + u * k + i] -= by_off;
      if (opt_by_belief) opt_by_belief[i] += by_off;
    }
  }
}

static const size_t prototype_blocks[] = {IDM_BLOCK_COUNT + SHARPNESS,
                                          IDM_BLOCK_COUNT + PROTOTYPES};
static const softmax_scores prototype_scores = {.block = prototype_blocks,
                                                .blocks = OWNS,
                                                .score = prototype_score,
                                                .backward = prototype_backward};

static idm_status prototype_create(const idm_setting *setting, const idm_theta *theta,
                                   const idm_agent_options *agent, void **ret_content,
                                   idm_error *opt_error)
{
  (void)setting;
  (void)agent;
  return idm_softmax_create(&prototype_scores, theta, 0, 0, ret_content, opt_error);
}

static const idm_block_id prototype_reads[] = {IDM_MODEL_PRIOR, IDM_TRANSITION, IDM_EMISSION,
                                               IDM_BLOCK_COUNT};

const idm_planner idm_prototype = {
    .name = "prototype",
    .summary = "takes the action whose prototype is nearest to the belief; nothing is planned",
    .row = "Decision-rule IOHMM policy",
    .rule = true,
    .keys = (const char *const[]){"recognition", NULL},
    .reads = prototype_reads,
    .own = prototype_own,
    .own_count = OWNS,
    .needs = IDM_NEEDS_MODEL,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE,
    .create = prototype_create,
    .plan = idm_softmax_plan,
    .destroy = idm_softmax_destroy,
    .belief = &idm_softmax_belief,
};
