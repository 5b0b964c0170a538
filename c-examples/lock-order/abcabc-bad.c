// A before B, C before A, B before C: the circle of abbcca, closed in another order.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;

static void *a_then_b(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); //~ deadlock A: acquire b
    pthread_mutex_lock(&counter);
    total++;
    pthread_mutex_unlock(&counter);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

static void *c_then_a(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&a); //~ deadlock A: acquire a
    pthread_mutex_lock(&counter);
    total++;
    pthread_mutex_unlock(&counter);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&c);
    return NULL;
}

static void *b_then_c(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c); //~ deadlock A: acquire c
    pthread_mutex_lock(&counter);
    total++;
    pthread_mutex_unlock(&counter);
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, a_then_b, NULL);
    pthread_create(&threads[1], NULL, c_then_a, NULL);
    pthread_create(&threads[2], NULL, b_then_c, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return total != 3;
}
