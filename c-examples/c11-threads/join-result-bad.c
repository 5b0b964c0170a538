// main uses what the thread computed before it has joined the thread.
//@ check: race deadlock misuse safety
#include <threads.h>

static int answer;

static int worker(void *arg)
{
    answer = *(int *)arg * 2; //~ race A: write answer
    return 1;
}

int main(void)
{
    thrd_t thread;
    int input = 21, code = 0;
    thrd_create(&thread, worker, &input);
    int copy = answer; //~ race A: read answer
    thrd_join(thread, &code);
    return copy > 42 || code != 1;
}
