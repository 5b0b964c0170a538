// Who frees the session clears the pointer under the same lock.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>
#include <stdlib.h>

struct session {
    int requests;
};

static struct session *session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *closer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    free(session);
    session = NULL;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *user(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (session)
        session->requests++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    session = calloc(1, sizeof *session);
    pthread_create(&first, NULL, closer, NULL);
    pthread_create(&second, NULL, user, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
