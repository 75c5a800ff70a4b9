#include "cli/cli_support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void printed_open(printed *p)
{
  *p = (printed){0};
  p->out = open_memstream(&p->text, &p->length);
  assert_non_null(p->out);
}

char *printed_close(printed *p)
{
  assert_int_equal(fclose(p->out), 0);
  return p->text;
}

void printed_expect(printed *p, const char *text)
{
  char *found = printed_close(p);
  assert_string_equal(found, text);
  free(found);
}

void captured_open(captured *c, FILE *stream)
{
  fflush(stream);
  *c = (captured){.stream = stream, .kept = dup(fileno(stream)), .file = tmpfile()};
  assert_non_null(c->file);
  assert_true(c->kept >= 0 && dup2(fileno(c->file), fileno(stream)) >= 0);
}

char *captured_close(captured *c)
{
  fflush(c->stream);
  assert_true(dup2(c->kept, fileno(c->stream)) >= 0);
  close(c->kept);
  const long length = lseek(fileno(c->file), 0, SEEK_END);
  assert_true(length >= 0);
  char *text = calloc((size_t)length + 1, 1);
  assert_non_null(text);
  rewind(c->file);
  assert_int_equal(fread(text, 1, (size_t)length, c->file), length);
  fclose(c->file);
  return text;
}

void captured_expect(captured *c, const char *text)
{
  char *found = captured_close(c);
  assert_string_equal(found, text);
  free(found);
}
