# An HTTP benchmark: threads that each run an event loop.
package=wrk
needs="luajit libluajit-5.1-dev libssl-dev pkg-config"
program=wrk
build() { make -j"$jobs" CC="$CC" WITH_LUAJIT=/usr WITH_OPENSSL=/usr VER=4.1.0; }
