/* Free numbers that cannot matter: found by trying, explained by the problem's structure.
 *
 * Contents: trying · reasons */
#include "invert/assess/matter.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/matching.h"
#include "idm/planner.h"
#include "invert/assess/checks.h"
#include "invert/chance.h"

/* --- trying --------------------------------------------------------------------------------- */

enum {
  TRIED_DRAWS = 3, /* of the posterior, from which a number is moved */
  PRIOR_MOVES = 8, /* draws from a proper prior */
  FAR_MOVES = 4    /* steps of the size of the number, either way: under any prior */
};

/* Differences of the log-likelihood below this come from where a plan stopped. */
static double rounding(uint64_t decisions)
{
  return 1e-4 + 1e-7 * (double)decisions;
}

/* Put the coordinates of an item elsewhere: move k. */
static void move(const inquiry *q, const parameter *item, size_t k, const double *prior, double *y)
{
  static const double far[FAR_MOVES] = {1, -1, 10, -10};
  const size_t d = q->f->parameters->dimension;
  const size_t count = item->size - item->simplex;
  for (size_t j = item->first; j < item->first + count; j++)
    y[j] = k < FAR_MOVES ? y[j] + far[k] * (1 + fabs(y[j])) : prior[(k - FAR_MOVES) * d + j];
}

/* Whether some move changes the log-likelihood. Where nothing else can be planned for, nothing
 * shows that it cannot matter. */
static idm_status try_item(const inquiry *q, const parameter *item, const double *prior,
                           size_t moves, double least, bool *matters, double *y,
                           idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t draws = q->posterior->chains * q->posterior->draws;
  const size_t tried = draws < TRIED_DRAWS ? draws : TRIED_DRAWS;
  size_t compared = 0;
  idm_status status = IDM_OK;
  *matters = false;
  for (size_t i = 0; i < tried && status == IDM_OK && !*matters; i++) {
    double here = -INFINITY;
    idm_inquiry_draw(q, idm_inquiry_sample_at(q, i, tried), y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &here, NULL, opt_error);
    for (size_t k = 0; isfinite(here) && k < moves && status == IDM_OK && !*matters; k++) {
      double there = -INFINITY;
      memcpy(y + d, y, d * sizeof *y);
      move(q, item, k, prior, y + d);
      status = idm_matching_log_likelihood(q->f->matching[0], y + d, &there, NULL, opt_error);
      compared += isfinite(there) ? 1 : 0;
      *matters = isfinite(there) && fabs(there - here) > least;
    }
  }
  *matters = *matters || !compared;
  return status;
}

/* --- reasons -------------------------------------------------------------------------------- */

/* Whether slices of a block that follow each other at a distance, `count` from `first` on, agree.
 */
static bool same_slices(const double *value, size_t first, size_t count, size_t distance,
                        size_t size)
{
  for (size_t k = 1; k < count; k++)
    for (size_t i = 0; i < size; i++)
      if (value[first + i] != value[first + k * distance + i]) return false;
  return true;
}

static bool models_agree(const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  const size_t size = block->size / theta->models;
  return same_slices(block->value, 0, theta->models, size, size);
}

static bool actions_agree(const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  const size_t size = block->size / theta->models / theta->sizes.actions;
  for (size_t m = 0; m < theta->models; m++)
    if (!same_slices(block->value, m * theta->sizes.actions * size, theta->sizes.actions, size,
                     size))
      return false;
  return true;
}

/* Whether every state emits alike: no observation distinguishes states. */
static bool emits_alike(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_EMISSION];
  const size_t width = theta->sizes.observations, rows = theta->sizes.states;
  for (size_t i = 0; i < block->size; i += rows * width)
    if (!same_slices(block->value, i, rows, width, width)) return false;
  return true;
}

static const char *reason_of_sensor(const idm_setting *setting, const idm_theta *theta)
{
  if (setting->fully_observed)
    return "states are observed, and a sensor hides none of them: leave it out of `free:`";
  if (emits_alike(theta))
    return "every state emits alike, so that a sensor has nothing to pass: leave it out of `free:`";
  return NULL;
}

/* Whether of the utility of beliefs only the weight of the entropy is free. */
static bool only_entropy(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_BELIEF_UTILITY];
  for (size_t i = theta->sizes.actions; block->coordinate && i < block->size; i++)
    if (block->coordinate[i] >= 0) return false;
  return block->coordinate != NULL;
}

/* The same for utilities of beliefs and for surprise. */
static const char *reason_of_belief(const idm_problem *problem, size_t block)
{
  const idm_theta *theta = problem->theta;
  const bool moves = theta->block[IDM_ETA].role == IDM_DESCRIPTIVE;
  if (block == IDM_BELIEF_PRIOR && !moves && idm_agent_reads(&problem->agent, IDM_ETA) &&
      idm_theta_scalar(theta, IDM_ETA) == 0)
    return "eta is 0, so that surprise has no price: give `agent.eta` another value or free it, or "
           "leave it out of `free:`";
  if (block == IDM_BELIEF_UTILITY && problem->setting->fully_observed && only_entropy(theta))
    return "states are observed, so that the entropy of every belief is 0: leave it out of `free:`";
  if (block == IDM_CERTAINTY && idm_theta_values(theta, IDM_CERTAINTY, 0)[0] >= 1)
    return "no belief is above its threshold of 1: give `certainty:` one below 1, or leave it out "
           "of `free:`";
  return NULL;
}

