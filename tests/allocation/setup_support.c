#include "allocation/setup_support.h"

#include <stdio.h>

const char allocation_diag[] =
    "agent,trajectory,step,action,observation,available,belief.healthy,belief.diseased,site\n"
    "ann,1,1,monitor,positive,,0.25,0.75,\"north, upper\"\n"
    "ann,1,2,monitor,,monitor|declare_healthy,,,north\n"
    "ann,1,3,,positive,,,,south\n"
    "ann,1,4,declare_diseased,,declare_diseased,,,south\n"
    "bob,2,1,monitor,negative,,,,\n"
    "bob,2,2,declare_healthy,,,,,north\n";

const char allocation_beads[] =
    "subject,run,trial,step,action,obs,draw_cost,reward_high,reward_low,reward_wrong\n"
    "s,1,1,1,draw,high,1,70,10,0\n"
    "s,1,1,2,bet_high,,1,70,10,0\n"
    "s,1,2,1,bet_low,none,2,10,70,0\n";

idm_fit_settings few(const char *sampler)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  snprintf(settings.sampler, sizeof settings.sampler, "%s", sampler);
  settings.chains = 1;
  settings.draws = 4;
  settings.warmup = 2;
  settings.threads = 1;
  settings.prior_draws = 2;
  return settings;
}

fitted open_fit(void)
{
  fitted f = {.problem = support_diag(0.5, 1.25, 0.001)};
  support_assign(f.problem, "resolution=9");
  check(idm_problem_set_free(f.problem, "eta", &support_error));
  f.data = support_data(f.problem, "agent,trajectory,action,observation\n"
                                   "a,1,monitor,positive\na,1,declare_diseased,\n"
                                   "a,2,monitor,negative\na,2,declare_healthy,\n");
  const idm_fit_settings settings = few("metropolis");
  check(idm_inverse_fit(idm_inverse_find("bayes"), f.problem, f.data, &settings, NULL, &f.posterior,
                        NULL, &support_error));
  check(idm_assess_draws(f.posterior, &f.assessment, &support_error));
  return f;
}

void close_fit(fitted *f)
{
  idm_assessment_destroy(f->assessment);
  idm_posterior_destroy(f->posterior);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}
