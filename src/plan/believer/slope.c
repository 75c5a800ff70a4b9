/* Log-likelihood of a belief agent and its derivative, in reverse mode over the tree of histories
 * (docs/method/likelihood.md, 7).
 *
 * Contents: state · availability · creation · forward · backward · run */
#include <math.h>

#include "base/memory.h"
#include "base/system.h"
#include "base/vector.h"
#include "plan/believer/believer.h"
#include "plan/choice.h"
#include "plan/plan.h"

/* --- state ----------------------------------------------------------------------------------- */

/* Known beliefs are stored in slots: one per root, and one per row that other rows follow. */
static const uint32_t no_slot = UINT32_MAX;
/* Slot value of a node at which several beliefs are possible. */
static const uint32_t MULTIPLE_BELIEFS = UINT32_MAX - 1;

/* Consecutive rows that leave several beliefs possible: below a slot, or below an uncertain start.
 */
typedef struct subtree {
  size_t first;
  size_t end;
  uint32_t slot; /* no_slot: at an uncertain start */
  uint32_t depth;
  uint32_t variant;
  const double *start;
} subtree;

/* A known belief of the tree. */
typedef struct belief_slot {
  uint32_t variant;
  int steps;
  int last;            /* previous response; IDM_MISSING at a root */
  const double *start; /* of a root; NULL elsewhere */
} belief_slot;

typedef struct gradient {
  const idm_data *data;
  const belief_agent *b;
  void *adjoint;
  idm_sizes sizes;
  size_t models;
  size_t rows;
  gradient_row *row; /* [rows], in the order of the tree; roots are not rows */
  size_t subtrees;
  subtree *subtree;  /* [subtrees], in the order of the tree */
  gradient_set *set; /* NULL without subtrees */
  double *known;     /* [slot][state]: the environment's belief; NULL without subtrees */
  size_t slots;
  belief_slot *slot;              /* [slots], in the order of the tree */
  double *belief;                 /* [slot][state] */
  double *belief_gradient;        /* [slot][state] */
  double *decision;               /* [slot][action] */
  double *log_decision_gradient;  /* [slot][action] */
  double *specification;          /* [slot][action][model] */
  double *specification_gradient; /* [slot][action][model] */
  double
      *sigma_sum; /* [slot]: sum of sigma over the models under which the observation is possible */
  double *chosen; /* [row]: probability of the action among the open actions */
  double *log_chosen;               /* [action] */
  choice_bias_gradient choice_bias; /* derivatives with respect to perseverance and lapse */
  idm_theta *opt_dynamics; /* receives derivatives with respect to the parameters of the belief
                              update; NULL: not required */
  double *filter;          /* scratch of these derivatives */
  bool last_unrecorded;    /* some row that others follow has no recorded action */
  double *joint;           /* [state] */
  double *mean;            /* [state]: belief after a leaf */
  double *scratch;         /* of the planner */
  bool checked;            /* final observations were checked to be possible */
  idm_interruption interruption;
} gradient;

/* --- availability ---------------------------------------------------------------------------- */

static const double *start_of(const idm_data *data, const idm_setting *setting, int32_t start)
{
  return start < 0 ? setting->start : data->start_belief + (size_t)start * data->sizes.states;
}

/* Whether a start leaves one belief possible: in an MDP, only if it is certain of a state. */
static bool known_start(const idm_setting *setting, const double *start, size_t states)
{
  size_t support = 0;
  for (size_t s = 0; s < states; s++) support += start[s] > 0;
  return !setting->fully_observed || support == 1;
}

/* Whether a row at a known belief leaves several beliefs possible after it; for a leaf, whether its
 * observation contributes evidence. */
static bool leaves_unknown(const belief_agent *b, const idm_prefix_node *node)
{
  const bool recorded = node->action != IDM_MISSING && node->observation != IDM_MISSING;
  if (node->leaf) return node->action == IDM_MISSING && node->observation != IDM_MISSING;
  return !recorded || b->recognition != IDM_RECOGNITION_MEAN;
}

static bool possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)data;
  (void)tree;
  const belief_agent *b = content;
  return b->differentiable;
}

/* --- creation -------------------------------------------------------------------------------- */

