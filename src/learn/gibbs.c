/* Posterior draws of dynamics: paths of states given dynamics, rows given paths.
 *
 * Trajectories that share a history are exchangeable there: given how many of them are in each
 * state after it, the states before it are independent draws with the weights f(s) tau(s'|s,u)
 * (with omega(x|u,s) where what is seen depends on the state before). So paths are drawn from the
 * ends of the tree to its roots, as counts of trajectories by history and state. Moves
 * after the last thing seen of a trajectory are summed over, not drawn: they say nothing, and would
 * tie a draw of their rows to the draw before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/door.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/record.h"
#include "learn/dirichlet.h"
#include "learn/draws.h"
#include "learn/learn.h"
#include "learn/modes.h"

/* --- paths ---------------------------------------------------------------------------------- */

/* Let `count` trajectories choose states by their weights, each adding to to[]. */
static void scatter(idm_random *random, double count, const double *weight, size_t states,
                    double *to)
{
  for (size_t left = (size_t)(count + 0.5); left > 0; left--)
    to[idm_random_choice(random, weight, states)]++;
}

/* The states before a row, given those after it. */
static void draw_before(pass *p, const idm_dynamics *d, const history *h, const double *after,
                        idm_random *random)
{
  const idm_sizes n = d->sizes;
  const size_t k = n.states;
  const size_t u = (size_t)h->action;
  const bool shown = h->observation >= 0;
  const bool before = p->learner->structure->emits_before;
  const double *f = p->filter + h->parent * k;
  const double *moves = d->transition + u * k * k;
  const size_t seen = u * k * n.observations + (size_t)(shown ? h->observation : 0);
  double *to = p->back + h->parent * k;
  double *moved = p->counts + k + u * k * k;
  double *emitted = p->counts + (d->emission - d->start) + seen;
  for (size_t t = 0; t < k; t++) {
    if (after[t] == 0) continue;
    memset(p->drawn, 0, k * sizeof *p->drawn);
    for (size_t s = 0; s < k; s++)
      p->one[s] =
          f[s] * moves[s * k + t] * (before && shown ? d->emission[seen + s * n.observations] : 1);
    scatter(random, after[t], p->one, k, p->drawn);
    for (size_t s = 0; s < k; s++) {
      to[s] += p->drawn[s];
      moved[s * k + t] += p->drawn[s];
      if (before && shown) emitted[s * n.observations] += p->drawn[s];
    }
    if (!before && shown) emitted[t * n.observations] += after[t];
  }
}

/* Draw the states of all trajectories and count them; p->back holds, by history, trajectories in
 * each state. */
static void draw_paths(pass *p, const idm_dynamics *d, idm_random *random)
{
  const idm_iohmm *l = p->learner;
  const size_t k = d->sizes.states;
  memset(p->counts, 0, d->numbers * sizeof *p->counts);
  memset(p->back, 0, l->histories * k * sizeof *p->back);
  for (size_t i = l->histories; i-- > 0;) {
    const history *h = &l->history[i];
    double *here = p->back + i * k;
    if (l->passes[i] == 0) continue;
    scatter(random, l->rests[i], p->filter + i * k, k, here);
    if (h->parent != i)
      draw_before(p, d, h, here, random);
    else
      for (size_t s = 0; s < k && h->start < 0; s++) p->counts[s] += here[s];
  }
}

/* --- chains --------------------------------------------------------------------------------- */

/* Sweeps of a pilot before its first kernel, its kernels, and sweeps from one to the next. */
enum { PILOT_WARMUP = 100, PILOT_KERNELS = 100, PILOT_APART = 4 };

/* One chain: where it is, and what it works with. */
typedef struct gibbs_chain {
  idm_random random;
  idm_dynamics *dynamics;
  idm_dynamics *proposal;
  pass *pass;
  double *ordered; /* [numbers] */
  double *scratch; /* [structure_room] */
} gibbs_chain;

