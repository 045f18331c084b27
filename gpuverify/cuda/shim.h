// Access to the driver's library that gorgonia.org/cu does not have.
#include <stddef.h>
#include <stdint.h>

// tcbuild_cuda_load opens the driver's library and initialises it. It returns NULL, or a static
// text that says what failed.
const char *tcbuild_cuda_load(const char *path);

// tcbuild_cuda_pinned allocates page-locked host memory that lives as long as the current context.
// It returns NULL, or a static text that says what failed.
const char *tcbuild_cuda_pinned(void **memory, size_t bytes);

// tcbuild_cuda_launch runs a kernel on a grid of blocks, each of so many threads, with 64-bit
// parameters. It returns NULL, or a static text that says what failed.
const char *tcbuild_cuda_launch(void *function, unsigned x, unsigned y, unsigned threads, void *stream,
                                uint64_t *parameters, size_t count);
