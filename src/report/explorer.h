/* Interactive page of an agent: parameters, policy, an episode and a log in one HTML file that
 * needs neither a network connection nor this library. */
#ifndef IDM_REPORT_EXPLORER_H
#define IDM_REPORT_EXPLORER_H

#include "base/door.h"
#include "idm/extension/problem.h"

/* True if this build can write such pages. The page contains the library compiled to WebAssembly,
 * which needs a suitable compiler at build time. */
IDM_CHECKED bool idm_explorer_available(void);
/* Write the page of a problem to a file; path "-" is standard output. IDM_SYSTEM if this build has
 * no WebAssembly support; the message names the packages to install. */
IDM_CHECKED idm_status idm_explorer_write(const idm_problem *problem, const char *path,
                                          idm_error *opt_error);

#endif
