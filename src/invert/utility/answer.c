/* Requests to inverse planners that do not use the likelihood, and construction of their answers.
 *
 * Contents: task · answer */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/key.h"
#include "base/memory.h"
#include "idm/extension/optimality.h"
#include "invert/matching/fit.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "invert/utility/task.h"
#include "setting/model.h"

/* === task =================================================================================== */

/* Opening and closing of tasks. */

static idm_status open_utility(idm_task *task, idm_error *opt_error)
{
  const char *target_block = task->inverse->target_block;
  if (!target_block || strcmp(target_block, idm_block_name(IDM_UTILITY)) != 0) return IDM_OK;
  return idm_free_utility_create(task->problem, &task->free_utility, opt_error);
}

/* Creates the agent's POMDP and the MDP of its model. */
static idm_status open_pomdp(idm_task *task, idm_error *opt_error)
{
  const idm_status status =
      idm_pomdp_create(task->problem, task->data, task->inverse->name, &task->pomdp, opt_error);
  return status == IDM_OK ? idm_mdp_create_believed(task->problem->setting, task->pomdp->theta,
                                                    &task->mdp, opt_error)
                          : status;
}

/* Creates the belief MDP on a lattice. */
static idm_status open_belief_mdp(idm_task *task, int resolution, idm_error *opt_error)
{
  const char *caller = task->inverse->name;
  const idm_status status =
      task->inverse->target_block
          ? idm_pomdp_create(task->problem, task->data, caller, &task->pomdp, opt_error)
          : idm_pomdp_create_any(task->problem, task->data, caller, &task->pomdp, opt_error);
  if (status != IDM_OK) return status;
  const idm_status made =
      idm_belief_mdp_create(task->pomdp, resolution, caller, &task->beliefs, opt_error);
  if (made == IDM_OK) task->mdp = task->beliefs->mdp;
  return made;
}

/* Creates the free utility by beliefs. */
static idm_status create_belief_utility(idm_task *task, idm_error *opt_error)
{
  if (!task->beliefs || !task->free_utility) return IDM_OK;
  return idm_belief_utility_create(task->free_utility, task->pomdp->n.actions,
                                   task->pomdp->n.states, task->beliefs->lattice->points,
                                   task->beliefs->lattice->belief, &task->belief_utility,
                                   opt_error);
}

/* Resolution of the lattice that the method chooses for a log. */
static int default_resolution(const idm_fit_arguments *call, const idm_task_method *method)
{
  return method->resolution ? method->resolution(call->problem, call->data)
                            : idm_belief_mdp_resolution(call->problem, call->data);
}

idm_status idm_task_open(idm_task *task, const idm_fit_arguments *call, int resolution,
                         idm_error *opt_error)
{
  const idm_problem *problem = call->problem;
  const idm_task_method *method = call->inverse->method;
  const idm_task_basis by = problem->setting->fully_observed ? IDM_BY_STATES : method->by;
  *task = (idm_task){.inverse = call->inverse,
                     .problem = problem,
                     .data = call->data,
                     .settings = call->settings,
                     .opt_notes = call->opt_notes};
  idm_cancel_init(&task->cancel, call->opt_monitor, method->activity);
  idm_status status = idm_keys_check(idm_fit_keys(), task->settings, opt_error);
  if (status == IDM_OK) status = idm_inverse_check(call->inverse, problem, call->data, opt_error);
  if (status == IDM_OK && by == IDM_BY_STATES)
    status = idm_mdp_create(problem, problem->setting, call->inverse->name, &task->mdp, opt_error);
  if (status == IDM_OK && by == IDM_BY_BELIEFS) status = open_pomdp(task, opt_error);
  if (status == IDM_OK && by == IDM_BY_LATTICE)
    status = open_belief_mdp(task, resolution ? resolution : default_resolution(call, method),
                             opt_error);
  if (status == IDM_OK) status = open_utility(task, opt_error);
  return status == IDM_OK ? create_belief_utility(task, opt_error) : status;
}

idm_status idm_task_fit(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                        idm_error *opt_error)
{
  const idm_task_method *method = call->inverse->method;
  idm_task task;
  idm_status status = idm_task_open(&task, call, 0, opt_error);
  if (status == IDM_OK) status = method->answer(&task, ret_posterior, opt_error);
  idm_task_close(&task);
  return status;
}

idm_fit_arguments idm_task_call(const idm_task *task)
{
  return (idm_fit_arguments){.inverse = task->inverse,
                             .problem = task->problem,
                             .data = task->data,
                             .settings = task->settings,
                             .opt_monitor = task->cancel.watch};
}

const idm_free_utility *idm_task_utility(const idm_task *task)
{
  return task->belief_utility ? task->belief_utility : task->free_utility;
}

idm_status idm_task_demonstrator(idm_task *task, idm_error *opt_error)
{
  idm_row_states *row_states = NULL;
  if (!task->beliefs)
    return idm_demonstrator_create(task->mdp, task->data, task->problem->setting, NULL,
                                   &task->demonstrator, opt_error);
  const idm_status status = idm_belief_mdp_row_states(task->beliefs, task->pomdp, task->data,
                                                      &row_states, task->opt_notes, opt_error);
  return status == IDM_OK ? idm_demonstrator_create_at(task->mdp, task->data, row_states, NULL,
                                                       &task->demonstrator, opt_error)
                          : status;
}

