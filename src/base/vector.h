/* Vector levels: kernels compiled for several instruction sets, and elementary functions without
 * branches.
 *
 * Contents: level · vector */
#ifndef IDM_BASE_VECTOR_H
#define IDM_BASE_VECTOR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "idm/status.h"

/* === level ================================================================================== */

/* Vector levels: one copy of a hot function per instruction set, selected at run time.
 *
 * A kernel is defined by
 *
 *     IDM_KERNEL(static, scale, (size_t n, double *x), (n, x))
 *     {
 *       for (size_t i = 0; i < n; i++) x[i] *= 2;
 *     }
 *
 * On x86-64 this defines three functions with the same body, for the levels of the x86-64 psABI
 * (default, v3, v4), and a fourth that calls one of them. The code is the same with gcc and clang;
 * target_clones would need ifunc, and level names that clang 14 does not have. On other machines it
 * defines the function alone. Additions are never reordered: levels differ only in whether a
 * product and a sum are rounded once (fused) or twice. v3 and v4 fuse, the default level does not.
 */

#define IDM_INLINE static inline __attribute__((always_inline))

typedef enum idm_level { IDM_LEVEL_DEFAULT = 1, IDM_LEVEL_V3, IDM_LEVEL_V4 } idm_level;

/* Name of a level: "default", "v3", "v4". */
const char *idm_level_name(idm_level level);

/* The highest level that this processor and this build support. */
idm_level idm_level_highest(void);

/* The level of a text, the value of the environment variable IDM_LEVEL; NULL or "" gives the
 * highest level. IDM_USAGE, with a list of the levels, where there is no such level or this machine
 * does not support it. */
idm_status idm_level_parse(const char *opt_text, idm_level *ret_level, idm_error *opt_error);

/* Select the level by the environment variable IDM_LEVEL, or the highest one where its value is not
 * valid. Returns the level. */
idm_level idm_level_choose(void);

/* The selected level; 0 before the first call of a kernel. */
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
/* `return_keyword` is `return`, or empty for a function without a value. */
#define IDM_KERNEL_OF(storage, type, return_keyword, name, parameters, arguments)                  \
  IDM_INLINE type name##_body parameters;                                                          \
  __attribute__((target(IDM_TARGET_V4))) static type name##_v4 parameters                          \
  {                                                                                                \
    return_keyword name##_body arguments;                                                          \
  }                                                                                                \
  __attribute__((target(IDM_TARGET_V3))) static type name##_v3 parameters                          \
  {                                                                                                \
    return_keyword name##_body arguments;                                                          \
  }                                                                                                \
  static type name##_default parameters                                                            \
  {                                                                                                \
    return_keyword name##_body arguments;                                                          \
  }                                                                                                \
  storage type name parameters                                                                     \
  {                                                                                                \
    const idm_level level = idm_level_now();                                                       \
    if (level == IDM_LEVEL_V4)                                                                     \
      return_keyword name##_v4 arguments;                                                          \
    else if (level == IDM_LEVEL_V3)                                                                \
      return_keyword name##_v3 arguments;                                                          \
    else                                                                                           \
      return_keyword name##_default arguments;                                                     \
  }                                                                                                \
  IDM_INLINE type name##_body parameters
#else
#define IDM_LEVELS 0
#define IDM_KERNEL_OF(storage, type, return_keyword, name, parameters, arguments)                  \
  storage type name parameters
#endif

#define IDM_KERNEL(storage, name, parameters, arguments)                                           \
  IDM_KERNEL_OF(storage, void, , name, parameters, arguments)
#define IDM_KERNEL_RETURNS(storage, type, name, parameters, arguments)                             \
  IDM_KERNEL_OF(storage, type, return, name, parameters, arguments)

/* === vector ================================================================================= */

/* Elementary functions without branches, so that loops over lanes vectorise with any compiler.
 *
 * Taylor series on reduced ranges, with an error of about one unit in the last place. A vector
 * library (libmvec) would need -ffast-math, which breaks certified bounds. */

