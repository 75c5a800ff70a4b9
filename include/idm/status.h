/* Status codes, errors with a place, and warnings: how every floor reports trouble. */
#ifndef IDM_STATUS_H
#define IDM_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IDM_API                         __attribute__((visibility("default")))
#define IDM_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define IDM_API
#define IDM_PRINTF(format_index, first)
#endif

/* One list makes the enum, the names and the exit codes of the program. */
#define IDM_STATUS_LIST(X)                                                                         \
  X(IDM_OK, 0, "done")                                                                             \
  X(IDM_UNTRUSTED, 1, "the answer is not to be trusted")                                           \
  X(IDM_USAGE, 2, "wrong use")                                                                     \
  X(IDM_INPUT, 3, "bad input")                                                                     \
  X(IDM_NUMERICAL, 4, "numerical failure")                                                         \
  X(IDM_MEMORY, 5, "out of memory")                                                                \
  X(IDM_SYSTEM, 5, "system failure")

typedef enum idm_status {
#define IDM_STATUS_ENUM(name, exit_code, text) name,
  IDM_STATUS_LIST(IDM_STATUS_ENUM)
#undef IDM_STATUS_ENUM
} idm_status;

/* Room for any path that a system takes. */
enum { IDM_PATH_SIZE = 4200 };

/* An error: a code, a sentence, and for input its place. line and column count from 1; 0 is
 * unknown. Control characters that a user's file brought along are shown as '?'. */
typedef struct idm_error {
  idm_status status;
  long line;
  long column;
  char file[IDM_PATH_SIZE];
  char message[2 * IDM_PATH_SIZE];
} idm_error;

/* Version of the library, "major.minor.patch". */
IDM_API const char *idm_version(void);

/* Name of a status, as in "IDM_INPUT". */
IDM_API const char *idm_status_name(idm_status status);
/* A few words on a status. */
IDM_API const char *idm_status_text(idm_status status);
/* Exit code of the program for a status. */
IDM_API int idm_status_exit_code(idm_status status);

/* Fill opt_error (may be NULL); line and column 0 and file NULL where there is no place. */
IDM_API void idm_error_set(idm_error *opt_error, idm_status status, const char *opt_file, long line,
                           long column, const char *format, ...) IDM_PRINTF(6, 7);
/* Fill opt_error and be `status`, so that a caller can `return idm_fail(...)`: macros, so that
 * compilers and analysers see which status it is. */
#define idm_fail(opt_error, status, ...)                                                           \
  (idm_error_set((opt_error), (status), NULL, 0, 0, __VA_ARGS__), (idm_status)(status))
/* The same for a place in a user's file; the status is IDM_INPUT. */
#define idm_fail_at(opt_error, file, line, column, ...)                                            \
  (idm_error_set((opt_error), IDM_INPUT, (file), (line), (column), __VA_ARGS__),                   \
   (idm_status)IDM_INPUT)
/* Shorthand for a failed allocation. */
#define idm_fail_memory(opt_error) idm_fail((opt_error), IDM_MEMORY, "out of memory")
/* "file:line:column: message" (what is known of it) into buffer; returns buffer. */
IDM_API char *idm_error_text(const idm_error *error, char *buffer, size_t size);

/* Whether to give up what is being done: asked from within loops that may take long. */
typedef bool (*idm_interrupt)(void *context);

/* Warnings gathered on the way: sentences for a person, in order. Zero-initialise. */
typedef struct idm_notes {
  size_t count;
  size_t capacity;
  char **text;
} idm_notes;

/* Append a sentence; opt_notes may be NULL. A note lost to a failed allocation is not an error. */
IDM_API void idm_notes_add(idm_notes *opt_notes, const char *format, ...) IDM_PRINTF(2, 3);
/* Free what the notes hold; they can be used again. */
IDM_API void idm_notes_clear(idm_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
