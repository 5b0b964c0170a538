// Structs: nested, copied by value, passed and returned, in arrays, compound literals, unions.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>
#include <string.h>

struct point {
    int x, y;
};

struct shape {
    char name[8];
    struct point corners[2];
    union {
        unsigned word;
        unsigned char byte[4];
    } colour;
};

static struct point middle(struct point from, struct point to)
{
    return (struct point){(from.x + to.x) / 2, (from.y + to.y) / 2};
}

static struct shape moved(struct shape shape, int by)
{
    for (int i = 0; i < 2; i++)
        shape.corners[i].x += by;
    shape.name[0] = 'M';
    return shape;
}

int main(void)
{
    struct shape box = {.name = "box", .corners = {[1] = {.x = 10, .y = 4}}, .colour.word = 0};
    box.colour.byte[2] = 0x7f;
    struct shape shapes[2] = {box, moved(box, 5)};
    for (int i = 0; i < 2; i++) {
        struct point centre = middle(shapes[i].corners[0], shapes[i].corners[1]);
        printf("%s: %d,%d colour %x\n", shapes[i].name, centre.x, centre.y, shapes[i].colour.word);
    }
    shapes[0] = shapes[1];
    return memcmp(&shapes[0], &shapes[1], sizeof shapes[0]) != 0 || box.corners[0].x != 0;
}
