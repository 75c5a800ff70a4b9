/* Read, write, check and print the fields of a settings struct by descriptors. */
#include "base/key.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/text.h"

const idm_key *idm_key_find(const idm_key *keys, const char *name)
{
  if (!keys || !name) return NULL;
  for (; keys->name; keys++)
    if (strcmp(keys->name, name) == 0) return keys;
  return NULL;
}

static void *field_of(const idm_key *key, void *fields)
{
  return (char *)fields + key->offset;
}

static const void *const_field_of(const idm_key *key, const void *fields)
{
  return (const char *)fields + key->offset;
}

double idm_key_number(const idm_key *key, const void *fields)
{
  if (!key || !fields) return NAN;
  const void *field = const_field_of(key, fields);
  switch (key->kind) {
  case IDM_KEY_NUMBER:
    return *(const double *)field;
  case IDM_KEY_INT:
  case IDM_KEY_ENUM:
    return *(const int *)field;
  case IDM_KEY_LONG:
    return (double)*(const long *)field;
  case IDM_KEY_SIZE:
    return (double)*(const size_t *)field;
  case IDM_KEY_SEED:
    return (double)*(const uint64_t *)field;
  case IDM_KEY_BOOL:
    return *(const bool *)field;
  default:
    return NAN;
  }
}

/* Whether a field of this kind can represent the number. */
static bool holds(idm_key_kind kind, double value)
{
  if (kind == IDM_KEY_NUMBER) return true;
  if (kind == IDM_KEY_INT || kind == IDM_KEY_ENUM) return fabs(value) < 0x1p31;
  return fabs(value) < 0x1p63 && (kind == IDM_KEY_LONG || value >= 0);
}

void idm_key_set_number(const idm_key *key, void *fields, double value)
{
  if (!key || !fields || !holds(key->kind, value)) return;
  void *field = field_of(key, fields);
  switch (key->kind) {
  case IDM_KEY_NUMBER:
    *(double *)field = value;
    break;
  case IDM_KEY_INT:
  case IDM_KEY_ENUM:
    *(int *)field = (int)value;
    break;
  case IDM_KEY_LONG:
    *(long *)field = (long)value;
    break;
  case IDM_KEY_SIZE:
    *(size_t *)field = (size_t)value;
    break;
  case IDM_KEY_SEED:
    *(uint64_t *)field = (uint64_t)value;
    break;
  case IDM_KEY_BOOL:
    *(bool *)field = value != 0;
    break;
  default:
    break;
  }
}

const char *idm_key_expected(const idm_key *key, char *buffer, size_t size)
{
  if (!key || !buffer) return NULL;
  size_t used = 0;
  switch (key->kind) {
  case IDM_KEY_NUMBER:
    idm_print(buffer, size,
              key->least == -INFINITY ? "a finite number"
              : key->infinite         ? "a number above %g, or inf"
              : key->above            ? "a finite number above %g"
                                      : "a finite number of at least %g",
              key->least);
    used = strlen(buffer);
    if (key->zero && used < size) idm_print(buffer + used, size - used, ", or %s", key->zero);
    break;
  case IDM_KEY_SEED:
    idm_print(buffer, size, "a whole number below 2^64");
    break;
  case IDM_KEY_BOOL:
    idm_print(buffer, size, "true or false");
    break;
  case IDM_KEY_ENUM:
    for (size_t i = 0; key->words[i] && used < size; i++)
      used += (size_t)idm_print(buffer + used, size - used, "%s%s",
                                !i                  ? ""
                                : key->words[i + 1] ? ", "
                                                    : " or ",
                                key->words[i]);
    break;
  case IDM_KEY_TEXT:
    idm_print(buffer, size, "a text of fewer than %.0f bytes", key->most);
    break;
  case IDM_KEY_TEXTS:
    idm_print(buffer, size, "texts of fewer than %.0f bytes in all", key->most);
    break;
  default:
    idm_print(buffer, size, "a whole number from %.0f to %.0f%s%s", key->least, key->most,
              key->zero ? ", or " : "", key->zero ? key->zero : "");
  }
  return buffer;
}

static idm_status refuse(const idm_key *key, const char *text, idm_error *opt_error)
{
  char expected[160];
  return idm_fail(opt_error, IDM_USAGE, "%s is '%.80s'; expected %s", key->name, text,
                  idm_key_expected(key, expected, sizeof expected));
}

static bool in_range(const idm_key *key, double value)
{
  return value >= key->least && value <= key->most && !(key->above && value == key->least);
}

