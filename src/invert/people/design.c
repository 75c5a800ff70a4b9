/* Builds the design of a population: people, cells, effects, regressors and their priors
 * (docs/method/people.md, 2).
 *
 * Contents: rank · design */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "invert/parameters.h"
#include "invert/people.h"
#include "invert/people/people.h"

/* === rank ===================================================================================== */

/* Identifiability of the coefficients of a design. */

/* Columns of all effects of a coordinate over cells, orthogonalised in turn (Gram-Schmidt). */
typedef struct basis {
  size_t cells;
  size_t columns;
  double *q;         /* [column][cell] */
  double *r;         /* [column][column]: column j = sum_i q_i r[i][j] */
  const char **name; /* [column] */
} basis;

/* List the names of the columns before `at` that column `at` is a linear combination of. */
static void name_dependencies(const basis *b, size_t at, double *weight, char *list, size_t size)
{
  size_t used = 0;
  list[0] = '\0';
  for (size_t i = at; i-- > 0;) {
    weight[i] = b->r[i * b->columns + at];
    for (size_t k = i + 1; k < at; k++) weight[i] -= b->r[i * b->columns + k] * weight[k];
    weight[i] /= b->r[i * b->columns + i];
  }
  for (size_t i = 0; i < at && used + 60 < size; i++)
    if (fabs(weight[i]) > 1e-6)
      used += (size_t)snprintf(list + used, size - used, "%s%.40s", used ? ", " : "", b->name[i]);
}

/* Orthogonalise a column against those before it. Returns false if it is a linear combination of
 * them. */
static bool orthogonalise(basis *b, size_t at)
{
  double *column = b->q + at * b->cells;
  double before = 0;
  double after = 0;
  for (size_t c = 0; c < b->cells; c++) before += column[c] * column[c];
  for (int pass = 0; pass < 2; pass++) /* twice is enough (Kahan and Parlett) */
    for (size_t i = 0; i < at; i++) {
      const double *q = b->q + i * b->cells;
      double dot = 0;
      for (size_t c = 0; c < b->cells; c++) dot += q[c] * column[c];
      for (size_t c = 0; c < b->cells; c++) column[c] -= dot * q[c];
      b->r[i * b->columns + at] += dot;
    }
  for (size_t c = 0; c < b->cells; c++) after += column[c] * column[c];
  if (!(after > 1e-16 * before)) return false;
  b->r[at * b->columns + at] = sqrt(after);
  for (size_t c = 0; c < b->cells; c++) column[c] /= sqrt(after);
  return true;
}

static void fill_basis(const idm_design *d, size_t coordinate, basis *b)
{
  size_t at = 0;
  for (size_t e = 0; e < d->effects; e++) {
    if (d->effect_coordinate[e] != coordinate) continue;
    for (size_t k = 0; k < d->coefficients[e]; k++, at++) {
      b->name[at] = d->coefficient[e].name[k];
      for (size_t c = 0; c < d->cells; c++)
        b->q[at * d->cells + c] = d->share[c * d->effects + e] *
                                  d->regressor[e][d->cell_person[c] * d->coefficients[e] + k];
    }
  }
}

static idm_status check_basis(basis *b, const char *formula, double *weight, idm_error *opt_error)
{
  for (size_t at = 0; at < b->columns; at++) {
    char list[400];
    const char *name = b->name[at];
    if (orthogonalise(b, at)) continue;
    name_dependencies(b, at, weight, list, sizeof list);
    if (!list[0])
      return idm_fail(opt_error, IDM_INPUT,
                      "the formula '%.200s': no person has '%.60s', so that its coefficient is "
                      "not identified; leave that interaction out",
                      formula, name);
    return idm_fail(opt_error, IDM_INPUT,
                    "the formula '%.200s': the regressor '%.60s' is a linear combination of %s, "
                    "and their coefficients are not identified; leave one of them out",
                    formula, name, list);
  }
  return IDM_OK;
}

