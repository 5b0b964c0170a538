/* How many of a thing are left. All functions may be called by any thread. */
#ifndef STOCK_H
#define STOCK_H

void stock_deliver(int count);
int stock_sell(int count);
int stock_level(void);

#endif
