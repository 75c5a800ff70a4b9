/* An audit as a posterior: what any run holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/audit.h"
#include "invert/posterior.h"

/* Along which something lies, and its draws. */
typedef struct row {
  const char *axis;
  const char *ending; /* of the name of its series, after that of the coordinate */
  size_t count;
  bool contrasts;
} row;

static const char *label_of(const idm_audit *a, const row *r, size_t i, char *buffer, size_t size)
{
  if (!r->contrasts) return a->group[i].name;
  snprintf(buffer, size, "%s - %s", a->contrast[i].group, a->contrast[i].against);
  return buffer;
}

static idm_status add_axis(const idm_audit *a, const row *r, idm_posterior *p, idm_error *opt_error)
{
  size_t room = 1;
  for (size_t i = 0; r->contrasts && i < r->count; i++) {
    const size_t length = strlen(a->contrast[i].group) + strlen(a->contrast[i].against) + 4;
    room = length > room ? length : room;
  }
  idm_labels label = {0};
  char *buffer = idm_new(room, 1);
  idm_status status =
      buffer ? idm_labels_create(&label, r->count, opt_error) : idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++) {
    const char *text = label_of(a, r, i, buffer, room);
    status = idm_labels_set(&label, i, text, strlen(text), opt_error);
  }
  if (status == IDM_OK) status = idm_posterior_add_axis(p, r->axis, &label, opt_error);
  idm_labels_destroy(&label);
  free(buffer);
  return status;
}

static void put(const idm_audit_number *number, idm_posterior *p, size_t quantity)
{
  const size_t all = p->chains * p->draws;
  memcpy(p->value + quantity * all, number->draw, all * sizeof(double));
  p->summarised[quantity] = true;
}

/* Whether agents vary in each group by itself. */
static bool is_spread(const idm_audit *a)
{
  return a->groups && a->group[0].within;
}

static idm_status put_within(const idm_audit *a, size_t j, idm_posterior *p, size_t *at,
                             idm_error *opt_error)
{
  char name[400];
  snprintf(name, sizeof name, "%.300s_within", a->coordinate.name[j]);
  for (size_t i = 0; i < a->groups; i++) put(&a->group[i].within[j], p, *at + i);
  const idm_status status = idm_posterior_add_series(p, name, 0, *at, opt_error);
  *at += a->groups;
  return status;
}

/* Groups, contrasts and population of coordinate j, from quantity *at on. */
static idm_status put_coordinate(const idm_audit *a, const row *rows, size_t j, idm_posterior *p,
                                 size_t *at, idm_error *opt_error)
{
  char name[400];
  idm_status status = IDM_OK;
  for (size_t r = 0; r < 2 && status == IDM_OK; r++) {
    snprintf(name, sizeof name, "%.300s%s", a->coordinate.name[j], rows[r].ending);
    for (size_t i = 0; i < rows[r].count; i++)
      put(r ? &a->contrast[i].number[j] : &a->group[i].number[j], p, *at + i);
    status = idm_posterior_add_series(p, name, r, *at, opt_error);
    *at += rows[r].count;
  }
  const struct {
    const char *ending;
    const idm_audit_number *number;
  } one[] = {{"_mean", a->mean}, {"_sd", a->sd}, {"_within", a->within}};
  for (size_t k = 0; k < 3 && status == IDM_OK; k++) {
    if (!one[k].number) continue;
    snprintf(name, sizeof name, "%.300s%s", a->coordinate.name[j], one[k].ending);
    put(&one[k].number[j], p, *at);
    status = idm_labels_set(&p->quantity, (*at)++, name, strlen(name), opt_error);
  }
  return status == IDM_OK && is_spread(a) ? put_within(a, j, p, at, opt_error) : status;
}

static idm_status fill(const idm_audit *a, size_t quantities, idm_posterior *p,
                       idm_error *opt_error)
{
  const row rows[2] = {{"group", "", a->groups, false},
                       {"contrast", "_contrast", a->contrasts, true}};
  const size_t d = a->coordinate.count;
  p->seed = a->seed;
  p->request = a->request;
  p->resolution = a->resolution;
  p->warmup = a->warmup;
  p->cuts = a->cuts > 1 ? a->cuts : 0;
  size_t at = 0;
  idm_status status = idm_labels_create(&p->quantity, quantities, opt_error);
  for (size_t r = 0; r < 2 && status == IDM_OK; r++) status = add_axis(a, &rows[r], p, opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++)
    status = put_coordinate(a, rows, j, p, &at, opt_error);
  return status;
}

idm_status idm_audit_posterior(const idm_audit *audit, idm_posterior **ret_posterior,
                               idm_error *opt_error)
{
  idm_require(audit, ret_posterior);
  const size_t population = (audit->mean ? 2U : 0U) + (audit->within ? 1U : 0U);
  const size_t groups = audit->groups * (is_spread(audit) ? 2 : 1);
  const size_t quantities = audit->coordinate.count * (groups + audit->contrasts + population);
  idm_posterior *p;
  idm_status status =
      idm_posterior_open("audit", "blocks", audit->chains, audit->draws, quantities, &p, opt_error);
  *ret_posterior = NULL;
  if (status != IDM_OK) return status;
  status = fill(audit, quantities, p, opt_error);
  if (status == IDM_OK)
    *ret_posterior = p;
  else
    idm_posterior_destroy(p);
  return status;
}
