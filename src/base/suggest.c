/* The known word that somebody may have meant. */
#include "base/suggest.h"

#include <string.h>

/* Words longer than this get no suggestion, and longer lists are not searched for one. */
enum { longest_word = 64, longest_list = 1000 };

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Letters to insert, delete or change to make one word of the other. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
  size_t row[longest_word + 1];
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
  if (length > longest_word || count > longest_list) return NULL;
  const char *nearest = NULL;
  size_t best = length / 2 + 1;
  for (size_t i = 0; i < count; i++) {
    const size_t other = strlen(known[i]);
    if (other > longest_word) continue;
    const size_t steps = distance(word, length, known[i], other);
    if (steps >= best || steps >= other) continue;
    best = steps;
    nearest = known[i];
  }
  return nearest;
}
