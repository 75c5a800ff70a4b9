/* Panels of a figure: scales, marks and contours.
 *
 * Contents: scale · canvas · contour · triangles */
#ifndef IDM_REPORT_CANVAS_H
#define IDM_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/figure.h"
#include "idm/status.h"
#include "report/markup.h"

/* === scale ================================================================================== */

/* Scales: from the numbers of an axis to places on the page, and where its ticks are. */

enum { IDM_TICKS = 16, IDM_TICK_TEXT = 32 };

typedef struct idm_scale_of_axis {
  bool logarithmic;
  double low; /* numbers */
  double high;
  double from; /* places: of low, and of high, which may be the smaller */
  double to;
  size_t ticks;
  double tick[IDM_TICKS];
  char text[IDM_TICKS][IDM_TICK_TEXT];
} idm_scale_of_axis;

/* Ends that hold numbers from low to high: apart where they are the same, inside what a logarithm
 * takes; with `pad`, a little wider. */
void idm_scale_ends(bool logarithmic, double pad, double *low, double *high);
/* Ticks at numbers that are easily said, about so many: 1, 2 or 5 times a power of ten. */
void idm_scale_tick(idm_scale_of_axis *scale, double about, bool whole);
/* Leave out ticks until none stand closer than `room`, where the axis is so long. */
void idm_scale_thin_ticks(idm_scale_of_axis *scale, double length, double room);
double idm_scale_position(const idm_scale_of_axis *scale, double number);

/* === canvas ================================================================================= */

/* A panel's place on the page: what marks are drawn onto. */

typedef struct idm_canvas {
  idm_markup *to;
  const idm_panel *panel;
  double left; /* the frame */
  double top;
  double width;
  double height;
  idm_scale_of_axis x; /* of no use in a simplex */
  idm_scale_of_axis y;
} idm_canvas;

/* Whether the panel is a simplex. */
bool idm_canvas_is_simplex(const idm_canvas *canvas);
/* The place of x and y. False where there is none: a number that is not finite, or that a logarithm
 * does not take. */
bool idm_canvas_position(const idm_canvas *canvas, double x, double y, double *ret_x,
                         double *ret_y);
/* Marks, one after the other. */
void idm_canvas_draw_marks(const idm_canvas *canvas);
/* A sample of a mark, for a legend, `width` wide around y. */
void idm_canvas_draw_sample(idm_markup *to, const idm_mark *mark, double x, double y, double width);

/* === contour ================================================================================ */

/* Where a function over a grid has a height: lines, by marching squares. */

/* A function over a grid. */
typedef struct idm_heights {
  size_t across;
  size_t up;
  const double *x; /* [across] */
  const double *y; /* [up] */
  const double *z; /* [up][across] */
} idm_heights;

/* Lines one after another with a pair of NaN behind each; a closed one ends where it begins. */
typedef struct idm_contour {
  size_t count;
  double *x; /* [count] */
  double *y;
} idm_contour;

/* Between grid points the function is taken to be straight along the grid's lines. */
idm_status idm_contour_find(const idm_heights *heights, double level, idm_contour *ret_contour,
                            idm_error *opt_error);
void idm_contour_clear(idm_contour *contour);

/* === triangles ============================================================================== */

/* A simplex of three states cut into small triangles, `side` to an edge. */

/* Beliefs at its corners. The first is where a cell of a figure is said to be; the second lies
 * towards, or where it points down away from, the second state, the third the third. */
typedef struct idm_triangle {
  double corner[3][3];
} idm_triangle;

/* How many there are. */
size_t idm_triangles_count(size_t side);
/* All of them, [count]. */
void idm_triangles_make(size_t side, idm_triangle *ret_triangles);
/* Put one into a mark of cells, as item i. */
void idm_triangle_set(const idm_triangle *triangle, idm_mark *cells, size_t i, double value);
/* Share out a mass at belief z between the triangles that it lies in: one, or those that meet
 * there.
 */
void idm_triangles_add_mass(size_t side, const double *z, double mass, double *sum);

#endif
