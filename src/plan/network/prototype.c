/* Prototypes: pi(u|z) proportional to exp(-kappa |z - mu_u|^2), mu_u a belief. Between two actions
 * the boundary is a hyperplane, half-way from one prototype to the other. */
#include "plan/network/softmax.h"

enum { SHARPNESS, PROTOTYPES, OWNS };

static const idm_block_info own[OWNS] = {
    [SHARPNESS] = {.name = "sharpness",
                   .summary = "how much the distance to a prototype counts in a choice",
                   .support = IDM_NOT_NEGATIVE,
                   .standard = 1,
                   .scales = IDM_SCALES_ALL,
                   .scale = IDM_SCALE_LOG,
                   .spread = 100,
                   .of_agent = true},
    [PROTOTYPES] = {.name = "prototypes",
                    .summary = "the belief that speaks most for each action",
                    .axis = {IDM_AXIS_ACTION, IDM_AXIS_STATE},
                    .support = IDM_DISTRIBUTION,
                    .scales = IDM_SCALES_IDENTITY,
                    .form = IDM_FORM_ROWS,
                    .of_agent = true},
};

static void score(const softmax *s, const double *z, double *hidden, double *score)
{
  (void)hidden;
  const size_t k = s->sizes.states;
  const double sharpness = s->number[0];
  for (size_t u = 0; u < s->sizes.actions; u++) {
    const double *prototype = s->number + 1 + u * k;
    double distance = 0;
    for (size_t i = 0; i < k; i++) distance += (z[i] - prototype[i]) * (z[i] - prototype[i]);
    score[u] = -sharpness * distance;
  }
}

static void recall(const softmax *s, const double *z, double *hidden, const double *by_score,
                   double *by_number, double *opt_by_belief)
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

static const size_t blocks[] = {IDM_BLOCK_COUNT + SHARPNESS, IDM_BLOCK_COUNT + PROTOTYPES};
static const softmax_scores scores = {
    .block = blocks, .blocks = OWNS, .score = score, .recall = recall};

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  (void)setting;
  (void)agent;
  return idm_softmax_create(&scores, theta, 0, 0, ret_content, opt_error);
}

static const idm_block_id reads[] = {IDM_MODEL_PRIOR, IDM_TRANSITION, IDM_EMISSION,
                                     IDM_BLOCK_COUNT};

const idm_planner idm_prototype = {
    .name = "prototype",
    .summary = "takes the action whose prototype is nearest to the belief; nothing is planned",
    .row = "Decision-rule IOHMM policy",
    .keys = (const char *const[]){"recognition", NULL},
    .reads = reads,
    .own = own,
    .owns = OWNS,
    .needs = IDM_NEEDS_MODEL,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES,
    .create = create,
    .plan = idm_softmax_plan,
    .destroy = idm_softmax_destroy,
    .belief = &idm_softmax_belief,
};
