/* Decision networks: pi(u|z) proportional to pi~_u exp(w_u0 + sum_i w_ui h_i), h_i = tanh(v_i0 +
 * sum_s v_is z_s). Without a hidden layer the scores are linear in z: a decision rule. */
#include <math.h>
#include <string.h>

#include "plan/network/linear.h"
#include "plan/network/softmax.h"

static const idm_block_info own[] = {{.name = "network",
                                      .summary = "weights of a network, layer after layer",
                                      .opaque = true,
                                      .scales = IDM_SCALES_IDENTITY,
                                      .spread = 5,
                                      .form = IDM_FORM_NUMBERS,
                                      .of_agent = true}};

/* Units that the scores are linear in. */
static size_t inputs(idm_sizes sizes, size_t width)
{
  return width ? width : sizes.states;
}

static size_t shape(const idm_agent *agent, idm_sizes sizes, size_t block, double *opt_value)
{
  (void)block;
  const size_t width = (size_t)agent->hidden;
  const size_t below = width ? idm_linear_count(width, sizes.states) : 0;
  if (opt_value) {
    idm_random random;
    idm_random_init(&random, agent->seed, 0);
    idm_linear_start(width, sizes.states, &random, opt_value);
    idm_linear_start(sizes.actions, inputs(sizes, width), &random, opt_value + below);
  }
  return below + idm_linear_count(sizes.actions, inputs(sizes, width));
}

/* Weights of the scores, behind those of the hidden layer. */
static size_t top(const softmax *s)
{
  return s->width ? idm_linear_count(s->width, s->sizes.states) : 0;
}

static void score(const softmax *s, const double *z, double *hidden, double *score)
{
  if (s->width) idm_linear(s->width, s->sizes.states, s->number, z, hidden);
  for (size_t i = 0; i < s->width; i++) hidden[i] = tanh(hidden[i]);
  idm_linear(s->sizes.actions, inputs(s->sizes, s->width), s->number + top(s),
             s->width ? hidden : z, score);
}

static void recall(const softmax *s, const double *z, double *hidden, const double *by_score,
                   double *by_number, double *opt_by_belief)
{
  const size_t n = s->sizes.actions, width = s->width;
  double *by_hidden = hidden + width;
  memset(by_hidden, 0, width * sizeof *by_hidden);
  idm_linear_recall(n, inputs(s->sizes, width), s->number + top(s), width ? hidden : z, by_score,
                    by_number + top(s), width ? by_hidden : opt_by_belief);
  for (size_t i = 0; i < width; i++) by_hidden[i] *= 1 - hidden[i] * hidden[i];
  if (width)
    idm_linear_recall(width, s->sizes.states, s->number, z, by_hidden, by_number, opt_by_belief);
}

static const size_t blocks[] = {IDM_BLOCK_COUNT};
static const softmax_scores scores = {
    .block = blocks, .blocks = 1, .prior = true, .score = score, .recall = recall};

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  (void)setting;
  const size_t width = (size_t)agent->hidden;
  return idm_softmax_create(&scores, theta, 2 * width, width, ret_content, opt_error);
}

static const idm_block_id reads[] = {IDM_ACTION_PRIOR, IDM_MODEL_PRIOR, IDM_TRANSITION,
                                     IDM_EMISSION, IDM_BLOCK_COUNT};

const idm_planner idm_decision_network = {
    .name = "decision-network",
    .summary = "a softmax of scores of the belief by a network with one hidden layer",
    .row = "Decision-rule CMP policy",
    .keys = (const char *const[]){"recognition", "hidden", "seed", NULL},
    .reads = reads,
    .own = own,
    .owns = 1,
    .shape = shape,
    .needs = IDM_NEEDS_MODEL,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES,
    .create = create,
    .plan = idm_softmax_plan,
    .destroy = idm_softmax_destroy,
    .belief = &idm_softmax_belief,
};
