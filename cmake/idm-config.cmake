include("${CMAKE_CURRENT_LIST_DIR}/idm-targets.cmake")
