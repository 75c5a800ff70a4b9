/* Fuzz target: config.yaml and summary.json of a run. Any bytes are rejected with a place in the
 * file, or read; an accepted config is unchanged when written and read again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/key.h"
#include "io/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The readers take paths: two files per process, removed at exit. */
static char config[64];
static char summary[64];

static void remove_files(void)
{
  remove(config);
  remove(summary);
}

static void make_files(void)
{
  snprintf(config, sizeof config, "/tmp/idm-fuzz-run-%ld.yaml", (long)getpid());
  snprintf(summary, sizeof summary, "/tmp/idm-fuzz-run-%ld.json", (long)getpid());
  atexit(remove_files);
}

static void require(bool condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static void put(const char *path, const uint8_t *data, size_t size)
{
  FILE *stream = fopen(path, "wb");
  require(stream && fwrite(data, 1, size, stream) == size && fclose(stream) == 0, "a file");
}

static void read_summary(void)
{
  idm_error error = {0};
  idm_assessment *assessment = calloc(1, sizeof *assessment);
  if (!assessment) abort();
  const idm_posterior none = {0};
  const idm_status status = idm_summary_read(summary, &none, assessment, &error);
  require(status == IDM_OK || status == IDM_INPUT, "a status of its own");
  require(status == IDM_OK || (error.message[0] && error.file[0]), "an error without its file");
  require(!assessment->trusted, "nothing is trusted that was not before");
  idm_assessment_destroy(assessment);
}

static void same_request(const idm_request *a, const idm_request *b)
{
  for (const idm_key *key = idm_request_keys(); key->name; key++)
    require(idm_key_same(key, a, b, 0), key->name);
}

static void round_trip(const idm_problem *problem, const idm_request *request)
{
  idm_error error = {0};
  idm_problem *again = NULL;
  idm_request read;
  char difference[400] = "";
  require(idm_request_write(problem, request, config, &error) == IDM_OK, error.message);
  require(idm_request_read(config, &again, &read, NULL, &error) == IDM_OK, error.message);
  require(idm_problem_compare(problem, again, 0, difference, sizeof difference), difference);
  same_request(request, &read);
  require(idm_request_label(problem, request) == idm_request_label(again, &read), "the label");
  idm_problem_destroy(again);
}

static void read_config(void)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  idm_request request;
  const idm_status status = idm_request_read(config, &problem, &request, NULL, &error);
  if (status != IDM_OK) {
    require(!problem && error.message[0], "a failure has a sentence and no problem");
    require(status == IDM_MEMORY || (error.line > 0 && error.column > 0), error.message);
    return;
  }
  /* Large matrices take long to write and find no further errors. */
  const idm_sizes n = idm_setting_sizes(problem->setting);
  if (n.actions * n.states * (n.states + n.observations) * problem->theta->models < 20000)
    round_trip(problem, &request);
  idm_problem_destroy(problem);
}

/* Both JSON and YAML may begin with a brace; such input is tried as both. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!config[0]) make_files();
  put(summary, data, size);
  read_summary();
  put(config, data, size);
  read_config();
  return 0;
}