typedef struct gibbs {
  const idm_iohmm *learner;
  const idm_dynamics *around; /* the first mode */
  const idm_modes *modes;
  const idm_learn_settings *settings;
  idm_dynamics_draws *draws;
  dirichlet *proposals; /* between modes; NULL: there is one mode */
  bool pilot;           /* a chain at each mode, to which proposals are fitted */
  gibbs_chain *chain;   /* [chain] */
  const idm_fit_watch *watch;
  long done;    /* sweeps of every chain */
  long at_once; /* sweeps that chains do before they meet */
  double shown; /* when the watch was last called */
} gibbs;

static void keep_draw(const gibbs *g, size_t chain, size_t draw, const double *numbers,
                      double log_likelihood)
{
  idm_dynamics_draws *d = g->draws;
  const size_t at = chain * d->draws + draw;
  d->log_likelihood[at] = log_likelihood;
  for (size_t i = 0; i < d->numbers; i++)
    d->value[i * d->chains * d->draws + at] = numbers[d->place[i]];
}

/* A beginning away from the others': counts as of a few visits to every row, with their noise. */
static void disperse(const gibbs *g, const idm_dynamics *mode, gibbs_chain *c)
{
  static const double visits = 20;
  double *counts = c->pass->counts;
  for (size_t i = 0; i < mode->numbers; i++) counts[i] = visits * mode->start[i];
  /* Tied rows would be counted as often as there are. */
  for (size_t r = 0; r < g->learner->structure->rows; r++) {
    const row *it = &g->learner->structure->row[r];
    if (it->same != r) memset(counts + it->first, 0, it->width * sizeof *counts);
  }
  structure_draw(g->learner->structure, g->settings->prior, counts, &c->random, c->dynamics->start);
}

/* Name interchangeable states as the mode that is nearest: their order. Returns whether they were
 * in it. */
static bool order(const gibbs *g, gibbs_chain *c, double *numbers)
{
  const size_t bytes = g->around->numbers * sizeof *numbers;
  memcpy(c->ordered, numbers, bytes);
  structure_name(g->learner->structure, (const idm_dynamics *const *)g->modes->mode,
                 g->modes->count, c->ordered, c->scratch);
  const bool was = memcmp(c->ordered, numbers, bytes) == 0;
  memcpy(numbers, c->ordered, bytes);
  return was;
}

/* Log posterior density less the log-likelihood and the log density of the proposals. */
static double log_weight(const gibbs *g, gibbs_chain *c, const double *numbers)
{
  return structure_penalty(g->learner->structure, g->settings->prior, numbers) -
         dirichlet_log_density(g->proposals, numbers, c->scratch, NULL);
}

/* A Metropolis-Hastings step with proposals from all modes, which do not depend on where the chain
 * is. The posterior is the same for every order of interchangeable states, so that the chain may be
 * taken as one over dynamics in their order, to which the posterior is restricted: a proposal that
 * is not in order is rejected. Returns the log-likelihood of where the chain ends. */
static double jump(const gibbs *g, gibbs_chain *c)
{
  double *here = c->dynamics->start, *there = c->proposal->start;
  const double from = pass_forward(c->pass, c->dynamics, false, NULL);
  dirichlet_draw(g->proposals, &c->random, there, c->scratch);
  if (!order(g, c, there)) return from;
  const double to = pass_forward(c->pass, c->proposal, false, NULL);
  const double log_ratio = to - from + log_weight(g, c, there) - log_weight(g, c, here);
  if (!(log(idm_random_uniform(&c->random)) < log_ratio)) return from;
  memcpy(here, there, g->around->numbers * sizeof *here);
  return to;
}

static void sweep(const gibbs *g, gibbs_chain *c)
{
  pass_forward(c->pass, c->dynamics, false, NULL);
  draw_paths(c->pass, c->dynamics, &c->random);
  structure_draw(g->learner->structure, g->settings->prior, c->pass->counts, &c->random,
                 c->dynamics->start);
}

/* One mode: states may change places, and are put into their order in what is kept. */
static void run_chain(void *context, size_t chain)
{
  const gibbs *g = context;
  gibbs_chain *c = &g->chain[chain];
  for (long k = g->done; k < g->done + g->at_once; k++) {
    sweep(g, c);
    if (k < g->settings->warmup) continue;
    idm_dynamics_assign(c->proposal, c->dynamics);
    order(g, c, c->proposal->start);
    keep_draw(g, chain, (size_t)(k - g->settings->warmup), c->proposal->start,
              pass_forward(c->pass, c->dynamics, false, NULL));
  }
}

