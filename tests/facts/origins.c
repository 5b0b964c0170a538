// One function in several threads, on memory that each has made; and what runs in whichever thread. Built to run, not to print.
#include <pthread.h>
#include <stdlib.h>

struct box { int *content; struct box *inner; int count; };
struct task { struct box *box; int (*step)(struct box *); };

static int shared, other;
static struct box *published;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static struct box *make(int *content) {
    struct box *box = malloc(sizeof *box);
    if (!box)
        abort();
    box->content = content;
    box->inner = NULL;
    box->count = 0;
    return box;
}

static int count(struct box *box) {
    int local = 0, *counter = &local;
    struct box on_stack = {counter, box, 1};
    for (struct box *at = &on_stack; at; at = at->inner)
        *at->content += at->count++;
    return local;
}

static int twice(struct box *box) { return count(box) + count(box); }

static void drop(void *memory) {
    struct box *box = memory;
    count(box);
    free(box);
}

static void prepare(void) {
    pthread_key_create(&key, drop);
    published = make(&shared);
}

static int compare(const void *left, const void *right) {
    struct box *const *one = left, *const *two = right;
    return (*one)->count - (*two)->count;
}

static void run(struct task *task) {
    struct box *boxes[2] = {make(&other), task->box};
    pthread_once(&once, prepare);
    task->step(task->box);
    qsort(boxes, 2, sizeof *boxes, compare);
    pthread_mutex_lock(&lock);
    count(published);
    count(boxes[1]);
    pthread_mutex_unlock(&lock);
    pthread_setspecific(key, make(&other));
}

static void *worker(void *argument) {
    int own = 0;
    struct task task = {make(&own), argument};
    pthread_cleanup_push(drop, make(&own));
    run(&task);
    pthread_cleanup_pop(1);
    return task.box;
}

static void *helper(void *argument) {
    struct task task = {argument, count};
    run(&task);
    return NULL;
}

static void at_end(void) { count(published); }

int main(void) {
    pthread_t threads[3];
    int mine = 0;
    struct task task = {make(&mine), twice};
    void *result;
    atexit(at_end);
    run(&task);
    pthread_create(&threads[0], NULL, worker, (void *)twice);
    pthread_create(&threads[1], NULL, worker, (void *)count);
    pthread_create(&threads[2], NULL, helper, make(&mine));
    worker((void *)count);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &result);
        if (i == 0)
            mine += ((struct box *)result)->count;
    }
    return 0;
}
