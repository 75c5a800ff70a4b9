/* Posteriors: what an inverse planner found. */
#include <stdlib.h>

#include "idm/invert.h"

void idm_posterior_destroy(idm_posterior *posterior)
{
  if (!posterior) return;
  idm_labels_destroy(&posterior->quantity);
  free(posterior->summarised);
  free(posterior->value);
  idm_labels_destroy(&posterior->coordinate);
  free(posterior->unconstrained);
  free(posterior->statistics);
  idm_labels_destroy(&posterior->unit);
  free(posterior->log_likelihood);
  free(posterior->prior);
  free(posterior);
}
