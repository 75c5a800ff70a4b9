/* Drawings compared by structure and numbers, not by bytes. */
#ifndef IDM_TESTS_REPORT_DRAWING_SUPPORT_H
#define IDM_TESTS_REPORT_DRAWING_SUPPORT_H

#include <stddef.h>

/* What two drawings differ in, as a sentence in `room`; NULL where they are alike: the same
 * elements one within the other, the same attributes, words to the letter, and numbers that differ
 * by no more than what machines may disagree on:
 *   places on the page                  .05 pixels
 *   opacities                           .011, since they are written in hundredths
 *   ends of axes (data-x, data-y)       one part in 10,000
 *   numbers where the reader points     two in their fourth digit
 * Space between elements does not count. */
const char *drawing_difference(const char *expected, const char *found, char *room, size_t size);
/* How often a text has this word. */
size_t drawing_count(const char *text, const char *word);
/* A drawing with an element a line, for the caller to free: what is kept is read by people. */
char *drawing_in_lines(const char *drawing);

#endif
