/* Writes YAML through libyaml's emitter. */
#include "io/yaml/yaml.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* --- events --------------------------------------------------------------------------------- */

/* Emit an event; event_status is 0 if the event could not be created because memory is exhausted.
 */
static void emit(idm_emitter *emitter, yaml_event_t *event, int event_status)
{
  idm_error *error = &emitter->error;
  if (error->status != IDM_OK) {
    if (event_status) yaml_event_delete(event);
  } else if (!event_status) {
    (void)idm_fail_memory(error);
  } else if (!yaml_emitter_emit(&emitter->yaml, event)) {
    /* Only a stream in memory reports failed writes here, and they are due to exhausted memory. */
    const yaml_emitter_t *yaml = &emitter->yaml;
    if (yaml->error == YAML_MEMORY_ERROR || yaml->error == YAML_WRITER_ERROR)
      (void)idm_fail_memory(error);
    else
      (void)idm_fail(error, IDM_SYSTEM, "cannot write YAML: %s",
                     yaml->problem ? yaml->problem : "unknown error");
  }
}

static void begin(idm_emitter *emitter, yaml_write_handler_t *write, void *target)
{
  if (!yaml_emitter_initialize(&emitter->yaml)) {
    (void)idm_fail_memory(&emitter->error);
    return;
  }
  yaml_emitter_set_output(&emitter->yaml, write, target);
  yaml_emitter_set_unicode(&emitter->yaml, 1);
  yaml_emitter_set_width(&emitter->yaml, -1);
  yaml_event_t event;
  emit(emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
  emit(emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
}

static idm_status end(idm_emitter *emitter, idm_error *opt_error)
{
  yaml_event_t event;
  emit(emitter, &event, yaml_document_end_event_initialize(&event, 1));
  emit(emitter, &event, yaml_stream_end_event_initialize(&event)); /* flushes */
  yaml_emitter_delete(&emitter->yaml);
  if (emitter->error.status != IDM_OK && opt_error) *opt_error = emitter->error;
  return emitter->error.status;
}

/* The file keeps failures until it is committed. */
static int write_file(void *file, unsigned char *bytes, size_t length)
{
  idm_file_write(file, (const char *)bytes, length);
  return 1;
}

void idm_emit_begin(idm_emitter *emitter, const char *path)
{
  const idm_location place = idm_location_of(path);
  idm_emit_begin_at(emitter, &place);
}

void idm_emit_begin_at(idm_emitter *emitter, const idm_location *place)
{
  *emitter = (idm_emitter){0};
  if (idm_file_create_at(place, &emitter->file, &emitter->error) != IDM_OK) return;
  begin(emitter, write_file, emitter->file);
  idm_emit_mapping(emitter, NULL, IDM_EMIT_BLOCK);
}

/* Writes directly to the file: libyaml has no comments, and writes nothing before its buffer is
 * full. */
void idm_emit_head(idm_emitter *emitter, const char *text)
{
  bool begins = true;
  for (const char *c = text; *c && emitter->error.status == IDM_OK; c++) {
    const bool control = (unsigned char)*c < ' ' || *c == 0x7f;
    if (begins) idm_file_write(emitter->file, "# ", 2);
    idm_file_write(emitter->file, control && *c != '\n' ? "?" : c, 1);
    begins = *c == '\n';
    if (!c[1] && !begins) idm_file_write(emitter->file, "\n", 1);
  }
}

idm_status idm_emit_end(idm_emitter *emitter, idm_error *opt_error)
{
  idm_emit_mapping_end(emitter);
  const idm_status status = end(emitter, opt_error);
  if (status == IDM_OK) return idm_file_commit(emitter->file, opt_error);
  idm_file_abandon(emitter->file);
  return status;
}

/* --- nodes ---------------------------------------------------------------------------------- */

static void emit_scalar(idm_emitter *emitter, const char *text, yaml_scalar_style_t style)
{
  const size_t length = strlen(text);
  if (emitter->error.status != IDM_OK) return;
  if (length > INT_MAX || !idm_utf8_valid(text, length)) {
    (void)idm_fail(&emitter->error, IDM_INPUT, "'%.60s' is not UTF-8 text, which YAML needs", text);
    return;
  }
  yaml_event_t event;
  emit(emitter, &event,
       yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)length, 1,
                                    1, style));
}

/* libyaml quotes what the syntax requires, but not texts that a reader would take for a number, a
 * date, a truth value or null. Only words are therefore written without quotes. */
