/* Runs a path with its first, second, third... allocation failing until it succeeds. Each failure
 * must be reported, and leave no allocated block and no file.
 *
 * Linked with --wrap, so calls from the library and from the test are intercepted (not those that
 * libc or libyaml make internally). */
#ifndef IDM_TESTS_ALLOCATION_HEAP_SUPPORT_H
#define IDM_TESTS_ALLOCATION_HEAP_SUPPORT_H

#include <stdlib.h>

#include "support.h"

void *__real_malloc(size_t size);
void __real_free(void *block);

/* Resets the count of allocations and makes the allocation of this number fail (0: none), or it and
 * all later ones. */
void heap_arm(size_t fail_at, bool forever);
/* Stops failing. Returns whether an allocation failed. */
bool heap_disarm(void);
/* Returns the number of allocations since heap_arm. */
size_t heap_calls(void);

/* A path creates, uses and destroys objects; it returns the first status that is not IDM_OK. */
typedef idm_status (*path)(const void *argument, idm_error *error);

typedef struct expectation {
  idm_status end;   /* status of the path if no allocation fails */
  bool may_recover; /* success is allowed after a failure: a note is lost, or an array is not shrunk
                     */
} expectation;

extern const expectation succeeds;
extern const expectation recovers;
extern const expectation refuses;

/* Fails every `stride`th allocation; with sanitizers, which are slow, fewer (IDM_STRIDE). */
void fail_one_by_one(const char *name, path run, const void *argument, bool forever,
                     expectation expected, size_t stride);
/* Fails each allocation, once together with all later ones and once alone. */
void every_failure(const char *name, path run, const void *argument, expectation expected);

/* Name of a file, or a run, in the folder for results: `out` is removed after a success, and the
 * folder must be empty after a failure. */
const char *in_folder(const char *name);
/* A file to read, outside the folder. */
extern char log_file[72];

/* A result exists if and only if the status is IDM_OK. */
#define assert_result(status, pointer) assert_true(((status) == IDM_OK) == ((pointer) != NULL))
/* A pointer value that a call cannot produce by accident. */
#define GARBAGE ((void *)log_file)

/* The first test of every program: without wrappers no allocation would fail. */
void test_wrappers_are_linked(void **state);
int make_folder(void **state);
int remove_folder(void **state);

#endif
