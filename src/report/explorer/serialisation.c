/* Serialises a problem. One function reads and writes, so that the layout is defined once; all
 * counts have 64 bits, since the WebAssembly machine has 32.
 *
 * Contents: pieces · setting · agent and parameters · columns · whole problem */
#include "report/explorer/explorer.h"

#include "base/key.h"
#include "base/memory.h"
#include "base/record.h"
#include "idm/extension/planner.h"
#include "plan/plan.h"
#include "setting/model.h"

static const char kind[] = "explore";

typedef struct problem_record {
  idm_record record;
  bool out_of_memory; /* truncated because memory is exhausted */
} problem_record;

/* --- pieces --------------------------------------------------------------------------------- */

static void fail_allocation(problem_record *r)
{
  r->out_of_memory = r->record.truncated = true;
}

static void pass_count(problem_record *r, size_t *count)
{
  uint64_t count64 = *count;
  idm_record_transfer(&r->record, &count64, sizeof count64);
  /* No count exceeds the number of bytes. */
  if (r->record.reading && count64 > r->record.length) r->record.truncated = true;
  *count = r->record.truncated ? 0 : (size_t)count64;
}

static void pass_flag(problem_record *r, bool *flag)
{
  uint8_t byte = *flag;
  idm_record_transfer(&r->record, &byte, sizeof byte);
  *flag = byte != 0;
}

static void pass_flags(problem_record *r, bool *flags, size_t count)
{
  for (size_t i = 0; i < count; i++) pass_flag(r, &flags[i]);
}

static void pass_numbers(problem_record *r, double *numbers, size_t count)
{
  idm_record_transfer(&r->record, numbers, idm_times(count, sizeof *numbers));
}

/* Transfer a text, which is replaced when reading. */
static void pass_text(problem_record *r, char **text)
{
  size_t length = *text ? strlen(*text) : 0;
  pass_count(r, &length);
  if (r->record.truncated) return;
  if (!r->record.reading) {
    idm_record_transfer(&r->record, *text, length);
    return;
  }
  free(*text);
  *text = idm_new(length + 1, 1);
  if (!*text) fail_allocation(r);
  idm_record_transfer(&r->record, *text, length);
}

static void pass_labels(problem_record *r, idm_labels *labels)
{
  size_t count = labels->count;
  pass_count(r, &count);
  if (r->record.reading && count != labels->count) {
    idm_labels_destroy(labels);
    *labels = (idm_labels){0};
    if (count && idm_labels_create(labels, count, NULL) != IDM_OK) fail_allocation(r);
  }
  for (size_t i = 0; i < count && !r->record.truncated; i++) pass_text(r, &labels->name[i]);
}

/* --- setting -------------------------------------------------------------------------------- */

/* Sizes of the arrays of a problem. */
typedef struct array_sizes {
  idm_sizes sizes;
  size_t models;
  size_t entries; /* number of sparse transitions; 0: none */
  bool transition;
  bool emission;
} array_sizes;

static array_sizes shape_of(const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  const idm_sparse_rows *moves = setting->moves;
  return (array_sizes){.sizes = idm_setting_sizes(setting),
                       .models = problem->theta->models,
                       .entries = moves ? moves->first[moves->rows] : 0,
                       .transition = setting->transition,
                       .emission = setting->emission};
}

static void pass_shape(problem_record *r, array_sizes *s)
{
  pass_count(r, &s->sizes.states);
  pass_count(r, &s->sizes.actions);
  pass_count(r, &s->sizes.observations);
  pass_count(r, &s->models);
  pass_count(r, &s->entries);
  pass_flag(r, &s->transition);
  pass_flag(r, &s->emission);
}

static idm_status make(const array_sizes *s, idm_problem **ret_problem, idm_error *opt_error)
{
  if (!s->entries)
    return idm_problem_create(s->sizes, s->models, s->transition, s->emission, ret_problem,
                              opt_error);
  const idm_status status = idm_problem_create_sparse(s->sizes, ret_problem, opt_error);
  if (status != IDM_OK) return status;
  idm_setting *setting = (*ret_problem)->setting;
  return idm_sparse_rows_create(idm_times(s->sizes.actions, s->sizes.states), s->entries,
                                &setting->moves, opt_error);
}

static void pass_moves(problem_record *r, idm_sparse_rows *moves, size_t entries)
{
  for (size_t row = 0; row <= moves->rows; row++) pass_count(r, &moves->first[row]);
  idm_record_transfer(&r->record, moves->next, entries * sizeof *moves->next);
  pass_numbers(r, moves->probability, entries);
}

static void pass_setting(problem_record *r, const array_sizes *s, idm_setting *setting)
{
  const idm_sizes n = s->sizes;
  int32_t horizon = setting->horizon;
  pass_text(r, &setting->name);
  pass_labels(r, &setting->states);
  pass_labels(r, &setting->actions);
  pass_labels(r, &setting->observations);
  if (s->transition) pass_numbers(r, setting->transition, n.actions * n.states * n.states);
  if (s->emission) pass_numbers(r, setting->emission, n.actions * n.states * n.observations);
  if (s->entries) pass_moves(r, setting->moves, s->entries);
  pass_numbers(r, setting->start, n.states);
  pass_flags(r, setting->terminal, n.actions);
  pass_flags(r, setting->ends, n.actions);
  pass_flags(r, setting->terminal_state, n.states);
  idm_record_transfer(&r->record, &horizon, sizeof horizon);
  setting->horizon = horizon;
  pass_flag(r, &setting->fully_observed);
  pass_flag(r, &setting->emits_before);
}

