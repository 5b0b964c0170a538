// main hands the request to the thread with pthread_create, and goes on writing to it.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct request {
    int size, urgent;
};

static int handled;

static void *handler(void *arg)
{
    struct request *request = arg;
    handled = request->size + request->urgent; //~ race A: read request->urgent
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct request request = {10, 0};
    pthread_create(&thread, NULL, handler, &request);
    request.urgent = 1; //~ race A: write request.urgent
    pthread_join(thread, NULL);
    return handled < 10;
}
