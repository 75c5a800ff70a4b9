/* A page: one HTML file that needs nothing else, and lets nothing else in. */
#ifndef IDM_REPORT_PAGE_H
#define IDM_REPORT_PAGE_H

#include "idm/figure.h"
#include "report/markup.h"

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
void idm_page_fold(idm_page *page, const char *words);
void idm_page_fold_end(idm_page *page);
/* A figure for wide and narrow screens, which is destroyed, with its data. */
idm_status idm_page_figure(idm_page *page, const char *id, idm_figure *figure, const char *caption,
                           idm_error *opt_error);
/* The whole, for the caller to free; the page is empty then. Its content-security policy allows its
 * own style and script by their hashes, and nothing else. */
idm_status idm_page_take(idm_page *page, const char *title, char **ret_text, idm_error *opt_error);

#endif
