# A video encoder: frames in threads, in C alone.
package=x264
program=x264
configure() { ./configure --disable-asm --disable-avs --disable-swscale --disable-lavf --disable-ffms --disable-gpac --disable-lsmash --disable-opencl; }
build() { make -j"$jobs" x264; }
check() {
    seq 1 300000 >numbers
    head -c 1520640 numbers >numbers.yuv
    ./x264 --quiet --threads 2 --input-res 176x144 --frames 40 --preset ultrafast --qp 30 -o numbers.264 numbers.yuv
    sha256sum <numbers.264 >>"$results"
}
