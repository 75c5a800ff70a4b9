/* Posterior draws of dynamics by Gibbs sampling: state paths given dynamics, rows given paths.
 * Trajectories that share a history are exchangeable there: given how many of them are in each
 * state after it, the states before it are independent draws with weights f(s) tau(s'|s,u) (times
 * omega(x|u,s) where the emitter is the state before). So paths are drawn from the leaves of the
 * tree to its roots, as counts of trajectories by history and state. Transitions after the last
 * observation of a trajectory are summed over, not drawn: they carry no information, and drawing
 * them would correlate successive draws of their rows. See docs/method/learning.md, 3 and 4.
 *
 * Contents: dirichlet · gibbs */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/record.h"
#include "base/statistics.h"
#include "base/system.h"
#include "learn/learn.h"
#include "setting/model.h"

/* === dirichlet ================================================================================ */

/* Mixtures of products of Dirichlet rows. */

void dirichlet_destroy(dirichlet *d)
{
  if (!d) return;
  free(d->kernel_count);
  free(d->shape);
  free(d->constant);
  free(d);
}

idm_status dirichlet_create(const structure *s, size_t numbers, size_t components, size_t kernels,
                            dirichlet **ret_dirichlet, idm_error *opt_error)
{
  *ret_dirichlet = NULL;
  dirichlet *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  const size_t all = idm_times(components, kernels);
  *d =
      (dirichlet){.structure = s, .numbers = numbers, .components = components, .kernels = kernels};
  d->kernel_count = idm_new(components, sizeof *d->kernel_count);
  d->shape = idm_new(idm_times(all, numbers), sizeof *d->shape);
  d->constant = idm_new(all, sizeof *d->constant);
  if (!d->kernel_count || !d->shape || !d->constant) {
    dirichlet_destroy(d);
    return idm_fail_memory(opt_error);
  }
  *ret_dirichlet = d;
  return IDM_OK;
}

/* Dirichlet parameters of a row, 0 where an entry is impossible; returns the logarithm of the
 * normaliser. */
static double kernel_row(const structure *s, const structure_row *row, double prior,
                         const double *counts, double *shape)
{
  double sum = 0, constant = 0;
  for (size_t i = row->first; i < row->first + row->width; i++) {
    if (!s->possible[i]) continue;
    shape[i] = prior + counts[i];
    sum += shape[i];
    constant -= idm_log_gamma(shape[i]);
  }
  return sum > 0 ? constant + idm_log_gamma(sum) : 0;
}

void dirichlet_add(dirichlet *d, size_t component, double prior, const double *counts)
{
  const structure *s = d->structure;
  if (d->kernel_count[component] == d->kernels) return;
  const size_t at = component * d->kernels + d->kernel_count[component]++;
  for (size_t r = 0; r < s->rows; r++)
    if (structure_is_own_row(s, r))
      d->constant[at] += kernel_row(s, &s->row[r], prior, counts, d->shape + at * d->numbers);
}

void dirichlet_draw(const dirichlet *d, idm_random *random, double *numbers, double *scratch)
{
  const double all = (double)(d->components * d->kernels);
  const size_t at = (size_t)(all * idm_random_uniform(random));
  memcpy(scratch, d->shape + at * d->numbers, d->numbers * sizeof *scratch);
  structure_draw(d->structure, 0, scratch, random, numbers);
}

/* Logarithms of the learnt probabilities; 0 for the others. */
static void log_learnt(const structure *s, const double *numbers, size_t count, double *logarithm)
{
  memset(logarithm, 0, count * sizeof *logarithm);
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    for (size_t i = row->first; structure_is_own_row(s, r) && i < row->first + row->width; i++)
      if (s->possible[i]) logarithm[i] = log(numbers[i]);
  }
}

