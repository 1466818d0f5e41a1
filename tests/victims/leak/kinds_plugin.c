/* Plugin that kinds_*.c load at run time: it keeps a block in the named variable. */
void *keep_in_bss(void *block);
void *keep_in_data(void *block);
void *keep_in_local(void *block);

static void *in_bss, *in_data = &in_data;
static __thread void *in_local[100];

void *keep_in_bss(void *block)
{
    return in_bss = block;
}

void *keep_in_data(void *block)
{
    return in_data = block;
}

void *keep_in_local(void *block)
{
    return in_local[70] = block;
}
