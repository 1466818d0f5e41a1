/*
 * unpacktraces.h: unpacks a file of several traces that is packed with gzip or zstd, as its traces
 * are found by their places.
 */
#ifndef FLAME_FOLD_ANALYSIS_UNPACKTRACES_H
#define FLAME_FOLD_ANALYSIS_UNPACKTRACES_H

/* Unpacks the file at `path` into a file in memory. Returns its descriptor, for the caller to
 * close; or -1: it is no such file, or cannot be unpacked, which its reader reports. */
int unpacktraces(const char *path);

#endif
