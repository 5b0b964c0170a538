// Two threads and a lock: each works on data of its own and adds to a shared table under the lock.
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 4000, SLOTS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[SLOTS];
static long total;

static void *worker(void *argument) {
    unsigned seed = (unsigned)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int local[8];
        for (int i = 0; i < 8; i++) {
            seed = seed * 1664525u + 1013904223u;
            local[i] = (int)(seed >> 20);
        }
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 8; i++)
            table[local[i] % SLOTS] += local[i];
        total++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", total);
    return 0;
}