double dirichlet_log_density(const dirichlet *d, const double *numbers, double *scratch,
                             size_t *opt_component)
{
  idm_log_sum all = idm_log_sum_empty;
  double largest = -INFINITY;
  log_learnt(d->structure, numbers, d->numbers, scratch);
  if (opt_component) *opt_component = 0;
  for (size_t component = 0; component < d->components; component++) {
    idm_log_sum own = idm_log_sum_empty;
    for (size_t at = component * d->kernels; at < (component + 1) * d->kernels; at++) {
      const double *shape = d->shape + at * d->numbers;
      double log_density = d->constant[at];
      for (size_t i = 0; i < d->numbers; i++) log_density += (shape[i] - 1) * scratch[i];
      idm_log_sum_add(&own, log_density);
    }
    const double log_density = idm_log_sum_value(own);
    idm_log_sum_add(&all, log_density);
    if (opt_component && log_density > largest) *opt_component = component;
    largest = fmax(largest, log_density);
  }
  return idm_log_sum_value(all) - log((double)(d->components * d->kernels));
}

/* === gibbs ==================================================================================== */

/* --- paths ---------------------------------------------------------------------------------- */

/* Draw a state for each of `count` trajectories, and add the counts to to[states]. */
static void draw_multinomial(idm_random *random, double count, const double *weight, size_t states,
                             double *to)
{
  for (size_t left = (size_t)(count + 0.5); left > 0; left--)
    to[idm_random_choice(random, weight, states)]++;
}

/* Draw the states before a row given those after it. */
static void draw_parent_states(smoother *p, const idm_dynamics *d, const history *h,
                               const double *after, idm_random *random)
{
  const idm_sizes n = d->sizes;
  const size_t k = n.states;
  const size_t u = (size_t)h->action;
  const bool last_report = h->observation >= 0;
  const bool before = p->learner->structure->emits_before;
  const double *f = p->filter + h->parent * k;
  const double *moves = d->transition + u * k * k;
  const size_t seen = u * k * n.observations + (size_t)(last_report ? h->observation : 0);
  double *to = p->backward + h->parent * k;
  double *transition_counts = p->counts + k + u * k * k;
  double *emission_counts = p->counts + (d->emission - d->start) + seen;
  for (size_t t = 0; t < k; t++) {
    if (after[t] == 0) continue;
    memset(p->drawn, 0, k * sizeof *p->drawn);
    for (size_t s = 0; s < k; s++)
      p->one[s] = f[s] * moves[s * k + t] *
                  (before && last_report ? d->emission[seen + s * n.observations] : 1);
    draw_multinomial(random, after[t], p->one, k, p->drawn);
    for (size_t s = 0; s < k; s++) {
      to[s] += p->drawn[s];
      transition_counts[s * k + t] += p->drawn[s];
      if (before && last_report) emission_counts[s * n.observations] += p->drawn[s];
    }
    if (!before && last_report) emission_counts[t * n.observations] += after[t];
  }
}

/* Draw and count the states of all trajectories; p->backward receives, by history, the number of
 * trajectories in each state. */
static void draw_paths(smoother *p, const idm_dynamics *d, idm_random *random)
{
  const idm_iohmm *l = p->learner;
  const size_t k = d->sizes.states;
  memset(p->counts, 0, d->numbers * sizeof *p->counts);
  memset(p->backward, 0, l->histories * k * sizeof *p->backward);
  for (size_t i = l->histories; i-- > 0;) {
    const history *h = &l->history[i];
    double *current = p->backward + i * k;
    if (l->visit_count[i] == 0) continue;
    draw_multinomial(random, l->unobserved_count[i], p->filter + i * k, k, current);
    if (h->parent != i)
      draw_parent_states(p, d, h, current, random);
    else
      for (size_t s = 0; s < k && h->start < 0; s++) p->counts[s] += current[s];
  }
}

/* --- chains --------------------------------------------------------------------------------- */

/* Sweeps of a pilot chain before its first kernel, number of kernels, and sweeps per kernel. */
enum { PILOT_WARMUP = 100, PILOT_KERNELS = 100, PILOT_THIN = 4 };

