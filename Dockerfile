# The images that docker-compose.yaml builds: `memgate`, and two small ones beside it. Linux on x86_64.
#
# What is run is in tools/image/, so that the same commands can be run, and are tested, without Docker.
# The builder's and the images' Debian are the same, since a program needs the C library it was linked with.

FROM rust:1.95.0-bookworm@sha256:6258907abe69656e41cd992e0b705cdcfabcbbe3db374f92ed2d47121282d4a1 AS build
WORKDIR /src
COPY tools/image/packages.sh tools/image/packages.sh
RUN tools/image/packages.sh
COPY . .
RUN tools/image/build.sh /image

# glibc, libstdc++ (for ONNX Runtime) and CA certificates; no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f AS base
# Empty folders that are theirs who run here: a new volume takes its owner from the folder it is put over.
COPY --from=build --chown=65532:65532 /image/state/ /var/lib/
USER 65532:65532

# Writes Envoy's configuration from envoy/*.yaml, with this network's names put in.
FROM base AS envoy-config
COPY --from=build /image/envoy-config/ /
ENTRYPOINT ["xtask", "envoy-config"]

# A model server to try it with: it answers with what it was sent.
FROM base AS echo
COPY --from=build /image/echo/ /
EXPOSE 8000
ENTRYPOINT ["model-double"]
CMD ["--host", "0.0.0.0", "--port", "8000"]

# The last one is what `docker build .` makes.
FROM base AS memgate
COPY --from=build /image/memgate/ /
ENV MEMGATE_CONFIG=/etc/memgate/config.yaml
EXPOSE 9464
# Store, embedder and journal do real work for it. The start period is for loading the model.
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["memgate", "check-health"]
ENTRYPOINT ["memgate"]
CMD ["serve"]
