/* Encodes bytes in base64, and hashes texts for content security policies. */
#include "report/markup.h"

#include <sha2.h>
#include <string.h>

/* Six bits per character. */
void idm_markup_base64(idm_markup *m, const void *data, size_t length)
{
  const unsigned char *bytes = data;
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < length; i += 3) {
    const size_t left = length - i;
    const unsigned word = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                          (left > 2 ? bytes[i + 2] : 0);
    char four[4];
    for (size_t k = 0; k < 4; k++) four[k] = k > left ? '=' : letters[word >> (18 - 6 * k) & 63];
    idm_markup_raw(m, four, sizeof four);
  }
}

void idm_markup_digest(idm_markup *m, const char *text)
{
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, (const uint8_t *)text, strlen(text));
  SHA256Final(digest, &context);
  idm_markup_add(m, "'sha256-");
  idm_markup_base64(m, digest, sizeof digest);
  idm_markup_add(m, "'");
}
