/*
 * banned.h: calls that have hurt too many C programs do not compile here.
 *
 * Each name turns into an undefined identifier, so the compiler's error names the culprit. Use
 * strbuf, snprintf, memcpy, strtok_r or gmtime_r.
 */
#ifndef FLAME_COMMON_BANNED_H
#define FLAME_COMMON_BANNED_H

/* The libc headers that declare the names must be read before the ban. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FLAME_BANNED(func) sorry_##func##_is_a_banned_function

#undef strcpy
#define strcpy(x, y) FLAME_BANNED(strcpy)
#undef strcat
#define strcat(x, y) FLAME_BANNED(strcat)
#undef strncpy
#define strncpy(x, y, n) FLAME_BANNED(strncpy)
#undef strncat
#define strncat(x, y, n) FLAME_BANNED(strncat)
#undef sprintf
#define sprintf(...) FLAME_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) FLAME_BANNED(vsprintf)
#undef strtok
#define strtok(x, y) FLAME_BANNED(strtok)
#undef gmtime
#define gmtime(t) FLAME_BANNED(gmtime)
#undef localtime
#define localtime(t) FLAME_BANNED(localtime)
#undef ctime
#define ctime(t) FLAME_BANNED(ctime)
#undef asctime
#define asctime(t) FLAME_BANNED(asctime)

#endif
