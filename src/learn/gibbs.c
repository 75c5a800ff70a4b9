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
#include "learn/learn.h"

void idm_dynamics_draws_clear(idm_dynamics_draws *draws)
{
  if (!draws) return;
  idm_labels_destroy(&draws->name);
  free(draws->place);
  free(draws->value);
  free(draws->log_likelihood);
  *draws = (idm_dynamics_draws){0};
}

/* --- names ---------------------------------------------------------------------------------- */

/* Whether a number is drawn: something else is possible in its row, which leads its tie. */
static bool is_drawn(const structure *s, size_t r, size_t i)
{
  return structure_is_open(s, r) && s->possible[i];
}

/* Whether other rows follow this one. */
static bool stands_for_several(const structure *s, size_t r)
{
  for (size_t q = r + 1; q < s->rows; q++)
    if (s->row[q].same == r) return true;
  return false;
}

static const char *state_name(const idm_setting *setting, bool own, size_t i, char buffer[32])
{
  if (own) return setting->states.name[i];
  snprintf(buffer, 32, "state%zu", i + 1);
  return buffer;
}

/* start[healthy], transition[*,healthy,diseased], observation[test,healthy,positive]. */
static idm_status name_number(const structure *s, const idm_setting *setting, size_t r, size_t i,
                              idm_labels *names, size_t index, idm_error *opt_error)
{
  enum { most = 3200 };
  char text[most], from[32], to[32];
  const idm_sizes n = s->sizes;
  const bool own = n.states == setting->states.count;
  const size_t at = i - s->row[r].first;
  const bool emits = r > n.actions * n.states;
  const size_t pair = r ? (r - 1) % (n.actions * n.states) : 0;
  const char *action = stands_for_several(s, r) ? "*" : setting->actions.name[pair / n.states];
  if (r == 0)
    snprintf(text, most, "start[%s]", state_name(setting, own, at, to));
  else
    snprintf(text, most, "%s[%s,%s,%s]", emits ? "observation" : "transition", action,
             state_name(setting, own, pair % n.states, from),
             emits ? setting->observations.name[at] : state_name(setting, own, at, to));
  return idm_labels_set(names, index, text, strlen(text), opt_error);
}

static idm_status name_numbers(const structure *s, const idm_setting *setting,
                               idm_dynamics_draws *draws, idm_error *opt_error)
{
  for (size_t r = 0; r < s->rows; r++)
    for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++)
      draws->numbers += is_drawn(s, r, i);
  draws->place = idm_new(draws->numbers, sizeof *draws->place);
  if (!draws->place) return idm_fail_memory(opt_error);
  idm_status status = idm_labels_create(&draws->name, draws->numbers, opt_error);
  size_t index = 0;
  for (size_t r = 0; r < s->rows; r++)
    for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++) {
      if (status != IDM_OK || !is_drawn(s, r, i)) continue;
      draws->place[index] = i;
      status = name_number(s, setting, r, i, &draws->name, index++, opt_error);
    }
  return status;
}

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

/* One chain: where it is, and what it works with. */
typedef struct gibbs_chain {
  idm_random random;
  idm_dynamics *dynamics;
  pass *pass;
  double *ordered; /* [numbers], and scratch behind them */
} gibbs_chain;

