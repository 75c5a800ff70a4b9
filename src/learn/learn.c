/* The Baum-Welch algorithm from several starts, and the modes of the posterior of dynamics
 * (docs/method/learning.md, 2 and 4).
 *
 * Contents: modes · learn */
#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/system.h"
#include "learn/learn.h"
#include "setting/model.h"

/* === modes ================================================================================== */

/* Modes of the posterior of dynamics.
 *
 * The Cheeseman-Stutz approximation replaces the hidden states by their expected counts at the
 * mode, for which the evidence is known (a product of Dirichlet-multinomials), and multiplies it by
 * the ratio of the likelihoods of observed and complete data there. The approximation only selects
 * the modes that chains start at and jump between, so that its error does not bias draws.
 *
 * Contents: evidence · distinct modes · starts of chains */

/* A mode this far below the best, in nats, has a weight of 5e-5. The approximation has an error of
 * a few nats, so that an omitted mode has less than one draw in a thousand. */
static const double max_evidence_drop = 10;
/* Modes are distinct where their divergence on complete data exceeds this, in nats. A Gibbs sweep
 * moves freely between closer ones. */
static const double tied_to = 3;

/* --- evidence ------------------------------------------------------------------------------- */

/* log of the Dirichlet-multinomial of a row's counts, less the log-likelihood of these counts. */
static double row_evidence(const structure *s, const structure_row *row, double prior,
                           const double *counts, const double *numbers)
{
  double sum = 0, shapes = 0, priors = 0;
  for (size_t i = row->first; i < row->first + row->width; i++) {
    if (!s->possible[i]) continue;
    sum += idm_log_gamma(prior + counts[i]) - idm_log_gamma(prior);
    if (counts[i] > 0) sum -= counts[i] * log(numbers[i]);
    shapes += prior + counts[i];
    priors += prior;
  }
  return priors > 0 ? sum + idm_log_gamma(priors) - idm_log_gamma(shapes) : 0;
}

double modes_log_evidence(smoother *p, double prior, const idm_dynamics *mode)
{
  const structure *s = p->learner->structure;
  double sum = smoother_forward(p, mode, false, NULL);
  if (!isfinite(sum)) return -INFINITY;
  smoother_backward(p, mode);
  structure_sum_ties(s, p->counts);
  for (size_t r = 0; r < s->rows; r++)
    if (structure_is_own_row(s, r))
      sum += row_evidence(s, &s->row[r], prior, p->counts, mode->start);
  return sum;
}

/* --- distinct modes ------------------------------------------------------------------------- */

double modes_divergence(const structure *s, const double *counts, const double *numbers,
                        const double *other)
{
  double sum = 0;
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    for (size_t i = row->first; structure_is_own_row(s, r) && i < row->first + row->width; i++)
      if (counts[i] > 0) sum += counts[i] * log(numbers[i] / other[i]);
  }
  return sum;
}

static void modes_clear(idm_modes *modes)
{
  for (size_t i = 0; modes->mode && i < modes->count; i++) idm_dynamics_destroy(modes->mode[i]);
  free(modes->mode);
  free(modes->log_evidence);
  *modes = (idm_modes){0};
}

/* End point of a search. */
typedef struct candidate {
  idm_dynamics *dynamics;
  double *counts; /* expected counts, summed over ties */
  double log_evidence;
  bool used;
} candidate;

static void candidates_destroy(candidate *c, size_t count)
{
  for (size_t i = 0; c && i < count; i++) {
    idm_dynamics_destroy(c[i].dynamics);
    free(c[i].counts);
  }
  free(c);
}

/* All end points, with states relabelled to match the first. */
static idm_status make_candidates(smoother *p, double prior,
                                  const idm_dynamics *const *mode_dynamics, size_t mode_count,
                                  candidate *c, idm_error *opt_error)
{
  const structure *s = p->learner->structure;
  const size_t numbers = mode_dynamics[0]->numbers;
  double *scratch = idm_new(structure_scratch_size(s), sizeof *scratch);
  idm_status status = scratch ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < mode_count && status == IDM_OK; i++) {
    c[i].counts = idm_new(numbers, sizeof *c[i].counts);
    status = c[i].counts ? idm_dynamics_create(s->sizes, &c[i].dynamics, opt_error)
                         : idm_fail_memory(opt_error);
    if (status != IDM_OK) break;
    idm_dynamics_assign(c[i].dynamics, mode_dynamics[i]);
    if (i > 0) structure_match_states(s, mode_dynamics, 1, c[i].dynamics->start, scratch);
    c[i].log_evidence = modes_log_evidence(p, prior, c[i].dynamics);
    memcpy(c[i].counts, p->counts, numbers * sizeof *c[i].counts);
  }
  free(scratch);
  return status;
}

