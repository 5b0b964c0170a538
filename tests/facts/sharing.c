// Every way for an object to come from the thread that made it to another; and objects that look alike and stay.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct box { struct box *next; int *inner; int value; };
struct request { int *answer; struct box box; pthread_t thread; };

static struct box *published;
static struct box table[2];
static int *slot_address, *local_address;
static unsigned char bytes[sizeof(int *)];
static uintptr_t scrambled;
static _Thread_local int counter;
static _Thread_local struct box *own;
static pthread_key_t key;

static void *allocate(size_t size) { return calloc(1, size); }

static struct box *new_box(int value) {
    struct box *box = allocate(sizeof *box);
    box->value = value;
    box->inner = allocate(sizeof *box->inner);
    *box->inner = value;
    return box;
}

// Made and used by each thread for itself.
static int alone(int value) {
    struct box *box = new_box(value), on_stack = {0, &value, 1};
    box->next = &on_stack;
    own = box;
    own->next->value += *own->next->inner;
    pthread_setspecific(key, new_box(value + 1));
    struct box *kept = pthread_getspecific(key);
    int total = on_stack.value + kept->value + *kept->inner;
    free(box->inner);
    free(box);
    own = NULL;
    return total;
}

static void *use_argument(void *argument) {
    struct request *request = argument;
    alone(1);
    *request->answer = request->box.value;
    request->box.next->value++;
    *request->box.next->inner += 1;
    int *result = malloc(sizeof *result);
    *result = *request->answer;
    return result;
}

static void *use_globals(void *unused) {
    (void)unused;
    alone(2);
    for (struct box *box = published; box; box = box->next) *box->inner += box->value;
    *table[1].inner += 1;
    *slot_address += 1;
    *local_address += 1;
    int *pointer;
    memcpy(&pointer, bytes, sizeof pointer);
    *pointer += 1;
    *(int *)(scrambled ^ 0x5555555555555555) += 1;
    struct box *mine = new_box(7);
    pthread_exit(mine);
}

static void finish(void) { published->value = 0; }

int main(void) {
    int on_stack = 1, through_bytes = 2, through_number = 3, answer = 0;
    pthread_key_create(&key, free);
    struct box *first = new_box(1);
    first->next = new_box(2);
    published = first;
    struct box copied = {0, malloc(sizeof(int)), 5};
    *copied.inner = 4;
    memcpy(&table[1], &copied, sizeof copied);
    slot_address = &on_stack;
    local_address = &counter;
    int *pointer = &through_bytes;
    memcpy(bytes, &pointer, sizeof pointer);
    scrambled = (uintptr_t)&through_number ^ 0x5555555555555555;
    atexit(finish);

    struct request request = {&answer, {new_box(3), 0, 9}, 0};
    void *result;
    pthread_create(&request.thread, NULL, use_argument, &request);
    pthread_join(request.thread, &result);
    int total = *(int *)result;
    pthread_t other;
    pthread_create(&other, NULL, use_globals, NULL);
    pthread_join(other, &result);
    struct box *theirs = result;
    total += theirs->value + *theirs->inner + alone(3);
    return total == 0;
}
