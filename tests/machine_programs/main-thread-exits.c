// `pthread_exit` in `main`'s thread: the others go on, and the last one ends the process with 0.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_t main_thread;
static void handler(void) { puts("handler"); }

static void *worker(void *argument) {
    void *value;
    pthread_join(main_thread, &value);
    printf("main returned %ld, worker got %s\n", (long)value, (char *)argument);
    return NULL;
}

int main(void) {
    pthread_t thread;
    atexit(handler);
    main_thread = pthread_self();
    pthread_create(&thread, NULL, worker, "a word");
    pthread_exit((void *)42L);
}
