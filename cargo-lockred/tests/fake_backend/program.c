// In place of an instrumented test executable: answers orders with files that the test wrote.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The sidecar, from the file that the test wrote.
__asm__(".section lockred_sites,\"a\"\n.incbin \"" SIDECAR "\"\n.previous\n");

static int copy(FILE *from, FILE *to) {
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;) fwrite(buffer, 1, n, to);
    fclose(from);
    return fflush(to);
}

int main(int count, char **arguments) {
    const char *answers = getenv("FAKE_ANSWERS"), *session = getenv("LOCKRED_SESSION");
    char path[4096];
    if (!session) {
        for (int i = 1; i < count; i++)
            if (!strcmp(arguments[i], "--ignored")) return 0;
        snprintf(path, sizeof path, "%s/list", answers);
        return copy(fopen(path, "r"), stdout);
    }
    char order[1 << 16] = {0};
    snprintf(path, sizeof path, "%s/order.json", session);
    FILE *file = fopen(path, "r");
    fread(order, 1, sizeof order - 1, file);
    fclose(file);
    const char *task = strstr(order, "\"replay\"") ? "replay" : "explore";
    snprintf(path, sizeof path, "%s/%s.%s", answers, arguments[1], task);
    FILE *answer = fopen(path, "r");
    if (!answer) {
        fprintf(stderr, "no answer to %s\n", task);
        fflush(stderr);
        if (strstr(arguments[1], "waits")) pause();
        raise(SIGSEGV);
    }
    snprintf(path, sizeof path, "%s/messages.jsonl", session);
    FILE *messages = fopen(path, "w");
    return copy(answer, messages);
}