idm_status idm_design_check_rank(const idm_design *d, size_t coordinate, const char *formula,
                                 idm_error *opt_error)
{
  basis b = {.cells = d->cells};
  for (size_t e = 0; e < d->effects; e++)
    if (d->effect_coordinate[e] == coordinate) b.columns += d->coefficients[e];
  b.q = idm_new(idm_times(b.columns, d->cells), sizeof *b.q);
  b.r = idm_new(idm_times(b.columns, b.columns), sizeof *b.r);
  b.name = idm_new(b.columns, sizeof *b.name);
  double *weight = idm_new(b.columns, sizeof *weight);
  idm_status status = b.q && b.r && b.name && weight ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    fill_basis(d, coordinate, &b);
    status = check_basis(&b, formula, weight, opt_error);
  }
  free(b.q);
  free(b.r);
  free(b.name);
  free(weight);
  return status;
}

/* === design =================================================================================== */

static const char intercept[] = "Intercept";

/* Regressor: a product of columns of covariates, split into a factor that varies within people and
 * one that does not. */
typedef struct product {
  char *name;           /* of the whole product */
  char *within;         /* name of the factor that varies within people; empty: there is none */
  double *within_value; /* [trajectory]: factor that varies within people */
  double *between;      /* [trajectory]: factor that does not */
  double within_sd;     /* products of the sds of the numeric columns */
  double between_sd;
} product;

/* Formula with its columns. */
typedef struct model {
  idm_formula *formula;
  idm_covariate covariate[IDM_MAX_FACTORS];
  size_t products;
  product *product;
  size_t capacity;
} model;

typedef struct design_builder {
  const idm_problem *problem;
  const idm_data *data;
  idm_parameters *parameters;
  idm_person_map person_map;
  size_t models;
  model *model;
  idm_design *design;
  idm_notes *opt_notes;
  idm_error *opt_error;
} design_builder;

/* --- formulas ------------------------------------------------------------------------------- */

static void clear_model(model *m)
{
  for (size_t i = 0; m->formula && i < m->formula->factors; i++)
    idm_covariate_clear(&m->covariate[i]);
  for (size_t i = 0; i < m->products; i++) {
    free(m->product[i].name);
    free(m->product[i].within);
    free(m->product[i].within_value);
    free(m->product[i].between);
  }
  free(m->product);
  idm_formula_destroy(m->formula);
}

static const idm_block *block_of(const design_builder *p, const parameter *item)
{
  return &p->problem->theta->block[item->block];
}

/* Check that every block before '~' is free. */
static idm_status check_blocks(const design_builder *p, const idm_formula *f)
{
  const idm_theta *theta = p->problem->theta;
  const char *free_names[100];
  char list[300] = "";
  size_t used = 0;
  size_t count = 0;
  for (size_t i = 0; i < theta->blocks && count < 100; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE) {
      free_names[count++] = theta->block[i].info->name;
      if (used < 240)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s", used ? ", " : "",
                                 theta->block[i].info->name);
    }
  for (size_t b = 0; b < f->block.count; b++) {
    const char *name = f->block.name[b];
    const int found = idm_theta_find(theta, name);
    if (found >= 0 && theta->block[found].role == IDM_DESCRIPTIVE) continue;
    const char *nearest = found < 0 ? idm_suggest(name, free_names, count) : NULL;
    return idm_fail(
        p->opt_error, IDM_USAGE,
        "the formula '%.200s': '%.60s' at character %zu is %s;%s%.60s%s free are: %s", f->text,
        name, f->block_position[b], found < 0 ? "no block" : "not free (see --free)",
        nearest ? " did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "", list);
  }
  return IDM_OK;
}

/* Check that no block appears in two formulas. */
static idm_status check_unique_blocks(const design_builder *p)
{
  for (size_t i = 0; i < p->models; i++)
    for (size_t j = 0; j < i; j++) {
      const idm_labels *a = &p->model[i].formula->block;
      const idm_labels *b = &p->model[j].formula->block;
      for (size_t k = 0; k < a->count; k++)
        for (size_t l = 0; l < b->count; l++)
          if (strcmp(a->name[k], b->name[l]) == 0)
            return idm_fail(p->opt_error, IDM_USAGE,
                            "the block '%.60s' is in two formulas, '%.200s' and '%.200s'; "
                            "expected all its terms in one",
                            a->name[k], p->model[j].formula->text, p->model[i].formula->text);
    }
  return IDM_OK;
}

static bool has_term(const idm_formula *f, uint32_t term)
{
  bool found = !term;
  for (size_t i = 0; i < f->terms && !found; i++) found = f->term[i] == term;
  return found;
}