/* Add a candidate to the modes, unless it is within the divergence of one of them. */
static void keep_distinct(const structure *s, candidate *c, idm_modes *modes)
{
  c->used = true;
  for (size_t m = 0; m < modes->count; m++) {
    assert(c->dynamics && modes->mode[m]);
    if (modes_divergence(s, c->counts, c->dynamics->start, modes->mode[m]->start) <= tied_to)
      return;
  }
  modes->log_evidence[modes->count] = c->log_evidence;
  modes->mode[modes->count++] = c->dynamics;
  c->dynamics = NULL;
}

/* The unused candidate with the highest evidence; NULL where it is too far below the best. */
static candidate *next_best(candidate *c, size_t count)
{
  double highest = -INFINITY;
  candidate *best = NULL;
  for (size_t i = 0; i < count; i++) {
    highest = fmax(highest, c[i].log_evidence);
    if (!c[i].used && (!best || c[i].log_evidence > best->log_evidence)) best = &c[i];
  }
  return best && best->log_evidence >= highest - max_evidence_drop ? best : NULL;
}

/* The distinct modes among the end points of a search. mode_dynamics[0], the best, becomes the
 * first mode, and its order of states is used for the others. */
static idm_status modes_find(const idm_iohmm *learner, double prior,
                             const idm_dynamics *const *mode_dynamics, size_t mode_count,
                             idm_modes *modes, idm_error *opt_error)
{
  smoother *p = NULL;
  assert(mode_count > 0);
  candidate *c = idm_new(mode_count, sizeof *c);
  *modes = (idm_modes){0};
  modes->mode = idm_new(MODES_MAX, sizeof *modes->mode);
  modes->log_evidence = idm_new(MODES_MAX, sizeof *modes->log_evidence);
  idm_status status = c && modes->mode && modes->log_evidence ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = smoother_create(learner, &p, opt_error);
  if (status == IDM_OK) status = make_candidates(p, prior, mode_dynamics, mode_count, c, opt_error);
  candidate *next = status == IDM_OK ? &c[0] : NULL;
  while (next && modes->count < MODES_MAX) {
    keep_distinct(learner->structure, next, modes);
    next = next_best(c, mode_count);
  }
  smoother_destroy(p);
  candidates_destroy(c, mode_count);
  if (status != IDM_OK) modes_clear(modes);
  return status;
}

/* --- starts of chains ----------------------------------------------------------------------- */

size_t modes_start(const idm_modes *modes, size_t chain)
{
  static const double share = 0.01;
  size_t eligible[MODES_MAX], eligible_count = 0;
  if (modes->count == 1) return 0;
  const double all = idm_log_sum_exp(modes->log_evidence, modes->count);
  for (size_t m = 0; m < modes->count; m++)
    if (modes->log_evidence[m] - all >= log(share)) eligible[eligible_count++] = m;
  return eligible_count ? eligible[chain % eligible_count] : 0;
}

/* === learn ================================================================================== */

