/* What is learnt of dynamics: rows, ties and permutations of states, and its unconstrained
 * coordinates.
 *
 * Contents: structure · ratio */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learn/learn.h"

/* === structure ============================================================================== */

/* Rows of probabilities, their possible entries, and ties between rows.
 *
 * Contents: making one · rows · permutations of states */

/* --- making one ----------------------------------------------------------------------------- */

void structure_destroy(structure *s)
{
  if (!s) return;
  free(s->row);
  free(s->possible);
  free(s->learnt);
  free(s->group);
  free(s->factor);
  free(s);
}

static idm_status allocate(idm_sizes sizes, structure **ret_structure, idm_error *opt_error)
{
  structure *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  const size_t pairs = idm_times(sizes.actions, sizes.states);
  const size_t numbers = idm_times(pairs, sizes.states + sizes.observations);
  if (numbers > (size_t)1 << 40 || sizes.states > (size_t)1 << 30) {
    free(s);
    return idm_fail_memory(opt_error);
  }
  s->sizes = sizes;
  s->rows = 1 + 2 * pairs;
  s->row = idm_new(s->rows, sizeof *s->row);
  s->possible = idm_new(sizes.states + numbers, sizeof *s->possible);
  s->learnt = idm_new(sizes.actions, sizeof *s->learnt);
  s->group = idm_new(sizes.states, sizeof *s->group);
  s->factor = idm_new(sizes.observations, sizeof *s->factor);
  if (!s->row || !s->possible || !s->learnt || !s->group || !s->factor) {
    structure_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_structure = s;
  return IDM_OK;
}

/* The first learnt action with the same matrix, if both are shared. A terminal action is not
 * learnt, but its matrix is tied to a learnt one, so that shared matrices stay equal. */
static size_t first_tied(const structure *s, const bool *shared, const double *matrices,
                         size_t size, size_t action)
{
  for (size_t u = 0; u < s->sizes.actions; u++)
    if (s->learnt[u] && u != action && shared[u] && shared[action] &&
        memcmp(matrices + u * size, matrices + action * size, size * sizeof *matrices) == 0)
      return action < u && s->learnt[action] ? action : u;
  return action;
}

/* Initialise the rows and their ties. */
static void set_rows(structure *s, const idm_setting *setting, bool learn_start)
{
  const idm_sizes n = s->sizes;
  const size_t k = setting->states.count; /* of the problem */
  size_t first = n.states;
  s->row[0] = (structure_row){.first = 0, .width = n.states, .learnt = learn_start};
  for (int emits = 0; emits < 2; emits++)
    for (size_t u = 0; u < n.actions; u++) {
      const size_t width = emits ? n.observations : n.states;
      const size_t own = k * (emits ? n.observations : k);
      const size_t tied_to =
          emits ? first_tied(s, setting->emission_shared, setting->emission, own, u)
                : first_tied(s, setting->transition_shared, setting->transition, own, u);
      for (size_t i = 0; i < n.states; i++, first += width) {
        const size_t r = emits ? structure_emission(s, u, i) : structure_transition(s, u, i);
        const size_t lead =
            emits ? structure_emission(s, tied_to, i) : structure_transition(s, tied_to, i);
        s->row[r] = (structure_row){
            .first = first, .width = width, .tied_to = lead, .learnt = s->learnt[u]};
      }
    }
}

/* Whether some state of the problem can give an observation after an action. */
static bool can_emit(const idm_setting *setting, size_t action, size_t observation)
{
  const size_t k = setting->states.count;
  const size_t width = setting->observations.count;
  for (size_t i = 0; i < k; i++)
    if (setting->emission[(action * k + i) * width + observation] > 0) return true;
  return false;
}

static void mark_possible(structure *s, const idm_setting *setting, bool own)
{
  const idm_sizes n = s->sizes;
  const size_t transitions = n.actions * n.states * n.states;
  bool *emission = s->possible + n.states + transitions;
  for (size_t i = 0; i < n.states; i++) s->possible[i] = !own || setting->start[i] > 0;
  for (size_t i = 0; i < transitions; i++)
    s->possible[n.states + i] = !own || setting->transition[i] > 0;
  for (size_t i = 0; i < n.actions * n.states * n.observations; i++)
    emission[i] = own ? setting->emission[i] > 0
                      : can_emit(setting, i / n.observations / n.states, i % n.observations);
}

/* Whether the transitions of an action are learnt (of all states, or of none); and its
 * observations. */
static bool transitions_learnt(const structure *s, size_t action)
{
  return s->row[structure_transition(s, action, 0)].learnt;
}

static bool emissions_learnt(const structure *s, size_t action)
{
  return s->row[structure_emission(s, action, 0)].learnt;
}

/* Whether two states are interchangeable: exchanging them does not change which entries are
 * possible. */
static bool exchangeable(const structure *s, const double *opt_start, size_t a, size_t b)
{
  const idm_sizes n = s->sizes;
  if (s->possible[a] != s->possible[b] ||
      (!s->row[0].learnt && opt_start && opt_start[a] != opt_start[b]))
    return false;
  for (size_t u = 0; u < n.actions; u++) {
    for (size_t i = 0; transitions_learnt(s, u) && i < n.states; i++) {
      const size_t other = i == a ? b : i == b ? a : i;
      const bool *from = s->possible + s->row[structure_transition(s, u, i)].first;
      const bool *to = s->possible + s->row[structure_transition(s, u, other)].first;
      for (size_t j = 0; j < n.states; j++)
        if (from[j] != to[j == a ? b : j == b ? a : j]) return false;
    }
    const bool *emissions = s->possible + s->row[structure_emission(s, u, a)].first;
    const bool *other_emissions = s->possible + s->row[structure_emission(s, u, b)].first;
    if (emissions_learnt(s, u) &&
        memcmp(emissions, other_emissions, n.observations * sizeof *emissions) != 0)
      return false;
  }
  return true;
}

static void find_groups(structure *s, const double *opt_start, bool fixed)
{
  for (size_t i = 0; i < s->sizes.states; i++) {
    s->group[i] = i;
    for (size_t j = 0; j < i && s->group[i] == i && !fixed; j++)
      if (exchangeable(s, opt_start, j, i)) s->group[i] = s->group[j];
  }
}

/* Length of a label up to its first '/'. */
static size_t first_factor_length(const char *label)
{
  return strcspn(label, "/");
}

static bool same_first_factor(const char *a, const char *b)
{
  return first_factor_length(a) == first_factor_length(b) &&
         strncmp(a, b, first_factor_length(a)) == 0;
}

/* Labels joined by '/' are products of factors, the first factor slowest. */
static void find_factors(structure *s, const idm_labels *labels)
{
  size_t factor_levels = 0;
  size_t factored_labels = 0;
  for (size_t x = 0; x < labels->count; x++) {
    size_t y = 0;
    factored_labels += labels->name[x][first_factor_length(labels->name[x])] != '\0';
    while (y < x && !same_first_factor(labels->name[y], labels->name[x])) y++;
    s->factor[x] = y < x ? s->factor[y] : factor_levels++;
  }
  if (factored_labels == labels->count && factor_levels && labels->count % factor_levels == 0)
    return;
  for (size_t x = 0; x < labels->count; x++) s->factor[x] = x;
}

idm_status structure_create(const idm_problem *problem, size_t states, bool learn_start, bool fixed,
                            structure **ret_structure, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  idm_sizes sizes = idm_setting_sizes(setting);
  const bool own = !states;
  if (!own) sizes.states = states;
  *ret_structure = NULL;
  const idm_status status = allocate(sizes, ret_structure, opt_error);
  if (status != IDM_OK) return status;
  structure *s = *ret_structure;
  s->emits_before = setting->emits_before;
  for (size_t u = 0; u < sizes.actions; u++) s->learnt[u] = !setting->terminal[u];
  set_rows(s, setting, learn_start);
  mark_possible(s, setting, own);
  find_groups(s, own ? setting->start : NULL, fixed);
  find_factors(s, &setting->observations);
  return IDM_OK;
}

/* Fix the rows from `first` on of actions about which, including their ties, the log is not
 * informative. */
static void fix_rows(structure *s, size_t first, bool *informed)
{
  const size_t k = s->sizes.states;
  for (size_t u = 0; u < s->sizes.actions; u++) {
    const size_t lead = (s->row[first + u * k].tied_to - first) / k;
    informed[lead] = informed[lead] || informed[u];
  }
  for (size_t r = first; r < first + s->sizes.actions * k; r++)
    s->row[r].learnt = s->row[r].learnt && informed[(s->row[r].tied_to - first) / k];
}

void structure_fix_rows(structure *s, const idm_problem *problem, bool fixed, bool *transitions,
                        bool *emissions)
{
  fix_rows(s, structure_transition(s, 0, 0), transitions);
  fix_rows(s, structure_emission(s, 0, 0), emissions);
  find_groups(s, problem->setting->start, fixed);
}

/* --- rows ----------------------------------------------------------------------------------- */

void structure_sum_ties(const structure *s, double *counts)
{
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    if (row->tied_to == r) continue;
    for (size_t i = 0; i < row->width; i++)
      counts[s->row[row->tied_to].first + i] += counts[row->first + i];
  }
}

