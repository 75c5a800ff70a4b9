/* A problem as bytes: see the header. One order for both ways, so that the layout stands once; all
 * counts have 64 bits, since the page's machine has 32.
 *
 * Contents: pieces · setting · agent and parameter · columns · the whole */
#include "report/explorer/parcel.h"

#include "base/memory.h"
#include "base/record.h"
#include "idm/planner.h"

static const char kind[] = "explore";

typedef struct parcel {
  idm_record record;
  bool starved; /* it is cut because memory ran out */
} parcel;

/* --- pieces --------------------------------------------------------------------------------- */

static void starve(parcel *r)
{
  r->starved = r->record.cut = true;
}

static void pass_count(parcel *r, size_t *count)
{
  uint64_t wide = *count;
  idm_record_pass(&r->record, &wide, sizeof wide);
  /* Nothing has more parts than the parcel has bytes. */
  if (r->record.reading && wide > r->record.length) r->record.cut = true;
  *count = r->record.cut ? 0 : (size_t)wide;
}

static void pass_flag(parcel *r, bool *flag)
{
  uint8_t byte = *flag;
  idm_record_pass(&r->record, &byte, sizeof byte);
  *flag = byte != 0;
}

static void pass_flags(parcel *r, bool *flags, size_t count)
{
  for (size_t i = 0; i < count; i++) pass_flag(r, &flags[i]);
}

static void pass_numbers(parcel *r, double *numbers, size_t count)
{
  idm_record_pass(&r->record, numbers, idm_times(count, sizeof *numbers));
}

/* A text, which is replaced where it is read. */
static void pass_text(parcel *r, char **text)
{
  size_t length = *text ? strlen(*text) : 0;
  pass_count(r, &length);
  if (r->record.cut) return;
  if (!r->record.reading) {
    idm_record_pass(&r->record, *text, length);
    return;
  }
  free(*text);
  *text = idm_new(length + 1, 1);
  if (!*text) starve(r);
  idm_record_pass(&r->record, *text, length);
}

static void pass_labels(parcel *r, idm_labels *labels)
{
  size_t count = labels->count;
  pass_count(r, &count);
  if (r->record.reading && count != labels->count) {
    idm_labels_destroy(labels);
    *labels = (idm_labels){0};
    if (count && idm_labels_create(labels, count, NULL) != IDM_OK) starve(r);
  }
  for (size_t i = 0; i < count && !r->record.cut; i++) pass_text(r, &labels->name[i]);
}

/* --- setting -------------------------------------------------------------------------------- */

/* What the arrays of a problem are as long as. */
typedef struct shape {
  idm_sizes sizes;
  size_t models;
  size_t entries; /* of moves; 0: there are none */
  bool transition;
  bool emission;
} shape;

static shape shape_of(const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  const idm_moves *moves = setting->moves;
  return (shape){.sizes = idm_setting_sizes(setting),
                 .models = problem->theta->models,
                 .entries = moves ? moves->first[moves->rows] : 0,
                 .transition = setting->transition,
                 .emission = setting->emission};
}

static void pass_shape(parcel *r, shape *s)
{
  pass_count(r, &s->sizes.states);
  pass_count(r, &s->sizes.actions);
  pass_count(r, &s->sizes.observations);
  pass_count(r, &s->models);
  pass_count(r, &s->entries);
  pass_flag(r, &s->transition);
  pass_flag(r, &s->emission);
}

static idm_status make(const shape *s, idm_problem **ret_problem, idm_error *opt_error)
{
  if (!s->entries)
    return idm_problem_create(s->sizes, s->models, s->transition, s->emission, ret_problem,
                              opt_error);
  const idm_status status = idm_problem_create_moving(s->sizes, ret_problem, opt_error);
  if (status != IDM_OK) return status;
  idm_setting *setting = (*ret_problem)->setting;
  return idm_moves_create(idm_times(s->sizes.actions, s->sizes.states), s->entries, &setting->moves,
                          opt_error);
}

static void pass_moves(parcel *r, idm_moves *moves, size_t entries)
{
  for (size_t row = 0; row <= moves->rows; row++) pass_count(r, &moves->first[row]);
  idm_record_pass(&r->record, moves->next, entries * sizeof *moves->next);
  pass_numbers(r, moves->probability, entries);
}

static void pass_setting(parcel *r, const shape *s, idm_setting *setting)
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
  idm_record_pass(&r->record, &horizon, sizeof horizon);
  setting->horizon = horizon;
  pass_flag(r, &setting->fully_observed);
  pass_flag(r, &setting->emits_before);
}

