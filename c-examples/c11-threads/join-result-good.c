// main joins the thread, then uses its result code and what it wrote.
//@ check: race deadlock misuse safety
#include <threads.h>

static int answer;

static int worker(void *arg)
{
    answer = *(int *)arg * 2;
    return 1;
}

int main(void)
{
    thrd_t thread;
    int input = 21, code = 0;
    thrd_create(&thread, worker, &input);
    thrd_join(thread, &code);
    int copy = answer; //~ no race: after the join
    return copy != 42 || code != 1;
}
