/* Posterior draws of dynamics: paths of states given dynamics, rows given paths.
 *
 * Trajectories that share a history are exchangeable there: given how many of them are in each
 * state after it, the states before it are independent draws with the weights f(s) tau(s'|s,u)
 * (with omega(x|u,s) where what is seen depends on the state before). So paths are drawn from the
 * ends of the tree to its roots, as counts of trajectories by history and state. Moves
 * after the last thing seen of a trajectory are summed over, not drawn: they say nothing, and would
 * tie a draw of their rows to the draw before. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/parallel.h"
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
  size_t possible = 0;
  for (size_t j = s->row[r].first; j < s->row[r].first + s->row[r].width; j++)
    possible += s->possible[j];
  return structure_leads(s, r) && possible > 1 && s->possible[i];
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

typedef struct gibbs {
  const idm_iohmm *learner;
  const idm_dynamics *around;
  const idm_learn_settings *settings;
  idm_dynamics_draws *draws;
  const double *like; /* [state]: the means whose order draws follow */
  idm_status *status; /* [chain] */
  atomic_bool stop;
  atomic_size_t done; /* sweeps */
  idm_learn_stop opt_stop;
  void *context;
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

static void sweep_on(gibbs *g, size_t chain, pass *p, idm_dynamics *d, double *ordered,
                     double *scratch)
{
  const idm_learn_settings *settings = g->settings;
  const structure *s = g->learner->structure;
  idm_random random;
  idm_random_init(&random, settings->seed,
                  learn_stream(LEARN_STREAM_CHAINS, d->sizes.states, 0, chain));
  disperse(g, &random, p->counts, d);
  for (long k = 0; k < settings->warmup + settings->draws && !g->stop; k++) {
    pass_forward(p, d, false, NULL);
    draw_paths(p, d, &random);
    structure_draw(s, settings->prior, p->counts, &random, d->start);
    atomic_fetch_add(&g->done, 1);
    if (k < settings->warmup) continue;
    memcpy(ordered, d->start, d->numbers * sizeof *ordered);
    structure_order(s, g->like, ordered, scratch);
    keep_draw(g, chain, (size_t)(k - settings->warmup), ordered, pass_forward(p, d, false, NULL));
  }
}

static void run_chain(void *context, size_t chain)
{
  gibbs *g = context;
  pass *p = NULL;
  idm_dynamics *d = NULL;
  const size_t numbers = g->around->numbers;
  double *ordered = idm_new(2 * numbers + 2 * g->around->sizes.states, sizeof *ordered);
  idm_status status = ordered ? pass_create(g->learner, &p, NULL) : IDM_MEMORY;
  if (status == IDM_OK) status = idm_dynamics_create(g->around->sizes, &d, NULL);
  if (status == IDM_OK) {
    idm_dynamics_assign(d, g->around);
    sweep_on(g, chain, p, d, ordered, ordered + numbers);
  }
  g->status[chain] = status;
  idm_dynamics_destroy(d);
  pass_destroy(p);
  free(ordered);
}

static void watch(void *context)
{
  gibbs *g = context;
  const double all =
      (double)g->settings->chains * (double)(g->settings->warmup + g->settings->draws);
  if (g->opt_stop(g->context, (double)atomic_load(&g->done) / all)) g->stop = true;
}

static idm_status run_chains(gibbs *g, idm_error *opt_error)
{
  const size_t chains = g->settings->chains;
  g->status = idm_new(chains, sizeof *g->status);
  if (!g->status) return idm_fail_memory(opt_error);
  idm_status status = idm_parallel(chains, g->settings->threads, run_chain,
                                   g->opt_stop ? watch : NULL, g, opt_error);
  for (size_t i = 0; i < chains && status == IDM_OK; i++)
    if (g->status[i] != IDM_OK) status = idm_fail_memory(opt_error);
  free(g->status);
  if (status == IDM_OK && g->stop) status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  return status;
}

static idm_status make_room(const idm_iohmm *learner, const idm_problem *problem,
                            const idm_learn_settings *settings, idm_dynamics_draws *draws,
                            idm_error *opt_error)
{
  *draws = (idm_dynamics_draws){.chains = settings->chains, .draws = (size_t)settings->draws};
  const idm_status status = name_numbers(learner->structure, problem->setting, draws, opt_error);
  if (status != IDM_OK) return status;
  const size_t count = idm_times(draws->chains, draws->draws);
  draws->value = idm_new(idm_times(draws->numbers, count), sizeof *draws->value);
  draws->log_likelihood = idm_new(count, sizeof *draws->log_likelihood);
  return draws->value && draws->log_likelihood ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_learn_draw(const idm_iohmm *learner, const idm_problem *problem,
                          const idm_dynamics *around, const idm_learn_settings *settings,
                          idm_learn_stop opt_stop, void *context, idm_dynamics_draws *draws,
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
             .opt_stop = opt_stop,
             .context = context};
  status = make_room(learner, problem, settings, draws, opt_error);
  if (status == IDM_OK) status = run_chains(&g, opt_error);
  free(like);
  if (status != IDM_OK) idm_dynamics_draws_clear(draws);
  return status;
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
