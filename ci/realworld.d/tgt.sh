# An iSCSI target: threads for work that blocks.
package=tgt
program=usr/tgtd
build() { make -C usr -j"$jobs" tgtd CC="$CC"; }
