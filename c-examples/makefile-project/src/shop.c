#include <pthread.h>

#include "ledger.h"
#include "stock.h"

static void *till(void *unused) {
    ledger_add(stock_sell(2));
    return unused;
}

int main(void) {
    pthread_t thread;
    stock_deliver(3);
    pthread_create(&thread, 0, till, 0);
    int seen = stock_level();
    pthread_join(thread, 0);
    return seen + ledger_total() == 0;
}
