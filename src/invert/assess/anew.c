/* What the agent would do if its memory began anew in every trajectory: see the header. */
#include "invert/assess/anew.h"

#include "base/memory.h"
#include "invert/assess/view.h"

/* Strata whose trajectories are of an agent each. */
typedef struct anew {
  strata strata;          /* its arrays are `one` here, and otherwise those of the residual */
  idm_data *data;         /* [stratum]: shallow copies, */
  uint32_t *agent;        /* [trajectory]: with these agents */
  idm_prefix_tree **tree; /* [stratum] */
} anew;

static void close_anew(anew *a)
{
  for (size_t c = 0; a->tree && c < a->strata.count; c++) idm_prefix_tree_destroy(a->tree[c]);
  free(a->strata.one);
  free(a->data);
  free(a->agent);
  free(a->tree);
}

static idm_status open_anew(anew *a, const strata *s, idm_error *opt_error)
{
  size_t longest = 0;
  for (size_t c = 0; c < s->count; c++)
    if (s->one[c].data->trajectories > longest) longest = s->one[c].data->trajectories;
  a->strata = *s;
  a->strata.nodes = 0;
  a->strata.one = idm_duplicate(s->one, s->count, sizeof *s->one);
  a->data = idm_new(s->count, sizeof *a->data);
  a->agent = idm_new(longest, sizeof *a->agent);
  a->tree = idm_new(s->count, sizeof *a->tree);
  if (!a->strata.one || !a->data || !a->agent || !a->tree) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < longest; t++) a->agent[t] = (uint32_t)t;
  idm_status status = IDM_OK;
  for (size_t c = 0; c < s->count && status == IDM_OK; c++) {
    stratum *one = &a->strata.one[c];
    a->data[c] = *one->data;
    a->data[c].agent = a->agent;
    a->data[c].agent_name = (idm_labels){.count = one->data->trajectories};
    status = idm_prefix_tree_create(&a->data[c], one->tree->scope, &a->tree[c], opt_error);
    if (status != IDM_OK) break;
    one->data = &a->data[c];
    one->tree = a->tree[c];
    one->first = a->strata.nodes;
    a->strata.nodes += one->tree->nodes;
  }
  return status;
}

/* A node of the strata shares its trajectory's rows so far with one of those anew. */
static void copy_nodes(const anew *a, const strata *s, size_t actions, const double *from,
                       double *to)
{
  for (size_t c = 0; c < s->count; c++) {
    const stratum *one = &s->one[c], *other = &a->strata.one[c];
    for (size_t t = 0; t < one->data->trajectories; t++) {
      size_t node = one->tree->last[t], same = other->tree->last[t];
      for (size_t row = one->data->first[t]; row < one->data->first[t + 1]; row++) {
        memcpy(to + (one->first + node) * actions, from + (other->first + same) * actions,
               actions * sizeof *to);
        node = (size_t)one->tree->node[node].parent;
        same = (size_t)other->tree->node[same].parent;
      }
    }
  }
}

/* Whether memories last, and an agent has two trajectories. */
static bool is_lasting(const strata *s)
{
  for (size_t c = 0; c < s->count; c++) {
    const stratum *one = &s->one[c];
    for (size_t t = 0; t < one->data->trajectories && one->tree->scope & IDM_SCOPE_AGENT; t++)
      if (one->tree->node[one->tree->first[t]].parent >= 0) return true;
  }
  return false;
}

idm_status idm_anew_view(const inquiry *q, const residual *r, double *probability, bool *seen,
                         idm_error *opt_error)
{
  anew a = {0};
  viewer v = {0};
  *seen = false;
  if (!is_lasting(r->strata)) return IDM_OK;
  idm_status status = open_anew(&a, r->strata, opt_error);
  double *own = NULL;
  if (status == IDM_OK) {
    own = idm_new(idm_times(a.strata.nodes, r->actions), sizeof *own);
    status = own ? idm_view_open(&v, q->f, &a.strata, opt_error) : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = idm_view_at(&v, r->strata->centre, NULL, own, seen, opt_error);
  if (status == IDM_OK && *seen) copy_nodes(&a, r->strata, r->actions, own, probability);
  idm_view_close(&v);
  free(own);
  close_anew(&a);
  return status;
}
