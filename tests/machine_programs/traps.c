// A trap is an illegal instruction.
#include <stdio.h>

int main(int argc, char **argv) {
    (void)argv;
    puts("before");
    fflush(stdout);
    if (argc == 1) __builtin_trap();
    return 0;
}
