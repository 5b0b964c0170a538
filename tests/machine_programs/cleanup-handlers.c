// Cleanup handlers: popped with and without a run, at `pthread_exit`, at cancellation, nested, from inner functions, before the
// destructors of thread-specific data; the mutex of a condition wait is held in them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void say(void *text) { printf("cleans up %s\n", (char *)text); }
static void destroy(void *text) { printf("destroys %s\n", (char *)text); }
static void give_back(void *lock) {
    puts("gives the mutex back");
    pthread_mutex_unlock(lock);
}

static void leave_inside(void *value) {
    pthread_cleanup_push(say, "inner function");
    pthread_exit(value);
    pthread_cleanup_pop(0);
}

static void *leaves(void *value) {
    pthread_setspecific(key, "specific data");
    pthread_cleanup_push(say, "outer");
    pthread_cleanup_push(say, "popped and run");
    pthread_cleanup_pop(1);
    pthread_cleanup_push(say, "popped and not run");
    pthread_cleanup_pop(0);
    pthread_cleanup_push(say, "middle");
    leave_inside(value);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return NULL;
}

static void *waits(void *value) {
    pthread_setspecific(key, "what waits left");
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(say, "last of all");
    pthread_cleanup_push(give_back, &mutex);
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return value;
}

static void *refuses(void *value) {
    int state, type;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_cleanup_push(say, "not this one");
    pthread_testcancel();
    pthread_cleanup_pop(0);
    printf("old state %d, old type %d\n", state == PTHREAD_CANCEL_ENABLE, type == PTHREAD_CANCEL_DEFERRED);
    pthread_cleanup_push(say, "this one");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    for (;;) pthread_testcancel();
    pthread_cleanup_pop(0);
    return value;
}

int main(void) {
    pthread_t thread;
    void *value;
    char word[] = "value";
    pthread_key_create(&key, destroy);
    pthread_create(&thread, NULL, leaves, word);
    pthread_join(thread, &value);
    printf("%s\n", (char *)value);
    pthread_create(&thread, NULL, waits, word);
    pthread_cancel(thread);
    pthread_join(thread, &value);
    printf("cancelled %d\n", value == PTHREAD_CANCELED);
    printf("the mutex is %s\n", pthread_mutex_trylock(&mutex) == 0 ? "free" : "taken");
    pthread_create(&thread, NULL, refuses, word);
    pthread_cancel(thread);
    pthread_join(thread, &value);
    printf("cancelled %d\n", value == PTHREAD_CANCELED);
    pthread_cleanup_push(say, "main");
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
    return 9;
}
