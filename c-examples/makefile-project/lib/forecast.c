/* Nothing calls this: the linker leaves it in the archive, and lockcheck never sees it. */
#include "stock.h"

static int guess;

int forecast(void) {
    guess = stock_level() / 2;
    return guess;
}