static void destroy(void *content)
{
  gradient *g = content;
  if (!g) return;
  if (g->adjoint) g->b->planner->belief->adjoint->destroy(g->adjoint);
  idm_gradient_set_destroy(g->set);
  void *const owned[] = {g->row,           g->slot,
                         g->subtree,       g->known,
                         g->belief,        g->belief_gradient,
                         g->decision,      g->log_decision_gradient,
                         g->specification, g->specification_gradient,
                         g->chosen,        g->log_chosen,
                         g->joint,         g->mean,
                         g->sigma_sum,     g->scratch,
                         g->filter};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(g);
}

static gradient_row row_of(const idm_data *data, const idm_prefix_node *node, uint32_t before,
                           uint32_t after)
{
  const bool decided =
      node->action != IDM_MISSING && idm_data_available_count(data, node->available) > 1;
  return (gradient_row){
      .before = before < MULTIPLE_BELIEFS ? before : no_slot,
      .after = after < MULTIPLE_BELIEFS ? after : no_slot,
      .depth = node->depth,
      .first_row = node->first_row,
      .action = node->action,
      .observation = node->observation,
      .missed = node->missed,
      .leaf = node->leaf,
      .last = node->last,
      .open = node->available ? data->available_set + node->available * data->sizes.actions : NULL,
      .count = (double)node->count,
      .decided = decided ? (double)node->count : 0};
}

/* Adds a root: a slot, or a subtree if its start is uncertain. Returns its slot or
 * MULTIPLE_BELIEFS. */
static uint32_t add_root(gradient *g, const idm_prefix_tree *tree, const idm_prefix_node *node)
{
  const uint32_t variant = tree->begin_variant[node->begin];
  const double *start = start_of(g->data, g->b->setting, tree->begin_start[node->begin]);
  if (known_start(g->b->setting, start, g->sizes.states)) {
    g->slot[g->slots] = (belief_slot){.variant = variant, .last = IDM_MISSING, .start = start};
    return (uint32_t)g->slots++;
  }
  g->subtree[g->subtrees++] = (subtree){.first = g->rows,
                                        .end = g->rows,
                                        .slot = no_slot,
                                        .depth = node->depth,
                                        .variant = variant,
                                        .start = start};
  return MULTIPLE_BELIEFS;
}

/* Adds a row. Returns its slot, no_slot for a leaf, or MULTIPLE_BELIEFS. */
static uint32_t add_row(gradient *g, const idm_prefix_node *node, uint32_t before)
{
  if (before != MULTIPLE_BELIEFS && leaves_unknown(g->b, node))
    g->subtree[g->subtrees++] =
        (subtree){.first = g->rows, .end = g->rows, .slot = before, .depth = node->depth - 1};
  if (before == MULTIPLE_BELIEFS || leaves_unknown(g->b, node)) {
    g->subtree[g->subtrees - 1].end++;
    return MULTIPLE_BELIEFS;
  }
  if (node->leaf) return no_slot;
  g->slot[g->slots] = (belief_slot){.variant = g->slot[before].variant,
                                    .steps = g->slot[before].steps + 1,
                                    .last = node->missed ? g->slot[before].last : node->action};
  return (uint32_t)g->slots++;
}

/* Fills rows, slots and subtrees in the order of the tree; at[node] receives the slot of a node. */
static void fill_slots(gradient *g, const idm_prefix_tree *tree, uint32_t *at)
{
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->begin >= 0) {
      at[i] = add_root(g, tree, node);
      continue;
    }
    const uint32_t before = at[node->parent];
    if (node->action == IDM_MISSING && !node->leaf) g->last_unrecorded = true;
    at[i] = add_row(g, node, before);
    g->row[g->rows++] = row_of(g->data, node, before, at[i]);
  }
}

static bool build_layout(gradient *g, const idm_prefix_tree *tree)
{
  uint32_t *at = idm_new(tree->nodes, sizeof *at);
  g->row = idm_new(tree->nodes, sizeof *g->row);
  g->slot = idm_new(tree->nodes, sizeof *g->slot);
  g->subtree = idm_new(tree->nodes, sizeof *g->subtree);
  const bool allocated = at && g->row && g->slot && g->subtree;
  if (allocated) fill_slots(g, tree, at);
  free(at);
  return allocated;
}

