/* Text that grows: markup with whatever is a user's escaped. */
#ifndef IDM_REPORT_MARKUP_H
#define IDM_REPORT_MARKUP_H

#include "idm/status.h"

/* Zero-initialise. Where memory runs out it stays as it is, and who takes it is told. */
typedef struct idm_markup {
  char *text;
  size_t length;
  size_t capacity;
  bool failed;
} idm_markup;

/* Append, as printf does, with a decimal point in any locale. */
void idm_markup_add(idm_markup *markup, const char *format, ...) IDM_PRINTF(2, 3);
/* Append `length` bytes as they are. */
void idm_markup_raw(idm_markup *markup, const char *bytes, size_t length);
/* Append a text that is to be read, not parsed: in an element or between quotes. */
void idm_markup_text(idm_markup *markup, const char *text);
/* Append a place on the page: two decimals at most. */
void idm_markup_place(idm_markup *markup, double place);
/* ` name="place"`. */
void idm_markup_at(idm_markup *markup, const char *name, double place);
/* The text for the caller to free. */
idm_status idm_markup_take(idm_markup *markup, char **ret_text, idm_error *opt_error);

#endif
