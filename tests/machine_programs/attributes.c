// Attribute objects keep what was set, and say what holds otherwise; names, priorities and signal handlers.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void *nothing(void *argument) { return argument; }

int main(void) {
    pthread_attr_t attributes;
    pthread_mutexattr_t mutex;
    pthread_rwlockattr_t lock;
    pthread_condattr_t condition;
    int number = -1, results[8];
    size_t size = 0;

    results[0] = pthread_attr_init(&attributes);
    results[1] = pthread_attr_setstacksize(&attributes, 256 * 1024);
    results[2] = pthread_attr_getstacksize(&attributes, &size);
    printf("%d %d %d stack %zu\n", results[0], results[1], results[2], size);
    printf("too small: %d\n", pthread_attr_setstacksize(&attributes, 100));
    pthread_attr_getguardsize(&attributes, &size);
    printf("guard %zu\n", size);
    pthread_attr_getdetachstate(&attributes, &number);
    printf("joinable %d\n", number == PTHREAD_CREATE_JOINABLE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_getdetachstate(&attributes, &number);
    printf("detached %d\n", number == PTHREAD_CREATE_DETACHED);
    pthread_attr_getschedpolicy(&attributes, &number);
    printf("policy %d\n", number == SCHED_OTHER);
    pthread_attr_getinheritsched(&attributes, &number);
    printf("inherits %d\n", number == PTHREAD_INHERIT_SCHED);
    printf("scope %d\n", pthread_attr_setscope(&attributes, PTHREAD_SCOPE_PROCESS));
    printf("destroyed %d\n", pthread_attr_destroy(&attributes));

    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_gettype(&mutex, &number);
    printf("default %d\n", number == PTHREAD_MUTEX_DEFAULT);
    pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_gettype(&mutex, &number);
    printf("recursive %d, bad type %d\n", number == PTHREAD_MUTEX_RECURSIVE, pthread_mutexattr_settype(&mutex, 17));
    pthread_mutexattr_getrobust(&mutex, &number);
    printf("stalled %d\n", number == PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_getpshared(&mutex, &number);
    printf("private %d\n", number == PTHREAD_PROCESS_PRIVATE);
    pthread_rwlockattr_init(&lock);
    pthread_rwlockattr_setkind_np(&lock, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlockattr_getkind_np(&lock, &number);
    printf("prefers writers %d\n", number == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_condattr_init(&condition);
    pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
    clockid_t clock;
    pthread_condattr_getclock(&condition, &clock);
    printf("monotonic %d\n", clock == CLOCK_MONOTONIC);

    pthread_t thread;
    struct sched_param parameter = {0};
    pthread_create(&thread, NULL, nothing, NULL);
    printf("name %d", pthread_setname_np(pthread_self(), "short"));
    printf(" %d\n", pthread_setname_np(pthread_self(), "longer than fifteen bytes"));
    printf("concurrency %d\n", pthread_setconcurrency(2));
    printf("parameters %d\n", pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameter));
    pthread_join(thread, NULL);

    struct sigaction old, ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    printf("sigaction %d", sigaction(SIGUSR1, &ignore, &old));
    printf(" default %d", old.sa_handler == SIG_DFL);
    printf(" again %d", sigaction(SIGUSR1, NULL, &old));
    printf(" ignored %d\n", old.sa_handler == SIG_IGN);
    printf("signal %d", signal(SIGUSR1, SIG_DFL) == SIG_IGN);
    printf(" %d %d\n", signal(SIGUSR1, SIG_IGN) == SIG_DFL, pthread_kill(pthread_self(), 0));
    return 0;
}
