/* What the data say of a free number, in a sentence. */
#ifndef IDM_INVERT_ASSESS_SENTENCE_H
#define IDM_INVERT_ASSESS_SENTENCE_H

#include "invert/assess/inquiry.h"

/* Write id->sentence from what stands in id. */
void idm_identification_sentence(const inquiry *q, const parameter *item, idm_identification *id);

#endif
