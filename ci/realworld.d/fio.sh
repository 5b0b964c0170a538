# An I/O tester: a thread or a process for each job.
package=fio
program=fio
configure() { ./configure --cc="$CC" --disable-native --disable-rdma --disable-rados --disable-rbd --disable-http --disable-gfapi --disable-pmem; }
build() { make -j"$jobs" fio; }
check() { make test; }
