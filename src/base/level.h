/* Vector levels: one copy of a hot function per instruction set, chosen at run time.
 *
 * A kernel is defined by
 *
 *     IDM_KERNEL(static, scale, (size_t n, double *x), (n, x))
 *     {
 *       for (size_t i = 0; i < n; i++) x[i] *= 2;
 *     }
 *
 * On x86-64 that is three functions with the same body, for the levels of the x86-64 psABI
 * (default, v3, v4), and a fourth that calls one of them. The code is the same with gcc and clang;
 * target_clones would need ifunc, and names of levels that clang 14 does not have. On other
 * machines it is the function alone. Additions are never reordered, so that levels differ only in
 * where a product and a sum are rounded once (fused) instead of twice: v3 and v4 fuse, the default
 * level does not. */
#ifndef IDM_BASE_LEVEL_H
#define IDM_BASE_LEVEL_H

#include <stdatomic.h>

#include "idm/status.h"

#define IDM_INLINE static inline __attribute__((always_inline))

typedef enum idm_level { IDM_LEVEL_DEFAULT = 1, IDM_LEVEL_V3, IDM_LEVEL_V4 } idm_level;

/* The name of a level: default, v3, v4. */
const char *idm_level_name(idm_level level);

/* The highest level that this processor and this build have. */
idm_level idm_level_highest(void);

/* The level of an environment variable's text: the highest one for NULL or an empty text. IDM_USAGE
 * with the possible levels if there is no such level, or if this machine lacks it. */
idm_status idm_level_parse(const char *opt_text, idm_level *ret_level, idm_error *opt_error);

/* Choose the level by the environment variable IDM_LEVEL; the highest one where that is not valid.
 */
idm_level idm_level_choose(void);

/* The chosen level; 0 before the first kernel is called. */
extern _Atomic int idm_level_chosen;

IDM_INLINE idm_level idm_level_now(void)
{
  const int level = atomic_load_explicit(&idm_level_chosen, memory_order_relaxed);
  return level ? (idm_level)level : idm_level_choose();
}

#if defined(__x86_64__)
#define IDM_LEVELS    1
#define IDM_TARGET_V3 "avx2,fma,bmi,bmi2"
#define IDM_TARGET_V4 IDM_TARGET_V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
/* `give` is `return`, or nothing for a function without a value. */
#define IDM_KERNEL_OF(storage, type, give, name, parameters, arguments)                            \
  IDM_INLINE type name##_body parameters;                                                          \
  __attribute__((target(IDM_TARGET_V4))) static type name##_v4 parameters                          \
  {                                                                                                \
    give name##_body arguments;                                                                    \
  }                                                                                                \
  __attribute__((target(IDM_TARGET_V3))) static type name##_v3 parameters                          \
  {                                                                                                \
    give name##_body arguments;                                                                    \
  }                                                                                                \
  static type name##_default parameters                                                            \
  {                                                                                                \
    give name##_body arguments;                                                                    \
  }                                                                                                \
  storage type name parameters                                                                     \
  {                                                                                                \
    const idm_level level = idm_level_now();                                                       \
    if (level == IDM_LEVEL_V4)                                                                     \
      give name##_v4 arguments;                                                                    \
    else if (level == IDM_LEVEL_V3)                                                                \
      give name##_v3 arguments;                                                                    \
    else                                                                                           \
      give name##_default arguments;                                                               \
  }                                                                                                \
  IDM_INLINE type name##_body parameters
#else
#define IDM_LEVELS                                                      0
#define IDM_KERNEL_OF(storage, type, give, name, parameters, arguments) storage type name parameters
#endif

#define IDM_KERNEL(storage, name, parameters, arguments)                                           \
  IDM_KERNEL_OF(storage, void, , name, parameters, arguments)
#define IDM_KERNEL_RETURNS(storage, type, name, parameters, arguments)                             \
  IDM_KERNEL_OF(storage, type, return, name, parameters, arguments)

#endif
