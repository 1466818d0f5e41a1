/*
 * ownstacks: forty threads, in turn begun, each of which waits three times for a condition of its
 * own that lies on its own stack and that nobody signals.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 40, WAITS = 3 };

static void *waits(void *arg)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;

    (void)arg;
    for (int i = 0; i < WAITS; i++) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_mutex_lock(&lock);
        pthread_cond_timedwait(&never, &lock, &until);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, waits, NULL))
            return 1;
        if (i % 4 == 0)
            usleep(1000);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