/* Several modes: states are in their order. */
static void run_jumping(void *context, size_t chain)
{
  const gibbs *g = context;
  gibbs_chain *c = &g->chain[chain];
  for (long k = g->done; k < g->done + g->at_once; k++) {
    sweep(g, c);
    order(g, c, c->dynamics->start);
    const double reached = jump(g, c);
    if (k >= g->settings->warmup)
      keep_draw(g, chain, (size_t)(k - g->settings->warmup), c->dynamics->start, reached);
  }
}

/* A pilot at a mode: the paths of a sweep begin at dynamics in their order, and so do counts. */
static void run_pilot(void *context, size_t chain)
{
  const gibbs *g = context;
  gibbs_chain *c = &g->chain[chain];
  for (long k = g->done; k < g->done + g->at_once; k++) {
    sweep(g, c);
    if (k >= g->settings->warmup && k % PILOT_APART == 0)
      dirichlet_add(g->proposals, chain, g->settings->prior, c->pass->counts);
    order(g, c, c->dynamics->start);
  }
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmgib1";

/* All that the sweeps to come depend on, and the draws so far. Whether it fits. */
static bool pass_state(gibbs *g, idm_record *r)
{
  const idm_dynamics_draws *d = g->draws;
  const uint64_t shape[] = {d->chains, d->draws, (uint64_t)g->settings->warmup, d->numbers,
                            g->around->numbers};
  bool fits = true;
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
    fits = idm_record_same(r, shape[i]) && fits;
  idm_record_pass(r, &g->done, sizeof g->done);
  fits = fits && !r->cut && g->done >= 0 && g->done <= g->settings->warmup + g->settings->draws;
  if (!fits) return false;
  for (size_t c = 0; c < d->chains; c++) {
    idm_record_pass(r, &g->chain[c].random, sizeof g->chain[c].random);
    idm_record_pass(r, g->chain[c].dynamics->start, g->around->numbers * sizeof(double));
  }
  const long draws = g->done - g->settings->warmup;
  for (size_t i = 0; i < (d->numbers + 1) * d->chains && draws > 0; i++)
    idm_record_pass(
        r, i < d->chains ? d->log_likelihood + i * d->draws : d->value + (i - d->chains) * d->draws,
        (size_t)draws * sizeof(double));
  return true;
}

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  gibbs g = *(const gibbs *)content; /* what is passed is only read */
  idm_record r;
  idm_record_begin(&r, kind, g.watch->label);
  pass_state(&g, &r);
  return idm_record_seal(&r, ret_bytes, ret_length, opt_error);
}

static idm_status load(gibbs *g, idm_error *opt_error)
{
  const idm_fit_watch *watch = g->watch;
  idm_record r;
  idm_status status = idm_record_resume(&r, kind, watch, opt_error);
  if (status == IDM_OK) {
    const bool fits = pass_state(g, &r);
    status = idm_record_close(&r, fits, opt_error);
  }
  return idm_record_blame(watch, status, opt_error);
}

static void describe(const void *content, char *buffer, size_t size)
{
  const gibbs *g = content;
  const bool early = g->done < g->settings->warmup;
  snprintf(buffer, size, "%s", g->pilot ? "fitting proposals" : early ? "warming up" : "drawing");
}

