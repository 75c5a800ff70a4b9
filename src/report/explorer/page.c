/* The page of a problem: parts put together, so that nothing in it is fetched, and nothing runs but
 * what stands in it. */
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/explorer.h"
#include "idm/figure.h"
#include "idm/file.h"
#include "idm/planner.h"
#include "report/assets.h"
#include "report/digest.h"
#include "report/explorer/dials.h"
#include "report/explorer/parcel.h"
#include "report/explorer/wasm.h"
#include "report/markup.h"

/* What the places of the page are filled with. */
typedef struct filling {
  const idm_problem *problem;
  char *style; /* of page and figures */
  char *parcel;
  size_t length;
} filling;

static void add_title(idm_markup *m, const filling *f)
{
  const char *name = f->problem->setting->name;
  idm_markup_text(m, name[0] ? name : "agent");
}

static void add_policy(idm_markup *m, const filling *f)
{
  idm_markup_add(m, "default-src 'none'; script-src 'wasm-unsafe-eval' ");
  idm_markup_digest(m, idm_asset("explore.js"));
  idm_markup_add(m, "; style-src ");
  idm_markup_digest(m, f->style);
  idm_markup_add(m, "; base-uri 'none'; form-action 'none'");
}

static void add_about(idm_markup *m, const filling *f)
{
  const idm_setting *setting = f->problem->setting;
  idm_markup_add(m, "%zu states, %zu actions, %zu observations; planner ", setting->states.count,
                 setting->actions.count, setting->observations.count);
  idm_markup_text(m, idm_agent_planner(&f->problem->agent)->name);
}

static void add_dials(idm_markup *m, const filling *f)
{
  idm_dials_add(m, f->problem);
}

/* One of two parts is hidden. */
static void add_log(idm_markup *m, const filling *f)
{
  if (!idm_parcel_reads_logs(f->problem)) idm_markup_add(m, " hidden");
}

static void add_no_log(idm_markup *m, const filling *f)
{
  if (idm_parcel_reads_logs(f->problem)) idm_markup_add(m, " hidden");
}

static void add_style(idm_markup *m, const filling *f)
{
  idm_markup_raw(m, f->style, strlen(f->style));
}

static void add_script(idm_markup *m, const filling *f)
{
  (void)f;
  const char *script = idm_asset("explore.js");
  idm_markup_raw(m, script, strlen(script));
}

static void add_parcel(idm_markup *m, const filling *f)
{
  idm_markup_base64(m, f->parcel, f->length);
}

static void add_wasm(idm_markup *m, const filling *f)
{
  (void)f;
  idm_markup_base64(m, idm_explorer_wasm, idm_explorer_wasm_length);
}

static const struct {
  const char *name;
  void (*add)(idm_markup *m, const filling *f);
} places[] = {{"title", add_title}, {"policy", add_policy}, {"about", add_about},
              {"dials", add_dials}, {"log", add_log},       {"no_log", add_no_log},
              {"style", add_style}, {"script", add_script}, {"parcel", add_parcel},
              {"wasm", add_wasm}};

static void fill_place(idm_markup *m, const filling *f, const char *name, size_t length)
{
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (strlen(places[i].name) == length && memcmp(places[i].name, name, length) == 0)
      places[i].add(m, f);
}

static void fill(idm_markup *m, const filling *f)
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
  filling f = {.problem = problem};
  idm_markup m = {0};
  *ret_text = NULL;
  idm_status status = idm_parcel_pack(problem, &f.parcel, &f.length, opt_error);
  if (status == IDM_OK) status = make_style(&f.style, opt_error);
  if (status == IDM_OK) {
    fill(&m, &f);
    status = idm_markup_take(&m, ret_text, opt_error);
  }
  free(f.parcel);
  free(f.style);
  return status;
}

bool idm_explorer_possible(void)
{
  return idm_explorer_wasm_length > 0;
}

idm_status idm_explorer_write(const idm_problem *problem, const char *path, idm_error *opt_error)
{
  idm_require(problem, path);
  if (!idm_explorer_possible())
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
