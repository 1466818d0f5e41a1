/*
 * stale_rundirs.h: directories of runs whose driver was killed before it could remove them.
 */
#ifndef FLAME_DRIVER_RUNDIR_STALE_RUNDIRS_H
#define FLAME_DRIVER_RUNDIR_STALE_RUNDIRS_H

/*
 * Removes those in `parent` that are provably dead: called as rundir.h calls them, this user's, of
 * mode 0700, with a file of notes whose lock the driver has lost and that no recorded process has
 * mapped any more, and with nothing in them but what a run makes. All others stay, without a
 * message.
 */
void stale_rundirs_remove(const char *parent);

#endif
