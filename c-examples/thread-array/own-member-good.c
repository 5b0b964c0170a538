// Each worker keeps the buffer that it has made in its own element of the array, and finds it there again.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

static struct worker {
    char *buffer;
    int length;
} workers[3];

static void put(struct worker *self, char letter)
{
    self->buffer[self->length++] = letter; //~ no race: nobody else puts anything there
}

static void *work(void *arg)
{
    struct worker *self = arg;
    self->buffer = calloc(4, 1);
    put(self, 'a');
    put(self, 'b');
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += workers[i].length;
        free(workers[i].buffer);
    }
    return sum != 6;
}