void structure_copy_ties(const structure *s, double *numbers)
{
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    if (row->tied_to != r && s->row[row->tied_to].learnt)
      memcpy(numbers + row->first, numbers + s->row[row->tied_to].first,
             row->width * sizeof *numbers);
  }
}

bool structure_is_free(const structure *s, size_t r)
{
  size_t possible = 0;
  for (size_t i = s->row[r].first; i < s->row[r].first + s->row[r].width; i++)
    possible += s->possible[i];
  return structure_is_own_row(s, r) && possible > 1;
}

double structure_log_prior(const structure *s, double prior, const double *numbers)
{
  double sum = 0;
  for (size_t r = 0; r < s->rows && prior > 1; r++) {
    const structure_row *row = &s->row[r];
    for (size_t i = row->first; structure_is_own_row(s, r) && i < row->first + row->width; i++)
      if (s->possible[i]) sum += log(numbers[i]);
  }
  return (prior - 1) * sum;
}

void structure_maximise(const structure *s, double prior, double *counts, double *numbers)
{
  structure_sum_ties(s, counts);
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    if (!structure_is_own_row(s, r)) continue;
    double sum = 0;
    for (size_t i = row->first; i < row->first + row->width; i++)
      sum += s->possible[i] ? counts[i] + (prior - 1) : 0;
    for (size_t i = row->first; sum > 0 && i < row->first + row->width; i++)
      numbers[i] = s->possible[i] ? (counts[i] + (prior - 1)) / sum : 0;
  }
  structure_copy_ties(s, numbers);
}

