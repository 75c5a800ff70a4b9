/* The ledger of a log: what became of every row that was read. */
#ifndef IDM_IO_LOG_LEDGER_H
#define IDM_IO_LOG_LEDGER_H

#include "base/intern.h"
#include "idm/intake.h"

struct idm_log;
struct idm_csv_field;

/* Trajectories and agents of all rows, dropped ones too. Zero-initialise. */
typedef struct idm_ledger {
  size_t reasons;  /* 0: nothing can be dropped, and nothing is kept here */
  size_t *rows;    /* [reasons] */
  size_t *missing; /* [reasons] */
  size_t read;     /* rows */
  idm_intern ids;  /* trajectories: agent, NUL, id */
  idm_intern agents;
  size_t capacity;
  uint32_t *agent; /* [trajectory] */
  uint32_t *stage; /* [trajectory]: the furthest reason that one of its rows came to; `reasons`: it
                      is kept */
  bool *lost;      /* [trajectory]: a row was dropped */
  bool *asked;     /* [trajectory]: one was dropped by a condition of --where */
} idm_ledger;

idm_status idm_ledger_open(idm_ledger *ledger, size_t reasons, idm_error *opt_error);
/* The trajectory of a row, whatever becomes of it. */
idm_status idm_ledger_enter(struct idm_log *log, const struct idm_csv_field *field,
                            uint32_t *ret_trajectory, idm_error *opt_error);
/* What became of a row: the reason that took it, or `reasons`. */
void idm_ledger_settle(struct idm_log *log, uint32_t trajectory, size_t reason, bool missing);
/* Sum up what the log held, in the order of its reasons: conditions of --where, then rules; with
 * room for cut points. */
idm_status idm_ledger_close(const struct idm_log *log, size_t cuts, idm_intake **ret_intake,
                            idm_error *opt_error);
void idm_ledger_clear(idm_ledger *ledger);

#endif
