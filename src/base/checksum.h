/* FNV-1a in 64 bits (Fowler, Noll and Vo): tells texts apart, and damaged bytes from whole ones. No
 * guard against forgery. */
#ifndef IDM_BASE_CHECKSUM_H
#define IDM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define IDM_CHECKSUM_START UINT64_C(14695981039346656037)

/* The checksum so far, and more bytes. */
static inline uint64_t idm_checksum(uint64_t so_far, const char *bytes, size_t length)
{
  for (size_t i = 0; i < length; i++)
    so_far = (so_far ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return so_far;
}

#endif
