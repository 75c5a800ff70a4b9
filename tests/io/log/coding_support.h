/* A table that every rule takes something of, and a problem that codes it. */
#ifndef IDM_TESTS_IO_LOG_CODING_SUPPORT_H
#define IDM_TESTS_IO_LOG_CODING_SUPPORT_H

#include <stdio.h>
#include <string.h>

#include "support.h"

/* A problem with two tests, whose data section is given. */
static inline idm_problem *problem_with(const char *data)
{
  static char text[4000];
  snprintf(
      text, sizeof text,
      "states: [a, b]\nactions: [test, wait]\nobservations: {cdr: [low, high], scan: [no, yes, "
      "none]}\ndiscount: 0.9\ntransition: {'*': identity}\nobservation: {'*': uniform}\n"
      "utility: {test: -1, wait: 0}\ndata: %s\n",
      data);
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, &support_error));
  return problem;
}

static const char coding[] =
    "{trajectory: id, time: month, action: act, observation: [cdr, scan], missing: [NA], derive: "
    "{\n"
    " act: {recode: volume, missing: wait, else: test},\n"
    " cdr: {cut: rating, at: [2.5], labels: [low, high]},\n"
    " scan: {cut: volume, sd: [0], labels: [no, yes], missing: none}},\n"
    " rules: [{require: rating}, {keep: 'age>=50'}, {drop: site=x}, {truncate: {column: month, "
    "every: 6}}, {ends: {column: dx, in: [sick, well]}}, {least: 2}]}";

static inline idm_data *read_log(const idm_problem *problem, const char *log)
{
  idm_data *data;
  check(idm_data_parse_csv(log, strlen(log), "t.csv", problem, NULL, &data, NULL, &support_error));
  return data;
}

static inline void expect_fault(const char *section, const char *log, const char *opt_where,
                                long line, const char *words)
{
  idm_problem *problem = problem_with(section);
  const idm_csv_options options = {.where = &opt_where, .where_count = opt_where != NULL};
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "t.csv", problem, &options, &data, NULL, &error),
      IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(error.line, line);
  assert_null(data);
  idm_problem_destroy(problem);
}

static inline void expect_count(idm_log_size count, size_t rows, size_t trajectories)
{
  assert_int_equal(count.rows, rows);
  assert_int_equal(count.trajectories, trajectories);
}

/* Every reason takes something here; volumes of rows that rules on rows leave are 10, 30, 20, 40
 * and 50, so that 30 is the cut. */
static const char table[] = "id,month,age,site,rating,volume,dx\n"
                            "1,6,60,u,3,30,well\n"  /* kept */
                            "1,0,60,u,1,10,sick\n"  /* kept, first */
                            "1,18,60,u,1,20,sick\n" /* a visit was skipped */
                            "2,0,60,u,,99,sick\n"   /* no rating */
                            "2,6,60,u,NA,99,sick\n" /* no rating */
                            "3,0,40,u,1,99,sick\n"  /* too young */
                            "3,6,,u,1,99,sick\n"    /* of no known age */
                            "4,0,60,x,1,99,sick\n"  /* of site x */
                            "4,6,60,,1,,sick\n"     /* its site is missing, which meets nothing */
                            "5,0,60,u,1,40,sick\n"  /* ends otherwise */
                            "5,6,60,u,1,50,other\n"
                            "6,0,60,u,1,,well\n"; /* one row */

#endif
