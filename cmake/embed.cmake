# Write the example files into a C file, as names and texts, in order.
set(names "")
set(texts "")
separate_arguments(EXAMPLES)
foreach(example ${EXAMPLES})
  get_filename_component(name ${example} NAME_WE)
  file(READ ${example} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND names "    \"${name}\",\n")
  string(MAKE_C_IDENTIFIER ${name} id)
  string(APPEND texts "static const unsigned char text_${id}[] = {${bytes}0x00};\n")
  string(APPEND list "    (const char *)text_${id},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by the build from examples/. */
#include \"idm/problem.h\"

${texts}
static const char *const names[] = {
${names}};
static const char *const texts[] = {
${list}};

const char *idm_example_name(size_t index)
{
  return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

const char *idm_example_text(size_t index)
{
  return index < sizeof texts / sizeof texts[0] ? texts[index] : NULL;
}
")
