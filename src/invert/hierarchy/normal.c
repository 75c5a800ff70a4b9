/* A person by a normal approximation: see the header. */
#include "invert/hierarchy/normal.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "invert/hierarchy/check.h"

void idm_normal_frame(normal_frame *frame, const double *factor, const double *mean,
                      const double *curvature, const double *pull, double *scratch)
{
  const size_t q = frame->effects;
  double *product = scratch; /* H L */
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j < q; j++) {
      double sum = 0;
      for (size_t k = j; k < q; k++) sum += curvature[i * q + k] * factor[k * q + j];
      product[i * q + j] = sum;
    }
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = i == j;
      for (size_t k = i; k < q; k++) sum += factor[k * q + i] * product[k * q + j];
      frame->t[i * q + j] = frame->t[j * q + i] = sum;
    }
  for (size_t j = 0; j < q; j++) {
    double sum = 0;
    for (size_t k = j; k < q; k++) {
      double slope = pull[k];
      for (size_t l = 0; l < q; l++) slope -= curvature[k * q + l] * mean[l];
      sum += factor[k * q + j] * slope;
    }
    frame->v[j] = sum;
  }
  frame->log_det = 0;
  if (idm_cholesky(q, frame->t)) {
    for (size_t i = 0; i < q; i++) frame->log_det += log(frame->t[i * q + i]);
    idm_lower_solve(q, frame->t, frame->v);
    if (isfinite(frame->log_det)) return;
  }
  /* Beyond the range of numbers: not centred. */
  memset(frame->t, 0, q * q * sizeof *frame->t);
  memset(frame->v, 0, q * sizeof *frame->v);
  for (size_t i = 0; i < q; i++) frame->t[i * q + i] = 1;
  frame->log_det = 0;
}

void idm_normal_open(const normal_frame *frame, const double *u, double *z)
{
  for (size_t i = 0; i < frame->effects; i++) z[i] = frame->v[i] + u[i];
  idm_lower_solve_transposed(frame->effects, frame->t, z);
}

void idm_normal_close(const normal_frame *frame, const double *z, double *u)
{
  const size_t q = frame->effects;
  for (size_t i = 0; i < q; i++) {
    double sum = -frame->v[i];
    for (size_t k = i; k < q; k++) sum += frame->t[k * q + i] * z[k];
    u[i] = sum;
  }
}

void idm_normal_effects(size_t effects, const double *factor, const double *mean, const double *z,
                        double *e)
{
  for (size_t i = 0; i < effects; i++) {
    double sum = mean[i];
    for (size_t k = 0; k <= i; k++) sum += factor[i * effects + k] * z[k];
    e[i] = sum;
  }
}

void idm_normal_inform(size_t q, const double *factor, const double *curvature, const double *pull,
                       double *information, double *right)
{
  double t[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS], v[IDM_MOST_EFFECTS];
  double column[IDM_MOST_EFFECTS], scratch[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  const double nowhere[IDM_MOST_EFFECTS] = {0};
  normal_frame frame = {.effects = q, .t = t, .v = v};
  idm_normal_frame(&frame, factor, nowhere, curvature, pull, scratch); /* v = T^-1 L'h */
  for (size_t j = 0; j < q; j++) {
    for (size_t k = 0; k < q; k++) {
      column[k] = 0;
      for (size_t l = k; l < q; l++) column[k] += factor[l * q + k] * curvature[l * q + j];
    }
    idm_lower_solve(q, t, column);
    memcpy(scratch + j * q, column, q * sizeof *column); /* T^-1 L' H, by columns */
  }
  for (size_t i = 0; i < q; i++) {
    right[i] = pull[i];
    for (size_t k = 0; k < q; k++) right[i] -= scratch[i * q + k] * v[k];
    for (size_t j = 0; j < q; j++) {
      double sum = curvature[i * q + j];
      for (size_t k = 0; k < q; k++) sum -= scratch[i * q + k] * scratch[j * q + k];
      information[i * q + j] = sum;
    }
  }
}
