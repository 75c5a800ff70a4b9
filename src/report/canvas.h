/* A panel's place on the page: what marks are drawn onto. */
#ifndef IDM_REPORT_CANVAS_H
#define IDM_REPORT_CANVAS_H

#include "idm/figure.h"
#include "report/markup.h"
#include "report/scale.h"

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
bool idm_canvas_place(const idm_canvas *canvas, double x, double y, double *ret_x, double *ret_y);
/* Marks, one after the other. */
void idm_canvas_draw_marks(const idm_canvas *canvas);
/* A sample of a mark, for a legend, `width` wide around y. */
void idm_canvas_draw_sample(idm_markup *to, const idm_mark *mark, double x, double y, double width);

#endif
