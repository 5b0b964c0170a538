// Bit-fields: signed and unsigned, neighbours kept, wrapping at their width.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>

struct packet {
    unsigned version : 4;
    unsigned length : 12;
    signed delta : 3;
    unsigned : 0;
    unsigned char last : 1, urgent : 1;
    long long serial : 40;
};

static void show(const char *title, struct packet packet)
{
    printf("%s: version %d length %d delta %d last %d urgent %d serial %lld\n", title, packet.version, packet.length,
           packet.delta, packet.last, packet.urgent, (long long)packet.serial);
}

int main(void)
{
    struct packet packet = {.version = 4, .length = 4000, .delta = -2, .serial = -5};
    show("start", packet);
    packet.version += 13;
    packet.length += 100;
    show("wrapped", packet);
    packet.delta++;
    packet.urgent = 1;
    packet.serial += 1LL << 33;
    show("changed", packet);
    for (int i = 0; i < 3; i++)
        packet.last ^= 1;
    show("toggled", packet);
    return packet.version + packet.length;
}
