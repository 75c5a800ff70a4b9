/* The planner `recurrent`: a long short-term memory maps past actions and observations to the next
 * action (docs/method/learners.md, 3).
 *
 * Contents: recurrent · tree chunks · recurrent gradient */
#include "plan/network/network.h"

#include "base/memory.h"
#include "base/system.h"
#include "idm/extension/data.h"

/* === recurrent ================================================================================ */

/* --- planner --------------------------------------------------------------------------------- */

static const idm_block_info own[] = {{.name = "network",
                                      .summary = "weights of a network, layer after layer",
                                      .opaque = true,
                                      .scales = IDM_SCALES_IDENTITY,
                                      .spread = 0.3,
                                      .form = IDM_FORM_NUMBERS,
                                      .of_agent = true}};

static lstm_layout layout_of(const idm_agent_options *agent, idm_sizes sizes)
{
  return idm_lstm_layout(sizes.actions, sizes.observations, (size_t)agent->hidden,
                         (size_t)agent->layer);
}

static size_t shape(const idm_agent_options *agent, idm_sizes sizes, size_t block,
                    double *opt_value)
{
  (void)block;
  const lstm_layout plan = layout_of(agent, sizes);
  idm_random random;
  idm_random_init(&random, agent->seed, 0);
  if (opt_value) idm_lstm_init(&plan, &random, opt_value);
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

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  if (agent->hidden < 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "the planner 'recurrent' has no memory with hidden: 0; expected at least 1");
  recurrent *r = idm_new(1, sizeof *r);
  if (!r) return idm_fail_memory(opt_error);
  r->setting = setting;
  r->net.plan = layout_of(agent, theta->sizes);
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
  idm_lstm_transpose(&r->net);
  r->choice_biases = idm_choice_bias_of(theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------- */

/* Memory of one trajectory. */
typedef struct memory {
  int last;    /* previous action; IDM_MISSING at the start */
  bool scored; /* `score` belongs to this h */
  double *h;   /* [units]; c likewise */
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
  const lstm_layout *p = &r->net.plan;
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

/* Reads an input: computes `after` from `before`. */
static void read_input(const recurrent *r, const memory *before, lstm_input input, memory *after)
{
  /* A step reads every number before it is written, so that both may be the same memory. */
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

/* Computes log q over the open actions into m->log_pi; *open receives their number. IDM_NUMERICAL
 * if a score is not finite. */
static idm_status tilt_policy(const recurrent *r, memory *m, const bool *opt_open, double *open,
                              idm_error *opt_error)
{
  const size_t actions = r->net.plan.actions;
  if (!m->scored) idm_lstm_score(&r->net, 1, m->h, m->layer, m->score);
  m->scored = true;
  for (size_t u = 0; u < actions; u++)
    if (!isfinite(m->score[u]))
      return idm_fail(
          opt_error, IDM_NUMERICAL,
          "the network gives an action a score that is not finite: its weights are too large");
  idm_choice_tilt_logs(r->choice_biases, actions, m->score, opt_open, m->last, m->log_pi, open);
  return IDM_OK;
}

static idm_status act(const void *content, void *content_memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  const recurrent *r = content;
  memory *m = content_memory;
  double open;
  const idm_status status = tilt_policy(r, m, opt_available, &open, opt_error);
  if (status != IDM_OK) return status;
  for (size_t u = 0; u < r->net.plan.actions; u++)
    probability[u] = opt_available && !opt_available[u]
                         ? 0
                         : idm_choice_lapse(r->choice_biases, exp(m->log_pi[u]), open);
  return IDM_OK;
}

static idm_status log_act(const void *content, void *content_memory, const bool *opt_available,
                          size_t action, double *log_probability, idm_error *opt_error)
{
  const recurrent *r = content;
  memory *m = content_memory;
  double open;
  const idm_status status = tilt_policy(r, m, opt_available, &open, opt_error);
  if (status != IDM_OK) return status;
  *log_probability = opt_available && !opt_available[action]
                         ? -INFINITY
                         : idm_choice_log_lapse(r->choice_biases, m->log_pi[action], open);
  return IDM_OK;
}

/* Error for an input that was not recorded. A sum over the values that the agent may have read
 * would require a memory for each, and these never merge; to read nothing would assume that the
 * agent saw nothing. */
static idm_status refuse(const char *what, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "%s, but the planner 'recurrent' reads it: expected every action and "
                  "observation; encode the absence of an observation as a label of its own among "
                  "the observations, and exclude other such trajectories by --where",
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

/* Defined at the end of this file. */
static const idm_gradient_ops gradient_operations;

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_TRAJECTORY,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .log_act = log_act,
                                          .observe = observe,
                                          .derivative = &gradient_operations};

/* --- table of operations --------------------------------------------------------------------- */

const idm_planner idm_recurrent = {
    .name = "recurrent",
    .summary = "a network with a memory that maps past actions and observations to the next action",
    .row = "Model-free POMDP learner",
    .keys = (const char *const[]){"hidden", "layer", "seed", NULL},
    .reads = (const idm_block_id[]){IDM_PERSEVERANCE, IDM_LAPSE, IDM_BLOCK_COUNT},
    .own = own,
    .own_count = 1,
    .shape = shape,
    .needs = IDM_NEEDS_ACTIONS,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .behavior = &behavior,
};

/* === tree chunks ============================================================================ */

/* Chunks of a tree of histories. */

static bool is_inner_node(const idm_prefix_node *node)
{
  return node->begin >= 0 || !node->leaf;
}

void idm_tree_chunks_destroy(tree_chunks *s)
{
  if (!s) return;
  for (size_t i = 0; i < s->count; i++) {
    free(s->tree_chunk[i].place);
    free(s->tree_chunk[i].level);
    free(s->tree_chunk[i].row);
  }
  free(s->tree_chunk);
  free(s);
}

/* End of a range that begins at node `first` and has max_chunk_nodes places, including the
 * ancestors. */
static size_t end_of(const idm_prefix_tree *tree, size_t first, size_t max_chunk_nodes)
{
  size_t node_count = tree->node[first].depth, end = first;
  for (; end < tree->nodes && node_count < max_chunk_nodes; end++)
    node_count += is_inner_node(&tree->node[end]);
  return end;
}

/* Lists the ancestors and the nodes of a range, in the order of the tree; `list` has room for the
 * depth in addition. Returns their number. */
static size_t list_nodes(const idm_prefix_tree *tree, size_t first, size_t end, uint32_t *list)
{
  const size_t above = tree->node[first].depth;
  int32_t node = tree->node[first].parent;
  for (size_t i = above; i-- > 0; node = tree->node[node].parent) list[i] = (uint32_t)node;
  for (size_t i = first; i < end; i++) list[above + i - first] = (uint32_t)i;
  return above + end - first;
}

/* Orders the nodes by depth; node_index[node] receives the place of each. */
static void order_by_depth(const idm_prefix_tree *tree, const uint32_t *list, size_t nodes,
                           size_t above, uint32_t *node_index, tree_chunk *s)
{
  for (size_t i = 0; i < nodes; i++)
    if (is_inner_node(&tree->node[list[i]])) s->level[tree->node[list[i]].depth + 1]++;
  for (size_t d = 0; d < s->levels; d++) s->level[d + 1] += s->level[d];
  for (size_t i = 0; i < nodes; i++) {
    const idm_prefix_node *node = &tree->node[list[i]];
    if (node->begin < 0 && i >= above)
      s->row[s->rows++] = (chunk_row){list[i], node_index[node->parent]};
    if (!is_inner_node(node)) continue;
    const uint32_t at = s->level[node->depth]++;
    node_index[list[i]] = at;
    s->place[at] = (chunk_node){list[i], node->begin >= 0 ? at : node_index[node->parent]};
  }
  /* The index of each level has advanced to its end. */
  for (size_t d = s->levels; d > 0; d--) s->level[d] = s->level[d - 1];
  s->level[0] = 0;
}

static bool create_chunk(const idm_prefix_tree *tree, size_t first, size_t end, uint32_t *list,
                         uint32_t *node_index, tree_chunk *s)
{
  const size_t nodes = list_nodes(tree, first, end, list);
  for (size_t i = 0; i < nodes; i++) {
    const idm_prefix_node *node = &tree->node[list[i]];
    s->node_count += is_inner_node(node);
    s->levels = node->depth + 1 > s->levels ? node->depth + 1 : s->levels;
  }
  s->place = idm_new(s->node_count, sizeof *s->place);
  s->level = idm_new(s->levels + 1, sizeof *s->level);
  s->row = idm_new(end - first, sizeof *s->row);
  if (!s->place || !s->level || !s->row) return false;
  order_by_depth(tree, list, nodes, tree->node[first].depth, node_index, s);
  return true;
}

idm_status idm_tree_chunks_create(const idm_prefix_tree *tree, size_t max_chunk_nodes,
                                  tree_chunks **ret_chunks, idm_error *opt_error)
{
  *ret_chunks = NULL;
  if (max_chunk_nodes < 2 * ((size_t)tree->depth + 1))
    max_chunk_nodes = 2 * ((size_t)tree->depth + 1);
  size_t count = 0;
  for (size_t at = 0; at < tree->nodes; at = end_of(tree, at, max_chunk_nodes)) count++;
  tree_chunks *s = idm_new(1, sizeof *s);
  uint32_t *list = idm_new(tree->nodes + tree->depth + 1, sizeof *list);
  uint32_t *node_index = idm_new(tree->nodes, sizeof *node_index);
  bool allocated = s && list && node_index;
  if (allocated) s->tree_chunk = idm_new(count, sizeof *s->tree_chunk);
  allocated = allocated && s->tree_chunk;
  for (size_t at = 0, end; allocated && at < tree->nodes; at = end) {
    end = end_of(tree, at, max_chunk_nodes);
    tree_chunk *next = &s->tree_chunk[s->count++];
    allocated = create_chunk(tree, at, end, list, node_index, next);
    if (next->node_count > s->max_nodes) s->max_nodes = next->node_count;
  }
  free(list);
  free(node_index);
  if (!allocated) {
    idm_tree_chunks_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_chunks = s;
  return IDM_OK;
}

/* === recurrent gradient ===================================================================== */

/* Log-likelihood of `recurrent` and its derivative, in reverse mode over the tree of histories
 * (docs/method/likelihood.md, 7). Memories of the same depth are processed together, by one product
 * of matrices. Histories that several trajectories share are processed once. */

/* Maximum bytes of a chunk, and memories per matrix product: data between two products stays in the
 * cache. */
enum { chunk_bytes = 64 << 20, slice = 128 };

typedef struct derivative {
  const recurrent *r;
  const idm_data *data;
  const idm_prefix_tree *tree;
  tree_chunks *tree_chunks;
  lstm_input *input; /* [place of the largest chunk], as are all below */
  double *h;         /* [place][units] */
  double *c;
  double *gates; /* [place][4 units] */
  double *layer; /* [place][layer] */
  double *score; /* [place][action] */
  double *by_score;
  double *by_h;
  double *by_c;
  double *before;     /* [4][slice][units]: h and c before a step, and their derivatives */
  double *by_layer;   /* [slice][layer] */
  double *by_weights; /* [count] */
  double *log_pi;     /* [action] */
  double *by_log;     /* [action] */
  choice_bias_gradient choice_bias;
  double log_likelihood;
  idm_interruption interruption;
} derivative;

/* --- creation -------------------------------------------------------------------------------- */

static bool possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)content;
  (void)data;
  for (size_t i = 0; i < tree->nodes; i++)
    if (tree->node[i].begin < 0 && !tree->node[i].leaf &&
        (tree->node[i].action == IDM_MISSING || tree->node[i].observation == IDM_MISSING))
      return false;
  return true;
}

static void destroy_gradient(void *content)
{
  derivative *g = content;
  if (!g) return;
  idm_tree_chunks_destroy(g->tree_chunks);
  void *const owned[] = {g->input,    g->h,          g->c,      g->gates, g->layer,
                         g->score,    g->by_score,   g->by_h,   g->by_c,  g->before,
                         g->by_layer, g->by_weights, g->log_pi, g->by_log};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(g);
}

/* Numbers per place. */
static size_t width_of(const lstm_layout *p)
{
  return 8 * p->units + p->layer + 2 * p->actions;
}

static idm_status create_gradient(const void *content, const idm_data *data,
                                  const idm_prefix_tree *tree, void **ret_gradient,
                                  idm_error *opt_error)
{
  const recurrent *r = content;
  const lstm_layout *p = &r->net.plan;
  *ret_gradient = NULL;
  derivative *g = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  *g = (derivative){.r = r, .data = data, .tree = tree};
  const idm_status status = idm_tree_chunks_create(
      tree, chunk_bytes / (width_of(p) * sizeof(double)), &g->tree_chunks, opt_error);
  if (status != IDM_OK) {
    destroy_gradient(g);
    return status;
  }
  const size_t node_count = g->tree_chunks->max_nodes;
  const struct {
    double **array;
    size_t count;
  } parts[] = {{&g->h, node_count * p->units},
               {&g->c, node_count * p->units},
               {&g->gates, node_count * 4 * p->units},
               {&g->layer, node_count * p->layer},
               {&g->score, node_count * p->actions},
               {&g->by_score, node_count * p->actions},
               {&g->by_h, node_count * p->units},
               {&g->by_c, node_count * p->units},
               {&g->before, (size_t)4 * slice * p->units},
               {&g->by_layer, slice * p->layer},
               {&g->by_weights, p->count},
               {&g->log_pi, p->actions},
               {&g->by_log, p->actions}};
  g->input = idm_new(node_count, sizeof *g->input);
  bool allocated = g->input;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    *parts[i].array = idm_new(parts[i].count, sizeof(double));
    allocated = allocated && *parts[i].array;
  }
  if (!allocated) {
    destroy_gradient(g);
    return idm_fail_memory(opt_error);
  }
  *ret_gradient = g;
  return IDM_OK;
}

/* --- forward --------------------------------------------------------------------------------- */

static lstm_input input_of(const derivative *g, const idm_prefix_node *node)
{
  if (node->begin < 0) return (lstm_input){node->action, node->observation};
  const int32_t start = g->tree->begin_start[node->begin];
  return idm_recurrent_begin(
      g->r, start < 0 ? NULL : g->data->start_belief + (size_t)start * g->data->sizes.states);
}

/* Part k of `before`. */
static double *scratch_part(const derivative *g, size_t k)
{
  return g->before + k * slice * g->r->net.plan.units;
}

/* Copies h and c before the step to each of n places. */
static void load_previous(const derivative *g, const tree_chunk *s, size_t first, size_t n)
{
  const size_t units = g->r->net.plan.units;
  for (size_t i = 0; i < n; i++) {
    const size_t before = s->place[first + i].before;
    double *h = scratch_part(g, 0) + i * units, *c = scratch_part(g, 1) + i * units;
    if (before == first + i) {
      memset(h, 0, units * sizeof *h);
      memset(c, 0, units * sizeof *c);
      continue;
    }
    memcpy(h, g->h + before * units, units * sizeof *h);
    memcpy(c, g->c + before * units, units * sizeof *c);
  }
}

static void slice_forward(derivative *g, const tree_chunk *s, size_t first, size_t n)
{
  const lstm_layout *p = &g->r->net.plan;
  for (size_t i = first; i < first + n; i++)
    g->input[i] = input_of(g, &g->tree->node[s->place[i].node]);
  load_previous(g, s, first, n);
  idm_lstm_step(&g->r->net, n, g->input + first, scratch_part(g, 0), scratch_part(g, 1),
                g->gates + first * 4 * p->units, g->c + first * p->units, g->h + first * p->units);
  idm_lstm_score(&g->r->net, n, g->h + first * p->units, g->layer + first * p->layer,
                 g->score + first * p->actions);
}

/* Previous response at a row; missed responses are skipped. */
static int last_response(const derivative *g, const chunk_row *row)
{
  const idm_prefix_node *at = &g->tree->node[g->tree->node[row->node].parent];
  if (!at->missed) return g->input[row->place].action;
  while (at->missed) at = &g->tree->node[at->parent];
  return at->action; /* IDM_MISSING at the beginning of a trajectory */
}

/* Choice of a row, with weight `count`: adds its log-probability, and the derivatives with respect
 * to the scores. */
static void choice_gradient(derivative *g, const chunk_row *row)
{
  const size_t n = g->r->net.plan.actions;
  const idm_prefix_node *node = &g->tree->node[row->node];
  const bool *open = node->available ? g->data->available_set + node->available * n : NULL;
  const int last = last_response(g, row);
  const double count = (double)node->count;
  const size_t u = (size_t)node->action;
  double available_count;
  if (node->action == IDM_MISSING || idm_data_available_count(g->data, node->available) < 2) return;
  idm_choice_tilt_logs(g->r->choice_biases, n, g->score + row->place * n, open, last, g->log_pi,
                       &available_count);
  g->log_likelihood +=
      count * idm_choice_log_lapse(g->r->choice_biases, g->log_pi[u], available_count);
  for (size_t v = 0; v < n; v++) g->log_pi[v] = exp(g->log_pi[v]);
  idm_choice_backward(g->r->choice_biases, n, g->log_pi, available_count, last, u, count,
                      g->by_score + row->place * n, &g->choice_bias);
}

/* --- backward -------------------------------------------------------------------------------- */

static void slice_backward(derivative *g, const tree_chunk *s, size_t first, size_t n)
{
  const lstm_layout *p = &g->r->net.plan;
  const size_t units = p->units;
  double *by_h = scratch_part(g, 2), *by_c = scratch_part(g, 3);
  idm_lstm_score_backward(&g->r->net, n, g->h + first * units, g->layer + first * p->layer,
                          g->by_score + first * p->actions, g->by_layer, g->by_weights,
                          g->by_h + first * units);
  load_previous(g, s, first, n);
  idm_lstm_step_backward(&g->r->net, n, g->input + first, scratch_part(g, 0), scratch_part(g, 1),
                         g->c + first * units, g->gates + first * 4 * units,
                         g->by_h + first * units, g->by_c + first * units, g->by_weights, by_h,
                         by_c);
  for (size_t i = 0; i < n; i++) {
    const size_t before = s->place[first + i].before;
    if (before == first + i) continue;
    for (size_t k = 0; k < units; k++) {
      g->by_h[before * units + k] += by_h[i * units + k];
      g->by_c[before * units + k] += by_c[i * units + k];
    }
  }
}

/* --- run ------------------------------------------------------------------------------------- */

/* Processes the slices level by level, from the first level or, if `back`, from the last. */
static idm_status sweep(derivative *g, const tree_chunk *s, bool back, idm_error *opt_error)
{
  for (size_t k = 0; k < s->levels; k++) {
    const size_t d = back ? s->levels - 1 - k : k;
    for (size_t first = s->level[d]; first < s->level[d + 1]; first += slice) {
      const size_t left = s->level[d + 1] - first;
      const idm_status status = idm_interruption_check(&g->interruption, 0, opt_error);
      if (status != IDM_OK) return status;
      (back ? slice_backward : slice_forward)(g, s, first, left < slice ? left : slice);
    }
  }
  return IDM_OK;
}

static idm_status run_chunk(derivative *g, const tree_chunk *s, idm_error *opt_error)
{
  const lstm_layout *p = &g->r->net.plan;
  memset(g->by_score, 0, s->node_count * p->actions * sizeof *g->by_score);
  memset(g->by_h, 0, s->node_count * p->units * sizeof *g->by_h);
  memset(g->by_c, 0, s->node_count * p->units * sizeof *g->by_c);
  const idm_status status = sweep(g, s, false, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < s->rows; i++) choice_gradient(g, &s->row[i]);
  return sweep(g, s, true, opt_error);
}

static idm_status check_finite(const derivative *g, idm_error *opt_error)
{
  bool finite = isfinite(g->log_likelihood);
  for (size_t i = 0; i < g->r->net.plan.count && finite; i++) finite = isfinite(g->by_weights[i]);
  if (finite) return IDM_OK;
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the log-likelihood of the network, or its derivative, is not finite: its "
                  "weights are too large; give them a narrower prior or another seed");
}

static idm_status run(void *content, double *log_likelihood, idm_theta *theta_gradient,
                      idm_error *opt_error)
{
  derivative *g = content;
  const size_t count = g->r->net.plan.count;
  idm_theta_clear(theta_gradient);
  memset(g->by_weights, 0, count * sizeof *g->by_weights);
  g->choice_bias = (choice_bias_gradient){0};
  g->log_likelihood = 0;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < g->tree_chunks->count && status == IDM_OK; i++)
    status = run_chunk(g, &g->tree_chunks->tree_chunk[i], opt_error);
  if (status != IDM_OK) return status;
  *log_likelihood = g->log_likelihood;
  if (g->log_likelihood == -INFINITY) return IDM_OK;
  status = check_finite(g, opt_error);
  if (status != IDM_OK) return status;
  memcpy(theta_gradient->block[IDM_BLOCK_COUNT].value, g->by_weights,
         count * sizeof *g->by_weights);
  theta_gradient->block[IDM_PERSEVERANCE].value[0] = g->choice_bias.perseverance;
  theta_gradient->block[IDM_LAPSE].value[0] = g->choice_bias.lapse;
  return IDM_OK;
}

static void interrupt(void *content, idm_interrupt opt_interrupt, void *context)
{
  ((derivative *)content)->interruption = (idm_interruption){opt_interrupt, context};
}

static const idm_gradient_ops gradient_operations = {.possible = possible,
                                                     .create = create_gradient,
                                                     .destroy = destroy_gradient,
                                                     .run = run,
                                                     .interrupt = interrupt};