/* Whether to go on. Pilots are not saved. */
static bool goes_on(gibbs *g)
{
  const long all = g->settings->warmup + g->settings->draws;
  const double now = idm_seconds();
  if (!g->watch || !g->watch->progress || (g->done < all && now < g->shown + 0.1)) return true;
  g->shown = now;
  const idm_work work = {.done = g->pilot ? 0 : (double)g->done / (double)all,
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
  idm_dynamics_assign(to, g->around);
  for (size_t i = 0; i < d->numbers; i++)
    to->start[d->place[i]] = d->value[i * d->chains * d->draws + at];
  structure_spread(g->learner->structure, to->start);
}

/* Climb from the best draw of each chain. The order of states does not change a likelihood. */
static idm_status find_mode(const gibbs *g, idm_dynamics *from, idm_error *opt_error)
{
  idm_dynamics_draws *d = g->draws;
  idm_status status = IDM_OK;
  d->attained = -INFINITY;
  for (size_t c = 0; c < d->chains && status == IDM_OK; c++) {
    double attained;
    take_draw(g, best_draw(d, c), from);
    status = learn_climb(g->learner, g->settings, from, &attained, opt_error);
    if (status == IDM_OK) d->attained = fmax(d->attained, attained);
  }
  return status;
}

/* The share of the draws that each mode has, and how often chains move between modes. */
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
  idm_status status = idm_dynamics_create(g->around->sizes, &scratch, opt_error);
  if (status == IDM_OK) status = find_mode(g, scratch, opt_error);
  if (status == IDM_OK) count_modes(g, scratch, g->chain[0].scratch);
  idm_dynamics_destroy(scratch);
  return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

static void close_chains(gibbs *g)
{
  for (size_t i = 0; g->chain && i < g->settings->chains; i++) {
    idm_dynamics_destroy(g->chain[i].dynamics);
    idm_dynamics_destroy(g->chain[i].proposal);
    pass_destroy(g->chain[i].pass);
    free(g->chain[i].ordered);
    free(g->chain[i].scratch);
  }
  free(g->chain);
}

static idm_status open_chain(const gibbs *g, const idm_dynamics *mode, gibbs_chain *c,
                             idm_error *opt_error)
{
  c->ordered = idm_new(mode->numbers, sizeof *c->ordered);
  c->scratch = idm_new(structure_room(g->learner->structure), sizeof *c->scratch);
  idm_status status = c->ordered && c->scratch ? pass_create(g->learner, &c->pass, opt_error)
                                               : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(mode->sizes, &c->dynamics, opt_error);
  if (status == IDM_OK) status = idm_dynamics_create(mode->sizes, &c->proposal, opt_error);
  if (status != IDM_OK) return status;
  idm_dynamics_assign(c->dynamics, mode);
  idm_dynamics_assign(c->proposal, mode);
  return IDM_OK;
}

/* Chains start away from each other around modes, pilots at one mode each. */
static idm_status open_chains(gibbs *g, idm_error *opt_error)
{
  const size_t states = g->around->sizes.states;
  g->chain = idm_new(g->settings->chains, sizeof *g->chain);
  idm_status status = g->chain ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->settings->chains && status == IDM_OK; i++) {
    gibbs_chain *c = &g->chain[i];
    const unsigned use = g->pilot ? LEARN_STREAM_PILOTS : LEARN_STREAM_CHAINS;
    const idm_dynamics *mode = g->modes->mode[g->pilot ? i : modes_start(g->modes, i)];
    status = open_chain(g, mode, c, opt_error);
    if (status != IDM_OK) break;
    idm_random_init(&c->random, g->settings->seed, learn_stream(use, states, 0, i));
    if (!g->pilot) disperse(g, mode, c);
  }
  return status;
}

/* Sweeps of all chains, side by side for about a tenth of a second. */
static idm_status run_chains(gibbs *g, idm_error *opt_error)
{
  const long all = g->settings->warmup + g->settings->draws;
  idm_status status = IDM_OK;
  double pace = 0; /* seconds per sweep */
  void (*task)(void *, size_t) = g->pilot ? run_pilot : g->proposals ? run_jumping : run_chain;
  while (g->done < all && status == IDM_OK && goes_on(g)) {
    const double begun = idm_seconds();
    g->at_once = pace > 0 ? (long)fmin(fmax(0.1 / pace, 1), (double)(all - g->done)) : 1;
    status = idm_parallel(g->settings->chains, g->settings->threads, task, NULL, g, opt_error);
    if (status == IDM_OK) g->done += g->at_once;
    pace = (idm_seconds() - begun) / (double)g->at_once;
  }
  if (status == IDM_OK && g->done == all) goes_on(g); /* for the last checkpoint */
  return status == IDM_OK && g->done < all ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted")
                                           : status;
}

