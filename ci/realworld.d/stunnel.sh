# A TLS tunnel: a thread for each connection.
package=stunnel4
needs="libssl-dev"
program=src/stunnel
configure() { ./configure --disable-libwrap --disable-systemd --with-threads=pthread; }
build() { make -j"$jobs" -C src stunnel; }
