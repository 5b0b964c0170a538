// Neighbouring bit-fields are one memory location, even when different threads own them.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct counters {
    unsigned mine : 4;
    unsigned yours : 4;
};

static struct counters counters;

static void *me(void *arg)
{
    (void)arg;
    counters.mine = 3; //~ race A: write counters.mine
    return NULL;
}

static void *you(void *arg)
{
    (void)arg;
    counters.yours = 5; //~ race A: write counters.yours
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, me, NULL);
    pthread_create(&second, NULL, you, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return counters.mine > 3 || counters.yours > 5;
}
