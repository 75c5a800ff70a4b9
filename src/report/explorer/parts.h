/* What a page is put together from: made by the build from the files beside this one. */
#ifndef IDM_REPORT_EXPLORER_PARTS_H
#define IDM_REPORT_EXPLORER_PARTS_H

#include <stddef.h>

/* Texts, with places for what is a problem's own: {{title}} and the like. */
extern const char idm_explorer_html[];
extern const char idm_explorer_css[];
extern const char idm_explorer_js[];
/* The library as WebAssembly; of length 0 where the build had no compiler for it. */
extern const unsigned char idm_explorer_wasm[];
extern const size_t idm_explorer_wasm_length;

#endif
