// Cleanup handlers and destructors of thread-specific data, by return, by `pthread_exit` and by `pthread_cleanup_pop`.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int own = 5;

static void destroy(void *value) {
    printf("destroys %s\n", (char *)value);
    free(value);
}
static void make_key(void) {
    puts("makes the key");
    pthread_key_create(&key, destroy);
}
static void cleanup(void *argument) { printf("cleans up %s, own is %d\n", (char *)argument, own); }

static void set(const char *text) {
    char *copy = malloc(32);
    snprintf(copy, 32, "%s", text);
    pthread_once(&once, make_key);
    pthread_setspecific(key, copy);
}

static void *leaves(void *argument) {
    set("what leaves left");
    own += 1;
    pthread_cleanup_push(cleanup, "outer");
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &mutex);
    pthread_exit(argument);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *returns(void *argument) {
    set("what returns left");
    own += 2;
    pthread_cleanup_push(cleanup, "popped and run");
    pthread_cleanup_push(cleanup, "popped");
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(1);
    return (char *)argument + 1;
}

int main(void) {
    pthread_t thread;
    void *value;
    char word[] = "value";
    pthread_create(&thread, NULL, leaves, word);
    pthread_join(thread, &value);
    printf("%s\n", (char *)value);
    printf("the mutex is %s\n", pthread_mutex_trylock(&mutex) == 0 ? "free" : "taken");
    pthread_create(&thread, NULL, returns, word);
    pthread_join(thread, &value);
    printf("%s, own is %d\n", (char *)value, own);
    return 3;
}
