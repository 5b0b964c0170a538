// The session is freed under the lock, but the pointer keeps its value: the user finds it and uses
// freed memory. The lock orders the two, so this is not a race.
//@ check: race deadlock misuse safety
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
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *user(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (session)
        session->requests++; //~ use-after-free A: read session->requests
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
