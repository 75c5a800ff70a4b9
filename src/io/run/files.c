/* The files of a run, to read. */
#include "io/run/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The folders within; all are closed on failure. */
static idm_status open_inner(idm_run_files *files, idm_error *opt_error)
{
  files->ready.descriptor = -1;
  idm_status status = idm_folder_open_inner(&files->run, IDM_FOLDER_NEXT, &files->next, opt_error);
  if (status == IDM_OK)
    status = idm_folder_open_inner(&files->run, IDM_FOLDER_READY, &files->ready, opt_error);
  if (status != IDM_OK) idm_run_files_close(files);
  return status;
}

idm_status idm_run_files_open(idm_run_files *files, const char *run, idm_error *opt_error)
{
  const idm_status status = idm_folder_open(&files->run, run, opt_error);
  return status == IDM_OK ? open_inner(files, opt_error) : status;
}

idm_status idm_run_files_of(idm_run_files *files, const idm_folder *run, idm_error *opt_error)
{
  const idm_status status = idm_folder_open_inner(run, ".", &files->run, opt_error);
  snprintf(files->run.path, sizeof files->run.path, "%s", run->path);
  return status == IDM_OK ? open_inner(files, opt_error) : status;
}

void idm_run_files_close(idm_run_files *files)
{
  idm_folder_close(&files->ready);
  idm_folder_close(&files->next);
  idm_folder_close(&files->run);
}

idm_place idm_run_files_place(const idm_run_files *files, const char *name, char path[IDM_PATH])
{
  const bool waits = idm_folder_has(&files->ready, name);
  return idm_folder_place(waits ? &files->ready : &files->run, name, path);
}

bool idm_run_files_have(const idm_run_files *files, const char *name)
{
  return idm_folder_has(&files->ready, name) || idm_folder_has(&files->run, name);
}

bool idm_folder_is_whole(const idm_folder *folder)
{
  return idm_folder_has(folder, IDM_FILE_CONFIG) && idm_folder_has(folder, IDM_FILE_POSTERIOR) &&
         idm_folder_has(folder, IDM_FILE_SUMMARY) && !idm_folder_has(folder, IDM_FILE_CHECKPOINT);
}

bool idm_run_files_wait(const idm_run_files *files)
{
  return idm_folder_has(&files->ready, IDM_FILE_CONFIG) ||
         idm_folder_has(&files->ready, IDM_FILE_POSTERIOR) ||
         idm_folder_has(&files->ready, IDM_FILE_SUMMARY) || idm_folder_is_whole(&files->next);
}

const idm_folder *idm_run_files_unfinished(const idm_run_files *files)
{
  return idm_folder_has(&files->next, IDM_FILE_CONFIG) ? &files->next : &files->run;
}

idm_place idm_folder_output(const idm_folder *folder, const char *path)
{
  char parent[IDM_PATH] = ".";
  struct stat own;
  struct stat of_path;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (slash) snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
  if (folder->descriptor < 0 || !*name || strcmp(path, "-") == 0 ||
      fstat(folder->descriptor, &own) != 0 || stat(parent, &of_path) != 0 ||
      own.st_dev != of_path.st_dev || own.st_ino != of_path.st_ino)
    return idm_place_of(path);
  return (idm_place){.folder = folder->descriptor, .name = name, .path = path};
}
