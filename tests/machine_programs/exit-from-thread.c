// `exit` in any thread ends the process.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { puts("handler"); }

static void *worker(void *argument) {
    puts("worker");
    exit(*(int *)argument);
}

int main(void) {
    int code = 7;
    pthread_t thread;
    atexit(handler);
    pthread_create(&thread, NULL, worker, &code);
    pthread_join(thread, NULL);
    puts("never");
    return 1;
}
