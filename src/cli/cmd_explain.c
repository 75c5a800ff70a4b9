/* idm explain: single cases step by step, compared with a rational agent.
 *
 * Contents: explained · cmd explain */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

/* === explained ================================================================================ */

/* Output of an explanation. */

/* Maximum number of agents in the table. */
enum { max_listed = 20 };

/* --- names ---------------------------------------------------------------------------------- */

static const char *label_at(const idm_labels *labels, int32_t label)
{
  return label >= 0 ? labels->name[label] : "";
}

static size_t trajectory_of(const idm_data *data, size_t row)
{
  size_t low = 0;
  size_t high = data->trajectories;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (data->first[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Recorded action of a row; empty if it is not recorded or was missed. */
static const char *action_at(const cli_explained *x, size_t row)
{
  return idm_data_missed(x->data, row) ? "" : label_at(&x->setting->actions, x->data->action[row]);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static const struct field {
  const char *key;
  idm_explain_part part;
  enum { BY_STATE, BY_ACTION, ALONE } by;
} fields[] = {{"belief", IDM_EXPLAIN_BELIEF, BY_STATE},
              {"probability", IDM_EXPLAIN_PROBABILITY, BY_ACTION},
              {"rational_belief", IDM_EXPLAIN_RATIONAL_BELIEF, BY_STATE},
              {"rational_policy", IDM_EXPLAIN_RATIONAL, BY_ACTION},
              {"rational_at_belief_policy", IDM_EXPLAIN_RATIONAL_AT_BELIEF, BY_ACTION},
              {"regret", IDM_EXPLAIN_REGRET, ALONE},
              {"q", IDM_EXPLAIN_QUALITY, BY_ACTION},
              {"surprise_seen", IDM_EXPLAIN_OBS_SURPRISE, ALONE}};

/* The mean (0) or a quantile (1, 2) of an interval. */
static double pick_bound(idm_interval x, int which)
{
  return which == 0 ? x.mean : which == 1 ? x.low : x.high;
}

/* Set the mean of a number under its key and, with posterior draws, its quantiles. */
static void set_interval(const cli_explained *x, json_t **object, const char *key,
                         idm_interval value)
{
  char name[64];
  static const char *const suffix[] = {"", "_q5", "_q95"};
  for (int i = 0; i < (x->e->trials->low ? 3 : 1); i++) {
    snprintf(name, sizeof name, "%s%s", key, suffix[i]);
    idm_json_set(object, name, idm_json_number(pick_bound(value, i)));
  }
}

static json_t *field_object(const cli_explained *x, size_t row, const struct field *field,
                            int which)
{
  const idm_labels *labels = field->by == BY_STATE ? &x->setting->states : &x->setting->actions;
  json_t *object = json_object();
  for (size_t i = 0; i < labels->count; i++)
    idm_json_set(
        &object, labels->name[i],
        idm_json_number(pick_bound(idm_explanation_interval(x->e, row, field->part, i), which)));
  return object;
}

static void set_field(const cli_explained *x, size_t row, const struct field *field,
                      json_t **object)
{
  static const char *const suffix[] = {"", "_q5", "_q95"};
  char name[64];
  if (field->by == ALONE) {
    set_interval(x, object, field->key, idm_explanation_interval(x->e, row, field->part, 0));
    return;
  }
  for (int i = 0; i < (x->e->trials->low ? 3 : 1); i++) {
    snprintf(name, sizeof name, "%s%s", field->key, suffix[i]);
    idm_json_set(object, name, field_object(x, row, field, i));
  }
}

/* Most likely actions of a policy; NULL (null in JSON) if there are none. */
static json_t *actions_of(const cli_explained *x, size_t row, idm_explain_part part)
{
  char *names = NULL;
  if (idm_explanation_actions(x->e, x->setting, row, part, &names, NULL) != IDM_OK) return NULL;
  json_t *text = *names ? json_string(names) : json_null();
  free(names);
  return text;
}

static json_t *text_or_null(const char *text)
{
  return *text ? json_string(text) : json_null();
}

static json_t *step_object(const cli_explained *x, size_t t, size_t row)
{
  const size_t step = row - x->data->first[t] + 1;
  json_t *object = json_object();
  idm_json_set(&object, "step", json_integer((json_int_t)step));
  idm_json_set(&object, "line", json_integer((json_int_t)x->data->line[row]));
  idm_json_set(&object, "action", text_or_null(action_at(x, row)));
  idm_json_set(&object, "missed", json_boolean(idm_data_missed(x->data, row)));
  idm_json_set(&object, "observation",
               text_or_null(label_at(&x->setting->observations, x->data->observation[row])));
  set_interval(x, &object, "surprise", idm_explanation_surprise(x->e, x->data, row));
  idm_json_set(&object, "rational", actions_of(x, row, IDM_EXPLAIN_RATIONAL));
  idm_json_set(&object, "rational_at_belief", actions_of(x, row, IDM_EXPLAIN_RATIONAL_AT_BELIEF));
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    set_field(x, row, &fields[i], &object);
  return object;
}

/* Start of an entry: trajectory and agent. */
static json_t *case_object(const cli_explained *x, size_t t)
{
  char number[24];
  json_t *object = json_object();
  idm_json_set(&object, "trajectory",
               idm_json_text(idm_data_trajectory_name(x->data, t, number, sizeof number)));
  idm_json_set(&object, "agent", idm_json_text(x->e->name.name[x->e->agent[t]]));
  return object;
}

static void set_delay(const cli_explained *x, size_t t, json_t **object)
{
  const idm_case_summary *one = &x->e->one[t];
  idm_json_set(object, "ended", one->censored ? json_null() : json_integer((json_int_t)one->step));
  idm_json_set(object, "due", one->due ? json_integer((json_int_t)one->due) : json_null());
  idm_json_set(object, "belated", one->delayed >= 0 ? json_integer(one->delayed) : json_null());
  idm_json_set(object, "at_least", json_boolean(one->censored && one->due));
  idm_json_set(object, "regret", idm_json_number(one->regret));
}

static json_t *bias_list(const idm_person_summary *person)
{
  json_t *list = json_array();
  for (idm_bias b = 0; b < IDM_BIAS_COUNT; b++)
    if (idm_person_has_bias(person, b)) idm_json_append(&list, json_string(idm_bias_name(b)));
  return list;
}

/* Rules by which biases are reported. */
static json_t *rules_object(void)
{
  json_t *object = json_object();
  json_t *rules = json_object();
  idm_json_set(&object, "margin", idm_json_number(IDM_BIAS_MARGIN));
  idm_json_set(&object, "updates", json_integer(IDM_BIAS_UPDATES));
  for (idm_bias b = 0; b < IDM_BIAS_COUNT; b++)
    idm_json_set(&rules, idm_bias_name(b), json_string(idm_bias_rule(b)));
  idm_json_set(&object, "rules", rules);
  return object;
}

static json_t *people_object(const cli_explained *x)
{
  json_t *people = json_object();
  for (size_t a = 0; a < x->e->agents; a++) {
    const idm_person_summary *person = &x->e->person[a];
    json_t *object = json_object();
    idm_json_set(&object, "decisions", json_integer((json_int_t)person->decisions));
    idm_json_set(&object, "surprise", idm_json_number(person->surprise));
    idm_json_set(&object, "regret", idm_json_number(person->regret));
    idm_json_set(&object, "updates", json_integer((json_int_t)person->updates));
    set_interval(x, &object, "base_rate", person->base_rate);
    set_interval(x, &object, "reaction", person->reaction);
    set_interval(x, &object, "noise", person->noise);
    idm_json_set(&object, "confirming_updates",
                 json_integer((json_int_t)person->confirming_updates));
    idm_json_set(&object, "disconfirming_updates",
                 json_integer((json_int_t)person->disconfirming_updates));
    set_interval(x, &object, "confirming", person->confirming);
    set_interval(x, &object, "disconfirming", person->disconfirming);
    set_interval(x, &object, "asymmetry", person->asymmetry);
    idm_json_set(&object, "biases", bias_list(person));
    idm_json_set(&people, x->e->name.name[a], object);
  }
  return people;
}

static json_t *surprising_list(const cli_explained *x)
{
  json_t *list = json_array();
  for (size_t i = 0; i < x->e->surprising; i++) {
    const size_t row = x->e->surprising_row[i];
    const size_t t = trajectory_of(x->data, row);
    const size_t step = row - x->data->first[t] + 1;
    json_t *object = case_object(x, t);
    idm_json_set(&object, "step", json_integer((json_int_t)step));
    idm_json_set(&object, "line", json_integer((json_int_t)x->data->line[row]));
    idm_json_set(&object, "action", json_string(action_at(x, row)));
    set_interval(x, &object, "surprise", idm_explanation_surprise(x->e, x->data, row));
    idm_json_set(&object, "rational", actions_of(x, row, IDM_EXPLAIN_RATIONAL));
    set_interval(x, &object, "regret", idm_explanation_interval(x->e, row, IDM_EXPLAIN_REGRET, 0));
    idm_json_append(&list, object);
  }
  return list;
}

static json_t *belated_list(const cli_explained *x)
{
  json_t *list = json_array();
  for (size_t i = 0; i < x->e->delayed; i++) {
    json_t *object = case_object(x, x->e->delayed_case[i]);
    set_delay(x, x->e->delayed_case[i], &object);
    idm_json_append(&list, object);
  }
  return list;
}

/* Print one member, "KEY": value, on a line of its own. */
static idm_status put_member(cli_call *call, const char *key, json_t *value)
{
  char *text = idm_json_dump(value, JSON_INDENT(1) | JSON_ENCODE_ANY);
  if (!text) return idm_fail_memory(&call->error);
  printf("\"%s\": %s,\n", key, text);
  free(text);
  return IDM_OK;
}

static idm_status put_case(const cli_explained *x, size_t t, bool first)
{
  json_t *object = case_object(x, t);
  json_t *steps = json_array();
  set_delay(x, t, &object);
  for (size_t row = x->data->first[t]; row < x->data->first[t + 1]; row++)
    idm_json_append(&steps, step_object(x, t, row));
  idm_json_set(&object, "steps", steps);
  char *text = idm_json_dump(object, JSON_COMPACT);
  if (!text) return idm_fail_memory(&x->call->error);
  printf("%s%s", first ? "" : ",\n", text);
  free(text);
  return IDM_OK;
}

/* One object, printed member by member and trajectory by trajectory, since a log may be large. */
idm_status cli_print_explained_json(const cli_explained *x)
{
  cli_call *call = x->call;
  printf("{");
  idm_status status = put_member(
      call, "draws", json_integer((json_int_t)(x->e->trials->low ? x->e->trials->draws : 1)));
  if (status == IDM_OK) status = put_member(call, "notes", idm_json_texts(&call->notes));
  if (status == IDM_OK) status = put_member(call, "bias_rule", rules_object());
  if (status == IDM_OK) status = put_member(call, "people", people_object(x));
  if (status == IDM_OK) status = put_member(call, "surprising", surprising_list(x));
  if (status == IDM_OK) status = put_member(call, "belated", belated_list(x));
  if (status == IDM_OK) printf("\"trajectories\": [\n");
  bool first = true;
  for (size_t t = 0; t < x->e->trajectories && status == IDM_OK; t++) {
    if (x->trajectory >= 0 && t != (size_t)x->trajectory) continue;
    status = put_case(x, t, first);
    first = false;
  }
  if (status == IDM_OK) printf("]}\n");
  return status;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Number with three decimals; "-" for NaN. */
static const char *number_text(double value, char *buffer, size_t size)
{
  snprintf(buffer, size, isnan(value) ? "-" : "%.3f", value);
  return buffer;
}

/* The same with its interval, unless that is a point. */
static const char *interval_text(idm_interval value, char *buffer, size_t size)
{
  if (!(value.high - value.low >= 5e-4)) return number_text(value.mean, buffer, size);
  snprintf(buffer, size, "%.3f (%.2f-%.2f)", value.mean, value.low, value.high);
  return buffer;
}

/* Width of right-aligned cells: that of the header or of the widest number. */
static int cell_width(const cli_explained *x, const char *header)
{
  const int least = x->e->trials->low ? 17 : 7;
  const int length = cli_width(header);
  return length > least ? length : least;
}

/* Print a header after a space. */
static void print_header(const cli_explained *x, const char *header)
{
  putchar(' ');
  cli_print_right(stdout, cell_width(x, header), header);
}

/* Print a name followed by a space. */
static void print_name(int width, const char *name)
{
  cli_print_left(stdout, width, name);
  putchar(' ');
}

static int max_width(const idm_labels *labels, int least)
{
  for (size_t i = 0; i < labels->count; i++)
    if (cli_width(labels->name[i]) > least) least = cli_width(labels->name[i]);
  return least;
}

static idm_status print_step(const cli_explained *x, size_t t, size_t row, int action_width,
                             int observation_width)
{
  char text[64];
  const idm_setting *setting = x->setting;
  const char *action = idm_data_missed(x->data, row) ? "(missed)" : action_at(x, row);
  char *best = NULL;
  char *at = NULL;
  idm_status status =
      idm_explanation_actions(x->e, setting, row, IDM_EXPLAIN_RATIONAL, &best, &x->call->error);
  if (status == IDM_OK)
    status = idm_explanation_actions(x->e, setting, row, IDM_EXPLAIN_RATIONAL_AT_BELIEF, &at,
                                     &x->call->error);
  if (status == IDM_OK) {
    printf("%4zu ", row - x->data->first[t] + 1);
    for (size_t s = 0; s < setting->states.count; s++)
      printf(" %*s", cell_width(x, setting->states.name[s]),
             interval_text(idm_explanation_interval(x->e, row, IDM_EXPLAIN_BELIEF, s), text,
                           sizeof text));
    printf(" |");
    for (size_t u = 0; u < setting->actions.count; u++)
      printf(" %*s", cell_width(x, setting->actions.name[u]),
             interval_text(idm_explanation_interval(x->e, row, IDM_EXPLAIN_PROBABILITY, u), text,
                           sizeof text));
    printf(" | ");
    print_name(action_width, *action ? action : "?");
    print_name(observation_width, label_at(&setting->observations, x->data->observation[row]));
    printf("| ");
    print_name(action_width, best);
    print_name(action_width, at);
    printf("%8s",
           number_text(idm_explanation_surprise(x->e, x->data, row).mean, text, sizeof text));
    printf(" %8s\n", number_text(idm_explanation_interval(x->e, row, IDM_EXPLAIN_REGRET, 0).mean,
                                 text, sizeof text));
  }
  free(best);
  free(at);
  return status;
}

/* Print the delay of a trajectory as a sentence. */
static void print_delay(const idm_case_summary *one, bool due_action)
{
  const char *did = due_action ? "took the due action" : "ended";
  if (one->censored)
    printf("it never %s", did);
  else
    printf("it %s at step %zu", did, one->step);
  if (!one->due)
    printf("; a rational agent would not have done so within it");
  else
    printf("; a rational agent would have done so at step %zu", one->due);
  if (one->delayed > 0)
    printf(": belated by %s%ld", one->censored ? "at least " : "", one->delayed);
  else if (one->delayed == 0)
    printf(": on time");
  printf("; total regret %.3f\n"
         "\n",
         one->regret);
}

static idm_status print_trajectory(const cli_explained *x)
{
  const size_t t = (size_t)x->trajectory;
  const idm_setting *setting = x->setting;
  const int action_width = max_width(&setting->actions, 14);
  const int observation_width = max_width(&setting->observations, 4);
  char number[24];
  printf("trajectory %s of agent %s: ", idm_data_trajectory_name(x->data, t, number, sizeof number),
         x->e->name.name[x->e->agent[t]]);
  print_delay(&x->e->one[t], cli_given(x->call, "due"));
  int beliefs = -1;
  int policies = -1;
  for (size_t s = 0; s < setting->states.count; s++)
    beliefs += 1 + cell_width(x, setting->states.name[s]);
  for (size_t u = 0; u < setting->actions.count; u++)
    policies += 1 + cell_width(x, setting->actions.name[u]);
  printf("%4s  %-*s | %-*s | %-*s | %-*s\n%4s ", "", beliefs, "belief", policies,
         "probability of each action", action_width + 1 + observation_width, "what happened",
         2 * action_width + 1, "rational actions", "step");
  for (size_t s = 0; s < setting->states.count; s++) print_header(x, setting->states.name[s]);
  printf(" |");
  for (size_t u = 0; u < setting->actions.count; u++) print_header(x, setting->actions.name[u]);
  printf(" | %-*s %-*s | %-*s %-*s %8s %8s\n", action_width, "action", observation_width, "seen",
         action_width, "at its belief", action_width, "at this belief", "surprise", "regret");
  idm_status status = IDM_OK;
  for (size_t row = x->data->first[t]; row < x->data->first[t + 1] && status == IDM_OK; row++)
    status = print_step(x, t, row, action_width, observation_width);
  return status;
}

static idm_status print_surprising(const cli_explained *x)
{
  char number[24];
  char text[64];
  const int action_width = max_width(&x->setting->actions, 8);
  idm_status status = IDM_OK;
  printf("most surprising decisions\n%-16s %-20s %5s %-*s %8s %-*s %10s\n", "agent", "trajectory",
         "step", action_width, "action", "surprise", action_width, "rational", "regret");
  if (!x->e->surprising) printf("none is less probable than under uniform choice\n");
  for (size_t i = 0; i < x->e->surprising && status == IDM_OK; i++) {
    const size_t row = x->e->surprising_row[i];
    const size_t t = trajectory_of(x->data, row);
    char *best = NULL;
    status = idm_explanation_actions(x->e, x->setting, row, IDM_EXPLAIN_RATIONAL, &best,
                                     &x->call->error);
    if (status != IDM_OK) break;
    print_name(16, x->e->name.name[x->e->agent[t]]);
    print_name(20, idm_data_trajectory_name(x->data, t, number, sizeof number));
    printf("%5zu ", row - x->data->first[t] + 1);
    print_name(action_width, action_at(x, row));
    printf("%8.3f ", idm_explanation_surprise(x->e, x->data, row).mean);
    print_name(action_width, best);
    printf("%10s\n", number_text(idm_explanation_interval(x->e, row, IDM_EXPLAIN_REGRET, 0).mean,
                                 text, sizeof text));
    free(best);
  }
  return status;
}

static void print_belated(const cli_explained *x)
{
  char number[24];
  printf("\n"
         "most delayed trajectories (a rational agent would have %s earlier)\n",
         cli_given(x->call, "due") ? "done it" : "ended");
  if (!x->e->delayed) printf("none\n");
  if (x->e->delayed)
    printf("%-16s %-20s %9s %9s %9s %10s\n", "agent", "trajectory", "at step", "rational",
           "belated", "regret");
  for (size_t i = 0; i < x->e->delayed; i++) {
    const size_t t = x->e->delayed_case[i];
    const idm_case_summary *one = &x->e->one[t];
    char at[24];
    char late[24];
    snprintf(at, sizeof at, one->censored ? "never" : "%zu", one->step);
    snprintf(late, sizeof late, "%s%ld", one->censored ? ">= " : "", one->delayed);
    print_name(16, x->e->name.name[x->e->agent[t]]);
    print_name(20, idm_data_trajectory_name(x->data, t, number, sizeof number));
    printf("%9s %9zu %9s %10.3f\n", at, one->due, late, one->regret);
  }
}

static void print_people(const cli_explained *x)
{
  char text[64];
  const int width = x->e->trials->low ? 18 : 10;
  const size_t only = x->trajectory >= 0
                          ? x->e->agent[x->trajectory]
                          : x->e->agents; /* index, or the number of agents for all */
  printf("\n"
         "by agent: reaction to evidence (1: Bayes; above: overreaction), weight of the base rate "
         "(1: Bayes;\n"
         "below: neglect), noise of decisions (divided by the range of the utilities)\n");
  printf("%-16s %9s %9s %9s %8s %*s %*s %*s\n", "agent", "decisions", "surprise", "regret",
         "updates", width, "reaction", width, "base rate", width, "noise");
  size_t shown = 0;
  for (size_t a = 0; a < x->e->agents && shown < max_listed; a++) {
    const idm_person_summary *person = &x->e->person[a];
    if (only < x->e->agents && a != only) continue;
    shown++;
    print_name(16, x->e->name.name[a]);
    printf("%9zu %9.3f %9.3f %8zu", person->decisions, person->surprise, person->regret,
           person->updates);
    printf(" %*s", width, interval_text(person->reaction, text, sizeof text));
    printf(" %*s", width, interval_text(person->base_rate, text, sizeof text));
    printf(" %*s\n", width, interval_text(person->noise, text, sizeof text));
  }
  if (only == x->e->agents && x->e->agents > max_listed)
    printf("... and %zu more (--json lists all)\n", x->e->agents - max_listed);
}

/* Number on which a bias is based. */
static const char *bias_evidence(const idm_person_summary *person, idm_bias bias, char *buffer,
                                 size_t size)
{
  char first[64], second[64];
  switch (bias) {
  case IDM_BIAS_BASE_RATE_NEGLECT:
    snprintf(buffer, size, "base rate %s", interval_text(person->base_rate, first, sizeof first));
    break;
  case IDM_BIAS_CONFIRMATION:
    snprintf(buffer, size, "confirming %s, disconfirming %s of Bayes",
             interval_text(person->confirming, first, sizeof first),
             interval_text(person->disconfirming, second, sizeof second));
    break;
  default:
    snprintf(buffer, size, "reaction %s", interval_text(person->reaction, first, sizeof first));
  }
  return buffer;
}

/* Biases by agent; agents without a bias are omitted. */
static void print_biases(const cli_explained *x)
{
  char text[200];
  const size_t only = x->trajectory >= 0
                          ? x->e->agent[x->trajectory]
                          : x->e->agents; /* index, or the number of agents for all */
  size_t shown = 0;
  printf("\nbiases (beyond %g of Bayes, over at least %d updates)\n", IDM_BIAS_MARGIN,
         IDM_BIAS_UPDATES);
  for (size_t a = 0; a < x->e->agents && shown < max_listed; a++) {
    size_t named = 0;
    if (only < x->e->agents && a != only) continue;
    for (idm_bias b = 0; b < IDM_BIAS_COUNT; b++) {
      if (!idm_person_has_bias(&x->e->person[a], b)) continue;
      if (!named++) print_name(16, x->e->name.name[a]);
      printf("%s%s (%s)", named > 1 ? "; " : "", idm_bias_name(b),
             bias_evidence(&x->e->person[a], b, text, sizeof text));
    }
    if (named) printf("\n");
    shown += named > 0;
  }
  if (!shown) printf("none\n");
}

idm_status cli_print_explained(const cli_explained *x)
{
  idm_status status = x->trajectory >= 0 ? print_trajectory(x) : print_surprising(x);
  if (status == IDM_OK && x->trajectory < 0) print_belated(x);
  if (status == IDM_OK) print_people(x);
  if (status == IDM_OK) print_biases(x);
  return status;
}

/* === cmd explain ============================================================================== */

static idm_status read_settings(cli_call *call, const idm_setting *setting, const idm_data *data,
                                idm_explain_settings *settings)
{
  idm_explain_settings_default(settings);
  settings->top = (size_t)cli_integer(call, "top");
  const char *due = cli_text(call, "due");
  for (size_t u = 0; due && u < setting->actions.count; u++)
    if (strcmp(setting->actions.name[u], due) == 0) settings->due = (int32_t)u;
  if (due && settings->due == IDM_MISSING)
    return idm_fail(
        &call->error, IDM_USAGE,
        "--due is '%s', which is not an action of the problem; its first action is '%s'", due,
        setting->actions.name[0]);
  const char *name = cli_text(call, "trajectory");
  size_t trajectory = 0;
  const idm_status status =
      name ? idm_data_find_trajectory(data, name, &trajectory, &call->error) : IDM_OK;
  if (name && status == IDM_OK) settings->trajectory = (int64_t)trajectory;
  return status;
}

/* Read the log: all arguments but the first. If it is the log of the run, its contents must be
 * unchanged. */
static idm_status read_data(cli_call *call, cli_input *input, idm_data **ret_data)
{
  char paths[sizeof((idm_request *)0)->data];
  char where[sizeof((idm_request *)0)->where];
  const idm_request *opt_request = input->posterior ? input->request : NULL;
  idm_status status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK && opt_request)
    status = idm_request_check_log(opt_request, paths, &call->error);
  if (status == IDM_OK) status = cli_run_where(call, opt_request, where, sizeof where);
  return status == IDM_OK
             ? cli_read_people(call, paths, where, opt_request, false, input->problem, ret_data)
             : status;
}

static idm_status write_table(const void *content, const char *path, idm_error *error)
{
  const cli_explained *x = content;
  return idm_explanation_write_csv(x->e, x->data, x->setting, x->trajectory, path, error);
}

static idm_status put_out(const cli_explained *x)
{
  const char *path = cli_text(x->call, "output");
  idm_status status = IDM_OK;
  if (path) status = cli_write_csv(x->call, path, write_table, x);
  if (status == IDM_OK && path && strcmp(path, "-") == 0) return IDM_OK;
  if (status == IDM_OK)
    status = cli_given(x->call, "json") ? cli_print_explained_json(x) : cli_print_explained(x);
  if (status == IDM_OK && path && !cli_given(x->call, "json"))
    fprintf(stderr, "idm: wrote %s\n", path);
  return status;
}

static idm_status run(cli_call *call)
{
  cli_input input = {0};
  idm_data *data = NULL;
  idm_explanation *e = NULL;
  idm_explain_settings settings;
  const char *path = cli_text(call, "output");
  idm_status status = path ? cli_check_target(call, path) : IDM_OK;
  if (status != IDM_OK) return status;
  status = cli_input_open(call, call->argument[0], &input);
  if (status == IDM_OK) status = cli_check_planable(call, input.posterior);
  if (status == IDM_OK) status = read_data(call, &input, &data);
  if (status == IDM_OK) status = read_settings(call, input.problem->setting, data, &settings);
  if (input.posterior && idm_request_people(input.request)[0])
    settings.by = idm_request_people(input.request);
  if (status == IDM_OK)
    status = idm_explain_log(input.problem, input.posterior, data, &settings, &e, &call->notes,
                             &call->error);
  if (status == IDM_OK)
    status = put_out(&(cli_explained){.call = call,
                                      .setting = input.problem->setting,
                                      .data = data,
                                      .e = e,
                                      .trajectory = settings.trajectory});
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  cli_input_close(&input);
  return status;
}

static const cli_option options[] = {
    {.name = "trajectory",
     .kind = CLI_TEXT,
     .value = "ID",
     .help = "show one trajectory step by step (default: the ranked lists)"},
    {.name = "due",
     .kind = CLI_TEXT,
     .value = "ACTION",
     .help = "the due action, by which delays are measured (default: any action that ends a "
             "trajectory)"},
    {.name = "top",
     .kind = CLI_INTEGER,
     .value = "N",
     .default_value = "10",
     .low = 0,
     .high = 10000,
     .help = "length of the ranked lists"},
    CLI_SAFE_OPTION,
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "CSV file to write, one line per step (-: on standard output, instead of tables)"},
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PROBLEM_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_explain = {
    .name = "explain",
    .arguments = "PROBLEM|RUN DATA...",
    .min_arguments = 2,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Explain single cases step by step, compared with a rational agent",
    .description =
        "Prints for every step of DATA the belief of the agent, the probability of each action,\n"
        "the surprise of the action taken, and the actions of a rational agent (alpha 0, beta\n"
        "inf, eta 0, with the environment's dynamics): at its own Bayesian belief given the same\n"
        "history, where the regret of the action is measured in units of the utility, and at the\n"
        "belief of the agent. Then the most surprising decisions, the trajectories that ended, or\n"
        "took --due ACTION, later than those of a rational agent, and for every agent its\n"
        "reaction to evidence, its weight of the base rate and its noise. A RUN gives means and\n"
        "5 % and 95 % quantiles over its draws, and uses the rows that it was fitted to unless\n"
        "--where is given.",
    .options = options,
    .run = run,
};