/* Check marginality. Coefficients under treatment coding have their usual meaning only if
 * lower-order terms are included: a term with a category needs the term without it, and a term with
 * a column that varies within people needs that column's own effect. */
static idm_status check_margins(const design_builder *p, const model *m)
{
  const idm_formula *f = m->formula;
  for (size_t t = 0; t < f->terms; t++) {
    uint32_t within_value = 0;
    for (size_t i = 0; i < f->factors; i++) {
      const uint32_t bit = (uint32_t)1 << i;
      if (!(f->term[t] & bit)) continue;
      if (m->covariate[i].within) within_value |= bit;
      if (!m->covariate[i].category || has_term(f, f->term[t] & ~bit)) continue;
      return idm_fail(p->opt_error, IDM_USAGE,
                      "the formula '%.200s': an interaction with '%.60s' needs its lower-order "
                      "terms; write a * b, which is a + b + a:b",
                      f->text, f->factor[i].column);
    }
    if (!has_term(f, within_value))
      return idm_fail(p->opt_error, IDM_USAGE,
                      "the formula '%.200s': an interaction with a column that varies within "
                      "people needs that column's own term; write a * b, which is a + b + a:b",
                      f->text);
  }
  return IDM_OK;
}

/* --- columns of a term ---------------------------------------------------------------------- */

/* Multiply one column of a factor into a product. */
static bool multiply(const design_builder *p, product *to, const idm_covariate *c, size_t column)
{
  const size_t trajectories = p->data->trajectories;
  const char *name = c->name.name[column];
  double *value = c->within ? to->within_value : to->between;
  char **names[] = {&to->name, c->within ? &to->within : NULL};
  for (size_t i = 0; i < 2; i++) {
    if (!names[i]) continue;
    char *old = *names[i];
    const size_t size = strlen(old) + strlen(name) + 2;
    char *joined = idm_new(size, 1);
    if (!joined) return false;
    snprintf(joined, size, "%s%s%s", old, *old ? ":" : "", name);
    *names[i] = joined;
    free(old);
  }
  *(c->within ? &to->within_sd : &to->between_sd) *= c->sd;
  for (size_t t = 0; t < trajectories; t++) value[t] *= c->value[column * trajectories + t];
  return true;
}

static product *add_product(const design_builder *p, model *m)
{
  if (m->products == m->capacity) {
    const size_t capacity = m->capacity ? 2 * m->capacity : 8;
    product *grown = realloc(m->product, capacity * sizeof *grown);
    if (!grown) return NULL;
    m->product = grown;
    m->capacity = capacity;
  }
  product *one = &m->product[m->products++];
  const size_t trajectories = p->data->trajectories;
  *one = (product){.name = idm_text_copy("", 0),
                   .within = idm_text_copy("", 0),
                   .within_value = idm_new(trajectories, sizeof *one->within_value),
                   .between = idm_new(trajectories, sizeof *one->between),
                   .within_sd = 1,
                   .between_sd = 1};
  if (!one->name || !one->within || !one->within_value || !one->between) return NULL;
  for (size_t t = 0; t < trajectories; t++) one->within_value[t] = one->between[t] = 1;
  return one;
}

/* Add all products of columns of a term's factors. */
static idm_status add_products(const design_builder *p, model *m, uint32_t term)
{
  enum { max_columns = 10000 };
  const idm_formula *f = m->formula;
  size_t count = 1;
  for (size_t i = 0; i < f->factors; i++)
    if (term >> i & 1) count = idm_times(count, m->covariate[i].columns);
  if (count > max_columns)
    return idm_fail(p->opt_error, IDM_INPUT,
                    "the formula '%.200s' has a term of %zu regressors; expected at most %d",
                    f->text, count, max_columns);
  for (size_t k = 0; k < count; k++) {
    size_t quotient = k;
    product *one = add_product(p, m);
    if (!one) return idm_fail_memory(p->opt_error);
    for (size_t i = 0; i < f->factors; i++) {
      if (!(term >> i & 1)) continue;
      const idm_covariate *c = &m->covariate[i];
      if (!multiply(p, one, c, quotient % c->columns)) return idm_fail_memory(p->opt_error);
      quotient /= c->columns;
    }
  }
  return IDM_OK;
}

