/* Draws of dynamics: names and indices of the drawn probabilities, conversion to dynamics, and
 * distances between models. */
#include "learn/learn.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "setting/model.h"

void idm_dynamics_draws_clear(idm_dynamics_draws *draws)
{
  if (!draws) return;
  idm_labels_destroy(&draws->name);
  free(draws->place);
  free(draws->value);
  free(draws->log_likelihood);
  free(draws->share);
  *draws = (idm_dynamics_draws){0};
}

/* --- names ---------------------------------------------------------------------------------- */

/* Whether a probability is drawn: its row leads its ties and has another possible entry. */
static bool is_free_entry(const structure *s, size_t r, size_t i)
{
  return structure_is_free(s, r) && s->possible[i];
}

/* Whether other rows are tied to this one. */
static bool has_ties(const structure *s, size_t r)
{
  for (size_t q = 0; q < s->rows; q++)
    if (q != r && s->row[q].tied_to == r) return true;
  return false;
}

static const char *state_name(const idm_setting *setting, bool own, size_t i, char buffer[32])
{
  if (own) return setting->states.name[i];
  snprintf(buffer, 32, "state%zu", i + 1);
  return buffer;
}

/* Name of a probability: start[healthy], transition[*,healthy,diseased],
 * observation[test,healthy,positive]. */
static idm_status name_number(const structure *s, const idm_setting *setting, size_t r, size_t i,
                              idm_labels *names, size_t index, idm_error *opt_error)
{
  enum { max_length = 3200 };
  char text[max_length], from[32], to[32];
  const idm_sizes n = s->sizes;
  const bool own = n.states == setting->states.count;
  const size_t at = i - s->row[r].first;
  assert(n.actions * n.states > 0); /* as in every problem */
  const bool emits = r > n.actions * n.states;
  const size_t pair = r ? (r - 1) % (n.actions * n.states) : 0;
  const char *action = has_ties(s, r) ? "*" : setting->actions.name[pair / n.states];
  if (r == 0)
    snprintf(text, max_length, "start[%s]", state_name(setting, own, at, to));
  else
    snprintf(text, max_length, "%s[%s,%s,%s]", emits ? "observation" : "transition", action,
             state_name(setting, own, pair % n.states, from),
             emits ? setting->observations.name[at] : state_name(setting, own, at, to));
  return idm_labels_set(names, index, text, strlen(text), opt_error);
}

idm_status draws_name(const structure *s, const idm_setting *setting, idm_dynamics_draws *draws,
                      idm_error *opt_error)
{
  for (size_t r = 0; r < s->rows; r++)
    for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++)
      draws->numbers += is_free_entry(s, r, i);
  draws->place = idm_new(draws->numbers, sizeof *draws->place);
  if (!draws->place) return idm_fail_memory(opt_error);
  idm_status status = idm_labels_create(&draws->name, draws->numbers, opt_error);
  size_t index = 0;
  for (size_t r = 0; r < s->rows; r++)
    for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++) {
      if (status != IDM_OK || !is_free_entry(s, r, i)) continue;
      draws->place[index] = i;
      status = name_number(s, setting, r, i, &draws->name, index++, opt_error);
    }
  return status;
}

/* --- draws and problems --------------------------------------------------------------------- */

idm_status idm_dynamics_of_draw(const idm_problem *problem, const idm_dynamics_draws *draws,
                                size_t chain, size_t draw, idm_dynamics *dynamics,
                                idm_error *opt_error)
{
  idm_require(problem, draws, dynamics);
  structure *s = NULL;
  idm_dynamics *own = NULL;
  if (chain >= draws->chains || draw >= draws->draws ||
      !idm_sizes_same(idm_setting_sizes(problem->setting), dynamics->sizes))
    return idm_fail(opt_error, IDM_USAGE, "there is no such draw of these dynamics");
  idm_status status = idm_problem_dynamics(problem, &own, opt_error);
  if (status == IDM_OK) status = structure_create(problem, 0, true, true, &s, opt_error);
  if (status == IDM_OK) {
    const size_t at = chain * draws->draws + draw;
    idm_dynamics_assign(dynamics, own);
    for (size_t i = 0; i < draws->numbers && status == IDM_OK; i++) {
      if (draws->place[i] >= dynamics->numbers)
        status = idm_fail(opt_error, IDM_USAGE, "the draws are of another problem");
      else
        dynamics->start[draws->place[i]] = draws->value[i * draws->chains * draws->draws + at];
    }
    structure_copy_ties(s, dynamics->start);
  }
  structure_destroy(s);
  idm_dynamics_destroy(own);
  return status;
}

idm_status idm_dynamics_names(const idm_problem *problem, idm_labels *ret_names,
                              size_t **ret_places, idm_error *opt_error)
{
  idm_require(problem, ret_names, ret_places);
  structure *s = NULL;
  idm_dynamics *own = NULL;
  idm_dynamics_draws all = {0};
  *ret_names = (idm_labels){0};
  *ret_places = NULL;
  idm_status status = idm_problem_dynamics(problem, &own, opt_error);
  if (status == IDM_OK) status = structure_create(problem, 0, true, true, &s, opt_error);
  if (status == IDM_OK) {
    for (size_t i = 0; i < own->numbers; i++) s->possible[i] = true;
    status = draws_name(s, problem->setting, &all, opt_error);
  }
  if (status == IDM_OK) {
    *ret_names = all.name;
    *ret_places = all.place;
  } else {
    idm_dynamics_draws_clear(&all);
  }
  structure_destroy(s);
  idm_dynamics_destroy(own);
  return status;
}

void idm_theta_models_distance(const idm_problem *problem, double *mean, double *largest)
{
  if (!problem || !mean || !largest) return;
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  const size_t width[] = {n.states, n.observations};
  const double *value[] = {theta->block[IDM_TRANSITION].value, theta->block[IDM_EMISSION].value};
  const double *weight = theta->block[IDM_MODEL_PRIOR].value;
  double count = 0;
  *mean = *largest = 0;
  for (size_t k = 0; k < 2; k++)
    for (size_t r = 0; r < n.actions * n.states; r++) {
      if (problem->setting->terminal[r / n.states]) continue;
      for (size_t m = 0; m < theta->models; m++) {
        double variation = 0;
        for (size_t i = 0; i < width[k]; i++) {
          const size_t model = n.actions * n.states * width[k], at = r * width[k] + i;
          double centre = 0;
          for (size_t j = 0; j < theta->models; j++) centre += weight[j] * value[k][j * model + at];
          variation += 0.5 * fabs(value[k][m * model + at] - centre);
        }
        *mean += weight[m] * variation;
        *largest = fmax(*largest, variation);
      }
      count++;
    }
  if (count > 0) *mean /= count;
}
