/* Baum and Welch's algorithm from several starts.
 *
 * Contents: settings · one start · all of them */
#include "learn/learn.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "learn/modes.h"

/* --- settings ------------------------------------------------------------------------------- */

void idm_learn_settings_default(idm_learn_settings *settings)
{
  if (!settings) return;
  *settings = (idm_learn_settings){.starts = 1,
                                   .iterations = 1000,
                                   .tolerance = 1e-6,
                                   .prior = 1.1,
                                   .chains = 4,
                                   .warmup = 500,
                                   .seed = 1,
                                   .threads = idm_processors()};
}

static const char *const start_words[] = {"file", "random", NULL};
static const char *const hold_words[] = {"nothing", "start", NULL};
_Static_assert(sizeof(idm_learn_start) == sizeof(int), "words are stored as int");

#define FIELD(field) .name = #field, .offset = offsetof(idm_learn_settings, field)
static const idm_key keys[] = {
    {FIELD(start), .kind = IDM_KEY_WORD, .words = start_words, .value = "file|random",
     .help = "where the first start is; any others are random"},
    {FIELD(starts), .kind = IDM_KEY_SIZE, .least = 1, .most = 10000, .value = "N",
     .help = "starts, of which the best is taken; default 10 with --draws or a random first start"},
    {FIELD(repeats), .kind = IDM_KEY_SIZE, .least = 1, .most = 10000, .zero = "off", .value = "N",
     .help = "as many starts again, at most twice, until N of them reach the best; default 3 with "
             "--draws and without --starts"},
    {FIELD(iterations), .kind = IDM_KEY_LONG, .least = 1, .most = 1e6, .value = "N",
     .help = "most steps of a start"},
    {FIELD(tolerance), .kind = IDM_KEY_NUMBER, .least = 0, .most = 1e9, .value = "NATS",
     .help = "a gain that is not worth another step"},
    {FIELD(prior), .kind = IDM_KEY_NUMBER, .least = 1, .most = 1e9, .value = "A",
     .help = "Dirichlet(A) over what is possible in every row"},
    {FIELD(hold), .kind = IDM_KEY_WORD, .words = hold_words, .value = "start",
     .help = "keep the start as it is in the file"},
    {FIELD(folds), .kind = IDM_KEY_SIZE, .least = 2, .most = 10000, .zero = "none", .value = "N",
     .help = "held-out log-likelihood by as many folds, of agents where there are enough, else of "
             "trajectories; 5 unless said with --states"},
    {FIELD(chains), .kind = IDM_KEY_SIZE, .least = 1, .most = 10000, .value = "N",
     .help = "chains of posterior draws"},
    {FIELD(draws), .kind = IDM_KEY_LONG, .least = 1, .most = 1e9, .zero = "none", .value = "N",
     .help = "posterior draws a chain: -o is then a folder, a run for `fit --dynamics`"},
    {FIELD(warmup), .kind = IDM_KEY_LONG, .least = 0, .most = 1e9, .value = "N",
     .help = "draws of a chain that are left out at its beginning"},
    {FIELD(seed), .kind = IDM_KEY_SEED, .value = "SEED", .help = "seed"},
    {.name = NULL},
};
#undef FIELD

const idm_key *idm_learn_keys(void)
{
  return keys;
}

/* --- one start ------------------------------------------------------------------------------ */

/* One start: where it begins, and what became of it. */
typedef struct climb {
  idm_dynamics *dynamics; /* of the start, then of its end */
  double log_likelihood;
  double objective; /* -inf where the data are impossible */
  bool converged;
  size_t steps;
  double *trace; /* [iterations + 1] */
  size_t impossible;
  bool renamed;
} climb;

static void climb_clear(climb *c)
{
  idm_dynamics_destroy(c->dynamics);
  free(c->trace);
  *c = (climb){0};
}

static double objective_of(pass *p, const idm_learn_settings *settings, climb *c)
{
  c->log_likelihood = pass_forward(p, c->dynamics, false, &c->impossible);
  return c->log_likelihood +
         structure_penalty(p->learner->structure, settings->prior, c->dynamics->start);
}

/* Steps until the gain is not worth one. A last step that only rounding moved is taken back, so
 * that the trace never falls. */
static void climb_on(pass *p, const idm_learn_settings *settings, const atomic_bool *stop, climb *c,
                     double *before)
{
  const size_t bytes = c->dynamics->numbers * sizeof *before;
  c->objective = c->trace[c->steps++] = objective_of(p, settings, c);
  for (long k = 0; k < settings->iterations && isfinite(c->objective) && !*stop; k++) {
    const double log_likelihood = c->log_likelihood;
    pass_backward(p, c->dynamics);
    memcpy(before, c->dynamics->start, bytes);
    structure_maximise(p->learner->structure, settings->prior, p->counts, c->dynamics->start);
    const double reached = objective_of(p, settings, c);
    const double gain = reached - c->objective;
    c->converged = !(gain > settings->tolerance);
    if (!(gain >= 0)) {
      memcpy(c->dynamics->start, before, bytes);
      c->log_likelihood = log_likelihood;
      return;
    }
    c->objective = c->trace[c->steps++] = reached;
    if (c->converged) return;
  }
}

