// A pass-through runtime for tests of the shim: every hook does natively what the instruction would have done.
//
// Threads are native, under one lock that only blocking calls release, because the thread-local block of the running
// thread is one variable. The libc functions without a model here are forwarded by generated jumps (see the test).
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <poll.h>
#include <unistd.h>

extern const char __lr_tls_image[];
extern const uint64_t __lr_tls_size, __lr_tls_align, __lr_sidecar_len;
extern char __start_lockred_data[], __stop_lockred_data[];
extern int __lr_program_main(int, char **);

uint32_t __lr_watch = 1, __lr_exchanged;
char *__lr_tls_base;
static __thread char *my_block;
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_end;
static uint64_t reads, writes, atomics, fences, spins, awaits, natives, classes[16];

static void enter(void) { pthread_mutex_lock(&big); __lr_tls_base = my_block; }
static void leave(void) { pthread_mutex_unlock(&big); }
// Destructors of other keys, std's, run behind this one in every round, and need the thread-local block: only the last round gives the lock back.
static __thread int rounds;
static void ended(void *again) {
    if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(at_end, again);
    else leave();
}

static void new_block(void) {
    size_t align = __lr_tls_align, size = __lr_tls_size + align;
    my_block = aligned_alloc(align, (size + align - 1) / align * align);
    memcpy(my_block, __lr_tls_image, __lr_tls_size);
}

void __lr_read(uint64_t a, uint64_t n, uint32_t s) {
    static volatile char sink;
    (void)s; reads++;
    for (uint64_t i = 0; i < n; i++) sink = ((volatile char *)a)[i];
}
void __lr_write(uint64_t a, uint64_t n, uint32_t s) { (void)a; (void)n; (void)s; writes++; }
void __lr_check(uint64_t a, uint64_t n, uint32_t w, uint32_t s) { if (w) __lr_write(a, n, s); else __lr_read(a, n, s); }

static struct { int set; uint64_t mask, value; uint32_t test; } waiting;
void __lr_await(uint64_t mask, uint64_t value, uint32_t test) {
    waiting.set = 1; waiting.mask = mask; waiting.value = value; waiting.test = test; awaits++;
}
static uint64_t get(uint64_t a, uint32_t n) {
    switch (n) {
        case 1: return __atomic_load_n((uint8_t *)a, 5);
        case 2: return __atomic_load_n((uint16_t *)a, 5);
        case 4: return __atomic_load_n((uint32_t *)a, 5);
        default: return __atomic_load_n((uint64_t *)a, 5);
    }
}
static void put(uint64_t a, uint64_t v, uint32_t n) {
    switch (n) {
        case 1: __atomic_store_n((uint8_t *)a, v, 5); break;
        case 2: __atomic_store_n((uint16_t *)a, v, 5); break;
        case 4: __atomic_store_n((uint32_t *)a, v, 5); break;
        default: __atomic_store_n((uint64_t *)a, v, 5);
    }
}
static void settle(uint64_t a, uint32_t n, uint32_t how) {
    atomics++; classes[how & 15]++;
    if (!waiting.set) return;
    waiting.set = 0;
    uint64_t mask = waiting.mask, value = waiting.value; uint32_t test = waiting.test;
    while (1) {
        uint64_t word = get(a, n) & mask;
        if (test == 0 ? word == value : test == 1 ? word != value : word < value) return;
        leave(); sched_yield(); enter();
    }
}
uint64_t __lr_atomic_load(uint64_t a, uint32_t n, uint32_t o, uint32_t how, uint32_t s) {
    (void)o; (void)s; settle(a, n, how); return get(a, n);
}
void __lr_atomic_store(uint64_t a, uint64_t v, uint32_t n, uint32_t o, uint32_t how, uint32_t s) {
    (void)o; (void)s; settle(a, n, how); put(a, v, n);
}
static uint64_t narrow(uint64_t v, uint32_t n) { return n == 8 ? v : v & ((1ull << n * 8) - 1); }
static int64_t widen(uint64_t v, uint32_t n) { return n == 8 ? (int64_t)v : (int64_t)(v << (64 - n * 8)) >> (64 - n * 8); }
uint64_t __lr_atomic_rmw(uint64_t a, uint64_t x, uint32_t op, uint32_t n, uint32_t o, uint32_t how, uint32_t s) {
    (void)o; (void)s; settle(a, n, how);
    uint64_t old = get(a, n), v = old;
    switch (op) {
        case 0: v = x; break;
        case 1: v = old + x; break;
        case 2: v = old - x; break;
        case 3: v = old & x; break;
        case 4: v = ~(old & x); break;
        case 5: v = old | x; break;
        case 6: v = old ^ x; break;
        case 7: v = widen(old, n) > widen(x, n) ? old : x; break;
        case 8: v = widen(old, n) < widen(x, n) ? old : x; break;
        case 9: v = old > x ? old : x; break;
        case 10: v = old < x ? old : x; break;
        default: abort();
    }
    put(a, narrow(v, n), n);
    return old;
}
uint64_t __lr_atomic_cmpxchg(uint64_t a, uint64_t e, uint64_t v, uint32_t n, uint32_t o, uint32_t how, uint32_t s) {
    (void)o; (void)s; settle(a, n, how);
    uint64_t old = get(a, n);
    __lr_exchanged = old == e;
    if (old == e) put(a, v, n);
    return old;
}
void __lr_fence(uint32_t o, uint32_t s) { (void)o; (void)s; fences++; }
void __lr_test_begins(void) {}
void __lr_test_returned(void *result) { (void)result; }
void __lr_region_enter(void) {}
void __lr_region_leave(void) {}
void __lr_channel_made(void *ends, uint64_t capacity, uint32_t keeps) { (void)ends; (void)capacity; (void)keeps; }
void __lr_channel_enter(uint32_t act, void *channel, uint64_t t, uint32_t n, uint32_t s) { (void)act; (void)channel; (void)t; (void)n; (void)s; }
void __lr_channel_leave(void *result, uint64_t size, uint32_t s) { (void)result; (void)size; (void)s; }
void __lr_spin_hint(uint32_t s) { (void)s; spins++; leave(); sched_yield(); enter(); }
void __lr_native_call(uint32_t e, uint32_t s) { (void)e; (void)s; natives++; }
void __lr_native_result(uint64_t result) { (void)result; }
uint64_t __lr_time_stamp(void) { return 0; }
uint64_t __lr_processor(void) { return 0; }
uint64_t __lr_random_number(void) { return 0; }
uint32_t __lr_cpuid(uint32_t leaf, uint32_t which, uint32_t value) { (void)leaf; (void)which; return value; }
void __lr_unsupported_call(uint32_t e, uint32_t s) {
    dprintf(2, "stub: unsupported call of external %u at site %u\n", e, s); _exit(99);
}
void __lr_unsupported_instruction(uint32_t s) {
    dprintf(2, "stub: unsupported instruction at site %u\n", s); _exit(98);
}