static bool allocate(gradient *g)
{
  const size_t states = g->sizes.states;
  const size_t actions = g->sizes.actions;
  g->belief = idm_new(idm_times(g->slots, states), sizeof(double));
  g->belief_gradient = idm_new(idm_times(g->slots, states), sizeof(double));
  g->decision = idm_new(idm_times(g->slots, actions), sizeof(double));
  g->log_decision_gradient = idm_new(idm_times(g->slots, actions), sizeof(double));
  g->specification = idm_new(idm_times(idm_times(g->slots, actions), g->models), sizeof(double));
  g->specification_gradient =
      idm_new(idm_times(idm_times(g->slots, actions), g->models), sizeof(double));
  g->sigma_sum = idm_new(g->slots, sizeof(double));
  g->chosen = idm_new(g->rows, sizeof(double));
  g->log_chosen = idm_new(actions, sizeof(double));
  g->joint = idm_new(states, sizeof(double));
  g->mean = idm_new(states, sizeof(double));
  g->filter = idm_new(idm_filter_backward_scratch(states), sizeof(double));
  g->scratch = idm_new(g->b->planner->belief->scratch(g->b->content), sizeof(double));
  return g->belief && g->belief_gradient && g->decision && g->log_decision_gradient &&
         g->specification && g->specification_gradient && g->sigma_sum && g->chosen &&
         g->log_chosen && g->joint && g->mean && g->filter && g->scratch;
}

static idm_event event_of(const gradient_row *r)
{
  return (idm_event){
      .action = r->action, .observation = r->observation, .missed = r->missed, .last = r->last};
}

/* Allocates what subtrees require: hypotheses, and the environment's belief at every slot. */
static idm_status prepare_subtrees(gradient *g, idm_error *opt_error)
{
  const size_t k = g->sizes.states;
  if (!g->subtrees) return IDM_OK;
  g->known = idm_new(idm_times(g->slots, k), sizeof *g->known);
  if (!g->known) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->slots; i++)
    if (g->slot[i].start) memcpy(g->known + i * k, g->slot[i].start, k * sizeof *g->known);
  for (size_t i = 0; i < g->rows; i++) {
    const gradient_row *r = &g->row[i];
    const idm_event event = event_of(r);
    if (r->after != no_slot)
      idm_environment_update(&g->b->environment, &event, r->open, g->known + r->before * k,
                             g->known + r->after * k, g->joint);
  }
  return idm_gradient_set_create(g->b, g->adjoint, &g->set, opt_error);
}

static idm_status create(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                         void **ret_gradient, idm_error *opt_error)
{
  const belief_agent *b = content;
  *ret_gradient = NULL;
  for (size_t i = 0; i < tree->begins; i++)
    if (tree->begin_variant[i] >= idm_theta_variants(b->theta))
      return idm_fail(
          opt_error, IDM_USAGE,
          "variant %u was not planned for: bind the utilities before making a workspace",
          tree->begin_variant[i]);
  gradient *g = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  g->data = data;
  g->b = b;
  g->sizes = b->theta->sizes;
  g->models = b->theta->models;
  idm_status status = build_layout(g, tree) && allocate(g) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = b->planner->belief->adjoint->create(b->content, &g->adjoint, opt_error);
  if (status == IDM_OK) status = prepare_subtrees(g, opt_error);
  if (status != IDM_OK) {
    destroy(g);
    return status;
  }
  *ret_gradient = g;
  return IDM_OK;
}

/* --- forward -------------------------------------------------------------------------------- */

static recognition recognition_of(const gradient *g, const gradient_row *r)
{
  const size_t u = (size_t)r->action;
  return (recognition){.setting = g->b->setting,
                       .theta = g->b->theta,
                       .z = g->belief + r->before * g->sizes.states,
                       .sigma = g->specification + (r->before * g->sizes.actions + u) * g->models,
                       .action = u,
                       .observation = (size_t)r->observation};
}

/* Computes the policies at a slot whose belief is known. */
static void evaluate_policy(gradient *g, size_t at)
{
  const belief_agent *b = g->b;
  const size_t actions = g->sizes.actions;
  b->planner->belief->policy(b->content, g->slot[at].variant, g->slot[at].steps,
                             g->belief + at * g->sizes.states, g->decision + at * actions,
                             g->specification + at * actions * g->models, g->scratch);
}

/* Choice whose probability has lost precision, computed by logarithms. Adds its derivatives and
 * returns its log-probability. If the policy is 0 for every open action, the choice is uniform and
 * independent of theta. */
