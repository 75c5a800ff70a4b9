/* Writes the interactive page of a problem as one file, which loads nothing and runs only the
 * script that it contains.
 *
 * Contents: sliders · page */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "io/file.h"
#include "plan/plan.h"
#include "report/explorer/explorer.h"
#include "report/figure.h"
#include "report/markup.h"
#include "report/report.h"
#include "setting/model.h"

/* === sliders ================================================================================== */

/* Sliders of the page for the numbers of an agent. */

/* Largest number of sliders; further ones are omitted, since a page with hundreds is not usable. */
enum { max_sliders = 60 };

/* Range of a slider. `scale_name` is a law of explore.js: linear; power, from 0 by equal ratios, to
 * infinity if that is a valid value; signed, the same on both sides of 0; inverse, by equal steps
 * of 1/x around infinity. */
typedef struct slider {
  const char *scale_name;
  double low;
  double high;
  bool infinite;
} slider;

/* Fields have sliders only if the problem sets one of them to another value than its default. */
static bool has_sliders(const idm_block *block, idm_sizes sizes)
{
  const idm_block_info *info = block->info;
  if (info->opaque || info->tied || info->support == IDM_DISTRIBUTION ||
      info->form == IDM_FORM_DIRICHLET)
    return false;
  bool at_default = info->form == IDM_FORM_FIELDS;
  const idm_field *field;
  for (size_t i = 0; at_default && (field = idm_block_field(info, sizes, i)); i++)
    at_default = block->value[i] == field->default_number;
  return !at_default;
}

static slider field_slider(const idm_problem *problem, const idm_field *field, double value)
{
  if (isfinite(field->least) && isfinite(field->below))
    return (slider){"linear", field->least, field->least + 0.999 * (field->below - field->least),
                    false};
  const double range = fmax(idm_theta_utility_range(problem->theta), fabs(value));
  return (slider){"linear", value - range, value + range, false};
}

static slider slider_of(const idm_problem *problem, size_t id, size_t first, double value)
{
  const idm_block_info *info = problem->theta->block[id].info;
  const idm_field *field = idm_block_field(info, problem->theta->sizes, first);
  if (field) return field_slider(problem, field, value);
  const double range = info->in_utility ? idm_problem_prior_range(problem, id) : 1;
  if (info->infinite && info->support == IDM_NOT_NEGATIVE)
    return (slider){"power", 1e-3 * range, 10 * range, true};
  if (info->infinite && isinf(info->default_number))
    return (slider){"inverse", -50 / range, 50 / range, true};
  if (info->reciprocal) return (slider){"power", 1e-4 * range, 10 * range, info->infinite};
  if (id == IDM_ETA) return (slider){"signed", 1e-4 * range, 10 * range, false};
  if (id == IDM_DISCOUNT && !problem->setting->horizon) return (slider){"linear", 0, 0.999, false};
  if (info->support == IDM_FRACTION) return (slider){"linear", 0, 1, false};
  if (info->support != IDM_REAL) return (slider){"linear", 0, fmax(3, 2 * value), false};
  if (info->in_utility) return (slider){"linear", value - range, value + range, false};
  return (slider){"linear", value - 5, value + 5, false};
}

/* Count of the numbers from `first` on that one slider sets: a whole row of utilities, or a field
 * by action, if all are equal; otherwise one. */
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
  char entry[IDM_ENTRY_SIZE];
  idm_markup_text(m, info->name);
  if (count > 1) {
    idm_markup_add(m, " ");
    idm_markup_text(m, info->field ? idm_block_field(info, problem->theta->sizes, first)->name
                                   : problem->setting->actions.name[first / count]);
    return;
  }
  idm_block_entry_name(info, problem->setting, problem->theta->models, first, entry, sizeof entry);
  if (entry[0]) idm_markup_add(m, " ");
  idm_markup_text(m, entry);
}

