/* Names that are difficult for file formats: any name of a part of a problem or log is restored
 * from every file that is written, or is rejected on input.
 *
 * Names are random sequences of pieces that have a meaning in some format. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/folder_support.h"
#include "support.h"

enum { parts = 3, longest = 64 };

static const char *const pieces[] = {",",
                                     "[",
                                     "]",
                                     "\"",
                                     "'",
                                     "/",
                                     "\\",
                                     "|",
                                     ":",
                                     ";",
                                     ".",
                                     "#",
                                     "%",
                                     "=",
                                     "{",
                                     "}",
                                     "*",
                                     "&",
                                     "!",
                                     "@",
                                     "`",
                                     "~",
                                     "-",
                                     "+",
                                     "0",
                                     "1",
                                     " ",
                                     "a",
                                     "b",
                                     "Z",
                                     "_",
                                     "\n",
                                     "\t",
                                     "\r",
                                     "\x7f",
                                     "\x1b",
                                     "null",
                                     "true",
                                     "1e5",
                                     "inf",
                                     "nan",
                                     "identity",
                                     "# x",
                                     "- ",
                                     ": ",
                                     "\"\"",
                                     "\xc3\xa9",
                                     "\xe2\x80\xa8",
                                     "\xf0\x9f\x98\x80",
                                     "e\xcc\x81",
                                     "\xff",
                                     "\xc2\x85",
                                     "%2F",
                                     "[1]",
                                     "a,b"};

static void make_name(idm_random *random, char name[longest])
{
  const size_t count = 1 + (size_t)(4 * idm_random_uniform(random));
  name[0] = '\0';
  for (size_t i = 0; i < count; i++)
    strcat(name, pieces[(size_t)(sizeof pieces / sizeof *pieces * idm_random_uniform(random))]);
}

/* Whether the documentation allows a name. */
static bool is_good(const char *name, bool action)
{
  const size_t length = strlen(name);
  return idm_utf8_is_printable(name, length) && name[0] != ' ' && name[length - 1] != ' ' &&
         !(action && (strchr(name, '|') || strcmp(name, "*") == 0));
}

/* --- a problem ------------------------------------------------------------------------------ */

typedef struct hostile {
  char state[parts][longest];
  char action[parts][longest];
  char observation[parts][longest];
  bool good;
} hostile;

static void fill(idm_random *random, char name[parts][longest], bool action, hostile *h)
{
  for (size_t i = 0; i < parts; i++) {
    make_name(random, name[i]);
    if (idm_random_uniform(random) < 0.8)
      while (!is_good(name[i], action)) make_name(random, name[i]);
    h->good = h->good && is_good(name[i], action);
    for (size_t k = 0; k < i; k++) h->good = h->good && strcmp(name[i], name[k]) != 0;
  }
}

static void put_quoted(FILE *out, const char *name)
{
  fputc('"', out);
  for (const char *c = name; *c; c++) {
    const unsigned char byte = (unsigned char)*c;
    /* These are line ends in YAML, and would be folded in quotes. */
    const bool separator = strncmp(c, "\xe2\x80\xa8", 3) == 0,
               next = strncmp(c, "\xc2\x85", 2) == 0;
    if (separator || next) {
      fputs(separator ? "\\L" : "\\N", out);
      c += separator ? 2 : 1;
      continue;
    }
    if (byte < 0x20 || byte == 0x7f)
      fprintf(out, "\\x%02x", byte);
    else
      fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  }
  fputc('"', out);
}

static void put_list(FILE *out, const char *key, char name[parts][longest])
{
  fprintf(out, "%s: [", key);
  for (size_t i = 0; i < parts; i++) {
    fputs(i ? ", " : "", out);
    put_quoted(out, name[i]);
  }
  fputs("]\n", out);
}

/* Parse a problem with these names; NULL if they are rejected. */
static idm_problem *parse(hostile *h)
{
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  put_list(out, "states", h->state);
  put_list(out, "actions", h->action);
  put_list(out, "observations", h->observation);
  fputs("discount: 0.5\ntransition: identity\nobservation: uniform\nutility: {\"*\": 0}\n"
        "agent: {alpha: 1, resolution: 4}\nfree: {alpha: {}, utility: {}}\n",
        out);
  assert_int_equal(fclose(out), 0);
  idm_problem *problem;
  idm_error error = {0};
  const idm_status status = idm_problem_parse_yaml(text, length, "p.yaml", &problem, NULL, &error);
  if (h->good != (status == IDM_OK)) fail_msg("%s\n%s", text, error.message);
  if (status != IDM_OK && !(status == IDM_INPUT && error.line > 0 && error.line <= 3))
    fail_msg("%s at %ld of\n%s", error.message, error.line, text);
  free(text);
  return problem;
}

