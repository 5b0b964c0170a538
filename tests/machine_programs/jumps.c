// `setjmp` and `longjmp`: through calls, recursion, callbacks, by copied buffers, with every value, in threads, out of `qsort`.
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf outer;
static sigjmp_buf with_mask;
static int depth_reached;

static void descend(int depth, jmp_buf target) {
    volatile char local[64];
    memset((char *)local, depth, sizeof local);
    depth_reached = depth + local[3] * 0;
    if (depth == 7) longjmp(target, depth);
    descend(depth + 1, target);
    puts("never here");
}

static int compare(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    if (a == 13 || b == 13) longjmp(outer, 13);
    return a - b;
}

static void values(void) {
    static const int given[] = {0, 1, -1, 77};
    for (volatile int i = 0; i < 4; i++) {
        jmp_buf here;
        volatile int before = i * 10;
        int got = setjmp(here);
        if (got == 0) {
            before = before + 1;
            longjmp(here, given[i]);
        }
        printf("value %d gives %d, before is %d\n", given[i], got, before);
    }
}

static void retry(void) {
    volatile int attempts = 0;
    jmp_buf start;
    switch (setjmp(start)) {
    case 0: puts("first"); break;
    case 1: puts("again"); break;
    case 2: puts("once more"); break;
    default: puts("enough"); return;
    }
    attempts++;
    longjmp(start, attempts);
}

static void nested(void) {
    jmp_buf first, second, copy;
    volatile int seen = 0;
    if (setjmp(first) == 0) {
        if (setjmp(second) == 0) {
            memcpy(copy, second, sizeof copy);
            longjmp(copy, 5);
        }
        seen += 1;
        longjmp(first, 1);
    }
    printf("nested %d\n", seen);
}

static void sized(int n) {
    jmp_buf here;
    volatile int rounds = 0;
    if (setjmp(here) < 3) {
        char space[n + rounds];
        memset(space, 'a' + rounds, sizeof space);
        printf("%c %d\n", space[n - 1], (int)sizeof space);
        rounds++;
        longjmp(here, rounds);
    }
    puts("sized");
}

static void *in_thread(void *argument) {
    jmp_buf mine;
    int got = setjmp(mine);
    if (got == 0) descend(3, mine);
    printf("thread %s came back with %d\n", (char *)argument, got);
    return NULL;
}

int main(void) {
    volatile int count = 0;
    int got = setjmp(outer);
    if (got == 0) {
        count = 1;
        descend(0, outer);
    } else if (got == 7) {
        printf("back from %d with %d, count %d\n", depth_reached, got, count);
        int numbers[] = {5, 3, 13, 1};
        qsort(numbers, 4, sizeof numbers[0], compare);
        puts("not sorted");
    } else {
        printf("out of qsort with %d\n", got);
    }
    if (sigsetjmp(with_mask, 1) == 0) siglongjmp(with_mask, 3);
    values();
    retry();
    nested();
    sized(20);
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, "one");
    pthread_join(thread, NULL);
    return 4;
}
