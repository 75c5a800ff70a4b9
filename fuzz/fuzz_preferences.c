/* Fuzz target: tables of preferences. Any bytes are rejected with a place in the file and without
 * changes, or read as valid preferences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/log.h"
#include "idm/extension/data.h"
#include "io/log_file.h"
#include "io/problem_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool truth, const char *what)
{
  if (truth) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static const char log_text[] =
    "trajectory,action,observation\n1,u,x\na b,u,x\n\"q\"\"\",u,x\n\xc3\xa9,u,x\n";
static const char problem_text[] =
    "states: [s]\nactions: [u]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
    "observation: uniform\nutility: {u: 0}\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  idm_problem *problem;
  idm_data *data;
  idm_error error = {0};
  idm_notes notes = {0};
  expect(idm_problem_parse_yaml(problem_text, sizeof problem_text - 1, "fuzz", &problem, NULL,
                                &error) == IDM_OK,
         error.message);
  expect(idm_data_parse_csv(log_text, sizeof log_text - 1, "log.csv", problem, NULL, &data, NULL,
                            &error) == IDM_OK,
         error.message);
  const idm_status status =
      idm_preferences_parse_csv((const char *)bytes, size, "fuzz.csv", data, &notes, &error);
  if (status == IDM_OK) {
    expect(data->preferences && data->preferences->count > 0, "no preferences, and no error");
    expect(idm_data_validate(data, problem->setting, &error) == IDM_OK, error.message);
    expect(notes.count < 2, "more than a note on circles");
  } else {
    expect(!data->preferences, "preferences beside an error");
    expect(status == IDM_INPUT && error.line > 0 && error.column > 0, "an error without a place");
  }
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return 0;
}
