# Compile the part of the library that a page needs to WebAssembly, by clang's wasm32 target and Debian's wasi-libc.
# Sets IDM_WASM to the file, or to the empty string if packages are missing.
set(IDM_WASM "" CACHE INTERNAL "")
# Sanitizers do not support WebAssembly, so builds with sanitizers have none.
if(NOT IDM_EXPLORER OR IDM_SANITIZE)
  return()
endif()
find_program(IDM_WASM_CLANG NAMES clang)
find_program(IDM_WASM_LD NAMES wasm-ld wasm-ld-14)
set(IDM_WASM_FLAGS --target=wasm32-wasi)
if(IDM_WASM_CLANG AND IDM_WASM_LD)
  # Test whether all four packages work together, by a program that needs the C library and the compiler's runtime.
  set(trial ${CMAKE_CURRENT_BINARY_DIR}/wasm/trial)
  file(WRITE ${trial}.c "#include <stdio.h>\nint f(char *b, double x);\nint f(char *b, double x) { return sprintf(b, \"%g\", x); }\n")
  execute_process(COMMAND ${IDM_WASM_CLANG} ${IDM_WASM_FLAGS} -mexec-model=reactor -Wl,--export=f ${trial}.c -o ${trial}.wasm
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT IDM_WASM_CLANG OR NOT IDM_WASM_LD OR failed)
  message(STATUS "No WebAssembly: `idm explore` needs clang, lld, wasi-libc and libclang-rt-dev-wasm32")
  return()
endif()

# WebAssembly has neither threads nor gzip. Functions that call them are never reached by a page: the linker removes
# them or, if it cannot, imports them from the page.
file(GLOB_RECURSE IDM_WASM_SOURCES CONFIGURE_DEPENDS
  base/*.c setting/*.c belief/*.c data/*.c plan/*.c io/log/*.c)
list(FILTER IDM_WASM_SOURCES EXCLUDE REGEX "base/(journal|system)\\.c$")
foreach(source io/csv report/figure report/svg report/canvas report/markup
               report/style report/policy report/explorer/explorer report/explorer/serialisation report/explorer/figures)
  list(APPEND IDM_WASM_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${source}.c)
endforeach()
# Random123 requires a known platform, but uses nothing specific to it.
set(IDM_WASM_COMPILE ${IDM_WASM_FLAGS} -O2 -std=c17 -fno-math-errno -fno-trapping-math -ffunction-sections -fdata-sections
  -D__riscv -D_POSIX_C_SOURCE=200809L -DIDM_VERSION="${PROJECT_VERSION}"
  -I${PROJECT_SOURCE_DIR}/include -I${CMAKE_CURRENT_SOURCE_DIR})
set(objects "")
foreach(source ${IDM_WASM_SOURCES})
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
  string(REGEX REPLACE "[/]" "_" name ${name})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/wasm/${name}.wo)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${IDM_WASM_CLANG} ${IDM_WASM_COMPILE} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building WebAssembly of ${name}" VERBATIM)
  list(APPEND objects ${object})
endforeach()
# A stack of the usual size, below the data: on overflow the page stops, and no data are overwritten.
set(IDM_WASM_LINK -Wl,--gc-sections -Wl,-s -Wl,--stack-first -Wl,-z,stack-size=1048576)
set(exports malloc free)
foreach(name open message set plan begin step over load score decisions draw tell)
  list(APPEND exports idm_explorer_${name})
endforeach()
list(TRANSFORM exports PREPEND -Wl,--export=)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/wasm/undefined.txt "inflate\ninflateEnd\ninflateInit2_\ninflateReset\n")
set(IDM_WASM ${CMAKE_CURRENT_BINARY_DIR}/wasm/explorer.wasm CACHE INTERNAL "")
add_custom_command(OUTPUT ${IDM_WASM}
  COMMAND ${IDM_WASM_CLANG} ${IDM_WASM_FLAGS} -O2 -mexec-model=reactor ${exports} ${IDM_WASM_LINK}
          -Wl,--allow-undefined-file=${CMAKE_CURRENT_BINARY_DIR}/wasm/undefined.txt ${objects} -o ${IDM_WASM}
  DEPENDS ${objects} COMMENT "Linking WebAssembly" VERBATIM COMMAND_EXPAND_LISTS)
