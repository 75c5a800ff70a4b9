/* Figures as data; drawn as SVG, written as CSV.
 *
 * A figure is a grid of panels. A panel has two axes (or the three corners of a simplex) and marks:
 * lines, bands, bars and so on, each with one array of numbers per column. The caller supplies the
 * content only. Ticks, sizes, colours and text positions are computed when the figure is drawn. */
#ifndef IDM_REPORT_FIGURE_H
#define IDM_REPORT_FIGURE_H

#include "base/arguments.h"
#include "idm/extension/setting.h"
#include "idm/figure.h"

/* Columns of a mark. Numbers are in units of the axes, except `value`. */
typedef enum idm_figure_column {
  IDM_FIGURE_X,
  IDM_FIGURE_Y,
  IDM_FIGURE_RIGHT, /* the other end of an item that begins at x */
  IDM_FIGURE_TOP,   /* the other end of an item that begins at y */
  IDM_FIGURE_LOW,   /* lower end of an interval: along x for a forest, else along y */
  IDM_FIGURE_HIGH,
  IDM_FIGURE_INNER_LOW, /* lower end of the inner interval */
  IDM_FIGURE_INNER_HIGH,
  IDM_FIGURE_VALUE, /* 0 to 1: darkness of a cell */
  IDM_FIGURE_COLUMNS
} idm_figure_column;

/* Kinds of marks, with their names and columns. In a simplex, x and y are the first two of the
 * three coordinates. A cell of a simplex is a triangle with its left corner at (x, y) and side
 * right - x; it points down if that is negative. Bars, bands, rules and levels are not drawn in a
 * simplex. */
#define IDM_MARK_LIST(X)                                                                           \
  X(IDM_MARK_LINE, "line", 1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y)                                \
  X(IDM_MARK_BAND, "band", 1u << IDM_FIGURE_X | 1u << IDM_FIGURE_LOW | 1u << IDM_FIGURE_HIGH)      \
  X(IDM_MARK_BARS, "bars", 1u << IDM_FIGURE_X | 1u << IDM_FIGURE_RIGHT | 1u << IDM_FIGURE_Y)       \
  X(IDM_MARK_POINTS, "points", 1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y)                            \
  X(IDM_MARK_RANGES, "ranges",                                                                     \
    1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y | 1u << IDM_FIGURE_LOW | 1u << IDM_FIGURE_HIGH)        \
  X(IDM_MARK_FOREST, "forest",                                                                     \
    1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y | 1u << IDM_FIGURE_LOW | 1u << IDM_FIGURE_HIGH |       \
        1u << IDM_FIGURE_INNER_LOW | 1u << IDM_FIGURE_INNER_HIGH)                                  \
  X(IDM_MARK_CELLS, "cells",                                                                       \
    1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y | 1u << IDM_FIGURE_RIGHT | 1u << IDM_FIGURE_TOP |      \
        1u << IDM_FIGURE_VALUE)                                                                    \
  X(IDM_MARK_RULES, "rules", 1u << IDM_FIGURE_X)   /* vertical lines across the panel */           \
  X(IDM_MARK_LEVELS, "levels", 1u << IDM_FIGURE_Y) /* horizontal lines across the panel */         \
  X(IDM_MARK_ARROWS, "arrows",                                                                     \
    1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y | 1u << IDM_FIGURE_RIGHT | 1u << IDM_FIGURE_TOP)       \
  X(IDM_MARK_STEPS, "steps", 1u << IDM_FIGURE_X) /* short ticks at the bottom of the panel */      \
  X(IDM_MARK_NOTES, "notes", 1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y) /* labels as text */

typedef enum idm_mark_kind {
#define IDM_MARK_ENUM(id, name, columns) id,
  IDM_MARK_LIST(IDM_MARK_ENUM)
#undef IDM_MARK_ENUM
      IDM_MARK_COUNT
} idm_mark_kind;

/* Colours by index in a palette that is distinguishable with colour blindness (Okabe and Ito 2008),
 * and a grey for reference marks. */
enum { IDM_COLOURS = 7, IDM_COLOUR_NEUTRAL = IDM_COLOURS };

