// In place of an instrumented test executable: responds to requests with files that the test wrote.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The sidecar and the order of locks, from the files that the test wrote.
__asm__(".section lockred_sites,\"a\"\n.incbin \"" SIDECAR "\"\n.previous\n");
__asm__(".section lockred_order,\"a\"\n.incbin \"" ORDER "\"\n.previous\n");

static int copy(FILE *from, FILE *to) {
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;) fwrite(buffer, 1, n, to);
    fclose(from);
    return fflush(to);
}

int main(int count, char **arguments) {
    const char *responses = getenv("FAKE_RESPONSES"), *session = getenv("LOCKRED_SESSION");
    char path[4096];
    if (!session) {
        for (int i = 1; i < count; i++)
            if (!strcmp(arguments[i], "--ignored")) return 0;
        snprintf(path, sizeof path, "%s/list", responses);
        return copy(fopen(path, "r"), stdout);
    }
    char request[1 << 16] = {0};
    snprintf(path, sizeof path, "%s/request.json", session);
    FILE *file = fopen(path, "r");
    fread(request, 1, sizeof request - 1, file);
    fclose(file);
    const char *task = strstr(request, "\"replay\"") ? "replay" : "explore";
    snprintf(path, sizeof path, "%s/%s.%s", responses, arguments[1], task);
    FILE *response = fopen(path, "r");
    if (!response) {
        fprintf(stderr, "no response to %s\n", task);
        fflush(stderr);
        if (strstr(arguments[1], "waits")) pause();
        raise(SIGSEGV);
    }
    snprintf(path, sizeof path, "%s/messages.jsonl", session);
    FILE *messages = fopen(path, "w");
    return copy(response, messages);
}
