/* Classes of inverse decision models: the paper's table as planners, inverse planners and free
 * blocks. */
#include "invert/classes.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plan/plan.h"
#include "setting/model.h"

static const idm_class classes[] = {
    {.name = "bc-il",
     .row = "BC-IL",
     .planner = "decision-rule",
     .inverse = "map",
     .free = "weights",
     .partial = true,
     .question = "which action is taken, given the observations?",
     .open = "the reasons: a rule has no utility"},
    {.name = "subj-bc-il",
     .row = "Subj. BC-IL",
     .planner = "prototype",
     .inverse = "map",
     .free = "prototypes, sharpness, transition, emission",
     .partial = true,
     .question = "what are the subjective beliefs, and at which of them does the action change?",
     .open = "beliefs that differ and lead to the same actions"},
    {.name = "det-dm-il",
     .row = "Det. DM-IL",
     .planner = "decision-rule",
     .inverse = "distribution-matching",
     .free = "weights",
     .deterministic = true,
     .divergence = IDM_DIVERGENCE_JS,
     .question = "which deterministic policy is nearest to the demonstrator's occupancy?",
     .open = "the utility"},
    {.name = "stoc-dm-il",
     .row = "Stoc. DM-IL",
     .planner = "decision-rule",
     .inverse = "distribution-matching",
     .free = "weights",
     .question = "which stochastic policy is nearest to the demonstrator's occupancy?",
     .open = "the utility"},
    {.name = "det-irl",
     .row = "Det. IRL",
     .planner = "deterministic-optimal",
     .inverse = "maximum-margin",
     .free = "utility",
     .question = "which utility gives the demonstrated actions the largest margin?",
     .open = "shaping, scale and shift of the utility"},
    {.name = "stoc-irl",
     .row = "Stoc. IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility",
     .question = "which utility explains the choices, if better actions are more probable?",
     .open = "shaping of the utility, except by the prior"},
    {.name = "subj-irl",
     .row = "Subj. IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility, transition",
     .question = "which utility and which subjective transitions explain the choices?",
     .open = "combinations of utility and beliefs that explain the choices equally well"},
    {.name = "rs-irl",
     .row = "RS-IRL",
     .planner = "cvar-robust",
     .inverse = "maximum-margin",
     .free = "utility, risk_level",
     .fixed = "alpha, eta",
     .question =
         "which utility and which risk level give the demonstrated actions the largest margin?",
     .open = "shaping and scale of the utility"},
    {.name = "det-po-irl",
     .row = "Det. PO-IRL",
     .planner = "deterministic-optimal",
     .inverse = "maximum-margin",
     .free = "utility",
     .partial = true,
     .question = "which utility gives the actions at the agent's beliefs the largest margin?",
     .open = "shaping, scale and shift of the utility, and actions at other beliefs"},
    {.name = "stoc-po-irl",
     .row = "Stoc. PO-IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility",
     .partial = true,
     .question = "which utility explains the choices at the agent's beliefs, if better actions are "
                 "more probable?",
     .open = "directions of the utility that no belief identifies, except by the prior"},
    {.name = "subj-po-irl",
     .row = "Subj. PO-IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility, transition, emission",
     .partial = true,
     .draws = 100,
     .depth = 5,
     .question = "which utility and which subjective dynamics explain the choices?",
     .open = "combinations of utility and beliefs that explain the choices equally well"},
    {.name = "me-irl",
     .row = "ME-IRL",
     .planner = "maximum-entropy",
     .inverse = "regularised-margin",
     .free = "utility",
     .question = "which utility explains the choices, if decisions have a cost in nats?",
     .open = "shaping and shift of the utility"},
    {.name = "subj-me-irl",
     .row = "Subj. ME-IRL",
     .planner = "maximum-entropy",
     .inverse = "bayes",
     .free = "utility, transition",
     .question = "which utility and which subjective transitions explain the choices, if decisions "
                 "have a cost in nats?",
     .open = "combinations of utility and beliefs that explain the choices equally well"},
    {.name = "ibrc",
     .row = "Inverse Bounded Rational Control",
     .planner = "bounded-rational",
     .inverse = "bayes",
     .free = "alpha, beta, eta",
     .partial = true,
     .question = "how flexible, optimistic and adaptive is the agent, given its utility?",
     .open = "the utility, which is given; combinations of the three that explain the choices "
             "equally well"},
};

enum { CLASS_COUNT = sizeof classes / sizeof classes[0] };

const idm_class *idm_class_at(size_t index)
{
  return index < CLASS_COUNT ? &classes[index] : NULL;
}

