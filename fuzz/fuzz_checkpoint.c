/* Fuzz target: checkpoints. Any bytes are rejected with a message, or loaded; loaded draws are
 * unchanged when saved again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/chains.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { LABEL = 7 };

static void require(bool condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static idm_chains *make_chains(const idm_sampler *sampler)
{
  idm_chains_settings settings = {
      .sampler = sampler, .chains = 2, .draws = 3, .seed = 1, .threads = 1};
  idm_sampler_settings_default(&settings.kernel);
  settings.kernel.warmup = 2;
  idm_chains *chains = NULL;
  if (idm_chains_create(&settings, 1, &chains, NULL) != IDM_OK) abort();
  return chains;
}

static void check_same(const idm_chains *chains, const idm_chains *again)
{
  for (size_t i = 0; i < chains->settings.chains; i++) {
    const long draws = chains->done[i] - chains->settings.kernel.warmup;
    const size_t first = i * (size_t)chains->settings.draws;
    require(chains->done[i] >= 0 && draws <= chains->settings.draws, "a count of draws");
    require(chains->done[i] == again->done[i], "counts differ");
    if (draws > 0)
      require(memcmp(chains->draw + first, again->draw + first, (size_t)draws * sizeof(double)) ==
                  0,
              "draws differ");
    for (long k = 0; k < draws; k++)
      require(chains->statistics[first + (size_t)k].diverging ==
                  again->statistics[first + (size_t)k].diverging,
              "statistics differ");
  }
}

static void load(const idm_sampler *sampler, const char *bytes, size_t size)
{
  idm_chains *chains = make_chains(sampler);
  idm_error error = {0};
  const idm_status status = idm_chains_load(chains, LABEL, bytes, size, &error);
  require(status == IDM_OK || status == IDM_INPUT, "a status of its own");
  require((status == IDM_OK) == !error.message[0], "a failure has a sentence");
  if (status == IDM_OK) {
    char *saved = NULL;
    size_t length = 0;
    idm_chains *again = make_chains(sampler);
    require(idm_chains_save(chains, LABEL, &saved, &length, NULL) == IDM_OK, "saving");
    require(length == size, "the length differs");
    require(idm_chains_load(again, LABEL, saved, length, &error) == IDM_OK, error.message);
    check_same(chains, again);
    free(saved);
    idm_chains_destroy(again);
  }
  idm_chains_destroy(chains);
}

/* The first byte selects the sampler. The rest is read as it is, and again with a corrected header
 * and checksum (FNV-1a), because random mutations rarely produce valid ones. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1) return 0;
  size_t samplers = 0;
  while (idm_sampler_at(samplers)) samplers++;
  const idm_sampler *sampler = idm_sampler_at(data[0] % samplers);
  const size_t length = size - 1;
  char *bytes = malloc(length ? length : 1);
  if (!bytes) return 0;
  memcpy(bytes, data + 1, length);
  load(sampler, bytes, length);
  idm_chains *chains = make_chains(sampler);
  char *own = NULL;
  size_t own_length = 0;
  require(idm_chains_save(chains, LABEL, &own, &own_length, NULL) == IDM_OK, "saving");
  enum { header = 64, sum_size = 8 };
  if (length >= header + sum_size) {
    memcpy(bytes, own, header);
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < length - sum_size; i++)
      sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    memcpy(bytes + length - sum_size, &sum, sum_size);
    load(sampler, bytes, length);
  }
  free(own);
  idm_chains_destroy(chains);
  free(bytes);
  return 0;
}
