/* What a log leaves open of a utility: shaping by a potential, and with it a shift, which no
 * behaviour can tell, and what is wanted where nobody was seen. */
#ifndef IDM_INVERT_UTILITY_OPEN_H
#define IDM_INVERT_UTILITY_OPEN_H

#include "idm/finding.h"
#include "invert/utility/demonstrator.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"

/* Directions of the free numbers along which a utility changes nothing that the log shows, into the
 * finding: by discount P phi - phi for some potential phi in states that were visited; and in those
 * that were not, by whatever leaves what is done there, by the demonstrator's policy, worth as much
 * less as phi says. Held and tied entries leave fewer. opt_seen: NULL where every state counts as
 * visited. Of more states than can be eliminated nothing is said (`looked` stays false, and words
 * say so). */
idm_status idm_open_shaping(const idm_mdp *world, const idm_demonstrator *opt_seen,
                            const idm_sought *sought, idm_finding *finding, idm_error *opt_error);
/* The same of what was done in several worlds: the utility, which they share, changes by a
 * potential of each. More worlds leave fewer. */
idm_status idm_open_shared(size_t worlds, const idm_mdp *const *world,
                           const idm_demonstrator *const *opt_seen, const idm_sought *sought,
                           idm_finding *finding, idm_error *opt_error);
/* And of whoever holds several worlds possible and plans for all of them at once: by one potential
 * that changes the utility alike in each. */
idm_status idm_open_shaping_all(size_t worlds, idm_mdp *const *world,
                                const idm_demonstrator *opt_seen, const idm_sought *sought,
                                idm_finding *finding, idm_error *opt_error);
/* Directions d with rows . d = 0, for a design of rows[count][free], which is destroyed. */
idm_status idm_open_design(size_t count, double *rows, idm_finding *finding, idm_error *opt_error);

/* Words on states that were never visited, where there are any. */
void idm_open_say_unvisited(size_t unvisited, size_t states, idm_finding *finding);

/* Half the distance of the unit vectors of two canonical utilities, states alike, actions by the
 * prior: sqrt((1 - correlation) / 2). 0 where both are constant, 1/2 where one is. */
idm_status idm_canonical_distance(const idm_mdp *world, const double *a, const double *b,
                                  double *distance, idm_error *opt_error);

#endif
