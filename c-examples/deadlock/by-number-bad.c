// The account that the money leaves is locked first: the numbers are compared, and then it makes no difference.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct account {
    int number;
    int money;
    pthread_mutex_t lock;
};

static struct account savings = {1, 100, PTHREAD_MUTEX_INITIALIZER};
static struct account wages = {2, 100, PTHREAD_MUTEX_INITIALIZER};

static void transfer(struct account *from, struct account *to, int amount)
{
    if (from->number < to->number) {
        pthread_mutex_lock(&from->lock);
        pthread_mutex_lock(&to->lock); //~ deadlock A: acquire wages.lock
    } else if (from->number > to->number) {
        pthread_mutex_lock(&from->lock);
        pthread_mutex_lock(&to->lock); //~ deadlock A: acquire savings.lock
    } else {
        return;
    }
    from->money -= amount;
    to->money += amount;
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_unlock(&to->lock);
}

static void *save(void *arg)
{
    (void)arg;
    transfer(&wages, &savings, 10);
    return NULL;
}

static void *spend(void *arg)
{
    (void)arg;
    transfer(&savings, &wages, 3);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, save, NULL);
    pthread_create(&second, NULL, spend, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return savings.money != 107;
}
