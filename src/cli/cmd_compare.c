/* idm compare: how far two agents of one problem are apart. */
#include "cli/common.h"
#include "cli/options.h"

static void print_words(const idm_apart *c)
{
  if (c->wants)
    printf("utilities: canonical distance %.6g (0: the same but for shaping, scale and shift; 1: "
           "opposite)\n",
           c->distance);
  else
    printf("utilities: none to compare; a planner has no utility\n");
  if (c->acts)
    printf("policies:  KL(first || second) %.6g, KL(second || first) %.6g nats a decision, over "
           "the states that the one before the bars comes to\n",
           c->kl[0], c->kl[1]);
  else
    printf("policies:  none by state: states are hidden, there is a horizon, or a planner has a "
           "memory of its own; `idm score --trials` shows both at the decisions of a log\n");
}

static idm_status print(cli_call *call, const idm_apart *c)
{
  if (!cli_given(call, "json")) {
    print_words(c);
    return IDM_OK;
  }
  json_t *object = json_object();
  idm_json_set(&object, "canonical_distance", idm_json_number(c->distance));
  json_t *kl = json_object();
  idm_json_set(&kl, "first_second", idm_json_number(c->kl[0]));
  idm_json_set(&kl, "second_first", idm_json_number(c->kl[1]));
  idm_json_set(&object, "kl", kl);
  return cli_print_json(call, object);
}

/* A problem, or a run of one vector for all. */
static idm_status open_one(cli_call *call, const char *path, cli_subject *subject)
{
  idm_status status = cli_open_subject(call, path, subject);
  if (status == IDM_OK) status = cli_need_utilities(call, subject->problem);
  if (status == IDM_OK && subject->posterior && subject->posterior->series_count)
    status = idm_fail(&call->error, IDM_USAGE,
                      "the run '%.300s' is of people, each with numbers of their own; expected one "
                      "of one vector for all",
                      path);
  return status;
}

static idm_status run(cli_call *call)
{
  cli_subject subject[2] = {{0}, {0}};
  idm_apart found = {0};
  idm_status status = IDM_OK;
  for (int i = 0; i < 2 && status == IDM_OK; i++)
    status = open_one(call, call->argument[i], &subject[i]);
  if (status == IDM_OK)
    status = idm_compare(&(idm_compared){subject[0].problem, subject[0].posterior},
                         &(idm_compared){subject[1].problem, subject[1].posterior}, &found,
                         &call->error);
  if (status == IDM_OK) status = print(call, &found);
  for (int i = 0; i < 2; i++) cli_close_subject(&subject[i]);
  return status;
}

static const cli_option options[] = {CLI_PLUGIN_OPTION, CLI_JSON_OPTION, CLI_END};

const cli_command cli_compare = {
    .name = "compare",
    .arguments = "PROBLEM|RUN PROBLEM|RUN",
    .least = 2,
    .most = 2,
    .summary = "Compare two agents of one problem: what they want, and what they do",
    .description =
        "The canonical distance of two utilities, which is blind to shaping, scale and shift, "
        "under "
        "the\n"
        "environment's dynamics; of a RUN that of its centre. Where states are observed also how "
        "far the\n"
        "policies diverge; that of a RUN is the mean over its draws. Both are of one environment: "
        "names,\n"
        "dynamics, start and discount are the same.",
    .options = options,
    .run = run,
};
