/* Makes figures for tests and checks that drawings are well-formed. */
#include "report/figure_support.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char figure_hostile[] = "<script>alert(\"1\")&'</script>";

idm_problem *figure_clinic(void)
{
  idm_problem *problem;
  check(idm_problem_read("example:clinic", &problem, NULL, &support_error));
  support_assign(problem, "utility.scan=-0.1");
  support_set(problem, 0.05, 1, 0);
  check(idm_labels_set(&problem->setting->actions, 1, figure_hostile, strlen(figure_hostile),
                       &support_error));
  check(idm_labels_set(&problem->setting->states, 2, figure_hostile, strlen(figure_hostile),
                       &support_error));
  return problem;
}

idm_posterior *figure_fit(idm_problem *problem, const idm_data *data)
{
  idm_fit_settings settings;
  idm_posterior *posterior = NULL;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 20;
  settings.warmup = 50;
  check(idm_problem_set_free(problem, "alpha", &support_error));
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  return posterior;
}

idm_figure *figure_make(const char *kind, const idm_plot_subject *subject,
                        const idm_plot_settings *opt_settings)
{
  idm_figure *figure;
  check(idm_plot_make(idm_plot_find(kind), subject, opt_settings, &figure, NULL, &support_error));
  return figure;
}

void figure_refuse(const char *kind, const idm_plot_subject *subject,
                   const idm_plot_settings *opt_settings, const char *words)
{
  idm_figure *figure = (idm_figure *)&support_error;
  idm_error error = {0};
  assert_int_not_equal(
      idm_plot_make(idm_plot_find(kind), subject, opt_settings, &figure, NULL, &error), IDM_OK);
  assert_null(figure);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

const idm_mark *figure_mark(const idm_figure *figure, size_t panel, idm_mark_kind kind,
                            const char *name)
{
  assert_true(panel < figure->panels);
  const idm_panel *p = figure->panel[panel];
  for (size_t i = 0; i < p->marks; i++)
    if (p->mark[i]->kind == kind && strcmp(p->mark[i]->name, name) == 0) return p->mark[i];
  fail_msg("there is no mark '%s'", name);
  return NULL;
}

size_t figure_count(const char *text, const char *part)
{
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
  return count;
}

/* --- well-formed ---------------------------------------------------------------------------- */

enum { deepest = 64, most_ids = 4096, name_length = 64 };

typedef struct reader {
  const char *at;
  size_t depth;
  char open[deepest][name_length];
  size_t elements;
  size_t ids;
  char *id[most_ids];
} reader;

static void read_name(reader *r, char name[name_length])
{
  size_t length = 0;
  while (isalnum((unsigned char)*r->at) || strchr("-_:", *r->at)) {
    if (!*r->at) break;
    assert_true(length + 1 < name_length);
    name[length++] = *r->at++;
  }
  assert_true(length > 0);
  name[length] = '\0';
}

/* Reads text up to one of the characters of `ends`: only known entities, no bare markup, no control
 * characters. */
static void read_text(reader *r, const char *ends)
{
  static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
  while (*r->at && !strchr(ends, *r->at)) {
    assert_true((unsigned char)*r->at >= 32 || *r->at == '\n' || *r->at == '\t');
    assert_int_not_equal(*r->at, '<');
    bool entity = *r->at != '&';
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
      entity = entity || strncmp(r->at, known[i], strlen(known[i])) == 0;
    assert_true(entity);
    r->at++;
  }
}

static void read_attribute(reader *r)
{
  char name[name_length];
  read_name(r, name);
  assert_int_equal(*r->at++, '=');
  assert_int_equal(*r->at++, '"');
  const char *from = r->at;
  read_text(r, "\"");
  if (strcmp(name, "id") == 0) {
    char *id = strndup(from, (size_t)(r->at - from));
    for (size_t i = 0; i < r->ids; i++) assert_string_not_equal(r->id[i], id);
    assert_true(r->ids < most_ids);
    r->id[r->ids++] = id;
  }
  assert_int_equal(*r->at++, '"');
}

static void read_tag(reader *r)
{
  char name[name_length];
  const bool closing = r->at[1] == '/';
  r->at += closing ? 2 : 1;
  read_name(r, name);
  while (isspace((unsigned char)*r->at)) {
    while (isspace((unsigned char)*r->at)) r->at++;
    if (*r->at != '>' && *r->at != '/') read_attribute(r);
  }
  const bool empty = *r->at == '/';
  r->at += empty;
  assert_int_equal(*r->at++, '>');
  if (closing) {
    assert_true(r->depth > 0);
    assert_string_equal(r->open[--r->depth], name);
    return;
  }
  assert_true(r->depth > 0 || r->elements == 0);
  r->elements++;
  if (empty) return;
  assert_true(r->depth < deepest);
  strcpy(r->open[r->depth++], name);
}

size_t figure_well_formed(const char *text)
{
  static reader r;
  r = (reader){.at = text};
  do {
    if (*r.at == '<')
      read_tag(&r);
    else
      read_text(&r, "<");
  } while (*r.at && (r.depth || isspace((unsigned char)*r.at)));
  assert_int_equal(r.depth, 0);
  assert_int_equal(*r.at, '\0');
  for (size_t i = 0; i < r.ids; i++) free(r.id[i]);
  return r.elements;
}

char *figure_draw(const idm_figure *figure, double width)
{
  const idm_figure_options options = {.width = width, .id = "f"};
  char *text;
  check(idm_figure_svg(figure, &options, &text, &support_error));
  assert_true(figure_well_formed(text) > 1);
  assert_null(strstr(text, "<script"));
  assert_null(strstr(text, "nan"));
  assert_null(strstr(text, "inf\""));
  return text;
}