void structure_draw(const structure *s, double prior, double *opt_counts, idm_random *random,
                    double *numbers)
{
  /* A gamma variate of small shape may underflow: a row must not become 0 everywhere. */
  static const double minimum = 1e-300;
  if (opt_counts) structure_sum_ties(s, opt_counts);
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    if (!structure_is_own_row(s, r)) continue;
    double sum = 0;
    for (size_t i = row->first; i < row->first + row->width; i++) {
      const double shape = prior + (opt_counts ? opt_counts[i] : 0);
      numbers[i] = s->possible[i] ? fmax(idm_random_gamma(random, shape), minimum) : 0;
      sum += numbers[i];
    }
    for (size_t i = row->first; i < row->first + row->width; i++) numbers[i] /= sum;
  }
  structure_copy_ties(s, numbers);
}

/* --- permutations of states ------------------------------------------------------------------ */

/* Probabilities with state i relabelled to[i]. */
static void permute_states(const structure *s, const size_t *to, const double *from,
                           double *numbers)
{
  const idm_sizes n = s->sizes;
  for (size_t i = 0; i < n.states; i++) numbers[to[i]] = from[i];
  for (size_t u = 0; u < n.actions; u++)
    for (size_t i = 0; i < n.states; i++) {
      const double *transitions = from + s->row[structure_transition(s, u, i)].first;
      double *moved = numbers + s->row[structure_transition(s, u, to[i])].first;
      for (size_t j = 0; transitions_learnt(s, u) && j < n.states; j++)
        moved[to[j]] = transitions[j];
      if (emissions_learnt(s, u))
        memcpy(numbers + s->row[structure_emission(s, u, to[i])].first,
               from + s->row[structure_emission(s, u, i)].first, n.observations * sizeof *numbers);
    }
}

/* Whether `numbers` are invariant under an exchange of states a and b. */
static bool invariant(const structure *s, const double *numbers, size_t a, size_t b)
{
  const idm_sizes n = s->sizes;
  if (numbers[a] != numbers[b]) return false;
  for (size_t u = 0; u < n.actions; u++) {
    for (size_t i = 0; transitions_learnt(s, u) && i < n.states; i++) {
      const size_t other = i == a ? b : i == b ? a : i;
      const double *from = numbers + s->row[structure_transition(s, u, i)].first;
      const double *to = numbers + s->row[structure_transition(s, u, other)].first;
      for (size_t j = 0; j < n.states; j++)
        if (from[j] != to[j == a ? b : j == b ? a : j]) return false;
    }
    if (emissions_learnt(s, u) && memcmp(numbers + s->row[structure_emission(s, u, a)].first,
                                         numbers + s->row[structure_emission(s, u, b)].first,
                                         n.observations * sizeof *numbers) != 0)
      return false;
  }
  return true;
}

