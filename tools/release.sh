#!/bin/sh
# Builds memgate and writes the release archive: the program, ONNX Runtime, the embedding models, and configurations to copy.
#
#   tools/release.sh OUT      (from the project's folder; OUT/memgate-VERSION-linux-x86_64.tar.gz and its .sha256)
set -eu
out=$1
most=60000000 # bytes of the program

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
tools/image/build.sh "$stage/image"
program="$stage/image/memgate/usr/local/bin/memgate"
bytes=$(stat -c %s target/release/memgate)
if [ "$bytes" -gt "$most" ]; then
    echo "error: target/release/memgate has $bytes bytes, more than $most" >&2
    exit 1
fi

name="memgate-$("$program" --version | cut -d ' ' -f 2)-linux-x86_64"
home="$stage/$name"
mkdir -p "$home/bin" "$home/config"
mv "$program" "$home/bin/"
mv "$stage/image/memgate/opt/memgate" "$home/assets"
cp config/config.yaml config/config.schema.json "$home/config/"
cp -r envoy LICENSE README.md "$home/"

mkdir -p "$out"
tar --create --gzip --file "$out/$name.tar.gz" --directory "$stage" --sort=name --owner=0 --group=0 --numeric-owner "$name"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
