/* Who is who: the trajectories of a log divided among people. */
#include "invert/people/who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void idm_who_clear(idm_who *who)
{
  idm_labels_destroy(&who->name);
  free(who->of_trajectory);
  *who = (idm_who){0};
}

static bool plays(const idm_columns *columns, idm_column role, const char *by)
{
  if (strcmp(by, idm_column_describe(role)->key) == 0) return true;
  return idm_columns_count(columns, role) == 1 &&
         strcmp(by, idm_columns_name(columns, role, 0)) == 0;
}

idm_who_kind idm_who_by(const idm_problem *problem, const char *by)
{
  if (plays(&problem->columns, IDM_COLUMN_AGENT, by)) return IDM_WHO_AGENT;
  if (plays(&problem->columns, IDM_COLUMN_TRAJECTORY, by)) return IDM_WHO_TRAJECTORY;
  return IDM_WHO_COVARIATE;
}

size_t idm_who_covariate(const idm_data *data, const char *name)
{
  size_t i = 0;
  while (i < data->covariates && strcmp(data->covariate_name.name[i], name) != 0) i++;
  return i;
}

const char *idm_who_trajectory(const idm_data *data, size_t trajectory, char *buffer, size_t size)
{
  if (trajectory < data->trajectory_name.count) return data->trajectory_name.name[trajectory];
  snprintf(buffer, size, "%zu", trajectory + 1);
  return buffer;
}

idm_status idm_who_levels(const idm_data *data, size_t covariate, int32_t *level,
                          idm_error *opt_error)
{
  const int32_t *of_row = data->covariate + covariate * data->rows;
  const idm_labels *name = &data->covariate_level[covariate];
  for (size_t t = 0; t < data->trajectories; t++) {
    level[t] = IDM_MISSING;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      if (of_row[row] == IDM_MISSING || of_row[row] == level[t]) continue;
      if (level[t] == IDM_MISSING) {
        level[t] = of_row[row];
        continue;
      }
      char number[24];
      idm_error_set(opt_error, IDM_INPUT, NULL, 0, 0,
                    "the column '%.60s' changes within the trajectory '%.60s': '%.60s' before, "
                    "'%.60s' here; expected one value a trajectory",
                    data->covariate_name.name[covariate],
                    idm_who_trajectory(data, t, number, sizeof number), name->name[level[t]],
                    name->name[of_row[row]]);
      idm_data_locate(data, row, opt_error);
      return IDM_INPUT;
    }
  }
  return IDM_OK;
}

/* The index of every trajectory's person by any numbering, -1 where there is none. */
static idm_status raw_index(const idm_data *data, idm_who_kind kind, size_t covariate,
                            int32_t *index, idm_error *opt_error)
{
  if (kind == IDM_WHO_COVARIATE) {
    const idm_status status = idm_who_levels(data, covariate, index, opt_error);
    for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
      if (index[t] == IDM_MISSING) {
        idm_error_set(opt_error, IDM_INPUT, NULL, 0, 0,
                      "no row of this trajectory says who it is of: '%.60s' is empty; fill it in, "
                      "or leave such rows out by --where '%.60s!='",
                      data->covariate_name.name[covariate], data->covariate_name.name[covariate]);
        idm_data_locate(data, data->first[t], opt_error);
        return IDM_INPUT;
      }
    return status;
  }
  for (size_t t = 0; t < data->trajectories; t++)
    index[t] = (int32_t)(kind == IDM_WHO_AGENT ? data->agent[t] : t);
  return IDM_OK;
}

/* Number people as they first appear, and name them. */
static idm_status number_people(const idm_data *data, idm_who_kind kind, size_t covariate,
                                const int32_t *index, idm_who *who, idm_error *opt_error)
{
  size_t most = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    if ((size_t)index[t] >= most) most = (size_t)index[t] + 1;
  uint32_t *person = idm_new(most, sizeof *person); /* from 1 */
  idm_status status =
      person ? idm_labels_create(&who->name, most, opt_error) : idm_fail_memory(opt_error);
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    char number[24];
    if (!person[index[t]]) {
      const char *name = kind == IDM_WHO_AGENT ? data->agent_name.name[index[t]]
                         : kind == IDM_WHO_COVARIATE
                             ? data->covariate_level[covariate].name[index[t]]
                             : idm_who_trajectory(data, t, number, sizeof number);
      person[index[t]] = (uint32_t)++who->people;
      status = idm_labels_set(&who->name, who->people - 1, name, strlen(name), opt_error);
    }
    who->of_trajectory[t] = person[index[t]] - 1;
  }
  for (size_t i = who->people; i < who->name.count; i++) {
    free(who->name.name[i]);
    who->name.name[i] = NULL;
  }
  if (status == IDM_OK) who->name.count = who->people;
  free(person);
  return status;
}

idm_status idm_who_create(const idm_problem *problem, const idm_data *data, const char *by,
                          idm_who *who, idm_error *opt_error)
{
  *who = (idm_who){0};
  const idm_who_kind kind = idm_who_by(problem, by);
  const size_t covariate = kind == IDM_WHO_COVARIATE ? idm_who_covariate(data, by) : 0;
  if (kind == IDM_WHO_COVARIATE && covariate == data->covariates)
    return idm_fail(opt_error, IDM_USAGE, "the column '%.60s' was not kept when the log was read",
                    by);
  int32_t *index = idm_new(data->trajectories, sizeof *index);
  who->of_trajectory = idm_new(data->trajectories, sizeof *who->of_trajectory);
  idm_status status = index && who->of_trajectory ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = raw_index(data, kind, covariate, index, opt_error);
  if (status == IDM_OK) status = number_people(data, kind, covariate, index, who, opt_error);
  free(index);
  if (status != IDM_OK) idm_who_clear(who);
  return status;
}
