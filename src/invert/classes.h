/* Classes of inverse decision models: their lists of blocks. */
#ifndef IDM_INVERT_CLASSES_H
#define IDM_INVERT_CLASSES_H

#include "idm/classes.h"

/* Whether a list of blocks, "alpha, beta" (NULL: empty), contains one. */
bool idm_class_list_contains(const char *opt_names, const char *block);

#endif
