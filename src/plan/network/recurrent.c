/* The planner `recurrent`: a long short-term memory reads what was done and seen, and chooses. */
#include "plan/network/recurrent.h"

#include "base/memory.h"
#include "idm/data.h"

/* --- what it is ----------------------------------------------------------------------------- */

static const idm_block_info own[] = {{.name = "network",
                                      .summary = "weights of a network, layer after layer",
                                      .opaque = true,
                                      .scales = IDM_SCALES_IDENTITY,
                                      .spread = 0.3,
                                      .form = IDM_FORM_NUMBERS,
                                      .of_agent = true}};

static lstm_plan plan_of(const idm_agent *agent, idm_sizes sizes)
{
  return idm_lstm_plan(sizes.actions, sizes.observations, (size_t)agent->hidden,
                       (size_t)agent->layer);
}

static size_t shape(const idm_agent *agent, idm_sizes sizes, size_t block, double *opt_value)
{
  (void)block;
  const lstm_plan plan = plan_of(agent, sizes);
  idm_random random;
  idm_random_init(&random, agent->seed, 0);
  if (opt_value) idm_lstm_start(&plan, &random, opt_value);
  return plan.count;
}

static void destroy(void *content)
{
  recurrent *r = content;
  if (!r) return;
  free(r->net.weights);
  free(r->net.transposed);
  free(r);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  if (agent->hidden < 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "the planner 'recurrent' has no memory with hidden: 0; expected at least 1");
  recurrent *r = idm_new(1, sizeof *r);
  if (!r) return idm_fail_memory(opt_error);
  r->setting = setting;
  r->net.plan = plan_of(agent, theta->sizes);
  r->net.weights = idm_new(r->net.plan.count, sizeof *r->net.weights);
  r->net.transposed = idm_new(r->net.plan.count, sizeof *r->net.transposed);
  if (!r->net.weights || !r->net.transposed) {
    destroy(r);
    return idm_fail_memory(opt_error);
  }
  *ret_content = r;
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  recurrent *r = content;
  memcpy(r->net.weights, idm_theta_values(theta, IDM_BLOCK_COUNT, 0),
         r->net.plan.count * sizeof *r->net.weights);
  idm_lstm_ready(&r->net);
  r->habits = idm_habit_of(theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* --- how it behaves ------------------------------------------------------------------------- */

/* Of one trajectory. */
typedef struct memory {
  int last;    /* action of this trajectory; IDM_MISSING at its start */
  bool scored; /* `score` is of this h */
  double *h;   /* [units], as are */
  double *c;
  double *gates;  /* [4 units]: scratch */
  double *layer;  /* [layer]: scratch */
  double *score;  /* [action] */
  double *log_pi; /* [action]: scratch */
} memory;

static void memory_destroy(void *content)
{
  memory *m = content;
  if (!m) return;
  free(m->h);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const recurrent *r = content;
  const lstm_plan *p = &r->net.plan;
  memory *m = idm_new(1, sizeof *m);
  *ret_memory = m;
  if (!m) return idm_fail_memory(opt_error);
  m->h = idm_new(6 * p->units + p->layer + 2 * p->actions, sizeof *m->h);
  if (!m->h) {
    memory_destroy(m);
    *ret_memory = NULL;
    return idm_fail_memory(opt_error);
  }
  m->c = m->h + p->units;
  m->gates = m->c + p->units;
  m->layer = m->gates + 4 * p->units;
  m->score = m->layer + p->layer;
  m->log_pi = m->score + p->actions;
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *content_memory, idm_error *opt_error)
{
  (void)opt_error;
  const recurrent *r = content;
  memory *m = content_memory;
  memset(m->h, 0, 2 * r->net.plan.units * sizeof *m->h);
  m->last = IDM_MISSING;
  m->scored = false;
  return IDM_OK;
}

/* Read an input: `before` turns into `after`. */
static void read_input(const recurrent *r, const memory *before, lstm_input input, memory *after)
{
  /* Within a step every number is read before it is written, so that they may be the same. */
  idm_lstm_step(&r->net, 1, &input, before->h, before->c, after->gates, after->c, after->h);
  after->last = input.action;
  after->scored = false;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)before;
  (void)variant;
  const recurrent *r = content;
  const idm_status status = begin_agent(content, after, opt_error);
  read_input(r, after, idm_recurrent_begin(r, opt_start), after);
  return status;
}

/* log q over the open actions into m->log_pi; how many are open. */
static idm_status tilt(const recurrent *r, memory *m, const bool *opt_open, double *open,
                       idm_error *opt_error)
{
  const size_t actions = r->net.plan.actions;
  if (!m->scored) idm_lstm_score(&r->net, 1, m->h, m->layer, m->score);
  m->scored = true;
  for (size_t u = 0; u < actions; u++)
    if (!isfinite(m->score[u]))
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "the network gives an action a score that is no finite number: its weights "
                      "are too large");
  idm_habit_tilt_logs(r->habits, actions, m->score, opt_open, m->last, m->log_pi, open);
  return IDM_OK;
}

