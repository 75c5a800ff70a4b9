/* Controls for the numbers of an agent: see the header. */
#include "report/explorer/dials.h"

#include <math.h>

#include "base/number.h"
#include "idm/planner.h"
#include "setting/freedom.h"

/* Dials beyond these are left out: a page of hundreds is no page. */
enum { most_dials = 60 };

/* How a dial turns. `law` is what explore.js calls it: linear; power, from 0 by equal ratios, to
 * infinity where that is a value; signed, the same to both sides of 0; inverse, by equal steps of
 * 1/x around infinity. */
typedef struct dial {
  const char *law;
  double low;
  double high;
  bool infinite;
} dial;

/* Of fields those that a problem makes something of: others would be dials that nobody asked for.
 */
static bool has_dials(const idm_block *block, idm_sizes sizes)
{
  const idm_block_info *info = block->info;
  if (info->opaque || info->tied || info->support == IDM_DISTRIBUTION ||
      info->form == IDM_FORM_DIRICHLET)
    return false;
  bool usual = info->form == IDM_FORM_FIELDS;
  const idm_field *field;
  for (size_t i = 0; usual && (field = idm_block_field(info, sizes, i)); i++)
    usual = block->value[i] == field->standard;
  return !usual;
}

static dial dial_of_field(const idm_problem *problem, const idm_field *field, double value)
{
  if (isfinite(field->least) && isfinite(field->below))
    return (dial){"linear", field->least, field->least + 0.999 * (field->below - field->least),
                  false};
  const double range = fmax(idm_theta_range(problem->theta), fabs(value));
  return (dial){"linear", value - range, value + range, false};
}

static dial dial_of(const idm_problem *problem, size_t id, size_t first, double value)
{
  const idm_block_info *info = problem->theta->block[id].info;
  const idm_field *field = idm_block_field(info, problem->theta->sizes, first);
  if (field) return dial_of_field(problem, field, value);
  const double range = info->in_utility ? idm_problem_range(problem, id) : 1;
  if (info->infinite && info->support == IDM_NOT_NEGATIVE)
    return (dial){"power", 1e-3 * range, 10 * range, true};
  if (info->infinite && isinf(info->standard))
    return (dial){"inverse", -50 / range, 50 / range, true};
  if (info->reciprocal) return (dial){"power", 1e-4 * range, 10 * range, info->infinite};
  if (id == IDM_ETA) return (dial){"signed", 1e-4 * range, 10 * range, false};
  if (id == IDM_DISCOUNT && !problem->setting->horizon) return (dial){"linear", 0, 0.999, false};
  if (info->support == IDM_FRACTION) return (dial){"linear", 0, 1, false};
  if (info->support != IDM_REAL) return (dial){"linear", 0, fmax(3, 2 * value), false};
  if (info->in_utility) return (dial){"linear", value - range, value + range, false};
  return (dial){"linear", value - 5, value + 5, false};
}

/* Numbers from `first` on, a row of utilities or a field by action, that one dial turns: all of
 * them, or one. */
static size_t count_tied(const idm_block *block, size_t id, size_t first, idm_sizes sizes)
{
  const bool by_action = block->info->field && block->info->axis[1] == IDM_AXIS_ACTION;
  const size_t row = id == IDM_UTILITY ? sizes.states : by_action ? sizes.actions : 1;
  if (first % row) return 1;
  for (size_t i = 1; i < row; i++)
    if (block->value[first + i] != block->value[first]) return 1;
  return row;
}

static void add_name(idm_markup *m, const idm_problem *problem, size_t id, size_t first,
                     size_t count)
{
  const idm_block_info *info = problem->theta->block[id].info;
  char entry[IDM_ENTRY];
  idm_markup_text(m, info->name);
  if (count > 1) {
    idm_markup_add(m, " ");
    idm_markup_text(m, info->field ? idm_block_field(info, problem->theta->sizes, first)->name
                                   : problem->setting->actions.name[first / count]);
    return;
  }
  idm_block_entry(info, problem->setting, problem->theta->models, first, entry, sizeof entry);
  if (entry[0]) idm_markup_add(m, " ");
  idm_markup_text(m, entry);
}

static void add_dial(idm_markup *m, const idm_problem *problem, size_t id, size_t first,
                     size_t count, size_t index)
{
  const idm_block *block = &problem->theta->block[id];
  const double value = block->value[first];
  const dial d = dial_of(problem, id, first, value);
  char number[40];
  idm_number_text(value, number, sizeof number);
  idm_markup_add(m, "<div class=\"dial\"><label for=\"dial-%zu\">", index);
  add_name(m, problem, id, first, count);
  idm_markup_add(m,
                 "</label><input type=\"range\" id=\"dial-%zu\" min=\"0\" max=\"1000\" step=\"1\" "
                 "aria-describedby=\"about-%zu\" data-block=\"%zu\" data-first=\"%zu\" "
                 "data-count=\"%zu\" data-law=\"%s\" data-low=\"%.17g\" data-high=\"%.17g\" "
                 "data-infinite=\"%d\" data-value=\"%s\">",
                 index, id, id, first, count, d.law, d.low, d.high, d.infinite, number);
  idm_markup_add(m,
                 "<input type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" size=\"8\" "
                 "id=\"number-%zu\" aria-label=\"",
                 index);
  add_name(m, problem, id, first, count);
  idm_markup_add(m, " as a number\" value=\"%s\">", number);
  /* What a block is stands once, with its first number. */
  if (!first) {
    idm_markup_add(m, "<small id=\"about-%zu\">", id);
    idm_markup_text(m, block->info->summary);
    idm_markup_add(m, "</small>");
  }
  idm_markup_add(m, "</div>\n");
}

void idm_dials_add(idm_markup *markup, const idm_problem *problem)
{
  const idm_theta *theta = problem->theta;
  size_t dials = 0;
  /* What is the agent's own first, then what is paid: that may be many. */
  for (int paid = 0; paid < 2; paid++)
    for (size_t id = 0; id < theta->blocks; id++) {
      const idm_block *block = &theta->block[id];
      const bool pays = id == IDM_UTILITY || block->info->form == IDM_FORM_FIELDS;
      if (pays != (paid == 1) || !has_dials(block, theta->sizes) ||
          !idm_agent_reads(&problem->agent, id))
        continue;
      const size_t numbers = block->info->field
                                 ? idm_block_size(block->info, theta->sizes, theta->models)
                                 : block->size; /* rows have no names */
      for (size_t first = 0; first < numbers && dials < most_dials;) {
        const size_t count = count_tied(block, id, first, theta->sizes);
        add_dial(markup, problem, id, first, count, dials++);
        first += count;
      }
    }
}
