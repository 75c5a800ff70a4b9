/* Logs of DIAG with covariates. */
#include "invert/people/covariates_support.h"

#include <string.h>

const char covariates_log[] = "agent,trajectory,action,observation,drug,group,age,dose,site,same\n"
                              "p1,a,monitor,negative,no,old,70,low,x,k\n"
                              "p1,a,declare_healthy,,no,old,70,low,x,k\n"
                              "p1,b,declare_healthy,,no,old,70,high,x,k\n"
                              "p2,c,declare_diseased,,yes,old,66,low,x,k\n"
                              "p2,d,declare_healthy,,yes,old,66,high,x,k\n"
                              "p3,e,declare_healthy,,no,young,30,low,x,k\n"
                              "p3,f,declare_healthy,,no,young,30,high,x,k\n"
                              "p4,g,declare_healthy,,yes,young,26,low,x,k\n"
                              "p4,h,declare_diseased,,yes,young,26,high,x,k\n"
                              "p5,i,declare_healthy,,no,young,24,low,x,k\n"
                              "p5,j,declare_healthy,,no,young,24,high,x,k\n"
                              "p6,k,monitor,positive,yes,young,24,low,x,k\n"
                              "p6,k,declare_diseased,,yes,young,24,low,y,k\n"
                              "p6,l,declare_healthy,,yes,young,24,low,y,k\n";

idm_problem *covariates_problem(void)
{
  idm_problem *problem = support_diag(0.5, 10, 0);
  check(idm_problem_set_free(problem,
                             "{alpha: {prior: {normal: [0, 2]}}, beta: {prior: {normal: [0, 4]}}}",
                             &support_error));
  return problem;
}

idm_data *covariates_data(const idm_problem *problem, const char *csv, const char *const *keep)
{
  idm_csv_options options = {.keep = keep};
  while (keep[options.keep_count]) options.keep_count++;
  idm_data *data = NULL;
  check(idm_data_parse_csv(csv, strlen(csv), "log.csv", problem, &options, &data, NULL,
                           &support_error));
  return data;
}

idm_design *covariates_design(const idm_problem *problem, const char *csv, const char *by,
                              const char *opt_model, const char *opt_second, idm_notes *opt_notes)
{
  const char *const model[] = {opt_model, opt_second};
  const idm_design_request request = {by, model, (size_t)(opt_model ? opt_second ? 2 : 1 : 0)};
  idm_labels columns = {0};
  idm_data *data = NULL;
  idm_design *design = NULL;
  support_error = (idm_error){0};
  idm_status status = idm_design_columns(problem, &request, &columns, &support_error);
  if (status == IDM_OK) {
    const idm_csv_options options = {.keep = (const char *const *)columns.name,
                                     .keep_count = columns.count};
    status = idm_data_parse_csv(csv, strlen(csv), "log.csv", problem, &options, &data, NULL,
                                &support_error);
  }
  if (status == IDM_OK)
    idm_design_create(problem, data, &request, &design, opt_notes, &support_error);
  idm_labels_destroy(&columns);
  idm_data_destroy(data);
  return design;
}
