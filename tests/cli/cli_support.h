/* Support for tests of the command line: streams whose printed text is compared. */
#ifndef IDM_TESTS_CLI_SUPPORT_H
#define IDM_TESTS_CLI_SUPPORT_H

#include <stdio.h>

#include "support.h"

/* A stream in memory; printed_close returns its text, which the caller frees. */
typedef struct printed {
  FILE *out;
  char *text;
  size_t length;
} printed;
void printed_open(printed *p);
char *printed_close(printed *p);
/* Closes the stream; fails unless its text equals `text`. */
void printed_expect(printed *p, const char *text);

/* The same for a stream of the process, such as standard output. */
typedef struct captured {
  FILE *stream;
  int kept; /* a duplicate of its descriptor */
  FILE *file;
} captured;
void captured_open(captured *c, FILE *stream);
char *captured_close(captured *c);
void captured_expect(captured *c, const char *text);

#endif
