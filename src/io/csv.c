/* Reads CSV, plain or compressed by gzip.
 *
 * Contents: stream · csv */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "io/csv.h"
#include "io/file.h"

/* === stream ================================================================================= */

/* Bytes of a file, plain or compressed by gzip. */

enum { input_size = 1 << 16 };

struct idm_stream {
  FILE *file;
  const char *name;
  bool compressed;
  bool inflating; /* the inflater is initialised */
  bool in_member; /* between the header of a gzip member and its end */
  bool ended;     /* the file has no more bytes */
  z_stream inflater;
  unsigned char input[input_size]; /* for a plain file: its first bytes */
  size_t pending;                  /* for a plain file: number of these bytes not yet returned */
};

/* Read bytes of the file to the position after the `pending` bytes in the input. */
static idm_status fill(idm_stream *stream, size_t pending, size_t *ret_received,
                       idm_error *opt_error)
{
  errno = 0;
  *ret_received = fread(stream->input + pending, 1, input_size - pending, stream->file);
  stream->ended = *ret_received < input_size - pending;
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
  idm_status status = fill(stream, 0, &stream->pending, opt_error);
  stream->compressed = stream->pending >= 2 && stream->input[0] == 0x1f && stream->input[1] == 0x8b;
  if (status == IDM_OK && stream->compressed) {
    stream->inflater.next_in = stream->input;
    stream->inflater.avail_in = (uInt)stream->pending;
    /* 16: a gzip header is expected */
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

static bool idm_stream_compressed(const idm_stream *stream)
{
  return stream->compressed;
}

static idm_status read_plain(idm_stream *stream, char *to, size_t size, size_t *ret_received,
                             idm_error *opt_error)
{
  const size_t first = stream->pending < size ? stream->pending : size;
  memcpy(to, stream->input, first);
  stream->pending -= first;
  memmove(stream->input, stream->input + first, stream->pending);
  *ret_received = first;
  if (first == size || stream->ended) return IDM_OK;
  errno = 0;
  *ret_received += fread(to + first, 1, size - first, stream->file);
  if (!ferror(stream->file)) return IDM_OK;
  return idm_fail_at(opt_error, stream->name, 0, 0, "cannot read: %s",
                     errno ? strerror(errno) : "input error");
}

/* Fail because the inflater returned neither Z_OK nor Z_STREAM_END. */
static idm_status fail_inflate(const idm_stream *stream, int answer, idm_error *opt_error)
{
  if (answer == Z_MEM_ERROR) return idm_fail_memory(opt_error);
  return idm_fail_at(opt_error, stream->name, 0, 0,
                     "the file is compressed by gzip and damaged (%s); compress the table again",
                     stream->inflater.msg ? stream->inflater.msg : "invalid data");
}

/* Read more compressed bytes if none are left. */
static idm_status feed(idm_stream *stream, idm_error *opt_error)
{
  size_t received;
  if (stream->inflater.avail_in) return IDM_OK;
  const idm_status status = fill(stream, 0, &received, opt_error);
  stream->inflater.next_in = stream->input;
  stream->inflater.avail_in = (uInt)received;
  if (status == IDM_OK && !received && stream->in_member)
    return idm_fail_at(opt_error, stream->name, 0, 0,
                       "the file is compressed by gzip and ends too early: part of it is missing "
                       "(copy or download it again)");
  return status;
}

/* Decompress. Several gzip members may follow one another, as in the output of `cat a.gz b.gz`. */
static idm_status read_compressed(idm_stream *stream, char *to, size_t size, size_t *ret_received,
                                  idm_error *opt_error)
{
  z_stream *inflater = &stream->inflater;
  size_t received = 0;
  *ret_received = 0;
  while (received < size) {
    const idm_status status = feed(stream, opt_error);
    if (status != IDM_OK) return status;
    if (!inflater->avail_in) break;
    if (!stream->in_member && inflateReset(inflater) != Z_OK)
      return fail_inflate(stream, Z_DATA_ERROR, opt_error);
    stream->in_member = true;
    const size_t remaining = size - received < input_size ? size - received : input_size;
    inflater->next_out = (Bytef *)to + received;
    inflater->avail_out = (uInt)remaining;
    const int answer = inflate(inflater, Z_NO_FLUSH);
    received += remaining - inflater->avail_out;
    if (answer == Z_STREAM_END)
      stream->in_member = false;
    else if (answer != Z_OK && answer != Z_BUF_ERROR)
      return fail_inflate(stream, answer, opt_error);
  }
  *ret_received = received;
  return IDM_OK;
}

idm_status idm_stream_read(idm_stream *stream, char *to, size_t size, size_t *ret_received,
                           idm_error *opt_error)
{
  return stream->compressed ? read_compressed(stream, to, size, ret_received, opt_error)
                            : read_plain(stream, to, size, ret_received, opt_error);
}

/* === csv ==================================================================================== */

/* CSV tokenizer over a sliding buffer. libcsv is not used because it does not report positions.
 *
 * A record is scanned in place. If the buffer ends first, the record is moved to the front, more is
 * read, and the record is scanned again from its start. Fields are pointers into the buffer; they
 * are copied only to remove doubled quotes. */

static const size_t first_capacity = (size_t)1 << 19;

struct idm_csv {
  char *file;
  idm_stream *source; /* NULL for memory */
  bool stream;        /* false if at .. end contains all bytes that are left */
  char *buffer;       /* NULL for memory */
  size_t capacity;
  const char *at; /* first byte of the next record */
  const char *end;
  uint32_t line; /* line of `at` */
  idm_csv_field *field;
  size_t field_capacity;
  size_t width; /* fields of the first record; 0 before it */
  idm_csv_form form;
  char separator;    /* detected in the first record */
  char max_special;  /* the largest of the bytes that stop the scan of a plain field */
  bool special[256]; /* bytes that stop the scan of a plain field */
  char *scratch;     /* texts after doubled quotes are replaced by single ones */
  size_t scratch_capacity;
};

/* Result of the scan of a field or record. */
typedef enum scan_result { NEXT_FIELD, LAST_FIELD, MORE, FAILED } scan_result;

typedef struct scan {
  const char *at;
  const char *line_start;
  uint32_t line;
  size_t fields;
  bool escaped;
  idm_status status; /* for FAILED */
  idm_error *opt_error;
} scan;

/* --- opening and reading -------------------------------------------------------------------- */

static idm_status create(const char *file, idm_csv **ret_csv, idm_error *opt_error)
{
  *ret_csv = NULL;
  idm_csv *csv = idm_new(1, sizeof *csv);
  if (!csv) return idm_fail_memory(opt_error);
  csv->line = 1;
  csv->field_capacity = 64;
  csv->file = idm_text_copy(file, strlen(file));
  csv->field = idm_new(csv->field_capacity, sizeof *csv->field);
  if (!csv->file || !csv->field) {
    idm_csv_close(csv);
    return idm_fail_memory(opt_error);
  }
  *ret_csv = csv;
  return IDM_OK;
}

/* Move the remaining bytes to the front and read more after them. */
static idm_status refill(idm_csv *csv, idm_error *opt_error)
{
  const size_t kept = (size_t)(csv->end - csv->at);
  if (kept) memmove(csv->buffer, csv->at, kept);
  csv->at = csv->buffer;
  csv->end = csv->buffer + kept;
  if (kept > csv->capacity / 2) {
    char *larger = realloc(csv->buffer, 2 * csv->capacity);
    if (!larger) return idm_fail_memory(opt_error);
    csv->buffer = larger;
    csv->capacity *= 2;
  }
  const size_t remaining = csv->capacity - kept;
  size_t received;
  const idm_status status =
      idm_stream_read(csv->source, csv->buffer + kept, remaining, &received, opt_error);
  csv->at = csv->buffer;
  csv->end = csv->buffer + kept + received;
  csv->stream = received == remaining;
  return status;
}

static void skip_byte_order_mark(idm_csv *csv)
{
  csv->form.mark = csv->end - csv->at >= 3 && memcmp(csv->at, "\xef\xbb\xbf", 3) == 0;
  if (csv->form.mark) csv->at += 3;
}

idm_status idm_csv_open_stream(FILE *stream, const char *file, idm_csv **ret_csv,
                               idm_error *opt_error)
{
  idm_csv *csv;
  idm_status status = create(file, ret_csv, opt_error);
  if (status != IDM_OK) return status;
  csv = *ret_csv;
  csv->stream = true;
  csv->capacity = first_capacity;
  csv->buffer = malloc(csv->capacity);
  csv->at = csv->end = csv->buffer;
  status = csv->buffer ? idm_stream_open(stream, csv->file, &csv->source, opt_error)
                       : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = refill(csv, opt_error);
  if (status != IDM_OK) {
    idm_csv_close(csv);
    *ret_csv = NULL;
    return status;
  }
  skip_byte_order_mark(csv);
  return IDM_OK;
}

idm_status idm_csv_open_memory(const char *text, size_t length, const char *file, idm_csv **ret_csv,
                               idm_error *opt_error)
{
  const idm_status status = create(file, ret_csv, opt_error);
  if (status != IDM_OK) return status;
  (*ret_csv)->at = length ? text : "";
  (*ret_csv)->end = (*ret_csv)->at + length;
  skip_byte_order_mark(*ret_csv);
  return IDM_OK;
}

void idm_csv_close(idm_csv *csv)
{
  if (!csv) return;
  idm_stream_close(csv->source);
  free(csv->file);
  free(csv->buffer);
  free(csv->field);
  free(csv->scratch);
  free(csv);
}

/* --- the separator -------------------------------------------------------------------------- */

static const char separators[] = ",\t;";

static const char *separator_name(char separator)
{
  return separator == '\t' ? "tab" : separator == ';' ? "semicolon" : "comma";
}

static void set_separator(idm_csv *csv, char separator)
{
  csv->separator = separator;
  csv->max_special = separator > ',' ? separator : ',';
  const char stops[] = {'\0', '\n', '\r', '"', separator};
  for (size_t i = 0; i < sizeof stops; i++) csv->special[(unsigned char)stops[i]] = true;
}

/* Count each separator in the first record outside quotes; returns false if the buffer ends before
 * the record. */
static bool count_separators(const idm_csv *csv, size_t count[sizeof separators])
{
  bool quoted = false;
  bool blank = true;
  memset(count, 0, sizeof separators * sizeof *count);
  for (const char *p = csv->at; p < csv->end; p++) {
    const char *location = *p && !quoted ? strchr(separators, *p) : NULL;
    if (*p == '"') quoted = !quoted; /* a doubled quote switches twice */
    if (location) count[location - separators]++;
    if (!quoted && !blank && (*p == '\n' || *p == '\r')) return true;
    blank = blank && strchr(" \t\r\n", *p);
    if (blank) count[1] = 0; /* separators on blank lines are not counted */
  }
  return !csv->stream;
}

/* Detect the separator of a file from its first record. */
static idm_status detect_separator(idm_csv *csv, idm_error *opt_error)
{
  size_t count[sizeof separators];
  while (!count_separators(csv, count)) {
    if ((size_t)(csv->end - csv->at) > IDM_CSV_FIELD_LIMIT) break; /* enough to decide */
    const idm_status status = refill(csv, opt_error);
    if (status != IDM_OK) return status;
  }
  size_t first = 0;
  while (separators[first] && !count[first]) first++;
  size_t second = first;
  while (separators[first] && separators[second] && (second == first || !count[second])) second++;
  if (separators[first] && separators[second])
    return idm_fail_at(opt_error, csv->file, (long)csv->line, 1,
                       "the header holds %zu %s%s and %zu %s%s, and the separator is ambiguous; "
                       "put names that contain one in quotes",
                       count[first], separator_name(separators[first]),
                       count[first] == 1 ? "" : "s", count[second],
                       separator_name(separators[second]), count[second] == 1 ? "" : "s");
  set_separator(csv, separators[first] ? separators[first] : ',');
  return IDM_OK;
}

/* --- scanning ------------------------------------------------------------------------------- */

static long column_of(const scan *s, const char *place)
{
  return (long)(place - s->line_start) + 1;
}

static scan_result fail_nul(const idm_csv *csv, scan *s, const char *place)
{
  s->status = idm_fail_at(s->opt_error, csv->file, (long)s->line, column_of(s, place),
                          "a NUL byte; expected text in UTF-8");
  return FAILED;
}

static scan_result fail_long(const idm_csv *csv, scan *s, const idm_csv_field *field)
{
  s->status = idm_fail_at(s->opt_error, csv->file, (long)field->line, (long)field->column,
                          "a field longer than %zu bytes%s", IDM_CSV_FIELD_LIMIT,
                          field->quoted ? " (is its closing quote missing?)" : "");
  return FAILED;
}

/* End of the scan of a field that begins at `first`: the end of the buffer, or the limit of a
 * field. */
static const char *field_limit(const idm_csv *csv, const char *first)
{
  return (size_t)(csv->end - first) > IDM_CSV_FIELD_LIMIT ? first + IDM_CSV_FIELD_LIMIT + 1
                                                          : csv->end;
}

/* End a field at p, where there is a separator, a line end or the end of the file. */
static scan_result end_field(const idm_csv *csv, scan *s, const char *p)
{
  s->at = p;
  if (p == csv->end) return csv->stream ? MORE : LAST_FIELD;
  s->at = p + 1;
  if (*p == csv->separator) return NEXT_FIELD;
  if (*p == '\r') {
    if (p + 1 == csv->end && csv->stream) return MORE;
    if (p + 1 < csv->end && p[1] == '\n') s->at = p + 2;
  }
  s->line++;
  s->line_start = s->at;
  return LAST_FIELD;
}

/* First special byte from p on, or the end. Eight bytes that are all larger than every special byte
 * are skipped at once. */
static const char *find_special(const idm_csv *csv, const char *p, const char *limit)
{
  const uint64_t ones = 0x0101010101010101u;
  while (limit - p >= 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    if ((word - ones * ((uint64_t)csv->max_special + 1)) & ~word & (ones << 7)) {
      for (int i = 0; i < 8; i++)
        if (csv->special[(unsigned char)p[i]]) return p + i;
    }
    p += 8;
  }
  while (p < limit && !csv->special[(unsigned char)*p]) p++;
  return p;
}

static scan_result scan_plain(const idm_csv *csv, scan *s, idm_csv_field *field)
{
  const char *const limit = field_limit(csv, s->at);
  const char *p = find_special(csv, s->at, limit);
  if ((size_t)(p - s->at) > IDM_CSV_FIELD_LIMIT) return fail_long(csv, s, field);
  field->text = s->at;
  field->length = (uint32_t)(p - s->at);
  if (p < csv->end && *p == '"') {
    s->status = idm_fail_at(s->opt_error, csv->file, (long)s->line, column_of(s, p),
                            "a quote inside a field without quotes; put the whole field in quotes "
                            "and double those inside");
    return FAILED;
  }
  if (p < csv->end && *p == '\0') return fail_nul(csv, s, p);
  return end_field(csv, s, p);
}

/* Find the closing quote from *place on; NEXT_FIELD if it is found. */
static scan_result find_quote(const idm_csv *csv, scan *s, idm_csv_field *field, const char **place)
{
  const char *const limit = field_limit(csv, *place);
  const char *p = *place;
  for (;; p++) {
    while (p < limit && *p != '"' && *p != '\n' && *p != '\r' && *p != '\0') p++;
    if (p >= limit) {
      if ((size_t)(p - *place) > IDM_CSV_FIELD_LIMIT) return fail_long(csv, s, field);
      if (csv->stream) return MORE;
      s->status = idm_fail_at(s->opt_error, csv->file, (long)field->line, (long)field->column,
                              "a quote opens here and is never closed");
      return FAILED;
    }
    if (*p == '\0') return fail_nul(csv, s, p);
    const bool at_end = p + 1 == csv->end;
    if (at_end && csv->stream) return MORE;
    if (*p == '"') {
      if (at_end || p[1] != '"') break;
      field->escaped = s->escaped = true;
      p++;
    } else if (*p == '\n' || at_end || p[1] != '\n') {
      s->line++;
      s->line_start = p + 1;
    }
  }
  *place = p;
  return NEXT_FIELD;
}

static scan_result scan_quoted(const idm_csv *csv, scan *s, idm_csv_field *field)
{
  field->quoted = true;
  const char *const first = s->at + 1;
  const char *p = first;
  const scan_result location = find_quote(csv, s, field, &p);
  if (location != NEXT_FIELD) return location;
  field->text = first;
  field->length = (uint32_t)(p - first);
  p++;
  if (p < csv->end && *p == '\0') return fail_nul(csv, s, p);
  if (p < csv->end && *p != csv->separator && *p != '\n' && *p != '\r') {
    s->status = idm_fail_at(s->opt_error, csv->file, (long)s->line, column_of(s, p),
                            "text after a closing quote; expected a %s or the end of the line "
                            "(quotes inside a quoted field are doubled)",
                            separator_name(csv->separator));
    return FAILED;
  }
  return end_field(csv, s, p);
}

/* Ensure room for one more field. */
static idm_status next_field(idm_csv *csv, const scan *s)
{
  if ((size_t)(s->at - csv->at) > IDM_CSV_RECORD_LIMIT)
    return idm_fail_at(s->opt_error, csv->file, (long)s->line, column_of(s, s->at),
                       "a record longer than %zu bytes", IDM_CSV_RECORD_LIMIT);
  if (s->fields < csv->field_capacity) return IDM_OK;
  if (s->fields == IDM_CSV_FIELDS_LIMIT)
    return idm_fail_at(s->opt_error, csv->file, (long)s->line, column_of(s, s->at),
                       "a record with more than %zu fields", IDM_CSV_FIELDS_LIMIT);
  const size_t capacity = csv->field_capacity ? 2 * csv->field_capacity : 16;
  idm_csv_field *field = realloc(csv->field, capacity * sizeof *field);
  if (!field) return idm_fail_memory(s->opt_error);
  csv->field = field;
  csv->field_capacity = capacity;
  return IDM_OK;
}

static scan_result scan_record(idm_csv *csv, scan *s)
{
  scan_result result = NEXT_FIELD;
  while (result == NEXT_FIELD) {
    s->status = next_field(csv, s);
    if (s->status != IDM_OK) return FAILED;
    idm_csv_field *field = &csv->field[s->fields++];
    *field = (idm_csv_field){.line = s->line, .column = (uint32_t)column_of(s, s->at)};
    const bool quoted = s->at < csv->end && *s->at == '"';
    result = quoted ? scan_quoted(csv, s, field) : scan_plain(csv, s, field);
  }
  return result;
}

/* --- records -------------------------------------------------------------------------------- */

static bool is_blank(const scan *s, const idm_csv_field *field)
{
  if (s->fields != 1 || field->quoted) return false;
  for (uint32_t i = 0; i < field->length; i++)
    if (field->text[i] != ' ' && field->text[i] != '\t') return false;
  return true;
}

static idm_status unescape_quotes(idm_csv *csv, const scan *s)
{
  const size_t needed = (size_t)(s->at - csv->at);
  if (needed > csv->scratch_capacity) {
    char *larger = realloc(csv->scratch, 2 * needed);
    if (!larger) return idm_fail_memory(s->opt_error);
    csv->scratch = larger;
    csv->scratch_capacity = 2 * needed;
  }
  char *to = csv->scratch;
  for (size_t i = 0; i < s->fields; i++) {
    idm_csv_field *field = &csv->field[i];
    if (!field->escaped) continue;
    const char *from = field->text;
    const char *const end = from + field->length;
    field->text = to;
    for (; from < end; from++) {
      *to++ = *from;
      if (*from == '"') from++;
    }
    field->length = (uint32_t)(to - field->text);
  }
  return IDM_OK;
}

static idm_status check_width(idm_csv *csv, const scan *s)
{
  if (!csv->width) csv->width = s->fields;
  if (s->fields == csv->width) return IDM_OK;
  const bool more = s->fields > csv->width;
  const idm_csv_field *place = &csv->field[more ? csv->width : s->fields - 1];
  return idm_fail_at(
      s->opt_error, csv->file, (long)place->line, (long)place->column,
      "this row has %zu field%s; the header has %zu%s", s->fields, s->fields == 1 ? "" : "s",
      csv->width,
      more && csv->separator == ','
          ? " (put a text with a comma in quotes, and write numbers with a decimal point)"
          : "");
}

/* Count the line end of the record that ends before `end`. */
static void count_end(idm_csv *csv, const char *end)
{
  if (end == csv->at) return;
  if (end[-1] == '\r')
    csv->form.carriage++;
  else if (end[-1] == '\n')
    ++*(end - csv->at > 1 && end[-2] == '\r' ? &csv->form.pair : &csv->form.feed);
}

idm_csv_form idm_csv_describe(const idm_csv *csv)
{
  idm_csv_form form = csv->form;
  form.separator = csv->separator;
  form.compressed = csv->source && idm_stream_compressed(csv->source);
  return form;
}

idm_status idm_csv_next(idm_csv *csv, const idm_csv_field **ret_field, size_t *ret_count,
                        idm_error *opt_error)
{
  *ret_field = csv->field;
  *ret_count = 0;
  if (!csv->separator) {
    const idm_status status = detect_separator(csv, opt_error);
    if (status != IDM_OK) return status;
  }
  scan s;
  for (;;) {
    if (csv->at == csv->end && !csv->stream) return IDM_OK;
    if (csv->line > UINT32_MAX - IDM_CSV_RECORD_LIMIT - IDM_CSV_FIELD_LIMIT)
      return idm_fail_at(opt_error, csv->file, (long)csv->line, 1, "too many lines");
    s = (scan){.at = csv->at, .line_start = csv->at, .line = csv->line, .opt_error = opt_error};
    const scan_result result = scan_record(csv, &s);
    if (result == FAILED) return s.status;
    if (result == MORE) {
      const idm_status status = refill(csv, opt_error);
      if (status != IDM_OK) return status;
      continue;
    }
    idm_status status = IDM_OK;
    const bool blank = is_blank(&s, csv->field);
    if (!blank) status = check_width(csv, &s);
    if (status == IDM_OK && s.escaped) status = unescape_quotes(csv, &s);
    if (status != IDM_OK) return status;
    count_end(csv, s.at);
    csv->at = s.at;
    csv->line = s.line;
    if (!blank) break;
  }
  *ret_field = csv->field;
  *ret_count = s.fields;
  return IDM_OK;
}
