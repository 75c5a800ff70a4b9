/* Counts rows, trajectories and agents of a log by the reason that drops them. */
#include "io/log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/log.h"
#include "setting/model.h"

idm_status idm_row_counts_create(idm_row_counts *ledger, size_t reasons, idm_error *opt_error)
{
  ledger->reasons = reasons;
  ledger->rows = idm_new(reasons, sizeof *ledger->rows);
  ledger->missing = idm_new(reasons, sizeof *ledger->missing);
  return ledger->rows && ledger->missing ? IDM_OK : idm_fail_memory(opt_error);
}

void idm_row_counts_clear(idm_row_counts *ledger)
{
  idm_intern_clear(&ledger->ids);
  idm_intern_clear(&ledger->agents);
  void *const arrays[] = {ledger->rows,  ledger->missing, ledger->agent,
                          ledger->stage, ledger->lost,    ledger->requested};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  *ledger = (idm_row_counts){0};
}

/* Ensure room for one more trajectory. */
static bool make_room(idm_row_counts *ledger)
{
  if (ledger->ids.count <= ledger->capacity) return true;
  const size_t capacity = 2 * ledger->capacity + 64;
  uint32_t *agent = realloc(ledger->agent, capacity * sizeof *agent);
  if (agent) ledger->agent = agent;
  uint32_t *stage = realloc(ledger->stage, capacity * sizeof *stage);
  if (stage) ledger->stage = stage;
  bool *lost = realloc(ledger->lost, capacity * sizeof *lost);
  if (lost) ledger->lost = lost;
  bool *requested = realloc(ledger->requested, capacity * sizeof *requested);
  if (requested) ledger->requested = requested;
  if (!agent || !stage || !lost || !requested) return false;
  ledger->capacity = capacity;
  return true;
}

/* Append the cells of an id to the scratch, separated and ended by NUL. */
static idm_status join_id(idm_log *log, size_t id, const idm_csv_field *field, size_t *used,
                          idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[id];
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    const idm_status status = idm_log_scratch(log, *used + cell.length + 2, opt_error);
    if (status != IDM_OK) return status;
    if (i) log->scratch[(*used)++] = '\0';
    memcpy(log->scratch + *used, cell.text, cell.length);
    *used += cell.length;
  }
  const idm_status status = idm_log_scratch(log, *used + 1, opt_error);
  if (status == IDM_OK) log->scratch[(*used)++] = '\0';
  return status;
}

idm_status idm_row_counts_add(idm_log *log, const idm_csv_field *field, uint32_t *ret_trajectory,
                              idm_error *opt_error)
{
  idm_row_counts *ledger = &log->ledger;
  size_t used = 0;
  uint32_t agent;
  idm_status status = join_id(log, IDM_COLUMN_AGENT, field, &used, opt_error);
  if (status != IDM_OK) return status;
  if (!idm_intern_add(&ledger->agents, log->scratch, used, &agent))
    return idm_fail_memory(opt_error);
  status = join_id(log, IDM_COLUMN_TRAJECTORY, field, &used, opt_error);
  if (status != IDM_OK) return status;
  const uint32_t before = ledger->ids.count;
  if (!idm_intern_add(&ledger->ids, log->scratch, used, ret_trajectory) || !make_room(ledger))
    return idm_fail_memory(opt_error);
  if (ledger->ids.count > before) {
    ledger->agent[before] = agent;
    ledger->stage[before] = 0;
    ledger->lost[before] = ledger->requested[before] = false;
  }
  ledger->read++;
  return IDM_OK;
}

void idm_row_counts_record(idm_log *log, uint32_t trajectory, size_t reason, bool missing)
{
  idm_row_counts *ledger = &log->ledger;
  if (reason > ledger->stage[trajectory]) ledger->stage[trajectory] = (uint32_t)reason;
  if (reason == ledger->reasons) return;
  ledger->lost[trajectory] = true;
  if (reason < log->where.count) ledger->requested[trajectory] = true;
  ledger->rows[reason]++;
  ledger->missing[reason] += missing;
}

static void count_lost(const idm_row_counts *ledger, idm_log_counts *log_counts,
                       const uint32_t *agent_stage)
{
  for (size_t i = 0; i < ledger->ids.count; i++) {
    const uint32_t stage = ledger->stage[i];
    idm_log_size *count =
        stage < ledger->reasons ? &log_counts->dropped[stage].lost : &log_counts->kept;
    count->trajectories++;
    log_counts->truncated += stage == ledger->reasons && ledger->lost[i];
    log_counts->truncated_by_where += stage == ledger->reasons && ledger->requested[i];
  }
  for (size_t a = 0; a < ledger->agents.count; a++)
    ++*(agent_stage[a] < ledger->reasons ? &log_counts->dropped[agent_stage[a]].lost.agents
                                         : &log_counts->kept.agents);
  log_counts->kept.rows = ledger->read;
  for (size_t r = 0; r < ledger->reasons; r++) {
    log_counts->dropped[r].lost.rows = ledger->rows[r];
    log_counts->dropped[r].missing = ledger->missing[r];
    log_counts->kept.rows -= ledger->rows[r];
  }
  log_counts->read = (idm_log_size){ledger->read, ledger->ids.count, ledger->agents.count};
}

/* Text of a reason; the caller frees it. */
static char *name_reason(const idm_log *log, size_t reason)
{
  char text[400];
  const size_t conditions = log->where.count;
  if (reason < conditions)
    snprintf(text, sizeof text, "--where %.380s", log->where.text[reason]);
  else
    idm_rule_text(&log->problem->columns.rule[reason - conditions], text, sizeof text);
  return idm_text_copy(text, strlen(text));
}

idm_status idm_row_counts_summarise(const idm_log *log, size_t cuts, idm_log_counts **ret_counts,
                                    idm_error *opt_error)
{
  const idm_row_counts *ledger = &log->ledger;
  idm_status status = idm_log_counts_create(ledger->reasons, cuts, ret_counts, opt_error);
  if (status != IDM_OK) return status;
  idm_log_counts *log_counts = *ret_counts;
  uint32_t *agent_stage = idm_new(ledger->agents.count, sizeof *agent_stage);
  if (!agent_stage) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < ledger->ids.count; i++)
    if (ledger->stage[i] > agent_stage[ledger->agent[i]])
      agent_stage[ledger->agent[i]] = ledger->stage[i];
  if (ledger->reasons)
    count_lost(ledger, log_counts, agent_stage);
  else
    log_counts->read = log_counts->kept =
        (idm_log_size){log->rows, log->trajectories.count, log->agents.count};
  free(agent_stage);
  for (size_t r = 0; r < ledger->reasons; r++) {
    log_counts->dropped[r].reason = name_reason(log, r);
    if (!log_counts->dropped[r].reason) return idm_fail_memory(opt_error);
  }
  log_counts->timed = log->header.role[IDM_COLUMN_TIME].count > 0;
  log_counts->coded = log->coded;
  return IDM_OK;
}
