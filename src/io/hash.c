/* SHA-256 of a file, by libmd. */
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/texts.h"
#include "idm/request.h"

/* The digest in hexadecimal. */
static void finish(SHA2_CTX *context, char hash[IDM_HASH])
{
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Final(digest, context);
  for (size_t i = 0; i < sizeof digest; i++) {
    hash[2 * i] = digits[digest[i] >> 4];
    hash[2 * i + 1] = digits[digest[i] & 15];
  }
  hash[IDM_HASH - 1] = '\0';
}

idm_status idm_file_hash(const char *path, char hash[IDM_HASH], idm_error *opt_error)
{
  idm_require(path, hash);
  FILE *stream = fopen(path, "rb");
  if (!stream) return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", path, strerror(errno));
  SHA2_CTX context;
  uint8_t block[1 << 14];
  SHA256Init(&context);
  for (size_t length = fread(block, 1, sizeof block, stream); length;
       length = fread(block, 1, sizeof block, stream))
    SHA256Update(&context, block, length);
  const bool failed = ferror(stream);
  fclose(stream);
  if (failed) return idm_fail(opt_error, IDM_INPUT, "cannot read '%s'", path);
  finish(&context, hash);
  return IDM_OK;
}

idm_status idm_files_hash(const char *paths, char hash[IDM_HASH], idm_error *opt_error)
{
  idm_require(paths, hash);
  if (!strchr(paths, '\n')) return idm_file_hash(paths, hash, opt_error);
  size_t count = 0;
  char **path = idm_texts_split(paths, &count);
  idm_status status = path ? IDM_OK : idm_fail_memory(opt_error);
  SHA2_CTX context;
  SHA256Init(&context);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    char one[IDM_HASH];
    status = idm_file_hash(path[i], one, opt_error);
    if (status == IDM_OK) SHA256Update(&context, (const uint8_t *)one, IDM_HASH - 1);
  }
  if (status == IDM_OK) finish(&context, hash);
  free(path);
  return status;
}
