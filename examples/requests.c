/*
 * requests.c: four workers answer requests, for which each needs the cache for a moment, and a
 * thread that holds it for 40 ms now and then to load it anew.
 *
 *     cc -g -O1 -pthread -Ipreload -o requests examples/requests.c
 *     build/flame off --region request -o requests.flame -- ./requests
 *     build/flame top --region request --view critical requests.flame
 *
 * Most requests take 2 ms. The few that take 40 ms wait for `futex cache_lock`, and behind that is
 * load(). With --region all results are of the time in which a request was worked on, and not of
 * the workers' sleep while there is none.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "flamemem.h"

#define WORKERS 4
#define REQUESTS 200

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_has = PTHREAD_COND_INITIALIZER;
static int queued, taken, answered;

static void load(void)
{
    usleep(40000);
}

static void *loader(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "loader");
    for (int i = 0; i < 3; i++) {
        usleep(100000);
        pthread_mutex_lock(&cache_lock);
        load();
        pthread_mutex_unlock(&cache_lock);
    }
    return NULL;
}

static void answer(void)
{
    flamemem_tag_push("request");
    usleep(2000); /* a database */
    pthread_mutex_lock(&cache_lock);
    answered++;
    pthread_mutex_unlock(&cache_lock);
    flamemem_tag_pop();
}

static void *worker(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "worker");
    for (;;) {
        pthread_mutex_lock(&queue_lock);
        while (taken == queued && queued < REQUESTS)
            pthread_cond_wait(&queue_has, &queue_lock);
        if (taken == queued)
            break;
        taken++;
        pthread_mutex_unlock(&queue_lock);
        answer();
    }
    pthread_mutex_unlock(&queue_lock);
    return NULL;
}

int main(void)
{
    pthread_t l, w[WORKERS];

    pthread_create(&l, NULL, loader, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&w[i], NULL, worker, NULL);
    for (int i = 0; i < REQUESTS; i++) {
        usleep(2000); /* a client */
        pthread_mutex_lock(&queue_lock);
        queued++;
        pthread_cond_broadcast(&queue_has);
        pthread_mutex_unlock(&queue_lock);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(w[i], NULL);
    pthread_join(l, NULL);
    printf("%d\n", answered);
    return 0;
}
