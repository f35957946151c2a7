#!/bin/sh
# Pins what the renderer needs, with hashes, for every Python from 3.11 on. Needs uv.
#
#   npm run lock:python                   after a change of the .in files
#   npm run lock:python -- --upgrade      newest versions that they allow
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
