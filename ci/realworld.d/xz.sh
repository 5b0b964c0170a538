# Compression with worker threads behind mutexes and condition variables.
package=xz-utils
program=src/xz/xz
configure() { ./configure --disable-shared --disable-nls --disable-scripts --disable-doc; }
build() { make -j"$jobs"; }
check() { make -j"$jobs" check; }
