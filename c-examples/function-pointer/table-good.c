// Threads call their operation through a table; all operations take the lock.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_one(void)
{
    pthread_mutex_lock(&lock);
    total += 1;
    pthread_mutex_unlock(&lock);
}

static void add_two(void)
{
    pthread_mutex_lock(&lock);
    total += 2;
    pthread_mutex_unlock(&lock);
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
