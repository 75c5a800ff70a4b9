/* Imitation: minimises the mean KL divergence between a teacher's and a student's policies over
 * states by L-BFGS. */
#include "invert/project.h"

#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/parameters.h"
#include "infer/approximation.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* --- one problem ---------------------------------------------------------------------------- */

/* The teacher's policy in one problem, and the student's workspace. */
typedef struct imitation_problem {
  double *teacher_policy; /* [state][action] */
  double *scratch;        /* [state + action + action + action * model] */
  double constant;        /* sum over states of the teacher's -entropy */
  idm_theta *theta;       /* the student's */
  idm_theta *gradient;
  idm_workspace *student;
  void *adjoint;
} imitation_problem;

static void imitation_problem_close(imitation_problem *l)
{
  if (l->adjoint) idm_workspace_planner(l->student)->belief->adjoint->destroy(l->adjoint);
  idm_workspace_destroy(l->student);
  idm_theta_destroy(l->theta);
  idm_theta_destroy(l->gradient);
  free(l->teacher_policy);
  free(l->scratch);
}

/* Computes the teacher's policy in every state. */
static idm_status evaluate_teacher(const idm_planner *teacher, const idm_problem *problem,
                                   imitation_problem *l, idm_error *opt_error)
{
  const idm_sizes n = problem->theta->sizes;
  idm_agent_options agent = problem->agent;
  idm_theta *theta = NULL;
  idm_workspace *workspace = NULL;
  agent.planner = teacher;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_theta_set_own_blocks(theta, teacher->own, teacher->own_count, opt_error);
  if (status == IDM_OK) status = idm_planner_shape(teacher, &agent, theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(theta, NULL, workspace, NULL, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    double *p = l->teacher_policy + s * n.actions;
    for (size_t i = 0; i < n.states; i++) l->scratch[i] = i == s;
    idm_plan_policy(workspace, 0, l->scratch, p, NULL);
    for (size_t u = 0; u < n.actions; u++) l->constant += p[u] > 0 ? p[u] * log(p[u]) : 0;
  }
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

static idm_status imitation_problem_open(const idm_planner *teacher, const idm_problem *problem,
                                         imitation_problem *l, idm_error *opt_error)
{
  const idm_sizes n = problem->theta->sizes;
  const idm_planner *student = idm_agent_planner(&problem->agent);
  *l = (imitation_problem){0};
  if (!problem->setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT, "imitation needs a fully observed problem");
  if (!student->belief || !student->belief->adjoint || !teacher->belief)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' cannot learn from '%s': one of them does not decide by a belief, or has "
                    "no derivative",
                    student->name, teacher->name);
  l->teacher_policy = idm_new(idm_times(n.states, n.actions), sizeof *l->teacher_policy);
  l->scratch = idm_new(n.states + n.actions * (2 + problem->theta->models), sizeof *l->scratch);
  if (!l->teacher_policy || !l->scratch) return idm_fail_memory(opt_error);
  idm_status status = evaluate_teacher(teacher, problem, l, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &l->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &l->gradient, opt_error);
  if (status == IDM_OK)
    status =
        idm_workspace_create(problem->setting, l->theta, &problem->agent, &l->student, opt_error);
  if (status == IDM_OK)
    status = student->belief->adjoint->create(l->student->content, &l->adjoint, opt_error);
  return status;
}

/* Sum over states of KL(teacher || student) at the student's theta; with `differentiate` also minus
 * its gradient. */
static idm_status divergence_of(imitation_problem *l, bool differentiate, double *divergence,
                                idm_error *opt_error)
{
  const idm_planner *student = l->student->planner;
  const idm_sizes n = l->theta->sizes;
  double *z = l->scratch, *decision = z + n.states, *log_decision = decision + n.actions;
  idm_status status = idm_plan(l->theta, NULL, l->student, NULL, opt_error);
  if (status != IDM_OK) return status;
  *divergence = l->constant;
  if (differentiate) student->belief->adjoint->begin(l->adjoint);
  for (size_t s = 0; s < n.states; s++) {
    const double *teacher_policy = l->teacher_policy + s * n.actions;
    for (size_t i = 0; i < n.states; i++) z[i] = i == s;
    student->belief->log_policy(l->student->content, 0, 0, z, log_decision, l->student->scratch);
    for (size_t u = 0; u < n.actions; u++) {
      if (teacher_policy[u] > 0) *divergence -= teacher_policy[u] * log_decision[u];
      decision[u] = exp(log_decision[u]);
    }
    const idm_policy_adjoint point = {.belief = z,
                                      .decision = decision,
                                      .log_decision_gradient = teacher_policy,
                                      .specification_gradient = log_decision + n.actions};
    if (differentiate) student->belief->adjoint->point(l->adjoint, &point);
  }
  if (!differentiate) return IDM_OK;
  idm_theta_clear(l->gradient);
  return student->belief->adjoint->finish(l->adjoint, l->gradient, opt_error);
}

/* --- all of them ---------------------------------------------------------------------------- */

typedef struct imitation {
  size_t problems;
  imitation_problem *imitation_problem;
  idm_parameters *parameters; /* NULL: no parameters are fitted */
} imitation;

static void imitation_close(imitation *s)
{
  for (size_t i = 0; s->imitation_problem && i < s->problems; i++)
    imitation_problem_close(&s->imitation_problem[i]);
  free(s->imitation_problem);
  idm_parameters_destroy(s->parameters);
}

static idm_status imitation_open(const idm_planner *teacher, idm_problem *const *problem,
                                 size_t count, imitation *s, idm_error *opt_error)
{
  *s = (imitation){.imitation_problem = idm_new(count, sizeof *s->imitation_problem)};
  if (!s->imitation_problem) return idm_fail_memory(opt_error);
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no problem to learn from");
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (idm_theta_form_mismatch(problem[i]->theta, problem[0]->theta))
      return idm_fail(opt_error, IDM_INPUT, "problem %zu is of another form than the first", i + 1);
    s->problems = i + 1;
    status = imitation_problem_open(teacher, problem[i], &s->imitation_problem[i], opt_error);
  }
  return status;
}

