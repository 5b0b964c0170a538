// Stack objects that other threads still use when their function returns, their scope is left, or their thread exits.
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static int *known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *touch(void *argument) {
    int *place = argument;
    *place = 1;
    pthread_mutex_lock(&lock);
    if (known)
        *known = 2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void lend(pthread_t *thread) {
    int local = 0;
    pthread_create(thread, NULL, touch, &local);
    for (int i = 0; i < 2; i++) {
        int scoped = i;
        pthread_mutex_lock(&lock);
        known = &scoped;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        known = NULL;
        pthread_mutex_unlock(&lock);
    }
}

struct pair {
    int first, second[9];
};

// Neither has a scope of its own: both end with the function.
static void lend_copy(struct pair pair, pthread_t *threads) {
    int *allocated = __builtin_alloca(sizeof *allocated);
    *allocated = pair.first;
    pthread_create(&threads[0], NULL, touch, &pair.second[1]);
    pthread_create(&threads[1], NULL, touch, allocated);
}

static void *exits(void *argument) {
    int mine = 3;
    pthread_t thread;
    pthread_create(&thread, NULL, touch, &mine);
    pthread_detach(thread);
    mine = 4;
    pthread_exit(argument);
}

static void *jumps(void *argument) {
    jmp_buf buffer;
    volatile int round = 0;
    if (setjmp(buffer) == 0) {
        round++;
        longjmp(buffer, 1);
    }
    return argument;
}

int main(void) {
    pthread_t threads[5];
    struct pair pair = {1, {2}};
    lend(&threads[0]);
    lend_copy(pair, &threads[3]);
    pthread_create(&threads[1], NULL, exits, NULL);
    pthread_create(&threads[2], NULL, jumps, NULL);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
