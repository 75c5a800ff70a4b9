/* Parts of pages that stand as files of their own: style and script. */
#ifndef IDM_REPORT_ASSETS_H
#define IDM_REPORT_ASSETS_H

/* The text of src/report/assets/NAME; empty where there is none. */
const char *idm_asset(const char *name);

#endif
