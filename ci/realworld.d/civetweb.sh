# A web server: a queue of sockets and a pool of threads.
package=civetweb
program=civetweb
build() { make -j"$jobs" build WITH_ALL= NO_SSL=1 CC="$CC"; }