/* Fit the proposals to a pilot chain at each mode. A run that is resumed repeats the pilots, which
 * depend on seed and modes alone. */
static idm_status fit_proposals(gibbs *g, idm_error *opt_error)
{
  idm_learn_settings settings = *g->settings;
  gibbs pilots = *g;
  if (g->modes->count == 1) return IDM_OK;
  idm_status status = dirichlet_create(g->learner->structure, g->around->numbers, g->modes->count,
                                       PILOT_KERNELS, &g->proposals, opt_error);
  if (status != IDM_OK) return status;
  settings.chains = g->modes->count;
  settings.warmup = PILOT_WARMUP;
  settings.draws = (long)PILOT_KERNELS * PILOT_APART;
  pilots.settings = &settings;
  pilots.proposals = g->proposals;
  pilots.pilot = true;
  status = open_chains(&pilots, opt_error);
  if (status == IDM_OK) status = run_chains(&pilots, opt_error);
  close_chains(&pilots);
  return status;
}

static idm_status make_room(const gibbs *g, const idm_problem *problem, idm_error *opt_error)
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
  if (!modes->count || modes->count > MODES_MOST)
    return idm_fail(opt_error, IDM_USAGE, "there are %zu modes; expected 1 to %d", modes->count,
                    MODES_MOST);
  for (size_t m = 0; m < modes->count; m++)
    if (!idm_sizes_same(learner->structure->sizes, modes->mode[m]->sizes))
      return idm_fail(opt_error, IDM_USAGE, "the dynamics are of another problem");
  if (settings->draws < 1)
    return idm_fail(opt_error, IDM_USAGE, "no draws are asked for; expected at least 1");
  return iohmm_check_problem(learner, problem, opt_error);
}

static idm_status draw_all(gibbs *g, const idm_problem *problem, idm_error *opt_error)
{
  idm_status status = make_room(g, problem, opt_error);
  if (status == IDM_OK)
    status = idm_iohmm_log_likelihood(g->learner, g->around, &g->draws->highest, NULL, opt_error);
  if (status == IDM_OK) status = fit_proposals(g, opt_error);
  if (status == IDM_OK) status = open_chains(g, opt_error);
  if (status == IDM_OK && g->watch && g->watch->checkpoint) status = load(g, opt_error);
  if (status == IDM_OK) status = run_chains(g, opt_error);
  if (status == IDM_OK) status = describe_modes(g, opt_error);
  close_chains(g);
  dirichlet_destroy(g->proposals);
  return status;
}

idm_status idm_learn_draw_watched(const idm_iohmm *learner, const idm_problem *problem,
                                  const idm_modes *modes, const idm_learn_settings *settings,
                                  const idm_fit_watch *opt_watch, idm_dynamics_draws *draws,
                                  idm_error *opt_error)
{
  idm_require(learner, problem, modes, settings, draws);
  *draws = (idm_dynamics_draws){0};
  idm_status status = check_request(learner, problem, modes, settings, opt_error);
  if (status != IDM_OK) return status;
  gibbs g = {.learner = learner,
             .around = modes->mode[0],
             .modes = modes,
             .settings = settings,
             .draws = draws,
             .watch = opt_watch};
  status = draw_all(&g, problem, opt_error);
  if (status != IDM_OK) idm_dynamics_draws_clear(draws);
  return status;
}

/* Who is asked whether to stop, as a watch. */
typedef struct asked {
  idm_learn_stop stop;
  void *context;
} asked;

static bool ask(void *context, const idm_work *work)
{
  const asked *a = context;
  return a->stop(a->context, work->done);
}

idm_status idm_learn_draw(const idm_iohmm *learner, const idm_problem *problem,
                          const idm_modes *modes, const idm_learn_settings *settings,
                          idm_learn_stop opt_stop, void *context, idm_dynamics_draws *draws,
                          idm_error *opt_error)
{
  asked a = {opt_stop, context};
  const idm_fit_watch watch = {.progress = ask, .context = &a};
  return idm_learn_draw_watched(learner, problem, modes, settings, opt_stop ? &watch : NULL, draws,
                                opt_error);
}
