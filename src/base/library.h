/* Shared libraries that are loaded on first use.
 *
 * A library that only some commands need costs every start of the program time when it is linked.
 * The caller keeps a table of function pointers and fills it with one call under pthread_once:
 *
 *     #define FUNCTIONS(X) X(nc_open) X(nc_close)
 *     static struct { FUNCTIONS(IDM_LIBRARY_POINTER) } netcdf;
 *     #define SYMBOL(name) IDM_LIBRARY_SYMBOL(netcdf, name)
 *     static const idm_symbol symbols[] = {FUNCTIONS(SYMBOL)};
 */
#ifndef IDM_BASE_LIBRARY_H
#define IDM_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct idm_symbol {
  const char *name;
  void *pointer; /* address of the function pointer to fill */
} idm_symbol;

/* A member of the table, declared with the type of the function. */
#define IDM_LIBRARY_POINTER(name)       __typeof__(name) *(name);
#define IDM_LIBRARY_SYMBOL(table, name) {#name, &(table).name},

/* Load a library by its file name and fill the function pointers. The library stays loaded. Returns
 * false if the library or one of the symbols is missing. */
bool idm_library_load(const char *file, const idm_symbol *symbols, size_t count);

#endif
