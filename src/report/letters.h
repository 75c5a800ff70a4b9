/* How wide words are, before anybody has drawn them. */
#ifndef IDM_REPORT_LETTERS_H
#define IDM_REPORT_LETTERS_H

#include <stddef.h>

/* Width of a text in a sans-serif face, in units of its size: near that of the common faces
 * (Helvetica's metrics and a seventh more, since others are wider). */
double idm_letters_width(const char *text);
/* The text itself where it is at most `width` wide, else as much of it as is, and an ellipsis. Into
 * buffer, which is returned; `size` of 64 holds any. */
const char *idm_letters_fit(const char *text, double width, char *buffer, size_t size);
/* The same with both its ends: names of many things often begin alike. */
const char *idm_letters_squeeze(const char *text, double width, char *buffer, size_t size);

#endif
