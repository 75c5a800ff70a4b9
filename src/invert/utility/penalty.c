/* A price on the size of numbers. */
#include "invert/utility/penalty.h"

#include <math.h>

idm_status idm_penalty_add(idm_program *program, size_t count, size_t above, double price,
                           const double *weight, const double *opt_aim, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    for (size_t side = 0; side < 2; side++) {
      idm_program_set_bounds(program, above + side * count + k, 0, INFINITY);
      idm_program_set_cost(program, above + side * count + k, price * weight[k]);
    }
    status = idm_program_enter(program, k, 1, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, above + k, -1, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, above + count + k, 1, opt_error);
    const double aim = opt_aim ? opt_aim[k] : 0;
    if (status == IDM_OK) status = idm_program_add(program, aim, aim, opt_error);
  }
  return status;
}
