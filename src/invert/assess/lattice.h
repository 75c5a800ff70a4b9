/* Whether the lattice matters. */
#ifndef IDM_INVERT_ASSESS_LATTICE_H
#define IDM_INVERT_ASSESS_LATTICE_H

#include "invert/assess/inquiry.h"

idm_status idm_assess_lattice(const inquiry *q, idm_error *opt_error);
/* Its part of the verdict. */
void idm_judge_lattice(const inquiry *q);

#endif
