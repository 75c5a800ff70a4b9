/* Checkpoints of work under way in a run folder: see the header. */
#include "io/run/checkpoint.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "io/file.h"
#include "io/run/files.h"

/* Seconds between checkpoints. */
static const double checkpoint_seconds = 3;
/* Larger checkpoints are none of ours. */
static const size_t most_bytes = (size_t)1 << 36;

static idm_place place_of(idm_keeper *k)
{
  return idm_folder_place(k->folder, IDM_FILE_CHECKPOINT, k->path);
}

idm_status idm_keeper_begin(idm_keeper *k, const idm_folder *folder, idm_run_mode mode,
                            idm_progress opt_progress, void *context, idm_error *opt_error)
{
  *k = (idm_keeper){
      .folder = folder, .progress = opt_progress, .context = context, .saved = idm_seconds()};
  const idm_place place = place_of(k);
  if (mode != IDM_RUN_RESUME || !idm_place_exists(&place)) return IDM_OK;
  return idm_file_read_at(&place, most_bytes, &k->bytes, &k->length, opt_error);
}

void idm_keeper_end(idm_keeper *k)
{
  free(k->bytes);
  k->bytes = NULL;
}

static idm_status write_checkpoint(idm_keeper *k, const idm_work *work)
{
  char *bytes = NULL;
  size_t length = 0;
  idm_file *file = NULL;
  const double begun = idm_seconds();
  idm_status status = idm_work_save(work, &bytes, &length, &k->error);
  const idm_place place = place_of(k);
  if (status == IDM_OK) status = idm_file_create_at(&place, &file, &k->error);
  if (status == IDM_OK) {
    idm_file_write(file, bytes, length);
    status = idm_file_commit(file, &k->error);
  }
  free(bytes);
  k->saved = idm_seconds();
  k->cost = k->saved - begun;
  k->done = work->done;
  return status;
}

static bool is_due(const idm_keeper *k, const idm_work *work, bool stop)
{
  const bool over = work->done >= 1 && k->done < 1;
  return work->save &&
         (stop || over || idm_seconds() - k->saved > fmax(checkpoint_seconds, 20 * k->cost));
}

static bool watch(void *context, const idm_work *work)
{
  idm_keeper *k = context;
  const bool stop = k->progress && k->progress(k->context, work);
  k->asked = k->asked || stop;
  if (k->status == IDM_OK && is_due(k, work, stop)) k->status = write_checkpoint(k, work);
  return stop || k->status != IDM_OK;
}

idm_fit_watch idm_keeper_watch(idm_keeper *k, uint64_t label)
{
  return (idm_fit_watch){.progress = watch,
                         .context = k,
                         .checkpoint = k->bytes,
                         .checkpoint_length = k->length,
                         .checkpoint_file = k->path,
                         .label = label};
}
