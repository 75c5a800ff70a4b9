/* Checkpoints of work under way in a run folder. */
#ifndef IDM_IO_RUN_CHECKPOINT_H
#define IDM_IO_RUN_CHECKPOINT_H

#include "idm/run.h"
#include "io/run/folder.h"

/* Who watches, and when a checkpoint was last written. */
typedef struct idm_keeper {
  const idm_folder *folder;
  idm_progress progress; /* or NULL */
  void *context;
  char path[IDM_PATH]; /* of the checkpoint, in messages */
  char *bytes;         /* of the checkpoint that the work goes on from; NULL: none */
  size_t length;
  double saved;      /* when the last checkpoint was written */
  double cost;       /* seconds that it took */
  double done;       /* share of the work then */
  bool asked;        /* to stop */
  idm_status status; /* of writing checkpoints */
  idm_error error;
} idm_keeper;

/* With the checkpoint of a run that goes on; none is a beginning from the start. */
idm_status idm_keeper_begin(idm_keeper *keeper, const idm_folder *folder, idm_run_mode mode,
                            idm_progress opt_progress, void *context, idm_error *opt_error);
void idm_keeper_end(idm_keeper *keeper);
/* What work is to be watched by: it writes a checkpoint every few seconds, or where that is large
 * as seldom as takes a twentieth of the time; when it is asked to stop; and when all is done. */
idm_fit_watch idm_keeper_watch(idm_keeper *keeper, uint64_t label);

#endif
