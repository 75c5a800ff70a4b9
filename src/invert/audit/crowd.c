/* Agents nested in one cell of an audit: see the header. */
#include "invert/audit/crowd.h"

#include <string.h>

#include "base/memory.h"

void idm_crowd_close(crowd *c)
{
  idm_strata_close(&c->strata);
  free(c->design.cell_person);
  free(c->design.effect_coordinate);
  free(c->design.share);
  free(c->people.effect);
  *c = (crowd){0};
}

/* The number, over all wards, of an agent of a cell; past the last where there is none. */
static size_t find_agent(const audit_model *m, size_t cell, const char *name)
{
  size_t first = 0;
  for (size_t w = 0; w < m->wards; w++) {
    const audit_ward *ward = &m->ward[w];
    for (size_t i = 0; i < ward->design->people; i++)
      if (ward->cell[i] == cell && strcmp(ward->design->person.name[i], name) == 0)
        return first + i;
    first += ward->design->people;
  }
  return first;
}

static void fill(crowd *c, const audit_model *m, const audit_draws *draws, size_t cell)
{
  const size_t d = m->dimension, all = draws->chains * draws->draws, n = c->design.people;
  for (size_t j = 0; j < d; j++) c->design.effect_coordinate[j] = (uint32_t)j;
  for (size_t i = 0; i < n * d; i++) c->design.share[i] = 1;
  for (size_t i = 0; i < n; i++) {
    const size_t agent = find_agent(m, cell, c->design.person.name[i]);
    c->design.cell_person[i] = (uint32_t)i;
    for (size_t j = 0; j < d; j++)
      memcpy(c->people.effect + (j * n + i) * all, draws->agent + (agent * d + j) * all,
             all * sizeof *draws->agent);
  }
}

idm_status idm_crowd_open(crowd *c, const audit_model *m, const audit_draws *draws, size_t cell,
                          idm_error *opt_error)
{
  const audit_cell *of = &m->cell[cell];
  const size_t d = m->dimension, n = of->data->agent_name.count;
  const size_t all = draws->chains * draws->draws;
  *c = (crowd){
      .design = {.people = n,
                 .person = of->data->agent_name,
                 .cells = n,
                 .cell_of = of->data->agent,
                 .coordinates = d,
                 .effects = d},
      .people = {.chains = draws->chains, .draws = draws->draws, .people = n, .effects = d}};
  c->design.cell_person = idm_new(n, sizeof *c->design.cell_person);
  c->design.effect_coordinate = idm_new(d, sizeof *c->design.effect_coordinate);
  c->design.share = idm_new(idm_times(n, d), sizeof *c->design.share);
  c->people.effect = idm_new(idm_times(n, idm_times(d, all)), sizeof *c->people.effect);
  const bool made =
      c->design.cell_person && c->design.effect_coordinate && c->design.share && c->people.effect;
  idm_status status = made ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    fill(c, m, draws, cell);
    status =
        idm_strata_divide(&c->strata, of->problem, of->data, &c->design, &c->people, opt_error);
  }
  if (status != IDM_OK) idm_crowd_close(c);
  return status;
}
