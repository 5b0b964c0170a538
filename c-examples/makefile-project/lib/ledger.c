#include "ledger.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

void ledger_add(int count) {
    pthread_mutex_lock(&lock);
    total += count;
    pthread_mutex_unlock(&lock);
}

int ledger_total(void) {
    pthread_mutex_lock(&lock);
    int seen = total;
    pthread_mutex_unlock(&lock);
    return seen;
}
