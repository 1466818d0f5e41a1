#!/bin/sh
# elf-requires.sh RPMCONFIGDIR O: what rpm itself finds that a file of a package requires, and if it is flame,
# the libraries that it loads when it needs them, by the list that the build in O has made. rpm starts it for
# each file of machine code (flame.spec) and writes the file's name to its standard input.
read -r file
echo "$file" | "$1/elfdeps" --requires
case $file in
*/bin/flame)
    sed -n 's/^#define LATE_LIBRARIES(L) //p' "$2/generated/latelibs.h" |
        grep -oE '"[^"]*"' | sed 's/"\(.*\)"/\1()(64bit)/'
    ;;
esac
