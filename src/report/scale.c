/* Scales: see the header. */
#include "report/scale.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void idm_scale_ends(bool logarithmic, double pad, double *low, double *high)
{
  if (!(*low <= *high)) *low = logarithmic ? 1 : 0, *high = 1;
  if (logarithmic) {
    if (!(*high > 0)) *high = 1;
    if (!(*low > 0)) *low = 1e-3 * *high;
    const double wider = *low < *high ? pow(*high / *low, pad) : 2;
    *low /= wider;
    *high *= wider;
    return;
  }
  const double size = fmax(fabs(*low), fabs(*high));
  double wider = pad * (*high - *low);
  if (!(*high - *low > 1e-12 * size)) wider = size > 0 ? 0.1 * size : 1;
  *low -= wider;
  *high += wider;
}

/* A minus sign as printers set it, and powers of ten as powers. */
static void set_text(double number, int decimals, char *text)
{
  static const char minus[] = "\xE2\x88\x92";
  char plain[IDM_TICK_TEXT];
  const double size = fabs(number);
  if (size != 0 && (size >= 1e6 || size < 1e-4))
    idm_print(plain, sizeof plain, "%.3g", size);
  else
    idm_print(plain, sizeof plain, "%.*f", decimals, size);
  idm_print(text, IDM_TICK_TEXT, "%s%s", number < 0 ? minus : "", plain);
}

static void add_tick(idm_scale_of_axis *scale, double number, int decimals)
{
  if (scale->ticks == IDM_TICKS) return;
  scale->tick[scale->ticks] = number;
  set_text(number, decimals, scale->text[scale->ticks++]);
}

static int decimals_of(double step)
{
  const int places = (int)-floor(log10(step) + 1e-9);
  return places < 0 ? 0 : places > 12 ? 12 : places;
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
  for (double k = first; k <= last && scale->ticks < IDM_TICKS; k++)
    add_tick(scale, k == 0 ? 0 : k * step, decimals_of(step));
}

/* Powers of ten, every so many-th; between few of them twice and five times each as well. */
static void tick_powers(idm_scale_of_axis *scale, double about)
{
  static const double within[] = {1, 2, 5};
  const double low = log10(scale->low), high = log10(scale->high);
  const double every = fmax(1, ceil((high - low) / fmax(about, 1) - 1e-9));
  const int parts = high - low < 2.2 && 3 * (high - low) <= fmax(about, 3) ? 3 : 1;
  for (double k = every * floor(low / every); k <= high + 1e-9; k += every)
    for (int i = 0; i < parts; i++) {
      const double number = within[i] * pow(10, k);
      if (number >= scale->low * (1 - 1e-9) && number <= scale->high * (1 + 1e-9))
        add_tick(scale, number, decimals_of(pow(10, k)));
    }
}

void idm_scale_tick(idm_scale_of_axis *scale, double about, bool whole)
{
  scale->ticks = 0;
  if (scale->logarithmic) tick_powers(scale, about);
  /* Less than a power: even ticks say more. */
  if (scale->logarithmic && scale->ticks >= 2) return;
  /* Two at least: one alone says nothing of how far it is to anywhere. */
  for (int k = 0; k < 3; k++) {
    scale->ticks = 0;
    tick_evenly(scale, about, whole);
    if (scale->ticks > 1) return;
    about = 2 * fmax(about, 1);
  }
}

double idm_scale_place(const idm_scale_of_axis *scale, double number)
{
  const double part = scale->logarithmic ? log(number / scale->low) / log(scale->high / scale->low)
                                         : (number - scale->low) / (scale->high - scale->low);
  return scale->from + part * (scale->to - scale->from);
}
