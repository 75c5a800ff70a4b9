/* Bytes of a file, plain or compressed by gzip. */
#include "io/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"

enum { input_size = 1 << 16 };

struct idm_stream {
  FILE *file;
  const char *name;
  bool compressed;
  bool inflating; /* the inflater is set up */
  bool in_member; /* between the head of a gzip member and its end */
  bool ended;     /* the file has no more bytes */
  z_stream inflater;
  unsigned char input[input_size]; /* of a plain file: its first bytes */
  size_t held;                     /* of a plain file: how many of them are still to be given */
};

/* Read bytes of the file behind those that are held. */
static idm_status fill(idm_stream *stream, size_t held, size_t *ret_got, idm_error *opt_error)
{
  errno = 0;
  *ret_got = fread(stream->input + held, 1, input_size - held, stream->file);
  stream->ended = *ret_got < input_size - held;
  if (!ferror(stream->file)) return IDM_OK;
  return idm_fail_at(opt_error, stream->name, 0, 0, "cannot read: %s",
                     errno ? strerror(errno) : "input error");
}

idm_status idm_stream_open(FILE *file, const char *name, idm_stream **ret_stream,
                           idm_error *opt_error)
{
  *ret_stream = NULL;
  idm_stream *stream = idm_new(1, sizeof *stream);
  if (!stream) return idm_fail_memory(opt_error);
  stream->file = file;
  stream->name = name;
  idm_status status = fill(stream, 0, &stream->held, opt_error);
  stream->compressed = stream->held >= 2 && stream->input[0] == 0x1f && stream->input[1] == 0x8b;
  if (status == IDM_OK && stream->compressed) {
    stream->inflater.next_in = stream->input;
    stream->inflater.avail_in = (uInt)stream->held;
    /* 16: a gzip head is expected */
    if (inflateInit2(&stream->inflater, 16 + MAX_WBITS) != Z_OK)
      status = idm_fail_memory(opt_error);
    stream->inflating = stream->in_member = status == IDM_OK;
  }
  if (status != IDM_OK) {
    idm_stream_close(stream);
    return status;
  }
  *ret_stream = stream;
  return IDM_OK;
}

void idm_stream_close(idm_stream *stream)
{
  if (!stream) return;
  if (stream->inflating) inflateEnd(&stream->inflater);
  free(stream);
}

bool idm_stream_compressed(const idm_stream *stream)
{
  return stream->compressed;
}

static idm_status read_plain(idm_stream *stream, char *to, size_t size, size_t *ret_got,
                             idm_error *opt_error)
{
  const size_t first = stream->held < size ? stream->held : size;
  memcpy(to, stream->input, first);
  stream->held -= first;
  memmove(stream->input, stream->input + first, stream->held);
  *ret_got = first;
  if (first == size || stream->ended) return IDM_OK;
  errno = 0;
  *ret_got += fread(to + first, 1, size - first, stream->file);
  if (!ferror(stream->file)) return IDM_OK;
  return idm_fail_at(opt_error, stream->name, 0, 0, "cannot read: %s",
                     errno ? strerror(errno) : "input error");
}

/* What the inflater answered in place of Z_OK and Z_STREAM_END. */
static idm_status fail_inflate(const idm_stream *stream, int answer, idm_error *opt_error)
{
  if (answer == Z_MEM_ERROR) return idm_fail_memory(opt_error);
  return idm_fail_at(opt_error, stream->name, 0, 0,
                     "the file is compressed by gzip and damaged (%s); make it anew from the table",
                     stream->inflater.msg ? stream->inflater.msg : "its data make no sense");
}

/* More compressed bytes, where none are left. */
static idm_status feed(idm_stream *stream, idm_error *opt_error)
{
  size_t got;
  if (stream->inflater.avail_in) return IDM_OK;
  const idm_status status = fill(stream, 0, &got, opt_error);
  stream->inflater.next_in = stream->input;
  stream->inflater.avail_in = (uInt)got;
  if (status == IDM_OK && !got && stream->in_member)
    return idm_fail_at(opt_error, stream->name, 0, 0,
                       "the file is compressed by gzip and ends too early: part of it is missing "
                       "(copy or download it again)");
  return status;
}

/* Members may follow one another, as `cat a.gz b.gz` makes them. */
static idm_status read_compressed(idm_stream *stream, char *to, size_t size, size_t *ret_got,
                                  idm_error *opt_error)
{
  z_stream *inflater = &stream->inflater;
  size_t got = 0;
  *ret_got = 0;
  while (got < size) {
    const idm_status status = feed(stream, opt_error);
    if (status != IDM_OK) return status;
    if (!inflater->avail_in) break;
    if (!stream->in_member && inflateReset(inflater) != Z_OK)
      return fail_inflate(stream, Z_DATA_ERROR, opt_error);
    stream->in_member = true;
    const size_t room = size - got < input_size ? size - got : input_size;
    inflater->next_out = (Bytef *)to + got;
    inflater->avail_out = (uInt)room;
    const int answer = inflate(inflater, Z_NO_FLUSH);
    got += room - inflater->avail_out;
    if (answer == Z_STREAM_END)
      stream->in_member = false;
    else if (answer != Z_OK && answer != Z_BUF_ERROR)
      return fail_inflate(stream, answer, opt_error);
  }
  *ret_got = got;
  return IDM_OK;
}

idm_status idm_stream_read(idm_stream *stream, char *to, size_t size, size_t *ret_got,
                           idm_error *opt_error)
{
  return stream->compressed ? read_compressed(stream, to, size, ret_got, opt_error)
                            : read_plain(stream, to, size, ret_got, opt_error);
}
