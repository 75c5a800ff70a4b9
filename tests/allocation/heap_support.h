/* Memory that runs out: a path is run with its first, second, third... allocation failing until it
 * gets through. Each failure must be reported as such, and leave nothing allocated and no file.
 *
 * Linked with --wrap, so that calls from the library and from the test (not those that libc or
 * libyaml make for themselves) come by. */
#ifndef IDM_TESTS_ALLOCATION_HEAP_SUPPORT_H
#define IDM_TESTS_ALLOCATION_HEAP_SUPPORT_H

#include <stdlib.h>

#include "support.h"

void *__real_malloc(size_t size);
void __real_free(void *block);

/* Let the allocation of this number fail (0: none), or all from it on, and count from here. */
void heap_arm(size_t fail_at, bool forever);
/* Whether one did. */
bool heap_disarm(void);
/* Allocations since armed. */
size_t heap_calls(void);

/* A path makes, uses and destroys; it returns the first status that is not IDM_OK. */
typedef idm_status (*path)(const void *argument, idm_error *error);

typedef struct expectation {
  idm_status end;   /* what the path comes to with all the memory it wants */
  bool may_recover; /* a lost note is no error, nor is an array that could not be made smaller */
} expectation;

extern const expectation succeeds;
extern const expectation recovers;
extern const expectation refuses;

/* Every `stride`th allocation, and where sanitizers slow it down fewer still (IDM_STRIDE). */
void fail_one_by_one(const char *name, path run, const void *argument, bool forever,
                     expectation expected, size_t stride);
/* Each allocation, with all after it and alone. */
void every_failure(const char *name, path run, const void *argument, expectation expected);

/* A file, or a run, in the folder where results are written: `out` is removed after a success, and
 * the folder must be empty after a failure. */
const char *in_folder(const char *name);
/* Beside the folder: a file to be read. */
extern char log_file[72];

/* A result beside an error, or neither. */
#define assert_result(status, pointer) assert_true(((status) == IDM_OK) == ((pointer) != NULL))
/* No address that a call could leave there by chance. */
#define GARBAGE ((void *)log_file)

/* The first test of every program: without wrappers nothing would ever fail. */
void test_wrappers_are_linked(void **state);
int make_folder(void **state);
int remove_folder(void **state);

#endif
