/*
 * stale_rundirs.h: directories of runs whose driver was killed before it could remove them.
 */
#ifndef FLAME_DRIVER_RUNDIR_STALE_RUNDIRS_H
#define FLAME_DRIVER_RUNDIR_STALE_RUNDIRS_H

/*
 * Removes directories in `parent` that are provably dead: named as rundir.h names them, this
 * user's, of mode 0700, with a status file whose lock the driver has lost and that no recorded
 * process has mapped any more, and with no files but those of a run. All others remain, without a
 * message.
 */
void stale_rundirs_remove(const char *parent);

#endif
