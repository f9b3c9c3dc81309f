#!/bin/sh
# Lays out the files of each image in OUT, one folder per image. OUT/state holds the writable folders.
#
#   tools/image/layout.sh PROGRAMS ASSETS OUT
set -eu
programs=$1 assets=$2 out=$3

program() { # NAME IMAGE
    mkdir -p "$out/$2/usr/local/bin"
    # A release program has no line tables; those that the tests lay out have.
    strip --strip-debug -o "$out/$2/usr/local/bin/$1" "$programs/$1"
    chmod 755 "$out/$2/usr/local/bin/$1"
}

program memgate memgate
program xtask envoy-config
program model-double echo

home="$out/memgate/opt/memgate"
mkdir -p "$home/onnxruntime"
cp "$assets"/onnxruntime/libonnxruntime.so* "$home/onnxruntime/"
# The models that were fetched. The fp32 file of all-MiniLM-L6-v2 is four times as large and is left out.
for model in "$assets"/models/*/; do
    to="$home/models/$(basename "$model")"
    mkdir -p "$to"
    cp "$model/model_int8.onnx" "$model/tokenizer.json" "$model/config.json" "$to/"
done

cp models/multilingual-e5-small-memgate-1/NOTICE "$home/"

mkdir -p "$out/envoy-config/usr/share/memgate/envoy"
cp envoy/development.yaml envoy/production.yaml "$out/envoy-config/usr/share/memgate/envoy/"

mkdir -p "$out/state/memgate" "$out/state/envoy-config"
