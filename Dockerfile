# Builds lockcheck and puts it into a small image. From this directory: docker build -t lockcheck .
# Use: docker run --rm -v "$PWD":/src lockcheck prog.c
FROM rust:1-bookworm AS build
WORKDIR /build
COPY . .
RUN ci/setup && cargo build --release --locked && strip target/release/lockcheck target/release/lockcheck-cc

FROM debian:bookworm-slim
COPY ci/toolchain /etc/lockcheck-toolchain
RUN . /etc/lockcheck-toolchain && apt-get update \
 && apt-get install -y --no-install-recommends "libllvm$LLVM_VERSION" "clang-$LLVM_VERSION" libc6-dev \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/target/release/lockcheck /build/target/release/lockcheck-cc /usr/local/bin/
RUN useradd --create-home lockcheck
USER lockcheck
WORKDIR /src
ENTRYPOINT ["lockcheck"]
