/* Writer of YAML over libyaml's emitter. Lines are never wrapped. */
#ifndef IDM_IO_YAML_EMIT_H
#define IDM_IO_YAML_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <yaml.h>

#include "io/file.h"

/* A document that is written to a file. The first failure is kept and returned at the end; what is
 * emitted after it is ignored, so that no call in between needs a check. */
typedef struct idm_emitter {
  yaml_emitter_t yaml;
  idm_file *file;
  idm_error error; /* the first failure, which the caller may set too; IDM_OK until then */
} idm_emitter;

typedef enum idm_emit_style { IDM_EMIT_BLOCK, IDM_EMIT_FLOW } idm_emit_style;

/* Begin a file that is written atomically: one document, a block mapping. "-" is standard output.
 */
void idm_emit_begin(idm_emitter *emitter, const char *path);
/* The same for a file at a location. */
void idm_emit_begin_at(idm_emitter *emitter, const idm_location *place);
/* Write lines of comment at the head of the file, before anything else is emitted. Control
 * characters of the text, except line ends, become '?'. */
void idm_emit_head(idm_emitter *emitter, const char *text);
/* End the document and commit the file; abandon it after a failure. Every begin needs an end. */
idm_status idm_emit_end(idm_emitter *emitter, idm_error *opt_error);

/* --- nodes ---------------------------------------------------------------------------------- */

/* opt_key is the node's key in a mapping, NULL in a list. Nodes inside a flow are written in flow
 * style, whatever their style. */
void idm_emit_mapping(idm_emitter *emitter, const char *opt_key, idm_emit_style style);
void idm_emit_mapping_end(idm_emitter *emitter);
void idm_emit_list(idm_emitter *emitter, const char *opt_key, idm_emit_style style);
void idm_emit_list_end(idm_emitter *emitter);

/* A text; keys are written in the same way. It is quoted unless every reader takes it for this
 * text. IDM_INPUT unless it is UTF-8. */
void idm_emit_text(idm_emitter *emitter, const char *opt_key, const char *text);
/* A word of the format, never quoted. */
void idm_emit_word(idm_emitter *emitter, const char *opt_key, const char *word);
/* The shortest decimal that reads back as the same number. */
void idm_emit_number(idm_emitter *emitter, const char *opt_key, double value);
void idm_emit_integer(idm_emitter *emitter, const char *opt_key, uint64_t value);
/* Lists in flow style. */
void idm_emit_texts(idm_emitter *emitter, const char *opt_key, const char *const *text,
                    size_t count);
void idm_emit_numbers(idm_emitter *emitter, const char *opt_key, const double *value, size_t count);

/* --- pieces --------------------------------------------------------------------------------- */

/* One text, or a list of texts in flow style, as a part of a line; for files with comments, which
 * libyaml does not write. The caller frees *ret_piece. */
idm_status idm_emit_text_piece(const char *text, char **ret_piece, idm_error *opt_error);
idm_status idm_emit_texts_piece(const char *const *text, size_t count, char **ret_piece,
                                idm_error *opt_error);

#endif
