/* Sleeps for 50 ms. */
#include <time.h>

int main(void)
{
    struct timespec t = {0, 50000000};

    return nanosleep(&t, NULL);
}
