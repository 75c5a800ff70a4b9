/* Decision rules: pi(u|z) proportional to pi~_u exp(chi_u0 + sum_s chi_us z_s), or the best of
 * those scores. */
#include "plan/network/linear.h"
#include "plan/network/softmax.h"

static void score(const softmax *s, const double *z, double *hidden, double *score)
{
  (void)hidden;
  idm_linear(s->sizes.actions, s->sizes.states, s->number, z, score);
}

static void recall(const softmax *s, const double *z, double *hidden, const double *by_score,
                   double *by_number, double *opt_by_belief)
{
  (void)hidden;
  idm_linear_recall(s->sizes.actions, s->sizes.states, s->number, z, by_score, by_number,
                    opt_by_belief);
}

static const size_t blocks[] = {IDM_WEIGHTS};
static const softmax_scores scores = {
    .block = blocks, .blocks = 1, .prior = true, .score = score, .recall = recall};

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  (void)setting;
  *ret_content = NULL;
  if (theta->block[IDM_WEIGHTS].size != theta->sizes.actions * (theta->sizes.states + 1))
    return idm_fail(opt_error, IDM_INPUT,
                    "the decision-rule planner needs agent.weights: for each action a constant and "
                    "one number a state");
  const idm_status status = idm_softmax_create(&scores, theta, 0, 0, ret_content, opt_error);
  if (status == IDM_OK && agent->choice == IDM_CHOICE_BEST)
    ((softmax *)*ret_content)->temperature = 0;
  return status;
}

static const idm_block_id reads[] = {IDM_WEIGHTS,    IDM_ACTION_PRIOR, IDM_MODEL_PRIOR,
                                     IDM_TRANSITION, IDM_EMISSION,     IDM_BLOCK_COUNT};

const idm_planner idm_decision_rule = {
    .name = "decision-rule",
    .summary = "a softmax of linear scores of the belief, or the best of them; nothing is planned",
    .row = "Decision-rule (CMP, IOHMM) policy",
    .keys = (const char *const[]){"recognition", "choice", NULL},
    .reads = reads,
    .needs = IDM_NEEDS_MODEL,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES | IDM_GIVES_ENDLESS,
    .create = create,
    .plan = idm_softmax_plan,
    .destroy = idm_softmax_destroy,
    .belief = &idm_softmax_belief,
};
