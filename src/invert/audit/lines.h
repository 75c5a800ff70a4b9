/* What an audit reports: groups and contrasts as linear functions of cells and effects. */
#ifndef IDM_INVERT_AUDIT_LINES_H
#define IDM_INVERT_AUDIT_LINES_H

#include "idm/audit.h"
#include "invert/audit/model.h"

/* sum_c cell_c x_c + sum_k effect_k e_k. */
typedef struct audit_line {
  double *cell;   /* [cells] */
  double *effect; /* [effects] */
} audit_line;

/* The cells of an audit and all that is reported of them. */
typedef struct audit_plan {
  audit_model model;
  size_t groups;     /* all is the last */
  size_t sides;      /* and behind them the rest of each contrast that is with the rest */
  audit_line *group; /* [sides] */
  size_t contrasts;
  audit_line *contrast;
  size_t (*pair)[2]; /* [contrast]: the sides that are compared */
} audit_plan;

/* Cells, effects, wards and lines of some groups; cells have a problem and data, and are not open.
 * The settings are borrowed. */
idm_status idm_audit_plan(const idm_problem *problem, const idm_data *data,
                          const idm_groups *groups, const idm_audit_settings *settings,
                          audit_plan *plan, idm_error *opt_error);
void idm_audit_plan_clear(audit_plan *plan);

/* A line at every draw, in one coordinate: value[chain][draw]. */
void idm_audit_line_draw(const audit_model *model, const audit_draws *draws, const audit_line *line,
                         size_t coordinate, double *value);
/* Its variance by the prior. */
double idm_audit_line_prior(const audit_model *model, const audit_line *line, size_t coordinate);
/* log of prior density at `scale` times its scale over that at its own, at every draw; of pooled
 * cells the population's, else that of what the line is made of. */
void idm_audit_line_weigh(const audit_model *model, const audit_draws *draws,
                          const audit_line *line, double scale, double *log_weight);

#endif
