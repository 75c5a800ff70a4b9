/* Comparison of drawings by structure and numbers, not by bytes. */
#ifndef IDM_TESTS_REPORT_DRAWING_SUPPORT_H
#define IDM_TESTS_REPORT_DRAWING_SUPPORT_H

#include <stddef.h>

/* Returns NULL if two drawings are equal: the same nested elements, the same attributes, the same
 * text, and numbers that differ by no more than the tolerances for rounding between machines:
 *   coordinates on the page             .05 pixels
 *   opacities                           .011, since they are written in hundredths
 *   ends of axes (data-x, data-y)       one part in 10,000
 *   numbers in tooltips (title)         two in their fourth digit
 * Space between elements is ignored. Otherwise writes a sentence on the first difference to `room`
 * [size] and returns it. */
const char *drawing_difference(const char *expected, const char *found, char *room, size_t size);
/* Returns the number of occurrences of `word` in `text`, overlaps included. */
size_t drawing_count(const char *text, const char *word);
/* Returns the drawing with one element per line, so that stored drawings can be read and compared;
 * the caller frees it. NULL if memory is exhausted. */
char *drawing_in_lines(const char *drawing);

#endif