static double choice_by_logs(gradient *g, const gradient_row *r, choice_bias own)
{
  const belief_agent *b = g->b;
  const belief_slot *at = &g->slot[r->before];
  const size_t actions = g->sizes.actions;
  double *q = g->log_chosen;
  double open;
  b->planner->belief->log_policy(b->content, at->variant, at->steps,
                                 g->belief + r->before * g->sizes.states, q, g->scratch);
  const bool sigma_sum = idm_choice_tilt_logs(own, actions, q, r->open, at->last, q, &open);
  const double log_p = idm_choice_log_lapse(own, q[r->action], open);
  for (size_t u = 0; u < actions; u++) q[u] = exp(q[u]);
  if (sigma_sum)
    idm_choice_backward(own, actions, q, open, at->last, (size_t)r->action, r->decided,
                        g->log_decision_gradient + r->before * actions, &g->choice_bias);
  return log_p;
}

/* Choice of a row. Adds its derivatives with respect to log pi. Sets *chosen to its probability and
 * returns 0; under underflow sets *chosen to 1 and returns the log-probability. */
static double choice_forward(gradient *g, const gradient_row *r, double *chosen)
{
  const size_t actions = g->sizes.actions;
  const size_t u = (size_t)r->action;
  const int last = g->slot[r->before].last;
  const double *pi = g->decision + r->before * actions;
  double *derivative = g->log_decision_gradient + r->before * actions;
  double open;
  *chosen = 1;
  if (r->decided == 0) return 0;
  const choice_bias own = idm_choice_bias_of(g->b->theta);
  if (!r->open && !idm_choice_bias_active(own) && pi[u] > idm_min_probability) { /* p(u) = pi(u) */
    *chosen = pi[u];
    derivative[u] += r->decided;
    if (last >= 0) g->choice_bias.perseverance += r->decided * ((last == (int)u) - pi[last]);
    g->choice_bias.lapse += r->decided * (1 / ((double)actions * pi[u]) - 1);
    return 0;
  }
  if (!idm_choice_tilt(own, actions, pi, r->open, last, g->log_chosen, &open))
    return choice_by_logs(g, r, own);
  const double p = idm_choice_lapse(own, g->log_chosen[u], open);
  if (!(p > idm_min_probability)) return choice_by_logs(g, r, own);
  *chosen = p;
  idm_choice_backward(own, actions, g->log_chosen, open, last, u, r->decided, derivative,
                      &g->choice_bias);
  return 0;
}

static idm_status refuse(const gradient *g, const gradient_row *r, idm_error *opt_error)
{
  const idm_event event = event_of(r);
  const idm_status status = idm_hypotheses_unrecognised(g->b, &event, opt_error);
  idm_data_locate(g->data, r->first_row, opt_error);
  return status;
}

/* Computes the policies at the roots up to a slot. */
static void evaluate_roots(gradient *g, size_t *made, size_t slot)
{
  const size_t k = g->sizes.states;
  for (; *made <= slot; ++*made) {
    if (!g->slot[*made].start) continue;
    memcpy(g->belief + *made * k, g->slot[*made].start, k * sizeof *g->belief);
    evaluate_policy(g, *made);
  }
}

/* Forward pass of a row at a known belief. */
static idm_status row_forward(gradient *g, size_t i, double *sum, idm_error *opt_error)
{
  const gradient_row *r = &g->row[i];
  const double log_p = choice_forward(g, r, &g->chosen[i]);
  if (log_p != 0) *sum += r->decided * log_p;
  /* A final observation enters no decision, but must be possible: this is checked once. */
  const bool leaf = r->after == no_slot;
  if (leaf && (g->checked || r->observation == IDM_MISSING)) return IDM_OK;
  const recognition seen = recognition_of(g, r);
  double sigma_sum;
  idm_recognise(&seen, NULL, leaf ? g->mean : g->belief + r->after * g->sizes.states, &sigma_sum,
                g->joint);
  if (!(sigma_sum > 0)) return refuse(g, r, opt_error);
  if (leaf) return IDM_OK;
  g->sigma_sum[r->after] = sigma_sum;
  evaluate_policy(g, r->after);
  return IDM_OK;
}

