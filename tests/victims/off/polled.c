/*
 * Waits whose object is named in memory: a thread waits in each kind of call, and the main thread
 * ends it 20 ms later. With an argument the memory has been changed by then, as is allowed. Then
 * come calls with unreadable addresses, which the kernel refuses, and some while another thread
 * maps and unmaps their memory. Prints "fine" if all results are right.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static void must(int holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static void sleep_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};

    while (nanosleep(&t, &t) < 0)
        ;
}

static int one[2], two[2];
static int listener, talker, hearer, server, inet;
static struct sockaddr_un name_of_listener, name_of_hearer;
static socklen_t len_of_listener, len_of_hearer;
static struct sockaddr_in name_of_server, name_of_inet;
static socklen_t len = sizeof name_of_server;
static int begun;

/* Two pages for arguments in memory: the second is not mapped. */
static char *memory;

static void *at_the_end(const void *from, size_t size)
{
    return memcpy(memory + PAGE - size, from, size);
}

static void take(int fd)
{
    char c;

    must(read(fd, &c, 1) == 1, "read");
}

/* ---- the waiting thread ---- */

static void in_poll_two(void)
{
    struct pollfd p[2] = {{.fd = one[0], .events = POLLIN}, {.fd = two[0], .events = POLLIN}};

    must(poll(at_the_end(p, sizeof p), 2, -1) == 1, "poll");
    take(one[0]);
}

static void in_poll_one(void)
{
    struct pollfd p = {.fd = one[0], .events = POLLIN};

    must(poll(&p, 1, -1) == 1, "poll");
    take(one[0]);
}

static void in_ppoll(void)
{
    struct pollfd p = {.fd = two[0], .events = POLLIN};
    struct timespec t = {5, 0};

    must(ppoll(at_the_end(&p, sizeof p), 1, &t, NULL) == 1, "ppoll");
    take(two[0]);
}

static void in_select(void)
{
    fd_set s, none;

    FD_ZERO(&s);
    FD_ZERO(&none);
    FD_SET(one[0], &s);
    FD_SET(two[0], &s);
    /* The call reads only so many bytes of it. */
    must(select(two[0] + 1, at_the_end(&s, 8), &none, NULL, NULL) == 1, "select");
    take(two[0]);
}

static void in_connect(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    void *at = at_the_end(&name_of_listener, len_of_listener);

    must(connect(fd, at, len_of_listener) == 0, "connect");
    close(fd);
}

static void in_send(void)
{
    void *at = at_the_end(&name_of_hearer, len_of_hearer);
    char c = 'x';

    must(sendto(talker, &c, 1, 0, at, len_of_hearer) == 1, "sendto");
}

static void in_accept(void)
{
    must(accept(server, NULL, NULL) >= 0, "accept");
}

static void in_receive(void)
{
    char c;

    must(recvfrom(inet, &c, 1, 0, NULL, NULL) == 1, "recvfrom");
}

/* ---- the waking thread ---- */

static void put_one(void)
{
    must(write(one[1], "x", 1) == 1, "write");
}

static void put_two(void)
{
    must(write(two[1], "x", 1) == 1, "write");
}

static void take_connection(void)
{
    int fd = accept(listener, NULL, NULL);

    must(fd >= 0, "accept");
    close(fd);
}

static void take_message(void)
{
    char c;

    must(recv(hearer, &c, 1, 0) == 1, "recv");
}

static void connect_to_server(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    must(connect(fd, at_the_end(&name_of_server, len), len) == 0, "connect to the server");
    memset(memory, 0x55, PAGE);
}

static void send_to_inet(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    must(bind(fd, (void *)&any, sizeof any) == 0, "bind");
    must(sendto(fd, "x", 1, 0, at_the_end(&name_of_inet, len), len) == 1, "sendto inet");
    memset(memory, 0x55, PAGE);
}

static const struct {
    void (*wait)(void), (*end)(void);
} kinds[] = {{in_poll_two, put_one},         {in_poll_one, put_one},        {in_ppoll, put_two},
             {in_select, put_two},           {in_connect, take_connection}, {in_send, take_message},
             {in_accept, connect_to_server}, {in_receive, send_to_inet}};

static void *waiter(void *arg)
{
    void (*wait)(void) = kinds[(size_t)arg].wait;

    __atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
    wait();
    return NULL;
}

/* ---- the objects ---- */