typedef struct gibbs {
  const idm_iohmm *learner;
  const idm_dynamics *around;
  const idm_learn_settings *settings;
  idm_dynamics_draws *draws;
  const double *like; /* [state]: the means whose order draws follow */
  gibbs_chain *chain; /* [chain] */
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
static void disperse(const gibbs *g, idm_random *random, double *counts, idm_dynamics *d)
{
  static const double visits = 20;
  for (size_t i = 0; i < d->numbers; i++) counts[i] = visits * g->around->start[i];
  /* Tied rows would be counted as often as there are. */
  for (size_t r = 0; r < g->learner->structure->rows; r++) {
    const row *it = &g->learner->structure->row[r];
    if (it->same != r) memset(counts + it->first, 0, it->width * sizeof *counts);
  }
  structure_draw(g->learner->structure, g->settings->prior, counts, random, d->start);
}

static void run_chain(void *context, size_t chain)
{
  const gibbs *g = context;
  const idm_learn_settings *settings = g->settings;
  const structure *s = g->learner->structure;
  gibbs_chain *c = &g->chain[chain];
  idm_dynamics *d = c->dynamics;
  for (long k = g->done; k < g->done + g->at_once; k++) {
    pass_forward(c->pass, d, false, NULL);
    draw_paths(c->pass, d, &c->random);
    structure_draw(s, settings->prior, c->pass->counts, &c->random, d->start);
    if (k < settings->warmup) continue;
    memcpy(c->ordered, d->start, d->numbers * sizeof *c->ordered);
    structure_order(s, g->like, c->ordered, c->ordered + d->numbers);
    keep_draw(g, chain, (size_t)(k - settings->warmup), c->ordered,
              pass_forward(c->pass, d, false, NULL));
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
  snprintf(buffer, size, "%s", g->done < g->settings->warmup ? "warming up" : "drawing");
}

/* Whether to go on. */
static bool goes_on(gibbs *g)
{
  const long all = g->settings->warmup + g->settings->draws;
  const double now = idm_seconds();
  if (!g->watch || !g->watch->progress || (g->done < all && now < g->shown + 0.1)) return true;
  g->shown = now;
  const idm_work work = {
      .done = (double)g->done / (double)all, .content = g, .describe = describe, .save = save};
  return !g->watch->progress(g->watch->context, &work);
}

/* --- the mode of the draws ------------------------------------------------------------------ */

static size_t best_draw(const idm_dynamics_draws *d, size_t chain)
{
  const double *x = d->log_likelihood + chain * d->draws;
  size_t best = 0;
  for (size_t i = 1; i < d->draws; i++)
    if (x[i] > x[best]) best = i;
  return chain * d->draws + best;
}

/* Climb from the best draw of each chain. The order of states does not change a likelihood. */
static idm_status find_mode(const gibbs *g, idm_error *opt_error)
{
  idm_dynamics_draws *d = g->draws;
  idm_dynamics *from = NULL;
  idm_status status = idm_dynamics_create(g->around->sizes, &from, opt_error);
  d->attained = -INFINITY;
  for (size_t c = 0; c < d->chains && status == IDM_OK; c++) {
    const size_t at = best_draw(d, c);
    double attained;
    idm_dynamics_assign(from, g->around);
    for (size_t i = 0; i < d->numbers; i++)
      from->start[d->place[i]] = d->value[i * d->chains * d->draws + at];
    structure_spread(g->learner->structure, from->start);
    status = learn_climb(g->learner, g->settings, from, &attained, opt_error);
    if (status == IDM_OK) d->attained = fmax(d->attained, attained);
  }
  idm_dynamics_destroy(from);
  return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

static void close_chains(gibbs *g)
{
  for (size_t i = 0; g->chain && i < g->settings->chains; i++) {
    idm_dynamics_destroy(g->chain[i].dynamics);
    pass_destroy(g->chain[i].pass);
    free(g->chain[i].ordered);
  }
  free(g->chain);
}

static idm_status open_chains(gibbs *g, idm_error *opt_error)
{
  const size_t states = g->around->sizes.states, numbers = g->around->numbers;
  g->chain = idm_new(g->settings->chains, sizeof *g->chain);
  idm_status status = g->chain ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->settings->chains && status == IDM_OK; i++) {
    gibbs_chain *c = &g->chain[i];
    c->ordered = idm_new(2 * numbers + 2 * states, sizeof *c->ordered);
    status = c->ordered ? pass_create(g->learner, &c->pass, opt_error) : idm_fail_memory(opt_error);
    if (status == IDM_OK) status = idm_dynamics_create(g->around->sizes, &c->dynamics, opt_error);
    if (status != IDM_OK) break;
    idm_dynamics_assign(c->dynamics, g->around);
    g->draws->highest = pass_forward(c->pass, c->dynamics, false, NULL);
    idm_random_init(&c->random, g->settings->seed, learn_stream(LEARN_STREAM_CHAINS, states, 0, i));
    disperse(g, &c->random, c->pass->counts, c->dynamics);
  }
  return status;
}

/* Sweeps of all chains, side by side for about a tenth of a second. */
static idm_status run_chains(gibbs *g, idm_error *opt_error)
{
  const long all = g->settings->warmup + g->settings->draws;
  idm_status status = IDM_OK;
  double pace = 0; /* seconds per sweep */
  while (g->done < all && status == IDM_OK && goes_on(g)) {
    const double begun = idm_seconds();
    g->at_once = pace > 0 ? (long)fmin(fmax(0.1 / pace, 1), (double)(all - g->done)) : 1;
    status = idm_parallel(g->settings->chains, g->settings->threads, run_chain, NULL, g, opt_error);
    if (status == IDM_OK) g->done += g->at_once;
    pace = (idm_seconds() - begun) / (double)g->at_once;
  }
  if (status == IDM_OK && g->done == all) goes_on(g); /* for the last checkpoint */
  return status == IDM_OK && g->done < all ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted")
                                           : status;
}

static idm_status make_room(const idm_iohmm *learner, const idm_problem *problem,
                            const idm_learn_settings *settings, idm_dynamics_draws *draws,
                            idm_error *opt_error)
{
  *draws = (idm_dynamics_draws){
      .chains = settings->chains, .draws = (size_t)settings->draws, .prior = settings->prior};
  const idm_status status = name_numbers(learner->structure, problem->setting, draws, opt_error);
  if (status != IDM_OK) return status;
  const size_t count = idm_times(draws->chains, draws->draws);
  draws->value = idm_new(idm_times(draws->numbers, count), sizeof *draws->value);
  draws->log_likelihood = idm_new(count, sizeof *draws->log_likelihood);
  return draws->value && draws->log_likelihood ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_learn_draw_watched(const idm_iohmm *learner, const idm_problem *problem,
                                  const idm_dynamics *around, const idm_learn_settings *settings,
                                  const idm_fit_watch *opt_watch, idm_dynamics_draws *draws,
                                  idm_error *opt_error)
{
  idm_require(learner, problem, around, settings, draws);
  *draws = (idm_dynamics_draws){0};
  idm_status status = idm_keys_check(idm_learn_keys(), settings, opt_error);
  if (status == IDM_OK && !idm_sizes_same(learner->structure->sizes, around->sizes))
    status = idm_fail(opt_error, IDM_USAGE, "the dynamics are of another problem");
  if (status == IDM_OK) status = iohmm_check_problem(learner, problem, opt_error);
  if (status == IDM_OK && settings->draws < 1)
    status = idm_fail(opt_error, IDM_USAGE, "no draws are asked for; expected at least 1");
  if (status != IDM_OK) return status;
  double *like = idm_new(around->sizes.states, sizeof *like);
  if (!like) return idm_fail_memory(opt_error);
  structure_means(learner->structure, around->start, like);
  gibbs g = {.learner = learner,
             .around = around,
             .settings = settings,
             .draws = draws,
             .like = like,
             .watch = opt_watch};
  status = make_room(learner, problem, settings, draws, opt_error);
  if (status == IDM_OK) status = open_chains(&g, opt_error);
  if (status == IDM_OK && opt_watch && opt_watch->checkpoint) status = load(&g, opt_error);
  if (status == IDM_OK) status = run_chains(&g, opt_error);
  if (status == IDM_OK) status = find_mode(&g, opt_error);
  close_chains(&g);
  free(like);
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
                          const idm_dynamics *around, const idm_learn_settings *settings,
                          idm_learn_stop opt_stop, void *context, idm_dynamics_draws *draws,
                          idm_error *opt_error)
{
  asked a = {opt_stop, context};
  const idm_fit_watch watch = {.progress = ask, .context = &a};
  return idm_learn_draw_watched(learner, problem, around, settings, opt_stop ? &watch : NULL, draws,
                                opt_error);
}

/* --- draws and problems --------------------------------------------------------------------- */

idm_status idm_dynamics_take(const idm_problem *problem, const idm_dynamics_draws *draws,
                             size_t chain, size_t draw, idm_dynamics *dynamics,
                             idm_error *opt_error)
{
  idm_require(problem, draws, dynamics);
  structure *s = NULL;
  idm_dynamics *own = NULL;
  if (chain >= draws->chains || draw >= draws->draws ||
      !idm_sizes_same(idm_setting_sizes(problem->setting), dynamics->sizes))
    return idm_fail(opt_error, IDM_USAGE, "there is no such draw of these dynamics");
  idm_status status = idm_problem_dynamics(problem, &own, opt_error);
  if (status == IDM_OK) status = structure_create(problem, 0, true, true, &s, opt_error);
  if (status == IDM_OK) {
    const size_t at = chain * draws->draws + draw;
    idm_dynamics_assign(dynamics, own);
    for (size_t i = 0; i < draws->numbers && status == IDM_OK; i++) {
      if (draws->place[i] >= dynamics->numbers)
        status = idm_fail(opt_error, IDM_USAGE, "the draws are of another problem");
      else
        dynamics->start[draws->place[i]] = draws->value[i * draws->chains * draws->draws + at];
    }
    structure_spread(s, dynamics->start);
  }
  structure_destroy(s);
  idm_dynamics_destroy(own);
  return status;
}

idm_status idm_dynamics_names(const idm_problem *problem, idm_labels *ret_names,
                              size_t **ret_places, idm_error *opt_error)
{
  idm_require(problem, ret_names, ret_places);
  structure *s = NULL;
  idm_dynamics *own = NULL;
  idm_dynamics_draws all = {0};
  *ret_names = (idm_labels){0};
  *ret_places = NULL;
  idm_status status = idm_problem_dynamics(problem, &own, opt_error);
  if (status == IDM_OK) status = structure_create(problem, 0, true, true, &s, opt_error);
  if (status == IDM_OK) {
    for (size_t i = 0; i < own->numbers; i++) s->possible[i] = true;
    status = name_numbers(s, problem->setting, &all, opt_error);
  }
  if (status == IDM_OK) {
    *ret_names = all.name;
    *ret_places = all.place;
  } else {
    idm_dynamics_draws_clear(&all);
  }
  structure_destroy(s);
  idm_dynamics_destroy(own);
  return status;
}

void idm_theta_spread(const idm_problem *problem, double *mean, double *largest)
{
  if (!problem || !mean || !largest) return;
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  const size_t width[] = {n.states, n.observations};
  const double *value[] = {theta->block[IDM_TRANSITION].value, theta->block[IDM_EMISSION].value};
  const double *weight = theta->block[IDM_MODEL_PRIOR].value;
  double count = 0;
  *mean = *largest = 0;
  for (size_t k = 0; k < 2; k++)
    for (size_t r = 0; r < n.actions * n.states; r++) {
      if (problem->setting->terminal[r / n.states]) continue;
      for (size_t m = 0; m < theta->models; m++) {
        double apart = 0;
        for (size_t i = 0; i < width[k]; i++) {
          const size_t model = n.actions * n.states * width[k], at = r * width[k] + i;
          double centre = 0;
          for (size_t j = 0; j < theta->models; j++) centre += weight[j] * value[k][j * model + at];
          apart += 0.5 * fabs(value[k][m * model + at] - centre);
        }
        *mean += weight[m] * apart;
        *largest = fmax(*largest, apart);
      }
      count++;
    }
  if (count > 0) *mean /= count;
}