static void add_slider(idm_markup *m, const idm_problem *problem, size_t id, size_t first,
                       size_t count, size_t index)
{
  const idm_block *block = &problem->theta->block[id];
  const double value = block->value[first];
  const slider d = slider_of(problem, id, first, value);
  char number[40];
  idm_number_text(value, number, sizeof number);
  idm_markup_add(m, "<div class=\"dial\"><label for=\"dial-%zu\">", index);
  add_name(m, problem, id, first, count);
  idm_markup_add(m,
                 "</label><input type=\"range\" id=\"dial-%zu\" min=\"0\" max=\"1000\" step=\"1\" "
                 "aria-describedby=\"about-%zu\" data-block=\"%zu\" data-first=\"%zu\" "
                 "data-count=\"%zu\" data-law=\"%s\" data-low=\"%.17g\" data-high=\"%.17g\" "
                 "data-infinite=\"%d\" data-value=\"%s\">",
                 index, id, id, first, count, d.scale_name, d.low, d.high, d.infinite, number);
  idm_markup_add(m,
                 "<input type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" size=\"8\" "
                 "id=\"number-%zu\" aria-label=\"",
                 index);
  add_name(m, problem, id, first, count);
  idm_markup_add(m, " as a number\" value=\"%s\">", number);
  /* The summary of a block is written once, with its first number. */
  if (!first) {
    idm_markup_add(m, "<small id=\"about-%zu\">", id);
    idm_markup_text(m, block->info->summary);
    idm_markup_add(m, "</small>");
  }
  idm_markup_add(m, "</div>\n");
}

void idm_sliders_add(idm_markup *markup, const idm_problem *problem)
{
  const idm_theta *theta = problem->theta;
  size_t sliders = 0;
  /* Parameters of the agent come first, then utilities, which may be many. */
  for (int paid = 0; paid < 2; paid++)
    for (size_t id = 0; id < theta->blocks; id++) {
      const idm_block *block = &theta->block[id];
      const bool pays = id == IDM_UTILITY || block->info->form == IDM_FORM_FIELDS;
      if (pays != (paid == 1) || !has_sliders(block, theta->sizes) ||
          !idm_agent_reads(&problem->agent, id))
        continue;
      const size_t numbers = block->info->field
                                 ? idm_block_size(block->info, theta->sizes, theta->models)
                                 : block->size; /* rows have no names */
      for (size_t first = 0; first < numbers && sliders < max_sliders;) {
        const size_t count = count_tied(block, id, first, theta->sizes);
        add_slider(markup, problem, id, first, count, sliders++);
        first += count;
      }
    }
}

/* === page ===================================================================================== */

/* Content of the placeholders of the page. */
typedef struct page_content {
  const idm_problem *problem;
  char *style; /* of page and figures */
  char *problem_bytes;
  size_t length;
} page_content;

static void add_title(idm_markup *m, const page_content *f)
{
  const char *name = f->problem->setting->name;
  idm_markup_text(m, name[0] ? name : "agent");
}

static void add_policy(idm_markup *m, const page_content *f)
{
  idm_markup_add(m, "default-src 'none'; script-src 'wasm-unsafe-eval' ");
  idm_markup_digest(m, idm_asset("explore.js"));
  idm_markup_add(m, "; style-src ");
  idm_markup_digest(m, f->style);
  idm_markup_add(m, "; base-uri 'none'; form-action 'none'");
}

static void add_about(idm_markup *m, const page_content *f)
{
  const idm_setting *setting = f->problem->setting;
  idm_markup_add(m, "%zu states, %zu actions, %zu observations; planner ", setting->states.count,
                 setting->actions.count, setting->observations.count);
  idm_markup_text(m, idm_agent_planner(&f->problem->agent)->name);
}

static void add_sliders(idm_markup *m, const page_content *f)
{
  idm_sliders_add(m, f->problem);
}