/* Check that coefficient names are unique, because outputs identify coefficients by name: a column
 * named Intercept, or one named a:b together with a * b, would collide. */
static idm_status check_names(const design_builder *p, const model *m)
{
  for (size_t i = 0; i < m->products; i++) {
    const char *name = m->product[i].name;
    bool taken = strcmp(name, intercept) == 0;
    for (size_t k = 0; k < i && !taken; k++) taken = strcmp(name, m->product[k].name) == 0;
    if (taken)
      return idm_fail(p->opt_error, IDM_INPUT,
                      "the formula '%.200s' has two coefficients called '%.60s'; rename the column "
                      "in the log",
                      m->formula->text, name);
  }
  return IDM_OK;
}

static idm_status make_model(design_builder *p, model *m, const char *text)
{
  idm_status status = idm_formula_parse(text, &m->formula, p->opt_error);
  if (status == IDM_OK) status = check_blocks(p, m->formula);
  for (size_t i = 0; status == IDM_OK && i < m->formula->factors; i++)
    status = idm_covariate_create(p->data, &p->person_map, &m->formula->factor[i], m->formula->text,
                                  &m->covariate[i], p->opt_notes, p->opt_error);
  if (status == IDM_OK) status = check_margins(p, m);
  for (size_t t = 0; status == IDM_OK && t < m->formula->terms; t++)
    status = add_products(p, m, m->formula->term[t]);
  return status == IDM_OK ? check_names(p, m) : status;
}

/* --- effects -------------------------------------------------------------------------------- */

/* Formula of a block, or NULL. */
static const model *model_of(const design_builder *p, const parameter *item)
{
  const char *name = block_of(p, item)->info->name;
  for (size_t i = 0; i < p->models; i++)
    for (size_t b = 0; b < p->model[i].formula->block.count; b++)
      if (strcmp(p->model[i].formula->block.name[b], name) == 0) return &p->model[i];
  return NULL;
}

/* Whether a product is the first of its effect: it contains only columns that vary within people,
 * and at least one. */
static bool is_effect_start(const product *one)
{
  return one->within[0] && strcmp(one->name, one->within) == 0;
}

static size_t effects_of(const model *opt_model)
{
  size_t count = 1;
  for (size_t i = 0; opt_model && i < opt_model->products; i++)
    count += is_effect_start(&opt_model->product[i]);
  return count;
}

/* Name of effect `index` of a coordinate: its factor that varies within people. */
static const char *within_of(const model *opt_model, size_t index)
{
  for (size_t i = 0; opt_model && index && i < opt_model->products; i++)
    if (is_effect_start(&opt_model->product[i]) && !--index) return opt_model->product[i].within;
  return "";
}

static size_t coefficients_of(const model *opt_model, const char *within)
{
  size_t count = !within[0];
  for (size_t i = 0; opt_model && i < opt_model->products; i++)
    count += strcmp(opt_model->product[i].within, within) == 0;
  return count;
}

/* --- people and cells ----------------------------------------------------------------------- */

/* Whether two trajectories of a person agree in all columns of formulas. */
static bool same_cell(const design_builder *p, size_t a, size_t b)
{
  for (size_t i = 0; i < p->models; i++)
    for (size_t k = 0; k < p->model[i].formula->factors; k++) {
      const idm_covariate *c = &p->model[i].covariate[k];
      if (c->within && c->level[a] != c->level[b]) return false;
    }
  return true;
}

/* Link the trajectories of each person, in order: first[person], then next[trajectory]; the number
 * of trajectories ends a list. */
static void link_trajectories(const design_builder *p, uint32_t *first, uint32_t *next)
{
  const uint32_t none = (uint32_t)p->data->trajectories;
  for (size_t i = 0; i < p->person_map.people; i++) first[i] = none;
  for (size_t t = p->data->trajectories; t-- > 0;) {
    next[t] = first[p->person_map.of_trajectory[t]];
    first[p->person_map.of_trajectory[t]] = (uint32_t)t;
  }
}

