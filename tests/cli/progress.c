/* Tests signals that request a stop, each in a child process, and the progress bar of a terminal.
 */
#include "cli/cli_support.h"
#include "cli/common.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const idm_progress_state half = {.done = 0.5};

/* Returns the wait status of a child process that calls `act`. */
static int status_of(void (*act)(void))
{
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    act();
    _exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void rest(long milliseconds)
{
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* --- signals -------------------------------------------------------------------------------- */

static void signal_once(void)
{
  cli_progress progress;
  cli_catch_signals();
  cli_progress_begin(&progress, NULL);
  if (cli_progress_watch(&progress, &half)) _exit(1);
  raise(SIGTERM);
  raise(SIGINT); /* a simultaneous second signal counts as the same request */
  if (!cli_progress_watch(&progress, &half)) _exit(2);
}

static void signal_again(void)
{
  cli_catch_signals();
  raise(SIGINT);
  rest(500);
  raise(SIGTERM);
}

static void hang_up(void)
{
  cli_catch_signals();
  raise(SIGHUP);
}

static void hang_up_ignored(void)
{
  cli_progress progress;
  signal(SIGHUP, SIG_IGN);
  cli_catch_signals();
  raise(SIGHUP);
  cli_progress_begin(&progress, NULL);
  if (cli_progress_watch(&progress, &half)) _exit(1);
}

static void test_signals(void **state)
{
  (void)state;
  assert_int_equal(status_of(signal_once), 0);
  assert_int_equal(status_of(hang_up), 0);
  assert_int_equal(status_of(hang_up_ignored), 0);
  const int status = status_of(signal_again);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* The message is printed once, when the request is noticed. */
static void farewell(void)
{
  cli_progress progress;
  captured c;
  cli_catch_signals();
  cli_progress_begin(&progress, "stopping");
  captured_open(&c, stderr);
  cli_progress_watch(&progress, &half);
  raise(SIGINT);
  cli_progress_watch(&progress, &half);
  cli_progress_watch(&progress, &half);
  char *text = captured_close(&c);
  _exit(strcmp(text, "idm: stopping\n") == 0 ? 0 : 1);
}

static void test_farewell(void **state)
{
  (void)state;
  assert_int_equal(status_of(farewell), 0);
}

/* --- the bar -------------------------------------------------------------------------------- */

static void test_bar(void **state)
{
  (void)state;
  cli_progress progress;
  captured c;
  captured_open(&c, stderr);
  cli_progress_begin(&progress, NULL);
  assert_false(progress.terminal); /* a file is not a terminal, so nothing is printed */
  assert_false(cli_progress_watch(&progress, &half));
  cli_progress_end(&progress);
  captured_expect(&c, "");
  captured_open(&c, stderr);
  progress.terminal = true;
  progress.started -= 10;
  assert_false(cli_progress_watch(&progress, &half));
  assert_false(cli_progress_watch(&progress, &half)); /* too soon to print again */
  cli_progress_end(&progress);
  char *text = captured_close(&c);
  double elapsed = 0, left = 0;
  assert_int_equal(
      sscanf(text, "\r[############............] 50 %% %lf s, %lf s left", &elapsed, &left), 2);
  assert_true(
      elapsed >= 10 &&
      left ==
          elapsed); /* half of the work is done, so the remaining time equals the elapsed time */
  assert_string_equal(text + strlen(text) - 7, "\033[K\r\033[K");
  assert_null(strstr(text + 10, "\r["));
  free(text);
}

/* Too early for an estimate of the remaining time. */
static void test_beginning(void **state)
{
  (void)state;
  static const idm_progress_state none = {.done = 0.001};
  cli_progress progress;
  captured c;
  captured_open(&c, stderr);
  cli_progress_begin(&progress, NULL);
  progress.terminal = true;
  cli_progress_watch(&progress, &none);
  char *text = captured_close(&c);
  assert_non_null(strstr(text, "[........................]   0 %"));
  assert_non_null(strstr(text, "? s left"));
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals),
                                     cmocka_unit_test(test_farewell), cmocka_unit_test(test_bar),
                                     cmocka_unit_test(test_beginning)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
