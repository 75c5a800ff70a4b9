/* Figures and reports. */
#ifndef IDM_FIGURE_H
#define IDM_FIGURE_H

#include <stdbool.h>

#include "idm/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A figure: panels of lines, points, intervals and cells, as numbers. */
typedef struct idm_figure idm_figure;

/* Make a figure of a kind of `idm list plots`: of the parameters of opt_problem, or of the draws of
 * opt_posterior in the problem that was fitted. Inputs that the kind does not need may be NULL;
 * opt_folder is the folder of a calibration, for kinds that show one. IDM_USAGE where an input is
 * missing, or where both problem and answer are given. */
IDM_API idm_status idm_figure_make(const char *kind, const idm_problem *opt_problem,
                                   const idm_posterior *opt_posterior, const idm_data *opt_data,
                                   const char *opt_folder, idm_figure **ret_figure,
                                   idm_notes *opt_notes, idm_error *opt_error);
/* Free a figure; NULL is allowed. */
IDM_API void idm_figure_destroy(idm_figure *figure);

/* Widths in pixels, of 1/96 inch: one and two columns of a journal (89 and 183 mm). */
enum { IDM_FIGURE_NARROW = 336, IDM_FIGURE_WIDE = 692 };

/* Colours of a figure. */
typedef enum idm_figure_theme {
  IDM_THEME_AUTO, /* the reader's preference */
  IDM_THEME_LIGHT,
  IDM_THEME_DARK
} idm_figure_theme;

/* Options of a figure. */
typedef struct idm_figure_options {
  double width;           /* in pixels */
  idm_figure_theme theme; /* images are light unless it is dark */
  const char *id;         /* prefix of the ids within; figures on one page have different ones */
  const char *opt_class;  /* a class in addition to "idm" */
  bool without_style;     /* without its style, for a page that has it */
} idm_figure_options;

/* A figure as SVG text, for the caller to free. Numbers that are not finite are left out. */
IDM_API idm_status idm_figure_svg(const idm_figure *figure, const idm_figure_options *options,
                                  char **ret_text, idm_error *opt_error);
/* Write a figure: SVG, PNG or PDF by the ending of the name. "-" is standard output, as SVG. PNG
 * and PDF are drawn in the calling process by librsvg, which is loaded on first use; IDM_SYSTEM
 * without it. librsvg ends the process where memory is exhausted; SVG has no such limit. */
IDM_API idm_status idm_figure_write(const idm_figure *figure, const idm_figure_options *options,
                                    const char *path, idm_error *opt_error);
/* Write the numbers of a figure as CSV. */
IDM_API idm_status idm_figure_write_csv(const idm_figure *figure, const char *path,
                                        idm_error *opt_error);

/* Write the report of a run, an audit or a calibration in a folder as one HTML page. */
IDM_API idm_status idm_report(const char *folder, const char *path, idm_notes *opt_notes,
                              idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
