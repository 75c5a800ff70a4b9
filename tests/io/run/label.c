/* Labels of requests: the same for the same meaning, another for another. */
#include "io/run/run_support.h"

static uint64_t label_of(const char *path)
{
  idm_problem *problem;
  idm_request request;
  check(idm_request_read(path, &problem, &request, NULL, &support_error));
  const uint64_t label = idm_request_label(problem, &request);
  idm_problem_destroy(problem);
  return label;
}

/* The same request in another hand, and one number of it changed. */
static void test_text(void **state)
{
  const folder *f = *state;
  static const struct {
    const char *text;
    bool same;
  } cases[] = {
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n",
       true},
      {"# another hand\nfit:\n  draws: 7.0\n  chains: 4\n  data: \"elsewhere.csv\"\n  stan: true\n"
       "free: [alpha]\nutility:\n  v: [1.0, 2e0]\n  u: [0, 0]\nobservation: {'*': [[1], [1]]}\n"
       "transition: {u: [[1, 0], [0, 1]], v: identity}\ndiscount: .5\nobservations: [x]\n"
       "actions: [u, v]\nstates:\n  - a\n  - b\n",
       true},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [2, 1]}\nfree: {alpha: }\nfit: {draws: 7}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {eta: }\nfit: {draws: 7}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 8}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n"
       "agent: {evaluate: interpolate}\ndata: {action: move}\n",
       false},
  };
  uint64_t first = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    FILE *stream = fopen(f->file, "wb");
    assert_non_null(stream);
    fputs(cases[i].text, stream);
    assert_int_equal(fclose(stream), 0);
    const uint64_t label = label_of(f->file);
    if (i == 0) first = label;
    if ((label == first) != cases[i].same) fail_msg("case %zu", i);
  }
}

/* Every key counts, but for the places; what a log gives the problem does not. */
static void test_keys(void **state)
{
  static const double pay[] = {1, 70, 10, 0, 2, 40, -0.0, -5};
  (void)state;
  idm_problem *problem;
  idm_request usual;
  idm_request_default(&usual);
  usual.settings.sampler[0] = usual.data[0] = usual.problem[0] = 'y';
  usual.settings.draws = usual.settings.warmup = usual.settings.thin = 3;
  usual.settings.seed = 3;
  usual.settings.keep = IDM_KEEP_DECISION;
  usual.stan = true;
  check(idm_problem_read("../examples/beads.yaml", &problem, NULL, &support_error));
  const uint64_t label = idm_request_label(problem, &usual);
  for (const idm_key *key = idm_request_keys(); key->name; key++) {
    idm_request other = usual;
    if (key->kind == IDM_KEY_TEXT || key->kind == IDM_KEY_TEXTS)
      check(idm_key_set_text(key, &other, "x", &support_error));
    else
      idm_key_set_number(key, &other, key->kind == IDM_KEY_FLAG ? 0 : 1);
    if ((idm_request_label(problem, &other) == label) != key->place) fail_msg("%s", key->name);
  }
  check(idm_problem_bind(problem, 2, pay, &support_error));
  assert_true(idm_request_label(problem, &usual) == label);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_text, make_folder, remove_folder),
      cmocka_unit_test(test_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
