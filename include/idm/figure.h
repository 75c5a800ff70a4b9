/* Figures: what is to be seen, as data; drawn as SVG, written as CSV.
 *
 * A figure is a grid of panels, a panel has two axes (or the three corners of a simplex) and marks:
 * lines, bands, bars and the like, each an array of numbers a column. Whoever makes a figure says
 * what is in it; ticks, sizes, colours and the places of words are found when it is drawn. */
#ifndef IDM_FIGURE_H
#define IDM_FIGURE_H

#include "idm/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a column of a mark holds: numbers in the units of the axes, but for `value`. */
typedef enum idm_figure_column {
  IDM_FIGURE_X,
  IDM_FIGURE_Y,
  IDM_FIGURE_RIGHT, /* the other end of what begins at x */
  IDM_FIGURE_TOP,   /* and of what begins at y */
  IDM_FIGURE_LOW,   /* an interval; of a forest along x, of everything else along y */
  IDM_FIGURE_HIGH,
  IDM_FIGURE_INNER_LOW, /* a narrower one */
  IDM_FIGURE_INNER_HIGH,
  IDM_FIGURE_VALUE, /* 0 to 1: how dark a cell is */
  IDM_FIGURE_COLUMNS
} idm_figure_column;

/* Kinds of marks, with their names and columns. In a simplex x and y are the first two of the three
 * coordinates; a cell there is a triangle with its left corner at x and y and a side of right - x,
 * which points down where that is negative; bars, bands, rules and levels are not drawn. */
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
  X(IDM_MARK_RULES, "rules", 1u << IDM_FIGURE_X)   /* upright lines across the panel */            \
  X(IDM_MARK_LEVELS, "levels", 1u << IDM_FIGURE_Y) /* level lines */                               \
  X(IDM_MARK_ARROWS, "arrows",                                                                     \
    1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y | 1u << IDM_FIGURE_RIGHT | 1u << IDM_FIGURE_TOP)       \
  X(IDM_MARK_STEPS, "steps", 1u << IDM_FIGURE_X) /* small marks at the foot of the panel */        \
  X(IDM_MARK_NOTES, "notes", 1u << IDM_FIGURE_X | 1u << IDM_FIGURE_Y) /* labels as text */

typedef enum idm_mark_kind {
#define IDM_MARK_ENUM(id, name, columns) id,
  IDM_MARK_LIST(IDM_MARK_ENUM)
#undef IDM_MARK_ENUM
      IDM_MARK_COUNT
} idm_mark_kind;

/* Colours by their place in a palette that the colour-blind tell apart (Okabe and Ito 2008), and a
 * grey for what is there to be compared with. */
enum { IDM_COLOURS = 7, IDM_COLOUR_NEUTRAL = IDM_COLOURS };

typedef struct idm_mark {
  idm_mark_kind kind;
  char *name;  /* in legend and data; empty: in no legend */
  int colour;  /* below IDM_COLOURS + 1; larger ones begin again */
  bool dashed; /* lines */
  size_t count;
  double *column[IDM_FIGURE_COLUMNS]; /* [count] those of its kind; NULL elsewhere */
  idm_labels label;                   /* [count], or empty */
} idm_mark;

typedef struct idm_figure_axis {
  char *title;
  bool logarithmic;
  bool whole; /* ticks at whole numbers only */
  double low; /* ends; NaN: by what is there */
  double high;
  idm_labels category; /* in place of ticks: category i at i */
} idm_figure_axis;

/* Where a panel stands: in the grid, or as a strip above or at the right of another, along whose
 * axis it is. */
typedef enum idm_panel_place { IDM_PANEL_GRID, IDM_PANEL_ABOVE, IDM_PANEL_RIGHT } idm_panel_place;

typedef struct idm_panel {
  idm_panel_place place; /* strips stand behind all others in the figure, and have no words */
  size_t parent_panel;   /* of a strip: the panel in the grid that it belongs to */
  char *title;
  idm_figure_axis x;
  idm_figure_axis y;
  idm_labels corner; /* three: a simplex, the first on the left, the last on top */
  double aspect;     /* height by width; 0: as usual */
  size_t marks;
  idm_mark **mark;
} idm_panel;

typedef struct idm_figure {
  char *title;       /* empty: none is drawn, and `description` is read out */
  char *description; /* for who cannot see it */
  size_t columns;    /* of panels, at most; fewer where the figure is narrow */
  size_t panels;
  idm_panel **panel;
} idm_figure;

/* Widths in pixels, of 1/96 inch: one and two columns of a journal (89 and 183 mm). */
enum { IDM_FIGURE_NARROW = 336, IDM_FIGURE_WIDE = 692 };

typedef enum idm_figure_theme { IDM_THEME_AUTO, IDM_THEME_LIGHT, IDM_THEME_DARK } idm_figure_theme;

typedef struct idm_figure_options {
  double width;
  idm_figure_theme theme; /* auto: as the page's reader likes it */
  const char *id;         /* begins the ids within; figures on one page have different ones */
  const char *opt_class;  /* beside its own, "idm" */
  bool without_style;     /* without its style, for a page that has it (idm_figure_style) */
} idm_figure_options;

IDM_API idm_status idm_figure_create(const char *opt_title, const char *opt_description,
                                     size_t columns, idm_figure **ret_figure, idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_figure_destroy(idm_figure *figure);
/* A panel, whose axes end where its marks do. Words that are not given are empty. */
IDM_API idm_status idm_figure_add(idm_figure *figure, const char *opt_title, const char *opt_x,
                                  const char *opt_y, idm_panel **ret_panel, idm_error *opt_error);
/* A mark of so many items, all numbers 0, for the caller to fill. */
IDM_API idm_status idm_panel_add(idm_panel *panel, idm_mark_kind kind, const char *opt_name,
                                 int colour, size_t count, idm_mark **ret_mark,
                                 idm_error *opt_error);
/* A line, or points, through copies of x and y. */
IDM_API idm_status idm_panel_plot(idm_panel *panel, idm_mark_kind kind, const char *opt_name,
                                  int colour, size_t count, const double *x, const double *y,
                                  idm_error *opt_error);
IDM_API const char *idm_mark_name(idm_mark_kind kind);
IDM_API const char *idm_figure_column_name(idm_figure_column column);
/* Whether marks of this kind have the column. */
IDM_API bool idm_mark_has(idm_mark_kind kind, idm_figure_column column);

/* The whole as text, for the caller to free. Numbers that are not finite are left out. */
IDM_API idm_status idm_figure_svg(const idm_figure *figure, const idm_figure_options *options,
                                  char **ret_text, idm_error *opt_error);
/* Its data, an item a line: panel, mark, kind, label, and the columns that some mark has. */
IDM_API idm_status idm_figure_csv(const idm_figure *figure, char **ret_text, idm_error *opt_error);
/* The style of figures, for a page. */
IDM_API idm_status idm_figure_style(idm_figure_theme theme, char **ret_text, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