static bool is_legal(const idm_key *key, const void *fields)
{
  const double value = idm_key_number(key, fields);
  size_t words = 0;
  switch (key->kind) {
  case IDM_KEY_SEED:
  case IDM_KEY_BOOL:
    return true;
  case IDM_KEY_TEXT:
  case IDM_KEY_TEXTS:
    return memchr(const_field_of(key, fields), '\0', (size_t)key->most) != NULL;
  case IDM_KEY_ENUM:
    while (key->words[words]) words++;
    return value >= 0 && value < (double)words;
  case IDM_KEY_NUMBER:
    return isnan(value) || in_range(key, value) || (key->zero && value == 0);
  default:
    return in_range(key, value) || (key->zero && value == 0);
  }
}

idm_status idm_keys_check(const idm_key *keys, const void *fields, idm_error *opt_error)
{
  idm_require(keys, fields);
  for (const idm_key *key = keys; key->name; key++) {
    char text[40] = "";
    if (is_legal(key, fields)) continue;
    idm_print(text, sizeof text, "%.17g", idm_key_number(key, fields));
    return refuse(key, text, opt_error);
  }
  return IDM_OK;
}

static bool set_word(const idm_key *key, void *fields, const char *text)
{
  static const char *const truth[] = {"false", "true", NULL};
  const char *const *words = key->kind == IDM_KEY_BOOL ? truth : key->words;
  for (size_t i = 0; words[i]; i++)
    if (strcmp(words[i], text) == 0) {
      idm_key_set_number(key, fields, (double)i);
      return true;
    }
  return false;
}

/* A seed has 64 bits, more than a double represents exactly. */
static bool set_seed(const idm_key *key, void *fields, const char *text)
{
  errno = 0;
  const unsigned long long value = strtoull(text, NULL, 10);
  if (!text[0] || text[strspn(text, "0123456789")] || errno) return false;
  *(uint64_t *)field_of(key, fields) = value;
  return true;
}

static bool set_number(const idm_key *key, void *fields, const char *text)
{
  char *end;
  if (key->zero && strcmp(text, key->zero) == 0) {
    idm_key_set_number(key, fields, 0);
    return true;
  }
  const double value = idm_number_read(text, &end);
  const bool whole = key->kind == IDM_KEY_NUMBER || value == floor(value);
  const bool finite = isfinite(value) || (key->infinite && value == INFINITY);
  if (!text[0] || *end || strpbrk(text, "xX") || !finite || !whole) return false;
  if (!in_range(key, value)) return false;
  idm_key_set_number(key, fields, value);
  return true;
}

idm_status idm_key_set_text(const idm_key *key, void *fields, const char *text,
                            idm_error *opt_error)
{
  idm_require(key, fields, text);
  bool set;
  switch (key->kind) {
  case IDM_KEY_TEXT:
  case IDM_KEY_TEXTS:
    set = strlen(text) < (size_t)key->most;
    if (set) memcpy(field_of(key, fields), text, strlen(text) + 1);
    break;
  case IDM_KEY_BOOL:
  case IDM_KEY_ENUM:
    set = set_word(key, fields, text);
    break;
  case IDM_KEY_SEED:
    set = set_seed(key, fields, text);
    break;
  default:
    set = set_number(key, fields, text);
  }
  return set ? IDM_OK : refuse(key, text, opt_error);
}

const char *idm_key_text(const idm_key *key, const void *fields, char *buffer, size_t size)
{
  if (!key || !fields || !buffer) return NULL;
  const void *field = const_field_of(key, fields);
  buffer[0] = '\0';
  switch (key->kind) {
  case IDM_KEY_TEXT:
  case IDM_KEY_TEXTS:
    idm_print(buffer, size, "%s", (const char *)field);
    break;
  case IDM_KEY_ENUM:
    if (is_legal(key, fields)) idm_print(buffer, size, "%s", key->words[*(const int *)field]);
    break;
  case IDM_KEY_BOOL:
    idm_print(buffer, size, "%s", *(const bool *)field ? "true" : "false");
    break;
  case IDM_KEY_SEED:
    idm_print(buffer, size, "%llu", (unsigned long long)*(const uint64_t *)field);
    break;
  default:
    if (key->zero && idm_key_number(key, fields) == 0)
      idm_print(buffer, size, "%s", key->zero);
    else if (!isnan(idm_key_number(key, fields)))
      idm_number_text(idm_key_number(key, fields), buffer, size);
  }
  return buffer;
}

bool idm_key_same(const idm_key *key, const void *a, const void *b, double tolerance)
{
  if (!key || !a || !b) return false;
  if (key->kind == IDM_KEY_TEXT || key->kind == IDM_KEY_TEXTS)
    return strcmp(const_field_of(key, a), const_field_of(key, b)) == 0;
  if (key->kind == IDM_KEY_SEED)
    return *(const uint64_t *)const_field_of(key, a) == *(const uint64_t *)const_field_of(key, b);
  return idm_number_same(idm_key_number(key, a), idm_key_number(key, b), tolerance);
}
