/* What the tests of Cassandra's format share. */
#include "io/pomdp/pomdp_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

idm_problem *parse_as(const char *text, const char *file, idm_notes *opt_notes)
{
  idm_problem *problem = NULL;
  idm_error error = {0};
  char message[1200];
  if (idm_problem_parse_pomdp(text, strlen(text), file, &problem, opt_notes, &error) != IDM_OK)
    fail_msg("%s", idm_error_text(&error, message, sizeof message));
  if (idm_problem_validate(problem, &error) != IDM_OK) fail_msg("%s", error.message);
  return problem;
}

idm_problem *parse(const char *text)
{
  return parse_as(text, "test.POMDP", NULL);
}

double utility(const idm_problem *problem, size_t action, size_t state)
{
  return problem->theta->block[IDM_UTILITY].value[action * problem->theta->sizes.states + state];
}

double transition(const idm_problem *problem, size_t action, size_t state, size_t next)
{
  const idm_sizes n = problem->theta->sizes;
  return problem->setting->transition[(action * n.states + state) * n.states + next];
}

double emission(const idm_problem *problem, size_t action, size_t next, size_t observation)
{
  const idm_sizes n = problem->theta->sizes;
  return problem->setting->emission[(action * n.states + next) * n.observations + observation];
}

/* A fresh temporary name; the file exists and is empty. */
void temporary_path(char *path, size_t size)
{
  const char *folder = getenv("TMPDIR");
  snprintf(path, size, "%s/idm-pomdp-XXXXXX", folder ? folder : "/tmp");
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
}

/* Write, read back as text and as a problem; the caller frees both. */
idm_problem *write_and_read(const idm_problem *problem, idm_notes *opt_notes, char **ret_text)
{
  char path[512];
  size_t length = 0;
  idm_error error = {0};
  temporary_path(path, sizeof path);
  if (idm_problem_write_pomdp(problem, path, opt_notes, &error) != IDM_OK)
    fail_msg("%s", error.message);
  assert_int_equal(idm_file_read(path, (size_t)1 << 30, ret_text, &length, &error), IDM_OK);
  unlink(path);
  return parse_as(*ret_text, path, NULL);
}

void assert_same(const idm_problem *a, const idm_problem *b)
{
  char difference[256] = "";
  if (!idm_problem_compare(a, b, 0, difference, sizeof difference)) fail_msg("%s", difference);
}

size_t count_notes(const idm_notes *notes, const char *part)
{
  size_t count = 0;
  for (size_t i = 0; i < notes->count; i++)
    if (strstr(notes->text[i], part)) count++;
  return count;
}

void append(growing *t, const char *format, ...)
{
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  const size_t length = (size_t)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  assert_true(length < sizeof line);
  if (t->length + length + 1 > t->capacity) {
    t->capacity = 2 * (t->capacity + length + 1);
    t->bytes = realloc(t->bytes, t->capacity);
    assert_non_null(t->bytes);
  }
  memcpy(t->bytes + t->length, line, length + 1);
  t->length += length;
}

/* A small generator, so that the cases are the same on every machine. */
unsigned draw(uint64_t *seed, unsigned below)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((*seed >> 33) % below);
}
