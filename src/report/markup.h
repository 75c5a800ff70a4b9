/* Pages: markup, widths of words, style and script.
 *
 * Contents: markup · letters · digest · assets · page */
#ifndef IDM_REPORT_MARKUP_H
#define IDM_REPORT_MARKUP_H

#include <stddef.h>

#include "idm/figure.h"
#include "idm/status.h"

/* === markup ================================================================================= */

/* Text that grows: markup with whatever is a user's escaped. */

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
void idm_markup_coordinate(idm_markup *markup, double place);
/* ` name="place"`. */
void idm_markup_at(idm_markup *markup, const char *name, double place);
/* The text for the caller to free. */
idm_status idm_markup_take(idm_markup *markup, char **ret_text, idm_error *opt_error);

/* === letters ================================================================================ */

/* How wide words are, before anybody has drawn them. */

/* Width of a text in a sans-serif face, in units of its size: near that of the common faces
 * (Helvetica's metrics and a seventh more, since others are wider). */
double idm_text_width(const char *text);
/* The text itself where it is at most `width` wide, else as much of it as is, and an ellipsis. Into
 * buffer, which is returned; `size` of 64 holds any. */
const char *idm_text_fit(const char *text, double width, char *buffer, size_t size);
/* The same with both its ends: names of many things often begin alike. */
const char *idm_text_elide(const char *text, double width, char *buffer, size_t size);

/* === digest ================================================================================= */

/* Bytes as letters, and what a page's policy calls the texts that may run in it. */

/* Append bytes in base64. */
void idm_markup_base64(idm_markup *markup, const void *bytes, size_t length);
/* Append 'sha256-...' of a text, as content security policies write it. */
void idm_markup_digest(idm_markup *markup, const char *text);

/* === assets ================================================================================= */

/* Parts of pages that stand as files of their own: style and script. */

/* The text of src/report/assets/NAME; empty where there is none. */
const char *idm_asset(const char *name);

/* === page =================================================================================== */

/* A page: one HTML file that needs nothing else, and lets nothing else in. */

/* Zero-initialise. Sections go into `body` one after the other; whatever is a user's is escaped. */
typedef struct idm_page {
  idm_markup body;
  idm_markup contents; /* links to the sections */
  size_t figures;
} idm_page;

/* A heading that the table of contents names. */
void idm_page_section(idm_page *page, const char *id, const char *heading);
void idm_page_paragraph(idm_page *page, const char *opt_class, const char *text);
/* Sentences as a list; nothing where there are none. */
void idm_page_list(idm_page *page, const idm_notes *notes);
/* A table: its head, rows of as many cells, and its end. */
void idm_page_table(idm_page *page, size_t columns, const char *const *head);
void idm_page_row(idm_page *page, size_t columns, const char *const *cell);
void idm_page_table_end(idm_page *page);
/* What is shown when the reader asks for it, by these words; and its end. */
void idm_page_details(idm_page *page, const char *words);
void idm_page_details_end(idm_page *page);
/* A figure for wide and narrow screens, which is destroyed, with its data. */
idm_status idm_page_figure(idm_page *page, const char *id, idm_figure *figure, const char *caption,
                           idm_error *opt_error);
/* The whole, for the caller to free; the page is empty then. Its content-security policy allows its
 * own style and script by their hashes, and nothing else. */
idm_status idm_page_take(idm_page *page, const char *title, char **ret_text, idm_error *opt_error);

#endif
