/* "paper": the fixed random walk of the paper's experiments. */
#ifndef IDM_INFER_PAPER_H
#define IDM_INFER_PAPER_H

#include "idm/sampler.h"

extern const idm_sampler idm_sampler_paper;

#endif