/* The Baum-Welch algorithm from several starts.
 *
 * Contents: settings · one start · all of them */

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
    {FIELD(start), .kind = IDM_KEY_ENUM, .words = start_words, .value = "file|random",
     .help = "first start, at the file's dynamics or random; all others are random"},
    {FIELD(starts), .kind = IDM_KEY_SIZE, .least = 1, .most = 10000, .value = "N",
     .help = "number of starts, of which the best is used; default 10 with --draws or a random "
             "first start"},
    {FIELD(repeats), .kind = IDM_KEY_SIZE, .least = 1, .most = 10000, .zero = "off", .value = "N",
     .help = "repeat the starts, at most twice, until N of them reach the best; default 3 with "
             "--draws and without --starts"},
    {FIELD(iterations), .kind = IDM_KEY_LONG, .least = 1, .most = 1e6, .value = "N",
     .help = "most iterations per start"},
    {FIELD(tolerance), .kind = IDM_KEY_NUMBER, .least = 0, .most = 1e9, .value = "NATS",
     .help = "stop where a step gains at most this"},
    {FIELD(prior), .kind = IDM_KEY_NUMBER, .least = 1, .most = 1e9, .value = "A",
     .help = "Dirichlet(A) prior over the possible entries of every row"},
    {FIELD(hold), .kind = IDM_KEY_ENUM, .words = hold_words, .value = "start",
     .help = "hold the start at the probabilities of the file"},
    {FIELD(folds), .kind = IDM_KEY_SIZE, .least = 2, .most = 10000, .zero = "none", .value = "N",
     .help = "held-out log-likelihood by N folds, of agents where there are enough, else of "
             "trajectories; default 5 with --states"},
    {FIELD(chains), .kind = IDM_KEY_SIZE, .least = 1, .most = 10000, .value = "N",
     .help = "chains of posterior draws"},
    {FIELD(draws), .kind = IDM_KEY_LONG, .least = 1, .most = 1e9, .zero = "none", .value = "N",
     .help = "posterior draws per chain; -o is then a folder, a run for `fit --dynamics`"},
    {FIELD(warmup), .kind = IDM_KEY_LONG, .least = 0, .most = 1e9, .value = "N",
     .help = "warm-up draws per chain, which are discarded"},
    {FIELD(seed), .kind = IDM_KEY_SEED, .value = "SEED", .help = "seed"},
    {.name = NULL},
};
#undef FIELD

const idm_key *idm_learn_keys(void)
{
  return keys;
}

/* --- one start ------------------------------------------------------------------------------ */

/* One run of the algorithm: its dynamics and results. */
typedef struct em_run {
  idm_dynamics *dynamics; /* of the start, then of the end point */
  double log_likelihood;
  double objective; /* -inf where the data are impossible */
  bool converged;
  size_t steps;
  double *trace; /* [iterations + 1] */
  size_t impossible;
  bool renamed;
} em_run;

static void em_run_clear(em_run *c)
{
  idm_dynamics_destroy(c->dynamics);
  free(c->trace);
  *c = (em_run){0};
}

static double evaluate_objective(smoother *p, const idm_learn_settings *settings, em_run *c)
{
  c->log_likelihood = smoother_forward(p, c->dynamics, false, &c->impossible);
  return c->log_likelihood +
         structure_log_prior(p->learner->structure, settings->prior, c->dynamics->start);
}

/* Iterate until the gain is at most the tolerance. A last step that lowers the objective by
 * rounding is undone, so that the trace never decreases. */
static void em_iterate(smoother *p, const idm_learn_settings *settings, const atomic_bool *stop,
                       em_run *c, double *previous)
{
  const size_t bytes = c->dynamics->numbers * sizeof *previous;
  c->objective = c->trace[c->steps++] = evaluate_objective(p, settings, c);
  for (long k = 0; k < settings->iterations && isfinite(c->objective) && !*stop; k++) {
    const double log_likelihood = c->log_likelihood;
    smoother_backward(p, c->dynamics);
    memcpy(previous, c->dynamics->start, bytes);
    structure_maximise(p->learner->structure, settings->prior, p->counts, c->dynamics->start);
    const double reached = evaluate_objective(p, settings, c);
    const double gain = reached - c->objective;
    c->converged = !(gain > settings->tolerance);
    if (!(gain >= 0)) {
      memcpy(c->dynamics->start, previous, bytes);
      c->log_likelihood = log_likelihood;
      return;
    }
    c->objective = c->trace[c->steps++] = reached;
    if (c->converged) return;
  }
}

/* Maximise the objective from c->dynamics. *stop is read before every step. */
static idm_status run_em(const idm_iohmm *learner, const idm_learn_settings *settings,
                         const atomic_bool *stop, em_run *c, idm_error *opt_error)
{
  smoother *p = NULL;
  double *previous = idm_new(c->dynamics->numbers, sizeof *previous);
  c->trace = idm_new((size_t)settings->iterations + 1, sizeof *c->trace);
  c->steps = 0;
  idm_status status = previous && c->trace ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = smoother_create(learner, &p, opt_error);
  if (status == IDM_OK) em_iterate(p, settings, stop, c, previous);
  smoother_destroy(p);
  free(previous);
  return status;
}

