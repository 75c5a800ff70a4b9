/* Columns that a log does not hold and a problem makes from those it does (`data: derive:`), and
 * rules that leave rows out (`data: rules:`).
 *
 * A derived column is a text a row, like any column of a log. Rules apply in their order, those on
 * rows before those on whole trajectories; what each takes is counted (see intake.h). */
#ifndef IDM_DERIVE_H
#define IDM_DERIVE_H

#include "idm/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_derivation {
  IDM_DERIVE_INTERVALS, /* a number falls into one of several intervals */
  IDM_DERIVE_RECODE,    /* a text stands for another */
  IDM_DERIVE_PRODUCT,   /* the labels of several columns, joined by '/' */
  IDM_DERIVE_NEXT       /* the cell of the trajectory's next row that is kept */
} idm_derivation;

/* One derived column. Zero-initialise. */
typedef struct idm_derived {
  char *name;
  idm_derivation kind;
  idm_labels source; /* the columns it is made from: one, or those of a product */
  size_t cuts;       /* of a cut: points, increasing */
  double *at;        /* [cuts]; NULL while they are known in standard deviations only */
  double *deviation; /* [cuts]: the same from the mean, in standard deviations; or NULL */
  bool closed_left;  /* a number that is a point falls above it; else below */
  idm_labels text;   /* of a recoding: this text ... */
  idm_labels label;  /* ... is this label; of a cut: one an interval, upwards */
  char *missing;     /* the label of a missing cell; NULL: it stays missing */
  char *other;       /* of a recoding: the label of any other text; NULL: an error */
} idm_derived;

typedef enum idm_rule_kind {
  IDM_RULE_REQUIRE,    /* rows: drop those whose column is missing */
  IDM_RULE_KEEP,       /* rows: drop those that do not meet the predicate */
  IDM_RULE_DROP,       /* rows: drop those that meet the predicate */
  IDM_RULE_DUPLICATES, /* of the rows of a trajectory that have the same time: keep one */
  IDM_RULE_TRUNCATE,   /* end the trajectory before a row that skips a step of the column */
  IDM_RULE_ENDS,       /* drop trajectories whose last row's column is none of `in` */
  IDM_RULE_MIN_ROWS    /* drop trajectories with fewer rows */
} idm_rule_kind;

/* One rule. Zero-initialise. */
typedef struct idm_rule {
  idm_rule_kind kind;
  char *column;            /* of require, truncate, ends */
  idm_predicate predicate; /* of keep, drop */
  bool last;               /* of duplicates: keep the last in the file; else the first */
  double every;            /* of truncate: a step */
  idm_labels in;           /* of ends */
  size_t least;            /* of least: rows */
} idm_rule;

/* Names in files: "cut", "require". NULL past the last. */
IDM_API const char *idm_derivation_name(idm_derivation kind);
IDM_API const char *idm_rule_kind_name(idm_rule_kind kind);
/* When a rule applies: rules on one row (0) come before duplicates (1), and those before rules on
 * whole trajectories in the order of time (2). */
IDM_API int idm_rule_stage(idm_rule_kind kind);
/* A rule in words, for tables and messages: "require DX". Returns buffer. */
IDM_API char *idm_rule_text(const idm_rule *rule, char *buffer, size_t size);
IDM_API bool idm_derived_same(const idm_derived *a, const idm_derived *b);
IDM_API bool idm_rule_same(const idm_rule *a, const idm_rule *b);
/* Free what they hold. */
IDM_API void idm_derived_clear(idm_derived *derived);
IDM_API void idm_rule_clear(idm_rule *rule);

#ifdef __cplusplus
}
#endif
#endif
