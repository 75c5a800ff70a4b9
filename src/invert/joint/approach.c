/* The mode of a joint posterior, and the normal approximation there: see the header.
 *
 * Contents: the draws of the dynamics · scores · climbing */
#include "invert/joint/approach.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/moments.h"
#include "learn/ratio.h"

/* Scores of trajectories are added up in at most so many parts, which bounds the memory. Parts are
 * sums of independent scores, so that their outer products estimate the same information. */
enum { most_parts = 4096 };
/* Steps of differences to one side and of central ones, in sds given the other coordinates by the
 * approximation at hand. The latter average over the kinks of an interpolated policy. */
static const double difference_step = 0.4, central_step = 0.4;

/* --- the draws of the dynamics -------------------------------------------------------------- */

/* Log-ratios of draw `at` of the cut. `d` is scratch. */
static idm_status take_ratios(const joint *j, size_t at, idm_dynamics *d, double *y,
                              idm_error *opt_error)
{
  const idm_dynamics_draws *draws = j->cut->draws;
  const idm_status status =
      idm_dynamics_take(j->cut->learnt, draws, at / draws->draws, at % draws->draws, d, opt_error);
  if (status == IDM_OK) ratio_get(j->learner->structure, d->start, y);
  return status;
}

/* Draws of the cut that its covariance is estimated by, evenly spread: y[count][ratios]. */
static idm_status list_ratios(const joint *j, size_t count, double *y, idm_error *opt_error)
{
  const size_t all = j->cut->draws->chains * j->cut->draws->draws;
  idm_dynamics *d = NULL;
  idm_status status =
      idm_dynamics_create(idm_setting_sizes(j->cut->learnt->setting), &d, opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++)
    status = take_ratios(j, (2 * k + 1) * all / (2 * count), d, y + k * j->ratios, opt_error);
  idm_dynamics_destroy(d);
  return status;
}

