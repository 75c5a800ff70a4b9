/* Numbers in JSON: infinities as strings, NaN as null (DESIGN, section 6). */
#ifndef IDM_IO_JSON_H
#define IDM_IO_JSON_H

#include <jansson.h>
#include <math.h>

static inline json_t *idm_json_number(double value)
{
  if (isnan(value)) return json_null();
  if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
  return json_real(value);
}

#endif
