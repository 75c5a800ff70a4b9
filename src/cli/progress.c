/* A progress bar on a terminal, and signals that ask to stop. */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/progress.h"

static volatile sig_atomic_t interrupted;
static atomic_llong
    first_signal; /* when it came, in ms; lock-free, so that a handler may touch it */

/* Signals that come within as many milliseconds are one wish. */
enum { one_wish = 400 };

/* One wish to stop may come twice: timeout(1) signals its child and then the group that the child
 * is in. A signal that comes later is another wish, and ends the program as it would any other. */
static void note_signal(int number)
{
  struct timespec clock = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &clock);
  const long long now = (long long)clock.tv_sec * 1000 + clock.tv_nsec / 1000000;
  if (!interrupted) {
    first_signal = now;
    interrupted = 1;
  } else if (now - first_signal > one_wish) {
    signal(number, SIG_DFL);
    raise(number); /* delivered when this handler returns */
  }
}

void cli_catch_signals(void)
{
  struct sigaction action = {.sa_handler = note_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  /* nohup(1) has it ignored, and means it. */
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, NULL);
}

void cli_progress_begin(cli_progress *progress, const char *opt_farewell)
{
  *progress = (cli_progress){
      .started = idm_seconds(), .terminal = isatty(STDERR_FILENO), .farewell = opt_farewell};
}

static void show(cli_progress *progress, double fraction, const char *words)
{
  enum { width = 24 };
  progress->shown = idm_seconds();
  char bar[width + 1];
  const int full = (int)(fraction * width);
  for (int i = 0; i < width; i++) bar[i] = i < full ? '#' : '.';
  bar[width] = '\0';
  const double elapsed = progress->shown - progress->started;
  char left[32] = "    ?"; /* nothing to go by yet */
  if (fraction >= 0.01) snprintf(left, sizeof left, "%5.1f", elapsed * (1 - fraction) / fraction);
  fprintf(stderr, "\r[%s] %3.0f %% %5.1f s, %s s left %s\033[K", bar, 100 * fraction, elapsed, left,
          words);
  fflush(stderr);
}

bool cli_progress_watch(void *context, const idm_work *work)
{
  cli_progress *progress = context;
  char words[96];
  if (!interrupted && progress->terminal && idm_seconds() - progress->shown > 0.5)
    show(progress, work->done, idm_work_words(work, words, sizeof words));
  /* Whoever interrupts wants to see at once that it was noticed. */
  if (interrupted && progress->farewell) {
    cli_progress_end(progress);
    fprintf(stderr, "idm: %s\n", progress->farewell);
    progress->farewell = NULL;
  }
  return interrupted;
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->terminal && progress->shown > 0) fprintf(stderr, "\r\033[K");
}
