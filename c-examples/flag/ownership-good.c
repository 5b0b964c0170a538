// `owned`, itself kept under the lock, says who may work on the data outside the lock.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int owned, data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int mine = 0;
    (void)arg;
    pthread_mutex_lock(&lock);
    if (!owned)
        mine = owned = 1;
    pthread_mutex_unlock(&lock);
    if (mine) {
        data++; //~ no race: one owner at a time
        pthread_mutex_lock(&lock);
        owned = 0;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return data < 1;
}
