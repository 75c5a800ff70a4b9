/* Folders of runs and campaigns. */
#include "io/run/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- any folder ----------------------------------------------------------------------------- */

bool idm_folder_is(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *idm_folder_path(const char *folder, const char *file, char path[IDM_PATH])
{
  snprintf(path, IDM_PATH, "%s/%s", folder, file);
  return path;
}

const char *idm_folder_chain(const char *folder, size_t chain, char path[IDM_PATH])
{
  char name[40];
  snprintf(name, sizeof name, "chain-%zu.csv", chain + 1);
  return idm_folder_path(folder, name, path);
}

bool idm_folder_has(const char *folder, const char *file)
{
  struct stat info;
  char path[IDM_PATH];
  return stat(idm_folder_path(folder, file, path), &info) == 0;
}

idm_status idm_folder_make(const char *folder, bool *ret_made, idm_error *opt_error)
{
  *ret_made = false;
  if (idm_folder_is(folder)) return IDM_OK;
  *ret_made = mkdir(folder, 0777) == 0;
  if (*ret_made) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot make the folder '%s': %s", folder,
                  strerror(errno));
}

/* --- runs ----------------------------------------------------------------------------------- */

bool idm_run_is(const char *path)
{
  if (!path) return false;
  return idm_folder_is(path);
}

bool idm_run_complete(const char *run)
{
  if (!run) return false;
  return idm_folder_has(run, IDM_FILE_POSTERIOR) && !idm_folder_has(run, IDM_FILE_CHECKPOINT);
}

bool idm_folder_unfinished(const char *run)
{
  return !idm_folder_has(run, IDM_FILE_POSTERIOR) && !idm_folder_has(run, IDM_FILE_REPLICATIONS) &&
         (idm_folder_has(run, IDM_FILE_CONFIG) || idm_folder_has(run, IDM_FILE_CHECKPOINT));
}

idm_status idm_folder_open(const char *run, idm_run_mode mode, bool *ret_made, idm_error *opt_error)
{
  *ret_made = false;
  if (mode == IDM_RUN_RESUME && !idm_folder_is(run))
    return idm_fail(opt_error, IDM_USAGE, "there is no run at '%s' to resume", run);
  if (mode == IDM_RUN_NEW && idm_folder_has(run, IDM_FILE_CONFIG))
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' holds a run already; add --resume to go on with it, or --overwrite", run);
  return idm_folder_make(run, ret_made, opt_error);
}

static void remove_file(const char *run, const char *file)
{
  char path[IDM_PATH];
  remove(idm_folder_path(run, file, path));
}

void idm_folder_clear(const char *run)
{
  char path[IDM_PATH];
  remove_file(run, IDM_FILE_POSTERIOR);
  remove_file(run, IDM_FILE_SUMMARY);
  remove_file(run, IDM_FILE_CHECKPOINT);
  for (size_t i = 0; remove(idm_folder_chain(run, i, path)) == 0; i++) continue;
}

void idm_folder_abandon(const char *run, bool made)
{
  if (idm_folder_has(run, IDM_FILE_CHECKPOINT)) return;
  idm_folder_clear(run);
  remove_file(run, IDM_FILE_CONFIG);
  if (made) rmdir(run);
}
