#!/bin/sh
# Pins the requirements of the renderer, and uv, which installs them, with hashes, for Python 3.11 and newer. Uses the uv of
# the set-up for development.
#
#   npm run lock:python                   after a change of the .in files
#   npm run lock:python -- --upgrade      newest allowed versions
set -eu
cd "$(dirname "$0")/../renderer"
PATH=$PWD/../.venv/bin:$PATH

lock() {
  name=$1
  shift
  uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
    --no-header --no-annotate --no-emit-index-url "$@" "$name.in" --output-file "$name.lock"
}

lock requirements "$@"
lock requirements-build "$@"
lock requirements-uv "$@"
lock requirements-dev --constraints requirements.lock --constraints requirements-build.lock \
  --constraints requirements-uv.lock "$@"
