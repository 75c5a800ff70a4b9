#!/usr/bin/env bash
# Download the tools of tests that are not Debian packages from PyPI (requirements.txt) into .tools: axe.min.js. If the
# download fails, a line reports what stays unchecked, and the exit code is 0.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.tools
[ -e $tools/axe.min.js ] && cmp -s tests/requirements.txt $tools/requirements.txt && exit 0
rm -rf $tools
mkdir $tools
if python3 -m venv $tools/venv >$tools/log 2>&1 &&
  timeout 120 $tools/venv/bin/pip install -q --disable-pip-version-check --retries 1 --timeout 15 \
    -r tests/requirements.txt >>$tools/log 2>&1; then
  cp "$(find $tools/venv -name axe.min.js)" tests/requirements.txt $tools
  echo "installed in $tools:" $(cat tests/requirements.txt)
else
  echo "axe-core cannot be had from PyPI ($(tail -n 1 $tools/log)): 'accessibility' will be skipped by make test"
fi
