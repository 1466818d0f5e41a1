#!/bin/sh
# elf-requires.sh RPMCONFIGDIR O: prints the requirements of a file of a package: those that rpm itself finds,
# and for flame the libraries that it loads when it needs them, from the list of the build in O. rpm starts
# this script for each file of machine code (flame.spec) and writes the file's name to its standard input.
read -r file
echo "$file" | "$1/elfdeps" --requires
case $file in
*/bin/flame)
    sed -n 's/^#define LATE_LIBRARIES(L) //p' "$2/generated/latelibs.h" |
        grep -oE '"[^"]*"' | sed 's/"\(.*\)"/\1()(64bit)/'
    ;;
esac
