#!/bin/sh
# Packages of the builder besides Rust and a C compiler: Python, which fetches and converts the embedding model.
set -eu
apt-get update
apt-get install --yes --no-install-recommends python3 python3-pip python3-venv
rm -rf /var/lib/apt/lists/*
