/* Learnt dynamics that the draws of an answer are of. */
#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/posterior.h"

void idm_drawn_destroy(idm_drawn *drawn)
{
  if (!drawn) return;
  free(drawn->set);
  free(drawn->central);
  free(drawn);
}

idm_status idm_drawn_create(size_t sets, size_t numbers, idm_drawn **ret_drawn,
                            idm_error *opt_error)
{
  idm_require(ret_drawn);
  *ret_drawn = NULL;
  idm_drawn *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  d->sets = sets;
  d->numbers = numbers;
  d->set = idm_new(idm_times(sets, numbers), sizeof *d->set);
  d->central = idm_new(numbers, sizeof *d->central);
  if (!d->set || !d->central) {
    idm_drawn_destroy(d);
    return idm_fail_memory(opt_error);
  }
  *ret_drawn = d;
  return IDM_OK;
}

static idm_status put(const double *set, size_t numbers, idm_problem *problem, idm_error *opt_error)
{
  idm_dynamics *d;
  idm_status status = idm_dynamics_create(idm_setting_sizes(problem->setting), &d, opt_error);
  if (status != IDM_OK) return status;
  if (d->numbers != numbers) {
    status = idm_fail(opt_error, IDM_INPUT,
                      "the learnt dynamics of the run have %zu numbers; expected %zu, as the "
                      "problem has",
                      numbers, d->numbers);
  } else {
    memcpy(d->start, set, numbers * sizeof *set);
    status = idm_problem_put_dynamics(problem, d, opt_error);
  }
  idm_dynamics_destroy(d);
  return status;
}

idm_status idm_drawn_put(const idm_posterior *posterior, size_t draw, idm_problem *problem,
                         idm_error *opt_error)
{
  idm_require(posterior, problem);
  const idm_drawn *d = posterior->drawn;
  const size_t all = posterior->chains * posterior->draws;
  if (!d) return IDM_OK;
  if (draw >= all || !d->sets) return idm_fail(opt_error, IDM_USAGE, "there is no such draw");
  return put(d->set + draw * d->sets / all * d->numbers, d->numbers, problem, opt_error);
}

idm_status idm_drawn_put_central(const idm_posterior *posterior, idm_problem *problem,
                                 idm_error *opt_error)
{
  idm_require(posterior, problem);
  const idm_drawn *d = posterior->drawn;
  return d ? put(d->central, d->numbers, problem, opt_error) : IDM_OK;
}

const char *idm_drawn_words(const idm_posterior *opt_posterior, idm_drawn_use use, char *buffer,
                            size_t size)
{
  const idm_drawn *d = opt_posterior ? opt_posterior->drawn : NULL;
  if (!buffer || !size) return "";
  buffer[0] = '\0';
  if (!d) return buffer;
  if (use == IDM_DRAWN_CENTRAL && d->of)
    snprintf(buffer, size,
             "Dynamics: draw %zu of %zu of the learnt ones, under which decisions are likeliest.",
             d->of, d->sets);
  else if (use == IDM_DRAWN_CENTRAL)
    snprintf(buffer, size, "Dynamics: the mean of those drawn together with the decisions.");
  else if (use == IDM_DRAWN_HIGHEST)
    snprintf(buffer, size, "Dynamics: those of the draw of highest density.");
  else if (use == IDM_DRAWN_EACH)
    snprintf(buffer, size, "Dynamics: those learnt, of each draw its own.");
  return buffer;
}
