/* Biases by name: see idm/explain.h. */
#include "idm/explain.h"

static const struct {
  const char *name;
  const char *rule;
} biases[IDM_BIAS_COUNT] = {
#define BIAS_ENTRY(id, called, when) [id] = {called, when},
    IDM_BIAS_LIST(BIAS_ENTRY)
#undef BIAS_ENTRY
};

const char *idm_bias_name(idm_bias bias)
{
  return (unsigned)bias < IDM_BIAS_COUNT ? biases[bias].name : NULL;
}

const char *idm_bias_rule(idm_bias bias)
{
  return (unsigned)bias < IDM_BIAS_COUNT ? biases[bias].rule : NULL;
}

bool idm_explained_bias(const idm_explained_person *person, idm_bias bias)
{
  if (!person) return false;
  const bool updates = person->updates >= IDM_BIAS_UPDATES;
  switch (bias) {
  case IDM_BIAS_BASE_RATE_NEGLECT:
    return updates && person->base_rate.high < 1 - IDM_BIAS_MARGIN;
  case IDM_BIAS_CONSERVATISM:
    return updates && person->reaction.high < 1 - IDM_BIAS_MARGIN;
  case IDM_BIAS_OVERREACTION:
    return updates && person->reaction.low > 1 + IDM_BIAS_MARGIN;
  case IDM_BIAS_CONFIRMATION:
    return person->confirming_updates >= IDM_BIAS_UPDATES &&
           person->disconfirming_updates >= IDM_BIAS_UPDATES &&
           person->asymmetry.low > IDM_BIAS_MARGIN;
  default:
    return false;
  }
}
