// An abort loses no output that was flushed.
#include <stdio.h>
#include <stdlib.h>

static void handler(void) { puts("never"); }

int main(void) {
    atexit(handler);
    puts("before");
    fflush(stdout);
    abort();
}
