# An iSCSI target: threads for work that blocks.
package=tgt
program=usr/tgtd
# clang warns where gcc does not, and warnings are errors here.
build() { make -C usr -j"$jobs" tgtd CC="$CC" CPPFLAGS=-w; }
