/* Bytes as letters, and what a page's policy calls the texts that may run in it. */
#ifndef IDM_REPORT_DIGEST_H
#define IDM_REPORT_DIGEST_H

#include "report/markup.h"

/* Append bytes in base64. */
void idm_markup_base64(idm_markup *markup, const void *bytes, size_t length);
/* Append 'sha256-...' of a text, as content security policies write it. */
void idm_markup_digest(idm_markup *markup, const char *text);

#endif
