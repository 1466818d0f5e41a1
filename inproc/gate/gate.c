/*
 * The whole of libflamegate.so. It is a second copy of the patcher's own code that enters the
 * kernel, in a section that the Makefile gives an address.
 */
#include "common/env/librarynote.h"
#include "inproc/gate.h"

#if defined(__x86_64__)

__asm__(".pushsection .flamegate,\"ax\",@progbits\n" PATCH_RAW_CODE("flame_gate",
                                                                    "protected") ".popsection\n");
__asm__(LIBRARY_NOTE_WAITS);

#endif