/* Climb from its dynamics. *stop is looked at before every step. */
static idm_status climb_run(const idm_iohmm *learner, const idm_learn_settings *settings,
                            const atomic_bool *stop, climb *c, idm_error *opt_error)
{
  pass *p = NULL;
  double *before = idm_new(c->dynamics->numbers, sizeof *before);
  c->trace = idm_new((size_t)settings->iterations + 1, sizeof *c->trace);
  c->steps = 0;
  idm_status status = before && c->trace ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = pass_create(learner, &p, opt_error);
  if (status == IDM_OK) climb_on(p, settings, stop, c, before);
  pass_destroy(p);
  free(before);
  return status;
}

idm_status learn_climb(const idm_iohmm *learner, const idm_learn_settings *settings,
                       idm_dynamics *dynamics, double *ret_log_likelihood, idm_error *opt_error)
{
  const atomic_bool stop = false;
  climb c = {.dynamics = dynamics};
  const idm_status status = climb_run(learner, settings, &stop, &c, opt_error);
  *ret_log_likelihood = c.log_likelihood;
  free(c.trace);
  return status;
}

idm_status iohmm_check_problem(const idm_iohmm *learner, const idm_problem *problem,
                               idm_error *opt_error)
{
  const idm_sizes n = learner->structure->sizes;
  if (problem->setting->actions.count == n.actions &&
      problem->setting->observations.count == n.observations)
    return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE, "what is learnt is of another problem");
}

/* Dynamics for new states, where the problem has none: even over what is possible. */
static void even(const idm_iohmm *learner, idm_dynamics *dynamics)
{
  const structure *s = learner->structure;
  for (size_t r = 0; r < s->rows; r++) {
    const row *it = &s->row[r];
    size_t possible = 0;
    for (size_t i = it->first; i < it->first + it->width; i++) possible += s->possible[i];
    for (size_t i = it->first; i < it->first + it->width; i++)
      dynamics->start[i] = s->possible[i] ? 1.0 / (double)possible : 0;
  }
}

/* Random dynamics of a start, whose states are ordered at its end. */
static void draw_start(const idm_iohmm *learner, uint64_t seed, size_t index,
                       idm_dynamics *dynamics)
{
  idm_random random;
  idm_random_init(&random, seed,
                  learn_stream(LEARN_STREAM_STARTS, dynamics->sizes.states, 0, index));
  structure_draw(learner->structure, 1, NULL, &random, dynamics->start);
}

/* --- all of them ---------------------------------------------------------------------------- */

void idm_learnt_clear(idm_learnt *learnt)
{
  if (!learnt) return;
  modes_clear(&learnt->modes);
  free(learnt->trace);
  free(learnt->reached);
  *learnt = (idm_learnt){0};
}

/* Starts run in rounds of settings->starts. The number of rounds depends on the objectives alone,
 * so that it is the same at any thread count. */
typedef struct search {
  const idm_iohmm *learner;
  const idm_learn_settings *settings;
  climb *climb; /* [room] */
  idm_status *status;
  bool named;         /* the file names the states; else they are in ascending order of means */
  idm_dynamics *file; /* whose states are named; NULL: without names */
  size_t room;        /* the most starts of all rounds */
  size_t first;       /* start of this round */
  size_t starts;
  idm_learn_stop opt_stop;
  void *context;
  atomic_bool stop;
  atomic_size_t done; /* starts */
} search;

/* Random starts end at modes that differ by the names of states alone, also where zeros distinguish
 * states. Climb again with the names that are nearest to the file's. The data decide on names where
 * they prefer the others by more than `clearly`. */
static idm_status rename_end(search *s, climb *c)
{
  static const double clearly = 10; /* nats */
  climb other = {0};
  double *scratch = idm_new(structure_room(s->learner->structure), sizeof *scratch);
  idm_status status = scratch ? idm_dynamics_create(c->dynamics->sizes, &other.dynamics, NULL)
                              : idm_fail_memory(NULL);
  if (status == IDM_OK) idm_dynamics_assign(other.dynamics, c->dynamics);
  if (status == IDM_OK &&
      structure_relabel(s->learner->structure, s->file->start, other.dynamics->start, scratch)) {
    status = climb_run(s->learner, s->settings, &s->stop, &other, NULL);
    if (status == IDM_OK && other.objective >= c->objective - clearly) {
      const climb kept = *c;
      *c = other;
      c->renamed = true;
      other = kept;
    }
  }
  climb_clear(&other);
  free(scratch);
  return status;
}