/* One chain: its current dynamics and its scratch. */
typedef struct gibbs_chain {
  idm_random random;
  idm_dynamics *dynamics;
  idm_dynamics *proposal;
  smoother *smoother;
  double *ordered; /* [numbers] */
  double *scratch; /* [structure_scratch_size] */
} gibbs_chain;

typedef struct gibbs {
  const idm_iohmm *learner;
  const idm_dynamics *first_mode; /* the first mode */
  const idm_modes *modes;
  const idm_learn_settings *settings;
  idm_dynamics_draws *draws;
  dirichlet *proposals; /* for jumps between modes; NULL: there is one mode */
  bool pilot;           /* pilot chains, one at each mode, to which the proposals are fitted */
  gibbs_chain *chain;   /* [chain] */
  const idm_fit_monitor *watch;
  long done;          /* sweeps done by every chain */
  long batch_sweeps;  /* sweeps per batch, between two reports */
  double last_report; /* time of the last call of the monitor */
} gibbs;

static void store_draw(const gibbs *g, size_t chain, size_t draw, const double *numbers,
                       double log_likelihood)
{
  idm_dynamics_draws *d = g->draws;
  const size_t at = chain * d->draws + draw;
  d->log_likelihood[at] = log_likelihood;
  for (size_t i = 0; i < d->numbers; i++)
    d->value[i * d->chains * d->draws + at] = numbers[d->place[i]];
}

/* Overdispersed starting point: counts as of 20 visits to every row, with their sampling noise. */
static void disperse(const gibbs *g, const idm_dynamics *mode, gibbs_chain *c)
{
  static const double visits = 20;
  double *counts = c->smoother->counts;
  for (size_t i = 0; i < mode->numbers; i++) counts[i] = visits * mode->start[i];
  /* Counts of tied rows are added up, so that only one of them may be nonzero. */
  for (size_t r = 0; r < g->learner->structure->rows; r++) {
    const structure_row *row = &g->learner->structure->row[r];
    if (row->tied_to != r) memset(counts + row->first, 0, row->width * sizeof *counts);
  }
  structure_draw(g->learner->structure, g->settings->prior, counts, &c->random, c->dynamics->start);
}

/* Relabel interchangeable states to match the nearest mode. Returns whether the labels were
 * unchanged. */
static bool order(const gibbs *g, gibbs_chain *c, double *numbers)
{
  const size_t bytes = g->first_mode->numbers * sizeof *numbers;
  memcpy(c->ordered, numbers, bytes);
  structure_match_states(g->learner->structure, (const idm_dynamics *const *)g->modes->mode,
                         g->modes->count, c->ordered, c->scratch);
  const bool unchanged = memcmp(c->ordered, numbers, bytes) == 0;
  memcpy(numbers, c->ordered, bytes);
  return unchanged;
}

/* Log prior less the log density of the proposals. */
static double log_weight(const gibbs *g, gibbs_chain *c, const double *numbers)
{
  return structure_log_prior(g->learner->structure, g->settings->prior, numbers) -
         dirichlet_log_density(g->proposals, numbers, c->scratch, NULL);
}

/* A Metropolis-Hastings step with independence proposals from all modes. The posterior is invariant
 * under permutations of interchangeable states, so that the chain can be restricted to dynamics in
 * canonical order: a proposal that is not in this order is rejected. Returns the log-likelihood at
 * the end of the step. */
static double mode_jump(const gibbs *g, gibbs_chain *c)
{
  double *current = c->dynamics->start, *proposed = c->proposal->start;
  const double from = smoother_forward(c->smoother, c->dynamics, false, NULL);
  dirichlet_draw(g->proposals, &c->random, proposed, c->scratch);
  if (!order(g, c, proposed)) return from;
  const double to = smoother_forward(c->smoother, c->proposal, false, NULL);
  const double log_ratio = to - from + log_weight(g, c, proposed) - log_weight(g, c, current);
  if (!(log(idm_random_uniform(&c->random)) < log_ratio)) return from;
  memcpy(current, proposed, g->first_mode->numbers * sizeof *current);
  return to;
}