bool structure_find_identical(const structure *s, const double *numbers, size_t *one, size_t *other)
{
  for (*one = 0; *one < s->sizes.states; ++*one)
    for (*other = *one + 1; *other < s->sizes.states; ++*other)
      if (s->group[*one] == s->group[*other] && invariant(s, numbers, *one, *other)) return true;
  return false;
}

void structure_means(const structure *s, const double *numbers, double *mean)
{
  for (size_t i = 0; i < s->sizes.states; i++) {
    mean[i] = 0;
    for (size_t u = 0; u < s->sizes.actions; u++) {
      const double *emissions = numbers + s->row[structure_emission(s, u, i)].first;
      for (size_t x = 0; emissions_learnt(s, u) && x < s->sizes.observations; x++)
        mean[i] += emissions[x] * (double)s->factor[x];
    }
  }
}

/* Rank of state i within its group by a number per state; ties, or NULL, by index. */
static size_t rank_of(const structure *s, const double *opt_by, size_t i)
{
  size_t rank = 0;
  for (size_t j = 0; j < s->sizes.states; j++) {
    if (s->group[j] != s->group[i] || j == i) continue;
    const bool equal = !opt_by || opt_by[j] == opt_by[i];
    rank += equal ? j < i : opt_by[j] < opt_by[i];
  }
  return rank;
}

/* Relabel each state i of a group to[i], so that the ranks by `by` equal those by opt_reference;
 * NULL: ascending. */
static void rank_states(const structure *s, const double *opt_reference, const double *by,
                        size_t *to)
{
  for (size_t i = 0; i < s->sizes.states; i++)
    for (size_t j = 0; j < s->sizes.states; j++)
      if (s->group[j] == s->group[i] && rank_of(s, opt_reference, j) == rank_of(s, by, i))
        to[i] = j;
}

/* Squared distance of the learnt probabilities from `reference`, with state i relabelled to[i]. */
static double distance(const structure *s, const size_t *to, const double *numbers,
                       const double *reference)
{
  const idm_sizes n = s->sizes;
  double sum = 0;
  for (size_t i = 0; s->row[0].learnt && i < n.states; i++)
    sum += pow(numbers[i] - reference[to[i]], 2);
  for (size_t u = 0; u < n.actions; u++)
    for (size_t i = 0; i < n.states; i++) {
      const double *transitions = numbers + s->row[structure_transition(s, u, i)].first;
      const double *ref_transitions = reference + s->row[structure_transition(s, u, to[i])].first;
      const double *emissions = numbers + s->row[structure_emission(s, u, i)].first;
      const double *ref_emissions = reference + s->row[structure_emission(s, u, to[i])].first;
      for (size_t j = 0; transitions_learnt(s, u) && j < n.states; j++)
        sum += pow(transitions[j] - ref_transitions[to[j]], 2);
      for (size_t x = 0; emissions_learnt(s, u) && x < n.observations; x++)
        sum += pow(emissions[x] - ref_emissions[x], 2);
    }
  return sum;
}

/* Search for labels of states, one state after another, by branch and bound. */
typedef struct label_search {
  const structure *s;
  const double *numbers;
  const double *reference;
  size_t *to;     /* [state]: labels of the states up to the current one */
  size_t *best;   /* [state]: the best labels so far */
  bool *taken;    /* [state]: labels in use */
  double minimum; /* distance of the best labels */
} label_search;

/* Squared distance that state i adds to that of the states before it, with label to[i]. */
static double added_distance(const label_search *n, size_t i)
{
  const structure *s = n->s;
  const size_t *to = n->to;
  double sum = s->row[0].learnt ? pow(n->numbers[i] - n->reference[to[i]], 2) : 0;
  for (size_t u = 0; u < s->sizes.actions; u++) {
    const double *emissions = n->numbers + s->row[structure_emission(s, u, i)].first;
    const double *ref_emissions = n->reference + s->row[structure_emission(s, u, to[i])].first;
    for (size_t x = 0; emissions_learnt(s, u) && x < s->sizes.observations; x++)
      sum += pow(emissions[x] - ref_emissions[x], 2);
    const double *transitions = n->numbers + s->row[structure_transition(s, u, i)].first;
    const double *ref_transitions = n->reference + s->row[structure_transition(s, u, to[i])].first;
    for (size_t j = 0; transitions_learnt(s, u) && j <= i; j++) {
      const double *incoming = n->numbers + s->row[structure_transition(s, u, j)].first;
      const double *ref_incoming = n->reference + s->row[structure_transition(s, u, to[j])].first;
      sum += pow(transitions[j] - ref_transitions[to[j]], 2);
      if (j < i) sum += pow(incoming[i] - ref_incoming[to[i]], 2);
    }
  }
  return sum;
}

