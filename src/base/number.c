/* Conversion between numbers and text, independent of the locale, and comparison of numbers. */
#include "base/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set the C locale for this thread; return the previous locale. Nothing is allocated: glibc and
 * musl return a constant object for the name "C". */
static locale_t set_c_locale(void)
{
  return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

double idm_number_read(const char *text, char **opt_end)
{
  const locale_t previous_locale = set_c_locale();
  const double value = strtod(text, opt_end);
  uselocale(previous_locale);
  return value;
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Whether the text is sign, digits, point, digits, exponent. strtod would also accept hexadecimal
 * numbers and nan. */
static bool is_decimal(const char *text, size_t length)
{
  size_t i = 0;
  size_t digits = 0;
  if (i < length && (text[i] == '+' || text[i] == '-')) i++;
  for (; i < length && is_digit(text[i]); i++) digits++;
  if (i < length && text[i] == '.') i++;
  for (; i < length && is_digit(text[i]); i++) digits++;
  if (!digits) return false;
  if (i < length && (text[i] == 'e' || text[i] == 'E')) {
    i++;
    if (i < length && (text[i] == '+' || text[i] == '-')) i++;
    if (i == length) return false;
    while (i < length && is_digit(text[i])) i++;
  }
  return i == length;
}

/* Read up to 15 digits with a point: an integer divided by a power of ten, both exact, so that the
 * quotient is correctly rounded. */
static bool short_number(const char *text, size_t length, double *ret_number)
{
  static const double power[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (length == 0 || length > 15) return false;
  uint64_t whole = 0;
  size_t digits = 0;
  size_t places = 0;
  bool point = false;
  size_t i = text[0] == '-';
  for (; i < length; i++) {
    if (is_digit(text[i])) {
      whole = 10 * whole + (uint64_t)(text[i] - '0');
      digits++;
      places += point;
    } else if (text[i] == '.' && !point) {
      point = true;
    } else {
      return false;
    }
  }
  if (!digits) return false;
  const double number = (double)whole / power[places];
  *ret_number = text[0] == '-' ? -number : number;
  return true;
}

bool idm_number_decimal(const char *digits, size_t length, double *ret_number)
{
  if (short_number(digits, length, ret_number)) return true;
  char text[512];
  if (length >= sizeof text || !is_decimal(digits, length)) return false;
  memcpy(text, digits, length);
  text[length] = '\0';
  char *end;
  *ret_number = idm_number_read(text, &end);
  return *end == '\0' && isfinite(*ret_number);
}

int idm_print_list(char *buffer, size_t size, const char *format, va_list arguments)
{
  const locale_t previous_locale = set_c_locale();
  const int length = vsnprintf(buffer, size, format, arguments);
  uselocale(previous_locale);
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
  /* Normal numbers distinguish all decimals of 15 digits, so the search starts there; subnormal
   * numbers may need fewer digits, down to one. */
  int length = 0;
  for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= 17; digits++) {
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
