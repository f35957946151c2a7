/*
 * Turns a program into a server that forks when it opens a certain file.
 *
 * Preloaded (LD_PRELOAD) into latex, which takes longer to load its format and a preamble than to set an expression.
 * The process runs until it opens the file FORK_AT. It then waits for requests: for each byte on the descriptor
 * FORK_REQUESTS it forks a child, which opens the file and continues as if the program had just been started; when the
 * child has ended, it writes the exit status, as 4 bytes of wait(2), to the descriptor FORK_REPLIES. It ends when the
 * requests end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *awaited; /* NULL in other programs, and in children */
static int requests = -1, replies = -1;

/* The files that are open for writing at the fork: a child writes its own. */
static struct {
    int descriptor;
    char *path;
} outputs[16];
static size_t outputs_count;

__attribute__((constructor)) static void read_environment(void) {
    const char *path = getenv("FORK_AT"), *in = getenv("FORK_REQUESTS"), *out = getenv("FORK_REPLIES");
    if (path && in && out) {
        awaited = strdup(path);
        requests = atoi(in);
        replies = atoi(out);
    }
    /* Programs that this one starts are not concerned. */
    unsetenv("LD_PRELOAD");
    unsetenv("FORK_AT");
    unsetenv("FORK_REQUESTS");
    unsetenv("FORK_REPLIES");
}

static ssize_t repeated(ssize_t (*call)(int, void *, size_t), int descriptor, void *data, size_t size) {
    ssize_t done;
    do done = call(descriptor, data, size);
    while (done < 0 && errno == EINTR);
    return done;
}

static ssize_t write_bytes(int descriptor, void *data, size_t size) { return write(descriptor, data, size); }

/* Makes `descriptor` refer to `path`, opened again. */
static void reopen(int descriptor, const char *path, int flags) {
    int opened = open(path, flags, 0666);
    if (opened < 0 || dup2(opened, descriptor) < 0) _exit(127);
    close(opened);
}

/* Returns in children only. */
static void serve(void) {
    char request;
    while (repeated(read, requests, &request, 1) == 1) {
        pid_t child = fork();
        if (child == 0) {
            close(requests);
            close(replies);
            awaited = NULL;
            for (size_t i = 0; i < outputs_count; i++)
                reopen(outputs[i].descriptor, outputs[i].path, O_WRONLY | O_CREAT | O_TRUNC);
            return;
        }
        int status = 127 << 8;
        if (child > 0) while (waitpid(child, &status, 0) < 0 && errno == EINTR);
        if (repeated(write_bytes, replies, &status, sizeof status) != sizeof status) break;
    }
    _exit(0);
}

static FILE *opened(const char *path, const char *mode, const char *name) {
    FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
    if (awaited && strcmp(path, awaited) == 0) serve();
    FILE *file = real(path, mode);
    if (file && awaited && mode[0] == 'w') {
        if (outputs_count == sizeof outputs / sizeof *outputs) _exit(127);
        outputs[outputs_count].descriptor = fileno(file);
        outputs[outputs_count++].path = strdup(path);
    }
    return file;
}

FILE *fopen(const char *path, const char *mode) { return opened(path, mode, "fopen"); }

FILE *fopen64(const char *path, const char *mode) { return opened(path, mode, "fopen64"); }
