// Threads call their operation through a table; one of the operations forgets the lock.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_one(void)
{
    pthread_mutex_lock(&lock);
    total += 1; //~ race A: write total
    pthread_mutex_unlock(&lock);
}

static void add_two(void)
{
    total += 2; //~ race A: write total
}

static void (*const operations[2])(void) = {add_one, add_two};
static int choices[2] = {0, 1};

static void *worker(void *arg)
{
    operations[*(int *)arg]();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &choices[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 3;
}
