/* Tests perseverance and lapse against their formula (docs/method/likelihood.md, 6), and
 * derivatives against differences. */
#include "plan/choice.h"

#include <string.h>

#include "support.h"

enum { N = 4 };
static const double pi[N] = {0.1, 0.6, 0.25, 0.05};
static const bool some[N] = {true, false, true, true};

/* p(u) by its formula. */
static double plain(choice_bias h, const double *log_pi, const bool *open, int last, size_t u)
{
  double sum = 0, count = 0;
  for (size_t v = 0; v < N; v++) {
    if (open && !open[v]) continue;
    sum += exp(log_pi[v] + (last == (int)v ? h.perseverance : 0));
    count++;
  }
  const double q = exp(log_pi[u] + (last == (int)u ? h.perseverance : 0)) / sum;
  return (1 - h.lapse) * q + h.lapse / count;
}

static void choices_are_the_formula(void **state)
{
  (void)state;
  const choice_bias choice_biases[] = {{0, 0}, {1.3, 0}, {-2, 0}, {0, 0.2}, {0.7, 0.4}, {-0.7, 1}};
  double log_pi[N], q[N], log_q[N], open, again;
  for (size_t u = 0; u < N; u++) log_pi[u] = log(pi[u]);
  for (size_t i = 0; i < sizeof choice_biases / sizeof choice_biases[0]; i++)
    for (int last = IDM_MISSING; last < N; last++)
      for (int closed = 0; closed < 2; closed++) {
        const bool *set = closed ? some : NULL;
        assert_true(idm_choice_tilt(choice_biases[i], N, pi, set, last, q, &open));
        assert_true(idm_choice_tilt_logs(choice_biases[i], N, log_pi, set, last, log_q, &again));
        assert_true(open == (closed ? 3 : 4) && again == open);
        for (size_t u = 0; u < N; u++) {
          if (set && !set[u]) {
            assert_true(q[u] == 0 && log_q[u] == -INFINITY);
            continue;
          }
          const double expected = plain(choice_biases[i], log_pi, set, last, u);
          assert_near(idm_choice_lapse(choice_biases[i], q[u], open), expected, 1e-14);
          assert_near(idm_choice_log_lapse(choice_biases[i], log_q[u], open), log(expected), 1e-13);
        }
      }
}

/* A bonus beyond the range of exp, and a policy that has underflowed. */
static void nothing_overflows(void **state)
{
  (void)state;
  const double tiny[N] = {-2000, -3000, -2001, -INFINITY}, lost[N] = {0};
  double q[N], open;
  assert_true(idm_choice_tilt((choice_bias){5000, 0}, N, pi, NULL, 0, q, &open));
  assert_near(q[0], 1, 1e-15);
  assert_true(idm_choice_tilt((choice_bias){-5000, 0}, N, pi, NULL, 0, q, &open));
  assert_true(q[0] == 0);
  assert_near(q[1], 0.6 / 0.9, 1e-14);
  assert_false(idm_choice_tilt((choice_bias){1, 0.1}, N, lost, NULL, 0, q, &open));
  assert_true(idm_choice_tilt_logs((choice_bias){1, 0}, N, tiny, NULL, 2, q, &open));
  assert_near(q[0], log(0.5), 1e-12);
  assert_near(q[2], log(0.5), 1e-12);
  assert_true(q[3] == -INFINITY);
}

/* If all available actions have probability 0, the choice among them is uniform. */
static void what_is_forbidden_is_shared(void **state)
{
  (void)state;
  const double never[N] = {-INFINITY, 0, -INFINITY, -INFINITY};
  double q[N], open;
  assert_false(idm_choice_tilt_logs((choice_bias){2, 0.3}, N, never, some, 0, q, &open));
  for (size_t u = 0; u < N; u++)
    if (some[u])
      assert_near(idm_choice_log_lapse((choice_bias){2, 0.3}, q[u], open), -log(3), 1e-14);
}

static void slopes_are_differences(void **state)
{
  (void)state;
  const double h = 1e-6;
  const choice_bias at = {0.7, 0.2};
  double log_pi[N], q[N], to[N] = {0}, open;
  choice_bias_gradient both = {0};
  for (size_t u = 0; u < N; u++) log_pi[u] = log(pi[u]);
  assert_true(idm_choice_tilt(at, N, pi, some, 2, q, &open));
  idm_choice_backward(at, N, q, open, 2, 0, 1.5, to, &both);
  for (size_t v = 0; v < N; v++) {
    double up[N], down[N];
    memcpy(up, log_pi, sizeof up);
    memcpy(down, log_pi, sizeof down);
    up[v] += h;
    down[v] -= h;
    const double expected =
        1.5 * (log(plain(at, up, some, 2, 0)) - log(plain(at, down, some, 2, 0)));
    assert_near(to[v], expected / (2 * h), 1e-8);
  }
  const choice_bias more = {at.perseverance + h, at.lapse}, less = {at.perseverance - h, at.lapse};
  assert_near(both.perseverance,
              1.5 * (log(plain(more, log_pi, some, 2, 0)) - log(plain(less, log_pi, some, 2, 0))) /
                  (2 * h),
              1e-8);
  const choice_bias looser = {at.perseverance, at.lapse + h},
                    firmer = {at.perseverance, at.lapse - h};
  assert_near(
      both.lapse,
      1.5 * (log(plain(looser, log_pi, some, 2, 0)) - log(plain(firmer, log_pi, some, 2, 0))) /
          (2 * h),
      1e-8);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices_are_the_formula),
      cmocka_unit_test(nothing_overflows),
      cmocka_unit_test(what_is_forbidden_is_shared),
      cmocka_unit_test(slopes_are_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