idm_status learn_maximise(const idm_iohmm *learner, const idm_learn_settings *settings,
                          idm_dynamics *dynamics, double *ret_log_likelihood, idm_error *opt_error)
{
  const atomic_bool stop = false;
  em_run c = {.dynamics = dynamics};
  const idm_status status = run_em(learner, settings, &stop, &c, opt_error);
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
  return idm_fail(opt_error, IDM_USAGE, "the learner belongs to another problem");
}

/* Uniform dynamics over possible outcomes, for states that the problem does not have. */
static void fill_uniform(const idm_iohmm *learner, idm_dynamics *dynamics)
{
  const structure *s = learner->structure;
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    size_t possible = 0;
    for (size_t i = row->first; i < row->first + row->width; i++) possible += s->possible[i];
    for (size_t i = row->first; i < row->first + row->width; i++)
      dynamics->start[i] = s->possible[i] ? 1.0 / (double)possible : 0;
  }
}

/* Random dynamics of a start; states are ordered at its end point. */
static void draw_start(const idm_iohmm *learner, uint64_t seed, size_t index,
                       idm_dynamics *dynamics)
{
  idm_random random;
  idm_random_init(&random, seed,
                  learn_stream(LEARN_STREAM_STARTS, dynamics->sizes.states, 0, index));
  structure_draw(learner->structure, 1, NULL, &random, dynamics->start);
}

/* --- all of them ---------------------------------------------------------------------------- */

void idm_learn_result_clear(idm_learn_result *learnt)
{
  if (!learnt) return;
  modes_clear(&learnt->modes);
  free(learnt->trace);
  free(learnt->reached);
  *learnt = (idm_learn_result){0};
}

/* Starts in rounds of settings->starts. The number of rounds depends on the objectives alone, so
 * that it is the same at any number of threads. */
typedef struct multi_start {
  const idm_iohmm *learner;
  const idm_learn_settings *settings;
  em_run *em_run; /* [max_starts] */
  idm_status *status;
  bool named; /* the states have the names of the file; else they are in ascending order of their
                 means */
  idm_dynamics *file; /* dynamics of the file, whose order of states is used; NULL: no names */
  size_t max_starts;  /* most starts of all rounds */
  size_t first;       /* first start of this round */
  size_t starts;
  idm_learn_stop opt_stop;
  void *context;
  atomic_bool stop;
  atomic_size_t done; /* finished starts */
} multi_start;

/* Random starts end at modes that differ by the labels of states, even where zeros distinguish
 * states. Run again from the labels nearest to the file's; keep its end point unless its objective
 * is lower by more than label_margin. */
static idm_status relabel_end(multi_start *s, em_run *c)
{
  static const double label_margin = 10; /* nats */
  em_run other = {0};
  double *scratch = idm_new(structure_scratch_size(s->learner->structure), sizeof *scratch);
  idm_status status = scratch ? idm_dynamics_create(c->dynamics->sizes, &other.dynamics, NULL)
                              : idm_fail_memory(NULL);
  if (status == IDM_OK) idm_dynamics_assign(other.dynamics, c->dynamics);
  if (status == IDM_OK &&
      structure_relabel(s->learner->structure, s->file->start, other.dynamics->start, scratch)) {
    status = run_em(s->learner, s->settings, &s->stop, &other, NULL);
    if (status == IDM_OK && other.objective >= c->objective - label_margin) {
      const em_run kept = *c;
      *c = other;
      c->renamed = true;
      other = kept;
    }
  }
  em_run_clear(&other);
  free(scratch);
  return status;
}

static void run_start(void *context, size_t index)
{
  multi_start *s = context;
  const size_t at = s->first + index;
  em_run *c = &s->em_run[at];
  s->status[at] = run_em(s->learner, s->settings, &s->stop, c, NULL);
  if (s->status[at] == IDM_OK && s->file && at > 0 && isfinite(c->objective))
    s->status[at] = relabel_end(s, c);
  atomic_fetch_add(&s->done, 1);
}

static void poll_stop(void *context)
{
  multi_start *s = context;
  if (s->opt_stop(s->context, (double)atomic_load(&s->done) / (double)s->starts)) s->stop = true;
}

static size_t best_of(const multi_start *s)
{
  size_t best = 0;
  for (size_t i = 1; i < s->starts; i++)
    if (s->em_run[i].objective > s->em_run[best].objective) best = i;
  return best;
}