/* --- agent and parameters -------------------------------------------------------------------- */

/* Transfer keys as text, which keeps every bit of a seed; a key that is not given is empty. */
static idm_status pass_keys(problem_record *r, idm_agent_options *agent, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (const idm_key *key = idm_agent_option_keys();
       key->name && status == IDM_OK && !r->record.truncated; key++) {
    char room[256], *text = NULL;
    idm_key_text(key, agent, room, sizeof room);
    text = idm_text_copy(room, strlen(room));
    if (!text) return idm_fail_memory(opt_error);
    pass_text(r, &text);
    if (r->record.reading && !r->record.truncated && text[0])
      status = idm_key_set_text(key, agent, text, opt_error);
    free(text);
  }
  return status;
}

static idm_status pass_planner(problem_record *r, idm_problem *problem, idm_error *opt_error)
{
  const char *name = r->record.reading ? "" : idm_agent_planner(&problem->agent)->name;
  char *text = idm_text_copy(name, strlen(name));
  if (!text) return idm_fail_memory(opt_error);
  pass_text(r, &text);
  idm_status status = IDM_OK;
  if (r->record.reading && !r->record.truncated) {
    const idm_planner *planner = idm_planner_find(text);
    status = planner ? idm_problem_set_planner(problem, planner, opt_error)
                     : idm_fail(opt_error, IDM_INPUT, "there is no planner '%s' here", text);
  }
  free(text);
  return status;
}

static idm_status pass_theta(problem_record *r, idm_theta *theta, idm_error *opt_error)
{
  for (size_t id = 0; id < theta->blocks && !r->record.truncated; id++) {
    idm_block *block = &theta->block[id];
    size_t size = block->size, variants = block->variants;
    pass_count(r, &size);
    pass_count(r, &variants);
    if (r->record.reading && (size != block->size || variants != block->variants)) {
      const idm_status status = idm_theta_resize(theta, id, size, variants, opt_error);
      if (status != IDM_OK) return status;
    }
    pass_numbers(r, block->value, idm_times(size, variants));
  }
  return IDM_OK;
}

/* --- columns -------------------------------------------------------------------------------- */

static idm_status pass_codes(problem_record *r, idm_codes *codes, idm_error *opt_error)
{
  size_t count = codes->count;
  pass_count(r, &count);
  if (r->record.reading && count) {
    const idm_status status = idm_codes_create(codes, count, opt_error);
    if (status != IDM_OK) return status;
  }
  for (size_t i = 0; i < count && !r->record.truncated; i++) {
    pass_flag(r, &codes->code[i].index);
    pass_labels(r, &codes->code[i].text);
    pass_labels(r, &codes->code[i].target_label);
  }
  return IDM_OK;
}

static idm_status pass_columns(problem_record *r, idm_columns *columns, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < IDM_COLUMN_COUNT && status == IDM_OK; i++) {
    pass_labels(r, &columns->role[i]);
    status = pass_codes(r, &columns->codes[i], opt_error);
  }
  pass_labels(r, &columns->missing);
  pass_labels(r, &columns->missed);
  pass_count(r, &columns->missed_action);
  return status;
}

bool idm_problem_has_log_reader(const idm_problem *problem)
{
  return !problem->columns.derived_count && !problem->columns.rules && !problem->utility_sources &&
         !problem->environments;
}

/* --- whole problem --------------------------------------------------------------------------- */

static idm_status pass_rest(problem_record *r, const array_sizes *s, idm_problem *problem,
                            idm_error *opt_error)
{
  pass_setting(r, s, problem->setting);
  idm_status status = pass_keys(r, &problem->agent, opt_error);
  if (status == IDM_OK) status = pass_planner(r, problem, opt_error);
  if (status == IDM_OK) status = pass_theta(r, problem->theta, opt_error);
  if (status == IDM_OK) status = pass_columns(r, &problem->columns, opt_error);
  return status;
}

idm_status idm_problem_serialise(const idm_problem *problem, char **ret_bytes, size_t *ret_length,
                                 idm_error *opt_error)
{
  problem_record r = {0};
  array_sizes s = shape_of(problem);
  /* The problem is only read here, although the same functions also write to it. */
  idm_problem as_is = *problem;
  *ret_bytes = NULL;
  idm_record_begin(&r.record, kind, 0);
  pass_shape(&r, &s);
  const idm_status status = pass_rest(&r, &s, &as_is, opt_error);
  if (status == IDM_OK) return idm_record_finish(&r.record, ret_bytes, ret_length, opt_error);
  free(r.record.bytes);
  return status;
}

idm_status idm_problem_deserialise(const char *bytes, size_t length, idm_problem **ret_problem,
                                   idm_error *opt_error)
{
  problem_record r = {0};
  array_sizes s = {0};
  *ret_problem = NULL;
  idm_status status = idm_record_open(&r.record, kind, 0, bytes, length, opt_error);
  if (status != IDM_OK) return status;
  pass_shape(&r, &s);
  if (!r.record.truncated) status = make(&s, ret_problem, opt_error);
  if (!r.record.truncated && status == IDM_OK) status = pass_rest(&r, &s, *ret_problem, opt_error);
  if (status == IDM_OK && r.out_of_memory) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_record_close(&r.record, true, opt_error);
  if (status == IDM_OK) status = idm_problem_validate(*ret_problem, opt_error);
  if (status == IDM_OK) return IDM_OK;
  idm_problem_destroy(*ret_problem);
  *ret_problem = NULL;
  return status;
}
