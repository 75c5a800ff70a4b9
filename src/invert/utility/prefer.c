/* Preferences of somebody whose utility is known. */
#include "invert/utility/prefer.h"

#include <math.h>

#include "base/memory.h"
#include "invert/utility/preferred.h"
#include "setting/features.h"

/* The logistic model of the data's preferences, and room for its free numbers. */
typedef struct scene {
  idm_sought *sought;
  idm_preferred *preferred;
  double *x; /* [free] */
} scene;

static void close_scene(scene *s)
{
  idm_preferred_destroy(s->preferred);
  idm_sought_destroy(s->sought);
  free(s->x);
}

static idm_status open_scene(const idm_problem *problem, const idm_data *data, const char *who,
                             scene *s, idm_error *opt_error)
{
  idm_status status = idm_sought_create(problem, &s->sought, opt_error);
  if (status == IDM_OK)
    status = idm_preferred_create(problem, data, s->sought, who, &s->preferred, opt_error);
  if (status != IDM_OK) return status;
  s->x = idm_new(s->sought->count, sizeof *s->x);
  return s->x ? IDM_OK : idm_fail_memory(opt_error);
}

static void take_numbers(const idm_theta *theta, scene *s)
{
  const idm_block *utility = &theta->block[IDM_UTILITY];
  for (size_t k = 0; k < s->sought->count && utility->features; k++)
    s->x[k] = utility->features->weight[idm_features_place(utility->features, k)];
  for (size_t e = 0; e < s->sought->entries; e++)
    if (s->sought->number[e] >= 0) s->x[s->sought->number[e]] = utility->value[e];
}

/* Two different trajectories each, as if the second were better. */
static void draw_pairs(idm_preferences *p, size_t trajectories, idm_random *random)
{
  for (size_t i = 0; i < p->count; i++) {
    const size_t a = (size_t)(idm_random_uniform(random) * (double)trajectories);
    const size_t b = (size_t)(idm_random_uniform(random) * (double)(trajectories - 1));
    p->worse[i] = (uint32_t)a;
    p->better[i] = (uint32_t)(b + (b >= a));
  }
}

/* Turn round those that are preferred the other way. */
static void settle(const scene *s, idm_preferences *p, idm_random *random)
{
  for (size_t i = 0; i < p->count; i++) {
    double odds = s->preferred->offset[i];
    for (size_t j = 0; j < s->preferred->free; j++)
      odds += s->preferred->difference[i * s->preferred->free + j] * s->x[j];
    if (idm_random_uniform(random) < 1 / (1 + exp(-odds))) continue;
    const uint32_t worse = p->worse[i];
    p->worse[i] = p->better[i];
    p->better[i] = worse;
  }
}

idm_status idm_prefer(const idm_problem *problem, const idm_theta *theta, size_t pairs,
                      const char *who, idm_random *random, idm_data *data, idm_error *opt_error)
{
  if (data->trajectories < 2)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs preferences between trajectories, and there is one; expected two "
                    "or more",
                    who);
  scene s = {0};
  idm_preferences_destroy(data->preferences);
  idm_status status = idm_preferences_create(pairs, &data->preferences, opt_error);
  if (status == IDM_OK) {
    draw_pairs(data->preferences, data->trajectories, random);
    status = open_scene(problem, data, who, &s, opt_error);
  }
  if (status == IDM_OK) {
    take_numbers(theta, &s);
    settle(&s, data->preferences, random);
  }
  close_scene(&s);
  return status;
}

idm_status idm_prefer_log_likelihood(const idm_problem *problem, const idm_data *data,
                                     const idm_theta *theta, const char *who,
                                     double *log_likelihood, idm_error *opt_error)
{
  scene s = {0};
  const idm_status status = open_scene(problem, data, who, &s, opt_error);
  if (status == IDM_OK) {
    take_numbers(theta, &s);
    *log_likelihood = idm_preferred_log_likelihood(s.preferred, s.x, NULL, NULL);
  }
  close_scene(&s);
  return status;
}