IDM_INLINE uint64_t idm_bits(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

IDM_INLINE double idm_from_bits(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Taylor series p of a number t or of a lane of numbers: first (e^t - 1)/t = sum_k t^k / (k + 1)!
 * for |t| <= 0.5, then (atanh(s)/s - 1)/s^2 in powers of t = s^2 for |s| <= 0.25. */
#define IDM_EXPM1_SERIES(p, t)                                                                     \
  (p) = 1.0 / 6227020800.0 * (t) + 1.0 / 479001600.0;                                              \
  (p) = (p) * (t) + 1.0 / 39916800.0;                                                              \
  (p) = (p) * (t) + 1.0 / 3628800.0;                                                               \
  (p) = (p) * (t) + 1.0 / 362880.0;                                                                \
  (p) = (p) * (t) + 1.0 / 40320.0;                                                                 \
  (p) = (p) * (t) + 1.0 / 5040.0;                                                                  \
  (p) = (p) * (t) + 1.0 / 720.0;                                                                   \
  (p) = (p) * (t) + 1.0 / 120.0;                                                                   \
  (p) = (p) * (t) + 1.0 / 24.0;                                                                    \
  (p) = (p) * (t) + 1.0 / 6.0;                                                                     \
  (p) = (p) * (t) + 0.5;                                                                           \
  (p) = (p) * (t) + 1.0
#define IDM_ATANH_SERIES(p, t)                                                                     \
  (p) = 1.0 / 27 * (t) + 1.0 / 25;                                                                 \
  (p) = (p) * (t) + 1.0 / 23;                                                                      \
  (p) = (p) * (t) + 1.0 / 21;                                                                      \
  (p) = (p) * (t) + 1.0 / 19;                                                                      \
  (p) = (p) * (t) + 1.0 / 17;                                                                      \
  (p) = (p) * (t) + 1.0 / 15;                                                                      \
  (p) = (p) * (t) + 1.0 / 13;                                                                      \
  (p) = (p) * (t) + 1.0 / 11;                                                                      \
  (p) = (p) * (t) + 1.0 / 9;                                                                       \
  (p) = (p) * (t) + 1.0 / 7;                                                                       \
  (p) = (p) * (t) + 1.0 / 5;                                                                       \
  (p) = (p) * (t) + 1.0 / 3

/* (e^t - 1)/t for |t| <= 0.5. */
IDM_INLINE double idm_expm1_ratio(double t)
{
  double p;
  IDM_EXPM1_SERIES(p, t);
  return p;
}

/* e^x for x <= 709. Below -690 (about 1e-300) the result is 0, since products with subnormal
 * numbers are a hundred times slower. */
IDM_INLINE double idm_vexp(double x)
{
  const double shifter = 0x1.8p52; /* adding it rounds to an integer in the low bits */
  const double nonzero = x < -690 ? 0 : 1;
  x = x < -690 ? -690 : x;
  const double shifted = x * 0x1.71547652b82fep0 + shifter;
  const double n = shifted - shifter;
  double t = x - n * 0x1.62e42fefa3800p-1;
  t = t - n * 0x1.ef35793c76730p-45;
  const double p = idm_expm1_ratio(t) * t + 1.0;
  return nonzero * idm_from_bits(idm_bits(p) + (idm_bits(shifted) << 52));
}

/* e^x - 1 for |x| <= 0.5. */
IDM_INLINE double idm_vexpm1(double x)
{
  double p = 1.0 / 20922789888000.0;
  p = p * x + 1.0 / 1307674368000.0;
  p = p * x + 1.0 / 87178291200.0;
  p = p * x + 1.0 / 6227020800.0;
  p = p * x + 1.0 / 479001600.0;
  p = p * x + 1.0 / 39916800.0;
  p = p * x + 1.0 / 3628800.0;
  p = p * x + 1.0 / 362880.0;
  p = p * x + 1.0 / 40320.0;
  p = p * x + 1.0 / 5040.0;
  p = p * x + 1.0 / 720.0;
  p = p * x + 1.0 / 120.0;
  p = p * x + 1.0 / 24.0;
  p = p * x + 1.0 / 6.0;
  p = p * x + 0.5;
  return x + x * x * p;
}

/* 2 atanh(s) = log((1+s)/(1-s)) for |s| <= 0.25. */
IDM_INLINE double idm_vatanh2(double s)
{
  const double q = s * s;
  double p;
  IDM_ATANH_SERIES(p, q);
  return 2 * s + 2 * s * q * p;
}

/* log(1 + x) for -0.4 <= x <= 0.65. */
IDM_INLINE double idm_vlog1p(double x)
{
  return idm_vatanh2(x / (2 + x));
}

/* log(x) for positive normal x. */
IDM_INLINE double idm_vlog(double x)
{
  /* x = 2^n m with m in [sqrt(1/2), sqrt(2)): subtract the bits of sqrt(1/2) and read the exponent.
   */
  const uint64_t bits = idm_bits(x);
  const uint64_t root_half = 0x3fe6a09e667f3bcdULL;
  const uint64_t shifted_bits = bits - root_half;
  const uint64_t n_bits = (shifted_bits >> 52) + ((shifted_bits >> 63) ? 0xfffffffffffff000ULL : 0);
  const double m = idm_from_bits(bits - (n_bits << 52));
  /* n as a double: insert it into the low bits of 1.5 * 2^52 and subtract 1.5 * 2^52. */
  const double n = idm_from_bits(idm_bits(0x1.8p52) + n_bits) - 0x1.8p52;
  return n * 0x1.62e42fefa39efp-1 + idm_vatanh2((m - 1) / (m + 1));
}

/* y[i] = log x[i] for positive normal numbers, i < count. */
void idm_vector_log(size_t count, const double *x, double *y);

/* --- eight numbers at once ------------------------------------------------------------------ */

/* Compilers split operations on a lane into as many instructions as the machine needs. Functions
 * take and return lanes by address: how lanes are passed by value differs between levels. */
enum { IDM_LANE_WIDTH = 8 };
typedef double idm_lane
    __attribute__((vector_size(IDM_LANE_WIDTH * sizeof(double)), aligned(sizeof(double))));
typedef int64_t idm_lane_bits
    __attribute__((vector_size(IDM_LANE_WIDTH * sizeof(int64_t)), aligned(sizeof(int64_t))));

/* a where the mask of a comparison is set, else b. */
#define IDM_LANE_SELECT(mask, a, b)                                                                \
  ((idm_lane)(((idm_lane_bits)(mask) & (idm_lane_bits)(a)) |                                       \
              (~(idm_lane_bits)(mask) & (idm_lane_bits)(b))))

/* x = idm_vexp(x) in each lane. */
IDM_INLINE void idm_lane_exp(idm_lane *x)
{
  const double shifter = 0x1.8p52;
  const idm_lane zero = {0}, lowest = zero - 690;
  const idm_lane_bits low = (idm_lane_bits)(*x < lowest);
  const idm_lane y = IDM_LANE_SELECT(low, lowest, *x);
  const idm_lane shifted = y * 0x1.71547652b82fep0 + shifter, n = shifted - shifter;
  const idm_lane t = y - n * 0x1.62e42fefa3800p-1 - n * 0x1.ef35793c76730p-45;
  idm_lane p;
  IDM_EXPM1_SERIES(p, t);
  p = p * t + 1.0;
  const idm_lane_bits bits = (idm_lane_bits)p + ((idm_lane_bits)shifted << 52);
  *x = (idm_lane)(~low & bits);
}

/* x = idm_vlog(x) in each lane. */
IDM_INLINE void idm_lane_log(idm_lane *x)
{
  const int64_t root_half = 0x3fe6a09e667f3bcd, shifter = 0x4338000000000000;
  const idm_lane_bits bits = (idm_lane_bits)*x, n_bits = (bits - root_half) >> 52;
  const idm_lane m = (idm_lane)(bits - (n_bits << 52)), n = (idm_lane)(n_bits + shifter) - 0x1.8p52;
  const idm_lane s = (m - 1) / (m + 1), q = s * s;
  idm_lane p;
  IDM_ATANH_SERIES(p, q);
  *x = n * 0x1.62e42fefa39efp-1 + (2 * s + 2 * s * q * p);
}

#endif
