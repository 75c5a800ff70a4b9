/* Vector levels, and elementary functions over arrays.
 *
 * Contents: level · vector */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* === level ================================================================================== */

/* Vector levels: detection, and the environment variable that forces one. */

_Atomic int idm_level_chosen;

static const char *const names[] = {
    [IDM_LEVEL_DEFAULT] = "default", [IDM_LEVEL_V3] = "v3", [IDM_LEVEL_V4] = "v4"};

const char *idm_level_name(idm_level level)
{
  return names[level];
}

#if IDM_LEVELS
/* __builtin_cpu_supports also tests whether the operating system saves the wider registers. The
 * features are those of IDM_TARGET_V3 and IDM_TARGET_V4. */
static bool has_v3(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void)
{
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

idm_level idm_level_highest(void)
{
  return has_v4() ? IDM_LEVEL_V4 : has_v3() ? IDM_LEVEL_V3 : IDM_LEVEL_DEFAULT;
}
#else
idm_level idm_level_highest(void)
{
  return IDM_LEVEL_DEFAULT;
}
#endif

idm_status idm_level_parse(const char *opt_text, idm_level *ret_level, idm_error *opt_error)
{
  static const char *const level_list[] = {[IDM_LEVEL_DEFAULT] = "default",
                                           [IDM_LEVEL_V3] = "default or v3",
                                           [IDM_LEVEL_V4] = "default, v3 or v4"};
  const idm_level highest = idm_level_highest();
  *ret_level = highest;
  if (!opt_text || !opt_text[0]) return IDM_OK;
  for (size_t i = IDM_LEVEL_DEFAULT; i < sizeof names / sizeof names[0] && i <= (size_t)highest;
       i++)
    if (strcmp(opt_text, names[i]) == 0) {
      *ret_level = (idm_level)i;
      return IDM_OK;
    }
  return idm_fail(opt_error, IDM_USAGE,
                  "the environment variable IDM_LEVEL is '%s'; the vector levels of this machine: "
                  "%s",
                  opt_text, level_list[highest]);
}

idm_level idm_level_choose(void)
{
  idm_level level;
  (void)idm_level_parse(getenv("IDM_LEVEL"), &level, NULL);
  atomic_store_explicit(&idm_level_chosen, (int)level, memory_order_relaxed);
  return level;
}

/* === vector ================================================================================= */

/* Elementary functions over arrays. */

IDM_KERNEL(, idm_vector_log, (size_t count, const double *x, double *y), (count, x, y))
{
  for (size_t i = 0; i < count; i++) y[i] = idm_vlog(x[i]);
}
