# A port scanner: a thread that sends and one that receives.
package=masscan
program=bin/masscan
build() { mkdir -p bin tmp && make -j"$jobs" CC="$CC" CFLAGS="-g -O2 -Wall" bin/masscan; }
check() { bin/masscan --selftest; }