static void run_start(void *context, size_t index)
{
  search *s = context;
  const size_t at = s->first + index;
  climb *c = &s->climb[at];
  s->status[at] = climb_run(s->learner, s->settings, &s->stop, c, NULL);
  if (s->status[at] == IDM_OK && s->file && at > 0 && isfinite(c->objective))
    s->status[at] = rename_end(s, c);
  atomic_fetch_add(&s->done, 1);
}

static void watch(void *context)
{
  search *s = context;
  if (s->opt_stop(s->context, (double)atomic_load(&s->done) / (double)s->starts)) s->stop = true;
}

static size_t best_of(const search *s)
{
  size_t best = 0;
  for (size_t i = 1; i < s->starts; i++)
    if (s->climb[i].objective > s->climb[best].objective) best = i;
  return best;
}

/* Starts that end at the highest mode. Objectives of one mode differ by what the tolerance leaves
 * of slow convergence. */
static bool is_best(const search *s, size_t i, size_t best)
{
  static const double same_mode = 0.05; /* nats */
  return s->climb[i].objective >= s->climb[best].objective - same_mode;
}

static size_t count_best(const search *s)
{
  const size_t best = best_of(s);
  size_t count = 0;
  for (size_t i = 0; i < s->starts; i++) count += is_best(s, i, best);
  return count;
}

static idm_status run_rounds(search *s, idm_error *opt_error)
{
  const size_t round = s->settings->starts;
  idm_status status = IDM_OK;
  while (status == IDM_OK && !s->stop && s->starts < s->room &&
         (!s->starts || count_best(s) < s->settings->repeats)) {
    s->first = s->starts;
    s->starts += round;
    status = idm_parallel(round, s->settings->threads, run_start, s->opt_stop ? watch : NULL, s,
                          opt_error);
    for (size_t i = s->first; i < s->starts && status == IDM_OK; i++)
      if (s->status[i] != IDM_OK) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && s->stop) return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  return status;
}

/* The file's own dynamics, or for new states even ones; then random ones. */
static idm_status place_starts(search *s, const idm_problem *problem, idm_error *opt_error)
{
  const structure *of = s->learner->structure;
  const bool own = idm_sizes_same(of->sizes, idm_setting_sizes(problem->setting));
  idm_dynamics *file = NULL;
  idm_status status = own ? idm_problem_dynamics(problem, &file, opt_error)
                          : idm_dynamics_create(of->sizes, &file, opt_error);
  if (status == IDM_OK && !own) even(s->learner, file);
  for (size_t i = 0; i < s->room && status == IDM_OK; i++) {
    status = idm_dynamics_create(of->sizes, &s->climb[i].dynamics, opt_error);
    if (status != IDM_OK) break;
    idm_dynamics_assign(s->climb[i].dynamics, file);
    if (i > 0 || !s->named) draw_start(s->learner, s->settings->seed, i, s->climb[i].dynamics);
  }
  if (s->named)
    s->file = file;
  else
    idm_dynamics_destroy(file);
  return status;
}

static idm_status check_start(const idm_iohmm *learner, const idm_problem *problem,
                              const climb *first, idm_error *opt_error)
{
  size_t one, other;
  if (!structure_alike(learner->structure, first->dynamics->start, &one, &other)) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "the states '%s' and '%s' are alike in every number of the file, so that learning "
      "from there never tells them apart; give a first guess that does, or use "
      "--start random",
      problem->setting->states.name[one], problem->setting->states.name[other]);
}

/* Whether a row that leads its tie could be learnt: it is not of a terminal action. */
static bool could_be_learnt(const structure *s, size_t r)
{
  const size_t pair = r ? (r - 1) % (s->sizes.actions * s->sizes.states) : 0;
  return s->row[r].same == r && (r ? s->learnt[pair / s->sizes.states] : s->row[r].learnt);
}

/* Rows that no trajectory is expected to visit. */
static idm_status count_unvisited(const idm_iohmm *learner, const idm_dynamics *d,
                                  size_t *ret_count, idm_error *opt_error)
{
  static const double hardly = 1e-6;
  const structure *s = learner->structure;
  pass *p = NULL;
  const idm_status status = pass_create(learner, &p, opt_error);
  if (status != IDM_OK) return status;
  pass_forward(p, d, false, NULL);
  pass_backward(p, d);
  structure_gather(s, p->counts);
  *ret_count = 0;
  for (size_t r = 0; r < s->rows; r++) {
    double visits = 0;
    for (size_t i = 0; i < s->row[r].width; i++) visits += p->counts[s->row[r].first + i];
    *ret_count += could_be_learnt(s, r) && visits < hardly;
  }
  pass_destroy(p);
  return IDM_OK;
}

