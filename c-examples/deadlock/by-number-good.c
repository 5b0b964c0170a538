// The account with the smaller number is locked first, whichever way the money goes.
//@ check: race deadlock misuse safety
//@ clean
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
        pthread_mutex_lock(&to->lock);
    } else if (from->number > to->number) {
        pthread_mutex_lock(&to->lock);
        pthread_mutex_lock(&from->lock);
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
