/* Sentences of reports: one number, several, too many to name, people, and points. */
#include "report/words.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 8 };

typedef struct made {
  idm_problem *problem;
  idm_posterior posterior;
  idm_assessment assessment;
  idm_diagnosis diagnosis[MOST];
  bool summarised[MOST];
  double value[MOST];
} made;

static void make(made *m, size_t count, idm_answer answer)
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
  said(&m, idm_words_question, "Which value of alpha explains the decisions in diag");
  said(&m, idm_words_answer, "alpha is 1, between 0.5 and 12.2 with a probability of 90 %.");
  said(&m, idm_words_methods, "by bayes with metropolis: 1 chains of 1 draws");
  unmake(&m);
  make(&m, 3, IDM_POSTERIOR);
  said(&m, idm_words_question, "Which values of alpha, 1/beta and eta explain");
  said(&m, idm_words_answer, "; 1/beta is 2, between 0.5 and 12.2; eta is 3");
  m.assessment.people = 1200;
  said(&m, idm_words_answer, "; 1,200 people have numbers of their own.");
  unmake(&m);
  make(&m, 7, IDM_POINT);
  said(&m, idm_words_question, "Which parameters explain");
  said(&m, idm_words_answer, "alpha is 1; 1/beta is 2; eta is 3; d is 4; 3 numbers more are in");
  said(&m, idm_words_methods, "Parameters were found by bayes.");
  unmake(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sentences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