/* Order the states of a random start by their means: as those of the file, or ascending. */
static idm_status order_states(const search *s, idm_dynamics *d, idm_error *opt_error)
{
  if (!s->named) return idm_iohmm_order(s->learner, d, opt_error);
  double *scratch = idm_new(structure_room(s->learner->structure), sizeof *scratch);
  if (!scratch) return idm_fail_memory(opt_error);
  structure_order(s->learner->structure, s->file->start, d->start, scratch);
  free(scratch);
  return IDM_OK;
}

/* The ends of all starts that are possible, the best first. */
static idm_status find_modes(const search *s, idm_learnt *learnt, idm_error *opt_error)
{
  const idm_dynamics **end = idm_new(s->starts, sizeof *end);
  size_t ends = 1;
  if (!end) return idm_fail_memory(opt_error);
  end[0] = s->climb[learnt->best].dynamics;
  for (size_t i = 0; i < s->starts; i++)
    if (i != learnt->best && isfinite(s->climb[i].objective)) end[ends++] = s->climb[i].dynamics;
  const idm_status status =
      modes_find(s->learner, s->settings->prior, end, ends, &learnt->modes, opt_error);
  free(end);
  if (status == IDM_OK) learnt->dynamics = learnt->modes.mode[0];
  return status;
}

/* The best of the starts, in its place. At the same mode the file's start comes first: it has the
 * file's states. */
static idm_status take_best(search *s, idm_learnt *learnt, idm_error *opt_error)
{
  learnt->starts = s->starts;
  learnt->reached = idm_new(s->starts, sizeof *learnt->reached);
  if (!learnt->reached) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < s->starts; i++) learnt->reached[i] = s->climb[i].objective;
  learnt->best = best_of(s);
  learnt->met = count_best(s);
  for (size_t i = 0; i < s->starts; i++) learnt->renamed += s->climb[i].renamed;
  if (s->named && is_best(s, 0, learnt->best)) learnt->best = 0;
  climb *best = &s->climb[learnt->best];
  if (best->objective == -INFINITY) return pass_refuse(s->learner, best->impossible, opt_error);
  learnt->log_likelihood = best->log_likelihood;
  learnt->objective = best->objective;
  learnt->converged = best->converged;
  learnt->steps = best->steps;
  learnt->trace = best->trace;
  best->trace = NULL;
  const bool random = learnt->best > 0 || !s->named;
  idm_status status = random ? order_states(s, best->dynamics, opt_error) : IDM_OK;
  if (status == IDM_OK) status = find_modes(s, learnt, opt_error);
  if (status != IDM_OK) return status;
  return count_unvisited(s->learner, learnt->dynamics, &learnt->unvisited, opt_error);
}

static void search_close(search *s)
{
  for (size_t i = 0; s->climb && i < s->room; i++) climb_clear(&s->climb[i]);
  free(s->climb);
  free(s->status);
  idm_dynamics_destroy(s->file);
}

static idm_status search_open(search *s, const idm_problem *problem, idm_error *opt_error)
{
  enum { most_rounds = 3 };
  const idm_sizes n = s->learner->structure->sizes;
  s->named = s->settings->start == IDM_LEARN_FROM_FILE &&
             idm_sizes_same(n, idm_setting_sizes(problem->setting));
  s->room = s->settings->starts * (s->settings->repeats ? most_rounds : 1);
  assert(s->room > 0); /* the settings have at least one start */
  s->climb = idm_new(s->room, sizeof *s->climb);
  s->status = idm_new(s->room, sizeof *s->status);
  if (!s->climb || !s->status) return idm_fail_memory(opt_error);
  return place_starts(s, problem, opt_error);
}

idm_status idm_learn(const idm_iohmm *learner, const idm_problem *problem,
                     const idm_learn_settings *settings, idm_learn_stop opt_stop, void *context,
                     idm_learnt *learnt, idm_error *opt_error)
{
  idm_require(learner, problem, settings, learnt);
  *learnt = (idm_learnt){0};
  idm_status status = idm_keys_check(keys, settings, opt_error);
  if (status == IDM_OK) status = iohmm_check_problem(learner, problem, opt_error);
  if (status != IDM_OK) return status;
  search s = {.learner = learner, .settings = settings, .opt_stop = opt_stop, .context = context};
  status = search_open(&s, problem, opt_error);
  if (status == IDM_OK && settings->start == IDM_LEARN_FROM_FILE)
    status = check_start(learner, problem, &s.climb[0], opt_error);
  if (status == IDM_OK) status = run_rounds(&s, opt_error);
  if (status == IDM_OK) status = take_best(&s, learnt, opt_error);
  search_close(&s);
  if (status != IDM_OK) idm_learnt_clear(learnt);
  return status;
}