static void sweep(const gibbs *g, gibbs_chain *c)
{
  smoother_forward(c->smoother, c->dynamics, false, NULL);
  draw_paths(c->smoother, c->dynamics, &c->random);
  structure_draw(g->learner->structure, g->settings->prior, c->smoother->counts, &c->random,
                 c->dynamics->start);
}

/* Sweeps with one mode: states may be permuted, and are relabelled in the stored draws. */
static void run_chain(void *context, size_t chain)
{
  const gibbs *g = context;
  gibbs_chain *c = &g->chain[chain];
  for (long k = g->done; k < g->done + g->batch_sweeps; k++) {
    sweep(g, c);
    if (k < g->settings->warmup) continue;
    idm_dynamics_assign(c->proposal, c->dynamics);
    order(g, c, c->proposal->start);
    store_draw(g, chain, (size_t)(k - g->settings->warmup), c->proposal->start,
               smoother_forward(c->smoother, c->dynamics, false, NULL));
  }
}

/* Sweeps with several modes: states stay in canonical order. */
static void run_mode_jumps(void *context, size_t chain)
{
  const gibbs *g = context;
  gibbs_chain *c = &g->chain[chain];
  for (long k = g->done; k < g->done + g->batch_sweeps; k++) {
    sweep(g, c);
    order(g, c, c->dynamics->start);
    const double reached = mode_jump(g, c);
    if (k >= g->settings->warmup)
      store_draw(g, chain, (size_t)(k - g->settings->warmup), c->dynamics->start, reached);
  }
}

/* Sweeps of a pilot at a mode: the paths of a sweep start from dynamics in canonical order, and so
 * do the counts. */
static void run_pilot(void *context, size_t chain)
{
  const gibbs *g = context;
  gibbs_chain *c = &g->chain[chain];
  for (long k = g->done; k < g->done + g->batch_sweeps; k++) {
    sweep(g, c);
    if (k >= g->settings->warmup && k % PILOT_THIN == 0)
      dirichlet_add(g->proposals, chain, g->settings->prior, c->smoother->counts);
    order(g, c, c->dynamics->start);
  }
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmgib1";

/* Everything that later sweeps depend on, and the draws so far. Returns whether the shape matches.
 */
static bool transfer_state(gibbs *g, idm_record *r)
{
  const idm_dynamics_draws *d = g->draws;
  const uint64_t shape[] = {d->chains, d->draws, (uint64_t)g->settings->warmup, d->numbers,
                            g->first_mode->numbers};
  bool same_shape = true;
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
    same_shape = idm_record_match(r, shape[i]) && same_shape;
  idm_record_transfer(r, &g->done, sizeof g->done);
  same_shape = same_shape && !r->truncated && g->done >= 0 &&
               g->done <= g->settings->warmup + g->settings->draws;
  if (!same_shape) return false;
  for (size_t c = 0; c < d->chains; c++) {
    idm_record_transfer(r, &g->chain[c].random, sizeof g->chain[c].random);
    idm_record_transfer(r, g->chain[c].dynamics->start, g->first_mode->numbers * sizeof(double));
  }
  const long draws = g->done - g->settings->warmup;
  for (size_t i = 0; i < (d->numbers + 1) * d->chains && draws > 0; i++)
    idm_record_transfer(
        r, i < d->chains ? d->log_likelihood + i * d->draws : d->value + (i - d->chains) * d->draws,
        (size_t)draws * sizeof(double));
  return true;
}

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  gibbs g = *(const gibbs *)content; /* writing only reads it */
  idm_record r;
  idm_record_begin(&r, kind, g.watch->label);
  transfer_state(&g, &r);
  return idm_record_finish(&r, ret_bytes, ret_length, opt_error);
}

static idm_status load(gibbs *g, idm_error *opt_error)
{
  const idm_fit_monitor *watch = g->watch;
  idm_record r;
  idm_status status = idm_record_resume(&r, kind, watch, opt_error);
  if (status == IDM_OK) {
    const bool same_shape = transfer_state(g, &r);
    status = idm_record_close(&r, same_shape, opt_error);
  }
  return idm_record_name_file(watch, status, opt_error);
}

