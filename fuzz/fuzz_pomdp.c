/* Fuzz target: .POMDP files. Accepted input must be valid, and unchanged when written and read
 * again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/problem_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts of three or more digits cost time and memory without finding errors; unit tests cover
 * them. */
static bool is_small(const char *text, size_t length)
{
  size_t run = 0;
  bool fraction = false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') {
      run = 0;
      fraction = text[i] == '.';
    } else if (++run > 2 && !fraction) {
      return false;
    }
  }
  return true;
}

static void expect(bool holds, const char *what, const char *detail)
{
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, detail);
  abort();
}

static idm_problem *read_back(const char *path)
{
  char *text = NULL;
  size_t length = 0;
  idm_problem *problem = NULL;
  idm_error error = {0};
  expect(idm_file_read(path, (size_t)1 << 28, &text, &length, &error) == IDM_OK, "reading",
         error.message);
  expect(idm_problem_parse_pomdp(text, length, path, &problem, NULL, &error) == IDM_OK,
         "what was written", error.message);
  free(text);
  return problem;
}

static void check_round_trip(const idm_problem *problem)
{
  const char *folder = getenv("TMPDIR");
  char path[256];
  char difference[256] = "";
  idm_error error = {0};
  idm_notes notes = {0};
  snprintf(path, sizeof path, "%s/idm-fuzz-%ld.POMDP", folder ? folder : "/tmp", (long)getpid());
  expect(idm_problem_write_pomdp(problem, path, &notes, &error) == IDM_OK, "writing",
         error.message);
  idm_problem *again = read_back(path);
  /* Names with characters that the format does not allow become numbers, with a note. */
  if (notes.count == 0)
    expect(idm_problem_compare(problem, again, 0, difference, sizeof difference), "round trip",
           difference);
  idm_problem_destroy(again);
  idm_notes_clear(&notes);
  unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;
  if (!is_small(text, size)) return 0;
  idm_problem *problem = NULL;
  idm_notes notes = {0};
  idm_error error = {0};
  if (idm_problem_parse_pomdp(text, size, "fuzz.POMDP", &problem, &notes, &error) == IDM_OK) {
    /* A discount of 1 with hidden states is accepted, but needs a horizon, which cannot be written.
     */
    const bool waits = idm_problem_validate(problem, NULL) != IDM_OK;
    if (waits) problem->setting->horizon = 2;
    expect(idm_problem_validate(problem, &error) == IDM_OK, "validation", error.message);
    if (!waits) check_round_trip(problem);
  } else {
    expect(!problem && error.message[0] && error.line > 0 && error.column > 0, "error",
           error.message);
  }
  idm_problem_destroy(problem);
  idm_notes_clear(&notes);
  return 0;
}