/* Forward and backward pass of the rows of a subtree. */
static idm_status subtree_forward(gradient *g, const subtree *t, double *sum, idm_error *opt_error)
{
  const size_t k = g->sizes.states;
  const size_t pairs = g->sizes.actions * g->models;
  gradient_base base = {.variant = t->variant,
                        .depth = t->depth,
                        .choice_bias = &g->choice_bias,
                        .opt_dynamics = g->opt_dynamics,
                        .opt_start = t->start};
  if (t->slot != no_slot)
    base = (gradient_base){.variant = g->slot[t->slot].variant,
                           .steps = g->slot[t->slot].steps,
                           .depth = t->depth,
                           .choice_bias = &g->choice_bias,
                           .opt_dynamics = g->opt_dynamics,
                           .last = g->slot[t->slot].last,
                           .belief = g->belief + t->slot * k,
                           .known = g->known + t->slot * k,
                           .decision = g->decision + t->slot * g->sizes.actions,
                           .specification = g->specification + t->slot * pairs,
                           .belief_gradient = g->belief_gradient + t->slot * k,
                           .log_decision_gradient =
                               g->log_decision_gradient + t->slot * g->sizes.actions,
                           .specification_gradient = g->specification_gradient + t->slot * pairs};
  size_t at = 0;
  for (size_t i = t->first; i < t->end; i++) g->chosen[i] = 1;
  const idm_status status = idm_gradient_set_run(
      g->set, &base, g->row + t->first, t->end - t->first, g->checked, sum, &at, opt_error);
  if (status == IDM_INPUT && opt_error)
    opt_error->line = (long)g->data->line[g->row[t->first + at].first_row];
  return status;
}

/* Forward pass: beliefs, policies and the log-likelihood; for subtrees the backward pass too. */
static idm_status run_forward(gradient *g, double *log_likelihood, idm_error *opt_error)
{
  size_t made = 0;
  double sum = 0;
  const subtree *t = g->subtree;
  const subtree *const end = g->subtree + g->subtrees;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < g->rows && status == IDM_OK;) {
    status = idm_interruption_check(&g->interruption, i, opt_error);
    if (status != IDM_OK) break;
    const size_t slot = t < end && i == t->first ? t->slot : g->row[i].before;
    if (slot != no_slot) evaluate_roots(g, &made, slot);
    if (t < end && i == t->first) {
      status = subtree_forward(g, t, &sum, opt_error);
      i = (t++)->end;
    } else {
      status = row_forward(g, i++, &sum, opt_error);
    }
  }
  if (status != IDM_OK) return status;
  idm_vector_log(g->rows, g->chosen, g->chosen);
  for (size_t i = 0; i < g->rows; i++) sum += g->row[i].decided * g->chosen[i];
  g->checked = g->checked || sum > -INFINITY; /* else some observations were not checked */
  *log_likelihood = sum;
  return IDM_OK;
}

/* --- backward ------------------------------------------------------------------------------- */

/* Backward pass of one model's term of the recognition z' = sum_m sigma_m z_m' / total: derivatives
 * with respect to the previous belief and sigma_m. */
static void model_backward(gradient *g, const gradient_row *r, const recognition *seen, size_t m)
{
  const size_t k = g->sizes.states;
  const double total = g->sigma_sum[r->after];
  const double *slope_after = g->belief_gradient + r->after * k;
  const double *mean = g->belief + r->after * k;
  double *back = g->belief_gradient + r->before * k;
  double *sigma_gradient = g->specification_gradient + (seen->sigma - g->specification);
  const double sigma = seen->sigma[m];
  const double p = sigma > 0 ? idm_recognition_joint(seen, m, g->joint) : 0;
  if (!(p > idm_zero_probability)) return;
  double own = 0, all = 0;
  for (size_t s = 0; s < k; s++) {
    own += slope_after[s] * (g->joint[s] / p);
    all += slope_after[s] * mean[s];
  }
  sigma_gradient[m] += (own - all) / total;
  const idm_action_model env_belief = idm_recognition_model(seen, m);
  if (!env_belief.update.distorted)
    idm_filter_joint_backward(&env_belief, seen->observation, slope_after, own, sigma / (total * p),
                              back);
}

/* Backward pass of all models for two states: only the difference of the two derivatives matters.
 */
