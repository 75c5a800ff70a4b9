/* What the tests of the command line share: calls from words, and what is printed. */
#ifndef IDM_TESTS_CLI_SUPPORT_H
#define IDM_TESTS_CLI_SUPPORT_H

#include <stdio.h>

#include "support.h"

/* A stream to print to; its text is the caller's to free. */
typedef struct printed {
  FILE *out;
  char *text;
  size_t length;
} printed;
void printed_open(printed *p);
char *printed_close(printed *p);
/* Close it, and fail unless its text is this one. */
void printed_expect(printed *p, const char *text);

/* The same of a stream that the program owns, as standard output is. */
typedef struct captured {
  FILE *stream;
  int kept; /* a copy of its descriptor */
  FILE *file;
} captured;
void captured_open(captured *c, FILE *stream);
char *captured_close(captured *c);
void captured_expect(captured *c, const char *text);

#endif
