#!/bin/sh
# Builds the programs, fetches the image's assets, and lays out the images' files in OUT.
#
#   tools/image/build.sh OUT      (from the project's folder)
set -eu
out=$1
cargo build --release --locked --workspace --bins
target/release/xtask assets --only runtime,model
tools/image/layout.sh target/release .assets "$out"