/* Divide the trajectories of each person into cells. example[cell]: one trajectory of the cell. */
static void divide_into_cells(const design_builder *p, const uint32_t *first, const uint32_t *next,
                              uint32_t *example)
{
  idm_design *d = p->design;
  for (size_t person = 0; person < d->people; person++) {
    const size_t begin = d->cells;
    for (uint32_t t = first[person]; t < p->data->trajectories; t = next[t]) {
      size_t cell = begin;
      while (cell < d->cells && !same_cell(p, example[cell], t)) cell++;
      if (cell == d->cells) {
        example[cell] = t;
        d->cell_person[cell] = (uint32_t)person;
        d->cells++;
      }
      d->cell_of[t] = (uint32_t)cell;
    }
  }
}

static idm_status make_cells(const design_builder *p, uint32_t **ret_example)
{
  idm_design *d = p->design;
  const size_t trajectories = p->data->trajectories;
  uint32_t *first = idm_new(p->person_map.people, sizeof *first);
  uint32_t *next = idm_new(trajectories, sizeof *next);
  *ret_example = idm_new(trajectories, sizeof **ret_example);
  d->people = p->person_map.people;
  d->cell_person = idm_new(trajectories, sizeof *d->cell_person);
  d->cell_of = idm_new(trajectories, sizeof *d->cell_of);
  idm_status status = first && next && *ret_example && d->cell_person && d->cell_of
                          ? idm_labels_copy(&p->person_map.name, &d->person, p->opt_error)
                          : idm_fail_memory(p->opt_error);
  if (status == IDM_OK) {
    link_trajectories(p, first, next);
    divide_into_cells(p, first, next, *ret_example);
  }
  free(first);
  free(next);
  return status;
}

/* --- filling -------------------------------------------------------------------------------- */

static double prior_sd(const design_builder *p, const parameter *item)
{
  return block_of(p, item)->prior.argument[1];
}

/* Prior sd of the coefficient of a regressor that is 0 or 1, or in units of its sd. */
static double coefficient_scale(const design_builder *p, const parameter *item)
{
  const double configured = block_of(p, item)->population.coefficient;
  return configured > 0 ? configured : prior_sd(p, item) / 2;
}

static double sd_prior_scale(const design_builder *p, const parameter *item)
{
  const double configured = block_of(p, item)->population.sd;
  return configured > 0 ? configured : prior_sd(p, item) / 2;
}

/* Set a coefficient: its prior, and its regressor for every person. */
static idm_status put_coefficient(const design_builder *p, size_t effect, size_t at,
                                  const char *name, double mean, double sd,
                                  const double *opt_between, const uint32_t *example)
{
  idm_design *d = p->design;
  const size_t count = d->coefficients[effect];
  d->coefficient_mean[effect][at] = mean;
  d->coefficient_sd[effect][at] = sd;
  for (size_t c = 0; c < d->cells; c++)
    d->regressor[effect][d->cell_person[c] * count + at] =
        opt_between ? opt_between[example[c]] : 1;
  return idm_labels_set(&d->coefficient[effect], at, name, strlen(name), p->opt_error);
}

static idm_status fill_coefficients(const design_builder *p, const parameter *item,
                                    const model *opt_model, const char *within, size_t effect,
                                    const uint32_t *example)
{
  const double scale = coefficient_scale(p, item);
  idm_status status = IDM_OK;
  size_t at = 0;
  if (!within[0])
    status = put_coefficient(p, effect, at++, intercept, block_of(p, item)->prior.argument[0],
                             prior_sd(p, item), NULL, example);
  for (size_t i = 0; opt_model && i < opt_model->products && status == IDM_OK; i++) {
    const product *one = &opt_model->product[i];
    if (strcmp(one->within, within) == 0)
      status = put_coefficient(p, effect, at++, one->name, 0,
                               scale / (one->within_sd * one->between_sd), one->between, example);
  }
  return status;
}

/* Set what one unit of an effect adds to its number in every cell. */
static void fill_share(const design_builder *p, const model *opt_model, const char *within,
                       size_t effect, const uint32_t *example, double *ret_sd)
{
  idm_design *d = p->design;
  const double *within_value = NULL;
  *ret_sd = 1;
  for (size_t i = 0; opt_model && within[0] && i < opt_model->products; i++)
    if (strcmp(opt_model->product[i].within, within) == 0) {
      within_value = opt_model->product[i].within_value;
      *ret_sd = opt_model->product[i].within_sd;
    }
  for (size_t c = 0; c < d->cells; c++)
    d->share[c * d->effects + effect] = within_value ? within_value[example[c]] : 1;
}

