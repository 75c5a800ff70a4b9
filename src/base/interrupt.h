/* Long loops that somebody may want to end: asked every few milliseconds, not at every turn. */
#ifndef IDM_BASE_INTERRUPT_H
#define IDM_BASE_INTERRUPT_H

#include <stddef.h>

#include "idm/status.h"

typedef struct idm_interruption {
  idm_interrupt ask; /* NULL: nobody */
  void *context;
} idm_interruption;

/* At turn i of a loop whose turns take microseconds: IDM_UNTRUSTED where it is to end. */
static inline idm_status idm_interruption_check(const idm_interruption *interruption, size_t i,
                                                idm_error *opt_error)
{
  enum { turns = 4096 };
  if (i % turns || !interruption->ask || !interruption->ask(interruption->context)) return IDM_OK;
  return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
}

#endif
