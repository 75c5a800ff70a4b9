/* Text: lists of texts in one array, spelling suggestions and interned strings.
 *
 * Contents: texts · suggest · intern */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* === texts ================================================================================== */

/* Lists of texts in one array of characters, separated by line ends. */

size_t idm_texts_at(const char *texts, size_t i, const char **ret_text)
{
  for (; i && *texts; i--) {
    texts += strcspn(texts, "\n");
    texts += *texts == '\n';
  }
  *ret_text = texts;
  return strcspn(texts, "\n");
}

char **idm_texts_split(const char *texts, size_t *ret_count)
{
  const char *text;
  size_t count = 0;
  while (idm_texts_at(texts, count, &text)) count++;
  *ret_count = count;
  char **list = malloc((count + 1) * sizeof *list + strlen(texts) + 1);
  if (!list) return NULL;
  char *at = (char *)(list + count + 1);
  for (size_t i = 0; i < count; i++) {
    const size_t length = idm_texts_at(texts, i, &text);
    list[i] = at;
    memcpy(at, text, length);
    at[length] = '\0';
    at += length + 1;
  }
  list[count] = NULL;
  return list;
}

idm_status idm_texts_add(char *texts, size_t size, const char *text, idm_error *opt_error)
{
  const size_t used = strlen(texts);
  const size_t length = strlen(text);
  if (!length || strchr(text, '\n'))
    return idm_fail(opt_error, IDM_USAGE,
                    "'%.60s' is empty or contains a line end; expected a text", text);
  if (length >= size || used + (used > 0) >= size - length)
    return idm_fail(opt_error, IDM_USAGE, "more than %zu bytes of texts: '%.60s' does not fit",
                    size - 1, text);
  if (used) texts[used] = '\n';
  memcpy(texts + used + (used > 0), text, length + 1);
  return IDM_OK;
}

/* === suggest ================================================================================ */

/* Spelling suggestions for unknown words. */

/* Longer words get no suggestion, and longer lists are not searched. */
enum { max_word_length = 64, max_word_count = 1000 };

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Levenshtein distance: letters to insert, delete or change to turn one word into the other. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
  size_t row[max_word_length + 1];
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      const size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = smaller(change, 1 + smaller(row[j], row[j - 1]));
    }
  }
  return row[b_length];
}

const char *idm_suggest(const char *word, const char *const *known, size_t count)
{
  const size_t length = strlen(word);
  if (length > max_word_length || count > max_word_count) return NULL;
  const char *nearest = NULL;
  size_t best = length / 2 + 1;
  for (size_t i = 0; i < count; i++) {
    const size_t known_length = strlen(known[i]);
    if (known_length > max_word_length) continue;
    const size_t steps = distance(word, length, known[i], known_length);
    if (steps >= best || steps >= known_length) continue;
    best = steps;
    nearest = known[i];
  }
  return nearest;
}

/* === intern ================================================================================= */

/* Interned strings: an open-addressing hash table over one arena of text. */

/* Multiplicative hash, eight bytes at a time. */
static uint64_t hash_bytes(const char *text, size_t length)
{
  const uint64_t odd = 0x9e3779b97f4a7c15u;
  uint64_t hash = (uint64_t)length * odd + 1;
  while (length >= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
    text += 8;
    length -= 8;
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < length; i++) tail |= (uint64_t)(unsigned char)text[i] << (8 * i);
  hash = (hash ^ tail) * odd;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93u;
  return hash ^ (hash >> 32);
}

bool idm_intern_is(const idm_intern *intern, uint32_t index, const char *text, size_t length)
{
  if (index >= intern->count) return false;
  const size_t first = intern->offset[index];
  return intern->offset[index + 1] - first == length &&
         (length == 0 || memcmp(intern->text + first, text, length) == 0);
}

/* The slot that contains the string, or the free slot for it. */
static size_t find_slot(const idm_intern *intern, uint64_t hash, const char *text, size_t length)
{
  const size_t mask = intern->slots - 1;
  size_t i = (size_t)hash & mask;
  for (; intern->slot[i]; i = (i + 1) & mask)
    if (intern->slot[i] >> 32 == hash >> 32 &&
        idm_intern_is(intern, (uint32_t)intern->slot[i] - 1, text, length))
      break;
  return i;
}

uint32_t idm_intern_find(const idm_intern *intern, const char *text, size_t length)
{
  if (!intern->slots) return IDM_INTERN_NONE;
  const uint64_t entry = intern->slot[find_slot(intern, hash_bytes(text, length), text, length)];
  return entry ? (uint32_t)entry - 1 : IDM_INTERN_NONE;
}

static bool grow_slots(idm_intern *intern)
{
  const size_t slots = intern->slots ? 2 * intern->slots : 64;
  uint64_t *slot = idm_new(slots, sizeof *slot);
  if (!slot) return false;
  for (uint32_t index = 0; index < intern->count; index++) {
    size_t length;
    const char *text = idm_intern_text(intern, index, &length);
    const uint64_t hash = hash_bytes(text, length);
    size_t i = (size_t)hash & (slots - 1);
    while (slot[i]) i = (i + 1) & (slots - 1);
    slot[i] = (hash >> 32 << 32) | (index + 1);
  }
  free(intern->slot);
  intern->slot = slot;
  intern->slots = slots;
  return true;
}

/* Allocate space for one more string of `length` bytes; false where memory runs out. */
static bool make_room(idm_intern *intern, size_t length)
{
  if (intern->count >= INT32_MAX) return false; /* numbers fit a signed 32-bit index */
  if (intern->count + (size_t)2 > intern->offset_capacity) {
    const size_t capacity = intern->offset_capacity ? 2 * intern->offset_capacity : 32;
    size_t *offset = realloc(intern->offset, capacity * sizeof *offset);
    if (!offset) return false;
    offset[0] = 0;
    intern->offset = offset;
    intern->offset_capacity = capacity;
  }
  const size_t needed = intern->offset[intern->count] + length;
  if (needed >= intern->text_capacity) {
    const size_t capacity = 2 * needed + 256;
    char *text = realloc(intern->text, capacity);
    if (!text) return false;
    intern->text = text;
    intern->text_capacity = capacity;
  }
  return intern->count < intern->slots / 2 || grow_slots(intern);
}

bool idm_intern_add(idm_intern *intern, const char *text, size_t length, uint32_t *ret_index)
{
  const uint64_t hash = hash_bytes(text, length);
  if (intern->slots) {
    const uint64_t entry = intern->slot[find_slot(intern, hash, text, length)];
    if (entry) {
      *ret_index = (uint32_t)entry - 1;
      return true;
    }
  }
  if (!make_room(intern, length)) return false;
  const uint32_t index = intern->count;
  const size_t first = intern->offset[index];
  if (length) memcpy(intern->text + first, text, length);
  const size_t slot = find_slot(intern, hash, text, length);
  intern->slot[slot] = (hash >> 32 << 32) | (index + 1);
  intern->offset[index + 1] = first + length;
  intern->count = index + 1;
  *ret_index = index;
  return true;
}

const char *idm_intern_text(const idm_intern *intern, uint32_t index, size_t *ret_length)
{
  *ret_length = intern->offset[index + 1] - intern->offset[index];
  return intern->text + intern->offset[index];
}

void idm_intern_clear(idm_intern *intern)
{
  free(intern->offset);
  free(intern->text);
  free(intern->slot);
  *intern = (idm_intern){0};
}
