# A cache server: worker threads around libevent, a hash table under striped locks.
package=memcached
needs="libevent-dev"
program=memcached
configure() { ./configure --disable-dependency-tracking; }
build() { make -j"$jobs" memcached; }
