/* Cells that choose: which action or observation a text stands for, by label or by code. */
#ifndef IDM_IO_LOG_CHOICE_H
#define IDM_IO_LOG_CHOICE_H

#include "base/intern.h"
#include "idm/problem.h"

/* Labels, and what else stands for them. Zero-initialise. */
typedef struct idm_cell_code {
  idm_intern labels;
  bool index;
  idm_intern texts;
  int32_t *means; /* [texts] */
} idm_cell_code;

/* The labels of a role, whole and, where they are joined from columns with codes of their own, by
 * column. Zero-initialise. */
typedef struct idm_choice {
  idm_cell_code whole;
  size_t parts; /* 0: cells are joined as they are */
  idm_cell_code *part;
} idm_choice;

idm_status idm_choice_prepare(idm_choice *choice, const idm_labels *labels, const idm_codes *codes,
                              size_t columns, idm_error *opt_error);
void idm_choice_clear(idm_choice *choice);

/* Which label a text stands for, or -1. A label beats a code. A label that no cell can hold (it
 * begins or ends in blanks, or holds one of `forbidden`) goes by its number. */
int32_t idm_cell_code_find(const idm_cell_code *code, const char *text, size_t length,
                           const char *forbidden);
/* Whether a text is a whole number from 0 on; its value, or a number beyond all labels. */
bool idm_cell_is_index(const char *text, size_t length, uint32_t *ret_index);

#endif
