/* Columns that are derived from those of a log (`data: derive:`), and rules that exclude rows
 * (`data: rules:`).
 *
 * A derived column has one text per row, as any column of a log. Rules on rows apply first, in
 * their order, then those on duplicates, then those on whole trajectories; the rows that each rule
 * excludes are counted (idm_log_counts). */
#ifndef IDM_EXTENSION_DERIVE_H
#define IDM_EXTENSION_DERIVE_H

#include "idm/extension/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_derivation {
  IDM_DERIVE_INTERVALS, /* interval that a number falls into */
  IDM_DERIVE_RECODE,    /* another label for each text */
  IDM_DERIVE_PRODUCT,   /* labels of several columns, joined by '/' */
  IDM_DERIVE_NEXT       /* cell of the next row of the trajectory that is kept */
} idm_derivation;

/* One derived column. Zero-initialise. */
typedef struct idm_derived {
  char *name;
  idm_derivation kind;
  idm_labels source; /* source column, or columns of a product */
  size_t cuts;       /* of intervals: number of cut points */
  double *at; /* [cuts]: cut points, increasing; NULL while they are given in standard deviations
                 only */
  double
      *deviation; /* [cuts]: cut points as distance from the mean in standard deviations; or NULL */
  bool closed_left; /* a number equal to a cut point belongs to the interval above it; else below */
  idm_labels text;  /* of a recoding: text i ... */
  idm_labels
      label;     /* ... becomes label i; of intervals: one label per interval, in ascending order */
  char *missing; /* label of a missing cell; NULL: it stays missing */
  char *other;   /* of a recoding: label of any other text; NULL: an error */
} idm_derived;

typedef enum idm_rule_kind {
  IDM_RULE_REQUIRE,    /* rows: drop those whose column is missing */
  IDM_RULE_KEEP,       /* rows: drop those that do not meet the predicate */
  IDM_RULE_DROP,       /* rows: drop those that meet the predicate */
  IDM_RULE_DUPLICATES, /* of the rows of a trajectory that have the same time: keep one */
  IDM_RULE_TRUNCATE,   /* end a trajectory before the first row that skips a step of the column */
  IDM_RULE_ENDS,       /* drop trajectories whose last row has no text of `in` in the column */
  IDM_RULE_MIN_ROWS    /* drop trajectories with fewer rows */
} idm_rule_kind;

/* One rule. Zero-initialise. */
typedef struct idm_rule {
  idm_rule_kind kind;
  char *column;            /* of require, truncate, ends */
  idm_predicate predicate; /* of keep, drop */
  bool last;               /* of duplicates: keep the last row in the file; else the first */
  double every;            /* of truncate: length of a step */
  idm_labels in;           /* of ends */
  size_t least;            /* of least: number of rows */
} idm_rule;

#ifdef __cplusplus
}
#endif
#endif
