// The result of trylock chooses a case. The counter in the busy case is atomic.
//@ check: race deadlock misuse safety
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static int done;
static atomic_int missed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    switch (pthread_mutex_trylock(&lock)) {
    case 0:
        done++; //~ no race: reached only with the lock
        pthread_mutex_unlock(&lock);
        break;
    case EBUSY:
        missed++;
        break;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return done + missed != 3;
}
