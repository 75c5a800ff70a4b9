/* Whether an agent remembers more than the state it is in: see the header. */
#include "plan/forgets.h"

#include "idm/planner.h"
#include "plan/habit.h"

bool idm_agent_forgets(const idm_problem *problem)
{
  const idm_agent *agent = &problem->agent;
  return problem->setting->fully_observed && !problem->setting->horizon &&
         !idm_agent_planner(agent)->behavior && agent->discounting == IDM_EXPONENTIAL &&
         !idm_habit_remembers(problem->theta);
}
