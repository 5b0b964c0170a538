#include "stock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int level;

void stock_deliver(int count) {
    pthread_mutex_lock(&lock);
    level += count;
    pthread_mutex_unlock(&lock);
}

int stock_sell(int count) {
    pthread_mutex_lock(&lock);
    int sold = level < count ? level : count;
    level -= sold;
    pthread_mutex_unlock(&lock);
    return sold;
}

int stock_level(void) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    int seen = level;
    pthread_mutex_unlock(&lock);
    return seen;
#else
    return level; /* a race with stock_sell */
#endif
}
