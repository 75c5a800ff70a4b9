/* SHA-256 of a file, by libmd. */
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/texts.h"
#include "io/hash.h"

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

idm_status idm_file_hash_at(const idm_place *place, char hash[IDM_HASH], idm_error *opt_error)
{
  SHA2_CTX context;
  uint8_t block[1 << 14];
  ssize_t length = 0;
  int descriptor;
  const idm_status status = idm_place_open(place, &descriptor, opt_error);
  if (status != IDM_OK) return status;
  SHA256Init(&context);
  while ((length = read(descriptor, block, sizeof block)) > 0 || (length < 0 && errno == EINTR))
    if (length > 0) SHA256Update(&context, block, (size_t)length);
  close(descriptor);
  if (length < 0) return idm_fail(opt_error, IDM_INPUT, "cannot read '%s'", place->path);
  finish(&context, hash);
  return IDM_OK;
}

idm_status idm_file_hash(const char *path, char hash[IDM_HASH], idm_error *opt_error)
{
  idm_require(path, hash);
  const idm_place place = idm_place_of(path);
  return idm_file_hash_at(&place, hash, opt_error);
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
