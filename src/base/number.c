/* Numbers as text, and when two count as the same. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int idm_number_text(double value, char *buffer, size_t size)
{
  if (isinf(value)) return snprintf(buffer, size, value < 0 ? "-inf" : "inf");
  if (value == 0) return snprintf(buffer, size, signbit(value) ? "-0.0" : "0");
  int length = 0;
  for (int digits = 15; digits <= 17; digits++) {
    length = snprintf(buffer, size, "%.*g", digits, value);
    if (strtod(buffer, NULL) == value) break;
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
