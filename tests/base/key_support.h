/* Provides a settings structure with a field of every kind, and its keys. */
#ifndef IDM_TESTS_BASE_KEY_SUPPORT_H
#define IDM_TESTS_BASE_KEY_SUPPORT_H

#include <math.h>

#include "support.h"

typedef struct fields {
  double number;
  int whole;
  long length;
  size_t count;
  uint64_t seed;
  bool flag;
  int word;
  char text[8];
} fields;

static const char *const words[] = {"low", "high", NULL};

static const idm_key keys[] = {
    {.name = "number",
     .kind = IDM_KEY_NUMBER,
     .offset = offsetof(fields, number),
     .above = true,
     .most = INFINITY},
    {.name = "whole",
     .kind = IDM_KEY_INT,
     .offset = offsetof(fields, whole),
     .least = 1,
     .most = 9,
     .zero = "auto"},
    {.name = "length", .kind = IDM_KEY_LONG, .offset = offsetof(fields, length), .most = 1e9},
    {.name = "count", .kind = IDM_KEY_SIZE, .offset = offsetof(fields, count), .most = 1e9},
    {.name = "seed", .kind = IDM_KEY_SEED, .offset = offsetof(fields, seed)},
    {.name = "flag", .kind = IDM_KEY_BOOL, .offset = offsetof(fields, flag)},
    {.name = "word", .kind = IDM_KEY_ENUM, .offset = offsetof(fields, word), .words = words},
    {.name = "text", .kind = IDM_KEY_TEXT, .offset = offsetof(fields, text), .most = 8},
    {.name = NULL},
};

#endif