/* Label state i and those after it, where the states before it have distance `sum`. Improvements
 * within rounding are ignored. */
static void search_labels(label_search *n, size_t i, double sum)
{
  const structure *s = n->s;
  if (i == s->sizes.states) {
    n->minimum = sum;
    memcpy(n->best, n->to, i * sizeof *n->to);
    return;
  }
  for (size_t j = 0; j < s->sizes.states; j++) {
    if (s->group[j] != s->group[i] || n->taken[j]) continue;
    n->to[i] = j;
    n->taken[j] = true;
    const double new_distance = sum + added_distance(n, i);
    if (new_distance < n->minimum - 1e-9) search_labels(n, i + 1, new_distance);
    n->taken[j] = false;
  }
}

/* Whether groups are small enough to enumerate all labels. */
static bool can_enumerate(const structure *s)
{
  enum { max_group = 8 };
  for (size_t i = 0; i < s->sizes.states; i++) {
    size_t count = 0;
    for (size_t j = 0; j < s->sizes.states; j++) count += s->group[j] == s->group[i];
    if (count > max_group) return false;
  }
  return true;
}

/* Relabel the states; scratch receives a copy of the probabilities. */
static void apply_labels(const structure *s, const size_t *to, double *numbers, double *scratch)
{
  const idm_sizes n = s->sizes;
  const size_t count = n.states * (1 + n.actions * (n.states + n.observations));
  memcpy(scratch, numbers, count * sizeof *numbers);
  permute_states(s, to, scratch, numbers);
}

/* The labels nearest to one of the dynamics; unchanged where none is nearer. */
static void find_nearest_labels(label_search *n, const idm_dynamics *const *reference,
                                size_t references)
{
  const size_t states = n->s->sizes.states;
  for (size_t i = 0; i < states; i++) {
    n->best[i] = n->to[i] = i;
    n->taken[i] = false;
  }
  for (size_t m = 0; m < references; m++)
    n->minimum =
        fmin(m ? n->minimum : INFINITY, distance(n->s, n->best, n->numbers, reference[m]->start));
  for (size_t m = 0; m < references; m++) {
    n->reference = reference[m]->start;
    search_labels(n, 0, 0);
  }
}

void structure_order(const structure *s, const double *opt_reference, double *numbers,
                     double *scratch)
{
  const size_t states = s->sizes.states;
  double *mean = scratch + structure_scratch_size(s) - 5 * states, *means_like = mean + states;
  size_t *to = (size_t *)(void *)(means_like + states);
  structure_means(s, numbers, mean);
  if (opt_reference) structure_means(s, opt_reference, means_like);
  rank_states(s, opt_reference ? means_like : NULL, mean, to);
  apply_labels(s, to, numbers, scratch);
}

void structure_match_states(const structure *s, const idm_dynamics *const *reference,
                            size_t references, double *numbers, double *scratch)
{
  const size_t states = s->sizes.states;
  size_t *to = (size_t *)(void *)(scratch + structure_scratch_size(s) - 5 * states),
         *best = to + states;
  label_search by = {
      .s = s, .numbers = numbers, .to = to, .best = best, .taken = (bool *)(void *)(best + states)};
  /* The search starts from labels by means, so that its result does not depend on the previous
   * labels. */
  structure_order(s, can_enumerate(s) ? NULL : reference[0]->start, numbers, scratch);
  if (!can_enumerate(s)) return;
  find_nearest_labels(&by, reference, references);
  apply_labels(s, best, numbers, scratch);
}

/* Restore the zeros of the structure in learnt rows, and add a small mass to all other entries. */
static void restore_zeros(const structure *s, double *numbers)
{
  static const double pseudo_mass = 1e-3;
  for (size_t r = 0; r < s->rows; r++) {
    const structure_row *row = &s->row[r];
    double sum = 0;
    if (!structure_is_own_row(s, r)) continue;
    for (size_t i = row->first; i < row->first + row->width; i++) {
      numbers[i] = s->possible[i] ? numbers[i] + pseudo_mass : 0;
      sum += numbers[i];
    }
    for (size_t i = row->first; i < row->first + row->width; i++) numbers[i] /= sum;
  }
  structure_copy_ties(s, numbers);
}

