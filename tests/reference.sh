#!/usr/bin/env bash
# reference.sh [FOLDER]: the reference of the C API by Doxygen, in FOLDER/html (none: nowhere). Fails on any warning, and where a
# function, type or field of the core is not documented.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${1:-$work/all}
mkdir -p "$folder" "$work/core"

# reference FOLDER SETTING...: Doxygen with further settings.
reference() {
  { cat docs/api/Doxyfile; printf '%s\n' "OUTPUT_DIRECTORY = $1" "${@:2}"; } | doxygen -
}
reference "$work/core" 'RECURSIVE = NO' 'EXTRACT_ALL = NO' 'GENERATE_HTML = NO' 'GENERATE_XML = YES' 'XML_PROGRAMLISTING = NO'
reference "$folder"