/* What in the problem makes a block of no consequence, and the cure; NULL where nothing does. */
static const char *reason(const idm_problem *problem, size_t block)
{
  const idm_theta *theta = problem->theta;
  const bool weighs_models = block == IDM_BETA || block == IDM_MODEL_PRIOR;
  const bool informs = block == IDM_ETA;
  if (weighs_models && theta->models == 1)
    return "the agent has one model of the world, and none to prefer to it: give it several under "
           "`models:`, or leave it out of `free:`";
  if (weighs_models && models_agree(theta, IDM_TRANSITION) && models_agree(theta, IDM_EMISSION))
    return "the agent's models are all the same: let them differ under `models:`, or leave it out "
           "of `free:`";
  if (informs && theta->block[IDM_TRANSITION].size && actions_agree(theta, IDM_TRANSITION) &&
      actions_agree(theta, IDM_EMISSION))
    return "every action informs alike, so that surprise speaks for none of them: leave it out of "
           "`free:`";
  if (block == IDM_SENSOR_CAPACITY) return reason_of_sensor(problem->setting, theta);
  return reason_of_belief(problem, block);
}

static bool is_free(const idm_theta *theta, size_t block)
{
  return theta->block[block].role == IDM_DESCRIPTIVE;
}

void idm_assess_inert(const idm_problem *problem, idm_notes *opt_notes)
{
  if (!problem) return;
  const idm_theta *theta = problem->theta;
  const bool own = is_free(theta, IDM_TRANSITION) || is_free(theta, IDM_EMISSION);
  for (size_t i = 0; i < theta->blocks; i++) {
    /* Dynamics that are free need not stay alike. */
    const char *why = is_free(theta, i) && !(own && theta->models > 1) ? reason(problem, i) : NULL;
    if (why) idm_notes_add(opt_notes, "%s cannot matter here: %s", theta->block[i].info->name, why);
  }
}

static void name_inert(const inquiry *q, const parameter *item)
{
  const idm_theta *theta = q->f->problem->theta;
  const idm_labels *quantity = idm_parameters_quantities(q->f->parameters);
  const char *name =
      item->simplex ? theta->block[item->block].info->name : quantity->name[item->quantity];
  const char *why = reason(q->f->problem, item->block);
  idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_INERT, IDM_CHECK_MISFIT),
                "%s cannot matter here, and its posterior is its prior: %s", name,
                why ? why
                    : "wherever it is within its prior, every decision of the log is as likely as "
                      "before: leave it out of `free:`, or have a log in which it shows");
}

static idm_status try_all(const inquiry *q, const double *prior, size_t moves, double least,
                          double *y, idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  idm_status status = IDM_OK;
  size_t inert = 0;
  for (size_t i = 0; i < p->items && status == IDM_OK; i++) {
    bool matters = true;
    if (p->item[i].opaque) continue;
    status = try_item(q, &p->item[i], prior, moves, least, &matters, y, opt_error);
    if (status != IDM_OK || matters) continue;
    name_inert(q, &p->item[i]);
    inert++;
  }
  if (status == IDM_OK) idm_check_test(&q->assessment->checks, IDM_CHECK_INERT, (double)inert);
  return status;
}

idm_status idm_assess_matter(const inquiry *q, uint64_t decisions, idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  const size_t d = p->dimension;
  if (!decisions) {
    idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_INERT, IDM_CHECK_MISFIT),
                  "no row of the log shows a choice (an action that was recorded, of two or more "
                  "that were open): it says nothing about any free number");
    return IDM_OK;
  }
  double *prior = idm_new(idm_times(PRIOR_MOVES + 2, d), sizeof *prior);
  if (!prior) return idm_fail_memory(opt_error);
  const bool proper = idm_parameters_proper(p);
  idm_random random;
  idm_random_init(&random, 0, 0);
  for (size_t k = 0; proper && k < PRIOR_MOVES; k++) idm_parameters_draw(p, &random, prior + k * d);
  const size_t moves = FAR_MOVES + (proper ? PRIOR_MOVES : 0);
  const idm_status status =
      try_all(q, prior, moves, rounding(decisions), prior + PRIOR_MOVES * d, opt_error);
  free(prior);
  return status;
}

idm_status idm_check_inert(const inquiry *q, idm_error *opt_error)
{
  idm_chance chance;
  const idm_status status = idm_chance_measure(q->f->data, &chance, opt_error);
  return status == IDM_OK ? idm_assess_matter(q, chance.decisions, opt_error) : status;
}
