# A port scanner: a thread that sends and one that receives.
package=masscan
program=bin/masscan
build() { mkdir -p bin tmp && make -j"$jobs" CC="$CC" bin/masscan; }
check() { bin/masscan --selftest; }
