/* A page to play with an agent: its numbers, its policy, an episode and a log, in one file that
 * needs neither a network nor this library. */
#ifndef IDM_EXPLORER_H
#define IDM_EXPLORER_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this build can make such pages: the library for them is compiled to WebAssembly where
 * there is a compiler for it. */
IDM_API bool idm_explorer_available(void);
/* Write the page of a problem; "-" is standard output. IDM_SYSTEM, with what to install, where this
 * build cannot. */
IDM_API idm_status idm_explorer_write(const idm_problem *problem, const char *path,
                                      idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
