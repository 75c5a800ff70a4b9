/* Quantities of a study that a plot shows: see the header. */
#include "report/replicated.h"

#include "base/memory.h"
#include "base/suggest.h"
#include "idm/parameters.h"

enum { most_panels = 12 };

static idm_status add_named(const idm_labels *names, const char *name, idm_replicated *shown,
                            idm_error *opt_error)
{
  char spoken[256];
  for (size_t i = 0; i < names->count; i++) {
    if (strcmp(names->name[i], name) != 0 &&
        strcmp(idm_quantity_spoken(names->name[i], spoken, sizeof spoken), name) != 0)
      continue;
    shown->quantity[shown->count++] = i;
    return IDM_OK;
  }
  const char *near = idm_suggest(name, (const char *const *)names->name, names->count);
  return idm_fail(opt_error, IDM_USAGE, "the study has no quantity '%s'; expected one such as '%s'",
                  name, near ? near : names->name[0]);
}

idm_status idm_replicated_choose(const idm_calibration *study, const idm_plot_settings *settings,
                                 bool likelihood, idm_replicated *ret_shown, idm_notes *notes,
                                 idm_error *opt_error)
{
  const idm_labels *names = &study->quantity;
  const size_t all = names->count && !likelihood ? names->count - 1 : names->count;
  const size_t room = settings->quantities > names->count ? settings->quantities : names->count;
  idm_status status = IDM_OK;
  *ret_shown = (idm_replicated){.quantity = idm_new(room, sizeof *ret_shown->quantity)};
  if (!ret_shown->quantity) return idm_fail_memory(opt_error);
  if (!idm_calibration_done(study) || !all)
    status = idm_fail(opt_error, IDM_INPUT, "no replication of the study is done yet");
  for (size_t i = 0; i < settings->quantities && status == IDM_OK; i++)
    status = add_named(names, settings->quantity[i], ret_shown, opt_error);
  for (size_t i = 0; i < all && i < most_panels && !settings->quantities; i++)
    ret_shown->quantity[ret_shown->count++] = i;
  if (status == IDM_OK && !settings->quantities && all > most_panels)
    idm_notes_add(notes, "%d of %zu quantities are drawn; --quantity names others", most_panels,
                  all);
  if (status != IDM_OK) idm_replicated_clear(ret_shown);
  return status;
}

void idm_replicated_clear(idm_replicated *shown)
{
  free(shown->quantity);
  *shown = (idm_replicated){0};
}

static idm_status add_panel(const idm_replicated_kind *kind, const idm_calibration *study,
                            size_t quantity, bool alone, idm_figure *figure, idm_error *opt_error)
{
  char name[256];
  idm_panel *panel;
  idm_quantity_spoken(study->quantity.name[quantity], name, sizeof name);
  const idm_status status = idm_figure_add(figure, name, kind->x, kind->y, &panel, opt_error);
  return status == IDM_OK ? kind->draw(study, quantity, alone, panel, opt_error) : status;
}

idm_status idm_replicated_make(const idm_replicated_kind *kind, const idm_plot_subject *subject,
                               const idm_plot_settings *settings, idm_figure **ret_figure,
                               idm_notes *notes, idm_error *opt_error)
{
  const idm_calibration *study = subject->study;
  idm_replicated shown;
  idm_status status =
      idm_replicated_choose(study, settings, kind->likelihood, &shown, notes, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_create("", kind->description, 3, ret_figure, opt_error);
  for (size_t i = 0; i < shown.count && status == IDM_OK; i++)
    status = add_panel(kind, study, shown.quantity[i], shown.count == 1, *ret_figure, opt_error);
  idm_replicated_clear(&shown);
  return status;
}

bool idm_replicated_covers(const idm_calibration *study, size_t replication, size_t quantity)
{
  const idm_recovery *r = &study->recovery[replication * study->quantity.count + quantity];
  return r->low <= r->truth && r->truth <= r->high;
}
