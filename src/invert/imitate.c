/* Imitation: see the header. */
#include "idm/imitate.h"

#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/maximise.h"
#include "idm/parameters.h"
#include "plan/workspace.h"

/* --- one problem ---------------------------------------------------------------------------- */

/* What there is to learn of a problem, and whoever learns it. */
typedef struct lesson {
  double *taught;   /* [state][action]: the teacher's policy */
  double *numbers;  /* [state + action + action + action * model]: scratch */
  double constant;  /* sum over states of the teacher's -entropy */
  idm_theta *theta; /* the student's */
  idm_theta *slope;
  idm_workspace *student;
  void *adjoint;
} lesson;

static void lesson_close(lesson *l)
{
  if (l->adjoint) idm_workspace_planner(l->student)->belief->adjoint->destroy(l->adjoint);
  idm_workspace_destroy(l->student);
  idm_theta_destroy(l->theta);
  idm_theta_destroy(l->slope);
  free(l->taught);
  free(l->numbers);
}

/* Policies of the teacher in every state. */
static idm_status teach(const idm_planner *teacher, const idm_problem *problem, lesson *l,
                        idm_error *opt_error)
{
  const idm_sizes n = problem->theta->sizes;
  idm_agent agent = problem->agent;
  idm_theta *theta = NULL;
  idm_workspace *workspace = NULL;
  agent.planner = teacher;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_theta_own(theta, teacher->own, teacher->owns, opt_error);
  if (status == IDM_OK) status = idm_planner_shape(teacher, &agent, theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(theta, NULL, workspace, NULL, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    double *p = l->taught + s * n.actions;
    for (size_t i = 0; i < n.states; i++) l->numbers[i] = i == s;
    idm_plan_policy(workspace, 0, l->numbers, p, NULL);
    for (size_t u = 0; u < n.actions; u++) l->constant += p[u] > 0 ? p[u] * log(p[u]) : 0;
  }
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

static idm_status lesson_open(const idm_planner *teacher, const idm_problem *problem, lesson *l,
                              idm_error *opt_error)
{
  const idm_sizes n = problem->theta->sizes;
  const idm_planner *student = idm_agent_planner(&problem->agent);
  *l = (lesson){0};
  if (!problem->setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT, "policies are compared in fully observed problems");
  if (!student->belief || !student->belief->adjoint || !teacher->belief)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' cannot learn from '%s': one of them does not decide by a belief, or has "
                    "no derivative",
                    student->name, teacher->name);
  l->taught = idm_new(idm_times(n.states, n.actions), sizeof *l->taught);
  l->numbers = idm_new(n.states + n.actions * (2 + problem->theta->models), sizeof *l->numbers);
  if (!l->taught || !l->numbers) return idm_fail_memory(opt_error);
  idm_status status = teach(teacher, problem, l, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &l->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &l->slope, opt_error);
  if (status == IDM_OK)
    status =
        idm_workspace_create(problem->setting, l->theta, &problem->agent, &l->student, opt_error);
  if (status == IDM_OK)
    status = student->belief->adjoint->create(l->student->content, &l->adjoint, opt_error);
  return status;
}

/* Sum over states of KL(teacher || student) at the lesson's theta, and with `differentiate` minus
 * its slope. */
static idm_status lesson_run(lesson *l, bool differentiate, double *divergence,
                             idm_error *opt_error)
{
  const idm_planner *student = l->student->planner;
  const idm_sizes n = l->theta->sizes;
  double *z = l->numbers, *decision = z + n.states, *log_decision = decision + n.actions;
  idm_status status = idm_plan(l->theta, NULL, l->student, NULL, opt_error);
  if (status != IDM_OK) return status;
  *divergence = l->constant;
  if (differentiate) student->belief->adjoint->begin(l->adjoint);
  for (size_t s = 0; s < n.states; s++) {
    const double *taught = l->taught + s * n.actions;
    for (size_t i = 0; i < n.states; i++) z[i] = i == s;
    student->belief->log_policy(l->student->content, 0, 0, z, log_decision, l->student->scratch);
    for (size_t u = 0; u < n.actions; u++) {
      if (taught[u] > 0) *divergence -= taught[u] * log_decision[u];
      decision[u] = exp(log_decision[u]);
    }
    const idm_policy_slope point = {.belief = z,
                                    .decision = decision,
                                    .log_decision_slope = taught,
                                    .specification_slope = log_decision + n.actions};
    if (differentiate) student->belief->adjoint->point(l->adjoint, &point);
  }
  if (!differentiate) return IDM_OK;
  idm_theta_clear(l->slope);
  return student->belief->adjoint->finish(l->adjoint, l->slope, opt_error);
}

/* --- all of them ---------------------------------------------------------------------------- */

typedef struct school {
  size_t lessons;
  lesson *lesson;
  idm_parameters *parameters; /* NULL: nothing is learnt */
} school;

static void school_close(school *s)
{
  for (size_t i = 0; s->lesson && i < s->lessons; i++) lesson_close(&s->lesson[i]);
  free(s->lesson);
  idm_parameters_destroy(s->parameters);
}

static idm_status school_open(const idm_planner *teacher, idm_problem *const *problem, size_t count,
                              school *s, idm_error *opt_error)
{
  *s = (school){.lesson = idm_new(count, sizeof *s->lesson)};
  if (!s->lesson) return idm_fail_memory(opt_error);
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no problem to learn from");
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (idm_theta_unlike(problem[i]->theta, problem[0]->theta))
      return idm_fail(opt_error, IDM_INPUT, "problem %zu is of another form than the first", i + 1);
    s->lessons = i + 1;
    status = lesson_open(teacher, problem[i], &s->lesson[i], opt_error);
  }
  return status;
}

