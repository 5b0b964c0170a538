// Who gets the lock counts in `done`, which is safe. Who does not get it counts in `missed`,
// and two threads can miss at once: no lock protects that line.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int done;
static int missed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    if (!pthread_mutex_trylock(&lock)) {
        done++; //~ no race: reached only with the lock
        pthread_mutex_unlock(&lock);
    } else {
        missed++; //~ race A: write missed
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