/* Whether a start ended at the highest mode. Objectives of one mode differ by what slow convergence
 * leaves at the tolerance. */
static bool is_best(const multi_start *s, size_t i, size_t best)
{
  static const double same_mode = 0.05; /* nats */
  return s->em_run[i].objective >= s->em_run[best].objective - same_mode;
}

static size_t count_converged(const multi_start *s)
{
  const size_t best = best_of(s);
  size_t count = 0;
  for (size_t i = 0; i < s->starts; i++) count += is_best(s, i, best);
  return count;
}

static idm_status run_rounds(multi_start *s, idm_error *opt_error)
{
  const size_t round_size = s->settings->starts;
  idm_status status = IDM_OK;
  while (status == IDM_OK && !s->stop && s->starts < s->max_starts &&
         (!s->starts || count_converged(s) < s->settings->repeats)) {
    s->first = s->starts;
    s->starts += round_size;
    status = idm_parallel(round_size, s->settings->threads, run_start,
                          s->opt_stop ? poll_stop : NULL, s, opt_error);
    for (size_t i = s->first; i < s->starts && status == IDM_OK; i++)
      if (s->status[i] != IDM_OK) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && s->stop) return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  return status;
}

/* The file's dynamics (uniform ones for new states) as the first start, then random ones. */
static idm_status create_starts(multi_start *s, const idm_problem *problem, idm_error *opt_error)
{
  const structure *of = s->learner->structure;
  const bool own = idm_sizes_same(of->sizes, idm_setting_sizes(problem->setting));
  idm_dynamics *file = NULL;
  idm_status status = own ? idm_problem_dynamics(problem, &file, opt_error)
                          : idm_dynamics_create(of->sizes, &file, opt_error);
  if (status == IDM_OK && !own) fill_uniform(s->learner, file);
  for (size_t i = 0; i < s->max_starts && status == IDM_OK; i++) {
    status = idm_dynamics_create(of->sizes, &s->em_run[i].dynamics, opt_error);
    if (status != IDM_OK) break;
    idm_dynamics_assign(s->em_run[i].dynamics, file);
    if (i > 0 || !s->named) draw_start(s->learner, s->settings->seed, i, s->em_run[i].dynamics);
  }
  if (s->named)
    s->file = file;
  else
    idm_dynamics_destroy(file);
  return status;
}

static idm_status check_start(const idm_iohmm *learner, const idm_problem *problem,
                              const em_run *first, idm_error *opt_error)
{
  size_t one, other;
  if (!structure_find_identical(learner->structure, first->dynamics->start, &one, &other))
    return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "the states '%s' and '%s' have equal probabilities everywhere in the file, so that learning "
      "from there cannot distinguish them; give a start that does, or use --start random",
      problem->setting->states.name[one], problem->setting->states.name[other]);
}

/* Whether a row that leads its ties can be learnt, which those of terminal actions cannot. */
static bool could_be_learnt(const structure *s, size_t r)
{
  const size_t pair = r ? (r - 1) % (s->sizes.actions * s->sizes.states) : 0;
  return s->row[r].tied_to == r && (r ? s->learnt[pair / s->sizes.states] : s->row[r].learnt);
}

/* Number of rows with hardly any expected visits. */
static idm_status count_unvisited(const idm_iohmm *learner, const idm_dynamics *d,
                                  size_t *ret_count, idm_error *opt_error)
{
  static const double min_visits = 1e-6;
  const structure *s = learner->structure;
  smoother *p = NULL;
  const idm_status status = smoother_create(learner, &p, opt_error);
  if (status != IDM_OK) return status;
  smoother_forward(p, d, false, NULL);
  smoother_backward(p, d);
  structure_sum_ties(s, p->counts);
  *ret_count = 0;
  for (size_t r = 0; r < s->rows; r++) {
    double visits = 0;
    for (size_t i = 0; i < s->row[r].width; i++) visits += p->counts[s->row[r].first + i];
    *ret_count += could_be_learnt(s, r) && visits < min_visits;
  }
  smoother_destroy(p);
  return IDM_OK;
}

