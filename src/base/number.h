/* Numbers as text, and when two count as the same. */
#ifndef IDM_BASE_NUMBER_H
#define IDM_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* The shortest decimal that reads back as the same number; inf, -inf, -0.0. Returns its length. */
int idm_number_text(double value, char *buffer, size_t size);
/* Equal to a relative tolerance (of 1 below 1); 0: bit for bit, the sign of zero included. NaN is
 * the same as NaN. */
bool idm_number_same(double a, double b, double tolerance);

#endif
