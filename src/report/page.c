/* A page: see the header. */
#include "report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/run/folder.h"
#include "report/assets.h"
#include "report/digest.h"

/* --- parts ---------------------------------------------------------------------------------- */

void idm_page_section(idm_page *page, const char *id, const char *heading)
{
  idm_markup_add(&page->contents, "<a href=\"#%s\">", id);
  idm_markup_text(&page->contents, heading);
  idm_markup_add(&page->contents, "</a> ");
  idm_markup_add(&page->body, "<h2 id=\"%s\">", id);
  idm_markup_text(&page->body, heading);
  idm_markup_add(&page->body, "</h2>\n");
}

void idm_page_paragraph(idm_page *page, const char *opt_class, const char *text)
{
  if (opt_class)
    idm_markup_add(&page->body, "<p class=\"%s\">", opt_class);
  else
    idm_markup_add(&page->body, "<p>");
  idm_markup_text(&page->body, text);
  idm_markup_add(&page->body, "</p>\n");
}

void idm_page_list(idm_page *page, const idm_notes *notes)
{
  if (!notes->count) return;
  idm_markup_add(&page->body, "<ul>\n");
  for (size_t i = 0; i < notes->count; i++) {
    idm_markup_add(&page->body, "<li>");
    idm_markup_text(&page->body, notes->text[i]);
    idm_markup_add(&page->body, "</li>\n");
  }
  idm_markup_add(&page->body, "</ul>\n");
}

static void add_cells(idm_page *page, size_t columns, const char *const *cell, const char *tag)
{
  idm_markup_add(&page->body, "<tr>");
  for (size_t i = 0; i < columns; i++) {
    idm_markup_add(&page->body, "<%s>", tag);
    idm_markup_text(&page->body, cell[i]);
    idm_markup_add(&page->body, "</%s>", tag);
  }
  idm_markup_add(&page->body, "</tr>\n");
}

void idm_page_table(idm_page *page, size_t columns, const char *const *head)
{
  /* What is wider than the screen is scrolled by itself, by the keyboard too. */
  idm_markup_add(&page->body, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                              "aria-label=\"table\"><table>\n<thead>");
  add_cells(page, columns, head, "th");
  idm_markup_add(&page->body, "</thead>\n<tbody>\n");
}

void idm_page_row(idm_page *page, size_t columns, const char *const *cell)
{
  add_cells(page, columns, cell, "td");
}

void idm_page_table_end(idm_page *page)
{
  idm_markup_add(&page->body, "</tbody>\n</table></div>\n");
}

void idm_page_fold(idm_page *page, const char *words)
{
  idm_markup_add(&page->body, "<details><summary>");
  idm_markup_text(&page->body, words);
  idm_markup_add(&page->body, "</summary>\n");
}

void idm_page_fold_end(idm_page *page)
{
  idm_markup_add(&page->body, "</details>\n");
}

/* --- figures -------------------------------------------------------------------------------- */

/* A JSON string in which nothing ends the element that it stands in. */
static void add_json(idm_markup *m, const char *text)
{
  idm_markup_raw(m, "\"", 1);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c < 0x20 || *c == '<' || *c == '"' || *c == '\\')
      idm_markup_add(m, "\\u%04x", *c);
    else
      idm_markup_raw(m, (const char *)c, 1);
  }
  idm_markup_raw(m, "\"", 1);
}

/* The drawing for one width; its class is what shows and hides it. */
static idm_status add_drawing(idm_page *page, const idm_figure *figure, const char *id, bool wide,
                              idm_error *opt_error)
{
  char name[80];
  char *text;
  const char *class = wide ? "wide" : "narrow";
  snprintf(name, sizeof name, "%s-%s", id, class);
  const idm_figure_look look = {.width = wide ? IDM_FIGURE_WIDE : IDM_FIGURE_NARROW,
                                .id = name,
                                .opt_class = class,
                                .bare = true};
  const idm_status status = idm_figure_svg(figure, &look, &text, opt_error);
  if (status != IDM_OK) return status;
  idm_markup_raw(&page->body, text, strlen(text));
  free(text);
  return IDM_OK;
}

idm_status idm_page_figure(idm_page *page, const char *id, idm_figure *figure, const char *caption,
                           idm_error *opt_error)
{
  char *csv = NULL;
  idm_status status = idm_figure_csv(figure, &csv, opt_error);
  idm_markup_add(&page->body, "<figure id=\"%s\">\n", id);
  if (status == IDM_OK) status = add_drawing(page, figure, id, true, opt_error);
  if (status == IDM_OK) status = add_drawing(page, figure, id, false, opt_error);
  if (status == IDM_OK) {
    idm_markup_add(&page->body, "<figcaption>");
    idm_markup_text(&page->body, caption);
    idm_markup_add(&page->body, "</figcaption>\n<script type=\"application/json\">");
    add_json(&page->body, csv);
    idm_markup_add(&page->body, "</script>\n</figure>\n");
    page->figures++;
  }
  free(csv);
  idm_figure_destroy(figure);
  return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

static void add_head(idm_markup *m, const char *title, const char *figures)
{
  idm_markup_add(m,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta " IDM_REPORT_MARK "%s\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "base-uri 'none'; form-action 'none'; style-src ",
                 idm_version());
  idm_markup_digest(m, idm_asset("page.css"));
  idm_markup_raw(m, " ", 1);
  idm_markup_digest(m, figures);
  idm_markup_add(m, "; script-src ");
  idm_markup_digest(m, idm_asset("page.js"));
  idm_markup_add(m, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
                    "initial-scale=1\">\n<title>");
  idm_markup_text(m, title);
  idm_markup_add(m, "</title>\n<style>%s</style>\n", idm_asset("page.css"));
  idm_markup_add(m, "<style id=\"figures\">%s</style>\n</head>\n<body>\n<main>\n<h1>", figures);
  idm_markup_text(m, title);
  idm_markup_add(m, "</h1>\n");
}

idm_status idm_page_take(idm_page *page, const char *title, char **ret_text, idm_error *opt_error)
{
  idm_markup m = {0};
  char *figures;
  *ret_text = NULL;
  idm_status status = idm_figure_style(IDM_THEME_AUTO, &figures, opt_error);
  if (status == IDM_OK) {
    add_head(&m, title, figures);
    if (page->contents.length)
      idm_markup_add(&m, "<nav aria-label=\"sections\">%s</nav>\n", page->contents.text);
    if (page->body.length) idm_markup_raw(&m, page->body.text, page->body.length);
    idm_markup_add(&m, "</main>\n<script>%s</script>\n</body>\n</html>\n", idm_asset("page.js"));
    m.failed = m.failed || page->body.failed || page->contents.failed;
    status = idm_markup_take(&m, ret_text, opt_error);
  }
  free(figures);
  free(page->body.text);
  free(page->contents.text);
  *page = (idm_page){0};
  return status;
}
