/* Classes of inverse decision models. */
#include "idm/classes.h"

#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "base/texts.h"
#include "idm/dynamics.h"
#include "idm/problem_file.h"

static const idm_class classes[] = {
    {.name = "bc-il",
     .row = "BC-IL",
     .planner = "decision-rule",
     .inverse = "map",
     .free = "weights",
     .partial = true,
     .question = "which action do they take, given what they can know?",
     .open = "why they do it: a rule has no purpose"},
    {.name = "subj-bc-il",
     .row = "Subj. BC-IL",
     .planner = "prototype",
     .inverse = "map",
     .free = "prototypes, sharpness, transition, emission",
     .partial = true,
     .question = "what do they believe, and where do their beliefs part?",
     .open = "beliefs that differ and lead to the same actions"},
    {.name = "det-dm-il",
     .row = "Det. DM-IL",
     .planner = "decision-rule",
     .inverse = "distribution-matching",
     .free = "weights",
     .deterministic = true,
     .divergence = IDM_DIVERGENCE_JS,
     .question = "which one action a state visits states and actions as often as they do?",
     .open = "why they do it"},
    {.name = "stoc-dm-il",
     .row = "Stoc. DM-IL",
     .planner = "decision-rule",
     .inverse = "distribution-matching",
     .free = "weights",
     .question = "which policy visits states and actions as often as they do?",
     .open = "why they do it"},
    {.name = "det-irl",
     .row = "Det. IRL",
     .planner = "deterministic-optimal",
     .inverse = "maximum-margin",
     .free = "utility",
     .question = "what do they want, if what they do is best by far?",
     .open = "shaping, scale and shift of the utility"},
    {.name = "stoc-irl",
     .row = "Stoc. IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility",
     .question = "what do they want, if better actions are likelier?",
     .open = "shaping of the utility, but for the prior"},
    {.name = "subj-irl",
     .row = "Subj. IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility, transition",
     .question = "what do they want, and where do they think that actions lead?",
     .open = "what wants and beliefs explain alike"},
    {.name = "rs-irl",
     .row = "RS-IRL",
     .planner = "cvar-robust",
     .inverse = "maximum-margin",
     .free = "utility, risk_level",
     .held = "alpha, eta",
     .question = "what do they want, and how much do they fear the worst model?",
     .open = "shaping and scale of the utility"},
    {.name = "det-po-irl",
     .row = "Det. PO-IRL",
     .planner = "deterministic-optimal",
     .inverse = "maximum-margin",
     .free = "utility",
     .partial = true,
     .question = "what do they want, if what they do at their beliefs is best by far?",
     .open = "shaping, scale and shift of the utility, and what they would do at other beliefs"},
    {.name = "stoc-po-irl",
     .row = "Stoc. PO-IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility",
     .partial = true,
     .question = "what do they want, if better actions at their beliefs are likelier?",
     .open = "directions of the utility that no belief tells apart, but for the prior"},
    {.name = "subj-po-irl",
     .row = "Subj. PO-IRL",
     .planner = "boltzmann-exploratory",
     .inverse = "bayes",
     .free = "utility, transition, emission",
     .partial = true,
     .draws = 100,
     .depth = 5,
     .question = "what do they want, and how do they think that the world works?",
     .open = "what wants and beliefs explain alike"},
    {.name = "me-irl",
     .row = "ME-IRL",
     .planner = "maximum-entropy",
     .inverse = "regularised-margin",
     .free = "utility",
     .question = "what do they want, if decisions have a price in nats?",
     .open = "shaping and shift of the utility"},
    {.name = "subj-me-irl",
     .row = "Subj. ME-IRL",
     .planner = "maximum-entropy",
     .inverse = "bayes",
     .free = "utility, transition",
     .question = "what do they want and believe, if decisions have a price in nats?",
     .open = "what wants and beliefs explain alike"},
    {.name = "ibrc",
     .row = "Inverse Bounded Rational Control",
     .planner = "bounded-rational",
     .inverse = "bayes",
     .free = "alpha, beta, eta",
     .partial = true,
     .question = "how flexible, optimistic and adaptive are they, given what they want?",
     .open = "the utility, which is given; what the three explain alike"},
};

enum { COUNT = sizeof classes / sizeof classes[0] };

const idm_class *idm_class_at(size_t index)
{
  return index < COUNT ? &classes[index] : NULL;
}

const idm_class *idm_class_find(const char *name)
{
  for (size_t i = 0; name && i < COUNT; i++)
    if (strcmp(classes[i].name, name) == 0) return &classes[i];
  return NULL;
}

/* --- ticks ---------------------------------------------------------------------------------- */

/* The word of a list at *at, which moves behind it; its length, 0 at the end. */
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

/* Whether a list of blocks names one. */
static bool names(const char *opt_list, const char *block)
{
  const char *at = opt_list ? opt_list : "";
  const char *word;
  for (size_t length; (length = next_word(&at, &word));)
    if (is_block(word, length, block)) return true;
  return false;
}

/* Whether the class's behaviour depends on a block: its planner reads it, and it is not held. */
static bool depends(const idm_class *of, idm_block_id id)
{
  return idm_planner_reads(idm_planner_find(of->planner), id) &&
         !names(of->held, idm_block_name(id));
}

/* Whether it plans, and for several models of the world. */
static bool weighs_models(const idm_class *of)
{
  return depends(of, IDM_UTILITY) && depends(of, IDM_MODEL_PRIOR);
}

