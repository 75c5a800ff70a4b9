/* Internal interface of drawing panels: scales, marks, contours, and triangles of a simplex.
 *
 * Contents: scale · canvas · contour · triangles */
#ifndef IDM_REPORT_CANVAS_H
#define IDM_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"
#include "report/figure.h"
#include "report/markup.h"

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
