/*
 * commands.h: entry points of the subcommands, for flame.c's table.
 *
 * Each takes argv with argv[0] the command's own name and returns the exit
 * status (enum flame_exit, or the traced command's own for run, mem, leak and off).
 */
#ifndef FLAME_COMMON_COMMANDS_H
#define FLAME_COMMON_COMMANDS_H

#define FLAME_VERSION "0.1.0"

struct opts_command;

int run_main(int argc, char **argv);      /* driver/run_main.c */
int mem_main(int argc, char **argv);      /* driver/mem_main.c */
int leak_main(int argc, char **argv);     /* driver/leak_main.c */
int off_main(int argc, char **argv);      /* driver/off_main.c */
int watch_main(int argc, char **argv);    /* driver/watch_main.c */
int pack_main(int argc, char **argv);     /* driver/pack_main.c */
int live_main(int argc, char **argv);     /* driver/live_main.c */
int doctor_main(int argc, char **argv);   /* driver/doctor_main.c */
int fold_main(int argc, char **argv);     /* fold/fold_main.c */
int collapse_main(int argc, char **argv); /* fold/collapse/collapse_main.c */
int diff_main(int argc, char **argv);     /* fold/diff_main.c */
int render_main(int argc, char **argv);   /* render/render_main.c */
int top_main(int argc, char **argv);      /* driver/top_main.c */
int path_main(int argc, char **argv);     /* render/path/path_main.c */
int view_main(int argc, char **argv);     /* render/view/view_main.c */
int dump_main(int argc, char **argv);     /* render/dump/dump_main.c */

/* Descriptions of the commands and their options (common/options/opts.h). */
extern const struct opts_command run_command, mem_command, leak_command, off_command, watch_command,
    pack_command, fold_command, collapse_command, diff_command, render_command, top_command,
    dump_command, path_command, view_command, live_command, doctor_command;

#endif