static void same_names(const idm_labels *labels, char (*name)[longest])
{
  assert_int_equal(labels->count, parts);
  for (size_t i = 0; i < parts; i++) assert_string_equal(labels->name[i], name[i]);
}

static void same_setting(const idm_setting *setting, hostile *h)
{
  same_names(&setting->states, h->state);
  same_names(&setting->actions, h->action);
  same_names(&setting->observations, h->observation);
}

/* --- files ---------------------------------------------------------------------------------- */

static void through_yaml(const folder *f, const idm_problem *problem, hostile *h)
{
  idm_problem *again;
  idm_request request, read;
  char difference[400];
  idm_request_default(&request);
  snprintf(request.data, sizeof request.data, "%s", h->state[0]);
  check(idm_request_write(problem, &request, f->file, &support_error));
  check(idm_request_read(f->file, &again, &read, NULL, &support_error));
  same_setting(again->setting, h);
  assert_string_equal(read.data, request.data);
  if (!idm_problem_compare(problem, again, 0, difference, sizeof difference))
    fail_msg("%s", difference);
  idm_problem_destroy(again);
}

/* The format restricts names: others are written as numbers, with a note. */
static void through_pomdp(const folder *f, const idm_problem *problem, hostile *h)
{
  idm_problem *again;
  idm_notes notes = {0};
  char path[128];
  snprintf(path, sizeof path, "%s/p.POMDP", f->path);
  check(idm_problem_write_pomdp(problem, path, &notes, &support_error));
  check(idm_problem_read(path, &again, NULL, &support_error));
  const idm_labels *const found[] = {&again->setting->states, &again->setting->actions,
                                     &again->setting->observations};
  const idm_labels *const sought[] = {&problem->setting->states, &problem->setting->actions,
                                      &problem->setting->observations};
  bool same = true, noted = false;
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < parts; i++)
      same = same && strcmp(found[k]->name[i], sought[k]->name[i]) == 0;
  for (size_t i = 0; i < notes.count; i++) noted = noted || strstr(notes.text[i], "name");
  if (!same && !noted) fail_msg("names are lost in silence: '%s'", h->state[0]);
  idm_notes_clear(&notes);
  idm_problem_destroy(again);
  remove(path);
}

/* A log of every action and observation, with names for agents and trajectories. */
static idm_data *make_log(idm_problem *problem, hostile *h)
{
  const idm_simulation simulation = {.trajectories = parts, .steps = 4, .seed = 1};
  idm_data *data = support_simulate(problem, simulation);
  idm_labels_destroy(&data->agent_name);
  idm_labels_destroy(&data->trajectory_name);
  const char *agents[] = {h->state[0], h->state[1], h->state[2]};
  const char *trajectories[] = {h->action[0], h->action[1], h->action[2]};
  support_names(&data->agent_name, agents, parts);
  support_names(&data->trajectory_name, trajectories, parts);
  for (uint32_t i = 0; i < parts; i++) data->agent[i] = i;
  return data;
}

static void through_csv(const folder *f, const idm_problem *problem, const idm_data *data)
{
  idm_data *again;
  check(idm_data_write_csv(data, problem, f->file, &support_error));
  check(idm_data_read_csv(f->file, problem, NULL, &again, NULL, &support_error));
  assert_int_equal(again->rows, data->rows);
  assert_memory_equal(again->action, data->action, data->rows * sizeof *data->action);
  for (size_t i = 0; i < data->rows; i++)
    if (data->observation[i] >= 0) assert_int_equal(again->observation[i], data->observation[i]);
  for (size_t i = 0; i < parts; i++) {
    assert_string_equal(again->agent_name.name[i], data->agent_name.name[i]);
    assert_string_equal(again->trajectory_name.name[i], data->trajectory_name.name[i]);
  }
  idm_data_destroy(again);
}

