// Sixteen bits are kept in two bytes, with one lock a *byte*.
//@ check: race deadlock misuse safety
#include <pthread.h>

static unsigned char bits[2];
static pthread_mutex_t locks[16];
static int numbers[2] = {0, 1};

static void *set_bit(void *arg)
{
    int i = *(int *)arg;
    pthread_mutex_t *lock = &locks[i / 8];
    pthread_mutex_lock(lock);
    bits[i / 8] |= (unsigned char)(1 << (i % 8)); //~ no race: one lock a byte
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 16; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, set_bit, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return bits[0] != 3;
}
