/* Logs for which few draws estimate an sd with a large error. */
#include "invert/assess/uncertain_support.h"

#include <stdio.h>
#include <string.h>

#include "invert/assess/context_support.h"

static idm_problem *make_learner(void)
{
  return support_yaml(
      "states: [a_good, b_good]\nactions: [a, b]\nobservations: [win, loss]\n"
      "start: uniform\ndiscount: 0\nobservation_from: before\n"
      "transition: {\"*\": [[0.944, 0.056], [0.056, 0.944]]}\n"
      "observation: {a: [[0.8, 0.2], [0.2, 0.8]], b: [[0.2, 0.8], [0.8, 0.2]]}\n"
      "utility: {a: [1, -1], b: [-1, 1]}\n"
      "agent: {planner: td-learner, inverse_temperature: 1.5, learning_rate_gain: 0.25, "
      "learning_rate_loss: 0.3}\n");
}

static void set_up(idm_problem *problem, idm_fit_settings *settings)
{
  check(idm_problem_set_free(problem, "inverse_temperature,learning_rate_gain", &support_error));
  idm_fit_settings_default(settings);
  settings->threads = 1;
  settings->keep = IDM_KEEP_NOTHING;
  settings->prior_draws = 0;
}

void uncertain_learner(idm_problem **problem, idm_data **data, idm_fit_settings *settings)
{
  *problem = make_learner();
  *data = simulate_learners(*problem, 1, 2, 50, 53);
  set_up(*problem, settings);
  settings->chains = 2;
  settings->draws = 800;
  settings->warmup = 300;
}

void uncertain_far_mode(idm_problem **problem, idm_data **data, idm_fit_settings *settings)
{
  static const char choice[] = "babaaaaaaaaaaaaababaaabaaaaaaaaabaababaaaaabbbabaaaaaaaabbbb"
                               "bbbbbbbbabbbbbbabbbbbaabbbbbbbabbbbbbabbbabbaababbbbbbbabbbb";
  static const char reward[] = "---+++++++-++++--+--++-++++++-+---+++-++++-+--+-+-++----+--+"
                               "+-++-+---+++++---+++++-++++++--+-++++----+-+--+-+---++--++++";
  char csv[8000] = "agent,trajectory,action,observation,reward\n";
  for (size_t i = 0; i < sizeof choice - 1; i++)
    snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "p,t%zu,%c,%s,%c1\n", i / 40, choice[i],
             reward[i] == '+' ? "win" : "loss", reward[i]);
  *problem = make_learner();
  *data = support_data(*problem, csv);
  set_up(*problem, settings);
}
