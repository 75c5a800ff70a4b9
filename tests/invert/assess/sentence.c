/* What is said of a free number: bounded, open on a side, in pieces, and by another scale. */
#include "invert/assess/sentence.h"

#include <math.h>
#include <string.h>

#include "invert/assess/asked_support.h"
#include "invert/matching/assemble.h"

/* The sentence on number `i` of (alpha by its logarithm, beta by its inverse). */
static void expect(size_t i, idm_identification id, const char *words)
{
  asked_least a;
  idm_posterior *p;
  asked_open_least(&a);
  check(idm_posterior_create(&a.f, idm_inverse_find("bayes"), "metropolis", 1, 1, &p,
                             &support_error));
  const inquiry q = {.f = &a.f, .posterior = p};
  const parameter *item = &a.f.parameters->item[i];
  id.quantity = idm_parameter_reported(item);
  idm_identification_sentence(&q, item, &id);
  if (strcmp(id.sentence, words) != 0) fail_msg("'%s', expected '%s'", id.sentence, words);
  idm_posterior_destroy(p);
  asked_close_least(&a);
}

static const double far = 50; /* the profile has fallen this much at a limit */

static void bounded(void **state)
{
  (void)state;
  idm_identification id = {
      .low = 0.25, .high = 0.75, .regions = 1, .region = {{0.25, 0.75}}, .gap = {far, far}};
  expect(0, id, "the data bound alpha within [0.25, 0.75] (95 % profile likelihood)");
  id.unchecked = true;
  expect(0, id,
         "the data bound alpha within [0.25, 0.75] (95 % profile likelihood); the search was cut "
         "short, so that this is not certain");
  id = (idm_identification){
      .low = 0.1, .high = 0.9, .regions = 2, .region = {{0.1, 0.2}, {0.8, 0.9}}, .gap = {far, far}};
  expect(0, id, "the data bound alpha within [0.1, 0.2] or [0.8, 0.9] (95 % profile likelihood)");
}

static void open_on_a_side(void **state)
{
  (void)state;
  idm_identification id = {.low = 0.25,
                           .high = INFINITY,
                           .regions = 1,
                           .region = {{0.25, INFINITY}},
                           .gap = {far, 0.5},
                           .proper = {true, true}};
  expect(0, id,
         "the data bound alpha below only: it is above 0.25 (95 % profile likelihood); above it is "
         "bounded by the prior, not by the data (at the limit the log-likelihood is within 0.50 of "
         "its maximum)");
  id.proper[1] = false;
  id.gap[0] = 0.25;
  expect(0, id,
         "the data do not bound alpha; below it is bounded by the prior, not by the data (at the "
         "limit the log-likelihood is within 0.25 of its maximum); above it is bounded neither by "
         "the data (at the limit the log-likelihood is within 0.50 of its maximum) nor by the "
         "prior");
}

/* Beta is inferred by its inverse, which may be 0. */
static void by_its_inverse(void **state)
{
  (void)state;
  idm_identification id = {
      .low = 0.25, .high = 0.5, .regions = 1, .region = {{0.25, 0.5}}, .gap = {far, far}};
  expect(1, id,
         "the data bound 1/beta within [0.25, 0.5] (95 % profile likelihood) (beta between 2 and "
         "4)");
  id.low = id.region[0][0] = -0.25;
  expect(1, id,
         "the data bound 1/beta within [-0.25, 0.5] (95 % profile likelihood); beta itself is not "
         "bounded above: report 1/beta, optimism, not beta");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounded), cmocka_unit_test(open_on_a_side),
                                     cmocka_unit_test(by_its_inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
