/* Whether dynamics can be drawn together with the decisions of a log: see the header. */
#include "invert/joint/learner.h"

#include <math.h>

#include "base/memory.h"
#include "base/moments.h"
#include "learn/iohmm.h"

/* Whether the same numbers are learnt from this log as were drawn. */
static bool same_places(const structure *s, const idm_dynamics_draws *draws)
{
  size_t found = 0;
  for (size_t r = 0; r < s->rows; r++)
    for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++) {
      if (!structure_is_open(s, r) || !s->possible[i]) continue;
      if (found == draws->numbers || draws->place[found] != i) return false;
      found++;
    }
  return found == draws->numbers;
}

/* Whether a draw has the log-likelihood by this log that it was drawn with. */
static idm_status compare_draw(const idm_iohmm *learner, const idm_cuts *cut, size_t at,
                               bool *ret_same, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = cut->draws;
  idm_dynamics *d = NULL;
  double here = NAN;
  idm_status status = idm_dynamics_create(idm_setting_sizes(cut->learnt->setting), &d, opt_error);
  if (status == IDM_OK)
    status =
        idm_dynamics_take(cut->learnt, draws, at / draws->draws, at % draws->draws, d, opt_error);
  if (status == IDM_OK) {
    const idm_status seen = idm_iohmm_log_likelihood(learner, d, &here, NULL, NULL);
    if (seen != IDM_OK && seen != IDM_INPUT) status = idm_fail_memory(opt_error);
    const double there = draws->log_likelihood[at];
    *ret_same = seen == IDM_OK && fabs(here - there) <= 1e-6 + 1e-9 * fabs(there);
  }
  idm_dynamics_destroy(d);
  return status;
}

idm_status idm_joint_learner(const idm_problem *problem, const idm_cuts *cut, const idm_data *data,
                             idm_iohmm **ret_learner, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = cut->draws;
  const size_t all = draws->chains * draws->draws;
  const size_t states = problem->setting->states.count;
  bool start = false, same = true;
  idm_error error = {0};
  *ret_learner = NULL;
  if (!all || !(draws->prior > 0) || !idm_problem_models_follow(problem)) return IDM_OK;
  for (size_t i = 0; i < draws->numbers; i++) start = start || draws->place[i] < states;
  idm_status status =
      idm_iohmm_create(cut->learnt, data, 0, start ? IDM_LEARN_HOLD_NOTHING : IDM_LEARN_HOLD_START,
                       ret_learner, &error);
  if (status == IDM_INPUT) return IDM_OK; /* a log of which nothing can be learnt */
  if (status != IDM_OK) {
    if (opt_error) *opt_error = error;
    return status;
  }
  same = same_places((*ret_learner)->structure, draws);
  for (size_t k = 0; k < 2 && same && status == IDM_OK; k++)
    status = compare_draw(*ret_learner, cut, k * (all - 1), &same, opt_error);
  if (status == IDM_OK && same) return IDM_OK;
  idm_iohmm_destroy(*ret_learner);
  *ret_learner = NULL;
  return status;
}

idm_status idm_dynamics_mean(const idm_cuts *cut, const idm_joint_dynamics *opt_drawn,
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