/* --- agent and parameter -------------------------------------------------------------------- */

/* Keys as text, which keeps every bit of a seed; one that is not given is empty. */
static idm_status pass_keys(parcel *r, idm_agent *agent, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (const idm_key *key = idm_agent_keys(); key->name && status == IDM_OK && !r->record.cut;
       key++) {
    char room[256], *text = NULL;
    idm_key_text(key, agent, room, sizeof room);
    text = idm_text_copy(room, strlen(room));
    if (!text) return idm_fail_memory(opt_error);
    pass_text(r, &text);
    if (r->record.reading && !r->record.cut && text[0])
      status = idm_key_set_text(key, agent, text, opt_error);
    free(text);
  }
  return status;
}

static idm_status pass_planner(parcel *r, idm_problem *problem, idm_error *opt_error)
{
  const char *name = r->record.reading ? "" : idm_agent_planner(&problem->agent)->name;
  char *text = idm_text_copy(name, strlen(name));
  if (!text) return idm_fail_memory(opt_error);
  pass_text(r, &text);
  idm_status status = IDM_OK;
  if (r->record.reading && !r->record.cut) {
    const idm_planner *planner = idm_planner_find(text);
    status = planner ? idm_problem_plan_by(problem, planner, opt_error)
                     : idm_fail(opt_error, IDM_INPUT, "there is no planner '%s' here", text);
  }
  free(text);
  return status;
}

static idm_status pass_theta(parcel *r, idm_theta *theta, idm_error *opt_error)
{
  for (size_t id = 0; id < theta->blocks && !r->record.cut; id++) {
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

static idm_status pass_codes(parcel *r, idm_codes *codes, idm_error *opt_error)
{
  size_t count = codes->count;
  pass_count(r, &count);
  if (r->record.reading && count) {
    const idm_status status = idm_codes_create(codes, count, opt_error);
    if (status != IDM_OK) return status;
  }
  for (size_t i = 0; i < count && !r->record.cut; i++) {
    pass_flag(r, &codes->code[i].index);
    pass_labels(r, &codes->code[i].text);
    pass_labels(r, &codes->code[i].means);
  }
  return IDM_OK;
}

static idm_status pass_columns(parcel *r, idm_columns *columns, idm_error *opt_error)
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

bool idm_parcel_reads_logs(const idm_problem *problem)
{
  return !problem->columns.deriveds && !problem->columns.rules && !problem->utility_sources &&
         !problem->environments;
}

/* --- the whole ------------------------------------------------------------------------------ */

static idm_status pass_rest(parcel *r, const shape *s, idm_problem *problem, idm_error *opt_error)
{
  pass_setting(r, s, problem->setting);
  idm_status status = pass_keys(r, &problem->agent, opt_error);
  if (status == IDM_OK) status = pass_planner(r, problem, opt_error);
  if (status == IDM_OK) status = pass_theta(r, problem->theta, opt_error);
  if (status == IDM_OK) status = pass_columns(r, &problem->columns, opt_error);
  return status;
}

idm_status idm_parcel_pack(const idm_problem *problem, char **ret_bytes, size_t *ret_length,
                           idm_error *opt_error)
{
  parcel r = {0};
  shape s = shape_of(problem);
  /* What is written is only read; one function goes both ways. */
  idm_problem as_is = *problem;
  *ret_bytes = NULL;
  idm_record_begin(&r.record, kind, 0);
  pass_shape(&r, &s);
  const idm_status status = pass_rest(&r, &s, &as_is, opt_error);
  if (status == IDM_OK) return idm_record_seal(&r.record, ret_bytes, ret_length, opt_error);
  free(r.record.bytes);
  return status;
}

idm_status idm_parcel_open(const char *bytes, size_t length, idm_problem **ret_problem,
                           idm_error *opt_error)
{
  parcel r = {0};
  shape s = {0};
  *ret_problem = NULL;
  idm_status status = idm_record_open(&r.record, kind, 0, bytes, length, opt_error);
  if (status != IDM_OK) return status;
  pass_shape(&r, &s);
  if (!r.record.cut) status = make(&s, ret_problem, opt_error);
  if (!r.record.cut && status == IDM_OK) status = pass_rest(&r, &s, *ret_problem, opt_error);
  if (status == IDM_OK && r.starved) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_record_close(&r.record, true, opt_error);
  if (status == IDM_OK) status = idm_problem_validate(*ret_problem, opt_error);
  if (status == IDM_OK) return IDM_OK;
  idm_problem_destroy(*ret_problem);
  *ret_problem = NULL;
  return status;
}
