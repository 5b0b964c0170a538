// The last owner reads what all owners wrote, but the count is taken down relaxed: nothing orders
// the other owner's write before the reading.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int part[2], sum;
static int ids[2] = {0, 1};
static atomic_int owners = 2;

static void *owner(void *arg)
{
    int me = *(int *)arg;
    part[me] = me + 1; //~ race A: write part
    if (atomic_fetch_sub_explicit(&owners, 1, memory_order_relaxed) == 1) {
        atomic_thread_fence(memory_order_acquire);
        sum = part[0] + part[1]; //~ race A: read part
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, owner, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sum != 3;
}
