/* A progress bar on a terminal, and signals that ask to stop. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
  (void)number;
  interrupted = 1;
}

void cli_catch_signals(void)
{
  /* A second signal ends the program as it would any other. */
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void)
{
  return interrupted;
}

double cli_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_begin(cli_progress *progress)
{
  *progress = (cli_progress){.started = cli_seconds(), .terminal = isatty(STDERR_FILENO)};
}

void cli_progress_show(cli_progress *progress, double fraction, const char *words)
{
  enum { width = 24 };
  const double now = cli_seconds();
  if (!progress->terminal || now - progress->shown < 0.2) return;
  progress->shown = now;
  char bar[width + 1];
  const int full = (int)(fraction * width);
  for (int i = 0; i < width; i++) bar[i] = i < full ? '#' : '.';
  bar[width] = '\0';
  const double elapsed = now - progress->started;
  const double left = fraction > 0.01 ? elapsed * (1 - fraction) / fraction : 0;
  fprintf(stderr, "\r[%s] %3.0f %% %5.1f s, %5.1f s left %s\033[K", bar, 100 * fraction, elapsed,
          left, words);
  fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->terminal && progress->shown > 0) fprintf(stderr, "\r\033[K");
}
