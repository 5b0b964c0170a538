// A museum counts its visitors at two doors. Both doors take the lock around the addition, so
// every visitor is counted.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>
#include <stdio.h>

static int visits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *front_door(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    visits++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *back_door(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    visits++;
    pthread_mutex_unlock(&lock);
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
