// Constructors, exit handlers and destructors run in their order, and `exit` ends `main` early.
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void first_in(void) { puts("first constructor"); }
__attribute__((constructor)) static void second_in(void) { puts("second constructor"); }
__attribute__((constructor(200))) static void early_in(void) { puts("early constructor"); }
__attribute__((destructor)) static void first_out(void) { puts("first destructor"); }
__attribute__((destructor)) static void second_out(void) { puts("second destructor"); }
__attribute__((destructor(200))) static void late_out(void) { puts("late destructor"); }

static void one(void) { puts("handler one"); }
static void nested(void) { puts("handler registered by a handler"); }
static void two(void) {
    puts("handler two");
    atexit(nested);
}

int main(int argc, char **argv) {
    printf("main with %d argument, then %s\n", argc, argv[argc] == NULL ? "null" : "more");
    atexit(one);
    atexit(two);
    exit(300);
}
