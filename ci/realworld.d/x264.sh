# A video encoder: frames in threads, in C alone.
package=x264
program=x264
configure() { ./configure --disable-asm --disable-avs --disable-swscale --disable-lavf --disable-ffms --disable-gpac --disable-lsmash --disable-opencl; }
build() { make -j"$jobs" x264; }
check() {
    head -c 3801600 /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null >noise.yuv || return 1
    ./x264 --quiet --threads 2 --input-res 176x144 --frames 40 --preset ultrafast --qp 30 -o noise.264 noise.yuv
    sha256sum <noise.264 >>"$results"
}
