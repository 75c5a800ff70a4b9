/* Maximum margin on beliefs: utilities under which what was done at the beliefs of a log is better
 * than anything else by as much as can be. */
#ifndef IDM_INVERT_UTILITY_BELIEF_MARGIN_H
#define IDM_INVERT_UTILITY_BELIEF_MARGIN_H

#include "idm/finding.h"
#include "idm/settings.h"
#include "invert/utility/face.h"
#include "invert/utility/mind.h"
#include "invert/utility/sought.h"

/* What is asked. */
typedef struct idm_belief_margin {
  const idm_mind *mind;
  const idm_data *data;
  const idm_sought *sought;
  const idm_fit_settings *settings; /* margin, penalty, epsilon, bound; or norm, epsilon */
  const double *opt_aim; /* [number]: numbers to stay near to, in place of margins to make large */
  const char *who;
  idm_halt *halt;
  idm_notes *opt_notes;
} idm_belief_margin;

/* By state: max sum over visited beliefs z of min_{u != u_z} (V(z) - Q(z,u)) - penalty |utility|_1,
 * each difference at least epsilon. V is that of the demonstrator's policy graph. Q is an action
 * followed by whichever plan is best: of the demonstrator's own (Choi and Kim 2011), and where its
 * graph gets to z without a guess of any policy at all, so that the demonstrator is the best there
 * is at the start. Of the return: min over utilities of the box of the best policy's value at the
 * start less the demonstrator's.
 *
 * With an aim: of the utilities under which each difference is at least epsilon the nearest to the
 * aim, by the norm; numbers have no box. The objective is the distance.
 *
 * Policies are brought in one by one, as long as one is better than is allowed. The answer goes
 * into face->x, [columns], for the caller to free; objective, certificate and words into the
 * finding. IDM_INPUT where there is no such utility. */
idm_status idm_belief_margin_find(const idm_belief_margin *asked, idm_face *face,
                                  idm_finding *finding, idm_error *opt_error);

#endif
