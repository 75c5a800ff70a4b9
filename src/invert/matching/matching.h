/* Soft policy matching, from within: limits, checks, and where plans start. */
#ifndef IDM_INVERT_MATCHING_MATCHING_H
#define IDM_INVERT_MATCHING_MATCHING_H

#include "idm/matching.h"
#include "invert/parameters.h"
#include "invert/table.h"

/* Hold one free number at a natural value, whatever y says (a limit has no y); NULL lets go. */
void idm_matching_hold(idm_matching *matching, const parameter *opt_item, double value);
/* Refuse, with its line, an observation that no model of the agent allows: no free number mends
 * that. */
idm_status idm_matching_check(idm_matching *matching, idm_error *opt_error);
/* Line of a decision that had probability 0 at the last evaluation; 0 where there was none. */
long idm_matching_impossible_line(const idm_matching *matching, const char **ret_file);
/* Let each plan start from the last one, until the next anchor: quicker for a search, but then the
 * log-likelihood depends in its last digits on what was asked before. */
void idm_matching_wander(idm_matching *matching);
/* Plan around a mode, by its normal approximation, and let later plans start from the quadratic
 * surface through those solutions: two Newton steps fewer. Still a function of y alone. */
idm_status idm_matching_survey(idm_matching *matching, const double *mode, const double *covariance,
                               idm_error *opt_error);

/* Let a table, which is borrowed, stand in for planning where it says something, and elsewhere a
 * matching on a coarser lattice, which is taken over: its log-likelihood, with what it is off by at
 * the table's mode added, stands where it is so far below the table's top that nobody goes there.
 * What lies between is planned for. Anchors then wait until something is. NULL, NULL: plan for
 * everything again. */
idm_status idm_matching_stand_in(idm_matching *matching, const idm_table *opt_table,
                                 idm_matching *opt_far, idm_error *opt_error);
/* Plan for everything, whatever may stand in, until told otherwise. */
void idm_matching_exactly(idm_matching *matching, bool exactly);

#endif
