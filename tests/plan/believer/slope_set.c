/* Tests the gradient with several hypotheses (missing cells, sampled recognition, an unknown first
 * state of an MDP) against central differences of the scorer. */
#include "plan/believer/slope_support.h"

#define BOUNDED "bounded-rational"

static const slope_sample unrecorded[] = {
    {BOUNDED, 0.5, 1.25, 0.1, BLANK, {2, 3, 2, 3, 37}},
    {BOUNDED, 0.5, 1.25, 0.1, BLANK | BEFORE, {2, 3, 2, 3, 37}},
    {BOUNDED, 0.8, -1.5, 0.3, BLANK | BEFORE | FORGET, {3, 3, 2, 2, 8}},
    {BOUNDED, 0.5, -1.25, 0.1, BLANK | FORGET | AVAILABLE, {2, 3, 2, 3, 25}},
    {BOUNDED, -0.8, 0.7, 0.3, BLANK | STARTS | AVAILABLE | TERMINAL, {2, 4, 3, 2, 20}},
    {BOUNDED, 1, 0.9, 0.2, BLANK | HORIZON | TERMINAL | AVAILABLE | VARIANTS, {2, 4, 2, 2, 17}},
    {BOUNDED, 0.8, 1.5, 0.3, BLANK | DIRICHLET, {3, 2, 2, 2, 9}},
    {BOUNDED, 0.9, -1.1, 0.2, BLANK | UNKNOWN, {4, 2, 2, 3, 4}},
    {BOUNDED, 0.7, 1.3, 0.2, BLANK | STATIC, {2, 2, 2, 1, 30}},
    {BOUNDED, 0.7, 1.3, 0.2, BLANK | STATIC | BLUR, {3, 2, 3, 2, 8}},
    {BOUNDED, 0.5, 1.25, 0.1, SAMPLED, {2, 3, 2, 3, 23}},
    {BOUNDED, 0.9, -1.1, 0.3, SAMPLED | AVAILABLE | VARIANTS, {3, 3, 2, 2, 7}},
    {BOUNDED, 0.5, 1.25, 0.1, SAMPLED | BLANK, {2, 2, 2, 2, 23}},
    {BOUNDED, 0.9, 1.4, 0.3, SAMPLED | BLANK | HORIZON | AVAILABLE, {3, 2, 2, 2, 6}},
    {BOUNDED, 0.5, 1.25, 0.1, MDP, {3, 3, 3, 2, 5}},
    {BOUNDED, 0.5, -1.25, 0.1, MDP | BLANK | AVAILABLE, {3, 3, 3, 2, 5}},
    {BOUNDED, 0.7, 1.1, 0.1, MDP | BLANK | SAMPLED | STARTS | HORIZON, {4, 2, 4, 2, 5}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, BLANK, {2, 3, 2, 2, 30}},
    {"maximum-entropy", 0.6, 1, 0.2, BLANK | FORGET, {3, 3, 2, 1, 7}},
    {"decision-rule", 0.6, 1, 0.2, BLANK | AVAILABLE | STARTS, {2, 3, 2, 3, 9}},
    {"decision-rule", 0.6, 1, 0.2, BLANK | SAMPLED | HORIZON, {3, 3, 3, 2, 9}},
    {BOUNDED, 0.5, 1.25, 0.1, HABIT | BLANK, {2, 3, 2, 3, 37}},
    {BOUNDED, 0.5, -1.25, 0.1, HABIT | BLANK | FORGET | AVAILABLE, {2, 3, 2, 3, 25}},
    {BOUNDED, 0.7, 1.3, 0.2, HABIT | BLANK | STATIC | BLUR, {3, 2, 3, 2, 8}},
    {BOUNDED, 0.5, 1.25, 0.1, HABIT | SAMPLED | BLANK, {2, 2, 2, 2, 23}},
    {BOUNDED, 0.5, -1.25, 0.1, HABIT | MDP | BLANK | AVAILABLE, {3, 3, 3, 2, 5}},
    {"decision-rule", 0.6, 1, 0.2, HABIT | BLANK | STARTS, {2, 3, 2, 3, 9}},
    {BOUNDED, 0.5, 1.25, 0.1, DYNAMICS | BLANK, {2, 2, 2, 2, 10}},
    {BOUNDED, 0.9, -1.1, 0.2, DYNAMICS | BLANK | UNKNOWN | BEFORE, {2, 2, 2, 2, 8}},
    {BOUNDED, 0.9, -1.1, 0.3, DYNAMICS | SAMPLED, {3, 2, 2, 2, 4}},
    {BOUNDED, 0.5, 1.25, 0.1, DYNAMICS | SAMPLED | BLANK | HORIZON, {2, 2, 2, 2, 9}},
    {BOUNDED, 0.5, -1.25, 0.3, DYNAMICS | MDP | BLANK, {3, 2, 3, 2, 5}},
    {BOUNDED, 0.5, 1.25, 0.3, DYNAMICS | MDP | DIRICHLET | HORIZON, {3, 2, 3, 2, 5}},
    {"decision-rule", 0.6, 1, 0.2, DYNAMICS | BLANK | STARTS, {2, 3, 2, 3, 9}},
    {BOUNDED, 0.5, 1.25, 0.1, BENT | DYNAMICS | BLANK, {2, 2, 2, 2, 10}},
    {BOUNDED, 0.9, -1.1, 0.3, BENT | DYNAMICS | SAMPLED, {3, 2, 2, 2, 4}},
    {BOUNDED, 0.9, -1.1, 0.3, BENT | SAMPLED | BLANK | BEFORE, {2, 2, 2, 2, 14}},
    {BOUNDED, 0.5, 1.25, 0.1, MISSED | HABIT | BLANK, {2, 3, 2, 3, 33}},
    {BOUNDED, 0.9, 1.4, 0.3, MISSED | HABIT | SAMPLED | BLANK | HORIZON, {3, 2, 2, 2, 6}},
    {BOUNDED, 0.5, -1.25, 0.1, MISSED | HABIT | MDP | BLANK | AVAILABLE, {3, 3, 3, 2, 5}},
};

static void gradient_equals_differences_where_several_beliefs_are_possible(void **state)
{
  (void)state;
  slope_run_samples(unrecorded, sizeof unrecorded / sizeof unrecorded[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradient_equals_differences_where_several_beliefs_are_possible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
