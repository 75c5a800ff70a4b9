/* Pictures and words of the page that plans. */
#ifndef IDM_REPORT_EXPLORER_PICTURE_H
#define IDM_REPORT_EXPLORER_PICTURE_H

#include "report/explorer/explorer.h"

/* Policy, value and beliefs as SVG, so many pixels wide; valid until the next text. NULL: see the
 * message. */
const char *idm_explorer_draw(idm_explorer *explorer, double width);
/* Where the episode stands, in words and numbers, as HTML. */
const char *idm_explorer_tell(idm_explorer *explorer);

#endif
