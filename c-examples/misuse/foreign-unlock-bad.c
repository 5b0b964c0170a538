// The second thread unlocks a mutex that the first one holds: the mutex protects nothing any more.
// (The unlock itself is a second mistake, outside the check asked for here.)
//@ check: race
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *owner(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total = 1; //~ race A: write total
    return NULL;
}

static void *stranger(void *arg)
{
    (void)arg;
    pthread_mutex_unlock(&lock);
    total = 2; //~ race A: write total
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, owner, NULL);
    pthread_create(&second, NULL, stranger, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total < 1;
}
