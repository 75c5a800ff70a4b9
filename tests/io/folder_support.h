/* A temporary folder for each test that writes files; it is removed with its contents after the
 * test. */
#ifndef IDM_TESTS_IO_FOLDER_SUPPORT_H
#define IDM_TESTS_IO_FOLDER_SUPPORT_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

typedef struct folder {
  char path[64];
  char file[96];
} folder;

static inline int make_folder(void **state)
{
  folder *f = calloc(1, sizeof *f);
  if (!f) return -1;
  strcpy(f->path, "/tmp/idm-test-XXXXXX");
  if (!mkdtemp(f->path)) return -1;
  snprintf(f->file, sizeof f->file, "%s/out.txt", f->path);
  *state = f;
  return 0;
}

/* Returns the number of entries of the folder; removes them if `empty` is nonzero. */
static inline size_t entries(const folder *f, int empty)
{
  size_t count = 0;
  DIR *directory = opendir(f->path);
  assert_non_null(directory);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.')) continue;
    count++;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->path, entry->d_name);
    if (empty) remove(path);
  }
  closedir(directory);
  return count;
}

static inline int remove_folder(void **state)
{
  folder *f = *state;
  chmod(f->path, 0700); /* a test may have removed the permissions */
  entries(f, 1);
  const int removed = rmdir(f->path);
  free(f);
  return removed;
}

/* Writes `length` bytes to the file `path`, replacing its contents. */
static inline void spill(const char *path, const char *bytes, size_t length)
{
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(bytes, 1, length, stream), length);
  assert_int_equal(fclose(stream), 0);
}

#endif
