/* Style of figures: colours and fonts, for light and dark pages. */
#include "base/arguments.h"
#include "report/figure.h"
#include "report/markup.h"

/* Palette in the order of colours, the neutral one last: Okabe and Ito (2008) without yellow, which
 * has too little contrast on a white page; on a dark page the same hues, lighter. */
static const char *const light[] = {"#0072b2", "#d55e00", "#009e73", "#b8558c",
                                    "#c98600", "#3a9bdc", "#3d3d3d", "#8a8a8a"};
static const char *const dark[] = {"#5cb3ee", "#ff8f47", "#3fcfa5", "#e79ac2",
                                   "#f2b73a", "#8fd0fa", "#d8d8d8", "#8f8f8f"};

static void add_theme(idm_markup *m, const char *const *palette, const char *paper, const char *ink,
                      const char *soft, const char *faint)
{
  idm_markup_add(m, ".idm .paper{fill:%s}.idm text{fill:%s}.idm .soft{fill:%s}", paper, ink, soft);
  idm_markup_add(m, ".idm .frame{stroke:%s}.idm .grid{stroke:%s}.idm .ring{stroke:%s}", soft, faint,
                 paper);
  for (int i = 0; i <= IDM_COLOUR_NEUTRAL; i++)
    idm_markup_add(m, ".idm .c%d{color:%s}", i, palette[i]);
}

static void add_light(idm_markup *m)
{
  add_theme(m, light, "#fff", "#1c1c1c", "#6a6a6a", "#e9e9e9");
}

static void add_dark(idm_markup *m)
{
  add_theme(m, dark, "#16181c", "#ececec", "#a5a5a5", "#2e3138");
}

idm_status idm_figure_style(idm_figure_theme theme, char **ret_text, idm_error *opt_error)
{
  idm_require(ret_text);
  idm_markup m = {0};
  idm_markup_add(&m, ".idm text{font-family:Helvetica,Arial,\"Liberation Sans\",\"DejaVu Sans\","
                     "sans-serif;font-size:10px}.idm .title{font-size:12px;font-weight:bold}"
                     ".idm .head{font-size:10.5px;font-weight:bold}");
  if (theme == IDM_THEME_DARK)
    add_dark(&m);
  else
    add_light(&m);
  if (theme == IDM_THEME_AUTO) {
    idm_markup_add(&m, "@media screen and (prefers-color-scheme:dark){");
    add_dark(&m);
    idm_markup_add(&m, "}");
  }
  return idm_markup_take(&m, ret_text, opt_error);
}
