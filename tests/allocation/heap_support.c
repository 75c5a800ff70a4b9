#include "allocation/heap_support.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- wrappers: count of calls, requested failure, table of live blocks ----------------------- */

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

enum { ledger_size = 1 << 20 };

static struct {
  size_t calls;   /* allocations since heap_arm */
  size_t fail_at; /* number of the allocation that fails; 0: none */
  bool forever;   /* all later ones fail too */
  bool failed;    /* an allocation failed */
  size_t live;    /* blocks in the table */
  void *block[ledger_size];
} heap;

static size_t slot_of(const void *block)
{
  size_t slot = ((size_t)block >> 4) * 2654435761u % ledger_size;
  while (heap.block[slot] && heap.block[slot] != block) slot = (slot + 1) % ledger_size;
  return slot;
}

static void *enter(void *block)
{
  if (!block) return NULL;
  if (heap.live > ledger_size / 2) abort();
  heap.block[slot_of(block)] = block;
  heap.live++;
  return block;
}

/* Blocks that were not allocated through the wrappers are not counted. */
static void leave(const void *block)
{
  size_t hole = slot_of(block);
  if (!block || !heap.block[hole]) return;
  heap.block[hole] = NULL;
  heap.live--;
  /* Close the gap: reinsert the entries after it that linear probing had displaced. */
  for (size_t i = (hole + 1) % ledger_size; heap.block[i]; i = (i + 1) % ledger_size) {
    void *moved = heap.block[i];
    heap.block[i] = NULL;
    heap.block[slot_of(moved)] = moved;
  }
}

static bool refuse(void)
{
  heap.calls++;
  if (!heap.fail_at || heap.calls < heap.fail_at) return false;
  if (heap.calls > heap.fail_at && !heap.forever) return false;
  heap.failed = true;
  return true;
}

void *__wrap_malloc(size_t size)
{
  return refuse() ? NULL : enter(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
  return refuse() ? NULL : enter(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return refuse() ? NULL : enter(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size)
{
  if (refuse()) return NULL;
  leave(block);
  return enter(__real_realloc(block, size));
}

void __wrap_free(void *block)
{
  leave(block);
  __real_free(block);
}

void heap_arm(size_t fail_at, bool forever)
{
  heap.calls = 0;
  heap.failed = false;
  heap.forever = forever;
  heap.fail_at = fail_at;
}

bool heap_disarm(void)
{
  heap.fail_at = 0;
  return heap.failed;
}

size_t heap_calls(void)
{
  return heap.calls;
}

/* --- driver: a path against every failure ---------------------------------------------------- */

/* The folder for results, which must be empty after every failure. The log is only read. */
static char folder[64];
char log_file[72];

static size_t files_in_folder(void)
{
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  size_t count = 0;
  for (const struct dirent *entry; (entry = readdir(directory));) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

const char *in_folder(const char *name)
{
  static char text[128];
  snprintf(text, sizeof text, "%s/%s", folder, name);
  return text;
}

static void check_failure(const char *name, size_t i, idm_status status, const idm_error *error,
                          expectation expected)
{
  if (status == IDM_OK && expected.may_recover) return;
  /* An error of the input may be found before memory runs out. */
  if (status != expected.end || status == IDM_OK)
    if (status != IDM_MEMORY && status != IDM_SYSTEM)
      fail_msg("%s: allocation %zu failed, and the status is %s (%s)", name, i,
               idm_status_name(status), error->message);
  if (error->status != status || !error->message[0])
    fail_msg("%s: allocation %zu failed with %s, and the error says %s '%s'", name, i,
             idm_status_name(status), idm_status_name(error->status), error->message);
}

void fail_one_by_one(const char *name, path run, const void *argument, bool forever,
                     expectation expected, size_t stride)
{
  size_t i = 1;
  for (bool failed = true; failed; i += stride * IDM_STRIDE) {
    const size_t live = heap.live;
    idm_error error = {0};
    heap_arm(i, forever);
    const idm_status status = run(argument, &error);
    failed = heap_disarm();
    if (heap.live != live)
      fail_msg("%s: allocation %zu failed, and %ld blocks are left", name, i,
               (long)heap.live - (long)live);
    if (status != IDM_OK && files_in_folder())
      fail_msg("%s: allocation %zu failed, and a file is left in %s", name, i, folder);
    if (failed)
      check_failure(name, i, status, &error, expected);
    else if (status != expected.end)
      fail_msg("%s: %s (%s), expected %s", name, idm_status_name(status), error.message,
               idm_status_name(expected.end));
    if (status == IDM_OK) remove(in_folder("out"));
  }
  if (i < 1 + 2 * stride) fail_msg("%s: no allocation was seen", name);
  print_message("  %-40s %5zu allocations\n", name, heap.calls);
}

void every_failure(const char *name, path run, const void *argument, expectation expected)
{
  fail_one_by_one(name, run, argument, true, expected, 1);
  fail_one_by_one(name, run, argument, false, expected, 1);
}

const expectation succeeds = {.end = IDM_OK};
const expectation recovers = {.end = IDM_OK, .may_recover = true};
const expectation refuses = {.end = IDM_INPUT};

int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/idm-allocation-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(log_file, sizeof log_file, "%s.csv", folder);
  return 0;
}

int remove_folder(void **state)
{
  (void)state;
  remove(in_folder("out"));
  remove(log_file);
  return rmdir(folder);
}

/* Calls by pointer, because a compiler assumes that malloc changes no variable, which is wrong
 * here. */
void test_wrappers_are_linked(void **state)
{
  (void)state;
  void *(*volatile allocate)(size_t) = malloc;
  void *(*volatile reallocate)(void *, size_t) = realloc;
  void (*volatile release)(void *) = free;
  const size_t live = heap.live;
  heap_arm(2, false);
  void *block = allocate(8);
  assert_non_null(block);
  assert_int_equal(heap.live, live + 1);
  assert_null(reallocate(block, 1 << 16));
  assert_true(heap_disarm());
  assert_int_equal(heap.calls, 2);
  release(block);
  assert_int_equal(heap.live, live);
}
