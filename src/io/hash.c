/* SHA-256 of a file, by libmd. */
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "idm/request.h"

idm_status idm_file_hash(const char *path, char hash[IDM_HASH], idm_error *opt_error)
{
  idm_require(path, hash);
  static const char digits[] = "0123456789abcdef";
  FILE *stream = fopen(path, "rb");
  if (!stream) return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", path, strerror(errno));
  SHA2_CTX context;
  uint8_t block[1 << 14];
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Init(&context);
  for (size_t length = fread(block, 1, sizeof block, stream); length;
       length = fread(block, 1, sizeof block, stream))
    SHA256Update(&context, block, length);
  const bool failed = ferror(stream);
  fclose(stream);
  if (failed) return idm_fail(opt_error, IDM_INPUT, "cannot read '%s'", path);
  SHA256Final(digest, &context);
  for (size_t i = 0; i < sizeof digest; i++) {
    hash[2 * i] = digits[digest[i] >> 4];
    hash[2 * i + 1] = digits[digest[i] & 15];
  }
  hash[IDM_HASH - 1] = '\0';
  return IDM_OK;
}
