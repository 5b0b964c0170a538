# A DNS resolver: worker threads, caches under read-write locks of their own making.
package=unbound
needs="libssl-dev libexpat1-dev bison flex"
program=unbound
configure() { ./configure --with-pthreads --disable-flto --disable-shared --without-libevent; }
build() { make -j"$jobs" unbound; }