/* Minus the mean divergence, as a density to climb. */
static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  school *s = context;
  const size_t dimension = s->parameters ? idm_parameters_dimension(s->parameters) : 0;
  const double share = 1 / ((double)s->lessons * (double)s->lesson[0].theta->sizes.states);
  idm_status status = IDM_OK;
  *log_density = 0;
  for (size_t j = 0; opt_gradient && j < dimension; j++) opt_gradient[j] = 0;
  for (size_t i = 0; i < s->lessons && status == IDM_OK; i++) {
    double divergence = 0;
    if (s->parameters) idm_parameters_set(s->parameters, y, s->lesson[i].theta);
    status = lesson_run(&s->lesson[i], opt_gradient != NULL, &divergence, opt_error);
    if (status == IDM_NUMERICAL) { /* too far out to be planned for */
      *log_density = -INFINITY;
      return IDM_OK;
    }
    *log_density -= share * divergence;
    if (status == IDM_OK && opt_gradient)
      idm_parameters_pull(s->parameters, y, s->lesson[i].slope, opt_gradient);
  }
  for (size_t j = 0; opt_gradient && j < dimension; j++) opt_gradient[j] *= share;
  return status;
}

idm_status idm_imitation_divergence(const idm_planner *teacher, idm_problem *const *problem,
                                    size_t count, double *ret_divergence, idm_error *opt_error)
{
  idm_require(teacher, problem, ret_divergence);
  school s;
  double negative = NAN;
  idm_status status = school_open(teacher, problem, count, &s, opt_error);
  if (status == IDM_OK) status = evaluate(&s, NULL, &negative, NULL, opt_error);
  *ret_divergence = -negative;
  school_close(&s);
  return status;
}

idm_status idm_imitate(const idm_planner *teacher, idm_problem *const *problem, size_t count,
                       int limit, double *ret_divergence, idm_error *opt_error)
{
  idm_require(teacher, problem, ret_divergence);
  school s;
  double *y = NULL, reached = NAN;
  idm_status status = school_open(teacher, problem, count, &s, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem[0], &s.parameters, opt_error);
  if (status == IDM_OK) {
    y = idm_new(idm_parameters_dimension(s.parameters), sizeof *y);
    status = y ? IDM_OK : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    const idm_target target = {.dimension = idm_parameters_dimension(s.parameters),
                               .gradient = true,
                               .context = &s,
                               .evaluate = evaluate};
    idm_parameters_get(s.parameters, problem[0]->theta, y);
    status = idm_maximise(&target, 0, limit, y, &reached, opt_error);
  }
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    idm_parameters_set(s.parameters, y, problem[i]->theta);
  *ret_divergence = -reached;
  free(y);
  school_close(&s);
  return status;
}