void idm_task_check_truncation(const idm_task *task, idm_optimality *optimality)
{
  static const double small = 0.01;
  if (task->settings->occupancy != IDM_OCCUPANCY_EMPIRICAL) return;
  const double cut = idm_demonstrator_truncated(task->mdp, task->data, task->problem->setting);
  if (cut > small)
    idm_notes_add(&optimality->faults,
                  "%.3g %% of the discounted steps come after the last rows of the trajectories, "
                  "which --occupancy empirical omits and a policy's occupancy includes; use "
                  "--occupancy policy, or give trajectories that end",
                  100 * cut);
}

void idm_task_close(idm_task *task)
{
  idm_demonstrator_destroy(task->demonstrator);
  idm_free_utility_destroy(task->free_utility);
  idm_free_utility_destroy(task->belief_utility);
  if (!task->beliefs) idm_mdp_destroy(task->mdp);
  idm_belief_mdp_destroy(task->beliefs);
  idm_pomdp_destroy(task->pomdp);
}

/* === answer ================================================================================= */

/* Construction of answers that do not come from a likelihood. */

/* --- words ---------------------------------------------------------------------------------- */

/* Formats a direction with the names of its first max_listed nonzero numbers: "utility[a,x] +
 * utility[b,x] - 0.9 ...". */
static void format_direction(const idm_labels *name, const double *direction, char *buffer,
                             size_t size)
{
  enum { max_listed = 4 };
  size_t terms = 0;
  size_t length = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < name->count; i++) {
    const double weight = direction[i];
    if (weight == 0 || terms++ >= max_listed || length + 1 >= size) continue;
    char factor[32] = "";
    if (fabs(fabs(weight) - 1) > 1e-9) snprintf(factor, sizeof factor, "%.3g ", fabs(weight));
    const char *sign = weight < 0 ? terms > 1 ? " - " : "-" : terms > 1 ? " + " : "";
    const int put =
        snprintf(buffer + length, size - length, "%s%s%.120s", sign, factor, name->name[i]);
    length += put > 0 ? (size_t)put : 0;
  }
  if (terms > max_listed && length + 1 < size)
    snprintf(buffer + length, size - length, " and %zu more", terms - max_listed);
}

static void note_directions(const idm_labels *name, idm_optimality *f)
{
  enum { max_listed = 3 };
  char list[2400] = "";
  char one[700];
  if (!f->evaluated) return;
  if (!f->open) {
    idm_notes_add(&f->words, "the data leave no direction of these numbers open");
    return;
  }
  for (size_t i = 0; i < f->open && i < max_listed; i++) {
    const size_t length = strlen(list);
    format_direction(name, f->direction + i * f->free, one, sizeof one);
    snprintf(list + length, sizeof list - length, "%s(%zu) %s", i ? "; " : "", i + 1, one);
  }
  idm_notes_add(&f->words, "the data leave %zu %s of these numbers open: %s%s", f->open,
                f->open == 1 ? "direction" : "directions", list,
                f->open > max_listed ? "; ..." : "");
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Copies names and allocates the numbers. */
static idm_status put_names(const idm_parameters *parameters, idm_posterior *p,
                            idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  p->unconstrained = idm_new(idm_times(parameters->dimension, all), sizeof *p->unconstrained);
  if (!p->unconstrained) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < parameters->quantity.count; i++)
    p->summarised[i] = parameters->summarised[i];
  idm_status status = idm_posterior_set_sizes(parameters, p, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&parameters->quantity, &p->quantity, opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&parameters->coordinate, &p->coordinate, opt_error);
  return status;
}

/* Completes the answer with its optimality record if status is IDM_OK; otherwise destroys both. */
static idm_status finish(idm_status status, const idm_problem *problem, const idm_theta *theta,
                         idm_posterior *p, idm_optimality *optimality,
                         idm_posterior **ret_posterior, idm_error *opt_error)
{
  if (status == IDM_OK && problem->setting->fully_observed && !optimality->policy)
    status = idm_policy_put(problem, theta, optimality, opt_error);
  if (status == IDM_OK) {
    note_directions(&p->coordinate, optimality);
    p->optimality = optimality;
    *ret_posterior = p;
  } else {
    idm_optimality_destroy(optimality);
    idm_posterior_destroy(p);
  }
  return status;
}

idm_status idm_estimate_create(const idm_inverse *inverse, const idm_problem *problem,
                               const idm_fit_settings *settings, const idm_theta *theta,
                               const char *method, idm_optimality *optimality,
                               idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_parameters *parameters = NULL;
  *ret_posterior = NULL;
  idm_posterior *p = NULL;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK)
    status =
        idm_posterior_allocate(inverse->name, method, 1, 1, parameters->numbers, &p, opt_error);
  if (status == IDM_OK) {
    p->answer = inverse->answer;
    p->seed = settings->seed;
    status = put_names(parameters, p, opt_error);
  }
  if (status == IDM_OK) {
    idm_parameters_get(parameters, theta, p->unconstrained);
    idm_parameters_report(parameters, p->unconstrained, p->value);
  }
  idm_parameters_destroy(parameters);
  return finish(status, problem, theta, p, optimality, ret_posterior, opt_error);
}