static void describe(const void *content, char *buffer, size_t size)
{
  const gibbs *g = content;
  const bool early = g->done < g->settings->warmup;
  snprintf(buffer, size, "%s", g->pilot ? "fitting proposals" : early ? "warming up" : "drawing");
}

/* Call the monitor; returns whether to continue. Pilots are not saved. */
static bool report_progress(gibbs *g)
{
  const long all = g->settings->warmup + g->settings->draws;
  const double now = idm_seconds();
  if (!g->watch || !g->watch->progress || (g->done < all && now < g->last_report + 0.1))
    return true;
  g->last_report = now;
  const idm_progress_state work = {.done = g->pilot ? 0 : (double)g->done / (double)all,
                                   .content = g,
                                   .describe = describe,
                                   .save = g->pilot ? NULL : save};
  return !g->watch->progress(g->watch->context, &work);
}

/* --- the modes of the draws ----------------------------------------------------------------- */

static size_t best_draw(const idm_dynamics_draws *d, size_t chain)
{
  const double *x = d->log_likelihood + chain * d->draws;
  size_t best = 0;
  for (size_t i = 1; i < d->draws; i++)
    if (x[i] > x[best]) best = i;
  return chain * d->draws + best;
}

static void take_draw(const gibbs *g, size_t at, idm_dynamics *to)
{
  const idm_dynamics_draws *d = g->draws;
  idm_dynamics_assign(to, g->first_mode);
  for (size_t i = 0; i < d->numbers; i++)
    to->start[d->place[i]] = d->value[i * d->chains * d->draws + at];
  structure_copy_ties(g->learner->structure, to->start);
}

/* Maximise the objective from the best draw of each chain. The order of states has no effect on the
 * likelihood. */
static idm_status find_mode(const gibbs *g, idm_dynamics *from, idm_error *opt_error)
{
  idm_dynamics_draws *d = g->draws;
  idm_status status = IDM_OK;
  d->attained = -INFINITY;
  for (size_t c = 0; c < d->chains && status == IDM_OK; c++) {
    double attained;
    take_draw(g, best_draw(d, c), from);
    status = learn_maximise(g->learner, g->settings, from, &attained, opt_error);
    if (status == IDM_OK) d->attained = fmax(d->attained, attained);
  }
  return status;
}

/* Share of the draws at each mode, and number of moves between modes. */
static void count_modes(const gibbs *g, idm_dynamics *draw, double *scratch)
{
  idm_dynamics_draws *d = g->draws;
  const size_t all = d->chains * d->draws;
  size_t before = 0;
  for (size_t at = 0; at < all; at++) {
    size_t mode = 0;
    take_draw(g, at, draw);
    if (g->proposals) dirichlet_log_density(g->proposals, draw->start, scratch, &mode);
    d->share[mode] += 1 / (double)all;
    d->moves += at % d->draws > 0 && mode != before;
    before = mode;
  }
}

static idm_status describe_modes(const gibbs *g, idm_error *opt_error)
{
  idm_dynamics *scratch = NULL;
  idm_status status = idm_dynamics_create(g->first_mode->sizes, &scratch, opt_error);
  if (status == IDM_OK) status = find_mode(g, scratch, opt_error);
  if (status == IDM_OK) count_modes(g, scratch, g->chain[0].scratch);
  idm_dynamics_destroy(scratch);
  return status;
}

/* --- all ------------------------------------------------------------------------------------- */

static void chains_clear(gibbs *g)
{
  for (size_t i = 0; g->chain && i < g->settings->chains; i++) {
    idm_dynamics_destroy(g->chain[i].dynamics);
    idm_dynamics_destroy(g->chain[i].proposal);
    smoother_destroy(g->chain[i].smoother);
    free(g->chain[i].ordered);
    free(g->chain[i].scratch);
  }
  free(g->chain);
}