static idm_status act(const void *content, void *content_memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  const recurrent *r = content;
  memory *m = content_memory;
  double open;
  const idm_status status = tilt(r, m, opt_available, &open, opt_error);
  if (status != IDM_OK) return status;
  for (size_t u = 0; u < r->net.plan.actions; u++)
    probability[u] =
        opt_available && !opt_available[u] ? 0 : idm_habit_slip(r->habits, exp(m->log_pi[u]), open);
  return IDM_OK;
}

static idm_status log_act(const void *content, void *content_memory, const bool *opt_available,
                          size_t action, double *log_probability, idm_error *opt_error)
{
  const recurrent *r = content;
  memory *m = content_memory;
  double open;
  const idm_status status = tilt(r, m, opt_available, &open, opt_error);
  if (status != IDM_OK) return status;
  *log_probability = opt_available && !opt_available[action]
                         ? -INFINITY
                         : idm_habit_log_slip(r->habits, m->log_pi[action], open);
  return IDM_OK;
}

/* What the agent knew and the log does not say could be any of several: to sum over them is to keep
 * a memory for each, which never meet again. To read nothing would be to say that it saw nothing.
 */
static idm_status refuse(const char *what, idm_error *opt_error)
{
  return idm_fail(
      opt_error, IDM_INPUT,
      "%s, and the planner 'recurrent' reads it: expected every action and observation; "
      "where nothing was seen, say so by a label of its own among the observations, and "
      "leave other such trajectories out by --where",
      what);
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random;
  const recurrent *r = content;
  if (event->action == IDM_MISSING) return refuse("an action was not recorded", opt_error);
  if (event->observation == IDM_MISSING && !event->last)
    return refuse("an observation was not recorded", opt_error);
  const int last = event->missed ? ((const memory *)before)->last : event->action;
  memory *m = after;
  read_input(r, before, (lstm_input){event->action, event->observation}, m);
  m->last = last;
  return IDM_OK;
}

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_TRAJECTORY,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .log_act = log_act,
                                          .observe = observe,
                                          .slope = &idm_recurrent_slope};

/* --- the table ------------------------------------------------------------------------------ */

const idm_planner idm_recurrent = {
    .name = "recurrent",
    .summary = "a network with a memory reads what was done and seen, and chooses",
    .row = "Model-free POMDP learner",
    .keys = (const char *const[]){"hidden", "layer", "seed", NULL},
    .reads = (const idm_block_id[]){IDM_PERSEVERANCE, IDM_LAPSE, IDM_BLOCK_COUNT},
    .own = own,
    .owns = 1,
    .shape = shape,
    .needs = IDM_NEEDS_ACTIONS,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .behavior = &behavior,
};
