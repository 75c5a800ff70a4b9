# Labels of tests for tests/other_arch.sh, which leaves out `native-only` and repeats `vector` on a processor without
# wide vectors. Emulation takes about 45 times as long, so that within 40 minutes on two cores only tests that take less
# than 1.5 s of processor time here can run.

# These tests compile for this machine, read sources, or need a browser: their result is the same on every architecture.
set(elsewhere public_interface architecture recipes validation browser accessibility demo install)
# These take minutes: every allocation fails in turn, and the program is called thousands of times. Allocations and file
# names do not depend on the architecture.
set(failures test_allocation_fits test_allocation_runs test_allocation_plans folders)
# These take minutes: fits, statistics of many draws, gradients against differences. Their parts are run, and `numbers`
# has its own solutions, gradients and fits.
set(fits
  test_cli_classes test_arguments test_infer_samplers test_invert_assess_bound test_invert_assess_extension test_invert_assess_identify
  test_invert_assess_lattice test_invert_assess_importance test_invert_assess_model test_invert_assess_region
  test_invert_assess_ridge test_invert_assess_sensitivity test_invert_assess_spread test_invert_audit_verdict test_invert_audit_nested
  test_invert_audit_sample test_invert_calibrate test_invert_equivariance test_invert_fitted_back test_invert_inverses
  test_invert_label test_invert_matching_bayes test_invert_matching_laplace test_invert_matching_refine
  test_invert_matching_start test_invert_matching_tabulate test_invert_opaque test_invert_hierarchy_chain
  test_invert_people_separate test_invert_audit_audit test_invert_hierarchy_move test_invert_hierarchy_sample
  test_invert_people_people test_invert_utility_belief_margin
  test_invert_utility_preference_bayes test_invert_utility_pure test_io_problem_spaces test_io_run_run test_io_yaml_emit
  test_learn_gibbs test_learn_learn test_locale test_names test_plan_behavior test_plan_believer_slope
  test_plan_believer_slope_set test_plan_control_backup test_plan_control_forward test_plan_learner
  test_plan_network_recurrent test_plan_network_recurrent_slope test_plan_tabular_controller_learn
  test_plan_tabular_q_learning test_report_report
  command_line_fits command_line_people command_line_calibration command_line_lives adni adni_lattice paper_figures pages test_invert_people_report test_invert_audit_joint
  test_invert_audit_dynamics test_invert_audit_cohorts test_invert_audit_additivity test_invert_audit_prior_conflict test_learn_modes)
# qemu-user 7.2 enters a signal handler of x86-64 with a stack misaligned by 8 bytes, and aligned stores fault there.
set(signals test_cli_progress)
foreach(name ${elsewhere} ${failures} ${fits} ${signals})
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES LABELS native-only)
  endif()
endforeach()

# These tests call kernels (IDM_KERNEL, src/base/vector.h).
foreach(name test_numbers test_base_level test_base_vector test_base_product test_base_krylov test_base_soft_block
             test_base_soft_slope test_plan_point_alphas test_plan_point_hull test_plan_control_golden)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES LABELS vector)
  endif()
endforeach()
