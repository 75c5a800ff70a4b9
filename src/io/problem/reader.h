/* What the parts of the YAML problem reader share; `--set` uses the same parts. */
#ifndef IDM_IO_PROBLEM_READER_H
#define IDM_IO_PROBLEM_READER_H

#include "idm/problem.h"
#include "io/place.h"
#include "io/yaml/names.h"
#include "io/yaml/tree.h"

/* Most factors an observation may have, and most bytes a label or a product of labels may have. */
enum { IDM_YAML_FACTORS = 16, IDM_YAML_LABEL = 1000 };
/* Dense matrices and labels above this many bytes are refused before anything is allocated. */
#define IDM_YAML_DENSE_LIMIT ((size_t)1 << 30)

/* The two kinds of matrices of a problem. */
typedef enum idm_yaml_kind { IDM_YAML_TRANSITION, IDM_YAML_OBSERVATION } idm_yaml_kind;

/* Rows that missed a sum of 1 and were mended: one note a kind, not one a row. */
typedef struct idm_yaml_mended {
  size_t rows;
  double largest;
} idm_yaml_mended;

typedef struct idm_yaml_reader {
  const idm_yaml_tree *tree;
  const idm_yaml_node *root;
  const idm_place *opt_place; /* of the document; NULL: a path */
  idm_problem *problem;       /* being filled */
  idm_notes *opt_notes;
  idm_error *opt_error;
  idm_sizes sizes;
  idm_names states;
  idm_names actions;
  const idm_yaml_node *factors; /* the mapping of factored observations, or NULL */
  bool fully_observed;
  bool moves;                /* transitions are given row by row, by what may follow */
  idm_yaml_mended mended[2]; /* by kind */
} idm_yaml_reader;

#endif
