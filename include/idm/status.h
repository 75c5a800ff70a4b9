/* Status codes, errors with a place in a file, and notes. */
#ifndef IDM_STATUS_H
#define IDM_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* A function that the shared library exports. */
#define IDM_API __attribute__((visibility("default")))
/* A function that formats as printf does, for the compiler. */
#define IDM_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define IDM_API
#define IDM_PRINTF(format_index, first)
#endif

/* List of status codes with the exit codes of the program and short descriptions. */
#define IDM_STATUS_LIST(X)                                                                         \
  X(IDM_OK, 0, "done")                                                                             \
  X(IDM_UNTRUSTED, 1, "the answer is not to be trusted")                                           \
  X(IDM_USAGE, 2, "wrong use")                                                                     \
  X(IDM_INPUT, 3, "bad input")                                                                     \
  X(IDM_NUMERICAL, 4, "numerical failure")                                                         \
  X(IDM_MEMORY, 5, "out of memory")                                                                \
  X(IDM_SYSTEM, 5, "system failure")

/* Status of a function. */
typedef enum idm_status {
#define IDM_STATUS_ENUM(name, exit_code, text) name,
  IDM_STATUS_LIST(IDM_STATUS_ENUM)
#undef IDM_STATUS_ENUM
} idm_status;

/* Buffer size for file paths. */
enum { IDM_PATH_SIZE = 4200 };

/* Error: status, message and, for input, its place. line and column count from 1; 0: unknown.
 * Control characters from a user's file are shown as '?'. */
typedef struct idm_error {
  idm_status status;               /* as the function returned it */
  long line;                       /* in the file */
  long column;                     /* in the line */
  char file[IDM_PATH_SIZE];        /* name of the file; empty: no file */
  char message[2 * IDM_PATH_SIZE]; /* one sentence */
} idm_error;

/* Version of the library, "major.minor.patch". */
IDM_API const char *idm_version(void);

/* Name of a status, as in "IDM_INPUT". */
IDM_API const char *idm_status_name(idm_status status);
/* Short description of a status. */
IDM_API const char *idm_status_text(idm_status status);
/* Exit code of the program for a status. */
IDM_API int idm_status_exit_code(idm_status status);

/* Fill opt_error (may be NULL). line and column 0 and opt_file NULL: no place. */
IDM_API void idm_error_set(idm_error *opt_error, idm_status status, const char *opt_file, long line,
                           long column, const char *format, ...) IDM_PRINTF(6, 7);
/* Fill opt_error and evaluate to `status`, for use as `return idm_fail(...)`. A macro, so that
 * compilers and static analysers see the status. */
#define idm_fail(opt_error, status, ...)                                                           \
  (idm_error_set((opt_error), (status), NULL, 0, 0, __VA_ARGS__), (idm_status)(status))
/* The same for a place in a user's file, with status IDM_INPUT. */
#define idm_fail_at(opt_error, file, line, column, ...)                                            \
  (idm_error_set((opt_error), IDM_INPUT, (file), (line), (column), __VA_ARGS__),                   \
   (idm_status)IDM_INPUT)
/* The same for a failed allocation. */
#define idm_fail_memory(opt_error) idm_fail((opt_error), IDM_MEMORY, "out of memory")
/* Write "file:line:column: message", omitting unknown parts, into buffer. Returns buffer. */
IDM_API char *idm_error_text(const idm_error *error, char *buffer, size_t size);

/* Interruption callback for long loops; returns true to stop. */
typedef bool (*idm_interrupt)(void *context);

/* Notes: remarks for the user, in order of occurrence. Zero-initialise. */
typedef struct idm_notes {
  size_t count;    /* number of notes */
  size_t capacity; /* length of the array */
  char **text;     /* sentences, [count] */
} idm_notes;

/* Append a note; opt_notes may be NULL. If memory is short, it is dropped without an error. */
IDM_API void idm_notes_add(idm_notes *opt_notes, const char *format, ...) IDM_PRINTF(2, 3);
/* Free all notes; the object can be used again. */
IDM_API void idm_notes_clear(idm_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
