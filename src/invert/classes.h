/* Lists of blocks in the classes of inverse decision models. */
#ifndef IDM_INVERT_CLASSES_H
#define IDM_INVERT_CLASSES_H

#include "idm/classes.h"

/* true if the list "alpha, beta" (NULL: empty) contains the block. */
bool idm_class_list_contains(const char *opt_names, const char *block);

#endif