/* Covariance of the log-ratios, with correlations shrunk as few draws require. */
static void shrink(size_t n, size_t count, double *covariance)
{
  const double keep = (double)count / (double)(count + n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      covariance[i * n + k] =
          i == k ? fmax(covariance[i * n + k], 1e-8) : keep * covariance[i * n + k];
}

idm_status idm_joint_precision(const joint *j, double *precision, idm_error *opt_error)
{
  enum { most_draws = 2000 };
  const size_t n = j->ratios, d = j->dimension;
  const size_t all = j->cut->draws->chains * j->cut->draws->draws;
  const size_t count = all < most_draws ? all : most_draws;
  double *y = idm_new(idm_times(count, n), sizeof *y);
  double *work = idm_new(2 * n * n + n, sizeof *work);
  idm_status status = y && work ? list_ratios(j, count, y, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    double *inverse = work + n * n;
    const idm_points points = {
        .x = y, .count = count, .dimension = n, .next_point = n, .next_number = 1};
    idm_covariance(&points, count > 1, inverse + n * n, work);
    shrink(n, count, work);
    memset(precision, 0, d * d * sizeof *precision);
    if (idm_cholesky(n, work))
      idm_cholesky_inverse(n, work, inverse);
    else
      status = idm_fail(opt_error, IDM_NUMERICAL,
                        "the draws of the dynamics have no covariance; take more of them");
    for (size_t i = 0; i < n; i++)
      memcpy(precision + i * d, inverse + i * n, n * sizeof *precision);
    for (size_t i = n; i < d; i++) precision[i * (d + 1)] = pow(j->numbers->unit[i - n], -2);
  }
  free(y);
  free(work);
  return status;
}

idm_status idm_joint_begin(const joint *j, size_t lane, size_t lanes, double *v,
                           idm_error *opt_error)
{
  const size_t all = j->cut->draws->chains * j->cut->draws->draws;
  idm_dynamics *d = NULL;
  idm_status status =
      idm_dynamics_create(idm_setting_sizes(j->cut->learnt->setting), &d, opt_error);
  if (status == IDM_OK)
    status = take_ratios(j, (2 * lane + 1) * all / (2 * lanes), d, v, opt_error);
  memcpy(v + j->ratios, j->numbers->start, j->numbers->count * sizeof *v);
  idm_dynamics_destroy(d);
  return status;
}

/* --- scores --------------------------------------------------------------------------------- */

/* A climb under way. */
typedef struct climb {
  joint_lane *lane;
  size_t dimension;
  const double *base; /* precision without the decisions */
  size_t parts;
  joint_peak *peak; /* where it is */
  double *near;     /* [dimension] */
  double *v;        /* [dimension]: the vector of the target */
  double *gradient; /* [dimension] */
  double *sd;       /* [dimension]: given the others */
  double *factor;   /* [dimension][dimension]: Cholesky's, of the precision */
  double *side[2];  /* [parts] */
  double *score;    /* [dimension][parts] */
} climb;

/* The target at natural coordinates, as idm_joint_evaluate. */
static idm_status evaluate(climb *c, const double *natural, double *log_density, double *opt_part,
                           idm_error *opt_error)
{
  idm_joint_inverse(idm_joint_of(c->lane), natural, c->v);
  return idm_joint_evaluate(c->lane, c->v, log_density, opt_part, c->parts, opt_error);
}

static idm_status anchor(climb *c, idm_error *opt_error)
{
  idm_joint_inverse(idm_joint_of(c->lane), c->peak->mode, c->v);
  return idm_joint_anchor(c->lane, c->v, opt_error);
}

/* Differences by coordinate i: central ones, or from the mode upwards, where side[0] has the parts
 * of the mode; 0 beside the edge of the support. */
static idm_status differ(climb *c, size_t i, bool central, idm_error *opt_error)
{
  const double h = (central ? central_step : difference_step) * c->sd[i];
  const double width = central ? 2 * h : h;
  double side[2] = {c->peak->log_density, 0};
  bool inside = true;
  memcpy(c->near, c->peak->mode, c->dimension * sizeof *c->near);
  for (int k = !central; k < 2; k++) {
    c->near[i] = c->peak->mode[i] + (k ? h : -h);
    const idm_status status = evaluate(c, c->near, &side[k], c->side[k], opt_error);
    if (status != IDM_OK) return status;
    inside = inside && isfinite(side[k]);
  }
  c->gradient[i] = inside ? (side[1] - side[0]) / width : 0;
  for (size_t k = 0; k < c->parts; k++)
    c->score[i * c->parts + k] = inside ? (c->side[1][k] - c->side[0][k]) / width : 0;
  return IDM_OK;
}

/* Precision and covariance at v, and the gradient. */
static idm_status approximate(climb *c, bool central, idm_error *opt_error)
{
  const size_t d = c->dimension;
  idm_status status = anchor(c, opt_error);
  if (status == IDM_OK)
    status = evaluate(c, c->peak->mode, &c->peak->log_density, c->side[0], opt_error);
  for (size_t i = 0; i < d && status == IDM_OK; i++) status = differ(c, i, central, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k <= i; k++) {
      double sum = 0;
      for (size_t t = 0; t < c->parts; t++)
        sum += c->score[i * c->parts + t] * c->score[k * c->parts + t];
      c->peak->information[i * d + k] = c->peak->information[k * d + i] = sum;
      c->factor[i * d + k] = c->factor[k * d + i] =
          sum + 0.5 * (c->base[i * d + k] + c->base[k * d + i]);
    }
  for (size_t i = 0; i < d; i++) {
    c->peak->slope[i] = 0;
    for (size_t t = 0; t < c->parts; t++) c->peak->slope[i] += c->score[i * c->parts + t];
  }
  for (size_t i = 0; i < d; i++) c->sd[i] = 1 / sqrt(c->factor[i * (d + 1)]);
  if (!idm_cholesky(d, c->factor))
    return idm_fail(opt_error, IDM_NUMERICAL, "the joint posterior has no normal approximation");
  idm_cholesky_inverse(d, c->factor, c->peak->covariance);
  return IDM_OK;
}

/* --- climbing ------------------------------------------------------------------------------- */

/* A Gauss-Newton step, halved until it gains more than `enough`; *gain is 0, and the mode stays,
 * where none does. */
static idm_status advance(climb *c, double enough, double *gain, idm_error *opt_error)
{
  enum { halvings = 8 };
  const size_t d = c->dimension;
  double share = 1;
  *gain = 0;
  idm_lower_solve(d, c->factor, c->gradient);
  idm_lower_solve_transposed(d, c->factor, c->gradient);
  for (int k = 0; k < halvings && *gain == 0; k++, share /= 2) {
    double there;
    for (size_t i = 0; i < d; i++) c->near[i] = c->peak->mode[i] + share * c->gradient[i];
    const idm_status status = evaluate(c, c->near, &there, NULL, opt_error);
    if (status != IDM_OK) return status;
    if (!(there > c->peak->log_density + enough)) continue;
    *gain = there - c->peak->log_density;
    c->peak->log_density = there;
    memcpy(c->peak->mode, c->near, d * sizeof *c->near);
  }
  return IDM_OK;
}

static idm_status climb_on(climb *c, idm_error *opt_error)
{
  enum { most_steps = 20 };
  static const double enough = 0.5; /* nats */
  double gain = INFINITY;
  idm_status status = anchor(c, opt_error);
  if (status == IDM_OK) status = evaluate(c, c->peak->mode, &c->peak->log_density, NULL, opt_error);
  if (status == IDM_OK && !isfinite(c->peak->log_density))
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "a draw of the dynamics gives some decision probability 0");
  /* By differences to one side, until they gain little, then by central ones: the climb ends where
   * those have a step that is not worth taking, so that the approximation is that of the mode. */
  bool central = false;
  for (int k = 0; k < most_steps && status == IDM_OK && gain > 0; k++) {
    central = central || gain <= enough || k + 1 == most_steps;
    status = approximate(c, central, opt_error);
    if (status == IDM_OK && k + 1 < most_steps)
      status = advance(c, central ? enough : 0, &gain, opt_error);
    if (gain == 0 && !central) gain = enough; /* central ones may see a way */
  }
  return status;
}

/* Trajectories that scores are taken of. */
static size_t count_parts(const joint *j)
{
  size_t count = 0;
  for (size_t c = 0; c < j->cells; c++)
    count += (j->cell[c].cut ? j->cell[c].cut : j->cell[c].data)->trajectories;
  return count < most_parts ? count : most_parts;
}

idm_status idm_joint_climb(joint_lane *lane, const double *precision, joint_peak *peak,
                           idm_error *opt_error)
{
  const joint *j = idm_joint_of(lane);
  const size_t d = j->dimension;
  climb c = {
      .lane = lane, .dimension = d, .base = precision, .parts = count_parts(j), .peak = peak};
  double *work = idm_new(idm_times(d, d) + 4 * d + (d + 2) * c.parts, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  c.factor = work;
  c.near = c.factor + d * d;
  c.v = c.near + d;
  c.gradient = c.v + d;
  c.sd = c.gradient + d;
  c.side[0] = c.sd + d;
  c.side[1] = c.side[0] + c.parts;
  c.score = c.side[1] + c.parts;
  for (size_t i = 0; i < d; i++) c.sd[i] = 1 / sqrt(precision[i * (d + 1)]);
  idm_status status = climb_on(&c, opt_error);
  free(work);
  return status;
}
