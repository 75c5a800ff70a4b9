/* Fuzz target: problems in YAML. Accepted input must be valid, and unchanged when written and read
 * again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/problem_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The writer takes a path: one file per process, removed at exit. */
static char path[64];

static void remove_file(void)
{
  remove(path);
}

static void make_file(void)
{
  snprintf(path, sizeof path, "/tmp/idm-fuzz-yaml-%ld", (long)getpid());
  atexit(remove_file);
}

static void require(bool condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static void check_round_trip(const idm_problem *problem)
{
  idm_error error = {0};
  idm_problem *again = NULL;
  char difference[400] = "";
  require(idm_problem_write_yaml(problem, path, NULL, &error) == IDM_OK, error.message);
  require(idm_problem_read(path, &again, NULL, &error) == IDM_OK, error.message);
  require(idm_problem_compare(problem, again, 0, difference, sizeof difference), difference);
  idm_problem_destroy(again);
}

/* The text after a NUL is an override, so that one input tests both readers. */
static void check_override(idm_problem *problem, const uint8_t *data, size_t size)
{
  char *assignment = malloc(size + 1);
  if (!assignment) return;
  memcpy(assignment, data, size);
  assignment[size] = '\0';
  idm_error error = {0};
  const idm_status status = idm_problem_set(problem, assignment, &error);
  require(status == IDM_OK || status == IDM_USAGE || status == IDM_MEMORY, "status of --set");
  require((status == IDM_OK) == !error.message[0], "a failure has a sentence");
  free(assignment);
}

/* Whether the text contains counts in the millions: so many labels take long and find no further
 * errors. */
static bool is_huge(const uint8_t *data, size_t size)
{
  size_t run = 0;
  for (size_t i = 0; i < size; i++) {
    run = data[i] >= '0' && data[i] <= '9' ? run + 1 : 0;
    if (run > 5) return true;
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (is_huge(data, size)) return 0;
  if (!path[0]) make_file();
  const uint8_t *nul = memchr(data, 0, size);
  const size_t length = nul ? (size_t)(nul - data) : size;
  idm_error error = {0};
  idm_notes notes = {0};
  idm_problem *problem = NULL;
  const idm_status status =
      idm_problem_parse_yaml((const char *)data, length, "fuzz.yaml", &problem, &notes, &error);
  idm_notes_clear(&notes);
  if (status != IDM_OK) {
    require(!problem && error.message[0], "a failure has a sentence and no problem");
    require(status == IDM_MEMORY || (error.line > 0 && error.column > 0), error.message);
    return 0;
  }
  /* Large matrices take long to write and find no further errors. */
  const idm_sizes n = idm_setting_sizes(problem->setting);
  const size_t entries = n.actions * n.states * (n.states + n.observations);
  if (entries * problem->theta->models < 20000) {
    check_round_trip(problem);
    if (nul) check_override(problem, nul + 1, size - length - 1);
    if (idm_problem_validate(problem, NULL) == IDM_OK) check_round_trip(problem);
  }
  idm_problem_destroy(problem);
  return 0;
}