static void pair_backward(gradient *g, const gradient_row *r, const recognition *seen)
{
  const size_t observations = g->sizes.observations;
  const double *t = idm_recognition_transition(seen, 0);
  const double *e = idm_recognition_emission(seen, 0);
  const double *slope_after = g->belief_gradient + 2 * (size_t)r->after;
  double *back = g->belief_gradient + 2 * (size_t)r->before;
  double *sigma_gradient = g->specification_gradient + (seen->sigma - g->specification);
  const double difference = (slope_after[1] - slope_after[0]) / g->sigma_sum[r->after];
  const double mean = g->belief[2 * (size_t)r->after + 1];
  double first = 0, second = 0;
  for (size_t m = 0; m < g->models; m++) {
    const idm_pair_matrix pair =
        idm_pair_matrix_of(t, e, observations, g->b->setting->emits_before);
    const double a = seen->z[0] * pair.from[0][0] + seen->z[1] * pair.from[1][0];
    const double b = seen->z[0] * pair.from[0][1] + seen->z[1] * pair.from[1][1];
    const bool is_possible = a + b > idm_zero_probability;
    const double inverse = is_possible ? 1 / (a + b) : 0;
    sigma_gradient[m] += is_possible ? difference * (b * inverse - mean) : 0;
    const double factor = seen->sigma[m] * difference * inverse;
    const double low = -factor * (b * inverse);
    const double high = factor * (a * inverse);
    first += pair.from[0][0] * low + pair.from[0][1] * high;
    second += pair.from[1][0] * low + pair.from[1][1] * high;
    t += 4 * g->sizes.actions;
    e += 2 * g->sizes.actions * observations;
  }
  back[0] += first;
  back[1] += second;
}

/* Backward pass of the filter: derivatives with respect to the dynamics of the models, prior_weight
 * and evidence_weight; if the update is not Bayes' rule, also with respect to the previous belief.
 */
static void filter_backward(gradient *g, const gradient_row *r, const recognition *seen)
{
  const size_t k = g->sizes.states;
  for (size_t m = 0; m < g->models; m++) {
    const double sigma = seen->sigma[m];
    if (!(sigma > 0 && idm_recognition_joint(seen, m, g->joint) > idm_zero_probability)) continue;
    const idm_action_model env_belief = idm_recognition_model(seen, m);
    idm_filter_gradient sink = {0};
    if (g->opt_dynamics) sink = idm_recognition_gradient(seen, m, g->opt_dynamics);
    if (env_belief.update.distorted) sink.belief = g->belief_gradient + r->before * k;
    idm_filter_backward(&env_belief, seen->z, seen->observation, g->belief_gradient + r->after * k,
                        sigma / g->sigma_sum[r->after], 0, &sink, g->filter);
  }
}

/* Backward pass of the recognition after a row. */
static void row_backward(gradient *g, const gradient_row *r)
{
  /* In an MDP the belief is the observed state, whatever the models. */
  if (g->b->setting->fully_observed) return;
  const recognition seen = recognition_of(g, r);
  if (g->opt_dynamics || idm_update_of(g->b->theta).distorted) filter_backward(g, r, &seen);
  if (idm_recognition_is_pair(&seen)) {
    pair_backward(g, r, &seen);
    return;
  }
  for (size_t m = 0; m < g->models; m++) model_backward(g, r, &seen, m);
}

static void add_adjoint_point(gradient *g, size_t at)
{
  const size_t k = g->sizes.states;
  const size_t actions = g->sizes.actions;
  const double *start = g->slot[at].start;
  const bool own = start && start != g->b->setting->start; /* given by the log: not a parameter */
  const bool fixed = own || g->b->setting->fully_observed;
  const idm_policy_adjoint point = {
      .variant = g->slot[at].variant,
      .steps = g->slot[at].steps,
      .belief = g->belief + at * k,
      .decision = g->decision + at * actions,
      .log_decision_gradient = g->log_decision_gradient + at * actions,
      .specification_gradient = g->specification_gradient + at * actions * g->models,
      .opt_belief_gradient = fixed ? NULL : g->belief_gradient + at * k};
  g->b->planner->belief->adjoint->point(g->adjoint, &point);
}

/* Backward pass over the rows: when a slot is reached, all derivatives with respect to its belief
 * have been added. */
static idm_status run_backward(gradient *g, idm_error *opt_error)
{
  size_t left = g->slots;
  for (size_t i = g->rows; i-- > 0;) {
    const gradient_row *r = &g->row[i];
    const idm_status status = idm_interruption_check(&g->interruption, i, opt_error);
    if (status != IDM_OK) return status;
    if (r->after == no_slot) continue;
    while (left > r->after)
      add_adjoint_point(g, --left); /* roots in between, then the slot of the row */
    row_backward(g, r);
  }
  while (left > 0) add_adjoint_point(g, --left);
  return IDM_OK;
}