struct start { void *(*f)(void *); void *arg; };
static void *begin(void *raw) {
    struct start s = *(struct start *)raw;
    free(raw);
    new_block(); enter();
    pthread_setspecific(at_end, &at_end);
    return s.f(s.arg);
}
int __lr_libc_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *arg) {
    (void)attr;
    struct start *s = malloc(sizeof *s);
    s->f = f; s->arg = arg;
    return pthread_create(t, NULL, begin, s);
}
int __lr_libc_pthread_join(pthread_t t, void **r) { leave(); int e = pthread_join(t, r); enter(); return e; }
int __lr_libc_sched_yield(void) { leave(); int e = sched_yield(); enter(); return e; }
int __lr_libc_nanosleep(const struct timespec *a, struct timespec *b) { leave(); int e = nanosleep(a, b); enter(); return e; }
int __lr_libc_clock_nanosleep(clockid_t c, int f, const struct timespec *a, struct timespec *b) {
    leave(); int e = clock_nanosleep(c, f, a, b); enter(); return e;
}
int __lr_libc_poll(struct pollfd *f, nfds_t n, int t) { leave(); int e = poll(f, n, t); enter(); return e; }
long __lr_libc_syscall(long number, ...) {
    va_list l; va_start(l, number);
    long a = va_arg(l, long), b = va_arg(l, long), c = va_arg(l, long), d = va_arg(l, long), e = va_arg(l, long), f = va_arg(l, long);
    va_end(l);
    leave(); long r = syscall(number, a, b, c, d, e, f); enter();
    return r;
}

static void report(void) {
    if (!getenv("STUB_REPORT")) return;
    dprintf(2, "stub: reads=%lu writes=%lu atomics=%lu fences=%lu spins=%lu awaits=%lu natives=%lu data=%ld tls=%lu sites=%lu classes=", reads, writes, atomics,
        fences, spins, awaits, natives, (long)(__stop_lockred_data - __start_lockred_data), __lr_tls_size, __lr_sidecar_len);
    for (int i = 0; i < 14; i++) dprintf(2, "%lu,", classes[i]);
    dprintf(2, "\n");
}
int main(int argc, char **argv) {
    atexit(report);
    pthread_key_create(&at_end, ended);
    new_block(); enter();
    return __lr_program_main(argc, argv);
}
