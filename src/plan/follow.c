/* Following an agent along a path: see the header. */
#include "idm/follow.h"

#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "plan/follow.h"

void idm_followed_destroy(idm_followed *followed)
{
  if (!followed) return;
  for (size_t i = 0; followed->reached && i < followed->places; i++) free(followed->reached[i]);
  free(followed->belief);
  free(followed->policy);
  free(followed->action);
  free(followed->reached);
  free(followed);
}

static idm_status make(const idm_setting *setting, size_t places, idm_followed **ret_followed,
                       idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(setting);
  idm_followed *f = *ret_followed = idm_new(1, sizeof *f);
  if (!f) return idm_fail_memory(opt_error);
  f->places = places;
  f->belief = idm_new(idm_times(places, n.states), sizeof *f->belief);
  f->policy = idm_new(idm_times(places, n.actions), sizeof *f->policy);
  f->action = idm_new(places, sizeof *f->action);
  f->reached = idm_new(places, sizeof *f->reached);
  if (!f->belief || !f->policy || !f->action || !f->reached) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < places * n.states; i++) f->belief[i] = NAN;
  f->action[places - 1] = IDM_MISSING;
  return IDM_OK;
}

/* One "action:observation"; either name may hold colons. */
static idm_status parse_step(const idm_setting *setting, const char *step, size_t length,
                             idm_event *event, idm_error *opt_error)
{
  for (const char *colon = step; (colon = memchr(colon, ':', (size_t)(step + length - colon)));
       colon++) {
    event->action = (int)idm_labels_find(&setting->actions, step, (size_t)(colon - step));
    event->observation = (int)idm_labels_find(&setting->observations, colon + 1,
                                              (size_t)(step + length - colon - 1));
    if (event->action >= 0 && event->observation >= 0) return IDM_OK;
  }
  return idm_fail(opt_error, IDM_USAGE,
                  "the path has '%.*s'; expected ACTION:OBSERVATION, as in %s:%s", (int)length,
                  step, setting->actions.name[0], setting->observations.name[0]);
}

/* The steps of a path, none of which may end the episode. */
static idm_status parse_path(const idm_setting *setting, const char *path, size_t count,
                             idm_event *events, idm_error *opt_error)
{
  const char *step = path;
  for (size_t i = 0; i < count; i++) {
    const size_t length = strcspn(step, ",");
    const idm_status status = parse_step(setting, step, length, &events[i], opt_error);
    if (status != IDM_OK) return status;
    if (setting->terminal[events[i].action] ||
        idm_setting_arrives(setting, events[i].observation) ||
        (setting->horizon > 0 && i + 1 >= (size_t)setting->horizon))
      return idm_fail(opt_error, IDM_USAGE,
                      "the path goes on where the episode has ended: nothing follows '%.*s'",
                      (int)length, step);
    step += length + (step[length] == ',');
  }
  return IDM_OK;
}

/* What the agent believes and does at place i. */
static idm_status look(const idm_setting *setting, idm_behavior b, void *memory, size_t i,
                       idm_followed *f, idm_error *opt_error)
{
  const idm_status status =
      b.ops->act(b.content, memory, NULL, f->policy + i * setting->actions.count, opt_error);
  if (status == IDM_OK && b.ops->belief)
    b.ops->belief(b.content, memory, f->belief + i * setting->states.count);
  return status;
}

static idm_status follow(const idm_setting *setting, idm_behavior b, void *memory,
                         const double *opt_start, const idm_event *events, idm_followed *f,
                         idm_error *opt_error)
{
  idm_status status = b.ops->begin_agent(b.content, memory, opt_error);
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(b.content, memory, memory, 0, opt_start, opt_error);
  if (status == IDM_OK) status = look(setting, b, memory, 0, f, opt_error);
  for (size_t i = 1; i < f->places && status == IDM_OK; i++) {
    status = b.ops->observe(b.content, memory, memory, &events[i - 1], NULL, NULL, opt_error);
    if (status == IDM_OK) status = look(setting, b, memory, i, f, opt_error);
    f->action[i - 1] = events[i - 1].action;
  }
  return status;
}

idm_status idm_follow_events(const idm_setting *setting, const idm_workspace *workspace,
                             const double *opt_start, const idm_event *events, size_t count,
                             idm_followed **ret_followed, idm_error *opt_error)
{
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory = NULL;
  idm_status status = make(setting, count + 1, ret_followed, opt_error);
  if (status == IDM_OK) status = b.ops->memory_create(b.content, &memory, opt_error);
  if (status == IDM_OK)
    status = follow(setting, b, memory, opt_start, events, *ret_followed, opt_error);
  if (memory) b.ops->memory_destroy(memory);
  if (status == IDM_OK) return IDM_OK;
  idm_followed_destroy(*ret_followed);
  *ret_followed = NULL;
  return status;
}

/* What led to each place, in the path's own words. */
static idm_status name_places(const char *path, idm_followed *f, idm_error *opt_error)
{
  const char *step = path;
  for (size_t i = 1; i < f->places; i++) {
    const size_t length = strcspn(step, ",");
    f->reached[i] = idm_text_copy(step, length);
    if (!f->reached[i]) return idm_fail_memory(opt_error);
    step += length + (step[length] == ',');
  }
  return IDM_OK;
}

idm_status idm_follow(const idm_setting *setting, const idm_workspace *workspace,
                      const char *opt_path, idm_followed **ret_followed, idm_error *opt_error)
{
  idm_require(setting, workspace, ret_followed);
  *ret_followed = NULL;
  if (!idm_sizes_same(idm_setting_sizes(setting), idm_workspace_theta(workspace)->sizes))
    return idm_fail(opt_error, IDM_USAGE, "the workspace is of another problem");
  size_t count = opt_path ? 1 : 0;
  for (const char *c = opt_path; c && *c; c++) count += *c == ',';
  idm_event *events = idm_new(count, sizeof *events);
  idm_status status = events ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = parse_path(setting, opt_path, count, events, opt_error);
  if (status == IDM_OK)
    status = idm_follow_events(setting, workspace, NULL, events, count, ret_followed, opt_error);
  if (status == IDM_OK && opt_path) status = name_places(opt_path, *ret_followed, opt_error);
  free(events);
  if (status == IDM_OK) return IDM_OK;
  idm_followed_destroy(*ret_followed);
  *ret_followed = NULL;
  /* What the problem does not allow was asked for, not read from a file. */
  return status == IDM_INPUT ? IDM_USAGE : status;
}