/* --- run ------------------------------------------------------------------------------------- */

static void clear_gradients(gradient *g)
{
  const size_t pairs = g->sizes.actions * g->models;
  memset(g->belief_gradient, 0, g->slots * g->sizes.states * sizeof(double));
  memset(g->log_decision_gradient, 0, g->slots * g->sizes.actions * sizeof(double));
  memset(g->specification_gradient, 0, g->slots * pairs * sizeof(double));
  g->choice_bias = (choice_bias_gradient){0};
}

/* Sets derivatives to 0 for blocks that the planner does not read, or clamps. */
static void clear_unread(const idm_planner *planner, const idm_theta *theta,
                         idm_theta *theta_gradient)
{
  for (size_t i = 0; i < theta_gradient->blocks; i++)
    if (!idm_planner_reads_free(planner, theta, i))
      memset(theta_gradient->block[i].value, 0,
             theta_gradient->block[i].size * theta_gradient->block[i].variants * sizeof(double));
}

static idm_status check_finite(const idm_theta *theta_gradient, idm_error *opt_error)
{
  for (size_t i = 0; i < theta_gradient->blocks; i++) {
    const idm_block *block = &theta_gradient->block[i];
    for (size_t j = 0; j < block->size * block->variants; j++)
      if (!isfinite(block->value[j]))
        return idm_fail(opt_error, IDM_NUMERICAL, "the derivative with respect to %s is not finite",
                        block->info->name);
  }
  return IDM_OK;
}

idm_status idm_belief_agent_finish(const belief_agent *b, void *adjoint,
                                   const choice_bias_gradient *sigma_gradient, bool tracks_last,
                                   idm_theta *theta_gradient, idm_error *opt_error)
{
  const idm_status status = b->planner->belief->adjoint->finish(adjoint, theta_gradient, opt_error);
  clear_unread(b->planner, b->theta, theta_gradient);
  if (tracks_last) theta_gradient->block[IDM_PERSEVERANCE].value[0] = sigma_gradient->perseverance;
  theta_gradient->block[IDM_LAPSE].value[0] = sigma_gradient->lapse;
  return status == IDM_OK ? check_finite(theta_gradient, opt_error) : status;
}

static idm_status run(void *content, double *log_likelihood, idm_theta *theta_gradient,
                      idm_error *opt_error)
{
  gradient *g = content;
  const idm_adjoint_ops *adjoint = g->b->planner->belief->adjoint;
  if (idm_sensor_may_limit(g->b->setting, g->b->theta))
    return idm_fail(opt_error, IDM_USAGE,
                    "sensor_capacity became finite after the gradient was created: a limited "
                    "sensor has no gradient");
  idm_theta_clear(theta_gradient);
  clear_gradients(g);
  g->opt_dynamics = idm_update_is_free(g->b->theta) ? theta_gradient : NULL;
  adjoint->begin(g->adjoint);
  idm_status status = run_forward(g, log_likelihood, opt_error);
  if (status != IDM_OK || *log_likelihood == -INFINITY) return status;
  status = run_backward(g, opt_error);
  if (status != IDM_OK) return status;
  return idm_belief_agent_finish(g->b, g->adjoint, &g->choice_bias,
                                 !g->last_unrecorded || idm_choice_bias_uses_last(g->b->theta),
                                 theta_gradient, opt_error);
}

bool idm_belief_agent_by_start(const void *derivative, double *by_start)
{
  const gradient *g = derivative;
  const size_t k = g->sizes.states;
  if (g->subtrees || g->b->setting->fully_observed) return false;
  memset(by_start, 0, k * sizeof *by_start);
  for (size_t i = 0; i < g->slots; i++)
    for (size_t s = 0; s < k && g->slot[i].start == g->b->setting->start; s++)
      by_start[s] += g->belief_gradient[i * k + s];
  return true;
}

static void interrupt(void *content, idm_interrupt opt_interrupt, void *context)
{
  ((gradient *)content)->interruption = (idm_interruption){opt_interrupt, context};
}

const idm_gradient_ops idm_belief_agent_gradient = {
    .possible = possible, .create = create, .destroy = destroy, .run = run, .interrupt = interrupt};
