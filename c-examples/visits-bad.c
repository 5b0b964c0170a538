// A museum counts its visitors at two doors. The back door forgets to take the lock, so both
// doors can read the same old value, and one visitor is never counted: a data race.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdio.h>

static int visits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *front_door(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    visits++; //~ race A: write visits
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *back_door(void *arg)
{
    (void)arg;
    visits++; //~ race A: write visits
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, front_door, NULL);
    pthread_create(&second, NULL, back_door, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%d visits\n", visits);
    return 0;
}
