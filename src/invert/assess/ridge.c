/* Ridges: directions along which the free numbers can move together and explain the data as well.
 */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/moments.h"
#include "base/number.h"
#include "invert/assess/checks.h"

/* Scalar items of the parameters, with mean and sd of their coordinates over the draws. */
typedef struct cloud {
  size_t count;
  const parameter **item;
  double *draw; /* [count][draws] */
  double *mean;
  double *sd;
  double *correlation; /* [count][count] */
  double *values;      /* eigenvalues, ascending */
  double *vectors;     /* in rows */
} cloud;

static void free_cloud(cloud *c)
{
  free(c->item);
  free(c->draw);
  free(c->mean);
  free(c->sd);
  free(c->correlation);
  free(c->values);
  free(c->vectors);
}

static idm_status make_cloud(const inquiry *q, cloud *c, idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  const size_t n = p->items;
  *c = (cloud){0};
  c->item = idm_new(n, sizeof *c->item);
  c->draw = idm_new(idm_times(n, q->posterior->chains * q->posterior->draws), sizeof *c->draw);
  c->mean = idm_new(n, sizeof *c->mean);
  c->sd = idm_new(n, sizeof *c->sd);
  c->correlation = idm_new(n * n, sizeof *c->correlation);
  c->values = idm_new(n, sizeof *c->values);
  c->vectors = idm_new(n * n, sizeof *c->vectors);
  if (!c->item || !c->draw || !c->mean || !c->sd || !c->correlation || !c->values || !c->vectors)
    return idm_fail_memory(opt_error);
  for (size_t i = 0; i < n; i++)
    if (idm_parameter_is_scalar(&p->item[i])) c->item[c->count++] = &p->item[i];
  return IDM_OK;
}

static void correlate(const inquiry *q, cloud *c)
{
  const size_t draws = q->posterior->chains * q->posterior->draws;
  const size_t n = c->count;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < draws; k++)
      c->draw[i * draws + k] = idm_inquiry_coordinate(q, c->item[i], k);
  idm_covariance(&(idm_points){c->draw, draws, n, 1, draws, NULL}, 0, c->mean, c->correlation);
  for (size_t i = 0; i < n; i++) c->sd[i] = sqrt(c->correlation[i * n + i]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      const double scale = c->sd[i] * c->sd[j];
      const double r = i == j ? 1 : scale > 0 ? c->correlation[i * n + j] / scale : 0;
      c->correlation[i * n + j] = r;
      c->correlation[j * n + i] = r;
    }
}

/* How a coordinate is spoken of. */
static void coordinate_name(const inquiry *q, const parameter *item, char *name, size_t size)
{
  idm_print(name, size, "%s%.80s", idm_scale_spoken(item->scale),
            q->posterior->quantity.name[item->quantity]);
}

/* "log alpha, 1/beta and eta are not separately identified: ..." */
static idm_status describe(const inquiry *q, const cloud *c, idm_error *opt_error)
{
  enum { size = 1600, shown = 8 };
  const size_t n = c->count;
  const double *along = c->vectors + (n - 1) * n;
  const double length = sqrt(c->values[n - 1]);
  char *text = idm_new(size, 1);
  if (!text) return idm_fail_memory(opt_error);
  char names[600] = "";
  char moves[600] = "";
  size_t members = 0;
  size_t first = n;
  for (size_t i = 0; i < n && members < shown; i++) {
    char name[120];
    if (fabs(along[i]) * length < 0.5) continue; /* less than half an sd of its own */
    if (first == n) first = i;
    const double sign = along[first] < 0 ? -1 : 1;
    coordinate_name(q, c->item[i], name, sizeof name);
    idm_print(names + strlen(names), sizeof names - strlen(names), "%s%s", members ? ", " : "",
              name);
    idm_print(moves + strlen(moves), sizeof moves - strlen(moves), "%s%s by %+.3g",
              members ? ", " : "", name, sign * along[i] * length * c->sd[i]);
    members++;
  }
  idm_print(text, size,
            "%s are not separately identified: the data bound combinations of them, not each. The "
            "ridge: move %s together and the data are explained almost as well (one posterior sd; "
            "least eigenvalue of the correlations %.3f). Hold one of them, or report what they "
            "imply together",
            names, moves, c->values[0]);
  q->assessment->ridge_sentence = text;
  return IDM_OK;
}

idm_status idm_check_ridge(const inquiry *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  cloud c;
  idm_status status = make_cloud(q, &c, opt_error);
  if (status == IDM_OK && c.count > 1 && q->posterior->draws > 1) {
    correlate(q, &c);
    idm_symmetric_eigen(c.count, c.correlation, c.values, c.vectors);
    a->ridge = c.values[0];
    if (idm_check_beyond(&a->checks, IDM_CHECK_RIDGE, a->ridge))
      status = describe(q, &c, opt_error);
  }
  free_cloud(&c);
  if (a->ridge_sentence) idm_notes_add(&a->remarks, "%s", a->ridge_sentence);
  return status;
}