const idm_class *idm_class_find(const char *name)
{
  for (size_t i = 0; name && i < CLASS_COUNT; i++)
    if (strcmp(classes[i].name, name) == 0) return &classes[i];
  return NULL;
}

/* --- ticks ---------------------------------------------------------------------------------- */

/* Next word of the list at *at, which advances past it; returns its length, 0 at the end. */
static size_t next_word(const char **at, const char **ret_word)
{
  *ret_word = *at + strspn(*at, ", ");
  const size_t length = strcspn(*ret_word, ",");
  *at = *ret_word + length;
  return length;
}

static bool is_block(const char *word, size_t length, const char *block)
{
  return strlen(block) == length && strncmp(word, block, length) == 0;
}

bool idm_class_list_contains(const char *opt_list, const char *block)
{
  const char *at = opt_list ? opt_list : "";
  const char *word;
  for (size_t length; (length = next_word(&at, &word));)
    if (is_block(word, length, block)) return true;
  return false;
}

/* true if the behaviour of the class depends on a block: its planner reads the block, and the class
 * does not fix it. */
static bool depends(const idm_class *model_class, idm_block_id id)
{
  return idm_planner_reads(idm_planner_find(model_class->planner), id) &&
         !idm_class_list_contains(model_class->fixed, idm_block_name(id));
}

/* true if the class plans, and under several models of the environment. */
static bool has_model_uncertainty(const idm_class *model_class)
{
  return depends(model_class, IDM_UTILITY) && depends(model_class, IDM_MODEL_PRIOR);
}

static bool draws_actions(const idm_class *model_class)
{
  if (!depends(model_class, IDM_UTILITY)) return !model_class->deterministic;
  return depends(model_class, IDM_TEMPERATURE) || depends(model_class, IDM_ALPHA);
}

bool idm_class_has_property(const idm_class *model_class, idm_class_property tick)
{
  if (!model_class) return false;
  switch (tick) {
  case IDM_PROPERTY_CONTROLLABLE:
    return idm_planner_find(model_class->planner) !=
           NULL; /* every planner acts in an environment */
  case IDM_PROPERTY_OBSERVABLE:
    return model_class->partial;
  case IDM_PROPERTY_PURPOSEFUL:
    return depends(model_class, IDM_UTILITY);
  case IDM_PROPERTY_SUBJECTIVE:
    return idm_class_list_contains(model_class->free, idm_block_name(IDM_TRANSITION)) ||
           idm_class_list_contains(model_class->free, idm_block_name(IDM_EMISSION)) ||
           has_model_uncertainty(model_class);
  case IDM_PROPERTY_STOCHASTIC:
    return draws_actions(model_class);
  case IDM_PROPERTY_UNCERTAIN:
    return has_model_uncertainty(model_class);
  case IDM_PROPERTY_DECISION:
    return depends(model_class, IDM_ALPHA);
  case IDM_PROPERTY_SPECIFICATION:
    return depends(model_class, IDM_BETA);
  case IDM_PROPERTY_RECOGNITION:
    return depends(model_class, IDM_ETA);
  case IDM_PROPERTY_COUNT:
    break;
  }
  return false;
}

/* --- problems ------------------------------------------------------------------------------- */

const char *idm_class_blocks(const idm_class *model_class, const idm_problem *problem, char *buffer,
                             size_t size)
{
  if (!model_class || !problem || !buffer || strlen(model_class->free) >= size) return NULL;
  const char *at = model_class->free;
  const char *word;
  char *end = buffer;
  for (size_t length; (length = next_word(&at, &word));) {
    if (problem->setting->fully_observed && is_block(word, length, idm_block_name(IDM_EMISSION)))
      continue;
    end += sprintf(end, "%s%.*s", end > buffer ? ", " : "", (int)length, word);
  }
  return buffer;
}

void idm_class_settings(const idm_class *model_class, idm_fit_settings *settings)
{
  if (!model_class || !settings) return;
  settings->divergence = model_class->divergence;
  if (model_class->draws && settings->draws > model_class->draws)
    settings->draws = model_class->draws;
  if (model_class->draws && settings->warmup > model_class->draws)
    settings->warmup = model_class->draws;
  settings->depth = model_class->depth;
}

bool idm_class_decides(const idm_class *model_class, const char *key)
{
  if (!model_class || !key) return false;
  return strcmp(key, "planner") == 0 || strcmp(key, "choice") == 0 ||
         idm_class_list_contains(model_class->fixed, key);
}
