#!/bin/sh
# In a tree with compilers: installs the locked Python packages into /tmp/python, built where there are no wheels, and
# compiles the native sources beside them: the library that turns LaTeX into a server, and a Python module.
set -eu
cd /tmp
python3 -m venv /tmp/build
export PATH="/tmp/build/bin:$PATH"
# The same bytes wherever and whenever it is built.
export TMPDIR=/tmp/pip LDFLAGS="-Wl,--build-id=none" CFLAGS="-g0 -O2"
mkdir -p "$TMPDIR"
# pip builds in folders with names of chance, which compiled files must not tell.
cat > /tmp/build/bin/cc-anywhere <<'END'
#!/bin/sh
folder=$(echo "$PWD" | sed -n 's#^\(/tmp/pip/[^/]*/[^/]*\).*#\1#p')
exec gcc "$@" ${folder:+-ffile-prefix-map="$folder"=/build}
END
chmod +x /tmp/build/bin/cc-anywhere
export CC=cc-anywhere

install() {
  lock=$1
  shift
  python3 -m pip install --disable-pip-version-check --no-input --quiet --no-deps --require-hashes --no-compile \
    --cache-dir=/tmp/pip-cache --only-binary=:all: "$@" --requirement="/tmp/$lock.lock"
}

install requirements-build
install requirements --target=/tmp/python --no-build-isolation --use-pep517 --no-binary=manimpango,pycairo,srt
rm -rf /tmp/python/bin
gcc $CFLAGS $LDFLAGS -shared -fPIC -o /tmp/python/libscenepress_fork_at.so /tmp/native/fork_at.c
gcc $CFLAGS $LDFLAGS -fvisibility=hidden -ffp-contract=off -shared -fPIC -o /tmp/python/scenepress_native.so \
  /tmp/native/scenepress_native/*.c \
  $(python3 -c 'import sysconfig; print("-I" + sysconfig.get_path("platinclude"))') \
  -I/tmp/python/numpy/_core/include -I/tmp/python/cairo/include $(pkg-config --cflags --libs cairo)
find /tmp/python -name '*.so*' -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