/* Order the states of a random start by their means: as the states of the file, or ascending. */
static idm_status order_states(const multi_start *s, idm_dynamics *d, idm_error *opt_error)
{
  if (!s->named) return idm_iohmm_order(s->learner, d, opt_error);
  double *scratch = idm_new(structure_scratch_size(s->learner->structure), sizeof *scratch);
  if (!scratch) return idm_fail_memory(opt_error);
  structure_order(s->learner->structure, s->file->start, d->start, scratch);
  free(scratch);
  return IDM_OK;
}

/* The end points of all possible starts, the best first. */
static idm_status find_modes(const multi_start *s, idm_learn_result *learnt, idm_error *opt_error)
{
  const idm_dynamics **mode_dynamics = idm_new(s->starts, sizeof *mode_dynamics);
  size_t mode_count = 1;
  if (!mode_dynamics) return idm_fail_memory(opt_error);
  mode_dynamics[0] = s->em_run[learnt->best].dynamics;
  for (size_t i = 0; i < s->starts; i++)
    if (i != learnt->best && isfinite(s->em_run[i].objective))
      mode_dynamics[mode_count++] = s->em_run[i].dynamics;
  const idm_status status = modes_find(s->learner, s->settings->prior, mode_dynamics, mode_count,
                                       &learnt->modes, opt_error);
  free(mode_dynamics);
  if (status == IDM_OK) learnt->dynamics = learnt->modes.mode[0];
  return status;
}

/* The result of the best start. At the same mode, the file's start has precedence: its states have
 * the file's names. */
static idm_status take_best(multi_start *s, idm_learn_result *learnt, idm_error *opt_error)
{
  learnt->starts = s->starts;
  learnt->reached = idm_new(s->starts, sizeof *learnt->reached);
  if (!learnt->reached) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < s->starts; i++) learnt->reached[i] = s->em_run[i].objective;
  learnt->best = best_of(s);
  learnt->met = count_converged(s);
  for (size_t i = 0; i < s->starts; i++) learnt->renamed += s->em_run[i].renamed;
  if (s->named && is_best(s, 0, learnt->best)) learnt->best = 0;
  em_run *best = &s->em_run[learnt->best];
  if (best->objective == -INFINITY)
    return iohmm_fail_impossible(s->learner, best->impossible, opt_error);
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

static void multi_start_clear(multi_start *s)
{
  for (size_t i = 0; s->em_run && i < s->max_starts; i++) em_run_clear(&s->em_run[i]);
  free(s->em_run);
  free(s->status);
  idm_dynamics_destroy(s->file);
}

static idm_status multi_start_init(multi_start *s, const idm_problem *problem, idm_error *opt_error)
{
  enum { max_rounds = 3 };
  const idm_sizes n = s->learner->structure->sizes;
  s->named = s->settings->start == IDM_LEARN_FROM_FILE &&
             idm_sizes_same(n, idm_setting_sizes(problem->setting));
  s->max_starts = s->settings->starts * (s->settings->repeats ? max_rounds : 1);
  assert(s->max_starts > 0); /* the settings require at least one start */
  s->em_run = idm_new(s->max_starts, sizeof *s->em_run);
  s->status = idm_new(s->max_starts, sizeof *s->status);
  if (!s->em_run || !s->status) return idm_fail_memory(opt_error);
  return create_starts(s, problem, opt_error);
}

idm_status idm_learn(const idm_iohmm *learner, const idm_problem *problem,
                     const idm_learn_settings *settings, idm_learn_stop opt_stop, void *context,
                     idm_learn_result *learnt, idm_error *opt_error)
{
  idm_require(learner, problem, settings, learnt);
  *learnt = (idm_learn_result){0};
  idm_status status = idm_keys_check(keys, settings, opt_error);
  if (status == IDM_OK) status = iohmm_check_problem(learner, problem, opt_error);
  if (status != IDM_OK) return status;
  multi_start s = {
      .learner = learner, .settings = settings, .opt_stop = opt_stop, .context = context};
  status = multi_start_init(&s, problem, opt_error);
  if (status == IDM_OK && settings->start == IDM_LEARN_FROM_FILE)
    status = check_start(learner, problem, &s.em_run[0], opt_error);
  if (status == IDM_OK) status = run_rounds(&s, opt_error);
  if (status == IDM_OK) status = take_best(&s, learnt, opt_error);
  multi_start_clear(&s);
  if (status != IDM_OK) idm_learn_result_clear(learnt);
  return status;
}
