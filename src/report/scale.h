/* Scales: from the numbers of an axis to places on the page, and where its ticks are. */
#ifndef IDM_REPORT_SCALE_H
#define IDM_REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

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
void idm_scale_thin(idm_scale_of_axis *scale, double length, double room);
double idm_scale_place(const idm_scale_of_axis *scale, double number);

#endif
