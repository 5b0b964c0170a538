# Compression with a thread pool.
package=libzstd
program=programs/zstd
build() {
    # The assembly loops of the decoder: they move through the buffers that the structure names, and keep nothing.
    cat >.lockcheck.yaml <<'END'
functions:
  - names: [HUF_decompress4X1_usingDTable_internal_fast_asm_loop, HUF_decompress4X2_usingDTable_internal_fast_asm_loop]
    reads: [0, {argument: 0, hops: 1}]
    writes: [0, {argument: 0, hops: 1}]
END
    make -C programs -j"$jobs" zstd HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
}
check() {
    seq 1 300000 >numbers
    for level in 1 3 9 15; do
        programs/zstd -T2 -B1MiB -q -f "-$level" numbers -o numbers.zst
        programs/zstd -q -d -c numbers.zst | cmp - numbers
        sha256sum <numbers.zst >>"$results"
    done
}
