/* Numbers as text, and when two count as the same. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The C locale for this thread alone; returns what it had. No locale is made: glibc and musl give
 * out a constant one for the name "C". */
static locale_t enter(void)
{
  return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

double idm_number_read(const char *text, char **opt_end)
{
  const locale_t host = enter();
  const double value = strtod(text, opt_end);
  uselocale(host);
  return value;
}

int idm_print_list(char *buffer, size_t size, const char *format, va_list arguments)
{
  const locale_t host = enter();
  const int length = vsnprintf(buffer, size, format, arguments);
  uselocale(host);
  return length;
}

int idm_print(char *buffer, size_t size, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = idm_print_list(buffer, size, format, arguments);
  va_end(arguments);
  return length;
}

int idm_number_text(double value, char *buffer, size_t size)
{
  if (isinf(value)) return snprintf(buffer, size, value < 0 ? "-inf" : "inf");
  if (value == 0) return snprintf(buffer, size, signbit(value) ? "-0.0" : "0");
  int length = 0;
  for (int digits = 15; digits <= 17; digits++) {
    length = idm_print(buffer, size, "%.*g", digits, value);
    if (idm_number_read(buffer, NULL) == value) break;
  }
  return length;
}

bool idm_number_same(double a, double b, double tolerance)
{
  if (a == b) return signbit(a) == signbit(b) || tolerance > 0;
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return false;
  return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}