static bool draws_actions(const idm_class *of)
{
  if (!depends(of, IDM_UTILITY)) return !of->deterministic;
  return depends(of, IDM_TEMPERATURE) || depends(of, IDM_ALPHA);
}

bool idm_class_ticks(const idm_class *of, idm_tick tick)
{
  if (!of) return false;
  switch (tick) {
  case IDM_TICK_CONTROLLABLE:
    return idm_planner_find(of->planner) != NULL; /* whoever acts, acts in an environment */
  case IDM_TICK_OBSERVABLE:
    return of->partial;
  case IDM_TICK_PURPOSEFUL:
    return depends(of, IDM_UTILITY);
  case IDM_TICK_SUBJECTIVE:
    return names(of->free, idm_block_name(IDM_TRANSITION)) ||
           names(of->free, idm_block_name(IDM_EMISSION)) || weighs_models(of);
  case IDM_TICK_STOCHASTIC:
    return draws_actions(of);
  case IDM_TICK_UNCERTAIN:
    return weighs_models(of);
  case IDM_TICK_DECISION:
    return depends(of, IDM_ALPHA);
  case IDM_TICK_SPECIFICATION:
    return depends(of, IDM_BETA);
  case IDM_TICK_RECOGNITION:
    return depends(of, IDM_ETA);
  case IDM_TICK_COUNT:
    break;
  }
  return false;
}

/* --- problems ------------------------------------------------------------------------------- */

/* Whether exactly the blocks of the class are free. */
static bool frees_the_same(const idm_class *of, const idm_theta *theta)
{
  size_t wanted = 1;
  size_t found = 0;
  for (const char *at = of->free; *at; at++) wanted += *at == ',';
  for (size_t i = 0; i < theta->blocks; i++) {
    if (theta->block[i].role != IDM_DESCRIPTIVE) continue;
    if (!names(of->free, theta->block[i].info->name)) return false;
    found++;
  }
  return found == wanted;
}

/* A rule that the problem says nothing of starts from weights of 0. */
static idm_status give_weights(const idm_class *of, idm_theta *theta, idm_error *opt_error)
{
  const idm_sizes n = theta->sizes;
  if (!names(of->free, idm_block_name(IDM_WEIGHTS)) || theta->block[IDM_WEIGHTS].size)
    return IDM_OK;
  return idm_theta_resize(theta, IDM_WEIGHTS, n.actions * (n.states + 1), 1, opt_error);
}

/* Whoever has dynamics of their own has one model of them, which begins as the environment; several
 * that the problem lists are of somebody whose knowledge is uncertain. */
static idm_status give_one_model(const idm_class *of, idm_problem *problem, idm_error *opt_error)
{
  if (problem->theta->models < 2 || !names(of->free, idm_block_name(IDM_TRANSITION))) return IDM_OK;
  idm_dynamics *environment = NULL;
  idm_status status = idm_problem_dynamics(problem, &environment, opt_error);
  if (status == IDM_OK)
    status =
        idm_problem_list_models(problem, (const idm_dynamics *const[]){environment}, 1, opt_error);
  idm_dynamics_destroy(environment);
  return status;
}

const char *idm_class_blocks(const idm_class *of, const idm_problem *problem, char *buffer,
                             size_t size)
{
  if (!of || !problem || !buffer || strlen(of->free) >= size) return NULL;
  const char *at = of->free;
  const char *word;
  char *end = buffer;
  for (size_t length; (length = next_word(&at, &word));) {
    if (problem->setting->fully_observed && is_block(word, length, idm_block_name(IDM_EMISSION)))
      continue;
    end += sprintf(end, "%s%.*s", end > buffer ? ", " : "", (int)length, word);
  }
  return buffer;
}

/* The blocks of the class, under their default priors. */
static idm_status free_blocks(const idm_class *of, idm_problem *problem, idm_error *opt_error)
{
  char list[200];
  const idm_status status = give_one_model(of, problem, opt_error);
  if (status != IDM_OK) return status;
  return idm_problem_free(problem, idm_class_blocks(of, problem, list, sizeof list), opt_error);
}

void idm_class_settings(const idm_class *of, idm_fit_settings *settings)
{
  if (!of || !settings) return;
  settings->divergence = of->divergence;
  if (of->draws && settings->draws > of->draws) settings->draws = of->draws;
  if (of->draws && settings->warmup > of->draws) settings->warmup = of->draws;
  settings->depth = of->depth;
}

bool idm_class_decides(const idm_class *of, const char *key)
{
  if (!of || !key) return false;
  return strcmp(key, "planner") == 0 || strcmp(key, "choice") == 0 || names(of->held, key);
}

idm_status idm_class_apply(const idm_class *of, idm_problem *problem, idm_error *opt_error)
{
  idm_require(of, problem);
  const idm_planner *planner = idm_planner_find(of->planner);
  if (!of->partial && !problem->setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "the class '%s' is of problems whose states are observed; expected "
                    "observations: states",
                    of->name);
  idm_status status = idm_problem_plan_by(problem, planner, opt_error);
  if (status == IDM_OK)
    problem->agent.choice = of->deterministic ? IDM_CHOICE_BEST : IDM_CHOICE_DRAWN;
  for (size_t i = 0; i < IDM_BLOCK_COUNT && status == IDM_OK; i++)
    if (names(of->held, idm_block_name((idm_block_id)i)))
      idm_theta_set_scalar(problem->theta, i, 0);
  if (status == IDM_OK) status = give_weights(of, problem->theta, opt_error);
  if (status == IDM_OK && !frees_the_same(of, problem->theta))
    status = free_blocks(of, problem, opt_error);
  return status;
}