/* Quantities have different values, and each is found again under its exact name. */
static void through_runs(const folder *f, const idm_problem *problem, const idm_data *data)
{
  idm_posterior *p, *again;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  assert_int_equal(p->quantity.count, 1 + parts * parts);
  for (size_t i = 0; i < p->quantity.count; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(p->quantity.name[i], p->quantity.name[k]) == 0)
        fail_msg("two numbers are called '%s'", p->quantity.name[i]);
  check(idm_posterior_write_file(p, problem, data, f->file, &support_error));
  check(idm_posterior_read_file(f->file, &again, &support_error));
  for (size_t i = 0; i < p->quantity.count; i++)
    assert_string_equal(again->quantity.name[i], p->quantity.name[i]);
  idm_posterior_destroy(again);
  /* CmdStan numbers its columns; comments name them. */
  char *text;
  size_t length;
  check(idm_posterior_write_stan(p, 0, f->file, &support_error));
  check(idm_file_read(f->file, 1 << 24, &text, &length, &support_error));
  for (size_t u = 0; u < parts; u++)
    for (size_t s = 0; s < parts; s++) {
      char line[400];
      snprintf(line, sizeof line, "# column utility.%zu.%zu: %s\n", u + 1, s + 1,
               p->quantity.name[u * parts + s]);
      if (!strstr(text, line)) fail_msg("there is no line %s in\n%s", line, text);
    }
  free(text);
  /* One JSON key each. */
  idm_assessment *assessment;
  check(idm_assess_draws(p, &assessment, &support_error));
  check(idm_posterior_write_summary(p, assessment, NULL, f->file, &support_error));
  json_t *object = json_load_file(f->file, 0, NULL);
  const json_t *posterior = json_object_get(object, "posterior");
  for (size_t i = 0; i < p->quantity.count; i++)
    assert_non_null(json_object_get(posterior, p->quantity.name[i]));
  json_decref(object);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(p);
}

static void test_names(void **state)
{
  const folder *f = *state;
  idm_random random;
  size_t good = 0;
  idm_random_init(&random, 20, 0);
  for (int round = 0; round < 400; round++) {
    hostile h = {.good = true};
    fill(&random, h.state, false, &h);
    fill(&random, h.action, true, &h);
    fill(&random, h.observation, false, &h);
    idm_problem *problem = parse(&h);
    if (!problem) continue;
    same_setting(problem->setting, &h);
    through_yaml(f, problem, &h);
    if (good++ % 4 == 0) {
      idm_data *data = make_log(problem, &h);
      through_pomdp(f, problem, &h);
      through_csv(f, problem, data);
      through_runs(f, problem, data);
      idm_data_destroy(data);
    }
    idm_problem_destroy(problem);
  }
  assert_true(good > 60 && good < 400);
}

/* Labels that become equal when joined by commas. */
static void test_alike(void **state)
{
  hostile h = {.state = {"b,c", "c", "x"}, .action = {"a", "a,b", "y"}, .good = true};
  strcpy(h.observation[0], "1");
  strcpy(h.observation[1], "]");
  strcpy(h.observation[2], "\"");
  idm_problem *problem = parse(&h);
  idm_data *data = make_log(problem, &h);
  through_yaml(*state, problem, &h);
  through_runs(*state, problem, data);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Ids of a log that no file can represent are rejected, with their position. */
static void test_ids(void **state)
{
  (void)state;
  static const char *const ids[] = {"a\tb", "\"a\nb\"", "a\x1b", "\xff", "\xc2\x85"};
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    for (int column = 0; column < 2; column++) {
      char text[200];
      idm_data *data;
      idm_error error = {0};
      snprintf(text, sizeof text, "agent,trajectory,action,observation\n%s,%s,monitor,positive\n",
               column ? "a" : ids[i], column ? ids[i] : "t");
      if (idm_data_parse_csv(text, strlen(text), "d.csv", problem, NULL, &data, NULL, &error) !=
          IDM_INPUT)
        fail_msg("taken: %s", text);
      assert_int_equal(error.line, 2);
      assert_int_equal(error.column, column ? 3 : 1);
    }
  idm_problem_destroy(problem);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_names),
      IN_FOLDER(test_alike),
      IN_FOLDER(test_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
