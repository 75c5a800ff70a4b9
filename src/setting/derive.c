/* Derived columns and rules. */
#include "idm/derive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const char *const derivations[] = {[IDM_DERIVE_CUT] = "cut",
                                          [IDM_DERIVE_RECODE] = "recode",
                                          [IDM_DERIVE_PRODUCT] = "product",
                                          [IDM_DERIVE_NEXT] = "next"};
static const char *const rules[] = {
    [IDM_RULE_REQUIRE] = "require",   [IDM_RULE_KEEP] = "keep",
    [IDM_RULE_DROP] = "drop",         [IDM_RULE_DUPLICATES] = "duplicates",
    [IDM_RULE_TRUNCATE] = "truncate", [IDM_RULE_ENDS] = "ends",
    [IDM_RULE_LEAST] = "least"};

const char *idm_derivation_name(idm_derivation kind)
{
  return (size_t)kind < sizeof derivations / sizeof derivations[0] ? derivations[kind] : NULL;
}

const char *idm_rule_kind_name(idm_rule_kind kind)
{
  return (size_t)kind < sizeof rules / sizeof rules[0] ? rules[kind] : NULL;
}

int idm_rule_stage(idm_rule_kind kind)
{
  return kind < IDM_RULE_DUPLICATES ? 0 : kind == IDM_RULE_DUPLICATES ? 1 : 2;
}

char *idm_rule_text(const idm_rule *rule, char *buffer, size_t size)
{
  if (!buffer || !size) return buffer;
  buffer[0] = '\0';
  const char *name = rule ? idm_rule_kind_name(rule->kind) : NULL;
  if (!name) return buffer;
  size_t used = (size_t)snprintf(buffer, size, "%s ", name);
  if (used >= size) return buffer;
  char *rest = buffer + used;
  const size_t room = size - used;
  switch (rule->kind) {
  case IDM_RULE_KEEP:
  case IDM_RULE_DROP:
    idm_predicate_text(&rule->predicate, rest, room);
    break;
  case IDM_RULE_DUPLICATES:
    snprintf(rest, room, rule->last ? "last" : "first");
    break;
  case IDM_RULE_TRUNCATE:
    idm_print(rest, room, "%s every %g", rule->column, rule->every);
    break;
  case IDM_RULE_ENDS:
    used = (size_t)snprintf(rest, room, "%s in", rule->column);
    for (size_t i = 0; i < rule->in.count && used < room; i++)
      used += (size_t)snprintf(rest + used, room - used, "%s %s", i ? "," : "", rule->in.name[i]);
    break;
  case IDM_RULE_LEAST:
    snprintf(rest, room, "%zu", rule->least);
    break;
  default:
    snprintf(rest, room, "%s", rule->column);
  }
  return buffer;
}

static bool same_text(const char *opt_a, const char *opt_b)
{
  return opt_a && opt_b ? strcmp(opt_a, opt_b) == 0 : opt_a == opt_b;
}

static bool same_numbers(const double *opt_a, const double *opt_b, size_t count)
{
  bool same = !opt_a == !opt_b;
  for (size_t i = 0; opt_a && opt_b && i < count; i++) same = same && opt_a[i] == opt_b[i];
  return same;
}

bool idm_derived_same(const idm_derived *a, const idm_derived *b)
{
  return a && b && a->kind == b->kind && a->cuts == b->cuts && a->closed_left == b->closed_left &&
         same_text(a->name, b->name) && same_text(a->missing, b->missing) &&
         same_text(a->other, b->other) && idm_labels_same(&a->source, &b->source) &&
         idm_labels_same(&a->text, &b->text) && idm_labels_same(&a->label, &b->label) &&
         same_numbers(a->at, b->at, a->cuts) && same_numbers(a->deviation, b->deviation, a->cuts);
}

bool idm_rule_same(const idm_rule *a, const idm_rule *b)
{
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == IDM_RULE_KEEP || a->kind == IDM_RULE_DROP)
    return idm_predicate_same(&a->predicate, &b->predicate);
  return a->last == b->last && a->every == b->every && a->least == b->least &&
         same_text(a->column, b->column) && idm_labels_same(&a->in, &b->in);
}

void idm_derived_clear(idm_derived *derived)
{
  if (!derived) return;
  free(derived->name);
  free(derived->at);
  free(derived->deviation);
  free(derived->missing);
  free(derived->other);
  idm_labels_destroy(&derived->source);
  idm_labels_destroy(&derived->text);
  idm_labels_destroy(&derived->label);
  *derived = (idm_derived){0};
}

void idm_rule_clear(idm_rule *rule)
{
  if (!rule) return;
  free(rule->column);
  idm_predicate_clear(&rule->predicate);
  idm_labels_destroy(&rule->in);
  *rule = (idm_rule){0};
}
