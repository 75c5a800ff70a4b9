/* Numbers as text, whatever the host's locale, and when two count as the same. */
#ifndef IDM_BASE_NUMBER_H
#define IDM_BASE_NUMBER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"

/* strtod, snprintf and vsnprintf with a decimal point, also where the host program has set a locale
 * with a decimal comma. */
double idm_number_read(const char *text, char **opt_end);
int idm_print(char *buffer, size_t size, const char *format, ...) IDM_PRINTF(3, 4);
int idm_print_list(char *buffer, size_t size, const char *format, va_list arguments);

/* A finite decimal number, the whole text: sign, digits, point, digits, exponent. False for
 * anything else. */
bool idm_number_decimal(const char *text, size_t length, double *ret_number);
/* The number rounded to as few digits as read back as the same number; inf, -inf, -0.0. Returns the
 * text's length. */
int idm_number_text(double value, char *buffer, size_t size);
/* Equal to a relative tolerance (of 1 below 1); 0: bit for bit, the sign of zero included. NaN is
 * the same as NaN. */
bool idm_number_same(double a, double b, double tolerance);

#endif
