/* Shared libraries that are loaded on first use. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool idm_library_load(const char *file, const idm_symbol *symbols, size_t count)
{
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  bool complete = true;
  for (size_t i = 0; i < count; i++) {
    void *address = dlsym(library, symbols[i].name);
    /* C has no conversion from an object pointer to a function pointer; POSIX gives both one form.
     */
    memcpy(symbols[i].pointer, &address, sizeof address);
    complete = complete && address;
  }
  return complete;
}
