/* Files at paths and in folders: see the header. */
#define _XOPEN_SOURCE 700 /* openat, O_NOFOLLOW, S_ISSOCK */
#include "io/place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

idm_place idm_place_of(const char *path)
{
  return (idm_place){.folder = AT_FDCWD, .name = path, .path = path};
}

bool idm_place_inside(const idm_place *place)
{
  return place->folder != AT_FDCWD;
}

bool idm_place_exists(const idm_place *place)
{
  struct stat info;
  return fstatat(place->folder, place->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *idm_place_kind(mode_t mode)
{
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

static idm_status refuse(const idm_place *place, mode_t mode, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  idm_place_inside(place)
                      ? "'%s' is %s; a run has a regular file of that name, and nothing else is "
                        "read or replaced"
                      : "'%s' is %s; a file that another file names is a regular file",
                  place->path, idm_place_kind(mode));
}

static idm_status fail_open(const idm_place *place, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", place->path, strerror(errno));
}

/* Whether a place holds a regular file, or nothing; links of a path are followed. */
static idm_status check_regular(const idm_place *place, idm_error *opt_error)
{
  struct stat info;
  const int flags = idm_place_inside(place) ? AT_SYMLINK_NOFOLLOW : 0;
  if (fstatat(place->folder, place->name, &info, flags) != 0) return IDM_OK;
  return S_ISREG(info.st_mode) ? IDM_OK : refuse(place, info.st_mode, opt_error);
}

idm_status idm_place_check(const idm_place *place, idm_error *opt_error)
{
  return idm_place_inside(place) ? check_regular(place, opt_error) : IDM_OK;
}

idm_status idm_place_check_again(const idm_place *place, idm_error *opt_error)
{
  struct stat info;
  if (fstatat(place->folder, place->name, &info, 0) != 0 ||
      !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)))
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "'%s' is %s; a request names a file that can be read again",
                  place->path, idm_place_kind(info.st_mode));
}

/* The check comes first because opening a device can have effects, and is repeated on the
 * descriptor because the name can change hands in between. */
static idm_status open_regular(const idm_place *place, int *ret_descriptor, idm_error *opt_error)
{
  struct stat info = {0};
  const idm_status status = check_regular(place, opt_error);
  if (status != IDM_OK) return status;
  const int links = idm_place_inside(place) ? O_NOFOLLOW : 0;
  const int descriptor =
      openat(place->folder, place->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | links);
  if (descriptor < 0) return fail_open(place, opt_error);
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return refuse(place, info.st_mode, opt_error);
  }
  *ret_descriptor = descriptor;
  return IDM_OK;
}

idm_status idm_place_open(const idm_place *place, int *ret_descriptor, idm_error *opt_error)
{
  *ret_descriptor = -1;
  if (idm_place_inside(place)) return open_regular(place, ret_descriptor, opt_error);
  *ret_descriptor = open(place->path, O_RDONLY | O_CLOEXEC);
  return *ret_descriptor < 0 ? fail_open(place, opt_error) : IDM_OK;
}

idm_status idm_place_open_named(const idm_place *place, int *ret_descriptor, idm_error *opt_error)
{
  *ret_descriptor = -1;
  return open_regular(place, ret_descriptor, opt_error);
}
