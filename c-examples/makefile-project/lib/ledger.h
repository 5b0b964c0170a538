/* What was sold, added up under a lock of its own. */
#ifndef LEDGER_H
#define LEDGER_H

void ledger_add(int count);
int ledger_total(void);

#endif
