/* An independent look at the posterior: do the draws represent it? */
#ifndef IDM_INVERT_ASSESS_LOOK_H
#define IDM_INVERT_ASSESS_LOOK_H

#include "idm/assess.h"

void idm_look_clear(idm_look *look);

#endif