static bool allocate_effect(idm_design *d, size_t effect, size_t coefficients)
{
  d->coefficients[effect] = coefficients;
  d->regressor[effect] = idm_new(idm_times(d->people, coefficients), sizeof **d->regressor);
  d->coefficient_mean[effect] = idm_new(coefficients, sizeof **d->coefficient_mean);
  d->coefficient_sd[effect] = idm_new(coefficients, sizeof **d->coefficient_sd);
  return d->regressor[effect] && d->coefficient_mean[effect] && d->coefficient_sd[effect];
}

static idm_status fill_effect(const design_builder *p, const parameter *item,
                              const model *opt_model, size_t index, size_t effect,
                              const uint32_t *example)
{
  idm_design *d = p->design;
  const char *within = within_of(opt_model, index);
  const size_t coefficients = coefficients_of(opt_model, within);
  char coordinate_name[IDM_ENTRY_SIZE + 200];
  char name[2 * IDM_ENTRY_SIZE];
  double within_sd;
  if (coefficients >= d->people)
    return idm_fail(p->opt_error, IDM_INPUT,
                    "the formula '%.200s' has %zu coefficients for %zu people; expected fewer "
                    "coefficients than people",
                    opt_model ? opt_model->formula->text : "~ 1", coefficients, d->people);
  idm_parameter_name(p->parameters, item, coordinate_name, sizeof coordinate_name);
  snprintf(name, sizeof name, "%.4000s%s%.4000s", coordinate_name, within[0] ? ":" : "", within);
  d->effect_coordinate[effect] = (uint32_t)item->first;
  fill_share(p, opt_model, within, effect, example, &within_sd);
  d->sd_scale[effect] = sd_prior_scale(p, item) / within_sd;
  idm_status status =
      allocate_effect(d, effect, coefficients) ? IDM_OK : idm_fail_memory(p->opt_error);
  if (status == IDM_OK)
    status = idm_labels_set(&d->effect, effect, name, strlen(name), p->opt_error);
  if (status == IDM_OK)
    status = idm_labels_create(&d->coefficient[effect], coefficients, p->opt_error);
  return status == IDM_OK ? fill_coefficients(p, item, opt_model, within, effect, example) : status;
}

static idm_status make_effects(const design_builder *p, const uint32_t *example)
{
  idm_design *d = p->design;
  const idm_parameters *all = p->parameters;
  d->coordinates = all->dimension;
  for (size_t i = 0; i < all->items; i++) d->effects += effects_of(model_of(p, &all->item[i]));
  d->effect_coordinate = idm_new(d->effects, sizeof *d->effect_coordinate);
  d->share = idm_new(idm_times(d->cells, d->effects), sizeof *d->share);
  d->coefficients = idm_new(d->effects, sizeof *d->coefficients);
  d->coefficient = idm_new(d->effects, sizeof *d->coefficient);
  d->regressor = idm_new(d->effects, sizeof *d->regressor);
  d->coefficient_mean = idm_new(d->effects, sizeof *d->coefficient_mean);
  d->coefficient_sd = idm_new(d->effects, sizeof *d->coefficient_sd);
  d->sd_scale = idm_new(d->effects, sizeof *d->sd_scale);
  if (!d->effect_coordinate || !d->share || !d->coefficients || !d->coefficient || !d->regressor ||
      !d->coefficient_mean || !d->coefficient_sd || !d->sd_scale)
    return idm_fail_memory(p->opt_error);
  idm_status status = idm_labels_create(&d->effect, d->effects, p->opt_error);
  for (size_t i = 0, effect = 0; i < all->items && status == IDM_OK; i++) {
    const model *m = model_of(p, &all->item[i]);
    for (size_t k = 0; k < effects_of(m) && status == IDM_OK; k++)
      status = fill_effect(p, &all->item[i], m, k, effect++, example);
  }
  return status;
}

/* --- requests ------------------------------------------------------------------------------- */

