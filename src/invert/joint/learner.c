/* Checks whether dynamics can be drawn together with the decisions of a log, and averages learnt
 * dynamics. */
#include "invert/joint/joint.h"

#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "learn/learn.h"
#include "setting/model.h"

/* Whether the probabilities learnt from this log are those of the draws. */
static bool same_indices(const structure *s, const idm_dynamics_draws *draws)
{
  size_t found = 0;
  for (size_t r = 0; r < s->rows; r++)
    for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++) {
      if (!structure_is_free(s, r) || !s->possible[i]) continue;
      if (found == draws->numbers || draws->place[found] != i) return false;
      found++;
    }
  return found == draws->numbers;
}

/* Whether the recorded log-likelihood of a draw equals its log-likelihood on this log. */
static idm_status compare_draw(const idm_iohmm *learner, const idm_cut_draws *cut, size_t at,
                               bool *ret_same, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = cut->draws;
  idm_dynamics *d = NULL;
  double recomputed = NAN;
  idm_status status = idm_dynamics_create(idm_setting_sizes(cut->learnt->setting), &d, opt_error);
  if (status == IDM_OK)
    status = idm_dynamics_of_draw(cut->learnt, draws, at / draws->draws, at % draws->draws, d,
                                  opt_error);
  if (status == IDM_OK) {
    const idm_status evaluation = idm_iohmm_log_likelihood(learner, d, &recomputed, NULL, NULL);
    if (evaluation != IDM_OK && evaluation != IDM_INPUT) status = idm_fail_memory(opt_error);
    const double recorded = draws->log_likelihood[at];
    *ret_same = evaluation == IDM_OK && fabs(recomputed - recorded) <= 1e-6 + 1e-9 * fabs(recorded);
  }
  idm_dynamics_destroy(d);
  return status;
}

idm_status idm_joint_learner(const idm_problem *problem, const idm_cut_draws *cut,
                             const idm_data *data, idm_iohmm **ret_learner, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = cut->draws;
  const size_t all = draws->chains * draws->draws;
  const size_t states = problem->setting->states.count;
  bool start = false, same = true;
  idm_error error = {0};
  *ret_learner = NULL;
  if (!all || !(draws->prior > 0) || !idm_problem_models_derived(problem)) return IDM_OK;
  for (size_t i = 0; i < draws->numbers; i++) start = start || draws->place[i] < states;
  idm_status status =
      idm_iohmm_create(cut->learnt, data, 0, start ? IDM_LEARN_FIX_NOTHING : IDM_LEARN_FIX_START,
                       ret_learner, &error);
  if (status == IDM_INPUT) return IDM_OK; /* nothing can be learnt from this log */
  if (status != IDM_OK) {
    if (opt_error) *opt_error = error;
    return status;
  }
  same = same_indices((*ret_learner)->structure, draws);
  for (size_t k = 0; k < 2 && same && status == IDM_OK; k++)
    status = compare_draw(*ret_learner, cut, k * (all - 1), &same, opt_error);
  if (status == IDM_OK && same) return IDM_OK;
  idm_iohmm_destroy(*ret_learner);
  *ret_learner = NULL;
  return status;
}

idm_status idm_dynamics_mean(const idm_cut_draws *cut, const idm_joint_dynamics *opt_drawn,
                             idm_dynamics_draws *mean, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = cut->draws;
  const size_t all = draws->chains * draws->draws;
  *mean = (idm_dynamics_draws){.chains = 1, .draws = 1, .numbers = draws->numbers};
  mean->place = idm_duplicate(draws->place, mean->numbers, sizeof *mean->place);
  mean->value = idm_new(mean->numbers, sizeof *mean->value);
  if (!mean->place || !mean->value) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < mean->numbers; i++)
    mean->value[i] = opt_drawn ? opt_drawn->mean[i] : idm_mean(draws->value + i * all, all);
  return IDM_OK;
}