/* Minus the mean divergence, as a log density to maximise. */
static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  imitation *s = context;
  const size_t dimension = s->parameters ? idm_parameters_dimension(s->parameters) : 0;
  const double mean_weight =
      1 / ((double)s->problems * (double)s->imitation_problem[0].theta->sizes.states);
  idm_status status = IDM_OK;
  *log_density = 0;
  for (size_t j = 0; opt_gradient && j < dimension; j++) opt_gradient[j] = 0;
  for (size_t i = 0; i < s->problems && status == IDM_OK; i++) {
    double divergence = 0;
    if (s->parameters) idm_parameters_set(s->parameters, y, s->imitation_problem[i].theta);
    status = divergence_of(&s->imitation_problem[i], opt_gradient != NULL, &divergence, opt_error);
    if (status == IDM_NUMERICAL) { /* too extreme to be planned for */
      *log_density = -INFINITY;
      return IDM_OK;
    }
    *log_density -= mean_weight * divergence;
    if (status == IDM_OK && opt_gradient)
      idm_parameters_backward(s->parameters, y, s->imitation_problem[i].gradient, opt_gradient);
  }
  for (size_t j = 0; opt_gradient && j < dimension; j++) opt_gradient[j] *= mean_weight;
  return status;
}

idm_status idm_imitation_divergence(const idm_planner *teacher, idm_problem *const *problem,
                                    size_t count, double *ret_divergence, idm_error *opt_error)
{
  idm_require(teacher, problem, ret_divergence);
  imitation s;
  double log_density = NAN;
  idm_status status = imitation_open(teacher, problem, count, &s, opt_error);
  if (status == IDM_OK) status = evaluate(&s, NULL, &log_density, NULL, opt_error);
  *ret_divergence = -log_density;
  imitation_close(&s);
  return status;
}

idm_status idm_imitate(const idm_planner *teacher, idm_problem *const *problem, size_t count,
                       int limit, double *ret_divergence, idm_error *opt_error)
{
  idm_require(teacher, problem, ret_divergence);
  imitation s;
  double *y = NULL, maximum = NAN;
  idm_status status = imitation_open(teacher, problem, count, &s, opt_error);
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
    status = idm_maximise(&target, 0, limit, y, &maximum, opt_error);
  }
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    idm_parameters_set(s.parameters, y, problem[i]->theta);
  *ret_divergence = -maximum;
  free(y);
  imitation_close(&s);
  return status;
}
