# A data store: background threads, I/O threads.
package=redis
needs="pkg-config libjemalloc-dev liblua5.1-dev libhiredis-dev lua-cjson-dev lua-bitop-dev liblzf-dev"
program=src/redis-server
build() { make -C src -j"$jobs" redis-server CC="$CC" MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no; }
