/* Whether the lattice matters. */
#ifndef IDM_INVERT_ASSESS_LATTICE_H
#define IDM_INVERT_ASSESS_LATTICE_H

#include "invert/assess/inquiry.h"

/* The verdict on what the lattices disagree about. */
void idm_judge_lattice(const inquiry *q);

#endif
