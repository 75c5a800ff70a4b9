/* Following an agent along a path: see the header. */
#include "idm/follow.h"

#include <math.h>

#include "base/door.h"
#include "base/memory.h"

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

/* From place i - 1 to place i. */
static idm_status take(const idm_setting *setting, idm_behavior b, void *memory, const char *step,
                       size_t length, size_t i, idm_followed *f, idm_error *opt_error)
{
  idm_event event = {0};
  idm_status status = parse_step(setting, step, length, &event, opt_error);
  if (status == IDM_OK &&
      (setting->terminal[event.action] || (setting->horizon > 0 && i >= (size_t)setting->horizon)))
    status = idm_fail(opt_error, IDM_USAGE,
                      "the path goes on where the episode has ended: nothing follows '%.*s'",
                      (int)length, step);
  if (status == IDM_OK)
    status = b.ops->observe(b.content, memory, memory, &event, NULL, NULL, opt_error);
  if (status == IDM_OK)
    status = b.ops->act(b.content, memory, NULL, f->policy + i * setting->actions.count, opt_error);
  if (status != IDM_OK) return status;
  if (b.ops->belief) b.ops->belief(b.content, memory, f->belief + i * setting->states.count);
  f->action[i - 1] = event.action;
  f->reached[i] = idm_text_copy(step, length);
  return f->reached[i] ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status follow(const idm_setting *setting, idm_behavior b, void *memory,
                         const char *opt_path, idm_followed *f, idm_error *opt_error)
{
  idm_status status = b.ops->begin_agent(b.content, memory, opt_error);
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(b.content, memory, memory, 0, NULL, opt_error);
  if (status == IDM_OK) status = b.ops->act(b.content, memory, NULL, f->policy, opt_error);
  if (status == IDM_OK && b.ops->belief) b.ops->belief(b.content, memory, f->belief);
  const char *step = opt_path;
  for (size_t i = 1; i < f->places && status == IDM_OK; i++) {
    const size_t length = strcspn(step, ",");
    status = take(setting, b, memory, step, length, i, f, opt_error);
    step += length + (step[length] == ',');
  }
  return status;
}

idm_status idm_follow(const idm_setting *setting, const idm_workspace *workspace,
                      const char *opt_path, idm_followed **ret_followed, idm_error *opt_error)
{
  idm_require(setting, workspace, ret_followed);
  *ret_followed = NULL;
  if (!idm_sizes_same(idm_setting_sizes(setting), idm_workspace_theta(workspace)->sizes))
    return idm_fail(opt_error, IDM_USAGE, "the workspace is of another problem");
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory = NULL;
  size_t places = opt_path ? 2 : 1;
  for (const char *c = opt_path; c && *c; c++) places += *c == ',';
  idm_status status = make(setting, places, ret_followed, opt_error);
  if (status == IDM_OK) status = b.ops->memory_create(b.content, &memory, opt_error);
  if (status == IDM_OK) status = follow(setting, b, memory, opt_path, *ret_followed, opt_error);
  if (memory) b.ops->memory_destroy(memory);
  if (status == IDM_OK) return IDM_OK;
  idm_followed_destroy(*ret_followed);
  *ret_followed = NULL;
  /* What the problem does not allow was asked for, not read from a file. */
  return status == IDM_INPUT ? IDM_USAGE : status;
}
