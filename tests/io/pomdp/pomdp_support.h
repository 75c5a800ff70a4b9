/* What the tests of Cassandra's format share. */
#ifndef IDM_TESTS_SUPPORT_POMDP_H
#define IDM_TESTS_SUPPORT_POMDP_H

#include "support.h"

/* Heads of small files: two states and actions, three observations; and an observation table for
 * them. */
#define TWO   "discount: 0.5 values: reward states: a b actions: u v observations: x y z\n"
#define TWO_O "O: * uniform\n"

/* Parse and validate; fails the test with the message. */
idm_problem *parse_as(const char *text, const char *file, idm_notes *opt_notes);
idm_problem *parse(const char *text);
double utility(const idm_problem *problem, size_t action, size_t state);
double transition(const idm_problem *problem, size_t action, size_t state, size_t next);
double emission(const idm_problem *problem, size_t action, size_t next, size_t observation);
/* A fresh temporary name; the file exists and is empty. */
void temporary_path(char *path, size_t size);
/* Write, read back as text and as a problem; the caller frees both. */
idm_problem *write_and_read(const idm_problem *problem, idm_notes *opt_notes, char **ret_text);
void assert_same(const idm_problem *a, const idm_problem *b);
size_t count_notes(const idm_notes *notes, const char *part);

/* Text that grows. */
typedef struct growing {
  char *bytes;
  size_t length;
  size_t capacity;
} growing;

void append(growing *t, const char *format, ...) IDM_PRINTF(2, 3);
/* A number below `below`, and the next seed. */
unsigned draw(uint64_t *seed, unsigned below);

#endif