typedef struct idm_mark {
  idm_mark_kind kind;
  char *name;  /* in the legend and the data; empty: not in the legend */
  int colour;  /* index below IDM_COLOURS + 1; larger indices wrap around */
  bool dashed; /* dashed line */
  size_t count;
  double *column[IDM_FIGURE_COLUMNS]; /* [count] the columns of its kind; NULL for all others */
  idm_labels label;                   /* [count], or empty */
} idm_mark;

typedef struct idm_figure_axis {
  char *title;
  bool logarithmic;
  bool whole; /* ticks at integers only */
  double low; /* end points; NaN: from the data */
  double high;
  idm_labels category; /* labels instead of ticks: category i at i */
} idm_figure_axis;

/* Position of a panel: in the grid, or as a marginal strip above or right of another panel, sharing
 * its axis. */
typedef enum idm_panel_place { IDM_PANEL_GRID, IDM_PANEL_ABOVE, IDM_PANEL_RIGHT } idm_panel_place;

typedef struct idm_panel {
  idm_panel_place place; /* strips come after all other panels of the figure, and have no text */
  size_t parent_panel;   /* of a strip: index of its panel in the grid */
  char *title;
  idm_figure_axis x;
  idm_figure_axis y;
  idm_labels corner; /* three labels for a simplex: left, right, top */
  double aspect;     /* height divided by width; 0: default */
  size_t marks;
  idm_mark **mark;
} idm_panel;

typedef struct idm_figure {
  char *title;       /* empty: no title is drawn, and `description` is the accessible name */
  char *description; /* alternative text for screen readers */
  size_t columns;    /* maximum number of panels per row; fewer if the figure is narrow */
  size_t panels;
  idm_panel **panel;
} idm_figure;

/* Create an empty figure with `columns` panels per row (0 counts as 1). *ret_figure is owned by the
 * caller. */
IDM_CHECKED idm_status idm_figure_create(const char *opt_title, const char *opt_description,
                                         size_t columns, idm_figure **ret_figure,
                                         idm_error *opt_error);
/* Append a panel in the grid, whose axes are fitted to its marks. NULL texts are empty. *ret_panel
 * is owned by the figure. */
IDM_CHECKED idm_status idm_figure_add(idm_figure *figure, const char *opt_title, const char *opt_x,
                                      const char *opt_y, idm_panel **ret_panel,
                                      idm_error *opt_error);
/* Append a mark with `count` items, all columns 0, to be filled by the caller. *ret_mark is owned
 * by the panel. */
IDM_CHECKED idm_status idm_panel_add(idm_panel *panel, idm_mark_kind kind, const char *opt_name,
                                     int colour, size_t count, idm_mark **ret_mark,
                                     idm_error *opt_error);
/* Append a line, or points, through copies of x[count] and y[count]. IDM_USAGE if marks of this
 * kind have no columns x and y. */
IDM_CHECKED idm_status idm_panel_plot(idm_panel *panel, idm_mark_kind kind, const char *opt_name,
                                      int colour, size_t count, const double *x, const double *y,
                                      idm_error *opt_error);
/* Name of a kind of marks, as in IDM_MARK_LIST; NULL if out of range. */
IDM_CHECKED const char *idm_mark_name(idm_mark_kind kind);
/* Name of a column, as in the header line of idm_figure_csv; NULL if out of range. */
IDM_CHECKED const char *idm_figure_column_name(idm_figure_column column);
/* True if marks of this kind have the column. */
IDM_CHECKED bool idm_mark_has(idm_mark_kind kind, idm_figure_column column);

/* Write the data of a figure as CSV text, one item per line: panel, mark, kind, label, and the
 * columns that are used by at least one mark. *ret_text is freed by the caller with free(). */
IDM_CHECKED idm_status idm_figure_csv(const idm_figure *figure, char **ret_text,
                                      idm_error *opt_error);
/* Style sheet of figures, for a page that holds several. *ret_text is freed by the caller with
 * free(). */
IDM_CHECKED idm_status idm_figure_style(idm_figure_theme theme, char **ret_text,
                                        idm_error *opt_error);

#endif
