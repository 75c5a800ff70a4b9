/* Internal interface of pages and drawings: markup, widths of texts, style and script; scales,
 * marks, contours, and triangles of a simplex.
 *
 * Contents: markup · letters · digest · assets · page · scale · canvas · contour · triangles */
#ifndef IDM_REPORT_MARKUP_H
#define IDM_REPORT_MARKUP_H

#include <stdbool.h>
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

/* === scale ================================================================================== */

/* Scales: from the numbers of an axis to coordinates on the page, and the positions of ticks. */

enum { IDM_TICKS = 16, IDM_TICK_TEXT = 32 };

typedef struct idm_scale_of_axis {
  bool logarithmic;
  double low; /* numbers */
  double high;
  double from; /* coordinates of low and of high, which may be the smaller */
  double to;
  size_t ticks;
  double tick[IDM_TICKS];
  char text[IDM_TICKS][IDM_TICK_TEXT];
} idm_scale_of_axis;

/* Set the ends of an axis for numbers from low to high: distinct if the numbers are equal, and
 * positive on a logarithmic axis. With `pad`, the axis is longer by that fraction at each end. */
void idm_scale_ends(bool logarithmic, double pad, double *low, double *high);
/* Set about `about` ticks at round numbers: 1, 2 or 5 times a power of ten; at integers only if
 * `whole`. */
void idm_scale_tick(idm_scale_of_axis *scale, double about, bool whole);
/* Remove ticks until none are closer than `room` on an axis of that length. */
void idm_scale_thin_ticks(idm_scale_of_axis *scale, double length, double room);
double idm_scale_position(const idm_scale_of_axis *scale, double number);

/* === canvas ================================================================================= */

/* Panel on the page, on which marks are drawn. */

typedef struct idm_canvas {
  idm_markup *to;
  const idm_panel *panel;
  double left; /* the frame */
  double top;
  double width;
  double height;
  idm_scale_of_axis x; /* not used in a simplex */
  idm_scale_of_axis y;
} idm_canvas;

/* Returns true if the panel is a simplex. */
bool idm_canvas_is_simplex(const idm_canvas *canvas);
/* Coordinates of x and y. Returns false if there are none: a number that is not finite, or not
 * positive on a logarithmic axis. */
bool idm_canvas_position(const idm_canvas *canvas, double x, double y, double *ret_x,
                         double *ret_y);
/* Draw the marks in order. */
void idm_canvas_draw_marks(const idm_canvas *canvas);
/* Draw a sample of a mark for a legend, `width` wide and centred at the height y. */
void idm_canvas_draw_sample(idm_markup *to, const idm_mark *mark, double x, double y, double width);

/* === contour ================================================================================ */

/* Contour lines of a function on a grid, by marching squares. */

/* A function on a grid. */
typedef struct idm_heights {
  size_t across;
  size_t up;
  const double *x; /* [across] */
  const double *y; /* [up] */
  const double *z; /* [up][across] */
} idm_heights;

/* Lines, with a pair of NaN after each; a closed line ends where it begins. */
typedef struct idm_contour {
  size_t count;
  double *x; /* [count] */
  double *y;
} idm_contour;

/* Between grid points the function is interpolated linearly along the lines of the grid. */
idm_status idm_contour_find(const idm_heights *heights, double level, idm_contour *ret_contour,
                            idm_error *opt_error);
void idm_contour_clear(idm_contour *contour);

/* === triangles ============================================================================== */

/* Partition of a simplex of three states into small triangles, `side` per edge. */

/* Beliefs at the corners. The first is the position of a cell of a figure. In a triangle that
 * points up, the second is towards the second state from there and the third towards the third; in
 * one that points down, away from them. */
typedef struct idm_triangle {
  double corner[3][3];
} idm_triangle;

/* Number of triangles. */
size_t idm_triangles_count(size_t side);
/* All triangles, [count]. */
void idm_triangles_make(size_t side, idm_triangle *ret_triangles);
/* Write a triangle to item i of a mark of cells. */
void idm_triangle_set(const idm_triangle *triangle, idm_mark *cells, size_t i, double value);
/* Add a mass at belief z to sum [count], in equal parts for the triangles that contain z: one, or
 * those that meet there. */
void idm_triangles_add_mass(size_t side, const double *z, double mass, double *sum);

#endif
