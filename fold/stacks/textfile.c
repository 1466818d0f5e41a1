#include "fold/stacks/textfile.h"

#include "common/error.h"
#include "common/options/values.h"
#include "common/files/outfile.h"

#define ENDINGS "folded txt stacks collapsed diff out"

int textfile_take(void *at, const struct opts_row *row, const struct opts_given *given)
{
    const char *ending = outfile_ending(given->value);

    (void)row;
    if (ending && opts_find_word(ENDINGS, ending) < 0)
        return flame_error(FLAME_USAGE,
                           "%s: -o %s: '%s' writes folded stacks, which are text: end it in "
                           ".folded or .txt; 'flame render -o %s' makes other files of them",
                           given->command, given->value, given->command, given->value);
    *(const char **)at = given->value;
    return 0;
}