/* One of these two parts is hidden. */
static void add_log(idm_markup *m, const page_content *f)
{
  if (!idm_problem_has_log_reader(f->problem)) idm_markup_add(m, " hidden");
}

static void add_no_log(idm_markup *m, const page_content *f)
{
  if (idm_problem_has_log_reader(f->problem)) idm_markup_add(m, " hidden");
}

static void add_style(idm_markup *m, const page_content *f)
{
  idm_markup_raw(m, f->style, strlen(f->style));
}

static void add_script(idm_markup *m, const page_content *f)
{
  (void)f;
  const char *script = idm_asset("explore.js");
  idm_markup_raw(m, script, strlen(script));
}

static void add_parcel(idm_markup *m, const page_content *f)
{
  idm_markup_base64(m, f->problem_bytes, f->length);
}

static void add_wasm(idm_markup *m, const page_content *f)
{
  (void)f;
  idm_markup_base64(m, idm_explorer_wasm, idm_explorer_wasm_length);
}

static const struct {
  const char *name;
  void (*add)(idm_markup *m, const page_content *f);
} places[] = {{"title", add_title},   {"policy", add_policy}, {"about", add_about},
              {"dials", add_sliders}, {"log", add_log},       {"no_log", add_no_log},
              {"style", add_style},   {"script", add_script}, {"parcel", add_parcel},
              {"wasm", add_wasm}};

static void fill_place(idm_markup *m, const page_content *f, const char *name, size_t length)
{
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (strlen(places[i].name) == length && memcmp(places[i].name, name, length) == 0)
      places[i].add(m, f);
}

static void fill(idm_markup *m, const page_content *f)
{
  const char *at = idm_asset("explore.html");
  for (const char *place = strstr(at, "{{"); place; place = strstr(at, "{{")) {
    const char *end = strstr(place, "}}");
    if (!end) break;
    idm_markup_raw(m, at, (size_t)(place - at));
    fill_place(m, f, place + 2, (size_t)(end - place - 2));
    at = end + 2;
  }
  idm_markup_raw(m, at, strlen(at));
}

static idm_status make_style(char **ret_style, idm_error *opt_error)
{
  idm_markup m = {0};
  char *figures;
  const idm_status status = idm_figure_style(IDM_THEME_AUTO, &figures, opt_error);
  if (status != IDM_OK) return status;
  idm_markup_raw(&m, idm_asset("explore.css"), strlen(idm_asset("explore.css")));
  idm_markup_raw(&m, figures, strlen(figures));
  free(figures);
  return idm_markup_take(&m, ret_style, opt_error);
}

static idm_status make_page(const idm_problem *problem, char **ret_text, idm_error *opt_error)
{
  page_content f = {.problem = problem};
  idm_markup m = {0};
  *ret_text = NULL;
  idm_status status = idm_problem_serialise(problem, &f.problem_bytes, &f.length, opt_error);
  if (status == IDM_OK) status = make_style(&f.style, opt_error);
  if (status == IDM_OK) {
    fill(&m, &f);
    status = idm_markup_take(&m, ret_text, opt_error);
  }
  free(f.problem_bytes);
  free(f.style);
  return status;
}

bool idm_explorer_available(void)
{
  return idm_explorer_wasm_length > 0;
}

idm_status idm_explorer_write(const idm_problem *problem, const char *path, idm_error *opt_error)
{
  idm_require(problem, path);
  if (!idm_explorer_available())
    return idm_fail(opt_error, IDM_SYSTEM,
                    "this build has no WebAssembly; install clang, lld, wasi-libc and "
                    "libclang-rt-dev-wasm32, and build idm again");
  char *text;
  idm_file *file;
  idm_status status = make_page(problem, &text, opt_error);
  if (status == IDM_OK) status = idm_file_create(path, &file, opt_error);
  if (status == IDM_OK) {
    idm_file_write(file, text, strlen(text));
    status = idm_file_commit(file, opt_error);
  }
  free(text);
  return status;
}