static bool is_word(const char *text)
{
  static const char *const taken[] = {
      "yes",   "no",   "on",  "off", "y",        "n",      "true",
      "false", "null", "inf", "nan", "identity", "uniform"}; /* the last two denote matrices */
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  static const char inner[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-";
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    if (strcasecmp(text, taken[i]) == 0) return false;
  return text[0] && strchr(letters, text[0]) && !text[strspn(text, inner)];
}

/* Double quotes keep a text of several lines on one line. */
static void emit_text(idm_emitter *emitter, const char *text)
{
  emit_scalar(emitter, text,
              is_word(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void emit_key(idm_emitter *emitter, const char *opt_key)
{
  if (opt_key) emit_text(emitter, opt_key);
}

void idm_emit_mapping(idm_emitter *emitter, const char *opt_key, idm_emit_style style)
{
  const yaml_mapping_style_t form =
      style == IDM_EMIT_FLOW ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
  yaml_event_t event;
  emit_key(emitter, opt_key);
  emit(emitter, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, form));
}

void idm_emit_mapping_end(idm_emitter *emitter)
{
  yaml_event_t event;
  emit(emitter, &event, yaml_mapping_end_event_initialize(&event));
}

void idm_emit_list(idm_emitter *emitter, const char *opt_key, idm_emit_style style)
{
  const yaml_sequence_style_t form =
      style == IDM_EMIT_FLOW ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE;
  yaml_event_t event;
  emit_key(emitter, opt_key);
  emit(emitter, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, form));
}

void idm_emit_list_end(idm_emitter *emitter)
{
  yaml_event_t event;
  emit(emitter, &event, yaml_sequence_end_event_initialize(&event));
}

void idm_emit_text(idm_emitter *emitter, const char *opt_key, const char *text)
{
  emit_key(emitter, opt_key);
  emit_text(emitter, text);
}

void idm_emit_word(idm_emitter *emitter, const char *opt_key, const char *word)
{
  emit_key(emitter, opt_key);
  emit_scalar(emitter, word, YAML_PLAIN_SCALAR_STYLE);
}

void idm_emit_number(idm_emitter *emitter, const char *opt_key, double value)
{
  char text[40];
  idm_number_text(value, text, sizeof text);
  idm_emit_word(emitter, opt_key, text);
}

void idm_emit_integer(idm_emitter *emitter, const char *opt_key, uint64_t value)
{
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  idm_emit_word(emitter, opt_key, text);
}

void idm_emit_texts(idm_emitter *emitter, const char *opt_key, const char *const *text,
                    size_t count)
{
  idm_emit_list(emitter, opt_key, IDM_EMIT_FLOW);
  for (size_t i = 0; i < count; i++) emit_text(emitter, text[i]);
  idm_emit_list_end(emitter);
}

void idm_emit_numbers(idm_emitter *emitter, const char *opt_key, const double *value, size_t count)
{
  idm_emit_list(emitter, opt_key, IDM_EMIT_FLOW);
  for (size_t i = 0; i < count; i++) idm_emit_number(emitter, NULL, value[i]);
  idm_emit_list_end(emitter);
}

/* --- pieces --------------------------------------------------------------------------------- */

static int write_stream(void *stream, unsigned char *bytes, size_t length)
{
  return fwrite(bytes, 1, length, stream) == length;
}

idm_status idm_emit_texts_piece(const char *const *text, size_t count, char **ret_piece,
                                idm_error *opt_error)
{
  *ret_piece = NULL;
  char *piece = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&piece, &length);
  if (!stream) return idm_fail_memory(opt_error);
  idm_emitter emitter = {0};
  begin(&emitter, write_stream, stream);
  idm_emit_texts(&emitter, NULL, text, count);
  idm_status status = end(&emitter, opt_error);
  if (fclose(stream) != 0 && status == IDM_OK) status = idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    free(piece);
    return status;
  }
  piece[length - 1] = '\0'; /* the line end of the document */
  *ret_piece = piece;
  return IDM_OK;
}

/* Written as the only item of a list, so that it is valid in a flow as well. */
idm_status idm_emit_text_piece(const char *text, char **ret_piece, idm_error *opt_error)
{
  const idm_status status = idm_emit_texts_piece(&text, 1, ret_piece, opt_error);
  if (status != IDM_OK) return status;
  const size_t length = strlen(*ret_piece) - 2; /* without [ and ] */
  memmove(*ret_piece, *ret_piece + 1, length);
  (*ret_piece)[length] = '\0';
  return IDM_OK;
}
