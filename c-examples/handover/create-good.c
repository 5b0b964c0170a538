// main fills the request, hands it over with pthread_create, and does not touch it again.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct request {
    int size, urgent;
};

static int handled;

static void *handler(void *arg)
{
    struct request *request = arg;
    handled = request->size + request->urgent; //~ no race: all writes come before the creation
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct request request = {10, 0};
    request.urgent = 1; //~ no race: before the creation
    pthread_create(&thread, NULL, handler, &request);
    pthread_join(thread, NULL);
    return handled < 10;
}