bool structure_relabel(const structure *s, const double *reference, double *numbers,
                       double *scratch)
{
  const idm_sizes n = s->sizes;
  const size_t count = n.states * (1 + n.actions * (n.states + n.observations));
  size_t *to = (size_t *)(void *)(scratch + count);
  bool moved = false, improved = true;
  for (size_t i = 0; i < n.states; i++) to[i] = i;
  double minimum = distance(s, to, numbers, reference);
  while (improved) {
    improved = false;
    for (size_t a = 0; a < n.states; a++)
      for (size_t b = a + 1; b < n.states; b++) {
        const size_t kept = to[a];
        to[a] = to[b];
        to[b] = kept;
        const double new_distance = distance(s, to, numbers, reference);
        if (new_distance < minimum - 1e-9) {
          minimum = new_distance;
          moved = improved = true;
        } else {
          to[b] = to[a];
          to[a] = kept;
        }
      }
  }
  if (!moved) return false;
  apply_labels(s, to, numbers, scratch);
  if (!s->row[0].learnt) memcpy(numbers, scratch, n.states * sizeof *numbers);
  restore_zeros(s, numbers);
  return true;
}

/* === ratio ================================================================================== */

/* Learnt rows in unconstrained coordinates. */

/* The last possible entry of a row. */
static size_t reference_of(const structure *s, size_t r)
{
  size_t last = s->row[r].first + s->row[r].width;
  while (!s->possible[--last]) {
  }
  return last;
}

size_t ratio_count_row(const structure *s, size_t r)
{
  const size_t reference = reference_of(s, r);
  size_t count = 0;
  for (size_t i = s->row[r].first; i < reference; i++) count += s->possible[i];
  return count;
}

size_t ratio_count(const structure *s)
{
  size_t count = 0;
  for (size_t r = 0; r < s->rows; r++)
    if (structure_is_free(s, r)) count += ratio_count_row(s, r);
  return count;
}

void ratio_get(const structure *s, const double *numbers, double *y)
{
  for (size_t r = 0; r < s->rows; r++) {
    if (!structure_is_free(s, r)) continue;
    const size_t reference = reference_of(s, r);
    for (size_t i = s->row[r].first; i < reference; i++)
      if (s->possible[i]) *y++ = log(numbers[i]) - log(numbers[reference]);
  }
}

/* One row from its log ratios, scaled by the largest; returns a pointer to those of the next row.
 */
static const double *set_row(const structure *s, size_t r, const double *y, double *numbers)
{
  const size_t first = s->row[r].first, reference = reference_of(s, r);
  double largest = 0, sum = 0;
  for (size_t i = first, k = 0; i < reference; i++)
    if (s->possible[i]) largest = fmax(largest, y[k++]);
  for (size_t i = first; i <= reference; i++) {
    numbers[i] = !s->possible[i] ? 0 : exp((i < reference ? *y++ : 0) - largest);
    sum += numbers[i];
  }
  for (size_t i = first; i <= reference; i++) numbers[i] /= sum;
  return y;
}

void ratio_set(const structure *s, const double *y, double *numbers)
{
  for (size_t r = 0; r < s->rows; r++)
    if (structure_is_free(s, r)) y = set_row(s, r, y, numbers);
  structure_copy_ties(s, numbers);
}

double ratio_log_prior(const structure *s, double prior, const double *numbers)
{
  /* The Jacobian of a row is the product of its entries, which adds 1 to every exponent. */
  return structure_log_prior(s, prior + 1, numbers);
}

void ratio_gradient(const structure *s, double prior, double *counts, const double *numbers,
                    double *gradient)
{
  structure_sum_ties(s, counts);
  for (size_t r = 0; r < s->rows; r++) {
    if (!structure_is_free(s, r)) continue;
    const size_t first = s->row[r].first, reference = reference_of(s, r);
    double all = 0;
    for (size_t i = first; i <= reference; i++) all += s->possible[i] ? counts[i] + prior : 0;
    for (size_t i = first; i < reference; i++)
      if (s->possible[i]) *gradient++ = counts[i] + prior - numbers[i] * all;
  }
}