/* Returns its length. */
static socklen_t name(struct sockaddr_un *n, const char *what)
{
    *n = (struct sockaddr_un){.sun_family = AF_UNIX};
    return (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
           (socklen_t)snprintf(n->sun_path + 1, sizeof n->sun_path - 1, "polled-%s-%07d", what,
                               (int)getpid());
}

static void make(void)
{
    char c = 'x';
    int fd;

    must(pipe(one) == 0 && pipe(two) == 0, "pipe");
    len_of_listener = name(&name_of_listener, "listener");
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    must(bind(listener, (void *)&name_of_listener, len_of_listener) == 0, "bind");
    must(listen(listener, 0) == 0, "listen");
    fd = socket(AF_UNIX, SOCK_STREAM, 0); /* the listener's queue is full */
    must(connect(fd, (void *)&name_of_listener, len_of_listener) == 0, "connect");
    len_of_hearer = name(&name_of_hearer, "hearer");
    hearer = socket(AF_UNIX, SOCK_DGRAM, 0);
    must(bind(hearer, (void *)&name_of_hearer, len_of_hearer) == 0, "bind");
    talker = socket(AF_UNIX, SOCK_DGRAM, 0);
    while (sendto(talker, &c, 1, MSG_DONTWAIT, (void *)&name_of_hearer, len_of_hearer) == 1)
        ;
    name_of_server = name_of_inet =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    server = socket(AF_INET, SOCK_STREAM, 0);
    must(bind(server, (void *)&name_of_server, len) == 0 && listen(server, 5) == 0, "bind");
    must(getsockname(server, (void *)&name_of_server, &len) == 0, "getsockname");
    inet = socket(AF_INET, SOCK_DGRAM, 0);
    must(bind(inet, (void *)&name_of_inet, len) == 0, "bind");
    must(getsockname(inet, (void *)&name_of_inet, &len) == 0, "getsockname");
}

/* ---- unreadable memory ---- */

static void refused(void)
{
    static struct pollfd many[3000];
    const struct rlimit room = {4096, 4096};
    struct timespec ms = {0, 1000000};
    void *volatile nowhere = (void *)8;
    char *end = memory + PAGE;
    char c = 'x';

    must(poll(nowhere, 1, 10) < 0 && errno == EFAULT, "poll of nowhere");
    must(poll((struct pollfd *)(end - 8), 2, 10) < 0 && errno == EFAULT,
         "poll of what ends too early");
    must(poll((void *)((char *)nowhere - 16), 4, 10) < 0 && errno == EFAULT,
         "poll of the last page");
    must(syscall(SYS_ppoll, nowhere, 1, &ms, NULL, 8) < 0 && errno == EFAULT, "ppoll of nowhere");
    must(select(64, (void *)(end - 4), NULL, NULL, NULL) < 0 && errno == EFAULT, "select");
    must(connect(talker, nowhere, 16) < 0 && errno == EFAULT, "connect to nowhere");
    must(connect(talker, (void *)(end - 8), 110) < 0 && errno == EFAULT, "connect, half of it");
    must(sendto(talker, &c, 1, 0, nowhere, 16) < 0 && errno == EFAULT, "sendto nowhere");
    must(syscall(SYS_connect, talker, nowhere, -1) < 0 && errno == EINVAL,
         "connect, less than nothing");
    for (size_t i = 0; i < 3000; i++)
        many[i].fd = -1;
    if (setrlimit(RLIMIT_NOFILE, &room) == 0) {
        many[2999] = (struct pollfd){.fd = one[0], .events = POLLIN};
        must(poll(many, 3000, 1) == 0 && many[2999].revents == 0, "poll of many");
    }
}

static volatile int over;
static char *moving;

static void *map_and_unmap(void *arg)
{
    while (!over) {
        must(mmap(moving, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
                  0) == moving,
             "mmap");
        memset(moving, 0xff, PAGE); /* descriptors below 0 */
        /* If it were unmapped, another mapping could take its place, and be replaced. */
        must(mmap(moving, PAGE, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                 moving,
             "mmap of nothing");
    }
    return arg;
}

static void while_it_moves(void)
{
    struct timespec none = {0, 0};
    pthread_t t;

    moving = memory + 16 * PAGE;
    pthread_create(&t, NULL, map_and_unmap, NULL);
    for (int i = 0; i < 2000; i++)
        must(syscall(SYS_ppoll, moving, 8, &none, NULL, 8) >= 0 || errno == EFAULT, "ppoll");
    over = 1;
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    (void)argv;
    memory = mmap(NULL, 20 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED && mprotect(memory + PAGE, 19 * PAGE, PROT_NONE) == 0, "memory");
    make();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pthread_t t;

        begun = 0;
        pthread_create(&t, NULL, waiter, (void *)i);
        while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
            sleep_ms(1);
        sleep_ms(20);
        if (argc > 1)
            memset(memory, 0x55, PAGE);
        kinds[i].end();
        pthread_join(t, NULL);
    }
    refused();
    while_it_moves();
    puts("fine");
    return 0;
}
