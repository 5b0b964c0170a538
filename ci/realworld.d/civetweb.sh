# A web server: a queue of sockets and a pool of threads. Built by cmake.
package=civetweb
needs="cmake"
program=out/src/civetweb
configure() {
    cmake -B out -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCIVETWEB_BUILD_TESTING=OFF \
        -DCIVETWEB_ENABLE_SSL=OFF -DCIVETWEB_ENABLE_WEBSOCKETS=ON
}
build() { cmake --build out --parallel "$jobs" --target civetweb-c-executable; }
