# lockcheck in a small image, with a compiler, a linker and make to build what is to be checked. From this directory: docker build -t lockcheck .
#
#   docker run --rm -v "$PWD":/src lockcheck prog.c
#   docker run --rm -v "$PWD":/src -u "$(id -u)" --entrypoint make lockcheck CC=lockcheck-cc
#
# The programs come from the stage that PROGRAMS names: `build` makes them here, `prebuilt` takes them from the context.
ARG PROGRAMS=build

FROM rust:1-bookworm AS build
WORKDIR /build
COPY . .
RUN ci/setup && cargo build --release --locked \
 && strip target/release/lockcheck target/release/lockcheck-cc && mv target/release/lockcheck target/release/lockcheck-cc /

FROM scratch AS prebuilt
COPY lockcheck lockcheck-cc /

FROM ${PROGRAMS} AS programs

FROM debian:bookworm-slim AS system
COPY ci/toolchain /etc/lockcheck-toolchain
# clang comes with what C++, Objective-C and gcc's sanitizers need, plug-ins, and headers for graphics; none of it is used here.
RUN . /etc/lockcheck-toolchain && apt-get update \
 && apt-get install -y --no-install-recommends "libllvm$LLVM_VERSION" "clang-$LLVM_VERSION" libc6-dev make \
 && dpkg --purge --force-depends libobjc-12-dev libobjc4 libstdc++-12-dev "libclang1-$LLVM_VERSION" \
      libasan8 liblsan0 libtsan2 libubsan1 libitm1 libquadmath0 libgprofng0 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /usr/share/doc /usr/share/man /usr/share/locale /usr/share/info \
      /usr/lib/gcc/*/*/lib*san* /usr/lib/gcc/*/*/libgcov.a /usr/lib/llvm-*/lib/cmake "/usr/lib/llvm-$LLVM_VERSION/share" \
      /usr/lib/llvm-*/lib/LLVMPolly.so /usr/bin/*gold /usr/bin/*gprof* /usr/bin/*dwp /usr/lib/*/gconv /usr/share/zoneinfo \
 && cd "/usr/lib/llvm-$LLVM_VERSION/lib/clang/$LLVM_VERSION/include" \
 && rm -rf opencl* *cuda* *hip* hexagon* hvx* riscv* sifive* velintrin* openmp_wrappers \
 && if [ "$(dpkg --print-architecture)" = amd64 ]; then rm -rf arm* altivec.h vecintrin.h ppc_wrappers; fi

# One layer, so that what was removed is not in the image.
FROM scratch
COPY --from=system / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN useradd --create-home lockcheck
COPY --from=programs /lockcheck /lockcheck-cc /usr/local/bin/
USER lockcheck
WORKDIR /src
ENTRYPOINT ["lockcheck"]