idm_status idm_estimate_utility(const idm_inverse *inverse, const idm_problem *problem,
                                const idm_fit_settings *settings,
                                const idm_free_utility *free_utility, const double *x,
                                const char *method, idm_optimality *optimality,
                                idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_theta *theta = NULL;
  *ret_posterior = NULL;
  const idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status != IDM_OK) {
    idm_optimality_destroy(optimality);
    return status;
  }
  idm_free_utility_write(free_utility, x, theta);
  const idm_status made = idm_estimate_create(inverse, problem, settings, theta, method, optimality,
                                              ret_posterior, opt_error);
  idm_theta_destroy(theta);
  return made;
}

idm_status idm_estimate_embed(const idm_optimality *utility_optimality, bool share_open,
                              idm_optimality *optimality, idm_error *opt_error)
{
  const size_t extra_direction = optimality->free > utility_optimality->free && share_open;
  for (size_t i = 0; i < utility_optimality->words.count; i++)
    idm_notes_add(&optimality->words, "%s", utility_optimality->words.text[i]);
  for (size_t i = 0; i < utility_optimality->faults.count; i++)
    idm_notes_add(&optimality->faults, "%s", utility_optimality->faults.text[i]);
  optimality->evaluated = utility_optimality->evaluated;
  if (!optimality->evaluated) return IDM_OK;
  optimality->direction =
      idm_new(idm_times(utility_optimality->open + extra_direction, optimality->free),
              sizeof *optimality->direction);
  if (!optimality->direction) return idm_fail_memory(opt_error);
  optimality->open = utility_optimality->open + extra_direction;
  for (size_t i = 0; i < utility_optimality->open; i++)
    memcpy(optimality->direction + i * optimality->free,
           utility_optimality->direction + i * utility_optimality->free,
           utility_optimality->free * sizeof *optimality->direction);
  if (extra_direction) optimality->direction[optimality->open * optimality->free - 1] = 1;
  return IDM_OK;
}

idm_status idm_estimate_set_share(const idm_problem *problem, const char *what, double probability,
                                  idm_posterior *posterior, idm_error *opt_error)
{
  const double max_logit =
      800; /* its logistic function is 1, and that of its negative 0, in double precision */
  idm_parameters *parameters = NULL;
  const idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status != IDM_OK) return status;
  const size_t last = parameters->dimension - 1;
  posterior->unconstrained[last] =
      fmax(-max_logit, fmin(max_logit, log(probability) - log1p(-probability)));
  idm_parameters_report(parameters, posterior->unconstrained, posterior->value);
  double *value = &posterior->value[parameters->item[parameters->items - 1].quantity];
  const bool held = fabs(*value - probability) <= 1e-9;
  if (held) *value = probability;
  idm_parameters_destroy(parameters);
  if (held) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "%s of %g, which its prior excludes; expected a prior over all of 0 to 1", what,
                  probability);
}

/* Stores draw i of a chain, in both coordinates; number[numbers] is scratch. */
static void put_draw(const idm_parameters *parameters, const idm_chains *chains, size_t chain,
                     size_t i, double *number, idm_posterior *p)
{
  const size_t all = p->chains * p->draws;
  const size_t from = chain * (size_t)chains->settings.draws + i;
  const size_t at = chain * p->draws + i;
  const double *y = chains->draw + from * chains->dimension;
  idm_parameters_report(parameters, y, number);
  for (size_t k = 0; k < parameters->numbers; k++) p->value[k * all + at] = number[k];
  for (size_t k = 0; k < parameters->dimension; k++) p->unconstrained[k * all + at] = y[k];
  p->statistics[at] = chains->statistics[from];
}

idm_status idm_estimate_from_draws(const idm_inverse *inverse, const idm_problem *problem,
                                   const idm_fit_settings *settings,
                                   const idm_parameters *parameters, const idm_chains *chains,
                                   size_t draws, idm_optimality *optimality,
                                   idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_posterior *p = NULL;
  idm_theta *theta = NULL;
  *ret_posterior = NULL;
  double *number = idm_new(parameters->numbers, sizeof *number);
  idm_status status = number ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_posterior_allocate(inverse->name, chains->settings.sampler->name,
                               chains->settings.chains, draws, parameters->numbers, &p, opt_error);
  if (status == IDM_OK) {
    p->seed = settings->seed;
    p->warmup = settings->warmup;
    status = put_names(parameters, p, opt_error);
  }
  for (size_t c = 0; status == IDM_OK && c < p->chains; c++)
    for (size_t i = 0; i < draws; i++) put_draw(parameters, chains, c, i, number, p);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_posterior_central_theta(p, parameters, theta, opt_error);
  status = finish(status, problem, theta, p, optimality, ret_posterior, opt_error);
  idm_theta_destroy(theta);
  free(number);
  return status;
}
