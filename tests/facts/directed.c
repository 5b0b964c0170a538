// Functions whose callers decide what they call, and what they make for them; parts of structures in arrays that are copied into. Built to run, not to print.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct coder { int (*code)(struct coder *, int); struct coder *next; int *total; };
struct filter { int (*init)(struct coder *, const struct filter *); int *total; };

static int packed, unpacked;

static int pack(struct coder *coder, int number) {
    *coder->total += number;
    return coder->next ? coder->next->code(coder->next, number + 1) : number;
}

static int unpack(struct coder *coder, int number) {
    *coder->total -= number;
    return coder->next ? coder->next->code(coder->next, number - 1) : number;
}

// Calls what it finds behind its parameter.
static int make(struct coder **place, const struct filter *filters) {
    *place = NULL;
    if (!filters->init)
        return 0;
    struct coder *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    *place = made;
    return filters->init(made, filters);
}

static int pack_init(struct coder *coder, const struct filter *filters) {
    coder->code = pack;
    coder->total = filters->total;
    return make(&coder->next, filters + 1);
}

static int unpack_init(struct coder *coder, const struct filter *filters) {
    coder->code = unpack;
    coder->total = filters->total;
    return make(&coder->next, filters + 1);
}

static const struct filter packers[] = {{pack_init, &packed}, {pack_init, &packed}};
static const struct filter unpackers[] = {{unpack_init, &unpacked}, {unpack_init, &unpacked}};
static const struct filter *find_packer(int id) { return &packers[id]; }
static const struct filter *find_unpacker(int id) { return &unpackers[id]; }

// Is given a function.
static int chain(struct coder **place, const struct filter *(*find)(int), int count) {
    struct filter filters[4];
    for (int i = 0; i < count && i < 3; i++) {
        filters[i].init = find(i)->init;
        filters[i].total = find(i)->total;
    }
    filters[count].init = NULL;
    return make(place, filters);
}

static int run(struct coder *coder, int number) { return coder->code(coder, number); }

struct state { int *first; char check[16]; int (*shown)(int); };
struct worker { long id; struct state state; int (*step)(int); };

static int one(int number) { return number + 1; }
static int other(int number) { return number + 2; }
static int hidden(int number) { return number + 3; }
static int buried(int number) { return number + 4; }

static int steps(struct worker *workers, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum = workers[i].step(sum);
    return sum;
}

static int shown(struct worker *workers, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum = workers[i].state.shown(sum);
    return sum;
}

static int moved_back(struct worker *workers, size_t size) {
    int (*moved)(int) = NULL;
    memcpy(&moved, workers[0].state.check + 8, size);
    return moved ? moved(1) : 0;
}

static void *thread(void *workers) {
    packed += steps(workers, 2);
    return NULL;
}

int main(int argc, char **argv) {
    struct coder *packer, *unpacker;
    chain(&packer, find_packer, 1 + argc % 2);
    chain(&unpacker, find_unpacker, 1 + argc % 2);
    packed += run(packer, 1);
    unpacked += run(unpacker, 2);

    size_t count = 1 + (size_t)argc;
    struct worker *workers = calloc(count, sizeof *workers), *more = calloc(count, sizeof *more);
    if (!workers || !more)
        abort();
    struct state state = {&packed, "", other};
    // As many bytes as there is room for, from any of some places.
    int (*apart[2])(int), (*moved)(int) = hidden;
    apart[0] = hidden;
    apart[1] = buried;
    memcpy(state.check, &apart[count % 2], 8 - count % 2);
    char left[64] = "", right[64] = "", *side = count % 2 ? right + 8 : left + 8;
    memcpy(side, &moved, 8 - count % 2);
    for (size_t i = 0; i < count; i++) {
        workers[i].step = one;
        workers[i].state = state;
        memcpy(workers[i].state.check, left, 16 - count % 2);
        memcpy(more[i].state.check, left, 16);
    }
    pthread_t created;
    if (pthread_create(&created, NULL, thread, workers) == 0)
        pthread_join(created, NULL);
    packed += shown(workers, 1);
    unpacked += moved_back(more, 8 - count % 2);
    (void)argv;
    free(workers);
    free(more);
    return 0;
}
