/*
 * readerfuzz.h: check of a reader of another profiler's format: any bytes must give folded text of
 * whole lines, or an error of one line. For the fuzz targets of single readers.
 */
#ifndef FLAME_TESTS_UNIT_READERFUZZ_H
#define FLAME_TESTS_UNIT_READERFUZZ_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the bytes with the reader `kind`, whole and in pieces, with and without options; the last
 * two bytes pick some. Aborts if anything is wrong, so that a fuzzer sees it.
 */
void readerfuzz(const char *kind, const uint8_t *data, size_t size);

#endif
