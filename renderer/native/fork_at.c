/*
 * Turns a program into a server that forks when it opens a certain file.
 *
 * Preloaded (LD_PRELOAD) into latex, which takes longer to load its format and a preamble than to set an expression.
 * The process runs until it opens the file FORK_AT. It then waits for requests: for each '+' on the descriptor
 * FORK_REQUESTS it forks a child, which opens the file and continues as if the program had just been started; when the
 * child has ended, it writes the exit status, as 4 bytes of wait(2), to the descriptor FORK_REPLIES. It ends when the
 * requests end.
 *
 * It also replaces a function of kpathsea, the library with which TeX looks for files: see below.
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

static struct server {
    char *awaited; /* NULL in other programs, and in children */
    int requests, replies;
} server;

/* The files that are open for writing at the fork: a child writes its own. */
static struct {
    int descriptor;
    char *path;
} outputs[16];
static size_t outputs_count;

__attribute__((constructor)) static void read_environment(void) {
    const char *awaited = getenv("FORK_AT"), *in = getenv("FORK_REQUESTS"), *out = getenv("FORK_REPLIES");
    if (awaited && in && out) server = (struct server){strdup(awaited), atoi(in), atoi(out)};
    /* Programs that this one starts are not concerned. */
    unsetenv("FORK_AT");
    unsetenv("FORK_REQUESTS");
    unsetenv("FORK_REPLIES");
    unsetenv("LD_PRELOAD");
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
    while (repeated(read, server.requests, &request, 1) == 1) {
        int status = 127 << 8;
        pid_t child = fork();
        if (child == 0) {
            close(server.requests);
            close(server.replies);
            server.awaited = NULL;
            for (size_t i = 0; i < outputs_count; i++)
                reopen(outputs[i].descriptor, outputs[i].path, O_WRONLY | O_CREAT | O_TRUNC);
            return;
        }
        if (child > 0) while (waitpid(child, &status, 0) < 0 && errno == EINTR);
        if (repeated(write_bytes, server.replies, &status, sizeof status) != sizeof status) break;
    }
    _exit(0);
}

static FILE *opened(const char *path, const char *mode, const char *name) {
    FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
    if (server.awaited && strcmp(path, server.awaited) == 0) serve();
    FILE *file = real(path, mode);
    if (file && server.awaited && mode[0] == 'w') {
        if (outputs_count == sizeof outputs / sizeof *outputs) _exit(127);
        outputs[outputs_count].descriptor = fileno(file);
        outputs[outputs_count++].path = strdup(path);
    }
    return file;
}

FILE *fopen(const char *path, const char *mode) { return opened(path, mode, "fopen"); }

FILE *fopen64(const char *path, const char *mode) { return opened(path, mode, "fopen64"); }

/*
 * kpathsea's index of all TeX files is a table of 64,007 lists. The library goes through the whole list to append a
 * file, which takes half of the start of latex. Here the ends of the lists are remembered. The result is the same.
 */
struct element {
    const char *key, *value;
    struct element *next;
};

struct table {
    struct element **lists;
    unsigned size;
};

enum { LARGE = 10000 };

static struct element **ends;
static struct table with_ends;

/* As the library computes it: the sum of characters, each time doubled, modulo the size. */
static unsigned place_of(const char *key, unsigned size) {
    unsigned place = 0;
    for (; *key; key++) {
        place = place + place + *key;
        if (place >= size) place = place - size < size ? place - size : place % size;
    }
    return place;
}

static void insert_as_library(struct table *table, const char *key, const char *value) {
    static void (*real)(struct table *, const char *, const char *);
    if (!real) real = (void (*)(struct table *, const char *, const char *))dlsym(RTLD_NEXT, "hash_insert_normalized");
    real(table, key, value);
}

/* Remembers the ends of the first large table, if its lists are where a key added by the library is expected. */
static int knows_ends(struct table *table, const char *key, const char *value) {
    if (ends) return 0;
    ends = calloc(table->size, sizeof *ends);
    if (!ends) return 0;
    insert_as_library(table, key, value);
    for (unsigned i = 0; i < table->size; i++) {
        struct element *last = table->lists[i];
        while (last && last->next) last = last->next;
        ends[i] = last;
    }
    struct element *last = ends[place_of(key, table->size)];
    if (last && last->key == key && last->value == value) with_ends = *table;
    return 1;
}

void hash_insert_normalized(struct table *table, const char *key, const char *value) {
    if (table->lists != with_ends.lists || table->size != with_ends.size) {
        if (table->size < LARGE || !knows_ends(table, key, value)) insert_as_library(table, key, value);
        return;
    }
    struct element *added = malloc(sizeof *added);
    if (!added) abort();
    *added = (struct element){key, value, NULL};
    unsigned place = place_of(key, table->size);
    if (ends[place]) ends[place]->next = added;
    else table->lists[place] = added;
    ends[place] = added;
}
