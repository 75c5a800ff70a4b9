/* Opened folders: see the header.
 *
 * Contents: opening · names · checking and changing */
#define _XOPEN_SOURCE 700 /* openat, fdopendir, O_NOFOLLOW */
#include "io/run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"

/* --- opening -------------------------------------------------------------------------------- */

bool idm_folder_is(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

idm_status idm_folder_make(const char *path, bool *ret_made, idm_error *opt_error)
{
  *ret_made = false;
  if (idm_folder_is(path)) return IDM_OK;
  *ret_made = mkdir(path, 0777) == 0;
  if (*ret_made) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot make the folder '%s': %s", path, strerror(errno));
}

idm_status idm_folder_open(idm_folder *folder, const char *path, idm_error *opt_error)
{
  snprintf(folder->path, sizeof folder->path, "%s", path);
  folder->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->descriptor >= 0) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "cannot open the folder '%s': %s", path, strerror(errno));
}

static void set_path(const idm_folder *folder, const char *name, char path[IDM_PATH])
{
  /* What does not fit is longer than any system allows, and is only shown. */
  if (snprintf(path, IDM_PATH, "%s/%s", folder->path, name) < 0) path[0] = '\0';
}

static idm_status refuse_inner(const char *path, mode_t mode, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' is %s; a run has a folder of that name, and nothing "
                  "else is read or replaced",
                  path, idm_place_kind(mode));
}

idm_status idm_folder_open_inner(const idm_folder *outer, const char *name, idm_folder *inner,
                                 idm_error *opt_error)
{
  struct stat info;
  inner->descriptor = -1;
  set_path(outer, name, inner->path);
  if (!idm_folder_has(outer, name)) return IDM_OK;
  inner->descriptor =
      openat(outer->descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (inner->descriptor >= 0) return IDM_OK;
  const int reason = errno;
  if (fstatat(outer->descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode))
    return refuse_inner(inner->path, info.st_mode, opt_error);
  /* A writer moved its files up in the meantime. */
  if (reason == ENOENT) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "cannot open the folder '%s': %s", inner->path,
                  strerror(reason));
}

void idm_folder_close(idm_folder *folder)
{
  if (folder->descriptor >= 0) close(folder->descriptor);
  folder->descriptor = -1;
}

/* --- names ---------------------------------------------------------------------------------- */

idm_place idm_folder_place(const idm_folder *folder, const char *name, char path[IDM_PATH])
{
  set_path(folder, name, path);
  return (idm_place){.folder = folder->descriptor, .name = name, .path = path};
}

bool idm_folder_has(const idm_folder *folder, const char *name)
{
  struct stat info;
  return folder->descriptor >= 0 &&
         fstatat(folder->descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *idm_chain_name(size_t chain, char name[IDM_CHAIN_NAME])
{
  snprintf(name, IDM_CHAIN_NAME, IDM_FILE_CHAIN, chain + 1);
  return name;
}

bool idm_chain_name_is(const char *name)
{
  size_t number = 0;
  char again[IDM_CHAIN_NAME];
  if (sscanf(name, IDM_FILE_CHAIN, &number) != 1) return false;
  snprintf(again, sizeof again, IDM_FILE_CHAIN, number);
  return strcmp(name, again) == 0;
}

void idm_folder_each(const idm_folder *folder, bool (*visit)(void *context, const char *name),
                     void *context)
{
  /* A description of its own: reading a folder moves its offset. */
  const int own = openat(folder->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = own >= 0 ? fdopendir(own) : NULL;
  if (!directory) {
    if (own >= 0) close(own);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(directory));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
        !visit(context, entry->d_name))
      break;
  closedir(directory);
}

/* NAME.PROCESS-NUMBER.tmp: see idm/file.h. */
bool idm_folder_sweep(const idm_folder *folder, const char *name)
{
  char base[256];
  snprintf(base, sizeof base, "%s", name);
  char *end = strrchr(base, '.');
  if (!end || strcmp(end, ".tmp") != 0) return false;
  *end = '\0';
  char *numbers = strrchr(base, '.');
  if (!numbers || !numbers[1] || numbers[1 + strspn(numbers + 1, "0123456789-")]) return false;
  *numbers = '\0';
  idm_file_sweep_at(folder->descriptor, base);
  return true;
}

typedef struct search {
  const idm_folder *folder;
  char *name;
} search;

static bool find_content(void *context, const char *name)
{
  const search *s = context;
  if (name[0] == '.' || idm_folder_sweep(s->folder, name)) return true;
  snprintf(s->name, 256, "%s", name);
  return false;
}

void idm_folder_content(const idm_folder *folder, char name[256])
{
  name[0] = '\0';
  idm_folder_each(folder, find_content, &(search){folder, name});
}

/* --- checking and changing ------------------------------------------------------------------ */

typedef struct checking {
  const idm_folder *folder;
  idm_status status;
  idm_error *opt_error;
} checking;

static bool is_among(const char *name, const char *const *list)
{
  while (*list && strcmp(*list, name) != 0) list++;
  return *list;
}

static bool check_name(void *context, const char *name)
{
  static const char *const files[] = {
      IDM_FILE_CONFIG, IDM_FILE_POSTERIOR,    IDM_FILE_SUMMARY, IDM_FILE_CHECKPOINT,
      IDM_FILE_REPORT, IDM_FILE_REPLICATIONS, IDM_FILE_LOCK,    NULL};
  static const char *const folders[] = {IDM_FOLDER_NEXT, IDM_FOLDER_READY, NULL};
  checking *c = context;
  struct stat info;
  char path[IDM_PATH];
  const idm_place place = idm_folder_place(c->folder, name, path);
  if (is_among(name, files) || idm_chain_name_is(name))
    c->status = idm_place_check(&place, c->opt_error);
  else if (is_among(name, folders) &&
           fstatat(place.folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode))
    c->status = refuse_inner(path, info.st_mode, c->opt_error);
  return c->status == IDM_OK;
}

idm_status idm_folder_check(const idm_folder *folder, idm_error *opt_error)
{
  checking c = {folder, IDM_OK, opt_error};
  if (folder->descriptor >= 0) idm_folder_each(folder, check_name, &c);
  return c.status;
}

idm_status idm_folder_move(const idm_folder *from, const char *name, const idm_folder *to,
                           idm_error *opt_error)
{
  char path[IDM_PATH];
  const idm_place place = idm_folder_place(to, name, path);
  const idm_status status = idm_place_check(&place, opt_error);
  if (status != IDM_OK || !idm_folder_has(from, name)) return status;
  if (renameat(from->descriptor, name, to->descriptor, name) == 0) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot replace '%s': %s; the new run is in '%s'", path,
                  strerror(errno), from->path);
}

void idm_folder_remove(const idm_folder *folder, const char *name)
{
  if (folder->descriptor >= 0) unlinkat(folder->descriptor, name, 0);
}

void idm_folder_remove_inner(const idm_folder *folder, const char *name)
{
  if (folder->descriptor >= 0) unlinkat(folder->descriptor, name, AT_REMOVEDIR);
}
