/* Internal interface of pages: markup, widths of texts, style and script.
 *
 * Contents: markup · letters · digest · assets · page */
#ifndef IDM_REPORT_MARKUP_H
#define IDM_REPORT_MARKUP_H

#include <stddef.h>

#include "idm/status.h"
#include "report/figure.h"

/* === markup ================================================================================= */

/* Growing text of markup, with texts of the user escaped. */

/* Zero-initialise. If memory is exhausted, the text stays as it is, and idm_markup_take fails. */
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
/* Append a text with its markup characters escaped, for an element or a quoted attribute. */
void idm_markup_text(idm_markup *markup, const char *text);
/* Append a coordinate with at most two decimals. */
void idm_markup_coordinate(idm_markup *markup, double place);
/* Append ` name="place"`. */
void idm_markup_at(idm_markup *markup, const char *name, double place);
/* Return the text, which the caller frees; the markup is then empty. */
idm_status idm_markup_take(idm_markup *markup, char **ret_text, idm_error *opt_error);

/* === letters ================================================================================ */

/* Widths of texts, estimated without drawing them. */

/* Width of a text in a sans-serif font, in units of its size: close to that of common fonts
 * (Helvetica's metrics and 15 % more, since others are wider). */
double idm_text_width(const char *text);
/* The text if it is at most `width` wide; otherwise its beginning and an ellipsis. Written to
 * buffer [size], which is returned; a size of 64 is sufficient. */
const char *idm_text_fit(const char *text, double width, char *buffer, size_t size);
/* The same with both ends of the text: names of similar things often begin alike. */
const char *idm_text_elide(const char *text, double width, char *buffer, size_t size);

/* === digest ================================================================================= */

/* Base64, and the hashes of texts that a content security policy allows. */

/* Append bytes in base64. */
void idm_markup_base64(idm_markup *markup, const void *bytes, size_t length);
/* Append 'sha256-...' of a text, in the notation of content security policies. */
void idm_markup_digest(idm_markup *markup, const char *text);

/* === assets ================================================================================= */

/* Parts of pages that are separate files: style and script. */

/* Text of src/report/assets/NAME; empty if there is none. */
const char *idm_asset(const char *name);

/* === page =================================================================================== */

/* A page: one self-contained HTML file, which loads nothing. */

/* Zero-initialise. Sections are appended to `body`; texts of the user are escaped. */
typedef struct idm_page {
  idm_markup body;
  idm_markup contents; /* links to the sections */
  size_t figures;
} idm_page;

/* Append a heading, which is added to the table of contents. */
void idm_page_section(idm_page *page, const char *id, const char *heading);
void idm_page_paragraph(idm_page *page, const char *opt_class, const char *text);
/* Append sentences as a list; nothing if there are none. */
void idm_page_list(idm_page *page, const idm_notes *notes);
/* Append a table: its head, rows of `columns` cells, and its end. */
void idm_page_table(idm_page *page, size_t columns, const char *const *head);
void idm_page_row(idm_page *page, size_t columns, const char *const *cell);
void idm_page_table_end(idm_page *page);
/* Begin content that is hidden until the reader opens it, with this label; and its end. */
void idm_page_details(idm_page *page, const char *words);
void idm_page_details_end(idm_page *page);
/* Append a figure for wide and narrow screens, with its data. The figure is destroyed. */
idm_status idm_page_figure(idm_page *page, const char *id, idm_figure *figure, const char *caption,
                           idm_error *opt_error);
/* Return the whole page, which the caller frees; the page is then empty. Its content security
 * policy allows its own style and script by their hashes, and nothing else. */
idm_status idm_page_take(idm_page *page, const char *title, char **ret_text, idm_error *opt_error);

#endif
