/* The library as WebAssembly, made by the build. */
#ifndef IDM_REPORT_EXPLORER_WASM_H
#define IDM_REPORT_EXPLORER_WASM_H

#include <stddef.h>

extern const unsigned char idm_explorer_wasm[];
/* 0 where the build had no compiler for it. */
extern const size_t idm_explorer_wasm_length;

#endif
