// The handler tries the lock and gives up when it is taken: it never waits for the thread below it.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int requests;
static int reports;

static void on_signal(int number)
{
    (void)number;
    if (pthread_mutex_trylock(&lock) == 0) { //~ no deadlock: nobody waits here
        reports++;
        pthread_mutex_unlock(&lock);
    }
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock); //~ no deadlock: the handler does not wait
        requests++;
        pthread_mutex_unlock(&lock);
    }
    return requests == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
