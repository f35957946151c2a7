#!/bin/sh
# Pins the requirements of the renderer, with hashes, for Python 3.11 and newer. Needs uv.
#
#   npm run lock:python                   after a change of the .in files
#   npm run lock:python -- --upgrade      newest allowed versions
set -eu
cd "$(dirname "$0")/../renderer"

lock() {
  name=$1
  shift
  uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
    --no-header --no-annotate --no-emit-index-url "$@" "$name.in" --output-file "$name.lock"
}

lock requirements "$@"
lock requirements-build "$@"
lock requirements-dev --constraints requirements.lock --constraints requirements-build.lock "$@"
