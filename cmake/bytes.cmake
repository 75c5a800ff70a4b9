# Write the WebAssembly into a C file as an array of bytes; without WebAssembly, an empty one.
set(bytes "0x00")
set(length 0)
if(WASM)
  file(READ ${WASM} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(SIZE ${WASM} length)
endif()
file(WRITE ${OUTPUT} "/* Made by the build from the library itself. */
#include \"report/explorer/explorer.h\"

const unsigned char idm_explorer_wasm[] = {${bytes}};
const size_t idm_explorer_wasm_length = ${length};
")
