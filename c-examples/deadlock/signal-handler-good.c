// The handler notes that it was called; whoever comes round next does the work, under the lock.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_asked;
static int requests;
static int reports;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&is_asked, 1);
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock); //~ no deadlock: the handler takes no lock
        requests++;
        if (atomic_exchange(&is_asked, 0)) {
            reports++;
        }
        pthread_mutex_unlock(&lock);
    }
    return requests == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