static idm_status chain_init(const gibbs *g, const idm_dynamics *mode, gibbs_chain *c,
                             idm_error *opt_error)
{
  c->ordered = idm_new(mode->numbers, sizeof *c->ordered);
  c->scratch = idm_new(structure_scratch_size(g->learner->structure), sizeof *c->scratch);
  idm_status status = c->ordered && c->scratch
                          ? smoother_create(g->learner, &c->smoother, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(mode->sizes, &c->dynamics, opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(mode->sizes, &c->proposal, opt_error);
  if (status != IDM_OK) return status;
  idm_dynamics_assign(c->dynamics, mode);
  idm_dynamics_assign(c->proposal, mode);
  return IDM_OK;
}

/* Chains start dispersed around modes, pilots at one mode each. */
static idm_status chains_init(gibbs *g, idm_error *opt_error)
{
  const size_t states = g->first_mode->sizes.states;
  g->chain = idm_new(g->settings->chains, sizeof *g->chain);
  idm_status status = g->chain ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->settings->chains && status == IDM_OK; i++) {
    gibbs_chain *c = &g->chain[i];
    const unsigned use = g->pilot ? LEARN_STREAM_PILOTS : LEARN_STREAM_CHAINS;
    const idm_dynamics *mode = g->modes->mode[g->pilot ? i : modes_start(g->modes, i)];
    status = chain_init(g, mode, c, opt_error);
    if (status != IDM_OK) break;
    idm_random_init(&c->random, g->settings->seed, learn_stream(use, states, 0, i));
    if (!g->pilot) disperse(g, mode, c);
  }
  return status;
}

/* Run the sweeps of all chains in parallel, in batches of about a tenth of a second. */
static idm_status run_chains(gibbs *g, idm_error *opt_error)
{
  const long all = g->settings->warmup + g->settings->draws;
  idm_status status = IDM_OK;
  double seconds_per_sweep = 0; /* of the last batch */
  void (*task)(void *, size_t) = g->pilot ? run_pilot : g->proposals ? run_mode_jumps : run_chain;
  while (g->done < all && status == IDM_OK && report_progress(g)) {
    const double start_time = idm_seconds();
    g->batch_sweeps = seconds_per_sweep > 0
                          ? (long)fmin(fmax(0.1 / seconds_per_sweep, 1), (double)(all - g->done))
                          : 1;
    status = idm_parallel(g->settings->chains, g->settings->threads, task, NULL, g, opt_error);
    if (status == IDM_OK) g->done += g->batch_sweeps;
    seconds_per_sweep = (idm_seconds() - start_time) / (double)g->batch_sweeps;
  }
  if (status == IDM_OK && g->done == all) report_progress(g); /* save the last checkpoint */
  return status == IDM_OK && g->done < all ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted")
                                           : status;
}

/* Fit the proposals to a pilot chain at each mode. A resumed run repeats the pilots, which depend
 * on seed and modes alone. */
static idm_status fit_proposals(gibbs *g, idm_error *opt_error)
{
  idm_learn_settings settings = *g->settings;
  gibbs pilots = *g;
  if (g->modes->count == 1) return IDM_OK;
  idm_status status = dirichlet_create(g->learner->structure, g->first_mode->numbers,
                                       g->modes->count, PILOT_KERNELS, &g->proposals, opt_error);
  if (status != IDM_OK) return status;
  settings.chains = g->modes->count;
  settings.warmup = PILOT_WARMUP;
  settings.draws = (long)PILOT_KERNELS * PILOT_THIN;
  pilots.settings = &settings;
  pilots.proposals = g->proposals;
  pilots.pilot = true;
  status = chains_init(&pilots, opt_error);
  if (status == IDM_OK) status = run_chains(&pilots, opt_error);
  chains_clear(&pilots);
  return status;
}

static idm_status allocate_draws(const gibbs *g, const idm_problem *problem, idm_error *opt_error)
{
  idm_dynamics_draws *draws = g->draws;
  *draws = (idm_dynamics_draws){.chains = g->settings->chains,
                                .draws = (size_t)g->settings->draws,
                                .prior = g->settings->prior,
                                .modes = g->modes->count};
  const idm_status status = draws_name(g->learner->structure, problem->setting, draws, opt_error);
  if (status != IDM_OK) return status;
  const size_t count = idm_times(draws->chains, draws->draws);
  draws->value = idm_new(idm_times(draws->numbers, count), sizeof *draws->value);
  draws->log_likelihood = idm_new(count, sizeof *draws->log_likelihood);
  draws->share = idm_new(draws->modes, sizeof *draws->share);
  return draws->value && draws->log_likelihood && draws->share ? IDM_OK
                                                               : idm_fail_memory(opt_error);
}

static idm_status check_request(const idm_iohmm *learner, const idm_problem *problem,
                                const idm_modes *modes, const idm_learn_settings *settings,
                                idm_error *opt_error)
{
  const idm_status status = idm_keys_check(idm_learn_keys(), settings, opt_error);
  if (status != IDM_OK) return status;
  if (!modes->count || modes->count > MODES_MAX)
    return idm_fail(opt_error, IDM_USAGE, "there are %zu modes; expected 1 to %d", modes->count,
                    MODES_MAX);
  for (size_t m = 0; m < modes->count; m++)
    if (!idm_sizes_same(learner->structure->sizes, modes->mode[m]->sizes))
      return idm_fail(opt_error, IDM_USAGE, "the dynamics are of another problem");
  if (settings->draws < 1)
    return idm_fail(opt_error, IDM_USAGE, "the number of draws is 0; expected at least 1");
  return iohmm_check_problem(learner, problem, opt_error);
}

static idm_status draw_all(gibbs *g, const idm_problem *problem, idm_error *opt_error)
{
  idm_status status = allocate_draws(g, problem, opt_error);
  if (status == IDM_OK)
    status =
        idm_iohmm_log_likelihood(g->learner, g->first_mode, &g->draws->highest, NULL, opt_error);
  if (status == IDM_OK) status = fit_proposals(g, opt_error);
  if (status == IDM_OK) status = chains_init(g, opt_error);
  if (status == IDM_OK && g->watch && g->watch->checkpoint) status = load(g, opt_error);
  if (status == IDM_OK) status = run_chains(g, opt_error);
  if (status == IDM_OK) status = describe_modes(g, opt_error);
  chains_clear(g);
  dirichlet_destroy(g->proposals);
  return status;
}

idm_status idm_learn_draw_monitored(const idm_iohmm *learner, const idm_problem *problem,
                                    const idm_modes *modes, const idm_learn_settings *settings,
                                    const idm_fit_monitor *opt_monitor, idm_dynamics_draws *draws,
                                    idm_error *opt_error)
{
  idm_require(learner, problem, modes, settings, draws);
  *draws = (idm_dynamics_draws){0};
  idm_status status = check_request(learner, problem, modes, settings, opt_error);
  if (status != IDM_OK) return status;
  gibbs g = {.learner = learner,
             .first_mode = modes->mode[0],
             .modes = modes,
             .settings = settings,
             .draws = draws,
             .watch = opt_monitor};
  status = draw_all(&g, problem, opt_error);
  if (status != IDM_OK) idm_dynamics_draws_clear(draws);
  return status;
}

/* Adapter from an idm_learn_stop to a monitor. */
typedef struct stop_callback {
  idm_learn_stop stop;
  void *context;
} stop_callback;

static bool call_stop(void *context, const idm_progress_state *work)
{
  const stop_callback *a = context;
  return a->stop(a->context, work->done);
}

idm_status idm_learn_draw(const idm_iohmm *learner, const idm_problem *problem,
                          const idm_modes *modes, const idm_learn_settings *settings,
                          idm_learn_stop opt_stop, void *context, idm_dynamics_draws *draws,
                          idm_error *opt_error)
{
  stop_callback a = {opt_stop, context};
  const idm_fit_monitor watch = {.progress = call_stop, .context = &a};
  return idm_learn_draw_monitored(learner, problem, modes, settings, opt_stop ? &watch : NULL,
                                  draws, opt_error);
}
