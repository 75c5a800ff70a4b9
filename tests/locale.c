/* A host program with a decimal comma: input and output are the same, byte for byte. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "support.h"

/* All output in one locale. */
typedef struct written {
  char *file[4];
  size_t length[4];
  char message[2 * IDM_PATH_SIZE];
} written;

static void keep(written *w, size_t i, const char *path)
{
  check(idm_file_read(path, (size_t)1 << 26, &w->file[i], &w->length[i], &support_error));
}

static written write_all(void)
{
  written w = {0};
  char path[SUPPORT_PATH];
  support_path(path);
  idm_problem *problem = support_diag(0.25, 1.5, 0.125);
  support_assign(problem, "utility.monitor=-1.5");
  check(idm_problem_write_yaml(problem, path, NULL, &support_error));
  keep(&w, 0, path);
  idm_problem *again;
  check(idm_problem_parse_yaml(w.file[0], w.length[0], "again", &again, NULL, &support_error));
  char difference[160];
  assert_true(idm_problem_compare(problem, again, 0, difference, sizeof difference));
  check(idm_problem_write_pomdp(problem, path, NULL, &support_error));
  keep(&w, 1, path);
  idm_data *data = support_data(
      problem, "trajectory,action,observation,belief.healthy,belief.diseased\n"
               "1,monitor,positive,0.125,0.875\n1,declare_diseased,,,\n2,monitor,negative,,\n");
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 50;
  settings.warmup = 50;
  settings.threads = 1;
  idm_posterior *posterior;
  idm_projection projection;
  idm_assessment *assessment;
  check(idm_project(problem, data, idm_inverse_find("bayes"), &settings, NULL, &posterior,
                    &projection, NULL, &support_error));
  check(idm_assess_monitored(problem, data, posterior, 1, NULL, &assessment, &support_error));
  check(idm_posterior_write_summary(posterior, assessment, &projection, path, &support_error));
  keep(&w, 2, path);
  check(idm_posterior_write_stan(posterior, 0, path, &support_error));
  keep(&w, 3, path);
  idm_error error = {0};
  assert_int_equal(idm_problem_set(problem, "discount=1.5", &error), IDM_USAGE);
  snprintf(w.message, sizeof w.message, "%s", error.message);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(again);
  idm_problem_destroy(problem);
  remove(path);
  return w;
}

/* Create a locale with a decimal comma for this test; returns false if the system cannot. */
static bool enter_comma(char folder[SUPPORT_PATH])
{
  char command[256];
  snprintf(folder, SUPPORT_PATH, "/tmp/idm-locale-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
           folder);
  const bool made = system(command) == 0;
  setenv("LOCPATH", folder, 1);
  return made && setlocale(LC_ALL, "de_DE.UTF-8");
}

static void a_decimal_comma_changes_nothing(void **state)
{
  (void)state;
  char folder[SUPPORT_PATH];
  char text[32];
  const written plain = write_all();
  if (!enter_comma(folder))
    fail_msg("no locale with a decimal comma can be made: install the package locales");
  snprintf(text, sizeof text, "%.1f", 0.5);
  assert_string_equal(text, "0,5"); /* by the host itself */
  assert_true(idm_number_read("0.5", NULL) == 0.5);
  const written comma = write_all();
  setlocale(LC_ALL, "C");
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(plain.length[i], comma.length[i]);
    assert_memory_equal(plain.file[i], comma.file[i], plain.length[i]);
    free(plain.file[i]);
    free(comma.file[i]);
  }
  assert_string_equal(plain.message, comma.message);
  snprintf(text, sizeof text, "rm -rf %.22s", folder);
  assert_int_equal(system(text), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_decimal_comma_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
