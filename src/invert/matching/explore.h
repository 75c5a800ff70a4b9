/* A look at the whole of a posterior before, or after, chains walk through it: modes, and points
 * weighted by importance. */
#ifndef IDM_INVERT_MATCHING_EXPLORE_H
#define IDM_INVERT_MATCHING_EXPLORE_H

#include "infer/mixture.h"
#include "invert/matching/fit.h"
#include "invert/matching/start.h"

/* A centre and a spread that points are proposed around. */
typedef struct idm_part {
  double *centre;     /* [dimension] */
  double *spread;     /* [dimension][dimension] */
  double log_density; /* at the centre */
  double drawn;       /* points proposed from it so far */
  bool definite;      /* the spread is that of a mode; else a guess */
} idm_part;

typedef struct idm_exploration {
  const fit *f;          /* borrowed */
  size_t lanes;          /* random streams, each worked through by itself */
  uint64_t first_stream; /* of the fit's key */
  idm_problem usual;     /* the problem, with default priors where one is flat */
  idm_parameters *broad; /* of that: what points are proposed from where nothing is known */
  double log_mass;       /* of its prior */
  double broad_drawn;
  size_t parts;    /* modes first */
  size_t modes;    /* of them */
  idm_part *part;  /* [most_parts] */
  size_t points;   /* so far */
  size_t capacity; /* of the next four */
  double *point;   /* [point][dimension] */
  double *log_density;
  double *log_weight; /* target over everything proposed so far, up to a constant */
  double *weight;     /* the same, of sum 1 */
} idm_exploration;

/* Room for `capacity` points, drawn by `lanes` streams from first_stream on. */
idm_status idm_exploration_create(const fit *f, size_t lanes, uint64_t first_stream,
                                  size_t capacity, idm_exploration **ret_exploration,
                                  idm_error *opt_error);
void idm_exploration_destroy(idm_exploration *exploration);

/* Draw `looks` points a lane from the broad prior, and gather the modes: those of the starts, and
 * others above points that lie beyond a valley. Matchings must be anchored; the first is left
 * anchored at the highest mode. */
idm_status idm_explore_modes(idm_exploration *exploration, start *const *starts, size_t count,
                             size_t looks, idm_error *opt_error);
/* Draw `draws` points a lane from all that is known, then fit a part to all points. */
idm_status idm_explore_round(idm_exploration *exploration, size_t draws, idm_error *opt_error);
/* A part that is known otherwise; left out where its spread is none. */
idm_status idm_explore_add(idm_exploration *exploration, const double *centre, const double *spread,
                           idm_error *opt_error);

/* Effective number of points, (sum w)^2 / sum w^2. */
double idm_exploration_effective(const idm_exploration *exploration);
/* The mode nearest to y, by its spread. */
size_t idm_exploration_nearest(const idm_exploration *exploration, const double *y, double *work);
/* share[modes]: weight of the points nearest to each. */
idm_status idm_exploration_shares(const idm_exploration *exploration, double *share,
                                  idm_error *opt_error);
/* Place a start: chains take turns at the modes that hold some of the posterior, each from a point
 * of its own near its mode, drawn with more spread than the posterior has. */
idm_status idm_explore_start(const idm_exploration *exploration, size_t chain, start *s,
                             idm_error *opt_error);
/* Proposals from all that is known. */
idm_status idm_exploration_mixture(const idm_exploration *exploration, idm_mixture **ret_mixture,
                                   idm_error *opt_error);

#endif
