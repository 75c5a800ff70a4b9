/* Tests the sentences of reports against expected texts: one parameter, several, too many to name,
 * groups, people, and point estimates. */
#include "report/panels.h"

#include <stdlib.h>
#include <string.h>

#include "report/report_support.h"

enum { MOST = 8 };

typedef struct made {
  idm_problem *problem;
  idm_posterior posterior;
  idm_assessment assessment;
  idm_diagnosis diagnosis[MOST];
  bool summarised[MOST];
  double value[MOST];
} made;

static void make(made *m, size_t count, idm_estimate_kind answer)
{
  static const char *const names[MOST] = {"alpha", "inverse_beta", "eta", "d", "e", "f", "g", "h"};
  *m = (made){.problem = support_diag(0.5, 1.25, 0.3)};
  m->posterior = (idm_posterior){.answer = answer,
                                 .inverse = "bayes",
                                 .sampler = "metropolis",
                                 .chains = 1,
                                 .draws = 1,
                                 .summarised = m->summarised,
                                 .value = m->value};
  support_names(&m->posterior.quantity, names, count);
  m->assessment = (idm_assessment){.quantities = count, .diagnosis = m->diagnosis};
  for (size_t i = 0; i < count; i++) {
    m->summarised[i] = true;
    m->value[i] = 1 + (double)i;
    m->diagnosis[i] = (idm_diagnosis){.mean = 1 + (double)i, .q05 = 0.5, .q95 = 12.25};
  }
}

static void said(const made *m, void (*words)(const idm_plot_subject *, idm_markup *),
                 const char *expected)
{
  const idm_plot_subject subject = {
      .problem = m->problem, .posterior = &m->posterior, .assessment = &m->assessment};
  idm_markup markup = {0};
  char *text;
  words(&subject, &markup);
  check(idm_markup_take(&markup, &text, &support_error));
  if (!strstr(text, expected)) fail_msg("'%s' is not in '%s'", expected, text);
  free(text);
}

static void unmake(made *m)
{
  idm_labels_destroy(&m->posterior.quantity);
  idm_problem_destroy(m->problem);
}

static void test_sentences(void **state)
{
  (void)state;
  made m;
  make(&m, 1, IDM_POSTERIOR);
  said(&m, idm_text_question, "Which value of alpha explains the decisions in diag");
  said(&m, idm_text_result, "alpha is 1, between 0.5 and 12.2 with a probability of 90 %.");
  unmake(&m);
  make(&m, 3, IDM_POSTERIOR);
  said(&m, idm_text_question, "Which values of alpha, 1/beta and eta explain");
  said(&m, idm_text_result, "; 1/beta is 2, between 0.5 and 12.2; eta is 3");
  unmake(&m);
  make(&m, 7, IDM_POINT);
  said(&m, idm_text_question, "Which parameters explain");
  said(&m, idm_text_result, "alpha is 1; 1/beta is 2; eta is 3; d is 4; 3 numbers more are in");
  unmake(&m);
}

static idm_markup tell(const idm_posterior *p, idm_diagnosis *diagnosis, bool question,
                       bool trusted)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  const idm_assessment a = {
      .quantities = p->quantity.count, .diagnosis = diagnosis, .trusted = trusted};
  const idm_plot_subject subject = {.problem = problem, .posterior = p, .assessment = &a};
  idm_markup markup = {0};
  (question ? idm_text_question : idm_text_result)(&subject, &markup);
  idm_problem_destroy(problem);
  return markup;
}

/* Checks the sentence of a result that is not trusted. */
static void expect_doubt(const idm_posterior *p, idm_diagnosis *diagnosis, const char *expected)
{
  idm_markup markup = tell(p, diagnosis, false, false);
  assert_non_null(strstr(markup.text, expected));
  free(markup.text);
}

static void expect_words(const idm_posterior *p, idm_diagnosis *diagnosis, bool question,
                         const char *expected)
{
  idm_markup markup = tell(p, diagnosis, question, true);
  assert_string_equal(markup.text, expected);
  free(markup.text);
}

/* Two contrasts in log alpha, one of them clear, and two in eta, none clear. */
static void test_groups(void **state)
{
  (void)state;
  enum { DRAWS = 101, MANY = 6 };
  static const char *const names[MANY] = {"1", "2", "3", "4", "5", "6"};
  static const char *const groups[] = {"a", "b"};
  static const char *const contrasts[] = {"b - a", "c - a"};
  idm_posterior *p = report_posterior(1, DRAWS, names, MANY);
  idm_diagnosis d[MANY];
  report_series(p, "log_alpha", "group", groups, 2, 0);
  report_series(p, "log_alpha_contrast", "contrast", contrasts, 2, 2);
  report_series(p, "eta_contrast", "contrast", contrasts, 2, 4);
  for (size_t i = 0; i < MANY; i++) {
    d[i] = (idm_diagnosis){.mean = 0.5 + (double)i, .sd = i == 3 ? 0.1 : 10};
    /* The draws increase from -0.015 in the clear contrast, with two of 101 below 0, and from
     * -0.035 in the others, with four below 0. */
    for (size_t k = 0; k < DRAWS; k++)
      p->value[i * DRAWS + k] = ((double)k - (i == 3 ? 1.5 : 3.5)) / 100;
  }
  expect_words(p, d, true,
               "Do groups differ in log alpha, judging by the decisions in diag, if they were made "
               "by the planner bounded-rational?");
  expect_words(p, d, false,
               "Of 2 differences in log alpha 1 is clear (0 lies outside of their 95 % intervals), "
               "most of all c - a (3.5); of 2 differences in eta none is clear.");
  expect_doubt(p, d, "none is clear; not all of them are trusted.");
  idm_posterior_destroy(p);
}

static void test_people(void **state)
{
  (void)state;
  enum { PEOPLE = 21 };
  static const char *const name[PEOPLE] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                           "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"};
  idm_posterior *p = report_posterior(1, 2, name, PEOPLE);
  idm_diagnosis d[PEOPLE] = {0};
  for (size_t i = 0; i < PEOPLE; i++) d[i].mean = (double)((5 * i) % PEOPLE);
  report_series(p, "inverse_beta", "person", name, PEOPLE, 0);
  expect_words(p, d, true,
               "How do people differ in 1/beta, judging by the decisions in diag, if they were "
               "made by the planner bounded-rational?");
  expect_words(p, d, false, "Nine in ten of 21 people have a mean of 1/beta between 1 and 19.");
  idm_posterior_destroy(p);
  /* Fewer than 20 people: the range of all means. */
  p = report_posterior(1, 2, name, 3);
  report_series(p, "inverse_beta", "person", name, 3, 0);
  expect_words(p, d, false, "3 people have a mean of 1/beta between 0 and 10.");
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sentences),
                                     cmocka_unit_test(test_groups), cmocka_unit_test(test_people)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
