# Write the parts of pages into a C file, as names and texts, in order.
separate_arguments(ASSETS)
foreach(asset ${ASSETS})
  get_filename_component(name ${asset} NAME)
  file(READ ${asset} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(MAKE_C_IDENTIFIER ${name} id)
  string(APPEND texts "static const unsigned char text_${id}[] = {${bytes}0x00};\n")
  string(APPEND list "    {\"${name}\", (const char *)text_${id}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by the build from src/report/assets. */
#include \"report/markup.h\"

#include <string.h>

${texts}
static const struct {
  const char *name;
  const char *text;
} assets[] = {
${list}};

const char *idm_asset(const char *name)
{
  for (size_t i = 0; i < sizeof assets / sizeof assets[0]; i++)
    if (!strcmp(assets[i].name, name)) return assets[i].text;
  return \"\";
}
")