/* Append a name unless it is present. */
static idm_status add_name(idm_labels *names, const char *name, idm_error *opt_error)
{
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->name[i], name) == 0) return IDM_OK;
  char **grown = realloc(names->name, (names->count + 1) * sizeof *grown);
  if (!grown) return idm_fail_memory(opt_error);
  names->name = grown;
  grown[names->count] = idm_text_copy(name, strlen(name));
  if (!grown[names->count]) return idm_fail_memory(opt_error);
  names->count++;
  return IDM_OK;
}

idm_status idm_design_columns(const idm_problem *problem, const idm_design_request *request,
                              idm_labels *ret_columns, idm_error *opt_error)
{
  idm_require(problem, request, ret_columns);
  *ret_columns = (idm_labels){0};
  if (!request->by) return idm_fail(opt_error, IDM_USAGE, "no column identifies people (--by)");
  idm_status status = IDM_OK;
  if (idm_person_by_column(problem, request->by) == IDM_PERSON_BY_COVARIATE)
    status = add_name(ret_columns, request->by, opt_error);
  for (size_t i = 0; i < request->models && status == IDM_OK; i++) {
    idm_formula *formula = NULL;
    status = idm_formula_parse(request->model[i], &formula, opt_error);
    for (size_t k = 0; status == IDM_OK && k < formula->factors; k++)
      status = add_name(ret_columns, formula->factor[k].column, opt_error);
    idm_formula_destroy(formula);
  }
  if (status != IDM_OK) idm_labels_destroy(ret_columns);
  return status;
}

/* Check that every free number has a normal prior on an unbounded coordinate. */
static idm_status check_items(const design_builder *p)
{
  for (size_t i = 0; i < p->parameters->items; i++)
    if (!idm_population_is_normal(p->parameters, &p->parameters->item[i]))
      return idm_population_fail_prior(block_of(p, &p->parameters->item[i]), "has another prior",
                                       p->opt_error);
  return IDM_OK;
}

static idm_status make_design(design_builder *p, const idm_design_request *request)
{
  uint32_t *example = NULL;
  idm_status status = idm_parameters_create(p->problem, &p->parameters, p->opt_error);
  if (status == IDM_OK) status = check_items(p);
  if (status == IDM_OK)
    status = idm_person_map_create(p->problem, p->data, request->by, &p->person_map, p->opt_error);
  if (status == IDM_OK && p->person_map.people < 2)
    status =
        idm_fail(p->opt_error, IDM_INPUT,
                 "by '%.60s' there is one person; expected several: the variation between people "
                 "cannot be estimated from one",
                 request->by);
  for (size_t i = 0; i < p->models && status == IDM_OK; i++)
    status = make_model(p, &p->model[i], request->model[i]);
  if (status == IDM_OK) status = check_unique_blocks(p);
  if (status == IDM_OK) status = make_cells(p, &example);
  if (status == IDM_OK) status = make_effects(p, example);
  for (size_t i = 0; status == IDM_OK && i < p->parameters->items; i++) {
    const model *m = model_of(p, &p->parameters->item[i]);
    if (m)
      status = idm_design_check_rank(p->design, p->parameters->item[i].first, m->formula->text,
                                     p->opt_error);
  }
  p->design->correlation = p->problem->correlation > 0 ? p->problem->correlation : 2;
  free(example);
  return status;
}

idm_status idm_design_create(const idm_problem *problem, const idm_data *data,
                             const idm_design_request *request, idm_design **ret_design,
                             idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, request, ret_design);
  *ret_design = NULL;
  if (!request->by) return idm_fail(opt_error, IDM_USAGE, "no column identifies people (--by)");
  design_builder p = {.problem = problem,
                      .data = data,
                      .models = request->models,
                      .model = idm_new(request->models, sizeof *p.model),
                      .design = idm_new(1, sizeof *p.design),
                      .opt_notes = opt_notes,
                      .opt_error = opt_error};
  const idm_status status =
      p.model && p.design ? make_design(&p, request) : idm_fail_memory(opt_error);
  for (size_t i = 0; p.model && i < p.models; i++) clear_model(&p.model[i]);
  free(p.model);
  idm_person_map_clear(&p.person_map);
  idm_parameters_destroy(p.parameters);
  if (status == IDM_OK)
    *ret_design = p.design;
  else
    idm_design_destroy(p.design);
  return status;
}
