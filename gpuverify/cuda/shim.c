//go:build cuda

// gorgonia.org/cu is linked against the driver's library and calls cuInit before main, so that its
// programs start only where a driver is. This file takes the library's place at link time: each of
// its functions is a jump to where a pointer leads, and these point to a function that answers "no
// device" until tcbuild_cuda_load has opened the real library.

#include "shim.h"
#include <dlfcn.h>

enum { SUCCESS = 0, NO_DEVICE = 100, NOT_FOUND = 500 };

static int no_device(void) { return NO_DEVICE; }
static int not_found(void) { return NOT_FOUND; } // for functions that the driver lacks

// The jumps are hidden, so that the driver's own calls never come back to them.
#define ENTRY(name)                                                                                                    \
    __attribute__((visibility("hidden"))) void *tcbuild_##name = (void *)no_device;                                    \
    __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name                           \
            ":\n\tjmp *tcbuild_" #name "(%rip)\n");
#include "entrypoints.h"
#undef ENTRY

static const struct {
    const char *name;
    void **pointer;
} entries[] = {
#define ENTRY(name) {#name, &tcbuild_##name},
#include "entrypoints.h"
#undef ENTRY
};

// cuInit is what gorgonia.org/cu calls before main.
__attribute__((visibility("hidden"))) int cuInit(unsigned flags) {
    (void)flags;
    return SUCCESS;
}

// explain returns NULL for success, or the driver's text for what failed.
static const char *explain(int result) {
    const char *text = NULL;
    if (result == SUCCESS) return NULL;
    ((int (*)(int, const char **))tcbuild_cuGetErrorString)(result, &text);
    return text ? text : "unknown error of the driver";
}

const char *tcbuild_cuda_load(const char *path) {
    static void *loaded;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : NULL;
    if (!init) return dlerror();
    if (library != loaded) {
        for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
            void *function = dlsym(library, entries[i].name);
            *entries[i].pointer = function ? function : (void *)not_found;
        }
        loaded = library;
    }
    return explain(init(0));
}

const char *tcbuild_cuda_pinned(void **memory, size_t bytes) {
    return explain(((int (*)(void **, size_t, unsigned))tcbuild_cuMemHostAlloc)(memory, bytes, 0));
}

const char *tcbuild_cuda_launch(void *function, unsigned x, unsigned y, unsigned threads, void *stream,
                                uint64_t *parameters, size_t count) {
    void *pointers[count];
    for (size_t i = 0; i < count; i++) pointers[i] = &parameters[i];
    return explain(((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                             void **))tcbuild_cuLaunchKernel)(function, x, y, 1, threads, 1, 1, 0, stream, pointers, NULL));
}
