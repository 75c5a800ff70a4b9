/* Scales: see the header. */
#include "report/scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

void idm_scale_ends(bool logarithmic, double pad, double *low, double *high)
{
  if (!(*low <= *high)) *low = logarithmic ? 1 : 0, *high = 1;
  if (logarithmic) {
    if (!(*high > 0)) *high = 1;
    if (!(*low > 0)) *low = 1e-3 * *high;
    *low = fmax(*low, DBL_MIN);
    *high = fmax(*high, *low);
    const double wider = *low < *high ? exp(pad * (log(*high) - log(*low))) : 2;
    *low = fmax(*low / wider, DBL_MIN);
    *high = fmin(*high * wider, DBL_MAX);
    return;
  }
  /* Half of the range of numbers at most, so that it has a width. */
  *low = fmax(fmin(*low, DBL_MAX / 4), -DBL_MAX / 4);
  *high = fmax(fmin(*high, DBL_MAX / 4), -DBL_MAX / 4);
  const double size = fmax(fabs(*low), fabs(*high));
  double wider = pad * (*high - *low);
  if (!(*high - *low > 1e-12 * size)) wider = size > 0 ? 0.1 * size : 1;
  *low -= wider;
  *high += wider;
}

/* The power of ten that a number begins with. */
static int power_of(double number)
{
  return (int)floor(log10(number) + 1e-9);
}

/* 2e+09 as 2e9: ticks have little room. */
static void shorten_power(char *text)
{
  char *power = strchr(text, 'e');
  if (!power) return;
  char *to = power + 1, *from = to;
  if (*from == '-') to++;
  from += *from == '-' || *from == '+';
  while (*from == '0') from++;
  memmove(to, from, strlen(from) + 1);
}

/* A minus sign as printers set it, powers of ten as powers, and as many digits as tell a number
 * from others a step away; of 0 none where they would be very many. */
static void set_text(double number, double step, char *text)
{
  static const char minus[] = "\xE2\x88\x92";
  char plain[IDM_TICK_TEXT - sizeof minus];
  const double size = fabs(number);
  const int decimals = -power_of(step);
  if (size != 0 && (size >= 1e6 || size < 1e-4)) {
    const int digits = power_of(size) + 1 + decimals;
    idm_print(plain, sizeof plain, "%.*g", digits < 1 ? 1 : digits > 17 ? 17 : digits, size);
    shorten_power(plain);
  } else {
    const int few = decimals < 0 || (size == 0 && decimals > 5) ? 0 : decimals;
    idm_print(plain, sizeof plain, "%.*f", few > 17 ? 17 : few, size);
  }
  idm_print(text, IDM_TICK_TEXT, "%s%s", number < 0 ? minus : "", plain);
}

static void add_tick(idm_scale_of_axis *scale, double number, double step)
{
  if (scale->ticks == IDM_TICKS) return;
  scale->tick[scale->ticks] = number;
  set_text(number, step, scale->text[scale->ticks++]);
}

static void tick_evenly(idm_scale_of_axis *scale, double about, bool whole)
{
  static const double steps[] = {1, 2, 5, 10};
  const double width = scale->high - scale->low;
  const double rough = width / fmax(about, 1);
  const double power = pow(10, floor(log10(rough)));
  double step = 10 * power;
  for (int i = 3; i >= 0; i--)
    if (steps[i] * power >= rough * (1 - 1e-9)) step = steps[i] * power;
  if (whole && step < 1) step = 1;
  const double first = ceil(scale->low / step - 1e-9);
  const double last = floor(scale->high / step + 1e-9);
  /* Where numbers next to each other are further apart than that, one is all there is. */
  for (double k = first; k <= last && k + 1 > k && scale->ticks < IDM_TICKS; k++)
    add_tick(scale, k == 0 ? 0 : k * step, step);
}

/* Powers of ten, every so many-th; between few of them twice and five times each as well. */
static void tick_powers(idm_scale_of_axis *scale, double about)
{
  static const double within[] = {1, 2, 5};
  const double low = log10(scale->low), high = log10(scale->high);
  const double every = fmax(1, ceil((high - low) / fmax(about, 1) - 1e-9));
  const int parts = high - low < 2.2 && 3 * (high - low) <= fmax(about, 3) ? 3 : 1;
  const int first = (int)floor(low / every), last = (int)floor((high + 1e-9) / every);
  for (int k = first; k <= last; k++)
    for (int i = 0; i < parts; i++) {
      const double power = pow(10, every * k), number = within[i] * power;
      if (number >= scale->low * (1 - 1e-9) && number <= scale->high * (1 + 1e-9))
        add_tick(scale, number, power);
    }
}

void idm_scale_tick(idm_scale_of_axis *scale, double about, bool whole)
{
  scale->ticks = 0;
  if (scale->logarithmic) tick_powers(scale, about);
  /* Over a few powers even ticks say more than one alone. */
  const bool few = scale->logarithmic && log10(scale->high) - log10(scale->low) < 3;
  if (scale->logarithmic && (!few || scale->ticks >= 2)) return;
  /* Two at least: one alone says nothing of how far it is to anywhere. */
  for (int k = 0; k < 3; k++) {
    scale->ticks = 0;
    tick_evenly(scale, about, whole);
    if (scale->ticks > 1) return;
    about = 2 * fmax(about, 1);
  }
}

/* How far along the axis a number is, from 0 to 1. */
static double part_of(const idm_scale_of_axis *scale, double number)
{
  return scale->logarithmic ? (log(number) - log(scale->low)) / (log(scale->high) - log(scale->low))
                            : (number - scale->low) / (scale->high - scale->low);
}

void idm_scale_thin(idm_scale_of_axis *scale, double length, double room)
{
  double apart = INFINITY;
  for (size_t i = 1; i < scale->ticks; i++)
    apart =
        fmin(apart, length * (part_of(scale, scale->tick[i]) - part_of(scale, scale->tick[i - 1])));
  if (apart >= room) return;
  const size_t every = apart > room / IDM_TICKS ? (size_t)ceil(room / apart) : IDM_TICKS;
  size_t kept = 0;
  for (size_t i = 0; i < scale->ticks; i += every, kept++) {
    scale->tick[kept] = scale->tick[i];
    memmove(scale->text[kept], scale->text[i], sizeof scale->text[i]);
  }
  scale->ticks = kept;
}

double idm_scale_place(const idm_scale_of_axis *scale, double number)
{
  return scale->from + part_of(scale, number) * (scale->to - scale->from);
}
