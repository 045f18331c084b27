// The kernels, compiled for the host from the source of the PTX.
#include "kernels.h"

#include <utility>

#include "compare.cu"
#include "scatter.cu"
#include "words.cu"

template <class... P, size_t... I>
static void call(void (*kernel)(P...), const u64 *parameters, std::index_sequence<I...>) {
    kernel((P)parameters[I]...);
}

// host_kernel wraps a kernel. Each parameter must be 8 bytes wide.
template <class... P>
static HostKernel host_kernel(void (*kernel)(P...)) {
    static_assert(((sizeof(P) == 8) && ...));
    return {sizeof...(P), [kernel](const u64 *parameters) { call(kernel, parameters, std::index_sequence_for<P...>{}); }};
}

#define NAMED(kernel) {#kernel, host_kernel(kernel)}

const std::map<std::string, HostKernel> host_kernels = {
    NAMED(compare_bits),   NAMED(mark_by_rules), NAMED(mark_genes),    NAMED(mark_reactions),
    NAMED(scatter_genes),  NAMED(scatter_reactions), NAMED(toggle_stored),
};
