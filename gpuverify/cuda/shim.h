// Access to the driver's library that gorgonia.org/cu does not have.
#include <stddef.h>

// tcbuild_cuda_load opens the driver's library and initialises it. It returns NULL, or a static
// text that says what failed.
const char *tcbuild_cuda_load(const char *path);

// tcbuild_cuda_pinned allocates page-locked host memory that lives as long as the current context.
// It returns NULL, or a static text that says what failed.
const char *tcbuild_cuda_pinned(void **memory, size_t bytes);
